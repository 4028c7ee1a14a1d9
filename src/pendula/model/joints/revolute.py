"""The revolute joint, also called hinge or pin."""

from __future__ import annotations

from typing import Literal

from pendula.model.base import Direction
from pendula.model.joints.base import TreeJoint
from pendula.model.joints.steps import Step, Turn


class JointRevolute(TreeJoint):
    """Rotation by one angle [rad] about ``axis`` (in the joint frame)."""

    type: Literal["revolute"] = "revolute"
    axis: Direction = (0, 0, 1)
    measured_from: Literal["parent", "ground"] = "parent"
    """ground: the angle is absolute (planar mechanisms only)"""
    freedoms = (("", "angle"),)

    def steps(self) -> tuple[Step, ...]:
        """A rotation about the axis."""
        (angle,) = self.coordinate_names()
        return (Turn(self.axis, angle, absolute=self.measured_from == "ground"),)
