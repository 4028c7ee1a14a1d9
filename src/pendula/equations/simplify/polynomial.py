"""Expressions as polynomials in symbols, sines, cosines and other functions, with exact coefficients."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import symengine as se

from pendula.equations.simplify.angles import apart

Monomial = tuple[tuple[int, int], ...]
"""(generator, exponent), by generator; exponents may be negative."""
Polynomial = dict[Monomial, Any]
"""Monomial -> coefficient: a Fraction, or a float where the model has one."""

ONE: Monomial = ()
MOST_TERMS = 20_000
"""Largest number of terms of an expression that is expanded."""


class Ring:
    """The generators of polynomials: symbols, sines and cosines in pairs, and everything else in one piece."""

    def __init__(self) -> None:
        self.generators: list[Any] = []
        self.angles: list[tuple[Any, int, int]] = []
        """(angle, generator of its sine, of its cosine)"""
        self.trigonometric: set[int] = set()
        self._index: dict[Any, int] = {}
        self._angle_index: dict[Any, int] = {}
        self._sympy: dict[int, Any] = {}

    def generator(self, e: Any) -> int:
        """The generator of an expression that is not taken apart."""
        if e not in self._index:
            self._index[e] = len(self.generators)
            self.generators.append(e)
        return self._index[e]

    def angle(self, angle: Any) -> tuple[int, int, int]:
        """(sign, sine, cosine) of an angle or of its negative, whichever is known."""
        angle = se.expand(angle)
        opposite = se.expand(-angle)
        for sign, known in ((1, angle), (-1, opposite)):
            if known in self._angle_index:
                _, sine, cosine = self.angles[self._angle_index[known]]
                return sign, sine, cosine
        if _leads_negative(angle):
            sign, sine, cosine = self.angle(opposite)
            return -sign, sine, cosine
        self._angle_index[angle] = len(self.angles)
        sine, cosine = self.generator(se.sin(angle)), self.generator(se.cos(angle))
        self.trigonometric |= {sine, cosine}
        self.angles.append((angle, sine, cosine))
        return 1, sine, cosine

    def pair(self, angle: Any, sine: Any, cosine: Any) -> None:
        """Declares two symbols to be sine and cosine of an angle."""
        s, c = self.generator(sine), self.generator(cosine)
        self.trigonometric |= {s, c}
        self._angle_index[angle] = len(self.angles)
        self.angles.append((angle, s, c))

    # -- to and from expressions ------------------------------------------------------------------

    def read(self, e: Any) -> Polynomial | None:
        """The polynomial of a SymEngine expression; None if it would have too many terms."""
        e = apart(se.sympify(e))
        if expanded_terms(e) > MOST_TERMS:
            return None
        found: Polynomial = {}
        expanded = se.expand(e)
        for term in expanded.args if expanded.is_Add else (expanded,):
            coefficient, monomial = self._term(term)
            add_to(found, monomial, coefficient)
        return found

    def _term(self, term: Any) -> tuple[Any, Monomial]:
        coefficient: Any = Fraction(1)
        powers: dict[int, int] = {}
        for factor in term.args if term.is_Mul else (term,):
            if isinstance(factor, se.Number):
                coefficient = coefficient * _exact(factor)
                continue
            base, exponent = factor, 1
            if factor.is_Pow and isinstance(factor.args[1], se.Integer):
                base, exponent = factor.args[0], int(factor.args[1])
            sign, index = self._atom(base)
            coefficient = -coefficient if sign < 0 and exponent % 2 else coefficient
            powers[index] = powers.get(index, 0) + exponent
        return coefficient, tuple(sorted((k, p) for k, p in powers.items() if p))

    def _atom(self, base: Any) -> tuple[int, int]:
        if isinstance(base, (se.sin, se.cos)):
            sign, sine, cosine = self.angle(base.args[0])
            return (sign, sine) if isinstance(base, se.sin) else (1, cosine)
        return 1, self.generator(base)

    def write(self, polynomial: Polynomial) -> Any:
        """The SymEngine expression of a polynomial, expanded."""
        if not polynomial:
            return se.Integer(0)
        return se.Add(*[se.Mul(_number(x), *self._powers(m)) for m, x in polynomial.items()])

    def _powers(self, monomial: Monomial) -> list[Any]:
        return [self.generators[k] ** p for k, p in monomial]

    def sympy_term(self, monomial: Monomial, coefficient: Any) -> Any:
        """A term as a SymPy expression."""
        import sympy

        factors = [self._in_sympy(k) ** p for k, p in monomial]
        return sympy.Mul(_sympy_number(coefficient), *factors)

    def sympy_sum(self, polynomial: Polynomial) -> Any:
        """A polynomial as a SymPy expression, expanded."""
        import sympy

        return sympy.Add(*[self.sympy_term(m, x) for m, x in polynomial.items()])

    def _in_sympy(self, k: int) -> Any:
        if k not in self._sympy:
            self._sympy[k] = self.generators[k]._sympy_()
        return self._sympy[k]


def add_to(polynomial: Polynomial, monomial: Monomial, coefficient: Any) -> None:
    """Adds one term in place."""
    total = polynomial.get(monomial, 0) + coefficient
    if total == 0:
        polynomial.pop(monomial, None)
    else:
        polynomial[monomial] = total


def times(a: Monomial, b: Iterable[tuple[int, int]]) -> Monomial:
    """The product of two monomials."""
    powers = dict(a)
    for k, p in b:
        powers[k] = powers.get(k, 0) + p
    return tuple(sorted((k, p) for k, p in powers.items() if p))


def with_square(polynomial: Polynomial, gone: int, square: Polynomial) -> Polynomial:
    """A polynomial in which the even powers of a generator are replaced by powers of what its square equals."""
    powers: list[Polynomial] = [{ONE: 1}]
    found: Polynomial = {}
    for monomial, x in polynomial.items():
        half = dict(monomial).get(gone, 0) // 2
        if half < 1:
            add_to(found, monomial, x)
            continue
        while len(powers) <= half:
            powers.append(_product(powers[-1], square))
        rest = times(monomial, [(gone, -2 * half)])
        for factor, y in powers[half].items():
            add_to(found, times(rest, factor), x * y)
    return found


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for left, x in a.items():
        for right, y in b.items():
            add_to(found, times(left, right), x * y)
    return found


def size(polynomial: Polynomial) -> tuple[int, int]:
    """Number of terms, and the sum of all exponents."""
    return len(polynomial), sum(abs(p) for monomial in polynomial for _, p in monomial)


def expanded_terms(e: Any) -> int:
    """An upper bound on the number of terms after expansion (like terms are counted separately)."""
    args = e.args
    if not args:
        return 1
    if e.is_Add:
        return sum(expanded_terms(x) for x in args)
    if e.is_Mul:
        product = 1
        for x in args:
            product *= expanded_terms(x)
        return product
    if e.is_Pow and isinstance(args[1], se.Integer) and int(args[1]) > 1:
        inside = expanded_terms(args[0])
        return 1 if inside == 1 else min(inside ** int(args[1]), 10**9)
    return 1


def _leads_negative(e: Any) -> bool:
    first = min(e.args, key=lambda x: str(x).lstrip("-")) if e.is_Add else e
    return bool(first.is_Mul and isinstance(first.args[0], se.Number) and first.args[0] < 0)


def _exact(x: Any) -> Any:
    if isinstance(x, se.Rational):
        return Fraction(int(x.p), int(x.q))
    return float(x)


def _number(x: Any) -> Any:
    return se.Rational(x.numerator, x.denominator) if isinstance(x, Fraction) else se.RealDouble(x)


def _sympy_number(x: Any) -> Any:
    import sympy

    return sympy.Rational(x.numerator, x.denominator) if isinstance(x, Fraction) else sympy.Float(x)
