"""Chunks of an ensemble: groups of runs that one process integrates, and their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pendula.errors import NotSupported
from pendula.interrupts import PressedAgain, note_interrupt
from pendula.numerics.ensemble.integrate_many import FAILED_SOMEWHERE, Integrations, LaneSetup, integrate_many
from pendula.numerics.scalars.eight import LANES
from pendula.numerics.steppers.endings import OUTCOMES_OF_MANY as CODES
from pendula.numerics.steppers.first_use import load_lockstep
from pendula.numerics.taylor.integrate import LaneRuns, Series, integrate_lanes
from pendula.outcome import Outcome
from pendula.simulation import refusals
from pendula.simulation.beginning import work_tolerance
from pendula.simulation.defaults import LEAST_SCALE
from pendula.simulation.ensemble import OF_RUNS, OUTCOMES, mark_unfinished
from pendula.simulation.many.singly import Singly
from pendula.simulation.settings import Settings
from pendula.simulation.starts import Starts, row_of, rows_of, sharing_parameters
from pendula.simulation.trajectory import relative_drift
from pendula.simulation.within import Starting, Within
from pendula.system.lanes import LaneDynamics, bind_lanes, has_lane_program
from pendula.system.layout import Array, State
from pendula.system.switches.schedule import breakpoints, can_switch, largest_step, moves_by_itself
from pendula.system.system import System, has_gaps

Tell = Callable[[int, int], None]

_NUMBER = {code: OUTCOMES.index(outcome) for code, outcome in CODES.items()}
_CODE = {outcome: code for code, outcome in CODES.items()}
_NOT_STARTED = OUTCOMES.index(Outcome.CALLBACK_FAILED)
_BAD_START = OUTCOMES.index(Outcome.NOT_FINITE)
_BY_RUN = ("q", "v", "end_q", "end_v", *OF_RUNS, "constraint_violation")


@dataclass(frozen=True)
class Chunk:
    """A group of runs, as sent to a worker.

    Attributes:
        first: the number of the first of them.
        starts: their initial states.
        parameters: their parameters, one row for all or one for each.
        settings: the settings of all runs of the ensemble.
        within: the bounds at which runs end, if there are any.
    """

    first: int
    starts: Starts
    parameters: Array
    settings: Settings
    within: Within | None = None

    @property
    def samples(self) -> Array:
        """Times at which states are kept."""
        return self.settings.samples


@dataclass
class Found:
    """Results of a chunk: arrays named as in ``Ensemble``, for its runs only."""

    first: int
    arrays: dict[str, Array]
    failures: dict[int, str]
    seconds: float
    interrupted: bool


def empty_arrays(system: System, chunk: Chunk) -> dict[str, Array]:
    """Arrays for the results of a chunk, marked as interrupted until they are filled."""
    runs, samples = len(chunk.starts), chunk.samples.size
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    shapes = {"q": (samples, nq), "v": (samples, nv), "end_q": (nq,), "end_v": (nv,)}
    counts = ("code", "steps", "rejected")
    arrays = {name: np.empty((runs, *shapes.get(name, ())), np.int64 if name in counts else float) for name in _BY_RUN}
    mark_unfinished(arrays, slice(None), chunk.starts.t)
    return arrays


class Job:
    """Runs chunks of one system; lanes are bound once if all runs have the same parameters."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._lanes: dict[bytes, LaneDynamics] = {}
        self._series: dict[bytes, Series] = {}

    def __call__(self, chunk: Chunk, tell: Tell) -> Found:
        """Integrates the runs of a chunk; ``tell`` is called with the number that have ended.

        ``KeyboardInterrupt`` of ``tell`` ends the work; the runs that have ended by then are kept.
        """
        system, starts = self._system, chunk.starts
        bad = starts.not_finite(system)
        failures = {run: f'the initial value of "{name}" is not finite' for run, name in bad.items()}
        good = np.array([run for run in range(len(starts)) if run not in bad], dtype=int)
        arrays = empty_arrays(system, chunk)
        found = Found(chunk.first, arrays, {}, 0.0, False)
        if good.size:
            table = rows_of(chunk.parameters, good)
            try:
                q, v, unassembled = starts.some(good).assembled(system, table)
                failures |= {int(good[k]): text for k, text in unassembled.items()}
                keep = np.array([k for k in range(good.size) if k not in unassembled], dtype=int)
                if keep.size:
                    self._run_from(chunk, good[keep], q[keep], v[keep], rows_of(table, keep), found, tell)
            except PressedAgain:
                raise  # what was being written is not whole
            except KeyboardInterrupt:
                note_interrupt()
                found.interrupted = True
        found.failures = {chunk.first + run: text for run, text in sorted(failures.items())}
        for run in failures:
            arrays["code"][run] = _BAD_START if run in bad else _NOT_STARTED
        return found

    def make_ready(self, chunk: Chunk) -> None:
        """Compiles what chunks like this one need: once, for all processes that are forked afterwards."""
        system = self._system
        if has_lane_program(system):
            self.bound(chunk.parameters[:1])
        if not chunk.settings.stepper.series:
            load_lockstep(chunk.samples.size > 0, chunk.within is not None, has_gaps(system) or can_switch(system))

    def bound(self, table: Array) -> LaneDynamics:
        """The equations in lanes for some parameters; cached for one set."""
        if len(table) > 1:
            return bind_lanes(self._system, table)
        key = table.tobytes()
        if key not in self._lanes:
            self._lanes = {key: bind_lanes(self._system, table)}
        return self._lanes[key]

    def _run_from(self, chunk: Chunk, at: Array, q: Array, v: Array, table: Array, found: Found, tell: Tell) -> None:
        """Integrates all runs except those that leave their bounds at the start; some stay on a bound."""
        within = chunk.within
        if within is None:
            self._run_alike(chunk, at, q, v, table, found, tell)
            return
        start = within.starts(self._system, q, v, chunk.starts.t, table)
        _write_left(self._system, found.arrays, chunk, at[start.left], start)
        for sample in np.flatnonzero(chunk.samples == chunk.starts.t):
            found.arrays["q"][at[start.left], sample] = q[start.left]
            found.arrays["v"][at[start.left], sample] = v[start.left]
        others = np.flatnonzero(~start.left)
        for stays in np.unique(start.stays[others], axis=0):
            some = others[(start.stays[others] == stays).all(axis=1)]
            bounded = replace(chunk, within=within.without(stays))
            rows = rows_of(table, some)
            self._run_alike(bounded, at[some], start.q[some], start.v[some], rows, found, tell)
            if found.interrupted:
                return

    def _run_alike(self, chunk: Chunk, at: Array, q: Array, v: Array, table: Array, found: Found, tell: Tell) -> None:
        """Integrates in groups with the same maximum step, which depends only on a run's own parameters."""
        longest = _longest_steps(self._system, table, chunk.settings.span)
        done = 0
        for limit in np.unique(longest):
            some = np.flatnonzero(longest == limit) if len(longest) > 1 else np.arange(len(at))

            def told(ended: int, of: int, before: int = done) -> None:
                tell(before + ended, len(at))

            self._run(chunk, at[some], q[some], v[some], rows_of(table, some), found, told, float(limit))
            done += len(some)
            if found.interrupted:
                return

    def _run(
        self,
        chunk: Chunk,
        at: Array,
        q: Array,
        v: Array,
        table: Array,
        found: Found,
        tell: Tell,
        max_step: float,
    ) -> None:
        system, settings, t0 = self._system, chunk.settings, chunk.starts.t
        singly = Singly(system, found.arrays, at, q, v, settings, chunk.within, table, tell)
        if settings.stepper.series:
            runs, y0 = self._series_runs(chunk, q, v, table, tell, max_step, singly.max_steps)
            self._keep(runs, y0, chunk, at, table, found)
            singly.repeat_doubtful(chunk.samples, runs.sample_y)
            return
        if singly.needed():
            singly.run_all()
            return
        lanes = self.bound(table)
        extra = lanes.quadratures
        y0 = np.concatenate([q, v, np.zeros((len(q), extra))], axis=1)
        atol, free = np.full((1, y0.shape[1]), settings.atol), extra
        if extra:
            starts = [State(t0, q[k], v[k], system.layout) for k in range(len(q))]
            work = [work_tolerance(system, start, row_of(table, k), settings.tol) for k, start in enumerate(starts)]
            if work[0] is not None:
                atol, free = np.repeat(atol, len(q), axis=0), 0
                atol[:, -1] = work
        times = np.union1d(chunk.samples, singly.looks) if singly.looks.size else chunk.samples
        runs = integrate_many(
            lanes.rhs,
            y0,
            settings.span,
            rtol=settings.tol,
            atol=atol,
            method=settings.stepper.name,
            sample_times=times,
            lanes=LaneSetup(lanes.data, lanes.column, clear=not lanes.in_lanes),
            energies=lanes.energies,
            project=lanes.project,
            project_row=lanes.project_row,
            quadratures=free,
            work=y0.shape[1] - 1 if extra else -1,
            max_steps=singly.max_steps,
            max_step=max_step,
            breakpoints=_breaks(system, table, settings.span),
            bounds=None if chunk.within is None else chunk.within.bounds(y0.shape[1]),
            on_progress=tell,
        )
        kept = runs
        if singly.looks.size:
            own = np.searchsorted(times, chunk.samples)
            kept = replace(runs, sample_t=chunk.samples, sample_y=runs.sample_y[:, own])
        self._keep(kept, y0, chunk, at, table, found)
        singly.repeat_doubtful(times, runs.sample_y)

    def _keep(self, runs: Integrations, y0: Array, chunk: Chunk, at: Array, table: Array, found: Found) -> None:
        """Stores the results of runs, with the energy account at the samples."""
        found.seconds += runs.seconds
        found.interrupted = runs.interrupted
        _write(self._system, found.arrays, at, runs, table)
        if chunk.samples.size > 1:
            off = _sampled_drift(self._system, runs, y0, chunk.starts.t, table)
            drift = relative_drift(off, found.arrays["energy_scale"][at], runs.depth)
            found.arrays["energy_drift"][at] = np.fmax(found.arrays["energy_drift"][at], drift)

    def _series_runs(
        self, chunk: Chunk, q: Array, v: Array, table: Array, tell: Tell, max_step: float, max_steps: int
    ) -> tuple[Integrations, Array]:
        """Integrates runs by Taylor series; energies are compared only at the start, the samples and the end."""
        system, settings, t0 = self._system, chunk.settings, chunk.starts.t
        extra = int(system.has_power)
        y0 = np.concatenate([q, v, np.zeros((len(q), extra))], axis=1)
        breaks = _breaks(system, table, settings.span)
        if breaks is not None and len(breaks) > 1:
            raise NotSupported(refusals.SWITCHING_TIMES)
        key = table.tobytes()
        if key not in self._series:
            self._series = {key: system.series(table if len(table) > 1 else table[0], lanes=LANES)}
        runs = integrate_lanes(
            self._series[key],
            y0,
            settings.span,
            rtol=settings.tol,
            atol=settings.atol,
            sample_times=chunk.samples,
            balls=[first for first, _ in system.balls],
            quadratures=extra,
            max_steps=max_steps,
            max_step=max_step,
            on_progress=tell,
            breakpoints=() if breaks is None else breaks[0][np.isfinite(breaks[0])],
        )
        return _account(system, runs, y0, t0, table), y0


