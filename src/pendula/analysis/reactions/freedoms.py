"""Motion subspaces (free directions) of joints, and self-balancing forces in closed loops.

Both follow from poses and body velocities at given states, so they do not depend on the formulation. The motion
subspace of a tree joint is spanned by the twists of its unit speeds, that of a closing joint follows from its frames.

A twist is (velocity of the child's material point at the joint minus that of the parent's, relative angular
velocity), a wrench is (force, torque about that point), both in world axes: their product is the power of the joint.
Both are scaled by a typical length of the mechanism, so that lengths and angles compare; this preserves the power.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, assert_never

import numpy as np

from pendula.model.bodies import GROUND
from pendula.model.expressions.expression import parse
from pendula.model.joints import ClosingJoint, Side, TreeJoint
from pendula.model.joints.rows import Along, Coupled, NoGap, Normal, Perpendicular, SamePoint
from pendula.system.layout import Array
from pendula.system.loops.mobility import comparable
from pendula.system.loops.speeds import row_scales
from pendula.system.orientation.rotations import quaternion_of, turned
from pendula.system.parameters import typical_length
from pendula.system.system import BodyMotion, System

DEPENDENT = 1e-9
"""Directions with a smaller relative difference are dependent; a smaller self-balancing force counts as zero."""


@dataclass(frozen=True)
class _Place:
    """World pose of a side of a joint: its point, and the rotation of its body."""

    point: Array
    R: Array


class Freedoms:
    """Motion subspaces of every joint of a system, at some states."""

    def __init__(self, system: System, q: Array, t: Array, parameters: Array) -> None:
        self.system, self.model, self.q, self.t = system, system.model, q, t
        self.parameters = parameters
        self.values = system.layout.parameter_values(parameters)
        self.length = typical_length(system, parameters)
        self.R, self.r = system.poses(q, t, parameters=parameters)
        self.index = {name: k for k, name in enumerate(system.layout.bodies)}
        self.joints: tuple[TreeJoint | ClosingJoint, ...] = (*self.model.tree, *self.model.closures)
        self.children = {joint.name: self._place(joint.child) for joint in self.joints}
        self._centers = self._find_centers()
        free, self._closing_twists, self._sizes = self._find_free()
        self._directions = {name: self._span(columns) for name, columns in free.items()}

    # -- positions ------------------------------------------------------------------------------

    def _numbers(self, vector: Any) -> Array:
        """A vector of the model at every time, shape (times, 3) or (3,) if it does not depend on time."""
        entries = [parse(x) for x in vector]
        if not any("t" in e.names for e in entries):
            return np.array([e.evaluate(self.values) for e in entries])
        return np.array([[e.evaluate(self.values | {"t": float(t)}) for e in entries] for t in self.t])

    def _place(self, side: Side) -> _Place:
        place: Any = (0, 0, 0) if side.position is None else side.position
        if side.body == GROUND:
            R = np.broadcast_to(np.eye(3), (len(self.t), 3, 3))
            return _Place(np.broadcast_to(self._numbers(place), (len(self.t), 3)), R)
        if side.at is not None:
            place = self.model.body(side.body).named_points()[side.at]
        k = self.index[side.body]
        return _Place(self.r[:, k] + self.R[:, k] @ self._numbers(place), self.R[:, k])

    def _find_centers(self) -> Array:
        places = [self._numbers(self.model.body(name).mass_properties().com) for name in self.index]
        return self.r + np.einsum("tbij,bj->tbi", self.R, np.array(places).reshape(-1, 3))

    @property
    def planar(self) -> bool:
        """Whether everything moves in the x-y plane."""
        heights = np.ptp(self.r[..., 2], axis=0).max(initial=0.0)
        return bool(np.all(np.abs(self.R[..., 2, 2] - 1) < 1e-12) and heights < 1e-12 * self.length)

    # -- twists ---------------------------------------------------------------------------------

    def twist(self, motion: BodyMotion, name: str) -> Array:
        """Twist of a joint's child side relative to its parent side, shape (times, 6)."""
        joint = self.model.joint(name)
        point = self.children[name].point
        sides = [self._material(motion, side.body, point) for side in (joint.child, joint.parent)]
        return sides[0] - sides[1]

    def _material(self, motion: BodyMotion, body: str, point: Array) -> Array:
        """Velocity of the material point of a body that is now at ``point``, and its angular velocity."""
        if body == GROUND:
            return np.zeros((len(self.t), 6))
        k = self.index[body]
        w = motion.angular_velocity[:, k]
        return np.concatenate([motion.velocity[:, k] + np.cross(w, point - self._centers[:, k]), w], axis=1)

    def _find_free(self) -> tuple[dict[str, list[Array]], dict[str, Array], Array]:
        """Joint -> scaled twists: one per unit speed of a tree joint; for a closing joint, from its frames.

        Also the scaled twists of closing joints at unit speeds (times, 6, speeds), and the size of the twist of each
        speed's own joint (times, speeds), by which they are compared.
        """
        found = {j.name: self._closing_freedoms(j) for j in self.model.closures}
        found |= {joint.name: [] for joint in self.model.tree}
        count = len(self.model.speeds)
        closing = {j.name: np.zeros((len(self.t), 6, count)) for j in self.model.closures if j.has_sides}
        sizes = np.ones((len(self.t), count))
        rest = self._motion(np.zeros(count))
        for k, (unit, speed) in enumerate(zip(np.eye(count), self.model.speeds, strict=True)):
            moved = self._motion(unit)
            motion = BodyMotion(*(a - b for a, b in zip(moved, rest, strict=True)))
            own = self.scaled(self.twist(motion, speed.joint))
            found[speed.joint].append(own)
            size = np.linalg.norm(own, axis=-1)
            sizes[:, k] = np.where(size > 0, size, 1.0)
            for name, twists in closing.items():
                twists[..., k] = self.scaled(self.twist(motion, name))
        return found, closing, sizes

    def _motion(self, v: Array) -> BodyMotion:
        return self.system.body_motion(self.q, v, None, self.t, parameters=self.parameters)

    def scaled(self, twists: Array) -> Array:
        """Twists (times, ..., 6) with angular velocities multiplied by the typical length."""
        return twists * np.repeat([1.0, self.length], 3)

    def directions(self, name: str) -> Array:
        """Orthonormal basis of a joint's scaled motion subspace (times, 6, freedoms); dependent columns are zero."""
        return self._directions[name]

    def _span(self, columns: list[Array]) -> Array:
        return orthonormal(np.stack(columns, axis=-1)) if columns else np.zeros((len(self.t), 6, 0))

    def _closing_freedoms(self, joint: ClosingJoint) -> list[Array]:
        """Scaled motion subspace of a closing joint: the twists that none of its constraint rows forbids."""
        parent, child = self._frame(joint.parent), self._frame(joint.child)
        forbidden: list[Array] = []
        for row in joint.rows():
            match row:
                case SamePoint():
                    forbidden += [_slide(np.broadcast_to(axis, (len(self.t), 3))) for axis in np.eye(3)]
                case NoGap(direction):
                    forbidden.append(_slide(parent(direction)))
                case Perpendicular(first, second):
                    forbidden.append(_spin(np.cross(parent(first), child(second))))
                case Coupled():
                    pass  # acts inside other joints
                case _:
                    assert_never(row)
        taken = self._span(forbidden)
        free = _basis(np.eye(6) - taken @ np.swapaxes(taken, 1, 2))
        return list(np.moveaxis(free, -1, 0))

    def _frame(self, side: Side) -> Callable[[Along], Array]:
        """A function from directions of a joint's side to unit vectors in world axes."""

        def world(direction: Along) -> Array:
            axis = direction.axis if isinstance(direction, Normal) else direction
            vector = np.array([parse(x).evaluate(self.values) for x in axis], dtype=float)
            vector = vector / np.linalg.norm(vector)
            if isinstance(direction, Normal):
                first = np.cross(vector, np.eye(3)[int(np.argmin(np.abs(vector)))])
                first = first / np.linalg.norm(first)
                vector = first if direction.number == 1 else np.cross(vector, first)
            if side.rotation is not None:
                vector = turned(quaternion_of(side.rotation, self.values), vector)
            return self._place(side).R @ vector

        return world

    # -- wrenches -------------------------------------------------------------------------------

    def across(self, name: str, force: Array, torque: Array) -> tuple[Array, Array]:
        """The constraint wrench: a wrench without its component along the motion subspace of the joint."""
        wrench = np.concatenate([force, torque / self.length], axis=-1)
        free = self.directions(name)
        for k in range(free.shape[-1]):
            wrench = wrench - free[..., k] * np.sum(free[..., k] * wrench, axis=-1, keepdims=True)
        return wrench[..., :3], wrench[..., 3:] * self.length

    def self_balanced(self, *, in_plane: bool = False) -> tuple[list[dict[str, Array]], list[list[str]]]:
        """Self-balancing forces: joint forces in equilibrium without any load, which the equations leave undetermined.

        Couplings (gears, belts) take part: a loop that already couples two angles shares its load with a belt between
        them.

        Args:
            in_plane: omit forces out of the x-y plane.

        Returns:
            a list of independent sets, each joint -> wrench about its child's point (times, 6), zero at times
            with fewer sets; and the closing joints and couplings that take part in each.
        """
        closures = [j.name for j in self.model.closures if j.has_sides]
        if not closures:
            return [], []
        carried = {name: self._carried(name, in_plane) for name in closures}
        couplings, slopes = self._couplings()
        sets = left_null_space(np.concatenate([self._powers(carried), slopes], axis=1))
        found, takers = [], []
        for k in range(sets.shape[-1]):
            at, shares = 0, {}
            for name, wrenches in carried.items():
                count = wrenches.shape[-1]
                shares[name] = np.einsum("tij,tj->ti", wrenches, sets[:, at : at + count, k])
                shares[name] = shares[name] * np.repeat([1.0, self.length], 3)
                at += count
            part = [name for name in closures if np.abs(shares[name]).max() > DEPENDENT]
            if not part:
                continue  # couplings and drives among themselves: no joint feels their forces
            part += [name for i, name in enumerate(couplings) if np.abs(sets[:, at + i, k]).max() > DEPENDENT]
            found.append(shares | {j.name: self._passed_on(j, shares) for j in self.model.tree})
            takers.append(part)
        return found, takers

    def _couplings(self) -> tuple[list[str], Array]:
        """Couplings, and the scaled power of a unit multiplier of each on every speed (times, couplings, speeds)."""
        names = [j.name for j in self.model.closures if not j.has_sides]
        if not names:
            return [], np.zeros((len(self.t), 0, len(self.model.speeds)))
        owner = [row.partition(":")[0] for row in self.system.constraint_names]
        G = self.system.constraint_jacobian(self.q, self.t, parameters=self.parameters)
        rows = [owner.index(name) for name in names]
        scales = row_scales(self.system, self.parameters)[rows]
        return names, comparable(self.length * G[:, rows] / scales[:, None] / self._sizes[:, None])

    def _carried(self, name: str, in_plane: bool) -> Array:
        """Scaled wrenches that a closing joint can carry, shape (times, 6, count)."""
        free = self.directions(name)
        if in_plane:
            lost = np.broadcast_to(np.eye(6)[:, [2, 3, 4]], (len(self.t), 6, 3))
            free = orthonormal(np.concatenate([lost, free], axis=-1))
        # a basis of the complement of the motion subspace
        return _basis(np.eye(6) - free @ np.swapaxes(free, 1, 2))

    def _powers(self, carried: dict[str, Array]) -> Array:
        """Power of the closing joints' wrenches at every unit speed, scaled; shape (times, wrenches, speeds)."""
        found = [np.swapaxes(wrenches, 1, 2) @ self._closing_twists[name] for name, wrenches in carried.items()]
        return np.concatenate(found, axis=1) / self._sizes[:, None]

    def _sign(self, joint: TreeJoint, closure: str) -> int:
        """1 if a tree joint moves the child side of a closing joint, -1 if its parent side, 0 if both or none."""
        beyond, closing = self._beyond[joint.name], self.model.joint(closure)
        return int(closing.child.body in beyond) - int(closing.parent.body in beyond)

    def _passed_on(self, joint: TreeJoint, shares: dict[str, Array]) -> Array:
        """The wrench of a tree joint that balances the closing joints' forces on the bodies outboard of it."""
        point = self.children[joint.name].point
        total = np.zeros((len(self.t), 6))
        for name, wrench in shares.items():
            force, torque = wrench[:, :3], wrench[:, 3:]
            moment = torque + np.cross(self.children[name].point - point, force)
            total -= self._sign(joint, name) * np.concatenate([force, moment], axis=1)
        # what a coupling or a drive carries acts along the freedoms of the joint
        return np.concatenate(self.across(joint.name, total[:, :3], total[:, 3:]), axis=1)

    @cached_property
    def _beyond(self) -> dict[str, set[str]]:
        """Tree joint -> the bodies outboard of it."""
        found: dict[str, set[str]] = {}
        for joint in reversed(self.model.tree):  # children before parents
            further = [found[j.name] for j in self.model.tree if j.parent.body == joint.child.body]
            found[joint.name] = {joint.child.body}.union(*further)
        return found


