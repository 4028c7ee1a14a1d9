"""States at which forces have a kink or a jump, such as abs(x) or sign(x_dot) at zero: no linear model exists there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.stationary import Stationary, speed_sizes
from pendula.analysis.linear.frame import displacement_name
from pendula.errors import ComputationError
from pendula.model.expressions.expression import parse
from pendula.model.expressions.functions import FUNCTIONS
from pendula.model.expressions.nodes import Call, Conditional, Node
from pendula.model.model import Model
from pendula.model.names import ExpressionError
from pendula.system.layout import Array

BENT = frozenset(name for name, function in FUNCTIONS.items() if function.breaks)
"""functions that are not smooth everywhere (a conditional is not, either)"""
ASIDE = 1e-8
"""how far to either side of a state forces are looked at [rad, typical lengths, and these per unit of time]"""
JUMP = 1e-6
"""a force that differs by more than this share of a typical one from side to side jumps"""
KINK = 1e-4
"""a derivative that differs by more than this share of the largest from side to side does"""


@lru_cache(maxsize=64)
def may_have_kinks(model: Model) -> bool:
    """Whether an expression or the law of a force, or an expression of a joint, is not smooth everywhere."""
    elements = (*model.forces, *model.tree)
    if any(_bends(value) for element in elements for value in element.model_dump().values()):
        return True
    laws = {action.law for force in model.forces for action in force.actions() if hasattr(action, "law")}
    return any(law.kinked or any(e.fold(_bent) for e in law.expressions) for law in laws)


def _bends(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_bends, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_bends, value))
    if not isinstance(value, str):
        return False
    try:
        return parse(value).fold(_bent)
    except ExpressionError:
        return False


def _bent(node: Node, parts: tuple[bool, ...]) -> bool:
    return any(parts) or isinstance(node, Conditional) or (isinstance(node, Call) and node.function in BENT)


def kink_at(balance: Balance, q: Array, v: Array, lam: Array) -> str:
    """What forces have at a state, in words: a kink or a jump, and across what; empty where they are smooth.

    Forces and their exact derivatives a very small step to either side are compared, along each coordinate, speed and
    input on its own.
    """
    system = balance.system
    if not may_have_kinks(system.model):
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
    """Refuses a state, named in the message, at which forces have a kink or a jump.

    Raises:
        ComputationError: they have; says across what.
    """
    found = kink_at(balance, q, v, lam)
    if found:
        raise ComputationError(
            f"the forces have {found}, just at {state}: no linear model exists there, nor eigenvalues.\n"
            "  Try: a smooth expression, such as tanh(x/0.01) for sign(x), or simulate the motion."
        )


def _look(balance: Balance, q: Array, v: Array, lam: Array) -> tuple[Array, Array]:
    """Forces and their derivatives, made pure but for one unit of force times length."""
    sizes = speed_sizes(balance)
    slopes = [balance.changes(by, q, v, lam) * sizes[:, None] * sizes for by in "sv"]
    return balance.forces(q, v) * sizes, np.hstack(slopes)


def _differs(one: tuple[Array, Array], other: tuple[Array, Array]) -> str:
    """What is different on the two sides of a state."""
    (force, slopes), (force2, slopes2) = one, other
    size = max(float(np.abs(x).max(initial=0.0)) for x in (slopes, slopes2))
    typical = max(size, *(float(np.abs(x).max(initial=0.0)) for x in (force, force2)))
    if np.abs(force - force2).max(initial=0.0) > JUMP * typical:
        return "a jump"
    return "a kink" if np.abs(slopes - slopes2).max(initial=0.0) > KINK * size else ""
