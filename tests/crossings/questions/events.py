"""Events of the carried run, against roots that are bisected on its own samples."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev

from tests.crossings.carry import Carried
from tests.crossings.case import BLOCK, WEIGHTS, Case, Unsuitable, Wrong
from tests.crossings.mechanism import Array

DEGREE = 7
"""of a polynomial through a block: below the number of conditions, so that what it misses shows"""
FINE = 80
"""points of a block at which signs are looked at"""


def events(case: Case, carried: Carried) -> None:
    """Times of all events of the run, which came with it."""
    run = carried.run
    for text, (name, a, b, c) in case.events.items():
        if text not in run.events:
            raise Wrong(f'the run has lost its event "{text}": it has {sorted(run.events)}')
        found = np.sort(np.asarray(run.events[text].t, dtype=float))

        def value(x: Array, t: Array, a: float = a, b: float = b, c: float = c) -> Array:
            return np.asarray(np.cos(a * x + b * t) if a else x - c)

        right, bounds = _roots(case, carried, name, value, max(1.0, a))
        if found.size != right.size or np.any(np.abs(found - right) > bounds):
            raise Wrong(f'event "{text}": {found.tolist()}, on the samples of the run {right.tolist()} within {bounds}')
        states = run.events[text]
        assert len(states) == found.size


def _roots(
    case: Case, carried: Carried, name: str, value: Callable[[Array, Array], Array], steep: float
) -> tuple[Array, Array]:
    """Roots of a function of a variable and the time, and how far they may be off."""
    per = WEIGHTS.size + 1
    moments = carried.moments
    position = name in moments[0].q
    y = np.array([(x.q if position else x.v)[name] for x in moments])
    # speeds have slopes inside of blocks only: where an input jumps there are two
    slope = np.array([(x.v[f"{name}_dot"] if position else x.a[name]) for x in moments])
    edges = carried.stretch.edges
    roots, bounds = [], []
    for n, (first, last) in enumerate(pairwise(edges)):
        part = slice(n * per, (n + 1) * per + 1)
        x = 2 * (carried.stretch.times[part] - first) / (last - first) - 1
        inner = slice(None) if position else slice(1, -1)
        A = np.vstack([chebyshev.chebvander(x, DEGREE), _slopes(x[inner])])
        rhs = np.concatenate([y[part], slope[part][inner] * (last - first) / 2])
        series = np.linalg.lstsq(A, rhs, rcond=None)[0]
        missed = float(np.abs(A @ series - rhs).max())

        def at(s: Array, series: Array = series, first: float = first, last: float = last) -> Array:
            return value(chebyshev.chebval(s, series), first + (s + 1) / 2 * (last - first))

        s = np.linspace(-1, 1, FINE + 1)
        f = at(s)
        error = steep * (10 * missed + case.tolerance / 10)
        turns = np.flatnonzero(f[:-1] * f[1:] < 0)
        for i in turns:
            root = _bisected(at, s[i], s[i + 1])
            rate = abs(float(at(np.array(root + 1e-4)) - at(np.array(root - 1e-4)))) / 2e-4 * 2 / BLOCK
            roots.append(first + (root + 1) / 2 * (last - first))
            bounds.append(1e-9 + error / max(rate, 1e-9))
        near = np.flatnonzero(np.abs(f) < 3 * error)
        if any(np.abs(turns - i).min(initial=9) > 2 for i in near) or max(bounds, default=0.0) > BLOCK / 10:
            raise Unsuitable("it is in doubt whether there is an event")
    ends = np.array([carried.stretch.first, carried.stretch.last])
    if any(np.abs(ends - root).min() < 10 * bound for root, bound in zip(roots, bounds, strict=True)):
        raise Unsuitable("an event is at the end of the run")
    order = np.argsort(roots)
    return np.array(roots)[order], np.array(bounds)[order]


def _slopes(x: Array) -> Array:
    return np.array([chebyshev.chebval(x, chebyshev.chebder(unit)) for unit in np.eye(DEGREE + 1)]).T


def _bisected(function: Callable[[Array], Array], low: float, high: float) -> float:
    below = function(np.array(low)) < 0
    for _ in range(50):
        middle = (low + high) / 2
        if (function(np.array(middle)) < 0) == below:
            low = middle
        else:
            high = middle
    return (low + high) / 2
