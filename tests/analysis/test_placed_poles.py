"""Poles of a closed loop are those of A - B K: distinct ones stay apart, and their accuracy is stated.

Expected poles come from mpmath, in 60 digits, from the doubles in A, B and K.
"""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

import pendula
from pendula.analysis.control.space import decays, poles_with_errors

Array = np.ndarray


def pushed_chain(links: int, angle: str = "0") -> Any:
    """Linear model of a chain with a torque at its first link."""
    model = pendula.library.chain(links=links)
    torque = {"type": "generalized", "name": "motor", "coordinate": "theta1", "value": "T"}
    driven = model.with_changes(inputs={"T": 0}, forces=[*model.forces, torque])
    return pendula.linearize(driven, {f"theta{k + 1}": angle for k in range(links)})


def exact_poles(linear: Any, K: Array) -> Array:
    """Poles of A - B K without any rounding, largest real part first."""
    with mp.workdps(60):
        A, B, feedback = (mp.matrix(x.tolist()) for x in (linear.A, linear.B, K))
        found = np.array([complex(x) for x in mp.eig(A - B * feedback, left=False, right=False)])
    return found[np.argsort(-found.real)]


def distance(found: Array, wanted: Array) -> float:
    """Largest distance of a pole from the nearest of the others."""
    gaps = np.abs(found[:, None] - wanted)
    return float(max(gaps.min(axis=0).max(), gaps.min(axis=1).max()))


@pytest.mark.parametrize("angle", ["0", "180deg"])
@pytest.mark.parametrize("links", [4, 5])
def test_a_pole_that_grows_is_printed_and_spoils_the_margins(links: int, angle: str) -> None:
    linear = pushed_chain(links, angle)
    gain = linear.place([0.3, *np.linspace(-1.5, -6, 2 * links - 1)])
    exact = exact_poles(linear, gain.K)
    assert exact[0].real == pytest.approx(0.3, abs=1e-6)
    assert distance(gain.poles, exact) < 1e-4
    assert gain.poles[0].real > 0.29
    margins = gain.margins()
    assert not margins.stable
    assert not gain.closed_loop().stable
    assert "does not decay" in str(margins)


@pytest.mark.parametrize("angle", ["0", "180deg"])
def test_poles_of_six_links_are_placed_to_the_accuracy_of_a_rounded_gain(angle: str) -> None:
    """Ackermann's formula in doubles left poles 0.37 away from these."""
    linear = pushed_chain(6, angle)
    wanted = np.linspace(-1.5, -6, 12)
    gain = linear.place(wanted)
    assert distance(exact_poles(linear, gain.K), wanted) < 1e-4
    assert gain.residual < 1e-3


def test_the_uncertainty_of_poles_holds_their_error() -> None:
    for links, sure in ((3, True), (7, False), (8, False)):
        linear = pushed_chain(links)
        gain = linear.place(np.linspace(-1.5, -6, 2 * links))
        gaps = np.abs(gain.poles[:, None] - exact_poles(linear, gain.K))
        assert gaps.min(axis=1).max() <= gain.uncertainty
        assert ("rounding errors of the gain" in str(gain)) is not sure


def test_poles_that_rounding_can_carry_across_the_axis_are_not_said_to_decay() -> None:
    """Wilkinson's matrix, roots 0 ... -19 with 20 beside the diagonal; moved until one in the middle is -0.0005."""
    A = -np.diag(np.arange(20.0)) + np.diag(np.full(19, 20.0), 1) + (10.0 - 5e-4) * np.eye(20)
    poles, errors = poles_with_errors(A)
    (middle,) = np.flatnonzero(np.abs(poles + 5e-4) < 1e-4)
    assert errors[middle] > 1e-3
    assert decays(poles[[middle]], None)
    assert not decays(poles[[middle]], None, errors[middle])


def test_nearly_equal_frequencies_keep_their_own_shapes() -> None:
    """Two equal pendulums with a weak spring k between them: they swing together, or against each other.

    The squares differ by 2 k/J, J = 1/3, that is by a part of 4e-9 of themselves with the spring taken here.
    """
    k, damping = 1e-8, 0.1
    joint = {"type": "revolute", "parent": "ground"}
    model = pendula.Model(
        name="pair", gravity=[0, -9.81, 0],
        bodies=[{"name": name, "rod": {"mass": 1, "length": 1}} for name in "ab"],
        joints=[{"name": "x", "child": "a", **joint}, {"name": "y", "child": "b", **joint}],
        forces=[
            {"type": "generalized", "name": "on x", "coordinate": "x", "value": f"-{k}*(x - y) - {damping}*x_dot"},
            {"type": "generalized", "name": "on y", "coordinate": "y", "value": f"-{k}*(y - x) - {damping}*y_dot"},
        ],
    )  # fmt: skip
    linear = pendula.linearize(model, {"x": 0, "y": 0})
    for damped in (False, True):
        found = pendula.modes(linear, damped=damped)
        assert all(not mode.repeated for mode in found.modes)
        assert sorted(float(mode.scaled[1].real) for mode in found.modes) == pytest.approx([-1, 1], abs=1e-5)
