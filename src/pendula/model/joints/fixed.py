"""The fixed joint."""

from __future__ import annotations

from typing import Literal

from pendula.model.joints.base import TreeJoint
from pendula.model.joints.steps import Step


class JointFixed(TreeJoint):
    """No motion: the two frames coincide."""

    type: Literal["fixed"] = "fixed"

    def steps(self) -> tuple[Step, ...]:
        """No steps."""
        return ()
