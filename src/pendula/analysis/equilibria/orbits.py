"""Poses that differ only by a symmetry of the mechanism: numbers that are equal exactly for these.

The whole may turn about the vertical, and a body of revolution about its own axis. What is left are the directions of
axes and the places of bodies, up to a common rotation about the vertical: their vertical components, and the products
of their horizontal parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.symmetry.find import Symmetry, find_symmetries
from pendula.analysis.symmetry.geometry import Geometry, Unknown, axis_of_symmetry, on_line
from pendula.model.forces.actions import Between, Push, Spin, Twist
from pendula.system.layout import Array
from pendula.system.parameters import typical_length
from pendula.system.system import System

SAME = 1e-6
"""difference below which invariants belong to one motion"""
MOST_VECTORS = 40
"""with more, products of all pairs are too many"""


@dataclass(frozen=True)
class Orbits:
    """Invariants of poses under the symmetries of a mechanism with ball joints.

    Attributes:
        balance: the mechanism with its parameters.
        turn: the rotation of all bodies about the vertical.
        axes: by body, in body axes: its axis of symmetry, or three axes if it has none.
        centers: by body, in body axes: its mass centre.
    """

    balance: Balance
    turn: Symmetry
    axes: tuple[Array, ...]
    centers: tuple[Array, ...]

    @classmethod
    def of(cls, balance: Balance, *, steady: bool = False) -> Orbits | None:
        """The invariants, for a mechanism in space that as a whole may turn about the vertical; else None.

        Args:
            balance: the mechanism with its parameters.
            steady: for motions in which every body keeps its attitude to the axes of its joints: a body of revolution
                is then the same after any turn about its own axis, whether or not it can spin.
        """
        system = balance.system
        values = system.layout.parameter_values(balance.parameters)
        found = find_symmetries(system.model, values)
        turns = [s for s in found if s.kind == "turn" and set(s.bodies) == set(system.layout.bodies)]
        if len(turns) != 1:
            return None
        geometry = Geometry(system.model, values)
        spins = {s.bodies[0]: np.array(s.axis) for s in found if s.kind == "spin"}
        if steady:
            own = {name: axis_of_revolution(geometry, name) for name in system.layout.bodies}
            spins |= {name: axis for name, axis in own.items() if axis is not None}
        axes = tuple(np.atleast_2d(spins.get(name, np.eye(3))) for name in system.layout.bodies)
        if sum(len(a) + 1 for a in axes) > MOST_VECTORS:
            return None
        centers = tuple(geometry.mass(system.model.body(name))[1] for name in system.layout.bodies)
        return cls(balance, turns[0], axes, centers)

    @property
    def system(self) -> System:
        """The system."""
        return self.balance.system

    def features(self, q: Array, v: Array | None = None) -> Array:
        """The invariants of some poses, and of velocities; leading dimensions are a batch."""
        R, r = self.system.poses(q, parameters=self.balance.parameters)
        axis, point = np.array(self.turn.axis), np.array(self.turn.point)
        length = typical_length(self.system, self.balance.parameters)
        vectors = []
        for k, (own, center) in enumerate(zip(self.axes, self.centers, strict=True)):
            place = r[..., k, :] + R[..., k, :, :] @ center - point
            vectors += [R[..., k, :, :] @ a for a in own] + [place / length]
        if v is not None and v.any():
            motion = self.system.body_motion(
                q, np.broadcast_to(v, (*q.shape[:-1], len(v))), parameters=self.balance.parameters
            )
            size = float(np.abs(v).max())
            parts = (motion.angular_velocity / size, motion.velocity / (size * length))
            vectors += [x[..., k, :] for x in parts for k in range(x.shape[-2])]
        u = np.stack(vectors, axis=-2)
        up = u @ axis
        across = u - up[..., None] * axis
        products = across @ np.swapaxes(across, -1, -2)
        turned = across @ np.swapaxes(np.cross(axis, across), -1, -2)
        flat = (*u.shape[:-2], u.shape[-2] ** 2)  # not -1: the batch may be empty
        return np.concatenate([up, products.reshape(flat), turned.reshape(flat)], axis=-1)


def axis_of_revolution(geometry: Geometry, name: str) -> Array | None:
    """The axis of a body of revolution, on which all joints and springs hold it; none of a point; None without one."""
    model = geometry.model
    sides = [side for j in model.joints for side in (j.parent, j.child) if side.body == name]
    try:
        _, com, inertia = geometry.mass(model.body(name))
        for action in (action for force in model.forces for action in force.actions()):
            if isinstance(action, Push | Twist | Spin) and action.body == name:
                return None
            if isinstance(action, Between):
                sides += [side for side in (action.start, action.end) if side.body == name]
        points = [geometry.point(side) for side in sides]
    except Unknown:
        return None
    axis = axis_of_symmetry(inertia)
    if axis is not None and not axis.any():  # a point or a sphere: held at its centre, its attitude does not matter
        arms = [point - com for point in points if np.linalg.norm(point - com) > 0.0]
        if not arms:
            return np.zeros((0, 3))
        axis = arms[0] / np.linalg.norm(arms[0])
    return axis if axis is not None and all(on_line(point, axis, com) for point in points) else None


def without_repeats(balance: Balance, circles: Array, q: Array, v: Array) -> list[int]:
    """Of states at the same speeds, one of those that are one motion: other angles may describe the same pose.

    Only for mechanisms that may turn about the vertical as a whole, and whose angles are all periodic.

    Args:
        balance: the mechanism with its parameters.
        circles: by coordinate, whether it is periodic.
        q: coordinates, one state in each row.
        v: the common speeds.

    Returns:
        Indices of the states to keep.
    """
    angles = np.array([kind == "angle" for kind in balance.system.layout.coordinate_kinds])
    orbits = Orbits.of(balance, steady=True) if len(q) > 1 and np.all(circles[angles]) else None
    if orbits is None:
        return list(range(len(q)))
    potential = balance.system.energies(
        q, np.broadcast_to(v, (len(q), len(v))), parameters=balance.parameters
    ).potential
    size = float(np.abs(potential).max()) or 1.0
    features = np.column_stack([orbits.features(q, v), potential / size])
    kept: list[int] = []
    for k in sorted(range(len(q)), key=lambda k: -float(q[k].sum())):  # positive angles rather than negative ones
        if not any(np.abs(features[k] - features[other]).max() < SAME for other in kept):
            kept.append(k)
    return sorted(kept)
