"""Simulations against SciPy on the same equations, and the promises on energy and constraints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula import library
from pendula.numerics.steppers.stepper import STEPPERS
from pendula.results import System
from pendula.simulation import course
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array

TOL = 1e-8
FEW_STEPS = 0.02
"""With SciPy's step control only rounding, which a chaotic chain amplifies, tells the step counts apart."""
CLOSED = 1e-12
"""Constraint violation with projection: Newton steps go on to 1e-14, and mechanisms are some metres large."""


def _scipy(system: System, seconds: float, method: str, rtol: float, t_eval: Array | None = None) -> Any:
    start = system.initial_state()
    nq = start.q.size

    def rhs(t: float, y: Array) -> Array:
        q, v = y[:nq], y[nq:]
        return np.concatenate([system.rates(q, v, t), system.accelerations(q, v, t)])

    y0 = np.concatenate([start.q, start.v])
    return solve_ivp(rhs, (0.0, seconds), y0, method=method, rtol=rtol, atol=rtol, t_eval=t_eval)


def test_ten_links_for_ten_seconds_keep_their_energy() -> None:
    run = pendula.simulate(library_system("chain"), 10.0, tol=TOL)
    assert run.outcome.ok
    assert run.t[-1] == 10.0
    assert run.energy_drift <= 2e-8
    assert run.constraint_violation == 0.0


def test_energy_drift_of_ten_links_falls_with_the_tolerance() -> None:
    drifts = [pendula.simulate(library_system("chain"), 2.0, tol=tol).energy_drift for tol in (1e-5, 1e-7, 1e-9)]
    assert drifts[0] > 10 * drifts[1] > 100 * drifts[2]


