"""The steps of simplification in order, each checked at random points."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import symengine as se

from pendula.equations.simplify.factoring import factored, readability
from pendula.equations.simplify.polynomial import Polynomial, Ring
from pendula.equations.simplify.steps import pairs, pythagoras, sums_of_angles
from pendula.equations.simplify.surface import FLAT, Surface, unit_norm

ALLOWED = 1e-12
"""Largest relative change of a value by a step; rounding stays a hundred times below it."""

Rewriting = Callable[[Polynomial, Ring], Polynomial]

STEPS: dict[str, Rewriting] = {
    "expanded": lambda polynomial, ring: polynomial,
    "Pythagoras": pythagoras,
    "pairs": pairs,
    "angle sums": sums_of_angles,
}
"""Rewritings of polynomials by name, in order; the last step, ``FACTORED``, collects and factors."""
UNIT_NORM = "unit norm"
"""The step that uses the identities of quaternions and rotation vectors, after the first; only where there are any."""
FACTORED = "factored"


def step_names(surface: Surface = FLAT) -> tuple[str, ...]:
    """The steps in order."""
    first, *others = STEPS
    return (first, *([UNIT_NORM] if surface.identities else []), *others, FACTORED)


def simplified(expression: Any, rates: Sequence[Any] = ()) -> Any:
    """The shortest checked form of a SymEngine expression, as a SymPy expression.

    Example:
        >>> x, m = se.symbols("x m")
        >>> simplified(m * se.sin(x) ** 2 / 3 + m * se.cos(x) ** 2 / 3)
        m/3
    """
    form = expression
    for step in forms(expression, rates):
        form = step.form
    return as_sympy(form)


def as_sympy(e: Any) -> Any:
    """An expression of SymEngine or SymPy as one of SymPy."""
    return e._sympy_() if hasattr(e, "_sympy_") else e


class Step(NamedTuple):
    """A form of an expression after one step."""

    name: str
    form: Any
    """a SymEngine expression; of the last step a SymPy expression"""
    change: float
    """largest relative change of a value by the step; if above ``ALLOWED``, ``form`` is the form before the step"""


def forms(expression: Any, rates: Sequence[Any] = (), surface: Surface = FLAT) -> Iterator[Step]:
    """The form after every step; the last one is the most readable of all.

    A step that would change a value is skipped. An expression that is too long to expand has no forms.

    Args:
        expression: a SymEngine expression.
        rates: symbols in whose products terms are collected.
        surface: identities between symbols of the expression; it is compared with its forms only where these hold.
    """
    ring = Ring()
    polynomial = ring.read(expression)
    if polynomial is None:
        return
    points = Points(expression, surface=surface)
    wanted = {str(r) for r in rates}
    found = [expression]
    for name in step_names(surface)[:-1]:
        candidate = unit_norm(polynomial, ring, surface) if name == UNIT_NORM else STEPS[name](polynomial, ring)
        form = ring.write(candidate)
        change = points.change(form)
        if change <= ALLOWED:
            polynomial = candidate
            found.append(form)
        yield Step(name, found[-1], change)
    rate_generators = {k for k, g in enumerate(ring.generators) if str(g) in wanted}
    last = factored(polynomial, ring, rate_generators)
    change = points.change(se.sympify(last))
    if change <= ALLOWED:
        found.append(last)
    best = min(dict.fromkeys(reversed(found)), key=readability)
    yield Step(FACTORED, as_sympy(best), change)


class Points:
    """An expression at random points, to compare others with it; on a surface if its symbols obey identities."""

    def __init__(self, expression: Any, points: int = 3, surface: Surface = FLAT, beside: Iterable[Any] = ()) -> None:
        """Points have values for the symbols of the expression, of the surface, and for those given in ``beside``."""
        rng = random.Random(7)
        self.symbols = sorted({*expression.free_symbols, *surface.symbols, *beside}, key=str)
        drawn = [{s: rng.uniform(0.2, 1.2) for s in self.symbols} for _ in range(points)]
        self.points = [surface.onto(point) for point in drawn]
        self.values = [self._at(expression, point) for point in self.points]

    def change(self, other: Any) -> float:
        """The largest difference of another expression, relative to the value (or to 0.1, if that is larger)."""
        if other.free_symbols - set(self.symbols):
            return float("inf")
        worst = 0.0
        for point, value in zip(self.points, self.values, strict=True):
            difference = abs(self._at(other, point) - value) / max(abs(value), 0.1)
            worst = max(worst, difference) if difference == difference else float("inf")
        return worst

    def _at(self, expression: Any, point: Mapping[Any, float]) -> complex:
        try:
            return complex(expression.subs(point).n())
        except RuntimeError:  # SymEngine evaluates cases only in this way, which is slower
            values = [point[s] for s in self.symbols]
            return complex(se.Lambdify(self.symbols, [expression], backend="lambda")(values)[0])
