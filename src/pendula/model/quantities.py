"""Numbers with units in text, such as "0.5 m" or "12 inch", converted by pint (extra ``units``).

The expression language knows the units deg and rad alone. A quantity is one number followed by units with small integer
exponents; anything else is left to the expression language. Nothing is evaluated as code.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from pendula.arguments import read_number
from pendula.errors import UsageError
from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError, quote

LONGEST = 80
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_WORD = r"[A-Za-zµΩ°_]+"
_FACTOR = rf"{_WORD}(?:(?:\^|\*\*)\(?-?\d{{1,2}}\)?|\d)?"
QUANTITY = re.compile(rf"^\s*(?P<number>(?>{_NUMBER}))\s*(?P<units>{_FACTOR}(?:\s*[*/·\s]\s*{_FACTOR})*)\s*$")
PLAIN_ANGLE = ("deg", "rad")


class Quantity(NamedTuple):
    """A number with units, as written."""

    number: float
    units: str
    text: str


def quantity_in(text: Any, known: Mapping[str, Any] | None = None) -> Quantity | None:
    """The quantity that a text states; None for numbers, expressions and other texts.

    ``known`` names (parameters) keep the meaning that expressions have: 30 deg/s divides by the parameter s.

    Example:
        >>> quantity_in("0.5 m"), quantity_in("0.5*m"), quantity_in("90deg")
        (Quantity(number=0.5, units='m', text='0.5 m'), None, None)
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    found = QUANTITY.match(text)
    if found is None or found["units"] in PLAIN_ANGLE:
        return None
    if re.match(r"(?:deg|rad)\b", found["units"]):  # an expression too, if its other names are known
        try:
            if parse(text).names <= {*(known or ())}:
                return None
        except ExpressionError:
            pass
    return Quantity(float(found["number"]), found["units"], text.strip())


def in_unit(quantity: Quantity, unit: str, where: str) -> float:
    """The number of a quantity in a unit of the model, such as "m", "rad/s" or "ft-lb/rad"; "" is dimensionless.

    Raises:
        UsageError: the dimensions differ, a unit is not known, or pint is not installed.

    Example:
        >>> in_unit(quantity_in("12 inch"), "ft", "l")
        1.0
        >>> in_unit(quantity_in("2 kg"), "m", "l")
        Traceback (most recent call last):
        pendula.errors.UsageError: l: "2 kg" is a mass, but a length [m] is expected
    """
    pint = _pint(quantity.text, where)
    given = _read(quantity.number, quantity.units, quantity.text, where)
    wanted = registry().parse_units(as_pint(unit))
    try:
        return float(given.to(wanted).magnitude)
    except pint.DimensionalityError:
        pass
    expected = "an angle" if unit == "rad" else _dimension(1.0 * wanted)
    hint = ""
    if "lb" in quantity.units and "lbf" not in quantity.units:
        hint = ".\n  Try: lbf for a force; lb is a mass here"
    raise UsageError(
        f"{where}: {quote(quantity.text)} is {_dimension(given)}, but {expected} [{unit or 'no unit'}] is expected"
        f"{hint}"
    )


def in_base_units(quantity: Quantity, length: str, mass: str, time: str, where: str) -> float:
    """The number of a quantity in the units of a label such as ft-slug-s, whatever its dimension.

    Raises:
        UsageError: a unit is not known or not mechanical, or pint is not installed.
    """
    _pint(quantity.text, where)
    given = _read(quantity.number, quantity.units, quantity.text, where)
    powers = {str(name): power for name, power in dict(given.dimensionality).items()}
    if extra := sorted(powers.keys() - {"[length]", "[mass]", "[time]"}):
        raise UsageError(f"{where}: {quote(quantity.text)} has the dimension {extra[0]}, which mechanisms do not have")
    wanted = registry().parse_units("")
    for name, word in (("[length]", length), ("[mass]", mass), ("[time]", time)):
        wanted = wanted * registry().parse_units(as_pint(word)) ** powers.get(name, 0)
    return float(given.to(wanted).magnitude)


def as_pint(unit: str) -> str:
    """A unit of outputs in the notation of pint: ft-lb/rad becomes ft*lbf/rad.

    Example:
        >>> as_pint("ft-lb/rad"), as_pint("kg m^2")
        ('ft*lbf/rad', 'kg*m**2')
    """
    return re.sub(r"\blb\b", "lbf", unit.replace("-", "*").replace(" ", "*").replace("^", "**"))


_USUAL = (
    "deg", "rad", "degree", "radian", "turn", "m", "mm", "cm", "km", "in", "inch", "ft", "foot", "yd", "kg", "g", "t",
    "lb", "slug", "s", "ms", "min", "h", "Hz", "rpm", "N", "mN", "kN", "Nm", "lbf", "J", "kJ", "W", "kW", "Pa", "bar",
    "meter", "second", "gram", "newton", "joule", "watt", "tonne", "pound", "hour", "minute",
)  # fmt: skip


