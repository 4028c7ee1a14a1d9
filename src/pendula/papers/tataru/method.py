"""The method of the paper, equation by equation, with a choice of equations that are taken as printed.

The x axis points down, as in the paper. The paper gives no data; those of the library's double physical pendulum are
used. Turning about the axes x and y, which the hinges prevent, needs inertias that the motion does not depend on.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import pendula

Array = npt.NDArray[np.float64]
ACROSS = 1.0
"""moment of inertia about the body axis x, without effect on the plane motion [kg m^2]"""


def cross(x: float, y: float, z: float) -> Array:
    """The matrix that multiplies like a cross product from the left."""
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def turn(angle: float) -> Array:
    """Equation 13."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@dataclass(frozen=True)
class Matrices:
    """All matrices of the method at one state.

    Attributes:
        M, Omega, Q: of the free bodies (eqs. 1-12, 52-54).
        L: the constraint matrix L_lambda, 10 by 12 (eqs. 18-23).
        extended, extended_rate: L_lambda^extended and its rate, 12 by 12 (eqs. 25-29, 38-41).
        A: 12 by 2 (eqs. 30-32).
        tau, tau_rate: L_tau and its rate (eqs. 34, 43).
        rates: angular velocities of both bodies.
    """

    M: Array
    Omega: Array
    Q: Array
    L: Array
    extended: Array
    extended_rate: Array
    A: Array
    tau: Array
    tau_rate: Array
    rates: Array

    @property
    def reduced(self) -> tuple[Array, Array, Array]:
        """Reduced mass matrix, gyroscopic matrix and forces (eqs. 59-62)."""
        return (
            self.tau.T @ self.M @ self.tau,
            -self.tau.T @ (self.Omega @ self.tau + self.M @ self.tau_rate),
            self.tau.T @ self.Q,
        )

    @property
    def accelerations(self) -> Array:
        """Angular accelerations (eq. 69)."""
        M, Omega, Q = self.reduced
        return np.asarray(np.linalg.solve(M, Omega @ self.rates + Q))

    @property
    def body_rates(self) -> Array:
        """The column of speeds v and that of their rates v' (eqs. 78, 79)."""
        v = self.tau @ self.rates
        return np.array([v, self.tau @ self.accelerations + self.tau_rate @ self.rates])

    @property
    def multipliers(self) -> Array:
        """Equation 77 with L2 = L_lambda Omega."""
        v, v_rate = self.body_rates
        right = self.L @ (self.M @ v_rate + self.Omega @ v - self.Q)
        return np.asarray(np.linalg.solve(self.L @ self.L.T, right))


def matrices(angles: Array, rates: Array, p: dict[str, float], printed: Collection[str] = ()) -> Matrices:
    """The method at one state; ``printed`` names equations that are taken as printed: "3", "22", "41"."""
    R = [turn(x) for x in angles]
    spin = [cross(0.0, 0.0, w) for w in rates]
    zero = np.zeros((3, 3))
    M, Omega, Q = np.zeros((12, 12)), np.zeros((12, 12)), np.zeros(12)
    for k in range(2):
        m, c, J = p[f"m{k + 1}"], p[f"c{k + 1}"], p[f"J{k + 1}"]
        S, inertia = m * cross(c, 0.0, 0.0), np.diag([ACROSS, J, J])  # eqs. 4, 5
        own = slice(6 * k, 6 * k + 6)
        corner = S * m if "3" in printed else S @ spin[k]
        M[own, own] = np.block([[m * np.eye(3), -S], [S, inertia]])  # eq. 2
        Omega[own, own] = np.block([[spin[k] * m, -spin[k] @ S], [corner, spin[k] @ inertia]])  # eq. 3
        weight = R[k].T @ np.array([m * p["g"], 0.0, 0.0])  # eq. 11
        Q[own] = np.concatenate([weight, cross(c, 0.0, 0.0) @ weight])  # eqs. 10, 12
    arm = cross(p["l1"], 0.0, 0.0).T
    extended = _blocks(R[0], R[0] @ arm, R[1], R[1], zero)  # eqs. 25-29
    turned = [R[k] @ spin[k] for k in range(2)]
    upper = turned[0] if "41" in printed else turned[1]
    rate = _blocks(turned[0], turned[0] @ arm, upper, turned[1], zero)  # eqs. 38-41
    A = np.zeros((12, 2))
    A[5], A[11] = [1.0, 0.0], [1.0, -1.0]  # eqs. 30-32
    tau = np.asarray(np.linalg.solve(extended, A), dtype=np.float64)  # eq. 34
    tau_rate = np.asarray(-np.linalg.solve(extended, rate @ tau), dtype=np.float64)  # eq. 43
    L = np.delete(extended, [5, 11], axis=0)  # eqs. 18-23: all rows but those of the rotation about z
    if "22" in printed:
        L[8:, 9:11] *= -1
    return Matrices(M, Omega, Q, L, extended, rate, A, tau, tau_rate, np.asarray(rates, dtype=float))


def _blocks(first: Array, arm: Array, upper: Array, lower: Array, zero: Array) -> Array:
    """The pattern of equations 25-29 and 38-41."""
    return np.block(
        [
            [first, zero, zero, zero],
            [zero, first, zero, zero],
            [first, arm, -upper, zero],
            [zero, first, zero, -lower],
        ]
    )


def data() -> dict[str, float]:
    """The data that are used, by name."""
    return pendula.library.double_physical_pendulum().parameter_values


def data_words() -> str:
    """The data in words."""
    p = data()
    return (
        f"the paper gives no numbers; m₁ = {p['m1']:g} kg, O₁C₁ = {p['c1']:g} m, J₁ = {p['J1']:g} kg m², O₁O₂ = "
        f"{p['l1']:g} m, "
        f"m₂ = {p['m2']:g} kg, O₂C₂ = {p['c2']:g} m, J₂ = {p['J2']:g} kg m², g = {p['g']:g} m/s²"
    )
