"""Feedback that leaves a motion alone: double zeros are recognized in spite of rounding, and named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula
from pendula.analysis.control.space import decays, poles_of
from pendula.errors import ComputationError


@pytest.fixture(scope="module")
def cart() -> Any:
    return pendula.linearize("cart-pole", {"theta": "180deg"})


@pytest.mark.parametrize("every", [None, 0.02])
@pytest.mark.parametrize("weight", [0.1, 1, 7, 10, 300])
def test_a_cart_without_weight_is_refused_and_named(cart: Any, weight: float, every: float | None) -> None:
    with pytest.raises(ComputationError, match=r"(?s)^x is not held: it has no weight in Q.*Q\[\"x\"\] = 1"):
        cart.lqr({"theta": weight, "theta_dot": 1}, 0.1, every=every)
    with pytest.raises(ComputationError, match="x is not held"):
        cart.lqr({"theta": weight, "x_dot": 1}, 0.1, every=every)  # the cart stops, but anywhere
    assert decays(cart.lqr({"x": 1e-3, "theta": weight}, 0.1, every=every).poles, every)


def test_the_cross_term_counts_as_a_weight(cart: Any) -> None:
    """(theta + u)^2 is free for u = -theta; with x^2 beside it nothing that stays is free."""
    cross = np.array([[0.0], [1.0], [0.0], [0.0]])
    with pytest.raises(ComputationError, match="x is not held"):
        cart.lqr({"theta": 1}, 1.0, cross=cross)
    assert cart.lqr({"x": 1, "theta": 1}, 1.0, cross=cross).poles.real.max() < -1e-3


def test_motions_that_grow_need_no_weight(cart: Any) -> None:
    """An optimal feedback mirrors a growing motion at the imaginary axis, whether or not it costs anything."""
    found = cart.lqr({"x": 1e-6}, 1.0)
    assert found.poles.real.max() < 0


def test_multiple_poles_scattered_by_rounding_are_one() -> None:
    rng = np.random.default_rng(1)
    for value in (0.0, -1e-3, -2.0):
        block = value * np.eye(5)
        block[0, 1] = 1.0
        block[2:, 2:] = np.diag([-4.0, -5.0, -6.0])
        T = rng.normal(size=(5, 5))
        found = poles_of(T @ block @ np.linalg.inv(T))
        assert np.abs(np.sort(found.real) - np.sort(np.diag(block))).max() < 1e-12 * np.linalg.cond(T)
        assert decays(found, None) == (value < 0)
    apart = poles_of(np.array([[-1e-3, 1e-3], [-1e-3, -1e-3]]))
    assert np.abs(apart.imag).min() > 0.9e-3  # a slow, damped vibration is no double pole


def test_margins_count_a_double_zero_twice(cart: Any) -> None:
    found = cart.state_space("theta").margins(gain=-30.0)
    assert found.unmoved.size == 2
    text = str(found)
    assert "not influenced by this loop, and not decaying: 2 poles 0, 0" in text
    assert "the closed loop decays" not in text


def test_a_filter_without_noise_on_a_drift_is_refused() -> None:
    hanging = pendula.linearize("cart-pole", {"theta": 0})
    with pytest.raises(ComputationError, match=r"would not decay: .*has no process noise"):
        hanging.kalman(["x", "theta"], process={"F": 0.0}, measurement=1e-4)
    assert decays(hanging.kalman(["x", "theta"], process={"F": 0.1}, measurement=1e-4).poles, None)


def test_gains_of_the_size_of_rounding_print_as_zero() -> None:
    from dataclasses import replace

    gain = pendula.linearize("cart-pole", {"theta": "180deg"}).lqr({"x": 1, "theta": 10}, 0.1)
    K = gain.K.copy()
    K[0, 2] = 1e-15
    assert "x_dot 0," in str(replace(gain, K=K))
