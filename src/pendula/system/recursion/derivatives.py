"""Exact derivatives of the recursion: inverse dynamics with tangents, then solves with the articulated inertias.

The Jacobian of v' is that of M v' - f at constant v', times -M^-1. One pass of inverse dynamics, by the same kernels
that compute plain numbers, yields eight columns. A coordinate moves only the subtree outboard of its hinge, so a pass
starts at the first hinge that its columns move; the solve receives the forces on the hinges inboard of it.

Hinges outboard of those of the columns are carried along as one frozen body: in axes that rotate with their carrier,
only the carrier's angular velocity and acceleration change. If only relative motion matters (no external loads, no
angles measured from ground), this short linear recursion replaces the pass for them. Revolute and prismatic joints need
no tangents at all: their direct changes are known in closed form.

The context (:data:`DERIVATIVES`) extends that of ``recursion.memory``.
"""

from __future__ import annotations

from pendula.numerics.compiled.jit import compiled, compiled_callback, compiled_part
from pendula.numerics.compiled.native import address_of, call_native, doubles_at, integers_at
from pendula.numerics.compiled.records import reader, record_dtype
from pendula.numerics.scalars.eight import LANES, eights_at
from pendula.numerics.scalars.tangents import BYTES, FIRST, WIDTH, tangents_at, tangents_of
from pendula.system import kernels as kn
from pendula.system.recursion import carried as ca
from pendula.system.recursion import columns as co
from pendula.system.recursion import inverse as iv
from pendula.system.recursion import kernels as rk
from pendula.system.recursion import loads as lk
from pendula.system.recursion import memory as mem
from pendula.system.recursion import spatial as sp
from pendula.system.recursion.algebra import inlined

DERIVATIVES = record_dtype(
    kn.REALS,
    mem.WHOLE
    + """
    columns batches ranges seeds targets lane_hinges slopes_code slopes_parameters slopes moved moved_at
    given rates inputs forward_code request pass_code whole_code frozen d_changes d_wrenches d_right
    d_w d_q d_v d_aside d_tau d_left d_numbers d_spring_numbers d_load_numbers d_gravity
    """,
)
"""Fields after those of the recursion: the number of ``columns`` (derivatives); for each of the ``batches`` of eight:
``ranges`` (first hinge, last that moves directly, last that is carried along), ``seeds`` (index in [t, q, v, u] of the
variable, 0 for none), ``targets`` (columns of the result, -1: none), ``lane_hinges`` (the hinges); ``slopes``:
derivatives of expressions, ``moved``: how many expressions have nonzero ones, ``moved_at``: their indices;
``given``: v', the end of ``rates``, which the callback ``forward_code`` computes; ``inputs``: the number of entries of
u; ``pass_code``: the callback for one batch, ``request``: its input, ``whole_code``: the callback for the derivatives
of v'; ``frozen``: the table of carried hinges, 0 if none is ever carried. Fields ``d_...`` are scratch: ``d_changes``
changes of the carriers, ``d_wrenches`` and ``d_right`` the input of the solve, the others arrays of the recursion with
tangents, of which the last four are tables with derivatives by parameters, batch by batch."""
derivatives_at = reader(DERIVATIVES)

REQUEST = record_dtype(whole="batch first own last")
"""Input of the callback for one batch: its number and its range of hinges"""
request_at = reader(REQUEST)


@inlined
def aside_size(ctx):
    """Length of the output of the program of expressions, charts included."""
    return 3 * ctx.drives + ctx.values + ctx.charts


@mem.view
def by_batch(ctx, address, batch):
    """Eight integers of a batch."""
    return integers_at(address, (ctx.batches, LANES))[batch]


@compiled_part
def start(ctx, x):
    """Copies the state at an address and the expressions as constants, and evaluates the expressions' derivatives."""
    nq, nv, size = ctx.nq, ctx.nv, aside_size(ctx)
    state, aside = doubles_at(x, 1 + nq + nv), doubles_at(ctx.aside, size)
    q, v, asides = tangents_at(ctx.d_q, nq), tangents_at(ctx.d_v, nv), tangents_at(ctx.d_aside, size)
    for k in range(nq):
        q[k] = state[1 + k]
    for k in range(nv):
        v[k] = state[1 + nq + k]
    for k in range(size):
        asides[k] = aside[k]
    if ctx.moved > 0:
        call_native(ctx.slopes_code, ctx.slopes, x, ctx.slopes_parameters)


@compiled_part
def seed(ctx, batch, amount):
    """Sets the tangents of the coordinates and speeds with respect to which a batch differentiates."""
    nq, nv = ctx.nq, ctx.nv
    seeds = by_batch(ctx, ctx.seeds, batch)
    q, v = doubles_at(ctx.d_q, (nq, WIDTH)), doubles_at(ctx.d_v, (nv, WIDTH))
    for k in range(LANES):
        at = seeds[k]
        if at > nq:
            v[at - 1 - nq, FIRST + k] = amount
        elif at > 0:
            q[at - 1, FIRST + k] = amount


