"""Stages: studies that stop at a stated accuracy still cover, and always end with a reason."""

from __future__ import annotations

import numpy as np
import pytest

from pendula.errors import UsageError
from pendula.studies.stages.stopping import PILOT, REPLICATES, SIZE, Goal, next_stage
from pendula.studies.statistics import estimate
from tests.studies.coverage import AREA, HIGH, LOW, RANDOM, STUDIES, bounds, covered, random_stopped, replicated_stopped

SPREAD = {
    "normal": 1.0,
    "exponential": 2.0,
    "lognormal 0.5": float(np.sqrt((np.exp(0.25) - 1) * np.exp(0.25))),
    "lognormal 1": float(np.sqrt((np.exp(1.0) - 1) * np.exp(1.0))),
    "half": 0.5,
    "tenth": 0.3,
    "fiftieth": 0.14,
}
"""standard deviations"""


def goal_of(name: str, samples: int, relative: bool = False) -> Goal:
    """A goal that takes about so many samples."""
    width = 1.96 * SPREAD[name] / np.sqrt(samples)
    return Goal(width / RANDOM[name][1] if relative else width, relative, of=RANDOM[name][2])


@pytest.mark.parametrize("name", RANDOM)
def test_random_studies_that_stop_cover_quick(name: str) -> None:
    low, high = bounds(150)
    studies = random_stopped(name, 150, goal_of(name, 900))
    assert low <= covered(studies, RANDOM[name][1]) <= high
    assert all(one.half_width <= goal_of(name, 900).half_width for one in studies)


# Wider goals than these stop with fewer than ten events of probability 0.02, and then cover in 97 %.
WIDE = {"fiftieth": 900}


@pytest.mark.slow
@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.parametrize("samples", [300, 1500])
@pytest.mark.parametrize("relative", [False, True])
def test_random_studies_that_stop_cover(name: str, samples: int, relative: bool) -> None:
    goal = goal_of(name, max(samples, WIDE.get(name, 0)), relative)
    assert LOW <= covered(random_stopped(name, STUDIES, goal), RANDOM[name][1]) <= HIGH


GOALS = {
    ("latin", "smooth"): (3e-3, 2e-3),
    ("latin", "disc"): (0.012, 0.008),
    ("sobol", "smooth"): (4e-3, 8e-4),
    ("sobol", "disc"): (0.025, 0.01),
}
"""half-widths that take one stage to three"""


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(("design", "name"), GOALS)
def test_replicated_studies_that_stop_cover(design: str, name: str, which: int) -> None:
    goal = Goal(GOALS[design, name][which], of=AREA[name][2])
    assert LOW <= covered(replicated_stopped(design, name, STUDIES, goal), AREA[name][1]) <= HIGH


def doubled(rng: np.random.Generator, goal: Goal, naive: bool) -> bool:
    """Whether the interval of one study of doubling replicates, with values as independent as can be, covers zero."""
    values = rng.normal(size=(REPLICATES, 512))
    samples = SIZE["sobol"]
    while True:
        found = estimate(values[:, :samples])
        stop = goal.met_by(found) if naive else next_stage(goal, "sobol", values[:, :samples]).done
        if stop or samples == 512:
            return found.low <= 0.0 <= found.high
        samples *= 2


def test_doubling_studies_cover_on_their_hardest_values_quick() -> None:
    """Variances of Sobol means fall at least as 1/n; then the spread at one stage tells most about the next."""
    rng, goal = np.random.default_rng(5), Goal(0.06)
    low, high = bounds(400)
    assert low <= np.mean([doubled(rng, goal, naive=False) for _ in range(400)]) <= high


@pytest.mark.slow
@pytest.mark.parametrize("half_width", [0.03, 0.04, 0.05, 0.06, 0.07])
def test_doubling_studies_cover_on_their_hardest_values(half_width: float) -> None:
    rng = np.random.default_rng(5)
    assert LOW <= np.mean([doubled(rng, Goal(half_width), naive=False) for _ in range(STUDIES)]) <= HIGH


