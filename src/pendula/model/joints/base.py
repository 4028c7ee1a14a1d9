"""Base classes of joints: two sides, and a template of their motion (tree joints) or constraint rows (closing joints).

Every joint has a frame on either side. At the zero pose the two frames coincide; a positive coordinate rotates
(right-hand rule) or translates the child-side frame along the joint's axis, relative to the parent-side frame. Tree
joints place a body; closing joints constrain two bodies that other joints place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import AfterValidator, Field, field_validator, model_validator

from pendula.errors import NotSupported
from pendula.model import refusals
from pendula.model.base import Element, Name, Scalar, Table
from pendula.model.fields import Use
from pendula.model.joints.orientation import Axes, Chart, chart_named
from pendula.model.joints.rows import Along, ClosingRow
from pendula.model.joints.sides import BodySide, OrAlone
from pendula.model.joints.steps import Step, Turn, TurnBall
from pendula.model.names import quote

Kind = Literal["angle", "length", "quaternion", "rotation", "other"]
"""Kinds of coordinates; "rotation" is a component of a rotation vector."""

QUATERNION: tuple[tuple[str, Kind], ...] = tuple((f"_q{k}", "quaternion") for k in range(4))
"""Coordinates of an orientation by quaternion; a joint lists them last."""


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One coordinate of a joint, or one of its speeds: its name and kind."""

    name: str
    kind: Kind
    joint: str


class Ball(NamedTuple):
    """Chart and generalized speeds of an orientation; its coordinates and speeds are the last ones of its joint."""

    chart: Chart
    axes: Axes


class Joint(Element):
    """Base of all joints."""

    if TYPE_CHECKING:
        type: Any
        """every type of joint declares its own: ``type: Literal["screw"] = "screw"``"""

    name: Name
    parent: BodySide
    child: BodySide

    closing: ClassVar[bool] = False
    has_sides: ClassVar[bool] = True
    """whether it connects two bodies; a coupling of coordinates does not"""

    def missing(self, what: str) -> NotSupported:
        """The error for a joint type without a template."""
        return NotSupported(refusals.NO_TEMPLATE, name=self.name, type=self.type, kind=type(self).__name__, what=what)


