"""Coordinates that obey identities: unit quaternions, and rotation vectors with the functions of their length.

A rotation vector r of length a is written with c = cos(a/2), s = sin(a/2)/a and a2 = a^2, so that (c, s r) is its unit
quaternion, and its rotation is a polynomial in them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import symengine as se

from pendula.equations.simplify.polynomial import Polynomial, Ring, size, with_square

Identity = tuple[tuple[Any, Any], ...]
"""Ways to apply one identity: (symbol, what its square equals)."""


@dataclass(frozen=True)
class RotationVector:
    """The components of a rotation vector, and the names of the functions of its length."""

    components: tuple[Any, Any, Any]
    cosine: Any
    """cos(a/2)"""
    sine: Any
    """sin(a/2)/a"""
    square: Any
    """a^2"""

    def slopes(self, k: int) -> dict[Any, Any]:
        """The derivatives of the functions by a component."""
        x, half = self.components[k], se.Rational(1, 2)
        return {
            self.cosine: -half * self.sine * x,
            self.sine: (half * self.cosine - self.sine) * x / self.square,
            self.square: 2 * x,
        }

    def values(self, components: Sequence[float]) -> dict[Any, float]:
        """The functions in numbers."""
        square = sum(x**2 for x in components)
        length = math.sqrt(square)
        return {self.cosine: math.cos(length / 2), self.sine: math.sin(length / 2) / length, self.square: square}


@dataclass(frozen=True)
class Surface:
    """The surface on which coordinates lie that obey identities.

    Attributes:
        quaternions: the four components of each; their squares sum to 1.
        vectors: rotation vectors.

    Example:
        >>> w, x, y, z = se.symbols("w x y z")
        >>> point = Surface(quaternions=((w, x, y, z),)).onto({w: 3.0, x: 0.0, y: 0.0, z: 4.0})
        >>> point[w], point[z]
        (0.6, 0.8)
    """

    quaternions: tuple[tuple[Any, ...], ...] = ()
    vectors: tuple[RotationVector, ...] = ()

    @cached_property
    def identities(self) -> tuple[Identity, ...]:
        """All identities between squares."""
        found = [_sum_of_squares(q, 1) for q in self.quaternions]
        for v in self.vectors:
            c, s, a2 = v.cosine, v.sine, v.square
            found += [_sum_of_squares(v.components, a2), ((c, 1 - a2 * s**2), (s, (1 - c**2) / a2))]
        return tuple(found)

    @cached_property
    def symbols(self) -> frozenset[Any]:
        """All symbols that occur in an identity."""
        return frozenset(
            [x for q in self.quaternions for x in q]
            + [x for v in self.vectors for x in (*v.components, v.cosine, v.sine, v.square)]
        )

    def derivative(self, e: Any, by: Any) -> Any:
        """Derivative by a coordinate, also through the functions of a rotation vector."""
        found = e.diff(by)
        for v in self.vectors:
            if by in v.components:
                slopes = v.slopes(v.components.index(by))
                found += se.Add(*[e.diff(name) * slope for name, slope in slopes.items()])
        return found

    def onto(self, point: Mapping[Any, float]) -> dict[Any, float]:
        """The nearest point at which the identities hold."""
        found = dict(point)
        for q in self.quaternions:
            size = math.sqrt(sum(point[x] ** 2 for x in q))
            found |= {x: point[x] / size for x in q}
        for v in self.vectors:
            found |= v.values([point[x] for x in v.components])
        return found


FLAT = Surface()
"""No identities."""


def _sum_of_squares(symbols: Sequence[Any], total: Any) -> Identity:
    return tuple((x, total - se.Add(*[y**2 for y in symbols if y != x])) for x in symbols)


def unit_norm(polynomial: Polynomial, ring: Ring, surface: Surface) -> Polynomial:
    """Squares replaced by the identities of a surface, one identity after another, wherever fewer terms remain.

    Example:
        >>> w, x, y, z, m = se.symbols("w x y z m")
        >>> sphere, ring = Surface(quaternions=((w, x, y, z),)), Ring()
        >>> e = m * (w**2 + x**2 - y**2 - z**2) ** 2 + 4 * m * (x * y + w * z) ** 2 + 4 * m * (x * z - w * y) ** 2
        >>> ring.write(unit_norm(ring.read(e), ring, sphere))
        m
    """
    for identity in surface.identities:
        candidates = [polynomial]
        for symbol, square in identity:
            known = ring.read(square)
            if known is not None:
                candidates.append(with_square(polynomial, ring.generator(symbol), known))
        polynomial = min(candidates, key=size)
    return polynomial
