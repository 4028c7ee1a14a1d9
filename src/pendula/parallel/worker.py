"""What runs in a worker process: it reads tasks from its pipe, computes them and sends results, until its parent ends.

Messages of the parent: ``("task", number, task)`` and ``("stop",)``. Messages of the worker are pairs of a head and,
after a result, a body that is sent separately, so that the parent can hand out the next task before it unpacks it:
``("ready",)``, ``("failed", error)``, ``("told", number, ended)``, ``("dropped", number)``,
``("done", number, ended, good, seconds)`` and then the value or the error.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import select
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any

from pendula.errors import ComputationError, PendulaError
from pendula.extensions import Extension, load_again
from pendula.parallel.children import forget_safe_path
from pendula.parallel.signals import reset_in_child

LOOK = 0.5  # seconds between looks whether the parent is still there
TELL = 0.1  # seconds between messages of progress
_PR_SET_PDEATHSIG = 1  # sys/prctl.h


def main(
    pipe: Connection,
    others: list[Connection],
    make: Callable[..., Any],
    arguments: tuple[Any, ...],
    parent: int,
    by_signal: bool,
    extensions: tuple[Extension, ...],
) -> None:
    """Works until the pipe or the parent ends.

    Args:
        pipe: to the parent.
        others: ends of other pipes that a forked process inherits; they are closed, so that only the parent holds them.
        make: called with ``arguments`` it gives the function that computes tasks.
        parent: id of the parent process.
        by_signal: the system may end this process when the thread that started it ends.
        extensions: to be loaded before anything else.
    """
    reset_in_child()
    forget_safe_path()
    for other in others:
        other.close()
    end_with(parent, by_signal)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the parent closed the pipe, or ended
        try:
            load_again(extensions)
            work = make(*arguments)
        except Exception as error:
            _send(pipe, ("failed", carried(error)))
            return
        _send(pipe, ("ready",))
        _Desk(pipe, work).serve()


class _Desk:
    """Tasks of one worker."""

    def __init__(self, pipe: Connection, work: Callable[[Any, Callable[[int, int], None]], Any]) -> None:
        self._pipe, self._work = pipe, work
        self._tasks: deque[tuple[int, Any]] = deque()
        self._stopping = False

    def serve(self) -> None:
        """Computes tasks until the pipe ends."""
        while True:
            while not self._tasks or self._pipe.poll():
                self._read()
            self._compute(*self._tasks.popleft())

    def _read(self) -> None:
        """Takes one message of the parent."""
        message = self._pipe.recv()
        if message[0] == "task":
            self._tasks.append(message[1:])
        else:
            self._stopping = True
        while self._stopping and self._tasks:
            _send(self._pipe, ("dropped", self._tasks.popleft()[0]))

    def _compute(self, number: int, task: Any) -> None:
        told, last = 0, time.monotonic()

        def tell(ended: int, total: int) -> None:
            nonlocal told, last
            told = ended
            if (now := time.monotonic()) - last < TELL:
                return
            last = now
            while self._pipe.poll():
                self._read()
            if self._stopping:
                raise KeyboardInterrupt
            if _can_take(self._pipe):
                _send(self._pipe, ("told", number, ended))

        begun = time.perf_counter()
        good, value = True, None
        try:
            value = self._work(task, tell)
        except KeyboardInterrupt as error:
            if self._stopping:
                _send(self._pipe, ("dropped", number))
                return
            good, value = False, carried(error)
        except BaseException as error:
            good, value = False, carried(error)
        seconds = time.perf_counter() - begun
        try:
            body = ForkingPickler.dumps(value)
        except Exception as error:
            good, body = False, ForkingPickler.dumps(carried(error, "its result cannot be sent to another process"))
        _send(self._pipe, ("done", number, told, good, seconds))
        self._pipe.send_bytes(body)


def _send(pipe: Connection, message: tuple[Any, ...]) -> None:
    pipe.send_bytes(ForkingPickler.dumps(message))


def _can_take(pipe: Connection) -> bool:
    """Whether a short message can be sent without waiting for the parent, which may be busy for long."""
    if sys.platform == "win32":
        return True
    return bool(select.select([], [pipe.fileno()], [], 0.0)[1])


def carried(error: BaseException, where: str = "") -> Exception:
    """An error as it is sent to another process: as it is if it can be pickled, with its traceback as a note.

    Errors of Pendula explain themselves and get no traceback.
    """
    trace = "".join(traceback.format_exception(error)).rstrip()
    if isinstance(error, Exception) and not where:
        if isinstance(error, PendulaError):
            return error
        error.add_note(f"in a worker process:\n{trace}")
        with contextlib.suppress(Exception):
            if type(pickle.loads(ForkingPickler.dumps(error))) is type(error):
                return error
    said = ComputationError(f"a task ended in {type(error).__name__}: {error}" + (f" ({where})" if where else ""))
    said.add_note(f"in a worker process:\n{trace}")
    return said


def end_with(parent: int, by_signal: bool) -> None:
    """Ends this process when its parent ends, however that happens and whatever this process does."""
    if sys.platform == "linux" and by_signal:
        with contextlib.suppress(OSError, AttributeError):
            import ctypes

            if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) == 0:
                if os.getppid() != parent:  # it ended before the system was asked
                    os._exit(1)
                return
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    if sys.platform == "win32":
        process = multiprocessing.parent_process()
        if process is not None:
            wait([process.sentinel])
            os._exit(1)
        return
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)
