"""Small deviations from a motion: the right-hand side together with its exact linearization (variational equations).

    dq' = d(q')/dq dq + d(q')/dv dv + d(q')/dp dp      M dv' = -d(M a - f)/d(q, v, p) (dq, dv, dp)    at a = v'

A compiled program supplies the directional derivatives; the Cholesky factor of M is that of the solve for v'.
With closed loops, dv' and the change of the multipliers solve the linearized equations together:

    M dv' - G^T dlam = d(f + G^T lam - M a)      G dv' = d(c - G a)

A deviation that satisfies the linearized constraints at the start then satisfies them for ever: ``TangentSpace``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import symengine as se

from pendula.equations.translate import translate
from pendula.errors import NotSupported
from pendula.model.expressions.expression import parse
from pendula.model.joints import Rotation
from pendula.numerics.compiled.jit import compiled_callback, compiled_part
from pendula.numerics.compiled.native import Callback, call_native, doubles_at
from pendula.numerics.compiled.records import Memory, reader, record_dtype
from pendula.numerics.quick.independent import best_rows
from pendula.numerics.solvers.linear import cholesky_solve
from pendula.system import kernels as kn
from pendula.system import refusals
from pendula.system.code.llvm import Native, compile_program
from pendula.system.code.lower import Lowering
from pendula.system.layout import Array, State
from pendula.system.loops.mobility import independent_rows
from pendula.system.orientation.rotations import quaternion_by
from pendula.system.parameters import Parameters, parameter_vector, typical_steps
from pendula.system.system import System

DEVIATION = record_dtype(
    whole="""
        rhs rhs_context terms multipliers code parameters nq nv nu rows count varied along x rates slopes
        right row_right found forces
    """
)
"""The context of the deviations: the right-hand side of the motion with its array of ``terms`` and its
``multipliers``; the program of directional derivatives, which reads ``x`` and writes ``slopes``; the ``count`` of
deviations and their changes ``along`` the ``varied`` parameters. The last four are scratch of the solve with loops."""
deviation_at = reader(DEVIATION)


@compiled_part(allocates=True)
def follow_motion(ctx, inp, out):
    """Writes the rates of the motion itself, and t, q, v, v' and the multipliers for the program of derivatives."""
    nq, nv, m = ctx.nq, ctx.nv, ctx.rows
    n, at = nq + nv, 1 + nq + nv + ctx.nu
    given, result, x = doubles_at(inp, 1 + n), doubles_at(out, n), doubles_at(ctx.x, at + nv + m)
    call_native(ctx.rhs, ctx.rates, inp, ctx.rhs_context)
    rates, lam = doubles_at(ctx.rates, n), doubles_at(ctx.multipliers, m)
    for i in range(1 + n):
        x[i] = given[i]
    for i in range(nv):
        x[at + i] = rates[nq + i]
    for r in range(m):
        x[at + nv + r] = lam[r]
    for i in range(n):
        result[i] = rates[i]


@compiled_part(allocates=True)
def differentiate_along(ctx, inp, k):
    """Directional derivatives along deviation k, into ``slopes``."""
    n, varied = ctx.nq + ctx.nv, ctx.varied
    first = 1 + n + ctx.nu + ctx.nv + ctx.rows
    x, along = doubles_at(ctx.x, first + n + varied), doubles_at(ctx.along, (ctx.count, varied))
    given = doubles_at(inp + 8 * (1 + n + n * k), n)
    for i in range(n):
        x[first + i] = given[i]
    for i in range(varied):
        x[first + n + i] = along[k, i]
    call_native(ctx.code, ctx.slopes, ctx.x, ctx.parameters)


