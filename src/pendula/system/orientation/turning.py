"""Rates of an orientation's coordinates from its angular velocity, in compiled code: q' = N omega."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pendula.errors import NotSupported
from pendula.model.joints.orientation import QUATERNION, ROTATION_VECTOR
from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.records import record_dtype, records_at
from pendula.system import refusals

if TYPE_CHECKING:
    from pendula.system.orientation.maps import Turning

BY_QUATERNION, BY_VECTOR, BY_ANGLES = range(3)
BALL = record_dtype(whole="first speed kind sense letters opposite")
"""Integers of an orientation: index of its first coordinate and of its first speed, kind of chart, 1 for speeds in body
axes and -1 for the parent side's, letters of the rotations about body-fixed axes as digits to base 3, and whether the
coordinates are in the opposite order"""
balls_at = records_at(BALL)
"""``balls_at(address, count)``: the records at an address, in compiled code"""


def ball_table(turnings: Sequence[Turning]) -> np.ndarray:
    """The records of orientations."""
    return np.array([_ball(turning) for turning in turnings], dtype=BALL)


def _ball(turning: Turning) -> tuple[int, ...]:
    chart, named = turning.chart, {QUATERNION: BY_QUATERNION, ROTATION_VECTOR: BY_VECTOR}
    if not chart.is_sequence and chart.name not in named:
        raise NotSupported(refusals.CHART_RATES, chart=chart.name)
    kind = BY_ANGLES if chart.is_sequence else named[chart.name]
    letters = sum("xyz".index(letter) * 3**k for k, letter in enumerate(chart.body_letters))
    return turning.at, turning.speed, kind, 1 if turning.axes == "body" else -1, letters, int(chart.space)


def has_quaternions(turnings: Sequence[Turning]) -> bool:
    """Whether there are unit quaternions, whose length must be kept."""
    return any(turning.chart.name == QUATERNION for turning in turnings)


@compiled_part
def quaternion_rate(q, omega):
    """q' = q (0, omega) / 2 of a quaternion (scalar first), for an angular velocity in body axes."""
    w, x, y, z = q
    a, b, c = 0.5 * omega[0], 0.5 * omega[1], 0.5 * omega[2]
    return -x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a


@compiled_part
def across(a, b):
    """The vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled_part
def along(a, b):
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled_part
def unit(letter):
    """A coordinate axis."""
    return 1.0 if letter == 0 else 0.0, 1.0 if letter == 1 else 0.0, 1.0 if letter == 2 else 0.0


@compiled_part
def spun(letter, angle, x):
    """A vector rotated about a coordinate axis."""
    c, s = np.cos(angle), np.sin(angle)
    if letter == 0:
        return x[0], c * x[1] - s * x[2], s * x[1] + c * x[2]
    if letter == 1:
        return c * x[0] + s * x[2], x[1], c * x[2] - s * x[0]
    return c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]


@compiled_part
def vector_rate(r, omega, sense):
    """The rate of a rotation vector."""
    square = along(r, r)
    if square < 0.01:
        k = 1.0 / 12.0 + square * (1.0 / 720.0 + square * (1.0 / 30240.0 + square / 1209600.0))
    else:
        half = 0.5 * np.sqrt(square)
        k = (1.0 - half * np.cos(half) / np.sin(half)) / square
    first = across(r, omega)
    second = across(r, first)
    s = 0.5 * sense
    return (
        omega[0] + s * first[0] + k * second[0],
        omega[1] + s * first[1] + k * second[1],
        omega[2] + s * first[2] + k * second[2],
    )


@compiled_part
def angle_rates(letters, opposite, sense, q, omega):
    """The rates of three angles."""
    i, j, k = letters % 3, letters // 3 % 3, letters // 9
    first, last = (q[2], q[0]) if opposite == 1 else (q[0], q[2])
    if sense > 0:
        omega = spun(i, first, spun(j, q[1], spun(k, last, omega)))
    a, b, c = unit(i), spun(i, first, unit(j)), spun(i, first, spun(j, q[1], unit(k)))
    whole = along(a, across(b, c))
    x, y, z = along(omega, across(b, c)) / whole, along(omega, across(c, a)) / whole, along(omega, across(a, b)) / whole
    return (z, y, x) if opposite == 1 else (x, y, z)


@compiled_part
def turn(q, ball, shift):
    """Adds N shift to the coordinates of one orientation."""
    at, k, sense = ball.first, ball.speed, float(ball.sense)
    omega = shift[k], shift[k + 1], shift[k + 2]
    if ball.kind == BY_QUATERNION:
        # in axes of the parent side the product has the other order: that of the conjugates
        rates = quaternion_rate((q[at], sense * q[at + 1], sense * q[at + 2], sense * q[at + 3]), omega)
        q[at] += sense * rates[0]
        for i in range(1, 4):
            q[at + i] += rates[i]
        return
    own = q[at], q[at + 1], q[at + 2]
    if ball.kind == BY_VECTOR:
        x, y, z = vector_rate(own, omega, sense)
    else:
        x, y, z = angle_rates(ball.letters, ball.opposite, sense, own, omega)
    q[at] += x
    q[at + 1] += y
    q[at + 2] += z
