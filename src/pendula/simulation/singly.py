"""Runs of an ensemble that are done again one by one: closed loops that pass singular poses.

Runs side by side do not look for singular poses. If the first run comes near one, all are done by
:func:`~pendula.simulation.simulate.simulate`, which does; so is every run whose energy does not add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.simulation.defaults import UNTRUSTED
from pendula.simulation.ensemble import OUTCOMES
from pendula.simulation.simulate import simulate
from pendula.simulation.trajectory import Trajectory
from pendula.system.layout import Array, State
from pendula.system.loops.mobility import mobility, singular_values
from pendula.system.system import System

if TYPE_CHECKING:
    from pendula.simulation.chunks import ManySettings

NEAR = 0.2
"""least singular value of G, relative to its largest over a run, that is near a singular pose"""
PILOT_STATES = 200


@dataclass
class Singly:
    """Runs of a chunk that may be done one by one.

    Attributes:
        system: the mechanism.
        arrays: results of the chunk, which are written.
        at: places of the runs in the arrays.
        q, v, t0: their initial states and first time.
        settings: what all runs have in common.
        table: their parameters, one row for all or one for each.
    """

    system: System
    arrays: dict[str, Array]
    at: Array
    q: Array
    v: Array
    t0: float
    settings: ManySettings
    table: Array

    @cached_property
    def rank(self) -> int:
        """Independent rows of closed loops; 0 without."""
        closed = self.system.model.closures and self.system.loop_rows
        return mobility(self.system, self.table[0]).rank if closed else 0

    def needed(self) -> bool:
        """Whether the first of the runs passes a singular pose, or comes near one."""
        if not self.rank:
            return False
        vector = self.table[0]
        run = self._simulated(0)
        some = np.linspace(0, len(run) - 1, min(len(run), PILOT_STATES)).astype(int)
        joints = self.system.in_joints.system
        size = singular_values(joints, run.joints[0][some], run.t[some], vector)[:, self.rank - 1]
        return "singular pose" in run.events or bool(size.min() < NEAR * size.max())

    def repeat_doubtful(self) -> None:
        """Repeats the runs whose energy does not add up."""
        if self.rank:
            for k in np.flatnonzero(~(self.arrays["energy_drift"][self.at] <= UNTRUSTED)):
                self.run(int(k))

    def run_all(self, tell: Callable[[int, int], None]) -> None:
        """Does all runs one by one."""
        for k in range(len(self.at)):
            self.run(k)
            tell(k + 1, len(self.at))

    def _simulated(self, k: int, **more: Any) -> Trajectory:
        settings = self.settings
        return simulate(
            self.system, t_span=(self.t0, settings.t_end), parameters=self.table[k if len(self.table) > 1 else 0],
            initial_state=State(self.t0, self.q[k], self.v[k], self.system.layout), tol=settings.tol,
            atol=settings.atol, stepper=settings.stepper, max_steps=settings.max_steps, **more,
        )  # fmt: skip

    def run(self, k: int) -> None:
        """Does one run and writes its results."""
        run = self._simulated(k, samples=self.settings.samples)
        end, at = run.state(-1), int(self.at[k])
        values: dict[str, Any] = {
            "end_t": end.t, "end_q": end.q, "end_v": end.v, "code": OUTCOMES.index(run.outcome),
            "energy_drift": run.energy_drift, "energy_scale": run.energy.scale, "steps": run.steps,
            "rejected": run.rejected, "constraint_violation": run.constraint_violation,
            "where": np.nan if run.outcome.ok else end.t,
        }  # fmt: skip
        for name, value in values.items():
            self.arrays[name][at] = value
        for name, kept in (("q", run.q), ("v", run.v)):
            rows = self.arrays[name][at]
            rows[:] = np.nan
            reached = min(len(rows), len(kept) if run.outcome.ok else len(kept) - 1)
            rows[:reached] = kept[:reached]
