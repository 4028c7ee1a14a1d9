"""Null-space bases Z of constraints G ds = 0, with the identity in the rows of the best unknowns, in compiled code."""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.compiled.native import address_of, doubles_at
from pendula.numerics.quick.small_quadratic import has_mass

NONE = 1e-13
"""remaining rows smaller than this, relative to the first, count as zero"""
CLEAR = 1e-6
"""rows whose independent part is between ``NONE`` and this are doubtful, and left to the general path"""
TIE = 1e-9
"""an unknown is preferred to an earlier one only if it is better by more than this"""
TINY = 1e-15


def room_for(n: int, m: int, k: int, inputs: int) -> int:
    """Length of the array that :func:`reduced_terms` writes to, including its working space."""
    return result_size(n, k, inputs) + n * m + n * n + 2 * n * k + k * k + 2 * n


def result_size(n: int, k: int, inputs: int) -> int:
    """Length of its results alone: M, C, K, F, Z and the chosen unknowns."""
    return 3 * k * k + k * inputs + n * k + k


@compiled(allocates=False)
def best_rows(rows, lengths, chosen):
    """The k most independent rows (n by k, each divided by a typical length), sorted; ties go to the first.

    Chooses as QR with pivoting does. ``rows`` is overwritten, ``chosen`` gets k indices.
    """
    n, k = rows.shape
    for i in range(n):
        for j in range(k):
            rows[i, j] /= lengths[i]
    for step in range(k):
        best, size = -1, 0.0
        for i in range(n):
            total = 0.0
            for j in range(k):
                total += rows[i, j] * rows[i, j]
            if total > (1.0 + TIE) * size:
                best, size = i, total
        if best < 0:
            return False
        chosen[step] = best
        for i in range(n):
            if i != best:
                share = 0.0
                for j in range(k):
                    share += rows[i, j] * rows[best, j]
                share /= size
                for j in range(k):
                    rows[i, j] -= share * rows[best, j]
        for j in range(k):
            rows[best, j] = 0.0
    for i in range(1, k):  # in the order of the unknowns
        x, j = chosen[i], i
        while j > 0 and chosen[j - 1] > x:
            chosen[j] = chosen[j - 1]
            j -= 1
        chosen[j] = x
    return True


@compiled(allocates=False)
def reduced_terms(terms, n, m, k, inputs, at_G, at_K, at_C, at_F, lengths, vanishing, massless, out):
    """M, C, K, F in k independent unknowns, and Z with ds = Z e, from a row of terms; False if the rank of G is
    doubtful, or if M may be singular.

    ``out`` gets M, C, K (k by k), F (k by inputs), Z (n by k) and the chosen unknowns.
    """
    start, base = address_of(terms), address_of(out)
    G = doubles_at(start + 8 * at_G, (m, n))
    at_Z = 3 * k * k + k * inputs
    Z = doubles_at(base + 8 * at_Z, (n, k))
    chosen = doubles_at(base + 8 * (at_Z + n * k), k)
    work = base + 8 * (at_Z + n * k + k)
    null = doubles_at(work, (n, k))
    if not _null_space(G, n, m, k, null, work + 8 * n * k):
        return False
    rows = doubles_at(work + 8 * n * k, (n, k))
    for i in range(n):
        for j in range(k):
            rows[i, j] = null[i, j]
    if not best_rows(rows, lengths, chosen) or not _with_identity(null, chosen, Z, n, k):
        return False
    half = doubles_at(work, (n, k))  # overwrites the null space, which is not needed any more
    places = (0, at_C, at_K)
    for which in range(3):
        X = doubles_at(start + 8 * places[which], (n, n))
        R = doubles_at(base + 8 * which * k * k, (k, k))
        for i in range(n):
            for j in range(k):
                total = 0.0
                for l in range(n):
                    total += X[i, l] * Z[l, j]
                half[i, j] = total
        for i in range(k):
            for j in range(k):
                total = 0.0
                for l in range(n):
                    total += Z[l, i] * half[l, j]
                R[i, j] = total
    M = doubles_at(base, (k, k))
    for i in range(k):
        for j in range(i):
            M[i, j] = M[j, i] = (M[i, j] + M[j, i]) / 2
    F, full = doubles_at(base + 8 * 3 * k * k, (k, inputs)), doubles_at(start + 8 * at_F, (n, inputs))
    for i in range(k):
        for j in range(inputs):
            total = 0.0
            for l in range(n):
                total += Z[l, i] * full[l, j]
            F[i, j] = total
    scale, room = doubles_at(work, k), doubles_at(work + 8 * k, (k, k))
    for i in range(k):
        scale[i] = lengths[int(chosen[i])]
    return has_mass(out, room, k, scale, vanishing, massless)


