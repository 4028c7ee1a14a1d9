"""Forces that steps could pass without seeing them, or to whose jumps a motion sticks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula import Model, Outcome, library
from tests.helpers.numbers import Array

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
    ("torque", "by_hand"),
    [
        (
            "-1000 if theta > 1 and theta < 1.001 and theta_dot < 0 else 0",
            lambda a, w: -1000.0 if 1 < a < 1.001 and w < 0 else 0.0,
        ),
        (
            "-3000*exp(-((theta-1)/0.001)**2)*exp(-((theta_dot+4)/2)**2)",
            lambda a, w: -3000 * np.exp(-(((a - 1) / 0.001) ** 2)) * np.exp(-(((w + 4) / 2) ** 2)),
        ),
        (
            "-1000*exp(-((theta+0.3*theta_dot-0.5)/0.002)**2)",
            lambda a, w: -1000 * np.exp(-(((a + 0.3 * w - 0.5) / 0.002) ** 2)),
        ),
    ],
)
def test_a_force_that_is_narrow_in_several_names_is_seen(torque: str, by_hand: Callable[[float, float], float]) -> None:
    run = pendula.simulate(_rod(torque), 2.0, initial_state={"theta": 2.0}, tol=1e-9)
    assert run["theta"][-1] == pytest.approx(_by_scipy(by_hand, 2.0), abs=1e-6)
    assert any("because a force is so narrow" in note for note in run.notes)
    fixed = pendula.simulate(_rod(torque), 2.0, initial_state={"theta": 2.0}, stepper="rk4", step=0.05)
    assert any("may be missing" in note for note in fixed.notes)


def _by_scipy(torque: Callable[[float, float], float], theta: float) -> float:
    def rates(t: float, y: Array) -> list[float]:
        return [y[1], -1.5 * G * np.sin(y[0]) + 3 * torque(y[0], y[1])]

    found = solve_ivp(rates, (0, 2), [theta, 0.0], method="DOP853", rtol=1e-11, atol=1e-11, max_step=5e-4)
    return float(found.y[0, -1])


def test_an_ensemble_sees_a_narrow_force() -> None:
    def by_hand(a: float, w: float) -> float:
        return -1000.0 if 1 < a < 1.001 else 0.0

    system = _rod("-1000 if theta > 1 and theta < 1.001 else 0")
    runs = pendula.simulate_many(system, 2.0, {"theta": [0.5, 0.6, 2.0]}, workers=1)
    assert runs.ok.all()
    assert runs.end_q[2, 0] == pytest.approx(_by_scipy(by_hand, 2.0), abs=1e-5)


@pytest.mark.parametrize(
    "torque",
    [
        "-0.1*theta_dot*abs(theta_dot)",
        "-0.1*sign(theta_dot)",
        "3*sin(3*theta)",
        "-theta",
        "-0.3*theta_dot*abs(theta)",
        "-2*exp(-(theta**2+theta_dot**2))",
        "3*sin(theta*theta_dot)",
        "-1 if theta > 0.5 and theta_dot > 0 else 0.5",
        "-0.2*theta_dot/(1+theta**2)",
    ],
)
def test_a_force_that_steps_can_see_is_not_noted(torque: str) -> None:
    run = pendula.simulate(_rod(torque), 5.0, initial_state={"theta": 2.0})
    assert run.ok
    assert not run.notes


@pytest.mark.parametrize("stepper", ["dop853", "rk45", "radau"])
@pytest.mark.parametrize("torque", ["-0.5*sign(theta_dot)", "-0.5 if theta_dot > 0 else 0.5"])
def test_a_motion_that_sticks_to_a_jump_of_a_force_stops_and_says_so(torque: str, stepper: str) -> None:
    run = pendula.simulate(_rod(torque), 20.0, initial_state={"theta": 2.0}, stepper=stepper)
    assert run.outcome is Outcome.STICKS
    assert not run.ok
    assert run.steps + run.rejected < 3000
    assert f"the force {torque} jumps at theta_dot = 0" in run.detail
    assert "tanh((theta_dot)/eps)" in run.detail
    # friction holds the rod wherever gravity's torque is below it
    assert abs(0.5 * G * np.sin(run["theta"][-1])) < 0.5
    # the advice leads to the same place
    smooth = pendula.simulate(_rod("-0.5*tanh(theta_dot/1e-3)"), float(run.t[-1]), initial_state={"theta": 2.0})
    assert smooth["theta"][-1] == pytest.approx(run["theta"][-1], abs=1e-2)


def test_a_closed_loop_that_sticks_to_a_jump_of_a_force_says_so() -> None:
    friction = {"type": "generalized", "coordinate": "crank", "value": "-30*sign(crank_dot)"}
    run = pendula.simulate(pendula.library.four_bar().with_changes(forces=[friction]), 3.0)
    assert run.outcome is Outcome.STICKS
    assert run.steps + run.rejected < 3000


def test_the_rate_of_stabilization_is_that_of_the_motion_before_it_sticks() -> None:
    """The trial run sticks, and most of its steps are tiny."""
    model = _rod("-20*sign(theta_dot)")
    settings = {"initial_state": {"theta": 2.0, "theta_dot": 1.0}, "max_steps": 20_000}
    run = pendula.simulate(pendula.compile_system(model, "maximal"), 1.0, constraints="baumgarte", **settings)
    assert run.outcome is Outcome.STICKS
    right = pendula.simulate(model, 1.0, **settings)
    assert run.t[-1] == pytest.approx(right.t[-1], abs=1e-5)


def test_crossing_a_jump_again_and_again_is_not_sticking() -> None:
    run = pendula.simulate(_rod("-0.5*sign(theta)"), 100.0, initial_state={"theta": 2.0})
    assert run.outcome is Outcome.FINISHED


def test_members_of_an_ensemble_that_stick_say_so() -> None:
    runs = pendula.simulate_many(_rod("-0.5*sign(theta_dot)"), 20.0, {"theta": [2.0, 1.0]}, workers=1)
    assert {*runs.outcome} == {Outcome.STICKS}
    assert runs.steps.max() < 3000


def test_fixed_steps_that_keep_crossing_a_jump_are_noted() -> None:
    run = pendula.simulate(_rod("-0.5*sign(theta_dot)"), 20.0, initial_state={"theta": 2.0}, stepper="rk4", step=0.01)
    (note,) = (n for n in run.remarks if "sticks" in n)
    assert "-0.5*sign(theta_dot)" in note
    assert "tanh((theta_dot)/eps)" in note


@pytest.mark.parametrize("tol", [1e-6, 1e-9, 1e-11])
def test_a_zone_that_fits_between_the_stages_of_a_step_is_not_passed_in_silence(tol: float) -> None:
    """The zone is a sixth of a step wide, and no stage of dop853 lies in it; the work in it follows by hand.

    In the zone x'' = -x + F, so on the way there and back x^2 + v^2 changes by 2 F times the width passed.
    """
    push, low, high = 25.8, -0.0639, -0.0014151545823935033
    mass = pendula.Model(
        name="mass",
        gravity=[0, 0, 0],
        bodies=[{"name": "b", "mass": 1.0}],
        joints=[{"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "b"}],
        forces=[
            {"type": "generalized", "coordinate": "x", "value": f"-x + ({push} if x > {low} and x < {high} else 0)"}
        ],
        initial={"x": 1.0, "x_dot": 0.3},
    )
    run = pendula.simulate(mass, 6.0, tol=tol, samples=601)
    x, v = run.q[:, 0], run.v[:, 0]
    # The energy 1.09/2 of the first swing is less than the work to cross the zone: it never gets to its other side.
    assert push * (high - low) > 1.09 / 2
    assert x.min() > low
    outside = x > high
    np.testing.assert_allclose((x**2 + v**2)[outside], 1.09, rtol=1e-4)


def _block_on_belt(speed: float) -> pendula.results.Trajectory:
    """A block of 1 kg on a belt that moves at 0.5 m/s, held by a spring, with dry friction of 2 N."""
    model = Model(
        name="belt",
        gravity=[0, 0, 0],
        bodies=[{"name": "block", "mass": 1.0}],
        joints=[{"name": "x", "type": "prismatic", "parent": "ground", "child": "block", "axis": [1, 0, 0]}],
        forces=[
            {"type": "spring", "joint": "x", "stiffness": 10.0},
            {"type": "generalized", "coordinate": "x", "value": "-2*sign(x_dot - 0.5)"},
        ],
    )
    return pendula.simulate(model, 1.0, initial_state={"x_dot": speed}, max_steps=20_000)


@pytest.mark.parametrize("speed", [0.3, 0.6])
def test_a_block_that_reaches_the_speed_of_its_belt_sticks(speed: float) -> None:
    assert _block_on_belt(speed).outcome is Outcome.STICKS


@pytest.mark.xfail(strict=True, reason="one driver of runs will look for sticking from the first step on")
def test_a_block_that_is_put_on_its_belt_sticks_at_once() -> None:
    """The spring pulls with less than the friction holds until x = 0.2, at t = 0.4."""
    assert _block_on_belt(0.5).outcome is Outcome.STICKS
