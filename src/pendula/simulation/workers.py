"""Runs chunks of work in several processes, with progress; an interrupt does not lose finished chunks.

If processes can be forked, workers inherit compiled code; otherwise each loads the same extensions and compiles once.
Workers ignore keyboard interrupts; the main process handles them and sets a flag.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from pendula.errors import ComputationError
from pendula.extensions import Extension, load_again, loaded

POLL = 0.1  # seconds between progress reports
AHEAD = 2  # largest number of submitted chunks per worker

_worker: dict[str, Any] = {}


def available_cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _can_fork() -> bool:
    """Forking is safe on Linux as long as no other thread runs."""
    return sys.platform == "linux" and threading.active_count() == 1


def _begin(
    make: Callable[..., Any], arguments: tuple[Any, ...], stop: Any, ended: Any, loaded: tuple[Extension, ...]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load_again(loaded)
    _worker.update(job=make(*arguments), stop=stop, ended=ended)


def _work(chunk: Any) -> Any:
    """One chunk in a worker. A job gets the chunk and a function to report how many runs have ended."""
    told = 0

    def tell(ended: int, runs: int) -> None:
        nonlocal told
        with _worker["ended"].get_lock():
            _worker["ended"].value += ended - told
        told = ended
        if _worker["stop"].is_set():
            raise KeyboardInterrupt

    return _worker["job"](chunk, tell)


class _Interrupt:
    """Records a keyboard interrupt instead of raising it; a second one is raised."""

    def __init__(self) -> None:
        self.came = False
        self._before: Any = None

    def __enter__(self) -> _Interrupt:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *details: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: object) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True

    @contextmanager
    def kept_from_children(self) -> Iterator[None]:
        """Blocks keyboard interrupts for processes that start in this context."""
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _given(job: Any) -> Any:
    return job


def run_chunks(
    job: Callable[[Any, Callable[[int, int], None]], Any],
    remake: tuple[Callable[..., Any], tuple[Any, ...]],
    chunks: list[Any],
    workers: int,
    on_progress: Callable[[int], object],
) -> Iterator[tuple[int, Any]]:
    """Yields results of ``job(chunk, tell)`` with the number of the chunk, as they finish.

    After ``KeyboardInterrupt`` it yields the results so far, then raises the interrupt again.

    Args:
        job: processes a chunk; it may end early if ``tell`` raises ``KeyboardInterrupt``.
        remake: function and arguments that make the job in a process that cannot inherit it.
        chunks: each is sent to a worker.
        on_progress: called with the number of runs that have ended.

    Raises:
        ComputationError: a worker died.
    """
    fork = _can_fork()
    context = multiprocessing.get_context("fork" if fork else "spawn")
    stop, ended = context.Event(), context.Value("q", 0)
    make, arguments = (_given, (job,)) if fork else remake
    waiting: dict[Future[Any], int] = {}
    upcoming, interrupt = iter(enumerate(chunks)), _Interrupt()
    pool = ProcessPoolExecutor(workers, context, _begin, (make, arguments, stop, ended, loaded()))
    try:
        with interrupt:
            while True:
                while not interrupt.came and len(waiting) < AHEAD * workers and (item := next(upcoming, None)):
                    with interrupt.kept_from_children():
                        waiting[pool.submit(_work, item[1])] = item[0]
                if interrupt.came and not stop.is_set():
                    stop.set()
                    waiting = {future: k for future, k in waiting.items() if not future.cancel()}
                if not waiting:
                    break
                done, _ = wait(waiting, POLL, FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), future.result()
                try:
                    on_progress(ended.value)
                except KeyboardInterrupt:
                    interrupt.came = True
    except BrokenProcessPool:
        if not interrupt.came:
            raise ComputationError(
                "a worker process died (killed, or out of memory).\n"
                "  Try: fewer workers, fewer samples, or save= to keep results on disk instead of in memory."
            ) from None
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
    if interrupt.came:
        raise KeyboardInterrupt
