"""Keyboard interrupts during long computations: noted first, obeyed where results are complete.

Python raises ``KeyboardInterrupt`` between any two instructions, even while a result is being stored. A computation
that keeps its partial results runs in an :class:`Interrupt`: once its compiled loops run, the first interrupt is only
noted. The loops check for it after every stretch of work (:func:`obey_interrupt`) and return what they have finished. A
second interrupt is raised at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, ParamSpec, TypeVar

try:  # the plain functions: those of `signal` look handlers up among enumerations, for 5 % of the time of a short run
    import _signal  # type: ignore[import-not-found]
except ImportError:  # another Python
    import signal as _signal

P = ParamSpec("P")
T = TypeVar("T")

BRIEF = 1.0
"""seconds of work that may be discarded"""

_current: ContextVar[Interrupt | None] = ContextVar("pendula_interrupt", default=None)  # None in every new thread


class PressedAgain(KeyboardInterrupt):
    """A second interrupt, raised wherever the program was."""


class Interrupt:
    """Notes a keyboard interrupt instead of raising it; raises a second one.

    Computations may be nested: an interrupt also counts for every enclosing one. Interrupts that the program ignores or
    handles itself stay as they are, and so do those in other threads than the main one, where Python never raises them.

    Attributes:
        came: whether an interrupt came.

    Example:
        >>> with Interrupt() as interrupt:
        ...     signal.raise_signal(signal.SIGINT)
        >>> interrupt.came
        True
    """

    def __init__(self, *, in_loops: bool = False) -> None:
        """With ``in_loops``, interrupts are held back from the first compiled loop on that :meth:`run` reaches."""
        self.came, self.in_loops = False, in_loops
        self._outer = _current.get()
        self._before: Any = None

    def run(self, compute: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Calls a function in this context and returns its result."""

        def inside() -> T:
            _current.set(self)
            return compute(*args, **options)

        try:
            return copy_context().run(inside)  # leaves the context whatever happens
        finally:
            self.release()

    def hold(self, *, firmly: bool = False) -> None:
        """Begins to note interrupts; with ``firmly``, even if the program has set a handler."""
        if self._before is not None or threading.current_thread() is not threading.main_thread():
            return
        handler = _signal.getsignal(signal.SIGINT)
        usual = handler is signal.default_int_handler or isinstance(getattr(handler, "__self__", None), Interrupt)
        if usual or (firmly and callable(handler)):
            self._before = handler
            _signal.signal(signal.SIGINT, self._note)

    def release(self) -> None:
        """Lets Python raise interrupts again."""
        if self._before is not None:
            before, self._before = self._before, None
            _signal.signal(signal.SIGINT, before)

    def __enter__(self) -> Interrupt:
        self.hold(firmly=True)
        return self

    def __exit__(self, *details: object) -> None:
        self.release()

    def pending(self) -> bool:
        """Whether an interrupt came, here or in an enclosing computation."""
        return self.came or (self._outer is not None and self._outer.pending())

    def note(self) -> None:
        """Notes an interrupt, here and in every enclosing computation."""
        self.came = True
        if self._outer is not None:
            self._outer.note()

    def raise_if_brief(self, seconds: float) -> None:
        """Raises an interrupt that came too late to end a computation, if the computation was brief.

        Otherwise a loop of brief computations would continue. Results that took longer are kept.
        """
        if self.came and seconds < BRIEF:
            raise KeyboardInterrupt

    def _note(self, number: int, frame: object) -> None:
        if self.pending():
            raise PressedAgain
        self.note()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Work that an interrupt must not cut short, because what it leaves could not be closed: it is raised at the end.

    A second interrupt is raised at once. Where interrupts are only noted, or the program handles them, nothing changes.

    Raises:
        KeyboardInterrupt: one came.
    """
    held = Interrupt()
    if _signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        held.hold()
    try:
        yield
    finally:
        held.release()
    if held.came:
        raise KeyboardInterrupt


def hold_interrupts() -> None:
    """Called where a compiled loop begins: from here on, there are results to keep."""
    current = _current.get()
    if current is not None and current.in_loops:
        current.hold()


def obey_interrupt() -> None:
    """Raises a keyboard interrupt that was noted; otherwise does nothing.

    Raises:
        KeyboardInterrupt: one came since the enclosing computation began.
    """
    current = _current.get()
    if current is not None and current.pending():
        raise KeyboardInterrupt


def note_interrupt() -> None:
    """Notes that an interrupt was obeyed, so that enclosing computations end, too."""
    current = _current.get()
    if current is not None:
        current.note()


def forget_interrupts() -> None:
    """Leaves all contexts: a new process inherits those of its parent."""
    _current.set(None)


def whole(compute: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Calls a function that returns partial results when interrupted, for callers that need a complete one.

    Raises:
        KeyboardInterrupt: an interrupt came; the partial result is discarded.

    Example:
        >>> whole(max, 2, 4)
        4
    """
    interrupt = Interrupt()
    try:
        found = interrupt.run(compute, *args, **options)
    except Exception:  # perhaps caused by incomplete results
        if interrupt.pending():
            raise KeyboardInterrupt from None
        raise
    if interrupt.pending():
        raise KeyboardInterrupt
    return found
