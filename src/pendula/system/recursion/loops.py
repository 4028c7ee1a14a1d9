"""Closed loops on top of the recursion: forces that close them, found in the space of the constraints.

Every row of a closing joint is described by its constraint wrench per unit multiplier: forces and moments on at most
three hinges. The unit response of the tree to it follows from the articulated inertias of the recursion, in time
proportional to the number of hinges, and gives one column of the matrix G M^-1 G^T. This matrix is small, and singular
if constraints are redundant: it is factored with the largest pivot first, up to its rank.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.system.recursion import spatial as sp
from pendula.system.recursion.loads import chart_size

# Columns of the table of rows
KIND, CHILD, PARENT, FRAME, ROW_INTEGERS = range(5)
"""a gap along a direction or an angle between two; hinges of the two points and of the direction (of an angle: CHILD
and PARENT are the hinges of its two directions)"""
GAP, ANGLE = range(2)
CHILD_AT, PARENT_AT, DIRECTION, OTHER, ROW_NUMBERS = 0, 3, 6, 9, 12
"""places of the points and directions in the axes of their hinges"""

# What a row exerts: moment and force on each of three hinges; then gap, rate of the gap and its second rate
PULL, OPENING, RATE, SECOND, PULLS = 0, 18, 19, 20, 21

# Columns of the table of answers
P, OWN, ALPHA, ACC, PASSED, ANSWER = 0, 6, 12, 15, 18, 24
"""load, what the hinge's own freedoms do, accelerations, and the part of the load that a chart passes on"""

SMALLEST = 1e-12  # pivots below this count as zero, where rows are scaled to a diagonal of one
FINE, TOO_FEW, TOO_MANY = range(3)


@compiled_part
def spin_of(y, at, d0, d1, d2):
    """Second rate of a direction fixed in a hinge: alpha x d + omega x (omega x d), and its rate omega x d."""
    o0, o1, o2 = y[sp.OMEGA], y[sp.OMEGA + 1], y[sp.OMEGA + 2]
    r0, r1, r2 = sp.cross(o0, o1, o2, d0, d1, d2)
    s0, s1, s2 = sp.cross(o0, o1, o2, r0, r1, r2)
    t0, t1, t2 = sp.cross(y[sp.ALPHA], y[sp.ALPHA + 1], y[sp.ALPHA + 2], d0, d1, d2)
    return r0, r1, r2, s0 + t0, s1 + t1, s2 + t2


@compiled_part
def pull_rows(rows, numbers, w, pulls):
    """What every row exerts, how far it is from zero, and its first and second rates for the motion in w."""
    for r in range(rows.shape[0]):
        row, c, out = rows[r], numbers[r], pulls[r]
        for k in range(PULLS):
            out[k] = 0.0
        if row[KIND] == GAP:
            gap_row(c, w[row[CHILD]], w[row[PARENT]], w[row[FRAME]], out)
        else:
            angle_row(c, w[row[CHILD]], w[row[PARENT]], out)


@compiled_part
def gap_row(c, y, x, z, out):
    """(child point - parent point) . direction."""
    e0, e1, e2 = sp.turned(y, sp.R, c[CHILD_AT], c[CHILD_AT + 1], c[CHILD_AT + 2])
    s0, s1, s2 = sp.turned(x, sp.R, c[PARENT_AT], c[PARENT_AT + 1], c[PARENT_AT + 2])
    d0, d1, d2 = sp.turned(z, sp.R, c[DIRECTION], c[DIRECTION + 1], c[DIRECTION + 2])
    g0 = (y[sp.POSITION] + e0) - (x[sp.POSITION] + s0)
    g1 = (y[sp.POSITION + 1] + e1) - (x[sp.POSITION + 1] + s1)
    g2 = (y[sp.POSITION + 2] + e2) - (x[sp.POSITION + 2] + s2)
    out[0], out[1], out[2] = sp.cross(e0, e1, e2, d0, d1, d2)
    out[3], out[4], out[5] = d0, d1, d2
    out[6], out[7], out[8] = sp.cross(d0, d1, d2, s0, s1, s2)
    out[9], out[10], out[11] = -d0, -d1, -d2
    out[12], out[13], out[14] = sp.cross(d0, d1, d2, g0, g1, g2)
    a0, a1, a2, b0, b1, b2 = spin_of(y, sp.R, e0, e1, e2)
    p0, p1, p2, q0, q1, q2 = spin_of(x, sp.R, s0, s1, s2)
    u0 = (y[sp.VELOCITY] + a0) - (x[sp.VELOCITY] + p0)
    u1 = (y[sp.VELOCITY + 1] + a1) - (x[sp.VELOCITY + 1] + p1)
    u2 = (y[sp.VELOCITY + 2] + a2) - (x[sp.VELOCITY + 2] + p2)
    f0 = (y[sp.ACC] + b0) - (x[sp.ACC] + q0)
    f1 = (y[sp.ACC + 1] + b1) - (x[sp.ACC + 1] + q1)
    f2 = (y[sp.ACC + 2] + b2) - (x[sp.ACC + 2] + q2)
    r0, r1, r2, t0, t1, t2 = spin_of(z, sp.R, d0, d1, d2)
    out[OPENING] = g0 * d0 + g1 * d1 + g2 * d2
    out[RATE] = (u0 * d0 + u1 * d1 + u2 * d2) + (g0 * r0 + g1 * r1 + g2 * r2)
    out[SECOND] = (f0 * d0 + f1 * d1 + f2 * d2) + 2.0 * (u0 * r0 + u1 * r1 + u2 * r2) + (g0 * t0 + g1 * t1 + g2 * t2)


