"""Compiled callbacks of the recursion, one compilation for all models; they find everything through a context.

The context continues that of ``system.kernels``, so that its projection brings quaternions back to length one.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_callback, compiled_part
from pendula.numerics.compiled.native import address_of, call_native, doubles_at, integers_at
from pendula.numerics.scalars.eight import BYTES, eights_at
from pendula.system import kernels as kn
from pendula.system.recursion import loads as lk
from pendula.system.recursion import loops as lp
from pendula.system.recursion import planar as pl
from pendula.system.recursion import spatial as sp

# Entries of the context after those of kernels
(
    HINGES, INTS, REAL, SPRINGS, SPRINGS_AT, SPRING_NUMBERS_AT, LOADS, LOADS_AT, LOAD_NUMBERS_AT, GRAVITY, ASIDE,
    VALUES, CHARTS, TAU, RATES, W, EFFORTS, OUT, RHS, PLANE, OUTSIDE, LOAD_HINGES, SPRUNG, ROWS_AT, ROW_NUMBERS_AT,
    PULLS, ANSWERS, CHANGES, EFFORT_CHANGES, MATRIX, RIGHT, ORDER, SIZE,
) = range(kn.SIZE, kn.SIZE + 33)  # fmt: skip
"""``ASIDE``: where the program of expressions writes prescribed motions, ``VALUES`` values and ``CHARTS`` charts (both
numbers of values), ``OUT`` a buffer for rates, ``RHS`` the right-hand side itself, ``PLANE`` the numbers of a planar
mechanism, ``OUTSIDE`` efforts in its hinges and torques on them, ``LOAD_HINGES`` the hinges that loads act on"""


@compiled_part
def write_aside(ctx, x):
    """Prescribed motions, values of expressions and charts at a state [t, q, v, u] at an address."""
    if ctx[kn.CODE] != 0:
        call_native(ctx[kn.CODE], ctx[ASIDE], x, ctx[kn.PARAMETERS])


@compiled_part
def lay_out(ctx, x):
    """Places all hinges of a state at an address; returns the arrays that other parts read."""
    nq, nv, n, nd = ctx[kn.NQ], ctx[kn.NV], ctx[HINGES], ctx[kn.DRIVES]
    q, v = doubles_at(x + 8, nq), doubles_at(x + 8 * (1 + nq), nv)
    ints, real = integers_at(ctx[INTS], (n, sp.INTEGERS)), doubles_at(ctx[REAL], (n, sp.NUMBERS))
    drives = doubles_at(ctx[ASIDE], 3 * nd)
    charts = doubles_at(ctx[ASIDE] + 8 * (3 * nd + ctx[VALUES]), ctx[CHARTS])
    w = doubles_at(ctx[W], (n + 1, sp.WIDTH))
    gravity = doubles_at(ctx[GRAVITY], 3)
    sp.clear_ground(w, gravity[0], gravity[1], gravity[2])
    sp.place(ints, real, q, v, drives, charts, w)
    return q, v, ints, real, drives, charts, w


@compiled_part
def apply_loads(ctx, q, v, ints, real, drives, w):
    """Inertia and loads of what has been placed; returns the efforts and the power of all but springs."""
    nv, nd = ctx[kn.NV], ctx[kn.DRIVES]
    tau = doubles_at(ctx[TAU], nv + nd)
    for k in range(nv + nd):
        tau[k] = 0.0
    sp.start_inertia(real, w)
    values = doubles_at(ctx[ASIDE] + 8 * 3 * nd, ctx[VALUES])
    power = 0.0
    if ctx[SPRINGS] > 0:
        springs = integers_at(ctx[SPRINGS_AT], (ctx[SPRINGS], lk.SPRING_INTEGERS))
        constants = doubles_at(ctx[SPRING_NUMBERS_AT], (ctx[SPRINGS], lk.SPRING_NUMBERS))
        power += lk.load_hinges(springs, constants, ints, real, q, v, drives, values, tau, w)
    if ctx[LOADS] > 0:
        rates = doubles_at(ctx[RATES], nv + nd)
        for k in range(nv):
            rates[k] = v[k]
        for k in range(nd):
            rates[nv + k] = drives[3 * k + 1]
        loads = integers_at(ctx[LOADS_AT], (ctx[LOADS], lk.LOAD_INTEGERS))
        constants = doubles_at(ctx[LOAD_NUMBERS_AT], (ctx[LOADS], lk.LOAD_NUMBERS))
        power += lk.load_bodies(loads, constants, values, rates, tau, w)
    return tau, power


@compiled_part
def forward(ctx, x, out):
    """v' at a state [t, q, v, u] at an address; returns the power of loads that are not springs."""
    write_aside(ctx, x)
    q, v, ints, real, drives, charts, w = lay_out(ctx, x)
    tau, power = apply_loads(ctx, q, v, ints, real, drives, w)
    nv, nd = ctx[kn.NV], ctx[kn.DRIVES]
    sp.articulate(ints, tau, nv, drives, charts, w)
    sp.accelerate(ints, drives, charts, w, out)
    if nd > 0:
        lk.drive_efforts(ints, tau, nv, charts, w, doubles_at(ctx[EFFORTS], nd))
    return power


