"""Proofs that a sleeping top is stable: a body that spins about its axis of symmetry, which is the fixed axis.

Energy, spin momentum and angular momentum about the fixed axis are constant. If a combination of them has a definite
second variation at fixed spin momentum, the motion is stable up to drift along both symmetries. At slightly different
spin momenta the body also sleeps, and the combination stays definite, so that all disturbances are covered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.analysis.equilibria.proofs.equations_at_rest import exact_rows, numbers_at_rest, step_of
from pendula.analysis.stability.enclosure import masses_depend_on
from pendula.analysis.stability.places import SEQUENCES, Place
from pendula.analysis.stability.pole_argument import multiple_of_turn
from pendula.equations.rest.at_rest import forces_at_rest, motion_rows
from pendula.equations.rest.sleeping import SleepingForms, sleeping_forms
from pendula.model.bodies import GROUND
from pendula.numerics.intervals.matrices import Ball, is_positive_definite
from pendula.numerics.intervals.solve import values_over
from pendula.numerics.intervals.tape import Tape, Undecidable

CYCLIC = SEQUENCES[:3]
"""sequences of x, y, z in a cyclic order"""
SPLITS = 61
"""number of multiples of the angular momentum that are tried"""
ROUNDED = 1e-8
"""bound on the distance of the angles from the multiples of 15 degrees that are meant [rad]"""


def sleeps_stably(place: Place) -> bool:
    """Whether a body on a ball joint at a fixed point is verified to sleep stably; False if that is not found out."""
    system, balance = place.system, place.balance
    tree = system.model.tree
    turns = [x.chart.name for x in system.layout.orientations]
    if len(place.v) != 3 or np.any(place.v[:2]) or len(turns) != 1 or turns[0] not in CYCLIC:
        return False
    if len(tree) != 1 or tree[0].parent.body != GROUND or system.drives or system.has_power or system.loop_rows:
        return False
    try:
        if masses_depend_on(balance, place.v, 2):
            return False
        eq, numbers = exact_rows(balance), numbers_at_rest(balance, 0.0 * place.v)
        at = {symbol: multiple_of_turn(float(x), 1.0) for symbol, x in zip(eq.q[:2], place.q[:2], strict=True)}
        zeros = [symbol for symbol, x in numbers.items() if x == 0.0]
        forms = sleeping_forms(eq, forces_at_rest(eq, zeros), motion_rows(eq, zeros, expanded=True)[1], at)
        return forms is not None and _is_definite(place, eq.q[:2], forms, numbers)
    except Undecidable:
        return False


def _is_definite(place: Place, angles: tuple[Any, ...], forms: SleepingForms, numbers: dict[Any, float]) -> bool:
    """Whether the energy minus some multiple of the angular momentum is verified to be positive definite."""
    tape = Tape(3)
    known: dict[Any, int] = {symbol: tape.constant(x) for symbol, x in numbers.items()}
    known |= {symbol: k for k, symbol in enumerate((*angles, forms.momentum))}
    box = np.stack([place.q - ROUNDED, place.q + ROUNDED], axis=1)
    box[2] = 0.0
    masses = values_over(tape, [step_of(forms.mass, tape, known)], box)[0]
    ends = masses * place.v[2]
    slack = 1e-15 * np.abs(ends).max()
    box[2] = ends.min() - slack, ends.max() + slack
    grids = []
    for grid in (forms.energy, forms.turn):
        bounds = values_over(tape, [step_of(x, tape, known) for row in grid for x in row], box).reshape(4, 4, 2)
        grids.append(Ball.between(bounds[..., 0], bounds[..., 1]))
    energy, turn = grids
    if not (energy.is_finite and turn.is_finite):
        return False
    size = float(np.abs(ends).max() / energy.mid[2, 2])
    parts = size * np.linspace(-1.5, 1.5, SPLITS)
    return any(is_positive_definite(energy - turn @ Ball.exact(x * np.eye(4))) for x in parts)