def _account(system: System, runs: LaneRuns, y0: Array, t0: float, table: Array) -> Integrations:
    """Converts runs by Taylor series to ``Integrations``, with energies at the start, the samples and the end."""
    y = np.concatenate([y0[:, None], runs.sample_y, runs.y[:, None]], axis=1)
    y = np.where(np.isfinite(y), y, y[:, :1])
    t = np.concatenate([np.broadcast_to([t0, *runs.sample_t], (len(y), y.shape[1] - 1)), runs.t[:, None]], axis=1)
    kinetic, potential = np.empty(y.shape[:2]), np.empty(y.shape[:2])
    for part, vector in sharing_parameters(table, len(y)):
        kinetic[part], potential[part] = system.energies(*system.layout.split(y[part]), t[part], parameters=vector)
    total = kinetic + potential - _work(system, y)
    unknown = np.full(len(y), np.nan)
    code = np.array([_CODE.get(outcome, _CODE[Outcome.NOT_FINITE]) for outcome in runs.outcomes])
    return Integrations(
        sample_t=runs.sample_t,
        sample_y=runs.sample_y,
        t=runs.t,
        y=runs.y,
        code=code,
        accepted=runs.steps,
        rejected=runs.rejected,
        shortest=unknown,
        longest=unknown,
        energy_error=np.abs(total - total[:, :1]).max(axis=1),
        kinetic=kinetic.max(axis=1),
        potential=np.ptp(potential, axis=1),
        depth=np.abs(potential).max(axis=1),
        where=np.where(np.isin(code, FAILED_SOMEWHERE), runs.t, np.nan),
        seconds=runs.seconds,
        interrupted=runs.interrupted,
    )


