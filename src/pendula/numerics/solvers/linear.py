"""Small dense solvers for compiled code, on buffers that the caller provides.

Typical sizes are 1 to 50, for which a call of LAPACK costs more than the arithmetic. Matrices are row-major; inner
loops run along rows so that they become vector instructions. Nothing is allocated. Python can call the functions, too.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_part

PIVOT_TOLERANCE = 1e-13  # a pivot this small relative to its row counts as zero
SOLVED, SINGULAR, NOT_FINITE = range(3)  # what solve_kkt returns
EQUILIBRATION_PASSES = 2


@compiled(allocates=False, fastmath={"contract"})
def cholesky_factor(A, n):
    """Factor the leading n x n block of a symmetric A in place; False if it is not positive definite.

    Only the upper triangle (row index <= column index) is read and written. The factorization is root-free,
    A = U^T D U with unit U: row k holds D[k] U[k, k+1:] to the right of the diagonal and 1 / D[k] on it. A
    pivot below ``PIVOT_TOLERANCE`` times its original diagonal entry counts as not positive, a criterion
    independent of scaling. After False the contents are undefined.
    """
    k = 0
    while k + 1 < n:
        # Rows k and k+1 together, two columns at a time: four sums stay in registers.
        first, second = A[k, k], A[k + 1, k + 1]
        j = k
        while j < n:
            right = j + 1 if j + 1 < n else j
            s00, s01, s10, s11 = A[k, j], A[k, right], A[k + 1, j], A[k + 1, right]
            for i in range(k):
                f0, f1 = A[i, k] * A[i, i], A[i, k + 1] * A[i, i]
                s00 -= f0 * A[i, j]
                s01 -= f0 * A[i, right]
                s10 -= f1 * A[i, j]
                s11 -= f1 * A[i, right]
            A[k, j], A[k, right] = s00, s01
            if j > k:  # nothing is written below the diagonal
                A[k + 1, j] = s10
            A[k + 1, right] = s11
            j += 2
        if not PIVOT_TOLERANCE * first < A[k, k] < np.inf:
            return False
        A[k, k] = 1.0 / A[k, k]
        f0 = A[k, k + 1] * A[k, k]
        for j in range(k + 1, n):
            A[k + 1, j] -= f0 * A[k, j]
        if not PIVOT_TOLERANCE * second < A[k + 1, k + 1] < np.inf:
            return False
        A[k + 1, k + 1] = 1.0 / A[k + 1, k + 1]
        k += 2
    if k < n:
        first = last = A[k, k]
        for i in range(k):
            last -= A[i, k] * A[i, k] * A[i, i]
        if not PIVOT_TOLERANCE * first < last < np.inf:
            return False
        A[k, k] = 1.0 / last
    return True


@compiled(allocates=False, fastmath={"contract"})
def cholesky_solve(A, n, b):
    """Solve in place for b, with A as :func:`cholesky_factor` left it."""
    k = 0
    while k + 1 < n:  # two unknowns at a time
        f0 = b[k] * A[k, k]
        b[k + 1] -= f0 * A[k, k + 1]
        f1 = b[k + 1] * A[k + 1, k + 1]
        for j in range(k + 2, n):
            b[j] -= f0 * A[k, j] + f1 * A[k + 1, j]
        k += 2
    k = n - 1
    if n % 2 == 1:
        b[k] *= A[k, k]
        k -= 1
    while k > 0:
        lower, upper = b[k], b[k - 1]
        for j in range(k + 1, n):
            lower -= A[k, j] * b[j]
            upper -= A[k - 1, j] * b[j]
        b[k] = lower * A[k, k]
        b[k - 1] = (upper - A[k - 1, k] * b[k]) * A[k - 1, k - 1]
        k -= 2


def kkt_work_shape(n: int, m: int) -> tuple[int, int]:
    """Smallest shape of the 2-D work array that :func:`solve_kkt` needs."""
    return n + m + 2, n + m


@compiled(allocates=False, fastmath={"contract"})
def solve_kkt(M, G, f, c, n, m, work, a, lam):
    """Solve M a - G^T lam = f, G a = c for a (n values) and lam (m values).

    M may be singular if it is positive definite on the null space of G and G has full row rank. The
    symmetric system is scaled so that M has a unit diagonal and every row and column a largest entry near 1, whatever
    the units of masses and lengths, then factored with partial pivoting. Inputs are not changed; all of M (symmetric)
    is read. ``work`` has at least the shape :func:`kkt_work_shape`.

    Returns:
        ``SOLVED``, ``SINGULAR`` (redundant constraints, or a motion without mass), or ``NOT_FINITE``.
        Unless it is ``SOLVED``, ``a`` and ``lam`` are filled with NaN.
    """
    N = n + m
    scale, x = N, N + 1  # rows that hold the scale factors and the right-hand side
    # [M G^T; G 0] [a; -lam] = [f; c]
    for i in range(n):
        for j in range(n):
            work[i, j] = M[i, j]
        for j in range(m):
            work[i, n + j] = G[j, i]
        work[x, i] = f[i]
    for i in range(m):
        for j in range(n):
            work[n + i, j] = G[i, j]
        for j in range(m):
            work[n + i, n + j] = 0.0
        work[x, n + i] = c[i]
    status = _equilibrate(work, n, N)
    if status == SOLVED:
        for i in range(N):
            work[x, i] *= work[scale, i]
        status = _eliminate(work, N)
    if status == SOLVED:
        for i in range(n):
            a[i] = work[x, i] * work[scale, i]
            if not np.isfinite(a[i]):
                status = NOT_FINITE
        for i in range(m):
            lam[i] = -work[x, n + i] * work[scale, n + i]
            if not np.isfinite(lam[i]):
                status = NOT_FINITE
    if status != SOLVED:
        for i in range(n):
            a[i] = np.nan
        for i in range(m):
            lam[i] = np.nan
    return status


@compiled_part(fastmath={"reassoc"})
def _all_finite(work, N):
    """True if the leading N x N block is finite: infinity or NaN times zero is NaN."""
    total = 0.0
    for i in range(N):
        for j in range(N):
            total += work[i, j] * 0.0
    return total == 0.0


@compiled_part(fastmath={"nnan", "nsz"})
def _largest_scaled(work, i, N):
    """Largest |work[i, j]| * work[N, j]. All entries are finite, so the compiler may vectorize the loop."""
    largest = 0.0
    for j in range(N):
        largest = max(largest, abs(work[i, j]) * work[N, j])
    return largest


@compiled_part
def _equilibrate(work, n, N):
    """Scale rows and columns symmetrically, the first n (speeds) by mass, to largest entries near 1 (Ruiz 2001).

    The scale of the multipliers is free, so rows of G follow the speeds. If Ruiz' passes alone chose it, a small M
    would vanish beside G. Factors go to row N.
    """
    if not _all_finite(work, N):
        return NOT_FINITE
    for i in range(n):
        work[N, i] = 1.0 / np.sqrt(work[i, i]) if work[i, i] > 0.0 else 0.0
    for i in range(n, N):
        work[N, i] = 0.0
    for i in range(n, N):  # the zero block of G's rows adds nothing
        largest = _largest_scaled(work, i, N)
        work[N, i] = 1.0 / largest if largest > 0.0 else 1.0
    for i in range(n):
        if work[N, i] == 0.0:  # a speed without mass
            largest = _largest_scaled(work, i, N)
            work[N, i] = 1.0 / largest if largest > 0.0 else 1.0
    for _ in range(EQUILIBRATION_PASSES):
        for i in range(N):
            largest = _largest_scaled(work, i, N) * work[N, i]
            if largest == 0.0:
                return SINGULAR
            work[N, i] /= np.sqrt(largest)
    for i in range(N):
        for j in range(N):
            work[i, j] *= work[N, i] * work[N, j]
    return SOLVED


@compiled_part(fastmath={"contract"})
def _eliminate(work, N):
    """Gaussian elimination with partial pivoting on the leading N x N block, right-hand side in row N + 1."""
    x = N + 1
    for k in range(N):
        pivot, largest = k, abs(work[k, k])
        for i in range(k + 1, N):
            if abs(work[i, k]) > largest:
                pivot, largest = i, abs(work[i, k])
        if not largest > PIVOT_TOLERANCE:
            return NOT_FINITE if np.isnan(largest) else SINGULAR
        if pivot != k:
            for j in range(k, N):
                work[k, j], work[pivot, j] = work[pivot, j], work[k, j]
            work[x, k], work[x, pivot] = work[x, pivot], work[x, k]
        inverse = 1.0 / work[k, k]
        for i in range(k + 1, N):
            factor = work[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, N):
                    work[i, j] -= factor * work[k, j]
                work[x, i] -= factor * work[x, k]
    for k in range(N - 1, -1, -1):
        total = work[x, k]
        for j in range(k + 1, N):
            total -= work[k, j] * work[x, j]
        work[x, k] = total / work[k, k]
    return SOLVED


@compiled_part(fastmath={"contract"})
def lu_factor(A, n, pivots):
    """LU factorization of the leading n x n block of a real or complex A in place, with row exchanges.

    The multipliers are below the diagonal, the inverse pivots on it.

    Returns:
        The sign of the determinant if A is real, 0 if A is singular or not finite. Only an exact zero counts as
        a zero pivot.
    """
    sign = 1
    for k in range(n):
        pivot, largest = k, abs(A[k, k].real) + abs(A[k, k].imag)
        for i in range(k + 1, n):
            size = abs(A[i, k].real) + abs(A[i, k].imag)
            if size > largest:
                pivot, largest = i, size
        if not 0.0 < largest < np.inf:
            return 0
        pivots[k] = pivot
        if pivot != k:
            sign = -sign
            for j in range(n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
        if A[k, k].real < 0.0:
            sign = -sign
        A[k, k] = 1.0 / A[k, k]
        for i in range(k + 1, n):
            factor = A[i, k] * A[k, k]
            A[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]
    return sign


@compiled_part(fastmath={"contract"})
def lu_solve(A, n, pivots, b):
    """Solve in place for the first n entries of b, with A as :func:`lu_factor` left it."""
    for k in range(n):
        pivot = pivots[k]
        b[k], b[pivot] = b[pivot], b[k]
    for i in range(1, n):
        total = b[i]
        for j in range(i):
            total -= A[i, j] * b[j]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= A[i, j] * b[j]
        b[i] = total * A[i, i]
