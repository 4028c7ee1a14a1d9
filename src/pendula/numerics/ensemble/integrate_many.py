"""Integration of many initial states at compiled speed, eight at a time.

:func:`integrate_many` checks its input, then runs the compiled loop of :mod:`pendula.numerics.ensemble.lockstep` in
short stretches, so that it can show progress and keep the results so far when the user interrupts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.errors import NotSupported
from pendula.numerics import refusals
from pendula.numerics.compiled.native import Callback
from pendula.numerics.compiled.records import Memory
from pendula.numerics.ensemble.batch import BATCH, EACH, RESULT
from pendula.numerics.ensemble.lane_records import lane_memory
from pendula.numerics.ensemble.lockstep import advance, helpers, write_down
from pendula.numerics.scalars.eight import LANES, aligned_zeros
from pendula.numerics.steppers import checks
from pendula.numerics.steppers import run as codes
from pendula.numerics.steppers.drive import Drive
from pendula.numerics.steppers.run import row_numbers
from pendula.numerics.steppers.stepper import STEPPERS
from pendula.numerics.steppers.tableaus import Tableau

LONGEST_STRETCH = 65536  # steps of all lanes

FAILED_SOMEWHERE = (codes.BAD_VALUE, codes.BAD_START, codes.NO_PROJECTION)

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class LaneSetup:
    """Data that callbacks need about the run in each lane.

    Attributes:
        data: numbers of each run, shape (runs, width); one row if all runs share them.
        column: memory of shape (width, 8) that callbacks read; the numbers of a run are copied to its lane's column.
        clear: whether to set the columns of idle lanes to zero.
    """

    data: np.ndarray
    column: np.ndarray
    clear: bool = False

    @classmethod
    def nothing(cls) -> LaneSetup:
        """For callbacks that treat all runs alike."""
        return cls(np.zeros((1, 0)), aligned_zeros(0, LANES))


@dataclass(frozen=True)
class Integrations:
    """The results of many integrations, and how each ended. Rows are in the order of the initial states.

    Attributes:
        sample_t, sample_y: the sample times and the states there, shape (runs, samples, n); NaN if a run ended before.
        t, y: last time and state of each run, shape (runs,) and (runs, n).
        code: how it ended, a key of :data:`~pendula.numerics.steppers.endings.OUTCOMES_OF_MANY`.
        accepted, rejected: number of steps of each run.
        shortest, longest: sizes of the accepted steps, except those shortened by the final time or a breakpoint; NaN
            if there are none.
        energy_error: largest |E - E(0) - W| at the accepted steps; NaN without ``energies``.
        kinetic, potential: largest kinetic energy, and range of the potential energy; NaN without ``energies``.
        depth: largest modulus of the potential energy; NaN without ``energies``.
        where: time near which values were not finite or not on the constraints; NaN for runs that ended otherwise.
        seconds: wall time of the compiled loop, without compilation.
        interrupted: whether a keyboard interrupt came; all runs may have ended by then.
    """

    sample_t: np.ndarray
    sample_y: np.ndarray
    t: np.ndarray
    y: np.ndarray
    code: np.ndarray
    accepted: np.ndarray
    rejected: np.ndarray
    shortest: np.ndarray
    longest: np.ndarray
    energy_error: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    depth: np.ndarray
    where: np.ndarray
    seconds: float
    interrupted: bool


def integrate_many(
    rhs: Callback,
    y0: Sequence[Sequence[float]] | np.ndarray,
    t_span: Sequence[float],
    *,
    rtol: float,
    atol: float | np.ndarray,
    method: str = "dop853",
    sample_times: Sequence[float] | np.ndarray = (),
    lanes: LaneSetup | None = None,
    energies: Callback | None = None,
    project: int = 0,
    project_row: int = 0,
    quadratures: int = 0,
    work: int = -1,
    max_steps: int = 1_000_000,
    max_step: float = np.inf,
    breakpoints: np.ndarray | None = None,
    bounds: np.ndarray | None = None,
    on_progress: Progress | None = None,
) -> Integrations:
    """Solve y' = f(t, y) forwards in time from every row of ``y0``.

    Step-size control is that of :func:`pendula.numerics.steppers.stepping.integrate`, for every run separately.

    Args:
        rhs: reads rows ``t, y...`` of eight numbers, one for each lane, writes rows of ``dy/dt``.
        y0: initial states, shape (runs, n).
        t_span: first and last time.
        rtol, atol: tolerances of one step; ``atol`` a number, or of shape (runs or 1, n).
        method: name of a stepper that supports lanes, other than "taylor".
        sample_times: times in ascending order at which to return states.
        lanes: data that callbacks need about the run in each lane.
        energies: reads the same as ``rhs``, writes a row of kinetic and one of potential energies.
        project: address of a projection for one state, as in ``integrate``; 0 if there is none.
        project_row: row of ``lanes.column`` that holds its contexts, as integers.
        quadratures: number of components, at the end, that do not influence the steps.
        work: component that holds the work done on the system; -1 if there is none.
        max_steps: most attempted steps of a run before it stops.
        breakpoints: times at which the right-hand side may jump, shape (runs or 1, most), ascending, padded with
            infinities.
        bounds: least and largest values of every component, shape (2, n); a run ends where it leaves them, and its last
            state is there, located by dense output. An infinite value means that there is no bound.
        on_progress: called as ``on_progress(ended, runs)`` about ten times a second. ``KeyboardInterrupt``, from here
            or from the keyboard, ends all runs that have not ended as ``INTERRUPTED``.

    Raises:
        ValueError: an argument is out of range; the message names it and states what is allowed.
        NotSupported: the stepper does not support many runs side by side.

    Example:
        >>> from pendula.numerics.scalars.eight import eights_at
        >>> from pendula.numerics.compiled.jit import compiled_callback
        >>> @compiled_callback
        ... def oscillators(out, inp, context):
        ...     y, dy = eights_at(inp, 3), eights_at(out, 2)
        ...     dy[0], dy[1] = y[2], -y[1]
        >>> found = integrate_many(oscillators.bind(), [[1.0, 0.0], [2.0, 0.0]], (0.0, np.pi), rtol=1e-9, atol=1e-9)
        >>> found.y[:, 0].round(6)
        array([-1., -2.])
    """
    stepper = STEPPERS[method]
    stepper.require("lanes")
    if stepper.series:
        raise NotSupported(refusals.SERIES_IN_LANES, method=method)
    tableau = stepper.native.tableau
    start = _checked_starts(y0)
    t0, t_end = float(t_span[0]), float(t_span[1])
    if not -np.inf < t0 <= t_end < np.inf:
        raise ValueError(f"t_span must be two finite times, the last not before the first, got {t_span!r}")
    runs, n = start.shape
    checks.check_settings(rtol, quadratures, n, max_steps, None, max_step)
    samples = checks.checked_samples(sample_times, t0, t_end, 1.0)
    given, breaks = lanes or LaneSetup.nothing(), _checked_breaks(breakpoints, runs, t0, t_end)
    batch = _batch(
        start, t0, t_end, rtol, _tolerances(atol, runs, n), tableau, samples, given, breaks,
        bounds=_checked_bounds(bounds, n),
        **helpers(samples.size > 0, bounds is not None, project != 0 or breaks.shape[1] > 1),
        rhs=rhs.address, rhs_context=rhs.context,
        measure=energies.address if energies else 0, measure_context=energies.context if energies else 0,
        project=project, contexts=(given.column[project_row] if project else np.zeros(LANES)).view(np.int64),
        controlled=n - quadratures or n, work=work, max_attempts=int(max_steps), max_step=float(max_step),
    )  # fmt: skip
    return _run(batch, on_progress)


def _checked_starts(y0: Any) -> np.ndarray:
    start = np.ascontiguousarray(y0, dtype=float)
    if start.ndim != 2 or start.shape[1] == 0:
        raise ValueError(f"y0 must have the shape (runs, components), got {start.shape}")
    if not np.all(np.isfinite(start)):
        run, component = np.argwhere(~np.isfinite(start))[0]
        raise ValueError(f"y0 must be finite, but component {component} of run {run} is {start[run, component]}")
    return start


def _tolerances(atol: float | np.ndarray, runs: int, n: int) -> np.ndarray:
    values = np.atleast_2d(np.array(atol, dtype=float))
    if (
        values.shape[0] not in (1, runs)
        or values.shape[1] not in (1, n)
        or not np.all((values > 0) & (values < np.inf))
    ):
        raise ValueError(f"atol must be positive and finite: a number, or of shape (runs or 1, {n}); got {atol!r}")
    return np.ascontiguousarray(np.broadcast_to(values, (values.shape[0], n)))


def _checked_breaks(breakpoints: np.ndarray | None, runs: int, t0: float, t_end: float) -> np.ndarray:
    """Breakpoints of each run or of all, only those from t0 to t_end, with an infinity at the end."""
    given = np.full((1, 0), np.inf) if breakpoints is None else np.atleast_2d(np.array(breakpoints, dtype=float))
    if given.shape[0] not in (1, runs) or np.any(np.isnan(given)):
        raise ValueError(f"breakpoints must be times in one row, or in one for each run; got shape {given.shape}")
    inside = np.sort(np.where((given >= t0) & (given <= t_end), given, np.inf), axis=1)
    return np.concatenate([inside, np.full((len(inside), 1), np.inf)], axis=1)


def _checked_bounds(bounds: np.ndarray | None, n: int) -> Any:
    """Least and largest values of the components; 0 if there are none."""
    if bounds is None:
        return 0
    given = np.array(bounds, dtype=float)
    if given.shape != (2, n) or not np.all(given[0] < given[1]):
        raise ValueError(f"bounds must be of shape (2, {n}), the first row below the second; got {bounds!r}")
    return given


def _batch(
    start: np.ndarray,
    t0: float,
    t_end: float,
    rtol: float,
    atol: np.ndarray,
    tableau: Tableau,
    samples: np.ndarray,
    lanes: LaneSetup,
    breaks: np.ndarray,
    **settings: Any,
) -> Memory:
    """The record of a batch, with its memory."""
    runs, n = start.shape
    if lanes.data.shape[0] not in (1, runs) or lanes.column.shape != (lanes.data.shape[1], LANES):
        raise ValueError("the shapes of data and column in lanes do not match that of y0")
    if not lanes.clear:  # idle lanes then compute with valid numbers
        lanes.column[:] = lanes.data[0][:, None]
    y, idle = aligned_zeros(n, LANES), lane_memory(EACH)
    idle["run"] = -1
    y[:] = start[0][:, None] if runs else 0.0
    results = np.zeros(runs, RESULT)
    for name in RESULT.names or ():
        results[name] = np.nan if RESULT[name].kind == "f" else 0
    scalars = ("stages", "extra_stages", "dense_rows", "error_row", "error_order", "safety", "memory")
    numbers = row_numbers(tableau)
    return Memory(
        BATCH,
        t0=t0,
        t_end=t_end,
        rtol=float(rtol),
        nudge=4.0 * float(np.spacing(max(abs(t0), abs(t_end)))),
        runs=runs,
        n=n,
        samples=samples.size,
        **{name: getattr(tableau, name) for name in scalars},
        **numbers,
        sources=tableau.sources,
        weights=tableau.weights,
        nodes=tableau.nodes,
        columns=tableau.sources.shape[1],
        terms=np.maximum(np.count_nonzero(tableau.weights, axis=1), 1).astype(np.int64),
        clear=int(lanes.clear),
        atol=atol,
        atol_rows=len(atol),
        start=start,
        data=np.ascontiguousarray(lanes.data, dtype=float),
        data_rows=len(lanes.data),
        column=lanes.column,
        columns_of_data=lanes.data.shape[1],
        breaks=np.ascontiguousarray(breaks),
        breaks_rows=len(breaks),
        breaks_each=breaks.shape[1],
        sample_t=samples,
        sample_y=np.full((runs, samples.size, n), np.nan),
        end_y=start.copy(),
        results=results,
        lanes=idle,
        rows=aligned_zeros(numbers["late"] + 1, n + 1, LANES),
        y=y,
        zero=aligned_zeros(n, LANES),
        absolute=aligned_zeros(n, LANES) + 1.0,
        energy=aligned_zeros(2, LANES),
        given=np.zeros(n + 1),
        onto=np.zeros(n + 3),
        ahead=np.zeros(LANES, dtype=np.int64),
        fraction=aligned_zeros(1, LANES),
        entered=aligned_zeros(1, LANES),
        idle=LANES,
        **settings,
    )


def _run(batch: Memory, on_progress: Progress | None) -> Integrations:
    """Run the compiled loop to its end and collect the result."""

    def show() -> None:
        if on_progress is not None:
            on_progress(batch.ended, batch.runs)

    drive = Drive(lambda passes: advance(batch.address, passes), show, longest=LONGEST_STRETCH).to_the_end()
    write_down(batch.address)
    found = batch.results
    never, none = np.isnan(found["t"]), np.isinf(found["shortest"])
    measured = 1.0 if batch.measure else np.nan
    return Integrations(
        sample_t=batch.sample_t,
        sample_y=batch.sample_y,
        t=np.where(never, batch.t0, found["t"]),
        y=batch.end_y,
        code=found["code"].copy(),
        accepted=found["accepted"].copy(),
        rejected=found["rejected"].copy(),
        shortest=np.where(none, np.nan, found["shortest"]),
        longest=np.where(none, np.nan, found["longest"]),
        energy_error=found["energy_error"] * measured,
        kinetic=found["kinetic"] * measured,
        potential=(found["potential_high"] - found["potential_low"]) * measured,
        depth=np.maximum(np.abs(found["potential_high"]), np.abs(found["potential_low"])) * measured,
        where=np.where(np.isin(found["code"], FAILED_SOMEWHERE), found["where"], np.nan),
        seconds=drive.seconds,
        interrupted=drive.interrupted,
    )
