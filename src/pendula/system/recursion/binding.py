"""Right-hand side and projection of the recursion as callbacks, on buffers made for one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.numerics.scalars.eight import LANES, aligned_zeros
from pendula.system import kernels as kn
from pendula.system.code.programs import prepared_parameters
from pendula.system.dynamics import MOST_PASSES, Dynamics, Workspace
from pendula.system.layout import Array
from pendula.system.recursion import kernels as rk
from pendula.system.recursion import loops as lp
from pendula.system.recursion import planar as pl
from pendula.system.recursion import spatial as sp
from pendula.system.recursion.tables import Numbers, Tables


@dataclass(frozen=True)
class Loops:
    """What closed loops need.

    Attributes:
        names: of their rows.
        rank: number of independent rows at regular poses.
        length: a length typical of the mechanism, against which gaps are judged.
        baumgarte: rate at which errors of the constraints decay [1/time]; None: no stabilization.
    """

    names: Sequence[str]
    rank: int
    length: float
    baumgarte: float | None


def bind_recursion(
    tables: Tables,
    numbers: Numbers,
    vector: Array,
    inputs: Array,
    program: Any,
    *,
    balls: Sequence[tuple[int, int]],
    speed_of: Sequence[int],
    has_power: bool,
    loops: Loops | None,
) -> Dynamics:
    """Fresh callbacks for one run.

    Args:
        tables, numbers: of the model, and for the parameters ``vector``.
        inputs: constant values of the inputs.
        program: native program of everything that is an expression of state or time; None if nothing is.
        balls, speed_of, has_power: as for ``bind_dynamics``.
        loops: None if there are none.
    """
    n, nq, nv, nd = len(tables.ints), tables.nq, tables.nv, tables.drives
    x = np.zeros(1 + nq + nv + len(inputs))
    x[1 + nq + nv :] = inputs
    aside = np.zeros(tables.aside + 1)
    tables.charts.fill_drives(aside[3 * nd + len(tables.expressions) :])
    arrays = {
        kn.X: x,
        kn.STATUS: np.zeros(1, dtype=np.int64),
        kn.MULTIPLIERS: np.zeros(1),
        kn.BALL_AT: np.array(balls, dtype=np.int64).reshape(-1, 2),
        rk.INTS: tables.ints,
        rk.REAL: numbers.hinges,
        rk.SPRINGS_AT: tables.springs,
        rk.SPRING_NUMBERS_AT: numbers.springs,
        rk.LOADS_AT: tables.loads,
        rk.LOAD_NUMBERS_AT: numbers.loads,
        rk.GRAVITY: numbers.gravity,
        rk.ASIDE: aside,
        rk.TAU: np.zeros(nv + nd + 1),
        rk.RATES: np.zeros(nv + nd + 1),
        rk.W: aligned_zeros(n + 1, sp.WIDTH),
        rk.OUTSIDE: np.zeros(2 * n + 1),
        rk.LOAD_HINGES: tables.rows.load_hinges,
        rk.EFFORTS: np.zeros(nd + 1),  # and the power of loads
        rk.OUT: np.zeros(nq + nv + 1),
    }
    context = np.zeros(rk.SIZE, dtype=np.int64)
    keep: list[Any] = [numbers]
    if program is not None:
        code = prepared_parameters(program, vector)
        context[kn.CODE], context[kn.PARAMETERS] = program.evaluate, code.ctypes.data
        keep += [program, code]
    context[[kn.NQ, kn.NV, kn.NU, kn.DRIVES]] = nq, nv, len(inputs), nd
    context[[kn.QUADRATURES, kn.BALLS, kn.MAX_PASSES]] = int(has_power), len(balls), MOST_PASSES
    context[[rk.HINGES, rk.SPRINGS, rk.LOADS]] = n, len(tables.springs), len(tables.loads)
    context[[rk.VALUES, rk.CHARTS]] = len(tables.expressions), tables.charts.size
    rhs, project = rk.right_hand_side, kn.project
    if numbers.plane is not None:
        arrays[rk.PLANE] = numbers.plane
        context[rk.SPRUNG] = bool(np.any(numbers.plane[:, pl.STIFFNESS :]))
        rhs = rk.chain_right_hand_side if tables.is_chain else rk.planar_right_hand_side
    if loops is not None:
        arrays |= _loop_arrays(tables, numbers, vector, loops)
        arrays[kn.SPEED_OF] = np.array(speed_of, dtype=np.int64)
        context[[kn.ROWS, kn.RANK, kn.BAUMGARTE]] = len(loops.names), loops.rank, loops.baumgarte is not None
        rhs, project = rk.closed_right_hand_side, rk.project_closed
    for entry, array in arrays.items():
        context[entry] = array.ctypes.data
    context[rk.RHS] = rhs.address
    workspace = Workspace(context, arrays[kn.STATUS], (*keep, *arrays.values()))
    projection = workspace.callback(project.address) if balls or loops is not None else None
    return Dynamics(workspace.callback(rhs.address), projection, int(has_power), workspace)


def _loop_arrays(tables: Tables, numbers: Numbers, vector: Array, loops: Loops) -> dict[int, Array]:
    """Tables and scratch of closed loops."""
    n, nv, m = len(tables.ints), tables.nv, len(loops.names)
    return {
        kn.WORK: np.zeros(nv),
        kn.MULTIPLIERS: np.zeros(m),
        kn.LENGTH: np.array([loops.length]),
        kn.RATE: np.array([loops.baumgarte or 0.0]),
        rk.ROWS_AT: tables.closing(loops.names),
        rk.ROW_NUMBERS_AT: tables.closing_numbers(loops.names, numbers, vector),
        rk.PULLS: np.zeros((m, lp.PULLS)),
        rk.ANSWERS: np.zeros((n + 1, lp.ANSWER)),
        rk.CHANGES: np.zeros((m, nv)),
        rk.EFFORT_CHANGES: np.zeros((m, tables.drives + 1)),
        rk.MATRIX: np.zeros((m, m)),
        rk.RIGHT: np.zeros(2 * m),
        rk.ORDER: np.zeros(m, dtype=np.int64),
    }


def in_lanes(dynamics: Dynamics, tables: Tables, numbers: Numbers) -> Dynamics:
    """The same for eight states at once, on wider scratch tables."""
    if numbers.plane is None:
        eight = rk.spatial_eight
    else:
        eight = rk.chain_eight if tables.is_chain else rk.planar_eight
    work = aligned_zeros(len(tables.ints) + 1, sp.WIDTH, LANES)
    tau = aligned_zeros(tables.nv + 1, LANES)
    context = dynamics.workspace.context.copy()
    context[[rk.W, rk.TAU]] = work.ctypes.data, tau.ctypes.data
    workspace = Workspace(context, dynamics.workspace.status, (*dynamics.workspace.keep, work, tau))
    return Dynamics(workspace.callback(eight.address), None, dynamics.quadratures, workspace)