class TreeJoint(Joint):
    """A joint that places its child body. ``names`` renames its coordinates, ``motion`` prescribes them."""

    names: tuple[Name, ...] = ()
    """names of the coordinates, in order; default: from the joint's name"""
    motion: Annotated[
        dict[str, Scalar],
        AfterValidator(Table),
        OrAlone({"anyOf": [{"type": "number"}, {"type": "string"}]}),
        Use.TIME,
    ] = Field(default_factory=Table)
    """prescribed coordinates as expressions of t; a joint with one coordinate accepts the expression alone"""
    armature: Annotated[
        tuple[Scalar, ...], OrAlone({"anyOf": [{"type": "number"}, {"type": "string"}]}), Use.PARAMETERS
    ] = ()
    """inertia of geared rotors, one entry for each speed, [mass length^2] of an angle or [mass] of a length: each adds
    armature*speed^2/2 to the kinetic energy; a joint with one speed accepts the entry alone"""

    freedoms: ClassVar[tuple[tuple[str, Kind], ...]] = ()
    """suffix of the default name, and kind, of every coordinate"""

    # -- the template, which a type of joint defines ---------------------------------------------

    def own_freedoms(self) -> tuple[tuple[str, Kind], ...]:
        """Suffix of the default name, and kind, of every coordinate, if they depend on fields of the joint."""
        return self.freedoms

    def steps(self) -> tuple[Step, ...]:
        """The motion from the parent-side frame to the child-side frame."""
        raise self.missing("template of its motion, the method steps()")

    def check_own_fields(self) -> None:
        """Checks fields of this type of joint, before the checks of all joints; raises ValueError("field: fault")."""

    def field_of_names(self) -> str:
        """The field that decides the names of the coordinates."""
        return "names" if self.names else "name"

    # -- derived from the template ----------------------------------------------------------------

    @field_validator("motion", mode="before")
    @classmethod
    def _single_motion(cls, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            raise ValueError(
                "must be one expression of t, or a table by coordinate, found a list; try: "
                'motion = "0.1*sin(5*t)", or motion = { x = "0.1*t", y = 0 }'
            )
        return value if isinstance(value, dict) else {"": value}

    @field_validator("armature", mode="before")
    @classmethod
    def _single_armature(cls, value: Any) -> Any:
        return value if isinstance(value, (list, tuple)) else (value,)

    @model_validator(mode="after")
    def _armature_fits(self) -> TreeJoint:
        """One entry for each speed; rotors of an angular velocity have no axes, so their entries are equal."""
        if not self.armature:
            return self
        count = len(self.speeds())
        if len(self.armature) != count:
            wanted = f"{count} speed{'s' * (count != 1)}" if count else "no speeds"
            raise ValueError(f"armature: this joint has {wanted}, found {len(self.armature)} entries")
        if self.absolute_turn() is not None:
            raise ValueError(
                'armature: a rotor turns with the angle between the two sides; try: measured_from = "parent"'
            )
        ball = self.ball()
        if ball is not None and ball.axes != "rates" and len({str(x) for x in self.armature[-3:]}) > 1:
            raise ValueError("armature: the three entries of an angular velocity must be equal")
        return self

    @model_validator(mode="after")
    def _names_fit(self) -> TreeJoint:
        self.check_own_fields()
        count = len(self.own_freedoms())
        if self.names and len(self.names) != count:
            raise ValueError(
                f"names: this joint has {counted(count)}, found {len(self.names)} name{'s' * (len(self.names) != 1)}"
            )
        known = self.coordinate_names()
        if self.motion and not known:
            raise ValueError("motion: this joint has no coordinates")
        if self.quaternion() and self.motion.keys() & {"", *known[-4:]}:
            raise ValueError('motion: a quaternion cannot be prescribed; try: orientation = "zyz"')
        for key in self.motion:
            if key == "" and count != 1:
                raise ValueError(f"motion: this joint has {counted(count)}; try: one of {', '.join(known)}")
            if key != "" and key not in known:
                raise ValueError(
                    f"motion: {quote(key)} is not a coordinate of this joint; try: one of {', '.join(known)}"
                )
        return self

    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates, prescribed ones included."""
        return self.names or tuple([self.name + ending for ending, _ in self.own_freedoms()])

    def coordinates(self) -> tuple[Coordinate, ...]:
        """Names and kinds of the coordinates, prescribed ones included."""
        pairs = zip(self.coordinate_names(), self.own_freedoms(), strict=True)
        return tuple([Coordinate(name, kind, self.name) for name, (_, kind) in pairs])

    def speeds(self) -> tuple[Coordinate, ...]:
        """Names and kinds of the speeds: rates of the coordinates, or an angular velocity."""
        own, ball = self.coordinates(), self.ball()
        turns = ball is not None and ball.axes != "rates"
        if ball is not None and turns:
            own = own[: len(own) - ball.chart.count]
        rates = [Coordinate(f"{c.name}_dot", "angle" if c.kind == "rotation" else c.kind, self.name) for c in own]
        if turns:
            rates += [Coordinate(f"{self.name}_w{axis}", "angle", self.name) for axis in "xyz"]
        return tuple(rates)

    def attitude(self) -> Ball | None:
        """Chart and speeds of the orientation, if the joint has a free one; its coordinates and speeds come last."""
        return Ball(chart_named("quaternion"), "body") if self.quaternion() else None

    def ball(self) -> Ball | None:
        """The orientation, unless its coordinates are angles and its speeds their rates, which are single turns."""
        found = self.attitude()
        return None if found is not None and found.chart.is_sequence and found.axes == "rates" else found

    def quaternion(self) -> bool:
        """Whether the orientation is a quaternion; its coordinates come last."""
        return _has_quaternion(self.own_freedoms())

    def turn_ball(self) -> TurnBall:
        """The rotation by the joint's quaternion, or by the chart of its orientation."""
        ball = self.ball()
        assert ball is not None
        x, y, z = (speed.name for speed in self.speeds()[-3:])
        return TurnBall(*ball, self.coordinate_names()[-ball.chart.count :], (x, y, z))

    def absolute_turn(self) -> Turn | None:
        """The rotation whose angle is measured from ground, if the joint has one."""
        return next((step for step in self.steps() if isinstance(step, Turn) and step.absolute), None)

    def prescribed(self) -> dict[str, Scalar]:
        """Coordinate name -> expression of t."""
        return {key or self.coordinate_names()[0]: value for key, value in self.motion.items()}


class ClosingJoint(Joint):
    """A joint that closes a loop: it constrains two bodies that other joints have placed."""

    closing: ClassVar[bool] = True

    def rows(self) -> tuple[ClosingRow, ...]:
        """The constraints between the two sides."""
        raise self.missing("template of its rows, the method rows()")

    def senses(self) -> tuple[Along, ...]:
        """Directions that agree on both sides if the loop is closed in the correct orientation.

        Rows that keep directions perpendicular also hold if one side is reversed; these directions decide.
        """
        return ()


@lru_cache
def _has_quaternion(freedoms: tuple[tuple[str, Kind], ...]) -> bool:
    return any(kind == "quaternion" for _, kind in freedoms)


def counted(count: int) -> str:
    """A number of coordinates in words."""
    return f"{count} coordinate{'s' * (count != 1)}" if count else "no coordinates"
