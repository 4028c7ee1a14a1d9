"""Integration of ordinary differential equations at compiled speed.

:func:`integrate` checks its input, then runs the compiled loop in short stretches, so that progress can
be shown and the run can be interrupted with everything computed so far kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pendula.numerics.compiled.native import Callback
from pendula.numerics.steppers import explicit, runge_kutta
from pendula.numerics.steppers.collocation import collocation
from pendula.numerics.steppers.explicit import advance
from pendula.numerics.steppers.implicit import advance_implicit
from pendula.numerics.steppers.runge_kutta import Run
from pendula.numerics.steppers.tableaus import METHODS, RADAU, Tableau
from pendula.numerics.steppers.watch import BAD, FOUND, STOPPED, Watch, Watched, watch_arrays, with_room
from pendula.outcome import Outcome

TIGHTEST_RTOL = 1e-14
FIRST_STRETCH = 16  # step attempts before the speed of the right-hand side is known
LONGEST_STRETCH = 4096
SECONDS_PER_STRETCH = 0.1
FIRST_BUFFER = 256  # accepted steps; doubled when full

Progress = Callable[[float, float, int], object]
Loop = Callable[[Watch, np.ndarray, np.ndarray, int], int]

_OUTCOMES = {
    explicit.DONE: Outcome.FINISHED,
    explicit.TOO_SMALL: Outcome.STEP_TOO_SMALL,
    explicit.BAD_VALUE: Outcome.NOT_FINITE,
    explicit.BAD_START: Outcome.NOT_FINITE,
    explicit.NO_PROJECTION: Outcome.PROJECTION_FAILED,
    explicit.STEPS_USED_UP: Outcome.TOO_MANY_STEPS,
    explicit.NO_SOLUTION: Outcome.STEP_TOO_SMALL,
    explicit.AT_EVENT: Outcome.EVENT,
    explicit.BAD_EVENT: Outcome.EVENT_FAILED,
}


@dataclass(frozen=True)
class Integration:
    """What an integration computed, and how it ended. Everything up to the end is kept in every case.

    Attributes:
        t, y: time, shape (steps + 1,), and state, shape (steps + 1, n), at the start and after every
            accepted step.
        sample_t, sample_y: the sample times that were reached and the states there, by dense output.
        outcome: how the run ended; ``outcome.ok`` if it reached the final time.
        detail: a sentence with the numbers behind the outcome; empty if it finished.
        accepted, rejected: number of steps.
        rhs_evaluations: calls of the right-hand side, for the start and dense output included.
        seconds: wall time of the compiled loop, without compilation.
        max_drift: largest violation of the constraints before a step was projected; 0 without projection.
        max_violation: largest violation left after projection, samples included; 0 without projection.
        method: name of the method.
        stiff_from: time from which an explicit method was held to short steps by stability, not by accuracy; None
            where that was not seen.
        event_t, event_y: times and states at which watched functions crossed zero, in order.
        event_which: index of the function of each.
        event_hurried: for each function the time of the first step in which it turned so often that crossings may
            have been missed; NaN where none was.
    """

    t: np.ndarray
    y: np.ndarray
    sample_t: np.ndarray
    sample_y: np.ndarray
    outcome: Outcome
    detail: str
    accepted: int
    rejected: int
    rhs_evaluations: int
    seconds: float
    max_drift: float
    max_violation: float
    method: str
    stiff_from: float | None = None
    event_t: np.ndarray = field(default_factory=lambda: np.zeros(0))
    event_y: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    event_which: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    event_hurried: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass
class _Stored:
    """Accepted steps so far, in buffers that are longer than needed; and how the loop last returned."""

    t: np.ndarray
    y: np.ndarray
    watch: Watch
    seconds: float = 0.0
    code: int = explicit.GO_ON


def integrate(
    rhs: Callback,
    y0: Sequence[float] | np.ndarray,
    t_span: Sequence[float],
    *,
    rtol: float,
    atol: float | Sequence[float] | np.ndarray,
    method: str = "dop853",
    sample_times: Sequence[float] | np.ndarray | None = None,
    project: Callback | None = None,
    quadratures: int = 0,
    max_steps: int = 1_000_000,
    first_step: float | None = None,
    max_step: float = np.inf,
    step: float | None = None,
    on_progress: Progress | None = None,
    breakpoints: Sequence[float] | np.ndarray = (),
    watched: Watched | None = None,
) -> Integration:
    """Solve y' = f(t, y) from ``t_span[0]`` to ``t_span[1]``, forwards or backwards.

    Steps are chosen as SciPy's ``solve_ivp`` chooses them (same methods and error norms; same controller for the
    explicit ones). Values that are not finite are never returned: the step is shortened, unless it is fixed, and
    if that does not help the run stops.

    Args:
        rhs: reads ``[t, y...]``, writes ``dy/dt``; NaN where it cannot be evaluated.
        y0: initial state.
        t_span: first and last time.
        rtol: relative tolerance of one step, from 1e-14 up.
        atol: absolute tolerance of one step; a number, or one for each component.
        method: ``"dop853"`` (order 8, dense output of order 7), ``"rk45"`` (order 5, dense output of
            order 4), ``"rk4"`` (order 4, dense output of order 3, steps of fixed size) or ``"radau"`` (implicit, for
            stiff equations; order 5, dense output of order 3).
        sample_times: times inside ``t_span``, in the order of integration, at which states are wanted.
        project: reads ``[t, y...]``, writes the state brought onto the constraints followed by the
            violation before, the violation after, and 0 if it succeeded. Applied after every step and to
            every sample.
        quadratures: the last so many components are integrated along without influence on the steps
            (where there are no other components, they do control the steps).
        max_steps: attempted steps, rejected ones included, before the run stops.
        first_step: size of the first step; chosen automatically if None.
        max_step: largest step size.
        step: size of the steps of ``"rk4"``, which has no tolerance; the last one, and those onto breakpoints, may
            be shorter. Other methods choose their steps.
        on_progress: called as ``on_progress(t, t_end, accepted)`` about ten times a second.
            ``KeyboardInterrupt``, from here or from the keyboard, ends the run as ``INTERRUPTED``.
        breakpoints: times at which the right-hand side may jump. Steps end exactly there; the right-hand
            side is evaluated just before on one side and just after on the other. Times outside
            ``t_span`` are left out.
        watched: functions of time and state whose zeros are recorded; some may end the run.

    Returns:
        An :class:`Integration`; failures during the run are told by its ``outcome``.

    Raises:
        ValueError: an argument is out of range; the message says which and what is allowed.

    Example:
        >>> import numpy as np
        >>> from pendula.numerics.compiled.jit import compiled_callback
        >>> from pendula.numerics.compiled.native import doubles_at
        >>> @compiled_callback
        ... def oscillator(out, inp, context):
        ...     y, dy = doubles_at(inp, 3), doubles_at(out, 2)
        ...     dy[0], dy[1] = y[2], -y[1]
        >>> run = integrate(oscillator.bind(), [1.0, 0.0], (0.0, 2 * np.pi), rtol=1e-10, atol=1e-10)
        >>> print(run.outcome)
        finished: reached the final time
        >>> bool(abs(run.y[-1, 0] - 1.0) < 1e-9)
        True
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; choose one of: {', '.join(METHODS)}")
    tableau = METHODS[method]
    start = np.array(y0, dtype=float)
    if start.ndim != 1:
        raise ValueError(f"y0 must be a list of numbers, got an array of shape {start.shape}")
    _require_finite("y0", start)
    t0, t_end = _checked_span(t_span)
    _check_settings(rtol, quadratures, start.size, max_steps, first_step, max_step)
    direction = -1.0 if t_end < t0 else 1.0
    samples = _checked_samples(sample_times, t0, t_end, direction)
    nudge = 4.0 * float(np.spacing(max(abs(t0), abs(t_end))))
    breaks = _checked_breakpoints(breakpoints, t0, t_end, direction, nudge)
    _check_step(method, step, t0, t_end, breaks.size, max_steps)
    if step is not None:
        first_step = max_step = min(step, max_step)
    starts_on_break = breaks.size > 0 and breaks[0] == t0

    arrays = runge_kutta.workspace(tableau, start.size)
    arrays["real"][runge_kutta.T] = t0
    arrays["real"][runge_kutta.EARLIEST] = t0 + direction * nudge if starts_on_break else t0
    run = Run(
        rhs=rhs.address,
        rhs_context=rhs.context,
        project=project.address if project else 0,
        project_context=project.context if project else 0,
        watching=watched is not None,
        t_end=t_end,
        direction=direction,
        rtol=float(rtol),
        max_step=float(max_step),
        nudge=nudge,
        max_attempts=int(max_steps),
        controlled=start.size - quadratures if quadratures < start.size else start.size,
        atol=_checked_atol(atol, start.size),
        breaks=breaks[1:] if starts_on_break else breaks,
        sample_t=samples,
        sample_y=np.zeros((samples.size, start.size)),
        y=runge_kutta.padded(start),
        **arrays,
    )
    first = 0.0 if first_step is None else float(first_step)
    return _run(run, tableau, method, first, rhs, project, watched, on_progress)


