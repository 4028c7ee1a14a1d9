"""Lazy matrices and roots: views of the outputs of native calls, extracted on first use."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from pendula.analysis.linear.quadratic import NULL, REPEATED, SYMMETRIC, Roots
from pendula.numerics.quick.small_quadratic import output_size, undamped_roots
from pendula.system.layout import Array

SUSPECT = 1e-6
"""a stiffness below this fraction of that of weight may be a rounding error and needs the thorough path"""
SLOW = SUSPECT**0.5
"""the same for roots, which scale with the square root of stiffness"""


class Place(NamedTuple):
    """Position of a matrix in a row of results: start, end and shape."""

    start: int
    end: int
    shape: tuple[int, ...]

    def cut(self, row: Array) -> Array:
        """The matrix in a row of results."""
        found: Array = row[self.start : self.end].reshape(self.shape)
        return found


class Shape:
    """Positions of the matrices in the results for one number of freedoms.

    Args:
        n: the number of freedoms.
        places: of M, C, K, F and, if there are constraints, Z in the terms in independent coordinates.
        N: its place in the terms of all speeds.
        Z: the identity, if there are no constraints.
    """

    def __init__(self, n: int, places: dict[str, Place], N: Place, Z: Array | None) -> None:
        self.n = n
        self.places = places
        self.N, self.Z = N, Z
        self.starts = np.array([n, places["C"].start, places["K"].start])
        self.values = 4 * n
        self.room = output_size(n)
        self.labels = ("physical",) * (2 * n)


def root_limits(weight_rate: float) -> Array:
    """Thresholds for :func:`undamped_roots`; a root far slower than sqrt(g/l) may be a rounding error."""
    return np.array([SYMMETRIC, NULL, REPEATED, SLOW * weight_rate, SLOW])


class CutMatrices:
    """M, C, K, F, Z and N of one linear model, each extracted from the results on first use.

    Args:
        shape: their positions.
        terms: the terms in independent coordinates.
        full: the terms of all speeds; the same array if there are no constraints.
        residual: largest unbalanced force, as a fraction of a typical force.
        limits: see :func:`root_limits`.
    """

    method, error = "exact", 0.0

    def __init__(self, shape: Shape, limits: Array, terms: Array, full: Array, residual: float) -> None:
        self.shape = shape
        self._limits = limits
        self._terms = terms
        self._full = full
        self.residual = residual

    @cached_property
    def M(self) -> Array:
        """Mass matrix."""
        return self.shape.places["M"].cut(self._terms)

    @cached_property
    def C(self) -> Array:
        """Damping and gyroscopic matrix."""
        return self.shape.places["C"].cut(self._terms)

    @cached_property
    def K(self) -> Array:
        """Stiffness matrix."""
        return self.shape.places["K"].cut(self._terms)

    @cached_property
    def F(self) -> Array:
        """Input matrix."""
        return self.shape.places["F"].cut(self._terms)

    @cached_property
    def Z(self) -> Array:
        """Independent directions."""
        return self.shape.places["Z"].cut(self._terms) if self.shape.Z is None else self.shape.Z

    @cached_property
    def N(self) -> Array:
        """Kinematic matrix: dq = N ds."""
        return self.shape.N.cut(self._full)

    def undamped_roots(self) -> CutRoots | None:
        """The roots, if the model is undamped and needs no thorough check; else None."""
        shape = self.shape
        out = np.empty(shape.room)
        return CutRoots(shape, out) if undamped_roots(self._terms, shape.starts, self._limits, out) else None


class CutRoots:
    """Roots as :func:`undamped_roots` wrote them; all but ``values`` is extracted on first use."""

    def __init__(self, shape: Shape, made: Array) -> None:
        self.values = made[: shape.values].view(complex)
        self._made = made

    @cached_property
    def whole(self) -> Roots:
        """The roots with multiplicities and eigenvectors."""
        n, made = len(self.values) // 2, self._made
        counts = made[4 * n : 10 * n].astype(int)
        shapes = made[10 * n : 10 * n + n * n].reshape(n, n)
        return Roots(
            self.values,
            shapes,
            counts[: 2 * n],
            counts[2 * n : 4 * n],
            shapes[:, :0],
            0,
            "undamped",
            counts[4 * n :].tolist(),
        )
