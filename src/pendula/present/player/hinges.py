"""Hinges: points at which bodies stay together, detected from the motion.

A hinge has three uses. The page draws a joint there and keeps rods attached between frames; resampled frames keep
bodies connected; and since the position of a body follows from its hinge and its rotation, only a small remainder
must be stored. A missed hinge costs a few bytes and a dot, but never gives a wrong pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pendula.errors import NotSupported
from pendula.present import refusals
from pendula.present.player.scene import Scene
from pendula.present.player.shapes import Box, Disc, Pivot, Point, Polyline, Ring, Rod, Shape, Sphere, Vector

TOGETHER = 1e-3  # points closer than this fraction of the largest distance coincide
LOOKS = (0.0, 0.31, 0.62, 1.0)  # compared samples, as fractions of the run
LONG_LINE = 12  # polylines with more points are outlines, not links


@dataclass(frozen=True)
class Hinge:
    """Bodies by ascending index, and the point of each that lies in the hinge (body axes)."""

    parts: tuple[tuple[int, Vector], ...]


@dataclass(frozen=True)
class Anchor:
    """Attachment of a body: ``here`` in its axes coincides with ``there`` in the axes of an earlier body ``parent``."""

    hinge: int
    parent: int
    there: Vector
    here: Vector


def find_hinges(scene: Scene) -> tuple[Hinge, ...]:
    """Groups of points of different bodies that coincide in all compared samples."""
    owners: list[tuple[int, Vector]] = []
    paths = []
    looks = np.unique(np.round(np.array(LOOKS) * (scene.t.size - 1)).astype(int))
    for i, body in enumerate(scene.bodies):
        points = dict.fromkeys(point for shape in body.shapes for point in _ends(shape))
        if points:
            paths.append(body.position[looks] + np.einsum("nij,pj->pni", body.rotation[looks], list(points)))
            owners += [(i, point) for point in points]
    if not paths:
        return ()
    where = np.concatenate(paths)
    if scene.planar:
        where[:, :, 2] = 0.0
    # Points in the same or a neighbouring cell of the first sample are compared in all samples.
    near = TOGETHER * (float(np.ptp(where, axis=(0, 1)).max()) or 1.0)
    cells: dict[tuple[int, ...], list[int]] = {}
    groups: dict[int, list[int]] = {}
    first_of: dict[int, int] = {}
    steps = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
    for k, key in enumerate(map(tuple, np.floor(where[:, 0] / near).astype(np.int64).tolist())):
        around = (j for step in steps for j in cells.get(tuple(np.add(key, step).tolist()), ()))
        for j in sorted(around):
            if owners[j][0] != owners[k][0] and float(np.abs(where[j] - where[k]).max()) < near:
                lead = first_of.setdefault(j, j)
                first_of[k] = lead
                groups.setdefault(lead, [lead]).append(k)
                break
        cells.setdefault(key, []).append(k)
    return tuple(Hinge(tuple(owners[k] for k in group)) for group in groups.values())


def find_anchors(scene: Scene, hinges: Sequence[Hinge]) -> tuple[Anchor | None, ...]:
    """For every body the hinge it is attached to: one with the ground if possible, else with the first body."""
    anchors: list[Anchor | None] = [None] * len(scene.bodies)
    for h, hinge in enumerate(hinges):
        for body, here in hinge.parts:
            parent, there = hinge.parts[0]
            old = anchors[body]
            if parent < body and (old is None or (scene.bodies[parent].is_ground and parent < old.parent)):
                anchors[body] = Anchor(h, parent, there, here)
    return tuple(anchors)


def _ends(shape: Shape) -> tuple[Vector, ...]:
    match shape:
        case Rod():
            return (shape.start, shape.end)
        case Pivot():
            return (shape.at,)
        case Box():
            return (shape.center,)
        case Polyline():
            return shape.points if len(shape.points) < LONG_LINE else ()
        case Point() | Sphere() | Disc() | Ring():
            return ()
    raise NotSupported(refusals.HINGES, kind=shape.kind)