@compiled(allocates=False)
def directions_of_many(G, chosen, Z, work, clear):
    """Z in every case, with the identity at given unknowns; ``clear`` marks the cases in which it was found."""
    count, n, k = Z.shape
    m = G.shape[1]
    null = doubles_at(address_of(work), (n, k))
    for row in range(count):
        found = _null_space(G[row], n, m, k, null, address_of(work) + 8 * n * k)
        clear[row] = found and _with_identity(null, chosen, Z[row], n, k)


@compiled(allocates=False)
def multipliers_of_many(G, left, lam, work, clear):
    """lam that minimize |left + G^T lam| in every case; ``clear`` marks the cases with clearly independent rows."""
    count, m, n = G.shape
    A, b = doubles_at(address_of(work), (n, m)), doubles_at(address_of(work) + 8 * n * m, n)
    for row in range(count):
        for i in range(n):
            b[i] = -left[row, i]
            for j in range(m):
                A[i, j] = G[row, j, i]
        clear[row] = _least_squares(A, b, n, m, lam[row])


@compiled_part
def _least_squares(A, b, n, m, x):
    """x that minimizes |A x - b|, by Householder reflections; False if columns of A are not clearly independent."""
    if m > n:
        return False
    size = 0.0
    for j in range(m):
        total = 0.0
        for i in range(n):
            total += A[i, j] * A[i, j]
        size = max(size, np.sqrt(total))
    for step in range(m):
        total = 0.0
        for i in range(step, n):
            total += A[i, step] * A[i, step]
        length = np.sqrt(total)
        if not length > CLEAR * size:
            return False
        pivot = A[step, step]
        A[step, step] += length if pivot >= 0.0 else -length
        scale = 1.0 / (total + abs(pivot) * length)
        for j in range(step + 1, m):
            share = 0.0
            for i in range(step, n):
                share += A[i, step] * A[i, j]
            share *= scale
            for i in range(step, n):
                A[i, j] -= share * A[i, step]
        share = 0.0
        for i in range(step, n):
            share += A[i, step] * b[i]
        share *= scale
        for i in range(step, n):
            b[i] -= share * A[i, step]
        A[step, step] = -length if pivot >= 0.0 else length
    for i in range(m - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, m):
            total -= A[i, j] * x[j]
        x[i] = total / A[i, i]
    return True


@compiled_part
def _null_space(G, n, m, k, null, work):
    """An orthonormal basis of the null space of G, if its dimension is clearly k, by Householder reflections."""
    A, Q = doubles_at(work, (n, m)), doubles_at(work + 8 * n * m, (n, n))
    v = doubles_at(work + 8 * (n * m + n * n), n)
    for i in range(n):
        for j in range(m):
            A[i, j] = G[j, i]
        for j in range(n):
            Q[i, j] = 1.0 if i == j else 0.0
    rank, first = 0, 0.0
    for step in range(min(n, m)):
        best, size = step, -1.0
        for j in range(step, m):
            total = 0.0
            for i in range(step, n):
                total += A[i, j] * A[i, j]
            if total > size:
                best, size = j, total
        size = np.sqrt(size)
        first = max(first, size)
        if size <= NONE * first:
            break
        if not size > CLEAR * first:  # also if it is NaN
            return False
        rank += 1
        for i in range(n):
            A[i, step], A[i, best] = A[i, best], A[i, step]
        total = 0.0
        for i in range(step, n):
            v[i] = A[i, step]
        v[step] += size if v[step] >= 0.0 else -size
        for i in range(step, n):
            total += v[i] * v[i]
        for j in range(step, m):
            share = 0.0
            for i in range(step, n):
                share += v[i] * A[i, j]
            share *= 2.0 / total
            for i in range(step, n):
                A[i, j] -= share * v[i]
        for i in range(n):
            share = 0.0
            for j in range(step, n):
                share += Q[i, j] * v[j]
            share *= 2.0 / total
            for j in range(step, n):
                Q[i, j] -= share * v[j]
    if n - rank != k:
        return False
    for i in range(n):
        for j in range(k):
            null[i, j] = Q[i, rank + j]
    return True


@compiled_part
def _with_identity(null, chosen, Z, n, k):
    """Z = null inv(null[chosen]): combines columns of null so that the chosen rows become the identity."""
    for i in range(n):
        for j in range(k):
            Z[i, j] = null[i, j]
    for step in range(k):  # Gauss-Jordan on columns, largest pivot first
        row = int(chosen[step])
        best = step
        for j in range(step, k):
            if abs(Z[row, j]) > abs(Z[row, best]):
                best = j
        pivot = Z[row, best]
        if not abs(pivot) > TINY:
            return False
        for i in range(n):
            x = Z[i, best]
            Z[i, best] = Z[i, step]
            Z[i, step] = x / pivot
        for j in range(k):
            if j != step:
                share = Z[row, j]
                for i in range(n):
                    Z[i, j] -= share * Z[i, step]
    for i in range(n):
        for j in range(k):
            if abs(Z[i, j]) < TINY:
                Z[i, j] = 0.0
    for step in range(k):
        for j in range(k):
            Z[int(chosen[step]), j] = 1.0 if j == step else 0.0
    return True
