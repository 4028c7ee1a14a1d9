"""Exact derivatives of the recursion: inverse dynamics with tangents, then solves with the articulated inertias.

The derivatives of v' are those of M v' - f with v' held, times -M^-1. Eight columns are found in one pass of the same
kernels that compute plain numbers. A coordinate moves only what hangs on its hinge: a pass starts at the first hinge
that its columns move, and hands what the hinges before have to carry, as forces, to the solve.

The context continues that of ``recursion.kernels``.
"""

from __future__ import annotations

from pendula.numerics.eight import LANES, eights_at
from pendula.numerics.jit import compiled, compiled_callback, compiled_part
from pendula.numerics.native import address_of, call_native, doubles_at, integers_at
from pendula.numerics.tangents import BYTES, FIRST, WIDTH, tangents_at, tangents_of
from pendula.system import kernels as kn
from pendula.system.recursion import kernels as rk
from pendula.system.recursion import loads as lk
from pendula.system.recursion import spatial as sp
from pendula.system.recursion.skeleton import BALL, CHART, REVOLUTE

# Entries of the context after those of the recursion
(
    COLUMNS, BATCHES, RANGES, SEEDS, TARGETS, SLOPES_CODE, SLOPES_PARAMETERS, SLOPES, MOVED, MOVED_AT,
    WORK, QS, VS, ASIDES, EFFORTS, LEFT_OVER, RIGHT, WRENCHES, FACTORS, GIVEN, HINGE_NUMBERS, SPRING_NUMBERS,
    LOAD_NUMBERS, GRAVITIES, ORDER, PASS, WHOLE, SELF, SIZE,
) = range(rk.SIZE, rk.SIZE + 29)  # fmt: skip
"""``COLUMNS`` how many derivatives there are; for each of the ``BATCHES`` of eight: ``RANGES`` first and last hinge
that move, ``SEEDS`` what has a tangent (index in [t, q, v, u], 0 for nothing), ``TARGETS`` columns of the result (-1:
none); ``SLOPES`` derivatives of expressions, ``MOVED`` how many expressions have some, ``MOVED_AT`` where they stand;
from ``WORK`` on scratch; ``GIVEN`` v'; from ``HINGE_NUMBERS`` on tables with tangents by parameters, batch by batch;
``PASS`` is the callback for one batch, ``ORDER`` its input, ``WHOLE`` that for v', ``SELF`` the context's address"""

COMPLIANCE = 8  # width of the table of factors: 1/D of a turn or slide, the inverse of A for a ball


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
def differentiate(ctx, real, spring_numbers, load_numbers, first, last):
    """M v' - f with tangents, for a range of hinges; what they hand to the hinges before stands there as forces."""
    n, nq, nv, nd = ctx[rk.HINGES], ctx[kn.NQ], ctx[kn.NV], ctx[kn.DRIVES]
    ints, w = integers_at(ctx[rk.INTS], (n, sp.INTEGERS)), tangents_at(ctx[WORK], (n + 1, sp.WIDTH))
    q, v, tau = tangents_at(ctx[QS], nq), tangents_at(ctx[VS], nv + nd), tangents_at(ctx[EFFORTS], nv + nd)
    drives, values = tangents_at(ctx[ASIDES], 3 * nd), tangents_at(ctx[ASIDES] + BYTES * 3 * nd, ctx[rk.VALUES])
    charts = tangents_at(ctx[ASIDES] + BYTES * (3 * nd + ctx[rk.VALUES]), ctx[rk.CHARTS])
    a, out = doubles_at(ctx[GIVEN], nv), tangents_at(ctx[LEFT_OVER], nv)
    for i in range(first, last + 1):  # one hinge after the other: what it reads again is still near
        sp.place(ints[:i], real, q, v, drives, charts, w, i)
        sp.start_inertia(real[:i], w, i)
        rk.accelerate_given(ints[:i], drives, charts, a, w, i)
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
    rk.balance(ctx, ints[:last], tau, charts, w, out, first)


# -- solves with the articulated inertias ----------------------------------------------------------------


@compiled_part
def factor(ints, w, factors):
    """What a solve needs and :func:`spatial.articulate` does not leave behind."""
    for i in range(1, ints.shape[0] + 1):
        row, y, f = ints[i - 1], w[i], factors[i]
        kind = row[sp.KIND]
        if kind == BALL:
            f[0], f[1], f[2], f[3], f[4], f[5] = sp.inverse(y[21], y[22], y[23], y[24], y[25], y[26])
        elif kind != CHART and row[sp.V] >= 0:
            n0, n1, n2 = sp.symmetric(y, sp.A if kind == REVOLUTE else sp.C, y[2], y[5], y[8])
            f[0] = 1.0 / (y[2] * n0 + y[5] * n1 + y[8] * n2)


