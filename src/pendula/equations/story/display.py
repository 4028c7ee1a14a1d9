"""The formulas of a story as they are shown: written out if short, otherwise with named intermediates.

Every intermediate that a formula shows is defined on the same page before it is used, so a page can be evaluated line
by line; :func:`evaluate` does that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se

from pendula.equations.equations import Equations
from pendula.equations.printing.counts import written_out
from pendula.equations.printing.latex import BARE_LATEX, LATEX, latex_name
from pendula.equations.printing.names import block_names
from pendula.equations.printing.tidy import tidy
from pendula.equations.printing.walk import Writer
from pendula.equations.simplify.factoring import positive_first
from pendula.equations.story.story import Formula, Story
from pendula.equations.tape import Expr, substituted

WRITTEN_OUT = 90
"""Largest number of operations of an entry that is shown without intermediates."""

RESULT = 400
"""The same for entries of the final equations and of their parts, which readers want to see without intermediates."""

WIDE = 40
"""A product with more operations is multiplied out once, so that lines can break between its terms."""

SHORT = 3
"""An intermediate with at most as many operations, such as a cosine, is always written out."""

MOST_TIDIED = 600_000
"""Bounds the time spent on simplification in one story: the sum of squared numbers of operations. Beyond it, formulas
appear as compiled."""


@dataclass(frozen=True)
class Shown:
    """A formula as it is shown.

    Attributes:
        formula: the formula.
        forms: its entries, SymPy expressions.
        parts: its terms by source, SymPy expressions.
        terms: TeX of these, each a sum.
        tex: its entries, TeX.
        pieces: the TeX terms of each entry's sum, with their signs, for breaking lines.
        where: the intermediates that the formula uses first: TeX of the name, TeX of the terms of the value.
        definitions: the same as symbols and SymPy expressions.
    """

    formula: Formula
    forms: tuple[tuple[Any, ...], ...]
    parts: tuple[Any, ...]
    tex: tuple[tuple[str, ...], ...]
    pieces: tuple[tuple[tuple[str, ...], ...], ...]
    terms: tuple[tuple[str, ...], ...]
    where: tuple[tuple[str, tuple[str, ...]], ...]
    definitions: tuple[tuple[Any, Any], ...]


class Display:
    """Shows the formulas of one story; each intermediate is defined where it is first used."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        self._table = {s: se.sympify(e) for s, e in equations.definitions}
        self._size: dict[Any, int] = {}
        for symbol, expression in self._table.items():
            self._size[symbol] = written_out(expression, self._size)
        self.blocks = {block: latex_name(name) for block, name in block_names(equations).items()}
        """names of the blocks of the equations, which no symbol of the model has, TeX"""
        self._writer = Writer(BARE_LATEX, equations, _Names(equations, self.blocks["lambda"]))
        self._told: set[Any] = set()
        self._inlined: dict[Any, Any] = {}
        self._tidied: dict[Any, Any] = {}
        self._left = MOST_TIDIED

    def show(self, formula: Formula) -> Shown:
        """A formula as it is shown."""
        most = RESULT if formula.key or formula.terms else WRITTEN_OUT
        forms = tuple(tuple(self.form(e, most) for e in row) for row in formula.entries)
        parts = tuple(self.form(term.value, most) for term in formula.terms)
        used = {s for form in (*(x for row in forms for x in row), *parts) for s in form.free_symbols}
        definitions = self._define(used)
        where = tuple((self.name(str(s)), self.pieces(form)) for s, form in definitions)
        return Shown(
            formula,
            forms,
            parts,
            tuple(tuple(self.tex(x) for x in row) for row in forms),
            tuple(tuple(self.pieces(x) for x in row) for row in forms),
            tuple(self.pieces(x) for x in parts),
            where,
            tuple(definitions),
        )

    # -- forms ----------------------------------------------------------------------------------

    def form(self, expression: Expr, most: int = WRITTEN_OUT) -> Any:
        """An expression as a SymPy expression: written out and simplified, or with intermediates if that is long."""
        expression = se.sympify(expression)
        size = written_out(expression, self._size)
        if size <= most:
            whole = self._inline(expression)
            if whole not in self._tidied and size**2 <= self._left:
                self._left -= size**2
                self._tidied[whole] = _in_terms(positive_first(tidy(whole, self.equations.v)))
            if whole in self._tidied:
                return self._tidied[whole]
            if size <= WRITTEN_OUT:
                return _in_terms(whole._sympy_())
        return self._partly(expression)._sympy_()

    def _inline(self, e: Any) -> Any:
        """An expression with its intermediates written out; only those that it needs, since others may be long."""
        for s in e.free_symbols:
            if s in self._table and s not in self._inlined:
                self._inlined[s] = self._inline(self._table[s])
        return substituted(e, self._inlined)

    def _partly(self, e: Any) -> Any:
        """An expression with its short intermediates written out."""
        short = [s for s in e.free_symbols if s in self._table and self._size[s] <= SHORT]
        return substituted(e, {s: self._inline(s) for s in short})

    def _define(self, used: set[Any]) -> list[tuple[Any, Any]]:
        """Definitions of those used intermediates that no earlier formula has defined, in order."""
        wanted: set[Any] = set()
        stack = [se.Symbol(str(s)) for s in used]
        while stack:
            s = stack.pop()
            if s in self._table and s not in self._told and s not in wanted:
                wanted.add(s)
                stack.extend(self._partly(self._table[s]).free_symbols)
        self._told |= wanted
        return [(s, self._partly(e)._sympy_()) for s, e in self._table.items() if s in wanted]

    # -- TeX ------------------------------------------------------------------------------------

    def tex(self, form: Any) -> str:
        """TeX of a SymPy expression."""
        return self._writer.write(form)

    def pieces(self, form: Any) -> tuple[str, ...]:
        """TeX of the terms of a sum, each but the first with its sign."""
        if not form.is_Add:
            return (self.tex(form),)
        found: list[str] = []
        for term in form.as_ordered_terms():
            text = self.tex(term)
            if found and not text.startswith("-"):
                text = f"+ {text}"
            found.append(text)
        return tuple(found)

    def name(self, name: str) -> str:
        """TeX of a symbol."""
        return self._writer.name(name)


