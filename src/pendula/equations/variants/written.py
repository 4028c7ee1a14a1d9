"""Equations of motion that others wrote, as :class:`Equations`: M and f are theirs, the rest is the model's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import symengine as se

from pendula.equations import refusals
from pendula.equations.equations import PARTS, Equations, Rows, Written
from pendula.equations.tape import Expr, Tape, is_zero
from pendula.equations.translate import translate
from pendula.equations.vectors import total
from pendula.errors import NotSupported, UsageError
from pendula.model.expressions.expression import Expression
from pendula.model.model import Model
from pendula.model.names import acceleration_name

Array = np.ndarray[Any, np.dtype[np.float64]]

SYMMETRIC = 1e-9
"""M counts as symmetric if opposite entries differ by less than this fraction of the largest, at all of these states"""


@dataclass(frozen=True)
class Row:
    """One equation, left side = right side, with its label in messages."""

    label: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Given:
    """The given equations, with every name in them resolved.

    Attributes:
        source: the file, for messages.
        title: title in the file; may be empty.
        form: "equations", "M" (with f) or "accelerations".
        rows: the equations; empty for ``M``.
        M, f: entries of M a = f; empty for other forms.
        coordinates: the file's own coordinates, as expressions of the model's.
        order: coordinates of the rows and columns of M (the model's or the file's own).
        acceleration_names: of these coordinates.
        unknowns: names of further unknowns besides the accelerations.
        define: abbreviations, in topological order.
    """

    source: str
    title: str
    form: str
    rows: tuple[Row, ...]
    M: tuple[tuple[Expression, ...], ...]
    f: tuple[Expression, ...]
    coordinates: dict[str, Expression]
    order: tuple[str, ...]
    acceleration_names: tuple[str, ...]
    unknowns: tuple[str, ...]
    define: dict[str, Expression]

    def refuse(self, entry: str, cause: str) -> NoReturn:
        """Raises UsageError with the names of file and entry."""
        refuse(self.source, entry, cause)


def refuse(source: str, entry: str, cause: str) -> NoReturn:
    """Raises UsageError with the names of file and entry."""
    raise UsageError(f"{source}: {entry}: {cause}" if entry else f"{source}: {cause}")


def written_equations(
    given: Given,
    base: Equations,
    speed_of: Sequence[int],
    samples: Sequence[Array],
    rewrite: Callable[[Model], Equations],
) -> Equations:
    """The equations of a model with M and f replaced by those given.

    Args:
        given: the equations, linear in the accelerations and unknowns.
        base: equations of the model in the joints' coordinates.
        speed_of: index of the speed of every coordinate, -1 if it has none.
        samples: factors of accelerations and unknowns at some states, shape (states, rows, unknowns) each, which show
            whether they form a symmetric matrix and by which entries to divide.
        rewrite: the same equations for a changed model.

    Raises:
        NotSupported: the factors of the accelerations depend on speeds or inputs.
    """
    rows = WrittenRows(given, base, speed_of)
    A, b = rows.rows()
    A, b, reduced = rows.without_unknowns(A, b, samples)
    rows.refuse_speeds(A)
    A, b = rows.positive(A, b, reduced)
    f = [rows.tape.keep(-se.sympify(x), "given__f") for x in b]
    return replace(
        base,
        formulation="given equations",
        definitions=(*base.definitions, *rows.tape.definitions.items()),
        M=tuple(map(tuple, A)),
        parts=Rows(free=_parts(base, f), driven=base.parts.driven),
        transmitted=(),
        written=Written(given.source, rewrite),
    )


def _parts(base: Equations, f: list[Expr]) -> dict[str, tuple[Expr, ...]]:
    """f with the model's dissipation and applied loads as separate parts: the energy account integrates their power."""
    kept = {name: base.parts.free[name] for name in ("dissipation", "applied")}
    rest = tuple(se.Add(x, *[-loads[k] for loads in kept.values() if not is_zero(loads[k])]) for k, x in enumerate(f))
    return {name: (0,) * len(f) for name in PARTS} | {"inertia": rest} | kept


