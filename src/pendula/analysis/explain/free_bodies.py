"""Comparisons for the projection method: free bodies, the complement of their joints, and multipliers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pendula.analysis.explain.comparisons import Scene, difference, heaviest, lengths
from pendula.system.build import compile_system
from pendula.system.joint_forces import joint_wrenches

Array = Any


def kept(count: int) -> list[int]:
    """The velocities of a body that a story shows: all six, or the three of the plane, v_x, v_y and omega_z."""
    return [0, 1, 5] if count == 3 else [0, 1, 2, 3, 4, 5]


def where(s: Scene, body: str) -> str:
    """World axes for bodies that only rotate about z, body axes for others; as the equations decide it."""
    return "world" if s.own.equations.poses[body][0][2] == (0, 0, 1) else "body"


def _arm(s: Scene, body: str) -> Array:
    """Vector from the reference point to the mass centre, in the axes in use."""
    ref = s.ref
    return ref.axes(body, where(s, body), np.einsum("sij,j->si", ref.R(body), ref.com(body) - ref.hinge(body)))


def _at_hinge(s: Scene, body: str, v: Array, w: Array) -> Array:
    """Velocities of the mass centre in world axes as six velocities of the reference point, in the axes in use."""
    ref = s.ref
    arm = np.einsum("sij,j->si", ref.R(body), ref.hinge(body) - ref.com(body))
    axes = where(s, body)
    return np.concatenate([ref.axes(body, axes, v + np.cross(w, arm)), ref.axes(body, axes, w)], axis=1)


def free_mass(s: Scene, x: Array, body: str) -> float:
    """M_i from mass, static moment and inertia as numbers."""
    ref, rows = s.ref, kept(x.shape[1])
    m, arm = ref.mass(body), _arm(s, body)
    inertia = (
        ref.world_inertia(body) if where(s, body) == "world" else np.broadcast_to(ref.inertia(body), (len(x), 3, 3))
    )
    S = m * arm
    expected = np.zeros((len(x), 6, 6))
    for i, e in enumerate(np.eye(3)):
        expected[:, i, i] = m
        expected[:, :3, 3 + i] = np.cross(e, S)
        expected[:, 3:, i] = np.cross(S, e)
        expected[:, 3:, 3 + i] = inertia[:, :, i] + np.cross(S, np.cross(e, arm))
    if where(s, body) == "world":  # angular velocity is along z only, so the equations omit the other columns of J
        expected[:, 3:, 3:5] = 0.0
    return difference(x, expected[np.ix_(range(len(x)), rows, rows)])


def weight_wrench(s: Scene, x: Array, body: str) -> float:
    """Weight and its moment."""
    ref = s.ref
    pull = np.broadcast_to(ref.mass(body) * ref.geometry.gravity, (len(x), 3))
    pull = ref.axes(body, where(s, body), pull)
    both = np.concatenate([pull, np.cross(_arm(s, body), pull)], axis=1)
    return difference(x, both[:, kept(x.shape[1])])


def velocities(s: Scene, x: Array, body: str) -> float:
    """V_i from the differentiated position."""
    ref = s.ref
    V = _at_hinge(s, body, ref.of(body, ref.steady.velocity), ref.of(body, ref.steady.angular_velocity))
    return difference(x, V[:, kept(x.shape[1])], float(np.abs(ref.steady.velocity).max()))


def rates(s: Scene, x: Array, body: str) -> float:
    """Rates of V_i at constant speeds."""
    return difference(
        x, _rate(s, body, steady=True)[:, kept(x.shape[1])], float(np.abs(s.ref.steady.acceleration).max())
    )


def _rate(s: Scene, body: str, *, steady: bool) -> Array:
    """V_i' in the axes in use; in rotating axes, of the components."""
    ref = s.ref
    motion = ref.steady if steady else ref.moving
    w, alpha = ref.of(body, motion.angular_velocity), ref.of(body, motion.angular_acceleration)
    arm = np.einsum("sij,j->si", ref.R(body), ref.hinge(body) - ref.com(body))
    a = ref.of(body, motion.acceleration) + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
    if where(s, body) == "body":
        a = a - np.cross(w, ref.of(body, motion.velocity) + np.cross(w, arm))
    axes = where(s, body)
    return np.concatenate([ref.axes(body, axes, a), ref.axes(body, axes, alpha)], axis=1)


