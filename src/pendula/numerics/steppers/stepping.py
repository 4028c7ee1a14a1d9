"""Integration of ordinary differential equations at compiled speed.

:func:`integrate` checks its input, then runs the compiled loop in short stretches, so that it can show progress and
keep all results so far when the user interrupts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pendula.errors import NotSupported
from pendula.numerics import refusals
from pendula.numerics.compiled.native import Callback
from pendula.numerics.compiled.records import Memory
from pendula.numerics.steppers import checks
from pendula.numerics.steppers.control import STIFF_EVERY, STIFF_LOOKS
from pendula.numerics.steppers.drive import Drive, doubled
from pendula.numerics.steppers.endings import explain, outcome_of
from pendula.numerics.steppers.loop import LOOKS_EACH, advance
from pendula.numerics.steppers.run import new_run
from pendula.numerics.steppers.stepper import STEPPERS, Stepper
from pendula.numerics.steppers.watch import Watched, make_room, watch_memory, watch_step
from pendula.outcome import Outcome

FIRST_BUFFER = 256  # accepted steps; doubled when full

GUARDED_STRETCH = 256  # attempted steps between two calls of a guard

Progress = Callable[[float, float, int], object]
Guard = Callable[[np.ndarray, np.ndarray], int | None]
OnSamples = Callable[[np.ndarray, np.ndarray], object]


@dataclass(frozen=True)
class Integration:
    """The results of an integration, and how it ended. It keeps everything up to the end in every case.

    Attributes:
        t, y: time, shape (steps + 1,), and state, shape (steps + 1, n), at the start and after every
            accepted step.
        sample_t, sample_y: the sample times that were reached and the states there, by dense output.
        outcome: how the run ended; ``outcome.ok`` if it reached the final time.
        detail: a sentence with the numbers behind the outcome; empty if it finished.
        accepted, rejected: number of steps.
        rhs_evaluations: calls of the right-hand side, including those for the start and dense output.
        seconds: wall time of the compiled loop, without compilation.
        max_drift: largest violation of the constraints before a step was projected; 0 without projection.
        max_violation: largest violation after projection, including samples; 0 without projection.
        method: name of the method.
        stiff_from: time from which stability, not accuracy, limited the steps of an explicit method; None if it did
            not.
        event_t, event_y: times and states at which watched functions crossed zero, in order.
        event_which: index of the function for each event.
        inside_t, inside_y: times and states between the ends of steps (``inside_every``), by dense output.
        singular_t, singular_y: times and states of singular poses that the run passed.
        event_hurried: for each function the time of the first step in which it oscillated so often that crossings may
            have been missed; NaN if there was none.
        event_touched: for each function the time at which it first came so close to zero, without a change of sign,
            that it may touch it; NaN if it did not.
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
    event_touched: np.ndarray = field(default_factory=lambda: np.zeros(0))
    inside_t: np.ndarray = field(default_factory=lambda: np.zeros(0))
    inside_y: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    singular_t: np.ndarray = field(default_factory=lambda: np.zeros(0))
    singular_y: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))


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
    coordinates: int | None = None,
    guard: Guard | None = None,
    inside_every: int = 0,
    on_samples: OnSamples | None = None,
    keep_on_interrupt: bool = True,
) -> Integration:
    """Solve y' = f(t, y) from ``t_span[0]`` to ``t_span[1]``, forwards or backwards.

    Methods and error norms are those of SciPy's ``solve_ivp``. Where values are not finite the step is shortened,
    unless it is fixed, and if that does not help the run stops.

    Args:
        rhs: reads ``[t, y...]``, writes ``dy/dt``; NaN if it cannot be evaluated.
        y0, t_span: initial state; first and last time.
        rtol, atol: relative (from 1e-14 up) and absolute tolerance of a step; atol may be one for each component.
        method: name of a stepper (:data:`~pendula.numerics.steppers.stepper.STEPPERS`) other than "taylor".
        sample_times: times inside ``t_span``, in the order of integration, at which to return states.
        project: reads ``[t, y...]``, writes the state on the constraints, the violation before and after, and 0 if it
            succeeded. Applied after every step and to every sample.
        quadratures: number of components, at the end, that do not influence the steps (unless there are no others).
        max_steps: most attempted steps, including rejected ones, before the run stops.
        first_step, max_step: size of the first step (None: chosen), and the largest size.
        step: step size of a fixed-step stepper; the last step and those that end at breakpoints may be shorter.
        on_progress: called as ``on_progress(t, t_end, accepted)`` about ten times a second. ``KeyboardInterrupt``,
            from here or from the keyboard, ends the run as ``INTERRUPTED``, or is raised.
        breakpoints: times at which the right-hand side may jump. Steps end exactly there; the step before evaluates it
            just before the jump, the step after just after it. Times outside ``t_span`` are ignored.
        watched: functions of time and state whose zeros are recorded; some may end the run.
        coordinates: number of positions, the first components, for steppers that treat them differently.
        guard: called as ``guard(t, y)`` with the states of the steps since the last call. If it returns the index of
            one of them, the run ends there: steps, samples and events after that state are dropped.
        inside_every: keep states inside steps by dense output, at two points of each of the first 16 steps, of every
            second of the next 32, and so on, but at least of one in this many; 0: none. Where dense output takes no
            evaluations, one point of every step is kept.
        on_samples: called as ``on_samples(t, y)`` about ten times a second, with the samples since the last call.
        keep_on_interrupt: whether to return an interrupted run as far as it came; otherwise ``KeyboardInterrupt`` is
            raised, for computations that need complete runs.

    Returns:
        An :class:`Integration`; ``outcome`` reports failures during the run.

    Raises:
        ValueError: an argument is out of range; the message names it and states what is allowed.
        UsageError, NotSupported: there is no such stepper, or it does not support a requested feature.
        KeyboardInterrupt: the user interrupted, and ``keep_on_interrupt`` is False.

    Example:
        >>> from pendula.numerics.compiled.jit import compiled_callback
        >>> from pendula.numerics.compiled.native import doubles_at
        >>> @compiled_callback
        ... def oscillator(out, inp, context):
        ...     y, dy = doubles_at(inp, 3), doubles_at(out, 2)
        ...     dy[0], dy[1] = y[2], -y[1]
        >>> integrate(oscillator.bind(), [1.0, 0.0], (0.0, np.pi), rtol=1e-10, atol=1e-10).y[-1, :1].round(9)
        array([-1.])
    """
    stepper = _stepper(method, coordinates, watched, project)
    start = checks.checked_start(y0)
    checks.check_settings(rtol, quadratures, start.size, max_steps, first_step, max_step)
    span = Span.checked(t_span, sample_times, breakpoints)
    checks.check_step(stepper, step, span.t0, span.t_end, span.all_breaks, max_steps)
    first_step, max_step = (first_step, max_step) if step is None else (min(step, max_step),) * 2
    run = new_run(stepper.native.tableau, start)
    span.install(run)
    run.rtol, run.max_step, run.max_attempts = float(rtol), float(max_step), max_steps
    run.inside_every = inside_every if run.extra_stages or not inside_every else 1
    run.inside_gap, run.inside_left = 1, LOOKS_EACH
    run.first_step, run.fixed = 0.0 if first_step is None else float(first_step), int(stepper.fixed)
    run.atol = checks.checked_atol(atol, start.size)
    run.controlled, run.coordinates = run.n - quadratures or run.n, coordinates or 0
    run.speeds = run.n - quadratures - run.coordinates
    run.rhs, run.rhs_context = rhs.address, rhs.context
    running = Running(run, method, advance, project, watched)
    stepper.native.install(run, run.n, run.controlled, run.rtol)

    def explained(outcome: Outcome, code: int) -> tuple[Outcome, str]:
        return explain(outcome, code, run, rhs, project, watched, running.watch)

    return running.to_the_end(explained, on_progress, guard, on_samples, keep_on_interrupt)


