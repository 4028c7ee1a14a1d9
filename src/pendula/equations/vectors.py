"""Vector algebra on lists of symbolic entries, skipping exact zeros."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import symengine as se

from pendula.equations.tape import Expr, is_zero

Vector = Sequence[Expr]
Matrix = Sequence[Sequence[Expr]]

IDENTITY: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
NULL: Vector = (0, 0, 0)


def total(terms: Iterable[Expr]) -> Expr:
    """The sum of many terms, built in one operation."""
    kept = [x for x in terms if not is_zero(x)]
    match len(kept):
        case 0:
            return 0
        case 1:
            return kept[0]
        case 2:
            return kept[0] + kept[1]
    return se.Add(*kept)


def dot(a: Vector, b: Vector) -> Expr:
    """Scalar product."""
    terms = [x * y for x, y in zip(a, b, strict=True) if not (is_zero(x) or is_zero(y))]
    return total(terms)


def cross(a: Vector, b: Vector) -> list[Expr]:
    """Vector product."""

    def entry(i: int, j: int) -> Expr:
        first = 0 if is_zero(a[i]) or is_zero(b[j]) else a[i] * b[j]
        second = 0 if is_zero(a[j]) or is_zero(b[i]) else a[j] * b[i]
        return first if is_zero(second) else first - second

    return [entry(1, 2), entry(2, 0), entry(0, 1)]


def skew(a: Vector) -> list[list[Expr]]:
    """The matrix [a] of the vector product: [a] b = a x b."""
    x, y, z = a
    return [[0, -z, y], [z, 0, -x], [-y, x, 0]]


class Products:
    """Cached scalar products, for chains in which most bodies have the same partial velocities."""

    def __init__(self) -> None:
        self._known: dict[tuple[Expr, ...], Expr] = {}

    def __call__(self, a: Vector, b: Vector) -> Expr:
        """The scalar product of two vectors."""
        key = (*a, *b)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = dot(a, b)
        return found


def add(*vectors: Vector) -> list[Expr]:
    """Sum of vectors."""
    return [total(entries) for entries in zip(*vectors, strict=True)]


def subtract(a: Vector, b: Vector) -> list[Expr]:
    """a - b."""
    return [x if is_zero(y) else x - y for x, y in zip(a, b, strict=True)]


def scale(factor: Expr, a: Vector) -> list[Expr]:
    """factor times a."""
    return [0 if is_zero(factor) or is_zero(x) else factor * x for x in a]


def times(matrix: Matrix, a: Vector) -> list[Expr]:
    """Matrix times vector."""
    return [dot(row, a) for row in matrix]


def transposed(matrix: Matrix) -> list[list[Expr]]:
    """The transpose."""
    return [list(column) for column in zip(*matrix, strict=True)]


def product(a: Matrix, b: Matrix) -> list[list[Expr]]:
    """Matrix product."""
    columns = transposed(b)
    return [[dot(row, column) for column in columns] for row in a]


def turn_matrix(axis: Vector, c: Expr, s: Expr) -> list[list[Expr]]:
    """Rotation matrix about a unit axis from the cosine and sine of the angle (Rodrigues), symbolic or numeric."""

    def entry(i: int, j: int) -> Expr:
        both = axis[i] * axis[j]
        out = both * (1 - c) if not is_zero(both) and not (i == j and both == 1) else 0
        return out + (1 if i == j and both == 1 else c if i == j else 0)

    across = skew(axis)
    return [
        [entry(i, j) if is_zero(across[i][j]) else entry(i, j) + across[i][j] * s for j in range(3)] for i in range(3)
    ]


def all_zero(a: Vector) -> bool:
    """Whether every entry is exactly zero."""
    return all(is_zero(x) for x in a)
