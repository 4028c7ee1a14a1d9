"""Many runs of one system: eight at a time in every process, on all cores."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pendula.errors import NotSupported, UsageError
from pendula.files import cannot_write, scratch_array
from pendula.numerics.ensemble.integrate_many import OUTCOMES as CODES
from pendula.numerics.ensemble.integrate_many import Integrations, LaneSetup, integrate_many
from pendula.numerics.scalars.eight import LANES
from pendula.numerics.steppers import checks
from pendula.numerics.taylor.integrate import LaneRuns, Series, integrate_lanes
from pendula.outcome import Outcome
from pendula.simulation.beginning import energy_size
from pendula.simulation.ensemble import ARRAYS, OUTCOMES, Ensemble, mapped_array
from pendula.simulation.starts import Starts, read_parameters, read_starts
from pendula.simulation.workers import available_cores, run_chunks
from pendula.system.build import compile_system
from pendula.system.entry import AnySystem, system_of
from pendula.system.lanes import LaneDynamics, bind_lanes, has_lane_program
from pendula.system.layout import Array, State
from pendula.system.recursive import RecursiveSystem
from pendula.system.schedule import breakpoints, can_switch, largest_step, moves_by_itself, moves_by_time
from pendula.system.system import System, has_gaps

Tell = Callable[[int, int], None]
FEWEST = 64  # runs in a chunk, so that lanes are mostly busy
MOST = 1024
CHUNK_BYTES = 64e6  # samples of a chunk take no more memory than this
SMALL = 256  # runs that are not worth a second process

_NUMBER = {code: OUTCOMES.index(outcome) for code, outcome in CODES.items()}
_CODE = {outcome: code for code, outcome in CODES.items()}
_NOT_STARTED = OUTCOMES.index(Outcome.CALLBACK_FAILED)
_BAD_START = OUTCOMES.index(Outcome.NOT_FINITE)


@dataclass(frozen=True)
class _Settings:
    """What is the same for all runs."""

    t_end: float
    tol: float
    atol: float
    stepper: str
    samples: Array
    max_steps: int


@dataclass(frozen=True)
class _Chunk:
    """Some runs, as they are sent to a worker."""

    first: int
    starts: Starts
    parameters: Array
    settings: _Settings


@dataclass
class _Found:
    """What became of a chunk: arrays named as in ``Ensemble``, for its runs alone."""

    first: int
    arrays: dict[str, Array]
    failures: dict[int, str]
    seconds: float
    interrupted: bool


def simulate_many(
    system: AnySystem,
    duration: float,
    initial_states: Mapping[str, Any] | Sequence[Mapping[str, float] | State] | tuple[Array, Array],
    *,
    parameters: Mapping[str, Any] | Sequence[float] | Array | None = None,
    tol: float = 1e-8,
    atol: float | None = None,
    stepper: str = "dop853",
    samples: int | Sequence[float] | Array | None = None,
    max_steps: int = 1_000_000,
    workers: int | None = None,
    bad_starts: Literal["raise", "mark"] = "raise",
    on_progress: Callable[[int, int], object] | None = None,
    save: str | Path | None = None,
) -> Ensemble:
    """Many runs of one system, from different initial states or with different parameters.

    Eight runs at a time go through the compiled stepper, each with its own step sizes, in as many processes as there
    are cores. The digits of a run do not depend on the other runs, their order, or the number of processes.

    Args:
        system: a system, a model, or the name of a library mechanism.
        duration: how long, from t = 0 or from the time of the States.
        initial_states: arrays by name, one entry for each run (numbers count for all runs, what is not named is as in
            the model); or a list of States or of values by name; or (q, v), two arrays with a row for each run.
        parameters: changes by name, numbers or one for each run; or an array of all values, or one row for each run.
        tol: relative tolerance of a step; also the absolute one unless ``atol`` is given.
        stepper: "dop853" (order 8), "rk45" (order 5) or "taylor", as of :func:`simulate`; others run one at a time.
        samples: number of equally spaced times, or the times, at which states are kept; default: the end alone.
        max_steps: attempted steps of a run before it is stopped.
        workers: number of processes; default: as many as there are cores, one if there is little to do. Scripts that
            use more than one need ``if __name__ == "__main__":`` where processes cannot be forked.
        bad_starts: "raise" ends everything at an initial state that is not finite or cannot be assembled; "mark" gives
            that run an outcome of its own.
        on_progress: called as (runs ended, runs) about ten times a second.
        save: an ``.npz`` file the results go to as they come; the arrays of the result are then maps of this file,
            and no more than a few chunks of runs are ever held in memory.

    Returns:
        Ensemble; look at ``ok`` and ``energy_drift`` first. A run that fails does not touch the others. After an
        interrupt from the keyboard it holds what is finished, the outcome of the others is "interrupted".

    Raises:
        UsageError: an argument is out of range, or an initial state is not finite (names the run).
        ComputationError: a worker process died.

    Example:
        >>> import numpy as np, pendula
        >>> system = pendula.compile_system(pendula.library.double_pendulum())
        >>> runs = simulate_many(system, 2.0, {"theta1": np.linspace(0.1, 1.0, 20)}, tol=1e-9)
        >>> len(runs), runs.ok.all(), bool(runs.energy_drift.max() < 1e-6)
        (20, np.True_, True)
    """
    begun = time.perf_counter()
    system = system_of(system, "simulate_many")
    table = read_parameters(system, parameters)
    starts = read_starts(system, initial_states, table)
    runs = max(len(starts), len(table))
    if len(starts) not in (1, runs) or len(table) not in (1, runs):
        raise UsageError(f"there are {len(starts)} initial states, but {len(table)} sets of parameters")
    if len(starts) < runs:
        starts = replace(starts, q=np.repeat(starts.q, runs, axis=0), v=np.repeat(starts.v, runs, axis=0))
    settings = _settings(starts.t, duration, tol, atol, stepper, samples, max_steps)
    if bad_starts not in ("raise", "mark"):
        raise UsageError(f'bad_starts is "raise" or "mark", found "{bad_starts}"')
    if bad_starts == "raise" and (bad := starts.not_finite(system)):
        run, name = next(iter(bad.items()))
        raise UsageError(f'initial_states: "{name}" of run {run} is not finite ({len(bad)} such runs in all)')
    count = _worker_count(workers, runs)
    chunks = _chunks(starts, table, settings, _chunk_size(runs, count, settings, system))
    store = _Store(system, settings, starts, save)
    try:
        for found in _results(system, chunks, count, runs, on_progress):
            if found.failures and bad_starts == "raise":
                run, text = next(iter(found.failures.items()))
                raise UsageError(f"initial_states: run {run} cannot be started: {text}")
            store.add(found)
    except KeyboardInterrupt:
        pass  # runs that were not stored keep the outcome they were given at first: interrupted
    except BaseException:
        store.drop()
        raise
    return store.finish(table, count, time.perf_counter() - begun)


def _settings(
    t0: float,
    duration: float,
    tol: float,
    atol: float | None,
    stepper: str,
    samples: int | Sequence[float] | Array | None,
    max_steps: int,
) -> _Settings:
    if not isinstance(duration, (int, float, np.floating, np.integer)) or not 0 <= duration < np.inf:
        raise UsageError(f"the duration must be a number that is not negative, found {duration!r}")
    if atol is not None and not (isinstance(atol, (int, float, np.floating)) and 0 < atol < np.inf):
        raise UsageError(f"atol must be positive, found {atol!r}")
    t_end = t0 + float(duration)
    try:
        checks.check_stepper(stepper, lanes=True)
        checks.check_tolerance(tol)
        checks.check_max_steps(max_steps)
        times = np.array([t_end]) if samples is None else checks.sample_times(samples, t0, t_end, fewest=1)
        times = checks.checked_samples(times, t0, t_end, 1.0)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return _Settings(t_end, float(tol), float(tol if atol is None else atol), stepper, times, int(max_steps))


def _worker_count(workers: int | None, runs: int) -> int:
    if workers is None:
        return 1 if runs < SMALL else min(available_cores(), -(-runs // FEWEST))
    if not isinstance(workers, (int, np.integer)) or workers < 1:
        raise UsageError(f"workers must be a positive whole number, found {workers!r}")
    return int(min(workers, -(-runs // 8)))


def _chunk_size(runs: int, workers: int, settings: _Settings, system: System) -> int:
    row = 8 * (settings.samples.size + 2) * (len(system.layout.coordinates) + len(system.layout.speeds) + 1)
    fitting = max(8, int(CHUNK_BYTES / row))
    fair = max(FEWEST, min(MOST, -(-runs // (12 * workers))))  # small ones even out who ends last
    return min(fitting, fair if workers > 1 else MOST)


def _chunks(starts: Starts, table: Array, settings: _Settings, size: int) -> list[_Chunk]:
    return [
        _Chunk(k, starts.part(k, k + size), table if len(table) == 1 else table[k : k + size], settings)
        for k in range(0, len(starts), size)
    ]


# -- one chunk ---------------------------------------------------------------------------------------------


class _Job:
    """Runs chunks of one system; lanes are bound once where all runs have the same parameters."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._lanes: dict[bytes, LaneDynamics] = {}
        self._series: dict[bytes, Series] = {}

    def __call__(self, chunk: _Chunk, tell: Tell) -> _Found:
        system, starts = self._system, chunk.starts
        bad = starts.not_finite(system)
        failures = {run: f'the initial value of "{name}" is not finite' for run, name in bad.items()}
        good = np.array([run for run in range(len(starts)) if run not in bad], dtype=int)
        arrays = _empty(system, chunk)
        found = _Found(chunk.first, arrays, {}, 0.0, False)
        if good.size:
            table = chunk.parameters if len(chunk.parameters) == 1 else chunk.parameters[good]
            some = replace(
                starts, q=starts.q[good], v=starts.v[good],
                named=starts.named if len(starts.named) == 1 else tuple(starts.named[k] for k in good),
            )  # fmt: skip
            q, v, unassembled = some.assembled(system, table)
            failures |= {int(good[k]): text for k, text in unassembled.items()}
            keep = np.array([k for k in range(good.size) if k not in unassembled], dtype=int)
            if keep.size:
                table = table if len(table) == 1 else table[keep]
                self._run_alike(chunk, good[keep], q[keep], v[keep], table, found, tell)
        found.failures = {chunk.first + run: text for run, text in sorted(failures.items())}
        for run in failures:
            arrays["code"][run] = _BAD_START if run in bad else _NOT_STARTED
        return found

    def _bound(self, table: Array) -> LaneDynamics:
        if len(table) > 1:
            return bind_lanes(self._system, table)
        key = table.tobytes()
        if key not in self._lanes:
            self._lanes = {key: bind_lanes(self._system, table)}
        return self._lanes[key]

    def _run_alike(self, chunk: _Chunk, at: Array, q: Array, v: Array, table: Array, found: _Found, tell: Tell) -> None:
        """Runs in groups of those with the same longest step, which depends on their own parameters alone."""
        longest = _longest_steps(self._system, table, (chunk.starts.t, chunk.settings.t_end))
        done = 0
        for limit in np.unique(longest):
            some = np.flatnonzero(longest == limit) if len(longest) > 1 else np.arange(len(at))
            rows = table if len(table) == 1 else table[some]

            def told(ended: int, of: int, before: int = done) -> None:
                tell(before + ended, len(at))

            self._run(chunk, at[some], q[some], v[some], rows, found, told, float(limit))
            done += len(some)
            if found.interrupted:
                return

    def _run(
        self,
        chunk: _Chunk,
        at: Array,
        q: Array,
        v: Array,
        table: Array,
        found: _Found,
        tell: Tell,
        max_step: float,
    ) -> None:
        system, settings, t0 = self._system, chunk.settings, chunk.starts.t
        if settings.stepper == "taylor":
            runs, y0 = self._series_runs(chunk, q, v, table, tell, max_step)
            self._keep(runs, y0, chunk, at, table, found)
            return
        lanes = self._bound(table)
        extra = lanes.quadratures
        y0 = np.concatenate([q, v, np.zeros((len(q), extra))], axis=1)
        atol, free = np.full((1, y0.shape[1]), settings.atol), extra
        if extra and moves_by_time(system):
            # motors may work while the state is at rest: the work then takes part in step control
            atol, free = np.repeat(atol, len(q), axis=0), 0
            for k in range(len(q)):
                vector = table[k if len(table) > 1 else 0]
                atol[k, -1] = settings.tol * energy_size(system, State(t0, q[k], v[k], system.layout), vector)
        runs = integrate_many(
            lanes.rhs,
            y0,
            (t0, settings.t_end),
            rtol=settings.tol,
            atol=atol,
            method=settings.stepper,
            sample_times=settings.samples,
            lanes=LaneSetup(lanes.data, lanes.column, clear=not lanes.in_lanes),
            energies=lanes.energies,
            project=lanes.project,
            project_row=lanes.project_row,
            quadratures=free,
            work=y0.shape[1] - 1 if extra else -1,
            max_steps=settings.max_steps,
            max_step=max_step,
            breakpoints=_breaks(system, table, (t0, settings.t_end)),
            on_progress=tell,
        )
        self._keep(runs, y0, chunk, at, table, found)

    def _keep(self, runs: Integrations, y0: Array, chunk: _Chunk, at: Array, table: Array, found: _Found) -> None:
        """Writes down what runs gave, with the energy account at the samples."""
        found.seconds += runs.seconds
        found.interrupted = runs.interrupted
        _write(self._system, found.arrays, at, runs, table)
        if chunk.settings.samples.size > 1:
            drift = _sampled_drift(self._system, runs, y0, chunk.starts.t, table) / found.arrays["energy_scale"][at]
            found.arrays["energy_drift"][at] = np.fmax(found.arrays["energy_drift"][at], drift)

    def _series_runs(
        self, chunk: _Chunk, q: Array, v: Array, table: Array, tell: Tell, max_step: float
    ) -> tuple[Integrations, Array]:
        """The same by Taylor series; energies are compared at the start, the samples and the end alone."""
        system, settings, t0 = self._system, chunk.settings, chunk.starts.t
        extra = int(system.has_power)
        y0 = np.concatenate([q, v, np.zeros((len(q), extra))], axis=1)
        breaks = _breaks(system, table, (t0, settings.t_end))
        if breaks is not None and len(breaks) > 1:
            raise NotSupported("runs by Taylor series with parameters that move the times of switches; try dop853")
        key = table.tobytes()
        if key not in self._series:
            self._series = {key: system.series(table if len(table) > 1 else table[0], lanes=LANES)}
        runs = integrate_lanes(
            self._series[key],
            y0,
            (t0, settings.t_end),
            rtol=settings.tol,
            atol=settings.atol,
            sample_times=settings.samples,
            balls=[first for first, _ in system.balls],
            quadratures=extra,
            max_steps=settings.max_steps,
            max_step=max_step,
            on_progress=tell,
            breakpoints=() if breaks is None else breaks[0][np.isfinite(breaks[0])],
        )
        return _account(system, runs, y0, t0, table), y0


