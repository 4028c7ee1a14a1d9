"""Dips of a sampled function towards zero: where it may vanish twice, or touch zero, between two samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

Array = Any

GOLDEN = 0.3819660112501051
CLOSE = 1e-9
"""the search for a minimum ends at this fraction of its initial bracket"""


def brackets(x: Array, f: Array) -> Iterator[tuple[int, int, int]]:
    """Indices of triples of samples that enclose a minimum of abs(f) at which f does not change sign.

    At either end of the samples, the parabola through three of them tells whether the first or last interval has a
    minimum inside; the triple then is that interval, with its end twice.
    """
    size = np.abs(f)
    for k in range(1, len(x) - 1):
        g = size[k - 1 : k + 2]
        least = g[1] <= min(g[0], g[2]) and g[1] < (1 - 1e-9) * max(g[0], g[2])  # never in a constant row
        if least and np.isfinite(g).all() and f[k - 1] * f[k] > 0 and f[k] * f[k + 1] > 0:
            yield k - 1, k, k + 1
    for end, one, two in ((0, 1, 2), (-1, -2, -3)) if len(x) > 2 else ():
        g = size[[end, one, two]]
        if np.isfinite(g).all() and f[end] * f[one] > 0 and g[0] < g[1]:
            first, second = (g[1] - g[0]) / (x[one] - x[end]), (g[2] - g[1]) / (x[two] - x[one])
            slope = first - (second - first) / (x[two] - x[end]) * (x[one] - x[end])
            if slope * (x[one] - x[end]) < 0:  # falls from the end inward
                at = sorted((end % len(x), one % len(x)))
                yield at[0], end % len(x), at[1]


def dip(function: Callable[[float], float], x: Array, f: Array, triple: tuple[int, int, int]) -> float:
    """Where a function of constant sign at three samples crosses zero between them, or comes nearest to it.

    Golden section and parabolas narrow the bracket of the minimum of the absolute value. The search ends where the
    function has changed sign, where the slopes in the bracket cannot lead to zero within it, or at rounding.
    """
    sign = np.sign(f[triple[1]])
    (a, m, b), (fa, fm, fb) = ([float(v[k]) for k in triple] for v in (x, np.abs(f)))
    least = CLOSE * (b - a)
    for _ in range(100):
        steepest = max((fa - fm) / (m - a) if m > a else 0.0, (fb - fm) / (b - m) if b > m else 0.0)
        if b - a <= least or (a < m < b and fm > steepest * (b - a)):
            break
        u = _vertex(a, m, b, fa, fm, fb)
        if u is None or not min(abs(u - m), u - a, b - u) > 1e-3 * (b - a):
            u = m + GOLDEN * (b - m) if b - m >= m - a else m - GOLDEN * (m - a)
        fu = sign * function(u)
        if not np.isfinite(fu):
            break
        if fu <= 0:
            return u
        if fu <= fm:
            (a, fa), (b, fb) = ((m, fm), (b, fb)) if u > m else ((a, fa), (m, fm))
            m, fm = u, fu
        elif u > m:
            b, fb = u, fu
        else:
            a, fa = u, fu
    return m


def between_roots(functions: list[Callable[[float], float]], a: float, b: float) -> list[float]:
    """Middles between the roots of functions that each change sign between two values."""
    if len(functions) < 2:
        return []
    from scipy.optimize import brentq  # slow to load

    def at(value: float, function: Callable[[float], float]) -> float:
        return float(np.nan_to_num(function(value)))  # margins are not numbers where rounding hides them: at roots

    roots = sorted(float(brentq(at, a, b, args=(f,), xtol=1e-12 * (b - a), rtol=1e-14)) for f in functions)
    return [0.5 * (low + high) for low, high in pairwise(roots)]


def _vertex(a: float, m: float, b: float, fa: float, fm: float, fb: float) -> float | None:
    """Abscissa of the vertex of the parabola through three points; None if it has none."""
    if not a < m < b:
        return None
    left, right = (m - a) * (fm - fb), (m - b) * (fm - fa)
    return m - 0.5 * ((m - a) * left - (m - b) * right) / (left - right) if left != right else None


def missed(samples: int, width: float) -> str:
    """The sentence on ranges that a study over a parameter may have missed."""
    return (
        f"from {samples} values, and from extrema of the margins between them; indicated, not proven: "
        f"no range wider than {width:.3g} was missed, a narrower one may have been"
    )
