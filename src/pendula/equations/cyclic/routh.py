"""Routh's reduction: equations of the other coordinates, with the momenta of cyclic coordinates as parameters.

With the speeds split into those of cyclic coordinates (c) and the others (r), the momenta p = B v_r + D v_c are
constant, so v_c = D^-1 (p - B v_r) and (A - B^T D^-1 B) v_r' = f_r - B^T D^-1 f_c. The kinetic energy is that of the
reduced mass matrix plus p^T D^-1 p / 2, which acts as a potential (Routh 1877; Goldstein, section 8.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import symengine as se

from pendula.equations import refusals
from pendula.equations.equations import Equations, Rows
from pendula.equations.matrix import entries
from pendula.equations.tape import Expr, substituted
from pendula.equations.vectors import total
from pendula.errors import NotSupported
from pendula.model.model import Model

LARGEST = 1500
"""largest number of characters of a momentum, before it is simplified, that is written out"""


def momentum_name(coordinate: str) -> str:
    """The name of the momentum of a coordinate."""
    return f"p_{coordinate}"


@dataclass(frozen=True)
class _Split:
    """Equations with the speeds split into those of cyclic coordinates (c) and the others (r), at zero angles of c.

    Attributes:
        B, inverse: blocks of the mass matrix: rows c and columns r, and D^-1.
        ratio: D^-1 B.
        mass: A - B^T D^-1 B.
        named: definitions of the entries of D^-1.
        rates: v_c.
    """

    r: list[int]
    c: list[int]
    zero: dict[Any, Any]
    definitions: list[tuple[Any, Expr]]
    named: list[tuple[Any, Expr]]
    inverse: list[list[Expr]]
    ratio: list[list[Expr]]
    mass: list[list[Expr]]
    rates: list[Expr]
    momenta: list[Any]

    @classmethod
    def of(cls, eq: Equations, cyclic: Sequence[str]) -> _Split:
        names, speeds = [q.name for q in eq.coordinates], [s.name for s in eq.speeds]
        c = [speeds.index(f"{name}_dot") for name in cyclic]
        r = [k for k in range(len(speeds)) if k not in c]
        zero: dict[Any, Any] = {eq.q[names.index(name)]: se.Integer(0) for name in cyclic}
        definitions = []
        for symbol, expression in eq.definitions:
            found = substituted(expression, zero)
            if isinstance(found, se.Number):
                zero[symbol] = found  # sine and cosine of an ignored angle
            else:
                definitions.append((symbol, found))
        n = len(speeds)
        M: list[list[Expr]] = [[0] * n for _ in range(n)]
        for i, j, x in entries(eq.M):
            M[i][j] = se.expand(substituted(x, zero))
        momenta = [se.Symbol(momentum_name(name)) for name in cyclic]
        inverse, named = _inverse([[M[i][j] for j in c] for i in c], [str(p) for p in momenta])
        B, v_r, many = [[M[i][j] for j in r] for i in c], [eq.v[k] for k in r], range(len(c))
        left = [p - total(b * v for b, v in zip(row, v_r, strict=True)) for p, row in zip(momenta, B, strict=True)]
        rates = [total(x * y for x, y in zip(row, left, strict=True)) for row in inverse]
        ratio = [[total(inverse[a][b] * B[b][y] for b in many) for y in range(len(r))] for a in many]
        mass = [
            [M[i][j] - total(B[a][x] * ratio[a][y] for a in many) for y, j in enumerate(r)] for x, i in enumerate(r)
        ]
        return cls(r, c, zero, definitions, named, inverse, ratio, mass, rates, momenta)

    def reduced(self, rows: Sequence[Expr]) -> tuple[Expr, ...]:
        """Rows of forces, f_r - B^T D^-1 f_c."""
        given = [substituted(x, self.zero) for x in rows]
        return tuple(
            given[i] - total(self.ratio[a][x] * given[k] for a, k in enumerate(self.c)) for x, i in enumerate(self.r)
        )


def routh_equations(eq: Equations, cyclic: Sequence[str], model: Model, *, follow: bool = False) -> Equations:
    """The equations without some cyclic coordinates.

    Args:
        eq: equations in the joints' coordinates, without loops.
        cyclic: coordinates that no mass and no force depends on.
        model: the mechanism with a parameter ``p_phi`` for every cyclic coordinate ``phi``.
        follow: keep the cyclic coordinates in q, with their rates but without speeds.
    """
    if eq.loop_rows or eq.nodes:
        raise NotSupported(refusals.ROUTH_OF_LOOPS)
    if eq.drives:
        raise NotSupported(refusals.ROUTH_OF_MOTIONS)
    split = _Split.of(eq, cyclic)
    zero = split.zero
    still, moving = _by_speeds(split.definitions, eq.v)
    own = list(zip([eq.v[k] for k in split.c], split.rates, strict=True))
    v_r, names = [eq.v[k] for k in split.r], [q.name for q in eq.coordinates]
    kept = [k for k, name in enumerate(names) if follow or name not in cyclic]
    kinetic = total(x * v_r[i] * v_r[j] / 2 for i, row in enumerate(split.mass) for j, x in enumerate(row))
    many = range(len(split.c))
    held = total(split.inverse[a][b] * split.momenta[a] * split.momenta[b] / 2 for a in many for b in many)
    parts = {name: split.reduced(part) for name, part in eq.parts.free.items()}
    gone = [k for k in range(len(names)) if k not in kept]
    return replace(
        eq,
        model=model,
        definitions=(*still, *split.named, *own, *moving),
        q=tuple(eq.q[k] for k in kept),
        v=tuple(v_r),
        p=tuple(se.Symbol(name) for name in model.parameters),
        qdot=tuple(substituted(eq.qdot[k], zero) for k in kept),
        M=tuple(tuple(row) for row in split.mass),
        parts=Rows(free=parts, driven={name: () for name in parts}),
        g=tuple(substituted(x, zero) for x in eq.g),
        kinetic=kinetic,
        potential=substituted(eq.potential, zero) + held,
        jacobi=None,
        poses={
            body: (
                tuple(tuple(substituted(x, zero) for x in row) for row in R),
                tuple(substituted(x, zero) for x in place),
            )
            for body, (R, place) in eq.poses.items()
        },
        coordinates=tuple(eq.coordinates[k] for k in kept),
        speeds=tuple(eq.speeds[k] for k in split.r),
        quaternions=tuple(
            at._replace(
                first=at.first - sum(k < at.first for k in gone), speed=at.speed - sum(k < at.speed for k in split.c)
            )
            for at in eq.quaternions
        ),
        transmitted=(),
    )


def momentum_text(eq: Equations, coordinate: str, sign: int = 1) -> str:
    """The momentum of a coordinate times a sign as a formula; empty if it is too long to read.

    The rates of prescribed motions carry momentum, too; the mass matrix is symmetric, so their rows give these columns.
    """
    from pendula.equations.printing.tidy import tidy

    k = [s.name for s in eq.speeds].index(f"{coordinate}_dot")
    terms = [x * eq.v[j] for i, j, x in entries(eq.M) if i == k]
    terms += [x * eq.drives[d].rate for d, j, x in entries(eq.drive_M) if j == k]
    table: dict[Any, Any] = {}
    for symbol, expression in eq.definitions:
        table[symbol] = substituted(expression, table)
        if len(str(table[symbol])) > LARGEST:
            return ""
    found = se.expand(sign * substituted(total(terms), table))
    if len(str(found)) > LARGEST:
        return ""
    import sympy

    forms = [sympy.factor_terms(sympy.trigsimp(found._sympy_())), tidy(found, eq.v)]
    return str(min(forms, key=lambda e: e.count_ops()))


def _inverse(D: list[list[Expr]], hints: list[str]) -> tuple[list[list[Expr]], list[tuple[Any, Expr]]]:
    """The inverse of the mass matrix of cyclic coordinates, with names for its entries."""
    n = len(D)
    named: list[tuple[Any, Expr]] = []
    if n == 1:
        found = [[1 / se.sympify(D[0][0])]]
    elif n == 2:
        det = se.Symbol("det__momenta")
        named.append((det, se.expand(D[0][0] * D[1][1] - D[0][1] * D[1][0])))
        found = [[D[1][1] / det, -D[0][1] / det], [-D[1][0] / det, D[0][0] / det]]
    else:
        whole = se.DenseMatrix(n, n, [x for row in D for x in row]).inv()
        found = [[whole[i, j] for j in range(n)] for i in range(n)]
    rows: list[list[Expr]] = []
    for i in range(n):
        symbols = [se.Symbol(f"inverse__{hints[i]}_{hints[j]}") for j in range(n)]
        named += zip(symbols, found[i], strict=True)
        rows.append(list(symbols))
    return rows, named


def _by_speeds(
    definitions: list[tuple[Any, Expr]], speeds: Sequence[Any]
) -> tuple[list[tuple[Any, Expr]], list[tuple[Any, Expr]]]:
    """Definitions that do not depend on speeds, and those that do, each in order."""
    moving = set(speeds)
    still, others = [], []
    for symbol, expression in definitions:
        if se.sympify(expression).free_symbols & moving:
            moving.add(symbol)
            others.append((symbol, expression))
        else:
            still.append((symbol, expression))
    return still, others
