"""The free joint: no connection."""

from __future__ import annotations

from typing import Literal

from pendula.model.joints.spherical import Orientation
from pendula.model.joints.steps import AXES, Slide, Step


class JointFree(Orientation):
    """Six degrees of freedom: x, y, z in the parent frame, then an orientation as in a ball joint."""

    type: Literal["free"] = "free"
    freedoms = (("_x", "length"), ("_y", "length"), ("_z", "length"))

    def steps(self) -> tuple[Step, ...]:
        """Translations along x, y and z, then the orientation."""
        slides = [Slide(axis, name) for axis, name in zip(AXES.values(), self.coordinate_names()[:3], strict=True)]
        return (*slides, *self.turning())
