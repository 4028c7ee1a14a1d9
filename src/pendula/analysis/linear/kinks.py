"""States at which forces have a kink or a jump, such as abs(x) or sign(x_dot) at zero: no linear model exists there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.stationary import Stationary
from pendula.analysis.linear.frame import displacement_name
from pendula.errors import ComputationError
from pendula.model.forces.kinks import may_have_kinks
from pendula.system.layout import Array

ASIDE = 1e-8
"""step to either side of a state at which forces are compared [rad, typical lengths, and both per unit of time]"""
JUMP = 1e-6
"""a force jumps if its two sides differ by more than this fraction of a typical force"""
KINK = 1e-4
"""a derivative jumps if its two sides differ by more than this fraction of the largest derivative"""


def kink_at(balance: Balance, q: Array, v: Array, lam: Array) -> str:
    """The kink or jump of the forces at a state, in words; empty if they are smooth.

    Compares forces and their exact derivatives a very small step to either side, for each coordinate, speed and input.
    """
    system = balance.system
    if not (system.written or may_have_kinks(system.model)):
        return ""
    problem, names = Stationary(balance, v, 1.0), system.layout.speeds
    for k, step in enumerate(ASIDE * np.eye(len(v))):
        if what := _differs(*(_look(balance, problem.moved(q[None], s * step[None])[0], v, lam) for s in (-1, 1))):
            return f"{what} across {displacement_name(names[k])}"
        if what := _differs(*(_look(balance, q, v + s * step * problem.sizes, lam) for s in (-1, 1))):
            return f"{what} across the speed {names[k]}"
    u = np.zeros(0) if balance.inputs is None else balance.inputs
    for k, step in enumerate(ASIDE * np.eye(len(u)) * np.maximum(1.0, np.abs(u))):
        if what := _differs(*(_look(replace(balance, inputs=u + s * step), q, v, lam) for s in (-1, 1))):
            return f"{what} across the input {system.layout.inputs[k]}"
    return ""


def refuse_kinks(balance: Balance, q: Array, v: Array, lam: Array, state: str = "this state") -> None:
    """Raises ComputationError if forces have a kink or a jump at a state; ``state`` names it in the message."""
    found = kink_at(balance, q, v, lam)
    if found:
        raise ComputationError(
            f"the forces have {found}, exactly at {state}: no linear model or eigenvalues exist there.\n"
            "  Try: a smooth expression, such as tanh(x/0.01) for sign(x), or simulate the motion."
        )


def _look(balance: Balance, q: Array, v: Array, lam: Array) -> tuple[Array, Array]:
    """Forces and their derivatives, scaled to energies so that all entries compare."""
    sizes = balance.steps
    slopes = [balance.changes(by, q, v, lam) * sizes[:, None] * sizes for by in "sv"]
    return balance.forces(q, v) * sizes, np.hstack(slopes)


def _differs(one: tuple[Array, Array], other: tuple[Array, Array]) -> str:
    """What differs between the two sides of a state: "a jump", "a kink", or nothing."""
    (force, slopes), (force2, slopes2) = one, other
    size = max(float(np.abs(x).max(initial=0.0)) for x in (slopes, slopes2))
    typical = max(size, *(float(np.abs(x).max(initial=0.0)) for x in (force, force2)))
    if np.abs(force - force2).max(initial=0.0) > JUMP * typical:
        return "a jump"
    return "a kink" if np.abs(slopes - slopes2).max(initial=0.0) > KINK * size else ""
