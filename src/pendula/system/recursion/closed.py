"""Compiled callbacks of the recursion with closed loops: right-hand side and projection."""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled_callback, compiled_part
from pendula.numerics.compiled.native import doubles_at, integers_at
from pendula.system import kernels as kn
from pendula.system.recursion import columns as co
from pendula.system.recursion import loops as lp
from pendula.system.recursion import memory as mem
from pendula.system.recursion import spatial as sp
from pendula.system.recursion.kernels import copied, finish, forward, lay_out, write_aside, write_state


@compiled_part
def write_wrenches(ctx, w):
    """Writes the unit constraint wrenches and the gaps of all loop rows at the state in w into their table."""
    m = ctx.rows
    numbers = doubles_at(ctx.closing_numbers, (m, co.CLOSING_NUMBERS))
    lp.fill_rows(co.closings_at(ctx.closings, m), numbers, w, doubles_at(ctx.pulls, (m, lp.PULLS)))


@compiled_part
def find_multipliers(ctx, right, lam):
    """Multipliers for which the tree's response satisfies all constraint rows; returns a status of the kernels."""
    m, n = ctx.rows, ctx.hinge_count
    matrix, normal = doubles_at(ctx.matrix, (m, m)), doubles_at(ctx.matrix + 8 * m * m, (m, m))
    weights, order, least = doubles_at(ctx.right + 8 * m, m), integers_at(ctx.order, m), doubles_at(ctx.least, 1)[0]
    hinges, rows, charts, w = (
        mem.hinges_of(ctx),
        co.closings_at(ctx.closings, m),
        mem.charts_of(ctx),
        mem.scratch_of(ctx),
    )
    pulls, wrenches = doubles_at(ctx.pulls, (m, lp.PULLS)), doubles_at(ctx.wrenches, (n + 1, 6))
    changes = doubles_at(ctx.changes, (m, ctx.nv))
    lp.weigh_rows(hinges, rows, charts, w, pulls, wrenches, changes[0], least, ctx.rank < m, weights)
    lp.unit_responses(
        hinges, rows, charts, w, pulls, wrenches, doubles_at(ctx.motions, (n + 1, 6)), changes,
        doubles_at(ctx.effort_changes, (m, ctx.drives)), matrix,
    )  # fmt: skip
    found = lp.solve_semidefinite(matrix, right, weights, ctx.rank, order, normal, lam)
    if found == lp.TOO_FEW:
        return kn.SINGULAR_CONSTRAINTS
    return kn.MORE_CONSTRAINTS if found == lp.TOO_MANY else kn.FINE


@compiled_part
def forward_closed(ctx, x, out, lam):
    """v' and multipliers with closed loops; returns the status and the power of loads that are not springs."""
    m, nv, nd = ctx.rows, ctx.nv, ctx.drives
    power = forward(ctx, x, out)
    write_wrenches(ctx, mem.scratch_of(ctx))
    pulls = doubles_at(ctx.pulls, (m, lp.PULLS))
    right = doubles_at(ctx.right, m)
    rate = ctx.rate if ctx.baumgarte == 1 else 0.0
    for r in range(m):
        right[r] = -(pulls[r, lp.SECOND] + 2.0 * rate * pulls[r, lp.RATE] + rate * rate * pulls[r, lp.OPENING])
    status = find_multipliers(ctx, right, lam)
    changes, more = doubles_at(ctx.changes, (m, nv)), doubles_at(ctx.effort_changes, (m, nd))
    efforts = doubles_at(ctx.efforts, nd)
    for r in range(m):
        for k in range(nv):
            out[k] += lam[r] * changes[r, k]
        for k in range(nd):
            efforts[k] += lam[r] * more[r, k]
    return status, power


@compiled_callback(allocates=False)
def closed_right_hand_side(out, inp, context):
    """Like :func:`kernels.right_hand_side`, with closed loops."""
    ctx = mem.recursion_at(context)
    nq, nv = ctx.nq, ctx.nv
    x, rates = copied(ctx, inp), doubles_at(out, nq + nv + 1)
    status, power = forward_closed(ctx, x, rates[nq : nq + nv], doubles_at(ctx.multipliers, ctx.rows))
    finish(ctx, x, power, rates)
    if status != kn.FINE:
        ctx.status = status
        for k in range(nq + nv):
            rates[k] = np.nan


@compiled_part(allocates=True)
def measure_gaps(context, t, q, v):
    """Computes articulated inertias at a state, for unit responses, and fills the table of rows; the largest gap."""
    ctx = mem.recursion_at(context)
    nv, nd, m = ctx.nv, ctx.drives, ctx.rows
    doubles_at(ctx.x, 1)[0] = t
    write_state(ctx.x, q, v, ctx.nq, nv)
    write_aside(ctx, ctx.x)
    _, _, hinges, numbers, drives, charts, w = lay_out(ctx, ctx.x)
    tau = doubles_at(ctx.tau, nv + nd)
    for k in range(nv + nd):
        tau[k] = 0.0
    sp.start_inertia(numbers, w)
    sp.articulate(hinges, numbers, tau, nv, drives, charts, w)
    write_wrenches(ctx, w)
    return kn.largest(doubles_at(ctx.pulls, (m, lp.PULLS))[:, lp.OPENING])


@compiled_part(allocates=True)
def correct_gaps(context, speeds):
    """The smallest change, in the norm of the mass matrix, that removes the gaps or their rates."""
    ctx = mem.recursion_at(context)
    m, nv = ctx.rows, ctx.nv
    right, lam, shift = doubles_at(ctx.right, m), doubles_at(ctx.multipliers, m), doubles_at(ctx.work, nv)
    pulls = doubles_at(ctx.pulls, (m, lp.PULLS))
    for r in range(m):
        right[r] = -pulls[r, lp.RATE if speeds else lp.OPENING]
    status = find_multipliers(ctx, right, lam)
    changes = doubles_at(ctx.changes, (m, nv))
    for k in range(nv):
        shift[k] = 0.0
        for r in range(m):
            shift[k] += lam[r] * changes[r, k]
    return status == kn.FINE


_project_by = kn.projection(measure_gaps, correct_gaps)


@compiled_callback
def project_closed(out, inp, context):
    """Projection by unit responses of the tree."""
    _project_by(out, inp, context)
