"""Another array every day, with triples: whatever its rows end in, nothing is wrong and nothing fails."""

from __future__ import annotations

import time
from functools import cache

import pytest

from tests.crossings.array import covering
from tests.crossings.factors import Row
from tests.crossings.known import ruled_out
from tests.crossings.net import try_row
from tests.crossings.questions import unavailable

PARTS = 60
"""tests, each of which asks every sixtieth row"""


@cache
def _rows() -> tuple[int, list[Row]]:
    """The number of the day is the seed; ``python -m tests.crossings --row SEED:N`` repeats a row later."""
    seed = int(time.time() // 86400)
    return seed, covering(seed, ruled_out(), without=unavailable(), long=True)[0]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_rows_of_the_day(part: int) -> None:
    seed, rows = _rows()
    results = [try_row(rows[n], (seed, n)) for n in range(part, len(rows), PARTS)]
    bad = [result for result in results if result.ending in ("wrong", "error")]
    assert not bad, "\n".join(map(str, bad))
    assert any(result.ending == "passed" for result in results)
