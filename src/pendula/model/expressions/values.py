"""Evaluation of expressions: checks on trees, values of nodes, and failures."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

from pendula.arguments import available
from pendula.model.expressions import nodes as ex
from pendula.model.expressions.algebra import combine
from pendula.model.expressions.functions import FUNCTIONS
from pendula.model.names import ExpressionError, identifier_fault, nearest, quote
from pendula.words import counted

MAX_INTEGER = 10**300
"""Largest integer."""
MAX_EXPONENT = 1000.0
"""Largest absolute value of a constant exponent."""
_MAX_EXACT_DIGITS = 10_000  # of a constant, if a symbolic engine expanded it exactly


# --- Checks on the tree -----------------------------------------------------------------------------------


def check_node(node: ex.Node, parts: tuple[bool, ...]) -> bool:
    """Rejects malformed nodes; returns whether the node is a condition."""
    if isinstance(node, ex.Number):
        check_number(node.value)
    elif isinstance(node, ex.Name):
        fault = "must be plain text" if type(node.id) is not str else identifier_fault(node.id)
        if fault or node.id in FUNCTIONS:
            raise ExpressionError(f"name {quote(str(node.id))} {fault or 'is a function'}")
    elif isinstance(node, ex.Call):
        check_call(node.function, len(node.args))
    elif isinstance(node, ex.Compare) and node.op not in ex.COMPARISONS:
        raise ExpressionError(f"comparison {node.op!r} is not one of {' '.join(ex.COMPARISONS)}")
    elif isinstance(node, ex.And | ex.Or) and len(parts) < 2:
        raise ExpressionError(f"{type(node).__name__} needs at least two conditions")
    expected = (
        (True, False, False)
        if isinstance(node, ex.Conditional)
        else (isinstance(node, ex.And | ex.Or | ex.Not),) * len(parts)
    )
    if parts != expected:
        kind = type(node).__name__
        raise ExpressionError(f"{kind} has a comparison in place of a number, or a number in place of a comparison")
    return isinstance(node, ex.CONDITIONS)


def check_number(value: int | float) -> None:
    """Rejects numbers that are infinite, nan or too large."""
    if type(value) is int:
        if abs(value) > MAX_INTEGER:
            digits = int(value.bit_length() * math.log10(2.0)) + 1
            raise ExpressionError(f"an integer of about {digits} digits is too large; the limit is 1e300")
    elif type(value) is not float:
        raise ExpressionError(f"a number must be an int or a float, found {type(value).__name__}")
    elif not math.isfinite(value):
        raise ExpressionError(f"{value} is not a finite number")


def check_call(function: str, count: int) -> None:
    """Rejects unknown functions and wrong numbers of arguments."""
    if function not in FUNCTIONS:
        raise ExpressionError(_unknown_function(function))
    least, most = FUNCTIONS[function].least, FUNCTIONS[function].most
    if count < least or (most is not None and count > most):
        wanted = f"{least} or more arguments" if most is None else counted(least, "argument")
        hint = "; log is natural, for base b write log(x)/log(b)" if function == "log" and count == 2 else ""
        raise ExpressionError(f"{function} takes {wanted}, found {count}{hint}")


_OTHER_NAMES = {
    "ln": "log(x)",
    "log10": "log(x)/log(10)",
    "log2": "log(x)/log(2)",
    "pow": "x**y",
    "arcsin": "asin(x)",
    "arccos": "acos(x)",
    "arctan": "atan(x)",
    "arctan2": "atan2(y, x)",
    "arcsinh": "asinh(x)",
    "arccosh": "acosh(x)",
    "arctanh": "atanh(x)",
    "fabs": "abs(x)",
    "sgn": "sign(x)",
    "cbrt": "x**(1/3)",
    "radians": "x*deg",
    "degrees": "x/deg",
}


def _unknown_function(name: str) -> str:
    near = nearest(name, FUNCTIONS)
    if name in _OTHER_NAMES:
        hint = f", write {_OTHER_NAMES[name]}"
    else:
        hint = f", the nearest is {near}" if near else ""
    return f"{quote(name)} is not a known function{hint}; {available(FUNCTIONS)}"


class _Measure(NamedTuple):
    depth: int
    value: float | bool | Failure | None  # None if the part depends on a name
    digits: float  # of the exact value, if expanded


def measure(node: ex.Node, parts: tuple[_Measure, ...], most: int = ex.MAX_DEPTH) -> _Measure:
    """Rejects trees that are too deep, and constants without a value or too large in exact arithmetic."""
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > most:
        raise ExpressionError(f"the expression is more than {most} levels deep; split it into parameters")
    if isinstance(node, ex.Name) and node.id not in ex.CONSTANTS:
        return _Measure(depth, None, 1.0)
    digits = max(1.0, math.fsum(part.digits for part in parts))
    if isinstance(node, ex.Number):
        digits = float(len(str(abs(node.value)))) if type(node.value) is int else 1.0
    elif isinstance(node, ex.Power) and parts[1].value is not None:
        exponent = parts[1].value
        if isinstance(exponent, float) and abs(exponent) > MAX_EXPONENT:
            raise ExpressionError(
                f"exponent {ex.quoted(node.b)} is {exponent:g}; the limit is {MAX_EXPONENT:g} in size"
            )
        digits = parts[0].digits * max(1.0, abs(exponent) if isinstance(exponent, float) else 1.0)
    if isinstance(node, ex.Divide) and parts[1].value == 0.0:
        raise ExpressionError(f"{ex.quoted(node)} has no finite value: division by zero")
    if any(part.value is None for part in parts):
        return _Measure(depth, None, 1.0)
    value = value_of(node, tuple(part.value for part in parts), _CONSTANTS_ALONE)
    if isinstance(value, Failure):
        raise ExpressionError(f"{ex.quoted(value.node)} has no finite value: {value.reason}")
    if digits > _MAX_EXACT_DIGITS:
        raise ExpressionError(f"the constant {ex.quoted(node)} is too large to be stored exactly")
    return _Measure(depth, value, digits)


# --- Values -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Failure:
    """Result of a part without a value. It matters only if the part is chosen: x/y if y > 0 else 0."""

    node: ex.Node
    reason: str


def finite(name: str, values: Mapping[str, float] | None, text: str) -> float:
    """The value given for a name; raises ExpressionError if there is none."""
    if values is None or name not in values:
        near = nearest(name, [str(key) for key in values or ()])
        hint = f"; did you mean {quote(near)}?" if near else ""
        raise ExpressionError(f"{quote(text)} needs a value for {quote(name)}, which is missing{hint}")
    value: Any = values[name]
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ExpressionError(f"{quote(name)} must be a number, found {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ExpressionError(f"{quote(name)} must be a finite number, found {number}")
    return number


def _value(name: str, *args: float) -> float:
    """A function from the table."""
    return float(FUNCTIONS[name].value(*args))


def _exact_value(name: str, *args: float) -> float:
    """A function of constants, with the zeros and poles of sine, cosine and tangent where exact arithmetic has them.

    cos(90deg) is zero, not its rounding error 6e-17.
    """
    value = _value(name, *args)
    if name in ("sin", "cos", "tan"):
        rounding = 2.0**-52 * abs(args[0])
        if abs(value) <= rounding:
            return 0.0
        if name == "tan" and abs(value) * rounding >= 1.0:
            raise ValueError
    if name == "atan2" and args == (0.0, 0.0):
        raise ValueError
    return value


class Floats:
    """The algebra of floats; a branch that is not chosen may have no value."""

    add, subtract = staticmethod(operator.add), staticmethod(operator.sub)
    multiply, divide = staticmethod(operator.mul), staticmethod(operator.truediv)
    negate, opposite = staticmethod(operator.neg), staticmethod(operator.not_)
    power = staticmethod(math.pow)  # never complex, and never exact integers that could exhaust memory
    constant = float
    named = ex.CONSTANTS.__getitem__

    def __init__(self, names: Mapping[str, float], call: Callable[..., float] = _value) -> None:
        self.name, self.call = names.__getitem__, call

    def compare(self, op: str, a: float, b: float) -> bool:
        """a op b."""
        return ex.COMPARISONS[op](a, b)

    def choose(self, condition: bool | Failure, then: Any, otherwise: Any) -> Any:
        """``then`` where the condition holds, else ``otherwise``."""
        return condition if isinstance(condition, Failure) else then if condition else otherwise

    def every(self, *conditions: bool | Failure) -> bool | Failure:
        """All conditions hold."""
        return _decided(conditions, False)

    def some(self, *conditions: bool | Failure) -> bool | Failure:
        """At least one condition holds."""
        return _decided(conditions, True)


_CONSTANTS_ALONE = Floats({}, _exact_value)
_LAZY = frozenset({ex.And, ex.Or, ex.Conditional})
_TRUTHS = frozenset(ex.CONDITIONS)


def _decided(conditions: tuple[bool | Failure, ...], decisive: bool) -> bool | Failure:
    """The first condition that is decisive or a failure; if there is none, the opposite truth value."""
    for condition in conditions:
        if isinstance(condition, Failure) or condition is decisive:
            return condition
    return not decisive


def value_of(node: ex.Node, parts: tuple[Any, ...], floats: Floats) -> float | bool | Failure:
    """Value of one node from the values of its operands."""
    kind = type(node)
    if kind not in _LAZY:
        for part in parts:
            if isinstance(part, Failure):
                return part
    try:
        value: Any = combine(floats, node, parts)
    except ZeroDivisionError:
        return Failure(node, "division by zero")
    except OverflowError:
        return Failure(node, "the result is too large")
    except ValueError:
        return Failure(node, _domain(node, parts))
    if kind in _LAZY or kind in _TRUTHS or math.isfinite(value):
        return value
    return Failure(node, "the result is too large")


def _domain(node: ex.Node, parts: tuple[float, ...]) -> str:
    if isinstance(node, ex.Power):
        return "zero to a negative power" if parts[0] == 0.0 else "a negative number to a fractional power"
    name = node.function if isinstance(node, ex.Call) else type(node).__name__
    return f"{name} is not defined at {', '.join(repr(part) for part in parts)}"
