"""Inputs of runs: feedback laws, time series, Python functions, sampled controllers, for all engines."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula.errors import ComputationError, ModelError, NotSupported, UsageError

TOL = 1e-10
CLOSE = 3e-8
"""two integrations at 1e-10 over a few seconds of a mechanism without chaos"""
START = {"theta": 0.4, "x_dot": 0.2}
LAW = "-3*x - 1.5*x_dot + 4*theta*theta_dot"
ENGINES: tuple[dict[str, Any], ...] = ({}, {"formulation": "maximal"}, {"engine": "recursive"})


def law(t: float, state: Any) -> float:
    return -3 * state["x"] - 1.5 * state["x_dot"] + 4 * state["theta"] * state["theta_dot"]


@pytest.fixture(scope="module", params=ENGINES, ids=("symbolic", "maximal", "recursive"))
def cart(request: pytest.FixtureRequest) -> Any:
    return pendula.compile_system(pendula.library.cart_pole(), **request.param)


def end(run: Any) -> np.ndarray:
    return np.array([run[name][-1] for name in ("x", "theta", "x_dot", "theta_dot")])


PLAIN = pendula.compile_system(pendula.library.cart_pole())


def by_scipy(force: Callable[[float, np.ndarray], float], times: list[float], y: list[float]) -> np.ndarray:
    """The end of the motion by SciPy, restarted at every one of the times."""

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], PLAIN.accelerations(y[:2], y[2:], t, inputs=[force(t, y)])])

    found = np.array(y, dtype=float)
    for a, b in itertools.pairwise(times):
        found = solve_ivp(rates, (a, b), found, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    return found


FROM = [0.0, 0.4, 0.2, 0.0]


def as_state(y: np.ndarray) -> dict[str, float]:
    return dict(zip(("x", "theta", "x_dot", "theta_dot"), y, strict=True))


def test_a_feedback_law_in_text_and_as_a_function_equals_scipy(cart: Any) -> None:
    true = by_scipy(lambda t, y: law(t, as_state(y)), [0.0, 3.0], FROM)
    text = pendula.simulate(cart, 3, inputs={"F": LAW}, initial_state=START, tol=TOL)
    function = pendula.simulate(cart, 3, inputs={"F": law}, initial_state=START, tol=TOL)
    assert np.abs(end(text) - true).max() < CLOSE
    assert np.abs(end(function) - true).max() < CLOSE
    assert any("Python function" in note for note in function.notes)
    assert np.allclose(text["F"], [law(0, s) for s in _states(text)], rtol=1e-12, atol=1e-12)
    assert np.allclose(function["F"], [law(0, s) for s in _states(function)], rtol=1e-12, atol=1e-12)
    for run in (text, function):
        assert run.energy_drift < 1e-7


def _states(run: Any) -> list[dict[str, float]]:
    names = ("x", "theta", "x_dot", "theta_dot")
    return [{n: run[n][k] for n in names} for k in range(len(run))]


def test_work_of_the_input_is_in_the_energy_account(cart: Any) -> None:
    run = pendula.simulate(cart, 2, inputs={"F": lambda t, s: 2.0}, initial_state=START, samples=401, tol=TOL)
    assert abs(run["work"][-1] - 2.0 * (run["x"][-1] - run["x"][0])) < 1e-8


@pytest.mark.parametrize("how", ["hold", "linear", "cubic"])
def test_a_time_series_equals_scipy_between_its_knots(cart: Any, how: str) -> None:
    t = np.linspace(0, 2, 11)
    series = pendula.Signal(t, np.sin(7 * t), how)  # type: ignore[arg-type]
    run = pendula.simulate(cart, 2, inputs={"F": series}, initial_state=START, tol=TOL)
    found = np.array(FROM)
    for a, b in itertools.pairwise(t):  # a held value must not change at the end of its piece
        value = float(np.sin(7 * a))
        force = (lambda at, y, v=value: v) if how == "hold" else lambda at, y: series(at)
        found = by_scipy(force, [a, b], list(found))
    assert np.abs(end(run) - found).max() < CLOSE
    assert run.energy_drift < 1e-7
    assert {*t[1:-1]} <= {*pendula.simulate(cart, 2, inputs={"F": series}, initial_state=START).t}


def test_cubic_series_is_the_spline_and_linear_the_interpolation() -> None:
    from scipy.interpolate import CubicSpline

    t = np.sort(np.random.default_rng(3).uniform(0, 5, 12))
    y, at = np.cos(t), np.linspace(t[0], t[-1], 301)
    assert np.abs(pendula.Signal(t, y, "cubic")(at) - CubicSpline(t, y)(at)).max() < 1e-13
    assert np.abs(pendula.Signal(t, y)(at) - np.interp(at, t, y)).max() < 1e-14


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.05])
def test_a_sampled_controller_equals_held_values_by_scipy(cart: Any, delay: float) -> None:
    every, count = 0.05, 40
    text = pendula.Sampled(LAW, every=every, delay=delay)
    run = pendula.simulate(cart, count * every, inputs={"F": text}, initial_state=START, tol=TOL)
    acting: list[tuple[float, float]] = []  # when each output begins to act, and its value
    y, cuts = (
        np.array(FROM),
        sorted({*(every * k for k in range(count + 1)), *(every * k + delay for k in range(count))}),
    )
    cuts = [t for k, t in enumerate(cuts) if k == 0 or t - cuts[k - 1] > 1e-12]
    for a, b in itertools.pairwise(cuts):
        if abs(a / every - round(a / every)) < 1e-9:
            acting.append((a + delay, law(a, as_state(y))))
        held = [value for when, value in acting if when <= a + 1e-12]
        y = by_scipy(lambda t, s, u=held[-1] if held else 0.0: u, [a, b], list(y))
        if b > count * every - 1e-9:
            break
    assert np.abs(end(run) - y).max() < CLOSE
    function = pendula.simulate(
        cart, count * every, inputs={"F": pendula.Sampled(law, every=every, delay=delay)}, initial_state=START, tol=TOL
    )
    assert np.abs(end(function) - end(run)).max() < 1e-9
    held_values = {round(float(x), 9) for x in run["F"]}
    assert len(held_values) <= count + 2
    assert run.energy_drift < 1e-7


@pytest.mark.parametrize("stepper", ["rk45", "radau", "rk4"])
def test_other_steppers_sample_at_the_same_states(stepper: str) -> None:
    controller = pendula.Sampled(LAW, every=0.05)
    step = {"step": 0.001} if stepper == "rk4" else {}
    run = pendula.simulate(PLAIN, 1, inputs={"F": controller}, initial_state=START, stepper=stepper, tol=1e-9, **step)
    best = pendula.simulate(PLAIN, 1, inputs={"F": controller}, initial_state=START, tol=1e-12)
    assert np.abs(end(run) - end(best)).max() < 1e-6


def test_memory_of_a_controller_is_an_integrator() -> None:
    every, gain = 0.02, 3.0

    def integral(t: float, state: Any, total: float) -> tuple[float, float]:
        return -gain * (state["x"] + total), total + every * state["x"]

    run = pendula.simulate(
        PLAIN, 1, inputs={"F": pendula.Sampled(integral, every=every, memory=0.0)}, initial_state={"x": 0.3, "theta": 0},
        tol=TOL,
    )  # fmt: skip
    at = [int(np.argmin(np.abs(run.t - k * every))) for k in range(50)]
    x = run["x"][at]
    expected = -gain * (x + every * np.concatenate([[0], np.cumsum(x)[:-1]]))
    assert np.abs(run["F"][at] - expected).max() < 1e-12


def test_noise_of_sensors_has_its_size_and_its_seed() -> None:
    def noisy(seed: int) -> Any:
        controller = pendula.Sampled("x", every=0.01, noise={"x": 0.2}, seed=seed)
        return pendula.simulate(PLAIN, 5, inputs={"F": controller}, initial_state={"theta": 0}, samples=501)

    one, same, other = noisy(1), noisy(1), noisy(2)
    assert np.array_equal(one["F"], same["F"])
    assert not np.array_equal(one["F"], other["F"])
    off = one["F"][:-1] - one["x"][:-1]
    assert 0.17 < off.std() < 0.23  # 500 samples of standard deviation 0.2


def test_events_and_rejected_steps_do_not_disturb_samples() -> None:
    controller = pendula.Sampled(LAW, every=0.1)
    plain = pendula.simulate(PLAIN, 2, inputs={"F": controller}, initial_state=START, tol=TOL)
    watched = pendula.simulate(PLAIN, 2, inputs={"F": controller}, initial_state=START, tol=TOL, events=["theta = 0"])
    assert np.abs(end(plain) - end(watched)).max() < 1e-9
    assert len(watched.events["theta = 0"]) > 1
    assert plain.predictability is not None  # a part of the run is done again, with its samples


def test_runs_of_one_system_do_not_share_what_controllers_did() -> None:
    """A second run of the system of a first one has its own samples, and leaves those of the first."""
    given = {"F": pendula.Sampled("-5*x - 3*x_dot", every=0.05)}
    first = pendula.simulate(PLAIN, 1.0, inputs=given, initial_state={"x": 1.0, "theta": 0.0})
    force = first["F"]
    second = pendula.simulate(first.system, 1.0, initial_state={"x": -2.0, "theta": 0.0})
    alone = pendula.simulate(PLAIN, 1.0, inputs=given, initial_state={"x": -2.0, "theta": 0.0})
    np.testing.assert_array_equal(second["F"], alone["F"])
    np.testing.assert_array_equal(end(second), end(alone))
    np.testing.assert_array_equal(first["F"], force)


@pytest.mark.parametrize(
    "first",
    [pendula.Sampled("-5*x", every=0.1), pendula.Signal([0, 1], [1, 3]), lambda t, _: np.cos(3 * t), "cos(3*t)"],
    ids=["sampled", "series", "function", "text"],
)
@pytest.mark.parametrize("second", [0.5, "0.3*t", pendula.Signal([0, 1], [1, 0])], ids=["number", "text", "series"])
def test_a_system_of_a_run_keeps_inputs_that_are_not_given_anew(first: Any, second: Any) -> None:
    model = pendula.library.cart_pole()
    push = {"type": "generalized", "coordinate": "theta", "value": "M_theta"}
    model = model.with_changes(inputs={"F": 0.0, "M_theta": 0.0}, forces=[*model.forces, push])
    run = pendula.simulate(model, 1.0, inputs={"F": first}, initial_state=START)
    both = pendula.simulate(model, 1.0, inputs={"F": first, "M_theta": second}, initial_state=START)
    added = pendula.simulate(run.system, 1.0, inputs={"M_theta": second}, initial_state=START)
    np.testing.assert_allclose(end(added), end(both), atol=1e-12)
    other = pendula.simulate(run.system, 1.0, inputs={"F": 0.25}, initial_state=START)
    constant = pendula.simulate(model, 1.0, inputs={"F": 0.25}, initial_state=START)
    np.testing.assert_allclose(end(other), end(constant), atol=1e-12)


def test_kinds_of_inputs_mix() -> None:
    model = pendula.library.cart_pole()
    model = model.with_changes(
        inputs={"F": 0, "T": 0}, forces=[*model.forces, {"type": "generalized", "coordinate": "theta", "value": "T"}]
    )
    push = pendula.Signal([0, 1, 3], [0, 1, 0])
    run = pendula.simulate(model, 2, inputs={"F": push, "T": "-0.3*theta_dot"}, initial_state=START, tol=TOL)
    other = pendula.simulate(
        model,
        2,
        inputs={"F": lambda t, s: push(t), "T": lambda t, s: -0.3 * s["theta_dot"]},
        initial_state=START,
        tol=TOL,
    )
    assert np.abs(end(run) - end(other)).max() < CLOSE
    assert np.allclose(run["T"], -0.3 * run["theta_dot"])


def test_a_law_in_a_model_file_is_part_of_every_analysis() -> None:
    model = pendula.library.cart_pole().with_changes(inputs={"F": "-7*x - 2*x_dot"})
    spring = pendula.library.cart_pole().with_changes(
        inputs={}, forces=[{"type": "generalized", "coordinate": "x", "value": "-7*x - 2*x_dot"}]
    )
    one, two = pendula.linearize(model, {}), pendula.linearize(spring, {})
    assert np.array_equal(one.A, two.A)
    assert one.inputs == ()
    assert pendula.loads(pendula.dumps(model)).inputs["F"] == "-7*x - 2*x_dot"
    runs = [pendula.simulate(m, 2, initial_state=START) for m in (model, spring)]
    assert np.array_equal(*[r["theta"] for r in runs])
    assert np.allclose(runs[0]["F"], -7 * runs[0]["x"] - 2 * runs[0]["x_dot"])
    many = pendula.simulate_many(model, 2, {"theta": [0.4, 0.2]})
    own = pendula.simulate_many(pendula.library.cart_pole(), 2, {"theta": [0.4, 0.2]}, inputs={"F": "-7*x - 2*x_dot"})
    assert many.ok.all()
    assert np.array_equal(many.end_q, own.end_q)


@pytest.mark.parametrize("kind", ["series", "sampled"])
def test_angles_and_quaternions_move_alike_under_inputs_over_time(kind: str) -> None:
    push: Any = pendula.Signal([0, 1, 2, 3], [0, 1, -1, 0.5])
    if kind == "sampled":
        push = pendula.Sampled(lambda t, state: np.sin(3 * t), every=0.1)
    ends = []
    for chart in ({}, {"orientation": "zyz"}):
        model = pendula.Model(
            name="rod", gravity=[0, 0, -9.81], inputs={"T": 0},
            bodies=[{"name": "rod", "mass": 1.0, "com": [0, 0, -0.5], "inertia": [0.09, 0.09, 0.01]}],
            joints=[{"name": "pivot", "type": "spherical", "parent": "ground", "child": "rod", **chart}],
            forces=[{"type": "torque", "body": "rod", "vector": ["T", 0, 0.2]}],
        )  # fmt: skip
        names = [c.name for c in model.coordinates]
        start = {names[1]: 0.5} if chart else {"pivot_q0": np.cos(0.25), "pivot_q2": np.sin(0.25)}
        run = pendula.simulate(model, 3, inputs={"T": push}, initial_state=start, tol=TOL)
        assert any("inputs over time" in note for note in run.notes) == bool(chart)
        ends.append(run.position("rod", "com")[-1])
    assert np.abs(ends[0] - ends[1]).max() < CLOSE


def test_series_drive_loops_with_either_stabilization_and_run_backwards() -> None:
    four_bar = pendula.library.four_bar()
    four_bar = four_bar.with_changes(
        inputs={"T": 0}, forces=[*four_bar.forces, {"type": "generalized", "coordinate": "crank", "value": "T"}]
    )
    push = {"T": pendula.Signal([0, 1, 2], [0, 1, 0])}
    one, two = (pendula.simulate(four_bar, 2, inputs=push, constraints=c, tol=TOL) for c in ("projection", "baumgarte"))
    assert abs(one["crank"][-1] - two["crank"][-1]) < CLOSE
    held = {"F": pendula.Signal([0, 1, 2], [0, 1, 0], "hold")}
    ahead = pendula.simulate(PLAIN, 2, inputs=held, initial_state=START, tol=1e-11)
    back = pendula.simulate(PLAIN, t_span=(2, 0), inputs=held, initial_state=ahead.state(), tol=1e-11)
    assert np.abs(end(back) - FROM).max() < CLOSE


def test_runs_with_inputs_are_kept_in_files(tmp_path: Any) -> None:
    law = pendula.simulate("cart-pole", 2, inputs={"F": LAW}, initial_state=START, samples=21)
    law.save(tmp_path / "law.npz")
    again = pendula.load_run(tmp_path / "law.npz")
    assert np.array_equal(again["F"], law["F"])
    whole = pendula.simulate("cart-pole", 3, inputs={"F": LAW}, initial_state=START)
    assert np.abs(end(again.continue_for(1.0)) - end(whole)).max() < 1e-6
    held = pendula.simulate(
        "cart-pole", 2, inputs={"F": pendula.Sampled(LAW, every=0.1)}, initial_state=START, samples=21
    )
    held.save(tmp_path / "held.npz")
    again = pendula.load_run(tmp_path / "held.npz")
    assert np.array_equal(again["F"], held["F"])
    assert np.array_equal(again["theta_ddot"], held["theta_ddot"])
    assert any("interpolated between the samples" in note for note in again.notes)
    with pytest.raises(NotSupported, match="sampled controller, which starts with its run"):
        held.continue_for(1.0)
    with pytest.raises(UsageError, match='input "F" is given from t = 0 to 2'):
        again.continue_for(1.0)


@pytest.mark.parametrize("what", ["integrals", "routh", "play", "report", "linearize_symbolic"])
def test_conclusions_from_the_model_are_refused_for_systems_of_runs_with_other_inputs(what: str, tmp_path: Any) -> None:
    """A force over time changes the momentum that the model keeps."""
    run = pendula.simulate(PLAIN, 1.0, inputs={"F": ([0, 1], [1, 2])}, initial_state=START)
    calls: dict[str, Callable[[], Any]] = {
        "integrals": lambda: pendula.integrals(run.system),
        "routh": lambda: pendula.equilibria.routh(run.system),
        "play": lambda: pendula.play(run.system, tmp_path / "page.html"),
        "report": lambda: pendula.report(run.system, tmp_path / "page.html"),
        "linearize_symbolic": lambda: pendula.linear.linearize_symbolic(run.system),
    }
    with pytest.raises(NotSupported, match=f'{what} draws on the model.*"F" of this run is a time series'):
        calls[what]()


@pytest.mark.parametrize("by", ["q", "v"])
def test_derivatives_by_the_state_do_not_leave_out_a_python_function(cart: Any, by: str) -> None:
    """As text the law is in them, which finite differences confirm; a function has no derivative."""
    q, v = (np.array(x) for x in (cart.state(START).q, cart.state(START).v))
    run = pendula.simulate(cart, 0.1, inputs={"F": law}, initial_state=START)
    with pytest.raises(NotSupported, match=f'by {by} need that of the input "F".*a Python function'):
        run.system.acceleration_jacobian(by, q, v)
    with pytest.raises(NotSupported, match=f'by {by} need that of the input "F".*a Python function'):
        run.system.residual_jacobian(by, q, v, np.zeros(len(v)))
    text = pendula.simulate(cart, 0.1, inputs={"F": LAW}, initial_state=START).system
    columns = []
    for d in 1e-6 * np.eye(len(q if by == "q" else v)):
        many = (np.array([q + d, q - d]), v) if by == "q" else (q, np.array([v + d, v - d]))
        high, low = run.system.accelerations(*many)
        columns.append((high - low) / 2e-6)
    assert np.allclose(text.acceleration_jacobian(by, q, v), np.transpose(columns), atol=1e-7)
    held = cart.acceleration_jacobian(by, q, v, inputs={"F": 2.0})
    assert np.array_equal(run.system.acceleration_jacobian(by, q, v, inputs={"F": 2.0}), held)


def test_derivatives_of_recursive_loops_take_given_parameters_into_the_inputs() -> None:
    four_bar = pendula.library.four_bar()
    first = next(iter(four_bar.joints)).name
    force = {"type": "generalized", "coordinate": first, "value": f"push_1*{first} + push_2"}
    model = four_bar.with_changes(
        parameters={**four_bar.parameters, "k_1": 1.0},
        inputs={"push_1": "k_1", "push_2": 0.0},
        forces=[*four_bar.forces, force],
    )
    kane, recursive = pendula.compile_system(model), pendula.compile_system(model, engine="recursive")
    run = pendula.simulate(recursive, 0.1, inputs={"push_2": ([0, 1], [1, 1])})
    q, v = (np.array(x) for x in (run.system.initial_state().q, run.system.initial_state().v))
    expected = kane.acceleration_jacobian("q", q, v, inputs={"push_1": 30.0, "push_2": 1.0})
    found = run.system.acceleration_jacobian("q", q, v, parameters={"k_1": 30.0})
    assert np.allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_bad_inputs_are_refused_by_name() -> None:
    cart = pendula.library.cart_pole()
    with pytest.raises(UsageError, match='no input "f"; available: F'):
        pendula.simulate(cart, 1, inputs={"f": 1})
    with pytest.raises(ModelError, match='"k" in "-k\\*x" is not known'):
        pendula.simulate(cart, 1, inputs={"F": "-k*x"})
    with pytest.raises(UsageError, match="from t = 0 to 1, but the run is from 0 to 2"):
        pendula.simulate(cart, 2, inputs={"F": ([0, 1], [0, 1])})
    with pytest.raises(UsageError, match="must increase; found 1 and then 1"):
        pendula.Signal([0, 1, 1], [0, 0, 0])
    with pytest.raises(ComputationError, match='input "F" could not be evaluated: ZeroDivisionError'):
        pendula.simulate(cart, 1, inputs={"F": lambda t, s: 1 / 0})
    with pytest.raises(ComputationError, match="returned 2 numbers for 1 input"):
        pendula.simulate(cart, 1, inputs={"F": lambda t, s: [1, 2]})
    with pytest.raises(NotSupported, match='simulate_many takes inputs as numbers or text, and "F" is a sampled'):
        pendula.simulate_many(cart, 1, {}, inputs={"F": pendula.Sampled("x", every=0.1)})  # type: ignore[dict-item]
    with pytest.raises(NotSupported, match='stepper "taylor" needs inputs as numbers or text'):
        pendula.simulate(cart, 1, inputs={"F": pendula.Signal([0, 1], [0, 1])}, stepper="taylor")
    with pytest.raises(UsageError, match="every of a sampled controller must be a positive number"):
        pendula.Sampled("x", every=0.0)
    with pytest.raises(UsageError, match='there is no "y"'):
        pendula.simulate(cart, 1, inputs={"F": pendula.Sampled("y", every=0.1)})
    run = pendula.simulate(cart, 1, inputs={"F": pendula.Signal([0, 1], [0, 1])})
    with pytest.raises(NotSupported, match="is a time series, and the analysis needs numbers"):
        pendula.linearize(run.system, {})


@pytest.mark.parametrize("engine", ENGINES, ids=("symbolic", "maximal", "recursive"))
def test_an_input_of_the_run_goes_with_an_expression_of_time_in_the_model(engine: dict[str, Any]) -> None:
    cart_pole = pendula.library.cart_pole()
    push = {"type": "generalized", "coordinate": "theta", "value": "torque"}
    model = cart_pole.with_changes(inputs={**cart_pole.inputs, "torque": "sin(3*t)"}, forces=[*cart_pole.forces, push])
    system = pendula.compile_system(model, **engine)
    text = pendula.simulate(system, 2, inputs={"F": "cos(t)"}, initial_state=START, tol=TOL)
    function = pendula.simulate(system, 2, inputs={"F": lambda t, _: np.cos(t)}, initial_state=START, tol=TOL)
    assert np.abs(end(text) - end(function)).max() < CLOSE
    assert np.allclose(function["torque"], np.sin(3 * function.t), rtol=1e-12, atol=1e-12)
    assert np.allclose(function["F"], np.cos(function.t), rtol=1e-12, atol=1e-12)
    line = pendula.simulate(system, 2, inputs={"F": ([0, 2], [0, 1])}, initial_state=START, tol=TOL)
    assert (
        np.abs(end(line) - end(pendula.simulate(system, 2, inputs={"F": "t/2"}, initial_state=START, tol=TOL))).max()
        < CLOSE
    )


SERIES = pendula.Signal([0, 0.5, 1], [0, 5, -5])


def push(t: float, state: pendula.State) -> float:
    """A function that pickle knows by its name."""
    return 5.0 * t - float(state["x"])


@pytest.mark.parametrize("given", [{"formulation": "kane"}, {"formulation": "maximal"}, {"engine": "recursive"}])
@pytest.mark.parametrize(
    "value", [SERIES, push, pendula.Sampled(push, every=0.1), pendula.Sampled("5*t - x", every=0.1)]
)
def test_a_pickled_run_keeps_its_inputs(given: dict[str, str], value: Any) -> None:
    run = pendula.simulate(pendula.compile_system("cart-pole", **given), 1.0, inputs={"F": value}, samples=5)
    again = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(again["F"], run["F"])
    np.testing.assert_array_equal(again.accelerations, run.accelerations)
    joints = again.system.in_joints.system  # the same motion in the coordinates of the joints
    in_joints = joints.inputs.rows(run.t, None, joints.parameters, run.joints)[:, 0]
    np.testing.assert_allclose(in_joints, run["F"], rtol=0, atol=1e-12)
    assert np.ptp(run["F"]) > 0.5


def test_a_function_that_cannot_be_pickled_is_missed_only_where_it_is_needed() -> None:
    plain = pendula.simulate("cart-pole", 1.0, inputs={"F": lambda t, state: 5 * t}, samples=5)
    again = pickle.loads(pickle.dumps(plain))
    np.testing.assert_array_equal(again.q, plain.q)
    with pytest.raises(ComputationError, match="of F was not pickled with the run"):
        again.system.accelerations(again.q[-1], again.v[-1], 1.0)
    sampled = pendula.Sampled(lambda t, state: 5 * t, every=0.1)
    run = pendula.simulate("cart-pole", 1.0, inputs={"F": sampled}, samples=5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(run))["F"], run["F"])  # from its samples