@compiled_part
def slope_expressions(ctx, batch):
    """Sets the tangents of prescribed motions, expressions and charts."""
    moved, size = ctx.moved, aside_size(ctx)
    targets = by_batch(ctx, ctx.targets, batch)
    slopes, places = doubles_at(ctx.slopes, (ctx.columns, moved)), integers_at(ctx.moved_at, moved)
    asides = doubles_at(ctx.d_aside, (size, WIDTH))
    for k in range(moved):
        for l in range(LANES):
            asides[places[k], FIRST + l] = slopes[targets[l], k] if targets[l] >= 0 else 0.0


@compiled_part
def copy_carriers(tree, w, work, first, last):
    """Copies the fixed hinges that carry those of a range, as constants without forces on them."""
    for i in range(first, last + 1):
        up = tree[i - 1].parent
        if up < first:
            x, y = w[up], work[up]
            for k in range(co.WIDTH):
                y[k] = x[k]
            for k in range(6):
                y[co.P + k] = 0.0


@compiled_part
def differentiate(ctx, numbers, spring_numbers, load_numbers, first, own, last):
    """M v' - f with tangents, for a range of hinges; the forces that they transmit to earlier hinges are stored there.

    Hinges after the last ``own`` one are carried along; the solve adds their part of the change.
    """
    n, nq, nv, nd = ctx.hinge_count, ctx.nq, ctx.nv, ctx.drives
    tree, w = mem.hinges_of(ctx), tangents_at(ctx.d_w, (n + 1, co.WIDTH))
    q, v, tau = tangents_at(ctx.d_q, nq), tangents_at(ctx.d_v, nv + nd), tangents_at(ctx.d_tau, nv + nd)
    drives, values = tangents_at(ctx.d_aside, 3 * nd), tangents_at(ctx.d_aside + BYTES * 3 * nd, ctx.values)
    charts = tangents_at(ctx.d_aside + BYTES * (3 * nd + ctx.values), ctx.charts)
    a, out = doubles_at(ctx.given, nv), tangents_at(ctx.d_left, nv)
    for i in range(first, own + 1):  # hinge by hinge: its data is still in the cache
        sp.place(tree[:i], numbers, q, v, drives, charts, w, i)
        iv.accelerate_given(tree[:i], drives, charts, a, w, i)
        iv.need_forces(numbers[:i], w, i)
    for k in range(nv + nd):
        tau[k] = 0.0
    for k in range(nv):
        out[k] = 0.0
    if ctx.spring_count > 0:
        lk.load_hinges(mem.springs_of(ctx)[0], spring_numbers, tree, numbers, q, v, drives, values, tau, w)
    if ctx.load_count > 0:
        lk.load_bodies(mem.loads_of(ctx)[0], load_numbers, values, v, tau, w)
    if own < last:
        carry(ctx, tree, w, first, own, last)
    iv.hand_down(tree[:own], numbers, a, tau, nv, charts, w, out, first)


@compiled_part
def carry(ctx, tree, work, first, own, last):
    """Changes of the forces on the carried hinges, as input of the solve."""
    n = ctx.hinge_count
    w, frozen = mem.scratch_of(ctx), doubles_at(ctx.frozen, (n + 1, ca.FROZEN_WIDTH))
    changes, z = eights_at(ctx.d_changes, (n + 1, ca.CHANGES_WIDTH)), eights_at(ctx.d_wrenches, (n + 1, 6))
    for i in range(first, own + 1):
        ca.note_change(work[i], changes[i])
    for i in range(own + 1, last + 1):
        up = tree[i - 1].parent
        if up < first:  # another branch, which does not change
            for k in range(ca.CHANGES_WIDTH):
                changes[i, k] = 0.0
            for k in range(6):
                z[i, k] = 0.0
            continue
        if up <= own:
            ca.take_over(changes[up], w[i], frozen[i], work[up])
        ca.carry_motion(frozen[i], changes[up], changes[i])
        ca.carry_forces(frozen[i], changes[i], z[i])


@compiled_part
def stiffen(ctx, batch):
    """Subtracts stiffness and damping of springs across hinges from the right-hand side."""
    nq, count = ctx.nq, ctx.spring_count
    hinges = by_batch(ctx, ctx.lane_hinges, batch)
    seeds = by_batch(ctx, ctx.seeds, batch)
    springs, constants = mem.springs_of(ctx)
    b = doubles_at(ctx.d_right, (ctx.nv, LANES))
    for k in range(count):
        for l in range(LANES):
            if hinges[l] == springs[k].hinge:
                b[springs[k].effort, l] -= constants[k, co.DAMPING if seeds[l] > nq else co.STIFFNESS]


