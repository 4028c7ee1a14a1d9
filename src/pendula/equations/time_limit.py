"""Ends symbolic work that takes too long, in the middle of a single simplification if need be."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import TypeVar, final

Found = TypeVar("Found")

AGAIN = 1.0
"""Seconds until the work is interrupted once more: an exception raised in a finalizer is ignored by Python."""


@final
class OutOfTime(Exception):
    """The work was not done in time."""


@final
class _Late(BaseException):
    """Interrupts the work; no ``except Exception`` on the way stops it."""


def within(seconds: float, work: Callable[[], Found]) -> Found:
    """The result of a function, if it takes no longer than this.

    The function is interrupted between two steps of the Python interpreter, as by Ctrl-C; a long call of compiled code
    ends first. It works in every thread, unlike a signal, and may be nested.

    Args:
        seconds: time limit [s].
        work: the function, which must not hold locks.

    Raises:
        OutOfTime: the function was interrupted.
    """
    watch = _Watch(seconds)
    try:
        try:
            watch.begin()
            return work()
        finally:
            watch.end()
    except _Late:
        watch.end()
        if not watch.fired:  # the limit of a caller
            raise
        raise OutOfTime(f"not done within {seconds:g} s") from None


class _Watch:
    """Raises ``_Late`` in the thread that made it, once the time is up, until it is told to end."""

    def __init__(self, seconds: float) -> None:
        self.fired = False
        self._thread = ctypes.c_ulong(threading.get_ident())
        self._lock, self._over = threading.Lock(), threading.Event()
        self._seconds = seconds

    def begin(self) -> None:
        """Starts the clock."""
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        seconds = self._seconds
        while not self._over.wait(seconds):
            with self._lock:
                if not self._over.is_set():
                    self.fired = True
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, ctypes.py_object(_Late))
            seconds = AGAIN

    def end(self) -> None:
        """No interruption comes after this."""
        with self._lock:
            self._over.set()
        if not self.fired:
            return
        # One may be on its way. To withdraw it would leave CPython in search of it for ever: slower, and in an endless
        # loop under a profiler. So one is ordered, in place of any other, and received here.
        try:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, ctypes.py_object(_Late))
            while True:
                time.sleep(0.0)
        except _Late:
            pass
