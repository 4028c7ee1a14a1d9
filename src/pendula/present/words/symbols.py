"""Symbolic linear models as text and as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pendula.equations.printing.latex import LATEX, latex_name
from pendula.equations.printing.names import parts_of_name
from pendula.equations.printing.text import as_text
from pendula.equations.printing.walk import Writer
from pendula.equations.small_motion.model import SymbolicModel
from pendula.equations.small_motion.terms import CONSTANT, DROPPED, LINEARIZED, Term
from pendula.errors import NotSupported
from pendula.present.words.tables import number, wrapped

LONGEST = 1500
"""characters of the conditions that are printed"""


def symbolic_text(found: SymbolicModel, at: Mapping[str, Any]) -> str:
    """Matrices entry by entry, the characteristic polynomial and the conditions for stability."""
    where = (
        ", ".join(f"{n} = {x if isinstance(x, str) else number(x)}" for n, x in at.items()) or "all coordinates zero"
    )
    lines = [_line(f"at {where}"), f"e: changes of {', '.join(found.coordinates)}", ""]
    for name in ("M", "C", "K", "F"):
        X = getattr(found, name)
        if X.is_zero_matrix:
            lines += [f"{name} = 0"] if X.cols else []
            continue
        for i in range(X.rows):
            lines += [_line(f"{name}[{i + 1},{j + 1}] = {as_text(X[i, j])}") for j in range(X.cols) if X[i, j] != 0]
    lines += [""]
    with suppress(NotSupported):
        lines += [_line(f"characteristic polynomial: {as_text(found.polynomial.as_expr())}"), ""]
    lines += [_line(x) for x in _verdicts(found)]
    lines += found.left_out
    lines += _constants(found)
    if not found.left.is_zero_matrix:
        must = " and ".join(f"{x} = 0" for x in found.left if x != 0)
        lines.append(_line(f"an equilibrium only if {must}"))
    if found.assumed:
        lines.append(_line(f"assumed positive: {', '.join(found.assumed)}"))
    return "\n".join(lines)


def _verdicts(found: SymbolicModel) -> list[str]:
    """The conditions for stability, and the borders of damping."""
    verdicts = []
    with suppress(NotSupported):
        conditions = found.stable_if
        if len(conditions) > LONGEST:
            conditions = f"the condition for stability has {len(conditions)} characters, too many to read"
        verdicts.append(conditions)
    with suppress(NotSupported):
        verdicts += [found.damping] if found.damping else []
    return verdicts


def _constants(found: SymbolicModel) -> list[str]:
    """Values at the point that are known in numbers only, and changes of dependent coordinates."""
    lines = []
    for name, value in found.constants.items():
        defined = f" = {found.definitions[name]}" if name in found.definitions else ""
        lines.append(_line(f"{name}{defined} = {value:.9g}"))
    return [*lines, *(_line(f"d_{name} = {as_text(x)}") for name, x in found.dependent.items())]


def symbolic_data(found: SymbolicModel) -> dict[str, Any]:
    """The linear model as plain strings."""
    polynomial = conditions = damping = None
    with suppress(NotSupported):
        polynomial = as_text(found.polynomial.as_expr())
    with suppress(NotSupported):
        conditions = [str(x) for x in found.conditions]
    with suppress(NotSupported):
        damping = found.damping
    return {
        "coordinates": list(found.coordinates),
        "inputs": list(found.inputs),
        **{n: [[as_text(x) for x in row] for row in getattr(found, n).tolist()] for n in ("M", "C", "K", "F")},
        "polynomial": polynomial,
        "conditions": conditions,
        "damping": damping,
        "left_out": list(found.left_out),
        "left": [str(x) for x in found.left],
        "positive": list(found.assumed),
        "constants": dict(found.constants),
        "definitions": {name: as_text(x) for name, x in found.definitions.items()},
        "dependent": {name: as_text(x) for name, x in found.dependent.items()},
    }


# -- term by term -----------------------------------------------------------------------------------------------


def terms_text(found: SymbolicModel) -> str:
    """Every term of the equations of motion: kept, linearized to what, or dropped, and why."""
    lines = ["Each quantity is its value at the point plus a small change: d_NAME is the"]
    lines += ["change of NAME; accelerations are small. Order k: product of k small changes."]
    for equation in found.equations:
        lines += ["", _line(f"{equation.name}: sum of these terms = 0")]
        for term in equation.terms:
            lines.append(_line(f"  {term.term}"))
            lines.append(wrapped(_became(term), "      ", first="    "))
        lines.append(wrapped(f"linear: {equation.linear} = 0", "      ", first="  "))
    return "\n".join(lines)


def _became(term: Term) -> str:
    constant = f" + constant {term.constant}" if term.constant != 0 else ""
    if term.kind == DROPPED:
        return f"dropped, {term.reason}"
    if term.kind == LINEARIZED:
        return f"linearized to {term.linear}{constant}: {term.reason}"
    if term.kind == CONSTANT:
        return f"constant {term.constant}: {term.reason}"
    return f"kept: {term.reason}"


def terms_data(found: SymbolicModel) -> list[dict[str, Any]]:
    """Every term of the equations as plain strings."""
    return [
        {
            "equation": equation.name,
            "linear": str(equation.linear),
            "terms": [
                {
                    "term": str(t.term),
                    "part": t.part,
                    "kind": t.kind,
                    "constant": str(t.constant),
                    "linear": str(t.linear),
                    "dropped_order": t.order,
                    "dropped": str(t.rest),
                    "reason": t.reason,
                }
                for t in equation.terms
            ],
        }
        for equation in found.equations
    ]


def terms_latex(found: SymbolicModel) -> str:
    """Every term of the equations as LaTeX: one ``align*`` environment for each equation."""
    write = Writer(LATEX, spell=_change).write
    blocks = []
    for equation in found.equations:
        rows = []
        for t in equation.terms:
            to = {DROPPED: "0", CONSTANT: write(t.constant)}.get(t.kind, write(t.linear + t.constant))
            order = rf"\text{{{t.kind}; order {t.order} dropped}}" if t.order else rf"\text{{{t.kind}}}"
            rows.append(rf"{write(t.term)} &\to {to} && {order}")
        rows.append(rf"\Rightarrow \quad {write(equation.linear)} &= 0")
        blocks.append("\n".join([f"% {equation.name}", r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"]))
    return "\n".join(blocks)


def _change(name: str) -> str:
    """A name of the equations: ``d_NAME`` as a change Delta NAME, and primes as dots."""
    if name.startswith("d_"):
        return rf"\Delta {latex_name(name.removeprefix('d_'))}"
    for prime, dots in (("''", r"\ddot"), ("'", r"\dot")):
        if name.endswith(prime):
            letter, indices, _ = parts_of_name(name.removesuffix(prime))
            plain = LATEX.symbol(letter, ())
            below = LATEX.symbol(letter, indices).removeprefix(plain)
            return rf"{dots}{{{plain}}}{below}"
    return latex_name(name)


def _line(text: str) -> str:
    return wrapped(text, "    ")