def complement(s: Scene, x: Array, body: str) -> float:
    """Columns of L_tau from velocities at two speeds."""
    ref, rows, worst = s.ref, kept(x.shape[1]), 0.0
    for k in range(x.shape[2]):
        spins, slides = ref.partial(k)
        column = _at_hinge(s, body, ref.of(body, slides), ref.of(body, spins))[:, rows]
        worst = max(worst, difference(x[:, :, k], column, float(np.abs(x).max())))
    return worst


def free_body(s: Scene, x: Array, body: str, mass: str) -> float:
    """M_i V_i' + Omega_i V_i against the rate of momentum about the reference point."""
    ref, rows = s.ref, kept(x.shape[1])
    V = _at_hinge(s, body, ref.of(body, ref.moving.velocity), ref.of(body, ref.moving.angular_velocity))[:, rows]
    rate = _rate(s, body, steady=False)[:, rows]
    value = np.einsum("sij,sj->si", s.values[mass], rate) + np.einsum("sij,sj->si", x, V)
    axes = where(s, body)
    push = ref.axes(body, axes, ref.mass(body) * ref.of(body, ref.moving.acceleration))
    moment = ref.axes(body, axes, ref.twist_rate(body, ref.moving)) + np.cross(_arm(s, body), push)
    scale = heaviest(s) * max(1.0, lengths(s))
    return difference(value, np.concatenate([push, moment], axis=1)[:, rows], scale)


def held_rows(s: Scene, x: Array) -> float:
    """L_lambda V = 0."""
    ref = s.ref
    stacked = []
    for joint in ref.model.tree:
        body = joint.child.body
        V = _at_hinge(s, body, ref.of(body, ref.steady.velocity), ref.of(body, ref.steady.angular_velocity))
        stacked.append(V)
    rows = kept(x.shape[2] // len(stacked))
    V = np.concatenate([one[:, rows] for one in stacked], axis=1)
    return float(np.abs(np.einsum("sij,sj->si", x, V)).max() / np.abs(V).max())


def multipliers(s: Scene, _: Array) -> float | None:
    """Multipliers by the formula of the method, with numbers, against the forces in joints by another formulation.

    None if springs or drives act inside joints, or loops are closed: then a joint transmits more than its multipliers.
    """
    ref, held = s.ref, s.values.get(r"L_\lambda")
    if held is None or ref.model.forces or ref.system.drives or ref.model.closures:
        return None
    rows = kept(held.shape[2] // len(ref.model.tree))
    needed, joints = [], []
    carried = joint_wrenches(compile_system(ref.model, "newton-euler"), ref.q, ref.v, ref.t)
    for k, joint in enumerate(ref.model.tree):
        body = joint.child.body
        axes = where(s, body)
        push = ref.axes(body, axes, ref.mass(body) * (ref.of(body, ref.moving.acceleration) - ref.geometry.gravity))
        moment = ref.axes(body, axes, ref.twist_rate(body, ref.moving)) + np.cross(_arm(s, body), push)
        needed.append(np.concatenate([push, moment], axis=1)[:, rows])
        wrench = [ref.axes(body, axes, w[:, k]) for w in (carried.force, carried.torque)]
        joints.append(np.concatenate(wrench, axis=1)[:, rows])
    R, wrenches = np.concatenate(needed, axis=1), np.concatenate(joints, axis=1)
    square = np.einsum("sij,skj->sik", held, held)
    lam = np.linalg.solve(square, np.einsum("sij,sj->si", held, R)[..., None])[..., 0]
    # a row of L has its last one where the joint's wrench has the component that the multiplier is
    places = [int(np.flatnonzero(np.abs(row) > 0)[-1]) for row in held[0]]
    return difference(lam, wrenches[:, places])


FREE_BODIES: dict[str, Callable[..., float | None]] = {
    "free mass": free_mass,
    "weight wrench": weight_wrench,
    "velocities at O": velocities,
    "rates at O": rates,
    "complement": complement,
    "free body": free_body,
    "held rows": held_rows,
    "multipliers": multipliers,
}
"""By the first entry of a comparison's key."""
