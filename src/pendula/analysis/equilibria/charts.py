"""Poses at which a chart of a joint is singular: are forces balanced there, or does the chart only not see them?

At such a pose coordinates do not reach all motions (three Euler angles with two axes in line), so forces along the
missing motion do not show. Beside it they do: at an equilibrium accelerations of the bodies vanish as one comes near,
at the other poses they do not.
"""

from __future__ import annotations

import numpy as np

from pendula.analysis.equilibria.stationary import Stationary, close_loops
from pendula.errors import PendulaError
from pendula.system.layout import Array
from pendula.system.parameters import typical_length

SINGULAR = 1e-10
"""a mass matrix whose least eigenvalue (with unit diagonal) is below this belongs to a singular chart"""
NEAR, NEARER = 1e-2, 1e-4
"""distances from the pose at which accelerations are compared, in radians or typical lengths"""


def is_singular(problem: Stationary, q: Array) -> bool:
    """Whether some motion of the coordinates moves no mass at a pose, loops apart."""
    M = problem.system.mass_matrix(q, 0.0, parameters=problem.balance.parameters)
    M = M * problem.sizes[:, None] * problem.sizes
    rows = problem.rows(np.asarray(q)[None])[0]
    # A massless part that loops drive has no inertia: count the constrained one.
    free = np.eye(len(M))
    if len(rows):
        _, sizes, right = np.linalg.svd(rows)
        free = right[int(np.sum(sizes > 1e-10 * max(sizes.max(initial=0.0), 1e-300))) :].T
    if not free.shape[1]:
        return False
    values = np.linalg.eigvalsh(free.T @ M @ free)
    return bool(values[0] <= SINGULAR * values[-1])


def balanced_nearby(problem: Stationary, q: Array, rng: np.random.Generator) -> bool:
    """Whether accelerations of the bodies vanish as one comes near a singular pose."""
    steps = rng.normal(size=(6, len(problem.v)))
    far, close = (_accelerations(problem, q, h * steps) for h in (NEAR, NEARER))
    M = problem.system.mass_matrix(q, 0.0, parameters=problem.balance.parameters)
    inertia = float(np.abs(M * problem.sizes[:, None] * problem.sizes).max(initial=0.0))
    rounding = 1e-9 * problem.force / max(inertia, 1e-300)
    return bool(close.size) and float(close.max()) <= 0.2 * float(far.max(initial=0.0)) + rounding


def _accelerations(problem: Stationary, q: Array, steps: Array) -> Array:
    """How much bodies accelerate beside a pose, beyond what its steady motion takes."""
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
