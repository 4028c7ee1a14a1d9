"""Estimates: intervals against independent formulas, their coverage, and failed cases."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from pendula.errors import UsageError
from pendula.studies.statistics import FEW, Estimate, estimate
from tests.studies.coverage import AREA, HIGH, LOW, RANDOM, STUDIES, bounds, covered, random_studies, replicated_studies

SAMPLES = {
    "normal": 20,
    "exponential": 50,
    "lognormal 0.5": 50,
    "lognormal 1": 1000,
    "half": 100,
    "tenth": 200,
    "fiftieth": 750,
}
"""samples from which on an interval of each kind keeps its level"""


def test_wilson_interval_equals_that_of_scipy() -> None:
    for events, count in ((10, 20), (30, 100), (990, 1000)):
        found = estimate(np.arange(count) < events, of="probability", level=0.9)
        expected = stats.binomtest(events, count).proportion_ci(0.9, method="wilson")
        assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-14)
        assert "Wilson" in found.method
        assert not found.notes


@pytest.mark.parametrize(("events", "count"), [(0, 1), (0, 40), (3, 40), (FEW - 1, 1000), (1000, 1000), (993, 1000)])
def test_interval_of_few_events_is_the_exact_one_of_scipy(events: int, count: int) -> None:
    found = estimate(np.arange(count) < events, of="probability")
    expected = stats.binomtest(events, count).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-12)
    assert found.notes == (
        f"only {min(events, count - events)} of the rarer outcome: the interval is wider than it need be",
    )


def test_symmetric_samples_give_the_interval_of_student() -> None:
    values = np.concatenate([5 + np.arange(1, 11), 5 - np.arange(1, 11)])
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.99)
    found = estimate(values, level=0.99)
    assert (found.low, found.high) == pytest.approx(tuple(expected), rel=1e-12)


def test_ends_of_the_interval_of_skewed_samples_solve_the_equation_of_hall() -> None:
    values = np.random.default_rng(4).exponential(size=40)
    found, n = estimate(values), values.size
    skewness, quantile = stats.skew(values), stats.t.ppf(0.975, n - 1)
    for end, expected in ((found.low, quantile), (found.high, -quantile)):
        t = (values.mean() - end) / values.std(ddof=1) * np.sqrt(n)
        c = skewness / np.sqrt(n)
        assert t + c * t**2 / 3 + c**2 * t**3 / 27 + c / 6 == pytest.approx(expected, rel=1e-9)
    assert found.high - found.value > 1.2 * (found.value - found.low)


def test_interval_of_replicates_is_that_of_student_over_their_means() -> None:
    values = np.random.default_rng(4).normal(size=(8, 100))
    expected = stats.ttest_1samp(values.mean(axis=1), 0).confidence_interval(0.95)
    found = estimate(values)
    assert (found.low, found.high) == pytest.approx(tuple(expected), rel=1e-12)
    assert found.samples == 800


def test_estimate_moves_and_scales_with_the_samples() -> None:
    values = np.random.default_rng(4).exponential(size=60)
    one, other = estimate(values), estimate(7 - 3 * values)
    assert (other.low, other.high) == pytest.approx((7 - 3 * one.high, 7 - 3 * one.low))


# --- coverage --------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.5, 0.1, 0.02, 0.004])
def test_exact_coverage_of_a_probability(p: float) -> None:
    """By the binomial distribution, without sampling: within the promise if 15 events are expected among 100 samples."""
    for expected in (15, 20, 31, 50, 77, 100):
        n = max(100, round(expected / p))
        events = np.arange(n + 1)
        chance = stats.binom.pmf(events, n, p)
        likely = events[chance > 1e-9]
        found = [estimate(np.arange(n) < k, of="probability") for k in likely]
        share = sum(chance[k] for k, one in zip(likely, found, strict=True) if one.low <= p <= one.high)
        assert LOW <= share <= HIGH, (n, share)


@pytest.mark.parametrize("name", RANDOM)
def test_intervals_of_random_samples_cover_quick(name: str) -> None:
    low, high = bounds(400)
    assert low <= covered(random_studies(name, 400, SAMPLES[name]), RANDOM[name][1]) <= high


@pytest.mark.parametrize("design", ["latin", "sobol"])
@pytest.mark.parametrize("name", AREA)
def test_intervals_of_replicates_cover_quick(design: str, name: str) -> None:
    low, high = bounds(40)
    studies = replicated_studies(design, name, 40, 16, replicates=12)
    assert low <= covered(studies, AREA[name][1]) <= high


@pytest.mark.slow
@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.parametrize("more", [1, 4])
def test_intervals_of_random_samples_cover(name: str, more: int) -> None:
    assert LOW <= covered(random_studies(name, STUDIES, more * SAMPLES[name]), RANDOM[name][1]) <= HIGH


@pytest.mark.slow
@pytest.mark.parametrize(("samples", "replicates"), [(16, 32), (64, 16), (256, 8)])
@pytest.mark.parametrize("name", AREA)
@pytest.mark.parametrize("design", ["latin", "sobol"])
def test_intervals_of_replicates_cover(design: str, name: str, samples: int, replicates: int) -> None:
    studies = replicated_studies(design, name, STUDIES, samples, replicates)
    assert LOW <= covered(studies, AREA[name][1]) <= HIGH


def test_student_without_correction_would_miss_the_promise_for_skewed_samples() -> None:
    """Why Hall's correction is there: exponential values, 20 samples."""
    values = np.random.default_rng(0).exponential(size=(4000, 20))
    plain = stats.ttest_1samp(values, 1.0, axis=1).pvalue > 0.05
    corrected = [one.low <= 1.0 <= one.high for one in map(estimate, values)]
    assert np.mean(plain) < 0.93 < 0.94 < np.mean(corrected) < HIGH


