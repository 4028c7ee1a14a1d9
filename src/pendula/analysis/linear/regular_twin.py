"""Linear models where angles of an orientation are singular, in quaternions, which are regular everywhere.

The twin of the system (``orientation.twins``) describes the same mechanism. Its linear model is exact, for closed
loops, steady motions and maximal coordinates too; small rotations of the joint take the place of changes of its angles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium, closed_state
from pendula.analysis.equilibria.poles import at_pole
from pendula.analysis.linear.model import LinearModel
from pendula.system.layout import State
from pendula.system.orientation.singularities import singularities
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.system import System


def regular_state(
    system: System, at: Equilibrium | State | Mapping[str, float] | None, parameters: Parameters
) -> tuple[System, State] | None:
    """The twin in regular coordinates and the state there, if angles of the system are singular at a point."""
    given = at.parameters if isinstance(at, Equilibrium) and parameters is None else parameters
    vector = parameter_vector(system, given)
    state = at.state if isinstance(at, Equilibrium) else closed_state(system, at, vector)
    if state.layout.coordinates not in (system.layout.coordinates, system.in_joints.layout.coordinates):
        return None
    return at_pole(system, state, vector)


def named(model: LinearModel, system: System) -> LinearModel:
    """A linear model of the twin that says so."""
    where = "; ".join(found.text for found in singularities(system.in_joints.layout))
    own = ", ".join(model.coordinates)
    note = f"{where}; the linear model uses quaternions instead, and these small motions: {own}"
    if np.any(model.at.v):  # in a steady motion, coordinates and their rates are those of the twin throughout
        return replace(model, basis=replace(model.basis, remark=note))
    rates = any(x.axes == "rates" for x in system.in_joints.layout.orientations)
    return replace(model, basis=replace(model.basis, chart=note, twin=True, undetermined=int(rates)))


def in_twin(linearize: Any, system: System, at: Any, parameters: Parameters, **more: Any) -> LinearModel | None:
    """The linear model in regular coordinates, if those of the system are singular at a point; else None."""
    found = regular_state(system, at, parameters)
    if found is None:
        return None
    twin, state = found
    if isinstance(at, Equilibrium):
        parameters = at.parameters if parameters is None else parameters
        if more.get("inputs") is None and len(at.inputs) and np.any(at.inputs):
            more["inputs"] = dict(zip(system.layout.inputs, at.inputs.tolist(), strict=True))
    return named(linearize(twin, state, parameters=parameters, **more), system)
