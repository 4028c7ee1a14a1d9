"""Proof of a strict minimum of the potential at a pole of the coordinates, such as a spherical pendulum at its bottom.

At a pole some angles (longitudes) have no effect, and the mass matrix is singular. The other coordinates r are as good
as distances from the pole: if for every value of the longitudes the force along r vanishes at the pole and its slope
-dF/dr is positive definite nearby, then the potential exceeds that of the pole by at least a multiple of |r|^2. With
masses that resist changes of r, poses are near the pole exactly if r is small. So the pole is a strict minimum, and
stable if no force adds energy (Lagrange, Dirichlet); no chart is needed that is regular there.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from pendula.analysis.equilibria.proofs.equations_at_rest import (
    MOST_SPEEDS,
    exact_rows,
    numbers_at_rest,
    refuse_time,
    step_of,
)
from pendula.analysis.stability.places import Place
from pendula.equations.equations import Equations
from pendula.equations.rest.at_rest import PARTS_OF_A_TURN, fault_at_pole, forces_at_rest, motion_rows
from pendula.model.periodic import repeats
from pendula.numerics.intervals.matrices import Ball, is_positive_definite
from pendula.numerics.intervals.solve import slopes_over, values_over
from pendula.numerics.intervals.tape import Tape, Undecidable

NO_MASS = 1e-12
"""coordinates with less mass than this fraction of the largest may be longitudes"""
EXACT = 1e-9
"""distance from such a multiple [rad, or typical lengths] up to which the pole is meant"""
REACH = 1e-3
"""distance from the pole within which slopes are bounded"""
NARROWEST = 1e-2
"""pieces of the turns of longitudes are halved down to this [rad]"""
MOST_PIECES = 20_000


def minimum_at_pole(place: Place) -> str:
    """How a strict minimum at a pole was verified.

    Raises:
        Undecidable: it was not.
    """
    system, balance = place.system, place.balance
    if system.balls or system.loop_rows or len(place.v) > MOST_SPEEDS or np.any(place.v):
        raise Undecidable("a pole of quaternions, of closed loops or in a steady motion")
    eq = exact_rows(balance)
    numbers = numbers_at_rest(balance, place.v)
    masses = system.mass_matrix(place.q, 0.0, parameters=balance.parameters).diagonal() * place.balance.steps**2
    idle = [k for k, m in enumerate(masses.tolist()) if m <= NO_MASS * masses.max()]
    others = [k for k in range(len(masses)) if k not in idle]
    values = system.layout.parameter_values(balance.parameters)
    if not idle or not all(repeats(system.model, [system.layout.coordinates[k]], values) for k in idle):
        raise Undecidable("the mass matrix could not be verified")
    pole = {eq.q[k]: multiple_of_turn(float(place.q[k]), float(place.balance.steps[k])) for k in others}
    forces = forces_at_rest(eq, [symbol for symbol, x in numbers.items() if x == 0.0])
    refuse_time(balance, forces)
    if fault := fault_at_pole(eq, pole, [eq.q[k] for k in idle], forces):
        raise Undecidable(fault)
    _verify(place, eq, numbers, forces, (others, idle))
    names = ", ".join(system.layout.coordinates[k] for k in idle)
    return f"the potential is verified to have a strict minimum at a pole of the coordinates, for every {names}"


def multiple_of_turn(x: float, size: float) -> int:
    """The multiple of pi/12 that a coordinate is up to rounding."""
    k = round(x / math.pi * PARTS_OF_A_TURN)
    if abs(x - k * math.pi / PARTS_OF_A_TURN) > EXACT * size:
        raise Undecidable("a pole that is no multiple of 15 degrees")
    return k


def _verify(
    place: Place, eq: Equations, numbers: dict[Any, float], forces: list[Any], split: tuple[list[int], list[int]]
) -> None:
    """Raises Undecidable unless masses and slopes of the forces are positive definite around the pole."""
    others, idle = split
    M = motion_rows(eq, [s for s, x in numbers.items() if x == 0.0], expanded=True)[1]
    tape = Tape(len(eq.q))
    known: dict[Any, int] = {symbol: tape.constant(x) for symbol, x in numbers.items()}
    known |= {symbol: k for k, symbol in enumerate(eq.q)}
    rows = [step_of(forces[k], tape, known) for k in others]
    masses = [step_of(M[i][j], tape, known) for i in others for j in others]
    n, reach = len(others), REACH * place.balance.steps
    box = np.stack([place.q - reach, place.q + reach], axis=1)
    turn = (-math.pi - EXACT, math.pi + EXACT)
    waiting = [np.array(pieces) for pieces in product(_halves(*turn), repeat=len(idle))]
    for _ in range(MOST_PIECES):
        if not waiting:
            return
        box[idle] = piece = waiting.pop()
        slopes = slopes_over(tape, rows, box)[:, others]
        resist = values_over(tape, masses, box).reshape(n, n, 2)
        sound = is_positive_definite(Ball.between(resist[..., 0], resist[..., 1]))
        if sound and is_positive_definite(-Ball.between(slopes[..., 0], slopes[..., 1])):
            continue
        widest = int(np.argmax(piece[:, 1] - piece[:, 0]))
        for half in _halves(*piece[widest]):
            part = piece.copy()
            part[widest] = half
            waiting.append(part)
        if piece[widest, 1] - piece[widest, 0] < NARROWEST:
            break
    raise Undecidable("stiffness or masses could not be verified beside a pole of the coordinates")


def _halves(low: float, high: float) -> tuple[tuple[float, float], tuple[float, float]]:
    middle = 0.5 * (low + high)
    return (low, middle), (middle, high)
