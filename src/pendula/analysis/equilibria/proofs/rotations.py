"""Equilibrium equations of open mechanisms with quaternions, on patches of the rotations that cover all of them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.domain import Domain
from pendula.analysis.equilibria.proofs.equations_at_rest import (
    MOST_SPEEDS,
    Unsuited,
    exact_rows,
    numbers_at_rest,
    refuse_time,
    step_of,
)
from pendula.analysis.equilibria.proofs.patches import Patch, sides_of
from pendula.equations.rest.at_rest import forces_at_rest
from pendula.equations.rest.rotations import Ball, Part, RotationRows, parts_of, rows_on_patch
from pendula.numerics.intervals.tape import Tape
from pendula.system.layout import Array


def patches_of_rotations(balance: Balance, v: Array, domain: Domain) -> tuple[list[Patch], str]:
    """The equilibrium equations on patches that together cover the domain, and a remark on symmetries.

    Raises:
        Unsuited: the mechanism has closed loops or moves steadily, or equations and unknowns differ in number.
        Undecidable: there are no bounds for a function in the equations.
    """
    system = balance.system
    if system.loop_rows:
        raise Unsuited("closed loops with quaternions")
    if np.any(v):
        raise Unsuited("steady motions with quaternions")
    if len(system.layout.speeds) > MOST_SPEEDS:
        raise Unsuited(f"more than {MOST_SPEEDS} speeds")
    eq = exact_rows(balance)
    numbers = numbers_at_rest(balance, v)
    forces = forces_at_rest(eq, [symbol for symbol, x in numbers.items() if x == 0.0])
    refuse_time(balance, forces)
    found, words = [], []
    turning = {k for _, at in system.balls for k in range(at, at + 3)}
    alone = [f for k, f in enumerate(forces) if k not in turning and f != 0]
    balls = [
        Ball.of(eq.q[at : at + 4], eq.v[k : k + 3], eq.qdot[at : at + 4], forces[k : k + 3]) for at, k in system.balls
    ]
    for i, ball in enumerate(balls):
        others = [*alone, *(t for k, b in enumerate(balls) if k != i for t in b.inner)]
        parts, symmetry = parts_of(ball, others)
        found.append(parts)
        if symmetry:
            name = next(x.joint for x in system.layout.orientations if x.q.start == system.balls[i][0])
            words.append(f'"{name}" may turn {symmetry} without change of the forces at rest')
    patches = [
        _patch(domain, numbers, rows_on_patch(eq, list(zip(balls, chosen, strict=True)), alone), chosen)
        for chosen in product(*found)
    ]
    return patches, "; ".join(words)


def _patch(domain: Domain, numbers: dict[Any, float], on: RotationRows, chosen: tuple[Part, ...]) -> Patch:
    """The equations on one patch, as a tape in a box of its unknowns."""
    if len(on.rows) != len(on.unknowns):
        found = f"{len(on.rows)} equations for {len(on.unknowns)} coordinates"
        raise Unsuited(f"{found}, which leave families of equilibria")
    lo, hi, periods = sides_of(domain, on.plain)
    flips: list[tuple[int, ...]] = []
    edges: dict[int, float] = {}
    at = len(on.plain)
    for part in chosen:
        flips += [tuple(at + k for k in group) for group in part.flips]
        edges |= {at + k: x for k, x in part.edges.items()}
        low, high = np.array(part.sides).T
        lo, hi, periods = np.append(lo, low), np.append(hi, high), np.append(periods, np.zeros(len(low)))
        at += len(low)
    tape = Tape(len(on.unknowns))
    known = {symbol: k for k, symbol in enumerate(on.unknowns)} | {s: tape.constant(x) for s, x in numbers.items()}
    rows = [step_of(row, tape, known) for row in on.rows]
    return Patch(tape, rows, lo, hi, periods, np.array(on.lift), flips=tuple(flips), edges=edges)
