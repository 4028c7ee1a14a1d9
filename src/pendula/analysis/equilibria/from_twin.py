"""Equilibria that were found in quaternions, written in the coordinates of the mechanism."""

from __future__ import annotations

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.equilibrium import Equilibrium, describe, in_coordinates_of
from pendula.analysis.equilibria.poles import has_rates, state_in
from pendula.analysis.equilibria.stationary import SETTLED
from pendula.system.layout import Array, State
from pendula.system.system import System

BETWEEN = 8
"""number of poses that are tried on the way to a plainer member of a family"""


def from_twin(twin: System, system: System, found: Equilibrium) -> Equilibrium:
    """An equilibrium of the twin as one of the system; of a family, a member with as many zeros as possible."""
    state = state_in(system, twin, found.state, found.parameters)
    own = system.in_joints.system is system
    if own and found.free_directions and found.enclosure is None:
        state = _plain_member(twin, system, found, state)
    if not (own and has_rates(system)):
        return in_coordinates_of(system, found, state)
    balance = Balance(system, found.inputs, found.parameters)
    return describe(balance, state.q, state.v, found.residual, found.name)


def _plain_member(twin: System, system: System, found: Equilibrium, state: State) -> State:
    """A member of the family of an equilibrium that has zeros for angles which are free."""
    balance = Balance(twin, found.inputs, found.parameters)
    scale = balance.scale(found.q, found.v)
    q = np.array(state.q, dtype=float)
    for span in (x.q for x in system.layout.orientations):
        for i in range(span.start, span.stop):
            way = np.linspace(q[i], 0.0, BETWEEN + 1)[1:]
            poses = np.repeat(q[None], len(way), axis=0)
            poses[:, i] = way
            if all(_rests(twin, system, balance, State(state.t, pose, state.v, state.layout), scale) for pose in poses):
                q = poses[-1]
        turns = np.abs(q[span] + np.pi) < 1e-9
        q[span] = np.where(turns, np.pi, q[span]) + 0.0  # neither -180 degrees nor -0
    return State(state.t, q, state.v, state.layout)


def _rests(twin: System, system: System, balance: Balance, state: State, scale: float) -> bool:
    there = state_in(twin, system, state, balance.parameters)
    left: Array = balance.unbalanced(there.q, there.v)
    return float(np.abs(left).max(initial=0.0)) < SETTLED * scale
