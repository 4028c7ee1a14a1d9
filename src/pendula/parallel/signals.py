"""Signals that end a process: what it leaves behind is removed first.

SIGTERM ends a Python process at once, without any ``finally``. Inside :func:`tidied` it raises :class:`Terminated`
instead, so that worker processes end and temporary files are removed; then the process ends by the signal.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pendula.interrupts import forget_interrupts

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

_inside: dict[str, int] = {}  # "came": the signal that came; empty outside of tidied()


class Terminated(BaseException):
    """The process is about to end by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number


@contextmanager
def tidied() -> Iterator[None]:
    """While in this context, a signal that ends the process lets it clean up first.

    It does nothing in threads other than the main one, inside another such context, and for signals that the program
    already handles.

    Example:
        >>> with tidied():
        ...     pass
    """
    if _inside or threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    _inside["came"] = 0
    for number in ours:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        came = _inside.pop("came", 0)
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
        if came:
            os.kill(os.getpid(), came)


def _raise(number: int, frame: object) -> None:
    if not _inside.get("came"):  # another one must not disturb the cleaning
        _inside["came"] = number
        raise Terminated(number)


def reset_in_child() -> None:
    """In a process that was just made: keyboard interrupts are for the main process, other signals end this one."""
    _inside.clear()
    forget_interrupts()
    if hasattr(signal, "set_wakeup_fd"):
        signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *ENDING})


@contextmanager
def held_back() -> Iterator[None]:
    """Signals wait until the end of this context; processes that start in it begin with them blocked."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *ENDING})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
