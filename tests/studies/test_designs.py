"""Designs: the same points in chunks of any size, the right distributions, and the variance that theory promises."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

from pendula.errors import UsageError
from pendula.studies.designs import DESIGNS, draws

OVER = {"m": ("uniform", 1.0, 3.0), "theta": ("normal", 0.5, 0.1), "c": ("loguniform", 1e-3, 10.0)}
SURE = 1e-4
"""A test of a distribution fails for a correct design with this probability; seeds are fixed."""


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("size", [1, 3, 7, 64])
def test_chunks_of_any_size_give_the_whole_design(design: str, size: int) -> None:
    whole = draws(design, OVER, 100, seed=5, replicate=2)
    parts = [
        draws(design, OVER, 100, seed=5, replicate=2, first=k, last=min(k + size, 100)) for k in range(0, 100, size)
    ]
    for name in OVER:
        assert np.array_equal(whole[name], np.concatenate([part[name] for part in parts]))


@pytest.mark.parametrize("design", ["random", "sobol"])
def test_extended_design_keeps_its_first_samples(design: str) -> None:
    few, many = (draws(design, OVER, count, seed=1) for count in (37, 5000))
    for name in OVER:
        assert np.array_equal(few[name], many[name][:37])


@pytest.mark.parametrize("design", DESIGNS)
def test_further_name_changes_no_other(design: str) -> None:
    some, more = draws(design, OVER, 32), draws(design, {**OVER, "k": ("uniform", 0, 1)}, 32)
    for name in OVER:
        assert np.array_equal(some[name], more[name])


@pytest.mark.parametrize("design", DESIGNS)
def test_seeds_replicates_and_names_give_different_points(design: str) -> None:
    one = draws(design, {"a": ("uniform", 0, 1), "b": ("uniform", 0, 1)}, 16)
    assert not np.isin(one["a"], one["b"]).any()
    for other in ({"seed": 1}, {"replicate": 1}):
        assert not np.isin(one["a"], draws(design, {"a": ("uniform", 0, 1)}, 16, **other)["a"]).any()


@pytest.mark.parametrize("design", DESIGNS)
def test_values_have_the_requested_distributions(design: str) -> None:
    # One value of each of 1,000 replicates: these are independent in every design.
    found = [draws(design, OVER, 8, seed=9, replicate=r, first=3, last=4) for r in range(1000)]
    expected = {
        "m": stats.uniform(1.0, 2.0),
        "theta": stats.norm(0.5, 0.1),
        "c": stats.loguniform(1e-3, 10.0),
    }
    for name, law in expected.items():
        assert stats.kstest([float(one[name][0]) for one in found], law.cdf).pvalue > SURE


def test_every_stratum_of_a_latin_hypercube_holds_one_sample() -> None:
    found = draws("latin", {"a": ("uniform", 0, 1), "b": ("uniform", 0, 1)}, 50, seed=2)
    for values in found.values():
        assert np.array_equal(np.sort((values * 50).astype(int)), np.arange(50))
    assert not np.array_equal(np.argsort(found["a"]), np.argsort(found["b"]))


@pytest.mark.parametrize("shape", [(1, 64), (2, 32), (4, 16), (8, 8), (16, 4), (32, 2), (64, 1)])
def test_scrambled_sobol_points_are_a_net(shape: tuple[int, int]) -> None:
    # The first two dimensions are a (0, 6, 2)-net: every box of area 1/64 holds one of 64 points.
    found = draws("sobol", {"a": ("uniform", 0, 1), "b": ("uniform", 0, 1)}, 64, seed=4, replicate=3)
    boxes = (found["a"] * shape[0]).astype(int) * shape[1] + (found["b"] * shape[1]).astype(int)
    assert np.array_equal(np.sort(boxes), np.arange(64))


def test_scrambling_flips_digits_of_one_prefix_together_and_of_others_independently() -> None:
    plain = qmc.Sobol(1, scramble=False).random(16)[:, 0]
    agreed = np.zeros((4, 4))
    for replicate in range(400):
        found = draws("sobol", {"a": ("uniform", 0, 1)}, 16, replicate=replicate)["a"]
        digits = (found * 16).astype(int) ^ (plain * 16).astype(int)
        for place in range(4):
            prefix = (plain * 2**place).astype(int)
            flips = [set(digits[prefix == k] >> (3 - place) & 1) for k in range(2**place)]
            assert all(len(flip) == 1 for flip in flips)
            agreed[place, : min(4, 2**place)] += [flip.pop() for flip in flips[:4]]
    shares = agreed[agreed > 0] / 400
    assert shares.size == 1 + 2 + 4 + 4
    assert np.abs(shares - 0.5).max() < 0.12  # 4.8 standard deviations


def test_error_of_scrambled_sobol_means_falls_with_the_power_three_halves() -> None:
    # Owen 1997: the variance for smooth functions is of the order n^-3 (log n)^(d-1).
    spread = []
    for count in (16, 256):
        found = [
            draws("sobol", {"a": ("uniform", 0, 1), "b": ("uniform", 0, 1)}, count, replicate=r) for r in range(200)
        ]
        spread.append(np.std([np.mean(np.exp(one["a"]) * np.cos(one["b"])) for one in found]))
    assert -1.65 < np.log(spread[1] / spread[0]) / np.log(16) < -1.25


def test_samples_from_the_middle_of_a_long_sequence() -> None:
    first = 3_000_001
    for design in ("random", "sobol"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            part = draws(design, OVER, first + 5, first=first)
            longer = draws(design, OVER, first + 5, first=first - 2)
        assert np.array_equal(part["m"], longer["m"][2:])


def test_no_samples_and_degenerate_ranges() -> None:
    for design in DESIGNS:
        assert draws(design, OVER, 0)["m"].size == 0
        assert draws(design, {}, 5) == {}
        assert (draws(design, {"m": ("uniform", 2, 2), "s": ("normal", 1, 0)}, 4)["m"] == 2).all()


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("unknown design", {"design": "halton"}),
        ('"m": unknown distribution', {"over": {"m": ("gamma", 1, 2)}}),
        ('"m": a distribution is a name', {"over": {"m": (1, 2)}}),
        ('"m": uniform goes from', {"over": {"m": ("uniform", 2, 1)}}),
        ('"m": sigma', {"over": {"m": ("normal", 2, -1)}}),
        ('"m": both ends', {"over": {"m": ("loguniform", 0, 1)}}),
        ('"m": uniform takes two finite', {"over": {"m": ("uniform", 0, float("inf"))}}),
        ('"m": normal takes two finite', {"over": {"m": ("normal", "a", 1)}}),
        ("seed of a design", {"seed": -1}),
        ("count of a design", {"count": 2.5}),
        ("has no samples", {"first": 5, "last": 3}),
        ("has no samples", {"last": 11}),
    ],
)
def test_wrong_requests_say_what_was_found(words: str, change: dict) -> None:
    with pytest.raises(UsageError, match=words):
        draws(**{"design": "sobol", "over": OVER, "count": 10, **change})
