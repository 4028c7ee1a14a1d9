"""Geometry of robots as shapes to draw: spheres, rods, discs, boxes; meshes as lines to the joints they carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pendula.exchange.robots.frames import Array, floats

_EDGES = (0, 1, 3, 2, 0, 4, 5, 7, 6, 4, 5, 1, 3, 7, 6, 2)
"""a line through the corners of a box that passes every edge"""


def ball(center: Any, radius: float) -> dict[str, Any]:
    """A sphere."""
    return {"kind": "sphere", "points": [floats(center)], "radius": float(radius)}


def cylinder(center: Any, R: Array, radius: float, half_length: float) -> dict[str, Any]:
    """A cylinder or capsule along z of its frame: a rod, or a disc if it is flat."""
    middle, axis = np.asarray(center, dtype=float), R[:, 2]
    if half_length < 0.25 * radius:
        return {"kind": "disc", "points": [floats(middle)], "radius": float(radius), "normal": floats(axis)}
    ends = [floats(middle - half_length * axis), floats(middle + half_length * axis)]
    return {"kind": "rod", "points": ends, "radius": float(radius)}


def box(center: Any, R: Array, half_sizes: Sequence[float]) -> dict[str, Any]:
    """A box; its edges as a line if it is rotated in the body."""
    middle, half = np.asarray(center, dtype=float), np.asarray(half_sizes, dtype=float)
    turned = np.abs(R)
    if np.all((turned < 1e-6) | (turned > 1 - 1e-6)):
        return {"kind": "box", "points": [floats(middle)], "size": floats(2 * turned.round() @ half)}
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = middle + (signs * half) @ R.T
    return {"kind": "polyline", "points": [floats(corners[k]) for k in _EDGES]}


def skeleton(com: Any, joints: Sequence[Any], size: float) -> list[dict[str, Any]]:
    """Rods from the origin of a body to the joints it carries, or to its mass centre if it carries none."""
    ends = [np.asarray(p, dtype=float) for p in joints] or [np.asarray(com, dtype=float)]
    far = [end for end in ends if np.linalg.norm(end) > 1e-3 * size]
    rods = [{"kind": "rod", "points": [[0.0, 0.0, 0.0], floats(end)], "radius": 0.012 * size} for end in far]
    return rods or [ball(com, 0.02 * size)]