@compiled_part
def angle_row(c, y, x, out):
    """direction of the first hinge . direction of the second."""
    a0, a1, a2 = sp.turned(y, sp.R, c[DIRECTION], c[DIRECTION + 1], c[DIRECTION + 2])
    b0, b1, b2 = sp.turned(x, sp.R, c[OTHER], c[OTHER + 1], c[OTHER + 2])
    n0, n1, n2 = sp.cross(a0, a1, a2, b0, b1, b2)
    out[0], out[1], out[2] = n0, n1, n2
    out[6], out[7], out[8] = -n0, -n1, -n2
    r0, r1, r2, s0, s1, s2 = spin_of(y, sp.R, a0, a1, a2)
    p0, p1, p2, q0, q1, q2 = spin_of(x, sp.R, b0, b1, b2)
    out[OPENING] = a0 * b0 + a1 * b1 + a2 * b2
    out[RATE] = (r0 * b0 + r1 * b1 + r2 * b2) + (a0 * p0 + a1 * p1 + a2 * p2)
    twice = 2.0 * (r0 * p0 + r1 * p1 + r2 * p2)
    out[SECOND] = (s0 * b0 + s1 * b1 + s2 * b2) + twice + (a0 * q0 + a1 * q1 + a2 * q2)


@compiled_part
def answer(ints, charts, w, row, pull, z, change):
    """Unit response to one row: v' in ``change``, motion of all hinges in z; w holds what articulate left."""
    for i in range(z.shape[0]):
        for k in range(ANSWER):
            z[i, k] = 0.0
    for k in range(3):
        hinge = row[CHILD] if k == 0 else row[PARENT] if k == 1 else row[FRAME]
        for j in range(6):
            z[hinge, P + j] -= pull[6 * k + j]
    for i in range(ints.shape[0], 0, -1):
        take_back(ints[i - 1], charts, w[i], z[i], z[ints[i - 1, sp.PARENT]])
    for j in range(6):
        z[0, P + j] = 0.0
    for i in range(1, ints.shape[0] + 1):
        move_on(ints[i - 1], charts, w[i], z[ints[i - 1, sp.PARENT]], z[i], change)


@compiled_part
def take_back(row, charts, y, z, x):
    """The part of a load on a hinge that its freedoms do not take goes to its parent."""
    kind = row[sp.KIND]
    n0, n1, n2, f0, f1, f2 = z[P], z[P + 1], z[P + 2], z[P + 3], z[P + 4], z[P + 5]
    if kind == sp.CHART:
        free = row[sp.FREE]
        chart = charts[row[sp.AT_CHART] :]
        axes = sp.CHART_AXES + 6 * (free + row[sp.DRIVE])
        U = axes + 6 * (free + row[sp.DRIVE])
        L = U + 6 * free
        column = L + free * free + free  # scratch
        for k in range(free):
            s = axes + 6 * k
            along = chart[s] * n0 + chart[s + 1] * n1 + chart[s + 2] * n2
            chart[column + k] = -(along + chart[s + 3] * f0 + chart[s + 4] * f1 + chart[s + 5] * f2)
        sp.solve_factored(chart, L, free, column)
        for k in range(free):
            own, s = chart[column + k], U + 6 * k
            z[OWN + k] = own
            n0, n1, n2 = n0 + chart[s] * own, n1 + chart[s + 1] * own, n2 + chart[s + 2] * own
            f0, f1, f2 = f0 + chart[s + 3] * own, f1 + chart[s + 4] * own, f2 + chart[s + 5] * own
        z[PASSED], z[PASSED + 1], z[PASSED + 2] = n0, n1, n2
        z[PASSED + 3], z[PASSED + 4], z[PASSED + 5] = f0, f1, f2
    elif row[sp.DRIVE] >= 0:
        if row[sp.ABSOLUTE] == 1:
            n0 = n1 = n2 = 0.0
    elif kind == sp.BALL:
        z[OWN], z[OWN + 1], z[OWN + 2] = sp.symmetric(y, sp.A, -n0, -n1, -n2)
        f0, f1, f2 = (
            f0 - (y[sp.B] * n0 + y[sp.B + 3] * n1 + y[sp.B + 6] * n2),
            f1 - (y[sp.B + 1] * n0 + y[sp.B + 4] * n1 + y[sp.B + 7] * n2),
            f2 - (y[sp.B + 2] * n0 + y[sp.B + 5] * n1 + y[sp.B + 8] * n2),
        )
        n0 = n1 = n2 = 0.0
    else:
        along = y[2] * n0 + y[5] * n1 + y[8] * n2 if kind == sp.REVOLUTE else y[2] * f0 + y[5] * f1 + y[8] * f2
        z[OWN] = -(y[sp.INVERSE] * along)
        n0, n1, n2 = n0 - y[48] * along, n1 - y[49] * along, n2 - y[50] * along
        f0, f1, f2 = f0 - y[51] * along, f1 - y[52] * along, f2 - y[53] * along
    r0, r1, r2 = y[sp.ARM], y[sp.ARM + 1], y[sp.ARM + 2]
    x[P] += n0 + r1 * f2 - r2 * f1
    x[P + 1] += n1 + r2 * f0 - r0 * f2
    x[P + 2] += n2 + r0 * f1 - r1 * f0
    x[P + 3] += f0
    x[P + 4] += f1
    x[P + 5] += f2


