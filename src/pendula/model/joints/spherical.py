"""The spherical joint, also called ball joint."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pendula.model.joints.base import QUATERNION, Ball, Kind, TreeJoint
from pendula.model.joints.orientation import Axes, Chart, OrientationName, chart_named
from pendula.model.joints.steps import Step, turns

ANGLES: tuple[tuple[str, Kind], ...] = (("_1", "angle"), ("_2", "angle"), ("_3", "angle"))
VECTOR: tuple[tuple[str, Kind], ...] = (("_rx", "rotation"), ("_ry", "rotation"), ("_rz", "rotation"))


class Orientation(TreeJoint):
    """Base of spherical and free joints: the coordinates of the orientation, and its generalized speeds."""

    orientation: OrientationName = "quaternion"
    """its coordinates: "quaternion", "rotation vector", angles about body-fixed axes such as "zyz" or about fixed axes
    such as "space xyz", or "euler" (zxz), "cardan" or "bryan" (xyz), "yaw-pitch-roll" (zyx)"""
    speeds_: Axes | None = Field(default=None, alias="speeds")
    """its generalized speeds: "rates" of the coordinates, or the angular velocity in "body" axes or in those of the
    "parent" side; default: "body" for a quaternion, otherwise "rates\""""

    def check_own_fields(self) -> None:
        """The rates of a quaternion cannot be speeds; angular velocities are not rates of prescribed coordinates."""
        if self.speeds_ == "rates" and self.chart.name == "quaternion":
            raise ValueError(
                'speeds: the four rates of a quaternion are not independent; try: speeds = "body" or "parent"'
            )
        if self.motion and self.ball() is not None and self.chart.name != "quaternion":
            what = "a rotation vector" if not self.chart.is_sequence else "an angle with angular velocities as speeds"
            if any(key in self.coordinate_names()[-3:] for key in self.motion):
                raise ValueError(f'motion: {what} cannot be prescribed; try: orientation = "zyz" with speeds = "rates"')

    @property
    def chart(self) -> Chart:
        """The coordinates of the orientation."""
        return chart_named(self.orientation)

    def own_freedoms(self) -> tuple[tuple[str, Kind], ...]:
        """The freedoms of the type, then three angles, a rotation vector or a quaternion."""
        chart = self.chart
        own = ANGLES if chart.is_sequence else VECTOR if chart.count == 3 else QUATERNION
        return self.freedoms + own

    def attitude(self) -> Ball | None:
        """Chart and speeds of the orientation."""
        chart = self.chart
        return Ball(chart, self.speeds_ or ("body" if chart.name == "quaternion" else "rates"))

    def turning(self) -> tuple[Step, ...]:
        """The steps of the orientation."""
        if self.ball() is not None:
            return (self.turn_ball(),)
        names = self.coordinate_names()[-3:]
        return turns(self.chart.body_letters, tuple(names[k] for k in self.chart.order))


class JointSpherical(Orientation):
    """A ball joint. Speeds are the relative angular velocity, or the rates of three angles or a rotation vector."""

    type: Literal["spherical"] = "spherical"

    def steps(self) -> tuple[Step, ...]:
        """The orientation alone."""
        return self.turning()
