"""A mechanism from the plain data of its model file: virtual work, forward dynamics, energies, momentum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.crossings.oracle.closures import Closure, Coupling
from tests.crossings.oracle.frames import Frame, Vector, cross
from tests.crossings.oracle.jets import Jet
from tests.crossings.oracle.joints import CLOSING, GROUND, Joint, Now, in_tree_order
from tests.crossings.oracle.loads import Applied, Load, Scene
from tests.crossings.oracle.solids import Solid
from tests.crossings.oracle.texts import Array, Values, names_in, number, parameters_of

DEPENDENT = 1e-9
"""Singular values below this fraction of the largest are zero."""


@dataclass(frozen=True)
class Moment:
    """One instant, by the names of the model."""

    t: float
    q: Mapping[str, float]
    """free coordinates"""
    v: Mapping[str, float]
    """free speeds"""
    a: Mapping[str, float] = field(default_factory=dict)
    """accelerations by the name of the speed; one that is missing counts as zero"""
    u: Mapping[str, float] = field(default_factory=dict)
    """inputs; one that is missing has the value of its text in the model"""


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """Pose and motion of a body in world axes; v and a are those of the mass centre."""

    R: Array
    r: Array
    com: Array
    v: Array
    a: Array
    omega: Array
    alpha: Array


@dataclass(frozen=True, eq=False)
class Solved:
    """Forward dynamics: accelerations by name, multipliers of the rows of G, drive forces of known coordinates."""

    a: Mapping[str, float]
    lam: Array
    """of smallest size where rows are redundant"""
    G: Array
    rank: int
    singular_values: Array
    """of G, each row scaled to one"""
    drives: Mapping[str, float]
    condition: float
    """of the mass matrix on the directions that the rows allow"""


@dataclass(frozen=True, eq=False)
class Instant:
    """Everything that follows from a moment by kinematics and loads."""

    frames: Mapping[str, Frame]
    centers: Mapping[str, Vector]
    now: Now
    clock: Mapping[str, Jet]
    scene: Scene
    speeds: Array
    """free speeds, known rates, 1"""
    speed_accelerations: Array


class Mechanism:
    """A mechanism of free bodies.

    Example:
        >>> data = {
        ...     "gravity": [0, -9.81],
        ...     "bodies": [{"name": "bob", "point": {"mass": 2, "at": [0, -1, 0]}}],
        ...     "joints": [{"name": "theta", "type": "revolute", "parent": "ground", "child": "bob"}],
        ... }
        >>> Mechanism(data).accelerations(Moment(0.0, {"theta": np.pi / 2}, {"theta_dot": 0.0})).a
        {'theta_dot': -9.81}
    """

    def __init__(self, data: Mapping[str, Any], parameters: Mapping[str, float] | None = None) -> None:
        self.values = Values(parameters_of(data, parameters or {}))
        self.solids = {body["name"]: Solid(body, self.values) for body in data["bodies"]}
        listed = data.get("joints", ())
        tree = [joint for joint in listed if joint["type"] not in CLOSING]
        self.joints = in_tree_order([Joint(joint, self.values, self.solids) for joint in tree])
        sided = [joint for joint in listed if joint["type"] in CLOSING[:-1]]
        self.closures = [Closure(joint, self.values, self.solids) for joint in sided]
        self.couplings = [Coupling(joint) for joint in listed if joint["type"] == "coupling"]
        self.free = tuple(s for j in self.joints for s in j.speed_names if s.removesuffix("_dot") not in j.motion)
        self.known = tuple(name for j in self.joints for name in j.names if name in j.motion)
        self.count = len(self.free) + len(self.known) + 1
        self.columns = {name: k for k, name in enumerate((*self.free, *(f"{name}_dot" for name in self.known)))}
        for joint in self.joints:
            joint.columns = {name: self.columns[name] for name in joint.speed_names}
        self.loads = [Load(force, self.values, self.solids, self.joints) for force in data.get("forces", ())]
        self.gravity = self.values.vector(data["gravity"])
        self.inputs = dict(data.get("inputs", {}))
        self._constants = {name: Jet(x) for name, x in self.values.parameters.items()}
        self._armature = [
            (joint, [joint.columns[name] for name in joint.speed_names], np.array(joint.armature))
            for joint in self.joints
            if any(joint.armature)
        ]

    # -- kinematics

    def instant(self, x: Moment) -> Instant:
        """Frames of all bodies, and what loads may look at."""
        tick = np.zeros(self.count)
        tick[-1] = 1.0
        clock = self._constants | {"t": Jet(x.t, 1.0, 0.0, tick)}
        now = Now(x.t, x.q, x.v, x.a, dict(clock), {})
        for joint in self.joints:
            joint.read(now, self.count)
        frames, relative = {GROUND: Frame(self.count)}, {}
        for joint in self.joints:
            frame, angle = joint.place(frames, now, clock)
            frames[joint.child.body] = frame
            if angle is not None:
                relative[joint.name] = angle
        speeds = [*(x.v[name] for name in self.free), *(now.jets[name].d for name in self.known), 1.0]
        accelerations = [x.a.get(name, 0.0) for name in self.free] + [now.jets[name].dd for name in self.known]
        centers = {name: frames[name].at(solid.com) for name, solid in self.solids.items()}
        by_name = dict(zip(self.columns, speeds, strict=False))
        names = _Names(self, now, by_name, x)
        scene = Scene(frames, clock, now, names, relative, by_name)
        return Instant(frames, centers, now, clock, scene, np.array(speeds), np.array([*accelerations, 0.0]))

    def bodies(self, x: Moment) -> dict[str, BodyMotion]:
        """Pose and motion of every body."""
        at, found = self.instant(x), {}
        for name, c in at.centers.items():
            frame = at.frames[name]
            found[name] = BodyMotion(frame.R, frame.r, c.x, c.d, c.dd, frame.w, frame.al)
        return found

    def point(self, x: Moment, body: str, place: Any) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a point of a body, in world axes.

        Args:
            x: the instant.
            body: name of the body.
            place: the point in body axes, or its name.
        """
        own = self.solids[body].points[place] if isinstance(place, str) else self.values.vector(place)
        p = self.instant(x).frames[body].at(own)
        return p.x, p.d, p.dd

    def rows(self, at: Instant) -> list[Jet]:
        """Rows of all closing joints, then of the couplings."""
        found = [row for closure in self.closures for row in closure.rows(at.frames, at.clock)]
        return found + [coupling.row(at.now) for coupling in self.couplings]

    def _row_sizes(self, at: Instant) -> Array:
        """Sizes of what the slopes of each row are differences of."""
        found: list[float] = []
        for closure in self.closures:
            sides = closure.sides(at.frames, at.clock)
            size = max(float(np.abs(J).max()) for side in sides for J in (side.Jr, side.Jw))
            found += [size] * len(closure.rows(at.frames, at.clock))
        return np.array(found + [0.0] * len(self.couplings))

    def gaps(self, x: Moment) -> tuple[Array, Array, Array]:
        """Rows of closing joints and couplings, and their first and second derivative in time."""
        rows = self.rows(self.instant(x))
        return np.array([r.x for r in rows]), np.array([r.d for r in rows]), np.array([r.dd for r in rows])

    # -- dynamics

    def applied(self, at: Instant) -> Applied:
        """All loads except gravity."""
        found = Applied(self.count)
        for load in self.loads:
            load.apply(at.scene, found)
        return found

    def momentum_rates(self, at: Instant) -> Iterator[tuple[str, Array, Array]]:
        """Body, m a, and the rate of the angular momentum about the mass centre."""
        for name, solid in self.solids.items():
            frame = at.frames[name]
            I = frame.R @ solid.inertia @ frame.R.T
            yield name, solid.mass * at.centers[name].dd, I @ frame.al + cross(frame.w, I @ frame.w)

    def rotor_forces(self, at: Instant) -> Array:
        """Generalized inertia forces of armatures, on all speeds."""
        found = np.zeros(self.count)
        for joint, columns, inertia in self._armature:
            found[columns] += inertia * at.speed_accelerations[columns]
            if joint.turned:  # Euler-Poincare: p' + w x p in axes of the body, p' - w x p in those of the parent
                own = columns[-3:]
                w = at.speeds[own]
                sign = 1.0 if joint.ball is not None and joint.ball.axes == "body" else -1.0
                found[own] += sign * cross(w, inertia[-3:] * w)
        return found

    def _imbalance_of_speeds(self, at: Instant) -> Array:
        """Inertia minus loads on every speed; the last entry is that of explicit time."""
        found = self.rotor_forces(at) - self.applied(at).generalized()
        for name, force, torque in self.momentum_rates(at):
            weight = self.solids[name].mass * self.gravity
            found = found + (force - weight) @ at.centers[name].J + torque @ at.frames[name].Jw
        return found

    def residual(self, x: Moment) -> Array:
        """Inertia minus loads on every speed, free ones first, then known ones."""
        return self._imbalance_of_speeds(self.instant(x))[:-1]

    def mass_matrix(self, at: Instant) -> Array:
        """Of all speeds, known rates and explicit time."""
        M = np.zeros((self.count, self.count))
        for name, solid in self.solids.items():
            frame, J = at.frames[name], at.centers[name].J
            turned = frame.R.T @ frame.Jw
            M += solid.mass * J.T @ J + turned.T @ solid.inertia @ turned
        for _, columns, inertia in self._armature:
            M[columns, columns] += inertia
        return M

    def accelerations(self, x: Moment) -> Solved:
        """Accelerations at an instant: M a = f + G^T lam with G a = c, in the directions that the rows allow."""
        n = len(self.free)
        at = self.instant(Moment(x.t, x.q, x.v, {}, x.u))
        f, M, rows = -self._imbalance_of_speeds(at)[:n], self.mass_matrix(at), self.rows(at)
        slopes = np.array([row.g + np.zeros(self.count) for row in rows]).reshape(-1, self.count)
        G, c = slopes[:, :n], np.array([-row.dd for row in rows])
        sizes = np.linalg.norm(G, axis=1)
        felt = sizes > DEPENDENT * self._row_sizes(at)  # others are rounding
        scale = np.where(felt, 1 / np.where(felt, sizes, 1.0), 0.0)
        left, values, right = np.linalg.svd(G * scale[:, None])
        rank = int(np.sum(values > DEPENDENT * max(float(values.max(initial=0.0)), 1e-300)))
        inverse = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        bound, basis = inverse @ (scale * c), right[rank:].T
        inner = basis.T @ M[:n, :n] @ basis
        a = bound + basis @ np.linalg.lstsq(inner, basis.T @ (f - M[:n, :n] @ bound), rcond=None)[0]
        lam = scale * (inverse.T @ (M[:n, :n] @ a - f))
        by_name = dict(zip(self.free, a.tolist(), strict=True))
        moved = self._imbalance_of_speeds(self.instant(Moment(x.t, x.q, x.v, by_name, x.u)))
        drives = (moved - slopes.T @ lam)[n:-1]
        condition = float(np.linalg.cond(inner)) if len(inner) else 1.0
        return Solved(by_name, lam, G, rank, values, dict(zip(self.known, drives.tolist(), strict=True)), condition)

    def with_accelerations(self, x: Moment) -> Moment:
        """The moment with its accelerations found, unless it has them."""
        return x if x.a.keys() >= set(self.free) else Moment(x.t, x.q, x.v, self.accelerations(x).a, x.u)

    # -- energies and momentum

    def kinetic(self, x: Moment) -> float:
        """Kinetic energy, armature included."""
        at, total = self.instant(x), 0.0
        for name, solid in self.solids.items():
            w, v = at.frames[name].R.T @ at.frames[name].w, at.centers[name].d
            total += float(solid.mass * v @ v + w @ solid.inertia @ w) / 2
        for _, columns, inertia in self._armature:
            total += float(inertia @ at.speeds[columns] ** 2) / 2
        return total

    def potential(self, x: Moment) -> float:
        """Potential energy of gravity, springs and elastic stops; gravity's is zero at the world's origin."""
        at = self.instant(x)
        weights = sum(float(solid.mass * self.gravity @ at.centers[name].x) for name, solid in self.solids.items())
        return self.applied(at).potential - weights

    def power(self, x: Moment) -> float:
        """Power of everything that has no potential; needs the accelerations, by which drives are found.

        The free speeds balance with the rows' multipliers; what is left on known rates and explicit time is supplied by
        the drives, which also move the sides of closing joints: lam (G v) of the free speeds is minus their share there.
        """
        at, n = self.instant(x), len(self.free)
        left, rows = self._imbalance_of_speeds(at), self.rows(at)
        supplied = float(left[n:] @ at.speeds[n:])
        if rows:
            G = np.array([row.g + np.zeros(self.count) for row in rows])[:, :n]
            lam = np.linalg.lstsq(G.T, left[:n], rcond=DEPENDENT)[0]
            supplied += float(lam @ G @ at.speeds[:n])
        return self.applied(at).power + supplied

    def momentum(self, x: Moment) -> tuple[Array, Array]:
        """Linear momentum, and angular momentum about the world's origin, of all bodies without armatures."""
        at, p, H = self.instant(x), np.zeros(3), np.zeros(3)
        for name, solid in self.solids.items():
            frame, c = at.frames[name], at.centers[name]
            p = p + solid.mass * c.d
            H = H + cross(c.x, solid.mass * c.d) + frame.R @ solid.inertia @ frame.R.T @ frame.w
        return p, H

    # -- balances of single bodies: see wrenches

    def imbalance(
        self,
        x: Moment,
        forces: Mapping[str, Any],
        torques: Mapping[str, Any],
        couplings: Mapping[str, Mapping[str, float]],
    ) -> dict[str, Array]:
        """What claimed reactions leave unbalanced: :func:`wrenches.imbalance`."""
        from tests.crossings.oracle import wrenches

        return wrenches.imbalance(self, x, forces, torques, couplings)

    def transmits(self, x: Moment, joint: str) -> Array:
        """Wrenches that an ideal joint transmits: :func:`wrenches.transmits`."""
        from tests.crossings.oracle import wrenches

        return wrenches.transmits(self, x, joint)

    def undetermined(self, x: Moment) -> Any:
        """Which reactions rigid bodies leave open: :func:`wrenches.undetermined`."""
        from tests.crossings.oracle import wrenches

        return wrenches.undetermined(self, x)


class _Names(Mapping[str, float]):
    """Values of everything that a load may name, found when it is asked for."""

    def __init__(self, mechanism: Mechanism, now: Now, speeds: Mapping[str, float], x: Moment) -> None:
        self.known: dict[str, float] = {**mechanism.values.parameters, "t": x.t, **x.q, **speeds, **x.u}
        self.now, self.inputs = now, mechanism.inputs

    def __getitem__(self, name: str) -> float:
        if name not in self.known:
            self.known[name] = self._find(name)
        return self.known[name]

    def _find(self, name: str) -> float:
        if name in self.inputs:
            return number(self.inputs[name], {n: self[n] for n in names_in(self.inputs[name])})
        if name.endswith("_dot") and (name.removesuffix("_dot") in self.now.later):
            return self.now.jet(name.removesuffix("_dot")).d
        return self.now.jet(name).x

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)
