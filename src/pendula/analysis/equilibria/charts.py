"""Singular poses of a joint's chart: whether forces balance there, or the chart merely hides them.

At such a pose the coordinates do not span all motions (gimbal lock: three Euler angles with two axes aligned), so
forces along the missing motion do not appear. Near an equilibrium the accelerations of the bodies tend to zero; near
other singular poses they do not.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from pendula.analysis.equilibria.balance import null_basis
from pendula.analysis.equilibria.proofs.equations_at_rest import forces_on_speeds
from pendula.analysis.equilibria.stationary import Stationary, close_loops
from pendula.errors import NotSupported, PendulaError
from pendula.model.joints.orientation import ROTATION_VECTOR
from pendula.numerics.intervals.solve import values_over
from pendula.numerics.intervals.tape import Tape, Undecidable
from pendula.system.layout import Array, Oriented
from pendula.system.orientation.twins import refuse_other_values
from pendula.system.parameters import typical_length
from pendula.system.system import System

SINGULAR = 1e-10
"""a chart is singular if the smallest eigenvalue of the scaled mass matrix is below this fraction of the largest"""
SAME = 1e-12
"""poses that differ by less, in rotations and lengths, are the same"""
NEAR, NEARER = 1e-2, 1e-4
"""distances from the pose at which accelerations are compared, in radians or typical lengths"""


def is_singular(problem: Stationary, q: Array) -> bool:
    """Whether some motion of the coordinates that the loops allow moves no mass at a pose."""
    M = problem.system.mass_matrix(q, 0.0, parameters=problem.balance.parameters)
    M = M * problem.sizes[:, None] * problem.sizes
    rows = problem.rows(np.asarray(q)[None])[0]
    # Loops may drive a massless part, which contributes nothing to M: project M on the constraints.
    free = null_basis(rows)
    if not free.shape[1]:
        return False
    values = np.linalg.eigvalsh(free.T @ M @ free)
    return bool(values[0] <= SINGULAR * values[-1])


def balanced_nearby(problem: Stationary, q: Array, rng: np.random.Generator) -> bool:
    """Whether accelerations of the bodies tend to zero towards a singular pose."""
    steps = rng.normal(size=(6, len(problem.v)))
    far, close = (_accelerations(problem, q, h * steps) for h in (NEAR, NEARER))
    M = problem.system.mass_matrix(q, 0.0, parameters=problem.balance.parameters)
    inertia = float(np.abs(M * problem.sizes[:, None] * problem.sizes).max(initial=0.0))
    rounding = 1e-9 * problem.force / max(inertia, 1e-300)
    return bool(close.size) and float(close.max()) <= 0.2 * float(far.max(initial=0.0)) + rounding


def bounded_forces(problem: Stationary) -> tuple[Tape, list[int]] | None:
    """Forces on all speeds as steps of a tape; None where they have no bounds."""
    try:
        return forces_on_speeds(problem.balance, problem.v)
    except Undecidable:
        return None


def surely_unbalanced(problem: Stationary, q: Array, forces: tuple[Tape, list[int]] | None) -> bool:
    """Whether it is proven that forces (:func:`bounded_forces`) do not balance at a singular pose.

    A coordinate that moves no mass there names the same pose by many values. If, at one of these, bounds show a force
    along another coordinate that differs from zero, the forces do not balance at the pose.
    """
    if forces is None:
        return False
    tape, rows = forces
    system, p = problem.system, problem.balance.parameters
    M = system.mass_matrix(q, 0.0, parameters=p) * problem.sizes[:, None] * problem.sizes
    idle = np.flatnonzero(np.diag(M) <= SINGULAR * np.diag(M).max())
    here = system.poses(q, parameters=p)
    for i in idle:
        for turn in np.pi * np.arange(1, 8) / 4:
            other = np.array(q, dtype=float)
            other[i] += turn
            same = all(np.abs(a - b).max() < SAME for a, b in zip(system.poses(other, parameters=p), here, strict=True))
            bounds = values_over(tape, rows, np.stack([other - SAME, other + SAME], axis=1))
            if same and np.any((bounds[:, 0] > 1e-6 * problem.force) | (bounds[:, 1] < -1e-6 * problem.force)):
                return True
    return False


def one_of_each_pose(problem: Stationary, states: list[Array], circles: Array) -> list[int]:
    """Which of some states to keep, so that each pose occurs once.

    Angles on circles may name one pose in several ways, as (theta, phi) and (-theta, phi + 180 deg) do; so do rotation
    vectors that differ by a whole turn, of which the shorter one is kept, unless forces use their values.
    """
    vectors = [x.q for x in _rotation_vectors(problem.system)]
    if len(states) < 2 or (circles.sum() < 2 and not vectors):
        return list(range(len(states)))
    q = np.array(states)
    R, origin = problem.system.poses(q, parameters=problem.balance.parameters)
    named = ~circles
    for vector in vectors:
        named[vector] = False
    rows = np.concatenate([R.reshape(len(q), -1), origin.reshape(len(q), -1), q[:, named]], axis=1)
    length = np.sum([np.linalg.norm(q[:, vector], axis=1) for vector in vectors], axis=0) * np.ones(len(q))
    kept: list[int] = []
    for k in np.lexsort((-q[:, circles].sum(axis=1), length)):
        if not any(np.abs(rows[k] - rows[j]).max() < 1e-9 for j in kept):
            kept.append(int(k))
    return sorted(kept)


def _rotation_vectors(system: System) -> list[Oriented]:
    """Orientations by rotation vectors whose values nothing uses, apart from the pose that they name."""
    found = []
    for x in system.layout.orientations:
        if x.chart.name == ROTATION_VECTOR:
            with suppress(NotSupported):
                refuse_other_values(system.model, x.joint)
                found.append(x)
    return found


def _accelerations(problem: Stationary, q: Array, steps: Array) -> Array:
    """Largest accelerations of bodies near a pose, without those of its steady motion."""
    system, p = problem.system, problem.balance.parameters
    found = []
    for state in close_loops(problem, problem.moved(np.repeat(np.asarray(q)[None], len(steps), axis=0), steps)):
        try:
            a = system.accelerations(state, problem.v, 0.0, inputs=problem.balance.inputs, parameters=p)
        except PendulaError:
            continue
        moving, steady = (system.body_motion(state, problem.v, x, parameters=p) for x in (a, 0.0 * a))
        length = typical_length(system, p)
        turn = np.abs(moving.angular_acceleration - steady.angular_acceleration).max(initial=0.0)
        found.append(max(turn, np.abs(moving.acceleration - steady.acceleration).max(initial=0.0) / length))
    return np.array(found)
