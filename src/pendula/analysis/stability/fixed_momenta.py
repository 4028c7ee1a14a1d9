"""Proofs that steady motions are stable: interval arithmetic shows a strict minimum of Routh's potential.

In angles in which the symmetries of a mechanism are cyclic coordinates c, the others being a, small motion at fixed
momenta has the energy a'^T S a'/2 + a^T R a/2, with S the Schur complement of the masses of c, and Routh's stiffness
R = K_aa + C_ca^T M_cc^-1 C_ca. If R is positive definite, Routh's potential has a strict minimum, and the steady motion
is stable up to drift along c (Routh; for disturbed momenta Lyapunov: the minimum only moves a little).
"""

from __future__ import annotations

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.stability.enclosure import SmallMotion, masses_depend_on, small_motion_with_bounds
from pendula.analysis.stability.places import PROPER, SEQUENCES, Place, places_of
from pendula.analysis.stability.sleeping import CYCLIC, sleeps_stably
from pendula.numerics.intervals.matrices import Ball, is_positive_definite, solved
from pendula.numerics.intervals.tape import Undecidable


def at_fixed_momenta(point: Equilibrium, drifts: tuple[str, ...]) -> str:
    """How a strict minimum at fixed momenta was verified, apart from drift along these symmetries (in words).

    For conservative mechanisms without prescribed motions and closed loops.

    Raises:
        Undecidable: it was not.
    """
    first: Undecidable | None = None
    for sequences in (PROPER, SEQUENCES):
        for place in places_of(point, sequences):
            try:
                motion = small_motion_with_bounds(place)
                _verify(place, motion, len(drifts))
            except Undecidable as reason:
                first = first or reason
                continue
            how = "Routh's stiffness at fixed momenta is verified to be positive definite, by interval arithmetic"
            return f"{how}, for a steady motion within {motion.within:.0e} of the computed one"
    for place in places_of(point, CYCLIC):
        if len(drifts) == 2 and sleeps_stably(place):
            forms = "the second variation of energy and angular momenta together"
            return f"{forms} is verified to be positive definite at fixed spin momentum, by interval arithmetic"
    raise first or Undecidable("the coordinates are singular there")


def _verify(place: Place, motion: SmallMotion, drifts: int) -> None:
    """Raises Undecidable unless Routh's stiffness is positive definite and ``drifts`` coordinates are cyclic."""
    if not is_positive_definite(motion.M):
        raise Undecidable("the mass matrix could not be verified")
    a = list(motion.acting)
    c = [k for k in range(len(place.q)) if k not in a]
    if len(c) != drifts or any(masses_depend_on(place.balance, place.v, k) for k in c):
        raise Undecidable("symmetries that are no cyclic coordinates of one sequence of angles")
    if not a:
        return
    M_cc, C_ca, K_aa = (
        Ball(X.mid[np.ix_(i, j)], X.rad[np.ix_(i, j)])
        for X, i, j in ((motion.M, c, c), (motion.C, c, a), (motion.K, a, a))
    )
    moved = solved(M_cc, C_ca)
    if moved is None or not is_positive_definite(K_aa + C_ca.T @ moved):
        raise Undecidable("Routh's stiffness is not verified to be positive definite")
