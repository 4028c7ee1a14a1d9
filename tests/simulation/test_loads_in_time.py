"""Loads that act for a short time on a mechanism at rest, against their impulse; events that swing within a step."""

from __future__ import annotations

import numpy as np
import pytest

import pendula
from pendula import Model
from pendula.system.switches.schedule import breakpoints, largest_step

MASS, DURATION = 2.0, 20.0
CLOSE = 1e-7
"""Of a distance of some metres, at tolerance 1e-8."""


def cart(load: str = "0", *, initial: float = 0.0, stiffness: float = 0.0, **parameters: float) -> Model:
    """A body that slides along x."""
    return Model(
        name="cart",
        gravity=[0, 0, 0],
        parameters={"m": MASS, "k": stiffness} | parameters,
        inputs={"F": load},
        bodies=[{"name": "body", "mass": "m"}],
        joints=[{"name": "x", "type": "prismatic", "parent": "ground", "child": "body"}],
        forces=[
            {"type": "generalized", "coordinate": "x", "value": "F"},
            {"type": "spring", "joint": "x", "stiffness": "k"},
        ],
        initial={"x": initial},
    )


def after_pulse(force: float, begin: float, length: float, end: float = DURATION) -> float:
    """Where a body at rest is after a constant force has acted on it for a while."""
    return force / MASS * length * (0.5 * length + end - begin - length)


PULSES = (
    "100 if t > 5 and t < 5.01 else 0",
    "100 if t - 5 > 0 and 2*t < 10.02 else 0",
    "100 if abs(t - 5.005) < 0.005 else 0",
    "100 if (t - 5.005)**2 < 0.005**2 else 0",
    "50*(sign(t - 5) - sign(t - 5.01))",
    "100 if floor(100*t) > 499.5 and ceil(100*t) < 501.5 else 0",
    "max(100*min(sign(t - 5), 1), 0) if t < 5.01 else 0",
)


@pytest.mark.parametrize("load", PULSES)
@pytest.mark.parametrize("stepper", ["dop853", "rk45"])
def test_a_pulse_on_a_body_at_rest_is_not_stepped_over(load: str, stepper: str) -> None:
    run = pendula.simulate(pendula.compile_system(cart(load)), DURATION, stepper=stepper)
    assert run.outcome.ok
    assert run["x"][-1] == pytest.approx(after_pulse(100, 5, 0.01), rel=CLOSE)


def test_a_condition_on_an_input_switches_with_it() -> None:
    model = cart("t - 5.005")
    forces = [{"type": "generalized", "coordinate": "x", "value": "100 if F > -0.005 and F < 0.005 else 0"}]
    run = pendula.simulate(pendula.compile_system(model.with_changes(forces=forces)), DURATION)
    assert run["x"][-1] == pytest.approx(after_pulse(100, 5, 0.01), rel=CLOSE)


@pytest.mark.parametrize("stepper", ["dop853", "rk45", "taylor"])
def test_a_smooth_pulse_on_a_body_at_rest_is_not_stepped_over(stepper: str) -> None:
    system = pendula.compile_system(cart("exp(-((t - 50)/w)**2)", w=0.1))
    run = pendula.simulate(system, 100.0, stepper=stepper)
    assert run["x"][-1] == pytest.approx(np.sqrt(np.pi) * 0.1 / MASS * 50, rel=1e-6)
    backwards = pendula.simulate(system, t_span=(100.0, 0.0), stepper=stepper)
    assert backwards["x"][-1] == pytest.approx(np.sqrt(np.pi) * 0.1 / MASS * 50, rel=1e-6)


def test_a_jolt_of_a_pivot_is_not_stepped_over() -> None:
    """A point mass hung from a pivot that is moved quickly to the side and stays there: it swings about that place."""
    joints = [
        {"name": "s", "type": "prismatic", "parent": "ground", "child": "block", "motion": {"s": "0.1*tanh((t-30)/w)"}},
        {"name": "a", "type": "revolute", "parent": "block", "child": {"body": "bob", "position": [0, 1, 0]}},
    ]
    bodies = [{"name": "block", "mass": 1}, {"name": "bob", "mass": 1}]
    model = Model(name="jolt", gravity=[0, -9.81, 0], parameters={"w": 0.02}, bodies=bodies, joints=joints)
    run = pendula.simulate(pendula.compile_system(model), 60.0, samples=2000)
    # the bob stays where it is while the pivot goes 0.2 m to the side, so the angle of rest is passed at asin(0.2)
    assert np.abs(run["a"]).max() == pytest.approx(np.arcsin(0.2), rel=0.02)


