"""Exact derivatives of the recursion: inverse dynamics with tangents, then solves with the articulated inertias.

The derivatives of v' are those of M v' - f with v' held, times -M^-1. Eight columns are found in one pass of the same
kernels that compute plain numbers. A coordinate moves only what hangs on its hinge: a pass starts at the first hinge
that its columns move, and hands what the hinges before have to carry, as forces, to the solve.

What hangs on the hinges of the columns is carried along as if it were frozen: seen from axes that turn with its
carrier, only the carrier's angular velocity and acceleration change. Where nothing but relative motion matters (no
loads from outside, no angles measured from ground) this short linear recursion takes the place of the pass. For turns
and slides it needs no tangents at all: what such a hinge changes by itself is known.

The context continues that of ``recursion.kernels``.
"""

from __future__ import annotations

from pendula.numerics.compiled.jit import compiled, compiled_callback, compiled_part
from pendula.numerics.compiled.native import address_of, call_native, doubles_at, integers_at
from pendula.numerics.scalars.eight import LANES, eights_at
from pendula.numerics.scalars.tangents import BYTES, FIRST, WIDTH, tangents_at, tangents_of, value_of, with_tangents
from pendula.system import kernels as kn
from pendula.system.recursion import kernels as rk
from pendula.system.recursion import loads as lk
from pendula.system.recursion import spatial as sp
from pendula.system.recursion.spatial import BALL, CHART, REVOLUTE

# Entries of the context after those of the recursion
(
    COLUMNS, BATCHES, RANGES, SEEDS, TARGETS, SLOPES_CODE, SLOPES_PARAMETERS, SLOPES, MOVED, MOVED_AT,
    WORK, QS, VS, ASIDES, EFFORTS, LEFT_OVER, RIGHT, WRENCHES, GIVEN, HINGE_NUMBERS, SPRING_NUMBERS,
    LOAD_NUMBERS, GRAVITIES, ORDER, PASS, WHOLE, SELF, FROZEN, CHANGES, DIRECT, LANE_HINGES,
    SIZE,
) = range(rk.SIZE, rk.SIZE + 32)  # fmt: skip
"""``COLUMNS`` how many derivatives there are; for each of the ``BATCHES`` of eight: ``RANGES`` first hinge, last that
moves by itself, last that is carried along; ``SEEDS`` what has a tangent (index in [t, q, v, u], 0 for nothing),
``TARGETS`` columns of the result (-1: none), ``LANE_HINGES`` the hinges; ``SLOPES`` derivatives of expressions,
``MOVED`` how many expressions have some, ``MOVED_AT`` where they stand; from ``WORK`` on scratch; ``GIVEN`` v'; from
``HINGE_NUMBERS`` on tables with tangents by parameters, batch by batch; ``PASS`` the callback for one batch, ``ORDER``
its input, ``WHOLE`` that for v', ``SELF`` the context's address; ``FROZEN`` numbers of hinges that are carried along, 0
where none ever is, ``CHANGES`` how their carriers change; ``DIRECT`` whether all is turns and slides"""

# Columns of the table of hinges that are carried along: arm, relative angular velocity, matrices and inertia
ARM, TURNING, PATH, INERTIA, MOMENT, MASS, GYRO, SWING, FROZEN_WIDTH = 0, 3, 6, 15, 21, 24, 25, 34, 43
# Changes, as seen from axes that turn along: angular velocity, angular acceleration, acceleration; and the turn itself
SPIN, ALPHA, ACC, TURN, CHANGES_WIDTH = 0, 3, 6, 9, 12


@compiled_part
def start(ctx, x):
    """State and expressions at an address as constants; the derivatives of the expressions."""
    nq, nv, size = ctx[kn.NQ], ctx[kn.NV], 3 * ctx[kn.DRIVES] + ctx[rk.VALUES] + ctx[rk.CHARTS]
    state, aside = doubles_at(x, 1 + nq + nv), doubles_at(ctx[rk.ASIDE], size)
    q, v, asides = tangents_at(ctx[QS], nq), tangents_at(ctx[VS], nv), tangents_at(ctx[ASIDES], size)
    for k in range(nq):
        q[k] = state[1 + k]
    for k in range(nv):
        v[k] = state[1 + nq + k]
    for k in range(size):
        asides[k] = aside[k]
    if ctx[MOVED] > 0:
        call_native(ctx[SLOPES_CODE], ctx[SLOPES], x, ctx[SLOPES_PARAMETERS])


@compiled_part
def seed(ctx, batch, amount):
    """Sets the tangents of the coordinates and speeds that a batch differentiates by."""
    nq, nv = ctx[kn.NQ], ctx[kn.NV]
    seeds = integers_at(ctx[SEEDS], (ctx[BATCHES], LANES))[batch]
    q, v = doubles_at(ctx[QS], (nq, WIDTH)), doubles_at(ctx[VS], (nv, WIDTH))
    for k in range(LANES):
        at = seeds[k]
        if at > nq:
            v[at - 1 - nq, FIRST + k] = amount
        elif at > 0:
            q[at - 1, FIRST + k] = amount


