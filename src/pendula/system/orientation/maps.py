"""Orientations in numbers: quaternions, rotation vectors and angles converted into each other, with velocities.

All functions take arrays whose last dimension holds the coordinates of one orientation; leading dimensions are batch
dimensions. Quaternions have the scalar part first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pendula.model.joints.orientation import QUATERNION, Axes, Chart, chart_named
from pendula.system.layout import Array
from pendula.system.orientation.rotations import multiply

if TYPE_CHECKING:
    from pendula.system.layout import Layout
    from pendula.system.system import System

LETTERS = "xyz"
TURN = 2.0 * np.pi


class Turning(NamedTuple):
    """An orientation whose speeds are an angular velocity: index of its first coordinate and speed, chart, axes."""

    at: int
    speed: int
    chart: Chart
    axes: Axes


def turnings_of(layout: Layout, quaternions: Sequence[tuple[int, int]]) -> tuple[Turning, ...]:
    """All orientations of a system whose speeds are an angular velocity."""
    found = {x.at: Turning(x.at, x.speed, x.chart, x.axes) for x in layout.orientations if x.axes != "rates"}
    for at, speed in quaternions:  # those of bodies in maximal coordinates
        found.setdefault(at, Turning(at, speed, chart_named(QUATERNION), "body"))
    return tuple(found[at] for at in sorted(found))


# -- one orientation -----------------------------------------------------------------------------------


def to_quaternion(chart: Chart, q: Any) -> Array:
    """Unit quaternions of orientations in a chart.

    Example:
        >>> to_quaternion(chart_named("zyz"), [0.0, np.pi, 0.0]).round(12).tolist()
        [0.0, 0.0, 1.0, 0.0]
    """
    q = np.asarray(q, dtype=float)
    if chart.name == QUATERNION:
        return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))
    if not chart.is_sequence:
        angle = np.linalg.norm(q, axis=-1, keepdims=True)
        return np.concatenate([np.cos(angle / 2), np.sinc(angle / TURN) / 2 * q], axis=-1)
    total: tuple[Any, ...] = (1.0, 0.0, 0.0, 0.0)
    for letter, k in zip(chart.body_letters, chart.order, strict=True):
        entries = [np.sin(q[..., k] / 2) if a == letter else 0.0 for a in LETTERS]
        total = multiply(total, (np.cos(q[..., k] / 2), *entries))
    return np.stack(np.broadcast_arrays(*total), axis=-1)


def from_quaternion(chart: Chart, turn: Any, near: Any = None) -> Array:
    """Coordinates of orientations in a chart; of all that describe the same rotation, those closest to ``near``.

    Where a chart is singular (only the sum or the difference of two angles is defined), both change equally.

    Example:
        >>> from_quaternion(chart_named("zyx"), [np.cos(0.1), 0.0, 0.0, np.sin(0.1)]).round(12).tolist()
        [0.2, 0.0, 0.0]
    """
    turn = np.asarray(turn, dtype=float)
    turn = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
    near = np.eye(1, chart.count)[0] * (chart.name == QUATERNION) if near is None else np.asarray(near, dtype=float)
    if chart.name == QUATERNION:
        return np.asarray(np.where(np.sum(turn * near, axis=-1, keepdims=True) < 0.0, -turn, turn))
    if chart.is_sequence:
        return _angles(chart, turn, near)
    return _rotation_vector(turn, near)


def _rotation_vector(turn: Array, near: Array) -> Array:
    """The rotation vector of quaternions whose length, which is defined up to whole turns, is closest to ``near``."""
    length = np.linalg.norm(turn[..., 1:], axis=-1, keepdims=True)
    size = np.linalg.norm(near, axis=-1, keepdims=True)
    along = np.where(size > 0.0, near / np.where(size > 0.0, size, 1.0), [1.0, 0.0, 0.0])
    direction = np.where(length > 1e-150, turn[..., 1:] / np.where(length > 1e-150, length, 1.0), along)
    angle = 2.0 * np.arctan2(length, turn[..., :1])
    whole = np.round((np.sum(direction * near, axis=-1, keepdims=True) - angle) / TURN)
    return np.asarray((angle + TURN * whole) * direction)


def _angles(chart: Chart, turn: Array, near: Array) -> Array:
    """Angles of three rotations, from half sum and half difference of the outer two (Bernardes and Viollet 2022)."""
    i, j = (LETTERS.index(letter) for letter in chart.body_letters[:0:-1])  # as rotations about fixed axes
    k = 3 - i - j
    sign = (i - j) * (j - k) * (k - i) // 2
    w, vector = turn[..., 0], turn[..., 1:]
    if chart.repeats:
        a, b, c, d = w, vector[..., i], vector[..., j], sign * vector[..., k]
    else:
        a, b = w - vector[..., j], vector[..., i] + sign * vector[..., k]
        c, d = vector[..., j] + w, sign * vector[..., k] - vector[..., i]
    middle = 2.0 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    total, gap = 2.0 * np.arctan2(b, a), 2.0 * np.arctan2(d, c)  # of the outer angles before the last change of sign
    order = np.asarray(chart.order)
    wanted = near[..., order]  # in the order of rotations about body-fixed axes: first, middle, last
    flip = 1 if chart.repeats else sign
    outer, inner = flip * wanted[..., 0], wanted[..., 2]
    # a sum or difference that is not defined stays as it was
    total = np.where(np.hypot(a, b) > 1e-15, total, outer + inner)
    gap = np.where(np.hypot(c, d) > 1e-15, gap, outer - inner)
    shift = 0.0 if chart.repeats else np.pi / 2
    best, found = None, None
    for opposite in (False, True):
        start, end, tilt = (total + gap) / 2, (total - gap) / 2, middle - shift
        if opposite:
            start, end, tilt = start + np.pi, end + np.pi, -middle - shift
        angles = np.stack(np.broadcast_arrays(flip * start, tilt, end), axis=-1)
        angles = angles + TURN * np.round((wanted - angles) / TURN)
        away = np.sum((angles - wanted) ** 2, axis=-1, keepdims=True)
        found = angles if found is None else np.where(away < best, angles, found)
        best = away if best is None else np.minimum(away, best)
    assert found is not None
    return np.asarray(found[..., order])  # the order of a sequence about fixed axes is its own inverse


def velocity_matrix(chart: Chart, q: Any, axes: Axes = "body") -> Array:
    """L of omega = L q' in body axes or in those of the parent side, shape (..., 3, coordinates)."""
    q = np.asarray(q, dtype=float)
    if chart.name == QUATERNION:
        w, x, y, z = (2.0 * q[..., k] for k in range(4))
        s = 1.0 if axes == "body" else -1.0
        rows = ((-x, w, s * z, -s * y), (-y, -s * z, w, s * x), (-z, s * y, -s * x, w))
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    if chart.is_sequence:
        columns = {}
        total: Any = (np.ones(q.shape[:-1]), *np.zeros((3, *q.shape[:-1])))
        for letter, k in zip(chart.body_letters, chart.order, strict=True):
            unit = np.eye(3)[LETTERS.index(letter)]
            columns[k] = rotated(np.stack(total, axis=-1), unit)
            half = q[..., k] / 2
            total = multiply(total, (np.cos(half), *(np.sin(half) * unit[:, *([None] * half.ndim)])))
        found = np.stack([columns[k] for k in range(3)], axis=-1)
        return found if axes == "parent" else np.swapaxes(matrix_of(np.stack(total, axis=-1)), -1, -2) @ found
    skew = skew_of(q)
    s = (-1.0 if axes == "body" else 1.0) * _stumpff(2, q)
    return np.asarray(np.eye(3) + s * skew + _stumpff(3, q) * (skew @ skew))


