"""Solves large linear systems whose blocks form a tree, in time proportional to the number of blocks.

Block k has its own matrix, is coupled to its parent by some rows, and comes after its parent. Blocks are
eliminated from the last to the first (leaf to root), each with row pivoting; back substitution goes from the first to
the last. Rows that couple blocks across the tree form a border, which is solved at the end by its Schur complement:

    A_k y_k + E_k y_parent = r_k        on the rows of block k (E_k enters its last rows only)
    ... + E_k^T y_k                     on the leading rows of its parent
    K x + L^T nu = r,   L x = s         with the border

In memory a block is [A_k, gap, E_k, right-hand sides, gap] row by row, where the gaps are zeros that pad E_k and the
next row to multiples of four numbers: rows are short and processed four numbers at a time.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.block_tree.fours import (
    BYTES,
    LANES,
    copy_four,
    get,
    padded,
    put,
    scale_four,
    subtract_four,
    swap_four,
)
from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.compiled.native import address_of

PARENT, BODY, SIZE, LINKS, BLOCK, LEAD, WIDTH, FIRST, COLUMNS = range(9)
"""Columns of the table of blocks: parent (-1: none), leading rows to which a child couples, number of rows, rows that
couple to the parent, start of its matrix, column at which E_k starts, numbers per row, start of its unknowns."""

SOLVED, SINGULAR, NOT_FINITE = range(3)
SMALLEST_PIVOT = 1e-13  # relative to the largest entry of the original row
ENOUGH = 1e-14  # largest residual of an equation, relative to its terms, without iterative refinement
GOOD_PIVOT = 0.1  # the diagonal entry is the pivot if it reaches this fraction of the best: rows are seldom exchanged


def block_shape(size: int, above: int, border: int) -> tuple[int, int]:
    """Column at which E_k starts in a row of a block, and the row length; ``above``: leading rows of the parent."""
    lead = padded(size)
    return lead, lead + padded(above + 1 + border)


@compiled_part(allocates=False, fastmath={"contract"})
def eliminate(at, n, lead, width, size):
    """Solve in place with the n x n matrix at an address and right-hand sides in columns lead to width; a status.

    Rows have ``width`` numbers; lead and width are multiples of four. ``size`` is scratch for n numbers. Pivots are
    chosen relative to the largest entry of the original row (scaled partial pivoting).
    """
    row = 8 * width
    for i in range(n):
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(get(at + row * i + 8 * j)))
        if not largest > 0.0:
            return SINGULAR if largest == 0.0 else NOT_FINITE
        size[i] = largest
    for k in range(n):
        top = at + row * k
        own = abs(get(top + 8 * k))
        pivot, best, scale = k, own, size[k]
        for i in range(k + 1, n):
            here = abs(get(at + row * i + 8 * k))
            if here * scale > best * size[i]:
                pivot, best, scale = i, here, size[i]
        if not best > SMALLEST_PIVOT * scale:
            return SINGULAR if best <= SMALLEST_PIVOT * scale else NOT_FINITE
        if pivot != k and not own * scale >= GOOD_PIVOT * best * size[k]:
            other = at + row * pivot
            for j in range(k // LANES * BYTES, row, BYTES):
                swap_four(top + j, other + j)
            size[pivot] = size[k]
        inverse = 1.0 / get(top + 8 * k)
        start = (k + 1) // LANES * BYTES  # entries left of the diagonal are not used any more
        for i in range(k + 1, n):
            this = at + row * i
            factor = get(this + 8 * k)
            if factor != 0.0:
                factor *= inverse
                for j in range(start, row, BYTES):
                    subtract_four(this + j, factor, top + j)
        put(top + 8 * k, inverse)
    for k in range(n - 1, -1, -1):
        top = at + row * k
        inverse = get(top + 8 * k)
        for j in range(8 * lead, row, BYTES):
            scale_four(top + j, inverse)
        for i in range(k):
            this = at + row * i
            factor = get(this + 8 * k)
            if factor != 0.0:
                for j in range(8 * lead, row, BYTES):
                    subtract_four(this + j, factor, top + j)
    return SOLVED


@compiled(allocates=False, fastmath={"contract"})
def solve_tree(nodes, blocks, border, r, s, z, work, size, small, nu, rest):
    """Solve the bordered tree; the solution is column 0 of z, the unknowns of the border are nu. Returns a status.

    If the tree alone is nearly singular and only its border makes it regular, elimination loses digits: if the
    residual shows this, one step of iterative refinement follows.

    Args:
        nodes: table of blocks (see ``COLUMNS``).
        blocks: all blocks one after the other, without right-hand sides (see above); not changed.
        border: L, one row per bordering row.
        r: right-hand side of the blocks.
        s: right-hand side of the border.
        z: one column for the solution and one for every row of the border.
        work: as long as blocks.
        size: scratch of the size of the largest block or of the border.
        small: scratch for a block of the border's size, see ``block_shape(rows, 0, 0)``.
        nu: unknowns of the border.
        rest: scratch for three numbers per unknown, including those of the border; not used without a border.
    """
    n, m = z.shape[0], border.shape[0]
    status = _solve_once(nodes, blocks, border, r, s, z, work, size, small, nu)
    if m == 0 or status != SOLVED:
        return status
    left, terms, first = rest[: n + m], rest[n + m : 2 * (n + m)], rest[2 * (n + m) : 3 * (n + m)]
    _residuals(nodes, blocks, border, r, s, z, nu, left, terms)
    worst = 0.0
    for i in range(n + m):
        worst = max(worst, abs(left[i]) - ENOUGH * terms[i])
    if not worst > 0.0:
        return SOLVED
    for i in range(n):
        first[i] = z[i, 0]
    for i in range(m):
        first[n + i] = nu[i]
    status = _solve_once(nodes, blocks, border, left[:n], left[n:], z, work, size, small, nu)
    if status != SOLVED:
        return status
    for i in range(n):
        z[i, 0] += first[i]
    for i in range(m):
        nu[i] += first[n + i]
    return SOLVED


@compiled_part(allocates=False)
def _residuals(nodes, blocks, border, r, s, z, nu, left, terms):
    """Residuals (right-hand sides minus left-hand sides) of the equations, and the sum of the |terms| in each."""
    n, m = z.shape[0], border.shape[0]
    for i in range(n):
        left[i] = r[i]
        terms[i] = abs(r[i])
        for c in range(m):
            term = border[c, i] * nu[c]
            left[i] -= term
            terms[i] += abs(term)
    for c in range(m):
        left[n + c] = s[c]
        terms[n + c] = abs(s[c])
        for i in range(n):
            term = border[c, i] * z[i, 0]
            left[n + c] -= term
            terms[n + c] += abs(term)
    for k in range(nodes.shape[0]):
        rows, p, at, width = nodes[k, SIZE], nodes[k, PARENT], nodes[k, BLOCK], nodes[k, WIDTH]
        first, lead = nodes[k, FIRST], nodes[k, LEAD]
        for i in range(rows):
            for j in range(rows):
                term = blocks[at + width * i + j] * z[first + j, 0]
                left[first + i] -= term
                terms[first + i] += abs(term)
        if p < 0:
            continue
        for i in range(rows - nodes[k, LINKS], rows):
            for j in range(nodes[p, BODY]):
                coupling, above = blocks[at + width * i + lead + j], nodes[p, FIRST] + j
                left[first + i] -= coupling * z[above, 0]
                terms[first + i] += abs(coupling * z[above, 0])
                left[above] -= coupling * z[first + i, 0]
                terms[above] += abs(coupling * z[first + i, 0])


@compiled_part(allocates=False, fastmath={"contract"})
def _solve_once(nodes, blocks, border, r, s, z, work, size, small, nu):
    """Elimination from leaf to root, back substitution from root to leaf, then the border."""
    count, m = nodes.shape[0], border.shape[0]
    for i in range(z.shape[0]):
        z[i, 0] = r[i]
        for j in range(m):
            z[i, 1 + j] = border[j, i]
    source, to = address_of(blocks), address_of(work)
    ready = count  # blocks from this one on are copied: a parent before its last child is eliminated
    for k in range(count - 1, -1, -1):
        while ready > max(nodes[k, PARENT], 0):
            ready -= 1
            _copy_block(nodes, ready, source, z, to)
        status = _reduce(nodes, k, 1 + m, source, to, size)
        if status != SOLVED:
            return status
    for k in range(count):
        _fill_in(nodes, k, z, to)
    if m > 0:
        return _close_border(border, z, s, small, size, nu)
    return SOLVED


@compiled_part(allocates=False)
def _copy_block(nodes, k, blocks, z, work):
    """Copy block k and write its right-hand sides into the columns for them."""
    n, p, columns = nodes[k, SIZE], nodes[k, PARENT], z.shape[1]
    bp = nodes[p, BODY] if p >= 0 else 0
    start, row = 8 * nodes[k, BLOCK], 8 * nodes[k, WIDTH]
    for j in range(start, start + row * n, BYTES):
        copy_four(work + j, blocks + j)
    to = work + start + 8 * (nodes[k, LEAD] + bp)
    given = address_of(z) + 8 * columns * nodes[k, FIRST]
    for i in range(n):
        for c in range(columns):
            put(to + row * i + 8 * c, get(given + 8 * (columns * i + c)))


@compiled_part(allocates=False, fastmath={"contract"})
def _reduce(nodes, k, columns, blocks, work, size):
    """Eliminate block k: subtract its Schur complement from the parent's matrix and right-hand sides."""
    n, r, p, lead, width = nodes[k, SIZE], nodes[k, LINKS], nodes[k, PARENT], nodes[k, LEAD], nodes[k, WIDTH]
    at = work + 8 * nodes[k, BLOCK]
    status = eliminate(at, n, lead, width, size)
    if status != SOLVED or p < 0:
        return status
    bp, pp = nodes[p, BODY], nodes[p, PARENT]
    above, line = work + 8 * nodes[p, BLOCK], 8 * nodes[p, WIDTH]
    sides = 8 * (nodes[p, LEAD] + (nodes[pp, BODY] if pp >= 0 else 0))
    for i in range(n - r, n):
        E = blocks + 8 * (nodes[k, BLOCK] + width * i + lead)
        solved = at + 8 * (width * i + lead)
        for j in range(bp):
            factor = get(E + 8 * j)
            if factor != 0.0:
                to = above + line * j
                for l in range(bp):
                    put(to + 8 * l, get(to + 8 * l) - factor * get(solved + 8 * l))
                for c in range(columns):
                    put(to + sides + 8 * c, get(to + sides + 8 * c) - factor * get(solved + 8 * (bp + c)))
    return SOLVED


