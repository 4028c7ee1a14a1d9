"""Compiled callbacks for mechanisms whose bodies have their own coordinates: right-hand side and projection.

Like those of ``kernels``, they find everything through a context, which here continues that of ``kernels``.
"""

import numpy as np

from pendula.numerics.block_tree.elimination import COLUMNS, SOLVED, solve_tree
from pendula.numerics.compiled.jit import compiled, compiled_callback, compiled_part
from pendula.numerics.compiled.native import address_of, call_native, doubles_at, integers_at
from pendula.system import kernels as kn

# Entries of the context after those of kernels
(
    NODES, NODE_COUNT, BLOCKS, MATRIX, UNKNOWNS, BORDER, LARGEST, SPEED_AT, ROW_AT, Z, BLOCKS_WORK, SIZES, SMALL,
    SMALL_WIDTH, NU, REST, SIZE,
) = range(kn.SIZE, kn.SIZE + 17)  # fmt: skip
"""``MATRIX``: length of blocks and border together, after which comes the right-hand side."""


@compiled_part(allocates=True)
def solve(ctx, terms, right):
    """Solve the tree with the matrix at ``terms`` for the unknowns with the right-hand side at ``right``.

    Addresses are given; the result is in column 0 of z and in nu. Returns SOLVED or why not.
    """
    ny, m, count = ctx[UNKNOWNS], ctx[BORDER], ctx[NODE_COUNT]
    border = doubles_at(terms + 8 * ctx[BLOCKS], (m, ny))
    z = doubles_at(ctx[Z], (ny, 1 + m))
    given = doubles_at(right, ny + m)
    return solve_tree(
        integers_at(ctx[NODES], (count, COLUMNS)), doubles_at(terms, ctx[BLOCKS]), border, given[:ny], given[ny:], z,
        doubles_at(ctx[BLOCKS_WORK], ctx[BLOCKS]), doubles_at(ctx[SIZES], ctx[LARGEST]),
        doubles_at(ctx[SMALL], (m, ctx[SMALL_WIDTH])), doubles_at(ctx[NU], m),
        doubles_at(ctx[REST], 3 * (ny + m)),
    )  # fmt: skip


@compiled_part(allocates=True)
def read_solution(ctx, a, lam):
    """Accelerations and multipliers from the solved unknowns."""
    ny, m = ctx[UNKNOWNS], ctx[BORDER]
    z, nu = doubles_at(ctx[Z], (ny, 1 + m)), doubles_at(ctx[NU], m)
    held = ctx[kn.ROWS] - m
    speed_at, row_at = integers_at(ctx[SPEED_AT], ctx[kn.NV]), integers_at(ctx[ROW_AT], held)
    finite = True
    for i in range(ctx[kn.NV]):
        a[i] = z[speed_at[i], 0]
        finite = finite and np.isfinite(a[i])
    for r in range(held):
        lam[r] = -z[row_at[r], 0]
    for r in range(m):
        lam[held + r] = -nu[r]
    return finite


@compiled_part(allocates=True)
def stabilize(ctx, right):
    """Adds to the rows what lets errors of the constraints die out: c - 2 rate (G v - b) - rate^2 g (Baumgarte)."""
    ny, m = ctx[UNKNOWNS], ctx[BORDER]
    call_native(ctx[kn.GAPS_CODE], ctx[kn.GAPS], ctx[kn.X], ctx[kn.GAPS_PARAMETERS])
    at = ctx[kn.GAPS] + 8 * ctx[MATRIX]
    gaps, slips, rows = doubles_at(at, ny + m), doubles_at(at + 8 * (ny + m), ny + m), doubles_at(right, ny + m)
    rate = doubles_at(ctx[kn.RATE], 1)[0]
    for i in range(ny + m):  # gaps are -g and slips b - G v; both are zero in the places of speeds
        rows[i] += 2.0 * rate * slips[i] + rate * rate * gaps[i]


@compiled_part(allocates=True)
def drive_power(ctx, lam):
    """Power of loads and of prescribed motions, from the terms that follow the unknowns."""
    ny, m, nq, nd, rows = ctx[UNKNOWNS], ctx[BORDER], ctx[kn.NQ], ctx[kn.DRIVES], ctx[kn.ROWS]
    start = ctx[MATRIX] + ny + m + nq
    rest = doubles_at(ctx[kn.TERMS] + 8 * start, 1 + 2 * nd + rows * nd)
    power = rest[0]
    for d in range(nd):
        effort = -rest[1 + nd + d]
        for r in range(rows):
            effort -= rest[1 + 2 * nd + r * nd + d] * lam[r]
        power += effort * rest[1 + d]
    return power


