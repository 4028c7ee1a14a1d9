"""Bounds of coordinates and speeds, at which runs of an ensemble end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.errors import NotSupported, UsageError
from pendula.model.quantities import number_in
from pendula.simulation.events import Event
from pendula.system.layout import Array
from pendula.system.system import System


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