def _check_step(method: str, step: float | None, t0: float, t_end: float, breakpoints: int, max_steps: int) -> None:
    """Refuses a fixed step that is missing, out of place, or of no use."""
    if METHODS[method].error_order > 0:
        if step is not None:
            raise ValueError(f"{method} chooses its steps; a fixed step goes with rk4, got step={step!r}")
        return
    if step is None:
        raise ValueError(f"{method} takes steps of a fixed size, and none was given; give step=...")
    if not isinstance(step, (int, float, np.floating, np.integer)) or not 0.0 < step < np.inf:
        raise ValueError(f"the step must be positive and finite, got {step!r}")
    span = abs(t_end - t0)
    if span == 0.0:
        return
    if step > span * (1.0 + explicit.SLIVER):
        raise ValueError(f"the step {step:g} is longer than the time span, which is {span:g}")
    if step < 10.0 * np.spacing(max(abs(t0), abs(t_end))):
        raise ValueError(f"the step {step:g} is too short: it hardly changes t = {max(abs(t0), abs(t_end)):g}")
    needed = np.ceil(span / step - explicit.SLIVER) + breakpoints
    if needed > max_steps:
        raise ValueError(f"steps of {step:g} over {span:g} are {needed:.10g}, but max_steps is {max_steps}")


