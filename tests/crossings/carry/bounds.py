"""Runs of ensembles with bounds: each ends where it leaves them, also those that start on a bound or beyond."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import pendula
from tests.crossings import oracle
from tests.crossings.carry.runs import Carried, from_there, same_end
from tests.crossings.case import DURATION, Case, Unsuitable, Wrong
from tests.crossings.mechanism import Array

SLOW = 1e-3
"""a rate below it does not say clearly where a coordinate moves"""


@dataclass(frozen=True)
class Bounded:
    """A variable of the run: its values and rates at all samples of the fresh run, by numbers of our own."""

    name: str
    values: Array
    rates: Array


def bounds(case: Case) -> Carried:
    """A run that begins where one ended that never left its bounds; others, from the same start, do leave theirs."""
    start, x = case.fresh.state(0), _variable(case)
    at, way = float(x.values[0]), float(np.sign(x.rates[0]))
    on = at + way * case.rng.integers(-3, 4) * np.spacing(at)
    room = 1.0 + 2.0 * float(np.abs(x.values - at).max())
    far = at + way * room
    k = _leaves(x)
    within: dict[str, tuple[float, float]] = {
        "inside": (at - way * room, (x.values[k] + x.values[k + 1]) / 2),
        "on, outward": (at - way * room, on),
        "on, inward": (on, far),
        "beyond": (at - way * 2 * room, at - way * 0.1),
        "beyond, coming in": (at + way * 0.02, far),
        "wide": (at - way * room, far),
    }
    found = {}
    for what, ends in within.items():
        found[what] = _run(case, [start], {x.name: (min(ends), max(ends))})
    for what in ("on, outward", "beyond", "beyond, coming in"):
        _left_at_once(x, what, found[what], at)
    _left_between(case, x, "inside", found["inside"], k, within["inside"][1])
    back = np.flatnonzero(way * (x.values[1:] - at) < -1e-9)
    if back.size:
        _left_between(case, x, "on, inward", found["on, inward"], int(back[0]), on)
    elif not way * (x.values[1:] - at).min() > 1e-9:
        raise Unsuitable("it is in doubt whether the run comes back to its start")
    else:
        _stayed(case, x, "on, inward", found["on, inward"])
    _stayed(case, x, "wide", found["wide"])
    _at_rest(case, start, x.name)
    return from_there(case, found["wide"].end)


def _run(case: Case, starts: list[Any], within: dict[str, tuple[float, float]]) -> Any:
    names = ("stepper", "tol", "max_steps", "inputs", "parameters")
    settings = {name: case.settings[name] for name in names if name in case.settings}
    return pendula.simulate_many(case.system, DURATION, starts, within=within, workers=1, **settings)[0]


def _variable(case: Case) -> Bounded:
    """A free coordinate or a speed, that moves clearly at the start; rates by the speeds, or by free bodies."""
    moments = case.moments(case.fresh)
    names = [name for name, speed in case.drawn.free.items() if abs(moments[0].v[speed]) > 0.1]
    names = [*names, *(n for n in ("crank",) if n in moments[0].q and abs(moments[0].v["crank_dot"]) > 0.1)]
    speeds = [n for n in (*case.drawn.shoulder, *case.drawn.free.values()) if abs(moments[0].v[n]) > 1e-3]
    if not (names or speeds):
        raise Unsuitable("nothing moves clearly at the start")
    name = str(case.rng.choice(names if names and case.rng.random() < 0.7 else speeds or names))
    if name in moments[0].q:
        rates = np.array([m.v[f"{name}_dot"] for m in moments])
    else:
        rates = np.array([case.own.accelerations(m).a[name] for m in moments[:1]])
    return Bounded(name, np.array([{**m.q, **m.v}[name] for m in moments]), rates)


def _leaves(x: Bounded) -> int:
    """A sample after which the variable passes, for the first time, a value between it and the next one."""
    way = np.sign(x.rates[0])
    y = way * (x.values - x.values[0])
    if abs(x.rates[0]) < SLOW or not y[1] > 1e-6:
        raise Unsuitable("the variable with bounds hardly moves at the start")
    first = np.flatnonzero((y[1:] > np.maximum.accumulate(y)[:-1] + 1e-6) & (y[1:] > 0))
    return int(first[first.size // 2])


def _left_at_once(x: Bounded, what: str, run: Any, at: float) -> None:
    if run.outcome.name != "EVENT" or run.end.t != 0.0 or abs(run.end[x.name] - at) > 1e-12:
        raise Wrong(
            f"bounds: a start {what} has not left at once: {run.outcome}, t = {run.end.t}, {x.name} = {run.end[x.name]}"
        )


def _left_between(case: Case, x: Bounded, what: str, run: Any, k: int, bound: float) -> None:
    """Raises Wrong unless a run ended on a bound, between two samples of the fresh one."""
    first, last = case.stretch.times[[k, k + 1]]
    if run.outcome.name != "EVENT" or not first <= run.end.t <= last:
        raise Wrong(f"bounds: a start {what} should leave between {first} and {last}: {run.outcome}, t = {run.end.t}")
    if not abs(run.end[x.name] - bound) <= 10 * case.tolerance * (1 + abs(bound)):
        raise Wrong(f"bounds: a start {what} ended at {x.name} = {run.end[x.name]}, and its bound is {bound}")


def _stayed(case: Case, x: Bounded, what: str, run: Any) -> None:
    """Raises Wrong unless a run never left."""
    if not (run.outcome.name == "FINISHED" and run.end.t == DURATION):
        raise Wrong(
            f"bounds: a start {what} should not leave: {run.outcome}, t = {run.end.t}, {x.name} = {run.end[x.name]}"
        )
    same_end(case, f"bounds: {what}", run.end, case.fresh.state(-1))


def _at_rest(case: Case, start: Any, name: str) -> None:
    """From rest on a bound: it leaves at once if the acceleration by free bodies points outward, and not if inward."""
    if case.row["drive"] not in ("none", "held") or name not in case.drawn.free:
        return
    still = start.replace(dict.fromkeys(start.layout.speeds, 0.0))
    q = case.moments(case.fresh)[0].q
    v = dict.fromkeys(case.own.free, 0.0)
    u = case.inputs_at([0.0], [{**q, **v}])[0]
    a = case.own.accelerations(oracle.Moment(0.0, q, v, {}, u)).a[case.drawn.free[name]]
    if abs(a) < 0.1:
        return
    at, way = still[name], np.sign(a)
    for what, ends in (("outward", (at - way, at)), ("inward", (at, at + way * 10))):
        run = _run(case, [still], {name: (min(ends), max(ends))})
        if (what == "outward") != (run.outcome.name == "EVENT" and run.end.t == 0.0):
            raise Wrong(
                f"bounds: from rest on a bound, drawn {what}: {run.outcome}, t = {run.end.t}, {name} = {run.end[name]}"
            )
