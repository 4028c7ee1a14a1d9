"""Comparisons of a story's formulas with independent values: one function for each kind of key.

A function takes the values of the formula at all states, shape (states, rows, columns), and returns the largest
difference relative to the size of the quantity; None if there is nothing to compare with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pendula.analysis.explain.reference import TINY, Reference
from pendula.system.parameters import typical_length
from pendula.system.system import System

Array = Any


class Scene:
    """What comparisons look at: the reference, the story's own system and states, and values by formula name."""

    def __init__(self, reference: Reference, own: System, values: Mapping[str, Array]) -> None:
        self.ref = reference
        self.own = own
        self.values = values
        self.q, self.v = own.in_joints.place(reference.q, reference.v, reference.t)
        self._reactions: Mapping[str, tuple[Array, Array, float]] | None = None

    @property
    def reactions_by(self) -> str:
        """The formulation that forces in joints are compared with: one that derives them."""
        return "projection" if self.own.formulation == "newton-euler" else "newton-euler"

    def reaction(self, joint: str) -> tuple[Array, Array, float] | None:
        """Reaction force of a joint by the story's equations and by another formulation, and the largest of all."""
        if self._reactions is None:
            self._reactions = self.ref.reactions(self.own, self.reactions_by)
        return self._reactions.get(joint)

    def accelerations(self) -> Array:
        """Accelerations of the other formulation in the story's own coordinates."""
        ref, own = self.ref, self.own
        if own.in_joints.same:
            return ref.a
        nodes, eq, motion = own.equations.nodes, own.equations, ref.moving
        a = np.zeros_like(self.v)
        names = list(ref.system.layout.speeds)
        for node, joint in zip(nodes, eq.model.tree, strict=True):
            body, (first, last) = joint.child.body, node.speeds
            linear = ref.of(body, motion.acceleration)
            turning = ref.of(body, motion.angular_acceleration)
            if node.body == 3:
                a[:, first : first + 3] = np.column_stack([linear[:, :2], turning[:, 2]])
            else:  # components of the angular velocity in body axes: (R^T w)' = R^T w'
                a[:, first : first + 3] = linear
                a[:, first + 3 : first + 6] = ref.axes(body, "body", turning)
            for k in range(first + node.body, last):
                a[:, k] = ref.a[:, names.index(str(eq.v[k]))]
        return a


def difference(value: Array, expected: Array, scale: float = 0.0) -> float:
    """The largest difference relative to the largest expected value, or to ``scale`` if that is larger."""
    value = value.reshape(len(value), -1)
    expected = np.asarray(expected, dtype=float).reshape(len(value), -1)
    size = max(float(np.abs(expected).max(initial=0.0)), scale, TINY)
    gap = float(np.abs(value - expected).max(initial=0.0))
    return gap / size if np.isfinite(gap) else np.inf


# -- positions and velocities -----------------------------------------------------------------------


def _angle(s: Scene, x: Array, body: str) -> float:
    R = s.ref.R(body)
    gap = x[:, 0, 0] - np.arctan2(R[:, 1, 0], R[:, 0, 0])
    return float(np.abs(np.angle(np.exp(1j * gap))).max())


def _rotation(s: Scene, x: Array, body: str) -> float:
    return difference(x, s.ref.R(body))


def _origin(s: Scene, x: Array, body: str, count: int) -> float:
    return difference(x, s.ref.r(body)[:, :count], lengths(s))


def _center(s: Scene, x: Array, body: str, count: int) -> float:
    return difference(x, s.ref.center(body)[:, :count], lengths(s))


def lengths(s: Scene) -> float:
    """A typical length of the mechanism."""
    return max(typical_length(s.ref.system), *(float(np.abs(s.ref.center(body)).max()) for body in s.ref.bodies))


def _turning(s: Scene) -> float:
    """Size of squared angular velocities, to which accelerations that vanish are compared."""
    return float(np.abs(s.ref.steady.angular_velocity).max()) ** 2


def _component(vectors: Array, count: int) -> Array:
    return vectors[:, 2:] if count == 1 else vectors[:, :count]


