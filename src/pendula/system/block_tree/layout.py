"""Memory layout for block elimination in maximal coordinates.

The accelerations and multipliers of each node are adjacent, y_k = [body speeds, kept speeds, rows], which is
the order of elimination. Rows that close loops form the border.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.equations.equations import Equations
from pendula.equations.matrix import entries
from pendula.numerics.block_tree import elimination as tr
from pendula.system.layout import Array

Placed = tuple[list[Any], list[int]]
"""Expressions, and the index of each in an array."""


@dataclass(frozen=True)
class TreeLayout:
    """Sizes and locations of blocks, border and unknowns."""

    nodes: Array
    """the table that ``solve_tree`` reads"""
    blocks: int
    """numbers in all blocks"""
    unknowns: int
    border: int
    """number of rows that close loops"""
    largest: int
    """rows of the largest block"""
    speed_at: Array
    """index of each speed among the unknowns"""
    row_at: Array
    """index of the multiplier of each row of a tree joint among the unknowns"""

    @classmethod
    def of(cls, equations: Equations) -> TreeLayout:
        """The layout of equations with nodes."""
        table = np.zeros((len(equations.nodes), tr.COLUMNS), dtype=np.int64)
        speed_at = np.zeros(len(equations.v), dtype=np.int64)
        held = equations.nodes[-1].rows[1]
        row_at = np.zeros(held, dtype=np.int64)
        block = first = largest = 0
        border = equations.loop_rows - held
        for k, node in enumerate(equations.nodes):
            speeds, rows = (range(*x) for x in (node.speeds, node.rows))
            size = len(speeds) + len(rows)
            above = equations.nodes[node.parent].body if node.parent >= 0 else 0
            lead, width = tr.block_shape(size, above, border)
            table[k] = node.parent, node.body, size, len(rows), block, lead, width, first
            speed_at[list(speeds)] = range(first, first + len(speeds))
            row_at[list(rows)] = range(first + len(speeds), first + size)
            block, first, largest = block + size * width, first + size, max(largest, size)
        return cls(table, block, first, border, largest, speed_at, row_at)

    @property
    def matrix_size(self) -> int:
        """Length of blocks and border together."""
        return self.blocks + self.border * self.unknowns

    def matrix_entries(self, equations: Equations) -> Placed:
        """Every entry of M and G with its locations in blocks and border."""
        values: list[Any] = []
        places: list[int] = []
        for place, x in (*self._mass_places(equations), *self._row_places(equations)):
            values.append(x)
            places.append(place)
        return values, places

    def _starts(self) -> list[tuple[int, int, int, int]]:
        """For every node: start of its matrix and of its unknowns, row width, start of the coupling in a row."""
        columns = (tr.BLOCK, tr.FIRST, tr.WIDTH, tr.LEAD)
        return list(zip(*(self.nodes[:, c].tolist() for c in columns), strict=True))

    def _mass_places(self, equations: Equations) -> Iterator[tuple[int, Any]]:
        starts, at = self._starts(), self.speed_at.tolist()
        owner = [k for k, node in enumerate(equations.nodes) for _ in range(*node.speeds)]
        for i, j, x in entries(equations.M):
            block, first, width, _ = starts[owner[i]]
            yield block + (at[i] - first) * width + (at[j] - first), x

    def _row_places(self, equations: Equations) -> Iterator[tuple[int, Any]]:
        starts, at, row_at = self._starts(), self.speed_at.tolist(), self.row_at.tolist()
        owner = [k for k, node in enumerate(equations.nodes) for _ in range(*node.speeds)]
        joint = [k for k, node in enumerate(equations.nodes) for _ in range(*node.rows)]
        for r, j, x in entries(equations.G):
            if r >= len(row_at):
                yield self.blocks + (r - len(row_at)) * self.unknowns + at[j], x
                continue
            block, first, width, lead = starts[joint[r]]
            row = row_at[r] - first
            if owner[j] == joint[r]:
                column = at[j] - first
                yield block + row * width + column, x
                yield block + column * width + row, x
            else:  # a speed of the parent
                yield block + row * width + lead + at[j] - starts[owner[j]][1], x

    def vector_places(self, start: int, speeds: Sequence[Any] | None, rows: Sequence[Any]) -> Placed:
        """Entries for speeds and rows in an array of unknowns at index ``start``, followed by those of the border."""
        held = len(self.row_at)
        values = [*(speeds or ()), *rows]
        places = [start + int(y) for y in (self.speed_at if speeds is not None else ())]
        places += [start + int(y) for y in self.row_at]
        places += [start + self.unknowns + i for i in range(len(rows) - held)]
        return values, places