@compiled_part
def total_power(ctx, power):
    """Power of loads, which is kept behind the efforts, and of the prescribed motions, whose efforts are known."""
    nd = ctx[kn.DRIVES]
    efforts, drives = doubles_at(ctx[EFFORTS], nd + 1), doubles_at(ctx[ASIDE], 3 * nd)
    efforts[nd] = power
    for k in range(nd):
        power += efforts[k] * drives[3 * k + 1]
    return power


@compiled_part
def note_failure(ctx, x, rates):
    """Sets the status where accelerations are not finite though everything that goes in is."""
    nq, nv = ctx[kn.NQ], ctx[kn.NV]
    given = doubles_at(x, 1 + nq + nv)
    total = 0.0
    for k in range(nv):
        total += rates[nq + k] * 0.0
    if total == 0.0:
        return
    for k in range(1 + nq + nv):
        if not np.isfinite(given[k]):
            return
    aside = doubles_at(ctx[ASIDE], 3 * ctx[kn.DRIVES] + ctx[VALUES])
    for k in range(aside.shape[0]):
        if not np.isfinite(aside[k]):
            return
    integers_at(ctx[kn.STATUS], 1)[0] = kn.SINGULAR_MASS


@compiled_part
def copied(ctx, inp):
    """Address of [t, q, v, u] for a state [t, q, v, ...] at an address; the inputs stand in the buffer already."""
    if ctx[kn.CODE] == 0:
        return inp
    n = 1 + ctx[kn.NQ] + ctx[kn.NV]
    given, x = doubles_at(inp, n), doubles_at(ctx[kn.X], n)
    for k in range(n):
        x[k] = given[k]
    return ctx[kn.X]


@compiled_callback(allocates=False)
def right_hand_side(out, inp, context):
    """[t, q, v, (work)] -> [q', v', (power)]; NaN and a status in the context where a freedom has no inertia."""
    ctx = integers_at(context, SIZE)
    nq, nv = ctx[kn.NQ], ctx[kn.NV]
    rates = doubles_at(out, nq + nv + 1)
    x = copied(ctx, inp)
    power = forward(ctx, x, rates[nq : nq + nv])
    q, v = doubles_at(x + 8, nq), doubles_at(x + 8 * (1 + nq), nv)
    sp.coordinate_rates(integers_at(ctx[INTS], (ctx[HINGES], sp.INTEGERS)), q, v, rates)
    if ctx[kn.QUADRATURES] == 1:
        rates[nq + nv] = total_power(ctx, power)
    note_failure(ctx, x, rates)


@compiled_part
def measured(ctx, ints, real, q, v, drives, w):
    """Kinetic and potential energy of what has been placed, for any scalar type."""
    springs = integers_at(ctx[SPRINGS_AT], (ctx[SPRINGS], lk.SPRING_INTEGERS))
    hinge_constants = doubles_at(ctx[SPRING_NUMBERS_AT], (ctx[SPRINGS], lk.SPRING_NUMBERS))
    loads = integers_at(ctx[LOADS_AT], (ctx[LOADS], lk.LOAD_INTEGERS))
    constants = doubles_at(ctx[LOAD_NUMBERS_AT], (ctx[LOADS], lk.LOAD_NUMBERS))
    gravity = doubles_at(ctx[GRAVITY], 3)
    values = doubles_at(ctx[ASIDE] + 8 * 3 * ctx[kn.DRIVES], ctx[VALUES])
    return lk.energies(springs, hinge_constants, loads, constants, ints, real, q, v, drives, values, gravity, w)


# -- closed loops ----------------------------------------------------------------------------------------


@compiled_part
def pull(ctx, w):
    """What the rows of the loops exert at the state that stands in w, into their table."""
    m = ctx[kn.ROWS]
    rows = integers_at(ctx[ROWS_AT], (m, lp.ROW_INTEGERS))
    pulls = doubles_at(ctx[PULLS], (m, lp.PULLS))
    lp.pull_rows(rows, doubles_at(ctx[ROW_NUMBERS_AT], (m, lp.ROW_NUMBERS)), w, pulls)


