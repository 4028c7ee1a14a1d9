"""Where everything stands in the arrays of a mechanism whose bodies have coordinates of their own.

The accelerations and multipliers of each node are kept together, y_k = [body speeds, kept speeds, rows], since
that is the order in which they are solved. Rows that close loops form the border.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.equations.equations import Equations
from pendula.equations.matrix import Matrix, entries
from pendula.numerics import tree as tr
from pendula.system.layout import Array

Placed = tuple[list[Any], list[int]]
"""Expressions and the index each has in an array."""


@dataclass(frozen=True)
class TreeLayout:
    """Sizes and places of blocks, couplings, border and unknowns."""

    nodes: Array
    """the table that ``solve_tree`` reads"""
    blocks: int
    couplings: int
    unknowns: int
    carry: int
    added: int
    border: int
    """number of rows that close loops"""
    largest: int
    """rows of the largest block"""
    widest: int
    """columns of the largest block with all that is solved against it"""
    speed_at: Array
    """where each speed stands among the unknowns"""
    row_at: Array
    """where the multiplier of each row stands among the unknowns; loop rows are not among them"""

    @classmethod
    def of(cls, equations: Equations) -> TreeLayout:
        """The layout of equations with nodes."""
        table = np.zeros((len(equations.nodes), tr.COLUMNS), dtype=np.int64)
        speed_at = np.zeros(len(equations.v), dtype=np.int64)
        held = equations.nodes[-1].rows[1]
        row_at = np.zeros(held, dtype=np.int64)
        block = coupling = first = carry = added = 0
        largest = widest = 0
        border = equations.loop_rows - held
        for k, node in enumerate(equations.nodes):
            speeds, rows = (range(*x) for x in (node.speeds, node.rows))
            size = len(speeds) + len(rows)
            above = equations.nodes[node.parent].body if node.parent >= 0 else 0
            table[k] = node.parent, node.body, size, len(rows), block, coupling, first, carry, added
            speed_at[list(speeds)] = range(first, first + len(speeds))
            row_at[list(rows)] = range(first + len(speeds), first + size)
            block, coupling, first = block + size * size, coupling + len(rows) * above, first + size
            carry, added = carry + size * above, added + node.body**2
            largest, widest = max(largest, size), max(widest, size + above + 1 + border)
        return cls(table, block, coupling, first, carry, added, border, largest, widest, speed_at, row_at)

    @property
    def matrix_size(self) -> int:
        """Length of blocks, couplings and border together."""
        return self.blocks + self.couplings + self.border * self.unknowns

    def matrix_entries(self, equations: Equations) -> Placed:
        """Every entry of M and G with its places among blocks, couplings and border."""
        values: list[Any] = []
        places: list[int] = []
        for place, x in (*self._mass_places(equations.M), *self._row_places(equations)):
            values.append(x)
            places.append(place)
        return values, places

    def _owner(self, equations: Equations) -> tuple[Array, Array]:
        """The node every speed and every row belongs to."""
        speeds, rows = np.zeros(len(equations.v), dtype=int), np.zeros(len(self.row_at), dtype=int)
        for k, node in enumerate(equations.nodes):
            speeds[slice(*node.speeds)] = k
            rows[slice(*node.rows)] = k
        return speeds, rows

    def _mass_places(self, M: Matrix) -> Iterator[tuple[int, Any]]:
        firsts = self.nodes[:, tr.FIRST]
        for i, j, x in entries(M):
            a, b = int(self.speed_at[i]), int(self.speed_at[j])
            k = int(np.searchsorted(firsts, a, side="right")) - 1
            n, first, block = (int(self.nodes[k, c]) for c in (tr.SIZE, tr.FIRST, tr.BLOCK))
            yield block + (a - first) * n + (b - first), x

    def _row_places(self, equations: Equations) -> Iterator[tuple[int, Any]]:
        owner, joint = self._owner(equations)
        held = len(self.row_at)
        start = self.blocks + self.couplings
        for r, j, x in entries(equations.G):
            y = int(self.speed_at[j])
            if r >= held:
                yield start + (r - held) * self.unknowns + y, x
                continue
            k = int(joint[r])
            n, first, block, links = (int(self.nodes[k, c]) for c in (tr.SIZE, tr.FIRST, tr.BLOCK, tr.LINKS))
            row = int(self.row_at[r]) - first
            if owner[j] == k:
                yield block + row * n + (y - first), x
                yield block + (y - first) * n + row, x
            else:  # the parent's
                p = int(self.nodes[k, tr.PARENT])
                above = int(self.nodes[p, tr.BODY])
                at = self.blocks + int(self.nodes[k, tr.COUPLING])
                yield at + (row - (n - links)) * above + (y - int(self.nodes[p, tr.FIRST])), x

    def vector_places(self, start: int, speeds: Sequence[Any] | None, rows: Sequence[Any]) -> Placed:
        """Entries for speeds and rows in an array of unknowns that starts somewhere, followed by the border's."""
        held = len(self.row_at)
        values = [*(speeds or ()), *rows]
        places = [start + int(y) for y in (self.speed_at if speeds is not None else ())]
        places += [start + int(y) for y in self.row_at]
        places += [start + self.unknowns + i for i in range(len(rows) - held)]
        return values, places
