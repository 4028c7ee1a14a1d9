"""Compiled callbacks for mechanisms that move in a plane, and for eight states at once."""

from __future__ import annotations

from pendula.numerics.compiled.jit import compiled_callback, compiled_part
from pendula.numerics.compiled.native import doubles_at, integers_at
from pendula.numerics.scalars.eight import BYTES, eights_at
from pendula.system.recursion import columns as co
from pendula.system.recursion import loads as lk
from pendula.system.recursion import memory as mem
from pendula.system.recursion import spatial as sp
from pendula.system.recursion.kernels import apply_loads, copied, note_failure, total_power, write_aside
from pendula.system.recursion.plane import planar as pl


@compiled_part
def load_from_outside(ctx, v, drives):
    """External generalized forces in hinges, and torques on them; returns the power of the former."""
    n, nv, values = ctx.hinge_count, ctx.nv, mem.values_of(ctx)
    efforts, torques = doubles_at(ctx.outside, n), doubles_at(ctx.outside + 8 * n, n)
    loads, _ = mem.loads_of(ctx)
    hinges = integers_at(ctx.load_hinges, ctx.load_count)
    for i in range(n):
        efforts[i] = torques[i] = 0.0
    power = 0.0
    for k in range(ctx.load_count):
        load = loads[k]
        at = load.value
        if load.kind == co.EFFORT_GIVEN:
            rate = load.first
            efforts[hinges[k] - 1] += values[at]
            power += values[at] * (v[rate] if rate < nv else drives[3 * (rate - nv) + 1])
        else:
            torques[hinges[k] - 1] += values[at + 2]
    return power


@compiled_part(forceinline=True)
def planar_rates(ctx, q, v, drives, w, rates):
    """q' and v' of a tree in the plane, for any scalar type; returns the power of the dampers."""
    n, nq, nv, gravity = ctx.hinge_count, ctx.nq, ctx.nv, doubles_at(ctx.gravity, 3)
    efforts, torques = doubles_at(ctx.outside, n), doubles_at(ctx.outside + 8 * n, n)
    for k in range(nq):
        rates[k] = v[k]
    hinges, numbers, out = mem.hinges_of(ctx), doubles_at(ctx.plane, (n, pl.NUMBERS)), rates[nq : nq + nv]
    return pl.forward(hinges, numbers, gravity[0], gravity[1], q, v, drives, efforts, torques, w, out)


@compiled_part(forceinline=True)
def chain_rates(ctx, q, v, w, rates):
    """The same for a serial chain with angles measured from ground."""
    n, gravity = ctx.hinge_count, doubles_at(ctx.gravity, 3)
    for k in range(n):
        rates[k] = v[k]
    numbers = doubles_at(ctx.plane, (n, pl.NUMBERS))
    return pl.chain(numbers, ctx.sprung == 1, gravity[0], gravity[1], q, v, w, rates[n : 2 * n])


@compiled_callback(allocates=False)
def planar_right_hand_side(out, inp, context):
    """Like ``recursion.kernels.right_hand_side``, for a planar mechanism."""
    ctx = mem.recursion_at(context)
    n, nq, nv, nd = ctx.hinge_count, ctx.nq, ctx.nv, ctx.drives
    x, rates = copied(ctx, inp), doubles_at(out, nq + nv + 1)
    write_aside(ctx, x)
    q, v, drives = doubles_at(x + 8, nq), doubles_at(x + 8 * (1 + nq), nv), mem.prescribed_of(ctx)
    w, torques = doubles_at(ctx.w, (n + 1, pl.WIDTH)), doubles_at(ctx.outside + 8 * n, n)
    power = load_from_outside(ctx, v, drives) if ctx.load_count > 0 else 0.0
    power += planar_rates(ctx, q, v, drives, w, rates)
    if ctx.quadratures == 1:
        for k in range(n):
            power += torques[k] * w[1 + k, pl.OMEGA]
        if nd > 0:
            pl.drive_efforts(mem.hinges_of(ctx), w, doubles_at(ctx.efforts, nd))
        rates[nq + nv] = total_power(ctx, power)
    note_failure(ctx, x, rates)


@compiled_callback(allocates=False)
def chain_right_hand_side(out, inp, context):
    """The same for a serial chain with angles measured from ground."""
    ctx = mem.recursion_at(context)
    n = ctx.hinge_count
    q, v, rates = doubles_at(inp + 8, n), doubles_at(inp + 8 * (1 + n), n), doubles_at(out, 2 * n + 1)
    power = chain_rates(ctx, q, v, doubles_at(ctx.w, (pl.LINK, pl.room(n))), rates)
    if ctx.quadratures == 1:
        rates[2 * n] = total_power(ctx, power)
    note_failure(ctx, inp, rates)


# -- eight states at once --------------------------------------------------------------------------------


