"""Matrices known up to an error, and proofs about all matrices within it: definite, stable, unstable.

A :class:`Ball` is a matrix with a bound on the error of every entry (midpoint and radius; Rump 2010, section 10). Sums
and products bound their own rounding errors, in whatever order they are added up.
"""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

Array = Any  # matrix of float64

UNIT = 2.3e-16
"""more than twice the largest relative rounding error of one operation"""
FEWEST = 1e-300
"""more than the errors of operations whose results are smaller than normal numbers"""

LEAST_SHARE = 1e-20
"""entries below this share of the largest do not count where a matrix is balanced"""


@dataclass(frozen=True)
class Ball:
    """All matrices whose entries differ from ``mid`` by at most ``rad``."""

    mid: Array
    rad: Array

    @classmethod
    def between(cls, lo: Array, hi: Array) -> Ball:
        """The ball that contains all matrices between bounds."""
        with np.errstate(all="ignore"):
            mid = 0.5 * lo + 0.5 * hi
            rad = np.maximum(hi - mid, mid - lo) * (1.0 + 4.0 * UNIT) + FEWEST
        bad = ~np.isfinite(mid) | ~np.isfinite(rad)
        return cls(np.where(bad, 0.0, mid), np.where(bad, np.inf, rad))

    @classmethod
    def exact(cls, mid: Array) -> Ball:
        """One matrix."""
        return cls(mid, np.zeros_like(mid))

    @property
    def T(self) -> Ball:
        """The transposed matrices."""
        return Ball(self.mid.T, self.rad.T)

    @property
    def is_finite(self) -> bool:
        """Whether all bounds are finite."""
        return bool(np.isfinite(self.mid).all() and np.isfinite(self.rad).all())

    def __neg__(self) -> Ball:
        return Ball(-self.mid, self.rad)

    def __add__(self, other: Ball) -> Ball:
        mid = self.mid + other.mid
        return Ball(mid, (self.rad + other.rad + UNIT * np.abs(mid)) * (1.0 + 4.0 * UNIT) + FEWEST)

    def __sub__(self, other: Ball) -> Ball:
        return self + -other

    def __matmul__(self, other: Ball) -> Ball:
        count = self.mid.shape[1]
        left, right = np.abs(self.mid), np.abs(other.mid)
        with np.errstate(all="ignore"):  # bounds that are not finite prove nothing
            rounding = (count + 2.0) * UNIT * (left @ right)
            rad = left @ other.rad + self.rad @ (right + other.rad) + rounding
            return Ball(self.mid @ other.mid, rad * (1.0 + (2.0 * count + 8.0) * UNIT) + count * FEWEST)

    def scaled(self, rows: Array, columns: Array) -> Ball:
        """The matrices with rows and columns multiplied by powers of two, which is exact."""
        return Ball(rows[:, None] * self.mid * columns, rows[:, None] * self.rad * columns + FEWEST)


def powers_of_two(sizes: Array) -> Array:
    """Powers of two near some positive numbers."""
    return np.asarray(2.0 ** np.round(np.log2(sizes)))


def solved(M: Ball, B: Ball) -> Ball | None:
    """Bounds of M^-1 B; None where some M may be singular.

    With an approximate inverse R and E = I - R M, the solution is X = R B + E X.
    """
    try:
        R = Ball.exact(np.linalg.inv(M.mid))
    except LinAlgError:
        return None
    E = Ball.exact(np.eye(len(M.mid))) - R @ M
    size = _norm(E)
    if not size < 0.5:
        return None
    first = R @ B
    largest = (np.abs(first.mid) + first.rad).max(axis=0) / (1.0 - size) * (1.0 + 8.0 * UNIT)
    return Ball(first.mid, (first.rad + size * largest) * (1.0 + 8.0 * UNIT) + FEWEST)


def null_space(G: Ball, weights: Array) -> Ball | None:
    """Bounds of a matrix T whose columns span the null space of G; None where rows of G may be dependent.

    Some unknowns are independent, the others follow from them: T is the unit matrix and -G_d^-1 G_i, in the order of
    the unknowns. ``weights`` is a matrix whose diagonal gives the scale of each unknown, as 1 / scale^2 where positive.
    """
    from scipy.linalg import qr  # slow to load

    if not G.is_finite:
        return None
    m, n = G.mid.shape
    diagonal = np.diag(weights)
    positive = diagonal[diagonal > 0.0]
    scale = np.where(diagonal > 0.0, diagonal, positive.min(initial=1.0)) ** -0.5
    sizes = np.abs(G.mid * scale).max(axis=1)
    if not (sizes > 0.0).all():
        return None
    rows = powers_of_two(1.0 / sizes)
    pivots = qr(rows[:, None] * G.mid * scale, pivoting=True, mode="r")[1]
    dependent, independent = np.sort(pivots[:m]), np.sort(pivots[m:])
    G = G.scaled(rows, np.ones(n))
    parts = (Ball(G.mid[:, at], G.rad[:, at]) for at in (dependent, independent))
    found = solved(*parts)
    if found is None:
        return None
    mid, rad = np.zeros((n, n - m)), np.zeros((n, n - m))
    mid[independent] = np.eye(n - m)
    mid[dependent], rad[dependent] = -found.mid, found.rad
    return Ball(mid, rad)