@compiled_part
def find_multipliers(ctx, right, lam):
    """Multipliers for which the response of the tree satisfies every constraint row; returns a status of kernels."""
    m, n, nv, nd = ctx[kn.ROWS], ctx[HINGES], ctx[kn.NV], ctx[kn.DRIVES]
    matrix, scratch = doubles_at(ctx[MATRIX], (m, m)), doubles_at(ctx[RIGHT] + 8 * m, m)
    lp.answers(
        integers_at(ctx[INTS], (n, sp.INTEGERS)), integers_at(ctx[ROWS_AT], (m, lp.ROW_INTEGERS)),
        doubles_at(ctx[ASIDE] + 8 * (3 * nd + ctx[VALUES]), ctx[CHARTS]), doubles_at(ctx[W], (n + 1, sp.WIDTH)),
        doubles_at(ctx[PULLS], (m, lp.PULLS)), doubles_at(ctx[ANSWERS], (n + 1, lp.ANSWER)),
        doubles_at(ctx[CHANGES], (m, nv)), doubles_at(ctx[EFFORT_CHANGES], (m, nd)), matrix,
    )  # fmt: skip
    found = lp.solve_rows(matrix, right, ctx[kn.RANK], integers_at(ctx[ORDER], m), scratch, lam)
    if found == lp.TOO_FEW:
        return kn.SINGULAR_CONSTRAINTS
    return kn.MORE_CONSTRAINTS if found == lp.TOO_MANY else kn.FINE


@compiled_part
def forward_closed(ctx, x, out, lam):
    """v' and multipliers with closed loops; returns the status and the power of loads that are not springs."""
    m, n, nv, nd = ctx[kn.ROWS], ctx[HINGES], ctx[kn.NV], ctx[kn.DRIVES]
    power = forward(ctx, x, out)
    pull(ctx, doubles_at(ctx[W], (n + 1, sp.WIDTH)))
    pulls = doubles_at(ctx[PULLS], (m, lp.PULLS))
    right = doubles_at(ctx[RIGHT], m)
    rate = doubles_at(ctx[kn.RATE], 1)[0] if ctx[kn.BAUMGARTE] == 1 else 0.0
    for r in range(m):
        right[r] = -(pulls[r, lp.SECOND] + 2.0 * rate * pulls[r, lp.RATE] + rate * rate * pulls[r, lp.OPENING])
    status = find_multipliers(ctx, right, lam)
    changes, more = doubles_at(ctx[CHANGES], (m, nv)), doubles_at(ctx[EFFORT_CHANGES], (m, nd))
    efforts = doubles_at(ctx[EFFORTS], nd)
    for r in range(m):
        for k in range(nv):
            out[k] += lam[r] * changes[r, k]
        for k in range(nd):
            efforts[k] += lam[r] * more[r, k]
    return status, power


@compiled_callback(allocates=False)
def closed_right_hand_side(out, inp, context):
    """Like :func:`right_hand_side`, with closed loops."""
    ctx = integers_at(context, SIZE)
    nq, nv = ctx[kn.NQ], ctx[kn.NV]
    x, rates = copied(ctx, inp), doubles_at(out, nq + nv + 1)
    lam = doubles_at(ctx[kn.MULTIPLIERS], ctx[kn.ROWS])
    status, power = forward_closed(ctx, x, rates[nq : nq + nv], lam)
    q, v = doubles_at(x + 8, nq), doubles_at(x + 8 * (1 + nq), nv)
    sp.coordinate_rates(integers_at(ctx[INTS], (ctx[HINGES], sp.INTEGERS)), q, v, rates)
    if ctx[kn.QUADRATURES] == 1:
        rates[nq + nv] = total_power(ctx, power)
    if status != kn.FINE:
        integers_at(ctx[kn.STATUS], 1)[0] = status
        for k in range(nq + nv):
            rates[k] = np.nan
        return
    note_failure(ctx, x, rates)


@compiled_part
def factored(ctx, q, v):
    """Brings the tree to a state and factors its articulated inertias for unit responses; fills the table of rows."""
    nq, nv, nd = ctx[kn.NQ], ctx[kn.NV], ctx[kn.DRIVES]
    x = doubles_at(ctx[kn.X], 1 + nq + nv)
    for k in range(nq):
        x[1 + k] = q[k]
    for k in range(nv):
        x[1 + nq + k] = v[k]
    write_aside(ctx, ctx[kn.X])
    _, _, ints, real, drives, charts, w = lay_out(ctx, ctx[kn.X])
    tau = doubles_at(ctx[TAU], nv + nd)
    for k in range(nv + nd):
        tau[k] = 0.0
    sp.start_inertia(real, w)
    sp.articulate(ints, tau, nv, drives, charts, w)
    pull(ctx, w)


@compiled_part
def answer_with(ctx, right, lam, shift):
    """The least change of the speeds, in the sense of the mass matrix, that changes the rows as wanted."""
    m, nv = ctx[kn.ROWS], ctx[kn.NV]
    status = find_multipliers(ctx, right, lam)
    changes = doubles_at(ctx[CHANGES], (m, nv))
    for k in range(nv):
        shift[k] = 0.0
        for r in range(m):
            shift[k] += lam[r] * changes[r, k]
    return status


