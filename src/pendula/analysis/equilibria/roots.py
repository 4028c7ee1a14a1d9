"""All roots of a function of one number, with proof: by bounds of it and of its derivative on subintervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pendula.analysis.equilibria.intervals import Interval, Jet
from pendula.system.layout import Array

FIRST = 64
"""subintervals at the start"""
FINEST = 1e-7
"""subintervals are not made smaller than this share of the whole"""
MOST = 20_000
"""subintervals that are undecided at the same time; beyond, the search gives up"""

Bounds = Callable[[Interval], Jet]


@dataclass(frozen=True)
class Roots:
    """What is proven about the roots in an interval.

    Attributes:
        found: roots, each the only one in a subinterval where the function is monotone and changes its sign.
        undecided: subintervals in which there may be any number of roots.
    """

    found: tuple[float, ...]
    undecided: tuple[tuple[float, float], ...]


@dataclass
class _Piece:
    """Neighbouring subintervals, and whether the function is monotone on all of them."""

    lo: float
    hi: float
    monotone: bool


def isolate_roots(bounds: Bounds, lo: float, hi: float) -> Roots:
    """All roots between ``lo`` and ``hi``: subintervals are halved until each is free of roots or monotone."""
    found: list[float] = []
    undecided: list[tuple[float, float]] = []
    for piece in _pieces(bounds, lo, hi):
        signs = [_sign(bounds, x) for x in (piece.lo, piece.hi)]
        if not piece.monotone or 0 in signs:
            undecided.append((piece.lo, piece.hi))
        elif signs[0] != signs[1]:
            found.append(_root(bounds, piece))
    return Roots(tuple(found), tuple(undecided))


def _pieces(bounds: Bounds, lo: float, hi: float) -> list[_Piece]:
    edges = np.linspace(lo, hi, FIRST + 1)
    left, right = edges[:-1], edges[1:]
    kept: list[tuple[float, float, bool]] = []
    while len(left):
        jet = bounds(Interval(left, right))
        open_ = ~np.broadcast_to(jet.value.excludes_zero, left.shape)
        monotone = np.broadcast_to(jet.slope.excludes_zero, left.shape)
        small = (right - left) <= FINEST * (hi - lo)
        done = open_ & (monotone | small)
        kept += zip(left[done].tolist(), right[done].tolist(), monotone[done].tolist(), strict=True)
        more = open_ & ~done
        if np.sum(more) > MOST:
            kept += zip(left[more].tolist(), right[more].tolist(), [False] * int(np.sum(more)), strict=True)
            break
        left, right = _halved(left[more], right[more])
    return _joined(sorted(kept))


def _halved(left: Array, right: Array) -> tuple[Array, Array]:
    """Two parts of each, not quite equal, so that cuts do not fall on roots at round numbers."""
    middle = left + 0.4871 * (right - left)
    return np.concatenate([left, middle]), np.concatenate([middle, right])


def _joined(cells: list[tuple[float, float, bool]]) -> list[_Piece]:
    pieces: list[_Piece] = []
    for lo, hi, monotone in cells:
        if pieces and pieces[-1].hi == lo:
            # Slopes without zero on two closed neighbours have the same sign at their common end, so on both.
            pieces[-1].hi = hi
            pieces[-1].monotone &= monotone
        else:
            pieces.append(_Piece(lo, hi, monotone))
    return pieces


def _sign(bounds: Bounds, x: float) -> int:
    """Sign of the function at a point; 0 where rounding leaves it open."""
    value = bounds(Interval.at(np.array([x]))).value
    return int(np.ravel(value.lo > 0)[0]) - int(np.ravel(value.hi < 0)[0])


def _root(bounds: Bounds, piece: _Piece) -> float:
    from scipy.optimize import brentq  # slow to load

    def middle(x: float) -> float:
        value = bounds(Interval.at(np.array([x]))).value
        return float(np.ravel(value.lo + value.hi)[0]) / 2

    return float(brentq(middle, piece.lo, piece.hi, xtol=1e-15, rtol=1e-15))
