"""Values and derivatives of expressions at one place: forward differentiation with pairs (value, derivative)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from pendula.errors import NotSupported
from pendula.model import refusals
from pendula.model.expressions.functions import FUNCTIONS
from pendula.model.expressions.nodes import COMPARISONS, CONSTANTS
from pendula.model.expressions.values import Floats

Pair = tuple[float, float]


def _or_nan(function: Callable[..., float], *args: Any) -> float:
    """The value of a function; NaN where it has none, so that the other branch of a condition may still count."""
    try:
        return float(function(*args))
    except (ArithmeticError, ValueError):
        return math.nan


_FLOATS = Floats({})
"""the arithmetic in which functions state their derivatives"""


class Slopes:
    """The algebra of values and derivatives by one name; NaN where an expression has no value.

    Example:
        >>> from pendula.model.expressions.expression import parse
        >>> parse("k*x**2 if x > 1 else log(x)").interpret(Slopes({"k": 3.0, "x": 2.0}, "x"))
        (12.0, 12.0)
    """

    def __init__(self, values: Mapping[str, float], by: str) -> None:
        self.values, self.by = values, by

    def constant(self, value: float) -> Pair:
        """A number."""
        return float(value), 0.0

    def named(self, name: str) -> Pair:
        """One of the constants of the language."""
        return CONSTANTS[name], 0.0

    def name(self, name: str) -> Pair:
        """A name with a value."""
        return self.values[name], float(name == self.by)

    def negate(self, a: Pair) -> Pair:
        """-a."""
        return -a[0], -a[1]

    def add(self, a: Pair, b: Pair) -> Pair:
        """a + b."""
        return a[0] + b[0], a[1] + b[1]

    def subtract(self, a: Pair, b: Pair) -> Pair:
        """a - b."""
        return a[0] - b[0], a[1] - b[1]

    def multiply(self, a: Pair, b: Pair) -> Pair:
        """a b."""
        return a[0] * b[0], a[1] * b[0] + a[0] * b[1]

    def divide(self, a: Pair, b: Pair) -> Pair:
        """a / b."""
        value = _or_nan(operator.truediv, a[0], b[0])
        return value, _or_nan(operator.truediv, a[1] - value * b[1], b[0])

    def power(self, a: Pair, b: Pair) -> Pair:
        """a to the power b."""
        value = _or_nan(math.pow, a[0], b[0])
        slope = b[0] * _or_nan(math.pow, a[0], b[0] - 1.0) * a[1] if a[1] else 0.0
        return value, slope + (value * _or_nan(math.log, a[0]) * b[1] if b[1] else 0.0)

    def call(self, name: str, *args: Pair) -> Pair:
        """A function from the table."""
        function, inside = FUNCTIONS[name], [value for value, _ in args]
        value = _or_nan(function.value, *inside)
        if function.slope is not None:
            return value, _or_nan(function.slope, _FLOATS, value, inside[0]) * args[0][1] if args[0][1] else 0.0
        if function.rate is not None:
            return value, _or_nan(function.rate, _FLOATS, value, inside, [slope for _, slope in args])
        match name:
            case "abs":
                return value, math.copysign(1.0, inside[0]) * args[0][1]
            case "sign":
                return value, 0.0
            case "hypot":
                (x, dx), (y, dy) = args
                return value, _or_nan(operator.truediv, x * dx + y * dy, value)
            case "min" | "max":
                return args[inside.index(value)] if value in inside else (math.nan, math.nan)
            case _:
                raise NotSupported(refusals.NO_SLOPE, name=name)

    def choose(self, condition: Any, then: Pair, otherwise: Pair) -> Pair:
        """The branch that a condition selects."""
        return then if condition else otherwise

    def compare(self, op: str, a: Pair, b: Pair) -> Any:
        """a op b."""
        return COMPARISONS[op](a[0], b[0])

    def every(self, *conditions: Any) -> Any:
        """All conditions hold."""
        return all(conditions)

    def some(self, *conditions: Any) -> Any:
        """At least one condition holds."""
        return any(conditions)

    def opposite(self, condition: Any) -> Any:
        """The condition does not hold."""
        return not condition