@compiled_part
def slope_expressions(ctx, batch):
    """Sets the tangents of prescribed motions, expressions and charts."""
    moved, size = ctx[MOVED], 3 * ctx[kn.DRIVES] + ctx[rk.VALUES] + ctx[rk.CHARTS]
    targets = integers_at(ctx[TARGETS], (ctx[BATCHES], LANES))[batch]
    slopes, places = doubles_at(ctx[SLOPES], (ctx[COLUMNS], moved)), integers_at(ctx[MOVED_AT], moved)
    asides = doubles_at(ctx[ASIDES], (size, WIDTH))
    for k in range(moved):
        for l in range(LANES):
            asides[places[k], FIRST + l] = slopes[targets[l], k] if targets[l] >= 0 else 0.0


@compiled_part
def copy_carriers(ints, w, work, first, last):
    """The hinges that carry those of a range, which do not move, as constants without forces on them."""
    for i in range(first, last + 1):
        up = ints[i - 1, sp.PARENT]
        if up < first:
            x, y = w[up], work[up]
            for k in range(sp.WIDTH):
                y[k] = x[k]
            for k in range(6):
                y[sp.P + k] = 0.0


@compiled_part
def differentiate(ctx, real, spring_numbers, load_numbers, first, own, last):
    """M v' - f with tangents, for a range of hinges; what they hand to the hinges before stands there as forces.

    Hinges after the last ``own`` one are carried along; their part of the change is left to the solve.
    """
    n, nq, nv, nd = ctx[rk.HINGES], ctx[kn.NQ], ctx[kn.NV], ctx[kn.DRIVES]
    ints, w = integers_at(ctx[rk.INTS], (n, sp.INTEGERS)), tangents_at(ctx[WORK], (n + 1, sp.WIDTH))
    q, v, tau = tangents_at(ctx[QS], nq), tangents_at(ctx[VS], nv + nd), tangents_at(ctx[EFFORTS], nv + nd)
    drives, values = tangents_at(ctx[ASIDES], 3 * nd), tangents_at(ctx[ASIDES] + BYTES * 3 * nd, ctx[rk.VALUES])
    charts = tangents_at(ctx[ASIDES] + BYTES * (3 * nd + ctx[rk.VALUES]), ctx[rk.CHARTS])
    a, out = doubles_at(ctx[GIVEN], nv), tangents_at(ctx[LEFT_OVER], nv)
    for i in range(first, own + 1):  # one hinge after the other: what it reads again is still near
        sp.place(ints[:i], real, q, v, drives, charts, w, i)
        rk.accelerate_given(ints[:i], drives, charts, a, w, i)
        sp.need_forces(real[:i], w, i)
    for k in range(nv + nd):
        tau[k] = 0.0
    for k in range(nv):
        out[k] = 0.0
    if ctx[rk.SPRINGS] > 0:
        springs = integers_at(ctx[rk.SPRINGS_AT], (ctx[rk.SPRINGS], lk.SPRING_INTEGERS))
        lk.load_hinges(springs, spring_numbers, ints, real, q, v, drives, values, tau, w)
    if ctx[rk.LOADS] > 0:
        loads = integers_at(ctx[rk.LOADS_AT], (ctx[rk.LOADS], lk.LOAD_INTEGERS))
        lk.load_bodies(loads, load_numbers, values, v, tau, w)
    if own < last:
        carry(ctx, ints, w, first, own, last)
    rk.hand_down(ctx, ints[:own], tau, charts, w, out, first)


# -- what is carried along -------------------------------------------------------------------------------


@compiled_part(fastmath=sp.FUSED)
def outer(row, at, c0, c1, c2, s, a0, a1, a2, b0, b1, b2):
    """Writes the matrix s 1 - c^ - a b^T at a column of a row."""
    row[at], row[at + 1], row[at + 2] = s - a0 * b0, c2 - a0 * b1, -c1 - a0 * b2
    row[at + 3], row[at + 4], row[at + 5] = -c2 - a1 * b0, s - a1 * b1, c0 - a1 * b2
    row[at + 6], row[at + 7], row[at + 8] = c1 - a2 * b0, -c0 - a2 * b1, s - a2 * b2


