"""Two checkouts side by side: every piece of work does what its name says, and the line about it is right. Nothing is timed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks import before_after
from benchmarks.before_after import HERE, WORKS, Side, compare

SAME_TOP = 1e-6  # relative: one motion in two kinds of coordinates, each at a tolerance of 1e-8
LONG = ("10,000 linearizations at once", "10,000 double pendulums", "command: equilibria")


def side(seconds: list[float], found: float = 1.0, seen: list[str] | None = None) -> Callable[[str], dict[str, Any]]:
    """A side that takes these times, one after the other and again."""
    times = itertools.cycle(seconds)

    def answer(name: str) -> dict[str, Any]:
        if seen is not None:
            seen.append(f"{name} {found}")
        return {"seconds": next(times), "found": found}

    return answer


def test_the_best_of_all_rounds_is_compared() -> None:
    line = compare("a", [side([0.5, 0.2, 0.4]), side([0.3, 0.4, 0.1])], 3)
    assert line.split()[1:] == ["before", "0.200000", "s", "after", "0.100000", "s", "speed", "2.000"]
    assert compare("a", [side([0.1]), side([0.2])], 1).endswith("speed 0.500  <- slower")


def test_sides_are_timed_in_turn_and_no_longer_than_needed() -> None:
    seen: list[str] = []
    compare("a", [side([0.1], 1.0, seen), side([0.1], 1.0 + 1e-9, seen)], 4)
    assert seen == ["a 1.0", "a 1.000000001"] * 4
    for seconds, rounds in ((100.0, 3), (1.0, 10)):
        seen.clear()
        compare("a", [side([seconds], 1.0, seen), side([seconds], 1.0, seen)], 10)
        assert len(seen) == 2 * min(rounds, max(3, math.ceil(before_after.ENOUGH / seconds) + 1))


def test_other_work_and_work_that_is_missing_are_named() -> None:
    assert "not the same: 1 before, 1.1 after" in compare("a", [side([0.1]), side([0.1], 1.1)], 1)
    assert "not the same: 1 before, nan after" in compare("a", [side([0.1]), side([0.1], math.nan)], 1)
    line = compare("a", [lambda name: {"missing": "AttributeError: no such name"}, side([0.1])], 3)
    assert line.split(maxsplit=1)[1] == "missing before: AttributeError: no such name"


def test_a_process_does_the_work_of_its_checkout_and_says_what_fails() -> None:
    one = Side(HERE)
    try:
        done = one("import pendula")
        assert done["seconds"] > 0.0
        assert done["found"] == 0.0  # it prints nothing
        assert one("nothing of the kind") == {"missing": "KeyError: 'nothing of the kind'"}
    finally:
        one.end()


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in WORKS])
def test_each_piece_of_work_gives_the_same_number_again(name: str) -> None:
    work = WORKS[name]()
    found = work()
    assert math.isfinite(found)
    assert work() == found


def test_the_two_tops_are_one() -> None:
    quaternions, angles = (WORKS[f"run, fast top, {kind}"]()() for kind in ("quaternions", "zyz"))
    assert angles == pytest.approx(quaternions, rel=SAME_TOP)
    assert quaternions > 59.0  # it spins about its axis with 60 rad/s all the time
