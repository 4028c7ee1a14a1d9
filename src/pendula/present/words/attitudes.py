"""Orientations in several charts as rows of tables and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pendula.present.words.equilibria import named_values
from pendula.simulation.charts.attitudes import Attitude

ROUNDING = 12
"""decimals beyond which a value is a rounding error"""


def coordinates_text(found: Attitude) -> str:
    """The coordinates of an orientation, angles in degrees."""
    return _listed(found.coordinates, found.units)


def speeds_text(found: Attitude) -> str:
    """The speeds of an orientation; names those that the chart leaves undetermined."""
    known = {name: x for name, x in found.speeds.items() if name not in found.undetermined}
    parts = [_listed(known, found.units)] if known else []
    parts += [f"{name} not determined" for name in found.undetermined]
    return ", ".join(parts)


def _listed(values: Mapping[str, float], units: Mapping[str, str]) -> str:
    return named_values({name: round(x, ROUNDING) + 0.0 for name, x in values.items()}, units)


def attitude_data(found: Sequence[Attitude]) -> list[dict[str, Any]]:
    """Orientations as plain data, angles in radians; undetermined speeds are None."""
    return [
        {
            "joint": x.joint,
            "chart": x.chart,
            "own": x.own,
            "coordinates": dict(x.coordinates),
            "speeds": {name: None if value != value else value for name, value in x.speeds.items()},
        }
        for x in found
    ]
