"""Dynamics of trees in space by the articulated-body algorithm (Featherstone 2008, chapter 7), for any scalar type.

Everything is in world axes, at the origin of each hinge; gravity enters as an acceleration of ground. A hinge turns
about or slides along its own z axis (``tables`` sees to that), or is a ball, or a chart with its own axes. The
articulated inertia of a hinge, with all that hangs on it, and its bias force (n0, f0) are stored as

    [n]   [A   B] [alpha]   [n0]
    [f] = [B^T C] [  a  ] + [f0]      A and C symmetric

and the motion subspaces are eliminated one hinge after the other, from the tips to ground. A ball eliminates all of A
and B, which are then set to exactly zero: rounding left there would grow along chains.

``w`` is a table of scratch numbers with one row per hinge, row 0 being ground; the columns are named below.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.scalars.trig import reciprocal, sincos
from pendula.system.recursion.guard import guarded

REVOLUTE, PRISMATIC, BALL, CHART = range(4)
"""Kinds of hinges"""

# Columns of the table of whole numbers
PARENT, KIND, Q, V, DRIVE, ABSOLUTE, AT_CHART, FREE = range(8)
INTEGERS = 8
# Columns of the table of numbers
ROTATION, SHIFT, MASS, MOMENT, INERTIA, TURN, SENSE, NUMBERS = 0, 9, 12, 13, 16, 22, 23, 24
"""placement (9), shift (3), mass, mass times mass centre (3), inertia about the origin (xx xy xz yy yz zz), turn of the
placement about z, sign of the axis along z"""
# Columns of the scratch table
R, ARM, OMEGA, BIAS_N, BIAS_F, A, B, C, P = 0, 9, 12, 15, 18, 21, 27, 36, 42
SHARE, OWN, ALPHA, ACC, POSITION, VELOCITY, THETA, RATE, ZERO, INVERSE, WIDTH = (
    48,
    54,
    55,
    58,
    61,
    64,
    67,
    68,
    69,
    70,
    72,
)
# What a chart's program writes: rotation, shift, spin, slide, biases, turn about z, then its axes (spin and slide of
# each freedom)
CHART_R, CHART_ARM, CHART_SPIN, CHART_SLIDE, CHART_BIAS_N, CHART_BIAS_F, CHART_TURN, CHART_AXES = (
    0,
    9,
    12,
    15,
    18,
    21,
    24,
    25,
)

FUSED = {"contract"}


@compiled_part(fastmath=FUSED)
def cross(a0, a1, a2, b0, b1, b2):
    """a x b."""
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@compiled_part(fastmath=FUSED)
def turned(y, at, x0, x1, x2):
    """The 3 x 3 matrix at a column of a row times a vector."""
    return (
        y[at] * x0 + y[at + 1] * x1 + y[at + 2] * x2,
        y[at + 3] * x0 + y[at + 4] * x1 + y[at + 5] * x2,
        y[at + 6] * x0 + y[at + 7] * x1 + y[at + 8] * x2,
    )


@compiled_part(fastmath=FUSED)
def symmetric(y, at, x0, x1, x2):
    """The symmetric matrix (xx xy xz yy yz zz) at a column of a row times a vector."""
    return (
        y[at] * x0 + y[at + 1] * x1 + y[at + 2] * x2,
        y[at + 1] * x0 + y[at + 3] * x1 + y[at + 4] * x2,
        y[at + 2] * x0 + y[at + 4] * x1 + y[at + 5] * x2,
    )


@compiled_part(fastmath=FUSED)
def clear_ground(w, gx, gy, gz):
    """Row 0: ground, which gravity makes accelerate upwards."""
    o = w[0]
    for k in range(WIDTH):
        o[k] = 0.0
    o[R], o[R + 4], o[R + 8] = 1.0, 1.0, 1.0
    o[ACC], o[ACC + 1], o[ACC + 2] = -gx, -gy, -gz


@compiled_part(fastmath=FUSED)
def place(ints, real, q, v, drives, charts, w, first=1):
    """Where every hinge is and how it moves, and what its acceleration has apart from that of its freedoms.

    Hinges before the ``first`` are left as they stand, here and in what follows.
    """
    for i in range(first, ints.shape[0] + 1):
        row, T = ints[i - 1], real[i - 1]
        x, y = w[row[PARENT]], w[i]
        x0, x1, x2, x3, x4, x5, x6, x7, x8 = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]
        zero = w[0, ZERO]
        if row[ABSOLUTE] == 1:
            e0, e1, e2, e3, e4 = zero + T[0], zero + T[1], zero + T[2], zero + T[3], zero + T[4]
            e5, e6, e7, e8 = zero + T[5], zero + T[6], zero + T[7], zero + T[8]
        else:
            e0 = x0 * T[0] + x1 * T[3] + x2 * T[6]
            e1 = x0 * T[1] + x1 * T[4] + x2 * T[7]
            e2 = x0 * T[2] + x1 * T[5] + x2 * T[8]
            e3 = x3 * T[0] + x4 * T[3] + x5 * T[6]
            e4 = x3 * T[1] + x4 * T[4] + x5 * T[7]
            e5 = x3 * T[2] + x4 * T[5] + x5 * T[8]
            e6 = x6 * T[0] + x7 * T[3] + x8 * T[6]
            e7 = x6 * T[1] + x7 * T[4] + x8 * T[7]
            e8 = x6 * T[2] + x7 * T[5] + x8 * T[8]
        r0 = x0 * T[9] + x1 * T[10] + x2 * T[11]
        r1 = x3 * T[9] + x4 * T[10] + x5 * T[11]
        r2 = x6 * T[9] + x7 * T[10] + x8 * T[11]
        w0, w1, w2 = x[OMEGA], x[OMEGA + 1], x[OMEGA + 2]
        s0, s1, s2 = zero, zero, zero  # own sliding
        kind, drive = row[KIND], row[DRIVE]
        if kind <= PRISMATIC:
            if drive >= 0:
                at, rate, more = zero + drives[3 * drive], zero + drives[3 * drive + 1], zero + drives[3 * drive + 2]
            else:
                at, rate, more = q[row[Q]] + 0.0, v[row[V]] + 0.0, zero
            if kind == REVOLUTE:
                s, c = sincos(at)
                if row[ABSOLUTE] == 1:
                    y[THETA] = T[SENSE] * at
                    rate -= T[SENSE] * w2
                    more = zero
                else:
                    y[THETA] = x[THETA] + (T[TURN] + T[SENSE] * at)
                y[0], y[3], y[6] = c * e0 + s * e1, c * e3 + s * e4, c * e6 + s * e7
                y[1], y[4], y[7] = c * e1 - s * e0, c * e4 - s * e3, c * e7 - s * e6
                y[2], y[5], y[8] = e2, e5, e8
                y[OMEGA], y[OMEGA + 1], y[OMEGA + 2] = w0 + e2 * rate, w1 + e5 * rate, w2 + e8 * rate
                c0, c1, c2 = cross(w0, w1, w2, e2, e5, e8)
                y[BIAS_N] = rate * c0 + more * e2
                y[BIAS_N + 1] = rate * c1 + more * e5
                y[BIAS_N + 2] = rate * c2 + more * e8
                h0, h1, h2 = cross(w0, w1, w2, r0, r1, r2)
                b0, b1, b2 = cross(w0, w1, w2, h0, h1, h2)
            else:
                r0, r1, r2 = r0 + e2 * at, r1 + e5 * at, r2 + e8 * at
                y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8] = e0, e1, e2, e3, e4, e5, e6, e7, e8
                y[OMEGA], y[OMEGA + 1], y[OMEGA + 2] = w0, w1, w2
                y[BIAS_N], y[BIAS_N + 1], y[BIAS_N + 2] = zero, zero, zero
                y[THETA] = x[THETA] + T[TURN]
                s0, s1, s2 = e2 * rate, e5 * rate, e8 * rate
                h0, h1, h2 = cross(w0, w1, w2, r0, r1, r2)
                b0, b1, b2 = cross(w0, w1, w2, h0 + 2.0 * s0, h1 + 2.0 * s1, h2 + 2.0 * s2)
                b0, b1, b2 = b0 + more * e2, b1 + more * e5, b2 + more * e8
            y[RATE] = rate
        elif kind == BALL:
            j, k = row[Q], row[V]
            a, b, c, d = q[j], q[j + 1], q[j + 2], q[j + 3]
            aa, bb, cc, dd = a * a, b * b, c * c, d * d
            t0, t4, t8 = aa + bb - cc - dd, aa - bb + cc - dd, aa - bb - cc + dd
            t1, t3 = 2.0 * (b * c - a * d), 2.0 * (b * c + a * d)
            t2, t6 = 2.0 * (b * d + a * c), 2.0 * (b * d - a * c)
            t5, t7 = 2.0 * (c * d - a * b), 2.0 * (c * d + a * b)
            y[0], y[1], y[2] = e0 * t0 + e1 * t3 + e2 * t6, e0 * t1 + e1 * t4 + e2 * t7, e0 * t2 + e1 * t5 + e2 * t8
            y[3], y[4], y[5] = e3 * t0 + e4 * t3 + e5 * t6, e3 * t1 + e4 * t4 + e5 * t7, e3 * t2 + e4 * t5 + e5 * t8
            y[6], y[7], y[8] = e6 * t0 + e7 * t3 + e8 * t6, e6 * t1 + e7 * t4 + e8 * t7, e6 * t2 + e7 * t5 + e8 * t8
            o0, o1, o2 = turned(y, R, v[k], v[k + 1], v[k + 2])
            y[OMEGA], y[OMEGA + 1], y[OMEGA + 2] = w0 + o0, w1 + o1, w2 + o2
            y[BIAS_N], y[BIAS_N + 1], y[BIAS_N + 2] = cross(w0, w1, w2, o0, o1, o2)
            y[THETA], y[RATE] = zero, zero
            h0, h1, h2 = cross(w0, w1, w2, r0, r1, r2)
            b0, b1, b2 = cross(w0, w1, w2, h0, h1, h2)
        else:
            y[R], y[R + 1], y[R + 2], y[R + 3], y[R + 4] = e0, e1, e2, e3, e4
            y[R + 5], y[R + 6], y[R + 7], y[R + 8] = e5, e6, e7, e8
            y[ARM], y[ARM + 1], y[ARM + 2] = r0, r1, r2
            place_chart(row, T[TURN], charts[row[AT_CHART] :], x, y)
            r0, r1, r2 = y[ARM], y[ARM + 1], y[ARM + 2]
            b0, b1, b2 = y[BIAS_F], y[BIAS_F + 1], y[BIAS_F + 2]
            s0, s1, s2 = y[VELOCITY], y[VELOCITY + 1], y[VELOCITY + 2]
            h0, h1, h2 = cross(w0, w1, w2, r0, r1, r2)
        y[ARM], y[ARM + 1], y[ARM + 2] = r0, r1, r2
        y[BIAS_F], y[BIAS_F + 1], y[BIAS_F + 2] = b0, b1, b2
        y[POSITION], y[POSITION + 1] = x[POSITION] + r0, x[POSITION + 1] + r1
        y[POSITION + 2] = x[POSITION + 2] + r2
        y[VELOCITY], y[VELOCITY + 1] = x[VELOCITY] + (h0 + s0), x[VELOCITY + 1] + (h1 + s1)
        y[VELOCITY + 2] = x[VELOCITY + 2] + (h2 + s2)


@compiled_part
def place_chart(row, turn, chart, x, y):
    """Like :func:`place`, for a joint that has expressions of its own; y holds the parent side, and then the child.

    The chart's axes, in world axes, are written after those in its own.
    """
    e = (y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8])
    w0, w1, w2 = x[OMEGA], x[OMEGA + 1], x[OMEGA + 2]
    count = row[FREE] + row[DRIVE]  # of a chart this is the number of its prescribed motions
    world = CHART_AXES + 6 * count
    for k in range(2 * count):
        a, b, c = chart[CHART_AXES + 3 * k], chart[CHART_AXES + 3 * k + 1], chart[CHART_AXES + 3 * k + 2]
        for l in range(3):
            chart[world + 3 * k + l] = y[3 * l] * a + y[3 * l + 1] * b + y[3 * l + 2] * c
    r0, r1, r2 = turned(y, R, chart[CHART_ARM], chart[CHART_ARM + 1], chart[CHART_ARM + 2])
    r0, r1, r2 = y[ARM] + r0, y[ARM + 1] + r1, y[ARM + 2] + r2
    o0, o1, o2 = turned(y, R, chart[CHART_SPIN], chart[CHART_SPIN + 1], chart[CHART_SPIN + 2])
    s0, s1, s2 = turned(y, R, chart[CHART_SLIDE], chart[CHART_SLIDE + 1], chart[CHART_SLIDE + 2])
    n0, n1, n2 = turned(y, R, chart[CHART_BIAS_N], chart[CHART_BIAS_N + 1], chart[CHART_BIAS_N + 2])
    f0, f1, f2 = turned(y, R, chart[CHART_BIAS_F], chart[CHART_BIAS_F + 1], chart[CHART_BIAS_F + 2])
    c0, c1, c2 = cross(w0, w1, w2, o0, o1, o2)
    h0, h1, h2 = cross(w0, w1, w2, r0, r1, r2)
    b0, b1, b2 = cross(w0, w1, w2, h0 + 2.0 * s0, h1 + 2.0 * s1, h2 + 2.0 * s2)
    for k in range(3):
        for l in range(3):
            y[3 * k + l] = e[3 * k] * chart[l] + e[3 * k + 1] * chart[3 + l] + e[3 * k + 2] * chart[6 + l]
    y[ARM], y[ARM + 1], y[ARM + 2] = r0, r1, r2
    y[OMEGA], y[OMEGA + 1], y[OMEGA + 2] = w0 + o0, w1 + o1, w2 + o2
    y[BIAS_N], y[BIAS_N + 1], y[BIAS_N + 2] = c0 + n0, c1 + n1, c2 + n2
    y[BIAS_F], y[BIAS_F + 1], y[BIAS_F + 2] = b0 + f0, b1 + f1, b2 + f2
    y[VELOCITY], y[VELOCITY + 1], y[VELOCITY + 2] = s0, s1, s2
    y[THETA], y[RATE] = x[THETA] + turn + chart[CHART_TURN], 0.0


@compiled_part(fastmath=FUSED)
def start_inertia(real, w, first=1):
    """Every hinge's own inertia, and the forces that its motion needs by itself, without its acceleration."""
    for i in range(first, real.shape[0] + 1):
        y, T = w[i], real[i - 1]
        x0, x1, x2, x3, x4, x5, x6, x7, x8 = y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8]
        m = T[MASS]
        g0, g1, g2 = turned(y, R, T[MOMENT], T[MOMENT + 1], T[MOMENT + 2])
        j0, j1, j2, j3, j4, j5 = T[16], T[17], T[18], T[19], T[20], T[21]
        t0, t1, t2 = x0 * j0 + x1 * j1 + x2 * j2, x0 * j1 + x1 * j3 + x2 * j4, x0 * j2 + x1 * j4 + x2 * j5
        t3, t4, t5 = x3 * j0 + x4 * j1 + x5 * j2, x3 * j1 + x4 * j3 + x5 * j4, x3 * j2 + x4 * j4 + x5 * j5
        t6, t7, t8 = x6 * j0 + x7 * j1 + x8 * j2, x6 * j1 + x7 * j3 + x8 * j4, x6 * j2 + x7 * j4 + x8 * j5
        i0, i1, i2 = t0 * x0 + t1 * x1 + t2 * x2, t0 * x3 + t1 * x4 + t2 * x5, t0 * x6 + t1 * x7 + t2 * x8
        i3, i4, i5 = t3 * x3 + t4 * x4 + t5 * x5, t3 * x6 + t4 * x7 + t5 * x8, t6 * x6 + t7 * x7 + t8 * x8
        w0, w1, w2 = y[OMEGA], y[OMEGA + 1], y[OMEGA + 2]
        zero = w[0, ZERO]
        y[A], y[A + 1], y[A + 2], y[A + 3], y[A + 4], y[A + 5] = i0, i1, i2, i3, i4, i5
        y[B], y[B + 1], y[B + 2] = zero, -g2, g1
        y[B + 3], y[B + 4], y[B + 5] = g2, zero, -g0
        y[B + 6], y[B + 7], y[B + 8] = -g1, g0, zero
        y[C], y[C + 1], y[C + 2], y[C + 3], y[C + 4], y[C + 5] = zero + m, zero, zero, zero + m, zero, zero + m
        h0, h1, h2 = symmetric(y, A, w0, w1, w2)
        y[P], y[P + 1], y[P + 2] = cross(w0, w1, w2, h0, h1, h2)
        f0, f1, f2 = cross(w0, w1, w2, g0, g1, g2)
        y[P + 3], y[P + 4], y[P + 5] = cross(w0, w1, w2, f0, f1, f2)