@compiled_callback
def right_hand_side(out, inp, context):
    """[t, q, v, (work)] -> [q', v', (power)]; NaN and a status in the context when it cannot be solved."""
    ctx = integers_at(context, SIZE)
    nq, nv, ny, m = ctx[kn.NQ], ctx[kn.NV], ctx[UNKNOWNS], ctx[BORDER]
    given, rates = doubles_at(inp, 1 + nq + nv), doubles_at(out, nq + nv + 1)
    x = doubles_at(ctx[kn.X], 1 + nq + nv + ctx[kn.NU])
    for i in range(1 + nq + nv):
        x[i] = given[i]
    call_native(ctx[kn.CODE], ctx[kn.TERMS], ctx[kn.X], ctx[kn.PARAMETERS])
    right = ctx[kn.TERMS] + 8 * ctx[MATRIX]
    lam = doubles_at(ctx[kn.MULTIPLIERS], ctx[kn.ROWS] + 1)
    if ctx[kn.BAUMGARTE] == 1:
        stabilize(ctx, right)
    if solve(ctx, ctx[kn.TERMS], right) != SOLVED or not read_solution(ctx, rates[nq:], lam):
        integers_at(ctx[kn.STATUS], 1)[0] = kn.SINGULAR_CONSTRAINTS
        for i in range(nq + nv):
            rates[i] = np.nan
        return
    qdot = doubles_at(right + 8 * (ny + m), nq)
    for i in range(nq):
        rates[i] = qdot[i]
    if ctx[kn.QUADRATURES] == 1:
        rates[nq + nv] = drive_power(ctx, lam)


@compiled_callback
def project(out, inp, context):
    """[t, q, v, (work)] -> the nearest state on the constraints, violation before and after, status."""
    ctx = integers_at(context, SIZE)
    nq, nv, ny, m = ctx[kn.NQ], ctx[kn.NV], ctx[UNKNOWNS], ctx[BORDER]
    n = nq + nv + ctx[kn.QUADRATURES]
    given, result = doubles_at(inp, 1 + n), doubles_at(out, n + 3)
    for i in range(n):
        result[i] = given[1 + i]
    q, v = result[:nq], result[nq : nq + nv]
    before = kn.normalize(ctx, q)
    after, status = 0.0, 0.0
    if ctx[kn.ROWS] > 0:
        x = doubles_at(ctx[kn.X], 1 + nq + nv + ctx[kn.NU])
        x[0] = given[0]
        at = ctx[kn.GAPS]
        right = at + 8 * ctx[MATRIX]
        gaps = doubles_at(right, ny + m)
        shift = doubles_at(ctx[kn.WORK], nv)
        lam = doubles_at(ctx[kn.MULTIPLIERS], ctx[kn.ROWS] + 1)
        length = doubles_at(ctx[kn.LENGTH], 1)[0]
        best = np.inf
        for step in range(ctx[kn.MAX_PASSES]):
            for i in range(nq):
                x[1 + i] = q[i]
            for i in range(nv):
                x[1 + nq + i] = v[i]
            call_native(ctx[kn.GAPS_CODE], at, ctx[kn.X], ctx[kn.GAPS_PARAMETERS])
            after = 0.0
            for r in range(ny + m):
                after = max(after, abs(gaps[r]))
            if step == 0:
                before = max(before, after)
            if not after < 1e300:
                status = 1.0
                break
            if after <= kn.CLOSED * length or (step > 1 and after >= 0.5 * best):
                break
            best = min(best, after)
            if solve(ctx, at, right) != SOLVED or not read_solution(ctx, shift, lam):
                status = 1.0
                break
            kn.move(ctx, q, shift)
        if status == 0.0 and after > kn.CLOSED_ENOUGH * length:
            status = 1.0
        if status == 0.0:  # speeds: G (v + shift) = b at the projected position
            if solve(ctx, at, right + 8 * (ny + m)) != SOLVED or not read_solution(ctx, shift, lam):
                status = 1.0
            else:
                for j in range(nv):
                    v[j] += shift[j]
    result[n], result[n + 1], result[n + 2] = before, after, status


@compiled
def solve_rows(context, x, accelerations, multipliers, status):
    """Accelerations and multipliers for every row [t, q, v, u] of x."""
    ctx = integers_at(context, SIZE)
    right = ctx[kn.TERMS] + 8 * ctx[MATRIX]
    width = x.shape[1]
    for k in range(x.shape[0]):
        call_native(ctx[kn.CODE], ctx[kn.TERMS], address_of(x) + 8 * k * width, ctx[kn.PARAMETERS])
        fine = solve(ctx, ctx[kn.TERMS], right) == SOLVED
        fine = read_solution(ctx, accelerations[k], multipliers[k]) and fine
        status[k] = kn.FINE if fine else kn.SINGULAR_CONSTRAINTS
