"""Work against precision: which of two integrators is faster when both are equally exact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Point:
    """One run: what it cost and how far its energy strayed."""

    error: float
    seconds: float


def front(points: Iterable[Point]) -> list[Point]:
    """The runs worth making, from exact and slow to coarse and quick: no other one is both better and quicker."""
    valid = [p for p in points if np.isfinite(p.error) and p.error > 0 and p.seconds > 0]
    found: list[Point] = []
    for point in sorted(valid, key=lambda p: (p.error, p.seconds)):
        if not found or point.seconds < found[-1].seconds:
            found.append(point)
    return found


def seconds_at(points: Iterable[Point], error: float) -> float | None:
    """What a run with this error costs, interpolated between runs in logarithms of both; None out of their range."""
    worth = front(points)
    if not worth or not worth[0].error <= error <= worth[-1].error:
        return None
    x, y = np.log([p.error for p in worth]), np.log([p.seconds for p in worth])
    return float(np.exp(np.interp(np.log(error), x, y)))


def seconds_for(points: Iterable[Point], error: float) -> float | None:
    """What a run with at most this error costs: as above, and for coarser wishes the quickest run that was made."""
    worth = front(points)
    if not worth:
        return None
    return worth[-1].seconds if error > worth[-1].error else seconds_at(worth, error)


def times_faster(ours: Sequence[Point], theirs: Sequence[Point], error: float) -> float | None:
    """Their time over ours at an error that they reach within their runs; None if either side does not reach it."""
    they, we = seconds_at(theirs, error), seconds_for(ours, error)
    return None if they is None or we is None else they / we


def decades(ours: Sequence[Point], theirs: Sequence[Point]) -> dict[float, float]:
    """How many times faster we are at every power of ten that both sides reach."""
    found = {}
    for exponent in range(-16, 3):
        gain = times_faster(ours, theirs, 10.0**exponent)
        if gain is not None:
            found[10.0**exponent] = gain
    return found
