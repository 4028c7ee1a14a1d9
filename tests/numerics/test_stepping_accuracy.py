"""The stepper against SciPy's and against closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ode_problems import METHODS, PROBLEMS, chosen, oscillator, pendulum_with_work, switched
from scipy.integrate import solve_ivp

from pendula.numerics.steppers.stepper import STEPPERS
from pendula.numerics.steppers.stepping import integrate
from pendula.numerics.steppers.tableaus import DOP853, RK4, RK45, Tableau
from pendula.outcome import Outcome

STEP_COUNT_MARGIN = 0.02  # same controller; rounding may tip a step on problems that amplify it


@pytest.fixture
def scipys_control(monkeypatch):
    """Our step control without what it has beyond SciPy's."""
    for name in ("dop853", "rk45"):
        native = STEPPERS[name].native
        monkeypatch.setitem(
            vars(STEPPERS[name]), "native", replace(native, tableau=native.tableau._replace(safety=0.9, memory=0.0))
        )


@pytest.mark.parametrize("tolerance", [1e-4, 1e-7, 1e-10])
@pytest.mark.parametrize("method", ["dop853", "rk45"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_step_counts_equal_those_of_scipy(name, method, tolerance, scipys_control):
    problem = PROBLEMS[name]
    ours = integrate(
        problem.callback.bind(),
        problem.y0,
        (0.0, problem.t_end),
        rtol=tolerance,
        atol=tolerance,
        method=method,
    )
    theirs = solve_ivp(
        problem.python,
        (0.0, problem.t_end),
        problem.y0,
        method=method.upper(),
        rtol=tolerance,
        atol=tolerance,
    )
    assert ours.outcome is Outcome.FINISHED
    assert abs(ours.accepted - (len(theirs.t) - 1)) <= STEP_COUNT_MARGIN * len(theirs.t)
    assert abs(ours.rhs_evaluations - theirs.nfev) <= STEP_COUNT_MARGIN * theirs.nfev


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["van der pol", "stiffish", "pendulum"])
def test_end_states_agree_with_a_tight_reference(name, method):
    problem = PROBLEMS[name]
    ours = integrate(
        problem.callback.bind(), problem.y0, (0.0, problem.t_end), rtol=1e-10, atol=1e-10, **chosen(method, 5e-4)
    )
    reference = solve_ivp(problem.python, (0.0, problem.t_end), problem.y0, method="DOP853", rtol=3e-14, atol=1e-14).y[
        :, -1
    ]
    assert np.max(np.abs(ours.y[-1] - reference)) < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_first_and_last_stored_points_are_the_ends(method):
    run = integrate(oscillator.bind(), [1.0, 2.0], (0.5, 7.0), rtol=1e-8, atol=1e-8, **chosen(method, 0.3))
    assert run.t[0] == 0.5
    assert run.t[-1] == 7.0
    assert np.array_equal(run.y[0], [1.0, 2.0])
    assert run.accepted == len(run.t) - 1
    assert np.all(np.diff(run.t) > 0)


@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_samples_agree_with_scipys_dense_output(method, scipys_control):
    problem = PROBLEMS["van der pol"]
    times = np.linspace(0.0, problem.t_end, 331)
    ours = integrate(
        problem.callback.bind(),
        problem.y0,
        (0.0, problem.t_end),
        rtol=1e-7,
        atol=1e-7,
        method=method,
        sample_times=times,
    )
    theirs = solve_ivp(
        problem.python,
        (0.0, problem.t_end),
        problem.y0,
        method=method.upper(),
        rtol=1e-7,
        atol=1e-7,
        t_eval=times,
    )
    assert np.array_equal(ours.sample_t, times)
    assert np.max(np.abs(ours.sample_y - theirs.y.T)) < 1e-10


def test_sampling_does_not_change_the_steps():
    problem = PROBLEMS["arenstorf"]
    plain, sampled = (
        integrate(
            problem.callback.bind(),
            problem.y0,
            (0.0, problem.t_end),
            rtol=1e-8,
            atol=1e-8,
            sample_times=times,
        )
        for times in (None, np.linspace(0.0, problem.t_end, 1000))
    )
    assert np.array_equal(plain.t, sampled.t)
    assert np.array_equal(plain.y, sampled.y)
    assert len(plain.sample_t) == 0
    assert plain.sample_y.shape == (0, 4)


@pytest.mark.parametrize("method", METHODS)
def test_backward_integration_returns_to_the_start(method):
    problem = PROBLEMS["pendulum"]
    there = integrate(problem.callback.bind(), problem.y0, (0.0, 3.0), rtol=1e-11, atol=1e-11, **chosen(method, 3e-4))
    times = np.linspace(3.0, 0.0, 17)
    back = integrate(
        problem.callback.bind(),
        there.y[-1],
        (3.0, 0.0),
        rtol=1e-11,
        atol=1e-11,
        **chosen(method, 3e-4),
        sample_times=times,
    )
    assert back.outcome.ok
    assert back.t[-1] == 0.0
    assert np.all(np.diff(back.t) < 0)
    assert np.max(np.abs(back.y[-1] - problem.y0)) < 1e-8
    assert np.max(np.abs(back.sample_y[-1] - back.y[-1])) == 0.0


@pytest.mark.parametrize("method", ["dop853", "rk45", "radau"])
def test_quadratures_do_not_change_the_steps(method):
    problem = PROBLEMS["pendulum"]
    settings = {"rtol": 1e-8, "atol": 1e-8, "method": method}
    alone = integrate(problem.callback.bind(), problem.y0, (0.0, 10.0), **settings)
    along = integrate(pendulum_with_work.bind(), [*problem.y0, 0.0], (0.0, 10.0), quadratures=1, **settings)
    controlled = integrate(pendulum_with_work.bind(), [*problem.y0, 0.0], (0.0, 10.0), **settings)
    assert np.array_equal(alone.t, along.t)
    assert np.array_equal(alone.y, along.y[:, :2])
    assert controlled.accepted > 2 * along.accepted


def test_a_system_of_quadratures_only_controls_its_own_steps():
    run = integrate(switched.bind(), [0.0], (0.0, 0.5), rtol=1e-8, atol=1e-8, quadratures=1)
    assert run.outcome.ok
    assert run.y[-1, 0] == 0.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("span", "end"), [((0.0, 3.0), -2.0), ((3.0, 0.0), 2.0)])
