"""Smallest and largest values along runs, by closed forms and by the same runs looked at closely."""

import numpy as np
import pytest

import pendula
from pendula.studies.computations.extremes import _largest


def oscillator(**more):
    return pendula.Model(
        name="oscillator",
        gravity=[0, 0, 0],
        parameters={"k": 1.0},
        bodies=[{"name": "body", "mass": 1.0}],
        joints=[{"name": "x", "type": "prismatic", "parent": "ground", "child": "body"}],
        forces=[{"type": "spring", "joint": "x", "stiffness": "k"}],
        initial={"x": 1.0, "x_dot": 0.3},
        **more,
    )


@pytest.mark.parametrize("stepper", ["dop853", "rk45", "taylor"])
@pytest.mark.parametrize("duration", [7.0, 300.0, 3000.0])
def test_extremes_of_an_oscillator_are_its_amplitudes_however_long_it_runs(stepper, duration):
    """x = cos(w t) + 0.3/w sin(w t) with w^2 = k: sqrt(1 + 0.09/k) in x, and w times that in x_dot."""
    k = np.array([1.0, 4.0, 100.0])
    found = pendula.sweep(oscillator(), {"k": k.tolist()}, "extremes", duration=duration, stepper=stepper, on="here")
    size = np.sqrt(1 + 0.09 / k)
    for name, one in (("x", size), ("x_dot", np.sqrt(k) * size)):
        np.testing.assert_allclose(found[f"largest.{name}"], one, rtol=3e-6)
        np.testing.assert_allclose(found[f"least.{name}"], -one, rtol=3e-6)


def test_extremes_do_not_depend_on_the_other_cases():
    both = pendula.sweep(oscillator(), {"k": [1.0, 100.0]}, "extremes", duration=300.0, on="here")
    alone = pendula.sweep(oscillator(), {"k": [100.0]}, "extremes", duration=300.0, on="here")
    assert both["largest.x"][1] == alone["largest.x"][0]


def test_extremes_of_a_linkage_are_those_of_its_run():
    found = pendula.sweep("four-bar", {"crank": [0.5, 1.0]}, "extremes", duration=20.0, on="here")
    for k, crank in enumerate((0.5, 1.0)):
        run = pendula.simulate("four-bar", 20.0, initial_state={"crank": crank}, samples=200_001)
        for name in ("crank", "rocker", "rocker_dot"):
            assert found[f"largest.{name}"][k] == pytest.approx(run[name].max(), abs=1e-6)
            assert found[f"least.{name}"][k] == pytest.approx(run[name].min(), abs=1e-6)


def test_samples_of_another_computation_do_not_coarsen_them():
    both = pendula.sweep(oscillator(), {"k": [4.0]}, ["states", "extremes"], duration=50.0, samples=3, on="here")
    assert both["state.x"].shape == (1, 3)
    assert both["largest.x"][0] == pytest.approx(np.sqrt(1 + 0.09 / 4), rel=3e-6)


def test_a_jump_between_samples_adds_nothing():
    """Samples of a step, of a kink and of a constant: no polynomial may exceed them."""
    t = np.arange(40.0)
    for x in (np.where(t < 20, 1.0, -1.0), np.where(t < 20, t, -3 * t), np.ones(40), np.where(t < 30, -t, np.nan)):
        values, _ = _largest(x[None, :, None], 1e-8)
        assert values[0, 0] == np.nanmax(x)


def test_a_ball_arrives_at_the_speed_of_its_fall():
    """It falls from h on a stiff stop: sqrt(2 g h) is its largest speed, in an instant, and h its largest height."""
    model = pendula.Model(
        name="ball",
        gravity=[0, -9.81, 0],
        bodies=[{"name": "ball", "mass": 1.0}],
        joints=[{"name": "y", "type": "prismatic", "axis": [0, 1, 0], "parent": "ground", "child": "ball"}],
        forces=[{"type": "joint-limit", "joint": "y", "lower": 0.0, "stiffness": 1e6, "dissipation": 0.5}],
    )
    height = np.array([0.2, 1.1, 2.0])
    found = pendula.sweep(model, {"y": height.tolist()}, "extremes", duration=3.0, on="here")
    speed = np.sqrt(2 * 9.81 * height)
    np.testing.assert_allclose(-found["least.y_dot"], speed, rtol=5e-4)
    assert (-found["least.y_dot"] < speed * (1 + 1e-5)).all()
    np.testing.assert_allclose(found["largest.y"], height, rtol=1e-9)