@compiled_part(fastmath=sp.FUSED)
def freeze(ints, real, w, frozen):
    """Numbers for :func:`carry` of every hinge; the forces that all that hangs on it needs are left in w."""
    for k in range(6):
        w[0, sp.P + k] = 0.0
    sp.need_forces(real, w)
    for i in range(ints.shape[0], 0, -1):
        x, y, T, row = w[ints[i - 1, sp.PARENT]], w[i], real[i - 1], frozen[i]
        r0, r1, r2 = y[sp.ARM], y[sp.ARM + 1], y[sp.ARM + 2]
        f0, f1, f2 = y[sp.P + 3], y[sp.P + 4], y[sp.P + 5]
        n0, n1, n2 = sp.cross(r0, r1, r2, f0, f1, f2)
        x[sp.P], x[sp.P + 1] = x[sp.P] + (y[sp.P] + n0), x[sp.P + 1] + (y[sp.P + 1] + n1)
        x[sp.P + 2] += y[sp.P + 2] + n2
        x[sp.P + 3], x[sp.P + 4], x[sp.P + 5] = x[sp.P + 3] + f0, x[sp.P + 4] + f1, x[sp.P + 5] + f2
        o0, o1, o2 = x[sp.OMEGA], x[sp.OMEGA + 1], x[sp.OMEGA + 2]
        w0, w1, w2 = y[sp.OMEGA], y[sp.OMEGA + 1], y[sp.OMEGA + 2]
        row[ARM], row[ARM + 1], row[ARM + 2] = r0, r1, r2
        row[TURNING], row[TURNING + 1], row[TURNING + 2] = w0 - o0, w1 - o1, w2 - o2
        # d -> d x (o x r + 2 slide) + o x (d x r), the slide from the velocities of both sides
        h0, h1, h2 = sp.cross(o0, o1, o2, r0, r1, r2)
        c0 = 2.0 * (y[sp.VELOCITY] - x[sp.VELOCITY]) - h0
        c1 = 2.0 * (y[sp.VELOCITY + 1] - x[sp.VELOCITY + 1]) - h1
        c2 = 2.0 * (y[sp.VELOCITY + 2] - x[sp.VELOCITY + 2]) - h2
        outer(row, PATH, c0, c1, c2, o0 * r0 + o1 * r1 + o2 * r2, r0, r1, r2, o0, o1, o2)
        # own inertia in world axes: columns of R times J, then times R^T
        for k in range(3):
            a, b, c = y[3 * k], y[3 * k + 1], y[3 * k + 2]
            j0, j1, j2 = sp.symmetric(T, sp.INERTIA, a, b, c)
            for l in range(k, 3):
                at = INERTIA + (l if k == 0 else 2 + l if k == 1 else 5)
                row[at] = j0 * y[3 * l] + j1 * y[3 * l + 1] + j2 * y[3 * l + 2]
        g0, g1, g2 = sp.turned(y, sp.R, T[sp.MOMENT], T[sp.MOMENT + 1], T[sp.MOMENT + 2])
        row[MOMENT], row[MOMENT + 1], row[MOMENT + 2], row[MASS] = g0, g1, g2, T[sp.MASS]
        # d -> d x J w + w x J d
        h0, h1, h2 = sp.symmetric(row, INERTIA, w0, w1, w2)
        outer(row, GYRO, h0, h1, h2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for k in range(3):
            j0 = row[INERTIA + k]
            j1 = row[INERTIA + 1] if k == 0 else row[INERTIA + 2 + k]
            j2 = row[INERTIA + 2] if k == 0 else row[INERTIA + 3 + k]
            d0, d1, d2 = sp.cross(w0, w1, w2, j0, j1, j2)
            row[GYRO + k] += d0
            row[GYRO + 3 + k] += d1
            row[GYRO + 6 + k] += d2
        # d -> d x (w x g) + w x (d x g)
        c0, c1, c2 = sp.cross(w0, w1, w2, g0, g1, g2)
        outer(row, SWING, c0, c1, c2, w0 * g0 + w1 * g1 + w2 * g2, g0, g1, g2, w0, w1, w2)


@compiled_part(fastmath=sp.FUSED)
def note_change(y, change):
    """How a hinge with tangents changes, as seen from axes that turn along with it."""
    t0, t1, t2 = 0.0 * tangents_of(y[0]), 0.0 * tangents_of(y[0]), 0.0 * tangents_of(y[0])
    for k in range(3):  # half the sum of e x de over the axes
        d0, d1, d2 = tangents_of(y[k]), tangents_of(y[3 + k]), tangents_of(y[6 + k])
        h0, h1, h2 = 0.5 * value_of(y[k]), 0.5 * value_of(y[3 + k]), 0.5 * value_of(y[6 + k])
        t0, t1, t2 = t0 + (h1 * d2 - h2 * d1), t1 + (h2 * d0 - h0 * d2), t2 + (h0 * d1 - h1 * d0)
    change[TURN], change[TURN + 1], change[TURN + 2] = t0, t1, t2
    for k in range(3):
        at = sp.OMEGA if k == 0 else sp.ALPHA if k == 1 else sp.ACC
        a0, a1, a2 = value_of(y[at]), value_of(y[at + 1]), value_of(y[at + 2])
        change[3 * k] = tangents_of(y[at]) - (t1 * a2 - t2 * a1)
        change[3 * k + 1] = tangents_of(y[at + 1]) - (t2 * a0 - t0 * a2)
        change[3 * k + 2] = tangents_of(y[at + 2]) - (t0 * a1 - t1 * a0)


@compiled_part(fastmath=sp.FUSED)
def take_over(change, y, row, x):
    """Puts the forces that a hinge needs on its carrier x, turned along with it."""
    f0, f1, f2 = y[sp.P + 3], y[sp.P + 4], y[sp.P + 5]
    n0, n1, n2 = sp.cross(row[ARM], row[ARM + 1], row[ARM + 2], f0, f1, f2)
    n0, n1, n2 = n0 + y[sp.P], n1 + y[sp.P + 1], n2 + y[sp.P + 2]
    t0, t1, t2 = change[TURN], change[TURN + 1], change[TURN + 2]
    x[sp.P] += with_tangents(n0, t1 * n2 - t2 * n1)
    x[sp.P + 1] += with_tangents(n1, t2 * n0 - t0 * n2)
    x[sp.P + 2] += with_tangents(n2, t0 * n1 - t1 * n0)
    x[sp.P + 3] += with_tangents(f0, t1 * f2 - t2 * f1)
    x[sp.P + 4] += with_tangents(f1, t2 * f0 - t0 * f2)
    x[sp.P + 5] += with_tangents(f2, t0 * f1 - t1 * f0)


@compiled_part(fastmath=sp.FUSED)
def carry_motion(row, x, y):
    """Changes of a hinge from those of its carrier."""
    s0, s1, s2 = x[SPIN], x[SPIN + 1], x[SPIN + 2]
    a0, a1, a2 = x[ALPHA], x[ALPHA + 1], x[ALPHA + 2]
    b0, b1, b2 = sp.turned(row, PATH, s0, s1, s2)
    r0, r1, r2 = row[ARM], row[ARM + 1], row[ARM + 2]
    y[ACC] = b0 + x[ACC] + r2 * a1 - r1 * a2
    y[ACC + 1] = b1 + x[ACC + 1] + r0 * a2 - r2 * a0
    y[ACC + 2] = b2 + x[ACC + 2] + r1 * a0 - r0 * a1
    r0, r1, r2 = row[TURNING], row[TURNING + 1], row[TURNING + 2]
    y[ALPHA], y[ALPHA + 1] = a0 + r2 * s1 - r1 * s2, a1 + r0 * s2 - r2 * s0
    y[ALPHA + 2] = a2 + r1 * s0 - r0 * s1
    y[SPIN], y[SPIN + 1], y[SPIN + 2] = s0, s1, s2


@compiled_part(fastmath=sp.FUSED)
def carry_forces(row, y, z):
    """The change of the forces that a hinge's own mass needs."""
    s0, s1, s2 = y[SPIN], y[SPIN + 1], y[SPIN + 2]
    a0, a1, a2 = y[ALPHA], y[ALPHA + 1], y[ALPHA + 2]
    b0, b1, b2 = y[ACC], y[ACC + 1], y[ACC + 2]
    g0, g1, g2, m = row[MOMENT], row[MOMENT + 1], row[MOMENT + 2], row[MASS]
    n0, n1, n2 = sp.turned(row, GYRO, s0, s1, s2)
    h0, h1, h2 = sp.symmetric(row, INERTIA, a0, a1, a2)
    z[0] = n0 + h0 + g1 * b2 - g2 * b1
    z[1] = n1 + h1 + g2 * b0 - g0 * b2
    z[2] = n2 + h2 + g0 * b1 - g1 * b0
    f0, f1, f2 = sp.turned(row, SWING, s0, s1, s2)
    z[3] = f0 + m * b0 + g2 * a1 - g1 * a2
    z[4] = f1 + m * b1 + g0 * a2 - g2 * a0
    z[5] = f2 + m * b2 + g1 * a0 - g0 * a1


@compiled_part
def carry(ctx, ints, work, first, own, last):
    """Forces on what is carried along by the hinges from the first to the last of its own; the solve takes them."""
    n = ctx[rk.HINGES]
    w, frozen = doubles_at(ctx[rk.W], (n + 1, sp.WIDTH)), doubles_at(ctx[FROZEN], (n + 1, FROZEN_WIDTH))
    changes, z = eights_at(ctx[CHANGES], (n + 1, CHANGES_WIDTH)), eights_at(ctx[WRENCHES], (n + 1, 6))
    for i in range(first, own + 1):
        note_change(work[i], changes[i])
    for i in range(own + 1, last + 1):
        up = ints[i - 1, sp.PARENT]
        if up < first:  # another branch, which stays as it is
            for k in range(CHANGES_WIDTH):
                changes[i, k] = 0.0
            for k in range(6):
                z[i, k] = 0.0
            continue
        if up <= own:
            take_over(changes[up], w[i], frozen[i], work[up])
        carry_motion(frozen[i], changes[up], changes[i])
        carry_forces(frozen[i], changes[i], z[i])


# -- turns and slides --------------------------------------------------------------------------------------


@compiled_part
def add_lane(numbers, at, lane, x0, x1, x2):
    """Adds a vector in one lane of a row of eights."""
    numbers[at, lane] += x0
    numbers[at + 1, lane] += x1
    numbers[at + 2, lane] += x2


@compiled_part(fastmath=sp.FUSED)
def turn_or_slide(kind, is_speed, x, y, lane, change, wrench):
    """What a hinge y on x changes by itself, per unit of its coordinate or speed, seen from axes that turn along.

    Its forces turn or shift along with it: the change of what they do to x goes into ``wrench``.
    """
    e0, e1, e2 = y[2], y[5], y[8]
    o0, o1, o2 = x[sp.OMEGA], x[sp.OMEGA + 1], x[sp.OMEGA + 2]
    f0, f1, f2 = sp.cross(e0, e1, e2, y[sp.P + 3], y[sp.P + 4], y[sp.P + 5])
    c0, c1, c2 = sp.cross(o0, o1, o2, e0, e1, e2)
    if is_speed:
        if kind == REVOLUTE:
            add_lane(change, SPIN, lane, e0, e1, e2)
            add_lane(change, ALPHA, lane, c0, c1, c2)
        else:
            add_lane(change, ACC, lane, 2.0 * c0, 2.0 * c1, 2.0 * c2)
    elif kind == REVOLUTE:
        for k in range(3):
            at = sp.OMEGA if k == 0 else sp.ALPHA if k == 1 else sp.ACC
            d0, d1, d2 = sp.cross(y[at], y[at + 1], y[at + 2], e0, e1, e2)
            add_lane(change, 3 * k, lane, d0, d1, d2)
        n0, n1, n2 = sp.cross(e0, e1, e2, y[sp.P], y[sp.P + 1], y[sp.P + 2])
        m0, m1, m2 = sp.cross(y[sp.ARM], y[sp.ARM + 1], y[sp.ARM + 2], f0, f1, f2)
        add_lane(wrench, 0, lane, n0 + m0, n1 + m1, n2 + m2)
        add_lane(wrench, 3, lane, f0, f1, f2)
    else:
        a0, a1, a2 = sp.cross(x[sp.ALPHA], x[sp.ALPHA + 1], x[sp.ALPHA + 2], e0, e1, e2)
        d0, d1, d2 = sp.cross(o0, o1, o2, c0, c1, c2)
        add_lane(change, ACC, lane, a0 + d0, a1 + d1, a2 + d2)
        add_lane(wrench, 0, lane, f0, f1, f2)


@compiled_part
def stiffen(ctx, batch):
    """Springs and dampers across hinges, into the right-hand side."""
    nq, count = ctx[kn.NQ], ctx[rk.SPRINGS]
    hinges = integers_at(ctx[LANE_HINGES], (ctx[BATCHES], LANES))[batch]
    seeds = integers_at(ctx[SEEDS], (ctx[BATCHES], LANES))[batch]
    springs = integers_at(ctx[rk.SPRINGS_AT], (count, lk.SPRING_INTEGERS))
    constants, b = (
        doubles_at(ctx[rk.SPRING_NUMBERS_AT], (count, lk.SPRING_NUMBERS)),
        doubles_at(ctx[RIGHT], (ctx[kn.NV], LANES)),
    )
    for k in range(count):
        for l in range(LANES):
            if hinges[l] == springs[k, lk.HINGE]:
                b[springs[k, lk.EFFORT], l] -= constants[k, lk.DAMPING if seeds[l] > nq else lk.STIFFNESS]


@compiled_part
def change_batch(ctx, batch, first, own, last):
    """Forces that the columns of a batch make necessary, ready for the solve, in a tree of turns and slides."""
    n, nq, nv = ctx[rk.HINGES], ctx[kn.NQ], ctx[kn.NV]
    ints, w = integers_at(ctx[rk.INTS], (n, sp.INTEGERS)), doubles_at(ctx[rk.W], (n + 1, sp.WIDTH))
    frozen, b = doubles_at(ctx[FROZEN], (n + 1, FROZEN_WIDTH)), eights_at(ctx[RIGHT], nv)
    changes, z = eights_at(ctx[CHANGES], (n + 1, CHANGES_WIDTH)), eights_at(ctx[WRENCHES], (n + 1, 6))
    hinges = integers_at(ctx[LANE_HINGES], (ctx[BATCHES], LANES))[batch]
    seeds = integers_at(ctx[SEEDS], (ctx[BATCHES], LANES))[batch]
    by_lane = doubles_at(ctx[CHANGES], (n + 1, CHANGES_WIDTH, LANES))
    wrenches = doubles_at(ctx[WRENCHES], (n + 1, 6, LANES))
    for k in range(nv):
        b[k] = 0.0
    for i in range(first):
        for k in range(6):
            z[i, k] = 0.0
    for i in range(first, last + 1):
        up = ints[i - 1, sp.PARENT]
        if up < first:
            for k in range(9):
                changes[i, k] = 0.0
        else:
            carry_motion(frozen[i], changes[up], changes[i])
        if i <= own:
            for l in range(LANES):
                if hinges[l] == i:
                    turn_or_slide(ints[i - 1, sp.KIND], seeds[l] > nq, w[up], w[i], l, by_lane[i], wrenches[up])
        carry_forces(frozen[i], changes[i], z[i])
    if ctx[rk.SPRINGS] > 0:
        stiffen(ctx, batch)


# -- solves with the articulated inertias ----------------------------------------------------------------


@compiled_part(fastmath=sp.FUSED)
def solve(ints, charts, w, b, z, last):
    """M x = b in place, minus the forces on hinges in z: moment and force, for every hinge.

    b and z may be of any scalar type. What stands after the ``last`` hinge in b must be zero.
    """
    for i in range(last, 0, -1):
        row, y, p, x = ints[i - 1], w[i], z[i], z[ints[i - 1, sp.PARENT]]
        kind, k = row[sp.KIND], row[sp.V]
        n0, n1, n2, f0, f1, f2 = p[0], p[1], p[2], p[3], p[4], p[5]
        if kind == CHART:
            gather_chart(row, charts[row[sp.AT_CHART] :], b, p)
            n0, n1, n2, f0, f1, f2 = p[0], p[1], p[2], p[3], p[4], p[5]
        elif row[sp.DRIVE] >= 0:
            if row[sp.ABSOLUTE] == 1:  # held from ground: only forces go through
                n0, n1, n2 = 0.0 * n0, 0.0 * n1, 0.0 * n2
        elif kind == BALL:
            s0, s1, s2 = sp.turned(y, sp.R, b[k], b[k + 1], b[k + 2])
            c0, c1, c2 = s0 - n0, s1 - n1, s2 - n2
            b[k], b[k + 1], b[k + 2] = sp.symmetric(y, sp.A, c0, c1, c2)
            n0, n1, n2 = s0, s1, s2
            f0 += y[sp.B] * c0 + y[sp.B + 3] * c1 + y[sp.B + 6] * c2
            f1 += y[sp.B + 1] * c0 + y[sp.B + 4] * c1 + y[sp.B + 7] * c2
            f2 += y[sp.B + 2] * c0 + y[sp.B + 5] * c1 + y[sp.B + 8] * c2
        else:
            t = b[k]
            if row[sp.ABSOLUTE] == 1:  # acts from ground
                n0, n1, n2 = n0 - y[2] * t, n1 - y[5] * t, n2 - y[8] * t
                t = 0.0 * t
            if kind == REVOLUTE:
                t = t - (y[2] * n0 + y[5] * n1 + y[8] * n2)
            else:
                t = t - (y[2] * f0 + y[5] * f1 + y[8] * f2)
            b[k] = y[sp.INVERSE] * t
            n0, n1, n2 = n0 + y[48] * t, n1 + y[49] * t, n2 + y[50] * t
            f0, f1, f2 = f0 + y[51] * t, f1 + y[52] * t, f2 + y[53] * t
        r0, r1, r2 = y[sp.ARM], y[sp.ARM + 1], y[sp.ARM + 2]
        x[0] += n0 + r1 * f2 - r2 * f1
        x[1] += n1 + r2 * f0 - r0 * f2
        x[2] += n2 + r0 * f1 - r1 * f0
        x[3] += f0
        x[4] += f1
        x[5] += f2
    for k in range(6):
        z[0, k] = 0.0
    for i in range(1, ints.shape[0] + 1):
        row, y, p, x = ints[i - 1], w[i], z[i], z[ints[i - 1, sp.PARENT]]
        kind, k = row[sp.KIND], row[sp.V]
        a0, a1, a2 = x[0], x[1], x[2]
        b0, b1, b2 = sp.cross(a0, a1, a2, y[sp.ARM], y[sp.ARM + 1], y[sp.ARM + 2])
        b0, b1, b2 = x[3] + b0, x[4] + b1, x[5] + b2
        if kind == CHART:
            p[0], p[1], p[2], p[3], p[4], p[5] = a0, a1, a2, b0, b1, b2
            move_chart(row, charts[row[sp.AT_CHART] :], b, p)
            continue
        if row[sp.DRIVE] >= 0:
            if row[sp.ABSOLUTE] == 1:
                a0, a1, a2 = 0.0 * a0, 0.0 * a1, 0.0 * a2
        elif kind == BALL:
            c0, c1, c2 = sp.turned(y, sp.B, b0, b1, b2)
            c0, c1, c2 = b[k] - c0, b[k + 1] - c1, b[k + 2] - c2
            d0, d1, d2 = c0 - a0, c1 - a1, c2 - a2
            for j in range(3):
                b[k + j] = y[j] * d0 + y[3 + j] * d1 + y[6 + j] * d2
            a0, a1, a2 = c0, c1, c2
        else:
            d = b[k] - (y[48] * a0 + y[49] * a1 + y[50] * a2 + y[51] * b0 + y[52] * b1 + y[53] * b2)
            if kind == REVOLUTE:
                a0, a1, a2 = a0 + y[2] * d, a1 + y[5] * d, a2 + y[8] * d
            else:
                b0, b1, b2 = b0 + y[2] * d, b1 + y[5] * d, b2 + y[8] * d
            if row[sp.ABSOLUTE] == 1:
                d = y[8] * a2
            b[k] = d
        p[0], p[1], p[2], p[3], p[4], p[5] = a0, a1, a2, b0, b1, b2


@compiled_part
def gather_chart(row, chart, b, p):
    """Takes the freedoms of a chart out: D^-1 (b - S^T p) takes the place of b, what goes on the place of p."""
    free, k = row[sp.FREE], row[sp.V]
    axes = sp.CHART_AXES + 6 * (free + row[sp.DRIVE])
    U = axes + 6 * (free + row[sp.DRIVE])
    L = U + 6 * free
    for j in range(free):
        for i in range(6):
            b[k + j] -= chart[axes + 6 * j + i] * p[i]
        for i in range(j):
            b[k + j] -= chart[L + free * j + i] * b[k + i]
        b[k + j] = b[k + j] / chart[L + free * j + j]
    for j in range(free - 1, -1, -1):
        for i in range(j + 1, free):
            b[k + j] -= chart[L + free * i + j] * b[k + i]
        b[k + j] = b[k + j] / chart[L + free * j + j]
    for j in range(free):
        for i in range(6):
            p[i] += chart[U + 6 * j + i] * b[k + j]


@compiled_part
def move_chart(row, chart, b, p):
    """The accelerations of a chart's freedoms, and of its hinge in place of those of the side it moves on."""
    free, k = row[sp.FREE], row[sp.V]
    axes = sp.CHART_AXES + 6 * (free + row[sp.DRIVE])
    share = axes + 6 * (free + row[sp.DRIVE]) + 6 * free + free * free + 2 * free
    for j in range(free):
        for i in range(6):
            b[k + j] -= chart[share + 6 * j + i] * p[i]
    for j in range(free):
        for i in range(6):
            p[i] += chart[axes + 6 * j + i] * b[k + j]


@compiled_part
def solve_batch(ctx, last):
    """A batch's derivatives of v', from the right-hand side and the forces that have been gathered."""
    n, nv = ctx[rk.HINGES], ctx[kn.NV]
    ints, w = integers_at(ctx[rk.INTS], (n, sp.INTEGERS)), doubles_at(ctx[rk.W], (n + 1, sp.WIDTH))
    charts = doubles_at(ctx[rk.ASIDE] + 8 * (3 * ctx[kn.DRIVES] + ctx[rk.VALUES]), ctx[rk.CHARTS])
    solve(ints, charts, w, eights_at(ctx[RIGHT], nv), eights_at(ctx[WRENCHES], (n + 1, 6)), last)


@compiled_part
def gather_batch(ctx, first, own):
    """The tangents of M v' - f as a right-hand side, and as forces on the hinges before."""
    n, nv = ctx[rk.HINGES], ctx[kn.NV]
    ints, left_over = integers_at(ctx[rk.INTS], (n, sp.INTEGERS)), tangents_at(ctx[LEFT_OVER], nv)
    b, z, work = (
        eights_at(ctx[RIGHT], nv),
        eights_at(ctx[WRENCHES], (n + 1, 6)),
        tangents_at(ctx[WORK], (n + 1, sp.WIDTH)),
    )
    for k in range(nv):
        b[k] = -tangents_of(left_over[k])
    for i in range(own + 1):  # those after it stand there already
        for k in range(6):
            z[i, k] = 0.0
    for i in range(first, own + 1):
        up = ints[i - 1, sp.PARENT]
        if up < first:
            for k in range(6):
                z[up, k] = tangents_of(work[up, sp.P + k])


@compiled_part
def write_columns(ctx, batch, source, width, start, out):
    """Eight columns of the result, from an array at an address of ``width`` floats per speed."""
    targets = integers_at(ctx[TARGETS], (ctx[BATCHES], LANES))[batch]
    found = doubles_at(source, (ctx[kn.NV], width))
    for l in range(LANES):
        if targets[l] >= 0:
            for k in range(ctx[kn.NV]):
                out[k, targets[l]] = found[k, start + l]


# -- one batch: callbacks, so that their long code is compiled once ------------------------------------------


@compiled_callback(allocates=False)
def by_state(out, inp, context):
    """M v' - f with tangents by coordinates, speeds or inputs; the input is [batch, first, own, last hinge]."""
    ctx, order = integers_at(context, SIZE), integers_at(inp, 4)
    n, batch, first, own, last = ctx[rk.HINGES], order[0], order[1], order[2], order[3]
    real = doubles_at(ctx[rk.REAL], (n, sp.NUMBERS))
    springs = doubles_at(ctx[rk.SPRING_NUMBERS_AT], (ctx[rk.SPRINGS], lk.SPRING_NUMBERS))
    loads = doubles_at(ctx[rk.LOAD_NUMBERS_AT], (ctx[rk.LOADS], lk.LOAD_NUMBERS))
    ints, w = integers_at(ctx[rk.INTS], (n, sp.INTEGERS)), doubles_at(ctx[rk.W], (n + 1, sp.WIDTH))
    copy_carriers(ints, w, tangents_at(ctx[WORK], (n + 1, sp.WIDTH)), first, own)
    seed(ctx, batch, 1.0)
    if ctx[MOVED] > 0:
        slope_expressions(ctx, batch)
    differentiate(ctx, real, springs, loads, first, own, last)
    seed(ctx, batch, 0.0)


@compiled_callback(allocates=False)
def by_parameters(out, inp, context):
    """The same by parameters, which move all hinges."""
    ctx, batch = integers_at(context, SIZE), integers_at(inp, 4)[0]
    n, springs, loads = ctx[rk.HINGES], ctx[rk.SPRINGS], ctx[rk.LOADS]
    real = tangents_at(ctx[HINGE_NUMBERS] + BYTES * batch * n * sp.NUMBERS, (n, sp.NUMBERS))
    at = ctx[SPRING_NUMBERS] + BYTES * batch * springs * lk.SPRING_NUMBERS
    spring_numbers = tangents_at(at, (springs, lk.SPRING_NUMBERS))
    load_numbers = tangents_at(ctx[LOAD_NUMBERS] + BYTES * batch * loads * lk.LOAD_NUMBERS, (loads, lk.LOAD_NUMBERS))
    gravity = tangents_at(ctx[GRAVITIES] + BYTES * batch * 3, 3)
    sp.clear_ground(tangents_at(ctx[WORK], (n + 1, sp.WIDTH)), gravity[0], gravity[1], gravity[2])
    if ctx[MOVED] > 0:
        slope_expressions(ctx, batch)
    differentiate(ctx, real, spring_numbers, load_numbers, 1, n, n)


@compiled_part
def pass_batch(ctx, batch, first, own, last):
    """One pass with the tangents that the context is for."""
    order = integers_at(ctx[ORDER], 4)
    order[0], order[1], order[2], order[3] = batch, first, own, last
    call_native(ctx[PASS], 0, ctx[ORDER], ctx[SELF])


@compiled_callback(allocates=False)
def of_accelerations(out, inp, context):
    """Derivatives of v', a matrix row by row, at a state [t, q, v, u]."""
    ctx = integers_at(context, SIZE)
    n, nv = ctx[rk.HINGES], ctx[kn.NV]
    ranges, found = integers_at(ctx[RANGES], (ctx[BATCHES], 3)), doubles_at(out, (nv, ctx[COLUMNS]))
    rk.forward(ctx, inp, doubles_at(ctx[GIVEN], nv))
    ints, w = integers_at(ctx[rk.INTS], (n, sp.INTEGERS)), doubles_at(ctx[rk.W], (n + 1, sp.WIDTH))
    if ctx[FROZEN] != 0:
        freeze(ints, doubles_at(ctx[rk.REAL], (n, sp.NUMBERS)), w, doubles_at(ctx[FROZEN], (n + 1, FROZEN_WIDTH)))
    if ctx[DIRECT] == 0:
        start(ctx, inp)
    for k in range(ctx[BATCHES]):
        first, own, last = ranges[k, 0], ranges[k, 1], ranges[k, 2]
        if ctx[DIRECT] == 1:
            change_batch(ctx, k, first, own, last)
        else:
            pass_batch(ctx, k, first, own, last)
            gather_batch(ctx, first, own)
        solve_batch(ctx, last)
        write_columns(ctx, k, ctx[RIGHT], LANES, 0, found)


# -- from Python -----------------------------------------------------------------------------------------------


@compiled(allocates=False)
def evaluate(context, q, v, out):
    """Derivatives of v' at one state, for calls from Python; no checks."""
    ctx = integers_at(address_of(context), SIZE)
    nq, nv = ctx[kn.NQ], ctx[kn.NV]
    x = doubles_at(ctx[kn.X], 1 + nq + nv)
    for k in range(nq):
        x[1 + k] = q[k]
    for k in range(nv):
        x[1 + nq + k] = v[k]
    call_native(ctx[WHOLE], address_of(out), ctx[kn.X], address_of(context))


@compiled(allocates=False)
def acceleration_rows(context, x, out):
    """Derivatives of v' for every row [t, q, v, u] of x."""
    ctx = integers_at(address_of(context), SIZE)
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        call_native(ctx[WHOLE], address_of(out[k]), at, address_of(context))


@compiled(allocates=False)
def residual_rows(context, x, a, out):
    """Derivatives of M v' - f for every row [t, q, v, u] of x and v' in a."""
    ctx = integers_at(address_of(context), SIZE)
    n, gravity, given = ctx[rk.HINGES], doubles_at(ctx[rk.GRAVITY], 3), doubles_at(ctx[GIVEN], ctx[kn.NV])
    w = doubles_at(ctx[rk.W], (n + 1, sp.WIDTH))
    sp.clear_ground(w, gravity[0], gravity[1], gravity[2])
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        rk.write_aside(ctx, at)
        for i in range(ctx[kn.NV]):
            given[i] = a[k, i]
        start(ctx, at)
        for b in range(ctx[BATCHES]):
            pass_batch(ctx, b, 1, n, n)
            write_columns(ctx, b, ctx[LEFT_OVER], WIDTH, FIRST, out[k])
