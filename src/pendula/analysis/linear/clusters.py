"""Multiple roots: which computed roots are one root, scattered by rounding, and how sensitive it is.

Rounding spreads a root with a Jordan block of size k on a circle of radius about eps^(1/k), so four simple roots near
-1 +- 6e-5 may be one root -1. Their mean is far more accurate than each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any  # matrix of float64 or complex128

ROUNDINGS = 200.0
"""errors of a matrix, in units of its norm times the rounding unit, that its roots are assumed to have"""
WIDEST = 0.05
"""roots farther apart than this, relative to their mean, are not one root"""
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


def find_clusters(B: Array, values: Array) -> list[Cluster]:
    """Clusters of two or more roots of a matrix, as large as rounding explains.

    By Henrici's theorem a matrix with one m-fold root and departure N from a normal one has, after a change of norm d,
    its roots within r of that root, where r^m = d (N^(m-1) + ... + N r^(m-2) + r^(m-1)). A group with a scatter up to
    this r, for d of some hundred rounding errors times the condition of the group, is a cluster.

    Args:
        B: a matrix.
        values: its computed eigenvalues.
    """
    count = len(values)
    size = float(np.linalg.norm(B, 2)) if count else 0.0
    gaps = np.abs(values[:, None] - values)
    if count < 2 or not np.isfinite(gaps).all() or not size:
        return []
    first, second = np.triu_indices(count, 1)
    near = gaps[first, second]
    sizes = np.maximum(np.abs(values[first]), np.abs(values[second]))
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
        one = _cluster(B, values, joined, size)
        if one is not None:
            found = {j: c for j, c in found.items() if not set(c.members) <= set(joined)}
            found[a] = one
    return list(found.values())


def _cluster(B: Array, values: Array, members: tuple[int, ...], size: float) -> Cluster | None:
    """The cluster of some roots; None if rounding does not explain that they differ."""
    m = len(members)
    chosen = values[list(members)]
    mean = complex(chosen.mean())
    scatter = float(np.abs(chosen - mean).max())
    least = ROUNDINGS * EPS * size
    if m > MOST or scatter > WIDEST * abs(mean):
        return None
    if scatter > _reach(1e3 * least, size, m):  # the departure is at most the norm: quick, for most pairs
        return None
    try:
        departure, condition = _block(B, mean, scatter, np.delete(values, members), m)
    except (np.linalg.LinAlgError, ValueError):
        return None
    if scatter > _reach(least * condition, departure, m):
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