def _stepper(method: str, coordinates: int | None, watched: Watched | None, project: Callback | None) -> Stepper:
    """The stepper of a name, if it supports the request."""
    stepper = STEPPERS[method]
    if stepper.series:
        raise NotSupported(refusals.SERIES, method=method)
    if stepper.splits and coordinates is None:
        raise ValueError(f"{method} treats positions and speeds differently; give the number of coordinates")
    if watched is not None:
        stepper.require("events")
    if project is not None:
        stepper.require("constraints")
    return stepper


@dataclass(frozen=True)
class Span:
    """The time of an integration: its ends, the samples, and the breakpoints inside.

    Attributes:
        t0, t_end: first and last time.
        direction: 1 or -1.
        nudge: distance from a breakpoint at which the right-hand side is evaluated on either side.
        samples, breaks: times in the order of integration, without a breakpoint at t0.
        earliest: time of the first evaluation: t0, or just after it if that is a breakpoint.
    """

    t0: float
    t_end: float
    direction: float
    nudge: float
    samples: np.ndarray
    breaks: np.ndarray
    earliest: float
    all_breaks: int

    @classmethod
    def checked(
        cls,
        t_span: Sequence[float],
        samples: Sequence[float] | np.ndarray | None,
        breakpoints: Sequence[float] | np.ndarray,
    ) -> Span:
        """Checks the arguments.

        Raises:
            ValueError: an argument is out of range.
        """
        t0, t_end = checks.checked_span(t_span)
        direction = -1.0 if t_end < t0 else 1.0
        nudge = 4.0 * float(np.spacing(max(abs(t0), abs(t_end))))
        breaks = checks.checked_breakpoints(breakpoints, t0, t_end, direction, nudge)
        on_break = breaks.size > 0 and breaks[0] == t0
        times = checks.checked_samples(samples, t0, t_end, direction)
        earliest = t0 + direction * nudge if on_break else t0
        return cls(t0, t_end, direction, nudge, times, breaks[1:].copy() if on_break else breaks, earliest, breaks.size)

    def install(self, run: Memory) -> None:
        """Writes the span into the record of a run."""
        run.t = run.t_first = self.t0
        run.t_end, run.direction, run.nudge, run.earliest = self.t_end, self.direction, self.nudge, self.earliest
        run.breaks, run.breaks_count = self.breaks, self.breaks.size
        run.sample_t, run.samples = self.samples, self.samples.size
        run.sample_y = np.zeros((self.samples.size, run.n))


