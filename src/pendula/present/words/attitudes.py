"""Orientations in several charts as rows of tables and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import degrees
from typing import Any

from pendula.present.words.tables import number
from pendula.simulation.charts.attitudes import Attitude

DIGITS = 6
"""significant digits"""


def coordinates_text(found: Attitude) -> str:
    """The coordinates of an orientation, angles in degrees."""
    return _listed(found.coordinates, found.units)


def speeds_text(found: Attitude) -> str:
    """Its speeds; those that the chart leaves undetermined are named."""
    known = {name: x for name, x in found.speeds.items() if name not in found.undetermined}
    parts = [_listed(known, found.units)] if known else []
    parts += [f"{name} not determined" for name in found.undetermined]
    return ", ".join(parts)


def unbroken(text: str) -> str:
    """A list of values that lines of a page break only between values."""
    return ", ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in text.split(", "))


def _listed(values: Mapping[str, float], units: Mapping[str, str]) -> str:
    shown = []
    for name, value in values.items():
        unit = units[name]
        x, unit = (degrees(value), "deg") if unit == "rad" else (value, unit)
        shown.append(f"{name} = {number(round(x, 10) + 0.0, DIGITS)} {unit}".rstrip())
    return ", ".join(shown)


def attitude_data(found: Sequence[Attitude]) -> list[dict[str, Any]]:
    """The same as plain data, angles in radians; undetermined speeds are None."""
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
