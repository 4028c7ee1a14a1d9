"""Roots of (s^2 M + K) x = 0 for a few unknowns, and checks of M and K, in compiled code.

For matrices this small, calls of NumPy and LAPACK take longer than the arithmetic. Jacobi rotations find eigenvalues,
also small ones, at least as accurately as LAPACK. The return code reports cases that are not solved here: damping, an
unsymmetric K, roots at zero, M that is not positive definite.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.compiled.native import address_of, call_native, doubles_at

LARGEST = 8
"""number of unknowns up to which this is used"""
SWEEPS = 30
EPSILON = 1.1e-16
EULER = 2.72

CLOSER = -1.0
"""result of :func:`evaluate_checked` if the general path must examine the terms"""
UNKNOWNS, OUTPUTS, AT_K, INPUTS, CODE, CONTEXT = range(6)
"""``plan`` of :func:`evaluate_checked`: numbers of unknowns and outputs, index of K among these, number of inputs, and
the addresses of the program and of its context"""
BALANCED, VANISHING, MASSLESS, LENGTHS = range(4)
"""its ``limits``: of the unbalanced force, and of a small mass; then the typical size of each unknown"""


def output_size(n: int) -> int:
    """Length of the array that :func:`undamped_roots` writes to, including its working space."""
    return 10 * n + 4 * n * n + 3 * n


@compiled(allocates=False)
def evaluate_checked(plan, q, v, u, lam, limits, out):
    """Calls a program of [t, q, v, u, lam] for terms [M, left, ..., K, ...] at t = 0, and checks them.

    ``plan`` and ``limits`` have named entries (from :data:`UNKNOWNS` and :data:`BALANCED` on): few arguments, since
    each costs as much as the arithmetic. ``out`` gets the outputs and has room for the inputs and for n n more after
    them. Returns the unbalanced force ``left`` relative to its largest change over a typical length; or :data:`CLOSER`
    if something is not finite or not at rest, that ratio is above the limit, or M may be singular (which is not checked
    if there are multipliers lam: constraints may determine the motion of a massless part).
    """
    n, outputs, at_K = plan[UNKNOWNS], plan[OUTPUTS], plan[AT_K]
    lengths = limits[LENGTHS:]
    nq, nv, nu = q.shape[0], v.shape[0], u.shape[0]
    if 1 + nq + nv + nu + lam.shape[0] != plan[INPUTS]:
        return CLOSER
    for i in range(nv):
        if v[i] != 0.0:
            return CLOSER
    row = out[outputs:]
    row[0] = 0.0
    for i in range(nq):
        row[1 + i] = q[i]
    for i in range(nv):
        row[1 + nq + i] = v[i]
    for i in range(nu):
        row[1 + nq + nv + i] = u[i]
    for i in range(lam.shape[0]):
        row[1 + nq + nv + nu + i] = lam[i]
    call_native(plan[CODE], address_of(out), address_of(out) + 8 * outputs, plan[CONTEXT])
    total = 0.0
    for i in range(outputs):
        total += abs(out[i])
    if not total < np.inf:
        return CLOSER
    worst = 0.0
    for i in range(n):
        worst = max(worst, abs(out[n * n + i]))
    share = 0.0
    if worst > 0.0:
        largest = worst
        for i in range(n):
            change = 0.0
            for j in range(n):
                change += abs(out[at_K + i * n + j]) * lengths[j]
            largest = max(largest, change)
        share = worst / largest
        if not share <= limits[BALANCED]:
            return CLOSER
    if lam.shape[0] > 0:
        return share
    room = doubles_at(address_of(row) + 8 * (1 + nq + nv + nu), (n, n))
    return share if has_mass(out, room, n, lengths, limits[VANISHING], limits[MASSLESS]) else CLOSER


@compiled_part
def has_mass(M, L, n, lengths, vanishing, massless):
    """Whether M is certainly positive definite: scaled to a unit diagonal, it has no eigenvalue below ``massless``.

    The product of all other eigenvalues is at most e, so the determinant bounds the smallest one.
    """
    least, most = np.inf, 0.0
    for i in range(n):
        size = M[i * n + i] * lengths[i] * lengths[i]
        least, most = min(least, size), max(most, size)
    if not least > vanishing * most:
        return False
    if n == 2:
        return M[0] * M[3] - M[1] * M[2] > massless * M[0] * M[3]
    determinant = 1.0
    for j in range(n):
        for i in range(j, n):
            x = M[i * n + j] / np.sqrt(M[i * n + i] * M[j * n + j])
            for k in range(j):
                x -= L[i, k] * L[j, k]
            if i == j:
                if not x > 0.0:
                    return False
                determinant *= x
                L[j, j] = np.sqrt(x)
            else:
                L[i, j] = x / L[j, j]
    return determinant > EULER * massless


@compiled(allocates=False)
def undamped_roots(terms, places, limits, out):
    """Roots from a row of terms with M first; True if they were found. See :func:`roots_at` for ``out``.

    ``places`` are the number of unknowns and the indices at which C and K start, ``limits`` are symmetric, null,
    repeated, slow and share of :func:`roots_at`.
    """
    M = address_of(terms)
    C, K = M + 8 * places[1], M + 8 * places[2]
    symmetric, null, repeated, slow, share = limits[0], limits[1], limits[2], limits[3], limits[4]
    return roots_at(M, C, K, places[0], symmetric, null, repeated, slow, share, address_of(out))


@compiled(allocates=False)
def undamped_roots_of_many(M, C, K, symmetric, null, repeated, out, values, solved):
    """The same for many matrices, including roots at zero; ``solved`` marks the cases that were solved.

    Cases may be apart in memory, but each matrix must be contiguous.
    """
    n = M.shape[1]
    for k in range(M.shape[0]):
        solved[k] = roots_at(
            address_of(M) + k * M.strides[0],
            address_of(C) + k * C.strides[0],
            address_of(K) + k * K.strides[0],
            n,
            symmetric,
            null,
            repeated,
            -1.0,
            0.0,
            address_of(out),
        )
        for i in range(4 * n):
            values[k, i] = out[i]


@compiled(allocates=False)
def shares_of_many(left, K, lengths, shares):
    """Unbalanced force in every case, relative to its largest change over a typical length, at most 1."""
    n = left.shape[1]
    for k in range(left.shape[0]):
        worst, largest = 0.0, 1e-300
        for i in range(n):
            row = 0.0
            for j in range(n):
                row += abs(K[k, i, j]) * lengths[j]
            finite = row < np.inf and abs(left[k, i]) < np.inf
            worst = max(worst, abs(left[k, i])) if finite else np.inf
            largest = max(largest, row)
        shares[k] = worst / max(largest, worst) if worst < np.inf else np.nan


@compiled_part
def roots_at(M_at, C_at, K_at, n, symmetric, null, repeated, slow, share, out_at):
    """Roots +-sqrt(-squares) in pairs, ordered by size, with multiplicities and eigenvectors; False if not solved.

    ``out``: 2 n roots (real and imaginary part of each), their multiplicities, numbers of eigenvectors and columns of
    their eigenvectors, then the eigenvectors (n by n), then working space. Tolerances are relative: a skew part of K
    up to ``symmetric`` is rounding; squares up to ``null`` of the largest are zero; squares that differ by less than
    ``repeated`` are equal. If a root is below ``slow``, or below ``share`` of the largest, the case is not solved,
    unless ``slow`` is negative.
    """
    M, C, K = doubles_at(M_at, (n, n)), doubles_at(C_at, (n, n)), doubles_at(K_at, (n, n))
    head = 10 * n
    out = doubles_at(out_at, head)
    X = doubles_at(out_at + 8 * head, (n, n))
    L = doubles_at(out_at + 8 * (head + n * n), (n, n))
    S = doubles_at(out_at + 8 * (head + 2 * n * n), (n, n))
    Y = doubles_at(out_at + 8 * (head + 3 * n * n), (n, n))
    squares = doubles_at(out_at + 8 * (head + 4 * n * n), n)
    order = doubles_at(out_at + 8 * (head + 4 * n * n + n), n)
    counts = doubles_at(out_at + 8 * (head + 4 * n * n + 2 * n), n)
    for i in range(n):
        for j in range(n):
            if C[i, j] != 0.0:
                return False
    if not _factor(M, L, n) or not _reduce(K, L, S, n, symmetric) or not _rotate(S, Y, n):
        return False
    for i in range(n):
        squares[i] = S[i, i]
    _sort(squares, Y, n)
    level = null * max(abs(squares[0]), abs(squares[n - 1]))
    start = 0
    for k in range(1, n + 1):  # runs of equal squares, which are sorted
        if k < n:
            both_zero = abs(squares[k]) <= level and abs(squares[k - 1]) <= level
            if both_zero or squares[k] - squares[k - 1] <= repeated * abs(squares[k]):
                continue
        for i in range(start, k):
            counts[i] = k - start
        start = k
    for i in range(n):
        order[i] = i
    for i in range(1, n):  # stable sort by size
        x, k = order[i], i
        while k > 0 and abs(squares[int(order[k - 1])]) > abs(squares[int(x)]):
            order[k] = order[k - 1]
            k -= 1
        order[k] = x
    least, most = np.sqrt(abs(squares[int(order[0])])), np.sqrt(abs(squares[int(order[n - 1])]))
    if slow >= 0.0 and not (least >= slow and least >= share * most and least * least > level):
        return False
    for i in range(n):
        k = int(order[i])
        x = squares[k]
        root = 0.0 if abs(x) <= level else np.sqrt(abs(x))
        real, imaginary = (root, 0.0) if x < 0.0 else (0.0, root)
        out[4 * i], out[4 * i + 1] = real, imaginary
        out[4 * i + 2], out[4 * i + 3] = 0.0 - real, 0.0 - imaginary
        times = 2.0 if root == 0.0 else 1.0
        for both in range(2):
            at = 2 * i + both
            out[4 * n + at], out[6 * n + at], out[8 * n + at] = times * counts[k], counts[k], k
    for j in range(n):  # X = L^-T Y
        for i in range(n - 1, -1, -1):
            x = Y[i, j]
            for k in range(i + 1, n):
                x -= L[k, i] * X[k, j]
            X[i, j] = x / L[i, i]
    return True


@compiled_part
def _factor(M, L, n):
    """Cholesky factorization M = L L^T; False if M is not positive definite."""
    for j in range(n):
        for i in range(j, n):
            x = M[i, j]
            for k in range(j):
                x -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = x / L[j, j]
            elif x > 0.0:
                L[j, j] = np.sqrt(x)
            else:
                return False
    return True


@compiled_part
def _reduce(K, L, S, n, symmetric):
    """S = L^-1 K L^-T, symmetrized; False if it is not symmetric up to rounding."""
    for j in range(n):  # S = L^-1 K
        for i in range(n):
            x = K[i, j]
            for k in range(i):
                x -= L[i, k] * S[k, j]
            S[i, j] = x / L[i, i]
    for i in range(n):  # S L^-T, row by row
        for j in range(n):
            x = S[i, j]
            for k in range(j):
                x -= L[j, k] * S[i, k]
            S[i, j] = x / L[j, j]
    size, skew = 0.0, 0.0
    for i in range(n):
        for j in range(n):
            size = max(size, abs(S[i, j]))
            skew = max(skew, abs(S[i, j] - S[j, i]))
    if not skew <= symmetric * size:
        return False
    for i in range(n):
        for j in range(i):
            S[i, j] = S[j, i] = (S[i, j] + S[j, i]) / 2
    return True


@compiled_part
def _rotate(S, Y, n):
    """Diagonalizes S by Jacobi rotations, which Y accumulates; False if they do not converge."""
    for i in range(n):
        for j in range(n):
            Y[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        turned = False
        for p in range(n):
            for q in range(p + 1, n):
                x = S[p, q]
                if abs(x) <= EPSILON * np.sqrt(abs(S[p, p]) * abs(S[q, q])):
                    continue
                turned = True
                half = (S[q, q] - S[p, p]) / (2 * x)
                t = 1.0 / (abs(half) + np.sqrt(half * half + 1.0))
                if half < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                S[p, p] -= t * x
                S[q, q] += t * x
                S[p, q] = S[q, p] = 0.0
                for k in range(n):
                    if k != p and k != q:
                        a, b = S[k, p], S[k, q]
                        S[k, p] = S[p, k] = c * a - s * b
                        S[k, q] = S[q, k] = s * a + c * b
                    a, b = Y[k, p], Y[k, q]
                    Y[k, p], Y[k, q] = c * a - s * b, s * a + c * b
        if not turned:
            return True
    return False


@compiled_part
def _sort(squares, Y, n):
    """Sorts squares in ascending order, with their columns of Y."""
    for i in range(1, n):
        for j in range(i, 0, -1):
            if squares[j - 1] <= squares[j]:
                break
            squares[j - 1], squares[j] = squares[j], squares[j - 1]
            for k in range(n):
                Y[k, j - 1], Y[k, j] = Y[k, j], Y[k, j - 1]
