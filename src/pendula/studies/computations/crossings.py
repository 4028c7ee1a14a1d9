"""When something happens for the first time in each of many runs: leaving bounds, or events."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.outcome import Outcome
from pendula.simulation.ensemble import OUTCOMES
from pendula.simulation.events import Event, read_events
from pendula.simulation.simulate import simulate
from pendula.simulation.within import read_within
from pendula.studies.batch import Batch, Computed, Tell, numbers, one_by_one, padded, words
from pendula.studies.computations.registry import Computation
from pendula.studies.computations.runs import CASE, HOW, Tried, run_batch
from pendula.tables.table import Block

_EVENT = OUTCOMES.index(Outcome.EVENT)


def _first(batch: Batch, tell: Tell) -> Computed:
    events, within = batch.options["events"], batch.options["within"]
    if (events is None) == (within is None):
        raise UsageError(
            'first: give "within", bounds of coordinates and speeds (eight runs at a time), or "events", '
            "expressions (one run at a time)"
        )
    return _leaving(batch, tell) if events is None else _events(batch, tell, read_events(events))


def _leaving(batch: Batch, tell: Tell) -> Computed:
    """When the runs leave bounds, eight at a time."""
    bounds = read_within(batch.system, batch.options["within"])

    def blocks(tried: Tried) -> list[Block]:
        runs, units = tried.runs, batch.system.model.unit_names
        left = runs.code == _EVENT
        names = np.array(["", *bounds.names], dtype=str)
        which = np.zeros(len(batch), dtype=int)
        which[tried.some[left]] = bounds.left(runs.end_q[left], runs.end_v[left]) + 1
        time = tried.spread(np.where(left, runs.end_t, np.nan))
        return [Block("first_t", CASE, time, units.formal(units.time)), Block("first", CASE, names[which])]

    return run_batch(batch, tell, blocks, within=batch.options["within"])


def _events(batch: Batch, tell: Tell, events: tuple[Event, ...]) -> Computed:
    """When events occur, one run after the other."""
    if not events:
        raise UsageError("first: events is an empty list")

    def watch(k: int) -> dict[str, Any]:
        how = {name: batch.options[name] for name in HOW if name != "duration"}
        run = simulate(
            batch.system, batch.options["duration"], initial_state=batch.state(k) or None, parameters=batch.vector(k),
            events=events, samples=2, **how,
        )  # fmt: skip
        times = [float(run.events[e.name].t[0]) if len(run.events[e.name]) else np.nan for e in events]
        known = [t for t in times if np.isfinite(t)]
        first = events[int(np.nanargmin(times))].name if known else ""
        return {
            "times": times, "first_t": min(known, default=np.nan), "first": first, "ok": float(run.ok),
            "outcome": OUTCOMES.index(run.outcome), "drift": run.energy_drift, "steps": run.steps,
        }  # fmt: skip

    found, failures = one_by_one(batch, watch, tell)
    if not found:
        return Computed((), failures)
    units = batch.system.model.unit_names
    time = units.formal(units.time)
    names = tuple(f"first_t.{event.name}" for event in events)
    blocks = (
        Block("first_t", CASE, numbers(found["first_t"]), time),
        Block("first", CASE, words(found["first"])),
        Block("first_times", CASE, padded(found["times"], len(events)), "", names, (time,) * len(events)),
        Block("ok", CASE, numbers(found["ok"])),
        Block("outcome", CASE, numbers(found["outcome"])),
        Block("energy_drift", CASE, numbers(found["drift"])),
        Block("steps", CASE, numbers(found["steps"])),
    )
    return Computed(blocks, failures)


FIRST = Computation(_first, {**HOW, "events": None, "within": None})
