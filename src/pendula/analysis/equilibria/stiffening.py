"""Equilibria with torsion springs, followed from the mechanism without them while the springs are stiffened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pendula.analysis.equilibria.balance import Balance, names_in
from pendula.analysis.equilibria.domain import TURN, Domain
from pendula.analysis.equilibria.stationary import SETTLED, Stationary, newton_steps, settle
from pendula.model.forces import ForceTorsionSpring
from pendula.model.model import Model
from pendula.system.layout import Array

STEPS = 16
"""steps of the stiffness from zero to its value"""
MOST = 1500
"""branches that are followed"""
LOST = 24
"""lost branches that are followed round their turning point, one by one"""
POINTS = 120
"""points of such a branch"""


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
    """Ends of the branches that start where springs have no stiffness; nothing where that is not possible."""
    system = problem.system
    names = spring_parameters(system.model)
    if not names or system.loop_rows or domain.balls:
        return
    scaled = [system.layout.parameters.index(name) for name in names]
    q = _without_springs(problem, domain, scaled, rng)
    chances = LOST
    for k in range(1, STEPS + 1):
        q, lost = _followed(_with_share(problem, scaled, k / STEPS), q)
        for start in lost[:chances]:
            yield from _round_the_turn(problem, scaled, start, (k - 1) / STEPS)
        chances -= min(len(lost), chances)
        if not len(q):
            return
    yield q


def _with_share(problem: Stationary, scaled: list[int], share: float) -> Stationary:
    """The same problem with a share of the stiffness."""
    parameters = problem.balance.parameters.copy()
    parameters[scaled] *= share
    balance = Balance(problem.system, problem.balance.inputs, parameters)
    return replace(problem, balance=balance)


def _without_springs(problem: Stationary, domain: Domain, scaled: list[int], rng: np.random.Generator) -> Array:
    """Equilibria without springs, with every full turn that fits into the box and one more."""
    loose = _with_share(problem, scaled, 0.0)
    angles = np.array([k == "angle" for k in problem.system.layout.coordinate_kinds])
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


def _followed(problem: Stationary, q: Array) -> tuple[Array, list[Array]]:
    """Where branches go when the stiffness changes a little, and the starts of those that were lost."""
    ends, lam = q.copy(), np.zeros((len(q), 0))
    for _ in range(10):
        step = newton_steps(problem.jacobians(ends, lam), problem.residuals(ends, lam))
        ends = problem.moved(ends, np.clip(step, -0.3, 0.3))
    settled = np.abs(problem.residuals(ends, lam)).max(axis=1, initial=0.0) < SETTLED
    good = settled & (np.abs(ends - q).max(axis=1, initial=0.0) < 0.6)
    return ends[good], list(q[~good])


# -- round turning points ------------------------------------------------------------------------------


@dataclass
class _Branch:
    """A branch of equilibria over the share of the stiffness, followed by its arc length."""

    problem: Stationary
    scaled: list[int]

    def at(self, x: Array) -> tuple[Array, Array]:
        """Residual and its derivatives at x = (coordinates, share)."""
        soft = _with_share(self.problem, self.scaled, x[-1])
        q, none = x[None, :-1], np.zeros((1, 0))
        by_share = soft.balance.changes("p", x[:-1], soft.v, none[0])[:, self.scaled]
        full = self.problem.balance.parameters[self.scaled]
        column = -(by_share @ full) * soft.sizes / soft.force
        J = np.column_stack([soft.jacobians(q, none)[0] @ np.diag(1.0 / soft.sizes), column])
        return soft.residuals(q, none)[0], J

    def tangent(self, x: Array, along: Array) -> Array:
        """Unit tangent, in the sense of another vector."""
        found = np.linalg.svd(self.at(x)[1])[2][-1]
        return np.asarray(found if found @ along >= 0 else -found)

    def corrected(self, x: Array, tangent: Array) -> Array | None:
        """The point of the branch across from a guess; None where there is none nearby."""
        for _ in range(6):
            residual, J = self.at(x)
            step = np.linalg.lstsq(np.vstack([J, tangent]), -np.append(residual, 0.0), rcond=None)[0]
            x = x + step
            if np.abs(step).max() < 1e-9:
                return np.asarray(x)
        return None


def _round_the_turn(problem: Stationary, scaled: list[int], q: Array, share: float) -> Iterator[Array]:
    """Follows one branch by its arc length, round turning points, and gives every pose at the full stiffness."""
    branch = _Branch(problem, scaled)
    x, along = np.append(q, share), np.append(np.zeros(len(q)), 1.0)
    h = 0.1
    for _ in range(POINTS):
        along = branch.tangent(x, along)
        after = branch.corrected(x + h * along, along)
        if after is None or np.linalg.norm(after - x) > 2 * h:
            h /= 2
            if h < 1e-3:
                return
            continue
        if (x[-1] - 1.0) * (after[-1] - 1.0) <= 0.0:
            part = (1.0 - x[-1]) / (after[-1] - x[-1]) if after[-1] != x[-1] else 0.0
            yield (x + part * (after - x))[None, :-1]
        x, h = after, min(1.5 * h, 0.4)
        if not 0.0 <= x[-1] <= 2.0:
            return
