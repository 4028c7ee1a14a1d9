"""Loads in a recursion: springs, dampers, friction and forces given by expressions.

A load between the two sides of a hinge adds to its effort (the generalized force of the joint); every other load is a
wrench, a force and a moment on the frame of a hinge. The power of all loads except springs is summed along the way.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.system.recursion import spatial as sp
from pendula.system.recursion.spatial import BALL, CHART

# Columns of the tables of springs across hinges
HINGE, COORDINATE, EFFORT, DAMPING_AT, LAW_AT, SPRING_INTEGERS = range(6)
"""which hinge, number within it, place in the efforts, index of the expression for its damping (-1: constant), of the
first of those of its law (-1: straight lines)"""
STIFFNESS, REST, DAMPING, SPRING_NUMBERS = range(4)

# Columns of the tables of other loads
KIND, FIRST, SECOND, VALUE, IN_BODY, LOAD_INTEGERS = range(6)
"""what it is, the hinges it acts on, index of the first expression (-1: constant), whether vectors are in body axes"""
BETWEEN, FORCE, TORQUE, SPIN, EFFORT_GIVEN, PULL = range(6)
"""``BETWEEN``: a linear spring and damper between two points, ``PULL``: the same with a law given by expressions"""
LAW_ELASTIC, LAW_DRAG, LAW_POTENTIAL = range(3)
"""expressions of a law, one after the other"""
PLACE, OTHER, SPRING, LENGTH, FACTOR, DIRECTION, AXES, LOAD_NUMBERS = 0, 3, 6, 7, 8, 9, 12, 21


@compiled_part(fastmath=sp.FUSED)
def stretch_and_rate(row, T, x, y, j, q, v, drives, zero):
    """Coordinate j of a hinge as its two sides see it, and its rate."""
    kind = row[sp.KIND]
    if kind == BALL:
        return zero, v[row[sp.V] + j] + 0.0
    if kind == CHART:
        if j < row[sp.FREE]:
            return q[row[sp.Q] + j] + 0.0, v[row[sp.V] + j] + 0.0
        return zero, zero
    if row[sp.ABSOLUTE] == 1:
        return T[sp.SENSE] * (y[sp.THETA] - (x[sp.THETA] + T[sp.TURN])), y[sp.RATE]
    if row[sp.DRIVE] >= 0:
        return zero + drives[3 * row[sp.DRIVE]], y[sp.RATE]
    return q[row[sp.Q]] + 0.0, y[sp.RATE]


@compiled_part(fastmath=sp.FUSED)
def push(y, s0, s1, s2, f0, f1, f2):
    """A force on a hinge's frame at an offset from its origin, in world axes."""
    n0, n1, n2 = sp.cross(s0, s1, s2, f0, f1, f2)
    y[sp.P] -= n0
    y[sp.P + 1] -= n1
    y[sp.P + 2] -= n2
    y[sp.P + 3] -= f0
    y[sp.P + 4] -= f1
    y[sp.P + 5] -= f2


@compiled_part(fastmath=sp.FUSED)
def moving(y, s0, s1, s2):
    """Velocity of the point at an offset from a hinge's origin."""
    h0, h1, h2 = sp.cross(y[sp.OMEGA], y[sp.OMEGA + 1], y[sp.OMEGA + 2], s0, s1, s2)
    return y[sp.VELOCITY] + h0, y[sp.VELOCITY + 1] + h1, y[sp.VELOCITY + 2] + h2


@compiled_part(fastmath=sp.FUSED)
def load_hinges(springs, constants, ints, real, q, v, drives, values, tau, w):
    """Springs and dampers between the two sides of hinges, into the efforts; returns the power of the dampers."""
    power = w[0, sp.ZERO]
    for k in range(springs.shape[0]):
        load = springs[k]
        i = load[HINGE]
        row = ints[i - 1]
        at, rate = stretch_and_rate(
            row, real[i - 1], w[row[sp.PARENT]], w[i], load[COORDINATE], q, v, drives, w[0, sp.ZERO]
        )
        damping = constants[k, DAMPING]
        if load[DAMPING_AT] >= 0:
            damping += values[load[DAMPING_AT]]
        drag = damping * rate
        if load[LAW_AT] >= 0:
            drag += values[load[LAW_AT] + LAW_DRAG]
            tau[load[EFFORT]] -= values[load[LAW_AT] + LAW_ELASTIC]
        tau[load[EFFORT]] -= constants[k, STIFFNESS] * (at - constants[k, REST]) + drag
        power -= drag * rate
    return power


