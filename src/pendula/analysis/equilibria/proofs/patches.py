"""Equilibrium equations on a box of unknowns, from which the coordinates of a mechanism follow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pendula.analysis.equilibria.domain import TURN, Domain
from pendula.numerics.intervals.solve import Roots, all_roots, distinct
from pendula.numerics.intervals.tape import Tape
from pendula.system.layout import Array

CUT = 0.1234
"""where a circle is cut: not at a multiple of 90 degrees, since equilibria on a face between boxes cost time"""
OVERLAP = 1e-9
"""overlap of the two ends of a circle, and of patches, larger than rounding errors"""


@dataclass(frozen=True)
class Patch:
    """As many equations as unknowns, in a box.

    Attributes:
        tape, rows: the equations.
        lo, hi: corners of the box.
        periods: by unknown, after how much the equations repeat; 0 if they do not.
        lift: a matrix that gives the coordinates from the unknowns without multipliers.
        multipliers: number of Lagrange multipliers, the last unknowns.
        flips: groups of unknowns that may change their signs together without a change of pose.
        edges: lower corners, by unknown, at which another patch continues this one.
    """

    tape: Tape
    rows: list[int]
    lo: Array
    hi: Array
    periods: Array
    lift: Array
    multipliers: int = 0
    flips: tuple[tuple[int, ...], ...] = ()
    edges: Mapping[int, float] = field(default_factory=dict)

    def roots(self, seconds: float, on_progress: object = None) -> Roots:
        """All roots in the box, each once, without multipliers."""
        lo = np.array(self.lo)
        for k in self.edges:
            lo[k] -= OVERLAP
        found = all_roots(
            self.tape,
            self.rows,
            lo,
            self.hi,
            multipliers=self.multipliers,
            seconds=seconds,
            on_progress=on_progress,  # type: ignore[arg-type]
        )
        found = distinct(found, lo, self.hi, self.periods, self.flips)
        count = len(self.lo) - self.multipliers
        found = replace(
            found,
            enclosures=found.enclosures[:, :count],
            regions=found.regions[:, :count],
            undecided=found.undecided[:, :count],
        )
        near = np.zeros(len(found.enclosures), dtype=bool)
        for k, edge in self.edges.items():  # the other patch may have found the same one
            near |= found.enclosures[:, k, 0] < edge + OVERLAP
        rest = np.concatenate([found.undecided, found.enclosures[near]])
        return replace(found, enclosures=found.enclosures[~near], regions=found.regions[~near], undecided=rest)

    def coordinates(self, boxes: Array) -> Array:
        """Bounds of all coordinates over boxes of unknowns, shape (boxes, coordinates, 2)."""
        lo, hi = boxes[..., 0], boxes[..., 1]
        plain = np.all((self.lift == 0.0) | (self.lift == 1.0), axis=1) & (np.count_nonzero(self.lift, axis=1) <= 1)
        up, down = np.maximum(self.lift, 0.0), np.minimum(self.lift, 0.0)
        low, high = lo @ up.T + hi @ down.T, hi @ up.T + lo @ down.T
        slack = 1e-15 * np.maximum(np.abs(low), np.abs(high)) * ~plain
        return np.stack([low - slack, high + slack], axis=-1)


def sides_of(domain: Domain, at: Sequence[int]) -> tuple[Array, Array, Array]:
    """Corners and periods of the box of some coordinates that are no quaternions."""
    at = list(at)
    circles = domain.circles[at]
    first = np.array([any(i == group[0] for group in domain.groups) for i in at], dtype=bool)
    lo = np.where(circles | first, -math.pi - CUT, domain.lo[at])
    hi = np.where(circles | first, math.pi - CUT + OVERLAP, domain.hi[at])
    return lo, hi, np.where(circles, TURN, 0.0)