def _loop(run: Run, tableau: Tableau, first_step: float) -> Loop:
    """The compiled loop of a method, waiting for buffers and a number of attempts."""

    def watched(watch: Watch) -> Watch | None:
        """None is compiled to a loop without events, which takes half the time to compile."""
        return watch if run.watching else None

    if tableau is RADAU:
        implicit = collocation(run.y.size, run.controlled, run.rtol)
        return lambda watch, t, y, count: int(
            advance_implicit(run, tableau, implicit, watched(watch), first_step, t, y, count)
        )
    return lambda watch, t, y, count: int(advance(run, tableau, watched(watch), first_step, t, y, count))


def _run(
    run: Run,
    tableau: Tableau,
    method: str,
    first_step: float,
    rhs: Callback,
    project: Callback | None,
    watched: Watched | None,
    on_progress: Progress | None,
) -> Integration:
    """Drive the compiled loop to its end and gather the result."""
    watch = watch_arrays(watched, run.y.size)
    stored = _Stored(np.empty(FIRST_BUFFER), np.empty((FIRST_BUFFER, run.y.size)), watch)
    stored.t[0], stored.y[0] = run.real[runge_kutta.T], run.y
    run.counter[runge_kutta.STORED] = 1
    loop = _loop(run, tableau, first_step)
    loop(watch, stored.t, stored.y, 0)  # compiles, takes no step
    try:
        _drive(run, loop, stored, on_progress)
        outcome = _OUTCOMES[stored.code]
    except KeyboardInterrupt:
        reached = run.direction * (run.real[runge_kutta.T] - run.t_end) >= 0.0
        outcome = Outcome.FINISHED if reached else Outcome.INTERRUPTED

    outcome, detail = _explain(outcome, stored.code, run, tableau, rhs, project, watched, stored.watch)
    watch, found = stored.watch, int(stored.watch.tally[FOUND])
    points, sampled = int(run.counter[runge_kutta.STORED]), int(run.counter[runge_kutta.NEXT_SAMPLE])
    return Integration(
        t=stored.t[:points].copy(),
        y=stored.y[:points].copy(),
        sample_t=run.sample_t[:sampled].copy(),
        sample_y=run.sample_y[:sampled].copy(),
        outcome=outcome,
        detail=detail,
        accepted=points - 1,
        rejected=int(run.counter[runge_kutta.REJECTED]),
        rhs_evaluations=int(run.counter[runge_kutta.EVALUATIONS]),
        seconds=stored.seconds,
        max_drift=float(run.real[runge_kutta.DRIFT]),
        max_violation=float(run.real[runge_kutta.VIOLATION]),
        method=method,
        stiff_from=_stiff_from(run, points - 1),
        event_t=watch.t[:found].copy(),
        event_y=watch.y[:found].copy(),
        event_which=watch.which[:found].copy(),
        event_hurried=watch.hurried.copy(),
    )


