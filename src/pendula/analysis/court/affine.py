"""Affine functions of some unknowns: expressions evaluated at many states at once.

An expression such as ``"m*l*theta_ddot + m*g*sin(theta)"`` becomes a constant and one coefficient for each unknown, at
every state. ``NotLinear`` names the part of an expression that is not linear in the unknowns. Where an expression has
no finite value, the result is nan, never an infinity that could cancel later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.model.expressions import nodes as ex
from pendula.model.expressions.algebra import combine
from pendula.model.expressions.arrays import ARRAYS, COMPARISONS, Array
from pendula.model.expressions.expression import Expression
from pendula.model.expressions.nodes import CONDITIONS


class NotLinear(Exception):
    """Raised with the text of the part of an expression that is not linear in the unknowns."""


@dataclass(frozen=True)
class Affine:
    """``constant + coefficients . unknowns`` at every state.

    Attributes:
        constant: shape (states,), or () if all states have the same value.
        coefficients: shape (states, unknowns), or (unknowns,); None if no unknown occurs.
    """

    constant: Array
    coefficients: Array | None = None

    def rows(self, states: int, unknowns: int) -> tuple[Array, Array]:
        """Constants of shape (states,) and coefficients of shape (states, unknowns), zeros included."""
        constant = np.broadcast_to(self.constant, (states,))
        found = np.zeros(unknowns) if self.coefficients is None else self.coefficients
        return np.array(constant), np.array(np.broadcast_to(found, (states, unknowns)))


def affine(expression: Expression, names: Mapping[str, Affine]) -> Affine:
    """An expression as an affine function of the unknowns in ``names``, at every state.

    Raises:
        NotLinear: unknowns are multiplied with each other, or occur in a function, a power or a fraction.

    Example:
        >>> from pendula.model.expressions.expression import parse
        >>> x = Affine(np.array(0.0), np.array([1.0]))
        >>> affine(parse("2*(x + y)/4"), {"x": x, "y": Affine(np.array([1.0, 3.0]))}).constant
        array([0.5, 1.5])
    """

    algebra = _Linear(names)

    def handle(node: ex.Node, parts: tuple[Affine, ...]) -> Affine:
        try:
            value = combine(algebra, node, parts)
        except _Unknown:
            root: Any = node
            text = "a condition" if isinstance(node, CONDITIONS) else Expression.from_node(root, ex.LONG).to_text()
            raise NotLinear(text) from None
        return value if isinstance(node, ex.Name) else _finite(value)

    with np.errstate(all="ignore"):
        return expression.fold(handle)


def _finite(x: Affine) -> Affine:
    """The same with nan in place of infinities."""
    if np.isfinite(x.constant).all() and (x.coefficients is None or np.isfinite(x.coefficients).all()):
        return x
    coefficients = x.coefficients
    if coefficients is not None:
        coefficients = np.where(np.isfinite(coefficients), coefficients, np.nan)
    return Affine(np.where(np.isfinite(x.constant), x.constant, np.nan), coefficients)


class _Unknown(Exception):
    """An unknown occurs where only a known value is allowed."""


def _known(x: Affine) -> Array:
    """The value of an operand that must not contain unknowns."""
    if x.coefficients is not None:
        raise _Unknown
    return x.constant


class _Linear:
    """Arithmetic on affine functions of the unknowns; conditions are 1, 0, or nan if a value is missing."""

    def __init__(self, names: Mapping[str, Affine]) -> None:
        self.name = names.__getitem__

    def constant(self, value: float) -> Affine:
        return Affine(np.array(float(value)))

    def named(self, name: str) -> Affine:
        return self.constant(ex.CONSTANTS[name])

    def negate(self, x: Affine) -> Affine:
        return _scaled(x, -1.0)

    def add(self, a: Affine, b: Affine) -> Affine:
        return _sum(a, b)

    def subtract(self, a: Affine, b: Affine) -> Affine:
        return _sum(a, _scaled(b, -1.0))

    def multiply(self, a: Affine, b: Affine) -> Affine:
        return _scaled(b, a.constant) if a.coefficients is None else _scaled(a, _known(b))

    def divide(self, a: Affine, b: Affine) -> Affine:
        divisor = _known(b)
        if a.coefficients is None:
            return Affine(a.constant / divisor)
        return Affine(a.constant / divisor, a.coefficients / divisor[..., None])

    def power(self, a: Affine, b: Affine) -> Affine:
        base, exponent = _known(a), _known(b)
        return Affine(np.where(np.isnan(base + exponent), np.nan, np.power(base, exponent)))

    def call(self, name: str, *args: Affine) -> Affine:
        return Affine(ARRAYS[name](*map(_known, args)))

    def choose(self, condition: Affine, then: Affine, otherwise: Affine) -> Affine:
        return _chosen(_known(condition), then, otherwise)

    def compare(self, op: str, a: Affine, b: Affine) -> Affine:
        x, y = _known(a), _known(b)
        return Affine(np.where(np.isnan(x) | np.isnan(y), np.nan, COMPARISONS[op](x, y).astype(float)))

    def opposite(self, condition: Affine) -> Affine:
        return Affine(1.0 - _known(condition))

    def every(self, *conditions: Affine) -> Affine:
        return _decided(conditions, 0.0)

    def some(self, *conditions: Affine) -> Affine:
        return _decided(conditions, 1.0)


def _decided(conditions: tuple[Affine, ...], decisive: float) -> Affine:
    """The first condition that is decisive or nan; if there is none, the opposite truth value."""
    result: Array = np.array(1.0 - decisive)
    for part in map(_known, reversed(conditions)):
        result = np.where(np.isnan(part) | (part == decisive), part, result)
    return Affine(result)


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
