"""Balances of single bodies: claimed reactions, what ideal joints transmit, and what rigid bodies leave open.

A wrench is (force, torque about a point), a twist (velocity of the material point there, angular velocity), both in world
axes; the twist of a joint is that of its child side relative to its parent side, at the child side's point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.crossings.oracle.frames import Frame, cross
from tests.crossings.oracle.joints import GROUND, Joint
from tests.crossings.oracle.texts import Array

if TYPE_CHECKING:
    from tests.crossings.oracle.mechanism import Instant, Mechanism, Moment

ZERO, CLEAR = 1e-9, 1e-6
"""Relative sizes below the first are zero; between the two they are neither zero nor not."""
IN_PLANE = [0, 1, 5]


@dataclass(frozen=True, eq=False)
class Undetermined:
    """What the balances of all bodies leave open.

    Attributes:
        joints: joint -> for force x, y, z and torque x, y, z in world axes whether the reaction is undetermined.
        drives: known coordinate -> whether its drive force is.
        couplings: coupling -> coordinate -> whether its force on it is.
        clear: no size is in doubt; otherwise the mechanism is to be drawn again.
        planar: motion and loads are in the x-y plane: only Fx, Fy and Tz count, all else is zero.
    """

    joints: Mapping[str, Array]
    drives: Mapping[str, bool]
    couplings: Mapping[str, Mapping[str, bool]]
    clear: bool
    planar: bool


class Twists:
    """Twists of a joint per unit of its own speeds, and generalized forces along them."""

    def __init__(self, m: Mechanism, at: Instant, joint: Joint) -> None:
        child, parent = at.frames[joint.child.body], at.frames[joint.parent.body]
        self.point = child.at(joint.child.place).x
        names = joint.speed_names
        columns = [joint.columns[name] for name in names]
        moved = child.at(joint.child.place).J - _material(parent, self.point)
        turned = child.Jw - parent.Jw
        own = np.vstack([moved, turned])[:, columns]
        free = np.array([k for k, name in enumerate(names) if name in m.free], dtype=int)
        self.columns = np.array(columns, dtype=int)
        self.free_columns = self.columns[free]
        self.all, self.free = own, own[:, free]

    def along(self, Q: Array, twists: Array) -> tuple[Array, Array]:
        """The wrench in the span of the twists that has generalized forces Q along them; and what a screw leaves open.

        Where a coordinate both moves and turns, the split between force and torque depends on a typical length
        (docs/conventions.md, section 4): the columns of the second result are added with unknown factors.
        """
        if not twists.shape[1]:
            return np.zeros(6), np.zeros((6, 0))
        parts = _range(np.hstack([_only(twists, slice(0, 3)), _only(twists, slice(3, 6))]))
        powers = twists.T @ parts
        particular = parts @ np.linalg.lstsq(powers, Q, rcond=ZERO)[0]
        return particular, parts @ _null(powers)


def _only(twists: Array, part: slice) -> Array:
    found = np.zeros_like(twists)
    found[part] = twists[part]
    return found


def _material(frame: Frame, point: Array) -> Array:
    """Slopes of the velocity of the material point of a frame that is now at a place."""
    return frame.at(frame.R.T @ (point - frame.r)).J


def _range(columns: Array) -> Array:
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, sizes > ZERO * max(float(sizes.max(initial=0.0)), 1e-300)]


def _null(rows: Array) -> Array:
    """Right null space."""
    if not rows.shape[1]:
        return np.zeros((0, 0))
    _, sizes, right = np.linalg.svd(rows)
    rank = int(np.sum(sizes > ZERO * max(float(sizes.max(initial=0.0)), 1e-300)))
    return right[rank:].T


def _balanced(m: Mechanism, at: Instant) -> dict[str, Array]:
    """Body -> what must come from joints: rate of momentum minus gravity and loads from outside, about the mass centre."""
    need = {}
    for name, force, torque in m.momentum_rates(at):
        need[name] = np.concatenate([force - m.solids[name].mass * m.gravity, torque])
    applied = m.applied(at)
    for body, point, F in applied.forces:
        if body != GROUND:
            need[body] -= np.concatenate([F, cross(point.x - at.centers[body].x, F)])
    for body, _, T in applied.torques:
        need[body] -= np.concatenate([np.zeros(3), T])
    for joint, torque, _ in applied.from_ground:
        need[joint.child.body] -= np.concatenate([np.zeros(3), joint.axis * torque])
    return need


def _about(at: Instant, body: str, point: Array, wrench: Array) -> Array:
    """A wrench (or columns of them) about a point, taken about the mass centre of a body."""
    arm = point - at.centers[body].x
    moment = np.cross(arm, wrench[:3], axisb=0, axisc=0) if wrench.ndim == 2 else cross(arm, wrench[:3])
    return np.concatenate([wrench[:3], wrench[3:] + moment])


def _sides(m: Mechanism, at: Instant) -> Iterator[tuple[str, str, str, Array]]:
    """Every joint with sides: name, parent, child, the child side's point."""
    for joint in m.joints:
        yield joint.name, joint.parent.body, joint.child.body, at.frames[joint.child.body].at(joint.child.place).x
    for closure in m.closures:
        yield closure.name, closure.parent.body, closure.child.body, closure.sides(at.frames, at.clock)[1].r