class Running:
    """A running integration: its projection and events in the record, and its steps in buffers that grow.

    Args:
        run: the record of the run, with the initial time and state.
        method: name of the stepper.
        loop: the compiled loop, called with the address of the record and a number of attempts.
        project, watched: as of :func:`integrate`.
    """

    def __init__(
        self,
        run: Memory,
        method: str,
        loop: Callable[[int, int], int],
        project: Callback | None,
        watched: Watched | None = None,
    ) -> None:
        self._run, self._method, self._loop = run, method, loop
        self.watch: Memory | None = None
        run.t_out, run.y_out = np.empty(FIRST_BUFFER), np.empty((FIRST_BUFFER, run.n))
        run.t_out[0], run.y_out[0] = run.t, run.y
        if run.inside_every:
            some = FIRST_BUFFER + 1 if run.inside_every == 1 else 2 * (FIRST_BUFFER // 2 + LOOKS_EACH)
            run.inside_t, run.inside_y = np.empty(some), np.empty((some, run.n))
        run.capacity, run.stored, run.events_capacity = FIRST_BUFFER, 1, 1
        if project is not None:
            run.project, run.project_context = project.address, project.context
        if watched is not None:
            run.watch = watch_step.address
            self.watch = watch_memory(watched, run.n)
            run.watched = self.watch.address
            run.events_capacity = make_room(self.watch, 0)

    def to_the_end(
        self,
        explained: Callable[[Outcome, int], tuple[Outcome, str]],
        on_progress: Progress | None,
        guard: Guard | None,
        on_samples: OnSamples | None,
        keep: bool,
    ) -> Integration:
        """Runs the loop to its end and collects the result.

        ``explained`` refines an outcome with its code, and returns a message with the numbers behind it.
        """
        run, seen, given = self._run, 0, 0

        def show() -> None:
            if on_progress is not None:
                on_progress(run.t, run.t_end, run.stored - 1)

        def look() -> bool:
            nonlocal given
            ended = halt()  # first: it may drop samples
            if on_samples is not None and run.next_sample > given:
                on_samples(run.sample_t[given : run.next_sample].copy(), run.sample_y[given : run.next_sample].copy())
                given = run.next_sample
            return ended

        def halt() -> bool:
            nonlocal seen
            if guard is None or run.stored == seen:
                return False
            index = guard(run.t_out[seen : run.stored], run.y_out[seen : run.stored])
            if index is not None:
                self._go_back(seen + index)
            seen = run.stored
            return index is not None

        watching = look if guard or on_samples else None
        drive = Drive(lambda attempts: self._loop(run.address, attempts), show, self._make_room, watching, keep=keep)
        drive.longest = min(drive.longest, GUARDED_STRETCH if guard else drive.longest)
        drive.to_the_end()
        outcome = outcome_of(drive, run.direction * (run.t - run.t_end) >= 0.0)
        return self._gathered(*explained(outcome, drive.code), drive.seconds)

    def _go_back(self, index: int) -> None:
        """Drops all that came after a step."""
        run, watch = self._run, self.watch
        run.t, run.stored = float(run.t_out[index]), index + 1
        if run.inside:
            run.inside = int((run.direction * (run.inside_t[: run.inside] - run.t) < 0.0).sum())
        beyond = run.direction * (run.sample_t[: run.next_sample] - run.t) > 0.0
        run.next_sample -= int(beyond.sum())
        if watch is not None:
            run.events -= int((run.direction * (watch.t[: run.events] - run.t) > 0.0).sum())

    def _make_room(self) -> None:
        run = self._run
        if run.stored >= run.capacity:
            run.t_out, run.y_out = doubled(run.t_out), doubled(run.y_out)
            if run.inside_every:
                run.inside_t, run.inside_y = doubled(run.inside_t), doubled(run.inside_y)
            run.capacity = run.t_out.size
        if self.watch is not None:
            run.events_capacity = make_room(self.watch, run.events)

    def _gathered(self, outcome: Outcome, detail: str, seconds: float) -> Integration:
        run, watch = self._run, self.watch
        more: dict[str, np.ndarray] = {}
        if watch is not None:
            found = run.events
            more = {
                "event_t": watch.t[:found].copy(),
                "event_y": watch.y[:found].copy(),
                "event_which": watch.which[:found].copy(),
                "event_hurried": watch.hurried.copy(),
                "event_touched": watch.touched.copy(),
            }
        if run.inside:
            kept = run.inside
            while kept and run.direction * (run.inside_t[kept - 1] - run.t) > 0.0:  # the run ended inside the step
                kept -= 1
            more |= {"inside_t": run.inside_t[:kept].copy(), "inside_y": run.inside_y[:kept].copy()}
        return Integration(
            t=run.t_out[: run.stored].copy(),
            y=run.y_out[: run.stored].copy(),
            sample_t=run.sample_t[: run.next_sample].copy(),
            sample_y=run.sample_y[: run.next_sample].copy(),
            outcome=outcome,
            detail=detail,
            accepted=run.stored - 1,
            rejected=run.rejected,
            rhs_evaluations=run.evaluations,
            seconds=seconds,
            max_drift=run.drift,
            max_violation=run.violation,
            method=self._method,
            stiff_from=_stiff_from(run),
            **more,
        )


def _stiff_from(run: Memory) -> float | None:
    """Time from which stability limited the steps, if it did so for most of a run with many steps.

    Stability also limits the steps of a mechanism that comes to rest, but these steps are long and few.
    """
    looks: int = run.looks_stiff
    if looks < STIFF_LOOKS or 2 * looks * STIFF_EVERY < run.stored - 1:
        return None
    return float(run.stiff_from)