@compiled_part(fastmath=FUSED)
def need_forces(real, w, first=1):
    """The forces that every hinge's own mass needs for its motion, its acceleration included (Newton and Euler)."""
    for i in range(first, real.shape[0] + 1):
        y, T = w[i], real[i - 1]
        x0, x1, x2, x3, x4, x5, x6, x7, x8 = y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8]
        w0, w1, w2 = y[OMEGA], y[OMEGA + 1], y[OMEGA + 2]
        a0, a1, a2 = y[ALPHA], y[ALPHA + 1], y[ALPHA + 2]
        b0, b1, b2 = y[ACC], y[ACC + 1], y[ACC + 2]
        # about the origin, in the axes of the hinge
        u0, u1, u2 = x0 * w0 + x3 * w1 + x6 * w2, x1 * w0 + x4 * w1 + x7 * w2, x2 * w0 + x5 * w1 + x8 * w2
        t0, t1, t2 = x0 * a0 + x3 * a1 + x6 * a2, x1 * a0 + x4 * a1 + x7 * a2, x2 * a0 + x5 * a1 + x8 * a2
        h0, h1, h2 = symmetric(T, INERTIA, u0, u1, u2)
        n0, n1, n2 = cross(u0, u1, u2, h0, h1, h2)
        t0, t1, t2 = symmetric(T, INERTIA, t0, t1, t2)
        n0, n1, n2 = turned(y, R, n0 + t0, n1 + t1, n2 + t2)
        # in world axes
        g0, g1, g2 = turned(y, R, T[MOMENT], T[MOMENT + 1], T[MOMENT + 2])
        m0, m1, m2 = cross(g0, g1, g2, b0, b1, b2)
        y[P], y[P + 1], y[P + 2] = n0 + m0, n1 + m1, n2 + m2
        h0, h1, h2 = cross(w0, w1, w2, g0, g1, g2)
        c0, c1, c2 = cross(w0, w1, w2, h0, h1, h2)
        d0, d1, d2 = cross(a0, a1, a2, g0, g1, g2)
        m = T[MASS]
        y[P + 3], y[P + 4], y[P + 5] = m * b0 + (c0 + d0), m * b1 + (c1 + d1), m * b2 + (c2 + d2)


