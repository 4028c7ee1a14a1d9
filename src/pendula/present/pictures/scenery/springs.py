"""Springs and dampers across joints, for all pictures: a spiral about a hinge, a coil along a slide.

A picture needs a place for what the model describes by a coordinate alone. A spiral lies around the hinge, in the plane
of its rotation; its outer end turns with the parent, its inner end with the child. A coil ends at the child and begins
where the coordinate is zero; a spring without a free length begins farther back, so that it has a length at rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pendula.errors import ModelError
from pendula.model.bodies import GROUND
from pendula.model.expressions.expression import parse
from pendula.model.forces.actions import Across
from pendula.model.forces.base import Force
from pendula.model.joints import Side, TreeJoint
from pendula.model.joints.steps import Slide, Step, Turn, TurnBall
from pendula.model.model import Model
from pendula.system.orientation.rotations import quaternion_of, turned

Array = Any
Values = Mapping[str, float]

BACK = 1.0  # how far back a spring without a free length begins, in typical lengths
WALL = 0.1  # half the length of the wall at which a coil begins on the ground, in typical lengths


@dataclass(frozen=True)
class JointSpring:
    """A spring or damper across a joint.

    Attributes:
        kind: ``spring`` or ``damper``.
        joint: the joint.
        turns: whether it acts on an angle.
        axis: of the slide or the rotation, in axes of the parent body (world axes on the ground).
        back: of a coil, how far behind the point of coordinate zero it begins.
        parent_arm: of a spiral, the direction of its outer end in parent axes, at right angles to the axis; None on the
            ground, where the support decides.
        child_arm: of a spiral, the direction of its inner end in child axes.
    """

    kind: Literal["spring", "damper"]
    joint: TreeJoint
    turns: bool
    axis: tuple[float, float, float]
    back: float
    parent_arm: tuple[float, float, float] | None
    child_arm: tuple[float, float, float]

    def wall(self, at: Array, length: float) -> Array:
        """Two ends of a wall across a coil that begins at a point."""
        across = np.cross(self.axis, [0.0, 0.0, 1.0])
        across = across if np.linalg.norm(across) > 1e-9 else np.array([1.0, 0.0, 0.0])
        return np.array(at) + np.outer([-WALL, WALL], length * across / np.linalg.norm(across))


def joint_springs(model: Model, values: Values, length: float) -> list[JointSpring]:
    """Springs and dampers across joints that a picture can show, one for each coordinate.

    Args:
        model: the mechanism.
        values: its parameters.
        length: a typical length of it.
    """
    found: dict[tuple[str, str], JointSpring] = {}
    for force in model.forces:
        for action in force.actions() if force.drawn_as in ("spring", "damper") else ():
            if not isinstance(action, Across):
                continue
            joint = next(j for j in model.tree if j.name == action.joint)
            coordinate = action.coordinate or joint.coordinate_names()[0]
            step = _step_of(joint, coordinate)
            kind = "spring" if _is_elastic(action, values) else "damper"
            if step is None or (isinstance(step, Turn) and kind == "damper"):
                continue
            spring = _spring(model, force, kind, joint, step, values, length)
            if kind == "spring" or (joint.name, coordinate) not in found:
                found[joint.name, coordinate] = spring
    return list(found.values())


def _step_of(joint: TreeJoint, coordinate: str) -> Slide | Turn | None:
    """The step of a joint by a coordinate, if its axis is fixed in the parent: no rotation comes before it."""
    before: list[Step] = []
    for step in joint.steps():
        entry = step.angle if isinstance(step, Turn) else step.distance if isinstance(step, Slide) else None
        if isinstance(step, (Turn, Slide)) and entry == coordinate:
            fixed = not any(isinstance(s, (Turn, TurnBall)) for s in before)
            alone = isinstance(step, Turn) or len(joint.steps()) == 1
            return step if fixed and alone else None
        before.append(step)
    return None


def _is_elastic(action: Across, values: Values) -> bool:
    """Whether the force changes with the coordinate, at the given parameters."""
    try:
        fields = {name: parse(entry).evaluate(values) for name, entry in action.fields.items()}
        elastic = parse(action.law.elastic)
        return len({elastic.evaluate({**fields, "x": x}) for x in (0.1, 0.3, 0.7)}) > 1
    except ModelError:  # a field of time or state
        return action.law.elastic != "0"


def _spring(
    model: Model, force: Force, kind: Any, joint: TreeJoint, step: Slide | Turn, values: Values, length: float
) -> JointSpring:
    axis = np.array([parse(x).evaluate(values) for x in step.axis])
    if joint.parent.rotation is not None:
        axis = np.asarray(turned(quaternion_of(joint.parent.rotation, values), axis))
    axis = axis / np.linalg.norm(axis)
    free = parse(getattr(force, "length", 0))
    has_length = not free.names - set(values) and free.evaluate(values) > 0
    parent_arm = None if joint.parent.body == GROUND else _arm(model, joint.parent, axis, values)
    inner = axis
    if joint.child.rotation is not None or joint.parent.rotation is not None:
        inner = np.array([parse(x).evaluate(values) for x in step.axis])
        if joint.child.rotation is not None:
            inner = np.asarray(turned(quaternion_of(joint.child.rotation, values), inner))
    child_arm = _arm(model, joint.child, inner / np.linalg.norm(inner), values)
    return JointSpring(
        kind, joint, isinstance(step, Turn), _triple(axis), 0.0 if has_length else BACK * length, parent_arm, child_arm
    )


def _arm(model: Model, side: Side, axis: Array, values: Values) -> tuple[float, float, float]:
    """From the joint towards the mass centre of a body, at right angles to an axis; any such direction without one."""
    body = model.body(side.body)
    com = np.array([parse(x).evaluate(values) for x in body.mass_properties().com])
    where = [parse(x).evaluate({**values, "t": 0.0}) for x in place_of(model, side)]
    return _across(axis, com - where)


def _across(axis: Array, first: Array) -> tuple[float, float, float]:
    """A unit vector at right angles to an axis, towards a vector if it has such a part."""
    for toward in (first, np.array([0.0, -1.0, 0.0]), np.array([1.0, 0.0, 0.0])):
        across = toward - (toward @ axis) * axis
        if np.linalg.norm(across) > 1e-6 * np.linalg.norm(toward):
            return _triple(across / np.linalg.norm(across))
    raise AssertionError("two directions at right angles cannot both lie along one axis")


def ground_arm(axis: Array, support: str, vertical: Array) -> tuple[float, float, float]:
    """The direction of the outer end of a spiral on the ground: to the side of the support, across the axis."""
    return _across(np.asarray(axis), np.asarray(vertical, dtype=float) * (-1.0 if support == "below" else 1.0))


def place_of(model: Model, side: Side) -> Any:
    """The point of a body at which a joint or a force acts, in body axes, as expressions."""
    if side.at is not None:
        return model.body(side.body).named_points()[side.at]
    return side.position or (0, 0, 0)


def _triple(vector: Array) -> tuple[float, float, float]:
    x, y, z = (float(x) for x in vector)
    return x, y, z
