"""Interpretation of expressions in an algebra, shared by every kind of evaluation.

Numbers, arrays, symbols and affine functions of unknowns each form an :class:`Algebra`. :func:`combine` interprets one
node from the values of its operands. A new kind of evaluation is a class with these methods; a new kind of node is
added here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from pendula.errors import NotSupported
from pendula.model import refusals
from pendula.model.expressions import nodes as nd
from pendula.model.expressions.functions import Arithmetic

V = TypeVar("V")


class Algebra(Arithmetic[V], Protocol[V]):
    """Arithmetic with names, powers and conditions; a condition may be a value of any type."""

    def named(self, name: str, /) -> V:
        """One of the constants pi, deg, rad."""

    def name(self, name: str, /) -> V:
        """A parameter, a coordinate, an input or the time."""

    def power(self, a: V, b: V, /) -> V:
        """a to the power b."""

    def choose(self, condition: V, then: V, otherwise: V, /) -> V:
        """``then`` where the condition holds, else ``otherwise``."""

    def compare(self, op: str, a: V, b: V, /) -> V:
        """a op b, with op one of ``< <= > >=``."""

    def every(self, *conditions: V) -> V:
        """All conditions hold."""

    def some(self, *conditions: V) -> V:
        """At least one condition holds."""

    def opposite(self, condition: V, /) -> V:
        """The condition does not hold."""


_Meaning = Callable[[Any, Any, Sequence[Any]], Any]
_MEANINGS: Mapping[type, _Meaning] = MappingProxyType(
    {
        nd.Number: lambda a, node, parts: a.constant(node.value),
        nd.Name: lambda a, node, parts: a.named(node.id) if node.id in nd.CONSTANTS else a.name(node.id),
        nd.Negate: lambda a, node, parts: a.negate(*parts),
        nd.Add: lambda a, node, parts: a.add(*parts),
        nd.Subtract: lambda a, node, parts: a.subtract(*parts),
        nd.Multiply: lambda a, node, parts: a.multiply(*parts),
        nd.Divide: lambda a, node, parts: a.divide(*parts),
        nd.Power: lambda a, node, parts: a.power(*parts),
        nd.Call: lambda a, node, parts: a.call(node.function, *parts),
        nd.Conditional: lambda a, node, parts: a.choose(*parts),
        nd.Compare: lambda a, node, parts: a.compare(node.op, *parts),
        nd.And: lambda a, node, parts: a.every(*parts),
        nd.Or: lambda a, node, parts: a.some(*parts),
        nd.Not: lambda a, node, parts: a.opposite(*parts),
    }
)


def combine(algebra: Algebra[V], node: nd.Node, parts: Sequence[V]) -> V:
    """The value of a node from the values of its operands."""
    meaning = _MEANINGS.get(type(node))
    if meaning is None:
        raise NotSupported(refusals.UNKNOWN_NODE, node=type(node).__name__)
    found: V = meaning(algebra, node, parts)
    return found


def interpret(order: Sequence[nd.Node], algebra: Algebra[V]) -> V:
    """The value of a whole tree, given in post-order."""
    return nd.fold(order, lambda node, parts: combine(algebra, node, parts))
