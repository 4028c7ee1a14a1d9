"""Bounds of coordinates and speeds, at which runs of an ensemble end.

A run that starts beyond a bound has left at the start. One that starts on a bound, within rounding, has left if it
moves outward; it continues if it moves inward. One that stays there, in equilibrium, never leaves: only rounding could
push it across.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.errors import NotSupported, PendulaError, UsageError
from pendula.model.quantities import number_in
from pendula.simulation import refusals
from pendula.simulation.events import Event
from pendula.system.layout import Array
from pendula.system.system import System

ON = 8
"""spacings of floating-point numbers from a bound within which a start is on it"""
MOVED = 64
"""the same, beyond which a coordinate has moved"""
AHEAD, STEPS = 0.03, 8
"""how far to look ahead of a start on a bound, as a share of the time in which the mechanism moves; steps of that"""


@dataclass(frozen=True)
class Within:
    """Bounds of components of the state.

    Attributes:
        names: coordinates and speeds that have bounds.
        places: their places in the state (q, v).
        low, high: their bounds; infinite if there is none on that side.
    """

    names: tuple[str, ...]
    places: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def bounds(self, size: int) -> Array:
        """Bounds of all components, shape (2, size)."""
        found = np.full((2, size), np.inf)
        found[0] = -np.inf
        found[0, list(self.places)], found[1, list(self.places)] = self.low, self.high
        return found

    def without(self, some: Array) -> Within | None:
        """The bounds without some of them; None if none is left."""
        kept = [k for k in range(len(self.names)) if not some[k]]
        if not kept:
            return None
        return Within(
            tuple(self.names[k] for k in kept), tuple(self.places[k] for k in kept),
            tuple(self.low[k] for k in kept), tuple(self.high[k] for k in kept),
        )  # fmt: skip

    def starts(self, system: System, q: Array, v: Array, t: float, table: Array) -> Starting:
        """Which runs leave at once, beyond a bound or outward from it, and which stay on one."""
        y = np.concatenate([q, v], axis=1)
        own, low, high = y[:, list(self.places)], np.array(self.low), np.array(self.high)
        with np.errstate(invalid="ignore"):
            above = np.abs(own - high) <= ON * np.spacing(np.abs(high))
            below = np.abs(own - low) <= ON * np.spacing(np.abs(low))
        on = above | below
        side = np.where(above, 1.0, -1.0)
        way = np.zeros(own.shape)
        some = np.flatnonzero(on.any(axis=1))
        for group in [some] if len(table) == 1 and some.size else some[:, None]:
            row = table[0 if len(table) == 1 else group[0]]
            way[group] = side[group] * _ways(system, q[group], v[group], t, row)[:, list(self.places)]
        bound = np.where(above, high, low)
        left = on & (way > 0.0) | ~on & ((own > high) | (own < low))
        y[:, list(self.places)] = np.where(on, np.where(left, np.nextafter(bound, np.inf * side), bound), own)
        return Starting(left.any(axis=1), on & (way == 0.0), y[:, : q.shape[1]], y[:, q.shape[1] :])

    def events(self) -> list[Event]:
        """The same bounds as events that end a run."""
        sides = [
            Event.read(f"{name} {sign} {value!r}", terminal=True)
            for name, low, high in zip(self.names, self.low, self.high, strict=True)
            for sign, value in (("<", low), (">", high))
            if np.isfinite(value)
        ]
        return sides

    def left(self, q: Array, v: Array) -> Array:
        """For the last states of runs that left the bounds: the place in ``names`` of what left them."""
        y = np.concatenate([q, v], axis=1)[:, list(self.places)]
        room = np.minimum(np.abs(np.array(self.high) - y), np.abs(y - np.array(self.low)))
        beyond = (y > np.array(self.high)) | (y < np.array(self.low))
        return np.asarray(np.argmin(np.where(beyond, -1.0, room), axis=1))


@dataclass(frozen=True)
class Starting:
    """Starts of runs with bounds.

    Attributes:
        left: which runs leave at once.
        stays: which of the bounded components stay on their bound, shape (runs, names).
        q, v: the starts; those on a bound are exactly on it, or just beyond if they leave at once.
    """

    left: Array
    stays: Array
    q: Array
    v: Array


def _ways(system: System, q: Array, v: Array, t: float, row: Array) -> Array:
    """Signs of the changes of all components of states (q, v) right after them; 0 for those that stay.

    The rate decides if it is more than rounding, else a short look ahead: at rest, the acceleration or a higher
    derivative.
    """
    try:
        return _ahead(system, q, v, t, row)
    except PendulaError:
        if len(q) > 1:  # one of them is in a singular pose
            return np.concatenate([_ways(system, q[k : k + 1], v[k : k + 1], t, row) for k in range(len(q))])
        return np.zeros((1, q.shape[1] + v.shape[1]))


def _ahead(system: System, q: Array, v: Array, t: float, row: Array) -> Array:
    nq, start, begun = q.shape[1], np.concatenate([q, v], axis=1), np.full((len(q), 1), t)

    def rate(y: Array, t: Array) -> Array:
        at, speeds, times = y[:, :nq], y[:, nq:], t[:, 0]
        moved = system.rates(at, speeds, times, parameters=row)
        return np.concatenate([moved, system.accelerations(at, speeds, times, parameters=row)], axis=1)

    first = aside = rate(start, begun)
    with suppress(PendulaError):  # aside, redundant loops may not close
        aside = rate(np.concatenate([q + 0.5 * np.cos(np.arange(nq)), v], axis=1), begun)  # in no equilibrium
    sizes = np.abs(np.concatenate([first[:, nq:], aside[:, nq:], v**2], axis=1))
    size = np.where(np.isfinite(sizes), sizes, 0.0).max(axis=1, initial=0.0)[:, None]
    ahead = AHEAD / np.sqrt(np.where(size > 0.0, size, 1.0))
    h, y = ahead / STEPS, start.copy()
    for k in range(STEPS):  # the classical method of Runge and Kutta
        now = begun + k * h
        a = rate(y, now)
        b = rate(y + 0.5 * h * a, now + 0.5 * h)
        c = rate(y + 0.5 * h * b, now + 0.5 * h)
        d = rate(y + h * c, now + h)
        y = y + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    least = MOVED * np.spacing(np.maximum(np.abs(start), np.abs(y)))
    moves = np.where(np.abs(first) * ahead > least, first, np.where(np.abs(y - start) > least, y - start, 0.0))
    return np.sign(moves)


def read_within(system: System, given: Mapping[str, Any]) -> Within:
    """Bounds by name.

    Raises:
        UsageError: a name is unknown, or its bounds are not two increasing numbers.
        NotSupported: the system has other coordinates than its joints.
    """
    if not isinstance(given, Mapping) or not given:
        raise UsageError(f"within: bounds by name, (low, high) or a number, found {given!r:.60}")
    if not system.in_joints.same:
        raise NotSupported(refusals.BOUNDS_OF_BODIES)
    layout = system.layout
    low, high, places = [], [], []
    for name, value in given.items():
        which, k = layout.position(name)
        places.append(k + (len(layout.coordinates) if which == "v" else 0))
        pair = value if isinstance(value, (tuple, list)) else (None, value)
        if len(pair) != 2:
            raise UsageError(f'within: "{name}" has the bounds (low, high), found {value!r:.60}')
        ends = [None if x is None else number_in(x, layout.units[name], f'within: "{name}"') for x in pair]
        if not isinstance(value, (tuple, list)):
            ends[0] = None if ends[1] is None else -ends[1]
        low.append(-np.inf if ends[0] is None else ends[0])
        high.append(np.inf if ends[1] is None else ends[1])
        if not low[-1] < high[-1]:
            raise UsageError(f'within: the bounds of "{name}" must be increasing, found {value!r:.60}')
    return Within(tuple(given), tuple(places), tuple(low), tuple(high))
