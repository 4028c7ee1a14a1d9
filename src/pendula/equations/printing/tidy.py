"""Shortens expressions that are small enough to be read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import symengine as se

from pendula.equations.simplify.recipe import simplified

LARGEST = 400
"""Largest number of operations of an expression that is simplified."""


def tidy(expression: Any, rates: Sequence[Any] = ()) -> Any:
    """A SymPy expression equal to the SymEngine one and, if possible, shorter."""
    held, cases = _held(se.sympify(expression))
    form = _shortest(held, tuple(rates))
    return form.xreplace({s._sympy_(): e._sympy_() for s, e in cases.items()}) if cases else form


def tidy_engine(expression: Any, rates: Sequence[Any] = ()) -> Any:
    """The same as a SymEngine expression, for programs."""
    held, cases = _held(se.sympify(expression))
    return se.sympify(_shortest(held, tuple(rates))).xreplace(cases)


@lru_cache(maxsize=2000)  # the same equations are often written in several formats
def _shortest(expression: Any, rates: tuple[Any, ...]) -> Any:
    return simplified(expression, rates)


def _held(e: Any) -> tuple[Any, dict[Any, Any]]:
    """An expression with symbols in place of its cases, which SymPy would rewrite, and the cases by symbol."""
    cases = {se.Symbol(f"case__{k}"): x for k, x in enumerate(sorted(e.atoms(se.Piecewise), key=str))}
    return e.xreplace({x: s for s, x in cases.items()}) if cases else e, cases
