"""Compiled callbacks for mechanisms in maximal coordinates: right-hand side and projection.

Like those of ``system.kernels``, they read everything from a context, which here extends the context of that module.
"""

import numpy as np

from pendula.numerics.block_tree.elimination import COLUMNS, SOLVED, solve_tree
from pendula.numerics.compiled.jit import compiled, compiled_callback, compiled_part
from pendula.numerics.compiled.native import address_of, call_native, doubles_at, integers_at
from pendula.numerics.compiled.records import reader, record_dtype
from pendula.system import kernels as kn

TREE = record_dtype(
    kn.REALS,
    kn.WHOLE
    + """
    nodes node_count blocks matrix unknowns border largest speed_at row_at z blocks_work sizes small small_width
    nu_border rest
    """,
)
"""Fields of the context, after those of ``system.kernels``; ``matrix`` is the length of blocks and border, which
the right-hand side follows."""
tree_at = reader(TREE)


@compiled_part(allocates=True)
def solve(ctx, terms, right):
    """Block elimination along the tree, with the matrix at address ``terms`` and the right-hand side at ``right``.

    The result is in column 0 of z and in nu. Returns SOLVED or the status of the failure.
    """
    ny, m, count = ctx.unknowns, ctx.border, ctx.node_count
    border = doubles_at(terms + 8 * ctx.blocks, (m, ny))
    z = doubles_at(ctx.z, (ny, 1 + m))
    given = doubles_at(right, ny + m)
    return solve_tree(
        integers_at(ctx.nodes, (count, COLUMNS)), doubles_at(terms, ctx.blocks), border, given[:ny], given[ny:], z,
        doubles_at(ctx.blocks_work, ctx.blocks), doubles_at(ctx.sizes, ctx.largest),
        doubles_at(ctx.small, (m, ctx.small_width)), doubles_at(ctx.nu_border, m),
        doubles_at(ctx.rest, 3 * (ny + m)),
    )  # fmt: skip


@compiled_part(allocates=True)
def read_solution(ctx, a, lam):
    """Copies accelerations and multipliers from the solved unknowns; returns whether accelerations are finite."""
    ny, m = ctx.unknowns, ctx.border
    z, nu = doubles_at(ctx.z, (ny, 1 + m)), doubles_at(ctx.nu_border, m)
    held = ctx.rows - m
    speed_at, row_at = integers_at(ctx.speed_at, ctx.nv), integers_at(ctx.row_at, held)
    finite = True
    for i in range(ctx.nv):
        a[i] = z[speed_at[i], 0]
        finite = finite and np.isfinite(a[i])
    for r in range(held):
        lam[r] = -z[row_at[r], 0]
    for r in range(m):
        lam[held + r] = -nu[r]
    return finite


@compiled_part(allocates=True)
def stabilize(ctx, right):
    """Baumgarte stabilization: replaces c by c - 2 rate (G v - b) - rate^2 g, so that constraint violations decay."""
    ny, m = ctx.unknowns, ctx.border
    call_native(ctx.gaps_code, ctx.gaps, ctx.x, ctx.gaps_parameters)
    at = ctx.gaps + 8 * ctx.matrix
    gaps, slips, rows = doubles_at(at, ny + m), doubles_at(at + 8 * (ny + m), ny + m), doubles_at(right, ny + m)
    rate = ctx.rate
    for i in range(ny + m):  # gaps hold -g and slips b - G v; both are zero at the indices of speeds
        rows[i] += 2.0 * rate * slips[i] + rate * rate * gaps[i]


@compiled_part(allocates=True)
def drive_power(ctx, lam):
    """Power of loads and of prescribed motions, from the terms that follow the unknowns."""
    ny, m, nq, nd, rows = ctx.unknowns, ctx.border, ctx.nq, ctx.drives, ctx.rows
    start = ctx.matrix + ny + m + nq
    rest = doubles_at(ctx.terms + 8 * start, 1 + 2 * nd + rows * nd)
    power = rest[0]
    for d in range(nd):
        drive_force = -rest[1 + nd + d]
        for r in range(rows):
            drive_force -= rest[1 + 2 * nd + r * nd + d] * lam[r]
        power += drive_force * rest[1 + d]
    return power


@compiled_callback
def right_hand_side(out, inp, context):
    """[t, q, v, (work)] -> [q', v', (power)]; NaN, with a status in the context, if the equations are singular."""
    ctx = tree_at(context)
    nq, nv, ny, m = ctx.nq, ctx.nv, ctx.unknowns, ctx.border
    given, rates = doubles_at(inp, 1 + nq + nv), doubles_at(out, nq + nv + 1)
    x = doubles_at(ctx.x, 1 + nq + nv + ctx.nu)
    for i in range(1 + nq + nv):
        x[i] = given[i]
    call_native(ctx.code, ctx.terms, ctx.x, ctx.parameters)
    right = ctx.terms + 8 * ctx.matrix
    lam = doubles_at(ctx.multipliers, ctx.rows + 1)
    if ctx.baumgarte == 1:
        stabilize(ctx, right)
    if solve(ctx, ctx.terms, right) != SOLVED or not read_solution(ctx, rates[nq:], lam):
        ctx.status = kn.SINGULAR_CONSTRAINTS
        for i in range(nq + nv):
            rates[i] = np.nan
        return
    qdot = doubles_at(right + 8 * (ny + m), nq)
    for i in range(nq):
        rates[i] = qdot[i]
    if ctx.quadratures == 1:
        rates[nq + nv] = drive_power(ctx, lam)


@compiled_part(allocates=True)
def measure_gaps(context, t, q, v):
    """Evaluates M, G and the gaps of the tree at a state; returns the largest gap."""
    ctx = tree_at(context)
    kn.evaluate_gaps(kn.context_at(context), t, q, v)
    return kn.largest(doubles_at(ctx.gaps + 8 * ctx.matrix, ctx.unknowns + ctx.border))


@compiled_part(allocates=True)
def correct_gaps(context, speeds):
    """Solves the tree for the smallest correction of the positions, or of the speeds; whether it succeeded."""
    ctx = tree_at(context)
    right = ctx.gaps + 8 * ctx.matrix + (8 * (ctx.unknowns + ctx.border) if speeds else 0)
    shift, lam = doubles_at(ctx.work, ctx.nv), doubles_at(ctx.multipliers, ctx.rows + 1)
    return solve(ctx, ctx.gaps, right) == SOLVED and read_solution(ctx, shift, lam)


_project_by = kn.projection(measure_gaps, correct_gaps)


@compiled_callback
def project(out, inp, context):
    """Projection by elimination along the tree."""
    _project_by(out, inp, context)


@compiled
def solve_rows(context, x, accelerations, multipliers, status):
    """Accelerations and multipliers for every row [t, q, v, u] of x."""
    ctx = tree_at(context)
    right = ctx.terms + 8 * ctx.matrix
    width = x.shape[1]
    for k in range(x.shape[0]):
        call_native(ctx.code, ctx.terms, address_of(x) + 8 * k * width, ctx.parameters)
        fine = solve(ctx, ctx.terms, right) == SOLVED
        fine = read_solution(ctx, accelerations[k], multipliers[k]) and fine
        status[k] = kn.FINE if fine else kn.SINGULAR_CONSTRAINTS