@compiled_part
def change_batch(ctx, batch, first, own, last):
    """Changes of forces for the columns of a batch, for the solve, in a tree of revolute and prismatic joints."""
    n, nq, nv = ctx.hinge_count, ctx.nq, ctx.nv
    tree, w = mem.hinges_of(ctx), mem.scratch_of(ctx)
    frozen, b = doubles_at(ctx.frozen, (n + 1, ca.FROZEN_WIDTH)), eights_at(ctx.d_right, nv)
    changes, z = eights_at(ctx.d_changes, (n + 1, ca.CHANGES_WIDTH)), eights_at(ctx.d_wrenches, (n + 1, 6))
    hinges = by_batch(ctx, ctx.lane_hinges, batch)
    seeds = by_batch(ctx, ctx.seeds, batch)
    by_lane = doubles_at(ctx.d_changes, (n + 1, ca.CHANGES_WIDTH, LANES))
    wrenches = doubles_at(ctx.d_wrenches, (n + 1, 6, LANES))
    for k in range(nv):
        b[k] = 0.0
    for i in range(first):
        for k in range(6):
            z[i, k] = 0.0
    for i in range(first, last + 1):
        up = tree[i - 1].parent
        if up < first:
            for k in range(ca.CHANGE_TURN):  # this recursion does not use the rotation
                changes[i, k] = 0.0
        else:
            ca.carry_motion(frozen[i], changes[up], changes[i])
        if i <= own:
            for l in range(LANES):
                if hinges[l] == i:
                    ca.turn_or_slide(tree[i - 1].kind, seeds[l] > nq, w[up], w[i], l, by_lane[i], wrenches[up])
        ca.carry_forces(frozen[i], changes[i], z[i])
    if ctx.spring_count > 0:
        stiffen(ctx, batch)


@compiled_part
def solve_batch(ctx, last):
    """A batch's derivatives of v', from the right-hand side and the forces of the batch."""
    z = eights_at(ctx.d_wrenches, (ctx.hinge_count + 1, 6))
    sp.solve(mem.hinges_of(ctx), mem.charts_of(ctx), mem.scratch_of(ctx), eights_at(ctx.d_right, ctx.nv), z, z, last)


@compiled_part
def gather_batch(ctx, first, own):
    """The tangents of M v' - f as a right-hand side, and as forces on earlier hinges."""
    n, nv = ctx.hinge_count, ctx.nv
    tree, left_over = mem.hinges_of(ctx), tangents_at(ctx.d_left, nv)
    b, z, work = (
        eights_at(ctx.d_right, nv),
        eights_at(ctx.d_wrenches, (n + 1, 6)),
        tangents_at(ctx.d_w, (n + 1, co.WIDTH)),
    )
    for k in range(nv):
        b[k] = -tangents_of(left_over[k])
    for i in range(own + 1):  # ``carry`` has written those after it
        for k in range(6):
            z[i, k] = 0.0
    for i in range(first, own + 1):
        up = tree[i - 1].parent
        if up < first:
            for k in range(6):
                z[up, k] = tangents_of(work[up, co.P + k])


@compiled_part
def write_columns(ctx, batch, source, width, start, out):
    """Eight columns of the result, from an array at an address of ``width`` floats per speed."""
    targets = by_batch(ctx, ctx.targets, batch)
    found = doubles_at(source, (ctx.nv, width))
    for l in range(LANES):
        if targets[l] >= 0:
            for k in range(ctx.nv):
                out[k, targets[l]] = found[k, start + l]


# -- one batch: callbacks, so that their long code is compiled only once -----------------------------------


@compiled_callback(allocates=False)
def by_state(out, inp, context):
    """M v' - f with tangents by coordinates, speeds or inputs; the input is a :data:`REQUEST`."""
    ctx, request = derivatives_at(context), request_at(inp)
    batch, first, own, last = request.batch, request.first, request.own, request.last
    work = tangents_at(ctx.d_w, (ctx.hinge_count + 1, co.WIDTH))
    copy_carriers(mem.hinges_of(ctx), mem.scratch_of(ctx), work, first, own)
    seed(ctx, batch, 1.0)
    if ctx.moved > 0:
        slope_expressions(ctx, batch)
    differentiate(ctx, mem.numbers_of(ctx), mem.springs_of(ctx)[1], mem.loads_of(ctx)[1], first, own, last)
    seed(ctx, batch, 0.0)


