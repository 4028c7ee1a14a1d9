"""Syntax tree of expressions: node types, traversal, and canonical text."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from pendula.model.expressions.functions import CONSTANTS as CONSTANTS
from pendula.model.names import ExpressionError, quote

MAX_LENGTH = 2000
"""Longest text of an expression, in characters."""
MAX_NESTING = 60
"""Deepest nesting of brackets, and longest sequence of signs."""
MAX_DEPTH = 200
"""Largest depth of the tree; a plain sum of n terms has depth n."""
MAX_NODES = 5000
"""Largest number of nodes in one expression."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest length of a text in characters, number of nodes and depth of the tree of one expression."""

    length: int
    nodes: int
    depth: int


USUAL = Limits(MAX_LENGTH, MAX_NODES, MAX_DEPTH)
"""The limits of expressions in models."""
LONG = Limits(500_000, 200_000, 2000)
"""The limits of equations of motion written out in full: a sum of 2000 terms is near the limit of :mod:`ast`."""

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)


# --- Nodes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written; integers stay exact."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter, coordinate, input, the time ``t``, or one of :data:`CONSTANTS`."""

    id: str


@dataclass(frozen=True, slots=True)
class Negate:
    """-x."""

    x: Value


@dataclass(frozen=True, slots=True)
class Add:
    """a + b."""

    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class Subtract:
    """a - b."""

    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class Multiply:
    """a*b."""

    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class Divide:
    """a/b."""

    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class Power:
    """a**b."""

    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the table applied to its arguments."""

    function: str
    args: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Conditional:
    """``then if condition else otherwise``; only the chosen branch needs to have a value."""

    condition: Condition
    then: Value
    otherwise: Value


@dataclass(frozen=True, slots=True)
class Compare:
    """a op b, with op one of ``< <= > >=``."""

    op: str
    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class And:
    """All conditions hold; evaluated from the left until one does not."""

    args: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one condition holds; evaluated from the left until one does."""

    args: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold."""

    x: Condition


Value: TypeAlias = Number | Name | Negate | Add | Subtract | Multiply | Divide | Power | Call | Conditional
Condition: TypeAlias = Compare | And | Or | Not
Node: TypeAlias = Value | Condition

BINARY = (Add, Subtract, Multiply, Divide, Power)
CONDITIONS = (Compare, And, Or, Not)

T = TypeVar("T")


_PARTS: Mapping[type, Callable[[Any], tuple[Node, ...]]] = MappingProxyType(
    {
        **dict.fromkeys((Number, Name), lambda node: ()),
        **dict.fromkeys((Negate, Not), lambda node: (node.x,)),
        **dict.fromkeys((Call, And, Or), lambda node: tuple(node.args)),
        **dict.fromkeys((*BINARY, Compare), lambda node: (node.a, node.b)),
        Conditional: lambda node: (node.condition, node.then, node.otherwise),
    }
)


def children(node: Node) -> tuple[Node, ...]:
    """Operands of a node, in the order of :meth:`Expression.fold`."""
    parts = _PARTS.get(type(node))
    if parts is None:
        raise ExpressionError(f"{type(node).__name__} is not a node of the expression language")
    return parts(node)


def replaced(node: Node, parts: tuple[Any, ...]) -> Node:
    """The node with other operands, in the form that parsing its text would give."""
    if isinstance(node, Number | Name):
        return node
    if isinstance(node, Negate):
        return Number(-parts[0].value) if isinstance(parts[0], Number) else Negate(parts[0])
    if isinstance(node, Call):
        return Call(node.function, parts)
    if isinstance(node, Compare):
        return Compare(node.op, *parts)
    if isinstance(node, And | Or):
        # (a and b) and c is written a and b and c.
        flat: list[Condition] = []
        for part in parts:
            flat.extend(part.args if isinstance(part, type(node)) else (part,))
        return type(node)(tuple(flat))
    return type(node)(*parts)


def post_order(root: Node, most: int = LONG.nodes) -> tuple[Node, ...]:
    """All nodes, each after its operands; without recursion."""
    order: list[Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(children(node))
        if len(order) + len(waiting) > most:
            raise ExpressionError(f"the expression has more than {most} parts; split it into parameters")
    order.reverse()
    return tuple(order)


def fold(order: Sequence[Node], handler: Callable[[Node, tuple[T, ...]], T]) -> T:
    """Folds a tree, given in post-order, from its leaves to its root."""
    results: list[T] = []
    for node in order:
        first = len(results) - len(children(node))
        parts = tuple(results[first:])
        del results[first:]
        results.append(handler(node, parts))
    return results[0]


# --- Text -------------------------------------------------------------------------------------------------

# Operator precedence, lowest first: if-else, or, and, not, comparison, sum, product, sign, power, atom.
_IF, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(10)
_OPERATORS: Mapping[type, tuple[str, int, int, int]] = MappingProxyType(
    {  # operator, its precedence, lowest precedence of the left and of the right operand
        Add: ("+", _SUM, _SUM, _PRODUCT),
        Subtract: ("-", _SUM, _SUM, _PRODUCT),
        Multiply: ("*", _PRODUCT, _PRODUCT, _SIGN),
        Divide: ("/", _PRODUCT, _PRODUCT, _SIGN),
        Power: ("**", _POWER, _ATOM, _SIGN),
    }
)


def write(order: Sequence[Node], gap: str = " ") -> str:
    """Canonical text of a tree; ``gap`` surrounds operators of low precedence."""

    def text_of(node: Node, parts: tuple[tuple[str, int], ...]) -> tuple[str, int]:
        def part(index: int, least: int) -> str:
            text, binding = parts[index]
            return text if binding >= least else f"({text})"

        if isinstance(node, Number):
            text = repr(node.value)
            return text, _SIGN if text.startswith("-") else _ATOM
        if isinstance(node, Name):
            return node.id, _ATOM
        if isinstance(node, Negate):
            return "-" + part(0, _SIGN), _SIGN
        if isinstance(node, Call):
            return f"{node.function}({f',{gap}'.join(text for text, _ in parts)})", _ATOM
        if isinstance(node, Conditional):
            return f"{part(1, _OR)} if {part(0, _OR)} else {part(2, _IF)}", _IF
        if isinstance(node, Not):
            return "not " + part(0, _NOT), _NOT
        if isinstance(node, Compare):
            return f"{part(0, _SUM)}{gap}{node.op}{gap}{part(1, _SUM)}", _COMPARE
        if isinstance(node, And):
            return " and ".join(part(i, _NOT) for i in range(len(parts))), _AND
        if isinstance(node, Or):
            return " or ".join(part(i, _AND) for i in range(len(parts))), _OR
        if isinstance(node, Multiply) and _is_angle(node):
            return parts[0][0] + parts[1][0], _ATOM
        sign, own, left, right = _OPERATORS[type(node)]
        space = gap if own == _SUM else ""
        return f"{part(0, left)}{space}{sign}{space}{part(1, right)}", own

    return fold(order, text_of)[0]


def _is_angle(node: Multiply) -> bool:
    positive = isinstance(node.a, Number) and math.copysign(1.0, node.a.value) > 0.0
    return positive and isinstance(node.b, Name) and node.b.id in ("deg", "rad")


def quoted(node: Node) -> str:
    """A part of an expression, for an error message."""
    return quote(write(post_order(node)))