def _moving(field: str, steady: bool) -> Callable[..., float]:
    def compare(s: Scene, x: Array, body: str, *more: Any) -> float:
        where, count = more if len(more) == 2 else ("world", more[0])
        motion = s.ref.steady if steady else s.ref.moving
        every = getattr(motion, field)
        vectors = s.ref.axes(body, where, s.ref.of(body, every))
        floor = float(np.abs(every).max())
        if field.endswith("acceleration"):  # at constant speeds it may vanish
            floor = max(floor, _turning(s) * (lengths(s) if field == "acceleration" else 1.0))
        return difference(x, _component(vectors, count), floor)

    return compare


def _origin_acceleration(s: Scene, x: Array, body: str, where: str, count: int) -> float:
    ref = s.ref
    arm = ref.r(body) - ref.center(body)
    w, alpha = (ref.of(body, f) for f in (ref.moving.angular_velocity, ref.moving.angular_acceleration))
    a = ref.of(body, ref.moving.acceleration) + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
    return difference(x, _component(ref.axes(body, where, a), count), float(np.abs(ref.moving.acceleration).max()))


def _partials(angular: bool) -> Callable[..., float]:
    def compare(s: Scene, x: Array, body: str, rates: tuple[int, ...], plane: bool) -> float:
        worst = 0.0
        for column, k in enumerate(rates):
            if k >= s.ref.v.shape[1]:
                continue  # a prescribed rate
            vectors = s.ref.of(body, s.ref.partial(k)[0 if angular else 1])
            kept = vectors[:, 2:] if plane and angular else vectors[:, :2] if plane else vectors
            worst = max(worst, difference(x[:, :, column], kept, float(np.abs(x).max())))
        return worst

    return compare


# -- energies and momenta ---------------------------------------------------------------------------


def _kinetic(s: Scene, x: Array, body: str) -> float:
    ref = s.ref
    v, w = ref.of(body, ref.steady.velocity), ref.of(body, ref.steady.angular_velocity)
    spin = np.einsum("si,sij,sj->s", w, ref.world_inertia(body), w)
    energy = (ref.mass(body) * np.einsum("si,si->s", v, v) + spin) / 2
    return difference(x, energy, float(ref.kinetic(ref.v).max()))


def _total_kinetic(s: Scene, x: Array) -> float:
    return difference(x, s.ref.kinetic(s.ref.v))


def _total_potential(s: Scene, x: Array) -> float:
    ref = s.ref
    return difference(x, ref.system.energies(ref.q, ref.v, ref.t).potential, float(ref.kinetic(ref.v).max()))


def _momentum(s: Scene, x: Array, k: int) -> float:
    ref = s.ref
    unit = np.eye(ref.v.shape[1])[k]
    return difference(
        x, (ref.kinetic(ref.v + unit) - ref.kinetic(ref.v - unit)) / 2, float(np.abs(ref.mass_matrix).max())
    )


def _mass_entry(s: Scene, x: Array, k: int, j: int) -> float:
    return difference(x, s.ref.mass_matrix[:, k, j], float(np.abs(s.ref.mass_matrix[:, k, k]).max()))


def _mass(s: Scene, x: Array) -> float:
    return difference(x, s.ref.mass_matrix)


def _part(s: Scene, x: Array, part: str, k: int) -> float:
    largest = max(float(np.abs(f).max(initial=0.0)) for f in s.ref.parts.values())
    return difference(x, s.ref.parts[part][:, k], 1e-3 * largest)


def _forces(s: Scene, x: Array) -> float:
    return difference(x, s.ref.system.forces(s.ref.q, s.ref.v, s.ref.t))


# -- bodies -----------------------------------------------------------------------------------------


def _momentum_rate(s: Scene, x: Array, body: str, where: str, count: int) -> float:
    ref = s.ref
    rate = ref.mass(body) * ref.of(body, ref.moving.acceleration)
    return difference(x, _component(ref.axes(body, where, rate), count), heaviest(s))


