"""The motion of a run while it is being computed: pieces for a page that plays it, few and small however long it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.app.studio.asking import Tell

if TYPE_CHECKING:
    from pendula.system.layout import Array
    from pendula.system.system import System

MOST_NUMBERS = 60_000
"""Largest number of values in one preview; for longer runs it contains every n-th sample."""
FIRST = 0.4  # seconds before the first piece: shorter runs are simply done
OFTEN = 0.25  # seconds between two pieces at least, and ...
SELDOM = 0.02  # ... this part of the time so far, so that there are a few hundred pieces at most
DIGITS = 7  # of numbers that are only drawn


class Preview:
    """Takes samples as :func:`~pendula.simulate` hands them over, and passes them on in pieces.

    A piece is ``{"t": times, "q": rows}`` in joint coordinates. The first one has also ``coordinates`` (their names),
    ``units``, and ``t_end``. A piece that begins before the end of the last one replaces what followed there.

    Args:
        tell: where pieces go.
        system: that moves.
        samples: their number in the whole run.
        t_end: the time at which the run is to end.
    """

    def __init__(self, tell: Tell, system: System, samples: int, t_end: float) -> None:
        self._tell, self._system = tell, system
        layout = system.in_joints.layout
        width = 1 + len(layout.coordinates)
        self._stride = -(-samples * width // MOST_NUMBERS)
        self._t: list[float] = []
        self._q: list[list[float]] = []
        self._count, self._last = 0, -np.inf
        self._about: dict[str, Any] = {
            "coordinates": list(layout.coordinates),
            "units": {name: layout.units[name] for name in layout.coordinates},
            "t_end": t_end,
        }
        self._began = time.monotonic()
        self._due = self._began + FIRST

    def take(self, t: Array, q: Array, v: Array) -> None:
        """Takes new samples, in the coordinates of the system."""
        if t[0] <= self._last:  # the run went back
            kept = int(np.searchsorted(self._t, t[0]))
            del self._t[kept:], self._q[kept:]
        self._last = float(t[-1])
        chosen = np.arange(-self._count % self._stride, len(t), self._stride)
        self._count += len(t)
        if chosen.size:
            rows = self._system.in_joints.read(q[chosen], v[chosen], t[chosen])[0]
            self._t += [_short(x) for x in t[chosen].tolist()]
            self._q += [[_short(x) for x in row] for row in rows.tolist()]
        now = time.monotonic()
        if now >= self._due and self._t:
            self._tell.piece({**self._about, "t": self._t, "q": self._q})
            self._t, self._q, self._about = [], [], {}
            self._due = now + max(OFTEN, SELDOM * (now - self._began))


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
