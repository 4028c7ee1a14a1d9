"""Equations as SymPy matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se

from pendula.equations.derive import HasEquations, equations_of
from pendula.equations.equations import Equations
from pendula.equations.matrix import entries
from pendula.equations.printing.form import Form, used_intermediates
from pendula.model.model import Model
from pendula.words import readable


@readable
@dataclass(frozen=True)
class SympyEquations:
    """Equations of motion as SymPy matrices; see :func:`to_sympy`.

        q' = qdot      M v' = f + G^T lam      g = 0      G v = b      G v' = c

    Attributes:
        t: the time.
        q, v, u, p: columns of coordinates, speeds, inputs and parameters.
        lam: a column of multipliers, one for each row of G.
        M, f, qdot, G, c, g, b: the blocks above; expressions of the symbols and of the names in ``definitions``.
        kinetic, potential: energies.
        definitions: named intermediates, each an expression of symbols and earlier names; empty for small equations.
        values: of the parameters, by their symbols.

    Example:
        >>> import pendula
        >>> pendula.exchange.to_sympy("pendulum", "lagrange").M
        Matrix([[l**2*m/3]])
    """

    model: Model
    formulation: str
    t: Any
    q: Any
    v: Any
    u: Any
    p: Any
    lam: Any
    M: Any
    f: Any
    qdot: Any
    G: Any
    c: Any
    g: Any
    b: Any
    kinetic: Any
    potential: Any
    definitions: tuple[tuple[Any, Any], ...]
    values: dict[Any, float]

    def __str__(self) -> str:
        names = f", {len(self.definitions)} named intermediates" if self.definitions else ""
        return f"{self.model.name}: SymPy equations by {self.formulation}, M {self.M.rows} x {self.M.cols}{names}"


def to_sympy(
    model: Model | Equations | HasEquations | str,
    formulation: str | None = None,
    *,
    dynamic: bool = False,
    inline: bool | None = None,
) -> SympyEquations:
    """Equations of motion as SymPy matrices with readable symbols.

    Small equations come simplified and without named intermediates; those of others keep them, since they would fill
    pages otherwise.

    Args:
        model: a model, equations, a system, or the name of a library mechanism.
        formulation: the one that derives the equations; default: Kane's for a model; a system keeps its equations.
        dynamic: coordinates, speeds and inputs are functions of time, as ``sympy.physics.mechanics.dynamicsymbols``
            makes them; otherwise they are plain symbols.
        inline: whether to replace named intermediates by their definitions; default: in small equations.

    Example:
        >>> import pendula
        >>> equations = pendula.exchange.to_sympy("double-pendulum", "lagrange", dynamic=True)
        >>> equations.M[0, 1]
        l**2*m*cos(theta1(t) - theta2(t))/2
    """
    import sympy

    eq = equations_of(model, "to_sympy", formulation, in_symbols=True)
    form = Form(eq)
    inline = form.small if inline is None else inline
    time = sympy.Symbol("t")
    moving = {str(s) for s in (*eq.q, *eq.v, *eq.u)} if dynamic else set()

    def plain(e: Any) -> Any:
        shown = form(e) if form.small else (eq.inline(e) if inline else form(e))
        found = sympy.sympify(shown)
        return found.xreplace({s: _symbol(s.name) for s in found.free_symbols})

    def _symbol(name: str) -> Any:
        if name in moving:
            return sympy.Function(name)(time)
        return time if name == "t" else sympy.Symbol(name)

    def column(entries: Sequence[Any]) -> Any:
        return sympy.Matrix(len(entries), 1, [plain(e) for e in entries])

    def named(symbols: Sequence[Any]) -> Any:
        return sympy.Matrix(len(symbols), 1, [_symbol(str(s)) for s in symbols])

    n, m = len(eq.v), eq.loop_rows
    M = sympy.Matrix(n, n, [plain(eq.M[i][j]) for i in range(n) for j in range(n)])
    G = sympy.Matrix(m, n, [plain(eq.G[r][j]) for r in range(m) for j in range(n)])
    if form.small:  # the printed parts are shorter than their sum written anew
        rows = list(zip(*eq.parts.free.values(), strict=True))
        f = sympy.Matrix(n, 1, [sympy.Add(*(plain(x) for x in row)) for row in rows])
    else:
        f = column(eq.f)
    multipliers = [sympy.Symbol(f"lambda_{r + 1}") for r in range(m)]
    printed = [x for matrix in (eq.M, eq.G) for _, _, x in entries(matrix)]
    printed += [*eq.f, *eq.qdot, *eq.c, *eq.g, *eq.b, eq.kinetic, eq.potential]
    shown = [] if inline else used_intermediates(eq, printed)
    values = eq.model.parameter_values
    return SympyEquations(
        eq.model,
        eq.formulation,
        time,
        q=named(eq.q),
        v=named(eq.v),
        u=named(eq.u),
        p=named(eq.p),
        lam=sympy.Matrix(m, 1, multipliers),
        M=M,
        f=f,
        qdot=column(eq.qdot),
        G=G,
        c=column(eq.c),
        g=column(eq.g),
        b=column(eq.b),
        kinetic=plain(eq.kinetic),
        potential=plain(eq.potential),
        definitions=tuple((_symbol(str(s)), plain(se.sympify(e))) for s, e in shown),
        values={_symbol(str(s)): float(values[str(s)]) for s in eq.p},
    )