def _coupling_forces(m: Mechanism, at: Instant, claims: Mapping[str, Mapping[str, float]]) -> Array:
    """Generalized forces on all speeds from forces of couplings by coordinate or speed."""
    Q = np.zeros(m.count)
    for claimed in claims.values():
        for name, value in claimed.items():
            if name in m.columns:
                Q[m.columns[name]] += value
            else:
                Q = Q + value * at.now.jet(name).g
    return Q


def imbalance(
    m: Mechanism,
    x: Moment,
    forces: Mapping[str, Any],
    torques: Mapping[str, Any],
    couplings: Mapping[str, Mapping[str, float]],
) -> dict[str, Array]:
    """Body -> the force and the torque about its mass centre that claimed reactions leave unbalanced.

    Args:
        m: the mechanism.
        x: the instant, with its accelerations.
        forces, torques: joint -> 3 numbers in world axes, from the parent side on the child side, about its point.
        couplings: coupling -> coordinate -> force on it.
    """
    at = m.instant(x)
    left = _balanced(m, at)
    open_columns: list[dict[str, Array]] = []
    for name, parent, child, point in _sides(m, at):
        wrench = np.concatenate([np.asarray(forces[name], dtype=float), np.asarray(torques[name], dtype=float)])
        _act(at, left, parent, child, point, -wrench)
    applied = m.applied(at)
    coupled = _coupling_forces(m, at, couplings)
    rotors = m.rotor_forces(at)
    for joint in m.joints:
        twists = Twists(m, at, joint)
        if joint.absolute:
            # a spring acts between the sides; couplings and a drive act from ground on the body
            axis = np.concatenate([np.zeros(3), joint.axis])
            own = twists.columns[0]
            if joint.speed_names[0] in m.free:
                _act(
                    at,
                    left,
                    joint.parent.body,
                    joint.child.body,
                    twists.point,
                    -applied.pulls.get(joint.name, 0.0) * axis,
                )
                left[joint.child.body] -= coupled[own] * axis
            else:
                open_columns.append({joint.child.body: axis})
            continue
        inside = applied.inside.get(joint.name, np.zeros(m.count))
        Q = (inside + coupled - rotors)[twists.free_columns]
        wrench, screws = twists.along(Q, twists.free)
        _act(at, left, joint.parent.body, joint.child.body, twists.point, -wrench)
        for column in screws.T:
            share = {name: np.zeros(6) for name in left}
            _act(at, share, joint.parent.body, joint.child.body, twists.point, column)
            open_columns.append(share)
    return _without(left, open_columns)


def _act(at: Instant, left: dict[str, Array], parent: str, child: str, point: Array, wrench: Array) -> None:
    """Adds a wrench on a child and its opposite on the parent."""
    for body, sign in ((child, 1.0), (parent, -1.0)):
        if body != GROUND:
            left[body] = left[body] + sign * _about(at, body, point, wrench)


def _without(left: dict[str, Array], columns: list[dict[str, Array]]) -> dict[str, Array]:
    """Balances without their components along columns of unknown size."""
    if not columns:
        return left
    total = np.concatenate(list(left.values()))
    A = np.array([np.concatenate([column.get(name, np.zeros(6)) for name in left]) for column in columns]).T
    good = np.isfinite(total)
    total[good] -= A[good] @ np.linalg.lstsq(A[good], total[good], rcond=None)[0]
    return dict(zip(left, total.reshape(-1, 6), strict=True))


