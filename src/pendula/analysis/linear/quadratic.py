"""The quadratic eigenproblem (lam^2 M + lam C + K) x = 0, with its structure preserved.

Without damping the problem is symmetric, so roots lie exactly on the axes. Gyroscopic systems with a definite
stiffness lead to a Hermitian problem, with the same effect. Zero roots from the null space of K are deflated first, so
they are exact zeros, too. The remaining roots come from a scaled companion matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.linalg import LinAlgError, cholesky, eigh, inv, norm, svd

from pendula.analysis.linear.clusters import Cluster, find_clusters
from pendula.numerics.quick.small_quadratic import LARGEST, output_size, undamped_roots_of_many
from pendula.system.layout import Array

SYMMETRIC = 1e-13
"""skew (or symmetric) parts up to this, relative to the whole, are rounding errors"""
REPEATED = 1e-10
"""squares of undamped roots that differ by less than this, relative to themselves, are equal"""
NULL = 1e-13
"""stiffness along a direction up to this, relative to the summands it came from, is zero"""
GRADED = 1e-6
"""squares of roots below this fraction of the largest are recomputed as Rayleigh quotients"""
CLUSTER = 1e-7
"""roots nearer than this, relative to their scale, may be one repeated root: rounding splits a defective pair by
1e-8"""
RANK = 1e-6
"""singular values up to this, relative to the terms, are zero when the eigenvectors of a repeated root are counted"""


@dataclass(frozen=True)
class Roots:
    """All eigenvalues of a quadratic eigenproblem by increasing modulus, with eigenvectors.

    Attributes:
        values: roots, repeated by multiplicity.
        shapes: eigenvectors x by columns, of any length. A defective root repeats its eigenvectors.
        multiplicity: algebraic multiplicity of each root.
        vectors_of: geometric multiplicity of each root; less than the algebraic one means defective.
        zero_shapes: null space of K, by columns, of any length.
        drifting: number of zeros beyond one for each of those directions: displacements grow linearly in time.
        kind: ``undamped``, ``gyroscopic`` or ``general``.
        columns: index of the shape of each root; None: one for each, in order.
        scatter: by how much rounding has spread the cluster of each root; None: there are no clusters.
        condition: of the mean of each cluster, or of the root, if there are clusters.
    """

    values: Array
    shapes: Array
    multiplicity: Array
    vectors_of: Array
    zero_shapes: Array
    drifting: int
    kind: str
    columns: list[int] | None = None
    scatter: Array | None = None
    condition: Array | None = None

    @property
    def whole(self) -> Roots:
        """Itself: these roots are complete."""
        return self

    @cached_property
    def vectors(self) -> Array:
        """Eigenvectors by columns, of largest entry 1."""
        shapes = self.shapes if self.columns is None else self.shapes[:, self.columns]
        return _normalized(shapes.astype(complex))

    @cached_property
    def zero_vectors(self) -> Array:
        """Directions without stiffness by columns, of largest entry 1."""
        return _normalized(self.zero_shapes)


def solve_quadratic(M: Array, C: Array, K: Array, nearby: Array | float = 0.0) -> Roots:
    """Eigenvalues and eigenvectors of the quadratic eigenproblem.

    Args:
        M, C, K: M symmetric and positive definite.
        nearby: sizes of the entries of K at nearby points, or one size of M^-1 K [1/time^2]. A stiffness at rounding
            level relative to these counts as zero; it is judged along its own direction, so that a stiff spring
            elsewhere does not hide it.

    Raises:
        LinAlgError: M is not positive definite.
    """
    n = len(M)
    if n and np.count_nonzero(M) == n:  # M is diagonal, or singular
        masses = M.diagonal()
        if not min(masses.tolist()) > 0.0:
            raise LinAlgError("the mass matrix is not positive definite")
        inverse: Array = np.zeros((n, n))
        inverse.flat[:: n + 1] = masses**-0.5
    else:
        inverse = inv(cholesky(M))
    stiff = inverse @ K @ inverse.T
    scale = np.maximum(np.abs(K), nearby if isinstance(nearby, np.ndarray) else nearby * _of_masses(M))
    if not np.count_nonzero(C) and not np.count_nonzero(stiff != stiff.T):
        return _undamped(inverse, stiff, K, scale)
    size = float(np.abs(stiff).max(initial=0.0))
    stiffness = max(size, float((scale / _of_masses(M)).max(initial=0.0)))
    symmetric = bool((stiff == stiff.T).all()) or np.abs(stiff - stiff.T).max(initial=0.0) <= SYMMETRIC * size
    damp = inverse @ C @ inverse.T if C.any() else None
    undamped = damp is None or _negligible(damp, stiffness)
    if undamped and symmetric:
        return _undamped(inverse, (stiff + stiff.T) / 2, K, scale)
    damp = np.zeros_like(stiff) if damp is None else damp
    skew = bool(np.abs(damp + damp.T).max(initial=0.0) <= SYMMETRIC * np.abs(damp).max(initial=1e-300))
    if symmetric:
        stiff = (stiff + stiff.T) / 2
    if skew and symmetric:
        damp = (damp - damp.T) / 2
        sizes, Y = eigh(stiff)
        if sizes[0] > 0.0 and np.all(sizes > rounding_along(inverse.T @ Y, scale)):
            return _gyroscopic(inverse, damp, stiff)
    return _general(inverse, damp, stiff, scale, conservative=skew and symmetric)


def symmetric_problem(M: Array, K: Array) -> tuple[Array, Array]:
    """Eigenvalues s of K x = s M x with symmetric K and M, ascending, and vectors x of unit mass by columns."""
    lower = cholesky(M)
    scaled = np.linalg.solve(lower, np.linalg.solve(lower, K).T)
    sizes, turned = eigh((scaled + scaled.T) / 2)
    return sizes, np.linalg.solve(lower.T, turned)


def _of_masses(M: Array) -> Array:
    """Scale of the entries of K: sqrt(M_ii M_jj)."""
    root = np.sqrt(M.diagonal())
    return np.outer(root, root)


def rounding_along(X: Array, scale: Array, Y: Array | None = None) -> Array:
    """Rounding level of the stiffness along directions (columns of mass 1), for entries of K of this scale.

    Entries of K are rounded, and so is the direction itself: along an error of NULL in the direction, the largest
    stiffness adds NULL^2 times itself.
    """
    left, right = np.abs(X), np.abs(X if Y is None else Y)
    along = np.sum(left * (scale @ right), axis=0)
    return np.asarray(NULL * (along + NULL * along.max(initial=0.0)))


def undamped_of_many(M: Array, C: Array, K: Array) -> tuple[Array, Array]:
    """Roots of many undamped problems by increasing modulus, shape (cases, 2 n), and which cases were solved.

    The others (damped, unsymmetric, M not positive definite) are NaN.
    """
    count, n = M.shape[:2]
    if not 1 <= n <= LARGEST:
        return _undamped_of_many(M, C, K)
    values, solved = np.empty((count, 4 * n)), np.empty(count, dtype=bool)
    M, C, K = (_without_gaps(x) for x in (M, C, K))
    undamped_roots_of_many(M, C, K, SYMMETRIC, NULL, REPEATED, np.empty(output_size(n)), values, solved)
    values[~solved] = np.nan
    found = values.view(complex)
    sizes = np.abs(found) ** 2  # the kernel judges small squares by the largest
    graded = solved & (sizes.min(axis=1) < GRADED * sizes.max(axis=1))
    if graded.any():
        found[graded] = _undamped_of_many(M[graded], C[graded], K[graded])[0]
    return found, solved


def _undamped_of_many(M: Array, C: Array, K: Array) -> tuple[Array, Array]:
    """The same for matrices of any size and scale: a stiffness is judged to be zero along its own direction."""
    count, n = M.shape[:2]
    found = np.full((count, 2 * n), np.nan, dtype=complex)
    size = np.abs(K).max(axis=(1, 2), initial=0.0)
    solved = (np.abs(K - np.swapaxes(K, 1, 2)).max(axis=(1, 2), initial=0.0) <= SYMMETRIC * size) & ~C.any(axis=(1, 2))
    try:
        lower = cholesky(M[solved])
    except LinAlgError:
        return found, np.zeros(count, dtype=bool)
    half = np.linalg.solve(lower, K[solved])
    stiff = np.linalg.solve(lower, np.swapaxes(half, 1, 2))
    squares, Y = np.linalg.eigh((stiff + np.swapaxes(stiff, 1, 2)) / 2)
    X = np.linalg.solve(np.swapaxes(lower, 1, 2), Y)
    # As in _undamped: errors of eigh scale with the largest square, those of Rayleigh quotients do not.
    small = np.abs(squares) < GRADED * np.abs(squares).max(axis=1, keepdims=True, initial=0.0)
    squares = np.where(small, np.sum(X * (K[solved] @ X), axis=1), squares)
    level = NULL * np.sum(np.abs(X) * (np.abs(K[solved]) @ np.abs(X)), axis=1)
    squares[np.abs(squares) <= level] = 0.0
    roots = np.sqrt(np.abs(squares)) * np.where(squares < 0, 1.0, 1j)
    pairs = np.concatenate([roots, -roots], axis=1)
    found[solved] = np.take_along_axis(pairs, np.argsort(np.abs(pairs), axis=1, kind="stable"), axis=1)
    return found, solved


def _without_gaps(many: Array) -> Array:
    """Matrices of float64, each contiguous; the same array if it already is."""
    n = many.shape[-1]
    in_place = many.dtype == np.float64 and many.strides[1:] == (8 * n, 8)
    return many if in_place else np.array(many, dtype=float, order="C")


def _negligible(damp: Array, stiffness: float) -> bool:
    """Whether damping is a rounding error relative to critical damping."""
    return bool(np.abs(damp).max() <= 1e-15 * stiffness**0.5)


def _undamped(inverse: Array, stiff: Array, K: Array, scale: Array) -> Roots:
    """Roots +-sqrt(-squares) in pairs; all are semisimple except zero, which is double."""
    squares, Y = eigh(stiff)
    X = inverse.T @ Y
    largest = float(np.abs(squares).max(initial=0.0))
    small = np.abs(squares) < GRADED * largest
    if small.any():  # eigh's errors scale with the largest; Rayleigh quotients are more accurate
        squares = np.where(small, np.sum(X * (K @ X), axis=0), squares)
        ascending = np.argsort(squares, kind="stable")
        squares, X = squares[ascending], X[:, ascending]
    sizes = squares.tolist()
    none = (np.abs(squares) <= rounding_along(X, scale)).tolist()
    roots = [
        0.0 if zero else (-x) ** 0.5 if x < 0 else complex(0.0, x**0.5) for x, zero in zip(sizes, none, strict=True)
    ]
    counts = [1] * len(sizes)
    start = 0
    for k in range(1, len(sizes) + 1):  # runs of equal squares, which are sorted
        if k < len(sizes) and (roots[k] == roots[k - 1] or sizes[k] - sizes[k - 1] <= REPEATED * abs(sizes[k])):
            continue
        counts[start:k] = [k - start] * (k - start)
        start = k
    order = sorted(range(len(sizes)), key=lambda k: abs(roots[k]))
    values = np.array([x for k in order for x in (roots[k], 0.0 - roots[k])], dtype=complex) + 0.0
    flat = [k for k in order if roots[k] == 0]
    twice = [k for k in order for _ in range(2)]
    return Roots(
        values,
        X,
        np.array([2 * counts[k] if roots[k] == 0 else counts[k] for k in twice]),
        np.array([counts[k] for k in twice]),
        X[:, flat] if flat else X[:, :0],
        len(flat),
        "undamped",
        twice,
    )


def _gyroscopic(inverse: Array, damp: Array, stiff: Array) -> Roots:
    """With y = (L_K^T x, x') the first-order matrix is skew, so i times it is Hermitian."""
    n = len(stiff)
    root = cholesky(stiff)
    S = np.zeros((2 * n, 2 * n))
    S[:n, n:], S[n:, :n], S[n:, n:] = root.T, -root, -damp
    rates, Y = eigh(1j * S)
    values = -1j * rates
    X = inverse.T @ Y[n:] / values
    order = np.argsort(np.abs(rates), kind="stable")
    near = np.abs(rates[:, None] - rates) <= 1e-10 * np.abs(rates)[:, None]
    count = near.sum(axis=1)[order]
    none = np.zeros((n, 0))
    return Roots(values[order], X[:, order], count, count, none, 0, "gyroscopic")


def _general(inverse: Array, damp: Array, stiff: Array, scale: Array, *, conservative: bool) -> Roots:
    n = len(stiff)
    left, sizes, right = svd(stiff)
    k = int(np.sum(sizes <= rounding_along(inverse.T @ left, scale, inverse.T @ right.T)))
    R, P, Y = right[n - k :].T, right[: n - k].T, left[:, n - k :]
    stiff = stiff if k == 0 else (left[:, : n - k] * sizes[: n - k]) @ right[: n - k]
    gamma = float(np.sqrt(max(sizes[0] if k < n else 0.0, 1e-300)))
    gamma = max(gamma, float(norm(damp, 2)), 1e-150)
    B = np.zeros((2 * n - k, 2 * n - k))  # acts on (p, v / gamma), times gamma
    B[: n - k, n - k :], B[n - k :, : n - k], B[n - k :, n - k :] = P.T, -stiff @ P / gamma**2, -damp / gamma
    Q, drifting = None, 0
    if k:  # deflate the second zero of each conserved momentum
        a, b, _ = svd(Y.T @ damp @ R / gamma)
        kept = a[:, b <= NULL]
        drifting = kept.shape[1]
        if drifting:
            kept_rows = kept.T @ Y.T @ np.hstack([damp @ P / gamma, np.eye(n)])
            Q = svd(kept_rows)[2][drifting:].T
    found, states = np.linalg.eig(B if Q is None else Q.T @ B @ Q)
    values, states = gamma * found, states if Q is None else Q @ states
    if conservative:
        values = _on_axis(values, gamma)
    X = states[n - k :]
    small = norm(X, axis=0) < 1e-3 * norm(states, axis=0)  # for slow roots displacements are more accurate
    X = np.where(small, P @ states[: n - k] if k < n else X, X)
    clusters = find_clusters(B if Q is None else Q.T @ B @ Q, found)
    values, X, multiplicity, count = _clustered(clusters, values, X, damp, stiff, gamma)
    spread, condition = np.zeros(len(values)), np.ones(len(values))
    for one in clusters:
        spread[list(one.members)], condition[list(one.members)] = gamma * one.scatter, one.condition
    if k:
        spread, condition = np.append(np.zeros(k + drifting), spread), np.append(np.ones(k + drifting), condition)
        values = np.concatenate([np.zeros(k + drifting), values])
        X = np.hstack([R, np.repeat(R[:, :1], drifting, axis=1), X])
        multiplicity = np.concatenate([np.full(k + drifting, k + drifting), multiplicity])
        count = np.concatenate([np.full(k + drifting, k), count])
    order = np.lexsort((-values.imag.round(12), np.abs(values).round(12)))
    X = inverse.T @ X
    ordered = values[order], X[:, order], multiplicity[order], count[order]
    spreads = (spread[order], condition[order]) if clusters else (None, None)
    return Roots(*ordered, inverse.T @ R, drifting, "general", None, *spreads)


def _on_axis(values: Array, gamma: float) -> Array:
    """Roots of a conservative system are symmetric about the imaginary axis; an isolated one near it lies on it."""
    near = np.abs(values.real) <= 1e-10 * gamma
    alone = (np.abs(values[:, None] - values) < CLUSTER * gamma).sum(axis=1) == 1
    return np.where(near & alone, 1j * values.imag, values)


def _clustered(
    clusters: list[Cluster], values: Array, X: Array, damp: Array, stiff: Array, gamma: float
) -> tuple[Array, Array, Array, Array]:
    """Algebraic and geometric multiplicity of every root; a defective root is set to the mean of its cluster."""
    count = len(values)
    values, X = values.astype(complex), X.astype(complex)
    multiplicity, vectors = np.ones(count, dtype=int), np.ones(count, dtype=int)
    for one in clusters:
        group = list(one.members)
        mean = gamma * one.mean
        if abs(mean.imag) <= max(one.scatter * gamma, CLUSTER * abs(mean)):
            mean = complex(mean.real)
        terms = abs(mean) ** 2 + abs(mean) * norm(damp, 2) + norm(stiff, 2)
        _, sizes, right = svd(mean**2 * np.eye(len(stiff)) + mean * damp + stiff)
        found = min(max(int(np.sum(sizes <= RANK * terms)), 1), len(group))
        multiplicity[group], vectors[group] = len(group), found
        basis = right.conj().T[:, len(sizes) - found :]
        if found < len(group):
            values[group] = mean
            X[:, group] = basis[:, np.arange(len(group)) % found]
    return values, X, multiplicity, vectors


def _normalized(X: Array) -> Array:
    """Columns scaled to a largest entry of 1."""
    if not X.size:
        return X
    at = np.abs(X).argmax(axis=0)
    return X / X[at, np.arange(X.shape[1])]


def longest_chain(M: Array, C: Array, K: Array) -> int:
    """Size of the largest Jordan block of the root zero: 0 no such root, 1 constant, 2 drift, more: powers of time.

    A staircase algorithm deflates null spaces one after the other, with ranks from singular values.
    """
    n = len(M)
    inverse = inv(cholesky(M))
    stiff, damp = inverse @ K @ inverse.T, inverse @ C @ inverse.T
    gamma = max(float(norm(stiff, 2)) ** 0.5, float(norm(damp, 2)), 1e-150)
    B = np.block([[np.zeros((n, n)), np.eye(n)], [-stiff / gamma**2, -damp / gamma]])
    size, found = float(norm(B, 2)), 0
    while len(B):
        _, sizes, right = svd(B)
        rank = int(np.sum(sizes > 1e-11 * size))
        if rank == len(B):
            break
        found += 1
        B = right[:rank] @ B @ right[:rank].T
    return found


def backward_errors(M: Array, C: Array, K: Array, values: Array, X: Array) -> Array:
    """Backward errors: the smallest relative change of M, C and K for which each pair is exact (Tisseur 2000)."""
    left = M @ X * values**2 + C @ X * values + K @ X
    size = np.abs(values)
    terms = size**2 * norm(M) + size * norm(C) + norm(K)
    return np.asarray(norm(left, axis=0) / np.maximum(terms * norm(X, axis=0), 1e-300))