@compiled_callback(allocates=False)
def chain_eight(out, inp, context):
    """Like :func:`chain_right_hand_side`, for eight states; each array entry is a row of eight numbers."""
    ctx = mem.recursion_at(context)
    n = ctx.hinge_count
    q, v, rates = eights_at(inp + BYTES, n), eights_at(inp + BYTES * (1 + n), n), eights_at(out, 2 * n + 1)
    power = chain_rates(ctx, q, v, eights_at(ctx.w, (pl.LINK, n)), rates)
    if ctx.quadratures == 1:
        rates[2 * n] = power


@compiled_callback(allocates=False)
def planar_eight(out, inp, context):
    """Like :func:`planar_right_hand_side`, for eight states, if nothing depends on time or expressions."""
    ctx = mem.recursion_at(context)
    nq, nv = ctx.nq, ctx.nv
    q, v, rates = eights_at(inp + BYTES, nq), eights_at(inp + BYTES * (1 + nq), nv), eights_at(out, nq + nv + 1)
    w = eights_at(ctx.w, (ctx.hinge_count + 1, pl.WIDTH))
    power = planar_rates(ctx, q, v, doubles_at(ctx.aside, 0), w, rates)
    if ctx.quadratures == 1:
        rates[nq + nv] = power


@compiled_callback(allocates=False)
def spatial_eight(out, inp, context):
    """Like ``recursion.kernels.right_hand_side``, for eight states, if nothing depends on time or expressions."""
    ctx = mem.recursion_at(context)
    n, nq, nv = ctx.hinge_count, ctx.nq, ctx.nv
    q, v, rates = eights_at(inp + BYTES, nq), eights_at(inp + BYTES * (1 + nq), nv), eights_at(out, nq + nv + 1)
    hinges, numbers = mem.hinges_of(ctx), mem.numbers_of(ctx)
    w, gravity, tau = eights_at(ctx.w, (n + 1, co.WIDTH)), doubles_at(ctx.gravity, 3), eights_at(ctx.tau, nv)
    drives, values, charts = doubles_at(ctx.aside, 0), doubles_at(ctx.aside, 0), eights_at(ctx.tau, 0)
    sp.clear_ground(w, gravity[0], gravity[1], gravity[2])
    sp.place(hinges, numbers, q, v, drives, charts, w)
    sp.start_inertia(numbers, w)
    power = apply_loads(ctx, q, v, drives, values, v, tau, w)
    sp.articulate(hinges, numbers, tau, nv, drives, charts, w)
    sp.accelerate(hinges, drives, charts, w, rates[nq : nq + nv])
    sp.coordinate_rates(hinges, q, v, charts, rates)
    if ctx.quadratures == 1:
        rates[nq + nv] = power


@compiled_callback(allocates=False)
def energies_of_eight(out, inp, context):
    """[t, q, v] -> kinetic and potential energy of eight states, if nothing depends on time or expressions."""
    ctx = mem.recursion_at(context)
    n, nq, nv = ctx.hinge_count, ctx.nq, ctx.nv
    q, v, found = eights_at(inp + BYTES, nq), eights_at(inp + BYTES * (1 + nq), nv), eights_at(out, 2)
    hinges, numbers = mem.hinges_of(ctx), mem.numbers_of(ctx)
    w, gravity = eights_at(ctx.w, (n + 1, co.WIDTH)), doubles_at(ctx.gravity, 3)
    drives, charts = doubles_at(ctx.aside, 0), eights_at(ctx.tau, 0)
    sp.clear_ground(w, gravity[0], gravity[1], gravity[2])
    sp.place(hinges, numbers, q, v, drives, charts, w)
    found[0], found[1] = lk.energies(ctx, hinges, numbers, q, v, drives, w)


@compiled_callback(allocates=False)
def planar_energies_of_eight(out, inp, context):
    """The same for a planar mechanism."""
    ctx = mem.recursion_at(context)
    n, nq, nv = ctx.hinge_count, ctx.nq, ctx.nv
    q, v, found = eights_at(inp + BYTES, nq), eights_at(inp + BYTES * (1 + nq), nv), eights_at(out, 2)
    hinges, numbers = mem.hinges_of(ctx), doubles_at(ctx.plane, (n, pl.NUMBERS))
    w, gravity = eights_at(ctx.w, (n + 1, pl.WIDTH)), doubles_at(ctx.gravity, 3)
    found[0], found[1] = pl.energies(hinges, numbers, gravity[0], gravity[1], q, v, w)


@compiled_callback(allocates=False)
def chain_energies_of_eight(out, inp, context):
    """The same for a serial chain with angles measured from ground."""
    ctx = mem.recursion_at(context)
    n, gravity = ctx.hinge_count, doubles_at(ctx.gravity, 3)
    q, v, found = eights_at(inp + BYTES, n), eights_at(inp + BYTES * (1 + n), n), eights_at(out, 2)
    numbers, w = doubles_at(ctx.plane, (n, pl.NUMBERS)), eights_at(ctx.w, (pl.LINK, n))
    found[0], found[1] = pl.chain_energies(numbers, ctx.sprung == 1, gravity[0], gravity[1], q, v, w)
