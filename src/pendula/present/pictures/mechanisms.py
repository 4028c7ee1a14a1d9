"""Pictures of a mechanism at one pose: at its initial state, with its loops closed, at rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.equilibria.trim import Trim
from pendula.equations.equations import Equations
from pendula.errors import UsageError
from pendula.model.model import Model
from pendula.present.pictures.scenery.frames import plot_frames
from pendula.present.pictures.scenery.scenes import Pose, scene_of
from pendula.system.entry import system_of
from pendula.system.loops.assembly import Assembly, assemble
from pendula.system.parameters import parameter_vector
from pendula.system.system import System

Array = Any


def plot_mechanism(given: Model | System | Equations) -> Any:
    """A figure of a mechanism at its initial state, with its loops closed."""
    system = system_of(given, "plot")
    return _standing(system, assemble(system).state.q, parameter_vector(system, None), "initial state")


def plot_assembly(found: Assembly) -> Any:
    """A figure of the mechanism in an assembled state, with closed loops."""
    system = _known(found.system, "assembly")
    return _standing(system, found.state.q, parameter_vector(system, None), "loops closed")


def plot_equilibrium(found: Equilibrium) -> Any:
    """A figure of the mechanism at an equilibrium."""
    what = "steady motion" if found.steady else "equilibrium"
    return _standing(_known(found.system, "equilibrium"), found.q, found.parameters, f"{what} {found.name}")


def plot_trim(found: Trim) -> Any:
    """A figure of the mechanism in the trimmed pose."""
    system = _known(found.system, "trim").in_joints.system
    return _standing(system, found.state.q, parameter_vector(system, None), "held")


def _known(system: System | None, what: str) -> System:
    if system is None:
        raise UsageError(f"plot cannot draw this {what}: its system is unknown")
    return system


def _standing(system: System, q: Array, parameters: Array, what: str) -> Any:
    scene = scene_of(Pose(system, np.asarray(q, dtype=float)[None], parameters))
    figure = plot_frames(scene, count=1)
    figure.axes[0].set_title(f"{scene.title}: {what}", loc="left", fontsize=11).set_parse_math(False)
    return figure
