"""The shortest way to write a polynomial: common factors outside, terms collected in rates or in equal factors."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import reduce
from math import gcd
from typing import Any

from pendula.equations.simplify.polynomial import ONE, Monomial, Polynomial, Ring, times
from pendula.equations.simplify.sizes import effort

SEED = 1
MOST_FACTORED = 24
"""Terms up to which a polynomial is factored completely."""


def factored(polynomial: Polynomial, ring: Ring, rates: Container[int]) -> Any:
    """The SymPy expression with the least effort to read among a few ways to collect and factor.

    Args:
        polynomial: the polynomial to write.
        ring: its generators.
        rates: generators in whose products terms are collected.
    """
    import sympy

    if not polynomial:
        return sympy.Integer(0)
    outside, inside = _content(polynomial)
    found = [_with(outside, _inner(inside, ring, rates), ring)]
    if not outside[0] and len(polynomial) > 1:  # a numerical factor may just as well stay in the terms
        found.append(_inner(polynomial, ring, rates))
    return positive_first(min(found, key=readability))


def readability(e: Any) -> tuple[int, int]:
    """The measure that simplification minimizes: effort to read, then length."""
    return effort(e), len(str(e))


def positive_first(e: Any) -> Any:
    """Sums in products turned so that they do not begin with a minus sign: x (a - b) for -x (b - a)."""
    import sympy

    if not e.args or not (e.is_Add or e.is_Mul):
        return e
    parts = [positive_first(x) for x in e.args]
    if e.is_Add:
        return sympy.Add(*parts)
    if sum(not x.is_Number for x in parts) < 2:
        return e
    turned = [x.is_Add and x.as_ordered_terms()[0].could_extract_minus_sign() for x in parts]
    sign = -1 if sum(turned) % 2 else 1
    return sympy.Mul(sign, *(sympy.expand_mul(-x, deep=False) if t else x for x, t in zip(parts, turned, strict=True)))


def _inner(polynomial: Polynomial, ring: Ring, rates: Container[int]) -> Any:
    import sympy

    found = [ring.sympy_sum(polynomial)]
    if len(polynomial) == 1:
        return found[0]

    def is_rate(k: int) -> bool:
        return k in rates

    def is_moving(k: int) -> bool:
        return k in rates or k in ring.trigonometric

    if len(polynomial) > 2:
        found += [_collected(polynomial, ring, rates, test) for test in (is_rate, is_moving)]
        found.append(_merged(polynomial, ring, rates, is_moving))
    exact = all(isinstance(x, Fraction) for x in polynomial.values())
    if exact and len(polynomial) <= MOST_FACTORED:
        with suppress(sympy.PolynomialError), _same_draws():  # a generator that is no polynomial variable
            found.append(sympy.factor(found[0], deep=False))
    return min(found, key=readability)


@contextmanager
def _same_draws() -> Iterator[None]:
    """SymPy's random numbers from the same seed: its factoring draws points, and some draws take it minutes."""
    from sympy.core.random import rng

    before = rng.getstate()
    rng.seed(SEED)
    try:
        yield
    finally:
        rng.setstate(before)


def _collected(polynomial: Polynomial, ring: Ring, rates: Container[int], test: Callable[[int], bool]) -> Any:
    """Grouped by the part of every monomial that passes a test."""
    import sympy

    groups = _split(polynomial, test)
    if len(groups) in (1, len(polynomial)):
        return ring.sympy_sum(polynomial)
    terms = []
    for outer, inner in groups.items():
        outside, inside = _content(inner)
        terms.append(_with((times(outer, outside[0]), outside[1]), _inner(inside, ring, rates), ring))
    return sympy.Add(*terms)


def _merged(polynomial: Polynomial, ring: Ring, rates: Container[int], test: Callable[[int], bool]) -> Any:
    """Groups whose inner polynomials are multiples of each other share them: P (x + y) for P x + P y."""
    import sympy

    shared: dict[Any, Polynomial] = {}
    for outer, inner in _split(polynomial, test).items():
        (monomial, number), inside = _content(inner)
        key = frozenset(inside.items())
        if len(inside) == 1:
            key = frozenset()  # a single term has no sum to share
            inside = {ONE: inside[next(iter(inside))]}
        shared.setdefault(key, {})[times(outer, monomial)] = number
    if not any(shared):  # nothing to share
        return ring.sympy_sum(polynomial)
    terms = []
    for key, outer_sum in shared.items():
        outside, inside = _content(outer_sum)
        sums = [_inner(inside, ring, rates)] if len(inside) > 1 else []
        sums += [ring.sympy_sum(dict(key))] if key else []
        terms.append(_with(outside, sympy.Mul(*sums), ring))
    return sympy.Add(*terms)


def _split(polynomial: Polynomial, test: Callable[[int], bool]) -> dict[Monomial, Polynomial]:
    groups: dict[Monomial, Polynomial] = {}
    for monomial, x in polynomial.items():
        outer = tuple((k, p) for k, p in monomial if test(k))
        inner = tuple((k, p) for k, p in monomial if not test(k))
        groups.setdefault(outer, {})[inner] = x
    return groups


def _content(polynomial: Polynomial) -> tuple[tuple[Monomial, Any], Polynomial]:
    """The common factor (monomial and number) of all terms, and the remaining polynomial."""
    monomials = [dict(m) for m in polynomial]
    common = {k: min(m.get(k, 0) for m in monomials) for k in {k for m in monomials for k in m}}
    outside = tuple(sorted((k, p) for k, p in common.items() if p))
    number = _number([x for _, x in sorted(polynomial.items())])
    inverse = [(k, -p) for k, p in outside]
    return (outside, number), {times(m, inverse): x / number for m, x in polynomial.items()}


def _number(values: list[Any]) -> Any:
    """The greatest common divisor; negative if most terms are, or if half of them are and the first is."""
    if not all(isinstance(x, Fraction) for x in values):
        return values[0] if len(values) == 1 else Fraction(1)
    above = reduce(gcd, (abs(x.numerator) for x in values))
    below = reduce(lambda a, b: a * b // gcd(a, b), (x.denominator for x in values))
    negative = 2 * sum(x < 0 for x in values) + (values[0] < 0) > len(values)
    return Fraction(-above if negative else above, below)


def _with(outside: tuple[Monomial, Any], inside: Any, ring: Ring) -> Any:
    """A factor times an expression, which is not multiplied out."""
    import sympy

    term = ring.sympy_term(*outside)
    if term == 1:
        return inside
    if inside.is_Add and term.is_Number:
        return (
            sympy.Mul(term, inside) if term.is_Integer and abs(term) == 1 else sympy.Mul(term, inside, evaluate=False)
        )
    return sympy.Mul(term, inside)
