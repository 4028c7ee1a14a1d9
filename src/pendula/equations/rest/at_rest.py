"""Generalized forces at rest, as expressions of the coordinates and of nonzero parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import symengine as se

from pendula.equations.equations import Equations, inlined, symbols_in
from pendula.equations.tape import Expr, substituted

MOST_SINES = 13
"""powers of sines below this are expressed by cosines to decide whether an expression vanishes"""
PARTS_OF_A_TURN = 12
"""poles of coordinates are multiples of pi/12"""
MOST_EXPANDED = 6
"""with more speeds, entries of M are not expanded"""


def forces_at_rest(eq: Equations, zeros: Collection[Any]) -> list[Expr]:
    """f with some symbols (speeds, inputs, parameters, time) set to zero; for small systems.

    Coordinates and time that occur in a force without affecting it (sin^2 + cos^2) are eliminated. Otherwise products
    are expanded only where that makes a force shorter: bounds of the squares in a spring's length are narrower.
    """
    table = _table(eq, zeros)
    return [_shorter(substituted(row, table), (*eq.q, eq.t)) for row in eq.f]


def loops_at_rest(eq: Equations, zeros: Collection[Any]) -> tuple[list[list[Expr]], list[Expr]]:
    """G and g of closed loops with some symbols set to zero, row by row; for small systems."""
    table = _table(eq, zeros)
    G = [[se.expand(substituted(x, table)) for x in row] for row in eq.G]
    return G, [se.expand(substituted(row, table)) for row in eq.g]


def motion_rows(eq: Equations, zeros: Collection[Any], expanded: bool) -> tuple[list[Any], list[list[Any]]]:
    """f and M as symbolic expressions.

    Args:
        eq: the equations.
        zeros: symbols that are zero.
        expanded: True: without intermediates, and without a time that has no effect; for small systems.
    """
    table = _table(eq, zeros) if expanded else {}

    def read(x: Expr) -> Any:
        if not expanded:
            return se.sympify(x)
        return _without_idle_symbols(se.expand(substituted(x, table)), (eq.t,))

    return [read(row) for row in eq.f], [[read(x) for x in row] for row in eq.M]


def constraint_rows(eq: Equations) -> list[list[Any]]:
    """G as symbolic expressions of coordinates and named intermediates."""
    return [[se.sympify(x) for x in row] for row in eq.G]


def small_motion_rows(eq: Equations, zeros: Collection[Any], at_rest: Collection[Any], expanded: bool) -> list[Any]:
    """M, C = -df/dv and K = -df/dq as symbolic matrices (nested lists), for small systems.

    Args:
        eq: the equations.
        zeros: parameters and inputs that are zero.
        at_rest: speeds that are zero.
        expanded: as in :func:`motion_rows`.
    """
    f, M = motion_rows(eq, zeros, expanded)
    f = f if expanded else [eq.inline(row) for row in f]
    still = {v: se.Integer(0) for v in at_rest}

    def slopes(by: Collection[Any]) -> list[list[Any]]:
        return [[-row.diff(x).subs(still) for x in by] for row in f]

    masses = M if expanded else [[eq.inline(x) for x in row] for row in M]
    return [masses, slopes(eq.v), slopes(eq.q)]


def definitions_of(eq: Equations) -> list[tuple[Any, Any]]:
    """Named intermediates as symbols and symbolic expressions, in order."""
    return [(symbol, se.sympify(e)) for symbol, e in eq.definitions]


def applied_have_potential(eq: Equations, constant: Collection[Any], values: Mapping[Any, float]) -> bool:
    """Whether applied forces depend on coordinates and on constant symbols alone, with symmetric derivatives.

    Each may contain a drag on its own speed: a constant coefficient times that speed, which by the ``values`` of
    parameters does not add energy. For mechanisms whose speeds are the rates of the coordinates; closed loops restrict
    a potential of the coordinates of the tree.
    """
    if len(eq.q) != len(eq.v) or any(rate != speed for rate, speed in zip(eq.qdot, eq.v, strict=True)):
        return False
    still = dict.fromkeys(eq.v, se.Integer(0))
    rows = []
    for row, speed in zip((eq.inline(row) for row in eq.parts.free["applied"]), eq.v, strict=True):
        slope = se.expand(row.diff(speed))
        if slope.free_symbols - values.keys() or not float(slope.subs(values)) <= 0.0:
            return False
        rest = row.subs(still)
        if se.expand(row - rest - slope * speed) != 0 or rest.free_symbols - {*eq.q, *constant}:
            return False
        rows.append(rest)
    pairs = [(i, j) for i in range(len(rows)) for j in range(i)]
    return all(se.expand(rows[i].diff(eq.q[j]) - rows[j].diff(eq.q[i])) == 0 for i, j in pairs)


def fault_at_pole(eq: Equations, pole: Mapping[Any, int], idle: Collection[Any], forces: Collection[Any]) -> str:
    """Why not all forces vanish at a pole of the coordinates; empty if they do, for all values of idle coordinates.

    Args:
        eq: the equations.
        pole: coordinates as multiples of pi/12.
        idle: coordinates that must not move any body there.
        forces: the generalized forces at rest.
    """
    at = {symbol: se.Rational(k, PARTS_OF_A_TURN) * se.pi for symbol, k in pole.items()}
    if not all(vanishes(se.sympify(row).subs(at)) for row in forces):
        return "forces that do not vanish identically at a pole of the coordinates"
    for R, r in eq.poses.values():
        places = (eq.inline(x).subs(at) for x in (*r, *(x for row in R for x in row)))
        if not all(vanishes(x.diff(symbol)) for x in places for symbol in idle):
            return "bodies that move with an angle of no mass"
    return ""


def occurs_in_masses(eq: Equations, symbol: Any, values: Mapping[Any, float]) -> bool:
    """Whether M depends on a symbol; one that has no effect (sin^2 + cos^2) does not count, in small systems.

    ``values`` of parameters and speeds: equal ones count as one symbol, as the moments of inertia of a symmetric body.
    """
    entries = [x for row in eq.M for x in row]
    if symbol not in symbols_in(eq, entries):
        return False
    if len(eq.v) > MOST_EXPANDED:
        return True
    first: dict[float, Any] = {0.0: se.Integer(0)}
    same = {s: first.setdefault(x, s) for s, x in values.items()}
    return not all(vanishes(eq.inline(x).subs(same).diff(symbol)) for x in entries)


def _table(eq: Equations, zeros: Collection[Any]) -> dict[Any, Any]:
    """Substitutions for zero symbols and for named intermediates."""
    return inlined(eq.definitions, dict.fromkeys(zeros, se.Integer(0)))


def _shorter(row: Any, symbols: tuple[Any, ...]) -> Any:
    """An expression without idle symbols, expanded or as it is, whichever has fewer operations."""
    expanded = _without_idle_symbols(se.expand(row), symbols)
    same = expanded.free_symbols == row.free_symbols and expanded != 0
    return row if same and se.count_ops(row) < se.count_ops(expanded) else expanded


def vanishes(e: Any) -> bool:
    """Whether an expression is zero for all values, by expansion and sin^2 = 1 - cos^2 of single symbols."""
    e = se.expand(e)
    if e == 0:
        return True
    table: dict[Any, Any] = {}
    for x in e.free_symbols:
        sine, cosine = se.sin(x), se.cos(x)
        table |= {sine**k: sine ** (k % 2) * (1 - cosine**2) ** (k // 2) for k in range(2, MOST_SINES)}
    return bool(se.expand(e.subs(table)) == 0)


def _without_idle_symbols(row: Any, symbols: tuple[Any, ...]) -> Any:
    for symbol in symbols:
        if symbol in row.free_symbols and se.expand(row.diff(symbol)) == 0:
            row = se.expand(row.subs({symbol: se.Integer(0)}))
    return row
