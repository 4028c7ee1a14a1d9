"""Worker processes that compute tasks, replace those that die, and end with their parent.

Everything happens in the thread that calls: there is no managing thread, so that processes can be forked at any time,
and no lock or queue that a killed worker could leave locked. The main process talks to each worker through a separate
pipe.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any

from pendula.errors import ComputationError, UsageError, WorkerDied
from pendula.extensions import loaded
from pendula.interrupts import Interrupt
from pendula.parallel.children import safe_path
from pendula.parallel.signals import held_back, tidied
from pendula.parallel.worker import carried, main
from pendula.words import counted

DEATHS = 3
"""of workers on one task, after which it is given up"""
STARTS = {False: 3, True: 20}
"""workers in a row that died before they could begin, after which all ends; more if forked, as these begin at once"""
AHEAD_BYTES = 65_536 if sys.platform == "linux" else 4_096  # a pipe holds this much before it is read
SLICE = 0.2  # seconds between looks at processes whose end their pipe does not show
PAUSE, LONGEST_PAUSE = 0.01, 5.0  # seconds without a new worker after one that could not begin, if others work
PATIENCE = 1.0  # seconds that a process has for its end


def available_cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Done:
    """A task that finished: its value, or the error that it ended in."""

    key: int
    value: Any
    error: Exception | None
    seconds: float = 0.0
    """of wall time in the worker"""
    pid: int = 0
    """the process that computed it"""


class _Task:
    """One task and what happened to it."""

    def __init__(self, key: int, task: Any) -> None:
        self.key, self.task = key, task
        self.ended = 0
        self.deaths = 0


class _Worker:
    """One process with its pipe. It computes the first of its tasks; the second one waits in the pipe."""

    def __init__(self, process: Any, pipe: Connection, forked: bool) -> None:
        self.process, self.pipe, self.forked = process, pipe, forked
        self.ready = False
        self.tasks: deque[_Task] = deque()


class Processes:
    """Worker processes that compute tasks, replace those that die, and end with their parent.

    A worker starts when the first task needs it. On Linux it is forked while no other thread runs, and inherits what
    was compiled; otherwise it starts anew and loads the same extensions. A task whose worker dies is given to another
    one, and is given up after a few deaths. Use it as a context manager: then SIGTERM ends the workers and lets
    everything be cleaned up before it ends the process. The first keyboard interrupt calls :meth:`stop` and is noted in
    ``interrupted``; a second one is raised.

    Args:
        work: called as ``work(task, tell)``, it gives the value of a task. ``tell(ended, total)`` reports progress, and
            raises ``KeyboardInterrupt`` if the task is to end early.
        remake: function and arguments that make ``work`` in a process that cannot inherit it.
        count: number of workers.
        deaths: number of workers that may die of one task before it is given up.

    Example:
        >>> from functools import partial
        >>> def square(task, tell):
        ...     return task**2
        >>> with Processes(square, (partial, (square,)), 2) as processes:
        ...     for key in range(4):
        ...         processes.submit(key, 10 * key)
        ...     found = []
        ...     while processes.waiting:
        ...         found += processes.wait(1.0)
        >>> sorted((done.key, done.value) for done in found)
        [(0, 0), (1, 100), (2, 400), (3, 900)]
    """

    def __init__(
        self,
        work: Callable[[Any, Callable[[int, int], None]], Any],
        remake: tuple[Callable[..., Any], tuple[Any, ...]],
        count: int,
        *,
        deaths: int = DEATHS,
    ) -> None:
        if count < 1:
            raise UsageError(f"the number of processes must be positive, found {count}")
        self._work, self._remake, self._count, self._deaths = work, remake, count, deaths
        self._workers: list[_Worker] = []
        self._queue: deque[_Task] = deque()
        self._found: list[Done] = []
        self._finished, self._most = 0, 0  # what all tasks have reported
        self._early = 0  # workers in a row that died before they could begin
        self._not_before = 0.0  # no new worker next to others until then
        self._stopping = False
        self._context = contextlib.ExitStack()
        self._interrupt = Interrupt()
        self._home = os.getpid()
        atexit.register(self.close)

    def __enter__(self) -> Processes:
        self._context.enter_context(tidied())
        self._context.callback(self._end)
        self._context.enter_context(self._interrupt)
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()

    # -- what callers ask for --------------------------------------------------------------------------

    def submit(self, key: int, task: Any) -> None:
        """Adds a task; a free worker takes it at once.

        Args:
            key: given back with the result.
            task: anything that can be pickled.

        Raises:
            UsageError: the processes were stopped.
            ComputationError: no process can be started.
        """
        if self._stopping:
            raise UsageError("a task was submitted to processes that were stopped")
        self._queue.append(_Task(key, task))
        self._hand_out()

    @property
    def workers(self) -> int:
        """Number of workers, including those that have not been started."""
        return self._count

    @property
    def words(self) -> str:
        """Where tasks are computed, in words."""
        return f"in {counted(self._count, 'process', 'processes')} of this machine"

    @property
    def idle(self) -> int:
        """Workers without a task, including those that have not been started."""
        return self._count - sum(bool(worker.tasks) for worker in self._workers)

    @property
    def waiting(self) -> int:
        """Tasks that were submitted and that :meth:`wait` has not returned yet."""
        return len(self._queue) + len(self._found) + sum(len(worker.tasks) for worker in self._workers)

    @property
    def ended(self) -> int:
        """Sum of what tasks have reported by ``tell``; it never decreases."""
        now = sum(task.ended for worker in self._workers for task in worker.tasks)
        self._most = max(self._most, self._finished + now)
        return self._most

    @property
    def interrupted(self) -> bool:
        """Whether a keyboard interrupt came."""
        return self._interrupt.pending()

    @property
    def pids(self) -> list[int]:
        """Ids of the processes that run."""
        return [worker.process.pid for worker in self._workers if worker.process.exitcode is None]

    def wait(self, timeout: float) -> list[Done]:
        """What finished since the last call, in the order in which it did; waits for at least one, up to ``timeout``.

        It also replaces workers that died. After :meth:`stop`, tasks that did not begin are dropped, and so are those
        that end by the ``KeyboardInterrupt`` of ``tell``; those that catch it give their value.

        Args:
            timeout: in seconds.

        Raises:
            WorkerDied: workers die again and again before they begin.
            ComputationError: no process can be started.
        """
        until = time.monotonic() + timeout
        while True:
            if self.interrupted and not self._stopping:
                self.stop()
            self._hand_out()
            if self._found or not self.waiting:
                break
            left = until - time.monotonic()
            if left <= 0.0:
                break
            pipes = {worker.pipe: worker for worker in self._workers}
            for pipe in wait(list(pipes), min(left, SLICE)):
                worker = pipes[pipe]  # type: ignore[index]
                if not self._receive(worker):
                    _await_end(worker.process, PATIENCE)
            for worker in tuple(self._workers):
                if worker.process.exitcode is not None:
                    self._bury(worker)
        found, self._found = self._found, []
        return found

    def stop(self) -> None:
        """Asks running tasks to end early; tasks that have not begun are dropped."""
        if self._stopping:
            return
        self._stopping = True
        self._queue.clear()
        for worker in self._workers:
            with contextlib.suppress(OSError):
                worker.pipe.send(("stop",))

    def close(self) -> None:
        """Ends all workers; what they were computing is lost."""
        if os.getpid() != self._home:
            return  # a forked process: the workers are not its own
        atexit.unregister(self.close)
        self._end()
        self._context.close()

    # -- workers ---------------------------------------------------------------------------------------

    def _end(self) -> None:
        self._stopping = True
        self._queue.clear()
        workers, self._workers = self._workers, []
        for worker in workers:
            if worker.tasks:
                worker.process.kill()
            worker.pipe.close()  # a worker without a task ends then
        until = time.monotonic() + PATIENCE
        for worker in workers:
            _await_end(worker.process, until - time.monotonic())
            worker.process.close()

    def _start(self) -> _Worker:
        """A new process."""
        main_thread = threading.current_thread() is threading.main_thread()
        fork = sys.platform == "linux" and threading.active_count() == 1
        context = multiprocessing.get_context("fork" if fork else "spawn")
        mine, its = context.Pipe()
        make, arguments = (_given, (self._work,)) if fork else (_unpacked, (bytes(ForkingPickler.dumps(self._remake)),))
        others = [mine, *(worker.pipe for worker in self._workers)] if fork else []
        given = (its, others, make, arguments, os.getpid(), main_thread, loaded())
        process = context.Process(target=main, args=given)  # type: ignore[attr-defined]
        try:
            with held_back(), safe_path():
                process.start()
        except BaseException:
            mine.close()
            raise
        finally:
            its.close()
        return _Worker(process, mine, fork)

    def _hand_out(self) -> None:
        """Gives tasks to workers: first to those without any, then one more each, so that none has to wait for us."""
        for most in (1, 2):
            for worker in tuple(self._workers):
                if self._queue and len(worker.tasks) < most and not self._stopping:
                    self._give(worker, ahead=most == 2)
            while most == 1 and self._queue and len(self._workers) < self._count and not self._stopping:
                if self._workers and time.monotonic() < self._not_before:
                    break
                try:
                    self._workers.append(self._start())
                except OSError as error:
                    if not self._workers:
                        text = f"no worker process can be started: {error.strerror or error}"
                        raise ComputationError(text) from None
                    break  # those that run will do
                self._give(self._workers[-1], ahead=False)

    def _give(self, worker: _Worker, *, ahead: bool) -> None:
        """Sends the next task to a worker; if it is busy, only a small one, for which it need not be there."""
        task = self._queue.popleft()
        try:
            message = ForkingPickler.dumps(("task", id(task), task.task))
        except Exception as error:
            self._found.append(Done(task.key, None, carried(error, "the task cannot be sent to another process")))
            return
        if ahead and len(message) > AHEAD_BYTES:
            self._queue.appendleft(task)
            return
        worker.tasks.append(task)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it died; _bury finds its task
            worker.pipe.send_bytes(message)

    def _receive(self, worker: _Worker) -> bool:
        """Takes one message of a worker; False if its pipe has ended."""
        try:
            head = pickle.loads(worker.pipe.recv_bytes())
            body = worker.pipe.recv_bytes() if head[0] == "done" else b""
        except (EOFError, OSError):
            return False
        if head[0] == "ready":
            worker.ready, self._early = True, 0
        elif head[0] == "failed":
            raise head[1]
        elif head[0] == "told":
            worker.tasks[0].ended = head[2]
        else:
            task = next(task for task in worker.tasks if id(task) == head[1])  # one that waits is dropped first
            worker.tasks.remove(task)
            if head[0] == "done":
                self._finish(worker, task, body, *head[2:])
        return True

    def _finish(self, worker: _Worker, task: _Task, body: bytes, ended: int, good: bool, seconds: float) -> None:
        self._finished += ended
        self._hand_out()  # before the result is unpacked, which may take a while
        try:
            value = pickle.loads(body)
        except Exception as unread:
            good, value = False, carried(unread, "its result cannot be read")
        value, error = (value, None) if good else (None, value)
        self._found.append(Done(task.key, value, error, seconds, worker.process.pid))

    def _bury(self, worker: _Worker) -> None:
        """Removes a worker that died, and gives its tasks to others."""
        self._workers.remove(worker)
        with contextlib.suppress(OSError):
            while worker.pipe.poll() and self._receive(worker):  # what it sent before it died
                pass
        code = worker.process.exitcode
        worker.pipe.close()
        worker.process.close()
        if self._stopping:
            return
        if not worker.ready:
            self._early += 1
            if self._early >= STARTS[worker.forked] and not any(other.ready for other in self._workers):
                raise WorkerDied(_cannot_begin(code, worker.forked))
            self._not_before = time.monotonic() + min(PAUSE * 2**self._early, LONGEST_PAUSE)
        elif worker.tasks:
            first = worker.tasks[0]
            first.deaths += 1
            if first.deaths >= self._deaths:
                worker.tasks.popleft()
                self._found.append(Done(first.key, None, WorkerDied(_kills(code, first.deaths))))
        for task in worker.tasks:
            task.ended = 0
        self._queue.extendleft(reversed(worker.tasks))


def _await_end(process: Any, seconds: float) -> None:
    """Waits for the end of a process, and ends it if it takes too long."""
    process.join(max(seconds, 0.0))
    if process.exitcode is None:
        process.kill()
        process.join()


def _given(work: Any) -> Any:
    return work


def _unpacked(content: Any) -> Any:
    """What a spawned process works by; it is unpacked there after the extensions are loaded that it may be made of."""
    make, arguments = pickle.loads(content)
    return make(*arguments)


def _how(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None:
        return "ended"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    likely = ", probably because memory ran out" if name == "SIGKILL" else ""
    return f"was ended by {name}{likely}"


def _kills(code: int | None, deaths: int) -> str:
    return (
        f"{counted(deaths, 'worker process', 'worker processes')} died of the same task; the last one {_how(code)}.\n"
        "  Try: fewer workers or smaller tasks, so that each has more memory."
    )


def _cannot_begin(code: int | None, forked: bool) -> str:
    hint = "" if forked else ', and a script that starts processes needs `if __name__ == "__main__":`'
    return (
        f"worker processes die before they begin, {STARTS[forked]} in a row; the last one {_how(code)}.\n"
        f"  Try: one worker, or more memory for each{hint}."
    )
