"""The planar joint."""

from __future__ import annotations

from typing import Literal

from pendula.model.joints.base import TreeJoint
from pendula.model.joints.steps import AXES, Slide, Step, Turn


class JointPlanar(TreeJoint):
    """Translations x, y in the joint frame, then a rotation about its z axis."""

    type: Literal["planar"] = "planar"
    freedoms = (("_x", "length"), ("_y", "length"), ("_angle", "angle"))

    def steps(self) -> tuple[Step, ...]:
        """Translations along x and y, then a rotation about z."""
        x, y, angle = self.coordinate_names()
        return Slide(AXES["x"], x), Slide(AXES["y"], y), Turn(AXES["z"], angle)
