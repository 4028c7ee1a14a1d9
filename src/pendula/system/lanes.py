"""Right-hand side and energies of a system for eight states at once, for ensembles.

For a mechanism without constraint rows, one native program evaluates the mass matrix, forces, accelerations and power.
For all others, the functions for one state are called lane by lane, behind the same interface.

Data that differs between runs (parameters, or addresses of contexts) has one column per lane. The stepper fills it
when a run enters the lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.numerics.compiled.jit import compiled_callback
from pendula.numerics.compiled.native import Callback, call_native, doubles_at, integers_at
from pendula.numerics.compiled.records import Memory, reader, record_dtype
from pendula.numerics.scalars.eight import LANES, aligned_zeros
from pendula.numerics.solvers.linear import PIVOT_TOLERANCE
from pendula.system.code.llvm import Native, compile_program
from pendula.system.code.programs import prepared_rows
from pendula.system.code.solve import solve_symmetric
from pendula.system.layout import Array
from pendula.system.recursion import kernels as rk
from pendula.system.recursion.binding import lane_kernels
from pendula.system.recursive import RecursiveSystem

if TYPE_CHECKING:
    from pendula.system.system import System

MOST_SPEEDS = 24  # with more speeds, the program that solves for the accelerations takes too long to compile

ONE_STATE = record_dtype(whole="code inputs outputs x found contexts")
"""Context of :func:`one_by_one`: the function for one state, how many numbers it reads and writes, buffers for both,
and its context in every lane (0 if the lane is idle)"""
one_state_at = reader(ONE_STATE)


@compiled_callback
def one_by_one(out, inp, context):
    """Calls a native function for one state in each of the eight lanes."""
    ctx = one_state_at(context)
    inputs, outputs = ctx.inputs, ctx.outputs
    given, result = doubles_at(inp, (inputs, LANES)), doubles_at(out, (outputs, LANES))
    x, found = doubles_at(ctx.x, inputs), doubles_at(ctx.found, outputs)
    contexts = integers_at(ctx.contexts, LANES)
    for lane in range(LANES):
        if contexts[lane] == 0:
            for i in range(outputs):
                result[i, lane] = 0.0
            continue
        for i in range(inputs):
            x[i] = given[i, lane]
        call_native(ctx.code, ctx.found, ctx.x, contexts[lane])
        for i in range(outputs):
            result[i, lane] = found[i]


@dataclass
class LaneDynamics:
    """Callbacks for eight states of a system at once, on private buffers.

    Attributes:
        rhs: reads rows ``t, y...`` of eight, writes rows of rates.
        energies: reads the same, writes kinetic and potential energy.
        project: address of the projection for one state, 0 if there is none.
        project_row: row of ``column`` that holds the context of the projection, as an integer.
        data: what differs between runs, shape (runs, width); one row if all runs share it.
        column: the copy of ``data`` for the runs in the lanes, shape (width, 8).
        in_lanes: whether one program computes all lanes together.
    """

    rhs: Callback
    energies: Callback
    project: int
    project_row: int
    quadratures: int
    data: Array
    column: Array
    in_lanes: bool
    owner: tuple[Any, ...]


def has_lane_program(system: System) -> bool:
    """Whether one program computes eight states of a system at a time."""
    if isinstance(system, RecursiveSystem) and system.runs_in_lanes:
        return True
    eq = system.equations
    return not eq.loop_rows and not eq.nodes and 0 < len(eq.v) <= MOST_SPEEDS


def bind_lanes(system: System, parameters: Array) -> LaneDynamics:
    """Callbacks for runs with the given parameters: one row per run, or one row for all runs."""
    if isinstance(system, RecursiveSystem):
        if len(parameters) == 1 and system.runs_in_lanes:
            return _by_recursion(system, parameters[0])
        return _one_by_one(system, parameters)
    return _together(system, parameters) if has_lane_program(system) else _one_by_one(system, parameters)


def _by_recursion(system: RecursiveSystem, parameters: Array) -> LaneDynamics:
    """The articulated-body recursion for eight states; all lanes share its tables."""
    dynamics = system.dynamics_of_eight(parameters)
    project, context, owner = _projection(system, parameters)
    data = np.full((1, 1), context, dtype=np.int64).view(np.float64)
    _, measure = lane_kernels(system.tables, system.numbers(parameters))
    energies = Callback(measure.address, dynamics.context, dynamics)
    return LaneDynamics(
        dynamics.rhs, energies, project, 0, dynamics.quadratures, data, aligned_zeros(1, LANES), True, (dynamics, owner)
    )


def _together(system: System, parameters: Array) -> LaneDynamics:
    programs = system.programs
    natives = [programs.native(f"{name} in lanes", lambda make=make: make(system)) for name, make in _MAKERS]  # type: ignore[misc]
    inputs = np.array([system.inputs.constant(row) for row in parameters]).reshape(len(parameters), -1)
    given = np.ascontiguousarray(np.concatenate([parameters, inputs], axis=1))
    parts = [prepared_rows(native, given) for native in natives]
    project, context, owner = _projection(system, parameters[0])
    parts.append(np.full((len(parameters), 1), context, dtype=np.int64).view(np.float64))
    data = np.ascontiguousarray(np.concatenate(parts, axis=1))
    column = aligned_zeros(data.shape[1], LANES)
    first = natives[0].parameters + natives[0].prepared
    rhs = Callback(natives[0].evaluate, column.ctypes.data, (natives[0], column))
    energies = Callback(natives[1].evaluate, column[first:].ctypes.data, (natives[1], column))
    return LaneDynamics(
        rhs, energies, project, data.shape[1] - 1, int(system.has_power), data, column, True, (natives, owner)
    )


def _projection(system: System, parameters: Array) -> tuple[int, int, Any]:
    """Address and context of the projection that normalizes quaternions, if there are any; it needs no parameters."""
    if not system.balls:
        return 0, 0, None
    dynamics = system.dynamics(parameters)
    assert dynamics.project is not None
    return dynamics.project.address, dynamics.project.context, dynamics


def _make_dynamics(system: System) -> Native:
    """q', v' and power; v' is NaN where the mass matrix is not positive definite."""
    eq = system.equations
    low = system.programs.lowering(inputs_in_time=True, inputs_fixed=True)
    program, n = low.program, len(eq.v)
    M = [[low(eq.M[i][j]) if j >= i else program.zero for j in range(n)] for i in range(n)]
    a = solve_symmetric(program, M, [low(x) for x in eq.f], PIVOT_TOLERANCE)
    outputs = [*(low(x) for x in eq.qdot), *a]
    if system.has_power:
        power = low(eq.power)
        for d, drive in enumerate(eq.drives):
            drive_force = program.negate(low(eq.drive_f[d]))
            for j in range(n):
                drive_force = program.add(drive_force, program.multiply(low(eq.drive_M[d][j]), a[j]))
            power = program.add(power, program.multiply(drive_force, low(drive.rate)))
        outputs.append(power)
    return compile_program(program, outputs, inputs=low.inputs(), lanes=LANES)


