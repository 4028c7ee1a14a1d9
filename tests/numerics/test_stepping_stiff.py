"""The implicit stepper on stiff and other problems, and the note that an explicit run looks stiff."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from ode_problems import PROBLEMS, STIFF_MU, oscillator, pulled_to_cosine, robertson, stiff_van_der_pol, toppling
from scipy.integrate import solve_ivp

from pendula.numerics.steppers.stepping import integrate
from pendula.outcome import Outcome
from tests.helpers.choices import in_turn

SIMILAR = 0.12
"""Step counts of the same method; our controller limits growth after rejected steps as Hairer's code does, SciPy's does not."""

STIFF = {
    "van der pol": (
        stiff_van_der_pol,
        lambda t, y: [y[1], STIFF_MU * (1 - y[0] ** 2) * y[1] - y[0]],
        (2.0, 0.0),
        2000.0,
    ),
    "robertson": (
        robertson,
        lambda t, y: [
            -0.04 * y[0] + 1e4 * y[1] * y[2],
            0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2,
            3e7 * y[1] ** 2,
        ],
        (1.0, 0.0, 0.0),
        1e4,
    ),
}


@cache
def _reference(name: str) -> np.ndarray:
    _, python, y0, t_end = STIFF[name]
    return solve_ivp(python, (0.0, t_end), y0, method="Radau", rtol=1e-10, atol=1e-13).y[:, -1]


@pytest.mark.parametrize(("name", "tolerance"), in_turn(STIFF, [1e-4, 1e-6, 1e-8]))
def test_stiff_problems_are_solved_as_by_scipys_radau(name, tolerance):
    callback, python, y0, t_end = STIFF[name]
    settings = {"rtol": tolerance, "atol": 1e-3 * tolerance}
    ours = integrate(callback.bind(), y0, (0.0, t_end), method="radau", **settings)
    theirs = solve_ivp(python, (0.0, t_end), y0, method="Radau", **settings)
    exact = _reference(name)
    assert ours.outcome is Outcome.FINISHED
    assert ours.accepted == pytest.approx(len(theirs.t) - 1, rel=SIMILAR)
    assert np.abs(theirs.y[:, -1] - exact).max() < 10 * tolerance
    assert np.abs(ours.y[-1] - exact).max() < 10 * tolerance


@pytest.mark.parametrize(("name", "tolerance"), in_turn(PROBLEMS, [1e-4, 1e-7, 1e-10]))
def test_problems_that_are_not_stiff_take_as_many_steps_as_scipys_radau(name, tolerance):
    problem = PROBLEMS[name]
    settings = {"rtol": tolerance, "atol": tolerance}
    ours = integrate(problem.callback.bind(), problem.y0, (0.0, problem.t_end), method="radau", **settings)
    theirs = solve_ivp(problem.python, (0.0, problem.t_end), problem.y0, method="Radau", **settings)
    assert ours.outcome is Outcome.FINISHED
    assert ours.accepted == pytest.approx(len(theirs.t) - 1, rel=SIMILAR)


@pytest.mark.parametrize("name", ["pendulum", "van der pol"])
def test_the_implicit_and_the_explicit_stepper_agree_at_steps_and_samples(name):
    problem = PROBLEMS[name]
    settings = {"rtol": 1e-11, "atol": 1e-11, "sample_times": np.linspace(0.0, problem.t_end, 101)}
    implicit, explicit = (
        integrate(problem.callback.bind(), problem.y0, (0.0, problem.t_end), method=method, **settings)
        for method in ("radau", "dop853")
    )
    assert np.abs(implicit.y[-1] - explicit.y[-1]).max() < 1e-8
    assert np.abs(implicit.sample_y - explicit.sample_y).max() < 5e-8


def test_a_solution_that_pulls_hard_is_followed_in_long_steps():
    """cos t with an eigenvalue of -10^4: the implicit stepper needs less than a fiftieth of the steps.

    Between steps of up to 0.3 a cubic, which is what this method has, is good to h^4 / 384 = 2e-5 only.
    """
    settings = {"rtol": 1e-8, "atol": 1e-8, "sample_times": np.linspace(0.0, 10.0, 777), "quadratures": 1}
    implicit, explicit = (
        integrate(pulled_to_cosine.bind(), [1.0, 0.0], (0.0, 10.0), method=method, **settings)
        for method in ("radau", "dop853")
    )
    for run in (implicit, explicit):
        assert np.abs(run.y[:, 0] - np.cos(run.t)).max() < 1e-6
        assert np.abs(run.sample_y[:, 0] - np.cos(run.sample_t)).max() < 2e-5
    # the integral along with it is sin t, and controls nothing
    assert np.abs(implicit.y[:, 1] - np.sin(implicit.t)).max() < 1e-6
    assert np.abs(implicit.sample_y[:, 1] - np.sin(implicit.sample_t)).max() < 2e-5
    assert 50 * implicit.accepted < explicit.accepted


def test_a_stiff_transient_is_resolved():
    """From y = 0: cos t - exp(-10^4 t), exactly."""
    run = integrate(
        pulled_to_cosine.bind(), [0.0, 0.0], (0.0, 1.0), rtol=1e-7, atol=1e-7, method="radau", quadratures=1
    )
    assert np.abs(run.y[:, 0] - (np.cos(run.t) - np.exp(-1e4 * run.t))).max() < 1e-5
    assert (run.t < 1e-3).sum() > 20


def test_backward_in_time_the_implicit_stepper_returns():
    problem = PROBLEMS["pendulum"]
    settings = {"rtol": 1e-10, "atol": 1e-10, "method": "radau"}
    there = integrate(problem.callback.bind(), problem.y0, (0.0, 3.0), **settings)
    back = integrate(problem.callback.bind(), there.y[-1], (3.0, 0.0), **settings)
    assert np.abs(back.y[-1] - problem.y0).max() < 1e-7


def test_samples_between_long_steps_are_as_good_as_scipys():
    times = np.linspace(0.0, 10.0, 777)
    settings = {"rtol": 1e-8, "atol": 1e-8}
    ours = integrate(
        pulled_to_cosine.bind(), [1.0, 0.0], (0.0, 10.0), method="radau", sample_times=times, quadratures=1, **settings
    )
    theirs = solve_ivp(
        lambda t, y: [-1e4 * (y[0] - np.cos(t)) - np.sin(t)],
        (0.0, 10.0),
        [1.0],
        method="Radau",
        t_eval=times,
        **settings,
    )
    found, known = (np.abs(y - np.cos(times)).max() for y in (ours.sample_y[:, 0], theirs.y[0]))
    assert found < 3 * known


@pytest.mark.parametrize("span", [(0.0, 1.0), (0.0, -1.0)])
def test_what_grows_is_not_damped_away_by_long_steps(span):
    """1e-12 cosh(100 t) stays below the tolerance for long: steps must not become longer than its growth allows."""
    run = integrate(toppling.bind(), [1e-12, 0.0], span, rtol=1e-6, atol=1e-6, method="radau")
    early = np.abs(run.t) < 0.15
    ratio = run.y[early, 0] / (1e-12 * np.cosh(100.0 * run.t[early]))
    assert 1 / 3 < ratio.min() <= ratio.max() < 3  # of the right size; the tolerance promises no digits there
    assert np.abs(run.y[:, 1]).max() > 190.0


# --- the note ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8])
@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_a_stiff_run_says_from_when(method, tolerance):
    run = integrate(pulled_to_cosine.bind(), [1.0, 0.0], (0.0, 5.0), rtol=tolerance, atol=tolerance, method=method)
    assert run.stiff_from is not None
    assert 0.0 < run.stiff_from < 1.0


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8, 1e-11])
@pytest.mark.parametrize("method", ["dop853", "rk45", "radau"])
def test_runs_that_accuracy_limits_say_nothing_of_it(method, tolerance):
    settings = {"rtol": tolerance, "atol": tolerance, "method": method}
    for problem in PROBLEMS.values():
        run = integrate(problem.callback.bind(), problem.y0, (0.0, problem.t_end), **settings)
        assert run.stiff_from is None
    assert integrate(oscillator.bind(), [1.0, 0.0], (0.0, 500.0), **settings).stiff_from is None


def test_the_implicit_stepper_never_calls_a_run_stiff():
    run = integrate(pulled_to_cosine.bind(), [1.0, 0.0], (0.0, 5.0), rtol=1e-8, atol=1e-8, method="radau")
    assert run.stiff_from is None
