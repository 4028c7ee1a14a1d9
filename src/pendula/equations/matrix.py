"""Sparse matrices of expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import overload

from pendula.equations.tape import Expr, is_zero

Entry = tuple[int, int, Expr]
"""Row, column, value."""


class Sparse(Sequence[tuple[Expr, ...]]):
    """A matrix that stores only its nonzero entries; indexing gives rows as tuples."""

    def __init__(self, rows: Iterable[Mapping[int, Expr]], width: int) -> None:
        self.rows = tuple({j: x for j, x in row.items() if not is_zero(x)} for row in rows)
        self.width = width

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> tuple[Expr, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[Expr, ...], ...]: ...
    def __getitem__(self, index: int | slice) -> tuple[Expr, ...] | tuple[tuple[Expr, ...], ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        row = self.rows[index]
        return tuple(row.get(j, 0) for j in range(self.width))

    def columns(self, start: int, stop: int) -> Sparse:
        """Some of the columns."""
        rows = ({j - start: x for j, x in row.items() if start <= j < stop} for row in self.rows)
        return Sparse(rows, stop - start)


Matrix = Sequence[Sequence[Expr]]
"""Dense (rows of entries) or :class:`Sparse`."""


def entries(matrix: Matrix) -> Iterator[Entry]:
    """The nonzero entries."""
    if isinstance(matrix, Sparse):
        for i, row in enumerate(matrix.rows):
            for j in sorted(row):
                yield i, j, row[j]
        return
    for i, dense in enumerate(matrix):
        for j, x in enumerate(dense):
            if not is_zero(x):
                yield i, j, x


def columns(matrix: Matrix, start: int, stop: int) -> Matrix:
    """Some of the columns of a matrix."""
    if isinstance(matrix, Sparse):
        return matrix.columns(start, stop)
    return tuple(tuple(row[start:stop]) for row in matrix)


def rows(matrix: Matrix, start: int, stop: int) -> Matrix:
    """Some of the rows of a matrix."""
    if isinstance(matrix, Sparse):
        return Sparse(matrix.rows[start:stop], matrix.width)
    return tuple(tuple(row) for row in matrix[start:stop])
