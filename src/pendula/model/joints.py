"""Joints: how a child body may move relative to its parent.

Every joint has a frame on either side. At the zero pose the two frames coincide; a positive
coordinate turns (right-hand rule) or moves the child-side frame along the joint's axis, seen from
the parent-side frame. Tree joints place a body; closing joints tie two bodies that are placed already.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from pendula.model.base import Direction, Element, Label, Name, Scalar, Table, Vector
from pendula.model.names import quote
from pendula.model.problems import shown


class Rotation(Element):
    """A turn: ``axis`` with ``angle``, or ``sequence`` such as "zyz" with as many ``angles``.

    A sequence turns about the axes of the frame as it stands after the turns before (intrinsic).
    """

    axis: Direction | None = None
    angle: Scalar | None = None
    sequence: Turns | None = None
    angles: tuple[Scalar, ...] = ()

    @model_validator(mode="after")
    def _one_form(self) -> Rotation:
        by_axis, by_sequence = self.axis is not None, self.sequence is not None
        if by_axis and (by_sequence or self.angles):
            raise ValueError("is given twice: it is { axis, angle } or { sequence, angles }")
        if by_sequence and self.angle is not None:
            raise ValueError("angle: a sequence takes angles, a list")
        if not by_axis and not by_sequence:
            raise ValueError("axis: is missing; try: { axis = ..., angle = ... } or { sequence = ..., angles = ... }")
        if by_axis and self.angle is None:
            raise ValueError("angle: is missing; try: angle = ...")
        if self.sequence is not None and len(self.angles) != len(self.sequence):
            wanted = f"sequence {quote(self.sequence)} takes {len(self.sequence)} angles"
            raise ValueError(f"angles: {wanted}, found {len(self.angles)}")
        return self


def _turns(value: Any, counts: tuple[int, ...] = (1, 2, 3)) -> Any:
    """Refuses a sequence of turns that is not made of x, y, z, or repeats an axis at once."""
    if type(value) is not str:
        raise ValueError(f'must be letters in quotes, such as "zyz", found {shown(value)}')
    if len(value) not in counts or any(a not in "xyz" for a in value):
        many = {(1, 2, 3): "one to three", (2,): "two", (3,): "three"}[counts]
        raise ValueError(f"must be {many} of the letters x, y, z, found {quote(value)}")
    if any(a == b for a, b in pairwise(value)):
        raise ValueError(f"{quote(value)} turns twice about the same axis in a row")
    return value


Turns = Annotated[str, BeforeValidator(_turns)]
TwoTurns = Annotated[str, BeforeValidator(lambda value: _turns(value, (2,)))]
ThreeTurns = Annotated[str, BeforeValidator(lambda value: _turns(value, (3,)))]


class Side(Element):
    """One side of a joint or force: a body, a point of it and, for joints, how the frame is turned."""

    body: Label
    at: Label | None = None
    """a named point of the body"""
    position: Vector | None = None
    """or the point in body axes [length unit]; on ground it may depend on time t"""
    rotation: Rotation | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Side:
        if self.at is not None and self.position is not None:
            raise ValueError("at: the point is given twice, by at and by position; try: keep one of them")
        return self


class _OrAlone:
    """Tells the JSON schema that a table may be replaced by what its main field holds."""

    def __init__(self, alone: dict[str, Any]) -> None:
        self.alone = alone

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        return {"anyOf": [self.alone, handler(core_schema)]}


def _side(value: Any) -> Any:
    if isinstance(value, str):
        return {"body": value}
    if not isinstance(value, (dict, Side)):
        raise ValueError(f"must be the name of a body, or {{ body = ..., at = ... }}, found {shown(value)}")
    return value


BodySide = Annotated[Side, BeforeValidator(_side), _OrAlone({"type": "string"})]


@dataclass(frozen=True)
class Coordinate:
    """One coordinate of a joint, or one of its speeds: a name and what it measures."""

    name: str
    kind: Literal["angle", "length", "quaternion", "other"]
    joint: str


class Joint(Element):
    """What all joints have."""

    name: Name
    parent: BodySide
    child: BodySide

    closing: ClassVar[bool] = False


class TreeJoint(Joint):
    """A joint that places its child body. ``names`` renames its coordinates, ``motion`` prescribes them."""

    names: tuple[Name, ...] = ()
    """names of the coordinates, in order; default: from the joint's name"""
    motion: Annotated[
        dict[str, Scalar], AfterValidator(Table), _OrAlone({"anyOf": [{"type": "number"}, {"type": "string"}]})
    ] = Field(default_factory=Table)
    """prescribed coordinates as expressions of t; a joint with one coordinate takes the expression alone"""

    default_suffixes: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = ()

    @field_validator("motion", mode="before")
    @classmethod
    def _single_motion(cls, value: Any) -> Any:
        return value if isinstance(value, dict) else {"": value}

    @model_validator(mode="after")
    def _names_fit(self) -> TreeJoint:
        self.check_own_fields()
        count = len(self.suffixes())
        if self.names and len(self.names) != count:
            raise ValueError(
                f"names: this joint has {_counted(count)}, found {len(self.names)} name{'s' * (len(self.names) != 1)}"
            )
        known = [c.name for c in self.coordinates()]
        if self.motion and not known:
            raise ValueError("motion: this joint has no coordinates")
        if self.motion and self.quaternion():
            raise ValueError('motion: a quaternion cannot be prescribed; try: euler = "zyz"')
        for key in self.motion:
            if key == "" and count != 1:
                raise ValueError(f"motion: this joint has {_counted(count)}; try: one of {', '.join(known)}")
            if key != "" and key not in known:
                raise ValueError(
                    f"motion: {quote(key)} is not a coordinate of this joint; try: one of {', '.join(known)}"
                )
        return self

    def check_own_fields(self) -> None:
        """Checks of one type of joint that come before those of all."""

    def suffixes(self) -> tuple[str, ...]:
        """Endings of the default coordinate names."""
        return self.default_suffixes

    def coordinate_kinds(self) -> tuple[str, ...]:
        """What each coordinate measures."""
        return self.kinds

    def quaternion(self) -> bool:
        """Whether the orientation is a quaternion with body angular velocity."""
        return False

    def coordinates(self) -> tuple[Coordinate, ...]:
        """Names and kinds of the coordinates, prescribed ones included."""
        names = self.names or tuple(self.name + suffix for suffix in self.suffixes())
        return tuple(Coordinate(n, k, self.name) for n, k in zip(names, self.coordinate_kinds(), strict=True))  # type: ignore[arg-type]

    def speeds(self) -> tuple[Coordinate, ...]:
        """Names and kinds of the speeds: the rates of the coordinates, unless a quaternion is used."""
        return tuple(Coordinate(f"{c.name}_dot", c.kind, self.name) for c in self.coordinates())

    def prescribed(self) -> dict[str, Scalar]:
        """Coordinate name -> expression of t."""
        return {key or self.coordinates()[0].name: value for key, value in self.motion.items()}


