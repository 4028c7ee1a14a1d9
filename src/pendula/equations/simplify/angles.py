"""Sines and cosines of sums and multiples of angles, written with the sines and cosines of the single angles."""

from __future__ import annotations

from collections import Counter
from typing import Any

import symengine as se

MOST_ANGLES = 2
"""Angles in a sum that is taken apart; more would make many terms."""
MOST_TURNS = 3
"""Largest multiple of an angle that is taken apart."""


def apart(e: Any) -> Any:
    """An expression in which cos 2x, sin(x + y) and the like are taken apart, if their angles also occur elsewhere.

    Otherwise x and 2x would be different variables, and terms that cancel would go unnoticed.

    Example:
        >>> x, y = se.symbols("x y")
        >>> se.expand(apart(se.sin(2 * x) - 2 * se.sin(x) * se.cos(x))), apart(se.cos(x - y))
        (0, cos(x - y))
    """
    functions = [f for f in e.atoms(se.sin, se.cos)]
    angles = {f.args[0] for f in functions}
    parts = {angle: _parts(angle) for angle in angles}
    uses = Counter(x for found in parts.values() for x, _ in found)
    table = {}
    for f in functions:
        found = parts[f.args[0]]
        compound = len(found) > 1 or any(abs(turns) > 1 for _, turns in found)
        if compound and found and all(uses[x] > 1 for x, _ in found):
            sine, cosine = _written(found)
            table[f] = sine if isinstance(f, se.sin) else cosine
    return e.xreplace(table) if table else e


def _parts(angle: Any) -> tuple[tuple[Any, int], ...]:
    """(angle, integer factor) of every term of a sum; empty if the sum is not to be taken apart."""
    found = []
    angle = se.expand(angle)
    for term in angle.args if angle.is_Add else (angle,):
        turns, x = 1, term
        if term.is_Mul and isinstance(term.args[0], se.Number):
            if not isinstance(term.args[0], se.Integer):
                return ()
            turns, x = int(term.args[0]), term / term.args[0]
        if isinstance(x, se.Number) or abs(turns) > MOST_TURNS:
            return ()
        found.append((x, turns))
    return tuple(found) if len(found) <= MOST_ANGLES else ()


def _written(parts: tuple[tuple[Any, int], ...]) -> tuple[Any, Any]:
    """Sine and cosine of a sum by the addition theorems."""
    sine, cosine = se.Integer(0), se.Integer(1)
    for x, turns in parts:
        s, c = se.sin(x) * (1 if turns > 0 else -1), se.cos(x)
        for _ in range(abs(turns)):
            sine, cosine = sine * c + cosine * s, cosine * c - sine * s
    return sine, cosine
