"""Small deviations from a motion: the right-hand side of the state together with its exact linearization.

    dq' = d(q')/dq dq + d(q')/dv dv        M dv' = -d(M a - f)/dq dq - d(M a - f)/dv dv    at a = v'

The directional derivatives come from a compiled program, and M as it was factored for v'.
"""

from __future__ import annotations

import numpy as np

from pendula.errors import NotSupported
from pendula.numerics.compiled.jit import compiled_callback
from pendula.numerics.compiled.native import Callback, call_native, doubles_at, integers_at
from pendula.numerics.solvers.linear import cholesky_solve
from pendula.system import kernels as kn
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.system import System

# Entries of the context
RHS, RHS_CONTEXT, TERMS, CODE, PARAMETERS, NQ, NV, NU, X, RATES, SLOPES, SIZE = range(12)


@compiled_callback
def deviation_rates(out, inp, context):
    """[t, q, v, dq, dv] -> [q', v', dq', dv']; NaN where v' cannot be found."""
    ctx = integers_at(context, SIZE)
    nq, nv, nu = ctx[NQ], ctx[NV], ctx[NU]
    n = nq + nv
    given, result = doubles_at(inp, 1 + 2 * n), doubles_at(out, 2 * n)
    call_native(ctx[RHS], ctx[RATES], inp, ctx[RHS_CONTEXT])
    rates, slopes = doubles_at(ctx[RATES], n + 1), doubles_at(ctx[SLOPES], n)
    x = doubles_at(ctx[X], 1 + n + nu + nv + n)
    for i in range(1 + n):
        x[i] = given[i]
    for i in range(nv):
        x[1 + n + nu + i] = rates[nq + i]
    for i in range(n):
        x[1 + n + nu + nv + i] = given[1 + n + i]
    call_native(ctx[CODE], ctx[SLOPES], ctx[X], ctx[PARAMETERS])
    right = slopes[nq:]
    cholesky_solve(doubles_at(ctx[TERMS], (nv, nv)), nv, right)
    for i in range(n):
        result[i] = rates[i]
    for i in range(nq):
        result[n + i] = slopes[i]
    for i in range(nv):
        result[n + nq + i] = right[i] if np.isfinite(rates[nq + i]) else np.nan


def deviation_callback(system: System, parameters: Parameters = None) -> Callback:
    """The right-hand side of state and deviation, for one run.

    Raises:
        NotSupported: the mechanism has closed loops, or its bodies have their own coordinates.
    """
    eq = system.equations
    if eq.loop_rows:
        why = "bodies have their own coordinates" if eq.nodes else "the mechanism has closed loops"
        advice = "" if system.model.closures else '\n  Try: compile_system(model, "kane").'
        raise NotSupported(f"deviations can be integrated in independent coordinates only, and {why}.{advice}")
    vector = parameter_vector(system, parameters)
    dynamics = system.dynamics(vector)
    inner = dynamics.workspace.context
    program = system.programs.deviations(vector)
    nq, nv, nu = len(eq.q), len(eq.v), len(eq.u)
    n = nq + nv
    x, rates, slopes = np.zeros(1 + n + nu + nv + n), np.zeros(n + 1), np.zeros(n)
    x[1 + n : 1 + n + nu] = system.inputs.constant(vector)
    context = np.zeros(SIZE, dtype=np.int64)
    context[[RHS, RHS_CONTEXT, TERMS]] = dynamics.rhs.address, dynamics.rhs.context, inner[kn.TERMS]
    context[[CODE, PARAMETERS]] = program.native.evaluate, program.context
    context[[NQ, NV, NU]] = nq, nv, nu
    context[[X, RATES, SLOPES]] = x.ctypes.data, rates.ctypes.data, slopes.ctypes.data
    return deviation_rates.bind(context, dynamics, program, x, rates, slopes)