def _unknown_unit(word: str, text: str, where: str) -> UsageError:
    """The error for an unknown unit, with the nearest usual one."""
    close = difflib.get_close_matches(word, _USUAL, n=1) or difflib.get_close_matches(word.lower(), _USUAL, n=1)
    same = [unit for unit in _USUAL if len(word) > 1 and sorted(unit) == sorted(word)]  # letters swapped: dge
    near = (same or close or [""])[0]
    hint = f"\n  Try: {quote(text.replace(word, near))}." if near else ""
    return UsageError(f"{where}: there is no unit {quote(word)} in {quote(text)}{hint}")


def _pint(text: str, where: str) -> Any:
    try:
        import pint
    except ImportError:
        for word in re.findall(_WORD, text.lstrip("+-0123456789.eE ")):
            known = word in _USUAL
            if not known and str(_unknown_unit(word, text, where)).count("Try:"):
                raise _unknown_unit(word, text, where) from None
        raise UsageError(
            f"{where}: {quote(text)} has units, which need the package pint, and it is not installed.\n"
            '  Try: pip install "pendula[units]", a number in units of the model, or "30deg" for degrees.'
        ) from None
    return pint


@cache
def registry() -> Any:
    """The registry of units."""
    import pint

    return pint.UnitRegistry()


def _read(number: float, units: str, text: str, where: str) -> Any:
    import pint

    tidy = re.sub(r"(?<=[A-Za-zµΩ°])(\d)", r"**\1", units.replace("^", "**").replace("·", "*"))
    tidy = re.sub(r"(?<=[\w)])\s+(?=[A-Za-zµΩ°])", "*", tidy)
    try:
        return registry().Quantity(number, registry().parse_units(tidy))
    except pint.UndefinedUnitError as error:
        names: Any = error.unit_names
        unknown = names if isinstance(names, str) else next(iter(names))
        raise _unknown_unit(str(unknown), text, where) from None
    except (pint.PintError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{where}: {quote(text)} cannot be read as a number with units: {error}") from None


_NAMED = {
    "": "a number without unit", "[length]": "a length", "[mass]": "a mass", "[time]": "a time",
    "[length] / [time]": "a speed", "[length] / [time] ** 2": "an acceleration", "1 / [time]": "a rate",
    "1 / [time] ** 2": "an angular acceleration", "[length] * [mass] / [time] ** 2": "a force",
    "[length] ** 2 * [mass] / [time] ** 2": "a torque or energy", "[length] ** 2 * [mass]": "a moment of inertia",
    "[mass] / [time] ** 2": "a stiffness", "[mass] / [time]": "a damping",
    "[length] ** 2 * [mass] / [time]": "a damping of rotation", "[temperature]": "a temperature",
}  # fmt: skip


def _dimension(quantity: Any) -> str:
    """The dimension of a quantity in words."""
    text = str(quantity.dimensionality)
    text = "" if text == "dimensionless" else text
    return _NAMED.get(text, f"a quantity of dimension {text}")


def number_in(value: Any, unit: str, where: str, values: Mapping[str, float] | None = None) -> float:
    """A number from a number, an expression of ``values`` such as "90deg", or a quantity such as "5 cm".

    Raises:
        UsageError: it is none of these.

    Example:
        >>> number_in("180deg", "rad", "theta"), number_in("5 cm", "m", "x")
        (3.141592653589793, 0.05)
    """
    if not isinstance(value, str):
        return read_number(value, where)
    found = quantity_in(value, values)
    if found is not None:
        return in_unit(found, unit, where)
    try:
        return float(parse(value).evaluate(dict(values or {})))
    except ExpressionError as error:
        raise UsageError(f"{where}: {error}") from None


# --- angles that look like degrees --------------------------------------------------------------------------


def looks_like_degrees(value: Any) -> bool:
    """Whether a number of radians is more than a turn and round, as degrees are.

    Example:
        >>> [looks_like_degrees(x) for x in (40, 3, 25.1327, "40deg")]
        [True, False, False, False]
    """
    if isinstance(value, (str, bool)):
        return False
    try:
        x = abs(float(value))
    except (TypeError, ValueError):
        return False
    return math.tau < x <= 3600 and round(10 * x) == 10 * x


def degrees_hint(name: str, value: float) -> str:
    """The hint for such a number.

    Example:
        >>> degrees_hint("theta1", 40)
        'theta1 = 40 is in radians (6.4 turns); write "40deg" for degrees'
    """
    return f'{name} = {value:g} is in radians ({abs(value) / math.tau:.1f} turns); write "{value:g}deg" for degrees'
