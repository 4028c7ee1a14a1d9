"""Forces that steps could pass without seeing them, or to whose jumps a motion sticks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula import Model, Outcome, library
from tests.helpers import Array

G = 9.81


def _rod(torque: str) -> pendula.results.System:
    """A uniform rod, m = l = 1: theta'' = -1.5 g sin(theta) + 3 torque."""
    force = {"type": "generalized", "coordinate": "theta", "value": torque}
    return pendula.compile_system(Model(**{**library.pendulum().model_dump(), "forces": [force]}))


@pytest.mark.parametrize(
    ("torque", "by_hand"),
    [
        ("-1000 if theta > 1 and theta < 1.001 else 0", lambda a, w: -1000.0 if 1 < a < 1.001 else 0.0),
        ("-500*exp(-((theta_dot-2)/0.001)**2)", lambda a, w: -500 * np.exp(-(((w - 2) / 0.001) ** 2))),
    ],
)
def test_a_narrow_force_is_seen(torque: str, by_hand: Callable[[float, float], float]) -> None:
    def rates(t: float, y: Array) -> list[float]:
        return [y[1], -1.5 * G * np.sin(y[0]) + 3 * by_hand(y[0], y[1])]

    expected = solve_ivp(rates, (0, 2), [2.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-12, max_step=2e-4)
    run = pendula.simulate(_rod(torque), 2.0, initial_state={"theta": 2.0}, tol=1e-10)
    assert run["theta"][-1] == pytest.approx(expected.y[0, -1], abs=1e-5)
    assert any("because a force is so narrow" in note for note in run.notes)
    fixed = pendula.simulate(_rod(torque), 2.0, initial_state={"theta": 2.0}, stepper="rk4", step=0.05)
    assert any(torque.split("(")[0] in note and "may be missing" in note for note in fixed.notes)


@pytest.mark.parametrize(
    "torque", ["-0.1*theta_dot*abs(theta_dot)", "-0.1*sign(theta_dot)", "3*sin(3*theta)", "-theta"]
)
def test_a_force_that_steps_can_see_is_not_noted(torque: str) -> None:
    run = pendula.simulate(_rod(torque), 5.0, initial_state={"theta": 2.0})
    assert run.ok
    assert not run.notes


def test_a_motion_that_sticks_to_a_jump_of_a_force_says_so() -> None:
    run = pendula.simulate(_rod("-0.5*sign(theta_dot)"), 20.0, initial_state={"theta": 2.0}, max_steps=20_000)
    assert run.outcome is Outcome.TOO_MANY_STEPS
    (note,) = (n for n in run.notes if "sticks" in n)
    assert "-0.5*sign(theta_dot)" in note
    assert "tanh((theta_dot)/eps)" in note
    # friction holds the rod wherever gravity's torque is below it
    assert abs(0.5 * G * np.sin(run["theta"][-1])) < 0.5
