"""Writes equations as LaTeX: matrices if they fit a page, otherwise entry by entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pendula.equations import refusals
from pendula.equations.equations import Equations
from pendula.equations.printing.counts import count
from pendula.equations.printing.names import GREEK
from pendula.equations.printing.walk import Formulas, Notation, Writer
from pendula.errors import NotSupported

MOST_OPERATIONS = 20_000
"""Largest number of operations; more would fill hundreds of pages and take minutes."""


def write_latex(eq: Equations) -> str:
    """The equations in an ``align*`` environment, with named intermediates unless they are small.

    Raises:
        NotSupported: the equations are far too long to read.
    """
    operations = count(eq).operations_shared
    if operations > MOST_OPERATIONS:
        raise NotSupported(refusals.LONG_LATEX, operations=operations)
    formulas = Formulas(eq, LATEX)
    lines = [f"% {eq.model.name}: equations of motion by {eq.formulation}"]
    lines += [f"% v = ({', '.join(map(str, eq.v))})"]
    lines += [f"% row {r}: {name}" for r, name in enumerate(eq.constraint_names, 1)]
    rows = [f"{left} &= {right}" for _, left, right in formulas.equations()]
    rows.append(formulas.law().replace(" = ", " &= ", 1))
    return "\n".join([*lines, r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"])


def latex_name(name: str) -> str:
    """A name as LaTeX; names of several letters are upright.

    Example:
        >>> print(latex_name("theta1_dot"))
        \\dot{\\theta}_{1}
    """
    return Writer(LATEX).name(name)


_OWN = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "log", "exp", "min", "max")  # functions that LaTeX knows
_AROUND = {"abs": r"\left|{%s}\right|", "floor": r"\left\lfloor{%s}\right\rfloor"}
_AROUND |= {"ceiling": r"\left\lceil{%s}\right\rceil"}
_WORDS = (r"\mathrm{", r"\dot{\mathrm{")
_SIGNS = {"<=": r"\leq", ">=": r"\geq", "==": "=", "!=": r"\neq"}


@dataclass(frozen=True)
class _Latex:
    """The notation of LaTeX; see :class:`pendula.equations.printing.walk.Notation`."""

    bare: bool = False
    """whether a function of one symbol has no parentheses, as in textbooks"""

    def symbol(self, letter: str, indices: Sequence[str], *, dotted: bool = False) -> str:
        text = self._letter(letter)
        text = rf"\dot{{{text}}}" if dotted else text
        below = ",".join(x if len(x) == 1 or x.isdigit() else self._letter(x) for x in indices)
        return f"{text}_{{{below}}}" if below else text

    def partial(self, of: str, by: str, *, rate: bool) -> str:
        time = r"\frac{\mathrm{d}}{\mathrm{d} t} " if rate else ""
        return self.fenced(time + self.fraction(rf"\partial {of}", rf"\partial {by}"))

    def _letter(self, stem: str) -> str:
        return rf"\{stem}" if stem in GREEK else stem if len(stem) == 1 else rf"\mathrm{{{stem}}}"

    def number(self, digits: str, exponent: str = "") -> str:
        return rf"{digits} \cdot 10^{{{exponent}}}" if exponent else digits

    def sum(self, terms: Iterable[tuple[bool, str]]) -> str:
        text = ""
        for minus, term in terms:
            text += (" - " if minus else " + ") + term
        return text.removeprefix(" + ").removeprefix(" ")

    def product(self, factors: Sequence[str]) -> str:
        text = factors[0]
        for before, factor in pairwise(factors):
            between = r" \cdot " if before[-1].isdigit() and factor[0].isdigit() else " "
            if before.startswith(_WORDS) or factor.startswith(_WORDS):  # a word beside another name
                between = r"\, "
            text += between + factor
        return text

    def fraction(self, above: str, below: str) -> str:
        return rf"\frac{{{above}}}{{{below}}}"

    def power(self, base: str, exponent: str) -> str:
        return f"{base}^{{{exponent}}}"

    def root(self, inside: str) -> str:
        return rf"\sqrt{{{inside}}}"

    def function(self, name: str, args: Sequence[str], power: str, *, plain: bool) -> str:
        if name in _AROUND:
            shown = _AROUND[name] % args[0]
            return f"{shown}^{{{power}}}" if power else shown
        word = rf"\{name}" if name in _OWN else rf"\operatorname{{{name}}}"
        raised = f"{word}^{{{power}}}" if power else word
        return f"{raised} {args[0]}" if plain and self.bare else rf"{raised}{{\left({', '.join(args)} \right)}}"

    def fenced(self, inside: str) -> str:
        return rf"\left({inside}\right)"

    def cases(self, rows: Sequence[tuple[str, str]]) -> str:
        shown = [rf"{x} & \text{{for}}\: {c}" if c else rf"{x} & \text{{otherwise}}" for x, c in rows]
        return r"\begin{cases} " + r" \\ ".join(shown) + r" \end{cases}"

    def relation(self, left: str, sign: str, right: str) -> str:
        return f"{left} {_SIGNS.get(sign, sign)} {right}"

    def words(self, text: str) -> str:
        return r"\ldots" if text == "…" else rf"\text{{{text.replace('_', '-').replace('&', 'and')}}}"

    def matrix(self, rows: Sequence[Sequence[str]]) -> str:
        return r"\begin{bmatrix} " + r" \\ ".join(" & ".join(row) for row in rows) + r" \end{bmatrix}"

    def row_vector(self, entries: Sequence[str]) -> str:
        return self.fenced(", ".join(entries))

    def transposed(self, name: str) -> str:
        return f"{name}^{{T}}"

    def indexed(self, name: str, index: str) -> str:
        return f"{name}_{{{index}}}"

    def listed(self, formulas: Sequence[str]) -> str:
        return r", \quad ".join(formulas)


LATEX: Notation = _Latex()
"""LaTeX as a notation."""
BARE_LATEX: Notation = _Latex(bare=True)
"""The same with functions of one symbol without parentheses."""
