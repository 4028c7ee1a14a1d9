"""Keyboard interrupts during long computations: noted always, obeyed where results are complete.

Python raises ``KeyboardInterrupt`` between any two instructions, even while a result is being stored, and inside
libraries that lose it: a callback from native code ignores it, a serializer makes an error of its own from it. So a
computation runs in an :class:`Interrupt`, whose handler notes every interrupt before it is raised. Whatever becomes of
the exception, the computation does not count as finished, and the error that it ends in is the interrupt.

Once compiled loops run that keep their partial results, the first interrupt is only noted. The loops check for it after
every stretch of work (:func:`obey_interrupt`) and return what they have finished. A second interrupt is raised at once.
"""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from types import FrameType
from typing import Any, ParamSpec, TypeVar

try:  # the plain functions: those of `signal` look handlers up among enumerations, for 5 % of the time of a short run
    import _signal  # type: ignore[import-not-found]
except ImportError:  # another Python
    import signal as _signal

P = ParamSpec("P")
T = TypeVar("T")

BRIEF = 1.0
"""seconds of work that may be discarded"""

SOON = 0.002
"""seconds after which an interrupt comes again that Python would have ignored"""

_current: ContextVar[Interrupt | None] = ContextVar("pendula_interrupt", default=None)  # None in every new thread


class PressedAgain(KeyboardInterrupt):
    """A second interrupt, raised wherever the program was."""


class Interrupt:
    """Notes keyboard interrupts: raises the first one, too, or holds it back; raises a second one in any case.

    Computations may be nested: an interrupt also counts for every enclosing one. Interrupts that the program ignores or
    handles itself stay as they are, and so do those in other threads than the main one, where Python never raises them.

    Attributes:
        came: whether an interrupt came.
        in_loops: whether interrupts are held back from the first compiled loop on that :meth:`run` reaches.
        holding: whether the first interrupt is only noted.

    Example:
        >>> with Interrupt() as interrupt:
        ...     signal.raise_signal(signal.SIGINT)
        >>> interrupt.came
        True
    """

    def __init__(self, *, in_loops: bool = False) -> None:
        """With ``in_loops``, interrupts are held back from the first compiled loop on that :meth:`run` reaches."""
        self.came, self.in_loops, self.holding = False, in_loops, False
        self._outer = _current.get()
        self._before: Any = None

    def run(self, compute: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Calls a function in this context and returns its result.

        Raises:
            KeyboardInterrupt: an interrupt was raised, or one came and the function ended in an error: a library has
                made it from the interrupt, or the function tripped over incomplete results.
        """

        def inside() -> T:
            _current.set(self)
            return compute(*args, **options)

        return self._called(lambda: copy_context().run(inside))  # leaves the context whatever happens

    def _called(self, compute: Callable[[], T]) -> T:
        self._listen()
        try:
            return compute()
        except Exception:
            if self.pending():
                raise KeyboardInterrupt from None
            raise
        finally:
            self.release()

    def hold(self, *, firmly: bool = False) -> None:
        """Begins to hold interrupts back; with ``firmly``, even if the program has set a handler."""
        self._listen(firmly=firmly)
        self.holding = True

    def release(self) -> None:
        """Leaves interrupts to whoever had them before."""
        self.holding = False
        if self._before is not None:
            before, self._before = self._before, None
            _signal.signal(signal.SIGINT, before)

    def _listen(self, *, firmly: bool = False) -> None:
        if self._before is not None or threading.current_thread() is not threading.main_thread():
            return
        handler = _signal.getsignal(signal.SIGINT)
        usual = handler is signal.default_int_handler or _owner(handler) is not None
        if usual or (firmly and callable(handler)):
            self._before = handler
            _signal.signal(signal.SIGINT, self._heard)

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

    def _heard(self, number: int, frame: FrameType | None) -> None:
        again, all_of_them = self.pending(), [*self._listeners()]
        holding = [each for each in all_of_them if each.holding]
        if not holding and _would_be_ignored(frame):
            again_soon = threading.Timer(SOON, _thread.interrupt_main)
            again_soon.daemon = True
            again_soon.start()
            return
        for each in holding or all_of_them:
            each.note()
        self.note()
        if again:
            raise PressedAgain
        if not holding:
            raise KeyboardInterrupt

    def _listeners(self) -> Iterator[Interrupt]:
        """This one and all that listened before, innermost first."""
        each: Interrupt | None = self
        while each is not None:
            yield each
            each = _owner(each._before)


def _would_be_ignored(frame: FrameType | None) -> bool:
    """Whether Python ignores what is raised here: while an object is deleted, or a reference to it is."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__del__" or (code.co_name in ("remove", "_remove") and "weakref" in code.co_filename):
            return True
        frame = frame.f_back
    return False


def _owner(handler: Any) -> Interrupt | None:
    """Whose handler it is."""
    owner = getattr(handler, "__self__", None)
    return owner if isinstance(owner, Interrupt) else None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Work that an interrupt must not cut short, because what it leaves could not be closed: it is raised at the end.

    A second interrupt is raised at once. Where interrupts are held back already, or the program handles them, nothing
    changes.

    Raises:
        KeyboardInterrupt: one came.
    """
    handler, held = _signal.getsignal(signal.SIGINT), Interrupt()
    around = _owner(handler)
    listening = [] if around is None else [*around._listeners()]
    if (handler is signal.default_int_handler or listening) and not any(each.holding for each in listening):
        held.hold()
    try:
        yield
    finally:
        held.release()
    if held.came:
        for each in listening:
            each.note()
        raise KeyboardInterrupt


def interruptible(compute: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Calls a function; if an interrupt was raised in it, an error that it ends in counts as that interrupt.

    It is no computation: what is made of the partial result of an interrupted one in it goes on.

    Raises:
        KeyboardInterrupt: see above.
    """
    return Interrupt()._called(lambda: compute(*args, **options))


def hold_interrupts() -> None:
    """Called where a compiled loop begins: from here on, there are results to keep.

    Raises:
        KeyboardInterrupt: one came before, and was lost.
    """
    current = _current.get()
    if current is not None and current.in_loops and not current.holding:
        current.hold()
        obey_interrupt()


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
    found = interrupt.run(compute, *args, **options)
    if interrupt.pending():
        raise KeyboardInterrupt
    return found