@compiled_part(fastmath=sp.FUSED)
def solve(ints, charts, w, factors, b, z, last):
    """M x = b in place, less the forces on hinges that z holds: moment and force, for every hinge.

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
            b[k], b[k + 1], b[k + 2] = sp.symmetric(factors[i], 0, c0, c1, c2)
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
            b[k] = factors[i, 0] * t
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
def solve_batch(ctx, first, last):
    """The batch's derivatives of v', in place of those of M v' - f."""
    n, nv = ctx[rk.HINGES], ctx[kn.NV]
    ints, w = integers_at(ctx[rk.INTS], (n, sp.INTEGERS)), doubles_at(ctx[rk.W], (n + 1, sp.WIDTH))
    charts = doubles_at(ctx[rk.ASIDE] + 8 * (3 * ctx[kn.DRIVES] + ctx[rk.VALUES]), ctx[rk.CHARTS])
    factors, left_over = doubles_at(ctx[FACTORS], (n + 1, COMPLIANCE)), tangents_at(ctx[LEFT_OVER], nv)
    b, z, work = (
        eights_at(ctx[RIGHT], nv),
        eights_at(ctx[WRENCHES], (n + 1, 6)),
        tangents_at(ctx[WORK], (n + 1, sp.WIDTH)),
    )
    for k in range(nv):
        b[k] = -tangents_of(left_over[k])
    for i in range(last + 1):
        for k in range(6):
            z[i, k] = 0.0
    for i in range(first, last + 1):
        up = ints[i - 1, sp.PARENT]
        if up < first:
            for k in range(6):
                z[up, k] = tangents_of(work[up, sp.P + k])
    solve(ints, charts, w, factors, b, z, last)


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
    """M v' - f with tangents by coordinates, speeds or inputs; the input is [batch, first hinge, last hinge]."""
    ctx, order = integers_at(context, SIZE), integers_at(inp, 3)
    n, batch, first, last = ctx[rk.HINGES], order[0], order[1], order[2]
    real = doubles_at(ctx[rk.REAL], (n, sp.NUMBERS))
    springs = doubles_at(ctx[rk.SPRING_NUMBERS_AT], (ctx[rk.SPRINGS], lk.SPRING_NUMBERS))
    loads = doubles_at(ctx[rk.LOAD_NUMBERS_AT], (ctx[rk.LOADS], lk.LOAD_NUMBERS))
    ints, w = integers_at(ctx[rk.INTS], (n, sp.INTEGERS)), doubles_at(ctx[rk.W], (n + 1, sp.WIDTH))
    copy_carriers(ints, w, tangents_at(ctx[WORK], (n + 1, sp.WIDTH)), first, last)
    seed(ctx, batch, 1.0)
    if ctx[MOVED] > 0:
        slope_expressions(ctx, batch)
    differentiate(ctx, real, springs, loads, first, last)
    seed(ctx, batch, 0.0)


@compiled_callback(allocates=False)
def by_parameters(out, inp, context):
    """The same by parameters, which move all hinges."""
    ctx, batch = integers_at(context, SIZE), integers_at(inp, 3)[0]
    n, springs, loads = ctx[rk.HINGES], ctx[rk.SPRINGS], ctx[rk.LOADS]
    real = tangents_at(ctx[HINGE_NUMBERS] + BYTES * batch * n * sp.NUMBERS, (n, sp.NUMBERS))
    at = ctx[SPRING_NUMBERS] + BYTES * batch * springs * lk.SPRING_NUMBERS
    spring_numbers = tangents_at(at, (springs, lk.SPRING_NUMBERS))
    load_numbers = tangents_at(ctx[LOAD_NUMBERS] + BYTES * batch * loads * lk.LOAD_NUMBERS, (loads, lk.LOAD_NUMBERS))
    gravity = tangents_at(ctx[GRAVITIES] + BYTES * batch * 3, 3)
    sp.clear_ground(tangents_at(ctx[WORK], (n + 1, sp.WIDTH)), gravity[0], gravity[1], gravity[2])
    if ctx[MOVED] > 0:
        slope_expressions(ctx, batch)
    differentiate(ctx, real, spring_numbers, load_numbers, 1, n)


@compiled_part
def pass_batch(ctx, batch, first, last):
    """One pass with the tangents that the context is for."""
    order = integers_at(ctx[ORDER], 3)
    order[0], order[1], order[2] = batch, first, last
    call_native(ctx[PASS], 0, ctx[ORDER], ctx[SELF])


@compiled_callback(allocates=False)
def of_accelerations(out, inp, context):
    """Derivatives of v', a matrix row by row, at a state [t, q, v, u]."""
    ctx = integers_at(context, SIZE)
    n, nv = ctx[rk.HINGES], ctx[kn.NV]
    ranges, found = integers_at(ctx[RANGES], (ctx[BATCHES], 2)), doubles_at(out, (nv, ctx[COLUMNS]))
    rk.forward(ctx, inp, doubles_at(ctx[GIVEN], nv))
    ints, w = integers_at(ctx[rk.INTS], (n, sp.INTEGERS)), doubles_at(ctx[rk.W], (n + 1, sp.WIDTH))
    factor(ints, w, doubles_at(ctx[FACTORS], (n + 1, COMPLIANCE)))
    start(ctx, inp)
    for k in range(ctx[BATCHES]):
        pass_batch(ctx, k, ranges[k, 0], ranges[k, 1])
        solve_batch(ctx, ranges[k, 0], ranges[k, 1])
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
            pass_batch(ctx, b, 1, n)
            write_columns(ctx, b, ctx[LEFT_OVER], WIDTH, FIRST, out[k])
