"""Rewritings of trigonometric polynomials: each returns an equal polynomial, usually with fewer terms."""

from __future__ import annotations

from itertools import combinations, product

from pendula.equations.simplify.polynomial import ONE, Polynomial, Ring, add_to, size, times, with_square

MOST_CHOICES = 6
"""Angles up to which all choices between sine and cosine are tried; beyond, one angle at a time."""
MOST_WORK = 30_000
"""Terms of all these choices together up to which they are tried."""


def pythagoras(polynomial: Polynomial, ring: Ring) -> Polynomial:
    """Squares of the sine or of the cosine replaced for every angle, whichever leaves the fewest terms.

    Example:
        >>> import symengine as se
        >>> x, ring = se.Symbol("x"), Ring()
        >>> ring.write(pythagoras(ring.read(3 * se.sin(x) ** 2 + 5 * se.cos(x) ** 2 - 3), ring))
        2*cos(x)**2
    """
    squared = [(s, c) for _, s, c in ring.angles if _squares(polynomial, s) or _squares(polynomial, c)]
    if not squared:
        return polynomial
    if len(squared) <= MOST_CHOICES and len(polynomial) << len(squared) <= MOST_WORK:
        found = [polynomial]
        for choice in product((False, True), repeat=len(squared)):
            candidate = polynomial
            for (sine, cosine), swap in zip(squared, choice, strict=True):
                candidate = _without_square(candidate, *((cosine, sine) if swap else (sine, cosine)))
            found.append(candidate)
        return min(found, key=lambda p: (size(sums_of_angles(pairs(p, ring), ring)), size(p)))
    for sine, cosine in squared:
        forms = [polynomial, _without_square(polynomial, sine, cosine), _without_square(polynomial, cosine, sine)]
        polynomial = min(forms, key=size)
    return polynomial


def pairs(polynomial: Polynomial, ring: Ring) -> Polynomial:
    """A - A sin^2 as A cos^2 (and the other way round), term by term.

    Example:
        >>> import symengine as se
        >>> a, b, x, ring = *se.symbols("a b x"), Ring()
        >>> ring.write(pairs(ring.read(a + b * se.sin(x) ** 2 - a * se.sin(x) ** 2), ring))
        a*cos(x)**2 + b*sin(x)**2
    """
    for _, sine, cosine in ring.angles:
        for gone, kept in ((sine, cosine), (cosine, sine)):
            for monomial in list(polynomial):
                opposite = times(monomial, [(gone, 2)])
                x = polynomial.get(monomial)
                if x is not None and polynomial.get(opposite) == -x:
                    polynomial = dict(polynomial)
                    del polynomial[monomial], polynomial[opposite]
                    add_to(polynomial, times(monomial, [(kept, 2)]), x)
    return polynomial


def sums_of_angles(polynomial: Polynomial, ring: Ring) -> Polynomial:
    """cos a cos b + sin a sin b as cos(a - b), and its relatives, wherever two terms become one.

    Example:
        >>> import symengine as se
        >>> x, y, ring = *se.symbols("x y"), Ring()
        >>> ring.write(sums_of_angles(ring.read(se.sin(x) * se.cos(y) - se.cos(x) * se.sin(y)), ring))
        sin(x - y)
    """
    done = False
    while not done:
        done = True
        for a, b in combinations(range(len(ring.angles)), 2):
            shorter = _merged(polynomial, ring, a, b)
            if len(shorter) < len(polynomial):
                polynomial, done = shorter, False
                break
    return _double_angles(polynomial, ring)


def _merged(polynomial: Polynomial, ring: Ring, a: int, b: int) -> Polynomial:
    """Products of two angles turned into one angle where coefficients match."""
    (first, s1, c1), (second, s2, c2) = ring.angles[a], ring.angles[b]
    found = polynomial
    for monomial in list(polynomial):
        powers = dict(monomial)
        for left, right, other_left, other_right in ((c1, c2, s1, s2), (s1, c2, c1, s2)):
            if powers.get(left, 0) < 1 or powers.get(right, 0) < 1 or monomial not in found:
                continue
            rest = times(monomial, [(left, -1), (right, -1)])
            partner = times(rest, [(other_left, 1), (other_right, 1)])
            x, y = found[monomial], found.get(partner)
            if y is None or abs(x) != abs(y):
                continue
            # cos cos + sin sin = cos(a - b); sin cos + cos sin = sin(a + b)
            cosines = left == c1
            together = second if (x == y) != cosines else -second
            sign, sine, cosine = ring.angle(first + together)
            found = dict(found)
            del found[monomial], found[partner]
            add_to(found, times(rest, [(cosine if cosines else sine, 1)]), x if cosines else x * sign)
    return found


def _double_angles(polynomial: Polynomial, ring: Ring) -> Polynomial:
    """A - 2 A sin^2 x as A cos 2x, and the other way round."""
    for angle, sine, cosine in tuple(ring.angles):
        for square, sign in ((sine, 1), (cosine, -1)):
            for monomial in list(polynomial):
                x = polynomial.get(monomial)
                opposite = times(monomial, [(square, 2)])
                if x is None or polynomial.get(opposite) != -2 * x:
                    continue
                _, _, doubled = ring.angle(2 * angle)
                polynomial = dict(polynomial)
                del polynomial[monomial], polynomial[opposite]
                add_to(polynomial, times(monomial, [(doubled, 1)]), sign * x)
    return polynomial


def _without_square(polynomial: Polynomial, gone: int, kept: int) -> Polynomial:
    """Even powers of one generator replaced: gone^2 = 1 - kept^2."""
    return with_square(polynomial, gone, {ONE: 1, ((kept, 2),): -1})


def _squares(polynomial: Polynomial, generator: int) -> bool:
    return any(k == generator and p >= 2 for monomial in polynomial for k, p in monomial)
