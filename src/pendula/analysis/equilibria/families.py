"""Families of equilibria: directions along which a family extends, as opposed to merely flat directions.

If the stiffness vanishes along a direction, either every pose along it is an equilibrium (a cart's x), or higher-order
terms decide (a bead on a hoop that rotates at exactly the critical rate). A small step along it distinguishes the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pendula.analysis.equilibria.balance import Balance, null_basis
from pendula.analysis.equilibria.domain import Domain
from pendula.analysis.equilibria.stationary import SETTLED, Stationary, refine, shares_of
from pendula.analysis.equilibria.turning import turning_at
from pendula.system.layout import Array
from pendula.system.orientation.maps import turn_between
from pendula.system.undirected import no_derivatives

FLAT = 1e-8
"""stiffness along a direction below this fraction of the largest counts as zero"""
ON_FAMILY = 0.01 * SETTLED
"""residual at which a pose is close enough to a family to continue from it"""
STEP = 0.05
"""step along a direction that tests for a family, in radians or typical lengths"""


@dataclass(frozen=True)
class Directions:
    """Directions of the speeds by columns, scaled to radians and typical lengths.

    Attributes:
        family: directions along which every nearby pose is an equilibrium.
        flat: directions without stiffness that are not families.
    """

    family: Array
    flat: Array


def stationary_at(balance: Balance, q: Array, v: Array) -> Stationary:
    """The equilibrium equations, scaled by the forces and the stiffness at a state."""
    sizes = balance.steps
    slopes = balance.stiffness(q, v, balance.multipliers(q, v))
    if not np.all(np.isfinite(slopes)):
        raise no_derivatives(balance.system, q, 0.0, balance.parameters)
    stiffness = np.abs(slopes * sizes[:, None] * sizes).max(axis=1, initial=0.0)
    rows = np.maximum(stiffness, np.abs(balance.forces(q, v) * sizes))
    typical = max(float(rows.max(initial=0.0)), balance.by_turning(q, v)) or 1.0
    v = np.asarray(v, dtype=float)
    turning = turning_at(balance, np.asarray(q, dtype=float), v)
    return Stationary(balance, v, typical, shares_of(rows, typical), turning)


def find_directions(problem: Stationary, q: Array) -> Directions:
    """Which flat directions of an equilibrium are families, and which are not."""
    flat = flat_directions(problem, q)
    if not flat.size:
        return Directions(flat, flat)
    kept = np.stack([_stays(problem, q, flat[:, k]) for k in range(flat.shape[1])], axis=1)
    within = flat.T @ kept  # remaining part of each step, within the flat directions
    left, sizes, _ = np.linalg.svd(within)
    on = sizes > 0.5
    return Directions(flat @ left[:, on], flat @ left[:, ~on])


def flat_directions(problem: Stationary, q: Array) -> Array:
    """An orthonormal basis, by columns, of the allowed directions without stiffness."""
    n = len(problem.v)
    state = np.asarray(q, dtype=float)[None]
    J = problem.jacobians(state, problem.multipliers(state))[0]
    stiffness, rows = J[:n, :n], J[n:, :n]
    if not np.all(np.isfinite(J)):  # undecided if forces have no derivatives
        return np.zeros((n, 0))
    free = null_basis(rows)
    if not free.shape[1]:
        return np.zeros((n, 0))
    _, sizes, right = np.linalg.svd(free.T @ stiffness @ free)
    return np.asarray(free @ right[sizes <= FLAT].T)


def _stays(problem: Stationary, q: Array, direction: Array) -> Array:
    """The remaining displacement after a small step along a direction and a return to equilibrium, per unit step."""
    there = problem.moved(np.asarray(q)[None], STEP * direction[None])[0]
    back, left = refine(problem, there, passes=25, enough=ON_FAMILY)
    if not np.abs(left).max() < SETTLED:
        return np.zeros(len(direction))
    return change_of(problem, q, back) / STEP


def change_of(problem: Stationary, q: Array, to: Array, domain: Domain | None = None) -> Array:
    """The scaled displacement from one pose to another (the short way round for periodic angles)."""
    gap = np.asarray(to) - np.asarray(q) if domain is None else domain.gap(np.asarray(q), np.asarray(to))
    found = np.zeros(len(problem.v))
    for i, k in enumerate(problem.system.layout.speed_of):
        if k >= 0:
            found[k] = gap[i]
    for at, k, chart, axes in problem.system.turnings:
        own = slice(at, at + chart.count)
        found[k : k + 3] = turn_between(chart, np.asarray(q)[own], np.asarray(to)[own], axes)
    return found / problem.sizes


def same_family(
    problem: Stationary, domain: Domain, q: Array, other: Array, directions: Directions, member: Array
) -> bool:
    """Whether two equilibria belong to the same family; ``member`` is its known pose next to the other one."""
    if not directions.family.size:
        return False
    step = change_of(problem, q, other, domain)
    across = step - directions.family @ (directions.family.T @ step)
    if np.linalg.norm(across) < 1e-6:
        return True
    return _walk(problem, domain, member, other)


def _walk(problem: Stationary, domain: Domain, q: Array, other: Array) -> bool:
    """Follows a curved family towards another equilibrium; returns whether it arrives."""
    here, last = np.asarray(q, dtype=float), np.inf
    for _ in range(60):
        step = change_of(problem, here, other, domain)
        distance = float(np.linalg.norm(step))
        if distance < 1e-6:
            return True
        flat = flat_directions(problem, here)
        along = flat @ (flat.T @ step)
        length = float(np.linalg.norm(along))
        if length < 1e-3 * distance or distance > last * 0.9999:
            return False
        last = distance
        there = problem.moved(here[None], along[None] * min(1.0, 0.4 / length))[0]
        here, left = refine(problem, there, passes=6, enough=ON_FAMILY)
        if not np.abs(left).max() < SETTLED:
            return False
    return False