def test_breakpoints_are_hit_exactly_and_make_jumps_harmless(method, span, end):
    run = integrate(
        switched.bind(),
        [0.0],
        span,
        rtol=1e-10,
        atol=1e-10,
        **chosen(method, 0.3),
        breakpoints=[2.0, 1.0, 99.0],
        sample_times=np.linspace(*span, 31),
    )
    assert run.outcome.ok
    assert {1.0, 2.0} <= set(run.t)
    assert run.rejected == 0
    assert run.y[-1, 0] == pytest.approx(end, abs=1e-12)
    exact = np.interp(run.sample_t, [0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 1.0, -2.0])
    assert np.max(np.abs(run.sample_y[:, 0] - (exact - exact[0]))) < 1e-12


def test_without_breakpoints_a_jump_costs_rejected_steps():
    run = integrate(switched.bind(), [0.0], (0.0, 3.0), rtol=1e-10, atol=1e-10)
    assert run.outcome.ok
    assert run.rejected > 10


def test_breakpoints_at_the_ends_choose_the_side_inside():
    run = integrate(switched.bind(), [0.0], (1.0, 2.0), rtol=1e-9, atol=1e-9, breakpoints=[1.0, 2.0])
    assert run.outcome.ok
    assert run.y[-1, 0] == pytest.approx(1.0, abs=1e-14)
    assert run.rejected == 0


def dense_matrix(tableau: Tableau) -> np.ndarray:
    """All rows as a full matrix (rows, stages + 1 + extra_stages)."""
    full = np.zeros((len(tableau.counts), tableau.stages + 1 + tableau.extra_stages))
    for index in range(len(full)):
        np.add.at(full[index], tableau.sources[index], tableau.weights[index])
    return full


@pytest.mark.parametrize("tableau", [DOP853, RK45, RK4])
def test_coefficients_satisfy_the_order_conditions_of_bushy_trees(tableau):
    # sum b c^(q-1) = 1/q for q up to the order, and every row sums to its node.
    full = dense_matrix(tableau)
    size = tableau.stages + 1 + tableau.extra_stages
    assert np.allclose(full[:size].sum(axis=1), tableau.nodes, atol=1e-14)
    weights = full[tableau.stages]
    for q in range(1, tableau.order + 1):
        assert weights @ tableau.nodes ** (q - 1) == pytest.approx(1.0 / q, abs=1e-14)
    assert abs(full[tableau.error_row].sum()) < 1e-14
