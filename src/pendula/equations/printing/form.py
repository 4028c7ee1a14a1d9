"""The form in which equations are printed, the same in every format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symengine as se

from pendula.equations.equations import PARTS, Equations, symbols_in
from pendula.equations.matrix import entries
from pendula.equations.printing.counts import count
from pendula.equations.printing.tidy import LARGEST, tidy, tidy_engine
from pendula.equations.simplify.polynomial import Ring
from pendula.equations.simplify.recipe import ALLOWED, Points
from pendula.equations.simplify.sizes import Size, operations, size_of
from pendula.equations.simplify.steps import pythagoras
from pendula.equations.tape import is_zero

WORDS = {
    "inertia": "centrifugal and Coriolis terms (and inertia of prescribed motions)",
    "gravity": "gravity",
    "springs": "springs",
    "dissipation": "friction and damping",
    "applied": "applied loads and inputs",
}
"""The parts of f in words."""


class Form:
    """Turns expressions of some equations into the form that is printed.

    Small equations are written out and simplified; in others the named intermediates stay.

    Attributes:
        small: whether the equations are readable without named intermediates.
        definitions: the named intermediates that are printed; none if small.

    Example:
        >>> from pendula import derive, library
        >>> equations = derive(library.pendulum(), "lagrange")
        >>> Form(equations)(equations.M[0][0])
        l**2*m/3
    """

    def __init__(self, eq: Equations) -> None:
        self.eq, self.small = eq, is_small(eq)
        self.definitions = () if self.small else tuple(used_intermediates(eq))
        self._turns = [] if self.small else _turns_of(eq)

    def __call__(self, e: Any) -> Any:
        """The printed form: a SymPy expression if the equations are small, else a SymEngine one."""
        if self.small:
            return tidy(self.eq.inline(e), self.eq.v)
        return _without_squares(se.sympify(e), self._turns)

    def in_program(self, e: Any) -> Any:
        """The printed form as a SymEngine expression, from which programs are written."""
        return tidy_engine(self.eq.inline(e), self.eq.v) if self.small else self(e)


def count_printed(eq: Equations) -> Size:
    """The size of M, of the parts of f and of the named intermediates as printed; one half of the symmetric M counts.

    Example:
        >>> from pendula import derive, library
        >>> count_printed(derive(library.double_pendulum(), "lagrange"))
        Size(terms=17, operations=55)
    """
    form = Form(eq)
    shown = [form(x) for i, j, x in entries(eq.M) if j <= i]
    shown += [form(x) for part in PARTS for x in eq.parts.free[part] if not is_zero(x)]
    shown += [form(e) for _, e in form.definitions]
    return size_of(shown)


def _turns_of(eq: Equations) -> list[tuple[Any, Any, Any]]:
    """(angle, sine, cosine) of the intermediates that are sine and cosine of one angle."""
    sines = {e.args[0]: s for s, e in eq.definitions if isinstance(e, se.sin)}
    cosines = [(e.args[0], s) for s, e in eq.definitions if isinstance(e, se.cos)]
    return [(angle, sines[angle], cosine) for angle, cosine in cosines if angle in sines]


SHORT = 60
"""Largest number of operations of an expression with names in which squares are combined."""


def _without_squares(e: Any, turns: Sequence[tuple[Any, Any, Any]]) -> Any:
    """A short expression after sin^2 + cos^2 = 1, if it contains such squares and gets shorter."""
    symbols = e.free_symbols
    both = [turn for turn in turns if turn[1] in symbols and turn[2] in symbols]
    if not 1 <= len(both) <= 2 or "**2" not in str(e) or operations(e) > SHORT:
        return e
    ring = Ring()
    for turn in both:
        ring.pair(*turn)
    polynomial = ring.read(e)
    if polynomial is None:
        return e
    found = ring.write(pythagoras(polynomial, ring))
    better = operations(found) < operations(e) and Points(e).change(found) <= ALLOWED
    return found if better else e


def is_small(equations: Equations) -> bool:
    """Whether the equations are readable without named intermediates."""
    planar_bodies = equations.nodes and not equations.quaternions  # many speeds, but short entries
    most = 12 if planar_bodies else 4
    return len(equations.v) <= most and count(equations).operations_written_out <= 6 * LARGEST


def used_intermediates(eq: Equations, outputs: Sequence[Any] | None = None) -> list[tuple[Any, Any]]:
    """The intermediates that some outputs need (default: all printed expressions), in order."""
    if outputs is None:
        outputs = [x for matrix in (eq.M, eq.G) for _, _, x in entries(matrix)]
        outputs += [*eq.f, *eq.b, *eq.c, *eq.g, *eq.qdot, *eq.readings.values()]
    wanted = symbols_in(eq, outputs)
    return [(s, e) for s, e in eq.definitions if s in wanted]