def _spin(axis: Array) -> Array:
    return np.concatenate([np.zeros_like(axis), axis], axis=1)


def _slide(axis: Array) -> Array:
    return np.concatenate([axis, np.zeros_like(axis)], axis=1)


def orthonormal(columns: Array) -> Array:
    """Orthonormal directions with the same span, shape (times, 6, count); a dependent column becomes zero.

    Example:
        >>> orthonormal(np.array([[[2.0, 4.0], [0.0, 0.0]]]))[0].tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    found = np.array(columns, dtype=float)
    for k in range(found.shape[-1]):
        column = found[..., k]
        before = np.linalg.norm(column, axis=-1, keepdims=True)
        column = column / np.where(before > 0, before, 1.0)
        for _ in range(2):  # two passes of Gram-Schmidt are orthogonal to rounding
            for i in range(k):
                column = column - found[..., i] * np.sum(found[..., i] * column, axis=-1, keepdims=True)
        size = np.linalg.norm(column, axis=-1, keepdims=True)
        found[..., k] = np.where(size > DEPENDENT, column / np.where(size > 0, size, 1.0), 0.0)
    return found


def _basis(projectors: Array) -> Array:
    """Orthonormal basis of the range of each projector; zero columns where its rank is lower than at other times."""
    sizes, vectors = np.linalg.eigh(projectors)
    keep = sizes > 0.5
    count = int(keep.sum(axis=-1).max(initial=0))
    kept: Array = (vectors * keep[:, None, :])[..., projectors.shape[-1] - count :]  # eigh sorts upward
    return kept


def left_null_space(rows: Array) -> Array:
    """Left null space: y with y^T G = 0 at every time, shape (times, rows, sets).

    Rows must be scaled to entries of order 1. Where the rank is higher than at other times, the surplus sets are zero.

    Example:
        >>> abs(left_null_space(np.array([[[1.0, 0.0], [2.0, 0.0]]]))[0].round(3)).tolist()
        [[0.894], [0.447]]
    """
    G = np.asarray(rows, dtype=float)
    left, sizes, _ = np.linalg.svd(G)
    count = G.shape[1]
    all_sizes = np.zeros((len(G), count))
    all_sizes[:, : sizes.shape[1]] = sizes
    lost = all_sizes <= DEPENDENT * np.maximum(all_sizes.max(axis=1, keepdims=True), 1.0)
    most = int(lost.sum(axis=1).max(initial=0))
    found: Array = (left * lost[:, None, :])[..., count - most :]
    return found