def inverse_matrix(chart: Chart, q: Any, axes: Axes = "body") -> Array:
    """N of q' = N omega, shape (..., coordinates, 3); infinite where the chart is singular."""
    L = velocity_matrix(chart, q, axes)
    if chart.name == QUATERNION:
        return np.asarray(np.swapaxes(L, -1, -2) / 4.0)
    a, b, c = (L[..., k] for k in range(3))
    rows = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=-2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(rows / np.sum(a * np.cross(b, c), axis=-1)[..., None, None])


def distance(chart: Chart, q: Any) -> Array:
    """Distance to the nearest singularity of a chart [rad], in its middle angle or its length; infinite without one."""
    q = np.asarray(q, dtype=float)
    if chart.name == QUATERNION:
        return np.full(q.shape[:-1], np.inf)
    if chart.is_sequence:
        start = 0.0 if chart.repeats else np.pi / 2
        return np.abs((q[..., 1] - start + np.pi / 2) % np.pi - np.pi / 2)
    angle = np.linalg.norm(q, axis=-1)
    return np.abs(angle - TURN * np.maximum(1.0, np.round(angle / TURN)))


def distance_of(chart: Chart, turn: Any) -> Array:
    """The distance of unit quaternions from the singularities of a chart [rad]; none for a rotation vector."""
    if not chart.is_sequence:
        return np.full(np.shape(turn)[:-1], np.inf)
    R = matrix_of(np.asarray(turn, dtype=float))
    first, last = (LETTERS.index(chart.body_letters[k]) for k in (0, 2))
    # first axis in the parent side, last axis in the body: parallel where the middle rotation is singular
    other = R[..., :, last].copy()
    along = other[..., first].copy()
    other[..., first] = 0.0
    away = np.linalg.norm(other, axis=-1)
    return np.asarray(np.arctan2(away, np.abs(along)))


