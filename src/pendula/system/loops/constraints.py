"""Numeric constraints of a system: gaps, their rates, the constraint Jacobian G, and checks of loop closure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import symengine as se

from pendula.equations.equations import Equations
from pendula.equations.loops import LoopEquations
from pendula.equations.matrix import Matrix, entries
from pendula.system.code.llvm import Native, compile_program
from pendula.system.code.lower import Lowering
from pendula.system.code.programs import Compiled, prepared_parameters
from pendula.system.layout import Array

Block = Callable[[str, Array, Callable[[], Sequence[Any]]], Compiled]
"""(name, parameters, expressions) -> a program of [t, q, v, u] for these expressions, compiled once per name."""


class Constraints:
    """g, G and b of symbolic constraint rows, compiled on first use.

    Args:
        equations: the source of the rows: all equations of motion, or only those of the loops.
        block: compiles expressions of these equations; by default this class does.
    """

    def __init__(self, equations: Equations | LoopEquations, block: Block | None = None) -> None:
        self._equations = equations
        self._block = block or self._compiled
        self._known: dict[str, Native] = {}
        self._sparse: SparseValues | None = None

    def _compiled(self, name: str, parameters: Array, values: Callable[[], Sequence[Any]]) -> Compiled:
        eq = self._equations
        if name not in self._known:
            low = Lowering([eq.t, *eq.q, *eq.v, *eq.u], eq.p, eq.definitions)
            self._known[name] = compile_program(low.program, [low(e) for e in values()], quick=True)
        return Compiled(self._known[name], prepared_parameters(self._known[name], parameters))

    @property
    def rows(self) -> int:
        """Number of rows of G."""
        return len(self._equations.G)

    @property
    def names(self) -> tuple[str, ...]:
        """The meaning of each row of g; rows that belong to G come first."""
        return tuple(self._equations.constraint_names)

    def gaps(self, rows: Array, parameters: Array) -> tuple[Array, Array]:
        """g and G v - b at every row [t, q, v, u]."""
        eq = self._equations

        def values() -> list[Any]:
            terms: list[list[Any]] = [[-b] for b in eq.b]
            for r, j, x in entries(eq.G):
                terms[r].append(x * eq.v[j])
            return [*eq.g, *(se.Add(*row) for row in terms)]

        if not eq.g:
            return np.zeros((len(rows), 0)), np.zeros((len(rows), 0))
        out = self._block("g", parameters, values).rows(rows)
        return out[:, : len(eq.g)], out[:, len(eq.g) :]

    def jacobian(self, rows: Array, parameters: Array) -> Array:
        """G at every row [t, q, v, u]."""
        eq = self._equations
        if self._sparse is None:
            self._sparse = SparseValues(eq.G, len(eq.v))
        return self._sparse.rows(rows, lambda values: self._block("G", parameters, values))

    @property
    def idle(self) -> tuple[str, ...]:
        """Names of redundant constraints that have no row, since no motion changes them."""
        return self._equations.idle_rows

    def fixed_gaps(self, parameters: Array) -> dict[str, float]:
        """Gaps of the constraints that no motion changes, by name: they depend on the parameters alone."""
        eq = self._equations
        if not eq.fixed_gaps:
            return {}
        row = np.zeros((1, 1 + len(eq.q) + len(eq.v) + len(eq.u)))
        found = self._block("fixed gaps", parameters, lambda: [gap for _, gap in eq.fixed_gaps]).rows(row)[0]
        return {name: float(gap) for (name, _), gap in zip(eq.fixed_gaps, found, strict=True)}

    def turned_over(self, row: Array, parameters: Array) -> list[str]:
        """Closing joints whose two sides point in opposite directions, at one row [t, q, v, u]."""
        senses = self._equations.senses
        if not senses:
            return []
        values = self._block("senses", parameters, lambda: [e for _, e in senses]).rows(row[None])[0]
        return sorted({name for (name, _), value in zip(senses, values, strict=True) if not value > 0})


class SparseValues:
    """Values of a sparse matrix of expressions; which of its entries are zero is looked up once."""

    def __init__(self, matrix: Matrix, width: int) -> None:
        found = list(entries(matrix))
        self._height, self._width = len(matrix), width
        self._values = [x for _, _, x in found]
        self._places = np.array([i * width + j for i, j, _ in found], dtype=np.intp)

    def rows(self, rows: Array, block: Callable[[Callable[[], Sequence[Any]]], Compiled]) -> Array:
        """The matrix at every row of inputs, shape (rows, height, width)."""
        out = np.zeros((len(rows), self._height * self._width))
        if self._values:
            out[:, self._places] = block(lambda: self._values).rows(rows)
        return out.reshape(len(rows), self._height, self._width)
