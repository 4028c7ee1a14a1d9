"""Numbers that know how they change: rate and acceleration in time, and slopes by all speeds.

The slopes ``g`` of a quantity are the derivatives of its rate by every free speed, by the rate of every known coordinate
and by the rate of time itself where it occurs explicitly (the last entry). So ``d = g . (speeds, known rates, 1)``.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any

from tests.crossings.oracle.texts import Array, tree_of

NO_SLOPES: Any = 0.0


class Jet:
    """A number with its first and second derivative in time, and its slopes by all speeds."""

    __slots__ = ("d", "dd", "g", "x")

    def __init__(self, x: float, d: float = 0.0, dd: float = 0.0, g: Array = NO_SLOPES) -> None:
        self.x, self.d, self.dd, self.g = x, d, dd, g

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.x + other.x, self.d + other.d, self.dd + other.dd, self.g + other.g)

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.x - other.x, self.d - other.d, self.dd - other.dd, self.g - other.g)

    def __neg__(self) -> Jet:
        return Jet(-self.x, -self.d, -self.dd, -self.g)

    def __mul__(self, other: Jet) -> Jet:
        a, b = self, other
        return Jet(a.x * b.x, a.d * b.x + a.x * b.d, a.dd * b.x + 2 * a.d * b.d + a.x * b.dd, a.g * b.x + b.g * a.x)

    def __truediv__(self, other: Jet) -> Jet:
        return self * other.through(1 / other.x, -1 / other.x**2, 2 / other.x**3)

    def times(self, factor: float) -> Jet:
        return Jet(self.x * factor, self.d * factor, self.dd * factor, self.g * factor)

    def through(self, f: float, slope: float, bend: float) -> Jet:
        """A function of this number from its value, first and second derivative here."""
        return Jet(f, slope * self.d, bend * self.d**2 + slope * self.dd, self.g * slope)

    @property
    def still(self) -> bool:
        """Whether it is a constant."""
        return self.d == 0.0 and self.dd == 0.0 and isinstance(self.g, float)


def _power(base: Jet, exponent: Jet) -> Jet:
    x, n = base.x, exponent.x
    if not exponent.still:
        return _called("exp", [_called("log", [base]) * exponent])
    value = x**n
    if isinstance(value, complex):
        raise ValueError(f"{x}**{n} is not real")
    slope = n * x ** (n - 1) if n != 0 else 0.0
    bend = n * (n - 1) * x ** (n - 2) if n not in (0, 1) else 0.0
    return base.through(value, slope, bend)


def _tan(x: float) -> tuple[float, float, float]:
    y = math.tan(x)
    return y, 1 + y * y, 2 * y * (1 + y * y)


def _tanh(x: float) -> tuple[float, float, float]:
    y = math.tanh(x)
    return y, 1 - y * y, -2 * y * (1 - y * y)


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


_BELL = 2 / math.sqrt(math.pi)
_FUNCTIONS: Mapping[str, Callable[[float], tuple[float, float, float]]] = {
    "sin": lambda x: (math.sin(x), math.cos(x), -math.sin(x)),
    "cos": lambda x: (math.cos(x), -math.sin(x), -math.cos(x)),
    "tan": _tan,
    "asin": lambda x: (math.asin(x), (1 - x * x) ** -0.5, x * (1 - x * x) ** -1.5),
    "acos": lambda x: (math.acos(x), -((1 - x * x) ** -0.5), -x * (1 - x * x) ** -1.5),
    "atan": lambda x: (math.atan(x), 1 / (1 + x * x), -2 * x / (1 + x * x) ** 2),
    "sinh": lambda x: (math.sinh(x), math.cosh(x), math.sinh(x)),
    "cosh": lambda x: (math.cosh(x), math.sinh(x), math.cosh(x)),
    "tanh": _tanh,
    "asinh": lambda x: (math.asinh(x), (1 + x * x) ** -0.5, -x * (1 + x * x) ** -1.5),
    "acosh": lambda x: (math.acosh(x), (x * x - 1) ** -0.5, -x * (x * x - 1) ** -1.5),
    "atanh": lambda x: (math.atanh(x), 1 / (1 - x * x), 2 * x / (1 - x * x) ** 2),
    "exp": lambda x: (math.exp(x), math.exp(x), math.exp(x)),
    "log": lambda x: (math.log(x), 1 / x, -1 / x**2),
    "sqrt": lambda x: (math.sqrt(x), 0.5 * x**-0.5, -0.25 * x**-1.5),
    "erf": lambda x: (math.erf(x), _BELL * math.exp(-x * x), -2 * x * _BELL * math.exp(-x * x)),
    "abs": lambda x: (abs(x), _sign(x), 0.0),
    "sign": lambda x: (_sign(x), 0.0, 0.0),
    "floor": lambda x: (float(math.floor(x)), 0.0, 0.0),
    "ceil": lambda x: (float(math.ceil(x)), 0.0, 0.0),
}


def _called(name: str, args: list[Jet]) -> Jet:
    if name in ("min", "max"):
        return (min if name == "min" else max)(args, key=lambda jet: jet.x)
    if name == "hypot":
        return _called("sqrt", [args[0] * args[0] + args[1] * args[1]])
    if name == "atan2":
        y, x = args
        s, moment = x.x**2 + y.x**2, x.x * y.d - y.x * x.d
        dd = (x.x * y.dd - y.x * x.dd) / s - 2 * moment * (x.x * x.d + y.x * y.d) / s**2
        return Jet(math.atan2(y.x, x.x), moment / s, dd, (y.g * x.x - x.g * y.x) / s)
    (x,) = args
    return x.through(*_FUNCTIONS[name](x.x))


_CONSTANTS = {"pi": math.pi, "deg": math.pi / 180, "rad": 1.0}


class Formula:
    """An expression that is read once and evaluated for jets."""

    def __init__(self, value: Any) -> None:
        self.tree = tree_of(value) if isinstance(value, str) else ast.Constant(float(value))

    def at(self, names: Mapping[str, Jet]) -> Jet:
        """Its jet from those of its names."""
        return _jet(self.tree, names)


def _jet(node: ast.expr, names: Mapping[str, Jet]) -> Jet:
    match node:
        case ast.Constant(value=int() | float() as value):
            return Jet(float(value))
        case ast.Name(id=name):
            return names[name] if name not in _CONSTANTS else Jet(_CONSTANTS[name])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_jet(operand, names)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _jet(operand, names)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _jet(left, names), _jet(right, names)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
                case ast.Pow():
                    return _power(a, b)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _called(name, [_jet(arg, names) for arg in args])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _jet(body if _holds(test, names) else orelse, names)
    raise ValueError(f"{ast.dump(node)} is not part of the language")


def _holds(node: ast.expr, names: Mapping[str, Jet]) -> bool:
    match node:
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_holds(part, names) for part in parts)
        case ast.BoolOp(op=ast.Or(), values=parts):
            return any(_holds(part, names) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _holds(operand, names)
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [_jet(side, names).x for side in (left, *others)]
            signs = {ast.Lt: float.__lt__, ast.LtE: float.__le__, ast.Gt: float.__gt__, ast.GtE: float.__ge__}
            return all(signs[type(op)](a, b) for op, a, b in zip(ops, sides, sides[1:], strict=False))
    raise ValueError(f"{ast.dump(node)} is not a condition")