def _norm(A: Ball) -> float:
    """Upper bound of the largest row sum of absolute values."""
    count = A.mid.shape[1]
    return float((np.abs(A.mid) + A.rad).sum(axis=1).max(initial=0.0)) * (1.0 + (count + 4.0) * UNIT)


def is_positive_definite(S: Ball) -> bool:
    """Whether it is proven that all symmetric matrices of a ball are positive definite.

    S = c I + L L^T + D with a Cholesky factor L of S - c I, so the smallest eigenvalue is at least c - |D|.
    """
    diagonal = S.mid.diagonal()
    if not S.is_finite or not (diagonal > 0.0).all():
        return False
    scale = powers_of_two(diagonal**-0.5)
    S = S.scaled(scale, scale)
    mid = (S.mid + S.mid.T) / 2
    S = Ball(mid, np.maximum(S.rad, S.rad.T) + (np.abs(S.mid - mid) + UNIT * np.abs(mid)) * (1.0 + 4.0 * UNIT))
    try:
        least = 0.5 * float(np.linalg.eigvalsh(mid)[0])
        if not least > 0.0:
            return False
        lower = Ball.exact(np.linalg.cholesky(mid - least * np.eye(len(mid))))
    except LinAlgError:
        return False
    return least > _norm(S - Ball.exact(least * np.eye(len(mid))) - lower @ lower.T)


def roots_beyond(A: Ball, shift: float) -> bool | None:
    """Whether all matrices of a ball have an eigenvalue whose real part exceeds a shift; None if that is not proven.

    False means that it is proven of none. The argument is Lyapunov's: for a symmetric P let S be the symmetric matrix
    B^T P + P B with B = A - shift I. If -S is positive definite, no eigenvalue has the real part ``shift``, and some
    are beyond it exactly if P is not positive definite (Ostrowski and Schneider 1962).
    """
    from scipy.linalg import matrix_balance  # slow to load

    if not A.is_finite:
        return None
    n = len(A.mid)
    # By the largest values that entries may have, so that those which rounding alone makes nonzero do not become large.
    largest = np.abs(A.mid) + A.rad
    _, (scale, _) = matrix_balance(largest + LEAST_SHARE * largest.max(), permute=False, separate=True)
    A = A.scaled(1.0 / scale, scale) - Ball.exact(shift * np.eye(n))
    for P in _weights(A.mid):
        if not np.isfinite(P).all():
            continue
        product = A.T @ Ball.exact(P)
        if not is_positive_definite(-(product + product.T)):
            continue
        if is_positive_definite(Ball.exact(P)):
            return False
        if _takes_negative_values(P):
            return True
    return None


def _weights(A: Array) -> list[Array]:
    """Symmetric matrices P that may show on which side of the imaginary axis the eigenvalues of A are."""
    from scipy.linalg import solve_continuous_lyapunov  # slow to load

    found = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # roots whose sum vanishes: then the proof fails
        with suppress(LinAlgError):
            values, V = np.linalg.eig(A)
            W = np.linalg.inv(V)
            found.append(((W.conj().T * -np.sign(values.real)) @ W).real)
        with suppress(LinAlgError, ValueError):
            found.append(solve_continuous_lyapunov(A.T, -np.eye(len(A))))
    return [(P + P.T) / 2 for P in found]


def _takes_negative_values(P: Array) -> bool:
    """Whether it is proven that x^T P x < 0 for some x."""
    values, vectors = np.linalg.eigh(P)
    if not values[0] < 0.0:
        return False
    x = Ball.exact(vectors[:, :1])
    found = x.T @ Ball.exact(P) @ x
    return bool(found.mid[0, 0] + found.rad[0, 0] < 0.0)


def between_roots(values: Array) -> float:
    """A positive shift below the largest real part and away from all sums of two eigenvalues, so that P exists."""
    largest = float(values.real.max(initial=0.0))
    sums = (values.real[:, None] + values.real) / 2
    shares = np.array([0.618, 0.382, 0.786, 0.236, 0.1])
    gaps = [np.abs(sums - share * largest).min() for share in shares]
    return largest * float(shares[int(np.argmax(gaps))]) if math.isfinite(largest) else 0.0
