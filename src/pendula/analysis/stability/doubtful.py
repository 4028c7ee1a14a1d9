"""Stiffness that is indistinguishable from zero because rounding limits how well the equilibrium is known.

Where two equilibria merge, rounding errors of the forces move the computed one by the square root of their size, and
the stiffness there may have either sign. Such a stiffness counts as zero, and higher-order terms decide.
"""

from __future__ import annotations

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.proofs.equations_at_rest import forces_on_speeds
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.quadratic import symmetric_problem
from pendula.analysis.linear.spectrum import stiffness_nearby
from pendula.numerics.intervals.series import taylor
from pendula.numerics.intervals.tape import Tape, Undecidable
from pendula.system.layout import Array

SMALL = 1e-4
"""stiffness above this fraction of that nearby is not in doubt"""
ROUNDING = 8 * np.finfo(float).eps
"""rounding error of a force as a fraction of its summands"""
FARTHEST = 0.05
"""no equilibrium is taken to be farther than this from the computed one [rad, or typical lengths]"""


def without_doubtful_stiffness(model: LinearModel) -> LinearModel:
    """The same linear model with zero stiffness where its sign depends on rounding errors; for open mechanisms."""
    system, at = model.system, model.at
    n = len(model.M)
    if system is None or not n or model.displacements or np.any(at.v) or not np.array_equal(model.N, np.eye(n)):
        return model
    sizes, along = symmetric_problem(model.M, model.conservative)
    nearby = np.sum(np.abs(along) * (stiffness_nearby(model) @ np.abs(along)), axis=0)
    small = [k for k in range(n) if 0.0 < abs(sizes[k]) < SMALL * nearby[k]]
    if not small or system.in_joints.system is not system:
        return model
    try:
        forces = forces_on_speeds(Balance(system, at.inputs, at.parameters), at.v)
    except Undecidable:
        return model
    K = model.K
    for k in small:
        if _may_change_sign(forces, at.q, along[:, k] / np.abs(along[:, k] / model.sizes).max()):
            row = model.M @ along[:, k]
            K = K - sizes[k] * np.outer(row, row)
    return model if K is model.K else model.with_matrices(K=K)


def _may_change_sign(forces: tuple[Tape, list[int]], q: Array, direction: Array) -> bool:
    """Whether the stiffness along a direction changes its sign within the distance to which the forces vanish."""
    tape, rows = forces
    try:
        here, summands = taylor(tape, rows, np.stack([q, direction], axis=1))
        stiffness = -float(direction @ here[:, 1])
        rounding = ROUNDING * float(np.abs(direction) @ summands[:, 0]) + abs(float(direction @ here[:, 0]))
        if not rounding or not stiffness:
            return False
        h = min(rounding / abs(stiffness), FARTHEST)
        sides = (taylor(tape, rows, np.stack([q + s * h * direction, direction], axis=1))[0] for s in (-1.0, 1.0))
        return any(-float(direction @ side[:, 1]) * stiffness <= 0.0 for side in sides)
    except (ZeroDivisionError, ValueError, OverflowError):
        return False
