"""Arguments of library mechanisms: read, checked, and turned into parameters of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pendula.errors import UsageError
from pendula.model.base import Scalar
from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError
from pendula.model.parameters import ParameterError, evaluate_parameters

PerLink = Scalar | Sequence[Scalar] | None
"""One value for all links, or a list with one for each."""


def is_one(value: object) -> bool:
    """Whether an argument is one value for all links, not a list."""
    return isinstance(value, (int, float, str))


def for_each(what: str, value: PerLink, count: int) -> list[Any]:
    """One value for each link: the same for all, or those of a list of that length."""
    if value is None or isinstance(value, (int, float, str)):
        return [value] * count
    found = list(value)
    if len(found) != count:
        raise UsageError(f"{what}: {count} links need one value each, found {len(found)}")
    return found


class LinkNumbers:
    """Turns a number for all links, or a list with one per link, into parameter names."""

    def __init__(self, links: int) -> None:
        self.links = links
        self.parameters: dict[str, Scalar] = {}

    def names(self, symbol: str, value: PerLink) -> list[Scalar | None]:
        """The parameter of each link: the symbol alone, or numbered from 1."""
        if value is None:
            return [None] * self.links
        values = for_each(symbol, value, self.links)
        names = [symbol if is_one(value) else f"{symbol}{k + 1}" for k in range(self.links)]
        self.parameters |= zip(names, values, strict=True)
        return [*names]


def choose(what: str, value: str, choices: Sequence[str]) -> None:
    """Refuses a word that is not among the choices."""
    if value not in choices:
        names = [f'"{c}"' for c in choices]
        raise UsageError(f"{what} is {', '.join(names[:-1])} or {names[-1]}, found {value!r}")


def whole(what: str, value: int, least: int, most: int) -> None:
    """Refuses anything but a whole number in the range."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise UsageError(f"{what} must be a whole number from {least} to {most}, found {value!r}")


def value_of(what: str, value: Scalar, parameters: Mapping[str, Scalar] | None = None) -> float:
    """The number behind an argument, which may be an expression such as ``"90deg"`` or of the parameters."""
    return values_of(what, [value], parameters)[0]


def values_of(what: str, values: Sequence[Scalar], parameters: Mapping[str, Scalar] | None = None) -> list[float]:
    """The numbers behind several arguments; see :func:`value_of`."""
    try:
        known = evaluate_parameters({n: parse(x) for n, x in (parameters or {}).items()})
        return [parse(value).evaluate(known) for value in values]
    except ParameterError as error:
        name, cause = next(iter(error.problems))
        raise UsageError(f"{name}: {cause}") from None
    except ExpressionError as error:
        raise UsageError(f"{what}: {error}") from None


def positive(what: str, value: Scalar) -> float:
    """The number behind an argument that must be greater than zero."""
    found = value_of(what, value)
    if not found > 0:
        raise UsageError(f"{what} must be greater than 0, found {value}")
    return found


def angle_of(cosine: str) -> str:
    """The angle whose cosine is an expression, or the nearest angle if no angle has this cosine.

    If the lengths do not reach, the start is only approximate, and closing the loop reports the gap.
    """
    return f"acos(max(-1, min(1, {cosine})))"
