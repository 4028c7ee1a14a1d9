"""Refinement: the full grid's answer from few points, and the same points whatever order they are computed in."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.ndimage import label

from pendula.errors import UsageError
from pendula.studies.stages.refinement import Refinement


def refined(truth: np.ndarray, coarse: int = 16, **how) -> tuple[np.ndarray, np.ndarray, int]:
    """Answers on the full grid, mask of the computed points, and the number of stages."""
    plan, known, stages = Refinement(truth.shape, coarse, **how), {}, 0
    while (more := plan.next(known)).size:
        assert not known.keys() & set(more.tolist())
        known |= {k: truth.flat[k] for k in more.tolist()}
        stages += 1
    answers, computed = plan.fill(known)
    assert computed.sum() == len(known)
    assert (answers[computed] == truth[computed]).all()
    return answers, computed, stages


def square(n: int, m: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    return np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, m or n), indexing="ij")


@cache
def mathieu(points: int) -> np.ndarray:
    """Stability of x'' + (delta + epsilon cos t) x = 0 over delta and epsilon, by the trace of the monodromy matrix.

    The coefficient is even in t, so the trace is twice x(2 pi) of the solution with x = 1, x' = 0 at the start (Magnus
    and Winkler 1966, theorem 1.1). RK4, 60 steps.
    """
    delta, epsilon = np.meshgrid(np.linspace(-0.6, 2.6, points), np.linspace(0, 2, points), indexing="ij")
    h, z = 2 * np.pi / 60, np.stack([np.ones_like(delta), np.zeros_like(delta)])

    def rate(t: float, z: np.ndarray) -> np.ndarray:
        return np.stack([z[1], -(delta + epsilon * np.cos(t)) * z[0]])

    for t in h * np.arange(60):
        a = rate(t, z)
        b = rate(t + h / 2, z + h / 2 * a)
        c = rate(t + h / 2, z + h / 2 * b)
        z = z + h / 6 * (a + 2 * b + 2 * c + rate(t + h, z + h * c))
    return np.abs(2 * z[0]) < 2


def test_reference_chart_has_the_tongues_of_mathieu() -> None:
    # For small epsilon the first tongue is |delta - 1/4| < epsilon/2 (Nayfeh and Mook 1979, 5.3).
    delta, epsilon = np.linspace(-0.6, 2.6, 300), np.linspace(0, 2, 300)
    row = int(np.searchsorted(epsilon, 0.1))
    unstable = delta[~mathieu(300)[:, row] & (delta > 0.1) & (delta < 0.4)]
    assert unstable.min() == pytest.approx(0.25 - epsilon[row] / 2, abs=0.02)
    assert unstable.max() == pytest.approx(0.25 + epsilon[row] / 2, abs=0.02)


@pytest.mark.parametrize("coarse", [8, 16])
def test_tongues_of_mathieu_equal_the_full_grid_from_a_tenth_of_its_points(coarse: int) -> None:
    truth = mathieu(300)
    answers, computed, _ = refined(truth, coarse)
    assert np.array_equal(answers, truth)
    assert computed.mean() < 0.1


def test_what_is_missed_of_a_tongue_is_a_tip_that_the_full_grid_itself_tears_off() -> None:
    # Here the third tongue is narrower than a step of the grid near its tip: 14 points in a row are an island.
    truth = mathieu(240)
    wrong = refined(truth)[0] != truth
    pieces, count = label(~truth, structure=np.ones((3, 3)))
    islands = [k for k in range(1, count + 1) if wrong[pieces == k].any()]
    assert len(islands) == 1
    assert np.array_equal(wrong, pieces == islands[0])
    assert len(set(np.nonzero(wrong)[0])) == 1


@pytest.mark.parametrize("shape", [(200, 200), (97, 211), (64, 33), (18, 300)])
def test_disc_on_grids_of_any_size(shape: tuple[int, int]) -> None:
    x, y = square(*shape)
    truth = np.where(x**2 + y**2 < 0.4, "inside", "outside")
    answers, computed, _ = refined(truth)
    assert np.array_equal(answers, truth)
    border = sum((np.diff(truth == "inside", axis=k)).sum() for k in (0, 1))
    assert computed.sum() < 4 * border + computed.size / 64


def test_several_answers_and_failed_cases() -> None:
    x, y = square(150, 170)
    truth = np.where(np.hypot(x, y) < 0.3, np.nan, np.floor(2 * np.arctan2(y, x)))
    plan, known = Refinement(truth.shape), {}
    while (more := plan.next(known)).size:
        known |= {k: truth.flat[k] for k in more.tolist()}
    answers, computed = plan.fill(known)
    assert np.array_equal(answers, truth, equal_nan=True)
    assert computed.mean() < 0.25


def test_checkerboard_computes_every_point() -> None:
    x, y = np.indices((40, 50))
    truth = (x + y) % 2 == 0
    # Points of an even first step have one color: only the last lines, at odd positions, show the other.
    answers, computed, _ = refined(truth, coarse=4)
    assert computed.all()
    assert np.array_equal(answers, truth)
    answers, computed, _ = refined(truth, coarse=1)
    assert computed.all()


def test_strip_of_one_point_is_followed_from_the_region_it_touches() -> None:
    truth = np.zeros((180, 260), dtype=int)
    truth[:40] = 1
    truth[40:160, 100] = 1  # straight, between lines of the first stage
    truth[np.arange(40, 120), np.arange(140, 220)] = 1  # diagonal
    answers, computed, stages = refined(truth)
    assert np.array_equal(answers, truth)
    assert computed.mean() < 0.1
    assert stages < 120  # advances more than one point in a stage


def test_wide_strip_is_filled_inside_a_cell_that_looked_uniform() -> None:
    truth = np.zeros((200, 200), dtype=int)
    truth[:50] = 1
    truth[50:150, 99:110] = 1  # 11 wide, between lines 96 and 112
    answers, _, _ = refined(truth)
    assert np.array_equal(answers, truth)


def test_island_between_first_points_is_missed_and_a_larger_one_is_not() -> None:
    for size, found in ((15, False), (16, True)):
        truth = np.zeros((200, 200), dtype=bool)
        truth[65 : 65 + size, 81 : 81 + size] = True
        answers, _, _ = refined(truth, coarse=16)
        assert answers.any() == found
        assert np.array_equal(answers, truth) == found
    # The promise of the docstring, for all places of the island.
    rng = np.random.default_rng(2)
    for _ in range(20):
        truth = np.zeros((70, 90), dtype=bool)
        a, b = rng.integers(0, 70 - 7), rng.integers(0, 90 - 7)
        truth[a : a + 8, b : b + 8] = True
        assert np.array_equal(refined(truth, coarse=8)[0], truth)


@pytest.mark.parametrize("seed", range(6))
def test_random_smooth_regions_equal_the_full_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = square(int(rng.integers(120, 200)), int(rng.integers(120, 200)))
    waves = sum(a * np.sin(p * x + q * y + r) for a, p, q, r in rng.normal(size=(8, 4)) * [1, 4, 4, 3])
    truth = np.digitize(waves, [-1.0, 1.0])
    answers, computed, _ = refined(truth, coarse=8)
    wrong = answers != truth
    assert wrong.mean() < 2e-3  # islands smaller than 8 x 8 points at most
    assert computed.mean() < 0.5


def test_one_axis_is_bisected() -> None:
    truth = np.arange(1000) >= 617
    answers, computed, stages = refined(truth)
    assert np.array_equal(answers, truth)
    assert stages == 5  # the first, then 8, 4, 2, 1
    assert computed.sum() == np.arange(0, 1000, 16).size + 1 + 4


def test_three_axes() -> None:
    x, y, z = np.meshgrid(*[np.linspace(-1, 1, n) for n in (50, 61, 40)], indexing="ij")
    truth = x**2 + y**2 + z**2 < 0.5
    answers, computed, _ = refined(truth, coarse=8)
    assert np.array_equal(answers, truth)
    assert computed.mean() < 0.35


def test_axes_of_one_point_and_grids_of_few() -> None:
    for shape in ((1,), (1, 1), (2, 2), (1, 3), (5, 1, 7)):
        truth = np.arange(np.prod(shape)).reshape(shape)
        answers, computed, _ = refined(truth)
        assert computed.all()
        assert np.array_equal(answers, truth)


def test_values_are_refined_where_they_jump() -> None:
    x, y = square(160)
    truth = 0.2 * x + np.where(y > 0.3 * x, 1.0, 0.0)
    answers, computed, _ = refined(truth, threshold=0.3)
    assert computed.mean() < 0.1
    assert np.abs(answers - truth).max() < 0.3
    truth = np.where(y > 0.3 * x, np.nan, 0.2 * x)
    plan, known = Refinement(truth.shape, threshold=0.3), {}
    while (more := plan.next(known)).size:
        known |= {k: truth.flat[k] for k in more.tolist()}
    assert np.array_equal(np.isnan(plan.fill(known).answers), np.isnan(truth))


def test_interrupted_plan_computes_the_same_points_in_any_order() -> None:
    x, y = square(120, 90)
    truth = np.floor(3 * x * y + np.sin(5 * x))
    expected = refined(truth)[1]
    rng = np.random.default_rng(8)
    plan, known = Refinement(truth.shape), {}
    while (more := plan.next(known)).size:
        kept = rng.permutation(more)[: max(1, more.size // 2)]
        known = {int(k): truth.flat[k] for k in rng.permutation([*known, *kept])}
    assert np.array_equal(plan.fill(known).computed, expected)


def test_points_known_from_elsewhere_do_not_change_the_plan() -> None:
    x, y = square(120, 90)
    truth = x**2 + 2 * y**2 < 0.7
    expected = refined(truth)[1]
    others = np.random.default_rng(3).choice(truth.size, 500, replace=False)
    plan, known = Refinement(truth.shape), {int(k): truth.flat[k] for k in others}
    while (more := plan.next(known)).size:
        known |= {k: truth.flat[k] for k in more.tolist()}
    mask = expected.copy()
    mask.flat[others] = True
    assert np.array_equal(plan.fill(known).computed, mask)


def test_arrays_in_place_of_a_mapping() -> None:
    plan = Refinement((33, 33), 8)
    first = plan.next((np.empty(0, dtype=int), np.empty(0)))
    answers = np.where(first < 500, "a", "b")
    assert np.array_equal(plan.next((first, answers)), plan.next(dict(zip(first.tolist(), answers, strict=True))))


def test_wrong_requests_say_what_was_found() -> None:
    with pytest.raises(UsageError, match=r"shape \(0, 3\)"):
        Refinement((0, 3))
    with pytest.raises(UsageError, match="found 12"):
        Refinement((30, 30), 12)
    with pytest.raises(UsageError, match="threshold"):
        Refinement((30, 30), threshold=-1)
    plan = Refinement((30, 30), threshold=0.1)
    with pytest.raises(UsageError, match="needs numbers"):
        plan.next({0: "a"})
    with pytest.raises(UsageError, match="found 3 to 900"):
        plan.next({3: 1.0, 900: 2.0})
    with pytest.raises(UsageError, match="one label or number"):
        plan.next({3: None})
    with pytest.raises(UsageError, match="before one of its points"):
        plan.fill({})