@compiled_part
def move_on(row, charts, y, x, z, change):
    """Accelerations that a load on the tree causes in one hinge, from those of its parent."""
    kind, k = row[sp.KIND], row[sp.V]
    a0, a1, a2 = x[ALPHA], x[ALPHA + 1], x[ALPHA + 2]
    b0, b1, b2 = sp.cross(a0, a1, a2, y[sp.ARM], y[sp.ARM + 1], y[sp.ARM + 2])
    b0, b1, b2 = x[ACC] + b0, x[ACC + 1] + b1, x[ACC + 2] + b2
    if kind == sp.CHART:
        free = row[sp.FREE]
        chart = charts[row[sp.AT_CHART] :]
        axes = sp.CHART_AXES + 6 * (free + row[sp.DRIVE])
        share = axes + 6 * (free + row[sp.DRIVE]) + 6 * free + free * free + 2 * free
        for j in range(free):
            s = share + 6 * j
            own = z[OWN + j] - (chart[s] * a0 + chart[s + 1] * a1 + chart[s + 2] * a2)
            change[k + j] = own - (chart[s + 3] * b0 + chart[s + 4] * b1 + chart[s + 5] * b2)
        for j in range(free):
            s, d = axes + 6 * j, change[k + j]
            a0, a1, a2 = a0 + chart[s] * d, a1 + chart[s + 1] * d, a2 + chart[s + 2] * d
            b0, b1, b2 = b0 + chart[s + 3] * d, b1 + chart[s + 4] * d, b2 + chart[s + 5] * d
    elif row[sp.DRIVE] >= 0:
        if row[sp.ABSOLUTE] == 1:
            a0 = a1 = a2 = 0.0
    elif kind == sp.BALL:
        c0 = z[OWN] - (y[sp.B] * b0 + y[sp.B + 1] * b1 + y[sp.B + 2] * b2)
        c1 = z[OWN + 1] - (y[sp.B + 3] * b0 + y[sp.B + 4] * b1 + y[sp.B + 5] * b2)
        c2 = z[OWN + 2] - (y[sp.B + 6] * b0 + y[sp.B + 7] * b1 + y[sp.B + 8] * b2)
        d0, d1, d2 = c0 - a0, c1 - a1, c2 - a2
        change[k] = y[0] * d0 + y[3] * d1 + y[6] * d2
        change[k + 1] = y[1] * d0 + y[4] * d1 + y[7] * d2
        change[k + 2] = y[2] * d0 + y[5] * d1 + y[8] * d2
        a0, a1, a2 = c0, c1, c2
    else:
        d = z[OWN] - (y[48] * a0 + y[49] * a1 + y[50] * a2 + y[51] * b0 + y[52] * b1 + y[53] * b2)
        if kind == sp.REVOLUTE:
            a0, a1, a2 = a0 + y[2] * d, a1 + y[5] * d, a2 + y[8] * d
        else:
            b0, b1, b2 = b0 + y[2] * d, b1 + y[5] * d, b2 + y[8] * d
        change[k] = y[8] * a2 if row[sp.ABSOLUTE] == 1 else d
    z[ALPHA], z[ALPHA + 1], z[ALPHA + 2] = a0, a1, a2
    z[ACC], z[ACC + 1], z[ACC + 2] = b0, b1, b2


