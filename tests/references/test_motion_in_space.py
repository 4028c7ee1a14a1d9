"""Closed forms of motion in space: cones, elliptic integrals, Foucault, torque-free bodies, gyroscopes, chains.

Sources: Landau and Lifshitz, Mechanics, sections 14 (spherical pendulum), 37 (asymmetrical top), 39 (Foucault);
Whittaker, Analytical Dynamics, section 55; Marsden and Scheurle, ZAMP 44 (1993), 17-43; Magnus, Kreisel (1971);
DLMF, chapter 19 (symmetric elliptic integrals).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, elliprf, elliprj

import pendula
from pendula import library
from pendula.errors import UsageError

G = 9.81
TOLERANCE = 1e-11
EXACT = 1e-8
"""absolute, angles and lengths after a few seconds at tolerance 1e-11"""


# --- the spherical pendulum, of a point mass and of a rod -------------------------------------------------------


@pytest.mark.parametrize("angle", [0.3, 1.1])
def test_a_rod_on_a_cone_turns_at_the_closed_form_rate(angle: float) -> None:
    """Thin rod: W^2 = 3 g/(2 l cos theta), on a universal joint; a round one on a ball joint without own spin."""
    rate = np.sqrt(1.5 * G / np.cos(angle))
    thin = pendula.compile_system(library.spherical_pendulum(kind="rod"))
    start = {"theta": angle, "phi": 0.0, "phi_dot": rate}
    run = pendula.simulate(thin, 3.0, initial_state=start, tol=TOLERANCE)
    assert run["theta"] == pytest.approx(np.full(len(run), angle), abs=EXACT)
    assert run["phi"] == pytest.approx(rate * run.t, abs=EXACT)

    ball = pendula.compile_system(library.spherical_pendulum(kind="rod", chart="quaternion"))
    found = pendula.equilibria.steady_precession(ball, np.pi - angle, 0.0)  # tilt is measured from the upward vertical
    A = 1 / 3 + 0.05**2 / 16
    expected = np.sqrt(G / 2 / (A * np.cos(angle)))
    assert np.abs(found.rates) == pytest.approx(expected, rel=1e-12)
    run = pendula.simulate(ball, 3.0, initial_state=found.slow.state, tol=TOLERANCE)
    height = run.position("rod", "end")[:, 2]
    assert height == pytest.approx(np.full(len(run), -np.cos(angle)), abs=EXACT)


def advance(low: float, high: float) -> tuple[float, float]:
    """Advance of longitude between the least and the greatest height, and the time it takes (l = 1).

    u = cos(angle from the downward vertical); u'^2 = 2 g (u - u1)(u2 - u)(u + u3), u3 = (1 + u1 u2)/(u1 + u2)
    (Whittaker, section 55). Time and advance are elliptic integrals of the first and the third kind.
    """
    u1, u2 = np.cos(high), np.cos(low)
    u3 = (1 + u1 * u2) / (u1 + u2)
    time = 2 * elliprf(0, u2 + u3, u3 + u1) / np.sqrt(2 * G)
    angle = momentum(low, high) / np.sqrt(2 * G) * (_third(u1, u2, u3, 1.0) - _third(u1, u2, u3, -1.0)) / 2
    return float(angle), float(time)


def momentum(low: float, high: float) -> float:
    """Moment of momentum about the vertical per mass, for given extreme angles (l = 1)."""
    u1, u2 = np.cos(high), np.cos(low)
    return float(np.sqrt(2 * G * (1 - u1**2) * (1 - u2**2) / (u1 + u2)))


def _third(u1: float, u2: float, u3: float, pole: float) -> float:
    """Integral of du/((pole - u) sqrt((u - u1)(u2 - u)(u + u3))) from u1 to u2.

    With u = u1 + (u2 - u1) s^2 it is 2/((pole - u1) sqrt(u1 + u3)) times Legendre's Pi(n, k) with
    n = (u2 - u1)/(pole - u1), k^2 = -(u2 - u1)/(u1 + u3); in Carlson's form Pi = R_F + n/3 R_J (DLMF 19.25.14).
    """
    n, m = (u2 - u1) / (pole - u1), -(u2 - u1) / (u1 + u3)
    complete = elliprf(0, 1 - m, 1) + n / 3 * elliprj(0, 1 - m, 1, 1 - n)
    return float(2 / ((pole - u1) * np.sqrt(u1 + u3)) * complete)


@pytest.mark.parametrize("chart", ["angles", "xy"])
@pytest.mark.parametrize(("low", "high"), [(0.3, 0.9), (0.05, 1.2)])
def test_spherical_pendulum_precesses_as_elliptic_integrals_say(chart: str, low: float, high: float) -> None:
    angle, time = advance(low, high)
    rate = momentum(low, high) / np.sin(high) ** 2
    system = pendula.compile_system(library.spherical_pendulum(chart=chart))
    if chart == "angles":
        start = {"theta": high, "phi": 0.0, "phi_dot": rate, "theta_dot": 0.0}
    else:
        start = {"x": np.sin(high), "y": 0.0, "x_dot": 0.0, "y_dot": rate * np.sin(high)}
    run = pendula.simulate(system, 4 * time, initial_state=start, tol=TOLERANCE, samples=5)  # every quarter at an apsis
    place = run.position("bob")
    assert np.arccos(-place[:, 2]) == pytest.approx([high, low, high, low, high], abs=EXACT)
    turned = np.unwrap(np.arctan2(place[:, 1], place[:, 0]))
    assert turned == pytest.approx(angle * np.arange(5), abs=10 * EXACT)
    small = np.pi / 2 * (1 + 3 / 8 * low * high)  # Landau: advance for small swings, pi/2 + 3 pi a b/16
    assert angle == pytest.approx(small, abs=low * high * max(low, high) ** 2)


def test_spherical_pendulum_of_other_kinds_says_what_there_is() -> None:
    with pytest.raises(UsageError, match='kind="rod"'):
        library.spherical_pendulum(chart="quaternion")
    with pytest.raises(UsageError, match="quaternion"):
        library.spherical_pendulum(kind="rod", chart="xy")
    with pytest.raises(UsageError, match="inertia_rule is"):
        library.spatial_rod(inertia_rule="thick")


# --- Foucault ---------------------------------------------------------------------------------------------------


def test_foucault_pendulum_converges_to_the_linear_closed_form_with_the_square_of_the_amplitude() -> None:
    model = library.foucault(latitude="50deg", rate=0.1)
    system = pendula.compile_system(model)
    W, w = 0.1 * np.sin(np.radians(50)), np.sqrt(G)
    errors = []
    for a in (0.08, 0.04, 0.02, 0.01):
        run = pendula.simulate(system, 10.0, initial_state={"x": a}, tol=1e-12)
        z = np.exp(-1j * W * run.t) * (np.cos(w * run.t) + 1j * W / w * np.sin(w * run.t))
        errors.append(np.abs((run["x"] + 1j * run["y"]) / a - z).max())
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert orders == pytest.approx([2.0, 2.0, 2.0], abs=0.05)
    assert errors[-1] < 2e-4  # w t a^2/16, the lengthening of the period: 1.96e-4
    linear = pendula.linear.spectrum(system, {"x": 0.0})
    assert np.sort(linear.values.imag) == pytest.approx([-w - W, -w + W, w - W, w + W], rel=1e-12)


# --- torque-free motion by Jacobi's functions ------------------------------------------------------------------


@pytest.mark.parametrize("euler", [None, "zyx", "zxz"])
def test_torque_free_body_follows_jacobi_functions(euler: str | None) -> None:
    """Landau and Lifshitz, eqs 37.8 to 37.12, for I1 < I2 < I3 and L^2 > 2 E I2."""
    I1, I2, I3 = 0.1, 0.2, 0.25
    joint = {"name": "j", "type": "free", "parent": "ground", "child": "b"} | ({"orientation": euler} if euler else {})
    model = pendula.Model(
        name="free", gravity=[0, 0, 0], bodies=[{"name": "b", "mass": 1, "inertia": [I1, I2, I3]}], joints=[joint]
    )
    system = pendula.compile_system(model)
    first = np.array([1.5, 0.0, 3.0])  # at t = 0: cn = dn = 1, sn = 0
    E2, L2 = np.dot([I1, I2, I3], first**2), np.dot([I1**2, I2**2, I3**2], first**2)
    assert L2 > E2 * I2
    k2 = (I2 - I1) * (E2 * I3 - L2) / ((I3 - I2) * (L2 - E2 * I1))
    state = system.state({"j_2": 0.8} if euler else {})
    if euler:
        J = np.stack(
            [system.poses(state.q)[0][0].T @ system.body_motion(state.q, e).angular_velocity[0] for e in np.eye(6)[3:]],
            axis=1,
        )
        state = pendula.State(0.0, state.q, np.concatenate([np.zeros(3), np.linalg.solve(J, first)]), state.layout)
    else:
        state = state.replace(dict(zip(("j_wx", "j_wy", "j_wz"), first, strict=True)))
    run = pendula.simulate(system, 2.0, initial_state=state, tol=TOLERANCE)
    R = system.poses(run.q)[0][:, 0]
    omega = np.einsum("tji,tj->ti", R, system.body_motion(run.q, run.v).angular_velocity[:, 0])
    tau = run.t * np.sqrt((I3 - I2) * (L2 - E2 * I1) / (I1 * I2 * I3))
    sn, cn, dn, _ = ellipj(tau, k2)
    expected = np.stack(
        [
            np.sqrt((E2 * I3 - L2) / (I1 * (I3 - I1))) * cn,
            np.sqrt((E2 * I3 - L2) / (I2 * (I3 - I2))) * sn,
            np.sqrt((L2 - E2 * I1) / (I3 * (I3 - I1))) * dn,
        ],
        axis=1,
    )
    np.testing.assert_allclose(omega, expected, atol=EXACT)
    assert max(pendula.integrals(system).drift(run).values()) < 1e-9


# --- chains and double pendulums ------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", ["ball", "universal"])
def test_spatial_chain_has_the_frequencies_of_the_plane_twice(joint: str) -> None:
    links = 3
    found = pendula.linear.spectrum(library.spatial_chain(links=links, joint=joint), {}).values.imag
    across = 1 / 12 + 0.05**2 / 16
    plane = pendula.linear.spectrum(library.chain(links=links, inertia=across, com=0.5), {}).values.imag
    twice = np.sort(np.repeat(plane[plane > 0], 2))
    assert np.sort(found[found > 0]) == pytest.approx(twice, rel=1e-10)


def test_double_spherical_pendulum_has_the_frequencies_of_the_plane_twice() -> None:
    m1, m2, l1, l2 = 1.0, 0.5, 1.0, 0.7
    found = np.sort(pendula.linear.spectrum(library.double_spherical_pendulum(chart="xy"), {}).values.imag)
    a, b = (m1 + m2) / m1 * (1 / l1 + 1 / l2), (m1 + m2) / m1 / (l1 * l2)  # w^4 - a g w^2 + b g^2 = 0
    squares = np.roots([1, -a * G, b * G * G])
    assert found[4:] == pytest.approx(np.sort(np.repeat(np.sqrt(squares), 2)), rel=1e-12)


@pytest.mark.parametrize("signs", [(1, 1), (1, -1)])
def test_double_spherical_pendulum_on_cones(signs: tuple[int, int]) -> None:
    """Marsden and Scheurle: both rods in one vertical plane, on the same side or on opposite sides."""
    from scipy.optimize import fsolve

    m1, m2, l1, l2 = 1.0, 0.5, 1.0, 0.7
    rate = 4.0 if signs == (1, 1) else 7.5

    def balance(x: np.ndarray) -> list[float]:
        s1, s2 = np.sin(x)
        return [
            (m1 + m2) * G * np.tan(x[0]) - rate**2 * ((m1 + m2) * l1 * s1 + m2 * l2 * s2),
            G * np.tan(x[1]) - rate**2 * (l1 * s1 + l2 * s2),
        ]

    x = fsolve(balance, [0.9, 1.1] if signs == (1, 1) else [0.3, -1.1], xtol=1e-14)
    assert tuple(np.sign(x)) == signs
    assert np.abs(balance(x)).max() < 1e-9
    system = pendula.compile_system("double-spherical-pendulum")
    start = {"theta1": x[0], "theta2": x[1], "phi1_dot": rate, "phi2_dot": rate}
    run = pendula.simulate(system, 1.0, initial_state=start, tol=1e-12, samples=21)
    np.testing.assert_allclose(run["theta1"], x[0], atol=1e-6)  # unstable ones grow from rounding
    np.testing.assert_allclose(run["phi2"], rate * run.t, atol=1e-6)
    assert pendula.integrals(system).drift(run)["L_z"] < 1e-9


# --- gyroscopes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gimbals", [True, False])
def test_gyroscope_in_gimbals_nutates_and_precesses(gimbals: bool) -> None:
    A, C, d, w, n = 0.0025, 0.004, 0.15, 0.2, 200.0
    Ji, Jo = (0.0008, 0.0015) if gimbals else (0.0, 0.0)
    free = pendula.linear.spectrum(library.gyroscope(gimbals=gimbals, weight=0.0), {"psi_dot": n})
    assert free.values.imag.max() == pytest.approx(C * n / np.sqrt((A + Ji) * (A + Ji + Jo)), rel=1e-12)
    rate = w * G * d / (C * n)
    system = pendula.compile_system(library.gyroscope(gimbals=gimbals))
    start = {"psi_dot": n, "phi_dot": rate}
    assert pendula.stability(system, start).is_stable
    run = pendula.simulate(system, 2.0, initial_state=start, tol=TOLERANCE)
    assert run["theta"] == pytest.approx(np.zeros(len(run)), abs=EXACT)
    assert run["phi"] == pytest.approx(rate * run.t, abs=EXACT)


def test_gyro_pendulum_has_two_frequencies_and_turns_its_plane() -> None:
    A, C, k, n = 0.36 + 0.01, 0.02, G * 0.6, 100.0
    found = pendula.linear.spectrum("gyro-pendulum", {"spin_dot": n}).values.imag
    root = np.sqrt((C * n) ** 2 + 4 * A * k)
    assert np.sort(found)[-2:] == pytest.approx([(root - C * n) / (2 * A), (root + C * n) / (2 * A)], rel=1e-12)
    assert pendula.stability("gyro-pendulum", {"spin_dot": n}).is_stable
