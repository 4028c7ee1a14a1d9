"""Pendulums whose base is shaken, against equations written down here and integrated by SciPy.

Paper 003: eqs. 47-48 (driven base), 64 (standing waves of a rope), section 5.4 (three links, the last upright).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import jn_zeros

import pendula
from pendula import library
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array

CLOSE = 1e-8
"""Angles after some seconds at tolerance 1e-11, against SciPy at 1e-12."""


def test_driven_chain_of_one_link_follows_its_scalar_equation() -> None:
    """J q'' = -m d ((g + y'') sin q + x'' cos q) for a rod: J = m l^2/3, d = l/2."""
    alpha, omega, phi, g = 0.2, 5.0, np.deg2rad(40), 9.81

    def rhs(t: float, z: Array) -> list[float]:
        base = -alpha * omega**2 * np.cos(omega * t)
        pull = (g + base * np.cos(phi)) * np.sin(z[0]) + base * np.sin(phi) * np.cos(z[0])
        return [z[1], -1.5 * pull]

    times = np.linspace(0, 6, 61)
    expected = solve_ivp(rhs, (0, 6), [1.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y
    run = pendula.simulate(library_system("driven-chain: 1 link"), 6.0, tol=1e-11, samples=times)
    assert run.outcome.ok
    np.testing.assert_allclose(run["theta1"], expected[0], atol=CLOSE)
    np.testing.assert_allclose(run["theta1_dot"], expected[1], atol=10 * CLOSE)
    assert run.energy_drift < 1e-7


def test_shaking_up_and_down_is_a_change_of_gravity() -> None:
    """A base with the acceleration a upwards acts as gravity g + a: the accelerations of a resting chain."""
    system = pendula.compile_system(library.driven_chain(links=4, direction=0, amplitude=0.1, rate=3.0))
    still = pendula.compile_system(library.chain(links=4))
    q, v = np.array([0.3, -0.5, 1.2, 2.0]), np.array([0.4, 1.0, -0.7, 0.2])
    for t in (0.0, 0.4, 1.0):
        lift = -0.1 * 9.0 * np.cos(3.0 * t)
        expected = still.accelerations(q, v, parameters={"g": 9.81 + lift})
        np.testing.assert_allclose(system.accelerations(q, v, t), expected, rtol=1e-11)


@pytest.mark.parametrize("mode", [1, 2, 3, 4, 5])
def test_default_rate_is_that_of_a_standing_wave(mode: int) -> None:
    """Eq. 64."""
    values = library.driven_chain(links=8, length=0.5, mode=mode).parameter_values
    assert values["omega"] == pytest.approx(jn_zeros(0, mode)[-1] / 2 * np.sqrt(9.81 / 4.0), rel=1e-13)
    unequal = library.driven_chain(links=2, length=[0.5, 1.5], mode=mode).parameter_values
    assert unequal["omega"] == pytest.approx(jn_zeros(0, mode)[-1] / 2 * np.sqrt(9.81 / 2.0), rel=1e-13)


def test_driven_chain_in_relative_angles_moves_alike() -> None:
    times = np.linspace(0, 4, 21)
    chains = [library.driven_chain(links=3, coordinates=c, start=0.5) for c in ("absolute", "relative")]
    one, two = (pendula.simulate(pendula.compile_system(m), 4.0, tol=1e-11, samples=times) for m in chains)
    np.testing.assert_allclose(np.cumsum(two.q, axis=1), one.q, atol=1e-7)


# --- three links, the last upright --------------------------------------------------------------------

MASSES, LENGTHS, GRAVITY = np.array([10.0, 1.0, 0.1]), np.array([0.01, 0.1, 1.0]), 0.5


def _growth(amplitude: float, rate: float) -> float:
    """Largest size of the Floquet multipliers of the small motions about (0, 0, 180 degrees), by hand.

    Point masses at the ends: with arm_ki = l_i for i <= k, M_ij = s_i s_j sum_k m_k arm_ki arm_kj, where s = 1 for
    a hanging and -1 for a standing link, and the weights are s_i (g + y'') sum_k m_k arm_ki.
    """
    sense = np.array([1.0, 1.0, -1.0])
    arms = np.tril(np.tile(LENGTHS, (3, 1)))
    M = np.einsum("k,ki,kj->ij", MASSES, arms, arms) * np.outer(sense, sense)
    pull = np.linalg.solve(M, np.diag(MASSES @ arms * sense))

    def rhs(t: float, z: Array) -> Array:
        x = z.reshape(6, 6)
        fall = GRAVITY - amplitude * rate**2 * np.cos(rate * t)
        return np.concatenate([x[3:], -fall * pull @ x[:3]]).ravel()

    period = 2 * np.pi / rate
    end = solve_ivp(rhs, (0, period), np.eye(6).ravel(), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return float(np.abs(np.linalg.eigvals(end.reshape(6, 6))).max())


def test_default_shaking_holds_the_inverted_chain_and_a_slower_one_does_not() -> None:
    values = library.inverted_chain().parameter_values
    assert values["alpha"] * values["omega"] > np.sqrt(2 * GRAVITY * 1.0)  # Kapitza's condition for a point mass
    assert _growth(values["alpha"], values["omega"]) == pytest.approx(1.0, abs=1e-9)
    assert _growth(values["alpha"], 200.0) > 1.01
    # as wide as the first link is long, the shaking sets that link swinging
    assert _growth(0.01, 500.0) > 1.01


def test_inverted_chain_has_the_data_of_paper_003() -> None:
    model = library.inverted_chain(tilt=0)
    values = model.parameter_values
    assert [values[f"m{k}"] for k in (1, 2, 3)] == MASSES.tolist()
    assert [values[f"l{k}"] for k in (1, 2, 3)] == LENGTHS.tolist()
    assert values["g"] == GRAVITY
    start = pendula.compile_system(model).initial_state()
    np.testing.assert_allclose(start.q, [0, 0, np.pi], atol=1e-15)


def test_inverted_chain_stays_up_for_ten_seconds_and_falls_when_shaken_slowly() -> None:
    held = pendula.simulate(library_system("inverted-chain"), 10.0, tol=1e-9)
    assert held.outcome.ok
    assert np.abs(held["theta3"] - np.pi).max() < np.deg2rad(6)
    fallen = pendula.simulate(pendula.compile_system(library.inverted_chain(rate=200.0)), 10.0, tol=1e-9)
    assert np.abs(fallen["theta3"] - np.pi).max() > np.pi / 2


def test_inverted_chain_moves_as_its_hand_written_equations() -> None:
    """Absolute angles: M_ij = B_ij cos(q_i - q_j), whirl B_ij sin(q_i - q_j) w_j^2, weights with g + y''."""
    arms = np.tril(np.tile(LENGTHS, (3, 1)))
    B = np.einsum("k,ki,kj->ij", MASSES, arms, arms)

    def rhs(t: float, z: Array) -> Array:
        q, w = z[:3], z[3:]
        fall = GRAVITY - 0.003 * 500.0**2 * np.cos(500.0 * t)
        force = -(B * np.sin(q[:, None] - q)) @ w**2 - fall * (MASSES @ arms) * np.sin(q)
        return np.concatenate([w, np.linalg.solve(B * np.cos(q[:, None] - q), force)])

    start = [0.0, 0.0, np.pi - np.deg2rad(5), 0.0, 0.0, 0.0]
    expected = solve_ivp(rhs, (0, 1), start, method="DOP853", rtol=1e-11, atol=1e-12).y[:3, -1]
    run = pendula.simulate(library_system("inverted-chain"), 1.0, tol=1e-11)
    np.testing.assert_allclose(run.q[-1], expected, atol=1e-7)
