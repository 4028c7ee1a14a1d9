"""Sides of the benchmark of linearization give the eigenvalues of paper 000, each as exactly as it can. No timings."""

import numpy as np
import pytest

import pendula
from benchmarks import linearization
from benchmarks.__main__ import NAMES
from benchmarks.lineup import Missing
from benchmarks.page import TITLES

ERRORS = {"MuJoCo two hinges": 1e-5}  # differences, and the matrix of one step; all others have rounding only
ROUNDING = 1e-13
SLOW = ("SymPy x, y",)


def sides() -> list:
    return [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in linearization.SIDES]


@pytest.mark.parametrize("name", sides())
def test_every_side_has_the_right_eigenvalues(name: str) -> None:
    found: dict[str, float] = {}
    try:
        once = linearization._checked(name, linearization.SIDES[name], found)
    except Missing as reason:
        pytest.skip(str(reason))
    assert found[name] < ERRORS.get(name, ROUNDING)
    once()


def test_the_batch_is_as_exact_as_single_calls() -> None:
    found: dict[str, float] = {}
    values = linearization._batch(found)()
    assert values.shape == (linearization.EXECUTIONS, 4)
    assert found[linearization.BATCH] < 1e-14


def test_a_wrong_eigenvalue_shows_in_the_error() -> None:
    exact = np.array([1j, -1j, 1j, -1j]) * np.sqrt(9.81)
    assert linearization._error(exact) == 0.0
    assert linearization._error([*exact, 0.0]) == 0.0  # zeros are not counted against other engines
    assert linearization._error(exact[:3]) == np.inf
    assert linearization._error(exact + 1e-6) == pytest.approx(2e-6)


def test_it_is_part_of_the_benchmarks_and_of_the_page() -> None:
    assert "linearization" in NAMES
    assert TITLES["linearization"] == "Linearization"
    assert set(linearization.BEATEN) <= set(linearization.SIDES)


@pytest.mark.slow
def test_modes_of_a_long_chain_are_all_there() -> None:
    assert linearization._chain_modes() >= 0.0
    assert pendula.modes(pendula.compile_system(pendula.library.chain(links=3)), {}).frequencies.shape == (3,)
