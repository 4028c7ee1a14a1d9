"""Reactions in singular poses: their limits along the motion, from both sides.

In a singular pose the joints can carry self-balancing forces of any size, so the equations do not determine the
reactions there, and next to it rounding spoils them. Along the motion they have limits, or grow without bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pendula.interrupts import whole
from pendula.simulation.inputs.feed import replayed
from pendula.simulation.simulate import simulate
from pendula.simulation.trajectory import Trajectory
from pendula.system.layout import Array
from pendula.system.switches.schedule import breakpoints

if TYPE_CHECKING:
    from pendula.analysis.reactions.forces import Reactions

APART = 0.1
"""distance of the times that limits are taken from, relative to the steps of the run"""
SPOILT = 0.05
"""times nearer to a singular pose than this share of that distance get the limit"""
RUN_OUT = 5.0
"""steps of the run by which the motion is followed beyond those times: the stepper needs room"""
AROUND = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
GROWS = 2.0
"""forces that grow by more than this from three times the distance to the distance itself have no limit"""
FIELDS = ("force_world", "torque_world", "force_body", "torque_body", "points")


def near_singular(run: Trajectory) -> Array:
    """For each time of a run the index of the singular pose that it is next to; -1 if none."""
    found = np.full(len(run.t), -1)
    poses = run.events.get("singular pose")
    if poses is not None:
        for k, at in enumerate(poses.t):
            found[np.abs(run.t - at) < SPOILT * _distance(run)] = k
    return found


def _distance(run: Trajectory) -> float:
    return APART * float(np.median(np.abs(np.diff(run.energy.t))))


def with_limits(run: Trajectory, near: Array, forces: Callable[[Trajectory], Reactions]) -> Reactions:
    """Reactions of a run that has times next to singular poses.

    Args:
        run: the run.
        near: :func:`near_singular`, at some time not -1 and at some -1.
        forces: reactions of a run without such times.
    """
    from pendula.analysis.reactions.forces import Indeterminate

    regular = near < 0
    base = forces(_at(run, regular))
    arrays = {name: _spread(getattr(base, name), regular) for name in FIELDS}
    motors = {name: _spread(values, regular) for name, values in base.motors.items()}
    couplings = {
        name: {coordinate: _spread(values, regular) for coordinate, values in acting.items()}
        for name, acting in base.couplings.items()
    }
    unbounded: list[Indeterminate] = []
    for k in np.unique(near[~regular]):
        at, here = float(run.events["singular pose"].t[k]), near == k
        motion = _around(run, at, regular)
        if motion is None:
            why = f"its limit in the singular pose at t = {at:.6g} {run.layout.time_unit} was not found"
            unbounded += [Indeterminate(name, what, why) for name in base.joints for what in ("force", "torque")]
            unbounded += [Indeterminate(name, "force of its motor", why) for name in motors]
            unbounded += [
                Indeterminate(name, f"force on {x}", why) for name, acting in couplings.items() for x in acting
            ]
            continue
        around = forces(motion)
        x = (run.t[here] - at) / _reach(run, at)
        for name in FIELDS:
            arrays[name][here] = _extended(getattr(around, name), x)
        for name in motors:
            motors[name][here] = _extended(around.motors[name], x)
        for name, acting in couplings.items():
            for coordinate, values in acting.items():
                values[here] = _extended(around.couplings[name][coordinate], x)
        size = np.linalg.norm(around.force_world, axis=2)
        grows = np.maximum(size[2], size[3]) > GROWS * np.maximum(size[0], size[5]) + 1e-9 * base.largest
        for j in np.flatnonzero(grows):
            for name in FIELDS[:4]:
                arrays[name][here, j] = np.nan
            why = f"it grows without bound towards the singular pose at t = {at:.6g} {run.layout.time_unit}"
            unbounded.append(Indeterminate(base.joints[j], "force", why))
    notes = (*base.indeterminate, *unbounded)
    return replace(base, t=run.t, **arrays, motors=motors, couplings=couplings, indeterminate=notes)


def _at(run: Trajectory, chosen: Array) -> Trajectory:
    """A run at some of its times, without the memory of its singular poses."""
    parts = {name: getattr(run, name)[chosen] for name in ("t", "q", "v", "energy_error")}
    events = {name: found for name, found in run.events.items() if name != "singular pose"}
    return replace(run, **parts, violation=None, events=events)


def _reach(run: Trajectory, at: float) -> float:
    """The distance of the times that the limits at a singular pose are taken from: no load may jump among them."""
    system, span = run.system, (float(run.energy.t[0]), float(run.energy.t[-1]))
    breaks = np.array([*breakpoints(system, run.parameters, span), *system.inputs.breaks(span)])
    if system.inputs.over_time:  # not known beyond the run
        breaks = np.append(breaks, span)
    nearest = float(np.abs(breaks - at).min(initial=np.inf))
    return min(_distance(run), 0.9 * nearest / float(AROUND[-1]))


def _around(run: Trajectory, at: float, regular: Array) -> Trajectory | None:
    """The same motion at times on both sides of a singular pose; None if that cannot be found."""
    reach, step = _reach(run, at), _distance(run) / APART
    if reach < 2.0 * SPOILT * _distance(run):  # rounding spoils forces nearby
        return None
    times = at + AROUND * reach
    first = _start(run.t, times, step, regular)
    if first is None:
        return None
    way = 1.0 if run.t[first] < times[0] else -1.0
    times = times[:: int(way)]
    last = float(times[-1] + way * RUN_OUT * step)
    if run.system.inputs.over_time:
        last = float(np.clip(last, run.energy.t.min(), run.energy.t.max()))
    found = whole(
        simulate, replayed(run.system), t_span=(float(run.t[first]), last), initial_state=run.state(first),
        parameters=run.parameters, samples=times, tol=min(run.tolerance, 1e-9),
    )  # fmt: skip
    return _at(found, np.argsort(found.t)) if len(found.t) == len(times) else None


def _start(t: Array, times: Array, step: float, regular: Array) -> int | None:
    """A regular time of a run, behind or before some others, from which they are reached: if possible a step away."""
    away = np.maximum(times[0] - t, t - times[-1])
    away = np.where(regular & (away > 0.0), away, np.inf)
    far = np.where(away > step, away, np.inf)
    first = int(np.argmin(far if np.isfinite(far).any() else away))
    return first if np.isfinite(away[first]) else None


def _spread(values: Array, regular: Array) -> Array:
    """Values at the regular times among all times; nan elsewhere."""
    found = np.full((len(regular), *values.shape[1:]), np.nan)
    found[regular] = values
    return found


def _extended(values: Array, x: Array) -> Array:
    """The polynomial through the values around a singular pose, next to it."""
    flat = values.reshape(len(AROUND), -1)
    weights = np.vander(x, len(AROUND), increasing=True) @ np.linalg.inv(
        np.vander(AROUND, len(AROUND), increasing=True)
    )
    return np.asarray(weights @ flat).reshape(len(x), *values.shape[1:])
