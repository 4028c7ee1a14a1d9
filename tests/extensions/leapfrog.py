"""Leapfrog, a stepper from outside the package: kick, drift, kick with steps of a fixed size.

L. Verlet, "Computer experiments on classical fluids", Phys. Rev. 159 (1967) 98-103. Order 2, symplectic where the
mass matrix is constant.
"""

import numpy as np

from pendula.extend import Stepper, rates, register_stepper


def kick_drift_kick(run, t, h, y, slope, new, error):
    """From y to new; positions come first, then speeds, then integrals that nothing depends on."""
    nq, last = run.coordinates, run.coordinates + run.speeds
    half, dy = np.empty_like(y), np.empty_like(y)
    for k in range(y.size):  # kick: half a step of the speeds
        new[k] = y[k] + (0.5 * h * slope[k] if nq <= k < last else 0.0)
    if not rates(run, t, new, dy):
        return False
    for k in range(y.size):  # drift: half a step, to find the rates of the positions at the middle, then the whole
        half[k] = y[k] + 0.5 * h * dy[k] if k < nq else new[k]
    if not rates(run, t + 0.5 * h, half, dy):
        return False
    for k in range(nq):
        new[k] = y[k] + h * dy[k]
    for k in range(last, y.size):
        new[k] = y[k] + h * dy[k]
    half[nq:] = new[nq:]
    for _ in range(2):  # kick, with the acceleration at its end: the second time at the speeds that the first time gave
        if not rates(run, t + h, new, dy):
            return False
        for k in range(nq, last):
            new[k] = half[k] + 0.5 * h * dy[k]
    return True


register_stepper(
    Stepper(
        "leapfrog", order=2, step=kick_drift_kick, splits=True, summary="order 2, symplectic, steps of a fixed size"
    )
)