def _account(system: System, runs: LaneRuns, y0: Array, t0: float, table: Array) -> Integrations:
    """Runs by series as those of the other steppers: with energies at the start, at the samples and at the end."""
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    y = np.concatenate([y0[:, None], runs.sample_y, runs.y[:, None]], axis=1)
    y = np.where(np.isfinite(y), y, y[:, :1])
    t = np.concatenate([np.broadcast_to([t0, *runs.sample_t], (len(y), y.shape[1] - 1)), runs.t[:, None]], axis=1)
    kinetic, potential = np.empty(y.shape[:2]), np.empty(y.shape[:2])
    parts = [slice(None)] if len(table) == 1 else [slice(k, k + 1) for k in range(len(y))]
    for k, part in enumerate(parts):
        found = system.energies(y[part][..., :nq], y[part][..., nq : nq + nv], t[part], parameters=table[k])
        kinetic[part], potential[part] = found.kinetic, found.potential
    total = kinetic + potential - (y[..., nq + nv] if y.shape[-1] > nq + nv else 0.0)
    unknown = np.full(len(y), np.nan)
    return Integrations(
        sample_t=runs.sample_t,
        sample_y=runs.sample_y,
        t=runs.t,
        y=runs.y,
        code=np.array([_CODE.get(outcome, _CODE[Outcome.NOT_FINITE]) for outcome in runs.outcomes]),
        accepted=runs.steps,
        rejected=runs.rejected,
        shortest=unknown,
        longest=unknown,
        energy_error=np.abs(total - total[:, :1]).max(axis=1),
        kinetic=kinetic.max(axis=1),
        potential=np.ptp(potential, axis=1),
        where=runs.t,
        seconds=runs.seconds,
        interrupted=any(outcome is Outcome.INTERRUPTED for outcome in runs.outcomes),
    )


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
    """How long steps may be, for each set of parameters, so that nothing that changes with time is passed unseen."""
    if not moves_by_itself(system):
        return np.array([np.inf])
    return np.array([largest_step(system, row, span, breakpoints(system, row, span)) for row in table])


