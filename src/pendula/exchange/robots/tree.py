"""The tree of a model in numbers, for formats that hold numbers only: frames, elementary joints, mass properties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pendula.errors import NotSupported
from pendula.exchange.robots import refusals
from pendula.exchange.robots.frames import Array, quaternion_matrix
from pendula.model.bodies import GROUND
from pendula.model.expressions.expression import parse
from pendula.model.joints import TreeJoint
from pendula.model.joints.steps import Shift, Slide, Turn, TurnBall
from pendula.model.model import Model
from pendula.model.names import ExpressionError
from pendula.refusals import Refusal
from pendula.system.orientation.rotations import about

FAR = 1e6
"""a limit that no joint reaches, where a format demands one"""


@dataclass(frozen=True)
class Place:
    """A frame in another one: position of its origin, and rotation matrix."""

    r: Array
    R: Array

    def __matmul__(self, other: Place) -> Place:
        return Place(self.r + self.R @ other.r, self.R @ other.R)

    def inverse(self) -> Place:
        """The other frame in this one."""
        return Place(-self.R.T @ self.r, self.R.T)


@dataclass(frozen=True)
class Move:
    """An elementary motion: "hinge", "slide" or "ball", its axis in the joint frame, its coordinate or joint name."""

    kind: str
    axis: Array
    name: str
    armature: float = 0.0


class NumericTree:
    """Numbers of a model with the default parameters.

    Args:
        model: the model.
        format: name of the format, for messages.
    """

    def __init__(self, model: Model, format: str) -> None:
        self.model, self.format = model, format
        self.values = model.parameter_values

    def refuse(self, refusal: Refusal, element: str, **found: object) -> NotSupported:
        """The error for something that the format cannot hold."""
        return NotSupported(refusal, element=element, format=self.format, **found)

    def forces(self) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        """Every force with its name for messages and its fields."""
        for k, force in enumerate(self.model.forces):
            element = f'force "{force.name}"' if force.name else f"force {k + 1} ({force.type})"
            yield element, force, force.model_dump(by_alias=True)

    def number(self, value: Any, element: str, field: str) -> float:
        """The value of an expression of parameters."""
        try:
            return float(parse(value).evaluate(self.values))
        except (ExpressionError, KeyError):
            raise self.refuse(refusals.EXPRESSION, element, field=field, value=value) from None

    def limits(self, fields: dict[str, Any], element: str) -> tuple[str, tuple[float, float]]:
        """The coordinate of a joint limit and its range; an end without a stop is far away."""
        if self.model.joint(fields["joint"]).quaternion():
            raise self.refuse(refusals.LIMIT_OF_FREE, element)
        name = fields.get("coordinate") or self.model.joint(fields["joint"]).coordinate_names()[0]
        ends = [
            otherwise if fields[end] is None else self.number(fields[end], element, end)
            for end, otherwise in (("lower", -FAR), ("upper", FAR))
        ]
        return name, (ends[0], ends[1])

    def vector(self, values: Sequence[Any], element: str, field: str) -> Array:
        """A vector of such values."""
        return np.array([self.number(x, element, field) for x in values])

    def direction(self, values: Sequence[Any], element: str) -> Array:
        """A unit vector."""
        found = self.vector(values, element, "axis")
        return np.asarray(found / np.linalg.norm(found))

    def point(self, side: Any, element: str) -> Array:
        """The point of a side in body axes."""
        if side.position is not None:
            return self.vector(side.position, element, "position")
        if side.at is None or side.body == GROUND:
            return np.zeros(3)
        return self.vector(self.model.body(side.body).named_points()[side.at], element, "at")

    def side(self, side: Any, element: str) -> Place:
        """The frame of a joint's side in body axes."""
        R = np.eye(3)
        for turn in side.rotation.turns() if side.rotation is not None else ():
            angle = self.number(turn.angle, element, "rotation")
            R = R @ quaternion_matrix(about(self.vector(turn.axis, element, "axis").tolist(), angle))
        return Place(self.point(side, element), R)

    def moves(self, joint: TreeJoint) -> list[Move]:
        """The elementary motions of a joint, in order."""
        element, names = f'joint "{joint.name}"', joint.coordinate_names()
        if joint.motion:
            raise self.refuse(refusals.PRESCRIBED, element)
        armature = dict.fromkeys((s.name for s in joint.speeds()), 0.0)
        for speed, value in zip(joint.speeds(), joint.armature, strict=False):
            armature[speed.name] = self.number(value, element, "armature")
        found: list[Move] = []
        for step in joint.steps():
            match step:
                case Turn(axis, angle, absolute):
                    if absolute:
                        raise self.refuse(refusals.FROM_GROUND, element)
                    amount, kind = str(angle), "hinge"
                case Slide(axis, distance):
                    amount, kind = str(distance), "slide"
                case TurnBall(chart=chart, axes=axes):
                    if (chart.count, axes) != (4, "body"):
                        raise self.refuse(refusals.ANGLES, element)
                    speeds = [s.name for s in joint.speeds()[-3:]]
                    found.append(Move("ball", np.zeros(3), joint.name, armature[speeds[0]]))
                    continue
                case Shift():
                    raise self.refuse(refusals.STEPS_BY_EXPRESSION, element)
                case _:
                    raise self.refuse(refusals.STEP, element, step=type(step).__name__)
            if amount not in names:
                raise self.refuse(refusals.AMOUNT, element, amount=amount)
            found.append(Move(kind, self.direction(axis, element), amount, armature[f"{amount}_dot"]))
        return found

    def mass(self, body: Any) -> tuple[float, Array, Array]:
        """Mass, mass centre and inertia about it, in body axes."""
        element, properties = f'body "{body.name}"', body.mass_properties()
        rows = [self.vector(row, element, "inertia") for row in properties.inertia]
        return (
            self.number(properties.mass, element, "mass"),
            self.vector(properties.com, element, "com"),
            np.array(rows),
        )

    @cached_property
    def gravity(self) -> Array:
        """Acceleration of gravity."""
        return self.vector(self.model.gravity, "model", "gravity")

    @cached_property
    def children(self) -> dict[str, list[TreeJoint]]:
        """Joints by the body that carries them."""
        found: dict[str, list[TreeJoint]] = {GROUND: [], **{b.name: [] for b in self.model.bodies}}
        for joint in self.model.tree:
            found[joint.parent.body].append(joint)
        return found


