"""Fewer products of series: rewrites the equations with sines and cosines of sums of angles.

Formulations write sin a sin b + cos a cos b, but cos(a - b) is cheaper for a series: a product of series costs far
more than a sum, and a sine with its cosine costs two products. So every entry is expanded into terms (number) x
(parameters) x (coordinates and speeds) x (sine or cosine of an integer combination of angles): products of sines and
cosines become sums, and like terms are collected. A product with too many terms stays unexpanded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from pendula.system.code.program import STATE, Program

MOST_TERMS = 160  # of one expanded value
_ROUNDING = 1e-14


class Trig(NamedTuple):
    """The sine or cosine of an integer combination of angles; no angles for the number 1."""

    sine: bool
    angles: tuple[tuple[int, int], ...]
    """(value, factor), in order of the values, the first factor positive"""


class Term(NamedTuple):
    """A product: parameters and other fixed values, state values, and a sine or cosine."""

    fixed: tuple[int, ...]
    moving: tuple[int, ...]
    trig: Trig


NONE = Trig(False, ())
Terms = dict[Term, float]


class Expansion:
    """Expands values of a program into terms; a value with too many terms stays whole."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[int, Terms] = {}

    def rewritten(self, outputs: Sequence[int]) -> list[int]:
        """The same outputs as new values of the program, made of collected terms."""
        for k in self._program.needed(outputs):
            self._known[k] = self._expand(k)
        return [self._build(self._known[k]) for k in outputs]

    # -- expansion ------------------------------------------------------------------------------

    def _expand(self, k: int) -> Terms:
        program = self._program
        op, parts = program.ops[k], program.parts(k)
        x = [self._known[p] for p in parts]
        found: Terms | None = None
        match op.kind:
            case "const":
                found = {Term((), (), NONE): op.number} if op.number else {}
            case "add":
                found = _added(x[0], x[1], 1.0)
            case "sub":
                found = _added(x[0], x[1], -1.0)
            case "neg":
                found = _added({}, x[0], -1.0)
            case "mul" if len(x[0]) * len(x[1]) <= MOST_TERMS:
                found = _multiplied(x[0], x[1])
            case "call" if op.name in ("sin", "cos"):
                found = self._trig(op.name == "sin", x[0])
        if found is None or len(found) > MOST_TERMS:
            return self._whole(k)
        return found

    def _whole(self, k: int) -> Terms:
        """A value as one term, not expanded."""
        moves = self._program.level[k] == STATE
        return {Term(() if moves else (k,), (k,) if moves else (), NONE): 1.0}

    def _trig(self, sine: bool, argument: Terms) -> Terms | None:
        """The sine or cosine of an argument, if that is an integer combination of values."""
        angles = []
        for term, factor in argument.items():
            if term.trig != NONE or term.fixed or len(term.moving) != 1 or factor != int(factor):
                return None
            angles.append((term.moving[0], int(factor)))
        trig, sign = _canonical(sine, dict(angles))
        return {} if sign == 0 else {Term((), (), trig): sign}

    # -- building -------------------------------------------------------------------------------

    def _build(self, terms: Terms) -> int:
        """A sum of terms as a value: factors of the same sine or cosine are added before the multiplication."""
        program = self._program
        groups: dict[Trig, dict[tuple[int, ...], int]] = defaultdict(dict)
        for term, factor in terms.items():
            weight = program.constant(factor)
            for k in term.fixed:
                weight = program.multiply(weight, k)
            sums = groups[term.trig]
            sums[term.moving] = program.add(sums[term.moving], weight) if term.moving in sums else weight
        total = program.zero
        for trig in sorted(groups):
            inner = program.zero
            for moving, weight in groups[trig].items():
                product = program.one
                for k in moving:
                    product = program.multiply(product, k)
                inner = _plus(program, inner, weight, product)
            total = program.add(total, program.multiply(inner, self._function(trig)))
        return total

    def _function(self, trig: Trig) -> int:
        program = self._program
        if not trig.angles:
            return program.one
        angle = program.zero
        for k, factor in trig.angles:
            angle = program.add(angle, program.multiply(program.constant(factor), k))
        return program.call("sin" if trig.sine else "cos", angle)


def _plus(program: Program, total: int, weight: int, product: int) -> int:
    value = program.value(weight)
    if value is not None and value < 0:
        return program.subtract(total, program.multiply(program.constant(-value), product))
    return program.add(total, program.multiply(weight, product))


def _added(a: Terms, b: Terms, sign: float) -> Terms:
    found = dict(a)
    for term, factor in b.items():
        _collect(found, term, sign * factor)
    return found


def _collect(found: Terms, term: Term, factor: float) -> None:
    before = found.get(term, 0.0)
    total = before + factor
    if abs(total) <= _ROUNDING * max(abs(before), abs(factor)):
        found.pop(term, None)
    else:
        found[term] = total


def _multiplied(a: Terms, b: Terms) -> Terms:
    found: Terms = {}
    for one, x in a.items():
        for two, y in b.items():
            fixed = tuple(sorted(one.fixed + two.fixed))
            moving = tuple(sorted(one.moving + two.moving))
            for trig, factor in _product(one.trig, two.trig):
                _collect(found, Term(fixed, moving, trig), x * y * factor)
    return found


def _product(a: Trig, b: Trig) -> list[tuple[Trig, float]]:
    """A product of two sines or cosines as a sum of functions of the sum and the difference of the angles."""
    if not a.angles or not b.angles:
        return [(b if not a.angles else a, 1.0)]
    plus, minus = dict(a.angles), dict(a.angles)
    for k, factor in b.angles:
        plus[k] = plus.get(k, 0) + factor
        minus[k] = minus.get(k, 0) - factor
    if a.sine and b.sine:  # (cos(a - b) - cos(a + b)) / 2
        parts = [(False, minus, 0.5), (False, plus, -0.5)]
    elif not a.sine and not b.sine:
        parts = [(False, minus, 0.5), (False, plus, 0.5)]
    elif a.sine:  # sin a cos b
        parts = [(True, plus, 0.5), (True, minus, 0.5)]
    else:  # cos a sin b
        parts = [(True, plus, 0.5), (True, minus, -0.5)]
    found = [(*_canonical(sine, angles), weight) for sine, angles, weight in parts]
    return [(trig, sign * weight) for trig, sign, weight in found if sign]


def _canonical(sine: bool, angles: dict[int, int]) -> tuple[Trig, float]:
    """The same function with a positive first factor, and a sign; sign 0 for the sine of zero."""
    kept = tuple(sorted((k, factor) for k, factor in angles.items() if factor))
    if not kept:
        return NONE, 0.0 if sine else 1.0
    if kept[0][1] < 0:
        return Trig(sine, tuple((k, -factor) for k, factor in kept)), -1.0 if sine else 1.0
    return Trig(sine, kept), 1.0
