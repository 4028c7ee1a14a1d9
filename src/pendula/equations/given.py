"""What the user of an equation may set: parameters on which others depend, and inputs, as symbolic expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se

from pendula.equations.translate import translate
from pendula.model.expressions.expression import Expression, parse
from pendula.model.model import Model

_CONSTANTS = frozenset({"pi", "deg", "rad"})


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
        independent = {n: model.parameter_values[n] for n, x in given.items() if not x.names - _CONSTANTS}
        derived = {n: x for n, x in given.items() if n not in independent}
        known = {n: se.Symbol(n) for n in given}
        inputs = {n: translate(parse(x), known | {"t": se.Symbol("t")}) for n, x in model.inputs.items()}
        return cls(independent, tuple((n, translate(derived[n], known)) for n in _in_order(derived)), inputs)


def _in_order(derived: Mapping[str, Expression]) -> Sequence[str]:
    """Parameters such that each comes after those it depends on."""
    found: list[str] = []

    def visit(name: str) -> None:
        if name in found or name not in derived:
            return
        for other in sorted(derived[name].names):
            visit(other)
        found.append(name)

    for name in derived:
        visit(name)
    return found
