"""A screw: a joint type added from outside the package, in one file."""

from typing import Literal

from pendula.extend import register_joint
from pendula.model.base import Direction, Scalar
from pendula.model.joints import TreeJoint
from pendula.model.joints.steps import Slide, Step, Turn


@register_joint
class JointScrew(TreeJoint):
    """A screw: a turn by one angle [rad] about ``axis`` that also moves along it."""

    type: Literal["screw"] = "screw"
    axis: Direction = (0, 0, 1)
    pitch: Scalar
    """distance between neighbouring threads [length unit]"""
    lead: Scalar | None = None
    """advance in one turn [length unit]; default: the pitch (one thread)"""
    freedoms = (("", "angle"),)

    def steps(self) -> tuple[Step, ...]:
        """A turn, and a slide that is proportional to it."""
        (angle,) = self.coordinate_names()
        lead = self.pitch if self.lead is None else self.lead
        return Turn(self.axis, angle), Slide(self.axis, f"({lead})*{angle}/(2*pi)")
