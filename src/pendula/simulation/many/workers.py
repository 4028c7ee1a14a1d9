"""Runs chunks of work in several processes, with progress; an interrupt or a killed worker loses no finished chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pendula.parallel.processes import Processes

POLL = 0.1  # seconds between progress reports
AHEAD = 2  # largest number of submitted chunks per worker


def run_chunks(
    job: Callable[[Any, Callable[[int, int], None]], Any],
    remake: tuple[Callable[..., Any], tuple[Any, ...]],
    chunks: list[Any],
    workers: int,
    on_progress: Callable[[int], object],
) -> Iterator[tuple[int, Any]]:
    """Yields results of ``job(chunk, tell)`` with the number of the chunk, as they finish.

    A chunk whose process dies is computed again by another one. After ``KeyboardInterrupt`` it yields the results so
    far, then raises the interrupt again.

    Args:
        job: processes a chunk; it may end early if ``tell`` raises ``KeyboardInterrupt``.
        remake: function and arguments that make the job in a process that cannot inherit it.
        chunks: each is sent to a worker.
        on_progress: called with the number of runs that have ended.

    Raises:
        WorkerDied: several workers died of the same chunk, or before they could begin.
    """
    upcoming, stopped = iter(enumerate(chunks)), False
    with Processes(job, remake, workers) as processes:
        while True:
            while not stopped and processes.waiting < AHEAD * workers and (item := next(upcoming, None)):
                processes.submit(*item)
            found = processes.wait(POLL)
            stopped = stopped or processes.interrupted
            for done in found:
                if done.error is not None:
                    raise done.error
                yield done.key, done.value
            try:
                on_progress(processes.ended)
            except KeyboardInterrupt:
                stopped = True
                processes.stop()
            if not processes.waiting and (stopped or not found):
                break
    if stopped:
        raise KeyboardInterrupt
