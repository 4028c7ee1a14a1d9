"""Numbers, expressions and parameters of a model file."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pendula.analysis.court.second_reader import evaluate_text

Array = NDArray[np.float64]

_ANGLE = re.compile(r"(?<![\w.])((?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)\s*(deg|rad)(?!\w)")
CONSTANTS = ("pi", "deg", "rad")


def tree_of(text: str) -> ast.expr:
    """The syntax tree of an expression; ``90deg`` counts as one number."""
    return ast.parse(_ANGLE.sub(r"(\1*\2)", text.strip()), mode="eval").body


def names_in(value: Any) -> frozenset[str]:
    """Names of parameters, coordinates, speeds and inputs that a number or an expression uses."""
    if not isinstance(value, str):
        return frozenset()
    tree = tree_of(value)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
    return frozenset(found.difference(CONSTANTS))


def number(value: Any, names: Mapping[str, Any]) -> float:
    """A number, or the value of an expression of names, read in 50 digits and rounded."""
    if isinstance(value, str):
        return float(evaluate_text(value, names).x)
    return float(value)


def parameters_of(data: Mapping[str, Any], changes: Mapping[str, float]) -> dict[str, float]:
    """Values of parameters, which may refer to each other; those that depend on changed ones follow."""
    texts = dict(data.get("parameters", {}))
    texts.update(changes)
    found: dict[str, float] = {}

    def find(name: str, above: tuple[str, ...]) -> float:
        if name in above:
            raise ValueError(f"parameters refer to each other circularly: {above}")
        if name not in found:
            needs = names_in(texts[name])
            found[name] = number(texts[name], {n: find(n, (*above, name)) for n in needs})
        return found[name]

    for name in texts:
        find(name, ())
    return found


class Values:
    """Reads fields that depend on parameters only."""

    def __init__(self, parameters: Mapping[str, float]) -> None:
        self.parameters = dict(parameters)

    def is_constant(self, value: Any) -> bool:
        """Whether a field uses nothing but parameters."""
        return names_in(value) <= self.parameters.keys()

    def scalar(self, value: Any) -> float:
        """A scalar field."""
        return number(value, self.parameters)

    def vector(self, value: Any) -> Array:
        """A vector field of three entries, or two in the plane."""
        return np.array([self.scalar(x) for x in padded(value)])

    def direction(self, value: Any) -> Array:
        """A field of which only the direction matters."""
        vector = self.vector(value)
        return vector / float(np.linalg.norm(vector))


def padded(value: Any) -> list[Any]:
    """Three entries of a vector that may have two."""
    return [*value, 0] if len(value) == 2 else list(value)
