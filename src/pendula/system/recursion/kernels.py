"""Compiled callbacks of the recursion, compiled once for all models: they read everything from a context.

The context (:mod:`pendula.system.recursion.memory`) extends that of ``system.kernels``.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_callback, compiled_part
from pendula.numerics.compiled.native import address_of, call_native, doubles_at
from pendula.system import kernels as kn
from pendula.system.recursion import columns as co
from pendula.system.recursion import inverse as iv
from pendula.system.recursion import loads as lk
from pendula.system.recursion import memory as mem
from pendula.system.recursion import spatial as sp
from pendula.system.recursion.algebra import matrix, put, put_matrix, vector


@compiled_part
def write_aside(ctx, x):
    """Evaluates prescribed motions, expressions and charts at the state [t, q, v, u] at an address."""
    if ctx.code != 0:
        call_native(ctx.code, ctx.aside, x, ctx.parameters)


@compiled_part
def write_state(x, q, v, nq, nv):
    """Writes q and v into [t, q, v, ...] at an address."""
    state = doubles_at(x, 1 + nq + nv)
    for k in range(nq):
        state[1 + k] = q[k]
    for k in range(nv):
        state[1 + nq + k] = v[k]


@compiled_part
def lay_out(ctx, x):
    """Poses and velocities of all hinges for the state at an address; returns the arrays that other parts read."""
    q, v = doubles_at(x + 8, ctx.nq), doubles_at(x + 8 * (1 + ctx.nq), ctx.nv)
    hinges, numbers, w, gravity = (
        mem.hinges_of(ctx),
        mem.numbers_of(ctx),
        mem.scratch_of(ctx),
        doubles_at(ctx.gravity, 3),
    )
    drives, charts = mem.prescribed_of(ctx), mem.charts_of(ctx)
    sp.clear_ground(w, gravity[0], gravity[1], gravity[2])
    sp.place(hinges, numbers, q, v, drives, charts, w)
    return q, v, hinges, numbers, drives, charts, w


@compiled_part
def apply_loads(ctx, q, v, drives, values, rates, tau, w):
    """Adds loads to bias forces and to the generalized forces ``tau``; returns the power of all loads except springs.

    For any scalar type, after :func:`lay_out`; ``rates`` are the speeds and the rates of prescribed motions.
    """
    for k in range(tau.shape[0]):
        tau[k] = 0.0
    power = w[0, co.ZERO]
    if ctx.spring_count > 0:
        springs, constants = mem.springs_of(ctx)
        hinges, numbers = mem.hinges_of(ctx), mem.numbers_of(ctx)
        power += lk.load_hinges(springs, constants, hinges, numbers, q, v, drives, values, tau, w)
    if ctx.load_count > 0:
        loads, constants = mem.loads_of(ctx)
        power += lk.load_bodies(loads, constants, values, rates, tau, w)
    return power


@compiled_part
def load(ctx, q, v, drives, w):
    """:func:`apply_loads` for one state; returns the generalized forces and the power."""
    nv, nd = ctx.nv, ctx.drives
    tau, rates = doubles_at(ctx.tau, nv + nd), doubles_at(ctx.speeds, nv + nd)
    for k in range(nv):
        rates[k] = v[k]
    for k in range(nd):
        rates[nv + k] = drives[3 * k + 1]
    return tau, apply_loads(ctx, q, v, drives, mem.values_of(ctx), rates, tau, w)


@compiled_part
def forward(ctx, x, out):
    """v' at the state [t, q, v, u] at an address; returns the power of all loads except springs."""
    write_aside(ctx, x)
    q, v, hinges, numbers, drives, charts, w = lay_out(ctx, x)
    sp.start_inertia(numbers, w)
    tau, power = load(ctx, q, v, drives, w)
    nv, nd = ctx.nv, ctx.drives
    sp.articulate(hinges, numbers, tau, nv, drives, charts, w)
    sp.accelerate(hinges, drives, charts, w, out)
    if nd > 0:
        efforts = doubles_at(ctx.efforts, nd)
        sp.drive_efforts(hinges, charts, w, w, co.ALPHA, w, co.P, co.PASSED, efforts)
        sp.drive_rotors(hinges, numbers, drives, efforts)
        for k in range(nd):
            efforts[k] -= tau[nv + k]
    return power