@compiled_part(fastmath=sp.FUSED)
def load_bodies(loads, constants, values, rates, tau, w):
    """Forces and moments on bodies, and efforts given by expressions; returns the power of all but springs.

    ``rates`` are the speeds, then the rates of the prescribed motions.
    """
    power = w[0, sp.ZERO]
    for k in range(loads.shape[0]):
        load, c = loads[k], constants[k]
        kind, at = load[KIND], load[VALUE]
        if kind == EFFORT_GIVEN:
            tau[load[FIRST]] += values[at]
            power += values[at] * rates[load[FIRST]]
            continue
        y = w[load[FIRST]]
        s0, s1, s2 = sp.turned(y, sp.R, c[PLACE], c[PLACE + 1], c[PLACE + 2])
        if kind == BETWEEN:
            power += spring_between(load, c, values, y, w[load[SECOND]], s0, s1, s2)
            continue
        if kind == PULL:
            power += pull_between(load, c, values, y, w[load[SECOND]], s0, s1, s2)
            continue
        u0, u1, u2 = moving(y, s0, s1, s2)
        if kind == SPIN:
            factor = c[FACTOR] + (values[at] if at >= 0 else 0.0)
            d0, d1, d2 = sp.turned(y, sp.R, c[DIRECTION], c[DIRECTION + 1], c[DIRECTION + 2])
            f0, f1, f2 = sp.cross(y[sp.OMEGA], y[sp.OMEGA + 1], y[sp.OMEGA + 2], d0, d1, d2)
            f0, f1, f2 = factor * f0, factor * f1, factor * f2
        else:
            zero = w[0, sp.ZERO]
            f0, f1, f2 = zero + values[at], zero + values[at + 1], zero + values[at + 2]
            if load[IN_BODY] == 1:
                g0, g1, g2 = sp.turned(c, AXES, values[at], values[at + 1], values[at + 2])
                f0, f1, f2 = sp.turned(y, sp.R, g0, g1, g2)
        if kind == TORQUE:
            y[sp.P] -= f0
            y[sp.P + 1] -= f1
            y[sp.P + 2] -= f2
            power += f0 * y[sp.OMEGA] + f1 * y[sp.OMEGA + 1] + f2 * y[sp.OMEGA + 2]
        else:
            push(y, s0, s1, s2, f0, f1, f2)
            power += f0 * u0 + f1 * u1 + f2 * u2
    return power


@compiled_part(fastmath=sp.FUSED)
def gap_between(c, y, z, s0, s1, s2):
    """From the first end of a spring to the second, and the offset of the second, in world axes."""
    e0, e1, e2 = sp.turned(z, sp.R, c[OTHER], c[OTHER + 1], c[OTHER + 2])
    g0 = (z[sp.POSITION] + e0) - (y[sp.POSITION] + s0)
    g1 = (z[sp.POSITION + 1] + e1) - (y[sp.POSITION + 1] + s1)
    g2 = (z[sp.POSITION + 2] + e2) - (y[sp.POSITION + 2] + s2)
    return g0, g1, g2, e0, e1, e2


@compiled_part(fastmath=sp.FUSED)
def spring_between(load, c, values, y, z, s0, s1, s2):
    """Equal and opposite forces along the line between two points; returns the power of the damper."""
    g0, g1, g2, e0, e1, e2 = gap_between(c, y, z, s0, s1, s2)
    square = g0 * g0 + g1 * g1 + g2 * g2
    pull = c[SPRING] + 0.0 * square
    if c[LENGTH] != 0.0:
        pull = c[SPRING] * (1.0 - c[LENGTH] / np.sqrt(square))
    damping = c[FACTOR]
    if load[VALUE] >= 0:
        damping += values[load[VALUE]]
    drag = 0.0 * square
    if damping != 0.0:
        a0, a1, a2 = moving(y, s0, s1, s2)
        b0, b1, b2 = moving(z, e0, e1, e2)
        opening = (b0 - a0) * g0 + (b1 - a1) * g1 + (b2 - a2) * g2
        rate = opening / square
        drag = damping * rate
        power = -(drag * opening)
    else:
        power = drag
    f = pull + drag
    push(y, s0, s1, s2, f * g0, f * g1, f * g2)
    push(z, e0, e1, e2, -(f * g0), -(f * g1), -(f * g2))
    return power


