"""Curves of springs, for pictures and films: a zigzag between two points, a spiral around a hinge."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.present.player.scene import Ends, SceneSpiral

Array = Any

COILS = 9
TURNS = 2.0  # of a spiral whose ends point in the same direction
INNER = 0.3  # inner radius of a spiral, as a fraction of the outer one
LEAST_TURNS = 0.75
SPIRAL_POINTS = 72


def zigzag(start: Array, end: Array, width: float) -> Array:
    """Points of a coil spring between two points of the plane, ``width`` to either side."""
    start, along = np.asarray(start), np.asarray(end) - np.asarray(start)
    length = float(np.hypot(*along)) or 1.0
    normal = np.array([-along[1], along[0]]) / length
    steps = [0.1 + 0.8 * (j + 0.5) / (2 * COILS) for j in range(2 * COILS)]
    teeth = [start + along * f + normal * (-1) ** j * width for j, f in enumerate(steps)]
    return np.array([start, start + 0.1 * along, *teeth, start + 0.9 * along, end])


def spiral(spring: SceneSpiral, ends: Ends, radius: float) -> Array:
    """World points of a spiral, from its inner end to its outer one.

    Args:
        spring: which bodies it joins, and where.
        ends: position and rotation of the outer and of the inner body.
        radius: of the outer end [length].
    """
    (_, outer), (place, inner) = ends
    at = place + inner @ np.array(spring.at)
    axis, first, last = outer @ spring.axis, outer @ spring.outer_arm, inner @ spring.inner_arm
    second = np.cross(axis, first)
    begin = float(np.arctan2(last @ second, last @ first))
    sweep = 2 * np.pi * TURNS - begin
    if sweep < 2 * np.pi * LEAST_TURNS:
        sweep += 2 * np.pi
    f = np.linspace(0.0, 1.0, SPIRAL_POINTS)[:, None]
    angle, size = begin + sweep * f, radius * (INNER + (1 - INNER) * f)
    return at + size * (np.cos(angle) * first + np.sin(angle) * second)