@compiled_part
def total_power(ctx, power):
    """Power of loads (also stored after the drive forces) plus that of the prescribed motions."""
    nd = ctx.drives
    efforts, drives = doubles_at(ctx.efforts, nd + 1), mem.prescribed_of(ctx)
    efforts[nd] = power
    for k in range(nd):
        power += efforts[k] * drives[3 * k + 1]
    return power


@compiled_part
def note_failure(ctx, x, rates):
    """Sets the status if accelerations are not finite although state and expressions are."""
    nq, nv = ctx.nq, ctx.nv
    given = doubles_at(x, 1 + nq + nv)
    total = 0.0
    for k in range(nv):
        total += rates[nq + k] * 0.0
    if total == 0.0:
        return
    for k in range(1 + nq + nv):
        if not np.isfinite(given[k]):
            return
    aside = doubles_at(ctx.aside, 3 * ctx.drives + ctx.values)
    for k in range(aside.shape[0]):
        if not np.isfinite(aside[k]):
            return
    ctx.status = kn.SINGULAR_MASS


@compiled_part
def copied(ctx, inp):
    """Address of [t, q, v, u] for the state [t, q, v, ...] at an address; the buffer already holds the inputs."""
    if ctx.code == 0:
        return inp
    n = 1 + ctx.nq + ctx.nv
    given, x = doubles_at(inp, n), doubles_at(ctx.x, n)
    for k in range(n):
        x[k] = given[k]
    return ctx.x


@compiled_callback(allocates=False)
def right_hand_side(out, inp, context):
    """[t, q, v, (work)] -> [q', v', (power)]; NaN, with a status in the context, if an articulated inertia vanishes."""
    ctx = mem.recursion_at(context)
    nq, nv = ctx.nq, ctx.nv
    x, rates = copied(ctx, inp), doubles_at(out, nq + nv + 1)
    power = forward(ctx, x, rates[nq : nq + nv])
    finish(ctx, x, power, rates)


@compiled_part
def finish(ctx, x, power, rates):
    """Adds q' and the power to a computed v'; sets the status after a failure."""
    nq, nv = ctx.nq, ctx.nv
    q, v = doubles_at(x + 8, nq), doubles_at(x + 8 * (1 + nq), nv)
    sp.coordinate_rates(mem.hinges_of(ctx), q, v, mem.charts_of(ctx), rates)
    if ctx.quadratures == 1:
        rates[nq + nv] = total_power(ctx, power)
    note_failure(ctx, x, rates)


@compiled_callback(allocates=False)
def energies_of_one(out, inp, context):
    """[t, q, v] -> kinetic and potential energy, without bodies that are fixed to ground."""
    ctx = mem.recursion_at(context)
    x = copied(ctx, inp)
    write_aside(ctx, x)
    q, v, hinges, numbers, drives, _, w = lay_out(ctx, x)
    found = doubles_at(out, 2)
    found[0], found[1] = lk.energies(ctx, hinges, numbers, q, v, drives, w)


# -- from Python ------------------------------------------------------------------------------------------


@compiled(allocates=False)
def solve_rows(context, x, accelerations, multipliers, power, efforts, status):
    """Accelerations, multipliers, power of loads and drive forces for every row [t, q, v, u] of x.

    The right-hand side is called by its address, so that only the one in use is compiled.
    """
    ctx = mem.recursion_at(context)
    nq, nv, nu, nd, m = ctx.nq, ctx.nv, ctx.nu, ctx.drives, ctx.rows
    rates, inputs = doubles_at(ctx.out, nq + nv + 1), doubles_at(ctx.x + 8 * (1 + nq + nv), nu)
    found, lam = doubles_at(ctx.efforts, nd + 1), doubles_at(ctx.multipliers, m)
    for k in range(x.shape[0]):
        ctx.status = kn.FINE
        for i in range(nu):
            inputs[i] = x[k, 1 + nq + nv + i]
        call_native(ctx.rhs, ctx.out, address_of(x) + 8 * k * x.shape[1], context)
        for i in range(nv):
            accelerations[k, i] = rates[nq + i]
        for i in range(m):
            multipliers[k, i] = lam[i]
        for i in range(nd):
            efforts[k, i] = found[i]
        power[k] = found[nd]
        status[k] = ctx.status


