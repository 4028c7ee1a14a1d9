"""Singular poses of a joint's chart: whether forces balance there, or the chart merely hides them.

At such a pose the coordinates do not span all motions (gimbal lock: three Euler angles with two axes aligned), so
forces along the missing motion do not appear. Near an equilibrium the accelerations of the bodies tend to zero; near
other singular poses they do not.
"""

from __future__ import annotations

import numpy as np

from pendula.analysis.equilibria.stationary import Stationary, close_loops
from pendula.errors import PendulaError
from pendula.system.layout import Array
from pendula.system.parameters import typical_length

SINGULAR = 1e-10
"""a chart is singular if the smallest eigenvalue of the scaled mass matrix is below this fraction of the largest"""
NEAR, NEARER = 1e-2, 1e-4
"""distances from the pose at which accelerations are compared, in radians or typical lengths"""


def is_singular(problem: Stationary, q: Array) -> bool:
    """Whether some motion of the coordinates that the loops allow moves no mass at a pose."""
    M = problem.system.mass_matrix(q, 0.0, parameters=problem.balance.parameters)
    M = M * problem.sizes[:, None] * problem.sizes
    rows = problem.rows(np.asarray(q)[None])[0]
    # A massless part that loops drive has no inertia of its own: project M on the constraints.
    free = np.eye(len(M))
    if len(rows):
        _, sizes, right = np.linalg.svd(rows)
        free = right[int(np.sum(sizes > 1e-10 * max(sizes.max(initial=0.0), 1e-300))) :].T
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