def _work(system: System, y: Array) -> Any:
    """The work done up to states (q, v, work); 0 if it is not integrated."""
    size = len(system.layout.coordinates) + len(system.layout.speeds)
    return y[..., size] if y.shape[-1] > size else 0.0


def _breaks(system: System, table: Array, span: tuple[float, float]) -> Array | None:
    """Times at which something switches, a row for each set of parameters."""
    if not can_switch(system):
        return None
    found = [breakpoints(system, row, span) for row in table]
    out = np.full((len(found), max(map(len, found))), np.inf)
    for row, times in zip(out, found):
        row[: len(times)] = times
    return out


def _longest_steps(system: System, table: Array, span: tuple[float, float]) -> Array:
    """Maximum step for each set of parameters, so that no step skips over a change in time."""
    if not moves_by_itself(system):
        return np.array([np.inf])
    return np.array([largest_step(system, row, span, breakpoints(system, row, span)) for row in table])


def _write(system: System, arrays: dict[str, Array], at: Array, runs: Integrations, table: Array) -> None:
    """Writes the results of the runs that were started into the arrays of their chunk."""
    (q, v), (end_q, end_v) = (system.layout.split(y) for y in (runs.sample_y, runs.y))
    scale = np.maximum(runs.kinetic, runs.potential)
    scale = np.where(scale > 0, np.maximum(scale, LEAST_SCALE * runs.depth), 1.0)
    values = {
        "q": q,
        "v": v,
        "end_t": runs.t,
        "end_q": end_q,
        "end_v": end_v,
        "code": np.array([_NUMBER[int(code)] for code in runs.code]),
        "where": runs.where,
        "energy_drift": relative_drift(runs.energy_error, scale, runs.depth),
        "energy_scale": scale,
        "steps": runs.accepted,
        "rejected": runs.rejected,
        "shortest_step": runs.shortest,
        "longest_step": runs.longest,
    }
    for name, value in values.items():
        arrays[name][at] = value
    if has_gaps(system):
        arrays["constraint_violation"][at] = _violations(system, runs, table)


