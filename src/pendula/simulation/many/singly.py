"""Runs of an ensemble that are simulated singly: singular poses and charts, forces that steps cannot resolve.

Runs side by side look neither for singular poses nor for forces that are narrow in the state;
:func:`~pendula.simulation.simulate.simulate` does. It makes all runs if the first one comes near a singular pose, or if
one of a few passes such a force. Otherwise it repeats each run that came near a singular pose, that has closed loops
and whose energy does not add up, that may stick to a jump of a force, that is in angles and had to stop or whose
energy does not add up, or whose rotation vectors grew so long that shorter ones replace them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pendula.interrupts import whole
from pendula.outcome import Outcome
from pendula.simulation.charts.switching import LONGEST, has_singular_charts, shortened_vectors
from pendula.simulation.defaults import UNTRUSTED
from pendula.simulation.ensemble import OUTCOMES, mark_unfinished
from pendula.simulation.forces.laws import jumps_of, laws_of
from pendula.simulation.forces.narrow import ADVICE, NARROW
from pendula.simulation.settings import Settings
from pendula.simulation.simulate import simulate
from pendula.simulation.starts import row_of
from pendula.simulation.trajectory import Trajectory
from pendula.simulation.within import Within
from pendula.system.layout import Array, Oriented, State
from pendula.system.loops.mobility import mobility, singular_values
from pendula.system.system import System

NEAR = 0.2
"""least singular value of G, relative to its largest over a run, that is near a singular pose"""
PILOT_STATES = 200
PILOTS = 8
"""runs that are simulated first, to see whether they pass a force that is too narrow for their steps"""
STALLED = 20_000
"""steps after which a run is simulated singly, if it may stall at a jump of a force or a singular pose or chart"""
STEPS_BETWEEN, FEWEST_LOOKS, MOST_LOOKS = 4, 33, 513
"""steps of the first run between looks at the poses of closed loops; least and largest number of looks"""


@dataclass
class Singly:
    """Runs of a chunk, each of which may be simulated singly.

    Attributes:
        system: the mechanism.
        arrays: results of the chunk, which are written.
        at: places of the runs in the arrays.
        q, v: their initial states.
        settings: what all runs have in common.
        within: the bounds at which runs end, if there are any.
        table: their parameters, one row for all or one for each.
        tell: called with the number of runs that have ended, and of all; raises KeyboardInterrupt to end the work.
    """

    system: System
    arrays: dict[str, Array]
    at: Array
    q: Array
    v: Array
    settings: Settings
    within: Within | None
    table: Array
    tell: Callable[[int, int], None]

    @cached_property
    def rank(self) -> int:
        """Independent rows of closed loops; 0 without."""
        closed = self.system.model.closures and self.system.loop_rows
        return mobility(self.system, self.table[0]).rank if closed else 0

    def needed(self) -> bool:
        """Whether the first run comes near a singular pose, or one of a few passes a force that is too narrow."""
        return self._near_singular() or self._narrow()

    def _narrow(self) -> bool:
        """Whether one of a few runs passes a force that is too narrow for its steps."""
        if not laws_of(self.system):
            return False
        some = np.unique(np.linspace(0, len(self.at) - 1, PILOTS).astype(int))
        return any(NARROW in note or ADVICE in note for k in some for note in self._simulated(int(k)).remarks)

    def _near_singular(self) -> bool:
        if not self.rank:
            return False
        vector, run = self.table[0], self._first
        some = np.linspace(0, len(run) - 1, min(len(run), PILOT_STATES)).astype(int)
        joints = self.system.in_joints.system
        size = singular_values(joints, run.joints[0][some], run.t[some], vector)[:, self.rank - 1]
        return "singular pose" in run.events or bool(size.min() < NEAR * size.max())

    @cached_property
    def max_steps(self) -> int:
        """Steps after which a run side by side ends, if it may stall at a jump of a force or at a singular pose."""
        jumps = any(True for _ in jumps_of(self.system))
        return min(self.settings.max_steps, STALLED) if jumps or self.rank or self.charts else self.settings.max_steps

    @cached_property
    def charts(self) -> bool:
        """Whether coordinates have singularities, next to which single runs change their charts."""
        return has_singular_charts(self.system)

    @cached_property
    def vectors(self) -> list[Oriented]:
        """Rotation vectors that single runs replace by shorter ones of the same poses."""
        return shortened_vectors(self.system)[0] if self.charts else []

    @cached_property
    def looks(self) -> Array:
        """Times besides the samples at which poses of closed loops and rotation vectors are examined; none without."""
        if not (self.rank or self.vectors):
            return np.zeros(0)
        count = int(np.clip(self._first.steps // STEPS_BETWEEN, FEWEST_LOOKS, MOST_LOOKS))
        return np.linspace(*self.settings.span, count)

    @cached_property
    def _first(self) -> Trajectory:
        """The first of the runs."""
        return self._simulated(0)

    def _came_near(self, t: Array, y: Array) -> Array:
        """Which of the runs came near a singular pose, by states of all runs at some times.

        The least singular value of the constraints is small there, or so small that it may vanish before the next look.
        """
        joints, found = self.system.in_joints, np.zeros(len(y), dtype=bool)
        for k, states in enumerate(y):
            reached = np.isfinite(states).all(axis=1)
            if reached.sum() < 3:
                found[k] = True
                continue
            vector = row_of(self.table, k)
            q, _ = joints.read(*self.system.layout.split(states[reached]), t[reached], parameters=vector)
            size = singular_values(joints.system, q, t[reached], vector)[:, self.rank - 1]
            change = np.abs(np.diff(size))
            near = np.minimum(size[1:] - change, size[:-1] - change)
            found[k] = size.min() < NEAR * size.max() or near.min() < 0.0
        return found

    def _grew_long(self, t: Array, y: Array) -> Array:
        """Which of the runs have rotation vectors that may have come so near to a whole turn that others replace them.

        Vectors that have not ended may grow as much until the next look as they did since the last one.
        """
        found = np.zeros(len(y), dtype=bool)
        for k, states in enumerate(y):
            q, _ = self.system.in_joints.read(*self.system.layout.split(states), t, parameters=row_of(self.table, k))
            for x in self.vectors:
                length = np.linalg.norm(q[:, x.q], axis=1)
                change = np.abs(np.diff(length, append=length[-1:]))
                found[k] |= not np.all(length + change < LONGEST)
        return found

    def repeat_doubtful(self, t: Array, y: Array) -> None:
        """Repeats the runs that came near a singular pose or whose energy does not add up, and those that may stick.

        Args:
            t, y: times and states of all runs at ``looks`` and samples.

        Raises:
            KeyboardInterrupt: the work was stopped; runs that are still to be repeated count as unfinished.
        """
        again = np.zeros(len(self.at), dtype=bool)
        if self.rank:
            again |= ~(self.arrays["energy_drift"][self.at] <= UNTRUSTED) | self._came_near(t, y)
        if self.vectors:
            again |= self._grew_long(t, y)
        if self.charts:
            again |= ~(self.arrays["energy_drift"][self.at] <= UNTRUSTED)
            again |= self.arrays["code"][self.at] != OUTCOMES.index(Outcome.FINISHED)
        if self.max_steps < self.settings.max_steps:
            again |= self.arrays["code"][self.at] == OUTCOMES.index(Outcome.TOO_MANY_STEPS)
        again &= self.arrays["code"][self.at] != OUTCOMES.index(Outcome.INTERRUPTED)
        mark_unfinished(self.arrays, self.at[again], self.settings.span[0])
        for k in np.flatnonzero(again):
            self.run(int(k), len(self.at))

    def run_all(self) -> None:
        """Simulates all runs singly.

        Raises:
            KeyboardInterrupt: the work was stopped; the runs that have ended are kept.
        """
        for k in range(len(self.at)):
            self.run(k, k)
            self.tell(k + 1, len(self.at))

    def _simulated(self, k: int, ended: int = 0, **more: Any) -> Trajectory:
        settings, vector = self.settings, row_of(self.table, k)
        return whole(
            simulate, self.system, t_span=settings.span, parameters=vector,
            initial_state=State(settings.span[0], self.q[k], self.v[k], self.system.layout), tol=settings.tol,
            atol=settings.atol, stepper=settings.stepper.name, max_steps=settings.max_steps,
            on_progress=lambda t, t_end, steps: self.tell(ended, len(self.at)), **more,
        )  # fmt: skip

    def run(self, k: int, ended: int) -> None:
        """Simulates run k and writes its results; ``ended`` runs have ended before."""
        events = self.within.events() if self.within else None
        run = self._simulated(k, ended, samples=self.settings.samples, events=events)
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
            whole = run.outcome.ok and run.outcome is not Outcome.EVENT  # otherwise the last state is not a sample
            reached = min(len(rows), len(kept) if whole else len(kept) - 1)
            rows[:reached] = kept[:reached]
