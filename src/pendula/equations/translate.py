"""From the expressions of a model file to SymEngine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import symengine as se

from pendula.equations.tape import Expr
from pendula.model.expressions import expression as ex

_CONSTANTS: dict[str, Expr] = {"pi": se.pi, "deg": se.pi / 180, "rad": se.Integer(1)}


def number(value: int | float) -> Expr:
    """A number for symbolic use: whole numbers become exact, so that zeros and ones vanish."""
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else float(value)


def _absolute(x: Expr) -> Expr:
    # Written by cases: SymEngine leaves the derivatives of abs, sign, min, max unevaluated.
    return se.Piecewise((x, x >= 0), (-x, True))


def _sign(x: Expr) -> Expr:
    return se.Piecewise((1, x > 0), (-1, x < 0), (0, True))


def _smaller(*args: Expr) -> Expr:
    least = args[0]
    for x in args[1:]:
        least = se.Piecewise((least, least <= x), (x, True))
    return least


def _larger(*args: Expr) -> Expr:
    most = args[0]
    for x in args[1:]:
        most = se.Piecewise((most, most >= x), (x, True))
    return most


_FUNCTIONS: dict[str, Callable[..., Expr]] = {
    "sin": se.sin,
    "cos": se.cos,
    "tan": se.tan,
    "asin": se.asin,
    "acos": se.acos,
    "atan": se.atan,
    "atan2": se.atan2,
    "sinh": se.sinh,
    "cosh": se.cosh,
    "tanh": se.tanh,
    "asinh": se.asinh,
    "acosh": se.acosh,
    "atanh": se.atanh,
    "exp": se.exp,
    "log": se.log,
    "sqrt": se.sqrt,
    "abs": _absolute,
    "sign": _sign,
    "min": _smaller,
    "max": _larger,
    "floor": se.floor,
    "ceil": se.ceiling,
    "hypot": lambda *args: se.sqrt(se.Add(*[x**2 for x in args])),
}

_COMPARE: dict[str, Callable[[Expr, Expr], Any]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def translate(expression: ex.Expression, names: Mapping[str, Expr]) -> Expr:
    """The SymEngine form of an expression, with each name replaced by ``names[name]``.

    Example:
        >>> translate(ex.parse("m*l**2/12"), {"m": se.Symbol("m"), "l": se.Symbol("l")})
        (1/12)*l**2*m
    """

    def handle(node: ex.Node, parts: tuple[Any, ...]) -> Any:
        match node:
            case ex.Number(value):
                return se.sympify(number(value))
            case ex.Name(name):
                return _CONSTANTS[name] if name in _CONSTANTS else se.sympify(names[name])
            case ex.Negate():
                return -parts[0]
            case ex.Add():
                return parts[0] + parts[1]
            case ex.Subtract():
                return parts[0] - parts[1]
            case ex.Multiply():
                return parts[0] * parts[1]
            case ex.Divide():
                return parts[0] / parts[1]
            case ex.Power():
                return parts[0] ** parts[1]
            case ex.Call(function=function):
                return _FUNCTIONS[function](*parts)
            case ex.Conditional():
                return se.Piecewise((parts[1], parts[0]), (parts[2], True))
            case ex.Compare(op=op):
                return _COMPARE[op](parts[0], parts[1])
            case ex.And():
                return se.And(*parts)
            case ex.Or():
                return se.Or(*parts)
            case ex.Not():
                return se.Not(parts[0])
        raise TypeError(f"no translation for {node!r}")

    return expression.fold(handle)


def jumps(expression: ex.Expression, names: Mapping[str, Expr]) -> list[Expr]:
    """Times at which a condition on t inside an expression switches, where that can be told.

    Only comparisons with plain ``t`` on one side count: a model refuses prescribed motions with other conditions.
    """
    times: list[Expr] = []

    def handle(node: ex.Node, parts: tuple[Any, ...]) -> Any:
        if isinstance(node, ex.Compare):
            for side, other in ((node.a, node.b), (node.b, node.a)):
                if side == ex.Name("t"):
                    limit = ex.Expression.from_node(other)
                    if "t" not in limit.names and limit.names <= set(names):
                        times.append(translate(limit, names))
        return None

    expression.fold(handle)
    return times
