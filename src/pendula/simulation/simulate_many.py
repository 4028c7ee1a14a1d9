"""Simulates many runs of one system: eight at a time (SIMD lanes) in every process, on all cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pendula.errors import NotSupported, UsageError, WorkerDied
from pendula.interrupts import Interrupt, note_interrupt
from pendula.numerics.scalars.eight import LANES
from pendula.numerics.steppers import checks
from pendula.outcome import Outcome
from pendula.parallel.processes import available_cores
from pendula.parallel.signals import tidied
from pendula.simulation import refusals
from pendula.simulation.defaults import MAX_STEPS, TOLERANCE
from pendula.simulation.ensemble import Ensemble
from pendula.simulation.inputs.given import with_inputs
from pendula.simulation.many.chunks import Chunk, Found, Job
from pendula.simulation.many.store import CHUNK_BYTES, Store
from pendula.simulation.many.workers import run_chunks
from pendula.simulation.settings import NUMBERS, Settings
from pendula.simulation.starts import Starts, read_parameters, read_starts, rows_of
from pendula.simulation.within import read_within
from pendula.storage.room import bytes_of, refuse_if_too_large
from pendula.system.entry import AnySystem, system_of
from pendula.system.first_use import expect_many_motions
from pendula.system.layout import Array, State
from pendula.system.system import System
from pendula.words import counted

FEWEST = 64  # smallest chunk, so that lanes are mostly busy
MOST = 1024
EACH = 6  # chunks per worker: fewer leave some idle at the end; every chunk ends with half-empty lanes
BY_RUN = 10  # numbers that are kept of every run besides its states
SMALL = 256  # fewer runs use one process


def simulate_many(
    system: AnySystem,
    duration: float,
    initial_states: Mapping[str, Any] | Sequence[Mapping[str, float] | State] | tuple[Array, Array],
    *,
    parameters: Mapping[str, Any] | Sequence[float] | Array | None = None,
    inputs: Mapping[str, float | str] | None = None,
    tol: float = TOLERANCE,
    atol: float | None = None,
    stepper: str = "dop853",
    samples: int | Sequence[float] | Array | None = None,
    within: Mapping[str, Any] | None = None,
    max_steps: int = MAX_STEPS,
    workers: int | None = None,
    bad_starts: Literal["raise", "mark"] = "raise",
    on_progress: Callable[[int, int], object] | None = None,
    save: str | Path | None = None,
) -> Ensemble:
    """Many runs of one system, from different initial states or with different parameters.

    The compiled stepper integrates eight runs at a time, each with its own step sizes, in one process for each core.
    The result of a run does not depend on the other runs, their order, or the number of processes, to the last digit.
    The exceptions are runs that :func:`simulate` makes singly: those that come near a singular pose or may stick to a
    jump of a force, and all runs of a chunk if one of a few meets a force that is narrow in the state.

    Args:
        system: a system, a model, or the name of a library mechanism.
        duration: length of the runs, from t = 0 or from the time of the States.
        initial_states: arrays by name, one entry for each run (numbers and text such as "30deg" apply to all runs,
            unnamed values are those of the model); or a list of States or of values by name; or (q, v), two arrays with
            a row for each run.
        parameters: changes by name, numbers or one for each run; or an array of all values, or one row for each run.
        inputs: inputs of all runs by name: numbers, or expressions of t, coordinates, speeds and parameters in text.
        tol: relative tolerance of a step; also the absolute one unless ``atol`` is given.
        stepper: "dop853" (order 8), "rk45" (order 5) or "taylor", as for :func:`simulate`, which has further ones.
        samples: number of equally spaced times, or the times, at which states are kept; default: only the end.
        within: bounds of coordinates and speeds by name, ``(low, high)`` or one number for both sides. A run ends where
            it leaves them, with the outcome "an event ended the run"; its last time and state are there. A start
            beyond a bound has left at once, as has one on a bound, within rounding, that moves outward; if it moves
            inward, the run continues until it crosses a bound later; if it is in equilibrium there, it never leaves.
        max_steps: largest number of attempted steps of a run.
        workers: number of processes; default: the number of cores, one if there is little to do. Scripts that
            use more than one need ``if __name__ == "__main__":`` where processes cannot be forked.
        bad_starts: "raise" raises for an initial state that is not finite or cannot be assembled; "mark" records it in
            the outcome of that run.
        on_progress: called as (runs ended, runs) about ten times a second.
        save: an ``.npz`` file to which results are streamed; q and v of the result are then memory maps of this file,
            and only a few chunks of runs are held in memory. Its room on disk is taken before the work starts. If the
            process is killed, nothing stays behind, and an old file of this name is as it was.

    Returns:
        Ensemble; check ``ok`` and ``energy_drift`` first. A run that fails does not affect the others. After a keyboard
        interrupt it holds the finished runs; the outcome of the others is "interrupted".

    Raises:
        UsageError: an argument is out of range, an initial state is not finite (the message names the run), or there
            is no room for the file.
        WorkerDied: several processes died of the same runs; the message says what is kept in the file.
        NotSupported: an input is a time series, a function or a sampled controller: :func:`simulate` takes these.

    Example:
        >>> import numpy as np, pendula
        >>> system = pendula.compile_system(pendula.library.double_pendulum())
        >>> runs = simulate_many(system, 2.0, {"theta1": np.linspace(0.1, 1.0, 20)}, tol=1e-9)
        >>> len(runs), runs.ok.all(), bool(runs.energy_drift.max() < 1e-6)
        (20, np.True_, True)
    """
    expect_many_motions(stepper)
    begun = time.perf_counter()
    system = system_of(system, "simulate_many")
    if inputs:
        system, _ = with_inputs(system, inputs)
    _refuse_over_time(system)
    starts, table = _all_starts(system, initial_states, parameters)
    runs = len(starts)
    settings = _settings(starts.t, duration, tol, atol, stepper, samples, max_steps)
    if within is not None and settings.stepper.series:
        raise NotSupported(refusals.BOUNDS_OF_SERIES, stepper=stepper)
    bounds = None if within is None else read_within(system, within)
    if bad_starts not in ("raise", "mark"):
        raise UsageError(f'bad_starts must be "raise" or "mark", found "{bad_starts}"')
    if bad_starts == "raise" and (bad := starts.not_finite(system)):
        run, name = next(iter(bad.items()))
        raise UsageError(f'initial_states: "{name}" of run {run} is not finite ({len(bad)} such runs in all)')
    assert settings.samples is not None
    sampled = settings.samples.size
    refuse_too_many(system, runs, sampled, save)
    count = _worker_count(workers, runs)
    size = _chunk_size(runs, count, sampled, system)
    chunks = [
        Chunk(k, starts.some(slice(k, k + size)), rows_of(table, slice(k, k + size)), settings, bounds)
        for k in range(0, runs, size)
    ]

    def collected() -> Ensemble:
        store = Store(system, settings, starts, save)
        try:
            with closing(_results(system, chunks, count, runs, on_progress)) as results:
                for found in results:
                    if found.failures and bad_starts == "raise":
                        run, text = next(iter(found.failures.items()))
                        raise UsageError(f"initial_states: run {run} cannot be started: {text}")
                    store.add(found)
        except KeyboardInterrupt:
            note_interrupt()  # runs that were not stored keep their initial outcome, interrupted
        except WorkerDied as error:
            if kept := store.keep(table, count, time.perf_counter() - begun):
                raise WorkerDied(f"{error}\n  {kept}") from None
            raise
        except BaseException:
            store.drop()
            raise
        return store.finish(table, count, time.perf_counter() - begun)

    interrupt = Interrupt(in_loops=True)
    with tidied():
        ensemble = interrupt.run(collected)
    if interrupt.came and Outcome.INTERRUPTED not in ensemble.outcome:
        interrupt.raise_if_brief(ensemble.seconds)
    return ensemble


def refuse_too_many(system: System, runs: int, samples: int, save: str | Path | None = None) -> None:
    """Refuses an ensemble whose results would not fit into memory, or with ``save`` onto the disk.

    Raises:
        UsageError: names the size, what is available and what to reduce.
    """
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    sampled = bytes_of([(runs, samples, nq + nv)])
    by_run = bytes_of([(runs, 2 * (nq + nv) + BY_RUN)])
    refuse_if_too_large(
        f"{runs:,} runs of {counted(samples, 'sample')} each",
        by_run + (sampled if save is None else 0),
        disk={} if save is None else {save: sampled + by_run},
        reduce="fewer runs or fewer samples" + (", or save=..., which streams them to a file" if save is None else ""),
    )


def _refuse_over_time(system: System) -> None:
    if system.inputs.over_time:
        raise NotSupported(
            refusals.MANY_OVER_TIME, name=system.inputs.names[0], kind=system.inputs.kind(system.inputs.names[0])
        )


def _all_starts(system: System, initial_states: Any, parameters: Any) -> tuple[Starts, Array]:
    """An initial state for every run, and its parameters: one row if they are the same for all."""
    table = read_parameters(system, parameters)
    starts = read_starts(system, initial_states, table)
    runs = max(len(starts), len(table))
    if len(starts) not in (1, runs) or len(table) not in (1, runs):
        raise UsageError(f"there are {len(starts)} initial states, but {len(table)} sets of parameters")
    if len(starts) < runs:
        starts = replace(starts, q=np.repeat(starts.q, runs, axis=0), v=np.repeat(starts.v, runs, axis=0))
    return starts, table


def _settings(
    t0: float,
    duration: float,
    tol: float,
    atol: float | None,
    stepper: str,
    samples: int | Sequence[float] | Array | None,
    max_steps: int,
) -> Settings:
    """Settings of all runs; without ``samples``, the states at the end are kept."""
    if not isinstance(duration, NUMBERS) or not 0 <= duration < np.inf:
        raise UsageError(f"the duration must be a number that is not negative, found {duration!r}")
    if atol is not None and not (isinstance(atol, NUMBERS) and 0 < atol < np.inf):
        raise UsageError(f"atol must be positive, found {atol!r}")
    found = Settings.checked(
        t0, duration, None, tol=tol, atol=atol, stepper=stepper, samples=samples, max_steps=max_steps, fewest_samples=1
    )
    found.stepper.require("lanes")
    times = np.array([found.span[1]]) if found.samples is None else found.samples
    try:
        return replace(found, atol=float(found.atol), samples=checks.checked_samples(times, *found.span, 1.0))
    except ValueError as error:
        raise UsageError(str(error)) from None


def _worker_count(workers: int | None, runs: int) -> int:
    if workers is None:
        return 1 if runs < SMALL else min(available_cores(), -(-runs // FEWEST))
    if not isinstance(workers, (int, np.integer)) or workers < 1:
        raise UsageError(f"workers must be a positive integer, found {workers!r}")
    return int(min(workers, -(-runs // 8)))


def _chunk_size(runs: int, workers: int, samples: int, system: System) -> int:
    row = 8 * (samples + 2) * (len(system.layout.coordinates) + len(system.layout.speeds) + 1)
    fitting = max(8, int(CHUNK_BYTES / row))
    fair = max(FEWEST, min(MOST, -(-runs // (EACH * workers * LANES)) * LANES))
    return min(fitting, fair if workers > 1 else MOST)


def _results(
    system: System, chunks: list[Chunk], workers: int, runs: int, on_progress: Callable[[int, int], object] | None
) -> Generator[Found, None, None]:
    job = Job(system)
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
    job.make_ready(chunks[0])
    remake = (Job, (system,))  # a system is sent as its recipe
    report = (lambda ended: on_progress(ended, runs)) if on_progress is not None else (lambda ended: None)
    for _, found in run_chunks(job, remake, chunks, workers, report):
        yield found