def _empty(system: System, chunk: _Chunk) -> dict[str, Array]:
    """Arrays of a chunk of which nothing is known yet."""
    runs, samples = len(chunk.starts), chunk.settings.samples.size
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    shapes = {"q": (samples, nq), "v": (samples, nv), "end_q": (nq,), "end_v": (nv,)}
    arrays = {name: np.full((runs, *shapes.get(name, ())), np.nan) for name in _BY_RUN}
    for name in ("code", "steps", "rejected"):
        arrays[name] = np.zeros(runs, dtype=np.int64)
    arrays["code"][:] = OUTCOMES.index(Outcome.INTERRUPTED)
    arrays["end_t"][:] = chunk.starts.t
    return arrays


_BY_RUN = (*(name for name in ARRAYS if name not in ("t", "parameters")), "constraint_violation")


def _write(system: System, arrays: dict[str, Array], at: Array, runs: Integrations, table: Array) -> None:
    """Results of the runs that were started, into the arrays of their chunk."""
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    scale = np.maximum(runs.kinetic, runs.potential)
    scale = np.where(scale > 0, scale, 1.0)
    values = {
        "q": runs.sample_y[:, :, :nq],
        "v": runs.sample_y[:, :, nq : nq + nv],
        "end_t": runs.t,
        "end_q": runs.y[:, :nq],
        "end_v": runs.y[:, nq : nq + nv],
        "code": np.array([_NUMBER[int(code)] for code in runs.code]),
        "where": runs.where,
        "energy_drift": runs.energy_error / scale,
        "energy_scale": scale,
        "steps": runs.accepted,
        "rejected": runs.rejected,
        "shortest_step": runs.shortest,
        "longest_step": runs.longest,
    }
    for name, value in values.items():
        arrays[name][at] = value
    if has_gaps(system):
        arrays["constraint_violation"][at] = _violations(system, runs, table, nq, nv)