def _stiff_from(run: Run, accepted: int) -> float | None:
    """Where steps began to be limited by stability, if that holds for most of a run that took many.

    A mechanism that comes to rest at last is limited by stability too, but its steps are long then, and few.
    """
    looks = int(run.counter[runge_kutta.LOOKS_STIFF])
    if looks < explicit.STIFF_LOOKS or 2 * looks * explicit.STIFF_EVERY < accepted:
        return None
    return float(run.real[runge_kutta.STIFF_FROM])


def _drive(run: Run, loop: Loop, stored: _Stored, on_progress: Progress | None) -> None:
    """Run in stretches until something ends the run.

    A function of its own because Python may raise KeyboardInterrupt on the jump at the end of a loop,
    which a ``try`` around the loop in the same function does not cover.
    """
    stretch = FIRST_STRETCH
    while stored.code in (explicit.GO_ON, explicit.BUFFER_FULL):
        before = time.perf_counter()
        stored.code = loop(stored.watch, stored.t, stored.y, stretch)
        spent = time.perf_counter() - before
        stored.seconds += spent
        if stored.code == explicit.BUFFER_FULL:
            if run.counter[runge_kutta.STORED] >= stored.t.size:
                stored.t, stored.y = _doubled(stored.t), _doubled(stored.y)
            stored.watch = with_room(stored.watch)
            continue
        stretch = int(stretch * min(8.0, SECONDS_PER_STRETCH / max(spent, 1e-9)))
        stretch = max(1, min(stretch, LONGEST_STRETCH))
        if on_progress is not None:
            accepted = int(run.counter[runge_kutta.STORED]) - 1
            on_progress(float(run.real[runge_kutta.T]), run.t_end, accepted)


def _doubled(rows: np.ndarray) -> np.ndarray:
    longer = np.empty((2 * len(rows), *rows.shape[1:]))
    longer[: len(rows)] = rows
    return longer


def _explain(
    outcome: Outcome,
    code: int,
    run: Run,
    tableau: Tableau,
    rhs: Callback,
    project: Callback | None,
    watched: Watched | None,
    watch: Watch,
) -> tuple[Outcome, str]:
    """The outcome, refined by what the right-hand side says about itself, and the numbers behind it."""
    t, where = run.real[runge_kutta.T], run.real[runge_kutta.WHERE]
    if watched is not None and outcome is Outcome.EVENT:
        return outcome, f"{watched.name(int(watch.tally[STOPPED]))} at t = {t:.9g}"
    if watched is not None and outcome is Outcome.EVENT_FAILED:
        return outcome, f"{watched.name(int(watch.tally[BAD]))} has no value soon after t = {t:.9g}"
    component = int(run.counter[runge_kutta.COMPONENT])
    which = f"component {component}" if component >= 0 else "the error estimate"
    failing = project if project is not None and outcome is Outcome.PROJECTION_FAILED else rhs
    failure = getattr(failing.owner, "failure", None)
    if outcome is Outcome.NOT_FINITE and failure:
        return (
            Outcome.CALLBACK_FAILED,
            f"{failure} (at t = {where:.9g}; the last good state is at t = {t:.9g})",
        )
    if code == explicit.BAD_START:
        return outcome, f"the derivative at the initial state (t = {t:.9g}) is not finite: {which}"
    if outcome is Outcome.NOT_FINITE:
        tried = "with this step" if tableau.error_order == 0 else "however short the step"
        return outcome, f"{which} is not finite near t = {where:.9g}, {tried}; last good t = {t:.9g}"
    if code == explicit.NO_SOLUTION:
        return outcome, f"at t = {t:.9g} the equations of the implicit step could not be solved, however short the step"
    if outcome is Outcome.STEP_TOO_SMALL:
        h = run.real[runge_kutta.H_ABS]
        return (
            outcome,
            f"at t = {t:.9g} the tolerance would need steps of {h:.3g}; a singularity is likely there",
        )
    if outcome is Outcome.TOO_MANY_STEPS:
        return outcome, f"{run.max_attempts} steps were tried; reached t = {t:.9g} of {run.t_end:.9g}"
    if outcome is Outcome.INTERRUPTED:
        return outcome, f"reached t = {t:.9g} of {run.t_end:.9g}"
    if outcome is Outcome.PROJECTION_FAILED:
        reason = f": {failure}" if failure else ""
        return outcome, f"the projection failed at t = {where:.9g}{reason}; last good t = {t:.9g}"
    return outcome, ""


