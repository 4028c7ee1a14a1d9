"""Sums whose terms remember their source, so that a story can trace every term to a body, joint or force.

A formulation adds up terms of bodies, joints and forces. A :class:`Book` makes the lists in which it collects them;
before it adds terms it states their source. The sums themselves are those of plain lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, SupportsIndex, cast

from pendula.equations.tape import Expr, is_zero


class Source(NamedTuple):
    """The body, joint or force that a term comes from; ``name`` is the number of the force in the model, from 0."""

    kind: Literal["body", "joint", "force", ""]
    name: str


UNKNOWN = Source("", "")


class Terms(list[Expr]):
    """The terms of one sum, each with its source."""

    __slots__ = ("_book", "sources")

    def __init__(self, book: Book) -> None:
        super().__init__()
        self._book = book
        self.sources: list[Source] = []

    def append(self, term: Expr, /) -> None:
        """Adds a term from the current source of the book."""
        list.append(self, term)
        self.sources.append(self._book.source)

    def extend(self, terms: Iterable[Expr], /) -> None:
        """Adds terms from the current source of the book."""
        for term in terms:
            self.append(term)

    def __iadd__(self, terms: Iterable[Expr], /) -> Terms:  # type: ignore[misc]
        self.extend(terms)
        return self

    def insert(self, at: SupportsIndex, term: Expr, /) -> None:
        """Not possible: terms are only ever added at the end."""
        raise TypeError("terms are only ever added at the end")

    def by_source(self) -> dict[Source, list[Expr]]:
        """The terms that are not zero, by source."""
        found: dict[Source, list[Expr]] = {}
        for source, term in zip(self.sources, self, strict=True):
            if not is_zero(term):
                found.setdefault(source, []).append(term)
        return found


class Book:
    """Makes lists of terms, and holds the source of the terms that are added next.

    Unless it is ``traced``, it makes plain lists, which cost nothing; only the derivation of a story traces its terms.

    Example:
        >>> book = Book(traced=True)
        >>> row = book.row()
        >>> book.source = Source("body", "upper")
        >>> row += [3, 0]
        >>> sum(row), row.by_source()
        (3, {Source(kind='body', name='upper'): [3]})
    """

    def __init__(self, *, traced: bool = False) -> None:
        self.traced = traced
        self.source: Source = UNKNOWN

    def row(self) -> Terms:
        """An empty sum."""
        return Terms(self) if self.traced else cast(Terms, [])

    def column(self, count: int) -> list[Terms]:
        """A column of empty sums."""
        return [self.row() for _ in range(count)]

    def matrix(self, rows: int, columns: int) -> list[list[Terms]]:
        """A matrix of empty sums."""
        return [self.column(columns) for _ in range(rows)]

    def of_body(self, name: str) -> None:
        """The next terms come from a body."""
        self.source = Source("body", name)

    def of_joint(self, name: str) -> None:
        """The next terms come from a joint."""
        self.source = Source("joint", name)

    def of_force(self, number: int) -> None:
        """The next terms come from a force of the model, by its number."""
        self.source = Source("force", str(number))
