"""Integration by Taylor series at compiled speed: one run with all its steps, or many runs in lanes.

A :class:`Series` is a native function that computes the Taylor coefficients of a solution. :func:`integrate_series`
returns an :class:`~pendula.numerics.steppers.stepping.Integration` like the Runge-Kutta steppers;
:func:`integrate_lanes` runs many initial states (and parameters), eight at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.numerics.compiled.native import Callback
from pendula.numerics.compiled.records import Memory
from pendula.numerics.ensemble.lane_records import lane_memory
from pendula.numerics.scalars.eight import LANES, aligned_zeros
from pendula.numerics.steppers import checks
from pendula.numerics.steppers import run as codes
from pendula.numerics.steppers.drive import Drive
from pendula.numerics.steppers.endings import OUTCOMES_OF_MANY, reached_or_failed, reported
from pendula.numerics.steppers.run import RUN
from pendula.numerics.steppers.stepping import Integration, OnSamples, Progress, Running, Span
from pendula.numerics.taylor.lanes import BATCH, LANE, RESULT, advance_lanes, leave
from pendula.numerics.taylor.steps import RTOL, SERIES, advance_series, find_control
from pendula.outcome import Outcome

LEAST_ORDER, MOST_ORDER = 6, 40
LONGEST_STRETCH = 65536  # rounds of all lanes


@dataclass(frozen=True)
class Series:
    """A native function for Taylor coefficients, ``void f(double *rows, const double *parameters, int64_t order)``.

    ``rows`` is a table with ``width`` rows per order, each of ``lanes`` numbers: the components, the time, and working
    rows of the function; ``spare`` rows follow those of all orders. The caller writes state and time into order 0, the
    function computes coefficients up to ``order``. Tables start at addresses that are multiples of 64.

    Attributes:
        address: entry point.
        go, look: entry points of functions by which the step loop handles a table and a control block, see
            :class:`~pendula.numerics.taylor.steps.Control`.
        lanes: 1 or 8.
        components: number of components of the state.
        width: rows per order.
        spare: rows at the end; the first is 0 if the equations could not be solved, else 1.
        parameters: parameters and values that depend on them alone, shape (runs or 1, count).
        failure: explanation for a run whose equations could not be solved.
        owner: the object that keeps the code alive.
    """

    address: int
    go: int
    look: int
    lanes: int
    components: int
    width: int
    spare: int
    parameters: np.ndarray
    failure: str = ""
    owner: object = None

    def size(self, order: int) -> int:
        """Numbers in a table up to an order."""
        return ((order + 1) * self.width + self.spare) * self.lanes


@dataclass(frozen=True)
class LaneRuns:
    """The results of many runs, in the order of their initial states.

    Attributes:
        t, y: last time and state of each run, shapes (runs,) and (runs, components): at the final time if it finished,
            else at its last checked step.
        outcomes: how each run ended.
        sample_t, sample_y: the sample times and the states there, shape (runs, samples, components); NaN if a run
            ended before.
        steps, rejected: number of steps of each run.
        order: order of the series.
        seconds: wall time of the compiled loop, without compilation.
        interrupted: whether a keyboard interrupt came; all runs may have ended by then.
    """

    t: np.ndarray
    y: np.ndarray
    outcomes: tuple[Outcome, ...]
    sample_t: np.ndarray
    sample_y: np.ndarray
    steps: np.ndarray
    rejected: np.ndarray
    order: int
    seconds: float
    interrupted: bool

    @property
    def ok(self) -> np.ndarray:
        """Which runs reached the final time."""
        return np.array([outcome.ok for outcome in self.outcomes])


def order_for(rtol: float) -> int:
    """The order with the least work for a tolerance (Jorba & Zou 2005, section 3.2).

    Example:
        >>> order_for(1e-13), order_for(1e-8)
        (16, 11)
    """
    return min(MOST_ORDER, max(LEAST_ORDER, math.ceil(1.0 - 0.5 * math.log(rtol))))


def _checked_order(order: int | None, rtol: float) -> int:
    if order is None:
        return order_for(rtol)
    if not 4 <= order <= MOST_ORDER:
        raise ValueError(f"the order of the series must lie between 4 and {MOST_ORDER}, got {order!r}")
    return int(order)


def _control(
    rtol: float, atol: float | Sequence[float] | np.ndarray, n: int, quadratures: int, lanes: int
) -> np.ndarray:
    """A control block with the tolerances; quadratures have none, unless there are no other components."""
    at = find_control(n)
    block = aligned_zeros(at.size, lanes)
    limits = checks.checked_atol(atol, n).copy()
    if quadratures < n:
        limits[n - quadratures :] = np.inf
    block[RTOL] = rtol
    block[at.atol : at.atol + n] = limits[:, None]
    return block


def _native(series: Series, order: int) -> dict[str, Any]:
    """Fields that the records of one run and of many share: the functions of a series, and its table."""
    return {
        "coefficients": series.address,
        "go": series.go,
        "look": series.look,
        "order": order,
        "width": series.width,
        "table": aligned_zeros(series.size(order) // series.lanes, series.lanes),
    }


def integrate_series(
    series: Series,
    y0: Sequence[float] | np.ndarray,
    t_span: Sequence[float],
    *,
    rtol: float,
    atol: float | Sequence[float] | np.ndarray,
    order: int | None = None,
    sample_times: Sequence[float] | np.ndarray | None = None,
    project: Callback | None = None,
    quadratures: int = 0,
    max_steps: int = 1_000_000,
    first_step: float | None = None,
    max_step: float = np.inf,
    on_progress: Progress | None = None,
    breakpoints: Sequence[float] | np.ndarray = (),
    on_samples: OnSamples | None = None,
    keep_on_interrupt: bool = True,
) -> Integration:
    """Solve y' = f(t, y) by Taylor series of one lane; arguments and result as for :func:`stepping.integrate`.

    ``order`` is that of the series, by default the one with the least work for ``rtol``. Samples are values of the
    polynomial of their step. ``rhs_evaluations`` counts series.
    """
    start = np.array(y0, dtype=float)
    if start.shape != (series.components,) or series.lanes != 1:
        raise ValueError(f"y0 must be a list of {series.components} numbers, and the series one of a single lane")
    checks.require_finite("y0", start)
    checks.check_settings(rtol, quadratures, start.size, max_steps, first_step, max_step)
    order = _checked_order(order, rtol)
    span = Span.checked(t_span, sample_times, breakpoints)
    n = start.size
    run = Memory(RUN, n=n, rows=np.zeros((1, n + 1)), width=8 * (n + 1), y=start, onto=np.zeros(n + 3))
    span.install(run)
    run.first_step, run.max_step = 0.0 if first_step is None else float(first_step), float(max_step)
    run.max_attempts = int(max_steps)
    native = Memory(
        SERIES,
        **_native(series, order),
        parameters=np.ascontiguousarray(series.parameters[0]),
        control=_control(rtol, atol, n, quadratures, 1),
    )
    run.method = native.address
    running = Running(run, "taylor", advance_series, project)

    def explained(outcome: Outcome, code: int) -> tuple[Outcome, str]:
        return _explain(outcome, code, run, series.failure if native.unsound else "", project)

    return running.to_the_end(explained, on_progress, None, on_samples, keep_on_interrupt)


def integrate_lanes(
    series: Series,
    y0: np.ndarray,
    t_span: Sequence[float],
    *,
    rtol: float,
    atol: float | Sequence[float] | np.ndarray,
    order: int | None = None,
    sample_times: Sequence[float] | np.ndarray | None = None,
    balls: Sequence[int] = (),
    quadratures: int = 0,
    max_steps: int = 1_000_000,
    max_step: float = np.inf,
    on_progress: Callable[[int, int], object] | None = None,
    breakpoints: Sequence[float] | np.ndarray = (),
) -> LaneRuns:
    """Solve y' = f(t, y) for many initial states over the same time, eight at a time.

    Every lane has its own time and step size, and takes the next run when its run ends. The result of a run, to the
    last bit, does not depend on its lane or on the other runs.

    Args:
        series: a series of eight lanes; its ``parameters`` have one row for all runs, or one for each.
        y0: initial states, shape (runs, components).
        t_span: first and last time.
        rtol, atol, order, max_steps, max_step: as for :func:`integrate_series`, for each run.
        sample_times: times in the order of integration at which to return the states of all runs.
        balls: first components of unit quaternions, which are normalized after every step.
        quadratures: number of components, at the end, that do not influence the steps.
        on_progress: called as ``on_progress(finished runs, all runs)`` about ten times a second. ``KeyboardInterrupt``
            ends all unfinished runs as ``INTERRUPTED``, at their last checked steps.
        breakpoints: times at which the equations switch, the same for all runs.

    Returns:
        The runs; check ``outcomes`` first.

    Raises:
        ValueError: an argument is out of range.
    """
    given, values = _checked_runs(series, y0)
    runs, n = given.shape
    checks.check_settings(rtol, quadratures, n, max_steps, None, max_step)
    order = _checked_order(order, rtol)
    span = Span.checked(t_span, sample_times, breakpoints)
    batch = Memory(
        BATCH,
        **_native(series, order),
        t0=span.t0,
        first_t=span.earliest,
        t_end=span.t_end,
        direction=span.direction,
        max_step=float(max_step),
        nudge=span.nudge,
        runs=runs,
        n=n,
        samples=span.samples.size,
        breaks_count=span.breaks.size,
        balls_count=len(balls),
        max_attempts=int(max_steps),
        breaks=span.breaks,
        sample_t=span.samples,
        balls=np.array(balls, dtype=np.int64),
        start=given,
        data=values,
        data_rows=len(values),
        columns_of_data=values.shape[1],
        column=aligned_zeros(max(1, values.shape[1]), LANES),
        control=_control(rtol, atol, n, quadratures, LANES),
        lanes=lane_memory(LANE),
        sample_y=np.full((runs, span.samples.size, n), np.nan),
        end_y=given.copy(),
        results=np.zeros(runs, RESULT),
    )
    batch.results["t"], batch.results["code"] = span.t0, codes.GO_ON
    batch.column[: values.shape[1]] = values[0][:, None]  # for lanes that never get a run
    batch.lanes["stop"] = -np.inf
    drive = _all_lanes(batch, on_progress)
    found = batch.results
    return LaneRuns(
        t=found["t"].copy(),
        y=batch.end_y,
        outcomes=tuple(OUTCOMES_OF_MANY[int(code)] for code in found["code"]),
        sample_t=span.samples,
        sample_y=batch.sample_y,
        steps=found["steps"].copy(),
        rejected=found["rejected"].copy(),
        order=order,
        seconds=drive.seconds,
        interrupted=drive.interrupted,
    )


def _checked_runs(series: Series, y0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Initial states and parameters of many runs."""
    given = np.array(y0, dtype=float, order="C")
    if given.ndim != 2 or given.shape[1] != series.components or series.lanes != LANES:
        wanted = f"(runs, {series.components})"
        raise ValueError(f"y0 must have the shape {wanted}, got {given.shape}; the series must have {LANES} lanes")
    checks.require_finite("y0", given.ravel())
    values = np.ascontiguousarray(series.parameters, dtype=float)
    if len(values) not in (1, len(given)):
        raise ValueError(f"parameters are one row for all runs or one for each of {len(given)}, got {len(values)}")
    return given, values


