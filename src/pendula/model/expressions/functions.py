"""The functions of the expression language, in one table.

A row holds what needs no large package: number of arguments, value, names in NumPy and C, derivative, and kinks or
jumps. Other parts of the package each add a :class:`Column`: the SymEngine form, the call from machine code, bounds
over intervals. A column covers every function of the table or lists those that it omits; a test compares all columns
with the table.

To add a function, write its row here and its entry in each column; the test (``test_functions_agree.py``) names the
columns in which it is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, Literal, Protocol, TypeVar

from pendula.errors import NotSupported
from pendula.model import refusals

V = TypeVar("V")
T = TypeVar("T")


class Arithmetic(Protocol[V]):
    """Operations in which derivative rules are written, for a program, intervals, or any other type."""

    def constant(self, value: float, /) -> V:
        """A number."""

    def add(self, a: V, b: V, /) -> V:
        """a + b."""

    def subtract(self, a: V, b: V, /) -> V:
        """a - b."""

    def negate(self, a: V, /) -> V:
        """-a."""

    def multiply(self, a: V, b: V, /) -> V:
        """a b."""

    def divide(self, a: V, b: V, /) -> V:
        """a / b."""

    def call(self, name: str, /, *args: V) -> V:
        """A function from the table."""


Slope = Callable[[Any, Any, Any], Any]
Rate = Callable[[Any, Any, Sequence[Any], Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Function:
    """One row of the table.

    Attributes:
        value: its value for floats; raises ValueError or OverflowError if undefined.
        least, most: number of arguments (most None: no limit).
        numpy: its name in NumPy; empty if ``value`` is applied entry by entry.
        c: its name in the C library; empty for functions that equations express by others.
        slope: derivative of a function of one argument: ``slope(a, y, x)`` in the arithmetic ``a``, for value y.
        rate: rate of a function of several arguments: ``rate(a, y, args, rates)``; a rate of None is zero.
        breaks: whether it has a kink, a jump, or a branch cut.
    """

    value: Callable[..., float]
    least: int = 1
    most: int | None = 1
    numpy: str = ""
    c: str = ""
    slope: Slope | None = None
    rate: Rate | None = None
    breaks: Literal["", "kink", "jump", "cut"] = ""


def _sign(x: float) -> float:
    return float((x > 0.0) - (x < 0.0))


# -- derivatives ---------------------------------------------------------------------------------------


def _one_over_root(a: Any, x: Any, of: Literal["1 - xx", "xx + 1", "xx - 1"]) -> Any:
    one, square = a.constant(1.0), a.multiply(x, x)
    inside = {"1 - xx": (a.subtract, one, square), "xx + 1": (a.add, square, one), "xx - 1": (a.subtract, square, one)}
    combine, first, second = inside[of]
    return a.divide(one, a.call("sqrt", combine(first, second)))


def _one_over(a: Any, x: Any) -> Any:
    return a.divide(a.constant(1.0), x)


def _bell(a: Any, x: Any) -> Any:
    return a.call("exp", a.negate(a.multiply(x, x)))


def _atan2_rate(a: Any, value: Any, args: Sequence[Any], rates: Sequence[Any]) -> Any:
    """(x dy - y dx)/(x^2 + y^2) with arguments (y, x)."""
    y, x = args
    dy, dx = (a.constant(0.0) if d is None else d for d in rates)
    square = a.add(a.multiply(y, y), a.multiply(x, x))
    return a.divide(a.subtract(a.multiply(x, dy), a.multiply(y, dx)), square)


def _pow_rate(a: Any, value: Any, args: Sequence[Any], rates: Sequence[Any]) -> Any:
    """e b^(e - 1) db + b^e log(b) de."""
    (base, exponent), (by_base, by_exponent) = args, rates
    total = a.constant(0.0)
    if by_base is not None:
        lower = a.call("pow", base, a.subtract(exponent, a.constant(1.0)))
        total = a.multiply(a.multiply(exponent, lower), by_base)
    if by_exponent is not None:
        total = a.add(total, a.multiply(a.multiply(value, a.call("log", base)), by_exponent))
    return total


# -- the table -----------------------------------------------------------------------------------------


def _smooth(value: Callable[[float], float], numpy: str, slope: Slope) -> Function:
    return Function(value, numpy=numpy, c=value.__name__, slope=slope)


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "sin": _smooth(math.sin, "sin", lambda a, y, x: a.call("cos", x)),
        "cos": _smooth(math.cos, "cos", lambda a, y, x: a.negate(a.call("sin", x))),
        "tan": _smooth(math.tan, "tan", lambda a, y, x: a.add(a.constant(1.0), a.multiply(y, y))),
        "asin": _smooth(math.asin, "arcsin", lambda a, y, x: _one_over_root(a, x, "1 - xx")),
        "acos": _smooth(math.acos, "arccos", lambda a, y, x: a.negate(_one_over_root(a, x, "1 - xx"))),
        "atan": _smooth(math.atan, "arctan", lambda a, y, x: _one_over(a, a.add(a.constant(1.0), a.multiply(x, x)))),
        "sinh": _smooth(math.sinh, "sinh", lambda a, y, x: a.call("cosh", x)),
        "cosh": _smooth(math.cosh, "cosh", lambda a, y, x: a.call("sinh", x)),
        "tanh": _smooth(math.tanh, "tanh", lambda a, y, x: a.subtract(a.constant(1.0), a.multiply(y, y))),
        "asinh": _smooth(math.asinh, "arcsinh", lambda a, y, x: _one_over_root(a, x, "xx + 1")),
        "acosh": _smooth(math.acosh, "arccosh", lambda a, y, x: _one_over_root(a, x, "xx - 1")),
        "atanh": _smooth(
            math.atanh, "arctanh", lambda a, y, x: _one_over(a, a.subtract(a.constant(1.0), a.multiply(x, x)))
        ),
        "exp": _smooth(math.exp, "exp", lambda a, y, x: y),
        "log": _smooth(math.log, "log", lambda a, y, x: _one_over(a, x)),
        "sqrt": _smooth(math.sqrt, "sqrt", lambda a, y, x: a.divide(a.constant(0.5), y)),
        "erf": _smooth(math.erf, "", lambda a, y, x: a.multiply(a.constant(2.0 / math.sqrt(math.pi)), _bell(a, x))),
        "abs": Function(abs, numpy="abs", breaks="kink"),
        "sign": Function(_sign, numpy="sign", breaks="jump"),
        "floor": Function(math.floor, numpy="floor", c="floor", slope=lambda a, y, x: a.constant(0.0), breaks="jump"),
        "ceil": Function(math.ceil, numpy="ceil", c="ceil", slope=lambda a, y, x: a.constant(0.0), breaks="jump"),
        "atan2": Function(math.atan2, 2, 2, numpy="arctan2", c="atan2", rate=_atan2_rate, breaks="cut"),
        "hypot": Function(math.hypot, 2, 2, numpy="hypot"),
        "min": Function(min, 2, None, numpy="minimum", breaks="kink"),
        "max": Function(max, 2, None, numpy="maximum", breaks="kink"),
    }
)
"""Functions of the expression language by name; ``log`` is natural, ``sign(0)`` is 0."""

CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi, "deg": math.pi / 180.0, "rad": 1.0})
"""Names with a fixed value. They stay names in the tree of an expression, so that symbolic code keeps pi exact."""

POWER = Function(math.pow, 2, 2, numpy="power", c="pow", rate=_pow_rate)
"""The power function, for exponents that are not integers."""

PRIMITIVES: Mapping[str, Function] = MappingProxyType({n: f for n, f in (*FUNCTIONS.items(), ("pow", POWER)) if f.c})
"""Functions that machine code calls; equations express the others by these."""

SWITCHING = frozenset(name for name, f in FUNCTIONS.items() if f.breaks in ("kink", "jump"))
"""Piecewise functions."""


# -- columns -------------------------------------------------------------------------------------------

COLUMNS: dict[str, Column[Any]] = {}
"""All columns by purpose."""


class Column(Mapping[str, T], Generic[T]):
    """A property of every function, by the function's name.

    Indexing with a function that is not in the column raises :class:`NotSupported` with its name.
    """

    def __init__(self, purpose: str, entries: Mapping[str, T], without: Iterable[str] = ()) -> None:
        """A column.

        Args:
            purpose: description for messages, such as ``"bounds over intervals"``.
            entries: by name of the function.
            without: functions that are omitted on purpose.
        """
        self.purpose = purpose
        self.without = frozenset(without)
        self._entries = dict(entries)
        COLUMNS[purpose] = self

    def __getitem__(self, name: str) -> T:
        try:
            return self._entries[name]
        except KeyError:
            raise NotSupported(refusals.NO_ENTRY, purpose=self.purpose, name=name) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def missing(self) -> frozenset[str]:
        """Functions of the table that are neither here nor omitted on purpose."""
        return frozenset(FUNCTIONS) - self._entries.keys() - self.without
