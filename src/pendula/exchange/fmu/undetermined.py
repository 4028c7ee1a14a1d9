"""Forces in redundant loops, which the equations leave undetermined: an FMU has no outputs for them."""

from __future__ import annotations

import numpy as np

from pendula.analysis.reactions.forces import undetermined_forces
from pendula.analysis.reactions.motors import motor_name, undetermined_drives
from pendula.equations.equations import Equations
from pendula.errors import PendulaError
from pendula.exchange.fmu.variables import HELD
from pendula.system.build import compile_system
from pendula.system.layout import Array
from pendula.system.loops.assembly import assemble
from pendula.system.loops.sampling import random_states
from pendula.system.system import System

STATES = 5
"""random states at which forces are examined"""


def undetermined_outputs(eq: Equations) -> tuple[str, ...]:
    """Names of outputs whose forces the equations leave open, with the parameters of the model.

    A force that is open in single poses only (a singular pose) does not count.
    """
    if not eq.loop_rows:
        return ()
    joints = {joint.name for joint in eq.model.joints if joint.type in HELD} if eq.transmitted else set()
    if not (joints or eq.drives):
        return ()
    system = compile_system(eq)
    t, q, v = _states(system.in_joints.system)
    found = []
    for name, lost in undetermined_forces(system, t, q, v).items() if joints else ():
        if name in joints:
            found += [f"{name}.force.{axis}" for axis, gone in zip("xyz", lost.all(axis=0), strict=True) if gone]
    lost = undetermined_drives(system.in_joints.system, q, t, system.parameters).all(axis=0)
    found += [f"{motor_name(drive.name)}.drive" for drive, gone in zip(system.drives, lost, strict=True) if gone]
    return tuple(found)


def _states(system: System) -> tuple[Array, Array, Array]:
    """Random states of a system whose loops are closed; the initial state if there are none."""
    try:
        return random_states(system, STATES)
    except PendulaError:
        start = assemble(system).state
        return np.array([start.t]), start.q[None], start.v[None]
