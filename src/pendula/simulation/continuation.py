"""Continues a run from its end: the whole motion as one run, with one energy account."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pendula.errors import NotSupported, UsageError
from pendula.numerics.steppers import checks
from pendula.numerics.steppers.stepping import Integration
from pendula.simulation import refusals
from pendula.simulation.account import account_doubts
from pendula.simulation.charts.evidence import evidence_elsewhere
from pendula.simulation.charts.switching import Elsewhere
from pendula.simulation.course import Course
from pendula.simulation.events import SINGULAR, SWITCH, Crossings, Event
from pendula.simulation.inputs.feed import RunInputs
from pendula.simulation.predictability import Evidence, at_samples, evidence_of
from pendula.simulation.settings import NUMBERS, Settings
from pendula.simulation.simulate import follow
from pendula.simulation.trajectory import EnergyAccount, Trajectory
from pendula.system.first_use import expect_motion
from pendula.system.joint_forces import gives_jacobi, jacobi_integral
from pendula.system.layout import Array, State
from pendula.system.parameters import typical_length

SAME_TIME = 1e-10
"""two occurrences of an event are one if their times differ by less than this part of the run"""


def continue_run(
    run: Trajectory,
    duration: float,
    *,
    samples: int | Sequence[float] | Array | None = None,
    max_steps: int | None = None,
    on_progress: Callable[[float, float, int], object] | None = None,
    on_failure: str = "return",
) -> Trajectory:
    """The run with a further stretch of time; see :meth:`pendula.results.Trajectory.continue_for`."""
    settings = run.settings
    if settings is None:
        raise UsageError("continue_for: the settings of this run are not known (its stepper is not registered here)")
    if not isinstance(duration, NUMBERS) or not 0 < duration < np.inf:
        raise UsageError(f"continue_for: the duration must be a positive number, found {duration!r}")
    start = last_state(run)
    way = -1.0 if settings.span[1] < settings.span[0] else 1.0
    span = (start.t, start.t + way * float(duration))
    try:
        times = _samples(settings, span, samples)
        limit = settings.max_steps if max_steps is None else checks.check_max_steps(max_steps)
    except ValueError as error:
        raise UsageError(f"continue_for: {error}") from None
    _refuse_inputs(run, span)
    expect_motion(settings.stepper.name)
    course = Course(
        run.system, run.parameters, start, replace(settings, span=span, samples=times, max_steps=limit),
        _events(run), on_progress,
    )  # fmt: skip
    return joined_runs(run, follow(course, (), on_failure), course)


def _refuse_inputs(run: Trajectory, span: tuple[float, float]) -> None:
    """Raises if the inputs of the run cannot continue: a time series ends, or a controller is sampled."""
    inputs = run.system.inputs
    if not isinstance(inputs, RunInputs):
        return
    for name, signal in inputs.signals.items():
        signal.check_span(name, span)
    if inputs.sampled:
        raise NotSupported(refusals.CONTINUED_CONTROLLER, name=inputs.sampled[0].names[0])


def last_state(run: Trajectory) -> State:
    """The state at the end of a run.

    Raises:
        UsageError: it was not kept.
    """
    if run.end is not None and run.end.q.size == len(run.layout.coordinates):
        return run.end
    if not len(run) or run.t[-1] != run.energy.t[-1]:
        raise UsageError("continue_for: the state at the end of this run was not kept")
    return run.state()


def _samples(settings: Settings, span: tuple[float, float], given: Any) -> Array | None:
    """Times to keep: the given ones, or as the run did: every step, or at the same distance."""
    if given is not None:
        return checks.sample_times(given, *span)
    if settings.samples is None:
        return None
    way = 1.0 if span[1] > span[0] else -1.0
    length = abs(span[1] - span[0])
    gaps = np.abs(np.diff(settings.samples))
    gap = float(np.median(gaps)) if gaps.size else length
    gap = gap if gap > 0.0 else length
    since = abs(span[0] - float(settings.samples[-1])) if settings.samples.size else 0.0
    after = gap - since if 0.0 < since < gap else gap
    times = span[0] + way * np.arange(after, length + 1e-9 * gap, gap)
    if not times.size or abs(times[-1] - span[1]) > 1e-6 * gap:
        times = np.append(times, span[1])
    times[-1] = span[1]
    return np.asarray(times)


def _events(run: Trajectory) -> list[Event]:
    """Events still to detect: one that ended the run, now or before an earlier continuation, no longer ends it; another
    that has reached its count is left out.
    """
    wanted = []
    for name, found in run.events.items():
        if name in (SINGULAR.name, SWITCH.name):
            continue
        event = found.event
        if event.terminal and len(found) >= (event.count or 1):
            event = replace(event, terminal=False, count=None)
        elif event.count is not None:
            if len(found) >= event.count:
                continue
            event = replace(event, count=event.count - len(found))
        wanted.append(event)
    return wanted


def joined_runs(first: Trajectory, second: Trajectory, course: Course) -> Trajectory:
    """One run from two, the second of which starts where the first ended."""
    energy = _account(first.energy, second.energy)
    new = slice(1 if len(first) and len(second) and second.t[0] == first.t[-1] else 0, None)
    settings = replace(course.settings, span=(float(first.energy.t[0]), course.settings.span[1]))
    if settings.samples is not None:
        settings = replace(settings, samples=np.concatenate([first.t, second.t[new]]))
    before = float(first.energy.error[-1])
    off = np.concatenate([
        first.energy_error * first.energy.scale, second.energy_error[new] * second.energy.scale + before
    ]) / energy.scale  # fmt: skip
    violation = None
    if first.violation is not None and second.violation is not None:
        violation = np.concatenate([first.violation, second.violation[new]])
    opening = max(first.constraint_violation, second.constraint_violation)
    worst = max(energy.drift, float(np.abs(off).max(initial=0.0)))
    length = typical_length(first.system, first.parameters) if opening else 1.0
    doubts = account_doubts(worst, opening, length, first.system.written)
    others = [x for run in (first, second) for x in run.doubts if not x.startswith(("energy is off", "the loops are"))]
    made = replace(
        second,
        t=np.concatenate([first.t, second.t[new]]),
        q=np.concatenate([first.q, second.q[new]]),
        v=np.concatenate([first.v, second.v[new]]),
        energy=energy,
        energy_error=off,
        violation=violation,
        constraint_violation=opening,
        velocity_violation=max(first.velocity_violation, second.velocity_violation),
        jacobi_drift=_jacobi(first, second, energy),
        steps=first.steps + second.steps,
        rejected=first.rejected + second.rejected,
        rhs_evaluations=first.rhs_evaluations + second.rhs_evaluations,
        seconds=first.seconds + second.seconds,
        remarks=tuple(dict.fromkeys((*first.remarks, *second.remarks))),
        events=_crossings(first, second),
        nearest_singularity=_nearer(first, second),
        elsewhere=_elsewhere(first.elsewhere, second.elsewhere),
        doubts=(*dict.fromkeys(others), *doubts),
        settings=settings,
        evidence=None,
    )
    return replace(made, evidence=_evidence(made, course, second))


def _account(first: EnergyAccount, second: EnergyAccount) -> EnergyAccount:
    """One energy account: work and errors accumulate from the start of the first run."""

    def chain(name: str, add: float = 0.0) -> Array:
        return np.concatenate([getattr(first, name), getattr(second, name)[1:] + add])

    inside = np.concatenate([first.inside, second.inside + float(first.error[-1])])
    work = chain("work", float(first.work[-1]))
    return EnergyAccount(chain("t"), chain("kinetic"), chain("potential"), work, inside)


def _jacobi(first: Trajectory, second: Trajectory, energy: EnergyAccount) -> float | None:
    """Drift of the Jacobi integral over both runs: that of the second adds to the change over the first."""
    if first.jacobi_drift is None or second.jacobi_drift is None or not gives_jacobi(first.system):
        return None
    states = (first.state(0), last_state(first))
    q, v, t = (np.array([getattr(x, name) for x in states]) for name in ("q", "v", "t"))
    values = jacobi_integral(first.system, q, v, t, parameters=first.parameters)
    before = abs(float(values[1] - values[0]))
    size = max(first.jacobi_drift * first.energy.scale, second.jacobi_drift * second.energy.scale + before)
    return size / energy.scale


def _crossings(first: Trajectory, second: Trajectory) -> Mapping[str, Crossings]:
    """Occurrences in both runs; one at the seam counts once."""
    found: dict[str, Crossings] = {}
    seam, length = float(first.energy.t[-1]), abs(float(second.energy.t[-1] - first.energy.t[0]))
    for name in dict.fromkeys((*first.events, *second.events)):
        one, two = first.events.get(name), second.events.get(name)
        if one is None or two is None:
            found[name] = one if two is None else two  # type: ignore[assignment]
            continue
        close = len(one) and abs(one.t[-1] - seam) <= SAME_TIME * length
        new = np.abs(two.t - seam) > SAME_TIME * length if close else np.ones(len(two), dtype=bool)
        parts: dict[str, Any] = {x: np.concatenate([getattr(one, x), getattr(two, x)[new]]) for x in ("t", "q", "v")}
        found[name] = replace(one, **parts)
    return found


def _nearer(first: Trajectory, second: Trajectory) -> Any:
    """The nearest singularity of both runs."""
    found = [x for x in (first.nearest_singularity, second.nearest_singularity) if x is not None]
    return min(found, key=lambda x: x.distance, default=None)


def _elsewhere(first: Elsewhere | None, second: Elsewhere | None) -> Elsewhere:
    """States of both runs in other coordinates."""
    one, two = first or Elsewhere(), second or Elsewhere()
    made = replace(
        two,
        twin=two.twin or one.twin,
        t=np.zeros(0),
        y=np.zeros((0, 0)),
        switch_t=[*one.switch_t, *two.switch_t],
        switch_y=[*one.switch_y, *two.switch_y],
        notes=tuple(dict.fromkeys((*one.notes, *two.notes))),
    )
    for part in (one, two):
        if part.t.size:
            made.keep(part.t, part.y)
    return made


def _evidence(run: Trajectory, course: Course, second: Trajectory) -> Evidence | None:
    """What the estimate of the error needs: the states of the whole run, and how to repeat it from its start."""
    if len(run) < 2 or not run.q.size or run.settings is None:
        return None
    whole = replace(course, start=run.state(0), settings=run.settings, events=(), on_progress=None)
    work = [run["work"][:, None]] if course.system.dynamics(course.vector).quadratures else []
    singular = run.events.get(SINGULAR.name)
    none = np.zeros(0)
    states = Integration(
        t=run.t, y=np.hstack([run.q, run.v, *work]), sample_t=none, sample_y=none, outcome=run.outcome, detail="",
        accepted=run.steps, rejected=run.rejected, rhs_evaluations=run.rhs_evaluations, seconds=run.seconds,
        max_drift=0.0, max_violation=0.0, method=run.stepper, singular_t=none if singular is None else singular.t,
    )  # fmt: skip
    longest = second.evidence.longest if isinstance(second.evidence, Evidence) else np.inf
    if run.elsewhere is not None and run.elsewhere.switch_t:
        return at_samples(evidence_elsewhere(whole, states, longest, run.elsewhere), run.energy.t)
    return at_samples(evidence_of(whole, states, longest), run.energy.t)
