"""Runs compiled loops in short stretches, to show progress and to keep all results after an interrupt."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pendula.interrupts import hold_interrupts, note_interrupt, obey_interrupt
from pendula.numerics.steppers.run import BUFFER_FULL, GO_ON, HALTED

FIRST_STRETCH = 16  # attempts before their speed is known
LONGEST_STRETCH = 4096
SECONDS_PER_STRETCH = 0.1


@dataclass
class Drive:
    """Runs a compiled loop to its end.

    Attributes:
        advance: makes the given number of attempts and returns a code of :mod:`pendula.numerics.steppers.run`.
        show: called after every stretch.
        make_room: called when the loop returns ``BUFFER_FULL``.
        halt: called after every stretch; True ends the run, with the code ``HALTED``.
        longest: most attempts in one stretch.
        keep: whether a keyboard interrupt ends the loop with what it has; otherwise it is raised.
        code: the last return code of the loop.
        seconds: wall time of the loop, without compilation.
        interrupted: whether the user interrupted it.
    """

    advance: Callable[[int], int]
    show: Callable[[], object] | None = None
    make_room: Callable[[], None] | None = None
    halt: Callable[[], bool] | None = None
    longest: int = LONGEST_STRETCH
    keep: bool = True
    code: int = GO_ON
    seconds: float = 0.0
    interrupted: bool = False

    def to_the_end(self) -> Drive:
        """Runs the loop until it ends or the user interrupts; returns itself.

        Raises:
            KeyboardInterrupt: the user interrupted, and ``keep`` is False.
        """
        self.advance(0)  # compiles without taking a step
        if self.keep:
            hold_interrupts()
        try:
            self._stretches()
        except KeyboardInterrupt:
            if not self.keep:
                raise
            self.interrupted = True
            note_interrupt()
        return self

    def _stretches(self) -> None:
        """Runs stretch after stretch until the run ends.

        This is a separate function because Python may raise KeyboardInterrupt on the jump at the end of a loop,
        which a ``try`` around the loop in the same function does not cover.
        """
        stretch = FIRST_STRETCH
        while self.code in (GO_ON, BUFFER_FULL):
            before = time.perf_counter()
            self.code = int(self.advance(stretch))
            spent = time.perf_counter() - before
            self.seconds += spent
            if self.code == BUFFER_FULL and self.make_room is not None:
                self.make_room()
                continue
            stretch = int(stretch * min(8.0, SECONDS_PER_STRETCH / max(spent, 1e-9)))
            stretch = max(1, min(stretch, self.longest))
            if self.show is not None:
                self.show()
            if self.halt is not None and self.halt():
                self.code = HALTED
            obey_interrupt()


def doubled(rows: np.ndarray) -> np.ndarray:
    """The same rows followed by an equal number of empty ones."""
    longer = np.empty((2 * len(rows), *rows.shape[1:]))
    longer[: len(rows)] = rows
    return longer
