"""The physical double pendulum of paper 004: its projection method, after correction, written out with 12 speeds.

The paper prints no numbers, so the comparison is by its equations at random states. Corrections: eq. 3 (lower left
block: S omega), eqs. 30-32 (A is 12 by 2), eq. 41 (-R2 omega2), eq. 42 (times the rates), eq. 22 (minus).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag

import pendula
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array, states

EXACT = 1e-11
"""Relative: the same accelerations by a 12 by 12 system, at random states."""


def _cross(v: Array) -> Array:
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def _turn(angle: float) -> Array:
    """Eq. 13."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def _tataru(phi: Array, rate: Array, p: dict[str, float]) -> Array:
    """Angular accelerations by eqs. 1-62 of paper 004 with the corrections; its x axis points down."""
    R = [_turn(x) for x in phi]
    spin = [_cross(np.array([0, 0, w])) for w in rate]
    zero = np.zeros((3, 3))
    mass, gyro, load = [], [], []
    for k, (turn, omega) in enumerate(zip(R, spin, strict=True), start=1):
        m, centre = p[f"m{k}"], np.array([p[f"c{k}"], 0, 0])
        S = m * _cross(centre)  # eq. 4
        # only the last entry matters in the plane; the others keep the matrix regular
        J = np.diag([1.0, p[f"J{k}"], p[f"J{k}"]])
        mass.append(np.block([[m * np.eye(3), -S], [S, J]]))  # eq. 2
        gyro.append(np.block([[omega * m, -omega @ S], [S @ omega, omega @ J]]))  # eq. 3, corrected
        weight = turn.T @ np.array([m * p["g"], 0, 0])
        load.append(np.concatenate([weight, _cross(centre) @ weight]))  # eq. 10
    arm = _cross(np.array([p["l1"], 0, 0])).T
    extended = np.block(
        [
            [R[0], zero, zero, zero],
            [zero, R[0], zero, zero],
            [R[0], R[0] @ arm, -R[1], zero],
            [zero, R[0], zero, -R[1]],
        ]
    )  # eqs. 25-29
    rates = np.block(
        [
            [R[0] @ spin[0], zero, zero, zero],
            [zero, R[0] @ spin[0], zero, zero],
            [R[0] @ spin[0], R[0] @ spin[0] @ arm, -R[1] @ spin[1], zero],
            [zero, R[0] @ spin[0], zero, -R[1] @ spin[1]],
        ]
    )  # eqs. 38-41, corrected
    A = np.zeros((12, 2))
    A[5], A[11] = [1, 0], [1, -1]
    L = np.linalg.solve(extended, A)  # eq. 34
    L_dot = -np.linalg.solve(extended, rates @ L)  # eq. 43
    M, Omega, Q = block_diag(*mass), block_diag(*gyro), np.concatenate(load)
    right = -L.T @ (Omega @ L + M @ L_dot) @ rate + L.T @ Q  # eqs. 58-62
    return np.linalg.solve(L.T @ M @ L, right)


def _standard(phi: Array, rate: Array, p: dict[str, float]) -> Array:
    """The textbook equations of two hinged bodies."""
    D, q = p["m2"] * p["l1"] * p["c2"], phi[0] - phi[1]
    M = [[p["J1"] + p["m2"] * p["l1"] ** 2, D * np.cos(q)], [D * np.cos(q), p["J2"]]]
    first = -D * np.sin(q) * rate[1] ** 2 - (p["m1"] * p["c1"] + p["m2"] * p["l1"]) * p["g"] * np.sin(phi[0])
    second = D * np.sin(q) * rate[0] ** 2 - p["m2"] * p["c2"] * p["g"] * np.sin(phi[1])
    return np.linalg.solve(M, [first, second])


@pytest.mark.parametrize("by_hand", [_tataru, _standard])
def test_double_physical_pendulum_has_the_equations_of_paper_004(by_hand) -> None:
    system = library_system("double-physical-pendulum")
    p = system.model.parameter_values
    _, q, v = states(system, 30)
    for x, y in zip(q, v, strict=True):
        expected = by_hand(x, y, p)
        np.testing.assert_allclose(system.accelerations(x, y), expected, atol=EXACT * np.abs(expected).max())


def test_double_physical_pendulum_keeps_its_energy_from_its_start() -> None:
    run = pendula.simulate(library_system("double-physical-pendulum"), 10.0, tol=1e-10)
    assert run.outcome.ok
    assert run.energy_drift < 1e-7
    assert np.rad2deg(run.q[0]) == pytest.approx([60, 20])