def _all_lanes(batch: Memory, on_progress: Callable[[int, int], object] | None) -> Drive:
    """Runs all lanes until all runs have ended or the user interrupts."""

    def show() -> None:
        if on_progress is not None:
            on_progress(batch.ended, batch.runs)

    drive = Drive(lambda rounds: advance_lanes(batch.address, rounds), show, longest=LONGEST_STRETCH).to_the_end()
    if drive.interrupted:
        leave(batch)
    return drive


def _explain(outcome: Outcome, code: int, run: Memory, unsound: str, project: Callback | None) -> tuple[Outcome, str]:
    """The outcome, refined by the report of the equations, and a message with the numbers behind it."""
    t, where, component = run.t, run.where, run.component
    which = f"component {component}" if component >= 0 else "the state"
    if outcome is Outcome.NOT_FINITE:
        if unsound:
            return Outcome.CALLBACK_FAILED, reported(unsound, where, t)
        if code == codes.BAD_START:
            return outcome, f"the Taylor series at the initial state (t = {t:.9g}) is not finite: {which}"
        return outcome, f"{which} is not finite near t = {where:.9g}, for any step size; last good t = {t:.9g}"
    if outcome is Outcome.STEP_TOO_SMALL:
        return outcome, (
            f"at t = {t:.9g} the slope at the end of a step contradicts the equations for any step size; "
            "they are not smooth there, or nearly singular"
        )
    failure = getattr(project.owner, "failure", None) if project else None
    return outcome, reached_or_failed(outcome, t, run.t_end, run.max_attempts, where, failure)