@compiled_callback
def project_closed(out, inp, context):
    """[t, q, v, (work)] -> the nearest state on the constraints, violation before and after, status."""
    ctx = integers_at(context, SIZE)
    nq, nv, m = ctx[kn.NQ], ctx[kn.NV], ctx[kn.ROWS]
    n = nq + nv + ctx[kn.QUADRATURES]
    given, result = doubles_at(inp, 1 + n), doubles_at(out, n + 3)
    for k in range(n):
        result[k] = given[1 + k]
    doubles_at(ctx[kn.X], 1)[0] = given[0]
    q, v = result[:nq], result[nq : nq + nv]
    right, lam = doubles_at(ctx[RIGHT], m), doubles_at(ctx[kn.MULTIPLIERS], m)
    shift, length = doubles_at(ctx[kn.WORK], nv), doubles_at(ctx[kn.LENGTH], 1)[0]
    before = kn.normalize(ctx, q)
    pulls = doubles_at(ctx[PULLS], (m, lp.PULLS))
    after, status, best = 0.0, 0.0, np.inf
    for step in range(ctx[kn.MAX_PASSES]):
        factored(ctx, q, v)
        after = 0.0
        for r in range(m):
            right[r] = -pulls[r, lp.OPENING]
            after = max(after, abs(right[r]))
        if step == 0:
            before = max(before, after)
        if not after < 1e300:
            status = 1.0
            break
        if after <= kn.CLOSED * length or (step > 1 and after >= 0.5 * best):
            break
        best = min(best, after)
        if answer_with(ctx, right, lam, shift) != kn.FINE:
            status = 1.0
            break
        kn.move(ctx, q, shift)
    if status == 0.0 and after > kn.CLOSED_ENOUGH * length:
        status = 1.0
    if status == 0.0:
        for r in range(m):
            right[r] = -pulls[r, lp.RATE]
        if answer_with(ctx, right, lam, shift) != kn.FINE:
            status = 1.0
        else:
            for k in range(nv):
                v[k] += shift[k]
    result[n], result[n + 1], result[n + 2] = before, after, status


# -- in the plane --------------------------------------------------------------------------------------


@compiled_part
def load_from_outside(ctx, v, drives, efforts, torques):
    """Efforts in hinges and torques on them that are given by expressions; returns the power of the efforts."""
    n, nv, nd = ctx[HINGES], ctx[kn.NV], ctx[kn.DRIVES]
    values = doubles_at(ctx[ASIDE] + 8 * 3 * nd, ctx[VALUES])
    loads = integers_at(ctx[LOADS_AT], (ctx[LOADS], lk.LOAD_INTEGERS))
    hinges = integers_at(ctx[LOAD_HINGES], ctx[LOADS])
    for i in range(n):
        efforts[i] = torques[i] = 0.0
    power = 0.0
    for k in range(ctx[LOADS]):
        at = loads[k, lk.VALUE]
        if loads[k, lk.KIND] == lk.EFFORT_GIVEN:
            rate = loads[k, lk.FIRST]
            efforts[hinges[k] - 1] += values[at]
            power += values[at] * (v[rate] if rate < nv else drives[3 * (rate - nv) + 1])
        else:
            torques[hinges[k] - 1] += values[at + 2]
    return power


@compiled_callback(allocates=False)
def planar_right_hand_side(out, inp, context):
    """The same as :func:`right_hand_side`, for a mechanism that moves in a plane."""
    ctx = integers_at(context, SIZE)
    n, nq, nv, nd = ctx[HINGES], ctx[kn.NQ], ctx[kn.NV], ctx[kn.DRIVES]
    x, rates = copied(ctx, inp), doubles_at(out, nq + nv + 1)
    write_aside(ctx, x)
    q, v, drives = doubles_at(x + 8, nq), doubles_at(x + 8 * (1 + nq), nv), doubles_at(ctx[ASIDE], 3 * nd)
    ints, real = integers_at(ctx[INTS], (n, sp.INTEGERS)), doubles_at(ctx[PLANE], (n, pl.NUMBERS))
    w, gravity = doubles_at(ctx[W], (n + 1, pl.WIDTH)), doubles_at(ctx[GRAVITY], 3)
    efforts, torques = doubles_at(ctx[OUTSIDE], n), doubles_at(ctx[OUTSIDE] + 8 * n, n)
    power = load_from_outside(ctx, v, drives, efforts, torques) if ctx[LOADS] > 0 else 0.0
    power += pl.forward(ints, real, gravity[0], gravity[1], q, v, drives, efforts, torques, w, rates[nq : nq + nv])
    for k in range(nq):
        rates[k] = v[k]
    if ctx[kn.QUADRATURES] == 1:
        for k in range(n):
            power += torques[k] * w[1 + k, pl.OMEGA]
        if nd > 0:
            pl.drive_efforts(ints, w, doubles_at(ctx[EFFORTS], nd))
        rates[nq + nv] = total_power(ctx, power)
    note_failure(ctx, x, rates)


