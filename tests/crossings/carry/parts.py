"""Runs in parts: continued at a time, or where events end them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import pendula
from tests.crossings.carry.runs import same_states
from tests.crossings.case import DURATION, Case, Stretch, Unsuitable, Wrong
from tests.crossings.mechanism import Array

RATE = 50.0
"""of the phase whose zeros are events: some of them within a run, one at most between two samples"""
FIRST = 0.3
"""its value at the start of a coordinate that is zero there"""


def continued(case: Case) -> Any:
    """Ended by an event, continued, ended by another, and continued to the end.

    An event that has ended the run is only recorded from there on; one with a count counts through all parts. A stepper
    without events is stopped half-way by the time.
    """
    if case.row["stepper"] == "taylor":
        first = case.simulated(stretch=Stretch(0.0, DURATION / 2))
        run = _to_the_end(case, first)
        same_states(case, "continued", run, case.fresh)
        return run
    name = next(iter([*case.drawn.free, *case.drawn.shoulder]), "")
    phase = f"{RATE:g}*t + {FIRST}" + (f" + {name}" if name else "")
    ends = [
        pendula.Event("first", f"cos({phase})", terminal=True),
        pendula.Event("second", f"sin({phase})", terminal=True, count=2),
        pendula.Event("noted", f"cos({phase} + 1)", count=3),
    ]
    events = [*case.settings.get("events", ()), *ends]
    run = _part(case, ends[0], pendula.simulate(
        case.system, t_span=(0.0, DURATION), samples=case.stretch.times, **{**case.settings, "events": events}
    ))  # fmt: skip
    run = _part(case, ends[1], _to_the_end(case, run))
    run = _to_the_end(case, run)
    if not run.outcome.ok:
        raise Unsuitable(f"{run.outcome}: {run.detail}")
    if run.outcome.name == "EVENT":
        raise Wrong(f"continued: the run, continued again, does not reach its end: {run.outcome}, at t = {run.t[-1]}")
    states = case.states_of(case.fresh)
    angle = np.array(
        [RATE * t + FIRST + (state[name] if name else 0.0) for t, state in zip(case.fresh.t, states, strict=True)]
    )
    run = _at_samples(case, run)
    same_states(case, "continued", run, case.fresh)
    for event, function in zip(ends, (np.cos, np.sin, lambda x: np.cos(x + 1)), strict=True):
        _listed_once(case, run.events[event.name], function(angle), event.count if not event.terminal else None)
    return run


def _to_the_end(case: Case, run: Any) -> Any:
    """The run, continued to its end."""
    at = float(run.end.t)
    return run.continue_for(DURATION - at, samples=case.stretch.times[case.stretch.times > at])


def _part(case: Case, event: Any, run: Any) -> Any:
    """A part of a run; it must have been ended by an event."""
    if run.outcome.name == "FINISHED":
        raise Wrong(f'continued: event "{event.name}" ({event.expression}) does not end the run')
    if run.outcome.name != "EVENT":
        raise Unsuitable(f"{run.outcome}: {run.detail}")
    found = run.events[event.name].t
    if len(found) != (event.count or 1) or abs(found[-1] - run.end.t) > 1e-12:
        raise Wrong(f'continued: "{event.name}" is found at {found.tolist()}, and the run ends at t = {run.end.t}')
    return run


def _at_samples(case: Case, run: Any) -> Any:
    """The joined run at the samples of the fresh one, without the two states in which events ended it."""
    times = case.stretch.times
    found = np.abs(run.t - times[:, None])
    kept = found.argmin(axis=1)
    if len(run.t) != times.size + 2 or found.min(axis=1).max() > 1e-12:
        raise Wrong(f"continued: samples are at {run.t.tolist()}, and were asked for at {times.tolist()}")
    rows = {name: getattr(run, name)[kept] for name in ("t", "q", "v", "energy_error")}
    violation = None if run.violation is None else run.violation[kept]
    return replace(run, **rows, violation=violation, settings=replace(run.settings, samples=run.t[kept]))


def _listed_once(case: Case, found: Any, values: Array, most: int | None) -> None:
    """Raises Wrong unless an event is listed once between all samples of the fresh run where its function changes sign."""
    times = case.stretch.times
    if np.abs(values).min() < 1e-4:
        raise Unsuitable("an event is at a sample")
    at = np.flatnonzero(values[:-1] * values[1:] < 0)[:most]
    right = np.searchsorted(times, found.t) - 1
    if not np.array_equal(at, right):
        where = [(times[k], times[k + 1]) for k in at]
        raise Wrong(f'continued: "{found.event.name}" is listed at {found.t.tolist()}, and the run has it in {where}')