@compiled_part
def effort_change(ints, charts, w, z, efforts):
    """Change of the efforts of prescribed motions due to a response of the tree."""
    for i in range(1, ints.shape[0] + 1):
        row, y, x = ints[i - 1], w[i], z[i]
        drive = row[sp.DRIVE]
        if row[sp.KIND] == sp.CHART:
            if drive > 0:
                chart_effort_change(row, charts[row[sp.AT_CHART] :], y, z[row[sp.PARENT]], x, efforts)
            continue
        if drive < 0:
            continue
        a0, a1, a2, b0, b1, b2 = x[ALPHA], x[ALPHA + 1], x[ALPHA + 2], x[ACC], x[ACC + 1], x[ACC + 2]
        if row[sp.KIND] == sp.REVOLUTE:
            n0, n1, n2 = sp.symmetric(y, sp.A, a0, a1, a2)
            m0, m1, m2 = sp.turned(y, sp.B, b0, b1, b2)
            at = P
        else:
            n0, n1, n2 = sp.symmetric(y, sp.C, b0, b1, b2)
            m0 = y[sp.B] * a0 + y[sp.B + 3] * a1 + y[sp.B + 6] * a2
            m1 = y[sp.B + 1] * a0 + y[sp.B + 4] * a1 + y[sp.B + 7] * a2
            m2 = y[sp.B + 2] * a0 + y[sp.B + 5] * a1 + y[sp.B + 8] * a2
            at = P + 3
        efforts[drive] = y[2] * (n0 + m0 + x[at]) + y[5] * (n1 + m1 + x[at + 1]) + y[8] * (n2 + m2 + x[at + 2])


@compiled_part
def chart_effort_change(row, chart, y, x, z, efforts):
    """The same for the prescribed motions of a chart; x is the parent's row of answers, z its own."""
    free, driven = row[sp.FREE], row[sp.DRIVE]
    a0, a1, a2 = x[ALPHA], x[ALPHA + 1], x[ALPHA + 2]
    b0, b1, b2 = sp.cross(a0, a1, a2, y[sp.ARM], y[sp.ARM + 1], y[sp.ARM + 2])
    b0, b1, b2 = x[ACC] + b0, x[ACC + 1] + b1, x[ACC + 2] + b2
    n0, n1, n2 = sp.symmetric(y, sp.A, a0, a1, a2)
    m0, m1, m2 = sp.turned(y, sp.B, b0, b1, b2)
    f0, f1, f2 = sp.symmetric(y, sp.C, b0, b1, b2)
    f0 += y[sp.B] * a0 + y[sp.B + 3] * a1 + y[sp.B + 6] * a2 + z[PASSED + 3]
    f1 += y[sp.B + 1] * a0 + y[sp.B + 4] * a1 + y[sp.B + 7] * a2 + z[PASSED + 4]
    f2 += y[sp.B + 2] * a0 + y[sp.B + 5] * a1 + y[sp.B + 8] * a2 + z[PASSED + 5]
    n0, n1, n2 = n0 + m0 + z[PASSED], n1 + m1 + z[PASSED + 1], n2 + m2 + z[PASSED + 2]
    axes, numbers = sp.CHART_AXES + 6 * (free + driven), chart_size(free, driven) - driven
    for j in range(driven):
        s = axes + 6 * (free + j)
        total = chart[s] * n0 + chart[s + 1] * n1 + chart[s + 2] * n2
        efforts[int(chart[numbers + j])] = total + chart[s + 3] * f0 + chart[s + 4] * f1 + chart[s + 5] * f2


@compiled_part
def answers(ints, rows, charts, w, pulls, z, changes, efforts, matrix):
    """Answers of the tree to all rows, and the matrix G M^-1 G^T."""
    m = rows.shape[0]
    for r in range(m):
        answer(ints, charts, w, rows[r], pulls[r], z, changes[r])
        if efforts.shape[1] > 0:
            effort_change(ints, charts, w, z, efforts[r])
        for s in range(m):
            total = 0.0
            for k in range(3):
                hinge = rows[s, CHILD] if k == 0 else rows[s, PARENT] if k == 1 else rows[s, FRAME]
                for j in range(3):
                    total += pulls[s, 6 * k + j] * z[hinge, ALPHA + j] + pulls[s, 6 * k + 3 + j] * z[hinge, ACC + j]
            matrix[s, r] = total


@compiled_part
def solve_rows(matrix, right, rank, order, scale, lam):
    """matrix lam = right by Cholesky with the largest pivot first, as far as the rank goes; the rest of lam is zero.

    Rows are scaled to a unit diagonal first, so that units do not matter. ``order`` and ``scale`` are scratch for one
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