@compiled_part(fastmath=sp.FUSED)
def pull_between(load, c, values, y, z, s0, s1, s2):
    """The same for a law whose elastic force and drag are expressions."""
    g0, g1, g2, e0, e1, e2 = gap_between(c, y, z, s0, s1, s2)
    distance = np.sqrt(g0 * g0 + g1 * g1 + g2 * g2)
    a0, a1, a2 = moving(y, s0, s1, s2)
    b0, b1, b2 = moving(z, e0, e1, e2)
    rate = ((b0 - a0) * g0 + (b1 - a1) * g1 + (b2 - a2) * g2) / distance
    drag = values[load[VALUE] + LAW_DRAG]
    f = (values[load[VALUE] + LAW_ELASTIC] + drag) / distance
    push(y, s0, s1, s2, f * g0, f * g1, f * g2)
    push(z, e0, e1, e2, -(f * g0), -(f * g1), -(f * g2))
    return -(drag * rate)


@compiled_part(fastmath=sp.FUSED)
def drive_efforts(ints, tau, nv, charts, w, efforts):
    """Force or torque that every prescribed motion needs, once all accelerations are known."""
    for i in range(1, ints.shape[0] + 1):
        row = ints[i - 1]
        drive, y = row[sp.DRIVE], w[i]
        if row[sp.KIND] == CHART:
            if drive > 0:
                chart_efforts(row, tau, nv, charts[row[sp.AT_CHART] :], w[row[sp.PARENT]], y, efforts)
            continue
        if drive < 0:
            continue
        a0, a1, a2 = y[sp.ALPHA], y[sp.ALPHA + 1], y[sp.ALPHA + 2]
        b0, b1, b2 = y[sp.ACC], y[sp.ACC + 1], y[sp.ACC + 2]
        if row[sp.KIND] == sp.REVOLUTE:
            n0, n1, n2 = sp.symmetric(y, sp.A, a0, a1, a2)
            m0, m1, m2 = sp.turned(y, sp.B, b0, b1, b2)
            at = sp.P
        else:
            n0, n1, n2 = sp.symmetric(y, sp.C, b0, b1, b2)
            m0 = y[sp.B] * a0 + y[sp.B + 3] * a1 + y[sp.B + 6] * a2
            m1 = y[sp.B + 1] * a0 + y[sp.B + 4] * a1 + y[sp.B + 7] * a2
            m2 = y[sp.B + 2] * a0 + y[sp.B + 5] * a1 + y[sp.B + 8] * a2
            at = sp.P + 3
        total = y[2] * (n0 + m0 + y[at]) + y[5] * (n1 + m1 + y[at + 1]) + y[8] * (n2 + m2 + y[at + 2])
        efforts[drive] = total - tau[nv + drive]


@compiled_part
def chart_efforts(row, tau, nv, chart, x, y, efforts):
    """The same for the prescribed motions of a chart, whose indices follow its scratch."""
    free, driven = row[sp.FREE], row[sp.DRIVE]
    a0, a1, a2 = x[sp.ALPHA], x[sp.ALPHA + 1], x[sp.ALPHA + 2]
    b0, b1, b2 = sp.cross(a0, a1, a2, y[sp.ARM], y[sp.ARM + 1], y[sp.ARM + 2])
    b0, b1, b2 = x[sp.ACC] + b0, x[sp.ACC + 1] + b1, x[sp.ACC + 2] + b2
    n0, n1, n2 = sp.symmetric(y, sp.A, a0, a1, a2)
    m0, m1, m2 = sp.turned(y, sp.B, b0, b1, b2)
    f0, f1, f2 = sp.symmetric(y, sp.C, b0, b1, b2)
    f0 += y[sp.B] * a0 + y[sp.B + 3] * a1 + y[sp.B + 6] * a2
    f1 += y[sp.B + 1] * a0 + y[sp.B + 4] * a1 + y[sp.B + 7] * a2
    f2 += y[sp.B + 2] * a0 + y[sp.B + 5] * a1 + y[sp.B + 8] * a2
    n0, n1, n2 = n0 + m0 + y[48], n1 + m1 + y[49], n2 + m2 + y[50]
    f0, f1, f2 = f0 + y[51], f1 + y[52], f2 + y[53]
    axes = sp.CHART_AXES + 6 * (free + driven)
    numbers = chart_size(free, driven) - driven
    for j in range(driven):
        s, drive = axes + 6 * (free + j), int(chart[numbers + j])
        total = chart[s] * n0 + chart[s + 1] * n1 + chart[s + 2] * n2
        total += chart[s + 3] * f0 + chart[s + 4] * f1 + chart[s + 5] * f2
        efforts[drive] = total - tau[nv + drive]


