"""Runs that end where coordinates without a regular twin are singular: which rate is undetermined, and at which value.

Joints of type "coordinates" and universal joints describe their motion by particular formulas, so there is no other
chart to change to. Steps usually pass a singularity; a run whose steps become too short there names it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pendula.numerics.steppers.stepping import Integration
from pendula.outcome import Outcome
from pendula.system.layout import Array
from pendula.system.system import System

FLAT = 1e-10
"""M is singular if a motion has less than this fraction of its largest inertia in the run"""
ASIDE = 0.1
"""change of a coordinate by which its influence on the lost inertia is measured, in radians or typical lengths"""
STATES = 50
"""states of a run from which the largest inertia is taken"""


def named(system: System, run: Integration, vector: Array) -> Integration:
    """The run, with an outcome that names the coordinates if it stopped where they are singular."""
    if run.outcome not in (Outcome.STEP_TOO_SMALL, Outcome.NOT_FINITE) or system.loop_rows or len(run.t) < 2:
        return run
    found = lost_rate(system, run, vector)
    if found is None:
        return run
    joint, lost, words = found
    detail = (
        f'after t = {run.t[-1]:.9g} the motion reaches {words}, where the coordinates of joint "{joint}" are singular '
        f"although its pose is not: {lost} is not determined there, and there is no regular chart to change to"
    )
    return replace(run, outcome=Outcome.SINGULAR_CHART, detail=detail)


def lost_rate(system: System, run: Integration, vector: Array) -> tuple[str, str, str] | None:
    """Joint, undetermined speed and the place in words, if a motion of one joint has no inertia at the end of a run."""
    layout = system.layout
    nq = len(layout.coordinates)
    t, q = float(run.t[-1]), run.y[-1, :nq]
    some = np.unique(np.linspace(0, len(run.t) - 1, STATES).astype(int))
    largest = np.max([np.diag(system.mass_matrix(run.y[k, :nq], run.t[k], parameters=vector)) for k in some], axis=0)
    if not np.all(largest > 0.0):
        return None
    scale = 1.0 / np.sqrt(largest)

    def inertia(at: Array) -> tuple[float, Array]:
        M = system.mass_matrix(at, t, parameters=vector) * scale[:, None] * scale
        values, vectors = np.linalg.eigh(M)
        return float(values[0]), vectors[:, 0]

    least, direction = inertia(q)
    if not least < FLAT:
        return None
    lost = layout.speeds[int(np.argmax(np.abs(direction)))]
    owner = next((j for j in system.model.tree if lost in [s.name for s in j.speeds()]), None)
    own = [k for k, name in enumerate(layout.coordinates) if owner is not None and name in owner.coordinate_names()]
    if owner is None or not own:
        return None
    aside = {k: inertia(q + ASIDE * (np.arange(nq) == k))[0] for k in own}
    decides = max(aside, key=lambda k: aside[k])
    return owner.name, lost, _place(system, decides, float(q[decides]))


def _place(system: System, k: int, value: float) -> str:
    """A coordinate with its value, rounded where it is next to a plain number."""
    name = system.layout.coordinates[k]
    if any(c.name == name and c.kind == "angle" for c in system.model.coordinates):
        degrees = float(np.rad2deg(value))
        return f"{name} = {round(degrees, 6) + 0.0:g} deg"
    return f"{name} = {round(value, 9) + 0.0:g}"
