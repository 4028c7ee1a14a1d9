"""Whether forces are smooth functions of the state, from their expressions and laws."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pendula.model.expressions.expression import parse
from pendula.model.expressions.functions import FUNCTIONS
from pendula.model.expressions.nodes import Call, Conditional, Node
from pendula.model.model import Model
from pendula.model.names import ExpressionError

BENT = frozenset(name for name, function in FUNCTIONS.items() if function.breaks)
"""functions that are not smooth everywhere (a conditional is not, either)"""


@lru_cache(maxsize=64)
def may_have_kinks(model: Model) -> bool:
    """Whether any expression of a force or joint, or any force law, is not smooth everywhere."""
    return any(map(has_kinks, (*model.forces, *model.tree)))


def has_kinks(element: Any) -> bool:
    """Whether any expression of a force or joint, or its force law, is not smooth everywhere."""
    if bends(element.model_dump()):
        return True
    laws = {action.law for action in getattr(element, "actions", tuple)() if hasattr(action, "law")}
    return any(law.kinked or any(e.fold(_bent) for e in law.expressions) for law in laws)


def bends(value: Any) -> bool:
    """Whether any expression in the text of a field is not smooth everywhere."""
    if isinstance(value, Mapping):
        return any(map(bends, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(bends, value))
    if not isinstance(value, str):
        return False
    try:
        return parse(value).fold(_bent)
    except ExpressionError:
        return False


def _bent(node: Node, parts: tuple[bool, ...]) -> bool:
    return any(parts) or isinstance(node, Conditional) or (isinstance(node, Call) and node.function in BENT)
