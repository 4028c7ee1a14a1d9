"""A closing joint of any usual kind."""

from __future__ import annotations

from typing import Literal, assert_never

from pendula.model.base import Direction
from pendula.model.joints.base import ClosingJoint
from pendula.model.joints.rows import Along, ClosingRow, NoGap, Perpendicular, SamePoint, normals
from pendula.model.joints.sides import TwoTurns
from pendula.model.joints.steps import AXES


class JointLoop(ClosingJoint):
    """A full joint of the given ``kind`` that closes a loop in space or in the plane."""

    type: Literal["loop"] = "loop"
    kind: Literal["revolute", "prismatic", "universal", "spherical", "fixed"] = "revolute"
    axis: Direction = (0, 0, 1)
    """of a revolute or prismatic loop joint, in the joint frame"""
    sequence: TwoTurns = "xy"
    """of a universal loop joint"""

    def rows(self) -> tuple[ClosingRow, ...]:
        """The constraints of a joint of this kind."""
        first, second = normals(self.axis)
        tilt = Perpendicular(first, self.axis, "tilt 1"), Perpendicular(second, self.axis, "tilt 2")
        match self.kind:
            case "spherical":
                return (SamePoint(),)
            case "revolute":
                return SamePoint(), *tilt
            case "prismatic":
                gaps = NoGap(first, "normal 1"), NoGap(second, "normal 2")
                return *gaps, *tilt, Perpendicular(first, second, "turn")
            case "universal":
                first_axis, second_axis = (AXES[letter] for letter in self.sequence)
                return SamePoint(), Perpendicular(first_axis, second_axis, "axes")
            case "fixed":
                pairs = (("z", "x", "y"), ("x", "y", "z"), ("y", "z", "x"))
                turns = [Perpendicular(AXES[a], AXES[b], f"turn about {about}") for about, a, b in pairs]
                return SamePoint(), *turns
            case kind:
                assert_never(kind)

    def senses(self) -> tuple[Along, ...]:
        """Directions that agree on both sides."""
        match self.kind:
            case "spherical" | "universal":
                return ()
            case "revolute":
                return (self.axis,)
            case "prismatic":
                return self.axis, normals(self.axis)[0]
            case "fixed":
                return tuple(AXES.values())
            case kind:
                assert_never(kind)