def _counted(count: int) -> str:
    return f"{count} coordinate{'s' * (count != 1)}" if count else "no coordinates"


class JointFixed(TreeJoint):
    """No motion: the two frames coincide."""

    type: Literal["fixed"] = "fixed"


class JointRevolute(TreeJoint):
    """A turn by one angle [rad] about ``axis`` (in the joint frame)."""

    type: Literal["revolute"] = "revolute"
    axis: Direction = (0, 0, 1)
    measured_from: Literal["parent", "ground"] = "parent"
    """ground: the angle is absolute (planar mechanisms only)"""
    default_suffixes = ("",)
    kinds = ("angle",)


class JointPrismatic(TreeJoint):
    """A shift by one length along ``axis`` (in the joint frame)."""

    type: Literal["prismatic"] = "prismatic"
    axis: Direction = (1, 0, 0)
    default_suffixes = ("",)
    kinds = ("length",)


class JointPlanar(TreeJoint):
    """Shifts x, y in the joint frame, then a turn about its z axis."""

    type: Literal["planar"] = "planar"
    default_suffixes = ("_x", "_y", "_angle")
    kinds = ("length", "length", "angle")


class JointUniversal(TreeJoint):
    """Two turns about the axes named by ``sequence``, the first fixed in the parent, the second in the child."""

    type: Literal["universal"] = "universal"
    sequence: TwoTurns = "xy"
    default_suffixes = ("_1", "_2")
    kinds = ("angle", "angle")


class _Orientation(TreeJoint):
    """Shared by spherical and free: a quaternion with body angular velocity, or Euler angles on request."""

    euler: ThreeTurns | None = None
    """three turns such as "zyz" (intrinsic); default: a quaternion with angular velocity in child axes"""

    def quaternion(self) -> bool:
        """Whether the orientation is a quaternion with body angular velocity."""
        return self.euler is None


_QUATERNION = ("_q0", "_q1", "_q2", "_q3")
_OMEGA = ("_wx", "_wy", "_wz")
_EULER = ("_1", "_2", "_3")


