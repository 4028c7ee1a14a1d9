"""Values of expressions at many states at once, linear in some unknowns.

An expression such as ``"m*l*theta_ddot + m*g*sin(theta)"`` becomes its value without the unknowns and one
coefficient for each unknown, at every state. What is not linear in the unknowns is refused, with the part of the
expression that is not. Where an expression has no finite value, the result is nan, never an infinity that could
vanish again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.model.expressions import expression as ex

Array = Any  # numpy array of float64


class NotLinear(Exception):
    """A part of an expression that is not linear in the unknowns; the argument is its text."""


@dataclass(frozen=True)
class Affine:
    """``constant + coefficients . unknowns`` at every state.

    Attributes:
        constant: shape (states,), or () where all states have the same value.
        coefficients: shape (states, unknowns), or (unknowns,); None where no unknown occurs.
    """

    constant: Array
    coefficients: Array | None = None

    def rows(self, states: int, unknowns: int) -> tuple[Array, Array]:
        """Constants of shape (states,) and coefficients of shape (states, unknowns), zeros included."""
        constant = np.broadcast_to(self.constant, (states,))
        found = np.zeros(unknowns) if self.coefficients is None else self.coefficients
        return np.array(constant), np.array(np.broadcast_to(found, (states, unknowns)))


_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "min": lambda *args: np.minimum.reduce(np.broadcast_arrays(*args)),
    "max": lambda *args: np.maximum.reduce(np.broadcast_arrays(*args)),
}
_COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def affine(expression: ex.Expression, names: Mapping[str, Affine]) -> Affine:
    """An expression at every state, linear in the unknowns of ``names``.

    Raises:
        NotLinear: unknowns are multiplied with each other, or stand under a function, a power or a fraction.

    Example:
        >>> x = Affine(np.array(0.0), np.array([1.0]))
        >>> affine(ex.parse("2*(x + y)/4"), {"x": x, "y": Affine(np.array([1.0, 3.0]))}).constant
        array([0.5, 1.5])
    """

    def handle(node: ex.Node, parts: tuple[Affine, ...]) -> Affine:
        value = _value(node, parts, names)
        return value if isinstance(node, ex.Name) else _finite(value)

    with np.errstate(all="ignore"):
        return expression.fold(handle)


def _finite(x: Affine) -> Affine:
    """The same with nan for what is not finite."""
    if np.isfinite(x.constant).all() and (x.coefficients is None or np.isfinite(x.coefficients).all()):
        return x
    coefficients = x.coefficients
    if coefficients is not None:
        coefficients = np.where(np.isfinite(coefficients), coefficients, np.nan)
    return Affine(np.where(np.isfinite(x.constant), x.constant, np.nan), coefficients)


def _value(node: ex.Node, parts: tuple[Affine, ...], names: Mapping[str, Affine]) -> Affine:
    match node:
        case ex.Number(value):
            return Affine(np.array(float(value)))
        case ex.Name(name):
            return Affine(np.array(ex.CONSTANTS[name])) if name in ex.CONSTANTS else names[name]
        case ex.Negate():
            return _scaled(parts[0], -1.0)
        case ex.Add():
            return _sum(parts[0], parts[1])
        case ex.Subtract():
            return _sum(parts[0], _scaled(parts[1], -1.0))
        case ex.Multiply():
            if parts[0].coefficients is None:
                return _scaled(parts[1], parts[0].constant)
            return _scaled(parts[0], _known(parts[1], node))
        case ex.Divide():
            divisor = _known(parts[1], node)
            if parts[0].coefficients is None:
                return Affine(parts[0].constant / divisor)
            return Affine(parts[0].constant / divisor, parts[0].coefficients / divisor[..., None])
        case ex.Power():
            base, exponent = _known(parts[0], node), _known(parts[1], node)
            return Affine(np.where(np.isnan(base + exponent), np.nan, np.power(base, exponent)))
        case ex.Call(function=function):
            return Affine(_FUNCTIONS[function](*(_known(part, node) for part in parts)))
        case ex.Conditional():
            return _chosen(_known(parts[0], node), parts[1], parts[2])
    return Affine(_condition(node, tuple(_known(part, node) for part in parts)))


def _known(x: Affine, node: ex.Node) -> Array:
    """The value of a part that must not contain unknowns."""
    if x.coefficients is not None:
        root: Any = node
        raise NotLinear(ex.Expression.from_node(root).to_text() if not isinstance(node, _CONDITIONS) else "a condition")
    return x.constant


_CONDITIONS = (ex.Compare, ex.And, ex.Or, ex.Not)


def _scaled(x: Affine, factor: Any) -> Affine:
    factor = np.asarray(factor)
    if x.coefficients is None:
        return Affine(x.constant * factor)
    return Affine(x.constant * factor, x.coefficients * factor[..., None])


def _sum(a: Affine, b: Affine) -> Affine:
    if a.coefficients is None or b.coefficients is None:
        return Affine(a.constant + b.constant, b.coefficients if a.coefficients is None else a.coefficients)
    return Affine(a.constant + b.constant, a.coefficients + b.coefficients)


def _chosen(condition: Array, then: Affine, otherwise: Affine) -> Affine:
    constant: Array = np.where(condition == 1, then.constant, otherwise.constant)
    constant = np.where(np.isnan(condition), np.nan, constant)
    if then.coefficients is None and otherwise.coefficients is None:
        return Affine(constant)
    a, b = (np.zeros(1) if x.coefficients is None else x.coefficients for x in (then, otherwise))
    coefficients: Array = np.where(condition[..., None] == 1, a, b)
    return Affine(constant, coefficients)


def _condition(node: ex.Node, parts: tuple[Array, ...]) -> Array:
    """Conditions as 1 and 0, or nan where a value they need is missing."""
    if isinstance(node, ex.Compare):
        missing = np.isnan(parts[0]) | np.isnan(parts[1])
        return np.where(missing, np.nan, _COMPARE[node.op](parts[0], parts[1]).astype(float))
    if isinstance(node, ex.Not):
        return 1.0 - parts[0]
    decisive = 1.0 if isinstance(node, ex.Or) else 0.0
    result: Array = np.array(1.0 - decisive)
    for part in reversed(parts):  # the first that decides, or that has no value
        result = np.where(np.isnan(part) | (part == decisive), part, result)
    return result
