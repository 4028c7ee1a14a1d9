"""Drive forces of prescribed motions, and which of them the equations leave undetermined."""

from __future__ import annotations

import numpy as np

from pendula.analysis.reactions.freedoms import DEPENDENT, left_null_space
from pendula.model.units import Units
from pendula.system.code.rows import state_rows
from pendula.system.layout import Array
from pendula.system.loops.mobility import comparable, dimensionless
from pendula.system.loops.speeds import row_scales
from pendula.system.parameters import typical_length
from pendula.system.system import System

Motors = dict[str, Array]
"""prescribed motion -> its drive force or torque over time"""


def motor_forces(system: System, t: Array, q: Array, v: Array, parameters: Array) -> tuple[Motors, dict[str, str]]:
    """The drive force or torque of every prescribed motion, nan where it is undetermined, and its unit.

    Args:
        system: equations in any coordinates.
        t, q, v: states in the coordinates of the joints.
        parameters: values of all parameters.
    """
    drives = system.drives
    if not drives:
        return {}, {}
    own = system.in_joints.place(q, v, t, parameters=parameters)
    values = np.array(system.drive_forces(*own, t, parameters=parameters))
    values[undetermined_drives(system.in_joints.system, q, t, parameters)] = np.nan
    names = [motor_name(drive.name) for drive in drives]
    return (
        {name: values[:, k] for k, name in enumerate(names)},
        {name: motor_unit(drive.kind, system.model.unit_names) for name, drive in zip(names, drives, strict=True)},
    )


def undetermined_drives(system: System, q: Array, t: Array, parameters: Array) -> Array:
    """Whether each drive force is undetermined at each time, shape (times, prescribed motions).

    Constraint forces that do no work on any speed may still do work on prescribed motions: the motors of both cranks
    of a parallelogram can work against each other through its coupler.

    Args:
        system: equations in the coordinates of the joints.
        q, t: states.
        parameters: values of all parameters.
    """
    eq = system.equations
    if not system.loop_rows or not eq.drives:
        return np.zeros((len(t), len(eq.drives)), dtype=bool)
    at, _ = state_rows(system.layout, q, None, t, system.inputs.none)
    program = system.programs.block("drive rows", parameters, lambda: [x for row in eq.drive_G for x in row])
    driven = program.rows(at).reshape(len(t), system.loop_rows, len(eq.drives))
    G = system.constraint_jacobian(q, t, parameters=parameters)
    # rows are compared by their effect on all motions: a row that only motors can work on is self-balancing
    lengths = np.array([drive.kind == "length" for drive in eq.drives])
    steps = np.where(lengths, typical_length(system, parameters), 1.0)
    driven = driven / row_scales(system, parameters)[:, None] * steps
    rows = comparable(np.concatenate([dimensionless(system, G, parameters), driven], axis=-1))
    count = G.shape[-1]
    shared = np.einsum("trk,trd->tkd", left_null_space(rows[..., :count]), rows[..., count:])
    return np.asarray(np.abs(shared).max(axis=1, initial=0.0) > DEPENDENT)


def motor_unit(kind: str, units: Units) -> str:
    """The unit of a generalized force on a coordinate of a kind, such as the drive force of a prescribed motion."""
    return {"angle": units.torque, "length": units.force, "time": f"{units.energy}/{units.time}"}.get(kind, "")


def motor_name(drive: str) -> str:
    """A readable name: the coordinate, or the joint with the axis along which its ground point moves."""
    owner, sign, what = drive.partition("__")
    if not sign:
        return drive
    return f"{owner}: explicit time" if what.startswith("clock") else f"{owner}: moved along {what}"
