"""A closing joint: two points coincide."""

from __future__ import annotations

from typing import Literal

from pendula.model.joints.base import ClosingJoint
from pendula.model.joints.rows import ClosingRow, SamePoint


class JointCoincident(ClosingJoint):
    """The two points coincide (a revolute joint in the plane, a ball joint in space)."""

    type: Literal["coincident"] = "coincident"

    def rows(self) -> tuple[ClosingRow, ...]:
        """The points of both sides coincide."""
        return (SamePoint(),)
