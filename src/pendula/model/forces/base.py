"""Base classes of forces, by where they act.

A type of force is a class with fields. Most types derive from one of the classes below and state their force law;
others define :meth:`Force.actions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, assert_never

from pydantic import Field, model_validator

from pendula.errors import NotSupported
from pendula.model import refusals
from pendula.model.base import Element, Label, Name, Scalar, Vector
from pendula.model.fields import Use
from pendula.model.forces.actions import Across, AcrossAll, Action, Between, OnCoordinate, Push, Spin, Twist
from pendula.model.forces.law import Law
from pendula.model.joints import BodySide

NEED_ONE = frozenset({"stiffness", "damping"})
"""of a force that has both fields, one must be given: with neither it would do nothing"""


class Force(Element):
    """Base of all forces."""

    name: Label | None = None
    type: str

    law: ClassVar[Law] = Law()
    """the force law, for forces between points or across joints"""
    units: ClassVar[Mapping[str, str]] = {}
    """unit of each numeric field, in the words force, torque, length, time, rad, and ``pull`` and ``x`` for the force
    and the variable of the law: "pull/x" is a stiffness"""
    measures: ClassVar[Literal["angle", "length", ""]] = ""
    """kind of coordinate that a force across a joint needs; empty: any"""
    otherwise: ClassVar[str] = ""
    """advice for a coordinate of another kind"""
    drawn_as: ClassVar[Literal["spring", "damper", "string", ""]] = ""
    """how pictures show a force between two points or across a joint (a coil along a slide, a spiral about a hinge);
    empty: not at all"""

    def actions(self) -> tuple[Action, ...]:
        """Where and how the force acts."""
        raise NotSupported(refusals.NO_ACTIONS, type=self.type)

    def faults(self, values: Callable[[Sequence[Scalar]], list[float] | None]) -> Iterator[tuple[str, str, str]]:
        """Faults in the values of the fields: field, cause and advice.

        Args:
            values: evaluates some scalars at the parameters of the model; None if one has no value.
        """
        del values
        return iter(())

    def where(self) -> str:
        """Where the force acts, in words."""
        return "; ".join(_where(action) for action in self.actions())

    def law_fields(self, law: Law | None = None) -> dict[str, Scalar]:
        """Values of the fields in a law; by default in the law of this type."""
        return {name: getattr(self, name) for name in sorted((law or self.law).fields)}


def _where(action: Action) -> str:
    match action:
        case Between(start, end):
            return f"from {start.body} to {end.body}"
        case Across(joint) | AcrossAll(joint):
            return f"joint {joint}"
        case Push(body) | Twist(body) | Spin(body):
            return f"body {body}"
        case OnCoordinate(coordinate):
            return f"coordinate {coordinate}"
        case _:
            assert_never(action)


class ForceBetween(Force):
    """A force along the line between two points."""

    start: BodySide = Field(alias="from")
    end: BodySide = Field(alias="to")

    def actions(self) -> tuple[Action, ...]:
        """One action between the points."""
        return (Between(self.start, self.end, self.law, self.law_fields()),)


class ForceAcross(Force):
    """A force or torque on one coordinate of a joint, between its two sides."""

    joint: Name
    coordinate: Name | None = None
    """coordinate of the joint; needed if it has several"""

    def actions(self) -> tuple[Action, ...]:
        """One action across the joint."""
        return (Across(self.joint, self.coordinate, self.law, self.law_fields()),)


class ForceBetweenOrAcross(Force):
    """A force between two points, or across a joint."""

    start: BodySide | None = Field(default=None, alias="from")
    end: BodySide | None = Field(default=None, alias="to")
    joint: Name | None = None
    coordinate: Name | None = None

    @model_validator(mode="after")
    def _one_place(self) -> ForceBetweenOrAcross:
        ends = [self.start is not None, self.end is not None]
        if any(ends) and self.joint is not None:
            raise ValueError("joint: it acts between two points or across a joint, not both; try: keep one of them")
        if any(ends) and not all(ends):
            missing = "to" if ends[0] else "from"
            raise ValueError(f"{missing}: is missing; try: {missing} = {{ body = ..., at = ... }}")
        if self.joint is None and not any(ends):
            raise ValueError("joint: is missing; try: joint = ..., or two points from = ... and to = ...")
        if self.joint is None and self.coordinate is not None:
            raise ValueError("coordinate: belongs to a joint, but this force acts between points; try: remove it")
        return self

    def actions(self) -> tuple[Action, ...]:
        """One action, between points or across the joint."""
        if self.start is not None and self.end is not None:
            return (Between(self.start, self.end, self.law, self.law_fields()),)
        assert self.joint is not None
        return (Across(self.joint, self.coordinate, self.law, self.law_fields()),)


class ForceInJoint(Force):
    """A force on every coordinate of a joint, between its two sides."""

    joint: Name

    def actions(self) -> tuple[Action, ...]:
        """One action across each coordinate."""
        return (AcrossAll(self.joint, self.law, self.law_fields()),)


class ForceOnBody(Force):
    """A force or torque on a body from outside the mechanism."""

    body: Label


class ForceAtPoint(ForceOnBody):
    """A force at a point of a body: a named one, or a position in body axes."""

    at: Label | None = None
    position: Annotated[Vector | None, Use.PARAMETERS] = None
