"""Writes equations as MathML, which browsers render without scripts, fonts or network access."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from pendula.equations import refusals
from pendula.equations.equations import Equations
from pendula.equations.printing.counts import count
from pendula.equations.printing.names import GREEK
from pendula.equations.printing.walk import Formulas, Notation, Writer
from pendula.errors import NotSupported

MOST_OPERATIONS = 1500
"""Largest number of operations that is readable on a page."""


@dataclass(frozen=True)
class Formula:
    """One formula: a description in words, and its MathML."""

    words: str
    mathml: str


def write_mathml(eq: Equations) -> tuple[Formula, ...]:
    """The equations of motion as formulas, M v' = ... first, with named intermediates unless they are small.

    Raises:
        NotSupported: the equations are too long for a page.

    Example:
        >>> from pendula import derive, library
        >>> [f.words for f in write_mathml(derive(library.pendulum()))]
        ['equations of motion', 'mass matrix', 'gravity']
    """
    operations = count(eq).operations_shared
    if operations > MOST_OPERATIONS:
        raise NotSupported(refusals.LONG_PAGE, operations=operations)
    formulas = Formulas(eq, MATHML)
    found = [Formula("equations of motion", formula(MATHML.listed([formulas.law(), formulas.speeds()])))]
    found += [Formula(words, formula(MATHML.relation(left, "=", right))) for words, left, right in formulas.equations()]
    return tuple(found)


def formula(content: str) -> str:
    """A displayed formula with this content."""
    return f'<math displaystyle="true"><mrow>{content}</mrow></math>'


def expression(e: Any, eq: Equations | None = None) -> str:
    """A SymPy expression as MathML, without the element around it; ``eq`` as in :class:`Writer`."""
    return Writer(MATHML, eq).write(e)


def mathml_name(name: str) -> str:
    """theta1_dot as a dotted letter with an index; names of several letters are upright.

    Example:
        >>> mathml_name("m2")
        '<msub><mi>m</mi><mn>2</mn></msub>'
    """
    return Writer(MATHML).name(name)


_THIN = '<mspace width="0.17em"/>'
_GAP = '<mo>,</mo><mspace width="1.2em"/>'
_SIGNS = {"<": "&lt;", ">": "&gt;", "<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}


class _MathML:
    """The notation of MathML; see :class:`pendula.equations.printing.walk.Notation`."""

    def symbol(self, letter: str, indices: Sequence[str], *, dotted: bool = False) -> str:
        text = self._word(letter)
        text = f'<mover>{text}<mo lspace="0" rspace="0">.</mo></mover>' if dotted else text
        below = [self._word(x) for x in indices]
        if not below:
            return text
        index = below[0] if len(below) == 1 else f"<mrow>{'<mo>,</mo>'.join(below)}</mrow>"
        return f"<msub>{text}{index}</msub>"

    def partial(self, of: str, by: str, *, rate: bool) -> str:
        time = "<mfrac><mi>d</mi><mrow><mi>d</mi><mi>t</mi></mrow></mfrac>" if rate else ""
        above, below = (f"<mrow><mo>∂</mo>{x}</mrow>" for x in (of, by))
        return self.fenced(time + self.fraction(above, below))

    def _word(self, text: str) -> str:
        return f"<mn>{text}</mn>" if text.isdigit() else f"<mi>{escape(GREEK.get(text, text))}</mi>"

    def number(self, digits: str, exponent: str = "") -> str:
        if not exponent:
            return f"<mn>{digits}</mn>"
        power = exponent.replace("-", "−")
        return f"<mrow><mn>{digits}</mn><mo>·</mo><msup><mn>10</mn><mn>{power}</mn></msup></mrow>"

    def sum(self, terms: Iterable[tuple[bool, str]]) -> str:
        text = "".join(f"<mo>{'−' if minus else '+'}</mo>{term}" for minus, term in terms)
        return f"<mrow>{text.removeprefix('<mo>+</mo>')}</mrow>"

    def product(self, factors: Sequence[str]) -> str:
        return f"<mrow>{_THIN.join(factors)}</mrow>"

    def fraction(self, above: str, below: str) -> str:
        return f"<mfrac>{above}{below}</mfrac>"

    def power(self, base: str, exponent: str) -> str:
        return f"<msup>{base}{exponent}</msup>"

    def root(self, inside: str) -> str:
        return f"<msqrt>{inside}</msqrt>"

    def function(self, name: str, args: Sequence[str], power: str, *, plain: bool) -> str:
        word = f"<mi>{escape(name)}</mi>"
        word = f"<msup>{word}{power}</msup>" if power else word
        shown = "<mo>,</mo>".join(args)
        return f"<mrow>{word}{_THIN}{shown}</mrow>" if plain else f"<mrow>{word}{self.fenced(shown)}</mrow>"

    def fenced(self, inside: str) -> str:
        return f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"

    def cases(self, rows: Sequence[tuple[str, str]]) -> str:
        shown = [f"<mtr><mtd>{x}</mtd><mtd>{self._when(c)}</mtd></mtr>" for x, c in rows]
        return f"<mrow><mo>{{</mo><mtable>{''.join(shown)}</mtable></mrow>"

    def _when(self, condition: str) -> str:
        return f"<mtext>if&#160;</mtext>{condition}" if condition else "<mtext>otherwise</mtext>"

    def relation(self, left: str, sign: str, right: str) -> str:
        return f"{left}<mo>{_SIGNS.get(sign, sign)}</mo>{right}"

    def words(self, text: str) -> str:
        return "<mo>…</mo>" if text == "…" else f"<mtext>{escape(text)}</mtext>"

    def matrix(self, rows: Sequence[Sequence[str]]) -> str:
        # The page draws brackets (class "matrix"): few systems have a font with stretchable brackets.
        body = "".join("<mtr>" + "".join(f"<mtd>{x}</mtd>" for x in row) + "</mtr>" for row in rows)
        return f'<mtable class="matrix" displaystyle="true">{body}</mtable>'

    def row_vector(self, entries: Sequence[str]) -> str:
        return self.fenced(f"<mtable><mtr>{''.join(f'<mtd>{x}</mtd>' for x in entries)}</mtr></mtable>")

    def transposed(self, name: str) -> str:
        return f"<msup>{name}<mi>T</mi></msup>"

    def indexed(self, name: str, index: str) -> str:
        return f"<msub>{name}<mn>{index}</mn></msub>"

    def listed(self, formulas: Sequence[str]) -> str:
        return _GAP.join(formulas)


MATHML: Notation = _MathML()
"""MathML as a notation."""
