"""Charts of an orientation: the rotation of its coordinates, and the angular velocity of their rates.

Angular velocities are in the axes before the rotation: ``w = L q'`` and ``al = L q'' + bias``.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from tests.crossings.oracle.frames import cross, rotation, skew
from tests.crossings.oracle.texts import Array

AXES = {"x": np.array([1.0, 0, 0]), "y": np.array([0, 1.0, 0]), "z": np.array([0, 0, 1.0])}
NAMED = {"euler": "zxz", "cardan": "xyz", "bryan": "xyz", "yaw-pitch-roll": "zyx"}


class Chart(Protocol):
    """Coordinates of an orientation."""

    endings: tuple[str, ...]

    def rotation(self, q: Array) -> Array: ...

    def rates(self, q: Array, w: Array, al: Array) -> tuple[Array, Array, Array]:
        """First and second rates of the coordinates for an angular velocity, and slopes of the former by it."""


class Sequence:
    """Three angles about axes of the body, or about axes fixed in the parent side."""

    endings = ("_1", "_2", "_3")

    def __init__(self, name: str) -> None:
        letters = NAMED.get(name, name.removeprefix("space "))
        # "space zyx" with (a, b, c) is Rx(c) Ry(b) Rz(a): the reversed sequence about axes of the body
        self.order = (2, 1, 0) if name.startswith("space ") else (0, 1, 2)
        self.axes = [AXES[letters[k]] for k in self.order]

    def rotation(self, q: Array) -> Array:
        R = np.eye(3)
        for k, axis in zip(self.order, self.axes, strict=True):
            R = R @ rotation(axis, float(q[k]))
        return R

    def map(self, q: Array) -> Array:
        """L of w = L q'."""
        R, L = np.eye(3), np.zeros((3, 3))
        for k, axis in zip(self.order, self.axes, strict=True):
            L[:, k] = R @ axis
            R = R @ rotation(axis, float(q[k]))
        return L

    def bias(self, q: Array, qd: Array) -> Array:
        L, w, al = self.map(q), np.zeros(3), np.zeros(3)
        for k in self.order:
            al = al + cross(w, L[:, k]) * qd[k]
            w = w + L[:, k] * qd[k]
        return al

    def rates(self, q: Array, w: Array, al: Array) -> tuple[Array, Array, Array]:
        return _solved(self, q, w, al)


class RotationVector:
    """The axis times the angle."""

    endings = ("_rx", "_ry", "_rz")

    def rotation(self, q: Array) -> Array:
        a, b, _, _ = _coefficients(float(q @ q))
        K = skew(q)
        # sin(x)/x = 1 - x^2 b and (1 - cos x)/x^2 = a
        return np.eye(3) + (1 - float(q @ q) * b) * K + a * K @ K

    def map(self, q: Array) -> Array:
        a, b, _, _ = _coefficients(float(q @ q))
        K = skew(q)
        return np.eye(3) + a * K + b * K @ K

    def bias(self, q: Array, qd: Array) -> Array:
        _, b, by_a, by_b = _coefficients(float(q @ q))
        ds = 2 * float(q @ qd)
        first = cross(q, qd)
        return by_a * ds * first + by_b * ds * cross(q, first) + b * cross(qd, first)

    def rates(self, q: Array, w: Array, al: Array) -> tuple[Array, Array, Array]:
        return _solved(self, q, w, al)


class Quaternion:
    """A unit quaternion, scalar first."""

    endings = ("_q0", "_q1", "_q2", "_q3")

    def rotation(self, q: Array) -> Array:
        q = q / float(np.linalg.norm(q))
        s, u = float(q[0]), q[1:]
        return np.eye(3) + 2 * s * skew(u) + 2 * skew(u) @ skew(u)

    def rates(self, q: Array, w: Array, al: Array) -> tuple[Array, Array, Array]:
        """q' = 1/2 (0, w) * q with w in the axes before the rotation."""
        half = _half(q)
        qd = half @ w
        return qd, _half(qd) @ w + half @ al, half


def _half(q: Array) -> Array:
    s, u = float(q[0]), q[1:]
    return 0.5 * np.vstack([-u, s * np.eye(3) - skew(u)])


def _solved(chart: Sequence | RotationVector, q: Array, w: Array, al: Array) -> tuple[Array, Array, Array]:
    back = np.linalg.inv(chart.map(q))
    qd = back @ w
    return qd, back @ (al - chart.bias(q, qd)), back


def _coefficients(s: float) -> tuple[float, float, float, float]:
    """(1 - cos x)/x^2 and (x - sin x)/x^3 for s = x^2, and their derivatives by s."""
    if s < 1.0:  # series: the closed forms cancel
        a = b = by_a = by_b = 0.0
        for k in range(14):
            sign = (-1.0) ** k
            a += sign * s**k / math.factorial(2 * k + 2)
            b += sign * s**k / math.factorial(2 * k + 3)
            if k:
                by_a += sign * k * s ** (k - 1) / math.factorial(2 * k + 2)
                by_b += sign * k * s ** (k - 1) / math.factorial(2 * k + 3)
        return a, b, by_a, by_b
    x = math.sqrt(s)
    a, b = (1 - math.cos(x)) / s, (x - math.sin(x)) / (s * x)
    return a, b, (math.sin(x) / x - 2 * a) / (2 * s), (a - 3 * b) / (2 * s)


def chart_named(name: str) -> Sequence | RotationVector | Quaternion:
    """The chart of an orientation by its name in a model file."""
    if name == "quaternion":
        return Quaternion()
    return RotationVector() if name == "rotation vector" else Sequence(name)
