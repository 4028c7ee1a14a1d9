"""All equilibria of a general mechanism in a box, proven by interval arithmetic, each with an enclosure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.completeness import Proof
from pendula.analysis.equilibria.domain import TURN, Domain
from pendula.analysis.equilibria.equations_at_rest import MOST_SPEEDS, AtRest, Unsuited, equations_at_rest
from pendula.numerics.intervals.solve import Roots, all_roots, distinct, values_over
from pendula.numerics.intervals.tape import Undecidable
from pendula.system.layout import Array
from pendula.words import counted

CUT = 0.1234
"""where a circle is cut: not at a multiple of 90 degrees, since equilibria on a face between boxes cost time"""
QUICKLY = 5.0
"""time limit [s] of a proof that nobody asked for"""
OVERLAP = 1e-9
"""overlap of the two ends of a circle, larger than the rounding error of a full turn"""


def prove_in_boxes(
    balance: Balance,
    v: Array,
    domain: Domain,
    seconds: float | None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Proof | str | None:
    """All equilibria in the domain, with proof; or a sentence that says why there is no proof.

    Args:
        balance: the forces.
        v: constant rates of a steady motion; zero at rest.
        domain: the search domain. Periodic angles span a full turn.
        seconds: time limit; None for immediate proofs only: open mechanisms with one force that depends on one
            coordinate, or on none. The result is None for other mechanisms.
        on_progress: called as ``on_progress(boxes, roots)``.
    """
    quick = seconds is None
    if quick and (balance.system.loop_rows or len(balance.system.layout.speeds) > 4):
        return None
    try:
        equations = equations_at_rest(balance, v, most=1 if quick else MOST_SPEEDS)
    except Undecidable as reason:
        return None if quick and isinstance(reason, Unsuited) else f"there are no bounds for {reason}"
    if equations.steady:
        return _never(equations)
    lo, hi, periods = _box(domain, equations)
    found = all_roots(
        equations.tape,
        equations.rows,
        lo,
        hi,
        multipliers=equations.multipliers,
        seconds=QUICKLY if seconds is None else seconds,
        on_progress=on_progress,
    )
    found = _of_coordinates(distinct(found, lo, hi, periods), len(equations.unknowns))
    names = [domain.names[i] for i in equations.unknowns]
    boxes = tuple(_by_name(names, box) for box in _joined(found.undecided))
    states = np.zeros((len(found.enclosures), len(domain.names)))
    states[:, list(equations.unknowns)] = found.enclosures.mean(axis=2)
    enclosures = tuple(_by_name(names, box) for box in found.enclosures)
    box = {name: (float(a), float(b)) for name, a, b, p in zip(names, lo, hi, periods, strict=False) if not p}
    return Proof(tuple(states), _reason(found, equations, boxes), found.proven, enclosures, boxes, box)


def _never(equations: AtRest) -> Proof | None:
    """The proof of no equilibrium, if a force that depends on no coordinate is nonzero; else None."""
    places = np.zeros((equations.tape.variables, 2))
    for (lo, hi), speed in zip(
        values_over(equations.tape, list(equations.steady.values()), places), equations.steady, strict=True
    ):
        if lo > 0.0 or hi < 0.0:
            return Proof((), f'the force on "{speed}" is nonzero and depends on no coordinate')
    return None


def _box(domain: Domain, equations: AtRest) -> tuple[Array, Array, Array]:
    """Corners of the box, and the period of each unknown (0 if none); multipliers have no bounds."""
    at = list(equations.unknowns)
    circles = domain.circles[at]
    first = np.array([any(i == group[0] for group in domain.groups) for i in at], dtype=bool)
    lo = np.where(circles | first, -math.pi - CUT, domain.lo[at])
    hi = np.where(circles | first, math.pi - CUT + OVERLAP, domain.hi[at])
    far = np.full(equations.multipliers, math.inf)
    return np.append(lo, -far), np.append(hi, far), np.append(np.where(circles, TURN, 0.0), np.zeros(len(far)))


def _of_coordinates(found: Roots, count: int) -> Roots:
    """The same without multipliers."""
    return replace(
        found,
        enclosures=found.enclosures[:, :count],
        regions=found.regions[:, :count],
        undecided=found.undecided[:, :count],
    )


def _by_name(names: list[str], box: Array) -> dict[str, tuple[float, float]]:
    return {name: (float(a), float(b)) for name, (a, b) in zip(names, box, strict=True)}


def _joined(boxes: Array) -> list[Array]:
    """Bounding boxes of groups of touching boxes, largest first."""
    left, found = np.array(boxes), []
    while len(left):
        one, left = left[-1], left[:-1]
        while True:
            touching = np.all((left[:, :, 0] <= one[:, 1]) & (left[:, :, 1] >= one[:, 0]), axis=1)
            if not touching.any():
                break
            parts = np.concatenate([one[None], left[touching]])
            one = np.stack([parts[:, :, 0].min(axis=0), parts[:, :, 1].max(axis=0)], axis=1)
            left = left[~touching]
        found.append(one)
    return sorted(found, key=lambda box: -float((box[:, 1] - box[:, 0]).max()))


def _reason(found: Roots, equations: AtRest, undecided: tuple[dict[str, tuple[float, float]], ...]) -> str:
    """The result of the proof in a sentence."""
    work = counted(found.boxes, "box", "boxes") + (f" in {found.seconds:.3g} s" if found.seconds > 0.1 else "")
    if found.proven:
        return f"by interval arithmetic: branch and prune left only boxes with no equilibrium or exactly one ({work})"
    place = ", ".join(f"{name} {a:.6g} to {b:.6g}" for name, (a, b) in undecided[0].items())
    left = (
        f"{len(undecided)} places are undecided, the largest {place}" if len(undecided) > 1 else f"{place} is undecided"
    )
    cause = "" if found.finished else "; the time limit was reached"
    singular = "; where the constraints lose rank nothing is decided" if equations.multipliers else ""
    return f"interval arithmetic verified {len(found.enclosures)}, but {left} ({work}){cause}{singular}"