# --- failed cases ----------------------------------------------------------------------------------


def test_failed_cases_of_an_event_widen_the_interval_to_the_worst_case() -> None:
    values = np.array([1.0] * 30 + [0.0] * 60 + [np.nan] * 10)
    found = estimate(values, of="probability")
    assert found.low == estimate(np.arange(100) < 30, of="probability").low
    assert found.high == estimate(np.arange(100) < 40, of="probability").high
    assert found.value == pytest.approx(30 / 90)
    assert (found.failed, found.samples) == (10, 100)
    assert "failed cases count as 0 at the lower end" in found.notes[0]
    assert "10 failed" in str(found)


def test_interval_covers_whatever_the_failed_cases_would_have_given() -> None:
    """Failures that depend on the value, the worst kind: the interval still holds the mean of all cases."""
    rng = np.random.default_rng(1)
    right = 0
    for _ in range(300):
        values = rng.random(200)
        values[(values > 0.8) & (rng.random(200) < 0.5)] = np.nan
        found = estimate(values, within=(0.0, 1.0))
        right += found.low <= 0.5 <= found.high
    assert right >= 0.935 * 300
    assert "failed cases count as 0 at the lower end and as 1 at the upper end" in found.notes


def test_mean_with_failed_cases_says_what_it_is_the_mean_of() -> None:
    values = np.random.default_rng(1).normal(size=100)
    values[3] = np.nan
    found = estimate(values)
    assert found.notes == ("mean of the cases that did not fail; 1 failed case may differ",)
    assert found.value == pytest.approx(np.delete(values, 3).mean())


def test_too_many_failed_cases_are_refused() -> None:
    values = np.random.default_rng(1).normal(size=100)
    values[:6] = np.nan
    with pytest.raises(UsageError, match="6 of 100 cases failed"):
        estimate(values)
    assert estimate(values, within=(-9, 9)).failed == 6
    with pytest.raises(UsageError, match="100 of 100"):
        estimate(np.full(100, np.nan), of="probability")
    rows = np.random.default_rng(1).normal(size=(32, 10))
    rows[0] = np.nan  # 3 % only, but one replicate has nothing left
    with pytest.raises(UsageError, match="10 of 320"):
        estimate(rows)


# --- honest words ----------------------------------------------------------------------------------


def test_equal_samples_and_strong_skewness_are_told() -> None:
    assert "rarer than about 0.03" in estimate(np.full(100, 2.0)).notes[0]
    rare = np.zeros(100)
    rare[7] = 50.0
    assert "may cover less often than stated" in estimate(rare).notes[0]
    assert estimate(np.linspace(0, 1, 100)).notes == ()


def test_replicates_of_an_event_that_never_occurred_are_pooled() -> None:
    found = estimate(np.zeros((16, 32)), of="probability")
    assert found.low == 0.0
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 512))


def test_interval_stays_within_what_is_possible() -> None:
    found = estimate([0.0, 0.0, 0.0, 1.0], within=(0, 1))
    assert found.low == 0.0
    assert found.high == 1.0


def test_estimate_as_data_and_text() -> None:
    found = estimate([True, False] * 50, of="probability")
    assert json.loads(json.dumps(found.as_dict()))["value"] == 0.5
    assert isinstance(found, Estimate)
    assert str(found).splitlines()[1] == "100 samples; Wilson's score interval"


@pytest.mark.parametrize(
    ("words", "values", "how"),
    [
        ("two samples", [1.0], {}),
        ("two replicates", [[1.0, 2.0]], {}),
        ("1 sample of 3 are infinite", [1.0, 2.0, np.inf], {}),
        ("other numbers", [0.0, 0.5], {"of": "probability"}),
        ('found "median"', [1.0, 2.0], {"of": "median"}),
        ("found 95", [1.0, 2.0], {"level": 95}),
        ("samples go from 1 to 5", [1.0, 5.0], {"within": (0, 2)}),
        ("below the largest", [1.0, 5.0], {"within": (2, 0)}),
        ("must be numbers", ["a", "b"], {}),
    ],
)
def test_wrong_requests_say_what_was_found(words: str, values: list, how: dict) -> None:
    with pytest.raises(UsageError, match=words):
        estimate(values, **how)