@compiled_part(allocates=False, fastmath={"contract"})
def _fill_in(nodes, k, z, work):
    """The unknowns of block k from those of its parent."""
    n, p, columns, row = nodes[k, SIZE], nodes[k, PARENT], z.shape[1], 8 * nodes[k, WIDTH]
    bp = nodes[p, BODY] if p >= 0 else 0
    solved = work + 8 * (nodes[k, BLOCK] + nodes[k, LEAD])
    to = address_of(z) + 8 * columns * nodes[k, FIRST]
    above = address_of(z) + 8 * columns * (nodes[p, FIRST] if p >= 0 else 0)
    for i in range(n):
        for c in range(columns):
            total = get(solved + row * i + 8 * (bp + c))
            for j in range(bp):
                total -= get(solved + row * i + 8 * j) * get(above + 8 * (columns * j + c))
            put(to + 8 * (columns * i + c), total)


@compiled_part(allocates=False)
def _close_border(border, z, s, small, size, nu):
    """(L K^-1 L^T) nu = L K^-1 r - s, then x = K^-1 r - K^-1 L^T nu."""
    m, n = border.shape
    width = small.shape[1]
    last = width - LANES  # the right-hand side
    for i in range(m):
        for c in range(width):
            small[i, c] = 0.0
        for j in range(n):
            factor = border[i, j]
            if factor != 0.0:
                for c in range(m):
                    small[i, c] += factor * z[j, 1 + c]
                small[i, last] += factor * z[j, 0]
        small[i, last] -= s[i]
    status = eliminate(address_of(small), m, last, width, size)
    if status != SOLVED:
        return status
    for i in range(m):
        nu[i] = small[i, last]
    for j in range(n):
        for c in range(m):
            z[j, 0] -= z[j, 1 + c] * nu[c]
    for j in range(n):
        if not np.isfinite(z[j, 0]):
            return NOT_FINITE
    return SOLVED
