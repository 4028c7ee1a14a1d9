"""Rotations: from the rotation fields of a model to quaternions, in numbers or in symbols."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pendula.model.expressions.expression import parse
from pendula.model.joints import Rotation

Quaternion = tuple[float, float, float, float]


def quaternion_of(rotation: Rotation, values: Mapping[str, float]) -> Quaternion:
    """Unit quaternion (scalar first) of a rotation field, for given parameter values."""
    return quaternion_by(rotation, lambda x: parse(x).evaluate(values))


def quaternion_by(rotation: Rotation, value: Callable[[Any], Any], functions: Any = math) -> tuple[Any, Any, Any, Any]:
    """Unit quaternion of a rotation field whose entries ``value`` evaluates.

    ``functions`` has ``sin``, ``cos`` and ``sqrt`` of such values: the module ``math``, or ``symengine`` for symbols.
    """
    if rotation.sequence is not None:
        total: tuple[Any, Any, Any, Any] = (1, 0, 0, 0)
        for letter, angle in zip(rotation.sequence, rotation.angles, strict=True):
            total = multiply(total, about([int(a == letter) for a in "xyz"], value(angle), functions))
        return total
    assert rotation.axis is not None
    return about([value(x) for x in rotation.axis], value(rotation.angle), functions)


def about(axis: Sequence[Any], angle: Any, functions: Any = math) -> tuple[Any, Any, Any, Any]:
    """The quaternion of a rotation about an axis; ``functions`` as in :func:`quaternion_by`."""
    s = functions.sin(angle / 2) / functions.sqrt(sum(x * x for x in axis))
    return functions.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s


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
