"""Tools of all stories: names of bodies and rates in TeX, vectors as formulas, and folding of repetitions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import symengine as se

from pendula.equations import vectors as vec
from pendula.equations.closures import is_flat
from pendula.equations.equations import Equations
from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.shares import UNKNOWN, Source, Terms
from pendula.equations.story.display import Display
from pendula.equations.story.story import Comparison, Formula, Term, column, scalar
from pendula.equations.tape import Expr, is_zero
from pendula.model.bodies import GROUND
from pendula.words import counted

IN_FULL = 6
"""Number of bodies up to which a story shows every body in full."""

BEFORE_FOLD = 3
"""Beyond that, a story shows the first bodies in full and folds the others."""

MOST_BODIES = 10
"""Steps that repeat body by body omit the bodies beyond this number."""


LETTERS = {"M": "M", "f": "f", "G": "G", "g": "g", "b": "b", "c": "c", "v": "v", "q": "q", "lam": "lambda"}
"""Blocks of the equations by their placeholder; their names avoid the symbols of the model."""


class Telling:
    """The derivation behind a story, with the words and names that all chapters use.

    Attributes:
        m: the mechanism of the derivation.
        eq: the equations it made.
    """

    def __init__(self, mechanism: Mechanism, equations: Equations) -> None:
        self.m = mechanism
        self.eq = equations
        self._display = Display(equations)
        blocks = self._display.blocks
        self._letters = {letter: blocks[block] for letter, block in LETTERS.items()}

    # -- names ----------------------------------------------------------------------------------

    def tex(self, e: Expr) -> str:
        """An expression written out, TeX."""
        return self._display.tex(self._display.form(e))

    def name(self, symbol: Any) -> str:
        """A symbol, TeX."""
        return self._display.name(str(symbol))

    def rate(self, k: int) -> str:
        """Speed or prescribed rate k, TeX."""
        return self.name(self.m.rates[k])

    def fill(self, text: str) -> str:
        """Text with the names of the blocks of the equations in place of ``@M``, ``@f``, ``@v`` and so on."""
        return re.sub(r"@(lam|[A-Za-z])", lambda m: _grouped(self._letters[m[1]]), text)

    # -- bodies ---------------------------------------------------------------------------------

    @property
    def told(self) -> range:
        """Indices of the bodies that a story shows one by one."""
        return range(min(len(self.m.links), MOST_BODIES))

    def folded(self, k: int) -> bool:
        """Whether body k repeats a pattern."""
        return len(self.m.links) > IN_FULL and k >= BEFORE_FOLD

    @property
    def rest(self) -> tuple[str, ...]:
        """The sentence about omitted bodies, if there are any."""
        left = len(self.m.links) - len(self.told)
        if left <= 0:
            return ()
        more = counted(left, "further body follows", "further bodies follow")
        return (f"{more[0].upper()}{more[1:]} the same pattern; the final equations contain them all.",)

    def flat(self, k: int) -> bool:
        """Whether body k rotates about z only, so that its vectors are in world axes."""
        return self.m.poses[k].theta is not None

    def vector(
        self,
        name: str,
        value: vec.Vector,
        words: str = "",
        *,
        plane: bool = False,
        source: Source = UNKNOWN,
        compared: Comparison | None = None,
    ) -> Formula:
        """A vector as a formula; ``plane``: only x and y, if z vanishes."""
        shown = value[:2] if plane and is_zero(value[2]) else value
        if compared is not None:
            compared = Comparison(compared.words, (*compared.key, len(shown)))
        return Formula(name, column([*shown]), words, source, compared=compared)

    def spin(
        self, name: str, value: vec.Vector, words: str, *, source: Source, compared: Comparison | None = None
    ) -> Formula:
        """An angular velocity or acceleration as a formula: only about z, if the others vanish."""
        if is_zero(value[0]) and is_zero(value[1]) and self.planar:
            key = None if compared is None else Comparison(compared.words, (*compared.key, 1))
            return Formula(name.replace(r"\boldsymbol", ""), scalar(value[2]), words, source, compared=key)
        return self.vector(name, value, words, source=source, compared=compared)

    def angular_velocity(self, k: int, value: vec.Vector, words: str, axes: str) -> Formula:
        """The angular velocity of body k in "world" or "body" axes."""
        body = self.m.links[k].body
        compared = Comparison("the rate of the rotation matrix, $\\dot R R^T$", ("spin", body, axes))
        return self.spin(
            rf"\boldsymbol{{\omega}}_{{{upright(body)}}}", value, words, source=of_body(body), compared=compared
        )

    def center_velocity(self, k: int, value: vec.Vector, words: str, axes: str, *, plane: bool) -> Formula:
        """The velocity of the mass centre of body k in "world" or "body" axes."""
        body = self.m.links[k].body
        compared = Comparison("the time derivative of the position of the mass centre", ("velocity", body, axes))
        name = rf"\boldsymbol{{v}}_{{C,{upright(body)}}}"
        return self.vector(name, value, words, plane=plane, source=of_body(body), compared=compared)

    @cached_property
    def planar(self) -> bool:
        """Whether all bodies stay in planes parallel to x-y: they rotate about z only, and no height changes."""
        return all(is_flat(self.m, k) for k in range(len(self.m.links)))

    # -- sources --------------------------------------------------------------------------------

    def total(self, name: str, terms: Terms, words: str = "", *, compared: Comparison | None = None) -> Formula:
        """A sum as a formula, with its terms by source."""
        parts = tuple(Term(source, vec.total(values)) for source, values in terms.by_source().items())
        parts = tuple(part for part in parts if not is_zero(se.sympify(part.value)))
        return Formula(name, scalar(vec.total(terms)), words, UNKNOWN, parts, compared)


def _grouped(tex: str) -> str:
    return tex if len(tex) == 1 or re.fullmatch(r"\\[a-z]+", tex) else f"{{{tex}}}"


def upright(text: str) -> str:
    """A word in TeX, upright: bodies and joints in indices.

    Example:
        >>> upright("upper"), upright("body 1"), upright("a_b")
        ('\\\\mathrm{upper}', '\\\\text{body 1}', '\\\\text{a\\\\_b}')
    """
    if re.fullmatch(r"[A-Za-z0-9]+", text):
        return rf"\mathrm{{{text}}}"
    return rf"\text{{{escaped(text)}}}"


def escaped(text: str) -> str:
    """Text in which TeX finds no commands."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in text)


def of_body(name: str) -> Source:
    """The source of what belongs to a body."""
    return Source("body", name)


def of_joint(name: str) -> Source:
    """The source of what belongs to a joint."""
    return Source("joint", name)


def place(name: str) -> str:
    """A body in a sentence.

    Example:
        >>> place("upper"), place("body 2")
        ('body upper', 'body 2')
    """
    if name == GROUND:
        return "the ground"
    return escaped(name) if name.lower().startswith("body") else f"body {escaped(name)}"


def heading(name: str) -> str:
    """A body as a heading, or at the beginning of a sentence."""
    text = place(name)
    return f"{text[0].upper()}{text[1:]}"


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    Example:
        >>> listed(["a", "b", "c"])
        'a, b and c'
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