@compiled_callback
def deviation_rates(out, inp, context):
    """[t, q, v, then dq, dv for every deviation] -> their rates; NaN if the solve for v' fails."""
    ctx = deviation_at(context)
    nq, nv = ctx.nq, ctx.nv
    n = nq + nv
    follow_motion(ctx, inp, out)
    rates, slopes = doubles_at(ctx.rates, n), doubles_at(ctx.slopes, n)
    for k in range(ctx.count):
        differentiate_along(ctx, inp, k)
        result, right = doubles_at(out + 8 * (n + n * k), n), slopes[nq:]
        cholesky_solve(doubles_at(ctx.terms, (nv, nv)), nv, right)
        for i in range(nq):
            result[i] = slopes[i]
        for i in range(nv):
            result[nq + i] = right[i] if np.isfinite(rates[nq + i]) else np.nan


@compiled_callback
def constrained_deviation_rates(out, inp, context):
    """The same with closed loops; NaN if a solve fails."""
    ctx = deviation_at(context)
    nq, nv, m = ctx.nq, ctx.nv, ctx.rows
    n = nq + nv
    follow_motion(ctx, inp, out)
    rates, slopes = doubles_at(ctx.rates, n), doubles_at(ctx.slopes, n + m)
    right, row_right = doubles_at(ctx.right, nv), doubles_at(ctx.row_right, m)
    M, G = doubles_at(ctx.terms, (nv, nv)), doubles_at(ctx.terms + 8 * kn.terms_at(nq, nv, m, 0).G, (m, nv))
    found, forces = doubles_at(ctx.found, nv), doubles_at(ctx.forces, m + 1)
    for k in range(ctx.count):
        differentiate_along(ctx, inp, k)
        result = doubles_at(out + 8 * (n + n * k), n)
        for i in range(nv):
            right[i] = slopes[nq + i]
        for r in range(m):
            row_right[r] = slopes[n + r]
        fine = (
            np.isfinite(rates[nq])
            and kn.solve_constrained(kn.context_at(ctx.rhs_context), M, G, right, row_right, found, forces) == kn.FINE
        )
        for i in range(nq):
            result[i] = slopes[i]
        for i in range(nv):
            result[nq + i] = found[i] if fine else np.nan


def deviation_callback(system: System, parameters: Parameters = None, along: Array | None = None) -> Callback:
    """The right-hand side of state and deviations, for one run of a symbolic system; see :func:`deviation_parts`."""
    refuse_over_time(system)
    return deviation_parts(system, parameters, along)[0]


def refuse_over_time(system: System) -> None:
    """Raises NotSupported for the system of a run with inputs that only the run knows."""
    if system.inputs.over_time:
        raise NotSupported(refusals.DEVIATIONS_OVER_TIME)


def deviation_parts(
    system: System, parameters: Parameters = None, along: Array | None = None, driven: tuple[str, ...] = ()
) -> tuple[Callback, list[int]]:
    """The right-hand side of state and deviations, and the addresses at which it reads the inputs.

    Args:
        along: a change of all parameters for each deviation, shape (deviations, parameters); default: one deviation at
            constant parameters.
        driven: inputs that are written to these addresses during the run.

    Raises:
        NotSupported: the equations are in maximal coordinates.
    """
    eq = system.equations
    if eq.nodes:
        raise NotSupported(refusals.DEVIATIONS_OF_BODIES)
    vector = parameter_vector(system, parameters)
    along = np.zeros((1, len(eq.p))) if along is None else along
    varied = np.flatnonzero(along.any(axis=0))
    dynamics = system.dynamics(vector)
    program = system.programs.deviations(vector, tuple(eq.p[i].name for i in varied), driven)
    nq, nv, nu, m = len(eq.q), len(eq.v), len(eq.u), eq.loop_rows
    n, motion = nq + nv, dynamics.workspace.context
    x = np.zeros(1 + n + nu + nv + m + n + varied.size)
    x[1 + n : 1 + n + nu] = system.inputs.constant(vector)
    context = Memory(
        DEVIATION, rhs=dynamics.rhs.address, rhs_context=dynamics.context, terms=motion.terms,
        multipliers=motion.multipliers, code=program.native.evaluate, parameters=program.context, nq=nq, nv=nv, nu=nu,
        rows=m, count=len(along), varied=varied.size, along=np.append(along[:, varied], 0.0), x=x,
        rates=np.zeros(n + 1), slopes=np.zeros(n + m), right=np.zeros(nv), row_right=np.zeros(m + 1),
        found=np.zeros(nv), forces=np.zeros(m + 1),
    )  # fmt: skip
    targets = [int(buffer.ctypes.data) + 8 * (1 + n) for buffer in (motion.x, x)]
    rates = constrained_deviation_rates if m else deviation_rates
    return rates.bind(context.address, dynamics, program, context), targets


