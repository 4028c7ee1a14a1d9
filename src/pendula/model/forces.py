"""Forces: springs, dampers, friction, loads, and expressions that act on a coordinate.

Gravity is a field of the model. Everything here is added to it. A positive stiffness pulls back,
a positive damping or friction coefficient takes energy out.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pendula.model.base import Element, Label, Name, Scalar, Vector
from pendula.model.joints import BodySide


class Force(Element):
    """What all forces have."""

    name: Label | None = None


class _AcrossJoint(Force):
    joint: Name
    coordinate: Name | None = None
    """which coordinate of the joint; needed when it has several"""


class ForceTorsionSpring(_AcrossJoint):
    """Torque -(stiffness (angle - rest) + damping rate) between the two sides of a joint."""

    type: Literal["torsion-spring"] = "torsion-spring"
    stiffness: Scalar = 0
    """[force length/rad]"""
    damping: Scalar = 0
    """[force length time/rad]"""
    rest: Scalar = 0
    """angle at which the spring is slack [rad]"""


def _check_place(force: ForceSpring | ForceDamper) -> None:
    """A spring or damper is between two points or across a joint."""
    ends = [force.start is not None, force.end is not None]
    if any(ends) and force.joint is not None:
        raise ValueError("joint: it goes between two points or across a joint, not both; try: keep one of them")
    if any(ends) and not all(ends):
        missing = "to" if ends[0] else "from"
        raise ValueError(f"{missing}: is missing; try: {missing} = {{ body = ..., at = ... }}")
    if force.joint is None and not any(ends):
        raise ValueError("joint: is missing; try: joint = ..., or two points from = ... and to = ...")
    if force.joint is None and force.coordinate is not None:
        raise ValueError("coordinate: belongs to a joint, but this goes between points; try: remove it")


class ForceSpring(Force):
    """A spring (with damping) between two points, or across a joint that slides.

    Between points the pull is stiffness (distance - length) + damping (rate of distance).
    """

    type: Literal["spring"] = "spring"
    start: BodySide | None = Field(default=None, alias="from")
    end: BodySide | None = Field(default=None, alias="to")
    joint: Name | None = None
    coordinate: Name | None = None
    stiffness: Scalar = 0
    """[force/length]"""
    damping: Scalar = 0
    """[force time/length]"""
    length: Scalar = 0
    """distance (or joint coordinate) at which the spring is slack [length unit]"""

    @model_validator(mode="after")
    def _one_place(self) -> ForceSpring:
        _check_place(self)
        return self


class ForceDamper(Force):
    """A damper between two points, or across a joint."""

    type: Literal["damper"] = "damper"
    start: BodySide | None = Field(default=None, alias="from")
    end: BodySide | None = Field(default=None, alias="to")
    joint: Name | None = None
    coordinate: Name | None = None
    damping: Scalar

    @model_validator(mode="after")
    def _one_place(self) -> ForceDamper:
        _check_place(self)
        return self


class ForceFriction(Force):
    """Viscous friction in a joint: -coefficient times every speed of the joint."""

    type: Literal["friction"] = "friction"
    joint: Name
    coefficient: Scalar


class ForceComFriction(Force):
    """Friction of paper 003, eq. 25: a force -coefficient theta_dot along theta_hat at the mass centre.

    theta_dot is the body's own rate of turning and theta_hat the unit vector across the line from the
    body's origin to its mass centre. In a chain it is not the rate of the mass centre, so this friction
    can feed energy into a link for a moment; the energy account shows it.
    """

    type: Literal["com-friction"] = "com-friction"
    body: Label
    coefficient: Scalar
    """[force time/rad]"""


class ForceSpinDrive(Force):
    """Driving force of paper 003, eq. 58 with its sign corrected: +coefficient theta_dot theta_hat at a point."""

    type: Literal["spin-drive"] = "spin-drive"
    body: Label
    at: Label | None = None
    position: Vector | None = None
    coefficient: Scalar
    """[force time/rad]"""


class ForceLoad(Force):
    """A force on a body at a point, in world or body axes; its entries may be expressions."""

    type: Literal["force"] = "force"
    body: Label
    at: Label | None = None
    position: Vector | None = None
    vector: Vector
    axes: Literal["world", "body"] = "world"


class ForceTorque(Force):
    """A torque on a body, in world or body axes; its entries may be expressions."""

    type: Literal["torque"] = "torque"
    body: Label
    vector: Vector
    axes: Literal["world", "body"] = "world"


class ForceGeneralized(Force):
    """An expression of t, coordinates, speeds, parameters and inputs that acts on one coordinate.

    Its power is the value times the coordinate's rate.
    """

    type: Literal["generalized"] = "generalized"
    coordinate: Name
    value: Scalar


AnyForce = Annotated[
    ForceTorsionSpring
    | ForceSpring
    | ForceDamper
    | ForceFriction
    | ForceComFriction
    | ForceSpinDrive
    | ForceLoad
    | ForceTorque
    | ForceGeneralized,
    Field(discriminator="type"),
]
