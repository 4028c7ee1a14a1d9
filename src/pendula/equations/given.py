"""Values that a user of the equations may set: independent parameters, and inputs, as symbolic expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import symengine as se

from pendula.equations.translate import translate
from pendula.model.expressions.expression import parse
from pendula.model.model import Model
from pendula.model.parameters import evaluation_order


@dataclass(frozen=True)
class Given:
    """Parameters and inputs of a model.

    Attributes:
        independent: values of the parameters that depend on no other.
        derived: (name, expression) of the others, each after those that it depends on.
        inputs: the expression of every input, in terms of time and parameters.
    """

    independent: Mapping[str, float]
    derived: tuple[tuple[str, Any], ...]
    inputs: Mapping[str, Any]

    @classmethod
    def of(cls, model: Model) -> Given:
        """The parameters and inputs of a model."""
        given = {name: parse(x) for name, x in model.parameters.items()}
        independent = {n: model.parameter_values[n] for n, x in given.items() if x.is_constant}
        derived = {n: x for n, x in given.items() if n not in independent}
        known = {n: se.Symbol(n) for n in given}
        inputs = {n: translate(parse(x), known | {"t": se.Symbol("t")}) for n, x in model.inputs.items()}
        order, _ = evaluation_order(derived)
        return cls(independent, tuple((n, translate(derived[n], known)) for n in order), inputs)
