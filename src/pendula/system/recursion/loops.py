"""Closed loops on top of the recursion: solves for the constraint forces that keep them closed.

The constraint wrench of a row per unit multiplier consists of forces and moments on at most three hinges. The tree's
response to it (:func:`spatial.solve`) yields one column of the matrix G M^-1 G^T (Featherstone 2008, chapter 8).
This small matrix is singular if constraints are redundant, so a Cholesky factorization with pivoting stops at the rank
that they have at regular poses.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.solvers.complement import INDEPENDENT, VANISHING
from pendula.numerics.solvers.linear import cholesky_factor, cholesky_solve
from pendula.system.recursion import columns as co
from pendula.system.recursion.algebra import add, cross, dot, inlined, matrix, negative, put, subtract, times, vector
from pendula.system.recursion.spatial import drive_efforts, solve, transmit

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
def weigh_rows(hinges, rows, charts, w, pulls, wrenches, forces, least, redundant, weights):
    """Weight of every row: 1, but less for one that hardly any motion changes, and 0 for one that none changes.

    The generalized forces of a unit constraint wrench are a row of G. Where they pass through zero, as those along a
    coupler that two drives keep parallel to it, what is left of the row is rounding, which must not be scaled up:
    entries up to ``least`` count as zero, and among redundant rows those below ``VANISHING`` times that count for less.
    """
    for r in range(rows.shape[0]):
        wrenches[:] = 0.0
        forces[:] = 0.0
        for start in range(0, OPENING, 6):
            for j in range(6):
                wrenches[hinge_at(rows[r], start), j] += pulls[r, start + j]
        transmit(hinges, charts, w, wrenches, forces)
        largest = 0.0
        for k in range(forces.shape[0]):
            largest = max(largest, abs(forces[k]))
        weights[r] = 1.0 if largest > least else 0.0
        if redundant and least > 0.0:
            weights[r] *= min(1.0, largest / (VANISHING * least))


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
def solve_semidefinite(matrix, right, weights, rank, order, normal, lam):
    """Solves matrix lam = right for a positive semidefinite matrix of the given rank; ``weights`` scale the rows.

    Scaling to a unit diagonal before makes the result independent of units. Redundant rows are satisfied in the
    least-squares sense, and lam has minimum norm, both in the scaled rows: slightly off the constraints redundant rows
    differ, and accelerations would jump if the order of the pivots decided which of them count. ``order`` and
    ``normal`` are scratch, for one number per row and for a matrix. Returns FINE, TOO_FEW or TOO_MANY independent rows.
    """
    m = matrix.shape[0]
    for i in range(m):
        order[i] = i
        weights[i] = weights[i] / np.sqrt(matrix[i, i]) if matrix[i, i] > 0.0 else 0.0
    for i in range(m):
        for j in range(m):
            matrix[i, j] *= weights[i] * weights[j]
    found = factor_semidefinite(matrix, rank, order)
    if found != FINE:
        return found
    if rank < m:
        for i in range(m):
            right[i] *= weights[i]
        least_squares(matrix, right, rank, order, normal, lam)
    else:
        for k in range(m):
            p = order[k]
            lam[p] = right[p] * weights[p]
            for j in range(k):
                lam[p] -= matrix[p, order[j]] * lam[order[j]]
            lam[p] /= matrix[p, p]
        for k in range(m - 1, -1, -1):
            p = order[k]
            for j in range(k + 1, m):
                lam[p] -= matrix[order[j], p] * lam[order[j]]
            lam[p] /= matrix[p, p]
    for i in range(m):
        lam[i] *= weights[i]
    return FINE


@compiled_part
def factor_semidefinite(matrix, rank, order):
    """Cholesky factorization L L^T in place with pivoting, up to the rank; returns FINE, TOO_FEW or TOO_MANY."""
    m = matrix.shape[0]
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if matrix[order[i], order[i]] > matrix[order[best], order[best]]:
                best = i
        order[k], order[best] = order[best], order[k]
        p = order[k]
        if k == rank:  # what is left of redundant rows is noise, off the constraints by their gaps
            return TOO_MANY if matrix[p, p] > INDEPENDENT**2 else FINE
        if not matrix[p, p] > SMALLEST:
            return TOO_FEW
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
    return FINE


@compiled_part
def least_squares(matrix, right, rank, order, normal, lam):
    """lam = L (L^T L)^-2 L^T right with the factor L (rows x rank): minimum norm, least squares; ``right`` is lost."""
    m = matrix.shape[0]
    for k in range(rank):
        for l in range(k + 1):
            total = 0.0
            for i in range(k, m):
                total += matrix[order[i], order[k]] * matrix[order[i], order[l]]
            normal[k, l] = normal[l, k] = total
        total = 0.0
        for i in range(k, m):
            total += matrix[order[i], order[k]] * right[order[i]]
        lam[k] = total
    cholesky_factor(normal, rank)
    cholesky_solve(normal, rank, lam)
    cholesky_solve(normal, rank, lam)
    for k in range(rank):
        right[k] = lam[k]
    for i in range(m):
        total = 0.0
        for k in range(min(i + 1, rank)):
            total += matrix[order[i], order[k]] * right[k]
        lam[order[i]] = total
