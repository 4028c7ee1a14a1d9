"""Distance between two runs of a mechanism: the largest distance between corresponding points of its bodies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis.symmetry.geometry import Geometry
from pendula.arguments import read_names, read_positive
from pendula.errors import UsageError
from pendula.model.names import suggestion
from pendula.simulation.predictability import first_above
from pendula.simulation.trajectory import Trajectory
from pendula.system.layout import Array
from pendula.system.parameters import typical_length
from pendula.tables.tabular import Tabular

SMALL_PART = 1e-3
"""Fraction of a typical length above which runs count as different: 0.1 %, Turner's criterion."""


@dataclass(frozen=True)
class Separation:
    """Distance between two runs over time.

    Attributes:
        t: times, shape (k,).
        distance: largest distance between the same point in both runs [length].
        where: the point with that distance, as "body.point", at every time.
        threshold: distance above which the runs count as different [length].
        time: when the distance first exceeds the threshold; None if it never does.
        unit, time_unit: names of units.
    """

    t: Array
    distance: Array
    where: tuple[str, ...]
    threshold: float
    time: float | None
    unit: str
    time_unit: str


class Separated(Tabular, ABC):
    """What results about two motions have in common: the distance between these over time."""

    separation: Separation

    @abstractmethod
    def __str__(self) -> str:
        """What the distance means, as a sentence."""

    @property
    def t(self) -> Array:
        """Times, shape (k,)."""
        return self.separation.t

    @property
    def distance(self) -> Array:
        """Largest distance between the same point in both motions, at every time [length]."""
        return self.separation.distance

    @property
    def where(self) -> tuple[str, ...]:
        """The point with that distance, as "body.point", at every time."""
        return self.separation.where

    @property
    def threshold(self) -> float:
        """Distance above which the motions count as different [length]."""
        return self.separation.threshold

    @property
    def time(self) -> float | None:
        """When the distance first exceeds the threshold; None if it never does."""
        return self.separation.time

    @property
    def unit(self) -> str:
        """Name of the unit of length."""
        return self.separation.unit

    @property
    def time_unit(self) -> str:
        """Name of the unit of time."""
        return self.separation.time_unit


def separation(
    first: Trajectory, second: Trajectory, *, threshold: float | None = None, points: Sequence[str] | None = None
) -> Separation:
    """The distance between two runs that were sampled at the same times.

    Args:
        first, second: the runs; one may be shorter.
        threshold: distance at which they count as different; default: 0.1 % of a typical length of the mechanism.
        points: points to compare, "body" or "body.point"; default: all named points of all bodies (of rods, the ends).

    Raises:
        UsageError: the runs have different times or different bodies, or there is no such point.
    """
    count = min(len(first), len(second))
    if not count or not np.allclose(first.t[:count], second.t[:count], rtol=1e-12, atol=0.0):
        raise UsageError("the two runs are not sampled at the same times; give both the same samples")
    if set(first.layout.bodies) != set(second.layout.bodies):
        raise UsageError("the two runs belong to different mechanisms: the names of their bodies differ")
    length = typical_length(first.system, first.parameters)
    limit = SMALL_PART * length if threshold is None else read_positive(threshold, "the threshold", "length")
    names, distances = _distances(first, second, count, points)
    largest = np.argmax(distances, axis=1)
    distance = distances[np.arange(count), largest]
    units = first.system.model.unit_names
    return Separation(
        t=first.t[:count],
        distance=distance,
        where=tuple(names[k] for k in largest),
        threshold=limit,
        time=first_above(first.t[:count], distance, limit),
        unit=units.length,
        time_unit=units.time,
    )


def _distances(
    first: Trajectory, second: Trajectory, count: int, points: Sequence[str] | None
) -> tuple[list[str], Array]:
    """Names of the points, and the distance at each of them over time."""
    here, there = _paths(first, count), _paths(second, count)
    chosen = list(here) if points is None else [_chosen(p, here) for p in read_names(points, "points")]
    if points is None:
        chosen = [p for p in chosen if p in there and not p.endswith((".origin", ".center"))] or list(here)
    if not chosen:
        raise UsageError("the list of points to compare is empty")
    return chosen, np.stack([np.linalg.norm(here[p] - there[p], axis=1) for p in chosen], axis=1)


def _chosen(name: str, known: dict[str, Any]) -> str:
    full = name if "." in name else f"{name}.com"
    if full not in known:
        hint = suggestion(full, known, most=12)
        raise UsageError(f'there is no point "{name}"; {hint}')
    return full


def _paths(run: Trajectory, count: int) -> dict[str, Array]:
    """World positions of every named point of every body."""
    R, r = run.system.poses(run.q[:count], run.t[:count], parameters=run.parameters)
    geometry = Geometry(run.system.model, run.layout.parameter_values(run.parameters))
    found = {}
    for k, body in enumerate(run.layout.bodies):
        for name, place in run.system.model.body(body).named_points().items():
            found[f"{body}.{name}"] = r[:, k] + R[:, k] @ geometry.vector(place)
    return found
