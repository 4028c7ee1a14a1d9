"""Generalized forces at rest, as expressions of the coordinates and of nonzero parameters."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import symengine as se

from pendula.equations.equations import Equations
from pendula.equations.tape import Expr


def forces_at_rest(eq: Equations, zeros: Collection[Any]) -> list[Expr]:
    """f with some symbols (speeds, inputs, parameters, time) set to zero; for small systems.

    Coordinates and time that occur in a force without affecting it (sin^2 + cos^2) are eliminated.
    """
    table = _table(eq, zeros)
    return [_without_idle_symbols(se.expand(_substituted(row, table)), (*eq.q, eq.t)) for row in eq.f]


def loop_at_rest(eq: Equations, zeros: Collection[Any]) -> tuple[list[Expr], list[Expr]]:
    """Equilibrium equations of a closed loop with one freedom (force along its motion, gaps), and that motion.

    The motion is the null vector of G: entry i is, up to its sign, the determinant of G without column i. It vanishes
    where the constraint Jacobian loses rank.
    """
    table, n = _table(eq, zeros), len(eq.v)
    G = [[_substituted(x, table) for x in row] for row in eq.G]
    motion = []
    for i in range(n):
        minor = [[x for k, x in enumerate(row) if k != i] for row in G]
        motion.append((-1) ** i * (se.DenseMatrix(minor).det() if n > 1 else se.Integer(1)))
    force = sum(x * f for x, f in zip(motion, forces_at_rest(eq, zeros), strict=True))
    gaps = [se.expand(_substituted(row, table)) for row in eq.g[: len(G)]]
    return [se.expand(force), *gaps], motion


def _table(eq: Equations, zeros: Collection[Any]) -> dict[Any, Any]:
    """Substitutions for zero symbols and for named intermediates."""
    table: dict[Any, Any] = {symbol: se.Integer(0) for symbol in zeros}
    for symbol, expression in eq.definitions:
        table[symbol] = _substituted(expression, table)
    return table


def _substituted(expression: Expr, table: dict[Any, Any]) -> Any:
    expression = se.sympify(expression)
    return expression.subs({s: table[s] for s in expression.free_symbols if s in table})


def _without_idle_symbols(row: Any, symbols: tuple[Any, ...]) -> Any:
    for symbol in symbols:
        if symbol in row.free_symbols and se.expand(row.diff(symbol)) == 0:
            row = se.expand(row.subs({symbol: se.Integer(0)}))
    return row