class WrittenRows:
    """The given rows as A x + b = 0 in symbols; x (``unknowns``) are the model's accelerations, then other unknowns."""

    def __init__(self, given: Given, base: Equations, speed_of: Sequence[int]) -> None:
        """``speed_of`` is the index of the speed of every coordinate of ``base``; -1 if it has none."""
        self.given, self.base, self.speed_of, self.tape = given, base, speed_of, Tape()
        others = (se.Symbol(f"{name}'unknown") for name in given.unknowns)
        self.unknowns = (*base.acceleration_symbols, *others)

    def rows(self) -> tuple[list[list[Expr]], list[Expr]]:
        """A and b of all rows."""
        names = self._names()
        for name, expression in self.given.define.items():
            b, A = self._split(translate(expression, names))
            hint = f"given__{name}"
            parts = [self.tape.name(x, hint) * s for x, s in zip(A, self.unknowns, strict=True) if not is_zero(x)]
            names[name] = se.Add(self.tape.name(b, hint), *parts)
        if self.given.form == "M":
            return self._mass_form(names)
        split = [self._split(translate(row.left, names) - translate(row.right, names)) for row in self.given.rows]
        return [A for _, A in split], [b for b, _ in split]

    def _mass_form(self, names: Mapping[str, Expr]) -> tuple[list[list[Expr]], list[Expr]]:
        """B^T M B and -B^T f, where B leads from the accelerations of the model to those of the file."""
        n = len(self.given.order)
        B = [self._split(names[name])[1] for name in self.given.acceleration_names]
        M = [[translate(x, names) for x in row] for row in self.given.M]
        f = [translate(x, names) for x in self.given.f]
        MB = [[total(M[i][k] * B[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
        A = [[total(B[k][i] * MB[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
        return A, [-total(B[k][i] * f[k] for k in range(n)) for i in range(n)]

    def _split(self, expression: Expr) -> tuple[Expr, list[Expr]]:
        """Constant part and factors of an expression that is linear in the unknowns."""
        expression, none = se.sympify(expression), [se.S.Zero] * len(self.unknowns)
        used = expression.free_symbols & set(self.unknowns)
        if not used:
            return expression, none
        # Derivatives would leave conditions such as (0 if x > 0 else 0) in terms without unknowns.
        if expression.is_Add:
            parts = [self._split(term) for term in expression.args]
            return total(b for b, _ in parts), [total(column) for column in zip(*(A for _, A in parts), strict=True)]
        if expression.is_Mul:
            held = [x for x in expression.args if not x.free_symbols & used]
            moved = [x for x in expression.args if x.free_symbols & used]
            if held and len(moved) == 1:
                b, A = self._split(moved[0])
                return se.Mul(b, *held), [se.Mul(x, *held) for x in A]
        constant = expression.subs(dict.fromkeys(used, se.S.Zero))
        return constant, [expression.diff(x) if x in used else se.S.Zero for x in self.unknowns]

    def _names(self) -> dict[str, Expr]:
        """The meaning of every name except abbreviations."""
        eq = self.base
        names: dict[str, Expr] = {str(s): s for s in (*eq.p, *eq.u)} | {"t": eq.t}
        model: dict[str, Expr] = {c.name: q for c, q in zip(eq.coordinates, eq.q, strict=True)}
        for speed, v, a in zip(eq.speeds, eq.v, self.unknowns, strict=False):
            model |= {speed.name: v, acceleration_name(speed.name): a}
        others = dict(zip(self.given.unknowns, self.unknowns[len(eq.v) :], strict=True))
        own: dict[str, Expr] = {}
        for name, expression in self.given.coordinates.items():
            value = translate(expression, {**names, **model})
            by = [(value.diff(q), k) for q, k in zip(eq.q, self.speed_of, strict=True) if k >= 0]
            own |= {
                name: value,
                f"{name}_dot": total(x * eq.v[k] for x, k in by),
                f"{name}_ddot": total(x * self.unknowns[k] for x, k in by),
            }
        return names | model | others | own

    def without_unknowns(
        self, A: list[list[Expr]], b: list[Expr], samples: Sequence[Array]
    ) -> tuple[list[list[Expr]], list[Expr], list[Array]]:
        """The rows with unknowns other than accelerations eliminated.

        Each step divides by the entry that stays farthest from zero over the sample states, relative to its row.
        """
        n = len(self.base.v)
        A, b, found = [list(row) for row in A], list(b), [np.array(x) for x in samples]
        left = list(range(n, n + len(self.given.unknowns)))
        while left:
            least = np.min([_pivots(x)[:, left] for x in found], axis=0)
            row, at = np.unravel_index(int(np.argmax(least)), least.shape)
            column, pivot = left.pop(int(at)), A[int(row)]
            for i, other in enumerate(A):
                if i == row or is_zero(other[column]):
                    continue
                factor = self.tape.keep(other[column] / pivot[column], "given__factor")
                for j in range(len(other)):
                    other[j] = self.tape.keep(se.sympify(other[j] - factor * pivot[j]), "given__reduced")
                other[column] = se.S.Zero
                b[i] = self.tape.keep(se.sympify(b[i] - factor * b[int(row)]), "given__reduced")
            found = [_eliminated(x, int(row), column) for x in found]
            del A[int(row)], b[int(row)]
        return [row[:n] for row in A], b, [x[:, :, :n] for x in found]

    def refuse_speeds(self, A: list[list[Expr]]) -> None:
        """Raises NotSupported if a factor of an acceleration depends on speeds or inputs."""
        eq = self.base
        bits = {str(s): self.tape.bit(s) for s in (*eq.v, *eq.u)}
        for k, row in enumerate(A, 1):
            reach = 0
            for x in row:
                for symbol in self.tape.symbols(se.sympify(x)):
                    reach |= self.tape.reach(symbol)
            found = [name for name, bit in bits.items() if reach & bit]
            if found:
                raise NotSupported(refusals.FACTORS_OF_SPEEDS, source=self.given.source, row=k, name=found[0])

    def positive(self, A: list[list[Expr]], b: list[Expr], samples: list[Array]) -> tuple[list[list[Expr]], list[Expr]]:
        """A and b with A symmetric and positive definite: as they are, negated, or multiplied by A^T."""
        every = np.concatenate(samples)
        size = np.abs(every).max(axis=(1, 2), keepdims=True)
        if np.all(np.abs(every - np.swapaxes(every, -1, -2)) <= SYMMETRIC * size):
            values = np.linalg.eigvalsh(every)
            if np.all(values > 0):
                return A, b
            if np.all(values < 0):
                return [[-x for x in row] for row in A], [-x for x in b]
        n = len(A)
        A = [[self.tape.keep(se.sympify(x), "given__M") for x in row] for row in A]
        square = [
            [self.tape.keep(total(A[k][i] * A[k][j] for k in range(n)), "given__MM") for j in range(n)]
            for i in range(n)
        ]
        return square, [total(A[k][i] * b[k] for k in range(n)) for i in range(n)]


def _pivots(A: Array) -> Array:
    """The least size of every entry over the states, relative to the largest entry of its row."""
    size = np.abs(A).max(axis=2, keepdims=True)
    return np.asarray((np.abs(A) / np.where(size > 0, size, 1.0)).min(axis=0))


def _eliminated(A: Array, row: int, column: int) -> Array:
    """One step of Gaussian elimination at all states, without the row of the pivot."""
    factor = A[:, :, column] / A[:, row, column][:, None]
    reduced = A - factor[:, :, None] * A[:, row][:, None, :]
    return np.delete(reduced, row, axis=1)
