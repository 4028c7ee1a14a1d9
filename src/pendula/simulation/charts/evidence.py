"""What the predictability estimate needs of a run that changed charts: its states in regular coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pendula.numerics.steppers.stepping import Integration
from pendula.simulation.charts.switching import Elsewhere
from pendula.simulation.course import Course
from pendula.simulation.predictability import Evidence, evidence_of
from pendula.system.layout import State
from pendula.system.orientation.conversion import convert_rows


def evidence_elsewhere(course: Course, run: Integration, longest: float, elsewhere: Elsewhere) -> Evidence | None:
    """What the estimate needs, in the quaternions of the twin, in which the second run passes all singularities.

    None without a twin, or where states are not those of joints.
    """
    system, twin = course.system, elsewhere.twin
    if twin is None or system.in_joints.system is not system or twin.in_joints.system is not twin:
        return None
    q, v = system.layout.split(run.y)
    found = convert_rows(system.layout, twin.layout, q, v)
    y = np.hstack([found.q, found.v, run.y[:, q.shape[1] + v.shape[1] :]])
    size = found.q.shape[1] + found.v.shape[1]
    at = np.clip(np.searchsorted(elsewhere.t, run.t), 0, max(len(elsewhere.t) - 1, 0))
    if elsewhere.t.size:  # as they were computed: at a singularity angles have lost their rates
        hit = elsewhere.t[at] == run.t
        y[hit, :size] = elsewhere.y[at[hit], :size]
    if not np.all(np.isfinite(y)):
        return None
    for x in twin.layout.orientations:  # a quaternion and its negative are the same rotation
        turns = y[:, x.q]
        flips = np.sum(turns[1:] * turns[:-1], axis=1) < 0.0
        y[:, x.q] = turns * np.cumprod(np.append(1.0, np.where(flips, -1.0, 1.0)))[:, None]
    start = State(course.start.t, y[0, : found.q.shape[1]], y[0, found.q.shape[1] : size], twin.layout)
    return evidence_of(replace(course, system=twin, start=start, events=()), replace(run, y=y), longest)
