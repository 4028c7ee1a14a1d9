"""Bounds of coordinates and speeds, at which runs of an ensemble end.

A run that starts on a bound, within rounding, has left at the start if it moves outward, and goes on if it moves inward.
One that stays there, in equilibrium, never leaves: only rounding could push it across.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.errors import NotSupported, PendulaError, UsageError
from pendula.model.quantities import number_in
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
        names, places, low, high = (
            tuple(values[k] for k in kept) for values in (self.names, self.places, self.low, self.high)
        )
        return Within(names, places, low, high) if kept else None

    def starts(self, system: System, q: Array, v: Array, t: float, table: Array) -> Starting:
        """What starts on a bound do: leave at once, stay there, or move inward."""
        y = np.concatenate([q, v], axis=1)
        own, low, high = y[:, list(self.places)], np.array(self.low), np.array(self.high)
        with np.errstate(invalid="ignore"):
            above = np.abs(own - high) <= ON * np.spacing(np.abs(high))
            below = np.abs(own - low) <= ON * np.spacing(np.abs(low))
        on = above | below
        side = np.where(above, 1.0, -1.0)
        way = np.zeros(own.shape)
        for k in np.flatnonzero(on.any(axis=1)):
            row = table[k if len(table) > 1 else 0]
            way[k] = np.where(on[k], side[k] * _ways(system, q[k], v[k], t, row)[list(self.places)], 0.0)
        bound = np.where(above, high, low)
        left = on & (way > 0.0)
        y[:, list(self.places)] = np.where(left, np.nextafter(bound, np.inf * side), np.where(on, bound, own))
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
    """Signs of the changes of all components of a state (q, v) right after it; 0 for those that stay.

    The rate decides if it is more than rounding, else a short look ahead: at rest, the acceleration or a higher
    derivative.
    """
    nq = q.size

    def rate(y: Array, t: float) -> Array:
        at, speeds = y[:nq], y[nq:]
        moved = system.rates(at, speeds, t, parameters=row)
        return np.concatenate([moved, system.accelerations(at, speeds, t, parameters=row)])

    start = np.concatenate([q, v])
    try:
        first = rate(start, t)
        aside = rate(np.concatenate([q + 0.5 * np.cos(np.arange(nq)), v]), t)  # where it is in no equilibrium
    except PendulaError:
        return np.zeros(start.size)
    sizes = np.concatenate([first[nq:], aside[nq:], v**2])
    size = float(np.abs(sizes[np.isfinite(sizes)]).max(initial=0.0))
    if not size > 0.0:
        return np.zeros(start.size)
    ahead = AHEAD / np.sqrt(size)
    h, y = ahead / STEPS, start.copy()
    for k in range(STEPS):  # the classical method of Runge and Kutta
        now = t + k * h
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
        UsageError: a name is unknown, or its bounds are no two increasing numbers.
        NotSupported: the system has other coordinates than its joints.
    """
    if not isinstance(given, Mapping) or not given:
        raise UsageError(f"within: bounds by name, (low, high) or a number, found {given!r:.60}")
    if not system.in_joints.same:
        raise NotSupported(
            "within is for coordinates of the equations, and maximal coordinates are not those of the joints.\n"
            '  Try: another formulation, such as "kane".'
        )
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
