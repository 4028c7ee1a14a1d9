"""Covering arrays: few rows that contain every allowed cell, drawn by a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tests.crossings.factors import (
    FACTORS,
    FORBIDDEN_PARTS,
    WISHED,
    Cell,
    Row,
    cells,
    cells_of,
    matches,
    triples,
    triples_of,
)

TRIES = 12
"""candidates drawn for every row, of which the one with most new cells stays"""


class Rules:
    """What may not stand together: forbidden pairs, and parts of which it is known that they are refused."""

    def __init__(self, refused: Iterable[dict[str, str]] = ()) -> None:
        self.parts = [*FORBIDDEN_PARTS, *refused]
        self._by_level: dict[tuple[str, str], list[dict[str, str]]] = {}
        for part in self.parts:
            for level in part.items():
                self._by_level.setdefault(level, []).append(part)

    def allow(self, row: dict[str, str], factor: str, level: str) -> bool:
        """Whether a level may be added to an incomplete row."""
        for part in self._by_level.get((factor, level), ()):
            if all(f == factor or row.get(f) == x for f, x in part.items()):
                return False
        return True

    def allow_cell(self, cell: Cell) -> bool:
        """Whether two levels may stand together."""
        return not any(part.items() <= dict(cell).items() for part in self.parts)

    def allow_row(self, row: Row) -> bool:
        """Whether no part of a row is ruled out."""
        return not any(matches(part, row) for part in self.parts)


def complete(start: dict[str, str], rules: Rules, rng: np.random.Generator, wanted: set[Any]) -> dict[str, str] | None:
    """A row with the given levels, whose others are chosen for as many wanted cells as can be; None if there is none."""
    row = dict(start)
    if not all(rules.allow({f: x for f, x in row.items() if f != factor}, factor, row[factor]) for factor in row):
        return None
    rest = [factor for factor in FACTORS if factor not in row]
    rng.shuffle(rest)
    return _filled(row, rest, rules, rng, wanted)


def _filled(
    row: dict[str, str], rest: Sequence[str], rules: Rules, rng: np.random.Generator, wanted: set[Any]
) -> dict[str, str] | None:
    if not rest:
        return row
    factor, *others = rest
    order = list(FACTORS[factor])
    rng.shuffle(order)
    fits = [level for level in order if rules.allow(row, factor, level)]
    fits.sort(key=lambda level: -sum(_cell(factor, level, f, x) in wanted for f, x in row.items()))
    for level in fits:
        found = _filled({**row, factor: level}, others, rules, rng, wanted)
        if found is not None:
            return found
    return None


_ORDER = {factor: k for k, factor in enumerate(FACTORS)}


def _cell(f: str, x: str, g: str, y: str) -> Cell:
    return ((f, x), (g, y)) if _ORDER[f] < _ORDER[g] else ((g, y), (f, x))


def covering(
    seed: int, refused: Iterable[dict[str, str]] = (), *, without: Iterable[tuple[str, str]] = (), long: bool = False
) -> tuple[list[Row], set[Cell]]:
    """Rows that contain every cell which some allowed row has, and the cells that none has.

    Args:
        seed: which array; every seed draws another one.
        refused: parts of rows that are known to be refused, never drawn.
        without: levels to leave out.
        long: with rows for the triples as well, after the others.
    """
    rng = np.random.default_rng([seed, 71])
    rules = Rules([*refused, *({f: x} for f, x in without)])
    wanted = set(cells())
    first = [row for wish in WISHED if (row := complete(dict(wish), rules, rng, wanted)) is not None]
    first = [{factor: row[factor] for factor in FACTORS} for row in first]
    wanted.difference_update(cell for row in first for cell in cells_of(row))
    rows, impossible = _covering(wanted, cells_of, rules, rng, TRIES)
    rows = [*first, *rows]
    if long:
        left = set(triples()) - {one for row in rows for one in triples_of(row)}
        rows += _covering(left, triples_of, rules, rng, 1)[0]
    return rows, impossible


def _covering(
    wanted: set[Any], parts_of: Callable[[Row], list[Any]], rules: Rules, rng: np.random.Generator, tries: int
) -> tuple[list[Row], set[Any]]:
    """Rows that contain all wanted parts of rows, and those that no allowed row has."""
    rows: list[Row] = []
    impossible: set[Any] = set()
    while wanted:
        first = sorted(wanted)[int(rng.integers(len(wanted)))]
        found = [complete(dict(first), rules, rng, wanted) for _ in range(tries)]
        candidates = [row for row in found if row is not None]
        if not candidates:
            wanted.discard(first)
            impossible.add(first)
            continue
        best = max(candidates, key=lambda row: len(wanted.intersection(parts_of(row))))
        rows.append({factor: best[factor] for factor in FACTORS})
        wanted.difference_update(parts_of(best))
    return rows, impossible


def plainest(levels: dict[str, str]) -> Row | None:
    """The row with some levels and the plainest others that may stand with them; None if they cannot stand together."""
    rules = Rules()
    if not all(
        rules.allow({f: x for f, x in levels.items() if f != factor}, factor, levels[factor]) for factor in levels
    ):
        return None
    return _plainest(levels, [factor for factor in FACTORS if factor not in levels], rules)


def _plainest(row: dict[str, str], rest: Sequence[str], rules: Rules) -> Row | None:
    if not rest:
        return {factor: row[factor] for factor in FACTORS}
    for level in FACTORS[rest[0]]:
        if rules.allow(row, rest[0], level):
            found = _plainest({**row, rest[0]: level}, rest[1:], rules)
            if found is not None:
                return found
    return None
