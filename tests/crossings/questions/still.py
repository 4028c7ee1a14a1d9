"""States of rest by our own numbers, where an answer is asked for: nobody need search for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tests.crossings.case import Unsuitable
from tests.crossings.mechanism import Array
from tests.crossings.oracle import Moment
from tests.crossings.questions.states import displaced

if TYPE_CHECKING:
    from tests.crossings.questions.rest import Rest

STEPS = 22
STEP = 1e-7
FIRST = (0.05, 1e6, 1e6)
"""step in time of each try at first: small ones follow the accelerations downhill, large ones are Newton's"""
LARGEST = 0.5
"""the largest change of a coordinate in one step"""
SETTLED = 1e-11
"""accelerations and gaps that are left, relative to their slopes"""
REGULAR = 1e-4
"""smallest singular value of the slopes, relative to the largest"""


def settled(rest: Rest, near: Mapping[str, float]) -> dict[str, float]:
    """Coordinates of a state of rest, from a state or others beside it."""
    n = len(rest.own.free)
    x = rest.moment(near)
    for first in FIRST:
        found = _found(rest, x, first)
        if found is not None:
            return dict(found.q)
        x = _moved(rest, rest.moment(near), rest.case.rng.normal(0.0, 0.5, size=n))
    raise Unsuitable("no regular state of rest was found")


def _found(rest: Rest, x: Moment, first: float) -> Moment | None:
    """Downhill as through honey: implicit steps of e' = accelerations, which grow as these fade, with closed loops."""
    n = len(rest.own.free)
    left, h = _left(rest, x), first
    for _ in range(STEPS):
        slopes = _slopes(rest, x, left)
        if np.abs(left).max() < SETTLED * (1 + np.abs(slopes).max()):
            sizes = np.linalg.svd(slopes, compute_uv=False)
            return x if sizes[-1] > REGULAR * sizes[0] else None
        slow = np.vstack([np.eye(n) / h, np.zeros((len(left) - n, n))])
        step = np.linalg.lstsq(slow - slopes, left, rcond=1e-10)[0]
        step *= min(1.0, LARGEST / max(float(np.abs(step).max()), 1e-300))
        x = _moved(rest, x, step)
        before, left = left, _left(rest, x)
        h *= float(np.clip(2 * np.linalg.norm(before) / max(np.linalg.norm(left), 1e-300), 0.3, 10.0))
    return None


def _left(rest: Rest, x: Moment) -> Array:
    return np.concatenate([rest.accelerations(x), 10 * rest.own.gaps(x)[0]])


def _slopes(rest: Rest, x: Moment, left: Array) -> Array:
    ways = STEP * np.eye(len(rest.own.free))
    return np.array([(_left(rest, _moved(rest, x, e)) - left) / STEP for e in ways]).T


def _moved(rest: Rest, x: Moment, by: Array) -> Moment:
    beside = displaced(rest.own, x, dict(zip(rest.own.free, by.tolist(), strict=True)), {})
    q = dict(beside.q)
    parts = [name for name in q if name.startswith("shoulder_q")]
    size = float(np.linalg.norm([q[name] for name in parts])) if parts else 1.0
    q |= {name: q[name] / size for name in parts}
    return rest.moment(q, t=x.t)


__all__ = ["settled"]