def _sampled_drift(system: System, runs: Integrations, y0: Array, t0: float, table: Array) -> Array:
    """Largest |E - E(0) - W| at the samples of each run, which dense output gives less exactly than the steps."""
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    y = np.concatenate([y0[:, None], runs.sample_y], axis=1)
    t = np.concatenate([[t0], runs.sample_t])
    off = np.full(len(y), np.nan)
    parts = [slice(None)] if len(table) == 1 else [slice(k, k + 1) for k in range(len(y))]
    for k, part in enumerate(parts):
        some = y[part]
        energies = system.energies(some[..., :nq], some[..., nq : nq + nv], t, parameters=table[k])
        energy = energies.kinetic + energies.potential
        change = energy - energy[:, :1] - (some[..., nq + nv] if some.shape[-1] > nq + nv else 0.0)
        off[part] = np.fmax.reduce(np.abs(change), axis=1)
    return off


def _violations(system: System, runs: Integrations, table: Array, nq: int, nv: int) -> Array:
    """Largest |g| at the samples and at the end of each run."""
    y = np.concatenate([runs.sample_y, runs.y[:, None]], axis=1)
    t = np.concatenate([np.broadcast_to(runs.sample_t, runs.sample_y.shape[:2]), runs.t[:, None]], axis=1)
    out = np.zeros(len(y))
    parts = [slice(None)] if len(table) == 1 else [slice(k, k + 1) for k in range(len(y))]
    for k, part in enumerate(parts):
        known = np.where(np.isfinite(y[part]), y[part], y[part][:, -1:])
        g, _ = system.gaps(known[..., :nq], known[..., nq : nq + nv], t[part], parameters=table[k])
        out[part] = np.abs(g).max(axis=(1, 2))
    return out


