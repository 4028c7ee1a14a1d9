"""Small deviations from a motion: the right-hand side together with its exact linearization (variational equations).

    dq' = d(q')/dq dq + d(q')/dv dv + d(q')/dp dp      M dv' = -d(M a - f)/d(q, v, p) (dq, dv, dp)    at a = v'

A compiled program supplies the directional derivatives; the Cholesky factor of M is that of the solve for v'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import symengine as se

from pendula.equations.translate import translate
from pendula.errors import NotSupported
from pendula.model.expressions.expression import parse
from pendula.model.joints import Rotation
from pendula.numerics.compiled.jit import compiled_callback
from pendula.numerics.compiled.native import Callback, call_native, doubles_at
from pendula.numerics.compiled.records import Memory, reader, record_dtype
from pendula.numerics.solvers.linear import cholesky_solve
from pendula.system.code.llvm import Native, compile_program
from pendula.system.code.lower import Lowering
from pendula.system.layout import Array
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.rotations import multiply
from pendula.system.system import System

DEVIATION = record_dtype(whole="rhs rhs_context terms code parameters nq nv nu count varied along x rates slopes")
"""Fields of the context"""
deviation_at = reader(DEVIATION)


@compiled_callback
def deviation_rates(out, inp, context):
    """[t, q, v, then dq, dv for every deviation] -> their rates; NaN if the solve for v' fails."""
    ctx = deviation_at(context)
    nq, nv, nu, varied = ctx.nq, ctx.nv, ctx.nu, ctx.varied
    n = nq + nv
    size = n + n * ctx.count
    given, result = doubles_at(inp, 1 + size), doubles_at(out, size)
    call_native(ctx.rhs, ctx.rates, inp, ctx.rhs_context)
    rates, slopes = doubles_at(ctx.rates, n + 1), doubles_at(ctx.slopes, n)
    first = 1 + n + nu + nv
    x, along = doubles_at(ctx.x, first + n + varied), doubles_at(ctx.along, (ctx.count, varied))
    for i in range(1 + n):
        x[i] = given[i]
    for i in range(nv):
        x[1 + n + nu + i] = rates[nq + i]
    for i in range(n):
        result[i] = rates[i]
    for k in range(ctx.count):
        at = n + n * k
        for i in range(n):
            x[first + i] = given[1 + at + i]
        for i in range(varied):
            x[first + n + i] = along[k, i]
        call_native(ctx.code, ctx.slopes, ctx.x, ctx.parameters)
        right = slopes[nq:]
        cholesky_solve(doubles_at(ctx.terms, (nv, nv)), nv, right)
        for i in range(nq):
            result[at + i] = slopes[i]
        for i in range(nv):
            result[at + nq + i] = right[i] if np.isfinite(rates[nq + i]) else np.nan


def deviation_callback(system: System, parameters: Parameters = None, along: Array | None = None) -> Callback:
    """The right-hand side of state and deviations, for one run of a symbolic system.

    Args:
        along: a change of all parameters for each deviation, shape (deviations, parameters); default: one deviation at
            constant parameters.

    Raises:
        NotSupported: the mechanism has closed loops, or the equations are in maximal coordinates.
    """
    eq = system.equations
    if eq.loop_rows:
        why = "bodies have their own coordinates" if eq.nodes else "the mechanism has closed loops"
        advice = "" if system.model.closures else '\n  Try: compile_system(model, "kane").'
        raise NotSupported(f"deviations can be integrated in independent coordinates only, and {why}.{advice}")
    vector = parameter_vector(system, parameters)
    along = np.zeros((1, len(eq.p))) if along is None else along
    varied = np.flatnonzero(along.any(axis=0))
    dynamics = system.dynamics(vector)
    program = system.programs.deviations(vector, tuple(eq.p[i].name for i in varied))
    nq, nv, nu = len(eq.q), len(eq.v), len(eq.u)
    n = nq + nv
    x, rates, slopes = np.zeros(1 + n + nu + nv + n + varied.size), np.zeros(n + 1), np.zeros(n)
    x[1 + n : 1 + n + nu] = system.inputs.constant(vector)
    context = Memory(
        DEVIATION, rhs=dynamics.rhs.address, rhs_context=dynamics.rhs.context,
        terms=dynamics.workspace.context.terms, code=program.native.evaluate, parameters=program.context, nq=nq, nv=nv,
        nu=nu, count=len(along), varied=varied.size, along=np.append(along[:, varied], 0.0), x=x, rates=rates,
        slopes=slopes,
    )  # fmt: skip
    return deviation_rates.bind(context.address, dynamics, program, context)


# --- expressions of parameters ------------------------------------------------------------------------


def definition_slopes(system: System, parameters: Array) -> Array:
    """Derivatives of the definition of every parameter by all parameters, each varied alone."""
    return _slopes(system, "definitions", [_symbolic(x) for x in system.model.parameters.values()], parameters)


def initial_slopes(system: System, parameters: Array) -> tuple[Array, Array]:
    """Derivatives of the model's initial joint coordinates and speeds by all parameters, each varied alone."""
    model, layout = system.model, system.in_joints.layout
    values: dict[str, Any] = {}
    for name, given in model.initial.items():
        if isinstance(given, Rotation):
            names = [c.name for c in model.joint(name).coordinates()[-4:]]
            values |= dict(zip(names, _quaternion(given), strict=True))
        else:
            values[name] = _symbolic(given)
    found = [values.get(name, 0) for name in (*layout.coordinates, *layout.speeds)]
    slopes = _slopes(system, "initial values", found, parameters)
    return slopes[: len(layout.coordinates)], slopes[len(layout.coordinates) :]


def _symbolic(value: Any) -> Any:
    expression = parse(value)
    return se.sympify(translate(expression, {n: se.Symbol(n) for n in expression.names}))


def _quaternion(rotation: Rotation) -> tuple[Any, ...]:
    """The quaternion of a rotation field, scalar first."""
    if rotation.sequence is not None:
        total: tuple[Any, ...] = (1, 0, 0, 0)
        for letter, angle in zip(rotation.sequence, rotation.angles, strict=True):
            total = multiply(total, _about([int(a == letter) for a in "xyz"], _symbolic(angle)))
        return total
    return _about([_symbolic(x) for x in rotation.axis or ()], _symbolic(rotation.angle))


def _about(axis: Sequence[Any], angle: Any) -> tuple[Any, ...]:
    s = se.sin(angle / 2) / se.sqrt(sum(x * x for x in axis))
    return (se.cos(angle / 2), *(x * s for x in axis))


def _slopes(system: System, name: str, expressions: Sequence[Any], parameters: Array) -> Array:
    """The Jacobian of expressions of parameters, shape (expressions, parameters)."""
    symbols = system.equations.p
    place = {s: j for j, s in enumerate(symbols)}
    expressions = [se.sympify(e) for e in expressions]
    pairs = [(i, s) for i, e in enumerate(expressions) for s in e.free_symbols]

    def build() -> Native:
        low = Lowering([system.equations.t], symbols)
        program, outputs = low.program, [low(e) for e in expressions]
        order = program.needed(outputs)
        columns = {s: program.tangent(outputs, {low(s): program.one}, order) for _, s in pairs}
        return compile_program(program, [columns[s][i] for i, s in pairs], quick=True)

    found = np.zeros((len(expressions), len(symbols)))
    if pairs:
        program = system.programs.bind(f"slopes of {name}", parameters, build)
        found[[i for i, _ in pairs], [place[s] for _, s in pairs]] = program.rows(np.zeros((1, 1)))[0]
    return found
