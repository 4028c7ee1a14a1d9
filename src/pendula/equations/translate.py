"""Translates expressions of a model file to SymEngine."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from typing import Any

import symengine as se

from pendula.equations.tape import Expr
from pendula.model.base import exact as integral
from pendula.model.expressions import nodes as ex
from pendula.model.expressions.algebra import combine
from pendula.model.expressions.expression import Expression
from pendula.model.expressions.functions import FUNCTIONS, Column
from pendula.model.names import ExpressionError, quote

_CONSTANTS: dict[str, Expr] = {"pi": se.pi, "deg": se.pi / 180, "rad": se.Integer(1)}


_EXACT: ContextVar[bool] = ContextVar("exact numbers", default=False)


@contextmanager
def exact_numbers() -> Iterator[None]:
    """Within this context numbers become exact fractions, so that SymEngine rounds nothing."""
    before = _EXACT.set(True)
    try:
        yield
    finally:
        _EXACT.reset(before)


def exact() -> bool:
    """Whether numbers become exact fractions here."""
    return _EXACT.get()


def number(value: int | float) -> Expr:
    """A number for symbolic use: integral values become exact integers, so that SymEngine simplifies 0 and 1."""
    found = integral(value)
    return se.Rational(*found.as_integer_ratio()) if isinstance(found, float) and _EXACT.get() else found


def _absolute(x: Expr) -> Expr:
    # Piecewise, because SymEngine leaves the derivatives of abs, sign, min, max unevaluated.
    return se.Piecewise((x, x >= 0), (-x, True))


def _sign(x: Expr) -> Expr:
    return se.Piecewise((1, x > 0), (-1, x < 0), (0, True))


def _smaller(*args: Expr) -> Expr:
    return reduce(lambda a, b: se.Piecewise((a, a <= b), (b, True)), args)


def _larger(*args: Expr) -> Expr:
    return reduce(lambda a, b: se.Piecewise((a, a >= b), (b, True)), args)


LARGE_POWER = 64
"""Exponents above this are not distributed over products."""
LARGE_DIGITS = 150
"""Nor are powers whose numerical factor would have more decimal digits before or after the point."""


def _power(base: Expr, exponent: Expr) -> Expr:
    """The power, with a base that stays in one piece if its factors' powers could overflow: (t/10)**400.

    SymEngine would write t**400/10**400 there. A choice between equal cases hides the product from it; compiled code
    and output drop the choice.
    """
    if isinstance(exponent, se.Number) and getattr(base, "is_Mul", False):
        size, first = abs(float(exponent)), base.args[0]
        powers = [abs(float(x.args[1])) for x in base.args if x.is_Pow and isinstance(x.args[1], se.Number)]
        digits = abs(math.log10(abs(float(first)))) if isinstance(first, se.Number) else 0.0
        if size * max([1.0, *powers]) > LARGE_POWER or size * digits > LARGE_DIGITS:
            return se.Piecewise((base, base > 0), (base, True)) ** exponent
    return base**exponent


_OTHER_NAMES = {"ceil": "ceiling"}  # in SymEngine
SYMBOLIC: Column[Callable[..., Expr]] = Column(
    "SymEngine forms",
    {
        **{name: getattr(se, _OTHER_NAMES.get(name, name)) for name, function in FUNCTIONS.items() if function.c},
        "abs": _absolute,
        "sign": _sign,
        "min": _smaller,
        "max": _larger,
        "hypot": lambda *args: se.sqrt(se.Add(*[x**2 for x in args])),
    },
)
_TABLE_NAMES = {other: name for name, other in _OTHER_NAMES.items()}


def function_name(e: Expr) -> str:
    """Name of a SymEngine function in the table of functions; empty if it is not there."""
    name = type(e).__name__.lower()
    name = _TABLE_NAMES.get(name, name)
    return name if name in FUNCTIONS else ""


class _Symbols:
    """Interprets expressions as SymEngine expressions."""

    add, subtract = staticmethod(operator.add), staticmethod(operator.sub)
    multiply, divide = staticmethod(operator.mul), staticmethod(operator.truediv)
    negate, power = staticmethod(operator.neg), staticmethod(_power)
    every, some, opposite = staticmethod(se.And), staticmethod(se.Or), staticmethod(se.Not)
    named = _CONSTANTS.__getitem__

    def __init__(self, names: Mapping[str, Expr]) -> None:
        self._names = names

    def constant(self, value: float) -> Expr:
        return se.sympify(number(value))

    def name(self, name: str) -> Expr:
        return se.sympify(self._names[name])

    def call(self, name: str, *args: Expr) -> Expr:
        return SYMBOLIC[name](*args)

    def choose(self, condition: Expr, then: Expr, otherwise: Expr) -> Expr:
        return se.Piecewise((then, condition), (otherwise, True))

    def compare(self, op: str, a: Expr, b: Expr) -> Expr:
        return ex.COMPARISONS[op](a, b)


def translate(expression: Expression, names: Mapping[str, Expr]) -> Expr:
    """The SymEngine form of an expression, with each name replaced by ``names[name]``.

    Raises:
        ExpressionError: a part has no finite real value whatever its names stand for: 1/(x - x), sqrt(0*x - 1).

    Example:
        >>> from pendula.model.expressions.expression import parse
        >>> translate(parse("m*l**2/12"), {"m": se.Symbol("m"), "l": se.Symbol("l")})
        (1/12)*l**2*m
    """
    symbols = _Symbols(names)

    def handle(node: ex.Node, parts: tuple[Expr, ...]) -> Expr:
        try:
            value = combine(symbols, node, parts)
        except (RuntimeError, ZeroDivisionError) as error:
            raise _no_value(expression, node, str(error)) from None
        number = value.args[0] if isinstance(node, ex.Call | ex.Power) and value.is_Mul else value
        if isinstance(number, se.Number) and not number.is_real:
            infinite = number in (se.zoo, se.oo, -se.oo, se.nan)
            raise _no_value(expression, node, "it is infinite or undetermined" if infinite else "it is not real")
        return value

    return expression.fold(handle)


def _no_value(expression: Expression, node: ex.Node, reason: str) -> ExpressionError:
    part = ex.write(ex.post_order(node))
    inside = "" if part == expression.to_text() else f" (in {quote(expression.text)})"
    return ExpressionError(f"{quote(part)}{inside} has no finite value: {reason}")


def jumps(expression: Expression, names: Mapping[str, Expr]) -> list[Expr]:
    """Times at which a condition on t in an expression switches, if they can be determined.

    Only comparisons with plain ``t`` on one side count: a model rejects prescribed motions with other conditions.
    """
    times: list[Expr] = []

    def handle(node: ex.Node, parts: tuple[Any, ...]) -> Any:
        if isinstance(node, ex.Compare):
            for side, other in ((node.a, node.b), (node.b, node.a)):
                if side == ex.Name("t"):
                    limit = Expression.from_node(other)
                    if "t" not in limit.names and limit.names <= set(names):
                        times.append(translate(limit, names))
        return None

    expression.fold(handle)
    return times
