"""A run in regular coordinates, for what is computed from its accelerations next to a singularity of its own ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pendula.errors import NotSupported
from pendula.model.joints.orientation import QUATERNION
from pendula.simulation.charts.convert import convert
from pendula.simulation.trajectory import Trajectory
from pendula.system.layout import Array
from pendula.system.orientation import maps as ori
from pendula.system.orientation.twins import regular_twin

SPOILT = 0.01
"""distance of an angle from a singularity [rad] below which its second derivative loses digits: rounding/distance^2"""


def regular_run(run: Trajectory) -> Trajectory:
    """The run itself; in quaternions if it comes so near to a singularity of angles that their accelerations are lost.

    With an angular velocity as speeds, accelerations are regular, and the run stays as it is. It also does if the model
    cannot be written in quaternions, or if its inputs belong to the run.
    """
    own = [x for x in run.joint_layout.orientations if x.axes == "rates" and x.chart.name != QUATERNION]
    if not own or run.system.inputs.over_time:
        return run
    q = run.joints[0]
    if not any(np.any(ori.distance(x.chart, q[:, x.q]) < SPOILT) for x in own):
        return run
    try:
        twin = regular_twin(run.system)
    except NotSupported:
        return run
    found = convert(run, twin)
    there = run.elsewhere
    if there is None or there.twin is not twin or not there.t.size:
        return found
    q, v = np.array(found.q), np.array(found.v)  # states that were computed in quaternions are known exactly
    at: Array = np.clip(np.searchsorted(there.t, run.t), 0, len(there.t) - 1)
    hit = there.t[at] == run.t
    q[hit], v[hit] = twin.layout.split(there.y[at[hit]])
    return replace(found, q=q, v=v)
