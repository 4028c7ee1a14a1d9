"""Numeric rotations: from the rotation fields of a model to quaternions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pendula.model.expressions.expression import parse
from pendula.model.joints import Rotation

Quaternion = tuple[float, float, float, float]


def quaternion_of(rotation: Rotation, values: Mapping[str, float]) -> Quaternion:
    """Unit quaternion (scalar first) of a rotation field, for given parameter values."""
    if rotation.sequence is not None:
        total: Quaternion = (1.0, 0.0, 0.0, 0.0)
        for letter, angle in zip(rotation.sequence, rotation.angles, strict=True):
            axis = tuple(1.0 if a == letter else 0.0 for a in "xyz")
            total = multiply(total, about(axis, parse(angle).evaluate(values)))
        return total
    assert rotation.axis is not None
    assert rotation.angle is not None
    axis = tuple(parse(x).evaluate(values) for x in rotation.axis)
    return about(axis, parse(rotation.angle).evaluate(values))


def about(axis: Sequence[float], angle: float) -> Quaternion:
    """The quaternion of a rotation about an axis."""
    length = math.sqrt(sum(x * x for x in axis))
    s = math.sin(angle / 2) / length
    return math.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s


def multiply(a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    """The quaternion product a b: rotation a, then b about the axes that a has rotated. Components may be arrays."""
    w, x, y, z = a
    p, q, r, s = b
    return (
        w * p - x * q - y * r - z * s,
        w * q + x * p + y * s - z * r,
        w * r + y * p + z * q - x * s,
        w * s + z * p + x * r - y * q,
    )


def turned(q: Quaternion, vector: Any) -> Any:
    """A vector rotated by a unit quaternion."""
    w, axis = q[0], np.array(q[1:])
    return vector + 2 * np.cross(axis, np.cross(axis, vector) + w * np.asarray(vector))
