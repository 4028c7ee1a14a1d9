"""Solving large systems whose blocks hang together like a tree, in time proportional to the number of blocks.

Block k has a matrix of its own, is coupled to its parent by some rows, and comes after its parent. Blocks are
eliminated from the last to the first (leaf to root), each with row pivoting, then filled in from the first to the
last. Rows that couple blocks across the tree form a border that is solved at the end:

    A_k y_k + E_k y_parent = r_k        on the rows of block k (E_k enters its last rows only)
    ... + E_k^T y_k                     on the leading rows of its parent
    K x + L^T nu = r,   L x = s         with the border
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.jit import compiled

PARENT, BODY, SIZE, LINKS, BLOCK, COUPLING, FIRST, CARRY, ADDED, COLUMNS = range(10)
"""Columns of the table of blocks: parent (-1: none), leading rows a child couples to, rows in all, rows that couple to
the parent, then where its matrix, its coupling, its unknowns, its carried columns and its sum of children start."""

SOLVED, SINGULAR, NOT_FINITE = range(3)
SMALLEST_PIVOT = 1e-13  # relative to the largest entry its row had


@compiled(allocates=False, fastmath={"contract"})
def eliminate(W, n, width, size):
    """Solve in place: the leading n x n block of W against its columns from n to width; SOLVED or why not.

    ``size`` is scratch for n numbers. Rows are chosen by their largest entry relative to that of the original row.
    """
    for i in range(n):
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(W[i, j]))
        if not largest > 0.0:
            return SINGULAR if largest == 0.0 else NOT_FINITE
        size[i] = 1.0 / largest
    for k in range(n):
        pivot, best = k, abs(W[k, k]) * size[k]
        for i in range(k + 1, n):
            here = abs(W[i, k]) * size[i]
            if here > best:
                pivot, best = i, here
        if not best > SMALLEST_PIVOT:
            return SINGULAR if best <= SMALLEST_PIVOT else NOT_FINITE
        if pivot != k:
            for j in range(k, width):
                W[k, j], W[pivot, j] = W[pivot, j], W[k, j]
            size[k], size[pivot] = size[pivot], size[k]
        inverse = 1.0 / W[k, k]
        W[k, k] = inverse
        for i in range(k + 1, n):
            factor = W[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, width):
                    W[i, j] -= factor * W[k, j]
    for k in range(n - 1, -1, -1):
        inverse = W[k, k]
        for j in range(n, width):
            W[k, j] *= inverse
        for i in range(k):
            factor = W[i, k]
            if factor != 0.0:
                for j in range(n, width):
                    W[i, j] -= factor * W[k, j]
    return SOLVED


@compiled(allocates=False, fastmath={"contract"})
def solve_tree(nodes, blocks, couplings, border, z, s, added, carry, W, size, small, nu):
    """Solve the bordered tree; the solution is column 0 of z, the border's own unknowns are nu.

    Args:
        nodes: table of blocks (see ``COLUMNS``).
        blocks, couplings: matrices A_k (row by row) and the coupling rows of E_k, one after the other.
        border: L, one row per bordering row.
        z: right-hand side in column 0; the other columns (as many as L has rows) are filled here.
        s: right-hand side of the border.
        added, carry, W, size, small: scratch.
        nu: unknowns of the border.
    """
    count, m = nodes.shape[0], border.shape[0]
    columns = 1 + m
    for j in range(m):
        for i in range(z.shape[0]):
            z[i, 1 + j] = border[j, i]
    added[:] = 0.0
    for k in range(count - 1, -1, -1):
        status = _reduce(nodes, k, blocks, couplings, z, columns, added, carry, W, size)
        if status != SOLVED:
            return status
    for k in range(count):
        p = nodes[k, PARENT]
        if p >= 0:
            n, bp = nodes[k, SIZE], nodes[p, BODY]
            first, above, at = nodes[k, FIRST], nodes[p, FIRST], nodes[k, CARRY]
            for i in range(n):
                for j in range(bp):
                    factor = carry[at + i * bp + j]
                    if factor != 0.0:
                        for c in range(columns):
                            z[first + i, c] -= factor * z[above + j, c]
    if m > 0:
        return _close_border(border, z, s, small, size, nu)
    return SOLVED


@compiled(allocates=False, fastmath={"contract"})
def _reduce(nodes, k, blocks, couplings, z, columns, added, carry, W, size):
    """Eliminate block k and hand the rest to its parent."""
    n, b, r, p = nodes[k, SIZE], nodes[k, BODY], nodes[k, LINKS], nodes[k, PARENT]
    first, block, own = nodes[k, FIRST], nodes[k, BLOCK], nodes[k, ADDED]
    bp = nodes[p, BODY] if p >= 0 else 0
    coupling, at = nodes[k, COUPLING], nodes[k, CARRY]
    width = n + bp + columns
    for i in range(n):
        for j in range(n):
            W[i, j] = blocks[block + i * n + j]
        for j in range(bp):
            W[i, n + j] = 0.0
        for c in range(columns):
            W[i, n + bp + c] = z[first + i, c]
    for i in range(b):
        for j in range(b):
            W[i, j] += added[own + i * b + j]
    for i in range(r):
        for j in range(bp):
            W[n - r + i, n + j] = couplings[coupling + i * bp + j]
    status = eliminate(W, n, width, size)
    if status != SOLVED:
        return status
    for i in range(n):
        for j in range(bp):
            carry[at + i * bp + j] = W[i, n + j]
        for c in range(columns):
            z[first + i, c] = W[i, n + bp + c]
    if p >= 0:
        above, sums = nodes[p, FIRST], nodes[p, ADDED]
        for i in range(r):
            for j in range(bp):
                factor = couplings[coupling + i * bp + j]
                if factor != 0.0:
                    for l in range(bp):
                        added[sums + j * bp + l] -= factor * W[n - r + i, n + l]
                    for c in range(columns):
                        z[above + j, c] -= factor * W[n - r + i, n + bp + c]
    return SOLVED


@compiled(allocates=False)
def _close_border(border, z, s, small, size, nu):
    """(L K^-1 L^T) nu = L K^-1 r - s, then x = K^-1 r - K^-1 L^T nu."""
    m, n = border.shape
    for i in range(m):
        for c in range(m + 1):
            small[i, c] = 0.0
        for j in range(n):
            factor = border[i, j]
            if factor != 0.0:
                for c in range(m):
                    small[i, c] += factor * z[j, 1 + c]
                small[i, m] += factor * z[j, 0]
        small[i, m] -= s[i]
    status = eliminate(small, m, m + 1, size)
    if status != SOLVED:
        return status
    for i in range(m):
        nu[i] = small[i, m]
    for j in range(n):
        for c in range(m):
            z[j, 0] -= z[j, 1 + c] * nu[c]
    for j in range(n):
        if not np.isfinite(z[j, 0]):
            return NOT_FINITE
    return SOLVED
