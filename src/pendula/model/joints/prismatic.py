"""The prismatic joint, also called slider."""

from __future__ import annotations

from typing import Literal

from pendula.model.base import Direction
from pendula.model.joints.base import TreeJoint
from pendula.model.joints.steps import Slide, Step


class JointPrismatic(TreeJoint):
    """Translation by one length along ``axis`` (in the joint frame)."""

    type: Literal["prismatic"] = "prismatic"
    axis: Direction = (1, 0, 0)
    freedoms = (("", "length"),)

    def steps(self) -> tuple[Step, ...]:
        """A translation along the axis."""
        (distance,) = self.coordinate_names()
        return (Slide(self.axis, distance),)