class _Names:
    """Names in stories: accelerations get two dots, multipliers are counted from 1."""

    def __init__(self, equations: Equations, multiplier: str) -> None:
        self._plain = Writer(LATEX, equations).name
        self._multiplier = multiplier
        self._turning = {
            c.name for j in equations.model.tree if j.quaternion() for c in (*j.coordinates(), *j.speeds())
        }

    def __call__(self, name: str) -> str:
        """A name of the equations, TeX."""
        if name.startswith("lam'"):
            return rf"{self._multiplier}_{{{int(name[4:]) + 1}}}"
        if name.endswith("'"):
            return _dotted(self(name[:-1]))
        if name in self._turning and (found := re.fullmatch(r"(\w+)_([qw])([0-3xyz])", name)):
            letter = "q" if found[2] == "q" else "omega"  # a component of a quaternion or of an angular velocity
            return self._plain(f"{letter}_{found[1]}_{found[3]}")
        if name.endswith("__ddot"):
            return _dotted(self._plain(name.removesuffix("__ddot") + "_dot"))
        if name.endswith("_dt") and "__" in name and "_per_" not in name:  # a time derivative at constant speeds
            return _dotted(self(name.removesuffix("_dt")))
        letter, mark, rest = name.partition("__")
        return self._plain(f"{_LETTERS[letter]}{rest}" if mark and letter in _LETTERS else name)


_LETTERS = {"uc": "v__C_", "u": "v__", "w": "omega__", "arm": "d__", "slide": "v__rel_", "dir": "e__"}
"""Usual letters of quantities whose intermediates have other names."""


def _in_terms(form: Any) -> Any:
    """A long product as a sum, multiplied out once."""
    if form.is_Mul and form.count_ops() > WIDE:
        spread = form.expand(deep=False)
        return spread if spread.is_Add else form
    return form


def _dotted(tex: str) -> str:
    """A name with one more dot."""
    if r"\dot{" in tex:
        return tex.replace(r"\dot{", r"\ddot{", 1)
    letter, mark, index = tex.partition("_")
    return rf"\dot{{{letter}}}{mark}{index}"


def display(story: Story) -> dict[int, Shown]:
    """All formulas of a story as they are shown, by the identity of the formula."""
    shows = Display(story.equations)
    return {id(formula): shows.show(formula) for formula in story.formulas}


def evaluate(shown: Sequence[Shown], values: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Evaluates the shown formulas line by line, as a reader with a calculator would.

    Args:
        shown: the formulas in order.
        values: arrays (one value for each state) for the base symbols: time, coordinates, speeds, inputs, parameters.

    Returns:
        For every formula its entries, shape (states, rows, columns), and its terms, shape (states, terms).
    """
    import numpy as np

    known = dict(values)
    count = max(np.size(x) for x in known.values())
    found = []
    for one in shown:
        for symbol, form in one.definitions:
            known[str(symbol)] = _numbers([form], known, count)[:, 0]
        entries = [form for row in one.forms for form in row]
        out = _numbers([*entries, *one.parts], known, count)
        found.append((out[:, : len(entries)].reshape(count, *one.formula.shape), out[:, len(entries) :]))
    return found


def _numbers(forms: Sequence[Any], known: Mapping[str, Any], count: int) -> Any:
    """Values of some expressions, shape (states, expressions)."""
    import numpy as np

    symbols = sorted({"t", *(str(s) for form in forms for s in form.free_symbols)})  # there must be an argument
    inputs = np.array([np.broadcast_to(known[name], count) for name in symbols], dtype=float).T.reshape(count, -1)
    function = se.Lambdify([se.Symbol(name) for name in symbols], [se.sympify(form) for form in forms])
    return np.array([function(row) for row in inputs], dtype=float).reshape(count, len(forms))
