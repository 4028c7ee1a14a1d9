"""Feedback laws: inputs that are expressions of the state, written into the forces that use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pendula.model.base import Element
from pendula.model.expressions.expression import Expression, parse
from pendula.model.fields import marked_fields

if TYPE_CHECKING:
    from pendula.model.model import Model


def feedback_laws(model: Model) -> dict[str, Expression]:
    """Inputs whose values depend on coordinates or speeds, by name.

    Example:
        >>> from pendula import library
        >>> model = library.cart_pole()
        >>> list(feedback_laws(model.with_changes(inputs={"F": "-3*x - 2*x_dot"})))
        ['F']
    """
    if not model.inputs:
        return {}
    free = {*model.parameters, "t"}
    read = {name: parse(value) for name, value in model.inputs.items() if isinstance(value, str)}
    return {name: law for name, law in read.items() if law.names - free}


def closed_loop(model: Model) -> Model:
    """The model with every feedback law substituted for its input, so that all analyses treat it as part of the forces.

    ``as_written`` of the result is the model before. A model without feedback laws is returned as it is.

    Example:
        >>> from pendula import library
        >>> model = library.cart_pole().with_changes(inputs={"F": "-3*x"})
        >>> closed = closed_loop(model)
        >>> dict(closed.inputs), closed.forces[0].value, closed.as_written is model
        ({}, '-3*x', True)
    """
    laws = feedback_laws(model)
    if not laws:
        return model
    forces = tuple(_replaced(force, laws) for force in model.forces)
    inputs = {name: value for name, value in model.inputs.items() if name not in laws}
    return model.with_feedback(forces=forces, inputs=inputs)


def _replaced(value: Any, laws: Mapping[str, Expression]) -> Any:
    """A value with the laws substituted in all of its expressions."""
    if isinstance(value, str):
        expression = parse(value)
        return expression.substitute(laws).to_text() if expression.names & laws.keys() else value
    if isinstance(value, (tuple, list)):
        return type(value)(_replaced(entry, laws) for entry in value)
    if isinstance(value, Mapping):
        return {key: _replaced(entry, laws) for key, entry in value.items()}
    if isinstance(value, Element):
        found = {}
        for field in marked_fields(type(value)):
            old = getattr(value, field.name)
            new = _replaced(old, laws)
            if new is not old:
                found[field.name] = new
        return value.model_copy(update=found) if found else value
    return value
