"""A closing joint: a point stays on a line."""

from __future__ import annotations

from typing import Literal

from pendula.model.base import Direction
from pendula.model.joints.base import ClosingJoint
from pendula.model.joints.rows import ClosingRow, NoGap, normals


class JointPointOnLine(ClosingJoint):
    """The child's point stays on the line through the parent's point along ``axis`` (in the parent-side frame)."""

    type: Literal["point-on-line"] = "point-on-line"
    axis: Direction = (1, 0, 0)

    def rows(self) -> tuple[ClosingRow, ...]:
        """No gap perpendicular to the line."""
        first, second = normals(self.axis)
        return NoGap(first, "its first normal"), NoGap(second, "its second normal")