@compiled_part
def chart_size(free, driven):
    """Numbers a chart keeps: pose and motion, its axes twice, U, L, u and a scratch column, shares, its drives."""
    return sp.CHART_AXES + 12 * (free + driven) + 6 * free + free * free + 2 * free + 6 * free + driven


@compiled_part(fastmath=sp.FUSED)
def energies(springs, hinge_constants, loads, constants, ints, real, q, v, drives, values, gravity, w):
    """Kinetic and potential energy of what :func:`spatial.place` has placed."""
    kinetic = potential = w[0, sp.ZERO]
    for i in range(1, ints.shape[0] + 1):
        y, T = w[i], real[i - 1]
        o0, o1, o2 = y[sp.OMEGA], y[sp.OMEGA + 1], y[sp.OMEGA + 2]
        # in the axes of the hinge
        a = y[0] * o0 + y[3] * o1 + y[6] * o2
        b = y[1] * o0 + y[4] * o1 + y[7] * o2
        c = y[2] * o0 + y[5] * o1 + y[8] * o2
        h0, h1, h2 = sp.symmetric(T, sp.INERTIA, a, b, c)
        g0, g1, g2 = sp.turned(y, sp.R, T[sp.MOMENT], T[sp.MOMENT + 1], T[sp.MOMENT + 2])
        u0, u1, u2 = y[sp.VELOCITY], y[sp.VELOCITY + 1], y[sp.VELOCITY + 2]
        s0, s1, s2 = sp.cross(o0, o1, o2, g0, g1, g2)
        kinetic += 0.5 * (a * h0 + b * h1 + c * h2) + (u0 * s0 + u1 * s1 + u2 * s2)
        kinetic += 0.5 * T[sp.MASS] * (u0 * u0 + u1 * u1 + u2 * u2)
        potential -= gravity[0] * (T[sp.MASS] * y[sp.POSITION] + g0)
        potential -= gravity[1] * (T[sp.MASS] * y[sp.POSITION + 1] + g1)
        potential -= gravity[2] * (T[sp.MASS] * y[sp.POSITION + 2] + g2)
    for k in range(springs.shape[0]):
        i = springs[k, HINGE]
        row = ints[i - 1]
        at, _ = stretch_and_rate(
            row, real[i - 1], w[row[sp.PARENT]], w[i], springs[k, COORDINATE], q, v, drives, w[0, sp.ZERO]
        )
        stretch = at - hinge_constants[k, REST]
        potential += 0.5 * hinge_constants[k, STIFFNESS] * (stretch * stretch)
        if springs[k, LAW_AT] >= 0:
            potential += values[springs[k, LAW_AT] + LAW_POTENTIAL]
    for k in range(loads.shape[0]):
        if loads[k, KIND] == BETWEEN and constants[k, SPRING] != 0.0:
            c, y = constants[k], w[loads[k, FIRST]]
            s0, s1, s2 = sp.turned(y, sp.R, c[PLACE], c[PLACE + 1], c[PLACE + 2])
            g0, g1, g2, _, _, _ = gap_between(c, y, w[loads[k, SECOND]], s0, s1, s2)
            stretch = np.sqrt(g0 * g0 + g1 * g1 + g2 * g2) - c[LENGTH]
            potential += 0.5 * c[SPRING] * (stretch * stretch)
        elif loads[k, KIND] == PULL:
            potential += values[loads[k, VALUE] + LAW_POTENTIAL]
    return kinetic, potential