@pytest.mark.parametrize("stepper", ["dop853", "taylor"])
def test_each_of_many_runs_sees_its_own_pulse_and_no_other_runs_steps(stepper: str) -> None:
    system = pendula.compile_system(cart("exp(-((t - 50)/w)**2)", w=0.1))
    widths = np.array([0.05, 0.2, 5.0, 0.1])
    runs = pendula.simulate_many(system, 100.0, {"x": 0.0}, parameters={"w": widths}, stepper=stepper)
    assert runs.ok.all()
    np.testing.assert_allclose(runs["x"][:, -1], np.sqrt(np.pi) * widths / MASS * 50, rtol=1e-6)
    for k, width in enumerate(widths):
        alone = pendula.simulate_many(system, 100.0, {"x": 0.0}, parameters={"w": width}, stepper=stepper)
        assert np.array_equal(alone.end_q[0], runs.end_q[k])
        assert alone.steps[0] == runs.steps[k]


def test_many_runs_do_not_step_over_pulses() -> None:
    system = pendula.compile_system(cart("100 if abs(t - begin - 0.005) < 0.005 else 0", begin=5.0))
    begin = np.array([2.0, 5.0, 7.7])
    runs = pendula.simulate_many(system, DURATION, {"x": 0.0}, parameters={"begin": begin})
    np.testing.assert_allclose(runs["x"][:, -1], [after_pulse(100, b, 0.01) for b in begin], rtol=CLOSE)


def test_switches_are_found_to_rounding() -> None:
    system = pendula.compile_system(cart("sign(sin(w*t)) + floor(t/3) + abs(t - 1.25)", w=2.0))
    found = breakpoints(system, system.parameters, (0.0, 10.0))
    expected = sorted([*(np.pi / 2 * np.arange(1, 7)), 3, 6, 9, 1.25])
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_steps_are_left_alone_where_nothing_is_quick() -> None:
    for load in ("0", "3.5", "2*t", "t**2", "sin(0.1*t)", "1 if t < 4 else 2"):
        system = pendula.compile_system(cart(load))
        switches = breakpoints(system, system.parameters, (0.0, 10.0))
        assert largest_step(system, system.parameters, (0.0, 10.0), switches) == np.inf
    system = pendula.compile_system(cart("sin(6*t)"))
    period = 2 * np.pi / 6
    assert period / 3 < largest_step(system, system.parameters, (0.0, 10.0), []) < 2 * period / 3


# --- events that are quicker than the steps -----------------------------------------------------------


def test_an_event_that_swings_within_steps_says_that_crossings_may_be_missing() -> None:
    system = pendula.compile_system(cart(initial=1.0, stiffness=4 * MASS))  # x = cos(2 t)
    run = pendula.simulate(system, 10.0, events=["quick: cos(200*x)", "x = 0", "x_dot", "sin(10*x)"])
    notes = [n for n in run.notes if "oscillates too quickly" in n]
    assert len(notes) == 1
    assert '"quick"' in notes[0]
    stopped = pendula.simulate(system, 10.0, events=["stop: cos(200*x) + x_dot >= 2.95", "x = 0"])
    assert any("oscillates too quickly" in n for n in stopped.notes)


def test_an_event_far_from_zero_or_at_rest_is_not_called_quick() -> None:
    system = pendula.compile_system(cart(initial=1.0, stiffness=4 * MASS))
    run = pendula.simulate(system, 10.0, events=["far: 9 + cos(200*x)", "x = 0"])
    assert not any("swings" in n for n in run.notes)
    still = pendula.simulate(system, 10.0, initial_state={"x": 0.0}, events=["x = 0", "x_dot + 1e-30"])
    assert not any("swings" in n for n in still.notes)
