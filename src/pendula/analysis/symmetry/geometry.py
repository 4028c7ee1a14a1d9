"""Frames and mass properties of a model as numbers, for given values of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pendula.model.bodies import GROUND, Body
from pendula.model.expressions.expression import parse
from pendula.model.joints import Side, TreeJoint
from pendula.model.joints.steps import Turn
from pendula.model.model import Model
from pendula.system.layout import Array

ROUNDING = 1e-13
"""directions and inertias that differ by less than this, relative to their size, are equal"""


class Unknown(Exception):
    """A quantity depends on more than parameters, for example on time."""


@dataclass(frozen=True)
class Geometry:
    """A model with numbers for its parameters."""

    model: Model
    values: Mapping[str, float]

    def number(self, scalar: Any) -> float:
        """The value of a scalar; raises Unknown if it depends on more than parameters."""
        expression = parse(scalar)
        if not expression.names <= self.values.keys():
            raise Unknown
        return expression.evaluate(self.values)

    def vector(self, scalars: Sequence[Any]) -> Array:
        """The values of a vector of scalars."""
        return np.array([self.number(x) for x in scalars])

    @cached_property
    def gravity(self) -> Array:
        """Acceleration of gravity in world axes."""
        return self.vector(self.model.gravity)

    def side(self, side: Side) -> tuple[Array, Array]:
        """Origin and axes (by columns) of the frame on one side of a joint, in the axes of its body."""
        return self.point(side), self.rotation(side.rotation.turns() if side.rotation is not None else ())

    def point(self, side: Side) -> Array:
        """The point of a side in the axes of its body."""
        if side.at is not None and side.body != GROUND:
            return self.vector(self.model.body(side.body).named_points()[side.at])
        return self.vector(side.position or (0, 0, 0))

    def rotation(self, turns: Sequence[Turn]) -> Array:
        """The rotation matrix of successive turns."""
        R = np.eye(3)
        for turn in turns:
            R = R @ turned_by(self.direction(turn.axis), self.number(turn.angle))
        return R

    def direction(self, scalars: Sequence[Any]) -> Array:
        """A unit vector."""
        found = self.vector(scalars)
        return found / np.linalg.norm(found)

    def mass(self, body: Body) -> tuple[float, Array, Array]:
        """Mass, mass centre and inertia about it, in body axes."""
        p = body.mass_properties()
        return self.number(p.mass), self.vector(p.com), np.array([self.vector(row) for row in p.inertia])

    def inboard(self, body: str) -> TreeJoint:
        """The joint that places a body."""
        return next(j for j in self.model.tree if j.child.body == body)


def turned_by(axis: Array, angle: float) -> Array:
    """The rotation matrix about a unit axis (Rodrigues)."""
    A = cross(axis)
    return np.asarray(np.eye(3) + np.sin(angle) * A + (1 - np.cos(angle)) * A @ A)


def cross(a: Array) -> Array:
    """The matrix of a x ..."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def parallel(a: Array, b: Array) -> bool:
    """Whether two vectors are parallel; the null vector is parallel to all."""
    size = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return bool(np.linalg.norm(np.cross(a, b)) <= ROUNDING * max(size, 1e-300))


def on_line(point: Array, axis: Array, through: Array, size: float = 1.0) -> bool:
    """Whether a point lies on the line along a unit axis through another point."""
    gap = np.asarray(point) - through
    reach = max(float(np.linalg.norm(point)), float(np.linalg.norm(through)), size * ROUNDING)
    return bool(np.linalg.norm(np.cross(gap, axis)) <= ROUNDING * reach)


def axis_of_symmetry(inertia: Array) -> Array | None:
    """The axis about which two principal inertias are equal; None without one. All equal: the null vector."""
    sizes, axes = np.linalg.eigh(inertia)
    size = max(float(np.abs(sizes).max()), 1e-300)
    low, high = sizes[1] - sizes[0] <= 10 * ROUNDING * size, sizes[2] - sizes[1] <= 10 * ROUNDING * size
    if low and high:
        return np.zeros(3)
    if not (low or high):
        return None
    axis = axes[:, 2] if low else axes[:, 0]
    axis = np.where(np.abs(axis) < ROUNDING, 0.0, axis)
    return axis * np.sign(axis[np.abs(axis).argmax()]) / np.linalg.norm(axis)
