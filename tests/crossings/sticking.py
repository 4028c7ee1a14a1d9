"""Dry friction that brings a motion to rest: the run stops there and says that it sticks, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import pendula
from pendula.outcome import Outcome
from tests.crossings import oracle
from tests.crossings.case import DURATION, Case, Wrong

STEPS = 20_000
"""in which a run must notice"""
SIDE = 1e-9
"""speeds on both sides of rest"""
WITHIN = 0.12
"""the time in which friction alone would stop the motion"""
FIRM = 0.3
"""share of the friction that is left where it certainly holds"""


def sticks(case: Case) -> None:
    """Asks for a run with so much friction that it sticks before its end, if parameters can say so."""
    if "c" not in case.own.values.parameters or case.row["stepper"] in ("rk4", "taylor"):
        return  # fixed steps go on, with a note
    name, first = case.rubbing, case.moments(case.fresh)[0]
    if first.v[name] == 0.0:
        return  # what begins on the jump uses up its steps: expected to fail in tests/simulation/test_forces_in_the_state.py
    c = case.own.values.parameters["c"]
    own = _with(case, 0.0), _with(case, 1.0)
    free, per = (x.accelerations(first).a[name] for x in own)
    per = abs(per - free)
    if per < 1e-2:
        return  # friction hardly acts
    strong = max(round((abs(first.v[name]) / WITHIN + 2 * abs(free)) / per, 3), 3 * c)
    settings = {**case.settings, "parameters": {**case.parameters, "c": strong}, "max_steps": STEPS}
    run = pendula.simulate(case.system, t_span=(0.0, DURATION), samples=case.stretch.times, **settings)
    _judge(case, run, _with(case, strong))


def _with(case: Case, c: float) -> oracle.Mechanism:
    """The mechanism with other friction."""
    return oracle.Mechanism(case.drawn.data, {**case.parameters, "c": c})


def _judge(case: Case, run: Any, own: oracle.Mechanism) -> None:
    name, way = case.rubbing, np.sign(run[case.rubbing][0])
    states = case.states_of(run)
    end = states[-1] if run.end is None else run.system.in_joints.read_state(run.end, run.parameters).as_dict()
    t = float(run.t[-1] if run.end is None else run.end.t)
    slides = way * run[name] > 0
    if run.outcome is Outcome.STICKS:
        at_rest = abs(end[name]) <= 1e-3 * abs(run[name][0]) and bool(slides[:-1].all())
        if not at_rest or _room(case, own, t, end, states, run.t) < 0:
            raise Wrong(
                f"dry friction does not hold {name} = {end[name]} at t = {t}, where the run says that it sticks"
            )
    elif run.outcome is not Outcome.FINISHED:
        raise Wrong(f"dry friction stops {name} near t = {t}, and the run says: {run.outcome}: {run.detail}")
    elif not slides.all():
        k = int(np.argmin(slides))
        rest = {**states[k], name: 0.0}
        if _room(case, own, float(run.t[k]), rest, states, run.t) > FIRM:
            raise Wrong(f"dry friction holds {name} near t = {run.t[k]}, and the run goes on")


def _room(case: Case, own: oracle.Mechanism, t: float, state: dict[str, float], states: Any, times: Any) -> float:
    """How firmly friction holds a state at rest: 1 if nothing else pulls, 0 at the limit, negative beyond it."""

    def at(other: float) -> dict[str, float]:
        found: dict[str, float] = states[int(np.argmin(np.abs(times - other)))]
        return found

    u = case.values_at(t, state, at)
    coordinates = _coordinates(own, state)
    x = oracle.Moment(t, {n: state[n] for n in coordinates}, {n: state[n] for n in own.free}, {}, u)
    pulls = []
    for side in (SIDE, -SIDE):
        beside = replace(x, v={**x.v, case.rubbing: side})
        pulls.append(own.accelerations(beside).a[case.rubbing])
    ahead, behind = pulls
    return float(min(-ahead, behind) / (abs(behind - ahead) / 2))


def _coordinates(own: oracle.Mechanism, state: dict[str, float]) -> list[str]:
    """The coordinates among the names of a state."""
    return [name for name in state if name not in own.free]
