"""Solves constrained linear systems by a numeric orthogonal complement, on buffers that the caller provides.

    M a = f + G^T lam      G a = c

An orthogonal Q splits a into directions that the constraints determine and directions that they leave free: with
G Q = [L 0] the first follow from L y = c, the second from the equations of motion along the null space Z of G,
(Z^T M Z) y = Z^T (f - M a_p), which contain no multipliers. Rows of G may be linearly dependent: then L has more rows
than columns, c is satisfied in the least-squares sense, and lam is the solution of minimum norm.

Rows are first scaled to largest entries near 1 and columns by mass, so that ranks do not depend on units.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_callback, compiled_part
from pendula.numerics.compiled.native import doubles_at
from pendula.numerics.compiled.records import reader, record_dtype
from pendula.numerics.solvers.linear import NOT_FINITE, SINGULAR, SOLVED, cholesky_factor, cholesky_solve

INDEPENDENT = 0.1
"""A scaled row beyond the largest allowed rank is a constraint, not noise, if its remainder has an entry above this."""

ROUNDING = 1e-9
"""A column without an entry above this, after scaling the rows, is zero up to rounding, and is not scaled up."""

LIGHT = 1e-4
"""A motion with less than this fraction of the largest mass, per change of a constraint, is scaled as if it had it."""

VANISHING = 1e8
"""Among redundant rows, one below this multiple of the least counts for less, in proportion: where a row passes through
zero, little is left of it but what its constraint is off by, which must not become a direction."""

RANK_TOLERANCE = 1e-12
"""A scaled row depends on the rows before it if its component orthogonal to them is shorter than this."""


def complement_work_shape(n: int, m: int) -> tuple[int, int]:
    """Smallest shape of the 2-D work array that :func:`solve_complement` needs."""
    return 5 * m + n + 6, max(n, m) + 1


@compiled
def solve_complement(M, G, f, c, n, m, most, least, work, a, lam):
    """Solve M a - G^T lam = f, G a = c for a (n values) and lam (m values); rows of G may be redundant.

    M may be singular if it is positive definite on the null space of G. Inputs are not changed. The solution satisfies
    G a = c exactly if possible, otherwise in the least-squares sense of the scaled rows; lam has minimum norm in
    the scaled rows. ``work`` has at least the shape :func:`complement_work_shape`.

    Args:
        most: largest rank to use. Give the rank that rows have on the constraints: slightly off them, dependent rows
            look independent, but their difference is noise.
        least: rows of G without an entry larger than this count as zero.

    Returns:
        Status and rank: ``SOLVED``, ``SINGULAR`` (a motion without mass, or rows clearly independent beyond ``most``:
        the rank is then ``most + 1``), or ``NOT_FINITE``. Unless it is ``SOLVED``, ``a`` and ``lam`` are filled
        with NaN.
    """
    rows, reflections, tall = work[:m], work[m : 3 * m + 1], work[3 * m + 1 : 4 * m + 1]
    short, H = work[4 * m + 1 : 5 * m + 1], work[5 * m + 1 : 5 * m + 1 + n]
    at = 5 * m + 1 + n
    row_scale, column_scale, y, right, order = work[at], work[at + 1], work[at + 2], work[at + 3], work[at + 4]
    status, rank = NOT_FINITE, 0
    if _scale(M, G, f, c, n, m, most, least, rows, H, y, right, row_scale, column_scale, order):
        rank = count = _reduce_rows(rows, n, m, most, reflections, right, order)
        left = _left_over(rows, n, m, rank)
        if left > INDEPENDENT:  # only if the rank was cut off
            status, rank = SINGULAR, most + 1
        else:
            if rank < m:
                _orthogonalize_columns(rows, rank, m, tall)
                if left > 0.0:
                    _refine(rows, n, m, rank, tall, short, reflections)
                    _orthogonalize_columns(rows, rank, m, tall)
                    count = 2 * rank
            status = _solve_split(n, m, rank, count, rows, reflections, tall, H, y, right)
    if status == SOLVED:
        for i in range(n):
            a[i] = y[i] * column_scale[i]
            if not np.isfinite(a[i]):
                status = NOT_FINITE
        for k in range(m):
            r = int(order[k])
            lam[r] = right[k] * row_scale[r]
            if not np.isfinite(lam[r]):
                status = NOT_FINITE
    if status != SOLVED:
        for i in range(n):
            a[i] = np.nan
        for i in range(m):
            lam[i] = np.nan
    return status, rank


REQUEST = record_dtype(whole="n m most least M G f c work a lam status rank")
"""Arguments of :func:`solve_complement` (arrays, and the number ``least``, by address), and its two results."""
request_at = reader(REQUEST)


@compiled_callback
def complement_by_address(out, inp, context):
    """:func:`solve_complement` of the :data:`REQUEST` ``inp``; the record also receives the results.

    Kernels call it by address, so they need not contain it, and it is compiled only if it is used.
    """
    ask = request_at(inp)
    n, m = ask.n, ask.m
    ask.status, ask.rank = solve_complement(
        doubles_at(ask.M, (n, n)),
        doubles_at(ask.G, (m, n)),
        doubles_at(ask.f, n),
        doubles_at(ask.c, m),
        n,
        m,
        ask.most,
        doubles_at(ask.least, 1)[0],
        doubles_at(ask.work, (5 * m + n + 6, max(n, m) + 1)),
        doubles_at(ask.a, n),
        doubles_at(ask.lam, m),
    )


@compiled_part(allocates=True)
def _scale(M, G, f, c, n, m, most, least, rows, H, y, right, row_scale, column_scale, order):
    """Scaled copies of M, G, f, c; False if something is not finite."""
    total = 0.0
    for i in range(n):
        total += f[i] * 0.0
        column_scale[i] = 1.0
        for j in range(n):
            total += M[i, j] * 0.0
    for r in range(m):
        total += c[r] * 0.0
        row_scale[r] = 1.0
        order[r] = r
        largest = 0.0
        for j in range(n):
            total += G[r, j] * 0.0
            largest = max(largest, abs(G[r, j]))
        for j in range(n):
            rows[r, j] = G[r, j] if largest > least else 0.0
        right[r] = min(1.0, largest / (VANISHING * least)) if m > most and least > 0.0 else 1.0  # its weight
    if total != 0.0:
        return False
    for sweep in range(3):  # rows, columns, rows
        if sweep == 1:
            _scale_columns(M, n, m, rows, row_scale, column_scale)
        else:
            for r in range(m):
                largest = 0.0
                for j in range(n):
                    largest = max(largest, abs(rows[r, j]) * column_scale[j])
                row_scale[r] = right[r] / largest if largest > 0.0 else 1.0
    for r in range(m):
        for j in range(n):
            rows[r, j] *= row_scale[r] * column_scale[j]
        right[r] = c[r] * row_scale[r]
    for i in range(n):
        y[i] = f[i] * column_scale[i]
        for j in range(n):
            H[i, j] = M[i, j] * column_scale[i] * column_scale[j]
    return True


@compiled_part(allocates=True)
def _scale_columns(M, n, m, rows, row_scale, column_scale):
    """Scales columns by mass, so that M has a unit diagonal; those that carry hardly any mass by their entries in G."""
    heaviest = 0.0
    for j in range(n):
        largest = 0.0
        for r in range(m):
            largest = max(largest, abs(rows[r, j]) * row_scale[r])
        column_scale[j] = 1.0 / largest if largest > ROUNDING else 0.0
        heaviest = max(heaviest, M[j, j] * column_scale[j] ** 2)
    for j in range(n):
        if column_scale[j] > 0.0 and heaviest > 0.0:
            column_scale[j] /= np.sqrt(max(M[j, j] * column_scale[j] ** 2, LIGHT * heaviest))
        elif column_scale[j] == 0.0:
            column_scale[j] = 1.0 / np.sqrt(M[j, j]) if M[j, j] > 0.0 else 1.0


@compiled_part(allocates=True)
def _reflect(row, first, n, reflection):
    """The Householder ``reflection`` (entries first to n) that maps the row to its entry ``first``; applies it."""
    square = 0.0
    for j in range(first, n):
        square += row[j] * row[j]
        reflection[j] = row[j]
    length = np.sqrt(square)
    if length == 0.0:
        reflection[first] = 0.0
        return
    target = -length if row[first] > 0.0 else length
    reflection[first] -= target
    size = np.sqrt(2.0 * (square - target * row[first]))
    for j in range(first, n):
        reflection[j] *= 1.4142135623730951 / size
        row[j] = 0.0
    row[first] = target


@compiled_part(allocates=True)
def _apply(reflection, first, n, row):
    """Applies a reflection w with |w|^2 = 2 to the entries first to n: row - (w . row) w."""
    total = 0.0
    for j in range(first, n):
        total += reflection[j] * row[j]
    for j in range(first, n):
        row[j] -= total * reflection[j]


@compiled_part(allocates=True)
def _reduce_rows(rows, n, m, most, reflections, right, order):
    """Orthogonal Q (as reflections) that makes the rows lower trapezoidal, with row pivoting; returns the rank."""
    for k in range(min(m, n, most)):
        best, longest = k, -1.0
        for r in range(k, m):
            square = 0.0
            for j in range(k, n):
                square += rows[r, j] * rows[r, j]
            if square > longest:
                best, longest = r, square
        if not np.sqrt(longest) > RANK_TOLERANCE:
            return k
        if best != k:
            for j in range(n):
                rows[k, j], rows[best, j] = rows[best, j], rows[k, j]
            right[k], right[best] = right[best], right[k]
            order[k], order[best] = order[best], order[k]
        _reflect(rows[k], k, n, reflections[k])
        for r in range(k + 1, m):
            _apply(reflections[k], k, n, rows[r])
    return min(m, n, most)


@compiled_part(allocates=True)
def _left_over(rows, n, m, rank):
    """Largest entry of what remains of the dependent rows."""
    largest = 0.0
    for r in range(rank, m):
        for j in range(rank, n):
            largest = max(largest, abs(rows[r, j]))
    return largest


@compiled_part(allocates=True)
def _orthogonalize_columns(rows, rank, m, tall):
    """QR factorization of the first columns of the rows.

    Row k of ``tall`` holds R[j, k] for j < k, then the reflection of column k; the diagonal of R is in column m.
    """
    for k in range(rank):
        for r in range(m):
            tall[k, r] = rows[r, k]
        for j in range(k):
            _apply(tall[j], j, m, tall[k])
        square = 0.0
        for r in range(k, m):
            square += tall[k, r] * tall[k, r]
        length = np.sqrt(square)
        target = -length if tall[k, k] > 0.0 else length
        size = np.sqrt(2.0 * (square - target * tall[k, k]))
        tall[k, k] -= target
        for r in range(k, m):
            tall[k, r] *= 1.4142135623730951 / size
        tall[k, m] = target


@compiled_part(allocates=True)
def _refine(rows, n, m, rank, tall, short, reflections):
    """One step of subspace iteration, so that the split does not depend on the order of the rows.

    On the constraints, redundant rows agree; slightly off them they differ. If pivoting then chose other rows from
    call to call, accelerations would jump. The leading directions of all rows together change continuously.
    """
    for k in range(rank):  # row k of Q2^T rows, with Q2 the orthonormal columns of tall
        for r in range(m):
            short[m - 1, r] = 0.0
        short[m - 1, k] = 1.0
        for j in range(rank - 1, -1, -1):
            _apply(tall[j], j, m, short[m - 1])
        for j in range(n):
            reflections[rank + k, j] = 0.0
        for r in range(m):
            weight = short[m - 1, r]
            for j in range(n):
                reflections[rank + k, j] += weight * rows[r, j]
    for k in range(rank):
        for j in range(n):
            short[k, j] = reflections[rank + k, j]
    for k in range(rank):
        _reflect(short[k], k, n, reflections[rank + k])
        for j in range(k + 1, rank):
            _apply(reflections[rank + k], k, n, short[j])
        for r in range(m):
            _apply(reflections[rank + k], k, n, rows[r])


@compiled_part(allocates=True)
def _solve_split(n, m, rank, count, rows, reflections, tall, H, y, right):
    """Solves for a (in y) and lam (in right), both scaled (lam in the order of the rows)."""
    spare = reflections[2 * m]
    # Q^T M Q and Q^T f
    for k in range(count):
        first = k % rank
        for i in range(n):
            _apply(reflections[k], first, n, H[i])
        for j in range(n):
            spare[j] = 0.0
        for i in range(first, n):
            weight = reflections[k, i]
            for j in range(n):
                spare[j] += weight * H[i, j]
        for i in range(first, n):
            weight = reflections[k, i]
            for j in range(n):
                H[i, j] -= weight * spare[j]
        _apply(reflections[k], first, n, y)
    # directions that the constraints determine, kept in right
    _decided(rows, m, rank, tall, right)
    # directions that they leave free
    for i in range(rank, n):
        for j in range(rank):
            y[i] -= H[i, j] * right[j]
    free = n - rank
    for i in range(free):
        spare[i] = y[rank + i]
    block = H[rank:, rank:]
    if free > 0 and not cholesky_factor(block, free):
        return SINGULAR
    cholesky_solve(block, free, spare)
    # multipliers: L^T lam = Q^T (M a - f) along the determined directions
    for i in range(rank):
        total = -y[i]
        for j in range(rank):
            total += H[i, j] * right[j]
        for j in range(free):
            total += H[i, rank + j] * spare[j]
        y[i] = total
    for i in range(rank):
        y[i], right[i] = right[i], y[i]
    for i in range(free):
        y[rank + i] = spare[i]
    _multipliers(rows, m, rank, tall, right)
    for k in range(count - 1, -1, -1):
        _apply(reflections[k], k % rank, n, y)
    return SOLVED


@compiled_part(allocates=True)
def _decided(rows, m, rank, tall, right):
    """Solves L y = c in place, by least squares if L has more rows than columns."""
    if rank == m:
        for i in range(m):
            for j in range(i):
                right[i] -= rows[i, j] * right[j]
            right[i] /= rows[i, i]
        return
    for k in range(rank):
        _apply(tall[k], k, m, right)
    for i in range(rank - 1, -1, -1):
        for j in range(i + 1, rank):
            right[i] -= tall[j, i] * right[j]
        right[i] /= tall[i, m]


@compiled_part(allocates=True)
def _multipliers(rows, m, rank, tall, right):
    """Solves L^T lam = d in place; lam has minimum norm."""
    if rank == m:
        for i in range(m - 1, -1, -1):
            for j in range(i + 1, m):
                right[i] -= rows[j, i] * right[j]
            right[i] /= rows[i, i]
        return
    for i in range(rank):
        for j in range(i):
            right[i] -= tall[i, j] * right[j]
        right[i] /= tall[i, m]
    for i in range(rank, m):
        right[i] = 0.0
    for k in range(rank - 1, -1, -1):
        _apply(tall[k], k, m, right)
