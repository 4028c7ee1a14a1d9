"""A moving frame in world axes: where it is, how it moves, and how every speed moves it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tests.crossings.oracle.jets import Jet
from tests.crossings.oracle.texts import Array


def skew(a: Array) -> Array:
    """The matrix of the cross product with a vector."""
    x, y, z = a.tolist()
    return np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))


def cross(a: Array, b: Array) -> Array:
    """The cross product of two vectors; NumPy's is slow for one pair."""
    (p, q, r), (x, y, z) = a.tolist(), b.tolist()
    return np.array((q * z - r * y, r * x - p * z, p * y - q * x))


def rotation(axis: Array, angle: float) -> Array:
    """The matrix of a rotation about a unit axis."""
    c, s = math.cos(angle), math.sin(angle)
    return c * np.eye(3) + (1 - c) * np.outer(axis, axis) + s * skew(axis)


class Vector:
    """A vector in world axes with its first and second derivative in time, and slopes (3, speeds)."""

    __slots__ = ("J", "d", "dd", "x")

    def __init__(self, x: Array, d: Array, dd: Array, J: Array) -> None:
        self.x, self.d, self.dd, self.J = x, d, dd, J

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.d - other.d, self.dd - other.dd, self.J - other.J)

    def dot(self, other: Vector) -> Jet:
        a, b = self, other
        return Jet(
            float(a.x @ b.x),
            float(a.d @ b.x + a.x @ b.d),
            float(a.dd @ b.x + 2 * a.d @ b.d + a.x @ b.dd),
            b.x @ a.J + a.x @ b.J,
        )

    def entry(self, k: int) -> Jet:
        return Jet(float(self.x[k]), float(self.d[k]), float(self.dd[k]), self.J[k])


class Frame:
    """Axes R, angular velocity w and acceleration al, origin r with velocity and acceleration, and slopes.

    ``Jw`` and ``Jr`` are the derivatives of the angular velocity and of the origin's velocity by all speeds. ``theta`` is
    the angle about z with all its turns, as long as every rotation on the way was about z.
    """

    __slots__ = ("Jr", "Jw", "R", "a", "al", "r", "theta", "v", "w")

    def __init__(self, count: int) -> None:
        self.R, self.theta = np.eye(3), Jet(0.0, g=np.zeros(count))
        self.w = self.al = self.r = self.v = self.a = np.zeros(3)
        self.Jw = self.Jr = np.zeros((3, count))

    def copy(self) -> Frame:
        new = object.__new__(Frame)
        for name in Frame.__slots__:
            setattr(new, name, getattr(self, name))
        return new

    # -- motions, each in the current axes; every one replaces arrays and changes none

    def fixed_turn(self, R: Array, angle: float | None) -> None:
        """A constant rotation; the angle is given where it is about z."""
        self.R = self.R @ R
        self.theta = None if angle is None or self.theta is None else self.theta + Jet(angle)

    def turn(self, axis: Array, angle: Jet) -> None:
        """A rotation about a fixed axis."""
        e = self.R @ axis
        self.al = self.al + e * angle.dd + cross(self.w, e) * angle.d
        self.w = self.w + e * angle.d
        self.Jw = self.Jw + np.multiply.outer(e, angle.g)
        self.R = self.R @ rotation(axis, angle.x)
        flat = axis[0] == axis[1] == 0.0
        self.theta = self.theta + angle.times(float(axis[2])) if flat and self.theta is not None else None

    def absolute_turn(self, axis: Array, angle: Jet) -> None:
        """A rotation about z to an angle that is measured from ground, whatever the parent does."""
        self.R, self.w, self.al = rotation(axis, angle.x), axis * angle.d, axis * angle.dd
        self.Jw = np.multiply.outer(axis, angle.g)
        self.theta = angle.times(float(axis[2]))

    def ball(self, R: Array, w: Array, al: Array, slopes: Array) -> None:
        """A rotation with its angular velocity and acceleration in the axes before it, and slopes of the former."""
        spin = self.R @ w
        self.al = self.al + self.R @ al + cross(self.w, spin)
        self.w = self.w + spin
        self.Jw = self.Jw + self.R @ slopes
        self.R, self.theta = self.R @ R, None

    def fixed_slide(self, place: Array) -> None:
        """A constant translation."""
        p = self.at(place)
        self.r, self.v, self.a, self.Jr = p.x, p.d, p.dd, p.J

    def slide(self, entries: Sequence[Jet]) -> None:
        """A translation by three entries."""
        p = self.at(np.array([e.x for e in entries]))
        d, dd = self.R @ np.array([e.d for e in entries]), self.R @ np.array([e.dd for e in entries])
        self.r, self.v, self.a = p.x, p.d + d, p.dd + dd + 2 * cross(self.w, d)
        slopes = np.array([e.g + np.zeros(self.Jr.shape[1]) for e in entries])
        self.Jr = p.J + self.R @ slopes

    # -- what moves with it

    def at(self, place: Array) -> Vector:
        """A point that is fixed in the frame."""
        d = self.R @ place
        wd = cross(self.w, d)
        return Vector(
            self.r + d, self.v + wd, self.a + cross(self.al, d) + cross(self.w, wd), self.Jr - skew(d) @ self.Jw
        )

    def along(self, direction: Array) -> Vector:
        """A direction that is fixed in the frame."""
        d = self.R @ direction
        wd = cross(self.w, d)
        return Vector(d, wd, cross(self.al, d) + cross(self.w, wd), -skew(d) @ self.Jw)
