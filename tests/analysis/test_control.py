"""Control of linear models, compared with python-control, SciPy, closed forms and nonlinear runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import signal
from scipy.linalg import expm

import pendula
from pendula.errors import ComputationError, NotSupported, UsageError

UPRIGHT = {"theta": np.pi}
SAME = 1e-9
"""difference of two solvers of the same equation, relative"""


@pytest.fixture(scope="module")
def cart() -> Any:
    return pendula.linearize("cart-pole", UPRIGHT)


def test_gains_and_responses_equal_those_of_python_control(cart: Any) -> None:
    control = pytest.importorskip("control")
    Q, R = np.diag([1.0, 10.0, 0.0, 0.0]), np.array([[0.1]])
    gain = cart.lqr({"x": 1, "theta": 10}, {"F": 0.1})
    K, S, poles = control.lqr(cart.A, cart.B, Q, R)
    assert np.allclose(gain.K, K, rtol=SAME)
    assert np.allclose(gain.cost, S, rtol=SAME)
    assert np.allclose(np.sort_complex(gain.poles), np.sort_complex(poles), rtol=1e-6)
    assert gain.residual < 1e-12
    space = cart.state_space(["x", "theta", "pole.tip.x"])
    other = space.to_control()
    bode = space.bode()
    size, phase, _ = control.frequency_response(other, bode.omega, squeeze=False)
    assert np.allclose(np.abs(bode.response).transpose(1, 2, 0), size, rtol=SAME, atol=1e-14)
    turned = np.exp(1j * phase) * size
    assert np.abs(bode.response.transpose(1, 2, 0) - turned).max() < SAME * size.max()
    closed = gain.closed_loop()
    step = closed.step(duration=6.0, samples=301)
    assert (
        np.abs(step.y[:, :, 0].T - np.squeeze(control.step_response(closed.to_control(), step.t).outputs)).max() < 1e-9
    )
    sampled = cart.lqr({"x": 1, "theta": 10}, 0.1, every=0.01)
    discrete = control.sample_system(cart.state_space().to_control(), 0.01, "zoh")
    assert np.allclose(sampled.K, control.dlqr(discrete.A, discrete.B, Q, R)[0], rtol=SAME)
    C = cart.state_space(["x", "theta"]).C
    L, P, _ = control.lqe(cart.A, np.eye(4), C, 0.1 * cart.B @ cart.B.T, np.diag([1e-5, 1e-4]))
    found = cart.kalman(["x", "theta"], process={"F": 0.1}, measurement={"x": 1e-5, "theta": 1e-4})
    assert np.allclose(found.L, L, rtol=1e-7)
    assert np.allclose(found.covariance, P, rtol=1e-7)
    locus = cart.root_locus("theta", gains=np.linspace(0, 50, 7))
    response = control.root_locus_map(cart.state_space(["theta"]).to_control(), gains=locus.gains)
    for ours, theirs in zip(locus.poles, response.loci, strict=True):
        assert np.abs(np.poly(ours) - np.poly(theirs)).max() < 1e-10 * np.abs(np.poly(theirs)).max()


def test_lqr_minimizes_its_cost(cart: Any) -> None:
    gain = cart.lqr(1.0, 0.5)
    x0 = np.array([0.3, -0.2, 0.1, 0.4])

    def cost(K: np.ndarray) -> float:
        from scipy.linalg import solve_continuous_lyapunov

        closed = cart.A - cart.B @ K
        return float(x0 @ solve_continuous_lyapunov(closed.T, -(np.eye(4) + 0.5 * K.T @ K)) @ x0)

    assert cost(gain.K) == pytest.approx(float(x0 @ gain.cost @ x0), rel=1e-9)
    for k in range(4):
        aside = np.zeros((1, 4))
        aside[0, k] = 0.05
        assert cost(gain.K + aside) > cost(gain.K) < cost(gain.K - aside)


def test_placed_poles_are_where_they_were_asked_for(cart: Any) -> None:
    wanted = [-1.0, -2.0, -3.0 + 1j, -3.0 - 1j]
    gain = cart.place(wanted)
    assert np.abs(np.sort_complex(gain.poles) - np.sort_complex(wanted)).max() < 1e-9
    assert np.allclose(gain.K, signal.place_poles(cart.A, cart.B, wanted).gain_matrix, rtol=1e-7)
    repeated = cart.place([-2.0] * 4)  # SciPy refuses this
    assert np.allclose(np.poly(cart.A - cart.B @ repeated.K), np.poly([-2.0] * 4), rtol=1e-9)
    held = cart.place(wanted, every=0.02)
    assert np.abs(np.sort_complex(held.poles) - np.sort_complex(np.exp(0.02 * np.array(wanted)))).max() < 1e-9


def test_zero_order_hold_is_the_exponential(cart: Any) -> None:
    held = cart.state_space().discrete(0.05)
    assert np.allclose(held.A, expm(cart.A * 0.05), rtol=1e-12)
    A, B, *_ = signal.cont2discrete((cart.A, cart.B, np.eye(4), np.zeros((4, 1))), 0.05)
    assert np.allclose(held.A, A, rtol=1e-12)
    assert np.allclose(held.B, B, rtol=1e-12)


def test_outputs_are_exact_derivatives() -> None:
    linear = pendula.linearize("cart-pole", UPRIGHT)
    space = linear.state_space(["x + l*sin(theta)", "theta_dot*cos(theta)", "pole.tip.x", "pole.tip.vx", "pole.tip.y"])
    # at theta = pi: d(sin) = -1, cos = -1; the tip is above the cart and moves against theta
    expected = [[1, -1, 0, 0], [0, 0, 0, -1], [1, -1, 0, 0], [0, 0, 1, -1], [0, 0, 0, 0]]
    assert np.allclose(space.C, expected, atol=1e-12)
    assert space.units["pole.tip.vx"] == "m/s"


@pytest.mark.parametrize("every", [None, 0.01])
def test_cart_pole_stays_upright_from_30_degrees(cart: Any, every: float | None) -> None:
    gain = cart.lqr({"x": 1, "theta": 10}, 0.1, every=every)
    run = pendula.simulate("cart-pole", 10, inputs=gain.feedback(), initial_state={"theta": np.pi - np.radians(30)})
    assert run.ok
    assert np.abs(run["theta"] - np.pi).max() < np.radians(30.001)
    assert abs(run["theta"][-1] - np.pi) < 1e-3
    assert abs(run["x"][-1]) < 1e-2
    bounded = pendula.simulate(
        "cart-pole", 10, inputs=gain.feedback(limits=15, reference={"x": 0.5}),
        initial_state={"theta": np.pi - np.radians(20)},
    )  # fmt: skip
    assert np.abs(bounded["F"]).max() <= 15 * (1 + 1e-12)
    assert abs(bounded["x"][-1] - 0.5) < 1e-2


def test_small_nonlinear_motion_follows_the_closed_loop_of_the_linear_model(cart: Any) -> None:
    gain = cart.lqr(1.0, 1.0)
    start = np.array([0.0, 1e-5, 0.0, 0.0])
    run = pendula.simulate(
        "cart-pole", 3, inputs=gain.feedback(), initial_state={"theta": np.pi + 1e-5}, samples=4, tol=1e-12, atol=1e-16
    )
    for k, t in enumerate(run.t):
        expected = expm((cart.A - cart.B @ gain.K) * t) @ start
        found = np.array([run["x"][k], run["theta"][k] - np.pi, run["x_dot"][k], run["theta_dot"][k]])
        assert np.abs(found - expected).max() < 1e-11


def test_an_estimator_balances_from_two_noisy_sensors(cart: Any) -> None:
    gain = cart.lqr({"x": 1, "theta": 10}, 0.1, every=0.01)
    filter_ = cart.kalman(["x", "theta"], process=0.1, measurement=1e-7, every=0.01)
    noise = {"x": 1e-3, "theta": 1e-3}
    law = gain.feedback(estimator=filter_, noise=noise, seed=5)
    run = pendula.simulate("cart-pole", 10, inputs=law, initial_state={"theta": np.pi - np.radians(10)})
    assert run.ok
    assert np.abs(run["theta"][run.t > 6] - np.pi).max() < 0.05


def two_pendulums(second: float = 1.0) -> pendula.Model:
    return pendula.Model(
        name="two pendulums on a cart",
        gravity=[0, "-g", 0],
        parameters={"M": 1.0, "m": 0.2, "l": 1.0, "g": 9.81},
        inputs={"F": 0},
        bodies=[
            {"name": "cart", "box": {"mass": "M", "size": [0.4, 0.2, 0.2]}},
            {"name": "one", "rod": {"mass": "m", "length": "l"}},
            {"name": "two", "rod": {"mass": "m", "length": second}},
        ],
        joints=[
            {"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "cart"},
            {"name": "theta1", "type": "revolute", "parent": "cart", "child": "one"},
            {"name": "theta2", "type": "revolute", "parent": "cart", "child": "two"},
        ],
        forces=[{"type": "generalized", "coordinate": "x", "value": "F"}],
    )


def test_a_model_without_inputs_is_said_to_have_none() -> None:
    found = pendula.linearize("pendulum", {"theta": 0}).controllability()
    assert str(found).splitlines()[0] == "not controllable, and not stabilizable: there are no inputs"


def test_the_difference_of_two_equal_pendulums_on_one_cart_is_out_of_reach() -> None:
    upright = pendula.linearize(two_pendulums(), {"theta1": np.pi, "theta2": np.pi})
    found = upright.controllability()
    assert found.verdict == "not controllable, and not stabilizable"
    assert all("the difference theta1 - theta2" in x.text for x in found.lost)
    assert sorted(x.eigenvalue.real for x in found.lost) == pytest.approx([-np.sqrt(14.715), np.sqrt(14.715)])
    with pytest.raises(UsageError, match="the difference theta1 - theta2, which grows"):
        upright.lqr(1.0)
    hanging = pendula.linearize(two_pendulums(), {})
    assert "vibrates at 3.836 rad/s forever, cannot be influenced" in " ".join(str(hanging.controllability()).split())
    unseen = hanging.observability("x")
    assert "theta1 = 1, theta2 = -1" in unseen.lost[0].text
    assert "x at rest" in unseen.lost[0].text
    assert hanging.observability(["x", "theta1"]).holds
    assert pendula.linearize(two_pendulums(0.8), {"theta1": np.pi, "theta2": np.pi}).controllability().holds


def test_verdicts_agree_with_the_rank_of_kalman_matrices() -> None:
    """Random M, C, K with an uncontrollable part, against the rank of [B, A B, ...] in scaled coordinates."""
    rng = np.random.default_rng(11)
    base = pendula.linearize(two_pendulums(0.7), {})
    for trial in range(20):
        X = rng.normal(size=(3, 3))
        M, K = X @ X.T + 3 * np.eye(3), np.diag(rng.uniform(1, 9, 3))
        F = rng.normal(size=(3, 1))
        if trial % 2:  # push along one mode only
            _values, shapes = np.linalg.eig(np.linalg.solve(M, K))
            F = M @ shapes[:, :1].real + (M @ shapes[:, 1:2].real if trial % 4 == 1 else 0)
        linear = base.with_matrices(M=M, C=np.zeros((3, 3)), K=K, F=F, Z=np.eye(3))
        A, B = linear.A, linear.B
        columns, last = [], B / np.linalg.norm(B)
        for _ in range(6):
            columns.append(last)
            last = A @ last
            last /= np.linalg.norm(last)
        rank = np.linalg.matrix_rank(np.hstack(columns), tol=1e-8)
        found = linear.controllability()
        assert found.holds == (rank == 6), trial
        assert 6 - rank == 2 * len(found.lost)


def test_a_four_bar_is_held_by_its_motor_where_it_would_fall() -> None:
    model = pendula.library.four_bar()
    model = model.with_changes(
        gravity=[0, -9.81, 0], inputs={"T": 0},
        forces=[*model.forces, {"type": "generalized", "coordinate": "crank", "value": "T"}],
    )  # fmt: skip
    at = next(e for e in pendula.find_equilibria(model) if pendula.stability(model, e).verdict != "stable")
    gain = pendula.linearize(model, at).lqr(1.0, 0.1)
    names = ("crank", "coupler", "rocker")
    start = {n: float(at[n]) for n in names}
    start["crank"] += 0.2
    for kind in ({}, {"formulation": "maximal"}, {"engine": "recursive"}):
        run = pendula.simulate(pendula.compile_system(model, **kind), 6, inputs=gain.feedback(), initial_state=start)  # type: ignore[arg-type]
        assert max(abs(run[n][-1] - at[n]) for n in names) < 1e-6
        assert run.constraint_violation < 1e-10


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_rod_on_a_ball_joint_stands_up_by_torques_whatever_the_sign_of_its_quaternion(sign: float) -> None:
    model = pendula.Model(
        name="rod", gravity=[0, 0, -9.81], inputs={"Tx": 0, "Ty": 0, "Tz": 0},
        bodies=[{"name": "rod", "mass": 1.0, "com": [0, 0, 0.5], "inertia": [0.09, 0.09, 0.01]}],
        joints=[{"name": "pivot", "type": "spherical", "parent": "ground", "child": "rod"}],
        forces=[{"type": "torque", "body": "rod", "vector": ["Tx", "Ty", "Tz"]}],
    )  # fmt: skip
    turned = {"pivot_q0": np.cos(0.3), "pivot_q1": 0.0, "pivot_q2": 0.0, "pivot_q3": np.sin(0.3)}  # upright, turned
    gain = pendula.linearize(model, turned).lqr(1.0, 0.1)
    tilt = np.array([np.cos(0.4), 0.6 * np.sin(0.4), 0.8 * np.sin(0.4), 0.0])
    start = dict(zip(turned, sign * tilt, strict=True))
    for kind in ({}, {"formulation": "maximal"}, {"engine": "recursive"}):
        run = pendula.simulate(pendula.compile_system(model, **kind), 14, inputs=gain.feedback(), initial_state=start)  # type: ignore[arg-type]
        last = np.array([run[n][-1] for n in turned])
        assert abs(abs(last @ np.array(list(turned.values()))) - 1.0) < 1e-9


def test_what_cannot_be_done_is_refused_in_words(cart: Any) -> None:
    with pytest.raises(UsageError, match="no inputs: add one to the model"):
        pendula.linearize("pendulum", {}).lqr(1.0)
    with pytest.raises(UsageError, match='Q: there is no "y"'):
        cart.lqr({"y": 1})
    with pytest.raises(UsageError, match="R must be positive definite"):
        cart.lqr(1.0, 0.0)
    with pytest.raises(ComputationError, match="weights on every coordinate"):
        cart.lqr({"theta": 1})  # nothing returns the cart
    with pytest.raises(UsageError, match="conjugate pairs"):
        cart.place([-1, -2, -3, -3 + 1j])
    with pytest.raises(UsageError, match="does not show in the outputs"):
        cart.kalman("theta")
    with pytest.raises(UsageError, match="one output and one input"):
        cart.state_space().root_locus()
    system = pendula.compile_system("cart-pole", "maximal")
    gain = pendula.linearize(system, pendula.assemble(system, UPRIGHT).state).lqr(1.0)
    with pytest.raises(NotSupported, match="coordinates of the joints"):
        gain.feedback()


def test_margins_of_controllability_depend_on_the_parameters_of_the_linear_model_alone() -> None:
    changed = pendula.linearize("cart-pole", {"theta": 0}, parameters={"l": 3.0})
    written = pendula.linearize(pendula.library.cart_pole().with_parameters({"l": 3.0}), {"theta": 0})
    np.testing.assert_allclose(changed.controllability().margins, written.controllability().margins, rtol=1e-12)
