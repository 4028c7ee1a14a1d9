"""The energy drift covers the time between steps, and does not depend on the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula
from pendula import library
from tests.simulation.test_singular_poses import windows

ALLOWED = 4.0  # energy errors between steps, relative to the drift: as documented
WITHIN = np.linspace(0.05, 0.95, 19)  # of every step

CASES: list[tuple[Any, float]] = [
    ("pendulum", 10.0), ("four-bar", 2.0), ("spatial-rod", 3.0), ("double-pendulum", 5.0), (windows(1), 2.0),
    (library.chain(links=10), 3.0), ("free-body", 10.0), ("linkage", 5.0), ("hoop-bead", 5.0),
]  # fmt: skip


@pytest.mark.parametrize("cases", [CASES[:5], pytest.param(CASES[5:], marks=pytest.mark.slow)], ids=["few", "more"])
@pytest.mark.parametrize(
    "settings",
    [
        {"tol": 1e-8},
        {"tol": 1e-11},
        {"stepper": "rk45", "tol": 1e-6},
        {"stepper": "radau", "tol": 1e-5},
        {"stepper": "rk4", "step": 0.01},
    ],
)
def test_no_sample_is_off_by_much_more_than_the_drift(settings: dict[str, Any], cases: list[tuple[Any, float]]) -> None:
    for mechanism, duration in cases:
        system = pendula.compile_system(mechanism)
        run = pendula.simulate(system, duration, **settings)
        steps = run.energy.t
        times = (steps[:-1, None] + np.diff(steps)[:, None] * WITHIN).ravel()
        sampled = pendula.simulate(system, duration, samples=times, **settings)
        assert sampled.energy_drift == run.energy_drift
        assert np.abs(sampled.energy_error).max() <= ALLOWED * run.energy_drift, system.model.name


def test_an_energy_error_at_a_sample_is_a_doubt() -> None:
    # a step so long that dense output is wrong although the ends of steps are not
    run = pendula.simulate("pendulum", 4.0, stepper="rk4", step=0.5, samples=401)
    assert np.abs(run.energy_error).max() > 1e-3
    assert not run.ok
    assert "energy is off" in run.doubts[0]


def test_a_run_that_an_event_ends_counts_nothing_after_it() -> None:
    run = pendula.simulate("pendulum", 10.0, events=["stop: theta <= 0"])
    whole = pendula.simulate("pendulum", float(run.t[-1]))
    assert run.energy_drift == pytest.approx(whole.energy_drift, rel=0.5)
