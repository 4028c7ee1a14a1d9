"""Shortens small expressions by trigonometric identities and by collecting terms, checked numerically."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import symengine as se

LARGEST = 400
"""Largest number of operations of an expression that is simplified."""


def tidy(expression: Any, rates: Sequence[Any] = ()) -> Any:
    """A SymPy expression equal to the SymEngine one and, if possible, shorter.

    Several rewritings are tried; each is checked at random points, and the shortest is kept.
    """
    return _shortest(se.sympify(expression), tuple(rates))


@lru_cache(maxsize=2000)  # the same equations are often written in several formats
def _shortest(expression: Any, rates: tuple[Any, ...]) -> Any:
    import sympy
    from sympy.simplify.fu import TR8, TR10i

    original = expression._sympy_()
    if original.count_ops() > LARGEST:
        return original
    expanded = sympy.expand(original)
    found = [original, expanded]
    if expanded.has(sympy.sin, sympy.cos):
        for rewrite in (TR8, TR10i, lambda e: sympy.expand(TR8(e))):
            try:
                found.append(rewrite(expanded))
            except Exception:  # a rewriting that fails is one candidate less
                continue
    symbols = [sympy.Symbol(str(r)) for r in rates]
    candidates: dict[Any, None] = {}  # in order, each once
    for e in dict.fromkeys(found):
        collected = sympy.collect(sympy.expand(e), symbols) if symbols else e
        candidates |= dict.fromkeys((e, collected, sympy.factor_terms(e)))
    for form in sorted(candidates, key=lambda e: (e.count_ops(), len(str(e)))):
        if form == original or _same(expression, se.sympify(form)):
            return form
    return original


def _same(a: Any, b: Any) -> bool:
    """Whether two expressions agree at three random points."""
    rng = random.Random(7)
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    for _ in range(3):
        point = {s: rng.uniform(0.2, 1.2) for s in symbols}
        x, y = complex(a.subs(point).n()), complex(b.subs(point).n())
        if not abs(x - y) <= 1e-9 * (1 + abs(x)):
            return False
    return True
