"""Parameters of tests: which instances run always, which are among the slow ones, and formulations in turn."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from itertools import combinations, zip_longest
from typing import Any

import pytest

from pendula.equations.formulations.registry import formulations


def slow_too(quick: Iterable[Any], more: Iterable[Any]) -> list[Any]:
    """Cases for every run, often seeds, and more for those of all tests."""
    return [*quick, *(pytest.param(case, marks=pytest.mark.slow) for case in more)]


def in_turn(names: Iterable[Any], ways: Iterable[Any], *, whole: Container[Any] = ()) -> list[Any]:
    """Pairs of a name and a way, those of every run and those of all tests.

    In every run each name meets one way, taken in turn, and those in ``whole`` meet them all; all tests are all pairs.
    """
    ways = list(ways)
    found = []
    for k, name in enumerate(names):
        for j, way in enumerate(ways):
            quick = name in whole or j == k % len(ways)
            found.append(pytest.param(name, way, marks=() if quick else pytest.mark.slow, id=f"{name}-{way}"))
    return found


def formulations_in_turn(names: Iterable[Any], choose: Callable[[int], tuple[str, ...]] | None = None) -> list[Any]:
    """Pairs of a name and formulations to compare: some in every run, every one in all tests.

    ``choose`` gives those of every run by their turn; default: :func:`some_formulations`.
    """
    found, choose = [], choose or some_formulations
    for k, name in enumerate(names):
        found.append(pytest.param(name, choose(k), id=f"{name}-some"))
        found.append(pytest.param(name, tuple(formulations()), marks=pytest.mark.slow, id=f"{name}-all"))
    return found


def two_formulations(turn: int) -> tuple[str, ...]:
    """Two formulations, taken in turn: three neighbouring turns have every one, ten have every two."""
    names = [*formulations()]
    step = 1 + turn // len(names) % 2
    first = 2 * turn % len(names) if step == 1 else turn % len(names)
    return names[first], names[(first + step) % len(names)]


def some_formulations(turn: int) -> tuple[str, ...]:
    """Kane's equations and two others, taken in turn: turns 0 and 1 have every one, so have 2 and 3."""
    others = [name for name in formulations() if name != "kane"]
    pairs = list(combinations(others, 2))
    half = (len(pairs) + 1) // 2
    in_order = [pair for both in zip_longest(pairs[:half], reversed(pairs[half:])) for pair in both if pair]
    return ("kane", *in_order[turn % len(in_order)])
