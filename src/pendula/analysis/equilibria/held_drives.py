"""Forces of prescribed motions while a pose or a steady motion is held, perhaps with motors at other coordinates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.reactions.motors import motor_unit, undetermined_drives
from pendula.errors import UsageError
from pendula.system.build import compile_system
from pendula.system.layout import Array
from pendula.system.orientation.maps import moved
from pendula.system.system import System

SAME = 1e-9
"""changes of a drive force below this fraction of the largest are rounding errors"""


def held_drives(
    balance: Balance, q: Array, v: Array, drives: list[int], motors: Mapping[str, float]
) -> dict[str, tuple[float, str]]:
    """The forces of some prescribed motions, each with its unit.

    Args:
        balance: the system in the coordinates of its joints, with the inputs that hold the state.
        q, v: the state that is held, v constant.
        drives: which prescribed motions, by index.
        motors: coordinate -> force or torque of the motor that holds it.

    Raises:
        UsageError: a force depends on time, or other motors can share it.
    """
    if not drives:
        return {}
    system = balance.system
    undetermined = undetermined_drives(system, q[None], np.zeros(1), balance.parameters)[0]
    for k in drives:
        if undetermined[k]:
            raise UsageError(
                f'the force of the motion "{system.drives[k].name}" is not determined: closed loops join it to '
                "other prescribed motions, whose motors can work against each other.\n"
                "  Try: prescribe fewer motions around the loop."
            )
    solver, times = _with_motors(system, motors), np.array(balance.looks())
    poses = np.concatenate([moved(system, q[None], v[None] * t) for t in times])
    forces = solver.drive_forces(
        poses, np.tile(v, (len(times), 1)), times, inputs=balance.inputs, parameters=balance.parameters
    )
    forces = forces[np.all(np.isfinite(forces), axis=1)]
    scale = SAME * max(float(np.abs(forces).max(initial=0.0)), balance.scale(q, v) if len(v) else 0.0)
    found = {}
    for k in drives:
        drive = system.drives[k]
        if np.ptp(forces[:, k]) > scale:
            raise UsageError(
                f'the force of the motion "{drive.name}" changes with time while this is held, so no constant value '
                "holds it.\n  Try: simulate(...), then reactions(run), whose motors lists the force over time."
            )
        found[drive.name] = float(forces[0, k]), motor_unit(drive.kind, system.model.unit_names)
    return found


def _with_motors(system: System, motors: Mapping[str, float]) -> System:
    """The system with the forces of motors among its loads."""
    if not motors:
        return system
    loads = [{"type": "generalized", "coordinate": name, "value": force} for name, force in motors.items()]
    return compile_system(system.model.with_changes(forces=[*system.model.forces, *loads]))
