"""The spherical joint, also called ball joint."""

from __future__ import annotations

from typing import Literal

from pendula.model.joints.base import QUATERNION, Kind, TreeJoint
from pendula.model.joints.sides import ThreeTurns
from pendula.model.joints.steps import Step, turns

EULER: tuple[tuple[str, Kind], ...] = (("_1", "angle"), ("_2", "angle"), ("_3", "angle"))


class Orientation(TreeJoint):
    """Base of spherical and free joints: a quaternion with body angular velocity, or Euler angles on request."""

    euler: ThreeTurns | None = None
    """three rotations such as "zyz" (intrinsic); default: a quaternion with angular velocity in child axes"""

    def own_freedoms(self) -> tuple[tuple[str, Kind], ...]:
        """The freedoms of the type, then three angles or a quaternion."""
        return self.freedoms + (QUATERNION if self.euler is None else EULER)

    def orientation(self) -> tuple[Step, ...]:
        """The steps of the orientation."""
        if self.euler is None:
            return (self.turn_quaternion(),)
        return turns(self.euler, self.coordinate_names()[-3:])


class JointSpherical(Orientation):
    """A ball joint. Speeds are the relative angular velocity in child axes, or the Euler rates."""

    type: Literal["spherical"] = "spherical"

    def steps(self) -> tuple[Step, ...]:
        """The orientation alone."""
        return self.orientation()
