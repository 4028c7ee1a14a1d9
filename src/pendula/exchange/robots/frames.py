"""Rotations between quaternions, matrices, roll-pitch-yaw angles and the rotation fields of models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = Sequence[float] | Array


def floats(values: Any) -> list[float]:
    """Plain numbers of an array, for model data."""
    return [float(x) for x in np.asarray(values, dtype=float).ravel()]


def quaternion_matrix(q: Numbers) -> Array:
    """Rotation matrix of a unit quaternion (w, x, y, z).

    Example:
        >>> quaternion_matrix([0.0, 0.0, 0.0, 1.0]).diagonal().tolist()
        [-1.0, -1.0, 1.0]
    """
    w, x, y, z = np.asarray(q, dtype=float) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def matrix_quaternion(R: Array) -> Array:
    """Unit quaternion (w, x, y, z) of a rotation matrix, with w >= 0.

    Example:
        >>> matrix_quaternion(np.diag([-1.0, -1.0, 1.0])).tolist()
        [0.0, 0.0, 0.0, 1.0]
    """
    # Of four formulas the one with the largest divisor is accurate (Shepperd 1978).
    trace = np.trace(R)
    squares = np.array([trace, *np.diag(R)])
    k = int(np.argmax(squares))
    if k == 0:
        q = np.array([1 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        i = k - 1
        j, l = (i + 1) % 3, (i + 2) % 3
        q = np.zeros(4)
        q[0] = R[l, j] - R[j, l]
        q[k] = 1 + R[i, i] - R[j, j] - R[l, l]
        q[1 + j], q[1 + l] = R[j, i] + R[i, j], R[l, i] + R[i, l]
    q /= np.linalg.norm(q)
    return q if q[0] >= 0 else -q


def rotation_field(q: Numbers) -> dict[str, Any] | None:
    """The rotation of a quaternion as a field of a model; None if there is none.

    Example:
        >>> rotation_field([0.0, 1.0, 0.0, 0.0])
        {'axis': [1.0, 0.0, 0.0], 'angle': 3.141592653589793}
    """
    w, *v = np.asarray(q, dtype=float) / np.linalg.norm(q)
    size = float(np.linalg.norm(v))
    if size == 0.0:
        return None
    angle = 2 * math.atan2(size, float(w))
    if angle > math.pi:
        angle -= 2 * math.pi
    return {"axis": floats(np.array(v) / size), "angle": angle}


def roll_pitch_yaw(angles: Numbers) -> Array:
    """Rotation matrix of rotations about the fixed axes x, y, z, in this order, as in URDF.

    Example:
        >>> roll_pitch_yaw([0.0, 0.0, np.pi / 2])[:2].round(12).tolist()
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def matrix_roll_pitch_yaw(R: Array) -> Array:
    """The angles of :func:`roll_pitch_yaw`; at the pole the yaw is zero.

    Example:
        >>> matrix_roll_pitch_yaw(roll_pitch_yaw([0.1, -0.2, 0.3])).round(12).tolist()
        [0.1, -0.2, 0.3]
    """
    cp = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], cp)
    if cp < 1e-9:
        return np.array([math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0])
    return np.array([math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])])


def side(body: str, position: Any = None, q: Numbers | None = None) -> dict[str, Any]:
    """A side of a joint: body, point, rotation; what is zero is left out."""
    found: dict[str, Any] = {"body": body}
    if position is not None and np.any(np.asarray(position) != 0.0):
        found["position"] = floats(position)
    turn = rotation_field(q) if q is not None else None
    if turn is not None:
        found["rotation"] = turn
    return found
