"""Sizes of expressions as they are printed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Size:
    """Terms and operations as printed, over all of some expressions."""

    terms: int
    operations: int


def size_of(expressions: Iterable[Any]) -> Size:
    """The size of some expressions together."""
    shown = list(expressions)
    return Size(sum(map(terms, shown)), sum(map(operations, shown)))


def terms(e: Any) -> int:
    """Summands that are printed: one more than there are signs + and - between terms, outside arguments of functions.

    Example:
        >>> import sympy
        >>> a, b, c, d = sympy.symbols("a b c d")
        >>> terms(a * (b + c) + d), terms((a + b) * (c + d)), terms(sympy.sin(a + b)), terms(sympy.Integer(0))
        (3, 3, 1, 0)
    """
    args = e.args
    if not args:
        return 0 if e == 0 else 1
    if e.is_Add:
        return sum(terms(x) for x in args)
    if e.is_Mul:
        return 1 + sum(terms(x) - 1 for x in args)
    if e.is_Pow:
        return terms(args[0])
    return 1


def operations(e: Any) -> int:
    """Operations that are printed: +, -, *, /, powers and functions; a sign in front of a term counts as its sum's.

    Example:
        >>> import sympy
        >>> a, b = sympy.symbols("a b")
        >>> operations(a - b), operations(-a * sympy.cos(b) ** 2 / 2)
        (1, 5)
    """
    args = e.args
    if not args:
        return 0
    inside = sum(map(operations, args))
    if e.is_Add:
        leading = all(x.is_Mul and x.args[0] == -1 for x in args)
        return inside + len(args) - 1 + leading - sum(1 for x in args if x.is_Mul and x.args[0] == -1)
    if e.is_Mul:
        fraction = args[0].is_Number and getattr(args[0], "p", 1) != 1 and getattr(args[0], "q", 1) != 1
        return inside + len(args) - 1 + fraction
    return inside + 1


def effort(e: Any) -> int:
    """How hard an expression is to read: its operations, and its sums in parentheses.

    Example:
        >>> import sympy
        >>> a, b, c = sympy.symbols("a b c")
        >>> effort(a * (b + c)), effort(a * b + a * c)
        (3, 3)
    """
    return operations(e) + _parentheses(e)


def _parentheses(e: Any) -> int:
    inside = sum(map(_parentheses, e.args))
    return inside + (sum(x.is_Add for x in e.args) if e.is_Mul or e.is_Pow else 0)
