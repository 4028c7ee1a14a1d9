"""Events in stretches of a run that were computed in other coordinates than those of the system.

The expressions of events are in the coordinates of the system. Each step of such a stretch is repeated with dense
output, which is converted to these coordinates, and crossings are bracketed ever more closely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pendula.numerics.steppers.stepping import Integration, integrate
from pendula.numerics.steppers.watch import Watched
from pendula.outcome import Outcome
from pendula.simulation.events import Event, watch_events
from pendula.simulation.settings import Settings
from pendula.system.kernels import evaluate_rows
from pendula.system.layout import Array
from pendula.system.system import System

if TYPE_CHECKING:
    from pendula.simulation.charts.switching import ChartRun

LOOKS = 11
"""points of a step at which events are evaluated"""
PASSES = 12
"""each pass divides a bracket into ten parts"""


class ChartEvents:
    """The events of a run that changes charts."""

    def __init__(self, system: System, events: Sequence[Event], vector: Array, settings: Settings) -> None:
        self.system, self.events, self.vector, self.settings = system, tuple(events), vector, settings
        self.any = bool(events)

    def left(self, parts: Sequence[Integration]) -> tuple[Event, ...]:
        """The events after some parts: a terminal one ends the run at its remaining count."""
        seen = self._counts(parts)
        return tuple(
            replace(event, count=max(1, (event.count or 1) - n)) if event.terminal and n else event
            for event, n in zip(self.events, seen, strict=True)
        )

    def _counts(self, parts: Sequence[Integration]) -> list[int]:
        which = [k for part in parts for k in part.event_which.tolist()]
        return [which.count(k) for k in range(len(self.events))]

    def look(
        self, run: ChartRun, there: Integration, here: Integration, parts: Sequence[Integration]
    ) -> tuple[Integration, bool]:
        """A stretch with its events, cut at one that ends the run; and whether one does.

        Args:
            run: the run.
            there, here: the stretch in the coordinates that computed it, and in those of the system.
            parts: the parts before it.
        """
        watched = watch_events(self.system, self._harmless(), self.vector, float(here.t[0]), here.y[0])
        assert watched is not None
        sides = np.array(watched.sides, dtype=float)
        counts = self._counts(parts)
        found: list[tuple[float, Array, int]] = []
        for k in range(len(there.t) - 1):
            for t, y, which in self._in_step(run, there, here, k, watched, sides):
                counts[which] += 1
                event = self.events[which]
                if not event.terminal and event.count is not None and counts[which] > event.count:
                    continue
                found.append((t, y, which))
                if event.terminal and counts[which] >= (event.count or 1):
                    return _ended(_with(here, found, len(self.events)), k, found[-1], event), True
        return _with(here, found, len(self.events)), False

    def _harmless(self) -> tuple[Event, ...]:
        """The events without ends, which need not be checked again at the start of a stretch."""
        return tuple(replace(event, terminal=False, count=None) for event in self.events)

    def _in_step(
        self, run: ChartRun, there: Integration, here: Integration, k: int, watched: Watched, sides: Array
    ) -> list[tuple[float, Array, int]]:
        """Crossings in one step, in order; ``sides`` are updated."""
        t, y = self._dense(run, there, here, k, np.linspace(there.t[k], there.t[k + 1], LOOKS))
        values = self._values(watched, t, y)
        found: list[tuple[float, Array, int]] = []
        for which in range(len(self.events)):
            for i in range(1, LOOKS):
                sign = np.sign(values[i, which])
                if sign in (0.0, sides[which]) or not np.isfinite(sign):
                    continue
                came, sides[which] = sides[which], sign
                if came != 0.0 and watched.directions[which] in (0, int(sign)):
                    found.append((*self._refined(run, there, here, k, watched, which, (t[i - 1], t[i]), came), which))
        return sorted(found, key=lambda item: run.way * item[0])

    def _refined(
        self,
        run: ChartRun,
        there: Integration,
        here: Integration,
        k: int,
        watched: Watched,
        which: int,
        bracket: tuple[float, float],
        came: float,
    ) -> tuple[float, Array]:
        """Time and state of a crossing: the first state of the other side, to the rounding of t."""
        low, high = bracket
        state = here.y[k + 1]
        for _ in range(PASSES):
            t, y = self._dense(run, there, here, k, np.linspace(low, high, LOOKS))
            signs = np.sign(self._values(watched, t, y)[:, which])
            i = int(np.argmax(signs == -came)) or LOOKS - 1
            low, high, state = t[i - 1], t[i], y[i]
            if abs(high - low) <= 4.0 * np.spacing(max(abs(low), abs(high))):
                break
        return float(high), state

    def _dense(self, run: ChartRun, there: Integration, here: Integration, k: int, times: Array) -> tuple[Array, Array]:
        """States of the system at times within step k of a stretch."""
        twin, settings = run.twin, self.settings
        assert twin is not None
        dynamics = twin.dynamics(self.vector)
        span = float(there.t[k]), float(there.t[k + 1])
        times = np.clip(times, min(span), max(span))
        h = abs(span[1] - span[0])
        again = integrate(
            dynamics.rhs, there.y[k], span, rtol=settings.tol, atol=settings.atol, quadratures=dynamics.quadratures,
            method="dop853" if settings.stepper.series else settings.stepper.name, sample_times=times,
            project=dynamics.project, coordinates=len(twin.layout.coordinates),
            step=h if settings.step else None, first_step=None if settings.step else h,
        )  # fmt: skip
        return again.sample_t, run.converted(again.sample_t, again.sample_y, here.y[k])[1]

    def _values(self, watched: Watched, t: Array, y: Array) -> Array:
        out = np.zeros((len(t), len(self.events)))
        evaluate_rows(watched.callback.address, watched.callback.context, np.column_stack([t, y]), out)
        return out


def _with(run: Integration, found: Sequence[tuple[float, Array, int]], events: int) -> Integration:
    """A stretch with occurrences of some of the events."""
    count = len(found)
    return replace(
        run,
        event_t=np.array([t for t, _, _ in found]),
        event_y=np.array([y for _, y, _ in found]).reshape(count, run.y.shape[1]),
        event_which=np.array([which for _, _, which in found], dtype=np.int64),
        event_hurried=np.full(events, np.nan),
        event_touched=np.full(events, np.nan),
    )


def recorded_until(run: Integration, last: float, names: Sequence[str]) -> dict[str, Array]:
    """What a run recorded up to a time, as changes of its fields: "sample", "inside" or "event"."""
    way = 1.0 if run.t[-1] >= run.t[0] else -1.0
    kept: dict[str, Array] = {}
    for name in names:
        times = getattr(run, f"{name}_t")
        if times.size:
            before = way * (times - last) <= 0.0
            kept |= {f"{name}_t": times[before], f"{name}_y": getattr(run, f"{name}_y")[before]}
            if name == "event":
                kept["event_which"] = run.event_which[before]
    return kept


def _ended(run: Integration, k: int, last: tuple[float, Array, int], event: Event) -> Integration:
    """A stretch that its last event, in step k, ended."""
    t, y, _ = last
    return replace(
        run,
        t=np.append(run.t[: k + 1], t),
        y=np.vstack([run.y[: k + 1], y]),
        accepted=k + 1,
        outcome=Outcome.EVENT,
        detail=f'event "{event.name}" at t = {t:.9g}',
        **recorded_until(run, t, ("sample", "inside")),
    )