def turned_by(chart: Chart, q: Any, turn: Any, axes: Axes = "body") -> Array:
    """Coordinates after a rotation by the vector ``turn``, in body axes or in those of the parent side."""
    start, more = to_quaternion(chart, q), to_quaternion(chart_named("rotation vector"), turn)
    pair = (start, more) if axes == "body" else (more, start)
    return from_quaternion(chart, np.stack(multiply(*(np.moveaxis(x, -1, 0) for x in pair)), axis=-1), q)


def turn_between(chart: Chart, q: Any, to: Any, axes: Axes = "body") -> Array:
    """The rotation vector from one orientation to another, in body axes or in those of the parent side."""
    start, end = to_quaternion(chart, q), to_quaternion(chart, to)
    back = start * np.array([1.0, -1.0, -1.0, -1.0])
    pair = (back, end) if axes == "body" else (end, back)
    turn = np.stack(multiply(*(np.moveaxis(x, -1, 0) for x in pair)), axis=-1)
    return _rotation_vector(turn, np.zeros(3))


# -- all orientations of a system ----------------------------------------------------------------------


def moved(system: System, q: Any, shift: Any) -> Array:
    """q after the displacement ``shift`` along the speeds; rotations turn the orientation by a finite angle."""
    q, shift = np.asarray(q, dtype=float), np.asarray(shift, dtype=float)
    found = np.array(np.broadcast_arrays(q, np.zeros((*shift.shape[:-1], q.shape[-1])))[0])
    speed_of = np.array(system.layout.speed_of)
    found[..., speed_of >= 0] += shift[..., speed_of[speed_of >= 0]]
    for at, k, chart, axes in system.turnings:
        own = slice(at, at + chart.count)
        found[..., own] = turned_by(chart, q[..., own], shift[..., k : k + 3], axes)
    return found


def rotated(turn: Array, vector: Any) -> Array:
    """A vector rotated by unit quaternions."""
    w, axis = turn[..., :1], turn[..., 1:]
    vector = np.asarray(vector, dtype=float)
    return np.asarray(vector + 2.0 * np.cross(axis, np.cross(axis, vector) + w * vector))


def matrix_of(turn: Array) -> Array:
    """Rotation matrices of unit quaternions."""
    return np.stack([rotated(turn, unit) for unit in np.eye(3)], axis=-1)


def skew_of(vector: Array) -> Array:
    """The matrices [r] of r x ."""
    x, y, z = (vector[..., k] for k in range(3))
    zero = np.zeros_like(x)
    return np.stack([np.stack(row, -1) for row in ((zero, -z, y), (z, zero, -x), (-y, x, zero))], -2)


def _stumpff(n: int, vector: Array) -> Array:
    """c_2 or c_3 of a rotation vector, as in ``equations/orientation/symbols.py``; shape (..., 1, 1)."""
    a = np.linalg.norm(vector, axis=-1)
    half = np.sinc(a / TURN)  # sin(a/2)/(a/2)
    if n == 2:
        return np.asarray((half**2 / 2)[..., None, None])
    square = a**2
    series = (1.0 - square / 20 * (1.0 - square / 42 * (1.0 - square / 72 * (1.0 - square / 110)))) / 6
    with np.errstate(divide="ignore", invalid="ignore"):
        closed = (1.0 - np.sinc(a / np.pi)) / square
    return np.asarray(np.where(square < 0.04, series, closed)[..., None, None])
