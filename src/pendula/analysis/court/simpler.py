"""Simplifies a counterexample: replaces values of a state by zeros and round numbers while the claim holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pendula.analysis.court.given import Points
from pendula.errors import PendulaError
from pendula.system.layout import State
from pendula.system.loops.assembly import assemble
from pendula.system.system import System


def simplified(system: System, point: Points, holds: Callable[[Points], bool]) -> Points:
    """A consistent state as simple as ``holds`` allows; simplifies time, inputs, speeds, then coordinates."""
    point = _first([replace(point, t=np.zeros(1))], holds, point)
    for k in range(point.u.shape[1]):
        point = _first([_with_input(point, k, x) for x in _rounder(float(point.u[0, k]), "")], holds, point)
    return _simple_state(system, point, holds)


def _first(candidates: list[Points], holds: Callable[[Points], bool], otherwise: Points) -> Points:
    return next((candidate for candidate in candidates if holds(candidate)), otherwise)


def _with_input(point: Points, k: int, value: float) -> Points:
    u = np.array(point.u)
    u[0, k] = value
    return replace(point, u=u)


def _simple_state(system: System, point: Points, holds: Callable[[Points], bool]) -> Points:
    layout = system.layout
    state = State(float(point.t[0]), point.q[0], point.v[0], layout)
    held: set[str] = set()

    def accepted(trial: State, names: set[str]) -> State | None:
        """The trial on the constraints, if ``names`` keep their values and the claim still holds."""
        found = _consistent(system, trial, names)
        if found is None or not holds(replace(point, q=found.q[None], v=found.v[None])):
            return None
        return found

    state = accepted(State(state.t, state.q, 0 * state.v, layout), held) or state
    kinds = dict(zip(layout.coordinates, layout.coordinate_kinds, strict=True))
    for at, _ in system.balls:
        quaternion = layout.coordinates[at : at + 4]
        state = accepted(state.replace(dict(zip(quaternion, (1.0, 0.0, 0.0, 0.0), strict=True))), held) or state
        kinds = {name: kind for name, kind in kinds.items() if name not in quaternion}
    for name in (*layout.speeds, *kinds):
        for value in _rounder(state[name], kinds.get(name, "")):
            found = accepted(state.replace({name: value}), held | {name})
            if found is not None:
                state = found
                held.add(name)
                break
    return replace(point, q=state.q[None], v=state.v[None])


def _rounder(value: float, kind: str) -> list[float]:
    """Simpler values to try, simplest first: 0, a right angle or 1, then rounded ones."""
    if value == 0.0:
        return [0.0]
    steps = [np.pi / 2, np.pi / 4, np.pi / 6] if kind == "angle" else [1.0]
    nearby = (float(step * np.round(value / step)) for step in steps)
    away = float(np.copysign(steps[0], value))
    return list(dict.fromkeys([0.0, away, *nearby, round(value, 1), round(value, 2)]))


def _consistent(system: System, state: State, held: set[str]) -> State | None:
    """The state on the constraints with the values of ``held`` unchanged; None if that is impossible."""
    if not system.loop_rows:
        return state
    try:
        found = assemble(system, state, keep=held).state
    except PendulaError:
        return None
    kept = all(abs(found[name] - state[name]) < 1e-12 for name in held)
    return found.replace({name: state[name] for name in held}) if kept else None