# --- the rule --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("design", "replicates", "samples"), [("random", 1, PILOT), ("latin", 32, 64), ("sobol", 32, 16)]
)
def test_first_stage_is_the_pilot(design: str, replicates: int, samples: int) -> None:
    stage = next_stage(Goal(0.1), design)
    assert (stage.replicates, stage.samples, stage.done) == (replicates, samples, False)


def test_stage_depends_on_the_values_alone_and_is_the_same_when_asked_again() -> None:
    values = np.random.default_rng(1).normal(size=300)
    assert next_stage(Goal(0.05), "random", values) == next_stage(Goal(0.05), "random", values)


def test_part_of_the_first_stage_asks_for_the_rest() -> None:
    stage = next_stage(Goal(0.1), "random", np.zeros(100))
    assert (stage.samples, stage.done) == (PILOT, False)
    stage = next_stage(Goal(0.1), "latin", np.zeros((3, 64)))
    assert (stage.replicates, stage.samples) == (32, 64)


def test_each_design_grows_in_its_own_way() -> None:
    rng = np.random.default_rng(2)
    stage = next_stage(Goal(1e-2), "random", rng.normal(size=PILOT))
    assert (stage.replicates, stage.samples) == (1, 8 * PILOT)
    stage = next_stage(Goal(1e-2), "latin", rng.normal(size=(32, 64)))
    assert stage.samples == 64
    assert 32 < stage.replicates <= 256
    stage = next_stage(Goal(1e-2), "sobol", rng.normal(size=(32, 16)))
    assert (stage.replicates, stage.samples) == (32, 32)


def test_largest_number_of_samples_ends_a_study_with_its_reason() -> None:
    rng = np.random.default_rng(2)
    goal = Goal(1e-3, most=600)
    stage = next_stage(goal, "random", rng.normal(size=PILOT))
    assert (stage.samples, stage.done) == (600, False)
    last = next_stage(goal, "random", rng.normal(size=600))
    assert last.done
    assert "more than 600 samples are not allowed" in last.reason
    assert last.estimate is not None
    assert last.estimate.half_width > 1e-3
    assert next_stage(Goal(1e-3, most=1000), "sobol", rng.normal(size=(32, 16))).done
    small = next_stage(Goal(1e-3, most=50), "random")
    assert small.samples == 50


def test_mean_of_zero_never_meets_a_relative_goal() -> None:
    stage = next_stage(Goal(0.1, relative=True, most=10_000), "random", np.tile([-1.0, 1.0], 128))
    assert not stage.done
    assert next_stage(Goal(0.1, relative=True, most=256), "random", np.tile([-1.0, 1.0], 128)).done


def test_failed_cases_that_alone_exceed_the_goal_end_the_study() -> None:
    values = np.tile([0.0, 1.0, 1.0, np.nan], 64)
    stage = next_stage(Goal(0.1, of="probability"), "random", values)
    assert stage.done
    assert "failed cases alone" in stage.reason
    stage = next_stage(Goal(0.1), "random", values)
    assert stage.done
    assert stage.estimate is None
    assert "64 of 256 cases failed" in stage.reason


def test_few_failed_cases_do_not_stop_a_study() -> None:
    values = np.random.default_rng(2).normal(size=PILOT)
    values[7] = np.nan
    assert not next_stage(Goal(0.05), "random", values).done
    rows = np.random.default_rng(2).normal(size=(32, 64))
    rows[:8, 0] = np.nan  # many among the first samples, few among all
    assert next_stage(Goal(0.1), "sobol", rows).done


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("must be positive", lambda: Goal(0.0)),
        ("2 or more", lambda: Goal(0.1, most=1)),
        ("unknown design", lambda: next_stage(Goal(0.1), "halton")),
        ("begins with 512 samples", lambda: next_stage(Goal(0.1, most=500), "sobol")),
        (r"\(R, n\), found \(4,\)", lambda: next_stage(Goal(0.1), "latin", np.zeros(4))),
        ("infinite", lambda: next_stage(Goal(0.1), "random", np.full(PILOT, np.inf))),
    ],
)
def test_wrong_requests_say_what_was_found(words: str, call) -> None:
    with pytest.raises(UsageError, match=words):
        call()