def _require_finite(name: str, values: np.ndarray) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(f"{name} must be finite, but entry {bad[0]} is {values[bad[0]]}")


def _checked_span(t_span: Sequence[float]) -> tuple[float, float]:
    span = np.array(t_span, dtype=float)
    if span.shape != (2,):
        raise ValueError(f"t_span must be two times (first, last), got {t_span!r}")
    _require_finite("t_span", span)
    return float(span[0]), float(span[1])


def _check_settings(
    rtol: float, quadratures: int, n: int, max_steps: int, first_step: float | None, max_step: float
) -> None:
    if not TIGHTEST_RTOL <= rtol <= 1.0:
        raise ValueError(f"rtol must lie between {TIGHTEST_RTOL:g} and 1, got {rtol!r}")
    if not 0 <= quadratures <= n:
        raise ValueError(f"quadratures must lie between 0 and the number of components {n}, got {quadratures!r}")
    if max_steps < 1:
        raise ValueError(f"max_steps must be at least 1, got {max_steps!r}")
    if first_step is not None and not 0.0 < first_step < np.inf:
        raise ValueError(f"first_step must be positive and finite, got {first_step!r}")
    if not max_step > 0.0:
        raise ValueError(f"max_step must be positive, got {max_step!r}")


def _checked_atol(atol: float | Sequence[float] | np.ndarray, n: int) -> np.ndarray:
    values = np.array(atol, dtype=float)
    if values.ndim > 0 and values.shape != (n,):
        raise ValueError(f"atol must be a number or one for each of {n} components, got shape {values.shape}")
    values = np.array(np.broadcast_to(values, (n,)))  # a copy: a view that cannot be written has a type of its own
    if not np.all((values > 0.0) & np.isfinite(values)):
        raise ValueError(f"atol must be positive and finite, got {atol!r}")
    return values


def _checked_samples(
    sample_times: Sequence[float] | np.ndarray | None, t0: float, t_end: float, direction: float
) -> np.ndarray:
    samples = np.array(() if sample_times is None else sample_times, dtype=float)
    if samples.ndim != 1:
        raise ValueError(f"sample_times must be a list of times, got an array of shape {samples.shape}")
    _require_finite("sample_times", samples)
    if np.any(direction * np.diff(samples) < 0.0):
        raise ValueError("sample_times must be in the order of integration")
    slack = 8.0 * np.spacing(max(abs(t0), abs(t_end)))
    low, high = min(t0, t_end), max(t0, t_end)
    if samples.size and (samples.min() < low - slack or samples.max() > high + slack):
        raise ValueError(
            f"sample_times must lie in t_span [{low:g}, {high:g}]; got {samples.min():g} to {samples.max():g}"
        )
    return np.clip(samples, low, high)


def _checked_breakpoints(
    breakpoints: Sequence[float] | np.ndarray, t0: float, t_end: float, direction: float, nudge: float
) -> np.ndarray:
    """Breakpoints in the order of integration; those that rounding alone tells apart are one."""
    given = np.array(breakpoints, dtype=float).ravel()
    _require_finite("breakpoints", given)
    kept: list[float] = []
    for at in sorted(given, key=lambda value: direction * value):
        for end in (t0, t_end):
            at = end if abs(at - end) <= 4.0 * nudge else at
        inside = direction * (at - t0) >= 0.0 and direction * (t_end - at) >= 0.0
        if inside and (not kept or abs(at - kept[-1]) > 4.0 * nudge):
            kept.append(at)
    return np.array(kept)
