"""Coordinates in which a verdict can be proven at a point: those of the mechanism, or angles that are regular there.

Interval arithmetic needs speeds that are rates of the coordinates, and equations that can be solved for all coordinates
but cyclic ones. A quaternion has neither, so its mechanism is written in three angles (Tait-Bryan) away from their
singularity. A symmetry then has to be the first angle (about an axis of the parent side) or the last one (about an axis
of the body), so several sequences are tried. Stability does not depend on the coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.errors import NotSupported
from pendula.model.joints.orientation import chart_named
from pendula.system.layout import Array, Layout
from pendula.system.orientation import maps as ori
from pendula.system.orientation.conversion import convert_rows
from pendula.system.orientation.twins import angle_twin
from pendula.system.system import System

SEQUENCES = ("xyz", "yzx", "zxy", "zyx", "xzy", "yxz")
"""Tait-Bryan angles; of any three that follow each other here, each axis is the first of one and the last of one"""
REGULAR = 0.3
"""distance from the singularity of a sequence [rad] from which on it is used"""
PROPER = ("zxz", "xyx", "yzy", "zyz", "xzx", "yxy")
"""proper Euler angles: first and last turn about the same axis, of the parent side and of the body"""
PER_JOINT, MOST_CHARTS = 3, 9
"""sequences tried for each joint, and in all"""
STILL = 1e-12
"""rates below this fraction of the largest come from rounding of a conversion"""
PART = 1e-6
"""as for the names of drifting coordinates: smaller shares in a direction do not count"""


@dataclass(frozen=True)
class Place:
    """A point in joint coordinates, or in angles.

    Attributes:
        system: the mechanism in these coordinates.
        balance: its forces.
        q, v: the point.
        source: coordinates and speeds of the same mechanism from which these were converted; None if they were not.
    """

    system: System
    balance: Balance
    q: Array
    v: Array
    source: Layout | None = None

    def names_along(self, k: int, names: tuple[str, ...]) -> set[str]:
        """Which displacements of the mechanism, named in the order of its speeds, take part in coordinate k."""
        rate = np.eye(len(self.v))[k]
        if self.source is not None:
            rate = convert_rows(self.system.layout, self.source, self.q, rate).v[0]
        return {name for name, x in zip(names, rate, strict=True) if abs(x) > PART}


def places_of(point: Equilibrium, sequences: tuple[str, ...] = SEQUENCES) -> Iterator[Place]:
    """The point in joint coordinates, unless they are quaternions or singular there, then in regular angles."""
    system = point.system
    assert system is not None
    joints = system.in_joints.system
    q, v = system.in_joints.read(point.q, point.v, parameters=point.parameters)
    layout = joints.layout
    turns = {x.joint: ori.to_quaternion(x.chart, q[x.q]) for x in layout.orientations}
    if all(
        x.axes == "rates" and x.chart.is_sequence and ori.distance(x.chart, q[x.q]) > PART for x in layout.orientations
    ):
        yield Place(joints, Balance(joints, point.inputs, point.parameters), q, v)
    if not turns or joints.written:
        return
    choices = [
        [name for name in sequences if ori.distance_of(chart_named(name), turn) > REGULAR][:PER_JOINT]
        for turn in turns.values()
    ]
    for names in islice(product(*choices), MOST_CHARTS):
        try:
            twin = angle_twin(joints, dict(zip(turns, names, strict=True)))
        except NotSupported:
            return
        there = twin.in_joints.system
        found = convert_rows(layout, there.layout, q, v)
        rates = np.where(np.abs(found.v[0]) > STILL * np.abs(found.v[0]).max(initial=0.0), found.v[0], 0.0)
        yield Place(there, Balance(there, point.inputs, point.parameters), found.q[0], rates, layout)