def _make_energies(system: System) -> Native:
    low = system.programs.lowering(inputs_in_time=True, inputs_fixed=True)
    energies = [low(system.equations.kinetic), low(system.equations.potential)]
    return compile_program(low.program, energies, inputs=low.inputs(), lanes=LANES)


_MAKERS = (("dynamics", _make_dynamics), ("energies", _make_energies))


def _one_by_one(system: System, parameters: Array) -> LaneDynamics:
    dynamics = [system.dynamics(row) for row in parameters]
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    if isinstance(system, RecursiveSystem):
        energies: list[Any] = [system.dynamics(row) for row in parameters]  # on separate scratch tables
        code, contexts = rk.energies_of_one.address, [e.context for e in energies]
    else:
        eq = system.equations
        energies = [system.programs.block("energies", row, lambda: [eq.kinetic, eq.potential]) for row in parameters]
        code, contexts = energies[0].native.evaluate, [e.context for e in energies]
    data = np.array([[d.context, e] for d, e in zip(dynamics, contexts)], dtype=np.int64).view(np.float64)
    column = aligned_zeros(2, LANES)
    size = nq + nv + dynamics[0].quadratures
    rhs = _adapted(dynamics[0].rhs.address, 1 + size, size, column[0])
    measure = _adapted(code, 1 + nq + nv, 2, column[1])
    project = dynamics[0].project
    return LaneDynamics(
        rhs, measure, project.address if project else 0, 0, dynamics[0].quadratures, data, column, False,
        (dynamics, energies),
    )  # fmt: skip


def _adapted(code: int, inputs: int, outputs: int, contexts: Array) -> Callback:
    context = Memory(
        ONE_STATE, code=code, inputs=inputs, outputs=outputs, x=np.zeros(inputs), found=np.zeros(outputs + 1),
        contexts=contexts,
    )  # fmt: skip
    return one_by_one.bind(context.address, context)
