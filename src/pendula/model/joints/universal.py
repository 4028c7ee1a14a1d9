"""The universal joint, also called Cardan joint."""

from __future__ import annotations

from typing import Literal

from pendula.model.joints.base import TreeJoint
from pendula.model.joints.sides import TwoTurns
from pendula.model.joints.steps import Step, turns


class JointUniversal(TreeJoint):
    """Two rotations about the axes named by ``sequence``, the first fixed in the parent, the second in the child."""

    type: Literal["universal"] = "universal"
    sequence: TwoTurns = "xy"
    freedoms = (("_1", "angle"), ("_2", "angle"))

    def steps(self) -> tuple[Step, ...]:
        """The two rotations."""
        return turns(self.sequence, self.coordinate_names())