@compiled_callback(allocates=False)
def by_parameters(out, inp, context):
    """The same by parameters, which affect all hinges."""
    ctx, batch = derivatives_at(context), request_at(inp).batch
    n, springs, loads = ctx.hinge_count, ctx.spring_count, ctx.load_count
    numbers = tangents_at(ctx.d_numbers + BYTES * batch * n * co.NUMBERS, (n, co.NUMBERS))
    at = ctx.d_spring_numbers + BYTES * batch * springs * co.SPRING_NUMBERS
    spring_numbers = tangents_at(at, (springs, co.SPRING_NUMBERS))
    load_numbers = tangents_at(ctx.d_load_numbers + BYTES * batch * loads * co.LOAD_NUMBERS, (loads, co.LOAD_NUMBERS))
    gravity = tangents_at(ctx.d_gravity + BYTES * batch * 3, 3)
    sp.clear_ground(tangents_at(ctx.d_w, (n + 1, co.WIDTH)), gravity[0], gravity[1], gravity[2])
    if ctx.moved > 0:
        slope_expressions(ctx, batch)
    differentiate(ctx, numbers, spring_numbers, load_numbers, 1, n, n)


@compiled_part
def pass_batch(ctx, context, batch, first, own, last):
    """One pass for a batch, by the callback of the context."""
    request = request_at(ctx.request)
    request.batch, request.first, request.own, request.last = batch, first, own, last
    call_native(ctx.pass_code, 0, ctx.request, context)


@compiled_part
def begin(ctx, inp, context):
    """v' at a state [t, q, v, u], with the recursion's scratch table, and the table of carried hinges."""
    end = 1 + ctx.nq + ctx.nv
    x, place = doubles_at(inp, end + ctx.inputs), doubles_at(ctx.x, end + ctx.inputs)
    for k in range(end, end + ctx.inputs):  # the callback takes inputs from this buffer
        place[k] = x[k]
    call_native(ctx.forward_code, ctx.rates, inp, context)
    if ctx.frozen != 0:
        frozen = doubles_at(ctx.frozen, (ctx.hinge_count + 1, ca.FROZEN_WIDTH))
        ca.freeze(mem.hinges_of(ctx), mem.numbers_of(ctx), mem.scratch_of(ctx), frozen)


@compiled_callback(allocates=False)
def of_accelerations(out, inp, context):
    """Jacobian of v', row by row, at a state [t, q, v, u]."""
    ctx = derivatives_at(context)
    ranges, found = integers_at(ctx.ranges, (ctx.batches, 3)), doubles_at(out, (ctx.nv, ctx.columns))
    begin(ctx, inp, context)
    start(ctx, inp)
    for k in range(ctx.batches):
        first, own, last = ranges[k, 0], ranges[k, 1], ranges[k, 2]
        pass_batch(ctx, context, k, first, own, last)
        gather_batch(ctx, first, own)
        solve_batch(ctx, last)
        write_columns(ctx, k, ctx.d_right, LANES, 0, found)


@compiled_callback(allocates=False)
def of_turns_and_slides(out, inp, context):
    """The same for trees of revolute and prismatic joints, without tangents; it compiles in half the time."""
    ctx = derivatives_at(context)
    ranges, found = integers_at(ctx.ranges, (ctx.batches, 3)), doubles_at(out, (ctx.nv, ctx.columns))
    begin(ctx, inp, context)
    for k in range(ctx.batches):
        change_batch(ctx, k, ranges[k, 0], ranges[k, 1], ranges[k, 2])
        solve_batch(ctx, ranges[k, 2])
        write_columns(ctx, k, ctx.d_right, LANES, 0, found)


# -- from Python ------------------------------------------------------------------------------------------


@compiled(allocates=False)
def evaluate(context, q, v, out):
    """Jacobian of v' at one state, for calls from Python; no checks."""
    ctx = derivatives_at(context)
    rk.write_state(ctx.x, q, v, ctx.nq, ctx.nv)
    call_native(ctx.whole_code, address_of(out), ctx.x, context)


@compiled(allocates=False)
def acceleration_rows(context, x, out):
    """Jacobian of v' for every row [t, q, v, u] of x."""
    ctx = derivatives_at(context)
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        call_native(ctx.whole_code, address_of(out[k]), at, context)


@compiled(allocates=False)
def residual_rows(context, x, a, out):
    """Jacobian of M v' - f for every row [t, q, v, u] of x and v' in a."""
    ctx = derivatives_at(context)
    n, gravity, given = ctx.hinge_count, doubles_at(ctx.gravity, 3), doubles_at(ctx.given, ctx.nv)
    w = mem.scratch_of(ctx)
    sp.clear_ground(w, gravity[0], gravity[1], gravity[2])
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        rk.write_aside(mem.recursion_at(context), at)
        for i in range(ctx.nv):
            given[i] = a[k, i]
        start(ctx, at)
        for b in range(ctx.batches):
            pass_batch(ctx, context, b, 1, n, n)
            write_columns(ctx, b, ctx.d_left, WIDTH, FIRST, out[k])
