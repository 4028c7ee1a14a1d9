"""Estimates of the cost of studies: their intervals, and lanes that wait for the longest run."""

import numpy as np

import pendula
from pendula.studies.estimate import _Tried, passes_of, side_by_side
from pendula.studies.sweep import prepare


def test_lanes_are_busy_unless_one_run_is_left():
    assert passes_of(np.full(80, 7.0)) == 70.0
    assert passes_of(np.array([1000.0, *[1.0] * 7])) == 1000.0
    rng = np.random.default_rng(3)
    steps = rng.choice([10.0, 60_000.0], 4000, p=[0.75, 0.25])
    assert 1.0 <= passes_of(steps) / (steps.sum() / 8) < 1.02


def test_intervals_cover_the_cost_of_studies_in_which_a_few_runs_take_nearly_all_of_it():
    """Costs of 2000 cases, a quarter of them 600 times as long as the others; 400 samples of 128 cases."""
    rng = np.random.default_rng(4)
    steps = np.where(rng.random(2000) < 0.25, 60_000.0, 100.0)
    covered = 0
    for _ in range(400):
        some = rng.choice(steps, 128, replace=False)
        tried = _Tried(count=128, seconds=passes_of(some) * 1e-6, passes=passes_of(some), each=some.tolist())
        found = tried.interval(2000)
        covered += found.low <= steps.mean() * 1e-6 / 8 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_only_runs_of_one_kind_are_side_by_side():
    system = pendula.compile_system("pendulum")

    def asked(compute, **options):
        return side_by_side(prepare(system, {"theta": [0.1, 0.2]}, compute, None, options)[1])

    assert asked("end")
    assert asked("first", within={"theta": 1.0})
    assert not asked("first", events=["theta > 1"])
    assert not asked("verdict")
