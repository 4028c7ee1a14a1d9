"""Rows asked one by one: what each ended in, which cells that covers, and what refuses the others."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pendula.errors import ComputationError, LoopNotClosed, NoConvergence, NotSupported, SingularPose
from tests.crossings import questions
from tests.crossings.array import Rules, complete, covering
from tests.crossings.carry import carried
from tests.crossings.case import Case, Unsuitable, Wrong
from tests.crossings.factors import FACTORS, PLAIN, Cell, Row, cells_of, matches
from tests.crossings.sticking import sticks

ATTEMPTS = 8
"""numbers drawn for a row until they suit it"""
MOST_REDRAWN = 5
"""how often a row that was refused is drawn again without what refuses it, counted by its numbers"""


@dataclass(frozen=True)
class Result:
    """What a row ended in.

    Attributes:
        row: its levels.
        seed: the numbers from which it was drawn.
        ending: "passed", "refused", "wrong", "error", or "unsuitable" if no numbers were found that suit.
        detail: what was wrong, the id of the refusal, or the traceback.
    """

    row: Row
    seed: tuple[int, ...]
    ending: str
    detail: str = ""

    def __str__(self) -> str:
        levels = ", ".join(f"{f}: {x}" for f, x in self.row.items() if x != PLAIN[f])
        return f"{self.ending}: {self.detail}\n  row {':'.join(map(str, self.seed))}: {levels}"


def try_row(row: Row, seed: tuple[int, ...]) -> Result:
    """Asks the question of a row, with new numbers while they do not suit."""
    why = ""
    for attempt in range(ATTEMPTS):
        result = attempt_row(row, (*seed, attempt))
        if result.ending != "unsuitable":
            return result
        why = result.detail
    return Result(row, (*seed, ATTEMPTS - 1), "unsuitable", why)


def attempt_row(row: Row, seed: tuple[int, ...]) -> Result:
    """One attempt at a row."""
    try:
        case = Case(row, seed)
        questions.ask(row["question"])(case, carried(case))
        if row["load"] == "dry friction":
            sticks(case)
    except NotSupported as error:
        return Result(row, seed, "refused", error.refusal.id)
    except Unsuitable as error:
        return Result(row, seed, "unsuitable", str(error))
    except (SingularPose, LoopNotClosed, NoConvergence, ComputationError) as error:
        return Result(row, seed, "unsuitable", f"{type(error).__name__}: {error}")
    except Wrong as error:
        return Result(row, seed, "wrong", str(error))
    except Exception:
        return Result(row, seed, "error", traceback.format_exc(limit=-6))
    return Result(row, seed, "passed")


def instead(rows: Sequence[Row], n: int, seed: Sequence[int], parts: Sequence[dict[str, str]]) -> list[Row]:
    """Rows with those pairs of row n that no other row has: what to ask where no numbers suit it."""
    rules = Rules(parts)
    elsewhere = {cell for k, row in enumerate(rows) if k != n for cell in cells_of(row)}
    wanted = set(cells_of(rows[n])) - elsewhere
    rng = np.random.default_rng([*seed, n, 99])
    found: list[Row] = []
    for first in sorted(wanted):
        row = complete(dict(first), rules, rng, wanted) if first in wanted else None
        if row is not None:
            found.append({f: row[f] for f in FACTORS})
            wanted.difference_update(cells_of(row))
    return found


def smallest_refusing(row: Row, seed: tuple[int, ...], refusal: str) -> dict[str, str]:
    """The levels of a row that alone make the refusal: a factor counts only if another level of it answers.

    Factors are tried one by one; a row that is still refused in the same way takes the place of the row.
    """
    kept, part = dict(row), dict(row)
    for factor in FACTORS:
        for other in others(kept, factor) if factor in part else ():
            result = try_row(other, seed)
            if result.ending == "refused" and result.detail == refusal:
                part = {f: x for f, x in part.items() if other[f] == x}
                kept = other
                break
    return part


TOGETHER = {"orientation": "speeds", "speeds": "orientation", "drive": "closure", "closure": "drive"}
"""factors of which one may have to change with the other"""


def others(row: Row, factor: str) -> list[dict[str, str]]:
    """The row with the plainest other level of one factor, if there is one; a second factor changes only where needed."""
    rules, found = Rules(), []
    for level in FACTORS[factor]:
        tried = [{**row, factor: level}]
        if factor in TOGETHER:
            second = TOGETHER[factor]
            tried += [{**row, factor: level, second: x} for x in FACTORS[second]]
        found += [one for one in tried if level != row[factor] and rules.allow_row(one)][:1]
    return found[:1]


@dataclass
class Refused:
    """A part of rows that is refused: the refusal and the fewest levels that make it."""

    refusal: str
    part: dict[str, str]

    def explains(self, row: Row, refusal: str) -> bool:
        """Whether it is known that a row is refused so."""
        return refusal == self.refusal and matches(self.part, row)


@dataclass
class Net:
    """Results of rows, and what they say of the cells.

    Attributes:
        results: every row that was asked.
        refused: what is known of refusals.
        impossible: cells that no allowed row has.
    """

    refused: list[Refused] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    impossible: set[Cell] = field(default_factory=set)

    def cells(self, ending: str) -> set[Cell]:
        """The cells of all rows with an ending."""
        return {cell for result in self.results if result.ending == ending for cell in cells_of(result.row)}

    def of(self, *endings: str) -> list[Result]:
        """The results with certain endings."""
        return [result for result in self.results if result.ending in endings]


def walk(
    seed: int,
    refused: Sequence[Refused] = (),
    without: Iterable[tuple[str, str]] = (),
    done: Mapping[tuple[object, ...], Result] | None = None,
    never: Sequence[dict[str, str]] = (),
) -> Iterator[Net]:
    """Asks all rows of a long covering array; a row that is refused is drawn again without what refuses it.

    Yields the net after every row, so that a caller can stop or save what is there. Rows that an earlier sitting asked
    are taken from ``done``, by their levels and numbers.
    """
    net = Net(list(refused))
    parts = [*(one.part for one in net.refused), *never]
    rows, net.impossible = covering(seed, parts, without=without, long=True)
    yield net
    for n, row in enumerate(rows):
        waiting: list[tuple[Row, tuple[int, ...]]] = [(row, (seed, n))]
        while waiting:
            drawn, numbers = waiting.pop(0)
            result = (done or {}).get((*drawn.values(), *numbers)) or try_row(drawn, numbers)
            net.results.append(result)
            if result.ending in ("refused", "unsuitable") and len(numbers) < MOST_REDRAWN:
                waiting += _redrawn(net, result, numbers, without, never)
            yield net


def _redrawn(
    net: Net,
    result: Result,
    numbers: tuple[int, ...],
    without: Iterable[tuple[str, str]],
    never: Sequence[dict[str, str]],
) -> list[tuple[Row, tuple[int, ...]]]:
    """Rows that have the cells of a refused one without what refuses it."""
    if result.ending == "refused" and not any(one.explains(result.row, result.detail) for one in net.refused):
        net.refused.append(Refused(result.detail, smallest_refusing(result.row, result.seed[:-1], result.detail)))
    rules = Rules([*(one.part for one in net.refused), *never, *({f: x} for f, x in without)])
    passed = net.cells("passed")
    wanted = {cell for cell in cells_of(result.row) if cell not in passed and rules.allow_cell(cell)}
    rng = np.random.default_rng([*numbers, 99])
    found: list[tuple[Row, tuple[int, ...]]] = []
    for first in sorted(wanted):
        row = complete(dict(first), rules, rng, wanted) if first in wanted else None
        if row is not None:
            found.append(({f: row[f] for f in FACTORS}, (*numbers, len(found))))
            wanted.difference_update(cells_of(row))
    return found
