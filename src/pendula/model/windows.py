"""Time windows of prescribed motions: a motion rests, runs from one time to another, and then holds its position."""

from __future__ import annotations

from typing import Any

from pendula.errors import UsageError
from pendula.model.base import Scalar
from pendula.model.bodies import GROUND
from pendula.model.expressions.expression import Expression, parse
from pendula.model.files import to_data
from pendula.model.model import Model
from pendula.model.names import ExpressionError


def drive_window(model: Model, *, since: Scalar = 0, until: Scalar | None = None) -> Model:
    """A model whose prescribed motions start at one time and hold their values from another time on.

    Before ``since`` every motion has its value x(0), then it is x(t - since), and after ``until`` it stays at the value
    that it has there. A motion must not jump in place or in rate: choose an ``until`` at which its rate is zero, such
    as half a period of a cosine; a run refuses others. In a model file, a condition on t has the same effect:
    ``motion = "a*cos(w*t) if t < pi/w else -a"``.

    Args:
        model: a model with prescribed motions: driven joints, or points on ground that move.
        since: when the motions start, a number or an expression of parameters.
        until: from when they hold; default: never.

    Raises:
        UsageError: no motion is prescribed, or a time is not an expression of parameters.

    Example:
        >>> import pendula
        >>> pulled = drive_window(pendula.library.driven_chain(links=2), until="pi/omega")  # half a period, then hold
        >>> run = pendula.simulate(pulled, 5.0, samples=[0.0, 5.0])
        >>> run["theta1__x"].round(3).tolist()
        [0.05, -0.05]
    """
    if not isinstance(model, Model):
        raise UsageError(f"drive_window takes a model, found a {type(model).__name__}")
    begin, end = _time(model, "since", since), None if until is None else _time(model, "until", until)
    data = to_data(model)
    count = 0

    def held(value: Any) -> Any:
        nonlocal count
        expression = parse(value) if isinstance(value, (str, int, float)) else None
        if expression is None or "t" not in expression.names:
            return value
        count += 1
        return _held(expression, begin, end)

    for joint in data.get("joints", []):
        if "motion" in joint:
            joint["motion"] = _each(joint["motion"], held)
        for side in (joint.get("parent"), joint.get("child")):
            _hold_place(side, held)
    for force in data.get("forces", []):
        for side in force.values():
            _hold_place(side, held)
    if not count:
        raise UsageError("no motion is prescribed in this model: no joint has a motion, and no point on ground moves")
    return Model(**data)


def _time(model: Model, what: str, value: Scalar) -> Expression:
    try:
        expression = parse(value)
        expression.evaluate(model.parameter_values)
    except ExpressionError as error:
        raise UsageError(f"{what}: {error}") from None
    return expression


def _hold_place(side: Any, held: Any) -> None:
    if isinstance(side, dict) and side.get("body") == GROUND and "position" in side:
        side["position"] = _each(side["position"], held)


def _each(value: Any, change: Any) -> Any:
    """A value, or every entry of a list or table, changed."""
    if isinstance(value, dict):
        return {key: change(x) for key, x in value.items()}
    return [change(x) for x in value] if isinstance(value, list) else change(value)


def _held(motion: Expression, begin: Expression, end: Expression | None) -> str:
    """The text of a motion within its window."""
    late = not (begin.is_number and begin.evaluate() == 0)
    shift = f" - ({begin})" if late else ""
    text = str(motion.substitute({"t": parse(f"t{shift}")})) if late else str(motion)
    if end is not None:
        last = motion.substitute({"t": parse(f"{end}{shift}")})
        text = f"({text}) if t < {end} else ({last})"
    if late:
        text = f"({motion.substitute({'t': parse(0)})}) if t < {begin} else ({text})"
    return text