@compiled_callback(allocates=False)
def chain_right_hand_side(out, inp, context):
    """The same for links one after the other whose angles are measured from ground."""
    ctx = integers_at(context, SIZE)
    n = ctx[HINGES]
    q, v, rates = doubles_at(inp + 8, n), doubles_at(inp + 8 * (1 + n), n), doubles_at(out, 2 * n + 1)
    w, gravity = doubles_at(ctx[W], (pl.LINK, pl.room(n))), doubles_at(ctx[GRAVITY], 3)
    power = pl.chain(
        doubles_at(ctx[PLANE], (n, pl.NUMBERS)), ctx[SPRUNG] == 1, gravity[0], gravity[1], q, v, w, rates[n : 2 * n]
    )
    for k in range(n):
        rates[k] = v[k]
    if ctx[kn.QUADRATURES] == 1:
        rates[2 * n] = total_power(ctx, power)
    note_failure(ctx, inp, rates)


# -- eight states at once --------------------------------------------------------------------------------


@compiled_callback(allocates=False)
def chain_eight(out, inp, context):
    """Like :func:`chain_right_hand_side`, for eight states: every number is followed by those of the other lanes."""
    ctx = integers_at(context, SIZE)
    n = ctx[HINGES]
    q, v, rates = eights_at(inp + BYTES, n), eights_at(inp + BYTES * (1 + n), n), eights_at(out, 2 * n + 1)
    w, gravity = eights_at(ctx[W], (pl.LINK, n)), doubles_at(ctx[GRAVITY], 3)
    power = pl.chain(
        doubles_at(ctx[PLANE], (n, pl.NUMBERS)), ctx[SPRUNG] == 1, gravity[0], gravity[1], q, v, w, rates[n : 2 * n]
    )
    for k in range(n):
        rates[k] = v[k]
    if ctx[kn.QUADRATURES] == 1:
        rates[2 * n] = power


@compiled_callback(allocates=False)
def planar_eight(out, inp, context):
    """Like :func:`planar_right_hand_side`, for eight states without anything that depends on time or expressions."""
    ctx = integers_at(context, SIZE)
    n, nq, nv = ctx[HINGES], ctx[kn.NQ], ctx[kn.NV]
    q, v, rates = eights_at(inp + BYTES, nq), eights_at(inp + BYTES * (1 + nq), nv), eights_at(out, nq + nv + 1)
    ints, real = integers_at(ctx[INTS], (n, sp.INTEGERS)), doubles_at(ctx[PLANE], (n, pl.NUMBERS))
    w, gravity = eights_at(ctx[W], (n + 1, pl.WIDTH)), doubles_at(ctx[GRAVITY], 3)
    efforts, torques = doubles_at(ctx[OUTSIDE], n), doubles_at(ctx[OUTSIDE] + 8 * n, n)
    drives = doubles_at(ctx[ASIDE], 0)
    power = pl.forward(ints, real, gravity[0], gravity[1], q, v, drives, efforts, torques, w, rates[nq : nq + nv])
    for k in range(nq):
        rates[k] = v[k]
    if ctx[kn.QUADRATURES] == 1:
        rates[nq + nv] = power


@compiled_callback(allocates=False)
def spatial_eight(out, inp, context):
    """Like :func:`right_hand_side`, for eight states without anything that depends on time or expressions."""
    ctx = integers_at(context, SIZE)
    n, nq, nv = ctx[HINGES], ctx[kn.NQ], ctx[kn.NV]
    q, v, rates = eights_at(inp + BYTES, nq), eights_at(inp + BYTES * (1 + nq), nv), eights_at(out, nq + nv + 1)
    ints, real = integers_at(ctx[INTS], (n, sp.INTEGERS)), doubles_at(ctx[REAL], (n, sp.NUMBERS))
    w, gravity, tau = eights_at(ctx[W], (n + 1, sp.WIDTH)), doubles_at(ctx[GRAVITY], 3), eights_at(ctx[TAU], nv)
    drives, values, charts = doubles_at(ctx[ASIDE], 0), doubles_at(ctx[ASIDE], 0), eights_at(ctx[TAU], 0)
    sp.clear_ground(w, gravity[0], gravity[1], gravity[2])
    sp.place(ints, real, q, v, drives, charts, w)
    sp.start_inertia(real, w)
    for k in range(nv):
        tau[k] = 0.0
    springs = integers_at(ctx[SPRINGS_AT], (ctx[SPRINGS], lk.SPRING_INTEGERS))
    constants = doubles_at(ctx[SPRING_NUMBERS_AT], (ctx[SPRINGS], lk.SPRING_NUMBERS))
    power = lk.load_hinges(springs, constants, ints, real, q, v, drives, values, tau, w)
    loads = integers_at(ctx[LOADS_AT], (ctx[LOADS], lk.LOAD_INTEGERS))
    constants = doubles_at(ctx[LOAD_NUMBERS_AT], (ctx[LOADS], lk.LOAD_NUMBERS))
    power += lk.load_bodies(loads, constants, values, v, tau, w)
    sp.articulate(ints, tau, nv, drives, charts, w)
    sp.accelerate(ints, drives, charts, w, rates[nq : nq + nv])
    sp.coordinate_rates(ints, q, v, rates)
    if ctx[kn.QUADRATURES] == 1:
        rates[nq + nv] = power


