"""Forces along the line between two points that coincide: they have no direction there, 0/0 in the equations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.errors import ComputationError
from pendula.model.bodies import GROUND
from pendula.model.expressions.expression import parse
from pendula.model.forces.actions import Between
from pendula.model.joints import Side
from pendula.model.names import ExpressionError
from pendula.system.layout import Array
from pendula.system.parameters import typical_length

if TYPE_CHECKING:
    from pendula.system.system import System

TOUCHING = 1e-12
"""distance below which two points coincide, in typical lengths"""


def without_direction(system: System, q: Array, t: float, vector: Array) -> str:
    """A sentence about the first force that has no direction at a state; empty if there is none."""
    if np.isfinite(system.forces(q, np.zeros(len(system.layout.speeds)), t, parameters=vector)).all():
        return ""
    values = {**system.layout.parameter_values(vector), "t": float(t)}
    found: list[tuple[bool, str]] = []
    poses: tuple[Array, Array] | None = None
    for name, action in _between(system):
        poses = poses or system.poses(q, t, parameters=vector)
        ends = [_place(system, side, values, poses) for side in (action.start, action.end)]
        if np.linalg.norm(ends[1] - ends[0]) <= TOUCHING * typical_length(system, vector):
            found.append((not _vanishes(action, values), name))
    if not found:
        return ""
    name = max(found, key=lambda one: one[0])[1]
    where = ", ".join(f"{x} = {value:.6g}" for x, value in zip(system.layout.coordinates[:6], q, strict=False))
    return (
        f'the force "{name}" acts along the line between its ends, which coincide at {where}: it has no direction '
        "there (0/0).\n  Try: a state in which its ends are apart; a spring without free length and damping needs none."
    )


def no_derivatives(system: System, q: Array, t: float, vector: Array) -> ComputationError:
    """The error for forces whose derivatives are not finite at a state."""
    why = without_direction(system, q, t, vector)
    return ComputationError(why or "the forces have no finite derivatives at this state: it is singular there")


def _between(system: System) -> Iterator[tuple[str, Between]]:
    """The forces between two points, with their names."""
    for force in system.model.forces:
        for action in force.actions():
            if isinstance(action, Between):
                yield getattr(force, "name", None) or force.type, action


def _place(system: System, side: Side, values: Mapping[str, float], poses: tuple[Array, Array]) -> Array:
    """The point of a side in world axes."""
    scalars: Any = side.position or (0, 0, 0)
    if side.position is None and side.at is not None and side.body != GROUND:
        scalars = system.model.body(side.body).named_point(side.at)
    place = np.array([parse(x).evaluate(values) for x in scalars])
    if side.body == GROUND:
        return place
    k = system.layout.bodies.index(side.body)
    return np.asarray(poses[1][k] + poses[0][k] @ place)


def _vanishes(action: Between, values: Mapping[str, float]) -> bool:
    """Whether a force is zero where its ends coincide, at any rate."""
    try:
        fields = {name: parse(x).evaluate(values) for name, x in action.fields.items()}
        parts = [parse(x).evaluate({**fields, "x": 0.0, "rate": 1.0}) for x in (action.law.elastic, action.law.drag)]
    except (ExpressionError, KeyError):
        return False
    return not any(parts)
