"""Continuation of equilibria in the stiffness of torsion springs, from the mechanism without springs.

At a fraction s of the stiffness the forces are (1 - s) times those without springs plus s times those with springs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from pendula.analysis.equilibria.balance import Balance, names_in
from pendula.analysis.equilibria.domain import TURN, Domain
from pendula.analysis.equilibria.stationary import SETTLED, Stationary, newton_steps, settle
from pendula.model.forces import ForceTorsionSpring
from pendula.model.model import Model
from pendula.system.layout import Array

STEPS = 16
"""number of steps of the stiffness from zero to its value"""
MOST = 1500
"""largest number of branches"""
LOST = 24
"""largest number of lost branches that are followed around their turning points"""
POINTS = 120
"""largest number of points of such a branch"""


def spring_parameters(model: Model) -> list[str]:
    """Parameters that are stiffnesses of torsion springs and nothing else."""
    springs = [f for f in model.forces if isinstance(f, ForceTorsionSpring)]
    wanted = {name for f in springs for name in names_in(f.stiffness)} & set(model.parameters)
    rest: list[Any] = [f.model_dump(exclude={"stiffness"}) for f in springs]
    rest += [f.model_dump() for f in model.forces if not isinstance(f, ForceTorsionSpring)]
    rest += [*(b.model_dump() for b in model.bodies), *(j.model_dump() for j in model.joints)]
    rest += [model.gravity, *(v for n, v in model.parameters.items() if n not in wanted), list(model.inputs.values())]
    return sorted(wanted - {name for part in rest for name in names_in(part)})


def stiffened(problem: Stationary, domain: Domain, rng: np.random.Generator) -> Iterator[Array]:
    """Ends of the branches that start without stiffness; nothing if that is not possible."""
    names = spring_parameters(problem.system.model)
    if not names or problem.system.loop_rows or domain.balls:
        return
    loose = loosened(problem, names)
    q = _without_springs(loose, domain, rng)
    turning: list[Array] = []
    for k in range(1, STEPS + 1):
        q, lost = _followed(loose, problem, k / STEPS, q)
        turning += [np.append(start, (k - 1) / STEPS) for start in lost]
        if not len(q):
            break
    if turning:
        yield round_the_turn(loose, problem, np.array(turning[:LOST]))
    yield q


def loosened(problem: Stationary, names: list[str]) -> Stationary:
    """The same problem with some parameters at zero."""
    parameters = problem.balance.parameters.copy()
    parameters[[problem.system.layout.parameters.index(name) for name in names]] = 0.0
    return replace(problem, balance=Balance(problem.system, problem.balance.inputs, parameters))


def _between(loose: Stationary, firm: Stationary, x: Array) -> tuple[Array, Array, Array]:
    """Residuals at x = (coordinates, s), their derivatives by coordinates, and by s."""
    q, share, none = x[:, :-1], x[:, -1:], np.zeros((len(x), 0))
    without = loose.residuals(q, none)
    by_share = firm.residuals(q, none) - without
    J = loose.jacobians(q, none)
    J += share[:, :, None] * (firm.jacobians(q, none) - J)
    return without + share * by_share, J, by_share


def _without_springs(loose: Stationary, domain: Domain, rng: np.random.Generator) -> Array:
    """Equilibria without springs, with all full turns in the box and one more."""
    angles = np.array([k == "angle" for k in loose.system.layout.coordinate_kinds])
    starts = np.concatenate([domain.lattice(MOST, rng, angles), domain.random(64, rng)])
    found = settle(loose, starts, passes=30)
    found = np.where(angles, found - TURN * np.round(found / TURN), found)
    basis = np.unique(np.round(found, 6), axis=0)
    turns = np.where(angles, np.ceil(np.abs(domain.hi) / TURN), 0).astype(int)
    grids = np.meshgrid(*[np.arange(-k, k + 1) * TURN for k in turns], indexing="ij")
    shifts = np.stack([g.ravel() for g in grids], axis=1)
    every = (basis[:, None] + shifts[None]).reshape(-1, len(turns))
    near = np.all((every >= domain.lo - TURN / 2) & (every <= domain.hi + TURN / 2) | ~angles, axis=1)
    every = every[near]
    return every if len(every) <= MOST else every[rng.choice(len(every), MOST, replace=False)]


def _followed(loose: Stationary, firm: Stationary, share: float, q: Array) -> tuple[Array, list[Array]]:
    """Branches after a small change of s, and the starts of those that were lost."""
    ends = q
    for _ in range(10):
        residual, J, _ = _between(loose, firm, np.insert(ends, q.shape[1], share, axis=1))
        step = newton_steps(J, residual)
        ends = firm.moved(ends, np.clip(step, -0.3, 0.3))
        if np.abs(step).max(initial=0.0) < 1e-12:
            break
    residual = _between(loose, firm, np.insert(ends, q.shape[1], share, axis=1))[0]
    settled = np.abs(residual).max(axis=1, initial=0.0) < SETTLED
    good = settled & (np.abs(ends - q).max(axis=1, initial=0.0) < 0.6)
    return ends[good], list(q[~good])


# -- turning points ------------------------------------------------------------------------------------


def round_the_turn(loose: Stationary, firm: Stationary, x: Array) -> Array:
    """Pseudo-arclength continuation from x = (coordinates, s); returns every pose met at full stiffness."""
    n = x.shape[1] - 1
    found = [np.zeros((0, n))]
    along, h = np.eye(n + 1)[np.full(len(x), n)], np.full(len(x), 0.1)

    def matrices(x: Array) -> tuple[Array, Array]:
        residual, J, by_share = _between(loose, firm, x)
        return residual, np.concatenate([J / firm.sizes, by_share[:, :, None]], axis=2)

    def corrected(x: Array, tangent: Array) -> tuple[Array, Array]:
        """Guesses corrected onto the branches perpendicular to the tangent, and which of them converged."""
        x, good = x.copy(), np.zeros(len(x), dtype=bool)
        for _ in range(6):
            open_ = np.flatnonzero(~good)
            residual, J = matrices(x[open_])
            square = np.concatenate([J, tangent[open_, None]], axis=1)
            step = -np.einsum("bij,bj->bi", np.linalg.pinv(square), np.insert(residual, n, 0.0, axis=1))
            x[open_] += step
            good[open_] = np.abs(step).max(axis=1) < 1e-9
            if good.all():
                break
        return x, good

    for _ in range(POINTS):
        tangent = np.linalg.svd(matrices(x)[1])[2][:, -1]
        along = np.where(np.einsum("bi,bi->b", tangent, along)[:, None] >= 0, tangent, -tangent)
        after, good = corrected(x + h[:, None] * along, along)
        good &= np.linalg.norm(after - x, axis=1) <= 2 * h
        before, beyond = x[:, -1] - 1.0, after[:, -1] - 1.0
        met = good & (before * beyond <= 0.0)
        part = np.where(beyond != before, before / np.where(beyond != before, before - beyond, 1.0), 0.0)
        found.append((x + part[:, None] * (after - x))[met, :-1])
        x, h = np.where(good[:, None], after, x), np.where(good, np.minimum(1.5 * h, 0.4), h / 2)
        on = (h >= 1e-3) & (x[:, -1] >= 0.0) & (x[:, -1] <= 2.0)
        x, along, h = x[on], along[on], h[on]
        if not len(x):
            break
    return np.concatenate(found)
