"""Whether a force vanishes at rest, decided from its actions, so that new types of force need no code here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from pendula.model.base import Scalar
from pendula.model.expressions import nodes as nd
from pendula.model.expressions.expression import parse
from pendula.model.forces.actions import Across, AcrossAll, Action, Between, OnCoordinate, Push, Spin, Twist
from pendula.model.names import ExpressionError


def vanishes_at_rest(action: Action, values: Mapping[str, float]) -> bool:
    """Whether an action is zero in every pose, by its structure alone; False if that does not follow.

    Args:
        action: the action of a force.
        values: of parameters, and zero for all speeds.

    Example:
        >>> from pendula.model.forces import ForceFriction, ForceTorsionSpring
        >>> brake = ForceFriction(joint="hip", coefficient="c").actions()[0]
        >>> spring = ForceTorsionSpring(joint="hip", stiffness="k").actions()[0]
        >>> (
        ...     vanishes_at_rest(brake, {"c": 0.3}),
        ...     vanishes_at_rest(spring, {"k": 2.0}),
        ...     vanishes_at_rest(spring, {"k": 0}),
        ... )
        (True, False, True)
    """
    match action:
        case Between() | Across() | AcrossAll():
            fields = {name: value_of(x, values) for name, x in action.fields.items()}
            known = {name: x for name, x in fields.items() if x is not None} | {"rate": 0.0}
            return value_of(action.law.elastic, known) == 0.0 and value_of(action.law.drag, known) == 0.0
        case Spin():
            return True  # proportional to an angular velocity
        case Push() | Twist():
            return all(value_of(x, values) == 0.0 for x in action.vector)
        case OnCoordinate():
            return value_of(action.value, values) == 0.0
        case _:
            assert_never(action)


def value_of(scalar: Scalar, values: Mapping[str, float]) -> float | None:
    """The value of an expression whose other names may have any value; None if it depends on these.

    Zero times anything is zero, which is all that a product with an unknown factor shows.
    """
    expression = parse(scalar)
    if expression.names <= values.keys():
        try:
            return expression.evaluate(values)
        except ExpressionError:
            return None

    def handle(node: nd.Node, parts: tuple[Any, ...]) -> float | None:
        if isinstance(node, nd.Number):
            return float(node.value)
        if isinstance(node, nd.Name):
            return values.get(node.id)
        if isinstance(node, nd.Multiply) and 0.0 in parts:
            return 0.0
        if isinstance(node, nd.Add | nd.Subtract | nd.Negate) and all(x == 0.0 for x in parts):
            return 0.0
        return 0.0 if isinstance(node, nd.Divide) and parts[0] == 0.0 and parts[1] else None

    return expression.fold(handle)
