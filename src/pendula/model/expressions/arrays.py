"""Evaluates expressions on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from pendula.model.expressions.functions import FUNCTIONS, Column, Function
from pendula.model.expressions.nodes import CONSTANTS

Array = Any  # numpy array of float64


def _of_arrays(function: Function) -> Callable[..., Array]:
    if not function.numpy:
        return np.vectorize(function.value, otypes=[float])
    found: Callable[..., Array] = getattr(np, function.numpy)
    return found if function.least == function.most else lambda *args: reduce(found, args)


ARRAYS: Column[Callable[..., Array]] = Column(
    "values of arrays", {name: _of_arrays(function) for name, function in FUNCTIONS.items()}
)
COMPARISONS: Mapping[str, Callable[[Array, Array], Array]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


class Arrays:
    """The algebra of NumPy arrays of one shape; NaN where an expression has no value.

    Args:
        names: values of names, as arrays or numbers; NaN for others.
        shape: of all arrays.
    """

    add, subtract, multiply, divide = np.add, np.subtract, np.multiply, np.divide
    negate, power = np.negative, np.power
    choose, opposite = staticmethod(np.where), np.logical_not

    def __init__(self, names: Mapping[str, Array | float], shape: tuple[int, ...]) -> None:
        self._names, self._shape = names, shape

    def constant(self, value: float) -> Array:
        """A number."""
        return np.full(self._shape, float(value))

    def named(self, name: str) -> Array:
        """One of the constants pi, deg, rad."""
        return self.constant(CONSTANTS[name])

    def name(self, name: str) -> Array:
        """The value of a name."""
        value = self._names.get(name, np.nan)
        return value if isinstance(value, np.ndarray) else self.constant(value)

    def call(self, name: str, *args: Array) -> Array:
        """A function from the table."""
        return ARRAYS[name](*args)

    def compare(self, op: str, a: Array, b: Array) -> Array:
        """a op b."""
        return COMPARISONS[op](a, b)

    def every(self, *conditions: Array) -> Array:
        """All conditions hold."""
        return np.logical_and.reduce(conditions)

    def some(self, *conditions: Array) -> Array:
        """At least one condition holds."""
        return np.logical_or.reduce(conditions)
