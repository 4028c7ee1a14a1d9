"""Writes equations as text in 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import symengine as se

from pendula.equations.equations import PARTS, Equations
from pendula.equations.matrix import entries
from pendula.equations.printing.counts import count
from pendula.equations.printing.form import WORDS, Form, count_printed
from pendula.equations.printing.names import block_names
from pendula.equations.tape import is_zero


def write_text(eq: Equations) -> str:
    """Equations as text in 80 columns."""
    units = eq.model.unit_names
    lines = [f"{eq.model.name}: equations of motion by {eq.formulation}", ""]
    lines += _listing("coordinates", [f"{c.name} [{units.coordinate(c.kind) or '1'}]" for c in eq.coordinates])
    lines += _listing("speeds", [f"{s.name} [{units.speed(s.kind)}]" for s in eq.speeds])
    lines += _listing("inputs", [str(s) for s in eq.u])
    lines += _listing("parameters", [f"{n} = {v:g}" for n, v in eq.model.parameter_values.items()])
    form, block = Form(eq), text_names(eq)
    M, f, v = block["M"], block["f"], block["v"]

    def show(e: Any) -> str:
        return as_text(form(e))

    if not form.small:
        lines += ["", f"named intermediates ({len(form.definitions)}):", *_legend(form.definitions)]
        lines += [f"  {symbol} = {show(e)}" for symbol, e in form.definitions]
    reaction = f" + {block['G']}^T {block['lambda']}" if eq.G else ""
    lines += ["", f"{M} {v}' = {f}{reaction}, {f} = the sum of the parts below", ""]
    for i, j, x in entries(eq.M):
        if j <= i and (text := show(x)) != "0":
            lines.append(f"{M}[{eq.v[i]}, {eq.v[j]}] = {text}")
    for part in PARTS:
        rows = [(s, show(x)) for s, x in zip(eq.v, eq.parts.free[part], strict=True) if not is_zero(x)]
        rows = [(s, text) for s, text in rows if text != "0"]
        if rows:
            lines += ["", f"{f}, {WORDS[part]}:"]
            lines += [f"  {f}[{s}] = {text}" for s, text in rows]
    if eq.other_rates:
        lines += ["", "rates of coordinates that are not speeds:"]
        lines += [f"  {q}' = {show(rate)}" for q, rate in eq.other_rates]
    if eq.drives:
        lines += ["", "prescribed motions:"]
        lines += [f"  {d.name} = {d.value}" for d in eq.drives]
    lines += _constraint_lines(eq, block, show)
    own = [(name, text) for name, text in ((n, show(e)) for n, e in eq.readings.items()) if name != text]
    if own:
        lines += ["", "joint coordinates and speeds from those of the bodies:"]
        lines += [f"  {name} = {text}" for name, text in own]
    lines += ["", *_sizes(eq)]
    return "\n".join(_wrapped(line) for line in lines)


def as_text(e: Any) -> str:
    """A SymPy or SymEngine expression as text; SymPy alone would pad numbers with zeros to 15 digits.

    Example:
        >>> import sympy as sp
        >>> as_text(sp.Float(0.285) * sp.Symbol("x"))
        '0.285*x'
    """
    if isinstance(e, se.Basic):
        return str(e)
    from sympy.printing.str import sstr

    return str(sstr(e, full_prec=False))


def _constraint_lines(eq: Equations, block: Mapping[str, str], show: Callable[[Any], str]) -> list[str]:
    """Every constraint by its name, with its rows of g, G, b and c."""
    if not eq.g:
        return []
    g, G, b, c, v = (block[name] for name in "gGbcv")
    rates = f", {G} {v} = {b}, {G} {v}' = {c}, each with a multiplier" if eq.G else ""
    title = f"constraints {g} = 0{rates}:"
    lines = ["", title]
    slopes: dict[int, list[str]] = {}
    for r, k, x in entries(eq.G):
        slopes.setdefault(r, []).append(f"    {G}[{r + 1}, {eq.v[k]}] = {show(x)}")
    for r, (name, gap) in enumerate(zip(eq.constraint_names, eq.g, strict=True)):
        multiplier = "" if r < eq.loop_rows or not eq.G else " (no multiplier: q' preserves it)"
        lines += [f"  {r + 1}. {name}{multiplier}", f"    {g}[{r + 1}] = {show(gap)}", *slopes.get(r, [])]
        if r < eq.loop_rows:
            lines += [] if is_zero(eq.b[r]) else [f"    {b}[{r + 1}] = {show(eq.b[r])}"]
            lines.append(f"    {c}[{r + 1}] = {show(eq.c[r])}")
    return lines


_PREFIXES = {
    "c": "a cosine",
    "s": "a sine",
    "R": "a rotation matrix",
    "r": "a position",
    "w": "an angular velocity",
    "gap": "a gap",
}


def _legend(used: Sequence[tuple[Any, Any]]) -> list[str]:
    """Explains the prefixes of the intermediates in use."""
    found = {str(symbol).partition("__")[0] for symbol, _ in used if "__" in str(symbol)}
    known = [f"{letter}__ {word}" for letter, word in _PREFIXES.items() if letter in found]
    return [f"  ({', '.join(known)}, of the following)"] if known else []


def _wrapped(line: str) -> str:
    """A long line broken at spaces, so that it fits 80 columns."""
    if len(line) <= 80:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    pieces = textwrap.wrap(line, 80, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(pieces)


def _sizes(eq: Equations) -> list[str]:
    sizes, printed, M = count(eq), count_printed(eq), block_names(eq)["M"]
    return [
        f"size: {printed.terms} terms and {printed.operations} operations as printed (one half of {M});",
        f"      {sizes.operations_shared} as derived, with shared parts computed once",
    ]


def _listing(title: str, items: Sequence[str]) -> list[str]:
    """Items in rows of at most 78 columns."""
    if not items:
        return []
    lines, row = [], f"  {title}: "
    for k, item in enumerate(items):
        piece = item + (", " if k < len(items) - 1 else "")
        if len(row) + len(piece) > 78:
            lines.append(row.rstrip())
            row = "    "
        row += piece
    return [*lines, row.rstrip()]


def text_names(eq: Equations) -> dict[str, str]:
    """Names of the blocks in text, where the multipliers are usually called lam."""
    names = block_names(eq)
    symbols = {str(s) for s in (*eq.q, *eq.v, *eq.u, *eq.p)}
    short = names["lambda"] == "lambda" and "lam" not in symbols
    return names | {"lambda": "lam" if short else names["lambda"]}