# -- all chunks --------------------------------------------------------------------------------------------


def _make_job(model: Any, formulation: str) -> _Job:
    """The job in a process that inherits nothing."""
    if formulation == RecursiveSystem.engine:
        return _Job(compile_system(model, engine=formulation))
    return _Job(compile_system(model, formulation))


def _results(
    system: System, chunks: list[_Chunk], workers: int, runs: int, on_progress: Callable[[int, int], object] | None
) -> Iterator[_Found]:
    job = _Job(system)
    if workers == 1:
        before = 0

        def tell(ended: int, of: int) -> None:
            if on_progress is not None:
                on_progress(before + ended, runs)

        for chunk in chunks:
            found = job(chunk, tell)
            yield found
            if found.interrupted:
                return
            before += len(chunk.starts)
        return
    if has_lane_program(system):
        job._bound(chunks[0].parameters[:1])  # compiled once, before processes are forked
    remake = (_make_job, (system.model, system.formulation))
    report = (lambda ended: on_progress(ended, runs)) if on_progress is not None else (lambda ended: None)
    for _, found in run_chunks(job, remake, chunks, workers, report):
        yield found


class _Store:
    """Arrays of all runs, in memory or in files that become one in the end."""

    def __init__(self, system: System, settings: _Settings, starts: Starts, save: str | Path | None) -> None:
        self._system, self._settings = system, settings
        self._path = None if save is None else Path(save)
        self._folder: Path | None = None
        self._failures: dict[int, str] = {}
        self._seconds = 0.0
        if self._path is not None:
            if self._path.suffix != ".npz":
                raise UsageError(f'save names an .npz file, found "{save}"')
            try:
                self._folder = Path(tempfile.mkdtemp(prefix=f".{self._path.stem}-", dir=self._path.absolute().parent))
            except OSError as error:
                raise cannot_write(self._path, error) from None
        one = _empty(system, _Chunk(0, starts.part(0, 1), starts.q, settings))
        self._arrays = {name: self._array(name, row, len(starts)) for name, row in one.items()}

    def _array(self, name: str, row: Array, runs: int) -> Array:
        """Room for all runs, filled with what is known before they start."""
        shape = (runs, *row.shape[1:])
        if self._folder is None or name not in ("q", "v"):
            return np.repeat(row, runs, axis=0)
        if 0 in shape:
            return np.zeros(shape)
        array = scratch_array(self._folder / f"{name}.npy", row.dtype, shape)
        step = max(1, int(CHUNK_BYTES / max(row.nbytes, 1)))
        for k in range(0, runs, step):
            array[k : k + step] = np.nan
        return array

    def add(self, found: _Found) -> None:
        """Takes in a chunk."""
        for name, array in found.arrays.items():
            self._arrays[name][found.first : found.first + len(array)] = array
        self._failures |= found.failures
        self._seconds += found.seconds

    def drop(self) -> None:
        """Removes what is on disk."""
        if self._folder is not None:
            self._arrays.clear()
            shutil.rmtree(self._folder, ignore_errors=True)

    def finish(self, table: Array, workers: int, seconds: float) -> Ensemble:
        """The ensemble; arrays that were streamed become maps of one file."""
        violation = self._arrays.pop("constraint_violation")
        ensemble = Ensemble(
            t=self._settings.samples,
            **self._arrays,
            constraint_violation=violation if has_gaps(self._system) else None,
            parameters=table,
            failures=dict(sorted(self._failures.items())),
            seconds=seconds,
            lane_seconds=self._seconds,
            workers=workers,
            stepper=self._settings.stepper,
            tolerance=self._settings.tol,
            in_lanes=has_lane_program(self._system),
            system=self._system,
        )
        if self._path is None:
            return ensemble
        try:
            ensemble.save(self._path)
        finally:
            self.drop()
        path = self._path
        return replace(ensemble, q=mapped_array(path, "q"), v=mapped_array(path, "v"), path=path)
