"""Parts of a mechanism in symbols: steps from frame to frame, links, prescribed motions, rotors and poses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from pendula.equations import vectors as vec
from pendula.equations.orientation.symbols import TurnBall
from pendula.equations.tape import Expr
from pendula.model.joints import TreeJoint


@dataclass(frozen=True, slots=True)
class Shift:
    """A translation of the frame by a vector in its own axes."""

    vector: tuple[Expr, Expr, Expr]


@dataclass(frozen=True, slots=True)
class Turn:
    """A rotation of the frame about a unit axis in its own axes; an ``absolute`` angle is measured from ground."""

    axis: tuple[Expr, Expr, Expr]
    angle: Expr
    absolute: bool = False


Step = Shift | Turn | TurnBall


@dataclass(frozen=True)
class Drive:
    """A prescribed motion: a coordinate whose value is an expression of time."""

    name: str
    kind: str
    position: Any
    rate: Any
    acceleration: Any
    value: Expr
    jumps: tuple[Expr, ...] = ()
    """times at which a condition in the expression switches"""


@dataclass(frozen=True, slots=True)
class Link:
    """A body with its inboard joint. ``parent`` is the index of the parent link, -1 for ground."""

    joint: TreeJoint
    body: str
    parent: int
    before: tuple[Step, ...]
    motion: tuple[Step, ...]
    after: tuple[Step, ...]
    mass: Expr
    com: tuple[Expr, ...]
    inertia: tuple[tuple[Expr, ...], ...]

    @property
    def absolute_turn(self) -> Turn | None:
        """The rotation whose angle is measured from ground, if the joint has one; it is then the only step."""
        first = self.motion[0] if self.motion else None
        return first if isinstance(first, Turn) and first.absolute else None


class Rotor(NamedTuple):
    """Inertia of a rotor that turns with a rate of a joint: index of its link, of the rate, and the inertia."""

    link: int
    rate: int
    inertia: Expr


class Quaternion(NamedTuple):
    """Position of a quaternion: index of its first coordinate and of its first angular speed."""

    owner: str
    first: int
    speed: int


@dataclass(frozen=True)
class Pose:
    """Pose of a frame: ``R`` is the rotation matrix to world axes, ``r`` its origin in world axes.

    ``theta`` is the absolute angle about z if all rotations so far are about z, else None.
    """

    R: vec.Matrix
    r: vec.Vector
    theta: Expr | None = None


WORLD = Pose(vec.IDENTITY, vec.NULL, 0)