class JointSpherical(_Orientation):
    """A ball joint. Speeds are the relative angular velocity in child axes, or the Euler rates."""

    type: Literal["spherical"] = "spherical"

    def suffixes(self) -> tuple[str, ...]:
        """Endings of the default coordinate names."""
        return _EULER if self.euler else _QUATERNION

    def coordinate_kinds(self) -> tuple[str, ...]:
        """What each coordinate measures."""
        return ("angle",) * 3 if self.euler else ("quaternion",) * 4

    def speeds(self) -> tuple[Coordinate, ...]:
        """Names and kinds of the speeds."""
        if self.euler:
            return super().speeds()
        return tuple(Coordinate(self.name + s, "angle", self.name) for s in _OMEGA)


class JointFree(_Orientation):
    """Six freedoms: x, y, z in the parent frame, then an orientation as in a ball joint."""

    type: Literal["free"] = "free"

    def suffixes(self) -> tuple[str, ...]:
        """Endings of the default coordinate names."""
        return ("_x", "_y", "_z") + (_EULER if self.euler else _QUATERNION)

    def coordinate_kinds(self) -> tuple[str, ...]:
        """What each coordinate measures."""
        return ("length",) * 3 + (("angle",) * 3 if self.euler else ("quaternion",) * 4)

    def speeds(self) -> tuple[Coordinate, ...]:
        """Names and kinds of the speeds."""
        if self.euler:
            return super().speeds()
        shifts = tuple(Coordinate(f"{c.name}_dot", "length", self.name) for c in self.coordinates()[:3])
        return shifts + tuple(Coordinate(self.name + s, "angle", self.name) for s in _OMEGA)


class JointCoordinates(TreeJoint):
    """The child's pose as expressions of own coordinates, parameters and t: a bead on a wire, the (x, y) chart."""

    type: Literal["coordinates"] = "coordinates"
    coordinates_: tuple[Name, ...] = Field(alias="coordinates")
    """names of the coordinates used in the expressions"""
    kinds_: tuple[Literal["angle", "length", "other"], ...] = Field(default=(), alias="kinds")
    """what each coordinate measures; default: length"""
    position: Vector = (0, 0, 0)
    rotation: Rotation | None = None

    def check_own_fields(self) -> None:
        """Coordinates are named here, and as many kinds are given."""
        if not self.coordinates_:
            raise ValueError("coordinates: is empty; try: name at least one coordinate")
        if self.names:
            raise ValueError("names: this joint names its coordinates in coordinates = [...]")
        if self.kinds_ and len(self.kinds_) != len(self.coordinates_):
            raise ValueError(f"kinds: {_counted(len(self.coordinates_))}, found {len(self.kinds_)} kinds")

    def suffixes(self) -> tuple[str, ...]:
        """Endings of the default coordinate names."""
        return self.coordinates_

    def coordinates(self) -> tuple[Coordinate, ...]:
        """Names and kinds of the coordinates, prescribed ones included."""
        kinds: tuple[Any, ...] = self.kinds_ or ("length",) * len(self.coordinates_)
        return tuple(Coordinate(n, k, self.name) for n, k in zip(self.coordinates_, kinds, strict=True))


class ClosingJoint(Joint):
    """A joint that closes a loop: it constrains two bodies that other joints have placed."""

    closing: ClassVar[bool] = True


class JointCoincident(ClosingJoint):
    """The two points coincide (a pin in the plane, a ball joint in space)."""

    type: Literal["coincident"] = "coincident"


class JointPointOnLine(ClosingJoint):
    """The child's point stays on the line through the parent's point along ``axis`` (in the parent-side frame)."""

    type: Literal["point-on-line"] = "point-on-line"
    axis: Direction = (1, 0, 0)


class JointLoop(ClosingJoint):
    """A full joint of the given ``kind`` that closes a loop in space or in the plane."""

    type: Literal["loop"] = "loop"
    kind: Literal["revolute", "prismatic", "universal", "spherical", "fixed"] = "revolute"
    axis: Direction = (0, 0, 1)
    """of a revolute or prismatic loop joint, in the joint frame"""
    sequence: TwoTurns = "xy"
    """of a universal loop joint"""


AnyJoint = Annotated[
    JointFixed
    | JointRevolute
    | JointPrismatic
    | JointPlanar
    | JointUniversal
    | JointSpherical
    | JointFree
    | JointCoordinates
    | JointCoincident
    | JointPointOnLine
    | JointLoop,
    Field(discriminator="type"),
]
