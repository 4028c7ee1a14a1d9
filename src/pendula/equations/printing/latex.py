"""Writes equations as LaTeX: matrices if they fit a page, otherwise entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import symengine as se

from pendula.equations.equations import PARTS, Equations
from pendula.equations.matrix import Matrix, entries
from pendula.equations.printing.counts import count
from pendula.equations.printing.tidy import tidy
from pendula.equations.tape import is_zero
from pendula.errors import NotSupported

WIDEST = 10
"""Largest number of matrix columns that fit a page."""

MOST_OPERATIONS = 20_000
"""Largest number of operations; more would fill hundreds of pages and take minutes."""

_PARTS = dict(zip(PARTS, ("-h", r"-\gamma", "f_k", "f_c", r"\tau"), strict=True))

_GREEK_NAMES = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega
    Gamma Delta Theta Lambda Xi Sigma Upsilon Phi Psi Omega
"""
GREEK = dict(zip(_GREEK_NAMES.split(), "αβγδϵζηθικλμνξρστυϕχψωΓΔΘΛΞΣΥΦΨΩ", strict=True))
"""Greek letters by name."""

Show = Callable[[Any], str]


def write_latex(eq: Equations, used: Sequence[tuple[Any, Any]], *, small: bool) -> str:
    """The equations in an ``align*`` environment, with named intermediates unless they are small.

    Raises:
        NotSupported: the equations are far too long to read.
    """
    operations = count(eq).operations_shared
    if operations > MOST_OPERATIONS:
        raise NotSupported(
            f"equations with {operations} operations are too long for LaTeX.\n"
            "  Try: the formats text, python, c or json; fewer bodies; the formulation maximal, which is short."
        )
    show = _writer(eq, small)
    lines = [f"% {eq.model.name}: equations of motion by {eq.formulation}"]
    lines += [f"% v = ({', '.join(map(str, eq.v))})"]
    lines += [f"% row {r}: {name}" for r, name in enumerate(eq.constraint_names, 1)]
    rows = [] if small else [f"{name_of(eq, str(symbol))} &= {show(e)}" for symbol, e in used]
    rows += _matrix("M", eq.M, show)
    for part, symbol in _PARTS.items():
        if any(show(x) != "0" for x in eq.parts.free[part]):
            rows += _column(symbol, eq.parts.free[part], show)
    rows += [
        f"{name_of(eq, f'{q}_dot')} &= {show(e)}" for q, e in zip(eq.q, eq.qdot, strict=True) if str(e) != f"{q}_dot"
    ]
    rows += [f"{name_of(eq, d.name)} &= {show(d.value)}" for d in eq.drives if small]
    if eq.g:
        rows += _column("g", eq.g, show)
    if eq.G:
        rows += _matrix("G", eq.G, show)
        rows += [] if all(map(is_zero, eq.b)) else _column("b", eq.b, show)
        rows += _column("c", eq.c, show)
    rows.append(_law(eq))
    return "\n".join([*lines, r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"])


def _writer(eq: Equations, small: bool) -> Show:
    import sympy

    def show(e: Any) -> str:
        form = tidy(eq.inline(e), eq.v) if small else se.sympify(e)._sympy_()
        return str(sympy.latex(form, symbol_names={s: name_of(eq, str(s)) for s in form.free_symbols}))

    return show


def _law(eq: Equations) -> str:
    """M v' = ..., with the constraints if there are any."""
    used = [s for part, s in _PARTS.items() if not all(is_zero(x) for x in eq.parts.free[part])]
    right = " + ".join(used).replace("+ -", "- ") or "0"
    if not eq.G:
        return rf"M \dot v &= {right}"
    still = all(map(is_zero, eq.b))
    return rf"M \dot v &= {right} + G^{{T}} \lambda, \quad g = 0, \quad G v = {0 if still else 'b'}, \quad G \dot v = c"


def _matrix(name: str, matrix: Matrix, show: Show) -> list[str]:
    """A matrix in brackets, or its entries one by one if it is too wide."""
    if len(matrix[0]) <= WIDEST:
        body = r" \\ ".join(" & ".join(show(x) for x in row) for row in matrix)
        return [rf"{name} &= \begin{{bmatrix}} {body} \end{{bmatrix}}"]
    upper = name == "M"  # symmetric
    shown = [(i, j, show(x)) for i, j, x in entries(matrix) if not upper or i <= j]
    return [f"{name}_{{{i + 1},{j + 1}}} &= {text}" for i, j, text in shown]


def _column(name: str, column: Sequence[Any], show: Show) -> list[str]:
    """A column in brackets, or its entries one by one if it is too long."""
    if len(column) <= WIDEST:
        return [rf"{name} &= \begin{{bmatrix}} " + r" \\ ".join(map(show, column)) + r" \end{bmatrix}"]
    indexed = f"({name})" if name.startswith("-") or "_" in name else name
    return [f"{indexed}_{{{k}}} &= {show(x)}" for k, x in enumerate(column, 1) if not is_zero(x)]


def name_of(eq: Equations, name: str) -> str:
    """A name as LaTeX; coordinates of a body get the body as index: ``upper_x_dot`` is the rate of x of "upper"."""
    if eq.nodes and name not in eq.readings:
        start, _, ending = name.removesuffix("_dot").rpartition("_")
        if start and ending in BODY_LETTERS and "__" not in name:
            return _body_letter(name.removeprefix(f"{start}_"), _subscript(start))
    return latex_name(name)


BODY_LETTERS = {"x": "x", "y": "y", "z": "z", "theta": r"\theta"}
BODY_LETTERS |= {f"q{k}": f"q_{k}" for k in range(4)} | {f"w{axis}": rf"\omega_{axis}" for axis in "xyz"}


def _body_letter(rest: str, owner: str) -> str:
    letter, _, index = BODY_LETTERS[rest.removesuffix("_dot")].partition("_")
    letter = f"\\dot{{{letter}}}" if rest.endswith("_dot") else letter
    return f"{letter}_{{{owner},{index}}}" if index else f"{letter}_{{{owner}}}"


def latex_name(name: str) -> str:
    """theta1_dot -> \\dot{\\theta}_{1}; names of several letters are upright."""
    dotted = name.endswith("_dot")
    head, _, rest = name.removesuffix("_dot").partition("_")
    stem = head.rstrip("0123456789")
    if not stem:
        stem = head
    parts = [head[len(stem) :], *rest.split("_")]
    subscript = ",".join(_subscript(x) for x in parts if x)
    letter = _letter(stem)
    letter = f"\\dot{{{letter}}}" if dotted else letter
    return f"{letter}_{{{subscript}}}" if subscript else letter


def _letter(stem: str) -> str:
    return f"\\{stem}" if stem in GREEK else stem if len(stem) == 1 else f"\\mathrm{{{stem}}}"


def _subscript(text: str) -> str:
    """Words upright, with their underscores as commas; numbers and single letters as they are."""
    words = [w for w in text.split("_") if w]
    return ",".join(w if len(w) == 1 or w.isdigit() else _letter(w) for w in words)