@pytest.mark.parametrize(("ours", "theirs"), [("dop853", "DOP853"), ("rk45", "RK45")])
def test_steps_are_as_many_as_scipy_takes(ours: str, theirs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten links for 1.5 s, before chaos makes the paths differ."""
    native = STEPPERS[ours].native
    monkeypatch.setitem(
        vars(STEPPERS[ours]), "native", replace(native, tableau=native.tableau._replace(safety=0.9, memory=0.0))
    )
    monkeypatch.setattr(course, "INSIDE", 0)  # dense output for the energy account takes evaluations, too
    system = library_system("chain")
    expected = _scipy(system, 1.5, theirs, TOL)
    run = pendula.simulate(system, 1.5, tol=TOL, stepper=ours)
    assert run.steps == pytest.approx(len(expected.t) - 1, rel=FEW_STEPS)
    assert run.rhs_evaluations == pytest.approx(expected.nfev, rel=0.05)


@pytest.mark.parametrize("stepper", ["dop853", "rk45", "radau"])
def test_ten_links_are_after_a_second_where_scipy_says(stepper: str) -> None:
    system = library_system("chain")
    expected = _scipy(system, 1.0, "DOP853", 1e-11).y[:, -1]
    run = pendula.simulate(system, 1.0, tol=1e-10, stepper=stepper)
    found = np.concatenate([run.q[-1], run.v[-1]])
    assert np.abs(found - expected).max() < 1e-6


@pytest.mark.parametrize(
    "name", ["double-pendulum", "hoop-bead", "heavy-top", "spatial-rod: spatial", "chain: everything"]
)
def test_motion_agrees_with_scipy(name: str) -> None:
    system = library_system(name)
    times = np.linspace(0, 1.0, 6)
    expected = _scipy(system, 1.0, "DOP853", 1e-11, times).y.T
    run = pendula.simulate(system, 1.0, tol=1e-11, samples=times)
    np.testing.assert_allclose(np.hstack([run.q, run.v]), expected, atol=1e-7 * (1 + np.abs(expected).max()))


def test_both_formulations_move_alike() -> None:
    runs = [
        pendula.simulate(library_system("double-pendulum", f), 3.0, tol=1e-11, samples=7) for f in ("kane", "lagrange")
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-8)


def test_motion_can_be_run_backwards() -> None:
    system = library_system("double-pendulum").model.with_parameters({"c1": 0.0, "c2": 0.0})
    system = pendula.compile_system(system)
    there = pendula.simulate(system, 2.0, tol=1e-12)
    back = pendula.simulate(system, t_span=(2.0, 0.0), initial_state=there.state(), tol=1e-12)
    assert back.outcome.ok
    np.testing.assert_allclose(back.q[-1], there.q[0], atol=1e-8)


@pytest.mark.parametrize("name", ["heavy-top", "free-body", "spatial-rod: quaternion, spatial"])
def test_quaternions_keep_their_length(name: str) -> None:
    system = library_system(name)
    run = pendula.simulate(system, 5.0, tol=1e-6, samples=200)
    for at, _ in system.balls:
        assert np.abs(np.linalg.norm(run.q[:, at : at + 4], axis=1) - 1).max() < 1e-14
    assert run.constraint_violation < CLOSED


def test_loops_stay_closed_with_projection_and_drift_without() -> None:
    system = library_system("four-bar")
    kept = pendula.simulate(system, 10.0, tol=1e-6)
    lost = pendula.simulate(system, 10.0, tol=1e-6, constraints="none")
    assert kept.constraint_violation <= CLOSED
    assert kept.velocity_violation <= 1e-11
    assert lost.constraint_violation > 1e3 * CLOSED
    assert lost.outcome.ok


def test_samples_of_a_closed_loop_lie_on_the_constraints() -> None:
    system = library_system("four-bar")
    run = pendula.simulate(system, 2.0, tol=1e-6, samples=500)
    assert np.abs(system.gaps(run.q, run.v, run.t)[0]).max() <= CLOSED


# --- samples and breakpoints --------------------------------------------------------------------------


def test_samples_are_where_they_are_asked_for() -> None:
    system = library_system("pendulum")
    times = [0.0, 0.1, 0.25, 0.25, 1.0]
    run = pendula.simulate(system, 1.0, samples=times)
    assert run.t.tolist() == times
    assert np.array_equal(pendula.simulate(system, 1.0, samples=11).t, np.linspace(0, 1, 11))
    assert run.q.shape == (5, 1)
    assert len(run.energy.t) == run.steps + 1


def test_samples_between_steps_are_as_good_as_steps() -> None:
    system = library_system("pendulum")
    run = pendula.simulate(system, 2.0, tol=1e-10, samples=400)
    exact = pendula.simulate(system, 2.0, tol=1e-13, samples=400)
    assert np.abs(run.q - exact.q).max() < 1e-7


def test_samples_do_not_change_the_steps() -> None:
    system = library_system("double-pendulum")
    assert pendula.simulate(system, 2.0).steps == pendula.simulate(system, 2.0, samples=1000).steps


def _pulled() -> pendula.Model:
    """A mass on a spring of frequency 1, pulled by one unit for half a period."""
    return pendula.Model(
        name="pulled",
        gravity=[0, 0, 0],
        parameters={"stop": "pi"},
        inputs={"F": "1 if t < stop else 0"},
        bodies=[{"name": "block", "point": {"mass": 1}}],
        joints=[{"name": "x", "type": "prismatic", "parent": "ground", "child": "block"}],
        forces=[
            {"type": "spring", "joint": "x", "stiffness": 1},
            {"type": "generalized", "coordinate": "x", "value": "F"},
        ],
    )


def test_a_pull_that_stops_after_half_a_period_leaves_the_closed_form_swing() -> None:
    """x = 1 - cos t until pi; from x = 2 at rest it then swings as 2 cos(t - pi) = -2 cos t."""
    run = pendula.simulate(pendula.compile_system(_pulled()), 10.0, tol=1e-11, samples=101)
    expected = np.where(run.t < np.pi, 1 - np.cos(run.t), -2 * np.cos(run.t))
    np.testing.assert_allclose(run["x"], expected, atol=1e-9)
    assert run.energy_drift < 1e-9


def test_a_step_ends_exactly_where_the_pull_stops() -> None:
    run = pendula.simulate(pendula.compile_system(_pulled()), 10.0, tol=1e-6)
    assert np.abs(run.t - np.pi).min() == 0.0


def test_the_time_the_pull_stops_follows_a_parameter() -> None:
    run = pendula.simulate(pendula.compile_system(_pulled()), 10.0, parameters={"stop": 1.25})
    assert 1.25 in run.t
    assert np.abs(run.t - np.pi).min() > 0.0


def test_fewer_steps_are_rejected_with_a_breakpoint_than_hunting_for_the_jump() -> None:
    """The same jump hidden from the search for breakpoints costs rejected steps."""
    hidden = _pulled().with_changes(inputs={"F": "1 if sin(t/1) + 0*stop > 0 else 0"})
    known = pendula.simulate(pendula.compile_system(_pulled()), 6.0, tol=1e-9)
    sought = pendula.simulate(pendula.compile_system(hidden), 6.0, tol=1e-9)
    assert known.rejected < sought.rejected
    assert known["x"][-1] == pytest.approx(sought["x"][-1], abs=1e-7)


# --- prescribed motions that jump ---------------------------------------------------------------------


def _moved(position: str, *, joint: str = "pivot") -> pendula.Model:
    if joint == "coordinates":
        holder = {
            "name": "j",
            "type": "coordinates",
            "coordinates": ["theta"],
            "kinds": ["angle"],
            "parent": "ground",
            "child": "link",
            "position": [position, 0, 0],
            "rotation": {"axis": [0, 0, 1], "angle": "theta"},
        }
        return library.pendulum().with_changes(joints=[holder])
    parent = {"body": "ground", "position": [position, 0, 0]}
    pin = {"name": "theta", "type": "revolute", "parent": parent, "child": "link"}
    return library.pendulum().with_changes(joints=[pin])


@pytest.mark.parametrize(
    "position",
    [
        "0 if t < 1 else 0.5",
        "t if t < 1 else 1",
        "0 if 1 > t else t",
        "0.5 if 2*t > 2 else 0",
        "0.5 if t**2 > 1 else 0",
        "0.5 if t - 1 > 0 else 0",
        "min(t, 1)",
        "max(t - 1, 0)",
        "abs(t - 1)",
        "sign(t - 1)",
        "floor(t)",
        "0.2 if sin(3*t) > 0 else 0",
    ],
)
def test_a_prescribed_motion_that_jumps_in_place_or_rate_is_refused(position: str) -> None:
    """It would need an infinite force; passing over it would be silently wrong."""
    with pytest.raises(pendula.errors.PendulaError):
        pendula.simulate(pendula.compile_system(_moved(position)), 2.0)


@pytest.mark.parametrize("position", ["0 if t < 1 else 0.5", "t if t < 1 else 1"])
def test_time_inside_a_joint_that_jumps_is_refused(position: str) -> None:
    with pytest.raises(pendula.errors.PendulaError):
        pendula.simulate(pendula.compile_system(_moved(position, joint="coordinates")), 2.0)


@pytest.mark.parametrize(
    "position", ["0 if t < 1 else (t - 1)**2", "0 if t < 1 else (t - 1)**3", "0.1*sin(5*t)", "0.3*t"]
)
def test_a_prescribed_motion_that_bends_smoothly_is_accepted(position: str) -> None:
    run = pendula.simulate(pendula.compile_system(_moved(position)), 2.0, tol=1e-10)
    assert run.outcome.ok
    assert run.energy_drift < 1e-8


def test_a_jump_beyond_the_end_of_the_run_does_not_matter() -> None:
    assert pendula.simulate(pendula.compile_system(_moved("0 if t < 5 else 1")), 2.0).outcome.ok
