"""Right-hand side and projection of the recursion as callbacks, with buffers for one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pendula.numerics.compiled.jit import CompiledCallback
from pendula.numerics.compiled.records import Memory
from pendula.numerics.scalars.eight import LANES, aligned_zeros
from pendula.system import kernels as kn
from pendula.system.code.programs import prepared_parameters
from pendula.system.dynamics import Bindings, Dynamics, Workspace
from pendula.system.orientation.turning import has_quaternions
from pendula.system.recursion import closed as ck
from pendula.system.recursion import kernels as rk
from pendula.system.recursion import loops as lp
from pendula.system.recursion.columns import WIDTH
from pendula.system.recursion.memory import RECURSION
from pendula.system.recursion.plane import planar as pl
from pendula.system.recursion.plane import plane_and_lanes as pk
from pendula.system.recursion.tables import Numbers, Tables


def bind_recursion(tables: Tables, numbers: Numbers, program: Any, loop_rows: Sequence[str], to: Bindings) -> Dynamics:
    """New callbacks for one run.

    Args:
        tables, numbers: tables of the model, and their numbers for these parameters.
        program: native program for all expressions of state or time; None if there are none.
        loop_rows: names of the constraint rows of closed loops.
        to: what the callbacks are bound to.
    """
    n, nq, nv, nd = len(tables.hinges), tables.nq, tables.nv, tables.drives
    aside = np.zeros(tables.aside + 1)
    tables.charts.fill_drives(aside[3 * nd + len(tables.expressions) :])
    context = Memory(
        RECURSION, **to.fields(), hinge_count=n, hinges=tables.hinges, numbers=numbers.hinges,
        spring_count=len(tables.springs), springs=tables.springs, spring_numbers=numbers.springs,
        load_count=len(tables.loads), loads=tables.loads, load_numbers=numbers.loads,
        load_hinges=tables.rows.load_hinges, gravity=numbers.gravity, aside=aside,
        values=len(tables.expressions), charts=tables.charts.size, tau=np.zeros(nv + nd + 1),
        speeds=np.zeros(nv + nd + 1), w=aligned_zeros(n + 1, WIDTH), outside=np.zeros(2 * n + 1),
        efforts=np.zeros(nd + 1), out=np.zeros(nq + nv + 1),
    )  # fmt: skip
    context.keep(numbers)
    if program is not None:
        code = prepared_parameters(program, to.parameters)
        context.code, context.parameters = program.evaluate, code
        context.keep(program)
    rhs, project = rk.right_hand_side, kn.project
    if numbers.plane is not None:
        context.plane, context.sprung = numbers.plane, bool(np.any(numbers.plane[:, pl.STIFFNESS :]))
        rhs = pk.chain_right_hand_side if tables.is_chain else pk.planar_right_hand_side
    if loop_rows:
        _close_loops(context, tables, numbers, to, loop_rows)
        rhs, project = ck.closed_right_hand_side, ck.project_closed
    context.rhs = rhs.address
    workspace = Workspace(context)
    projection = project if has_quaternions(to.turnings) or loop_rows else None
    return Dynamics(rhs, projection, int(to.has_power), workspace)


def _close_loops(context: Memory, tables: Tables, numbers: Numbers, to: Bindings, rows: Sequence[str]) -> None:
    """Adds tables and scratch memory of closed loops to the context."""
    n, m = len(tables.hinges), len(rows)
    context.closings = tables.closing(rows)
    context.closing_numbers = tables.closing_numbers(rows, numbers, to.parameters)
    context.pulls, context.changes = np.zeros((m, lp.PULLS)), np.zeros((m, tables.nv))
    context.wrenches, context.motions = np.zeros((n + 1, 6)), np.zeros((n + 1, 6))
    context.effort_changes, context.matrix = np.zeros((m, tables.drives + 1)), np.zeros((2 * m, m))
    context.right, context.order = np.zeros(2 * m), np.zeros(m, dtype=np.int64)
    context.least = np.array([kn.NEGLIGIBLE * to.length])


def in_lanes(dynamics: Dynamics, tables: Tables, numbers: Numbers) -> Dynamics:
    """The right-hand side for eight states at once, on wider scratch tables."""
    eight, _ = lane_kernels(tables, numbers)
    context = extended(dynamics.workspace.context, RECURSION)
    context.w = aligned_zeros(len(tables.hinges) + 1, WIDTH, LANES)
    context.tau = aligned_zeros(tables.nv + 1, LANES)
    workspace = Workspace(context)
    return Dynamics(eight, None, dynamics.quadratures, workspace)


def lane_kernels(tables: Tables, numbers: Numbers) -> tuple[CompiledCallback, CompiledCallback]:
    """The kernels for eight states at once: right-hand side and energies."""
    if numbers.plane is None:
        return pk.spatial_eight, pk.energies_of_eight
    if tables.is_chain:
        return pk.chain_eight, pk.chain_energies_of_eight
    return pk.planar_eight, pk.planar_energies_of_eight


def extended(context: Memory, kind: Any) -> Memory:
    """A copy of a recursion's context, as a record that may have more fields."""
    made = Memory(kind, **{name: getattr(context, name) for name in RECURSION.names or ()})
    made.keep(context)
    return made
