"""A body in a stop with dissipation, against closed forms: its motion, and the work that it loses there.

With depth d = -x and speed v of leaving, v' = k d max(1 - c v, 0). Started at rest at a depth with k d^2/2 = 50 it
leaves with the speed V where c V = 1 - exp(-c V - k c^2 d^2/2), which is 1/c to the last digit. Started with c v > 1 the
stop never pushes: the body flies straight, and all the energy stored in the stop is lost.
"""

from __future__ import annotations

import numpy as np
import pytest

import pendula
from tests.helpers.numbers import Array

STIFFNESS = 1e4
STEPPERS = {"dop853": 1e-10, "rk45": 1e-9, "radau": 1e-8}
STARTS = {"pushed out": (-0.1, 0.0), "lets go at once": (-0.05, 5.0), "lets go at once, fast": (-0.05, 20.0)}


def stopped(x: float, speed: float, dissipation: float) -> pendula.Model:
    return pendula.loads(f"""
        name = "stop"
        gravity = [0, 0, 0]
        parameters = {{ c = {dissipation} }}
        [[bodies]]
        name = "body"
        mass = 1.0
        [[joints]]
        name = "x"
        type = "prismatic"
        parent = "ground"
        child = "body"
        axis = [1, 0, 0]
        [[forces]]
        type = "joint-limit"
        joint = "x"
        lower = 0
        stiffness = {STIFFNESS}
        dissipation = "c"
        [initial]
        x = {x}
        x_dot = {speed}
    """)


def leaving(x: float, speed: float) -> tuple[float, float]:
    """Speed after the stop for c = 1, and the work of dissipation."""
    last = max(speed, 1.0)
    return last, 0.5 * last**2 - 0.5 * speed**2 - 0.5 * STIFFNESS * x**2


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("start", STARTS)
def test_the_energy_that_a_stop_loses_when_it_lets_go_is_accounted_for(start: str, stepper: str) -> None:
    speed, work = leaving(*STARTS[start])
    run = pendula.simulate(stopped(*STARTS[start], 1.0), 1.0, stepper=stepper, tol=STEPPERS[stepper])
    assert run["x_dot"][-1] == pytest.approx(speed, abs=1e-7)
    assert run["work"][-1] == pytest.approx(work, rel=1e-6)
    assert run.ok, run.doubts
    assert run.energy_drift < 1e-6


@pytest.mark.parametrize("start", STARTS)
def test_ensembles_account_for_it_too(start: str) -> None:
    x, speed = STARTS[start]
    runs = pendula.simulate_many(stopped(x, speed, 1.0), 1.0, {"x_dot": np.full(9, speed)}, samples=3)
    assert runs.ok.all()
    assert runs.energy_drift.max() < 1e-6
    assert np.abs(runs.v[:, -1, 0] - leaving(x, speed)[0]).max() < 1e-6


def bounced(speed: Array, until: float) -> Array:
    """Place after a bounce off the stop without dissipation, at x = 0.5 with a speed towards it: half a period inside."""
    return (until - 0.5 / speed - np.pi / np.sqrt(STIFFNESS)) * speed


@pytest.mark.xfail(strict=True, reason="one driver of runs will end steps where a stop begins and lets go")
@pytest.mark.parametrize("many", [False, True])
def test_bounces_are_as_accurate_as_the_tolerance(many: bool) -> None:
    """The kink of the force lies inside steps, whose error estimates now and then miss it."""
    model, speeds = stopped(0.5, -1.0, 0.0), np.linspace(1.0, 1.5, 64)
    if many:
        found = pendula.simulate_many(model, 3.0, {"x_dot": -speeds}, samples=2, tol=1e-10).q[:, -1, 0]
    else:
        runs = [pendula.simulate(model, 3.0, initial_state={"x_dot": -s}, samples=2, tol=1e-10) for s in speeds]
        found = np.array([run["x"][-1] for run in runs])
    assert np.abs(found - bounced(speeds, 3.0)).max() < 1e-8
