"""Forces on a state that stays as it is, as expressions of coordinates and of numbers that are not zero."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import symengine as se

from pendula.equations.equations import Equations
from pendula.equations.tape import Expr


def forces_at_rest(eq: Equations, zeros: Collection[Any]) -> list[Expr]:
    """f with some symbols (speeds, inputs, parameters, time) put to zero; for small systems.

    Coordinates, and time, that are written in a force without an effect on it (sin^2 + cos^2) are taken out.
    """
    table = _table(eq, zeros)
    return [_without_idle(se.expand(_put_in(row, table)), (*eq.q, eq.t)) for row in eq.f]


def loop_at_rest(eq: Equations, zeros: Collection[Any]) -> tuple[list[Expr], list[Expr]]:
    """Equations of rest of a closed loop with one freedom: the force along its motion, and the gaps; and that motion.

    The motion is the null vector of G: entry i is, up to its sign, the determinant of G without column i. It vanishes
    where the constraints lose rank.
    """
    table, n = _table(eq, zeros), len(eq.v)
    G = [[_put_in(x, table) for x in row] for row in eq.G]
    motion = []
    for i in range(n):
        minor = [[x for k, x in enumerate(row) if k != i] for row in G]
        motion.append((-1) ** i * (se.DenseMatrix(minor).det() if n > 1 else se.Integer(1)))
    force = sum(x * f for x, f in zip(motion, forces_at_rest(eq, zeros), strict=True))
    gaps = [se.expand(_put_in(row, table)) for row in eq.g[: len(G)]]
    return [se.expand(force), *gaps], motion


def _table(eq: Equations, zeros: Collection[Any]) -> dict[Any, Any]:
    """What takes the place of symbols that are zero, and of named intermediates."""
    table: dict[Any, Any] = {symbol: se.Integer(0) for symbol in zeros}
    for symbol, expression in eq.definitions:
        table[symbol] = _put_in(expression, table)
    return table


def _put_in(expression: Expr, table: dict[Any, Any]) -> Any:
    expression = se.sympify(expression)
    return expression.subs({s: table[s] for s in expression.free_symbols if s in table})


def _without_idle(row: Any, symbols: tuple[Any, ...]) -> Any:
    for symbol in symbols:
        if symbol in row.free_symbols and se.expand(row.diff(symbol)) == 0:
            row = se.expand(row.subs({symbol: se.Integer(0)}))
    return row
