"""A second reader of expressions: from the text by Python's own parser, in 50 digits, with the effect of rounding.

It shares nothing with the reader of models but the text, so its values are an independent check of compiled programs.
Every value carries its sensitivity: how much the rounding errors of doubles may change it, in units of a rounding.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

DIGITS = 50
_ANGLE = re.compile(
    r"(?<![A-Za-z0-9_.])((?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)\s*(deg|rad)(?![A-Za-z0-9_])"
)


class Value(NamedTuple):
    """A number of 50 digits, and the sum of the sizes of all roundings that doubles would make on the way to it."""

    x: Any
    rounding: Any


class NoValue(Exception):
    """An expression is not defined at a state, or a condition in it is too close to its switch to be decided."""


def evaluate_text(text: str, names: Mapping[str, Any]) -> Value:
    """The value of an expression.

    Args:
        text: as in a model file.
        names: values of names, as doubles or numbers of many digits.

    Raises:
        NoValue: it is not defined there.

    Example:
        >>> float(evaluate_text("100*(t/10)**400", {"t": 10.0}).x)
        100.0
    """
    import mpmath  # slow to load

    with mpmath.workdps(DIGITS):
        tree = ast.parse(_ANGLE.sub(r"(\1*\2)", text.strip()), mode="eval")
        try:
            return _value(tree.body, names, mpmath)
        except (ZeroDivisionError, ValueError, TypeError, OverflowError) as error:
            raise NoValue(str(error)) from None


def _value(node: ast.expr, names: Mapping[str, Any], mp: Any) -> Value:
    """The value of a node, from those of its operands."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return Value(mp.mpf(number), mp.mpf(0))
        case ast.Name(id="pi"):
            return Value(+mp.pi, mp.pi)
        case ast.Name(id="deg"):
            return Value(mp.pi / 180, mp.pi / 180)
        case ast.Name(id="rad"):
            return Value(mp.mpf(1), mp.mpf(0))
        case ast.Name(id=name):
            return _named(names[name], mp)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            x = _value(operand, names, mp)
            return Value(-x.x, x.rounding)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, names, mp)
        case ast.BinOp(left=left, op=op, right=right):
            return _combined(op, _value(left, names, mp), _value(right, names, mp), mp)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _called(name, [_value(arg, names, mp) for arg in args], mp)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _holds(test, names, mp) else orelse, names, mp)
    raise NoValue(f"{type(node).__name__} is not part of the language")


def _named(value: Any, mp: Any) -> Value:
    return value if isinstance(value, Value) else Value(mp.mpf(value), mp.mpf(0))


def _combined(op: ast.operator, a: Value, b: Value, mp: Any) -> Value:
    match op:
        case ast.Add() | ast.Sub():
            x = a.x + b.x if isinstance(op, ast.Add) else a.x - b.x
            return Value(x, a.rounding + b.rounding + abs(a.x) + abs(b.x))
        case ast.Mult():
            x = a.x * b.x
            return Value(x, abs(a.x) * b.rounding + abs(b.x) * a.rounding + abs(x))
        case ast.Div():
            x = a.x / b.x
            return Value(x, (a.rounding + abs(x) * b.rounding) / abs(b.x) + abs(x))
        case ast.Pow():
            return _power(a, b, mp)
    raise NoValue(f"{type(op).__name__} is not part of the language")


def _power(a: Value, b: Value, mp: Any) -> Value:
    x = _real(a.x**b.x, mp)
    if a.x == 0:
        return Value(x, abs(x))
    by_base = abs(b.x * x / a.x)
    by_exponent = abs(x * mp.log(abs(a.x)))
    return Value(x, by_base * (a.rounding + abs(a.x)) + by_exponent * b.rounding + abs(x))


def _holds(test: ast.expr, names: Mapping[str, Any], mp: Any) -> bool:
    match test:
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_holds(part, names, mp) for part in parts)
        case ast.BoolOp(op=ast.Or(), values=parts):
            return any(_holds(part, names, mp) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _holds(operand, names, mp)
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [_value(side, names, mp) for side in (left, *others)]
            return all(_compared(op, a, b) for op, a, b in zip(ops, sides, sides[1:], strict=False))
    raise NoValue(f"{type(test).__name__} is not a condition")


def _compared(op: ast.cmpop, a: Value, b: Value) -> bool:
    gap, doubt = a.x - b.x, 1e-13 * (a.rounding + b.rounding)
    if gap != 0 and abs(gap) <= doubt:
        raise NoValue("a condition is too close to its switch")
    match op:
        case ast.Lt():
            return bool(gap < 0)
        case ast.LtE():
            return bool(gap <= 0)
        case ast.Gt():
            return bool(gap > 0)
        case ast.GtE():
            return bool(gap >= 0)
    raise NoValue(f"{type(op).__name__} is not part of the language")


def _real(x: Any, mp: Any) -> Any:
    if isinstance(x, mp.mpc) or not mp.isfinite(x):
        raise NoValue("no finite real value")
    return x


_SLOPES: Mapping[str, Callable[[Any, Any], Any]] = {
    "sin": lambda mp, x: mp.cos(x),
    "cos": lambda mp, x: mp.sin(x),
    "tan": lambda mp, x: mp.sec(x) ** 2,
    "asin": lambda mp, x: 1 / mp.sqrt(1 - x**2),
    "acos": lambda mp, x: 1 / mp.sqrt(1 - x**2),
    "atan": lambda mp, x: 1 / (1 + x**2),
    "sinh": lambda mp, x: mp.cosh(x),
    "cosh": lambda mp, x: mp.sinh(x),
    "tanh": lambda mp, x: mp.sech(x) ** 2,
    "asinh": lambda mp, x: 1 / mp.sqrt(1 + x**2),
    "acosh": lambda mp, x: 1 / mp.sqrt(x**2 - 1),
    "atanh": lambda mp, x: 1 / (1 - x**2),
    "exp": lambda mp, x: mp.exp(x),
    "log": lambda mp, x: 1 / x,
    "sqrt": lambda mp, x: 1 / mp.sqrt(x),
    "erf": lambda mp, x: 2 * mp.exp(-(x**2)) / mp.sqrt(mp.pi),
}
"""sizes of derivatives, for the effect of rounding"""


def _called(name: str, args: list[Value], mp: Any) -> Value:
    xs, rounding = [a.x for a in args], sum(a.rounding for a in args)
    if name in _SLOPES:
        (x,) = xs
        y = _real(getattr(mp, name)(x), mp)
        return Value(y, abs(y) + (abs(_SLOPES[name](mp, x)) * rounding if rounding else 0))
    if name in ("min", "max"):
        return Value({"min": min, "max": max}[name](xs), rounding + max(map(abs, xs)))
    if name == "abs":
        return Value(abs(xs[0]), rounding)
    if name == "hypot":
        return Value(mp.hypot(*xs), rounding + mp.hypot(*xs))
    if name == "atan2":
        y, x = xs
        size = mp.hypot(x, y)
        return Value(mp.atan2(y, x), mp.pi + (rounding / size if size else 0))
    if name in ("floor", "ceil", "sign"):
        (x,) = xs
        near = mp.mpf(0) if name == "sign" else mp.nint(x)
        if x != near and abs(x - near) <= 1e-13 * rounding:
            raise NoValue("a jump is too close")
        return Value({"floor": mp.floor, "ceil": mp.ceil, "sign": mp.sign}[name](x), mp.mpf(0))
    raise NoValue(f"{name} is not a function of the language")