def _write_left(system: System, arrays: dict[str, Array], chunk: Chunk, at: Array, start: Starting) -> None:
    """Writes the last states of runs that leave their bounds at the start."""
    q, v = start.q[start.left], start.v[start.left]
    values = {
        "end_t": chunk.starts.t, "end_q": q, "end_v": v, "code": OUTCOMES.index(Outcome.EVENT), "energy_drift": 0.0,
        "energy_scale": 1.0,
    }  # fmt: skip
    for name, value in values.items():
        arrays[name][at] = value
    if has_gaps(system):
        for run, one in zip(at, q, strict=True):
            g, _ = system.gaps(one, None, chunk.starts.t, parameters=row_of(chunk.parameters, run))
            arrays["constraint_violation"][run] = np.abs(g).max()


def _sampled_drift(system: System, runs: Integrations, y0: Array, t0: float, table: Array) -> Array:
    """Largest |E - E(0) - W| at the samples of each run; dense output is less accurate than the steps."""
    y = np.concatenate([y0[:, None], runs.sample_y], axis=1)
    t = np.concatenate([[t0], runs.sample_t])
    off = np.full(len(y), np.nan)
    for part, vector in sharing_parameters(table, len(y)):
        energies = system.energies(*system.layout.split(y[part]), t, parameters=vector)
        energy = energies.kinetic + energies.potential
        change = energy - energy[:, :1] - _work(system, y[part])
        off[part] = np.fmax.reduce(np.abs(change), axis=1)
    return off


def _violations(system: System, runs: Integrations, table: Array) -> Array:
    """Largest |g| at the samples and at the end of each run."""
    y = np.concatenate([runs.sample_y, runs.y[:, None]], axis=1)
    t = np.concatenate([np.broadcast_to(runs.sample_t, runs.sample_y.shape[:2]), runs.t[:, None]], axis=1)
    out = np.zeros(len(y))
    for part, vector in sharing_parameters(table, len(y)):
        known = np.where(np.isfinite(y[part]), y[part], y[part][:, -1:])
        g, _ = system.gaps(*system.layout.split(known), t[part], parameters=vector)
        out[part] = np.abs(g).max(axis=(1, 2))
    return out
