"""Quantities of a run by name, points of bodies, and accounts that do not depend on what was asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.errors import UsageError
from pendula.model import Model


@pytest.fixture(scope="module")
def swing() -> pendula.Trajectory:
    return pendula.simulate(library.chain(links=2), 2.0, samples=401, tol=1e-10)


def test_energies_at_the_samples_are_those_of_the_state(swing: pendula.Trajectory) -> None:
    """A frictionless chain keeps its energy; potential and kinetic energy by hand from the mass centres."""
    assert len(swing["kinetic"]) == len(swing.t) == 401
    np.testing.assert_allclose(swing["kinetic"] + swing["potential"], swing["energy"])
    np.testing.assert_allclose(swing["energy"], swing["energy"][0], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(swing["work"], 0.0, atol=1e-12)
    height = sum(swing.position(body, "com")[:, 1] for body in swing.system.layout.bodies)
    np.testing.assert_allclose(np.diff(swing["potential"]), 9.81 * np.diff(height), atol=1e-9)


def test_work_is_that_of_the_damper() -> None:
    """A pendulum with damping c: the work is minus the integral of c theta_dot^2."""
    model = library.pendulum()
    parameters = {"c": 0.3}
    damped = model.with_changes(
        parameters=dict(model.parameters) | parameters,
        forces=[{"name": "drag", "type": "generalized", "coordinate": "theta", "value": "-c*theta_dot"}],
    )
    run = pendula.simulate(damped, 3.0, samples=601, tol=1e-10)
    assert run["work"][-1] == pytest.approx(-run.integral("c*theta_dot**2"), rel=1e-6)
    assert run["work"][-1] < -0.1


def test_a_point_that_is_no_place_is_refused(swing: pendula.Trajectory) -> None:
    last = swing.system.layout.bodies[-1]
    with pytest.raises(UsageError, match=f'the point of body "{last}" must be numbers'):
        swing.position(last, ["l", 0.1])


def test_an_integral_that_the_states_do_not_give_is_refused() -> None:
    """Over the whole run, theta_dot integrates to the change of theta, and theta theta_dot to half that of theta^2."""
    close = pendula.simulate("pendulum", 10.0, samples=201)
    turned = close["theta"][-1] - close["theta"][0]
    squared = (close["theta"][-1] ** 2 - close["theta"][0] ** 2) / 2
    assert close.integral("theta_dot") == pytest.approx(turned, abs=1e-4)
    assert close.integral("theta*theta_dot") == pytest.approx(squared, abs=1e-3)
    back = pendula.simulate("pendulum", t_span=(10.0, 0.0), samples=201)
    assert back.integral("1") == pytest.approx(-10.0, abs=1e-12)
    for count in (2, 3, 5, 21):
        run = pendula.simulate("pendulum", 10.0, samples=count)
        with pytest.raises(UsageError, match="Try: more samples"):
            run.integral("theta*theta_dot")
    middle = pendula.simulate("pendulum", 10.0, samples=np.linspace(2.0, 3.0, 101))
    with pytest.raises(UsageError, match="over the whole run, from t = 0 to 10 s, but"):
        middle.integral("theta_dot")


@pytest.mark.parametrize("per_period", [1, 2])
def test_samples_that_miss_the_motion_give_no_integral(per_period: int) -> None:
    """x = cos t: the integral of x^2 over n periods is n pi. Once or twice per period x^2 is 1 at every sample."""
    block = {"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "block"}
    model = pendula.Model(
        name="oscillator",
        gravity=[0, 0, 0],
        bodies=[{"name": "block", "mass": 1}],
        joints=[block],
        forces=[{"type": "spring", "joint": "x", "stiffness": 1}],
        initial={"x": 1.0},
    )
    seen = pendula.simulate(model, 12 * np.pi, samples=6 * per_period + 1)
    with pytest.raises(UsageError, match=r"miss what happens in between(.|\n)*Try: more samples"):
        seen.integral("x**2")
    close = pendula.simulate(model, 12 * np.pi, samples=601)
    assert close.integral("x**2") == pytest.approx(6 * np.pi, rel=1e-4)
    assert pendula.simulate(model, 12 * np.pi).integral("1") == pytest.approx(12 * np.pi)


@pytest.mark.parametrize("samples", [7, 13])
@pytest.mark.parametrize("waves", [1, 2, 4])
def test_samples_that_miss_what_depends_on_time_give_no_integral(samples: int, waves: int) -> None:
    """The integral of cos^2 over whole periods is half their length; at every sample it is 1. The motion is slow."""
    run = pendula.simulate("pendulum", 6.0, initial_state={"theta": 0.0}, samples=samples)
    with pytest.raises(UsageError, match="miss what happens in between"):
        run.integral(f"cos({2 * waves}*pi*t)**2")
    close = pendula.simulate("pendulum", 6.0, initial_state={"theta": 0.0}, samples=1201)
    assert close.integral(f"cos({2 * waves}*pi*t)**2") == pytest.approx(3.0, rel=1e-4)


def test_points_move_as_their_positions_change(swing: pendula.Trajectory) -> None:
    last = swing.system.layout.bodies[-1]
    for point in ("origin", "com", "tip", (0.1, -0.2)):
        position, velocity = swing.position(last, point), swing.velocity(last, point)
        slope = (-position[4:] + 8 * position[3:-1] - 8 * position[1:-3] + position[:-4]) / (12 * 0.005)
        np.testing.assert_allclose(velocity[2:-2], slope, atol=2e-3)
    lengths = np.linalg.norm(swing.position(last, "tip") - swing.position(last), axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-12)


def test_points_agree_in_every_formulation() -> None:
    runs = [pendula.simulate(pendula.compile_system("four-bar", how), 1.0, samples=11) for how in ("kane", "maximal")]
    body = "coupler"
    for name in ("position", "velocity"):
        a, b = (getattr(run, name)(body, "tip") for run in runs)
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_prescribed_motions_and_expressions_are_readable() -> None:
    run = pendula.simulate("hoop-bead", 1.0, samples=11)
    drive = run.system.drives[0].name
    rate = run[f"{drive}_dot"]
    np.testing.assert_allclose(run[drive], run[drive][0] + rate[0] * run.t, atol=1e-12)
    np.testing.assert_allclose(run.evaluate("2*theta + t"), 2 * run["theta"] + run.t)
    np.testing.assert_allclose(run["theta"], pendula.simulate("hoop-bead", 1.0, samples=11).evaluate("theta"))


def test_unknown_names_are_refused_with_a_hint(swing: pendula.Trajectory) -> None:
    first = swing.system.layout.bodies[0]
    with pytest.raises(UsageError, match=r'no "kinetik".*"kinetic"'):
        swing["kinetik"]
    with pytest.raises(UsageError, match="no body"):
        swing.position("arm")
    with pytest.raises(UsageError, match=r'no point "tipp".*"tip"'):
        swing.position(first, "tipp")
    with pytest.raises(UsageError, match="two or three numbers"):
        swing.velocity(first, [1.0])
    with pytest.raises(UsageError, match="expression"):
        swing.evaluate("2*")
    with pytest.raises(UsageError, match="thetta"):
        swing.evaluate("thetta + 1")


def test_flat_bodies_need_only_izz() -> None:
    """A compound pendulum: omega^2 = m g d / (Izz + m d^2)."""
    body = {"name": "plate", "mass": 2.0, "com": [0, -0.5, 0], "inertia": 0.3}
    model = Model(
        name="plate",
        gravity=[0, -9.81, 0],
        bodies=[body],
        joints=[{"name": "theta", "type": "revolute", "parent": "ground", "child": "plate"}],
    )
    mode = next(iter(pendula.modes(model)))
    assert mode.hertz * 2 * math.pi == pytest.approx(math.sqrt(2.0 * 9.81 * 0.5 / (0.3 + 2.0 * 0.25)), rel=1e-12)


@pytest.mark.parametrize("stepper", ["dop853", "rk45", "radau"])
def test_energy_drift_does_not_depend_on_the_samples(stepper: str) -> None:
    drifts = {pendula.simulate("cart-pole", 5.0, samples=k, stepper=stepper).energy_drift for k in (None, 2, 50, 601)}
    assert len(drifts) == 1
    assert max(drifts) < 1e-5


def test_a_run_with_wrong_energy_is_not_ok() -> None:
    """Steps of 0.2 s are far too long for a pendulum of 0.1 m: its energy is lost, and the run says so."""
    model = library.pendulum().with_parameters({"l": 0.1})
    run = pendula.simulate(model, 20.0, stepper="rk4", step=0.1)
    assert run.outcome.ok
    assert not run.ok
    assert "energy is off" in run.doubts[0]
    assert "not to be trusted" in str(run)
    with pytest.raises(pendula.errors.NoConvergence, match="energy is off"):
        pendula.simulate(model, 20.0, stepper="rk4", step=0.1, on_failure="raise")


def test_ensembles_name_the_runs_that_are_not_to_be_trusted() -> None:
    """Beside a pendulum that hardly moves, one that turns over at a tolerance of 0.1."""
    runs = pendula.simulate_many(library.pendulum(), 50.0, {"theta": [1e-6, 3.0], "theta_dot": [0.0, 3.0]}, tol=0.1)
    assert runs.outcome[1].ok
    assert runs.energy_drift[1] > 1e-3
    assert runs.doubtful[1]
    assert not runs.ok[1]
    assert "not to be trusted" in runs.summary()
    assert pendula.simulate_many(library.pendulum(), 5.0, {"theta": [0.1, 3.0]}).ok.all()


# --- accelerations --------------------------------------------------------------------------------------


def slopes(y: np.ndarray, step: float) -> np.ndarray:
    """Derivatives by central differences of order 4, without two values at either end."""
    return (-y[4:] + 8 * y[3:-1] - 8 * y[1:-3] + y[:-4]) / (12 * step)


SLOPE = 1e-7  # error of differences of order 4 at 1/5000 s of motion with up to 100 rad/s, relative to the largest


@pytest.mark.parametrize(
    ("name", "formulation"),
    [("double-pendulum", "kane"), ("four-bar", "maximal"), ("slider-crank", "kane"), ("spherical-pendulum", None)],
)
def test_accelerations_by_name_are_the_slopes_of_speeds(name: str, formulation: str | None) -> None:
    system = pendula.compile_system(name, formulation)
    run = pendula.simulate(system, 0.02, samples=101, tol=1e-13)
    for speed in run.joint_layout.speeds:
        found, expected = run[f"{speed.removesuffix('_dot')}_ddot"][2:-2], slopes(run[speed], 0.0002)
        np.testing.assert_allclose(found, expected, atol=SLOPE * (1 + np.abs(expected).max()))
    assert run.accelerations.shape == (101, len(run.joint_layout.speeds))


def test_accelerations_of_angular_velocities_bodies_and_prescribed_motions_have_names() -> None:
    top = pendula.simulate("heavy-top", 0.1, samples=101, tol=1e-12)
    name = next(n for n in top.joint_layout.speeds if n.endswith("_wx"))
    np.testing.assert_allclose(top[f"{name}_dot"][2:-2], slopes(top[name], 0.001), rtol=1e-6, atol=1e-4)
    bars = pendula.simulate(pendula.compile_system("four-bar", "maximal"), 0.1, samples=101, tol=1e-12)
    np.testing.assert_allclose(bars["coupler_x_ddot"][2:-2], slopes(bars["coupler_x_dot"], 0.001), rtol=1e-6, atol=1e-5)
    for engine in ("symbolic", "recursive"):
        shaken = library.driven_chain(links=2, amplitude=0.1, rate=3.0)
        run = pendula.simulate(pendula.compile_system(shaken, engine=engine), 1.0, samples=5)
        drive = run.system.drives[0].name
        np.testing.assert_allclose(run[f"{drive}_ddot"], -9.0 * run[drive], atol=1e-12)
        assert run.unit(f"{drive}_ddot") == "m/s^2"


def test_points_by_name_have_positions_velocities_and_accelerations() -> None:
    run = pendula.simulate("double-pendulum", 0.02, samples=101, tol=1e-13)
    np.testing.assert_array_equal(run["lower.tip.x"], run.position("lower", "tip")[:, 0])
    np.testing.assert_array_equal(run["lower.tip.vy"], run.velocity("lower", "tip")[:, 1])
    for axis, name in enumerate("xyz"):
        found = run[f"lower.tip.a{name}"]
        np.testing.assert_array_equal(found, run.acceleration("lower", "tip")[:, axis])
        np.testing.assert_allclose(found[2:-2], slopes(run[f"lower.tip.v{name}"], 0.0002), atol=2e-4)
    assert [run.unit(f"lower.tip.{x}") for x in ("x", "vx", "ax")] == ["ft", "ft/s", "ft/s^2"]
    assert run.unit("theta1_ddot") == "rad/s^2"
    for wrong in ("lower.top_of_all.x", "lower.tip.w", "nobody.tip.x", "theta3_ddot"):
        with pytest.raises(UsageError):
            run[wrong]


def test_quantities_are_saved_and_drawn(swing: pendula.Trajectory, tmp_path) -> None:
    names = ["theta1_ddot", "kinetic", f"{swing.system.layout.bodies[0]}.tip.x"]
    swing.save(tmp_path / "run.npz", quantities=names)
    with np.load(tmp_path / "run.npz") as stored:
        assert stored["quantities_columns"].tolist() == [names[0], names[2]]  # energies are there in any case
        np.testing.assert_array_equal(stored["quantities"][:, 0], swing["theta1_ddot"])
    axes = pendula.plot(swing, quantities=names).axes
    assert [ax.get_ylabel() for ax in axes[:3]] == ["acceleration [rad/s^2]", "value [J]", "length [m]"]
