"""The integration behind a run (equations, start, settings, events), which can be repeated as a whole or in part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.numerics.steppers.checks import TIGHTEST
from pendula.numerics.steppers.stepping import Guard, Integration, integrate
from pendula.numerics.taylor.integrate import integrate_series
from pendula.outcome import Outcome
from pendula.simulation.beginning import work_tolerance
from pendula.simulation.events import Event, times_of_pulses, watch_events
from pendula.simulation.forces.sticking import Sticking
from pendula.simulation.inputs.feed import snapped
from pendula.simulation.inputs.given import fed
from pendula.simulation.loops.passage import Passages
from pendula.simulation.loops.poses import Poses, stabilization_rate
from pendula.simulation.settings import Settings
from pendula.system.dynamics import Dynamics
from pendula.system.layout import Array, State
from pendula.system.loops.mobility import mobility
from pendula.system.switches.schedule import breakpoints, largest_step
from pendula.system.system import System

INSIDE = 16
"""the energy account has points inside at least one in this many steps"""


@dataclass(frozen=True)
class Course:
    """The integration behind a run.

    Attributes:
        system, vector: the mechanism and its parameters.
        start: the initial state.
        settings: the settings of the run.
        events: the events to detect.
        on_progress: called as (t, t_end, steps) about ten times a second.
        on_samples: called as (t, q, v) with new samples.
        doubts: why the start may not be the requested one.
    """

    system: System
    vector: Array
    start: State
    settings: Settings
    events: Sequence[Event] = ()
    on_progress: Callable[[float, float, int], object] | None = None
    on_samples: Callable[[Array, Array, Array], object] | None = None
    doubts: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """For other processes: without the functions of the caller, and without machine code."""
        kept = {field.name: getattr(self, field.name) for field in fields(self)}
        return kept | {"on_progress": None, "on_samples": None}

    def hand_over(self, t: Array, y: Array) -> None:
        """Gives samples of the integration, with the quadratures behind the state, to ``on_samples``."""
        if self.on_samples is not None and t.size:
            self.on_samples(t, *self.system.layout.split(y))

    def run(
        self, longest: float = np.inf, *, guard: Guard | None = None, first_step: float | None = None
    ) -> tuple[Integration, tuple[str, ...], Poses]:
        """The integration, with no step above ``longest``, and notes on constraint stabilization.

        ``guard`` may end it, as that of :func:`~pendula.numerics.steppers.stepping.integrate` does.

        Raises:
            UsageError: an argument is out of range.
        """
        settings, system = self.settings, self.system
        try:
            dynamics, common, notes = self._arguments(longest)
            common |= {
                "sample_times": settings.samples,
                "max_steps": settings.max_steps,
                "on_progress": self.on_progress,
                "on_samples": self.hand_over if self.on_samples is not None else None,
                "first_step": first_step,
            }
            if settings.stepper.series:
                return self._integrate(dynamics, common), notes, Poses()
            dynamics, feed = fed(system, dynamics, self.vector, settings.span)
            watched = watch_events(system, self.events, self.vector, settings.span[0], common["y0"])
            common |= {"watched": watched, "inside_every": INSIDE}
            sticking = Sticking.of(system, self.vector) if settings.stepper.tolerance else None
            guards = [look for look in (guard, None if sticking is None else sticking.look) if look is not None]
            if guards:
                common["guard"] = guards[0] if len(guards) == 1 else _first_of(guards)
            if system.model.closures and system.loop_rows and mobility(system, self.vector).rank:
                through = settings.constraints == "projection"
                passages = Passages(system, self.vector, dynamics, pass_through=through, rhs=dynamics.rhs, **common)
                run, poses = passages.to_the_end()
            else:
                run, poses = self._integrate(dynamics, common), Poses()
            if feed is not None:
                feed.keep_records()
            if sticking is not None and run.outcome is Outcome.STEP_TOO_SMALL:
                sticking.look_back(run.t, run.y)
            if sticking is not None and sticking.found:
                run = replace(run, outcome=Outcome.STICKS, detail=sticking.detail)
            return run, notes, poses
        except ValueError as error:
            raise UsageError(str(error)) from None

    def again(
        self, times: Array, y: Array, *, looser: float, longer: float, longest: float, max_steps: int
    ) -> Integration:
        """Repeats a part of the run with another tolerance.

        Args:
            times: first and last time of the part, and times in between at which steps must end.
            y: its first state.
            looser: factor on the tolerances.
            longer: factor on the largest step, and on a fixed step.
            longest: largest step of the run itself.
            max_steps: largest number of steps.

        Raises:
            KeyboardInterrupt: the user interrupted; an incomplete part would be mistaken for the whole.
        """
        dynamics, common, _ = self._arguments(longest)
        common["rtol"], common["atol"] = max(common["rtol"] * looser, TIGHTEST), common["atol"] * looser
        common["breakpoints"] = np.union1d(common["breakpoints"], times)
        if "max_step" in common:
            common["max_step"] *= longer
        if common.get("step"):
            common["step"] = min(common["step"] * longer, float(np.abs(np.diff(times)).min()))
        common |= {"y0": y, "t_span": (times[0], times[-1]), "max_steps": max_steps, "keep_on_interrupt": False}
        return self._integrate(fed(self.system, dynamics, self.vector, self.settings.span, again=True)[0], common)

    @cached_property
    def _in_time(self) -> tuple[list[float], float]:
        """Times at which steps must end, and the largest step, as far as dependence on time determines them."""
        system, vector, span = self.system, self.vector, self.settings.span
        breaks = list(breakpoints(system, vector, span))
        if self.events:
            breaks = sorted({*breaks, *times_of_pulses(system, self.events, vector, span)})
        if system.inputs.over_time:
            own = system.inputs.breaks(span)
            breaks = sorted({*own.tolist(), *snapped(np.array(breaks), own).tolist()})
        return breaks, np.inf if self.settings.stepper.fixed else largest_step(system, vector, span, breaks)

    def _arguments(self, longest: float) -> tuple[Dynamics, dict[str, Any], tuple[str, ...]]:
        """The equations, the arguments of an integration that do not depend on what it records, and notes."""
        system, vector, start, settings = self.system, self.vector, self.start, self.settings
        dynamics = system.dynamics(vector)
        y0 = np.concatenate([start.q, start.v, np.zeros(dynamics.quadratures)])
        breaks, longest_by_time = self._in_time
        common: dict[str, Any] = {"rtol": settings.tol, "atol": settings.atol, "quadratures": dynamics.quadratures}
        if dynamics.quadratures and (work := work_tolerance(system, start, vector, settings.tol)) is not None:
            common |= {"atol": np.append(np.full(y0.size - 1, settings.atol), work), "quadratures": 0}
        if not settings.stepper.series:
            common |= {"method": settings.stepper.name, "step": settings.step, "coordinates": start.q.size}
        if not settings.stepper.fixed:
            common["max_step"] = min(longest, longest_by_time)
        common["breakpoints"] = breaks
        notes: tuple[str, ...] = ()
        if settings.constraints == "baumgarte" and system.loop_rows:
            dynamics, notes = self._stabilized(dynamics, y0, common)
        project = dynamics.project if settings.constraints == "projection" else None
        return dynamics, common | {"y0": y0, "t_span": settings.span, "project": project}, notes

    def _integrate(self, dynamics: Dynamics, common: dict[str, Any]) -> Integration:
        if self.settings.stepper.series:
            return integrate_series(self.system.series(self.vector), **common)
        return integrate(dynamics.rhs, **common)

    def _stabilized(self, dynamics: Dynamics, y0: Array, common: dict[str, Any]) -> tuple[Dynamics, tuple[str, ...]]:
        """Equations with Baumgarte stabilization, and a note on its rate."""
        rate, chosen = self.settings.baumgarte_rate, "as given"
        if rate is None:
            rate = stabilization_rate(dynamics, y0, self.settings.span, **common)
            chosen = "so that errors decay over a few typical steps"
        unit = self.system.layout.time_unit
        note = f"Baumgarte's terms stabilize the constraints at a rate of {rate:.4g}/{unit}, {chosen}"
        # g'' + 2 rate g' + rate^2 g = 0 decays in the direction of the run: backwards with the rate below zero.
        forward = float(rate) if self.settings.span[1] >= self.settings.span[0] else -float(rate)
        return self.system.dynamics(self.vector, baumgarte=forward), (note,)


def _first_of(guards: Sequence[Guard]) -> Guard:
    """A guard that ends a run as soon as one of several does."""

    def look(t: Array, y: Array) -> int | None:
        found = [index for guard in guards if (index := guard(t, y)) is not None]
        return min(found, default=None)

    return look
