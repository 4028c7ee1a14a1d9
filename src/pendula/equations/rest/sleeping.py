"""Energy and angular momentum of a sleeping top: second derivatives at fixed spin momentum, in symbols.

A body with a fixed point turns by angles a1, a2 and c about the axes x, y and z (or in another cyclic order), and c
does not occur in M and in the forces. At fixed momentum p of c, with m the masses that couple c to a and S the Schur
complement of the mass of c, its energy is a'^T S a'/2 + p^2/(2 M_cc) + V(a). Its angular momentum about the fixed axis
is xi . (M v) = xi_a . (S a' + m p/M_cc) + xi_c p, where xi are the rates of the angles in a turn about that axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import symengine as se

from pendula.equations.equations import Equations
from pendula.equations.rest.at_rest import PARTS_OF_A_TURN, vanishes

SPIN = se.Symbol("spin'")
"""the momentum p"""


@dataclass(frozen=True)
class SleepingForms:
    """Second derivatives by (a1, a2, a1', a2'), as 4 x 4 matrices of expressions of the angles and of ``momentum``.

    Attributes:
        energy: of the energy.
        turn: of the angular momentum about the fixed axis.
        mass: of the spin, M_cc.
        momentum: its symbol.
    """

    energy: list[list[Any]]
    turn: list[list[Any]]
    mass: Any
    momentum: Any = SPIN


def sleeping_forms(eq: Equations, forces: list[Any], M: list[list[Any]], at: Mapping[Any, int]) -> SleepingForms | None:
    """The forms of a body with a fixed point; None if the fixed axis is no symmetry axis, or the body does not sleep.

    Args:
        eq: equations in three angles about x, y, z in a cyclic order, with their rates as speeds.
        forces: the generalized forces at rest.
        M: the mass matrix.
        at: the first two angles, as multiples of pi/12.
    """
    a, c = eq.q[:2], eq.q[2]
    here = {symbol: se.Rational(k, PARTS_OF_A_TURN) * se.pi for symbol, k in at.items()}
    M = [[se.sympify(x).subs({c: 0}) for x in row] for row in M]
    sines, cosines = [se.sin(x) for x in a], [se.cos(x) for x in a]
    # A turn about the fixed axis z: rates (-cos a1 tan a2, sin a1, cos a1 / cos a2).
    about = -cosines[0] * sines[1] * forces[0] + sines[0] * cosines[1] * forces[1]
    if forces[2] != 0 or any(c in se.sympify(f).free_symbols for f in forces) or not vanishes(about):
        return None
    xi = [-cosines[0] * sines[1] / cosines[1], sines[0]]
    mass, m = M[2][2], M[2][:2]
    S = [[M[i][j] - m[i] * m[j] / mass for j in range(2)] for i in range(2)]
    potential = SPIN**2 / (2 * mass)
    turn = sum((xi[i] * m[i] for i in range(2)), se.Integer(0)) * SPIN / mass + cosines[0] / cosines[1] * SPIN
    slopes = [potential.diff(x) - f for x, f in zip(a, forces, strict=False)] + [turn.diff(x) for x in a]
    if not all(vanishes(se.sympify(x).subs(here)) for x in slopes):
        return None
    zero = se.Integer(0)
    energy = [[zero] * 4 for _ in range(4)]
    momentum = [[zero] * 4 for _ in range(4)]
    for i in range(2):
        for j in range(2):
            energy[i][j] = potential.diff(a[i]).diff(a[j]) - se.sympify(forces[i]).diff(a[j])
            energy[2 + i][2 + j] = S[i][j]
            momentum[i][j] = turn.diff(a[i]).diff(a[j])
            row = sum((xi[k] * S[k][j] for k in range(2)), zero)
            momentum[i][2 + j] = momentum[2 + j][i] = se.sympify(row).diff(a[i])
    return SleepingForms(energy, momentum, mass)
