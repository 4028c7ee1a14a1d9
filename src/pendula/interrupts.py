"""Keyboard interrupts during long computations: noted first, obeyed where results are whole.

Python raises ``KeyboardInterrupt`` between any two instructions, also in the middle of writing down a result. Inside
the context :class:`Interrupt` the first one is only noted; compiled loops ask for it after every stretch of work
(:func:`obey_interrupt`), and what they have finished is kept. A second one is raised at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from pendula.errors import PendulaError

P = ParamSpec("P")
T = TypeVar("T")

_current: ContextVar[Interrupt | None] = ContextVar("pendula_interrupt", default=None)  # None in every new thread


class Interrupt:
    """Notes a keyboard interrupt instead of raising it; a second one is raised.

    Contexts may be nested: an interrupt counts for all of them. With ``holds=False`` a context only knows of interrupts
    that one inside it noted; others are raised as usual. Interrupts that the program ignores, or handles by
    itself, are left alone, and so are threads other than the main one, in which Python never raises them.

    Example:
        >>> with Interrupt() as interrupt:
        ...     signal.raise_signal(signal.SIGINT)
        >>> interrupt.came
        True
    """

    def __init__(self, *, holds: bool = True) -> None:
        self.came, self._holds = False, holds
        self._outer: Interrupt | None = None
        self._before: Any = None

    def __enter__(self) -> Interrupt:
        self._outer = _current.get()
        if self._holds and threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if handler is signal.default_int_handler or isinstance(getattr(handler, "__self__", None), Interrupt):
                self._before = signal.signal(signal.SIGINT, self._note)
        _current.set(self)
        return self

    def __exit__(self, *details: object) -> None:
        _current.set(self._outer)
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
        if self.came and self._outer is not None:
            self._outer.came = True

    def pending(self) -> bool:
        """Whether an interrupt came, in this context or in one around it."""
        return self.came or (self._outer is not None and self._outer.pending())

    def _note(self, number: int, frame: object) -> None:
        if self.pending():
            raise KeyboardInterrupt
        self.came = True


def obey_interrupt() -> None:
    """Raises the keyboard interrupt that was noted; does nothing if there is none.

    Raises:
        KeyboardInterrupt: one came since the context around the caller began.
    """
    current = _current.get()
    if current is not None and current.pending():
        raise KeyboardInterrupt


def note_interrupt() -> None:
    """Notes that an interrupt was obeyed, so that what surrounds the caller ends as well."""
    current = _current.get()
    if current is not None:
        current.came = True


def forget_interrupts() -> None:
    """Leaves all contexts: in a process that was just made, they are those of its parent."""
    _current.set(None)


def whole(compute: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """The result of a function that keeps what it has when it is interrupted, where only a whole result is of use.

    Raises:
        KeyboardInterrupt: an interrupt came; what was computed is dropped.

    Example:
        >>> whole(max, 2, 4)
        4
    """
    with Interrupt(holds=False) as interrupt:
        try:
            found = compute(*args, **options)
        except PendulaError:  # perhaps about results that are not complete
            if interrupt.pending():
                raise KeyboardInterrupt from None
            raise
    if interrupt.pending():
        raise KeyboardInterrupt
    return found
