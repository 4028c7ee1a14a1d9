"""Sizes of derived equations: operations, expanded and with common subexpressions computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import symengine as se

from pendula.equations.equations import Equations


@dataclass(frozen=True)
class Counts:
    """Sizes of M and f (and of G and c, if there are loops) as they are derived, before simplification."""

    operations_written_out: int
    """operations with every intermediate substituted"""
    operations_shared: int
    """operations with every named or repeated subexpression computed once"""
    names: int
    """named intermediates in use"""


def count(equations: Equations) -> Counts:
    """Sizes of the equations of motion, as exact integers of any size."""
    outputs = [se.sympify(x) for row in equations.M for x in row]
    outputs += [se.sympify(x) for x in (*equations.f, *equations.c)]
    outputs += [se.sympify(x) for row in equations.G for x in row]
    table = dict(equations.definitions)
    size: dict[Any, int] = {}
    for symbol, expression in equations.definitions:
        size[symbol] = written_out(se.sympify(expression), size)
    sizes = [written_out(e, size) for e in outputs]
    seen: set[Any] = set()
    used: set[Any] = set()
    shared = 0
    stack = list(outputs)
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        if isinstance(e, se.Symbol):
            if e in table:
                used.add(e)
                stack.append(se.sympify(table[e]))
            continue
        args = e.args
        shared += _own_operations(e, args)
        stack.extend(args)
    return Counts(sum(sizes), shared, len(used))


def _own_operations(e: Any, args: tuple[Any, ...]) -> int:
    if not args:
        return 0
    return len(args) - 1 if e.is_Add or e.is_Mul else 1


def written_out(e: Any, size: Mapping[Any, int]) -> int:
    """Operations of a SymEngine expression with every intermediate substituted, given the sizes of these."""
    if isinstance(e, se.Symbol):
        return size.get(e, 0)
    args = e.args
    return _own_operations(e, args) + sum(written_out(a, size) for a in args)