@compiled_callback(allocates=False)
def energies_of_one(out, inp, context):
    """[t, q, v] -> kinetic and potential energy; bodies that are fixed to ground are left out."""
    ctx = integers_at(context, SIZE)
    x = copied(ctx, inp)
    write_aside(ctx, x)
    q, v, ints, real, drives, _, w = lay_out(ctx, x)
    found = doubles_at(out, 2)
    found[0], found[1] = measured(ctx, ints, real, q, v, drives, w)


@compiled_callback(allocates=False)
def energies_of_eight(out, inp, context):
    """The same for eight states without anything that depends on time or expressions."""
    ctx = integers_at(context, SIZE)
    n, nq, nv = ctx[HINGES], ctx[kn.NQ], ctx[kn.NV]
    q, v, found = eights_at(inp + BYTES, nq), eights_at(inp + BYTES * (1 + nq), nv), eights_at(out, 2)
    ints, real = integers_at(ctx[INTS], (n, sp.INTEGERS)), doubles_at(ctx[REAL], (n, sp.NUMBERS))
    w, gravity = eights_at(ctx[W], (n + 1, sp.WIDTH)), doubles_at(ctx[GRAVITY], 3)
    drives, charts = doubles_at(ctx[ASIDE], 0), eights_at(ctx[TAU], 0)
    sp.clear_ground(w, gravity[0], gravity[1], gravity[2])
    sp.place(ints, real, q, v, drives, charts, w)
    found[0], found[1] = measured(ctx, ints, real, q, v, drives, w)


@compiled_callback(allocates=False)
def planar_energies_of_eight(out, inp, context):
    """The same for a mechanism that moves in a plane."""
    ctx = integers_at(context, SIZE)
    n, nq, nv = ctx[HINGES], ctx[kn.NQ], ctx[kn.NV]
    q, v, found = eights_at(inp + BYTES, nq), eights_at(inp + BYTES * (1 + nq), nv), eights_at(out, 2)
    ints, real = integers_at(ctx[INTS], (n, sp.INTEGERS)), doubles_at(ctx[PLANE], (n, pl.NUMBERS))
    w, gravity = eights_at(ctx[W], (n + 1, pl.WIDTH)), doubles_at(ctx[GRAVITY], 3)
    found[0], found[1] = pl.energies(ints, real, gravity[0], gravity[1], q, v, w)


# -- from Python -----------------------------------------------------------------------------------------


@compiled(allocates=False)
def evaluate(context, q, v, out):
    """v' at one state, for calls from Python; no checks."""
    ctx = integers_at(context, SIZE)
    nq, nv = ctx[kn.NQ], ctx[kn.NV]
    x, rates = doubles_at(ctx[kn.X], 1 + nq + nv), doubles_at(ctx[OUT], nq + nv + 1)
    for k in range(nq):
        x[1 + k] = q[k]
    for k in range(nv):
        x[1 + nq + k] = v[k]
    call_native(ctx[RHS], ctx[OUT], ctx[kn.X], context)
    for k in range(nv):
        out[k] = rates[nq + k]


@compiled(allocates=False)
def solve_rows(context, x, accelerations, multipliers, power, efforts, status):
    """Accelerations, multipliers, power of loads and efforts of prescribed motions for every row [t, q, v, u] of x.

    The right-hand side is called by its address, whichever it is: what is not used need not be compiled.
    """
    ctx = integers_at(context, SIZE)
    nq, nv, nu, nd, m = ctx[kn.NQ], ctx[kn.NV], ctx[kn.NU], ctx[kn.DRIVES], ctx[kn.ROWS]
    rates, inputs = doubles_at(ctx[OUT], nq + nv + 1), doubles_at(ctx[kn.X] + 8 * (1 + nq + nv), nu)
    found, lam = doubles_at(ctx[EFFORTS], nd + 1), doubles_at(ctx[kn.MULTIPLIERS], m)
    for k in range(x.shape[0]):
        integers_at(ctx[kn.STATUS], 1)[0] = kn.FINE
        for i in range(nu):
            inputs[i] = x[k, 1 + nq + nv + i]
        call_native(ctx[RHS], ctx[OUT], address_of(x) + 8 * k * x.shape[1], context)
        for i in range(nv):
            accelerations[k, i] = rates[nq + i]
        for i in range(m):
            multipliers[k, i] = lam[i]
        for i in range(nd):
            efforts[k, i] = found[i]
        power[k] = found[nd]
        status[k] = integers_at(ctx[kn.STATUS], 1)[0]