@dataclass(frozen=True)
class TangentSpace:
    """The deviations (dq, dv) that constraints allow at a state, in independent coordinates.

    Attributes:
        basis: (dq, dv) per unit of the independent deviations, shape (coordinates + speeds, 2 freedoms).
        chosen: indices of the independent speeds; all of them without closed loops.
        into: dq = into ds, shape (coordinates, speeds).
    """

    basis: Array
    chosen: tuple[int, ...]
    into: Array

    def read(self, deviations: Array) -> Array:
        """Independent deviations (ds, dv) of the columns (dq, dv)."""
        nq, chosen = len(self.into), list(self.chosen)
        return np.concatenate([(np.linalg.pinv(self.into) @ deviations[:nq])[chosen], deviations[nq:][chosen]])


def tangent_space(system: System, state: State, parameters: Array, chosen: Sequence[int] | None = None) -> TangentSpace:
    """The deviations that constraints allow at a state: G ds = 0 and d(G v - b) = 0.

    Args:
        chosen: indices of the independent speeds; default: those that determine the others best.
    """
    nq, nv, m = len(system.layout.coordinates), len(system.layout.speeds), system.loop_rows
    v = np.concatenate([np.zeros((1, nv)), np.eye(nv)])
    rates = system.rates(np.broadcast_to(state.q, (nv + 1, nq)), v, np.full(nv + 1, state.t), parameters=parameters)
    into = (rates[1:] - rates[0]).T
    if not m:
        basis = np.zeros((nq + nv, 2 * nv))
        basis[:nq, :nv], basis[nq:, nv:] = into, np.eye(nv)
        return TangentSpace(basis, tuple(range(nv)), into)
    G = system.constraint_jacobian(state.q, state.t, parameters=parameters)
    rank = independent_rows(system, parameters)
    null = np.linalg.svd(G)[2][rank:].T
    k = null.shape[1]
    if chosen is None:
        picked = np.zeros(k, dtype=int)
        best_rows(null.copy(), typical_steps(system), picked)
        chosen = picked.tolist()
    kept = list(chosen)
    Z = null @ np.linalg.inv(null[kept])
    rest = [j for j in range(nv) if j not in kept]
    row = np.concatenate([[state.t], state.q, state.v, system.inputs.at(state.t, parameters)])
    dq = into @ Z
    rows = np.hstack([np.broadcast_to(row, (k, row.size)), dq.T])
    slopes = system.programs.gap_rate_slopes(parameters).rows(np.ascontiguousarray(rows)).T
    follow = np.zeros((nv, k))
    follow[rest] = np.linalg.lstsq(G[:, rest], -slopes, rcond=None)[0]
    basis = np.zeros((nq + nv, 2 * k))
    basis[:nq, :k], basis[nq:, :k], basis[nq:, k:] = dq, follow, Z
    return TangentSpace(basis, tuple(kept), into)


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
            joint, turn = model.joint(name), [se.sympify(x) for x in quaternion_by(given, _symbolic, se)]
            if joint.quaternion():
                values |= dict(zip(joint.coordinate_names()[-4:], turn, strict=True))
            elif any(x.free_symbols for x in turn):
                raise NotSupported(refusals.START_ROTATION, joint=name)
        else:
            values[name] = _symbolic(given)
    found = [values.get(name, 0) for name in (*layout.coordinates, *layout.speeds)]
    slopes = _slopes(system, "initial values", found, parameters)
    return slopes[: len(layout.coordinates)], slopes[len(layout.coordinates) :]


def _symbolic(value: Any) -> Any:
    expression = parse(value)
    return se.sympify(translate(expression, {n: se.Symbol(n) for n in expression.names}))


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
