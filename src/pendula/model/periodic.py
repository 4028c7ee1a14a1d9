"""Periodic angles: whether a model is invariant under full turns of some angles, decided from its expressions.

A value "grows by k turns" if it increases by exactly 2 pi k when some coordinates increase by 2 pi. Sine and cosine of
a value that grows by whole turns are invariant, and so is every function of invariant values. Undecided cases count as
a change, so that no angle is wrongly called periodic.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pendula.errors import NotSupported
from pendula.model import refusals
from pendula.model.expressions import nodes as ex
from pendula.model.expressions.expression import Expression, parse
from pendula.model.forces.actions import Across, AcrossAll, Between, OnCoordinate, Push, Spin, Twist
from pendula.model.joints.rows import Coupled, NoGap, Perpendicular, SamePoint
from pendula.model.joints.steps import Shift, Slide, Turn, TurnBall

if TYPE_CHECKING:
    from pendula.model.model import Model

Turns = Fraction | None
"""number of turns by which a value grows; None if unknown or not constant"""
SAME = Fraction(0)


def growth(expression: Expression, grows: Mapping[str, Turns], values: Mapping[str, float] | None = None) -> Turns:
    """The number of turns by which an expression grows.

    Args:
        expression: of coordinates, parameters, ...
        grows: growth by name; all other names are constant.
        values: of parameters, by name.

    Example:
        >>> growth(parse("sin(2*theta) + a"), {"theta": Fraction(1)})
        Fraction(0, 1)
        >>> growth(parse("theta - 3"), {"theta": Fraction(1)})
        Fraction(1, 1)
        >>> growth(parse("theta**2"), {"theta": Fraction(1)}) is None
        True
    """
    if not any(grows.get(name, SAME) != SAME for name in expression.names):
        return SAME
    values = values or {}

    def combined(node: ex.Node, parts: tuple[tuple[Turns, Any], ...]) -> tuple[Turns, Any]:
        """Growth of a node, and its value if it is a number."""
        turns = [part[0] for part in parts]
        numbers = [part[1] for part in parts]
        if isinstance(node, ex.Number):
            return SAME, _exact(node.value)
        if isinstance(node, ex.Name):
            return grows.get(node.id, SAME), _exact(values.get(node.id))
        if isinstance(node, ex.Multiply) and Fraction(0) in numbers:
            return SAME, Fraction(0)
        if all(t == SAME for t in turns):
            return SAME, None
        if any(t is None for t in turns):
            return None, None
        return _grown(node, turns, numbers), None

    return expression.fold(combined)[0]


def _exact(value: float | None) -> Fraction | None:
    return Fraction(value) if value is not None and math.isfinite(value) else None


def _grown(node: ex.Node, turns: list[Any], numbers: list[Any]) -> Turns:
    """Growth of a node with some growing operands."""
    if isinstance(node, ex.Negate):
        return Fraction(-turns[0])
    if isinstance(node, ex.Add):
        return Fraction(turns[0] + turns[1])
    if isinstance(node, ex.Subtract):
        return Fraction(turns[0] - turns[1])
    if isinstance(node, ex.Multiply):
        for here, there in ((0, 1), (1, 0)):
            if numbers[here] is not None:
                return Fraction(numbers[here] * turns[there])
        return None
    if isinstance(node, ex.Divide) and numbers[1] and turns[1] == SAME:
        return Fraction(turns[0] / numbers[1])
    if isinstance(node, ex.Call) and len(turns) == 1:
        whole = {"sin": 1, "cos": 1, "tan": 2}.get(node.function)
        return SAME if whole and (whole * turns[0]).denominator == 1 else None
    return None


def repeats(model: Model, names: Collection[str], values: Mapping[str, float] | None = None) -> bool:
    """Whether the mechanism is invariant when the named coordinates all increase by a full turn.

    Args:
        model: the mechanism.
        names: coordinates.
        values: of parameters, by name; those of the model by default.

    Example:
        >>> import pendula
        >>> repeats(pendula.library.pendulum(), ["theta"])
        True
        >>> repeats(pendula.library.chain(links=2, stiffness=1.0), ["theta1"])
        False
    """
    grows: dict[str, Turns] = dict.fromkeys(names, Fraction(1))
    values = model.parameter_values if values is None else values
    same = _Same(grows, values)
    for joint in model.tree:
        for step in joint.steps():
            if isinstance(step, Turn):
                turns = growth(parse(step.angle), grows, values)
                if turns is None or turns.denominator != 1:
                    return False
            elif isinstance(step, Slide):
                if not same(step.distance):
                    return False
            elif isinstance(step, Shift):
                if not all(map(same, step.vector)):
                    return False
            elif isinstance(step, TurnBall):
                if not step.chart.is_sequence and not all(map(same, step.coordinates)):
                    return False
            else:
                raise NotSupported(refusals.PERIOD_OF_STEP, step=type(step).__name__)
    if not all(_closes_alike(row, same) for joint in model.closures for row in joint.rows()):
        return False
    return all(_is_invariant(model, action, same) for force in model.forces for action in force.actions())


def _closes_alike(row: Any, same: _Same) -> bool:
    """Whether a constraint row is invariant: conditions between poses are, as far as the poses are."""
    if isinstance(row, Coupled):
        return same(row.value)
    if isinstance(row, SamePoint | NoGap | Perpendicular):
        return True
    raise NotSupported(refusals.PERIOD_OF_ROW, row=type(row).__name__)


class _Same:
    """Tests whether a scalar is invariant."""

    def __init__(self, grows: Mapping[str, Turns], values: Mapping[str, float]) -> None:
        self.grows, self.values = grows, values

    def __call__(self, scalar: Any) -> bool:
        return growth(parse(scalar), self.grows, self.values) == SAME

    def law(self, law: Any, fields: Mapping[str, Any], x: Turns) -> bool:
        """Whether a force law is invariant when its argument x grows."""
        if not all(map(self, fields.values())):
            return False
        given = {name: parse(value) for name, value in fields.items()}
        known = {name: e.evaluate(self.values) for name, e in given.items() if e.names <= self.values.keys()}
        return all(growth(e, {"x": x}, known) == SAME for e in law.expressions)


def _is_invariant(model: Model, action: Any, same: _Same) -> bool:
    if isinstance(action, Between):
        return same.law(action.law, action.fields, SAME)
    if isinstance(action, Across | AcrossAll):
        joint = model.joint(action.joint)
        chosen = getattr(action, "coordinate", None)
        seen = [c.name for c in joint.coordinates() if chosen is None or c.name == chosen]
        return all(same.law(action.law, action.fields, _across(model, joint, name, same)) for name in seen)
    if isinstance(action, Push | Twist):
        return all(map(same, action.vector))
    if isinstance(action, Spin):
        return same(action.coefficient)
    if isinstance(action, OnCoordinate):
        return same(action.value)
    raise NotSupported(refusals.PERIOD_OF_ACTION, action=type(action).__name__)


def _across(model: Model, joint: Any, name: str, same: _Same) -> Turns:
    """Growth of a coordinate relative to the parent side: an absolute angle minus the parent's rotation."""
    own = same.grows.get(name, SAME)
    if joint.absolute_turn() is None or own is None:
        return own
    above: dict[str, Any] = {j.child.body: j for j in model.tree}
    total, body = SAME, joint.parent.body
    while body in above:
        up = above[body]
        for step in up.steps():
            if isinstance(step, Turn):
                turns = growth(parse(step.angle), same.grows, same.values)
                if turns is None:
                    return None
                total += turns
        if up.absolute_turn() is not None:
            break
        body = up.parent.body
    return Fraction(own - total)
