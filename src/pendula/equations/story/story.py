"""The parts of a story: chapters of steps, and the formulas of each step.

Formulas hold the same expressions that are compiled: they come from the derivation that made the equations.
Text may contain formulas in TeX between dollar signs; laws and names of formulas are TeX throughout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pendula.equations.equations import Equations
from pendula.equations.shares import UNKNOWN, Source
from pendula.equations.tape import Expr

Entries = tuple[tuple[Expr, ...], ...]
"""A matrix of expressions; a column has one entry in each row, a scalar is a matrix with one entry."""


@dataclass(frozen=True)
class Comparison:
    """The independent value that a formula must agree with: in words, and as a key."""

    words: str
    key: tuple[Any, ...]


@dataclass(frozen=True)
class Term:
    """A part of a sum, and the body, joint or force that it comes from."""

    source: Source
    value: Expr


@dataclass(frozen=True)
class Formula:
    """One formula of a derivation: ``name`` = ``entries``.

    Attributes:
        name: its left-hand side, TeX.
        entries: its value, a matrix of expressions of the equations' symbols and intermediates.
        words: its meaning.
        source: the body, joint or force it belongs to.
        terms: if it is a sum: its terms by source.
        compared: the independent value it must agree with; None if the formula is a definition or given.
        key: name of one of the blocks of the equations of motion (``M``, ``f``, ``G``, ``c``), else empty.
    """

    name: str
    entries: Entries
    words: str = ""
    source: Source = UNKNOWN
    terms: tuple[Term, ...] = ()
    compared: Comparison | None = None
    key: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.entries), len(self.entries[0])


@dataclass(frozen=True)
class Picture:
    """A drawing: ``mechanism``, or ``body`` with the forces on one body.

    ``forces`` are (kind, name, label): what acts on the body, and the label of its arrow in TeX.
    """

    kind: str
    body: str = ""
    forces: tuple[tuple[str, str, str], ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class Step:
    """One step of a derivation: its words, the law it follows, and its results.

    ``folded``: it repeats the pattern of an earlier step and may be hidden at first. ``compared``: what its law is
    compared with, if that needs several formulas.
    """

    title: str
    words: tuple[str, ...] = ()
    law: tuple[str, ...] = ()
    formulas: tuple[Formula, ...] = ()
    picture: Picture | None = None
    folded: bool = False
    compared: Comparison | None = None


@dataclass(frozen=True)
class Chapter:
    """Steps with a common aim."""

    title: str
    words: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Story:
    """A derivation from the frames to the equations of motion, in order."""

    equations: Equations
    chapters: tuple[Chapter, ...]
    lead: tuple[str, ...] = ()

    @property
    def formulas(self) -> Iterator[Formula]:
        """All formulas, in order."""
        for chapter in self.chapters:
            for step in chapter.steps:
                yield from step.formulas


def scalar(value: Expr) -> Entries:
    """A scalar as entries of a formula."""
    return ((value,),)


def column(values: Sequence[Expr]) -> Entries:
    """A column as entries of a formula."""
    return tuple((x,) for x in values)


def matrix(rows: Sequence[Sequence[Expr]]) -> Entries:
    """A matrix as entries of a formula."""
    return tuple(tuple(row) for row in rows)
