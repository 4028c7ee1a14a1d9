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
from pendula.analysis.symmetry.geometry import Geometry
from pendula.system.layout import Array
from pendula.system.parameters import typical_length
from pendula.system.system import System

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
    def of(cls, balance: Balance) -> Orbits | None:
        """The invariants, for a mechanism with ball joints that as a whole may turn about the vertical; else None."""
        system = balance.system
        if not system.balls:
            return None
        values = system.layout.parameter_values(balance.parameters)
        found = find_symmetries(system.model, values)
        turns = [s for s in found if s.kind == "turn" and set(s.bodies) == set(system.layout.bodies)]
        if len(turns) != 1:
            return None
        spins = {s.bodies[0]: np.array(s.axis) for s in found if s.kind == "spin"}
        axes = tuple(np.atleast_2d(spins.get(name, np.eye(3))) for name in system.layout.bodies)
        if sum(len(a) + 1 for a in axes) > MOST_VECTORS:
            return None
        geometry = Geometry(system.model, values)
        centers = tuple(geometry.mass(system.model.body(name))[1] for name in system.layout.bodies)
        return cls(balance, turns[0], axes, centers)

    @property
    def system(self) -> System:
        """The system."""
        return self.balance.system

    def features(self, q: Array) -> Array:
        """The invariants of some poses; leading dimensions are a batch."""
        R, r = self.system.poses(q, parameters=self.balance.parameters)
        axis, point = np.array(self.turn.axis), np.array(self.turn.point)
        length = typical_length(self.system, self.balance.parameters)
        vectors = []
        for k, (own, center) in enumerate(zip(self.axes, self.centers, strict=True)):
            place = r[..., k, :] + R[..., k, :, :] @ center - point
            vectors += [R[..., k, :, :] @ a for a in own] + [place / length]
        u = np.stack(vectors, axis=-2)
        up = u @ axis
        across = u - up[..., None] * axis
        products = across @ np.swapaxes(across, -1, -2)
        turned = across @ np.swapaxes(np.cross(axis, across), -1, -2)
        flat = (*u.shape[:-2], u.shape[-2] ** 2)  # not -1: the batch may be empty
        return np.concatenate([up, products.reshape(flat), turned.reshape(flat)], axis=-1)