@compiled_part(fastmath=FUSED)
def inverse(a, b, c, d, e, f):
    """Inverse of the symmetric matrix [[a b c], [b d e], [c e f]], in the same order; NaN where it has none."""
    p, q, r = d * f - e * e, c * e - b * f, b * e - c * d
    whole = guarded(a * p + b * q + c * r, (a + d + f) * (p + (a * f - c * c) + (a * d - b * b)))
    k = reciprocal(whole)
    return p * k, q * k, r * k, (a * f - c * c) * k, (b * c - a * e) * k, (a * d - b * b) * k


@compiled_part(fastmath=FUSED)
def articulate(ints, tau, nv, drives, charts, w):
    """Takes the freedoms out, from the tips to ground; what is needed to find them again stays in w.

    ``tau`` are the efforts in the hinges: of the nv freedoms, then of the prescribed motions.
    """
    for i in range(ints.shape[0], 0, -1):
        row = ints[i - 1]
        up = row[PARENT]
        y, x = w[i], w[up]
        kind, k, driven = row[KIND], row[V], row[DRIVE] >= 0 and row[KIND] != CHART
        A0, A1, A2, A3, A4, A5 = y[A], y[A + 1], y[A + 2], y[A + 3], y[A + 4], y[A + 5]
        B0, B1, B2, B3, B4, B5 = y[B], y[B + 1], y[B + 2], y[B + 3], y[B + 4], y[B + 5]
        B6, B7, B8 = y[B + 6], y[B + 7], y[B + 8]
        C0, C1, C2, C3, C4, C5 = y[C], y[C + 1], y[C + 2], y[C + 3], y[C + 4], y[C + 5]
        a, b, c, d, e, f = y[15], y[16], y[17], y[18], y[19], y[20]
        n0 = y[P] + (A0 * a + A1 * b + A2 * c + B0 * d + B1 * e + B2 * f)
        n1 = y[P + 1] + (A1 * a + A3 * b + A4 * c + B3 * d + B4 * e + B5 * f)
        n2 = y[P + 2] + (A2 * a + A4 * b + A5 * c + B6 * d + B7 * e + B8 * f)
        f0 = y[P + 3] + (B0 * a + B3 * b + B6 * c + C0 * d + C1 * e + C2 * f)
        f1 = y[P + 4] + (B1 * a + B4 * b + B7 * c + C1 * d + C3 * e + C4 * f)
        f2 = y[P + 5] + (B2 * a + B5 * b + B8 * c + C2 * d + C4 * e + C5 * f)
        zero = w[0, ZERO]
        if driven:
            if row[ABSOLUTE] == 1:  # its motor holds it from ground: only forces go through
                more = drives[3 * row[DRIVE] + 2]
                s0, s1, s2 = y[2] * more, y[5] * more, y[8] * more
                f0 += B0 * s0 + B3 * s1 + B6 * s2
                f1 += B1 * s0 + B4 * s1 + B7 * s2
                f2 += B2 * s0 + B5 * s1 + B8 * s2
                A0, A1, A2, A3, A4, A5 = zero, zero, zero, zero, zero, zero
                held = tau[nv + row[DRIVE]]  # by a spring between the two sides
                n0, n1, n2 = y[2] * held, y[5] * held, y[8] * held
                B0, B1, B2, B3, B4, B5, B6, B7, B8 = zero, zero, zero, zero, zero, zero, zero, zero, zero
        elif kind <= PRISMATIC:
            a0, a1, a2 = y[2], y[5], y[8]
            if kind == REVOLUTE:
                U0, U1, U2 = A0 * a0 + A1 * a1 + A2 * a2, A1 * a0 + A3 * a1 + A4 * a2, A2 * a0 + A4 * a1 + A5 * a2
                U3, U4, U5 = B0 * a0 + B3 * a1 + B6 * a2, B1 * a0 + B4 * a1 + B7 * a2, B2 * a0 + B5 * a1 + B8 * a2
                D = guarded(U0 * a0 + U1 * a1 + U2 * a2, A0 + A3 + A5)
                u = tau[k] - (a0 * n0 + a1 * n1 + a2 * n2)
            else:
                U0, U1, U2 = B0 * a0 + B1 * a1 + B2 * a2, B3 * a0 + B4 * a1 + B5 * a2, B6 * a0 + B7 * a1 + B8 * a2
                U3, U4, U5 = C0 * a0 + C1 * a1 + C2 * a2, C1 * a0 + C3 * a1 + C4 * a2, C2 * a0 + C4 * a1 + C5 * a2
                D = guarded(U3 * a0 + U4 * a1 + U5 * a2, C0 + C3 + C5)
                u = tau[k] - (a0 * f0 + a1 * f1 + a2 * f2)
            D = reciprocal(D)
            u = u * D
            V0, V1, V2, V3, V4, V5 = U0 * D, U1 * D, U2 * D, U3 * D, U4 * D, U5 * D
            y[48], y[49], y[50], y[51], y[52], y[53], y[OWN], y[INVERSE] = V0, V1, V2, V3, V4, V5, u, D
            if up == 0:
                continue
            n0, n1, n2, f0, f1, f2 = n0 + U0 * u, n1 + U1 * u, n2 + U2 * u, f0 + U3 * u, f1 + U4 * u, f2 + U5 * u
            A0, A1, A2 = A0 - U0 * V0, A1 - U0 * V1, A2 - U0 * V2
            A3, A4, A5 = A3 - U1 * V1, A4 - U1 * V2, A5 - U2 * V2
            B0, B1, B2 = B0 - U0 * V3, B1 - U0 * V4, B2 - U0 * V5
            B3, B4, B5 = B3 - U1 * V3, B4 - U1 * V4, B5 - U1 * V5
            B6, B7, B8 = B6 - U2 * V3, B7 - U2 * V4, B8 - U2 * V5
            C0, C1, C2 = C0 - U3 * V3, C1 - U3 * V4, C2 - U3 * V5
            C3, C4, C5 = C3 - U4 * V4, C4 - U4 * V5, C5 - U5 * V5
        elif kind == BALL:
            k0, k1, k2, k3, k4, k5 = inverse(A0, A1, A2, A3, A4, A5)
            s0, s1, s2 = turned(y, R, tau[k], tau[k + 1], tau[k + 2])
            a, b, c = s0 - n0, s1 - n1, s2 - n2
            u0, u1, u2 = k0 * a + k1 * b + k2 * c, k1 * a + k3 * b + k4 * c, k2 * a + k4 * b + k5 * c
            V0, V1, V2 = k0 * B0 + k1 * B3 + k2 * B6, k0 * B1 + k1 * B4 + k2 * B7, k0 * B2 + k1 * B5 + k2 * B8
            V3, V4, V5 = k1 * B0 + k3 * B3 + k4 * B6, k1 * B1 + k3 * B4 + k4 * B7, k1 * B2 + k3 * B5 + k4 * B8
            V6, V7, V8 = k2 * B0 + k4 * B3 + k5 * B6, k2 * B1 + k4 * B4 + k5 * B7, k2 * B2 + k4 * B5 + k5 * B8
            y[B], y[B + 1], y[B + 2], y[B + 3], y[B + 4], y[B + 5] = V0, V1, V2, V3, V4, V5
            y[B + 6], y[B + 7], y[B + 8] = V6, V7, V8
            y[48], y[49], y[50] = u0, u1, u2
            y[A], y[A + 1], y[A + 2], y[A + 3], y[A + 4], y[A + 5] = k0, k1, k2, k3, k4, k5
            if up == 0:
                continue
            n0, n1, n2 = s0, s1, s2
            f0, f1 = f0 + (B0 * u0 + B3 * u1 + B6 * u2), f1 + (B1 * u0 + B4 * u1 + B7 * u2)
            f2 = f2 + (B2 * u0 + B5 * u1 + B8 * u2)
            C0, C1 = C0 - (B0 * V0 + B3 * V3 + B6 * V6), C1 - (B0 * V1 + B3 * V4 + B6 * V7)
            C2, C3 = C2 - (B0 * V2 + B3 * V5 + B6 * V8), C3 - (B1 * V1 + B4 * V4 + B7 * V7)
            C4, C5 = C4 - (B1 * V2 + B4 * V5 + B7 * V8), C5 - (B2 * V2 + B5 * V5 + B8 * V8)
            A0, A1, A2, A3, A4, A5 = zero, zero, zero, zero, zero, zero
            B0, B1, B2, B3, B4, B5, B6, B7, B8 = zero, zero, zero, zero, zero, zero, zero, zero, zero
        else:
            # the chart writes what it leaves back into y, for there are too many freedoms to keep by name
            articulate_chart(row, tau, charts[row[AT_CHART] :], y, (n0, n1, n2, f0, f1, f2))
            A0, A1, A2, A3, A4, A5 = y[A], y[A + 1], y[A + 2], y[A + 3], y[A + 4], y[A + 5]
            B0, B1, B2, B3, B4, B5 = y[B], y[B + 1], y[B + 2], y[B + 3], y[B + 4], y[B + 5]
            B6, B7, B8 = y[B + 6], y[B + 7], y[B + 8]
            C0, C1, C2, C3, C4, C5 = y[C], y[C + 1], y[C + 2], y[C + 3], y[C + 4], y[C + 5]
            n0, n1, n2, f0, f1, f2 = y[48], y[49], y[50], y[51], y[52], y[53]
        if up == 0:
            continue
        # to the origin of the parent: B' = B + r^ C, A' = A - B r^ + r^ B'^T
        r0, r1, r2 = y[ARM], y[ARM + 1], y[ARM + 2]
        E0, E1, E2 = B0 + r1 * C2 - r2 * C1, B1 + r1 * C4 - r2 * C3, B2 + r1 * C5 - r2 * C4
        E3, E4, E5 = B3 + r2 * C0 - r0 * C2, B4 + r2 * C1 - r0 * C4, B5 + r2 * C2 - r0 * C5
        E6, E7, E8 = B6 + r0 * C1 - r1 * C0, B7 + r0 * C3 - r1 * C1, B8 + r0 * C4 - r1 * C2
        x[A] += A0 + (B2 * r1 - B1 * r2) + (r1 * E2 - r2 * E1)
        x[A + 1] += A1 + (B0 * r2 - B2 * r0) + (r1 * E5 - r2 * E4)
        x[A + 2] += A2 + (B1 * r0 - B0 * r1) + (r1 * E8 - r2 * E7)
        x[A + 3] += A3 + (B3 * r2 - B5 * r0) + (r2 * E3 - r0 * E5)
        x[A + 4] += A4 + (B4 * r0 - B3 * r1) + (r2 * E6 - r0 * E8)
        x[A + 5] += A5 + (B7 * r0 - B6 * r1) + (r0 * E7 - r1 * E6)
        x[B] += E0
        x[B + 1] += E1
        x[B + 2] += E2
        x[B + 3] += E3
        x[B + 4] += E4
        x[B + 5] += E5
        x[B + 6] += E6
        x[B + 7] += E7
        x[B + 8] += E8
        x[C] += C0
        x[C + 1] += C1
        x[C + 2] += C2
        x[C + 3] += C3
        x[C + 4] += C4
        x[C + 5] += C5
        x[P] += n0 + r1 * f2 - r2 * f1
        x[P + 1] += n1 + r2 * f0 - r0 * f2
        x[P + 2] += n2 + r0 * f1 - r1 * f0
        x[P + 3] += f0
        x[P + 4] += f1
        x[P + 5] += f2