@compiled(allocates=False)
def energy_rows(context, x, out):
    """Kinetic and potential energy for every row [t, q, v, u] of x."""
    ctx = integers_at(context, SIZE)
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        write_aside(ctx, at)
        q, v, ints, real, drives, _, w = lay_out(ctx, at)
        out[k, 0], out[k, 1] = measured(ctx, ints, real, q, v, drives, w)


@compiled(allocates=False)
def motion_rows(context, x, a, out):
    """Rotation, position, velocities and accelerations of all hinges for every row [t, q, v, u] of x and v' in a.

    One row of out per hinge: rotation (9), position, velocity, angular velocity, acceleration, angular acceleration.
    """
    ctx = integers_at(context, SIZE)
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        write_aside(ctx, at)
        _, _, ints, _, drives, charts, w = lay_out(ctx, at)
        for i in range(3):
            w[0, sp.ACC + i] = 0.0
        accelerate_given(ints, drives, charts, a[k], w)
        for i in range(ints.shape[0]):
            y, row = w[1 + i], out[k, i]
            for j in range(9):
                row[j] = y[j]
            for j in range(3):
                row[9 + j], row[12 + j], row[15 + j] = y[sp.POSITION + j], y[sp.VELOCITY + j], y[sp.OMEGA + j]
                row[18 + j], row[21 + j] = y[sp.ACC + j], y[sp.ALPHA + j]


@compiled_part(fastmath=sp.FUSED)
def accelerate_given(ints, drives, charts, a, w, first=1):
    """Accelerations of all hinges for given v', from ground to the tips."""
    for i in range(first, ints.shape[0] + 1):
        row = ints[i - 1]
        x, y = w[row[sp.PARENT]], w[i]
        kind, k = row[sp.KIND], row[sp.V]
        a0, a1, a2 = x[sp.ALPHA], x[sp.ALPHA + 1], x[sp.ALPHA + 2]
        b0, b1, b2 = sp.cross(a0, a1, a2, y[sp.ARM], y[sp.ARM + 1], y[sp.ARM + 2])
        b0, b1, b2 = x[sp.ACC] + b0, x[sp.ACC + 1] + b1, x[sp.ACC + 2] + b2
        if kind == sp.CHART:
            free = row[sp.FREE]
            axes = row[sp.AT_CHART] + sp.CHART_AXES + 6 * (free + row[sp.DRIVE])
            for j in range(free):
                s, d = axes + 6 * j, a[k + j]
                a0, a1, a2 = a0 + charts[s] * d, a1 + charts[s + 1] * d, a2 + charts[s + 2] * d
                b0, b1, b2 = b0 + charts[s + 3] * d, b1 + charts[s + 4] * d, b2 + charts[s + 5] * d
        elif kind == sp.BALL:
            d0, d1, d2 = sp.turned(y, sp.R, a[k], a[k + 1], a[k + 2])
            a0, a1, a2 = a0 + d0, a1 + d1, a2 + d2
        elif row[sp.ABSOLUTE] == 1:
            d = a[k] if k >= 0 else drives[3 * row[sp.DRIVE] + 2]
            a0, a1, a2 = y[2] * d, y[5] * d, y[8] * d
        elif k >= 0 and kind == sp.REVOLUTE:
            a0, a1, a2 = a0 + y[2] * a[k], a1 + y[5] * a[k], a2 + y[8] * a[k]
        elif k >= 0:
            b0, b1, b2 = b0 + y[2] * a[k], b1 + y[5] * a[k], b2 + y[8] * a[k]
        y[sp.ALPHA], y[sp.ALPHA + 1] = a0 + y[sp.BIAS_N], a1 + y[sp.BIAS_N + 1]
        y[sp.ALPHA + 2] = a2 + y[sp.BIAS_N + 2]
        y[sp.ACC], y[sp.ACC + 1] = b0 + y[sp.BIAS_F], b1 + y[sp.BIAS_F + 1]
        y[sp.ACC + 2] = b2 + y[sp.BIAS_F + 2]


