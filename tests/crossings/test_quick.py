"""The quick net: every row of one covering array answers and passes, and what is refused is refused as the table says."""

from __future__ import annotations

from pathlib import Path

import pytest

from pendula import refusals
from tests.crossings.array import covering, plainest
from tests.crossings.factors import FORBIDDEN_PARTS, cells, cells_of
from tests.crossings.known import OPEN, Open, known, ruled_out
from tests.crossings.net import Refused, instead, try_row
from tests.crossings.questions import unavailable
from tests.crossings.table import SEED, text

REDRAWN = 4
"""how often other rows are drawn for the pairs of one that no numbers suit"""
AGAIN = ("unsuitable", "refused")
"""what hands the pairs of a row on to other rows"""
REFUSED = known()
ROWS, IMPOSSIBLE = covering(SEED, ruled_out(), without=unavailable())


@pytest.mark.parametrize("n", range(len(ROWS)))
def test_row(n: int) -> None:
    """``python -m tests.crossings --row SEED:N`` repeats one, with its model file."""
    result = try_row(ROWS[n], (SEED, n))
    for draw in range(REDRAWN if result.ending in AGAIN else 0):
        others = instead(ROWS, n, (SEED, draw), [*ruled_out(), *({f: x} for f, x in unavailable())])
        results = [try_row(row, (SEED, n, draw, k)) for k, row in enumerate(others)]
        result = next((one for one in results if one.ending != "passed"), results[0])
        if result.ending not in AGAIN:
            break
    assert result.ending == "passed", str(result)


FIRST = {one.refusal: one for one in reversed(REFUSED)}
"""one combination of levels for each refusal; the others are asked among the slow tests"""


@pytest.mark.parametrize(
    "one",
    [pytest.param(one, marks=() if FIRST[one.refusal] is one else pytest.mark.slow) for one in REFUSED],
    ids=lambda one: f"{one.refusal}-{'-'.join(one.part.values())}",
)
def test_refused(one: Refused) -> None:
    """An answer where the table says that there is none: take the line out of refused.json."""
    row = plainest(one.part)
    assert row is not None
    if set(unavailable()) & {*row.items()}:
        pytest.skip("cannot be asked on this machine")
    result = try_row(row, (0, 0))
    assert (result.ending, result.detail) == ("refused", one.refusal), str(result)


@pytest.mark.parametrize(
    "one", [pytest.param(one, marks=pytest.mark.xfail(strict=True, reason=one.reason)) for one in OPEN]
)
def test_open(one: Open) -> None:
    row = plainest(one.part)
    assert row is not None
    assert try_row(row, one.numbers).ending == "passed"


def test_every_pair_is_answered_refused_or_forbidden() -> None:
    covered = {cell for row in ROWS for cell in cells_of(row)}
    gone = set(unavailable())
    open_cells = [
        cell
        for cell in cells()
        if cell not in covered
        and dict(cell) not in FORBIDDEN_PARTS
        and not gone.intersection(cell)
        and not any(one.part.items() <= dict(cell).items() for one in REFUSED)
    ]
    assert [cell for cell in open_cells if cell not in IMPOSSIBLE] == []
    assert len(open_cells) <= 0.02 * len(cells()), "pairs that no allowed row has"


def test_refusals_of_the_table_are_registered() -> None:
    registered = {refusal.id for refusal in refusals.registered()}
    assert {one.refusal for one in REFUSED} <= registered


@pytest.mark.skipif(bool(unavailable()), reason="some questions cannot be asked on this machine")
def test_table_of_the_docs_is_what_the_net_shows() -> None:
    page = (Path(__file__).parents[2] / "docs/support.md").read_text(encoding="utf-8")
    assert text() in page, "write it anew: python -m tests.crossings --table"