@compiled_part
def inertia_entry(y, i, j):
    """Entry of the 6 x 6 matrix [[A, B], [B^T, C]]."""
    if i < 3 and j < 3:
        low, high = min(i, j), max(i, j)
        return y[A + (high if low == 0 else 2 + high if low == 1 else 5)]
    if i >= 3 and j >= 3:
        low, high = min(i, j) - 3, max(i, j) - 3
        return y[C + (high if low == 0 else 2 + high if low == 1 else 5)]
    return y[B + 3 * i + (j - 3)] if i < 3 else y[B + 3 * j + (i - 3)]


@compiled_part
def articulate_chart(row, tau, chart, y, force):
    """Takes the freedoms of a chart out of the inertia in y; what is left for the parent stands in A, B, C and SHARE.

    Kept for :func:`accelerate` behind the chart's axes: U = I S (6 each), the factor L of D = S^T U, and D^-1 u.
    """
    free = row[FREE]
    axes = CHART_AXES + 6 * (free + row[DRIVE])
    U, L = axes + 6 * (free + row[DRIVE]), axes + 6 * (free + row[DRIVE]) + 6 * free
    u = L + free * free
    for i in range(6):
        y[48 + i] = force[i]
    for k in range(free):
        for i in range(6):
            total = 0.0
            for j in range(6):
                total += inertia_entry(y, i, j) * chart[axes + 6 * k + j]
            chart[U + 6 * k + i] = total
    for k in range(free):
        total = tau[row[V] + k]
        for i in range(6):
            total -= chart[axes + 6 * k + i] * force[i]
        chart[u + k] = total
        for l in range(k + 1):  # D = L L^T, row by row
            entry = 0.0
            for i in range(6):
                entry += chart[axes + 6 * k + i] * chart[U + 6 * l + i]
            size = entry
            for j in range(l):
                entry -= chart[L + free * k + j] * chart[L + free * l + j]
            if l < k:
                chart[L + free * k + l] = entry / chart[L + free * l + l]
            else:
                chart[L + free * k + k] = np.sqrt(guarded(entry, size))
    solve_factored(chart, L, free, u)
    for k in range(free):
        for i in range(6):
            y[48 + i] += chart[U + 6 * k + i] * chart[u + k]
    column = u + free  # scratch for D^-1 U^T e_j
    for j in range(6):
        for k in range(free):
            chart[column + k] = chart[U + 6 * k + j]
        solve_factored(chart, L, free, column)
        for k in range(free):
            chart[column + free + 6 * k + j] = chart[column + k]
    for k in range(free):
        for j in range(6):
            share = chart[column + free + 6 * k + j]
            for i in range(j + 1):
                spent = chart[U + 6 * k + i] * share
                if j < 3:
                    y[A + (j if i == 0 else 2 + j if i == 1 else 5)] -= spent
                elif i >= 3:
                    y[C + (j - 3 if i == 3 else j - 1 if i == 4 else 5)] -= spent
                else:
                    y[B + 3 * i + (j - 3)] -= spent