@compiled(allocates=False)
def energy_rows(context, x, out):
    """Kinetic and potential energy for every row [t, q, v, u] of x."""
    ctx = mem.recursion_at(context)
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        write_aside(ctx, at)
        q, v, hinges, numbers, drives, _, w = lay_out(ctx, at)
        out[k, 0], out[k, 1] = lk.energies(ctx, hinges, numbers, q, v, drives, w)


@compiled(allocates=False)
def motion_rows(context, x, a, out):
    """Rotation, position, velocities and accelerations of all hinges for every row [t, q, v, u] of x and v' in a.

    One row of out per hinge, with the columns from ``columns.MOTION_R`` on.
    """
    ctx = mem.recursion_at(context)
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        write_aside(ctx, at)
        _, _, hinges, _, drives, charts, w = lay_out(ctx, at)
        for i in range(3):
            w[0, co.ACC + i] = 0.0
        iv.accelerate_given(hinges, drives, charts, a[k], w)
        for i in range(hinges.shape[0]):
            y, row = w[1 + i], out[k, i]
            put_matrix(row, co.MOTION_R, matrix(y, co.R))
            put(row, co.MOTION_POSITION, vector(y, co.POSITION))
            put(row, co.MOTION_VELOCITY, vector(y, co.VELOCITY))
            put(row, co.MOTION_OMEGA, vector(y, co.OMEGA))
            put(row, co.MOTION_ACC, vector(y, co.ACC))
            put(row, co.MOTION_ALPHA, vector(y, co.ALPHA))


@compiled(allocates=False)
def residual_rows(context, x, a, out):
    """M v' - f for every row [t, q, v, u] of x and v' in a: inverse dynamics."""
    ctx = mem.recursion_at(context)
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        write_aside(ctx, at)
        q, v, hinges, numbers, drives, charts, w = lay_out(ctx, at)
        sp.start_inertia(numbers, w)
        tau, _ = load(ctx, q, v, drives, w)
        iv.accelerate_given(hinges, drives, charts, a[k], w)
        iv.accelerate_forces(w)
        iv.hand_down(hinges, numbers, a[k], tau, ctx.nv, charts, w, out[k])


@compiled(allocates=False)
def mass_rows(context, x, unit, out):
    """The mass matrix for every row [t, q, v, u] of x, column by column: generalized forces for a unit of v'.

    Inverse dynamics without velocities, gravity and prescribed motions (Featherstone 2008, chapter 6).
    ``unit`` is scratch for one number per speed.
    """
    ctx = mem.recursion_at(context)
    nv, nd = ctx.nv, ctx.drives
    for k in range(x.shape[0]):
        at = address_of(x) + 8 * k * x.shape[1]
        write_aside(ctx, at)
        _, _, hinges, numbers, drives, charts, w = lay_out(ctx, at)
        tau = doubles_at(ctx.tau, nv + nd)
        tau[:] = 0.0
        sp.clear_ground(w, 0.0, 0.0, 0.0)
        sp.start_inertia(numbers, w)
        for i in range(nd):
            drives[3 * i + 2] = 0.0
        for j in range(nv):
            for i in range(nv):
                unit[i] = 1.0 if i == j else 0.0
            for i in range(1, w.shape[0]):
                for l in range(6):
                    w[i, co.ANGULAR_BIAS + l] = w[i, co.P + l] = 0.0
            iv.accelerate_given(hinges, drives, charts, unit, w)
            iv.accelerate_forces(w)
            iv.hand_down(hinges, numbers, unit, tau, nv, charts, w, out[k, j])
