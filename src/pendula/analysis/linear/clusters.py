"""Multiple roots: which computed roots are one root, scattered by rounding, and how sensitive it is.

Rounding spreads a root with a Jordan block of size k on a circle of radius about eps^(1/k), so four simple roots near
-1 +- 6e-5 may be one root -1. Their mean is far more accurate than each of them.

Two things must hold before roots are called one. The spread must be one that rounding can give to a multiple root
(Henrici's bound, which is far too wide for a matrix that is far from normal), and the roots must be too inaccurate to
be kept apart: roots whose condition numbers place them well away from each other are distinct, however near they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Array = Any  # matrix of float64 or complex128

ROUNDINGS = 200.0
"""errors of a matrix, in units of its norm times the rounding unit, that its roots are assumed to have"""
APART = 10.0
"""roots farther apart than this many of their own rounding errors are distinct"""
WIDEST = 0.05
"""roots farther apart than this, relative to their mean, are not one root"""
NEAR_ZERO = 1e-3
"""roots farther than this from zero, relative to the matrix, are not the root zero"""
MOST = 12
"""largest multiplicity that is looked for"""
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Cluster:
    """Roots that are one multiple root up to rounding.

    Attributes:
        members: indices of the roots.
        mean: their mean.
        scatter: largest distance of one of them from it.
        condition: change of the mean for a change of the matrix of norm 1 (norm of the spectral projector).
    """

    members: tuple[int, ...]
    mean: complex
    scatter: float
    condition: float


def root_errors(A: Array, values: Array) -> Array:
    """How far one rounding error of the size of the matrix moves each of its computed roots, to first order.

    This is eps |A| times the condition number of the root, in the scale of the states in which they are computed (after
    balancing). It is infinite for a root without a full set of eigenvectors.

    Example:
        >>> float(root_errors(np.diag([-1.0, -2.0]), np.array([-1.0, -2.0])).max() / EPS)  # a normal matrix
        2.0
        >>> A = np.array([[-1.0, 1e9], [0.0, -2.0]])  # the same in other units of the first state
        >>> bool(root_errors(A, np.array([-1.0, -2.0])).max() < 1e-14)
        True
    """
    from scipy.linalg import eig, matrix_balance  # slow to load

    if not len(A):
        return np.zeros(0)
    balanced = matrix_balance(A, permute=False)[0]
    own, left, right = eig(balanced, left=True, right=True)
    with np.errstate(divide="ignore"):
        conditions = 1.0 / np.abs(np.sum(left.conj() * right, axis=0))  # of unit vectors
    nearest = np.argmin(np.abs(values[:, None] - own), axis=1)
    return np.asarray(EPS * np.linalg.norm(balanced, 2) * conditions[nearest])


@dataclass
class _Roots:
    """A matrix and its computed roots."""

    B: Array
    values: Array

    @cached_property
    def size(self) -> float:
        return float(np.linalg.norm(self.B, 2))

    @cached_property
    def reach(self) -> Array:
        """How far the roots may be from their exact places."""
        return APART * root_errors(self.B, self.values)

    def indistinct(self, members: tuple[int, ...]) -> bool:
        """Whether the ranges in which these roots lie overlap, each with the next, so that all may be one root."""
        chosen = list(members)
        gaps = np.abs(self.values[chosen][:, None] - self.values[chosen])
        touching = gaps <= self.reach[chosen][:, None] + self.reach[chosen]
        joined = touching[0]
        for _ in chosen:
            joined = touching[joined].any(axis=0)
        return bool(joined.all())


def find_clusters(B: Array, values: Array, *, at_zero: bool = False) -> list[Cluster]:
    """Clusters of two or more roots of a matrix, as large as rounding explains.

    By Henrici's theorem a matrix with one m-fold root and departure N from a normal one has, after a change of norm d,
    its roots within r of that root, where r^m = d (N^(m-1) + ... + N r^(m-2) + r^(m-1)). A group with a scatter up to
    this r, for d of some hundred rounding errors times the condition of the group, is a cluster.

    Args:
        B: a matrix.
        values: its computed eigenvalues.
        at_zero: whether clusters about zero are looked for, too; their spread relative to their mean has no bound.
    """
    count = len(values)
    roots = _Roots(B, values)
    gaps = np.abs(values[:, None] - values)
    if count < 2 or not np.isfinite(gaps).all() or not roots.size:
        return []
    first, second = np.triu_indices(count, 1)
    near = gaps[first, second]
    sizes = np.maximum(np.abs(values[first]), np.abs(values[second]))
    if at_zero:
        sizes = np.maximum(sizes, NEAR_ZERO / WIDEST * roots.size)
    order = [k for k in np.argsort(near, kind="stable") if near[k] <= WIDEST * sizes[k]]
    if not order:
        return []
    group = list(range(count))
    members: dict[int, tuple[int, ...]] = {k: (k,) for k in range(count)}
    found: dict[int, Cluster] = {}
    for k in order:
        a, b = group[first[k]], group[second[k]]
        if a == b:
            continue
        joined = tuple(sorted((*members.pop(a), *members.pop(b))))
        for j in joined:
            group[j] = a
        members[a] = joined
        one = _cluster(roots, joined, at_zero)
        if one is not None:
            found = {j: c for j, c in found.items() if not set(c.members) <= set(joined)}
            found[a] = one
    return list(found.values())


def _cluster(roots: _Roots, members: tuple[int, ...], at_zero: bool) -> Cluster | None:
    """The cluster of some roots; None if rounding does not explain that they differ."""
    B, values, size, m = roots.B, roots.values, roots.size, len(members)
    chosen = values[list(members)]
    mean = complex(chosen.mean())
    scatter = float(np.abs(chosen - mean).max())
    least = ROUNDINGS * EPS * size
    if m > MOST or scatter > max(WIDEST * abs(mean), NEAR_ZERO * size if at_zero else 0.0):
        return None
    if scatter > _reach(1e3 * least, size, m):  # the departure is at most the norm: quick, for most pairs
        return None
    try:
        departure, condition = _block(B, mean, scatter, np.delete(values, members), m)
    except (np.linalg.LinAlgError, ValueError):
        return None
    if scatter > _reach(least * condition, departure, m) or not roots.indistinct(members):
        return None
    return Cluster(members, mean, scatter, condition)


def _reach(change: float, departure: float, m: int) -> float:
    """The r of r^m = change (departure^(m-1) + ... + r^(m-1)), by fixed-point iteration from above."""
    r = max(change, (change * departure ** (m - 1)) ** (1.0 / m)) * m
    for _ in range(60):
        r = (change * sum(departure ** (m - 1 - k) * r**k for k in range(m))) ** (1.0 / m)
    return float(r)


def _block(B: Array, mean: complex, scatter: float, others: Array, m: int) -> tuple[float, float]:
    """Departure from a multiple of the identity, and condition, of the invariant subspace of a group of roots.

    Raises:
        ValueError: the group is not separated from the other roots.
    """
    from scipy.linalg import schur, solve_sylvester  # slow to load

    nearest = float(np.abs(others - mean).min(initial=np.inf))
    limit = 0.5 * (scatter + nearest) if np.isfinite(nearest) else np.inf
    T, _, inside = schur(B.astype(complex), output="complex", sort=lambda x: abs(x - mean) <= limit)
    if inside != m or not scatter < nearest:
        raise ValueError("not separated")
    departure = float(np.linalg.norm(T[:m, :m] - mean * np.eye(m), 2))
    if m == len(T):
        return departure, 1.0
    X = solve_sylvester(T[:m, :m], -T[m:, m:], T[:m, m:])
    return departure, float(np.sqrt(1.0 + np.linalg.norm(X, 2) ** 2))