def transmits(m: Mechanism, x: Moment, joint: str) -> Array:
    """Orthonormal basis (6, k) of the wrenches that do no work on the motions of a joint, known ones included."""
    at = m.instant(x)
    for closure in m.closures:
        if closure.name == joint:
            return _range(closure.wrenches(at.frames, at.clock))
    return _ideal(Twists(m, at, next(j for j in m.joints if j.name == joint)))


def _ideal(twists: Twists) -> Array:
    return _null(twists.all.T) if twists.all.shape[1] else np.eye(6)


class _Map:
    """The map from all constraint wrenches to the balances of all bodies, scaled by a length."""

    def __init__(self, m: Mechanism, at: Instant, *, in_plane: bool) -> None:
        self.m, self.at, self.in_plane = m, at, in_plane
        self.length = max([float(np.abs(c.x).max()) for c in at.centers.values()] + [1e-3])
        self.scale = np.repeat([1.0, 1 / self.length], 3)
        self.wrenches: list[dict[str, Array]] = []
        """of every unknown, joint -> its wrench there as part of the reaction"""
        self.columns: list[Array] = []
        self.drives: dict[str, int] = {}
        self.couplings: dict[str, int] = {}
        self._joints()
        self._closures()
        self._couplings()

    def _add(self, balance: dict[str, Array], reaction: dict[str, Array]) -> None:
        column = np.concatenate([balance.get(name, np.zeros(6)) * self.scale for name in self.m.solids])
        size = float(np.linalg.norm(column)) or 1.0
        self.columns.append(column / size)
        self.wrenches.append({name: wrench * self.scale / size for name, wrench in reaction.items()})

    def _between(self, parent: str, child: str, point: Array, wrench: Array) -> dict[str, Array]:
        found = {name: np.zeros(6) for name in self.m.solids}
        _act(self.at, found, parent, child, point, wrench)
        return found

    def _basis(self, wrenches: Array) -> Array:
        """Scaled to forces, orthonormal, in the plane if asked for."""
        basis = _range(wrenches * self.scale[:, None])
        if self.in_plane:
            across = np.delete(np.eye(6), IN_PLANE, axis=0)
            basis = basis @ _null(across @ basis)
        return basis / self.scale[:, None]

    def _joints(self) -> None:
        for joint in self.m.joints:
            twists = Twists(self.m, self.at, joint)
            ends = joint.parent.body, joint.child.body, twists.point
            for wrench in self._basis(_ideal(twists)).T:
                self._add(self._between(*ends, wrench), {joint.name: wrench})
            for name in joint.names:
                if name not in joint.motion:
                    continue
                self.drives[name] = len(self.columns)
                if joint.absolute:
                    self._add({joint.child.body: np.concatenate([np.zeros(3), joint.axis])}, {})
                    continue
                wrench = self._dual(twists, (twists.columns == joint.columns[f"{name}_dot"]).astype(float))
                self._add(self._between(*ends, wrench), {joint.name: wrench})

    def _dual(self, twists: Twists, Q: Array) -> Array:
        """The wrench with generalized forces Q along all own twists, in their span."""
        S = twists.all / self.scale[:, None]
        return (S @ np.linalg.lstsq(S.T @ S, Q, rcond=ZERO)[0]) / self.scale

    def _closures(self) -> None:
        for closure in self.m.closures:
            point = closure.sides(self.at.frames, self.at.clock)[1].r
            for wrench in self._basis(closure.wrenches(self.at.frames, self.at.clock)).T:
                self._add(self._between(closure.parent.body, closure.child.body, point, wrench), {closure.name: wrench})

    def _couplings(self) -> None:
        for coupling in self.m.couplings:
            slopes = coupling.row(self.at.now).g + np.zeros(self.m.count)
            balance, reaction = {name: np.zeros(6) for name in self.m.solids}, {}
            for joint in self.m.joints:
                twists = Twists(self.m, self.at, joint)
                Q = slopes[twists.columns]
                if not Q.any():
                    continue
                if joint.absolute:
                    balance[joint.child.body] = balance[joint.child.body] + np.append(np.zeros(3), joint.axis * Q[0])
                    continue
                wrench = self._dual(twists, Q)
                _act(self.at, balance, joint.parent.body, joint.child.body, twists.point, wrench)
                # of this, the part along the free motions is not in the reaction
                S = twists.free / self.scale[:, None]
                along = (S @ np.linalg.lstsq(S.T @ S, slopes[twists.free_columns], rcond=ZERO)[0]) / self.scale
                reaction[joint.name] = wrench - along
            self.couplings[coupling.name] = len(self.columns)
            self._add(balance, reaction)

    def matrix(self) -> Array:
        A = np.array(self.columns).reshape(len(self.columns), 6 * len(self.m.solids)).T
        if self.in_plane:
            A = A.reshape(len(self.m.solids), 6, A.shape[1])[:, IN_PLANE].reshape(3 * len(self.m.solids), A.shape[1])
        return A


