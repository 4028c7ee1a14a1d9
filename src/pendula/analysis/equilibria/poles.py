"""Points at which the coordinates of an orientation are singular, in coordinates that are regular: quaternions."""

from __future__ import annotations

import numpy as np

from pendula.errors import NotSupported
from pendula.system.layout import Array, State
from pendula.system.orientation import maps as ori
from pendula.system.orientation.conversion import convert_rows
from pendula.system.orientation.twins import body_charts, body_twin
from pendula.system.system import System

AT_POLE = 1e-5
"""distance from a singularity [rad] below which coordinates are singular: its square is lost in rounding"""


def searches_in_twin(system: System) -> bool:
    """Whether to search for equilibria in quaternions: three numbers describe a pose in more than one way."""
    return any(x.chart.count == 3 for x in system.layout.orientations)


def has_rates(system: System) -> bool:
    """Whether all orientations are sequences of angles with their rates as speeds."""
    return all(x.axes == "rates" and x.chart.is_sequence for x in system.layout.orientations if x.chart.count == 3)


def at_pole(system: System, state: State, vector: Array) -> tuple[System, State] | None:
    """The twin of a system and its state there, if angles of the system are singular at a state.

    Also if a body turns steadily and its speeds are an angular velocity in axes of the parent side: steady rotations
    are examined in body axes. None otherwise, or if the model cannot be written in other coordinates.
    """
    layout = system.in_joints.layout
    if not layout.orientations:
        return None
    joints = system.in_joints.read_state(state, vector)
    aside = any(x.axes == "parent" and np.any(joints.v[x.v]) for x in layout.orientations)
    if not (aside or near_pole(system, state, vector)):
        return None
    try:
        twin = body_twin(system)
    except NotSupported:
        return None
    return twin, state_in(twin, system, state, vector)


def near_pole(system: System, state: State, vector: Array) -> bool:
    """Whether angles of an orientation are singular at a state."""
    joints = system.in_joints.read_state(state, vector)
    sequences = [x for x in system.in_joints.layout.orientations if x.chart.is_sequence]
    return any(float(ori.distance(x.chart, joints.q[x.q])) < AT_POLE for x in sequences)


def state_in(twin: System, system: System, state: State, vector: Array) -> State:
    """A state of a system in the coordinates of another system of the same mechanism."""
    joints = system.in_joints.read_state(state, vector)
    found = convert_rows(joints.layout, twin.in_joints.layout, joints.q, joints.v)
    there = State(state.t, found.q[0], found.v[0], twin.in_joints.layout)
    return twin.in_joints.place_state(there, vector)


def in_quaternions(system: System, q: Array, v: Array, vector: Array) -> tuple[System, State] | None:
    """The twin of a system with quaternions in all ball joints, and its state there.

    None if the system has quaternions already, or if its forces use the angles by name.
    """
    joints = system.in_joints.system
    if not body_charts(joints):
        return None
    try:
        twin = body_twin(joints)
    except NotSupported:
        return None
    return twin, state_in(twin, joints, State(0.0, q, v, joints.layout), vector)
