"""Margins of loops, compared with python-control, closed forms and poles of the closed loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import signal

import pendula
from pendula.analysis.control.space import StateSpace
from pendula.errors import UsageError

SAME = 1e-9
"""difference of two solvers of the same crossing, relative"""


def loop_of(top: Any, bottom: Any, dt: float | None = None) -> StateSpace:
    """A loop with these polynomials, as a state space."""
    A, B, C, D = signal.tf2ss(top, bottom)
    return StateSpace(A, B, C, D, tuple(f"x{k}" for k in range(len(A))), ("u",), ("y",), {}, "s", dt)


def closed_poles(loop: StateSpace, factor: complex) -> Any:
    feed = factor / (1 + factor * loop.D[0, 0])
    return np.linalg.eigvals(loop.A - feed * loop.B @ loop.C)


@pytest.fixture(scope="module")
def cart() -> Any:
    return pendula.linearize("cart-pole", {"theta": np.pi})


def test_margins_of_three_lags_equal_their_closed_form() -> None:
    # K/(s (s + 1) (s + 2)): Routh gives K < 6 with a pole pair at +-j sqrt(2).
    found = loop_of([1.0], [1.0, 3.0, 2.0, 0.0]).margins()
    assert found.stable
    assert found.gain_margin == pytest.approx(6.0, rel=SAME)
    assert found.frequency("gain") == pytest.approx(np.sqrt(2), rel=SAME)
    assert found.gain_reduction == 0.0
    w = found.frequency("phase")
    assert w**2 * (w**2 + 1) * (w**2 + 4) == pytest.approx(1.0, rel=SAME)
    assert found.phase_margin == pytest.approx(90 - np.degrees(np.arctan(w) + np.arctan(w / 2)), rel=SAME)
    assert found.delay_margin == pytest.approx(np.radians(found.phase_margin) / w, rel=SAME)


def test_an_unstable_mechanism_has_a_least_gain() -> None:
    # k/(s - 1) needs k > 1; at gain k, |L| = 1 at sqrt(k^2 - 1), and the phase margin is acos(1/k).
    found = loop_of([4.0], [1.0, -1.0]).margins()
    assert (found.unstable_poles, found.stable) == (1, True)
    assert found.gain_reduction == pytest.approx(0.25, rel=SAME)
    assert found.gain_margin == np.inf
    assert found.phase_margin == pytest.approx(np.degrees(np.arccos(0.25)), rel=SAME)
    assert found.delay_margin == pytest.approx(np.arccos(0.25) / np.sqrt(15), rel=SAME)
    assert "may fall to 0.25 (-12.04 dB, at 0 rad/s), may grow to any value" in str(found)
    weak = loop_of([0.5], [1.0, -1.0]).margins()
    assert not weak.stable
    assert np.isnan([weak.gain_margin, weak.gain_reduction, weak.phase_margin, weak.delay_margin]).all()
    assert weak.stable_gains == ((pytest.approx(2.0, rel=SAME), np.inf),)
    assert "no margins" in str(weak)
    assert "factor from 2 on" in str(weak)


def test_a_conditionally_stable_loop_names_all_its_gains() -> None:
    # (s + 1)^2/s^3: stable for k > 1/2 (Routh: 2k*k > k), at +-j.
    found = loop_of([0.1, 0.2, 0.1], [1.0, 0.0, 0.0, 0.0]).margins()
    assert not found.stable
    assert found.stable_gains == ((pytest.approx(5.0, rel=1e-7), np.inf),)
    # A pole on either side: 1/(s - 1) with a filter 1/(s/10 + 1)^2 is stable between two gains.
    both = loop_of([2.0], np.polymul([1.0, -1.0], np.polymul([0.1, 1.0], [0.1, 1.0]))).margins()
    assert len(both.stable_gains) == 1
    low, high = both.stable_gains[0]
    assert low == pytest.approx(0.5, rel=SAME)  # L(0) = -2
    assert both.gain_margin == high
    for factor in (low, high):
        assert abs(closed_poles(both.loop, factor).real).min() < 1e-7


def test_every_linear_quadratic_regulator_has_its_guaranteed_margins(cart: Any) -> None:
    # Kalman's inequality |1 + L| >= 1: gain from below 1/2 to any, 60 degrees (Anderson and Moore 1990, section 5.4).
    rng = np.random.default_rng(3)
    for _ in range(20):
        weights = dict(zip(("x", "theta", "x_dot", "theta_dot"), 10 ** rng.uniform(-2, 2, 4), strict=True))
        found = cart.lqr(weights, 10 ** rng.uniform(-2, 1)).margins()
        assert found.stable
        assert found.gain_reduction < 0.5
        assert found.gain_margin == np.inf
        assert found.phase_margin >= 60
        assert found.distance >= 1 - 1e-9


@pytest.mark.parametrize("every", [None, 0.02, 0.1])
@pytest.mark.parametrize("filtered", [False, True])
def test_the_closed_loop_is_on_its_border_at_every_margin(cart: Any, every: float | None, filtered: bool) -> None:
    gain = cart.lqr({"x": 1, "theta": 10}, 0.1, every=every)
    estimator = cart.kalman(["x", "theta"], process=0.1, measurement=1e-6, every=every) if filtered else None
    found = gain.margins(estimator=estimator)
    assert found.stable

    def least(factor: complex) -> float:
        poles = closed_poles(found.loop, factor)
        return float(np.min(np.abs(np.abs(poles) - 1) if every else np.abs(poles.real)))

    ends = [x for x in (found.gain_reduction, found.gain_margin) if np.isfinite(x) and x > 0]
    assert ends
    for factor in ends:
        assert least(factor) < 1e-6
    assert least(np.exp(-1j * np.radians(found.phase_margin))) < 1e-6  # lag, where all of these are nearest
    assert least(np.sqrt(found.gain_reduction)) > 1e-3


def test_margins_equal_those_of_python_control(cart: Any) -> None:
    control = pytest.importorskip("control")
    gain = cart.lqr({"x": 1, "theta": 10}, 0.1)
    estimator = cart.kalman(["x", "theta"], process=0.1, measurement=1e-6)
    loops = [gain.loop(), gain.loop(estimator=estimator), loop_of([1.0], [1.0, 3.0, 2.0, 0.0])]
    rng = np.random.default_rng(5)
    for _ in range(20):  # stable loops of order 3 to 5
        poles = -(10 ** rng.uniform(-1, 1, rng.integers(3, 6)))
        loops.append(loop_of([0.3 * np.prod(-poles) * 10 ** rng.uniform(0, 1.3)], np.poly(poles)))
    compared = 0
    for loop in loops:
        found = loop.margins()
        gm, pm, sm, wg, wp, _ = control.stability_margins(loop.to_control(), returnall=True)
        sensible = (wg > 1e-6) & (gm > 1e-6) & (gm < 1e6)  # theirs are roots of polynomials, with spurious ones
        for factor, omega in zip(gm[sensible], wg[sensible], strict=True):
            k = int(np.argmin(abs(found.phase_crossings - omega)))
            assert found.phase_crossings[k] == pytest.approx(omega, rel=1e-6)
            assert found.critical_gains[k] == pytest.approx(factor, rel=1e-6)
            compared += 1
        assert len(pm) == len(found.gain_crossings)
        order = np.argsort(wp)
        assert found.gain_crossings == pytest.approx(wp[order], rel=1e-6)
        assert (found.lags - pm[order] + 180) % 360 - 180 == pytest.approx(np.zeros(len(pm)), abs=1e-5)
        if len(sm):
            assert found.distance == pytest.approx(sm.min(), rel=1e-5)
        if found.stable:
            assert found.phase_margin == pytest.approx(abs(pm).min(initial=np.inf), rel=1e-6)
    assert compared > 20


def test_a_delay_of_whole_samples_destabilizes_beyond_the_delay_margin(cart: Any) -> None:
    gain = cart.lqr({"x": 1, "theta": 10}, 0.1, every=0.01)
    limit = gain.margins().delay_margin
    for delay, returns in ((0.7 * limit, True), (1.3 * limit, False)):
        # exact for a sampled loop: A with the shift register of the inputs that wait
        n = round(delay / 0.01)
        space = gain.space
        A = np.zeros((4 + n, 4 + n))
        A[:4, :4], A[:4, 4 : 4 + 1] = space.A, space.B
        A[4 : 3 + n, 5 : 4 + n] = np.eye(n - 1)
        A[3 + n, :4] = -gain.K[0]
        assert bool((abs(np.linalg.eigvals(A)) < 1).all()) == returns


def test_what_a_loop_does_not_reach_is_said() -> None:
    damped = pendula.linearize(pendula.library.cart_pole(), {"theta": 0})
    found = damped.margins("theta_dot", gain=-0.3)
    assert found.stable
    assert found.unmoved.size >= 1
    assert "not influenced by this loop, and not decaying: 2 poles" in str(found)
    undamped = damped.margins("theta", gain=-1.0)
    assert not undamped.stable
    assert undamped.stable_gains == ()


def test_wrong_loops_are_refused_in_words(cart: Any) -> None:
    with pytest.raises(UsageError, match="one output and one input; found 2 outputs"):
        cart.state_space(["x", "theta"]).margins()
    with pytest.raises(UsageError, match="other than 0"):
        cart.margins("x", gain=0.0)
    gain = cart.lqr({"x": 1}, every=0.01)
    with pytest.raises(UsageError, match="same linear model and sampling time"):
        gain.margins(estimator=cart.kalman(["x", "theta"]))
    with pytest.raises(UsageError, match="available: gain, reduction, phase, delay"):
        gain.margins().frequency("modulus")


def test_one_input_of_several_is_broken_with_the_others_closed() -> None:
    model = pendula.library.double_pendulum().with_changes(
        inputs={"a": 0, "b": 0},
        forces=[
            {"type": "generalized", "coordinate": "theta1", "value": "a"},
            {"type": "generalized", "coordinate": "theta2", "value": "b"},
        ],
    )
    gain = pendula.linearize(model, {"theta1": "180deg", "theta2": "180deg"}).lqr(1.0, 0.1)
    with pytest.raises(UsageError, match="name the input at which the loop is broken: a, b"):
        gain.margins()
    for k, by in enumerate("ab"):
        found = gain.margins(by)
        low = found.gain_reduction
        assert 0 < low < 0.5
        K = gain.K.copy()
        K[k] *= low
        assert abs(np.linalg.eigvals(gain.space.A - gain.space.B @ K).real).min() < 1e-6


def test_rounding_of_an_undamped_mechanism_makes_no_crossings_of_its_root_locus() -> None:
    found = pendula.linearize("cart-pole", {"theta": 0}).root_locus("x")
    assert found.crossings == []  # with u = -k x and no damping, poles stay on the imaginary axis or in pairs about it
    assert "for none of these gains do all poles decay" in str(found)
    assert not found.space.stable
