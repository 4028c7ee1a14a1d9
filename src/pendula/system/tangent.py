"""Small deviations from a motion: the right-hand side together with its exact linearization (variational equations).

    dq' = d(q')/dq dq + d(q')/dv dv        M dv' = -d(M a - f)/dq dq - d(M a - f)/dv dv    at a = v'

A compiled program supplies the directional derivatives; the Cholesky factor of M is that of the solve for v'.
"""

from __future__ import annotations

import numpy as np

from pendula.errors import NotSupported
from pendula.numerics.compiled.jit import compiled_callback
from pendula.numerics.compiled.native import Callback, call_native, doubles_at
from pendula.numerics.compiled.records import Memory, reader, record_dtype
from pendula.numerics.solvers.linear import cholesky_solve
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.system import System

DEVIATION = record_dtype(whole="rhs rhs_context terms code parameters nq nv nu x rates slopes")
"""Fields of the context"""
deviation_at = reader(DEVIATION)


@compiled_callback
def deviation_rates(out, inp, context):
    """[t, q, v, dq, dv] -> [q', v', dq', dv']; NaN if the solve for v' fails."""
    ctx = deviation_at(context)
    nq, nv, nu = ctx.nq, ctx.nv, ctx.nu
    n = nq + nv
    given, result = doubles_at(inp, 1 + 2 * n), doubles_at(out, 2 * n)
    call_native(ctx.rhs, ctx.rates, inp, ctx.rhs_context)
    rates, slopes = doubles_at(ctx.rates, n + 1), doubles_at(ctx.slopes, n)
    x = doubles_at(ctx.x, 1 + n + nu + nv + n)
    for i in range(1 + n):
        x[i] = given[i]
    for i in range(nv):
        x[1 + n + nu + i] = rates[nq + i]
    for i in range(n):
        x[1 + n + nu + nv + i] = given[1 + n + i]
    call_native(ctx.code, ctx.slopes, ctx.x, ctx.parameters)
    right = slopes[nq:]
    cholesky_solve(doubles_at(ctx.terms, (nv, nv)), nv, right)
    for i in range(n):
        result[i] = rates[i]
    for i in range(nq):
        result[n + i] = slopes[i]
    for i in range(nv):
        result[n + nq + i] = right[i] if np.isfinite(rates[nq + i]) else np.nan


def deviation_callback(system: System, parameters: Parameters = None) -> Callback:
    """The right-hand side of state and deviation, for one run of a symbolic system.

    Raises:
        NotSupported: the mechanism has closed loops, or the equations are in maximal coordinates.
    """
    eq = system.equations
    if eq.loop_rows:
        why = "bodies have their own coordinates" if eq.nodes else "the mechanism has closed loops"
        advice = "" if system.model.closures else '\n  Try: compile_system(model, "kane").'
        raise NotSupported(f"deviations can be integrated in independent coordinates only, and {why}.{advice}")
    vector = parameter_vector(system, parameters)
    dynamics = system.dynamics(vector)
    program = system.programs.deviations(vector)
    nq, nv, nu = len(eq.q), len(eq.v), len(eq.u)
    n = nq + nv
    x, rates, slopes = np.zeros(1 + n + nu + nv + n), np.zeros(n + 1), np.zeros(n)
    x[1 + n : 1 + n + nu] = system.inputs.constant(vector)
    context = Memory(
        DEVIATION, rhs=dynamics.rhs.address, rhs_context=dynamics.rhs.context,
        terms=dynamics.workspace.context.terms, code=program.native.evaluate, parameters=program.context, nq=nq, nv=nv,
        nu=nu, x=x, rates=rates, slopes=slopes,
    )  # fmt: skip
    return deviation_rates.bind(context.address, dynamics, program, context)
