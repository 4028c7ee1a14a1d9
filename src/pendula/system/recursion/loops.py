"""Closed loops on top of the recursion: solves for the constraint forces that keep them closed.

The constraint wrench of a row per unit multiplier consists of forces and moments on at most three hinges. The tree's
response to it (:func:`spatial.solve`) yields one column of the matrix G M^-1 G^T (Featherstone 2008, chapter 8).
This small matrix is singular if constraints are redundant, so a Cholesky factorization with pivoting stops at its rank.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.system.recursion import columns as co
from pendula.system.recursion.algebra import add, cross, dot, inlined, matrix, negative, put, subtract, times, vector
from pendula.system.recursion.spatial import drive_efforts, solve

ON_CHILD, ON_PARENT, ON_FRAME, OPENING, RATE, SECOND, PULLS = 0, 6, 12, 18, 19, 20, 21
"""Columns of the table of rows: unit constraint wrench on each of three hinges; gap, its first and second derivative"""

SMALLEST = 1e-12  # pivots below this count as zero, after scaling to a unit diagonal
FINE, TOO_FEW, TOO_MANY = range(3)


@inlined
def rates_of(y, d):
    """First and second derivative of a direction fixed in a hinge: omega x d, alpha x d + omega x (omega x d)."""
    omega = vector(y, co.OMEGA)
    rate = cross(omega, d)
    return rate, add(cross(omega, rate), cross(vector(y, co.ALPHA), d))


@compiled_part
def fill_rows(rows, numbers, w, pulls):
    """Unit constraint wrenches, gaps, and their first and second time derivatives for the motion in w."""
    for r in range(rows.shape[0]):
        row, c, out = rows[r], numbers[r], pulls[r]
        for k in range(PULLS):
            out[k] = 0.0
        if row.kind == co.GAP:
            gap_row(c, w[row.child], w[row.parent], w[row.frame], out)
        else:
            angle_row(c, w[row.child], w[row.parent], out)


@compiled_part
def gap_row(c, y, x, z, out):
    """The row (child point - parent point) . direction."""
    e, s = times(matrix(y, co.R), vector(c, co.CHILD_AT)), times(matrix(x, co.R), vector(c, co.PARENT_AT))
    d = times(matrix(z, co.R), vector(c, co.NORMAL))
    gap = subtract(add(vector(y, co.POSITION), e), add(vector(x, co.POSITION), s))
    put(out, ON_CHILD, cross(e, d))
    put(out, ON_CHILD + 3, d)
    put(out, ON_PARENT, cross(d, s))
    put(out, ON_PARENT + 3, negative(d))
    put(out, ON_FRAME, cross(d, gap))
    e_rate, e_second = rates_of(y, e)
    s_rate, s_second = rates_of(x, s)
    d_rate, d_second = rates_of(z, d)
    rate = subtract(add(vector(y, co.VELOCITY), e_rate), add(vector(x, co.VELOCITY), s_rate))
    second = subtract(add(vector(y, co.ACC), e_second), add(vector(x, co.ACC), s_second))
    out[OPENING] = dot(gap, d)
    out[RATE] = dot(rate, d) + dot(gap, d_rate)
    out[SECOND] = dot(second, d) + 2.0 * dot(rate, d_rate) + dot(gap, d_second)


@compiled_part
def angle_row(c, y, x, out):
    """The row (direction fixed in the first hinge) . (direction fixed in the second)."""
    a, b = times(matrix(y, co.R), vector(c, co.NORMAL)), times(matrix(x, co.R), vector(c, co.OTHER_NORMAL))
    moment = cross(a, b)
    put(out, ON_CHILD, moment)
    put(out, ON_PARENT, negative(moment))
    a_rate, a_second = rates_of(y, a)
    b_rate, b_second = rates_of(x, b)
    out[OPENING] = dot(a, b)
    out[RATE] = dot(a_rate, b) + dot(a, b_rate)
    out[SECOND] = dot(a_second, b) + 2.0 * dot(a_rate, b_rate) + dot(a, b_second)


@inlined
def hinge_at(row, start):
    """The hinge on which the wrench at a column acts."""
    return row.child if start == ON_CHILD else row.parent if start == ON_PARENT else row.frame


@compiled_part
def unit_responses(hinges, rows, charts, w, pulls, wrenches, motions, changes, efforts, compliance):
    """Unit responses of the tree to all rows: changes of v' and of drive forces, and ``compliance`` G M^-1 G^T."""
    m = rows.shape[0]
    for r in range(m):
        wrenches[:] = 0.0
        changes[r, :] = 0.0
        for start in range(0, OPENING, 6):
            for j in range(6):
                wrenches[hinge_at(rows[r], start), j] -= pulls[r, start + j]
        solve(hinges, charts, w, changes[r], wrenches, motions, hinges.shape[0])
        if efforts.shape[1] > 0:
            drive_efforts(hinges, charts, w, motions, 0, wrenches, 0, 0, efforts[r])
        for s in range(m):
            total = 0.0
            for start in range(0, OPENING, 6):
                for j in range(6):
                    total += pulls[s, start + j] * motions[hinge_at(rows[s], start), j]
            compliance[s, r] = total


@compiled_part
def solve_semidefinite(matrix, right, rank, order, scale, lam):
    """Solves matrix lam = right by Cholesky with pivoting, up to the rank; the other entries of lam are zero.

    Scaling to a unit diagonal makes the result independent of units. ``order`` and ``scale`` are scratch for one
    number per row. Returns FINE, TOO_FEW or TOO_MANY independent rows.
    """
    m = matrix.shape[0]
    for i in range(m):
        order[i] = i
        scale[i] = 1.0 / np.sqrt(matrix[i, i]) if matrix[i, i] > 0.0 else 0.0
    for i in range(m):
        for j in range(m):
            matrix[i, j] *= scale[i] * scale[j]
    found = 0
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if matrix[order[i], order[i]] > matrix[order[best], order[best]]:
                best = i
        order[k], order[best] = order[best], order[k]
        p = order[k]
        if not matrix[p, p] > SMALLEST:
            break
        found += 1
        root = np.sqrt(matrix[p, p])
        matrix[p, p] = root
        for i in range(k + 1, m):
            a = order[i]
            matrix[a, p] /= root
        for i in range(k + 1, m):
            a = order[i]
            for j in range(k + 1, i + 1):
                b = order[j]
                matrix[a, b] -= matrix[a, p] * matrix[b, p]
                matrix[b, a] = matrix[a, b]
    if found < rank:
        return TOO_FEW
    if found > rank:
        return TOO_MANY
    for i in range(m):
        lam[i] = 0.0
    for k in range(found):
        total = right[order[k]] * scale[order[k]]
        for j in range(k):
            total -= matrix[order[k], order[j]] * lam[order[j]]
        lam[order[k]] = total / matrix[order[k], order[k]]
    for k in range(found - 1, -1, -1):
        total = lam[order[k]]
        for j in range(k + 1, found):
            total -= matrix[order[j], order[k]] * lam[order[j]]
        lam[order[k]] = total / matrix[order[k], order[k]]
    for i in range(m):
        lam[i] *= scale[i]
    return FINE
