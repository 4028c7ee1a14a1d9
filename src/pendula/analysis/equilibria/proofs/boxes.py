"""All equilibria of a general mechanism in a box, proven by interval arithmetic, each with an enclosure."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.domain import Domain
from pendula.analysis.equilibria.proofs.completeness import Proof
from pendula.analysis.equilibria.proofs.equations_at_rest import MOST_SPEEDS, AtRest, Unsuited, equations_at_rest
from pendula.analysis.equilibria.proofs.patches import Patch, sides_of
from pendula.analysis.equilibria.proofs.rotations import patches_of_rotations
from pendula.numerics.intervals.solve import Roots, values_over
from pendula.numerics.intervals.tape import Undecidable
from pendula.system.layout import Array
from pendula.words import counted

QUICKLY = 5.0
"""time limit [s] of a proof that nobody asked for"""
LOOKS = 4
"""states at which forces are compared"""


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
    if quick and (balance.system.loop_rows or balance.system.balls or len(balance.system.layout.speeds) > 4):
        return None
    if quick and _several_count(balance, v, domain):
        return None
    try:
        if balance.system.balls:
            patches, symmetry = patches_of_rotations(balance, v, domain)
        else:
            equations = equations_at_rest(balance, v, most=1 if quick else MOST_SPEEDS)
            if equations.steady:
                return _never(equations)
            patches, symmetry = [_patch(equations, domain)], ""
    except Undecidable as reason:
        return None if quick and isinstance(reason, Unsuited) else f"there are no bounds for {reason}"
    begin, limit = time.perf_counter(), QUICKLY if seconds is None else seconds
    found = []
    for patch in patches:
        left = max(limit - (time.perf_counter() - begin), 0.0)
        found.append(patch.roots(left, on_progress))
    named = [_named(patch, one, domain) for patch, one in zip(patches, found, strict=True)]
    states = [q for one in named for q in one[0]]
    boxes = tuple(box for one in named for box in one[2])
    idle = [name for i, name in enumerate(domain.names) if not any(np.any(patch.lift[i]) for patch in patches)]
    words = _reason(found, boxes, symmetry, bool(patches[0].multipliers)) + (_idle(idle) if not symmetry else "")
    proven = all(one.proven for one in found)
    return Proof(
        tuple(states), words, proven, tuple(x for one in named for x in one[1]), boxes, _searched(patches[0], domain)
    )


def _several_count(balance: Balance, v: Array, domain: Domain) -> bool:
    """Whether forces depend on more than one coordinate, and none is a constant, as numbers at a few states say.

    To find that out by expanding the expressions of forces takes long.
    """
    q = domain.random(LOOKS, np.random.default_rng(0))
    still = np.broadcast_to(v, (LOOKS, len(v)))
    with np.errstate(all="ignore"):
        forces = balance.forces(q, still)
        slopes, _ = balance.system.residual_jacobian(
            "q", q, still, np.zeros_like(still), np.zeros((LOOKS, 0)), 0.0,
            inputs=balance.inputs, parameters=balance.parameters,
        )  # fmt: skip
    if not (np.all(np.isfinite(forces)) and np.all(np.isfinite(slopes))):
        return False
    count = np.abs(slopes) > 1e-9 * np.abs(slopes).max(initial=1e-300)
    constant = ~count.any(axis=(0, 2)) & (np.abs(forces).max(axis=0) > 0.0)
    return bool(count.any(axis=(0, 1)).sum() > 1 and not constant.any())


def _never(equations: AtRest) -> Proof | None:
    """The proof of no equilibrium, if a force that depends on no coordinate is nonzero; else None."""
    places = np.zeros((equations.tape.variables, 2))
    for (lo, hi), speed in zip(
        values_over(equations.tape, list(equations.steady.values()), places), equations.steady, strict=True
    ):
        if lo > 0.0 or hi < 0.0:
            return Proof((), f'the force on "{speed}" is nonzero and depends on no coordinate')
    return None


def _patch(equations: AtRest, domain: Domain) -> Patch:
    """The equations on the domain; multipliers have no bounds."""
    at, m = list(equations.unknowns), equations.multipliers
    lo, hi, periods = sides_of(domain, at)
    far = np.full(m, math.inf)
    lift = np.eye(len(domain.names))[:, at]
    corners = np.append(lo, -far), np.append(hi, far)
    return Patch(equations.tape, equations.rows, *corners, np.append(periods, np.zeros(m)), lift, m)


def _searched(patch: Patch, domain: Domain) -> dict[str, tuple[float, float]]:
    """Sides of the box of a patch, by coordinate that is no quaternion."""
    count = patch.lift.shape[1]
    sides = patch.coordinates(np.stack([patch.lo[:count], patch.hi[:count]], axis=1)[None])[0]
    turning = {k for at in domain.balls for k in range(at, at + 4)}
    found = {i: sides[i] for i in range(len(domain.names)) if np.any(patch.lift[i]) and i not in turning}
    return {domain.names[i]: (float(a), float(b)) for i, (a, b) in found.items() if not domain.circles[i]}


Boxes = list[dict[str, tuple[float, float]]]


def _named(patch: Patch, found: Roots, domain: Domain) -> tuple[list[Array], Boxes, Boxes]:
    """Coordinates of the roots of a patch, their enclosures and the undecided boxes, by name."""
    used = [i for i in range(len(domain.names)) if np.any(patch.lift[i])]

    def by_name(boxes: Array) -> Boxes:
        return [{domain.names[i]: (float(box[i, 0]), float(box[i, 1])) for i in used} for box in boxes]

    bounds = patch.coordinates(found.enclosures)
    for at in domain.balls:  # of both signs, the one that is shown
        turn = bounds[:, at : at + 4]
        negative = turn[:, 0].mean(axis=1) < -1e-12
        bounds[:, at : at + 4] = np.where(negative[:, None, None], -turn[:, :, ::-1], turn)
    joined = _joined(found.undecided)
    undecided = patch.coordinates(np.array(joined)) if joined else np.zeros((0, len(domain.names), 2))
    return list(bounds.mean(axis=2)), by_name(bounds), by_name(undecided)


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


def _idle(names: Sequence[str]) -> str:
    """What it means that the forces do not depend on some coordinates."""
    if not names:
        return ""
    some, have = ", ".join(names), "has" if len(names) == 1 else "have"
    return f"; {some} {have} no effect, so each equilibrium represents all values of {some}"


def _reason(
    found: Sequence[Roots], undecided: tuple[dict[str, tuple[float, float]], ...], symmetry: str, loops: bool
) -> str:
    """The result of the proof in a sentence."""
    seconds = sum(one.seconds for one in found)
    work = counted(sum(one.boxes for one in found), "box", "boxes") + (f" in {seconds:.3g} s" if seconds > 0.1 else "")
    alike = f"; {symmetry}, so each equilibrium represents all poses reached by such turns" if symmetry else ""
    if all(one.proven for one in found):
        how = "branch and prune left only boxes with no equilibrium or exactly one"
        return f"by interval arithmetic: {how} ({work}){alike}"
    place = ", ".join(f"{name} {a:.6g} to {b:.6g}" for name, (a, b) in undecided[0].items())
    left = (
        f"{len(undecided)} places are undecided, the largest {place}" if len(undecided) > 1 else f"{place} is undecided"
    )
    cause = "" if all(one.finished for one in found) else "; the limit of time or of undecided boxes was reached"
    singular = "; where the constraints lose rank nothing is decided" if loops else ""
    verified = sum(len(one.enclosures) for one in found)
    return f"interval arithmetic verified {verified}, but {left} ({work}){cause}{singular}{alike}"