def undetermined(m: Mechanism, x: Moment) -> Undetermined:
    """Which reactions, drive forces and forces of couplings the balances of all bodies leave open."""
    at = m.instant(m.with_accelerations(x))
    planar = _is_planar(m, at)
    forces = _Map(m, at, in_plane=planar)
    A = forces.matrix()
    _, sizes, right = np.linalg.svd(A)
    most = max(float(sizes.max(initial=0.0)), 1e-300)
    clear = not np.any((sizes > ZERO * most) & (sizes < CLEAR * most))
    null = right[int(np.sum(sizes > ZERO * most)) :].T
    seen: list[float] = []

    def changes(rows: Array) -> Array:
        found = np.linalg.norm(np.atleast_2d(rows) @ null, axis=1) if null.shape[1] else np.zeros(len(rows))
        seen.extend(found.tolist())
        return np.asarray(found > _CHANGES)

    joints = {}
    for name, *_ in _sides(m, at):
        wrenches = np.array([w.get(name, np.zeros(6)) for w in forces.wrenches]).reshape(-1, 6).T
        joints[name] = changes(wrenches)
    units = np.eye(A.shape[1])
    drives = {name: bool(changes(units[[k]])[0]) for name, k in forces.drives.items()}
    couplings = {}
    for coupling in m.couplings:
        is_open = bool(changes(units[[forces.couplings[coupling.name]]])[0])
        couplings[coupling.name] = dict.fromkeys(_coordinates(m, coupling.names), is_open)
    clear = clear and not any(_DOUBT < size < CLEAR for size in seen)
    return Undetermined(joints, drives, couplings, clear, planar)


_DOUBT, _CHANGES = 1e-11, 1e-8
"""Changes by self-balanced forces of size one: rounding is below the first."""


def _coordinates(m: Mechanism, used: frozenset[str]) -> list[str]:
    """Coordinates on which a coupling acts; of an orientation with angular velocities, its speeds."""
    found = []
    for joint in m.joints:
        found += [name for name in joint.rated if name in used]
        if used.intersection(joint.names[len(joint.rated) :]):
            found += joint.speed_names[len(joint.rated) :]
    return found


def _is_planar(m: Mechanism, at: Instant) -> bool:
    """Whether every motion is in the x-y plane and forces in the plane balance all bodies."""
    for frame in at.frames.values():
        if frame.theta is None or np.abs(frame.Jw[:2]).max() > ZERO or np.abs(frame.Jr[2]).max() > ZERO:
            return False
    need = _balanced(m, at)
    applied = m.applied(at)
    forces = _Map(m, at, in_plane=True)
    columns = [column.reshape(-1, 6) for column in forces.columns]
    for joint in m.joints:  # springs and friction inside joints are of any size here
        twists = Twists(m, at, joint)
        if joint.name in applied.inside or np.any(m.rotor_forces(at)[twists.columns]):
            for twist in twists.all.T:
                share = forces._between(joint.parent.body, joint.child.body, twists.point, twist)
                columns.append(np.array([share[name] * forces.scale for name in m.solids]))
    b = np.concatenate([need[name] * forces.scale for name in m.solids])
    A = np.array([column.ravel() for column in columns]).reshape(len(columns), len(b)).T
    left = b - A @ np.linalg.lstsq(A, b, rcond=None)[0] if len(columns) else b
    return float(np.abs(left).max(initial=0.0)) <= CLEAR * 1e-3 * max(float(np.abs(b).max(initial=0.0)), 1e-300)