def heaviest(s: Scene) -> float:
    """A typical rate of momentum: the largest mass times the largest acceleration."""
    a = max(float(np.abs(s.ref.moving.acceleration).max()), _turning(s) * lengths(s))
    return max(s.ref.mass(body) for body in s.ref.bodies) * a


def _spin_momentum_rate(s: Scene, x: Array, body: str, where: str, count: int) -> float:
    ref = s.ref
    arm = ref.R(body) @ ref.com(body)
    moment = np.cross(arm, ref.mass(body) * ref.of(body, ref.moving.acceleration)) + ref.twist_rate(body, ref.moving)
    return difference(x, _component(ref.axes(body, where, moment), count), heaviest(s) * lengths(s))


def _twist0(s: Scene, x: Array, body: str, count: int) -> float:
    twist = s.ref.twist_rate(body, s.ref.steady)
    return difference(x, _component(twist, count), float(np.abs(s.ref.inertia(body)).max()) * _turning(s))


def _world_inertia(s: Scene, x: Array, body: str) -> float:
    return difference(x, s.ref.world_inertia(body))


def _body_mass(s: Scene, x: Array, body: str, flat: bool) -> float:
    m, inertia = s.ref.mass(body), s.ref.inertia(body)
    expected = np.diag([m, m, inertia[2, 2]])
    if not flat:
        expected = np.zeros((6, 6))
        expected[:3, :3], expected[3:, 3:] = m * np.eye(3), inertia
    return difference(x, np.broadcast_to(expected, x.shape))


# -- constraints ------------------------------------------------------------------------------------


def _gap(s: Scene, x: Array, r: int) -> float:
    return float(np.abs(x).max()) / max(lengths(s), TINY)


def _row_rate(s: Scene, x: Array, r: int) -> float:
    _, rate = s.own.gaps(s.q, s.v, s.ref.t)
    size = float(np.abs(np.einsum("sij,sj->si", np.abs(x), np.abs(s.v))).max())
    return float(np.abs(rate[:, r]).max()) / max(size, TINY)


def _row_acceleration(s: Scene, x: Array, r: int) -> float:
    G = s.own.constraint_jacobian(s.q, s.ref.t)[:, r]
    a = s.accelerations()
    # A row along which nothing accelerates is zero up to rounding, which is no difference.
    size = max(float(np.abs(G * a).sum(axis=1).max()), 1e-12 * float(np.abs(G).max() * np.abs(a).max()))
    return difference(x, np.einsum("sj,sj->s", G, a), size)


def _reaction_force(s: Scene, x: Array, joint: str, count: int) -> float | None:
    found = s.reaction(joint)
    return None if found is None else difference(found[0], found[1], found[2])


def _accelerations(s: Scene, x: Array) -> float:
    return difference(s.own.accelerations(s.q, s.v, s.ref.t), s.accelerations())


COMPARISONS: dict[str, Callable[..., float | None]] = {
    "angle": _angle,
    "rotation": _rotation,
    "origin": _origin,
    "center": _center,
    "spin": _moving("angular_velocity", True),
    "velocity": _moving("velocity", True),
    "alpha0": _moving("angular_acceleration", True),
    "a0": _moving("acceleration", True),
    "alpha": _moving("angular_acceleration", False),
    "origin acceleration": _origin_acceleration,
    "partial spins": _partials(True),
    "partial velocities": _partials(False),
    "kinetic": _kinetic,
    "total kinetic": _total_kinetic,
    "total potential": _total_potential,
    "momentum": _momentum,
    "mass entry": _mass_entry,
    "part": _part,
    "M": _mass,
    "f": _forces,
    "momentum rate": _momentum_rate,
    "spin momentum rate": _spin_momentum_rate,
    "twist0": _twist0,
    "world inertia": _world_inertia,
    "body mass": _body_mass,
    "gap": _gap,
    "row rate": _row_rate,
    "row acceleration": _row_acceleration,
    "reaction force": _reaction_force,
    "accelerations": _accelerations,
}
"""By the first entry of a comparison's key."""
