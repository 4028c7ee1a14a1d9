"""How runs end: failures keep what was computed and say what happened; bad arguments are refused."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ode_problems import (
    METHODS,
    blow_up,
    chosen,
    infinite_between,
    log_slope,
    nothing,
    onto_circle,
    onto_circle_until_two,
    oscillator,
    overflowing,
    rotation,
    toppling,
)

from pendula.errors import NotSupported, UsageError
from pendula.numerics.compiled.native import Callback
from pendula.numerics.steppers.stepper import STEPPERS
from pendula.numerics.steppers.stepping import integrate
from pendula.outcome import Outcome

LOOSE = {"rtol": 1e-8, "atol": 1e-8}
ROUNDING = 1e-14


@pytest.mark.parametrize("method", METHODS)
def test_derivative_that_is_not_finite_at_the_start_is_reported_as_such(method):
    run = integrate(log_slope.bind(), [0.0, 0.0], (2.0, 3.0), **chosen(method, 0.1), **LOOSE)
    assert run.outcome is Outcome.NOT_FINITE
    assert not run.outcome.ok
    assert "initial state" in run.detail
    assert "component 1" in run.detail
    assert np.array_equal(run.t, [2.0])
    assert np.array_equal(run.y, [[0.0, 0.0]])


@pytest.mark.parametrize("method", METHODS)
def test_derivative_that_stops_being_finite_ends_the_run_there(method):
    times = np.linspace(0.0, 2.0, 41)
    run = integrate(log_slope.bind(), [0.0, 0.0], (0.0, 2.0), **chosen(method, 1e-3), sample_times=times, **LOOSE)
    assert run.outcome in (Outcome.NOT_FINITE, Outcome.STEP_TOO_SMALL)
    assert 0.99 < run.t[-1] <= 1.0
    assert run.accepted > 3
    assert "t = 1" in run.detail
    assert np.all(np.isfinite(run.y))
    assert np.all(np.isfinite(run.sample_y))
    assert len(run.sample_t) >= 20
    assert run.sample_t[-1] <= run.t[-1]


def test_a_component_that_is_not_finite_is_named_when_it_persists():
    # Quadratures do not enter the error norm, so only the check for finite values can stop this run.
    run = integrate(log_slope.bind(), [0.0, 0.0], (0.0, 2.0), quadratures=1, **LOOSE)
    assert run.outcome is Outcome.NOT_FINITE
    assert "component 1" in run.detail
    assert run.t[-1] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("callback", [blow_up, overflowing])
def test_blow_up_in_finite_time_is_never_a_success(callback, method):
    run = integrate(callback.bind(), [1.0], (0.0, 2.0), **chosen(method, 1e-3), **LOOSE)
    assert run.outcome in (Outcome.STEP_TOO_SMALL, Outcome.NOT_FINITE)
    assert np.all(np.isfinite(run.y))
    assert run.accepted > 10
    assert run.detail
    if callback is blow_up:
        assert run.t[-1] == pytest.approx(1.0, abs=0.02 if METHODS[method].fixed else 1e-6)


def test_what_the_owner_says_about_a_failure_is_passed_on():
    @dataclasses.dataclass
    class Owner:
        code: object
        failure: str = "the mass matrix is singular"

    bound = log_slope.bind()
    run = integrate(Callback(bound.address, 0, Owner(bound)), [0.0, 0.0], (2.0, 3.0), **LOOSE)
    assert run.outcome is Outcome.CALLBACK_FAILED
    assert "mass matrix is singular" in run.detail


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sampled", [True, False])
def test_a_derivative_that_is_infinite_for_a_while_ends_the_run_before(method, sampled):
    times = np.linspace(0.0, 1.0, 11) if sampled else None
    run = integrate(
        infinite_between.bind(), [0.0], (0.0, 1.0), max_step=0.05, sample_times=times, **chosen(method, 0.025), **LOOSE
    )
    assert run.outcome is Outcome.NOT_FINITE
    assert "component 0 is not finite near t = 0.5" in run.detail
    assert ("with this step" if METHODS[method].fixed else "for any step size") in run.detail
    assert 0.475 <= run.t[-1] <= 0.5 + 1e-12
    assert np.abs(run.y[:, 0] - run.t).max() < ROUNDING
    assert not sampled or len(run.sample_t) >= 5


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8])
@pytest.mark.parametrize("method", ["dop853", "rk45", "radau"])
def test_a_start_that_hardly_moves_is_not_left_in_one_wild_step(method, tolerance):
    """Standing on its head within 1e-12, then falling: the energy must be kept, and the first step be short."""
    run = integrate(toppling.bind(), [1e-12, 0.0], (0.0, 1.0), rtol=tolerance, atol=tolerance, method=method)
    assert run.outcome is Outcome.FINISHED
    assert run.t[1] < 1e-3
    assert run.y[:, 1].max() > 150  # it fell: at the bottom the speed is 2 sqrt(10^4)
    energy = 0.5 * run.y[:, 1] ** 2 + 1e4 * np.cos(run.y[:, 0])
    assert np.abs(energy - energy[0]).max() < 1e4 * 200 * tolerance


@pytest.mark.parametrize("first", [1e3, 1.0])
@pytest.mark.parametrize("method", ["dop853", "rk45", "radau"])
def test_a_first_step_that_is_far_too_long_is_rejected(method, first):
    run = integrate(toppling.bind(), [1.0, 0.0], (0.0, 1.0), first_step=first, method=method, **LOOSE)
    assert run.outcome is Outcome.FINISHED
    assert run.rejected > 0
    energy = 0.5 * run.y[:, 1] ** 2 + 1e4 * np.cos(run.y[:, 0])
    assert np.abs(energy - energy[0]).max() < 1.0


@pytest.mark.parametrize("method", ["dop853", "rk45", "radau"])
def test_running_out_of_steps_keeps_them(method):
    run = integrate(oscillator.bind(), [1.0, 0.0], (0.0, 1e4), max_steps=50, method=method, **LOOSE)
    assert run.outcome is Outcome.TOO_MANY_STEPS
    assert run.accepted + run.rejected == 50
    assert "50 steps" in run.detail


def test_interruption_keeps_what_was_computed():
    calls = []

    def stop_at_third(t, t_end, steps):
        calls.append((t, t_end, steps))
        if len(calls) == 3:
            raise KeyboardInterrupt

    run = integrate(
        oscillator.bind(),
        [1.0, 0.0],
        (0.0, 1e6),
        on_progress=stop_at_third,
        sample_times=np.arange(0.0, 1e6, 1.0),
        **LOOSE,
    )
    assert run.outcome is Outcome.INTERRUPTED
    assert "kept" in str(run.outcome)
    t, t_end, steps = calls[-1]
    assert t_end == 1e6
    assert run.t[-1] == t
    assert run.accepted == steps > 0
    assert len(run.sample_t) > 1
    assert t - 1.0 < run.sample_t[-1] <= t
    assert np.max(np.abs(run.sample_y[:, 0] - np.cos(run.sample_t))) < 1e-4


def test_runs_in_parallel_threads_do_not_disturb_each_other():
    def one(start):
        return integrate(oscillator.bind(), [start, 0.0], (0.0, 300.0), **LOOSE).y

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(one, range(1, 9)))
    assert all(np.array_equal(y, one(start)) for start, y in enumerate(together, start=1))


def test_running_in_stretches_does_not_change_the_result():
    # Long enough for many stretches and several doublings of the buffers.
    run = integrate(oscillator.bind(), [1.0, 0.0], (0.0, 2000.0), rtol=1e-10, atol=1e-10, method="rk45")
    assert run.accepted > 10_000
    assert np.all(np.diff(run.t) > 0)
    assert np.max(np.abs(run.y[:, 0] - np.cos(run.t))) < 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_a_span_of_zero_length_returns_at_once(method):
    run = integrate(log_slope.bind(), [1.0, 2.0], (3.0, 3.0), sample_times=[3.0, 3.0], **chosen(method, 0.1), **LOOSE)
    assert run.outcome is Outcome.FINISHED
    assert run.rhs_evaluations == 0
    assert run.accepted == 0
    assert np.array_equal(run.y, [[1.0, 2.0]])
    assert np.array_equal(run.sample_y, [[1.0, 2.0]] * 2)


@pytest.mark.parametrize("method", METHODS)
def test_a_state_without_components_reaches_the_end(method):
    settings = {**chosen(method, 0.2), **LOOSE}
    run = integrate(nothing.bind(), [], (0.0, 1.0), sample_times=[0.0, 0.3, 1.0], breakpoints=[0.5], **settings)
    assert run.outcome.ok
    assert run.t[-1] == 1.0
    assert run.y.shape == (len(run.t), 0)
    assert run.sample_y.shape == (3, 0)


@pytest.mark.parametrize("span", [(0.0, 20.0), (20.0, 0.0)])
@pytest.mark.parametrize("method", METHODS)
def test_projection_keeps_steps_and_samples_on_the_constraint(method, span):
    times = np.linspace(*span, 201)
    settings = {"rtol": 1e-6, "atol": 1e-6, **chosen(method, 0.02), "sample_times": times}
    free = integrate(rotation.bind(), [1.0, 0.0], span, **settings)
    held = integrate(rotation.bind(), [1.0, 0.0], span, project=onto_circle.bind(), **settings)
    assert held.outcome.ok
    assert held.t[-1] == span[1]
    assert len(held.sample_t) == 201
    for states in (held.y, held.sample_y):
        assert np.max(np.abs(np.hypot(*states.T) - 1.0)) < ROUNDING
    assert np.max(np.abs(np.hypot(*free.y.T) - 1.0)) > 1e-9
    assert held.max_violation < ROUNDING < held.max_drift < 1e-4
    assert free.max_violation == free.max_drift == 0.0
    angle = span[1] - span[0] - 0.5 * (np.cos(span[1]) - np.cos(span[0]))
    assert np.max(np.abs(held.y[-1] - [np.cos(angle), np.sin(angle)])) < 1e-3
    assert np.array_equal(held.sample_y[-1], held.y[-1])


def test_projection_costs_no_extra_evaluations_for_dop853():
    free = integrate(rotation.bind(), [1.0, 0.0], (0.0, 5.0), **LOOSE)
    held = integrate(rotation.bind(), [1.0, 0.0], (0.0, 5.0), project=onto_circle.bind(), **LOOSE)
    per_step = (held.rhs_evaluations - 2) / (held.accepted + held.rejected)
    assert per_step <= (free.rhs_evaluations - 2) / (free.accepted + free.rejected) + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_a_projection_that_fails_ends_the_run(method):
    run = integrate(
        rotation.bind(),
        [1.0, 0.0],
        (0.0, 5.0),
        project=onto_circle_until_two.bind(),
        sample_times=np.linspace(0, 5, 51),
        **chosen(method, 0.05),
        **LOOSE,
    )
    assert run.outcome is Outcome.PROJECTION_FAILED
    assert "projection failed" in run.detail
    assert 1.5 < run.t[-1] <= 2.0
    assert np.all(run.sample_t <= run.t[-1])
    assert len(run.sample_t) > 10


def test_outcomes_read_as_sentences():
    assert [outcome for outcome in Outcome if outcome.ok] == [Outcome.FINISHED, Outcome.EVENT]
    for outcome in Outcome:
        assert str(outcome).split(":")[0] == ("finished" if outcome is Outcome.FINISHED else "stopped")
        assert len(str(outcome).split()) > 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "euler"}, ", ".join(STEPPERS)),
        ({"method": "rk4"}, "steps of a fixed size; give step"),
        ({"method": "rk4", "step": 0.0}, "positive and finite"),
        ({"method": "rk4", "step": -0.1}, "positive and finite"),
        ({"method": "rk4", "step": float("nan")}, "positive and finite"),
        ({"method": "rk4", "step": float("inf")}, "positive and finite"),
        ({"method": "rk4", "step": "0.1"}, "positive and finite"),
        ({"method": "rk4", "step": 1.5}, "longer than the time span, which is 1"),
        ({"method": "rk4", "step": 1e-9}, "needs 1000000000 steps of 1e-09, but max_steps is 1000000"),
        ({"method": "rk4", "step": 0.1, "max_steps": 9}, "needs 10 steps of 0.1, but max_steps is 9"),
        ({"method": "rk4", "step": 1e-7, "t_span": (1e10, 1e10 + 1e-5)}, "hardly changes t"),
        ({"method": "radau", "step": 0.1}, "steps of a fixed size; these do: rk4"),
        ({"step": 0.1}, "steps of a fixed size; these do: rk4"),
        ({"rtol": 1e-30}, "tolerance must lie between"),
        ({"rtol": 1e-30, "method": "radau"}, "tolerance must lie between"),
        ({"rtol": float("nan"), "method": "radau"}, "tolerance must lie between"),
        ({"rtol": 0.0}, "tolerance must lie between"),
        ({"rtol": float("nan")}, "tolerance must lie between"),
        ({"atol": 0.0}, "atol must be positive"),
        ({"atol": [1e-8] * 3}, "one for each of 2 components"),
        ({"y0": [1.0, np.nan]}, "entry 1 is nan"),
        ({"y0": [[1.0]]}, "list of numbers"),
        ({"t_span": (0.0, np.inf)}, "t_span must be finite"),
        ({"t_span": (0.0, 1.0, 2.0)}, "two times"),
        ({"sample_times": [0.5, 0.2]}, "order of integration"),
        ({"sample_times": [0.5, 1.5]}, "must lie in t_span"),
        ({"quadratures": 3}, "quadratures"),
        ({"max_steps": 0}, "max_steps"),
        ({"first_step": -1.0}, "first_step"),
        ({"max_step": 0.0}, "max_step"),
        ({"breakpoints": [np.nan]}, "breakpoints must be finite"),
    ],
)
def test_bad_arguments_are_refused_with_a_reason(changes, words):
    arguments = {"y0": [1.0, 0.0], "t_span": (0.0, 1.0), "rtol": 1e-8, "atol": 1e-8, **changes}
    with pytest.raises((ValueError, UsageError, NotSupported), match=words):
        integrate(oscillator.bind(), **arguments)


def test_a_callback_without_an_address_is_refused():
    with pytest.raises(ValueError, match="address"):
        Callback(0)
