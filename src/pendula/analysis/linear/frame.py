"""Data common to all linear models of one system: names, units, typical lengths, and thresholds for massless motion."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from pendula.analysis.equilibria.balance import forces_name_time
from pendula.equations.equations import displacement_name as displacement_name
from pendula.system.layout import Array
from pendula.system.parameters import typical_steps
from pendula.system.system import System

MASSLESS = 1e-11
"""a direction with less than this fraction of the largest mass, after scaling, is massless"""
VANISHING = 1e-20
"""a coordinate with less than this fraction of the largest inertia (scaled by a length) is massless: sin(1e-10)^2"""


@dataclass(frozen=True)
class Frame:
    """Data common to all linear models of one system; ``steps`` are typical sizes of the coordinates."""

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    units: dict[str, str]
    identity: Array
    steps: Array
    constrained: bool
    may_change: bool


_FRAMES: WeakKeyDictionary[System, Frame] = WeakKeyDictionary()


def frame_of(system: System) -> Frame:
    """The frame of a system; cached."""
    found = _FRAMES.get(system)
    if found is None:
        layout = system.layout
        names = tuple(displacement_name(name) for name in layout.speeds)
        units = dict(layout.units) | {
            name: _unit(system, k) for k, name in enumerate(names) if name not in layout.units
        }
        lengths = typical_steps(system)
        named = bool(system.written) or forces_name_time(system.model)
        may_change = bool(system.drives or system.inputs.in_time or named)
        found = Frame(names, layout.speeds, units, np.eye(len(names)), lengths, system.loop_rows > 0, may_change)
        _FRAMES[system] = found
    return found


def _unit(system: System, k: int) -> str:
    units = system.model.unit_names
    return units.coordinate(system.layout.speed_kinds[k])
