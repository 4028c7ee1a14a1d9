"""Compiled callbacks shared by all models: the right-hand side and the projection onto the constraints.

They read everything from a context, a record of addresses and sizes, so numba compiles them once for all mechanisms.
Buffers are views of memory that the owner of the context keeps alive.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_callback, compiled_part
from pendula.numerics.compiled.native import address_of, call_native, doubles_at, integers_at
from pendula.numerics.compiled.records import reader, record_dtype
from pendula.numerics.solvers.complement import request_at
from pendula.numerics.solvers.linear import SOLVED, cholesky_factor, cholesky_solve, solve_kkt
from pendula.system.code.terms import find_gaps, find_terms
from pendula.system.orientation.turning import BY_QUATERNION, balls_at, turn

REALS = "length rate"
WHOLE = """
    code parameters nq nv nu rows drives quadratures balls x terms work multipliers status ball_table speed_of
    gaps_code gaps_parameters gaps max_passes complement rank complement_request least baumgarte
"""
CONTEXT = record_dtype(REALS, WHOLE)
"""Fields of the context: a typical ``length`` of the mechanism, to which gaps are compared; the ``rate`` of Baumgarte's
terms; ``code`` and ``parameters`` of the program that computes M, f, G, c; the numbers of coordinates, speeds, inputs
(``nq nv nu``), constraint ``rows`` (of which ``rank`` are independent), ``drives`` (prescribed motions),
``quadratures`` and ``balls`` (orientations with an angular velocity). Other contexts append integer fields, so these
kernels also accept them."""
context_at = reader(CONTEXT)

terms_at = compiled_part(forceinline=True)(find_terms)
gaps_at = compiled_part(forceinline=True)(find_gaps)
"""layout of the arrays ``terms`` and ``gaps``"""

FINE, SINGULAR_MASS, SINGULAR_CONSTRAINTS, MORE_CONSTRAINTS = range(4)

CLOSED = 1e-15  # a loop is closed when no gap exceeds this times the size of the mechanism
CLOSED_ENOUGH = 1e-9  # the projection has failed if a gap remains larger than this times that size
NEGLIGIBLE = 1e-13  # a row of G smaller than this times that size constrains nothing


@compiled_part(allocates=True)
def solve_terms(ctx, terms, lam):
    """Solves for accelerations and multipliers from M, f, G, c; the accelerations replace f. Returns a status."""
    nv, m, start = ctx.nv, ctx.rows, address_of(terms)
    at = terms_at(ctx.nq, nv, m, ctx.drives)
    M, f = doubles_at(start, (nv, nv)), terms[at.f : at.f + nv]
    if m == 0:
        if nv > 0 and not cholesky_factor(M, nv):
            return SINGULAR_MASS
        cholesky_solve(M, nv, f)
        return FINE
    G, c = doubles_at(start + 8 * at.G, (m, nv)), terms[at.c : at.c + m]
    a = doubles_at(ctx.work, nv)
    status = solve_constrained(ctx, M, G, f, c, a, lam)
    if status == FINE:
        for i in range(nv):
            f[i] = a[i]
    return status


@compiled_part(allocates=True)
def solve_constrained(ctx, M, G, f, c, a, lam):
    """Solves M a = f + G^T lam, G a = c by the solver that the context names. Returns a status."""
    nv, m = ctx.nv, ctx.rows
    at = ctx.work + 8 * nv  # the first entries hold the solution
    if ctx.complement != 0:
        ask = request_at(ctx.complement_request)
        ask.n, ask.m, ask.most, ask.least = nv, m, ctx.rank, ctx.least
        ask.M, ask.G, ask.f, ask.c = address_of(M), address_of(G), address_of(f), address_of(c)
        ask.work, ask.a, ask.lam = at, address_of(a), address_of(lam)
        call_native(ctx.complement, 0, ctx.complement_request, 0)
        if ask.rank < ctx.rank:
            return SINGULAR_CONSTRAINTS
        if ask.rank > ctx.rank:
            return MORE_CONSTRAINTS
        return FINE if ask.status == SOLVED else SINGULAR_MASS
    least = doubles_at(ctx.least, 1)[0]
    for r in range(m):  # the solver scales rows, so a row that is zero up to rounding must be detected here
        largest = 0.0
        for j in range(nv):
            largest = max(largest, abs(G[r, j]))
        if largest <= least:
            return SINGULAR_CONSTRAINTS
    work = doubles_at(at, (nv + m + 2, nv + m))
    return FINE if solve_kkt(M, G, f, c, nv, m, work, a, lam) == SOLVED else SINGULAR_CONSTRAINTS


@compiled_part(allocates=True)
def stabilize(ctx, terms):
    """Baumgarte stabilization: replaces c by c - 2 rate (G v - b) - rate^2 g, so that constraint violations decay."""
    nv, nq, m = ctx.nv, ctx.nq, ctx.rows
    rate = ctx.rate
    call_native(ctx.gaps_code, ctx.gaps, ctx.x, ctx.gaps_parameters)
    at, c = gaps_at(nv, m), terms_at(nq, nv, m, ctx.drives).c
    gaps = doubles_at(ctx.gaps, at.M)
    x = doubles_at(ctx.x, 1 + nq + nv)
    for r in range(m):
        gap_rate = -gaps[at.b + r]
        for j in range(nv):
            gap_rate += gaps[at.G + r * nv + j] * x[1 + nq + j]
        terms[c + r] -= 2.0 * rate * gap_rate + rate * rate * gaps[r]


@compiled_part(allocates=True)
def total_power(ctx, terms, lam):
    """Power of loads and of prescribed motions, after the solve (``terms`` then holds accelerations in place of f)."""
    nv, m, nd = ctx.nv, ctx.rows, ctx.drives
    at = terms_at(ctx.nq, nv, m, nd)
    power = terms[at.power]
    for d in range(nd):
        drive_force = -terms[at.drive_f + d]
        for j in range(nv):
            drive_force += terms[at.drive_M + d * nv + j] * terms[at.f + j]
        for r in range(m):
            drive_force -= terms[at.drive_G + r * nd + d] * lam[r]
        power += drive_force * terms[at.drive_rates + d]
    return power


@compiled_callback
def right_hand_side(out, inp, context):
    """[t, q, v, (work)] -> [q', v', (power)]; NaN, with a status in the context, if the equations are singular."""
    ctx = context_at(context)
    nq, nv, nu = ctx.nq, ctx.nv, ctx.nu
    given = doubles_at(inp, 1 + nq + nv)
    rates = doubles_at(out, nq + nv + 1)
    x = doubles_at(ctx.x, 1 + nq + nv + nu)
    for i in range(1 + nq + nv):
        x[i] = given[i]
    call_native(ctx.code, ctx.terms, ctx.x, ctx.parameters)
    at = terms_at(nq, nv, ctx.rows, ctx.drives)
    terms, lam = doubles_at(ctx.terms, at.size), doubles_at(ctx.multipliers, ctx.rows + 1)
    if ctx.baumgarte == 1:
        stabilize(ctx, terms)
    status = solve_terms(ctx, terms, lam)
    if status != FINE:
        ctx.status = status
        for i in range(nq + nv):
            rates[i] = np.nan
        return
    for i in range(nq):
        rates[i] = terms[at.rates + i]
    for i in range(nv):
        rates[nq + i] = terms[at.f + i]
    if ctx.quadratures == 1:
        rates[nq + nv] = total_power(ctx, terms, lam)


@compiled_part(allocates=True)
def move(ctx, q, shift):
    """Replaces q by q + N shift and normalizes quaternions."""
    speed_of = integers_at(ctx.speed_of, ctx.nq)
    for i in range(ctx.nq):
        if speed_of[i] >= 0:
            q[i] += shift[speed_of[i]]
    balls = balls_at(ctx.ball_table, ctx.balls)
    for k in range(ctx.balls):
        turn(q, balls[k], shift)
    return normalize(ctx, q)


@compiled_part(allocates=True)
def normalize(ctx, q):
    """Scales quaternions to unit length; returns the largest | |q|^2 - 1 | before."""
    worst = 0.0
    balls = balls_at(ctx.ball_table, ctx.balls)
    for k in range(ctx.balls):
        at = balls[k].first
        if balls[k].kind != BY_QUATERNION:
            continue
        square = 0.0
        for i in range(4):
            square += q[at + i] * q[at + i]
        worst = max(worst, abs(square - 1.0))
        length = np.sqrt(square)
        for i in range(4):
            q[at + i] /= length
    return worst


def projection(measure, correct):
    """A compiled part [t, q, v, (work)] -> the nearest state on the constraints, violation before and after, status.

    Newton iterations project the positions, one linear solve the speeds. Both make the smallest change in the norm of
    the mass matrix, so the result does not depend on units. ``measure(context, t, q, v)`` evaluates the constraints
    and returns the largest gap; ``correct(context, speeds)`` solves for the correction of the positions, or of the
    speeds, writes it into ``work`` and returns whether it succeeded.

    Both are captured, not passed: machine code that takes functions as arguments cannot be kept in files. The part gets
    the module of ``measure``: symbols of kept machine code must differ where the code does.
    """

    def project_by(out, inp, context):
        ctx = context_at(context)
        nq, nv = ctx.nq, ctx.nv
        n = nq + nv + ctx.quadratures
        given, result = doubles_at(inp, 1 + n), doubles_at(out, n + 3)
        for i in range(n):
            result[i] = given[1 + i]
        q, v = result[:nq], result[nq : nq + nv]
        before, after, best, ok = normalize(ctx, q), 0.0, np.inf, True
        if ctx.rows > 0:
            shift, length = doubles_at(ctx.work, nv), ctx.length
            for step in range(ctx.max_passes):
                after = measure(context, given[0], q, v)
                if step == 0:
                    before = max(before, after)
                if after <= CLOSED * length or (step > 1 and after >= 0.5 * best):
                    break
                best = min(best, after)
                ok = after < 1e300 and correct(context, False)
                if not ok:
                    break
                move(ctx, q, shift)
            ok = ok and after <= CLOSED_ENOUGH * length and correct(context, True)
            if ok:
                for j in range(nv):
                    v[j] += shift[j]
        result[n], result[n + 1], result[n + 2] = before, after, 0.0 if ok else 1.0

    project_by.__module__, project_by.__qualname__ = measure.py_func.__module__, "project_by"
    return compiled_part(allocates=True)(project_by)


@compiled_part
def largest(values):
    """The largest magnitude; infinite if any value is NaN."""
    found = 0.0
    for x in values:
        found = max(found, abs(x)) if abs(x) < np.inf else np.inf
    return found


@compiled_part(allocates=True)
def evaluate_gaps(ctx, t, q, v):
    """Calls the program of gaps at a state."""
    x = doubles_at(ctx.x, 1 + ctx.nq + ctx.nv)
    x[0] = t
    for i in range(ctx.nq):
        x[1 + i] = q[i]
    for i in range(ctx.nv):
        x[1 + ctx.nq + i] = v[i]
    call_native(ctx.gaps_code, ctx.gaps, ctx.x, ctx.gaps_parameters)


@compiled_part(allocates=True)
def measure_gaps(context, t, q, v):
    """Gaps, G, b and M at a state; returns the largest gap."""
    ctx = context_at(context)
    evaluate_gaps(ctx, t, q, v)
    return largest(doubles_at(ctx.gaps, ctx.rows))


@compiled_part(allocates=True)
def correct_gaps(context, speeds):
    """Solves G shift = -gap, or G (v + shift) = b for the speeds v of the last measurement."""
    ctx = context_at(context)
    nv, m = ctx.nv, ctx.rows
    at = gaps_at(nv, m)
    gaps = doubles_at(ctx.gaps, at.size)
    M, G = doubles_at(ctx.gaps + 8 * at.M, (nv, nv)), doubles_at(ctx.gaps + 8 * at.G, (m, nv))
    zeros = gaps[at.zeros :]
    right = gaps[at.b : at.M] if speeds else gaps[:m]
    if speeds:
        v = doubles_at(ctx.x, 1 + ctx.nq + nv)[1 + ctx.nq :]
        for r in range(m):
            for j in range(nv):
                right[r] -= G[r, j] * v[j]
    else:
        for r in range(m):
            right[r] = -right[r]
    shift, lam = doubles_at(ctx.work, nv), doubles_at(ctx.multipliers, m + 1)
    return solve_constrained(ctx, M, G, zeros, right, shift, lam) == FINE


_project_by = projection(measure_gaps, correct_gaps)


@compiled_callback
def project(out, inp, context):
    """Projection by the program of gaps and a dense solve."""
    _project_by(out, inp, context)


@compiled
def evaluate_rows(code, parameters, x, out):
    """Calls a native program for every row of x."""
    for k in range(x.shape[0]):
        call_native(code, address_of(out) + 8 * k * out.shape[1], address_of(x) + 8 * k * x.shape[1], parameters)


@compiled
def solve_rows(context, x, accelerations, multipliers, status):
    """Accelerations and multipliers for every row [t, q, v, u] of x."""
    ctx = context_at(context)
    nv, m, width = ctx.nv, ctx.rows, x.shape[1]
    at = terms_at(ctx.nq, nv, m, ctx.drives)
    terms, lam = doubles_at(ctx.terms, at.size), doubles_at(ctx.multipliers, m + 1)
    for k in range(x.shape[0]):
        call_native(ctx.code, ctx.terms, address_of(x) + 8 * k * width, ctx.parameters)
        status[k] = solve_terms(ctx, terms, lam)
        for i in range(nv):
            accelerations[k, i] = terms[at.f + i] if status[k] == FINE else np.nan
        for r in range(m):
            multipliers[k, r] = lam[r] if status[k] == FINE else np.nan