@compiled_part
def solve_factored(chart, L, n, at):
    """Solves L L^T x = b in place."""
    for k in range(n):
        total = chart[at + k]
        for j in range(k):
            total -= chart[L + n * k + j] * chart[at + j]
        chart[at + k] = total / chart[L + n * k + k]
    for k in range(n - 1, -1, -1):
        total = chart[at + k]
        for j in range(k + 1, n):
            total -= chart[L + n * j + k] * chart[at + j]
        chart[at + k] = total / chart[L + n * k + k]


@compiled_part(fastmath=FUSED)
def accelerate(ints, drives, charts, w, out):
    """The freedoms' accelerations, from ground to the tips."""
    for i in range(1, ints.shape[0] + 1):
        row = ints[i - 1]
        x, y = w[row[PARENT]], w[i]
        kind, k = row[KIND], row[V]
        a0, a1, a2 = x[ALPHA], x[ALPHA + 1], x[ALPHA + 2]
        r0, r1, r2 = y[ARM], y[ARM + 1], y[ARM + 2]
        b0, b1, b2 = cross(a0, a1, a2, r0, r1, r2)
        b0, b1, b2 = x[ACC] + b0, x[ACC + 1] + b1, x[ACC + 2] + b2
        if kind == CHART:
            free = row[FREE]
            axes = CHART_AXES + 6 * (free + row[DRIVE])
            chart = charts[row[AT_CHART] :]
            u = axes + 6 * (free + row[DRIVE]) + 6 * free + free * free
            share = u + 2 * free
            for j in range(free):
                s = share + 6 * j
                own = chart[u + j] - (chart[s] * a0 + chart[s + 1] * a1 + chart[s + 2] * a2)
                out[k + j] = own - (chart[s + 3] * b0 + chart[s + 4] * b1 + chart[s + 5] * b2)
            for j in range(free):
                s, d = axes + 6 * j, out[k + j]
                a0, a1, a2 = a0 + chart[s] * d, a1 + chart[s + 1] * d, a2 + chart[s + 2] * d
                b0, b1, b2 = b0 + chart[s + 3] * d, b1 + chart[s + 4] * d, b2 + chart[s + 5] * d
        elif row[DRIVE] >= 0:
            if row[ABSOLUTE] == 1:
                more = drives[3 * row[DRIVE] + 2]
                a0, a1, a2 = y[2] * more, y[5] * more, y[8] * more
        elif kind == BALL:
            c0 = y[48] - (y[B] * b0 + y[B + 1] * b1 + y[B + 2] * b2)  # alpha minus its bias
            c1 = y[49] - (y[B + 3] * b0 + y[B + 4] * b1 + y[B + 5] * b2)
            c2 = y[50] - (y[B + 6] * b0 + y[B + 7] * b1 + y[B + 8] * b2)
            d0, d1, d2 = c0 - a0, c1 - a1, c2 - a2
            out[k] = y[0] * d0 + y[3] * d1 + y[6] * d2
            out[k + 1] = y[1] * d0 + y[4] * d1 + y[7] * d2
            out[k + 2] = y[2] * d0 + y[5] * d1 + y[8] * d2
            a0, a1, a2 = c0, c1, c2
        else:
            d = y[OWN] - (y[48] * a0 + y[49] * a1 + y[50] * a2 + y[51] * b0 + y[52] * b1 + y[53] * b2)
            if kind == REVOLUTE:
                a0, a1, a2 = a0 + y[2] * d, a1 + y[5] * d, a2 + y[8] * d
            else:
                b0, b1, b2 = b0 + y[2] * d, b1 + y[5] * d, b2 + y[8] * d
            out[k] = y[8] * a2 if row[ABSOLUTE] == 1 else d
        y[ALPHA], y[ALPHA + 1], y[ALPHA + 2] = a0 + y[BIAS_N], a1 + y[BIAS_N + 1], a2 + y[BIAS_N + 2]
        y[ACC], y[ACC + 1], y[ACC + 2] = b0 + y[BIAS_F], b1 + y[BIAS_F + 1], b2 + y[BIAS_F + 2]


@compiled_part
def coordinate_rates(ints, q, v, out):
    """q' from the speeds."""
    for i in range(ints.shape[0]):
        row = ints[i]
        kind, j, k = row[KIND], row[Q], row[V]
        if kind == BALL:
            a, b, c = 0.5 * v[k], 0.5 * v[k + 1], 0.5 * v[k + 2]
            s, x, y, z = q[j], q[j + 1], q[j + 2], q[j + 3]
            out[j] = -(x * a) - y * b - z * c
            out[j + 1] = s * a + y * c - z * b
            out[j + 2] = s * b + z * a - x * c
            out[j + 3] = s * c + x * b - y * a
        elif kind == CHART:
            for l in range(row[FREE]):
                out[j + l] = v[k + l]
        elif k >= 0:
            out[j] = v[k]
