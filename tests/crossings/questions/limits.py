"""Reactions in singular poses: what they come to from both sides, if that is the same; never a mean across a jump."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

import pendula
from pendula.errors import NotSupported
from tests.crossings.carry import Carried
from tests.crossings.case import Case, Wrong
from tests.crossings.inputs import EVERY, Memory
from tests.crossings.mechanism import Array

APART = 4e-4
"""distance of the times that are looked at around a pose [s]"""
AROUND = APART * np.array([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
NEXT = 0.29
"""distance of a jump from the pose, in steps: if it is nearer, a run cannot pass; if it is farther, no limit sees it"""
AGREE = 1e-3
"""of what both sides come to, relative to the largest force: a parabola through three times"""
EXACT = 1e-9


def in_singular_poses(case: Case, carried: Carried) -> None:
    """The run again by the system of the carried one, with times in its first singular pose and around.

    Where it has an input, also with one that jumps next to it, and with a controller that has a memory.
    """
    run = carried.run
    poses = run.events.get("singular pose")
    first, last = carried.stretch.first, carried.stretch.last
    if poses is None or not len(poses.t) or abs(run.t[0] - first) > EXACT or last < first:
        return
    at = float(poses.t[0])
    if not first + 4 * APART < at < last - 4 * APART:
        return
    usual = EVERY / 2 * np.arange(-2, 30) if case.given.jumps else np.array([np.inf])
    _around(case, carried, at, {}, usual)
    if not case.given.inputs:
        return
    for way in (-1.0, 1.0):
        jump = at + way * NEXT * float(np.median(np.diff(run.energy.t)))
        signal = pendula.Signal([first, jump], [-1.2, 1.3], "hold")
        with suppress(NotSupported):
            _around(case, carried, at, {"F": signal}, np.append(usual, jump))
    controller = pendula.Sampled(Memory(*case.drawn.law), every=EVERY, initial=0.3, memory=0.0)
    with suppress(NotSupported):
        _around(case, carried, at, {"F": controller}, np.append(usual, EVERY * np.arange(10)))


def _around(case: Case, carried: Carried, at: float, inputs: dict[str, Any], jumps: Array) -> None:
    edges = carried.stretch.edges
    times = np.sort(np.append(edges[np.abs(edges - at) > EXACT], at + AROUND))
    settings = {name: x for name, x in case.settings.items() if name not in ("inputs", "events", "initial_state")}
    settings |= {"inputs": inputs} if inputs else {}
    span = (carried.stretch.first, carried.stretch.last)
    near = pendula.simulate(carried.system, t_span=span, samples=times, initial_state=carried.run.state(0), **settings)
    poses = near.events.get("singular pose")
    if not near.outcome.ok or poses is None or np.abs(poses.t - at).min(initial=1.0) > EXACT:
        return  # other inputs may lead it elsewhere
    regular = np.abs(times - at) > EXACT
    before = _accelerations(near, regular)
    claimed = pendula.reactions(near)
    if not np.array_equal(_accelerations(near, regular), before):
        raise Wrong("asking for reactions in a singular pose changes the inputs of the run")
    here = np.flatnonzero(np.abs(times[:, None] - (at + AROUND)).min(axis=1) < EXACT)
    by_jump = bool(np.abs(jumps - at).min() < 3.5 * APART)
    both = np.concatenate([claimed.force_world, claimed.torque_world], axis=2)
    values = {f"force and torque of {n}": both[here, j] for j, n in enumerate(claimed.joints)}
    values |= {f"motor {n}": forces[here, None] for n, forces in claimed.motors.items()}
    size = 1 + max(float(np.nanmax(np.abs(x[[0, 1, 2, 4, 5, 6]]), initial=0.0)) for x in values.values())
    for name, x in values.items():
        _limit(f"{name} in the singular pose at t = {at:.6g}", x, size, by_jump)


def _limit(what: str, x: Array, size: float, by_jump: bool) -> None:
    """Compares the middle of seven values with what three on each side come to."""
    left, right = 3 * x[2] - 3 * x[1] + x[0], 3 * x[4] - 3 * x[5] + x[6]
    if np.isnan(left).any() or np.isnan(right).any():
        return
    if np.abs(left - right).max() <= AGREE * size:
        if np.isnan(x[3]).any():
            if not by_jump:
                raise Wrong(f"{what} is not given; from both sides it comes to {left} and {right}")
        elif not np.abs(x[3] - (left + right) / 2).max() <= 2 * AGREE * size:
            raise Wrong(f"{what} is {x[3]}; from both sides it comes to {left} and {right}")
    elif by_jump and not np.isnan(x[3]).any():
        off = min(np.abs(x[3] - side).max() for side in (left, right))
        if not off <= 2 * AGREE * size:
            raise Wrong(f"{what} is {x[3]}, a mean of {left} and {right} across a jump")


def _accelerations(run: Any, chosen: Array) -> Array:
    return np.asarray(run.system.accelerations(run.q[chosen], run.v[chosen], run.t[chosen], parameters=run.parameters))