@compiled_part
def balance(ctx, ints, tau, charts, w, out, first=1):
    """What speeds' forces are left over: M v' - f, from the inertias and accelerations that stand in w."""
    for i in range(first, ints.shape[0] + 1):
        y = w[i]
        a0, a1, a2 = y[sp.ALPHA], y[sp.ALPHA + 1], y[sp.ALPHA + 2]
        b0, b1, b2 = y[sp.ACC], y[sp.ACC + 1], y[sp.ACC + 2]
        n0, n1, n2 = sp.symmetric(y, sp.A, a0, a1, a2)
        m0, m1, m2 = sp.turned(y, sp.B, b0, b1, b2)
        f0, f1, f2 = sp.symmetric(y, sp.C, b0, b1, b2)
        y[sp.P], y[sp.P + 1], y[sp.P + 2] = y[sp.P] + n0 + m0, y[sp.P + 1] + n1 + m1, y[sp.P + 2] + n2 + m2
        y[sp.P + 3] += f0 + y[sp.B] * a0 + y[sp.B + 3] * a1 + y[sp.B + 6] * a2
        y[sp.P + 4] += f1 + y[sp.B + 1] * a0 + y[sp.B + 4] * a1 + y[sp.B + 7] * a2
        y[sp.P + 5] += f2 + y[sp.B + 2] * a0 + y[sp.B + 5] * a1 + y[sp.B + 8] * a2
    hand_down(ctx, ints, tau, charts, w, out, first)


@compiled_part(fastmath=sp.FUSED)
def hand_down(ctx, ints, tau, charts, w, out, first=1):
    """What speeds' forces are left over, from the forces that every hinge needs; the tips come first."""
    nv = ctx[kn.NV]
    for i in range(ints.shape[0], first - 1, -1):
        row = ints[i - 1]
        x, y = w[row[sp.PARENT]], w[i]
        kind, k = row[sp.KIND], row[sp.V]
        n0, n1, n2, f0, f1, f2 = y[sp.P], y[sp.P + 1], y[sp.P + 2], y[sp.P + 3], y[sp.P + 4], y[sp.P + 5]
        if kind == sp.CHART:
            axes = row[sp.AT_CHART] + sp.CHART_AXES + 6 * (row[sp.FREE] + row[sp.DRIVE])
            for j in range(row[sp.FREE]):
                s = axes + 6 * j
                total = charts[s] * n0 + charts[s + 1] * n1 + charts[s + 2] * n2
                out[k + j] = total + charts[s + 3] * f0 + charts[s + 4] * f1 + charts[s + 5] * f2 - tau[k + j]
        elif kind == sp.BALL:
            for j in range(3):
                out[k + j] = y[j] * n0 + y[3 + j] * n1 + y[6 + j] * n2 - tau[k + j]
        elif kind == sp.REVOLUTE:
            through = tau[k] if k >= 0 else tau[nv + row[sp.DRIVE]]
            whole = y[2] * n0 + y[5] * n1 + y[8] * n2
            if k >= 0:
                out[k] = whole - through
            if row[sp.ABSOLUTE] == 1:  # what drives it acts from ground: only the spring's torque goes through
                n0, n1, n2 = n0 + y[2] * (through - whole), n1 + y[5] * (through - whole), n2 + y[8] * (through - whole)
        elif k >= 0:
            out[k] = y[2] * f0 + y[5] * f1 + y[8] * f2 - tau[k]
        r0, r1, r2 = y[sp.ARM], y[sp.ARM + 1], y[sp.ARM + 2]
        x[sp.P] += n0 + r1 * f2 - r2 * f1
        x[sp.P + 1] += n1 + r2 * f0 - r0 * f2
        x[sp.P + 2] += n2 + r0 * f1 - r1 * f0
        x[sp.P + 3] += f0
        x[sp.P + 4] += f1
        x[sp.P + 5] += f2


@compiled(allocates=False)
def residual_rows(context, x, a, out):
    """M v' - f for every row [t, q, v, u] of x and v' in a: inverse dynamics."""
    ctx = integers_at(context, SIZE)
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        write_aside(ctx, at)
        q, v, ints, real, drives, charts, w = lay_out(ctx, at)
        tau, _ = apply_loads(ctx, q, v, ints, real, drives, w)
        accelerate_given(ints, drives, charts, a[k], w)
        balance(ctx, ints, tau, charts, w, out[k])


@compiled(allocates=False)
def mass_rows(context, x, unit, out):
    """The mass matrix for every row [t, q, v, u] of x: column by column, the forces that a unit of v' needs.

    ``unit`` is scratch for one number per speed. Speeds, gravity and prescribed motions are left out of account.
    """
    ctx = integers_at(context, SIZE)
    nv, nd = ctx[kn.NV], ctx[kn.DRIVES]
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        write_aside(ctx, at)
        _, _, ints, real, drives, charts, w = lay_out(ctx, at)
        tau = doubles_at(ctx[TAU], nv + nd)
        tau[:] = 0.0
        sp.clear_ground(w, 0.0, 0.0, 0.0)
        sp.start_inertia(real, w)
        for i in range(nd):
            drives[3 * i + 2] = 0.0
        for j in range(nv):
            for i in range(1, w.shape[0]):
                for l in range(6):
                    w[i, sp.P + l] = 0.0
                    w[i, sp.BIAS_N + l] = 0.0
            for i in range(nv):
                unit[i] = 1.0 if i == j else 0.0
            accelerate_given(ints, drives, charts, unit, w)
            balance(ctx, ints, tau, charts, w, out[k, j])