def texts(values: Any) -> str:
    """Numbers as an attribute: the shortest text that reads back the same."""
    return " ".join(repr(float(x)) for x in np.asarray(values, dtype=float).ravel())


@dataclass(frozen=True)
class Solid:
    """A shape to draw in body axes: "sphere", "rod" (a round one) or "box", with half its sides along z or x, y, z."""

    kind: str
    place: Place
    radius: float = 0.0
    half: tuple[float, ...] = ()


def solids(tree: NumericTree, body: Any) -> list[Solid]:
    """What to draw of a body: its shapes that are solid, or those of its shorthand."""
    element = f'body "{body.name}"'
    found: list[Solid] = []
    for shape in body.shapes or ():
        points = [tree.vector(p, element, "points") for p in shape.points]
        radius = tree.number(shape.radius, element, "radius")
        if shape.kind == "sphere" and radius:
            found.append(Solid("sphere", Place(points[0], np.eye(3)), radius))
        elif shape.kind == "rod" and np.any(points[0] != points[1]):
            found.append(_rod(points[0], points[1], radius))
        elif shape.kind == "box":
            half = tree.vector(shape.size, element, "size") / 2
            if np.all(half > 0):
                found.append(Solid("box", Place(points[0], np.eye(3)), half=tuple(half)))
    if found or body.shapes:
        return found
    if body.rod is not None:
        end = tree.direction(body.rod.axis, element) * tree.number(body.rod.length, element, "length")
        return [_rod(np.zeros(3), end, tree.number(body.rod.diameter, element, "diameter") / 2)]
    if body.sphere is not None:
        center = tree.vector(body.sphere.at, element, "at")
        return [Solid("sphere", Place(center, np.eye(3)), tree.number(body.sphere.radius, element, "radius"))]
    if body.box is not None:
        half = tree.vector(body.box.size, element, "size") / 2
        center = tree.vector(body.box.at, element, "at")
        return [Solid("box", Place(center, np.eye(3)), half=tuple(half))] if np.all(half > 0) else []
    return []


def _rod(start: Array, end: Array, radius: float) -> Solid:
    length = float(np.linalg.norm(end - start))
    return Solid("rod", Place((start + end) / 2, frame_along(end - start)), radius or 0.02 * length, (length / 2,))


def frame_along(direction: Array) -> Array:
    """A rotation whose z axis has a direction."""
    z = direction / np.linalg.norm(direction)
    helper = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.cross(helper, z)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)
