"""Mechanisms in space: paper 000 (3D pendulum), paper 001 example 1 (bead on a hoop), paper 002 (spatial rod),
Euler's equations, the heavy top."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import pendula
from pendula.errors import SingularPose
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array, evaluate, states

EXACT = 1e-11
"""Relative: the same equations written down by hand, at random states."""
G = 9.81


def _roots(system: pendula.results.System, q: Array, v: Array | None = None) -> Array:
    rest = np.zeros(len(system.layout.speeds)) if v is None else v
    n = len(rest)
    K, C = (system.acceleration_jacobian(x, q, rest) for x in "qv")
    return np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [K, C]]))


# --- paper 000: the 3D pendulum -----------------------------------------------------------------------


def test_spherical_pendulum_in_x_and_y_has_a_double_pair_of_roots_at_the_bottom() -> None:
    """Paper 000: +-i sqrt(g/l) twice, 3.132091952673165."""
    found = np.sort_complex(_roots(library_system("spherical-pendulum: xy"), np.zeros(2)))
    assert np.abs(found.real).max() < 1e-12
    assert np.sort(found.imag) == pytest.approx([-3.132091952673165] * 2 + [3.132091952673165] * 2, rel=1e-14)


def test_spherical_pendulum_in_angles_is_singular_at_the_bottom_and_says_so() -> None:
    with pytest.raises(SingularPose, match="theta = 0"):
        library_system("spherical-pendulum").accelerations([0.0, 0.3], [0.0, 0.0])


def test_spherical_pendulum_has_the_equation_of_paper_000_with_g_for_mgl() -> None:
    """l th'' - l s c ph'^2 + g s = 0 and s^2 ph'' + 2 s c th' ph' = 0 (errata: g, not m g l)."""
    system = library_system("spherical-pendulum")
    parameters = {"m": 2.3, "l": 0.7, "g": 9.1}
    _, q, v = states(system, 30)
    s, c = np.sin(q[:, 0]), np.cos(q[:, 0])
    expected = np.stack([s * c * v[:, 1] ** 2 - 9.1 / 0.7 * s, -2 * c / s * v[:, 0] * v[:, 1]], axis=1)
    np.testing.assert_allclose(system.accelerations(q, v, parameters=parameters), expected, rtol=EXACT, atol=1e-11)


@pytest.mark.parametrize("angle", [0.2, 0.7, 1.3])
def test_spherical_pendulum_on_a_cone_turns_at_the_closed_form_rate(angle: float) -> None:
    system = library_system("spherical-pendulum")
    rate = np.sqrt(G / np.cos(angle))
    run = pendula.simulate(system, 5.0, initial_state={"theta": angle, "phi": 0.0, "phi_dot": rate}, tol=1e-11)
    assert run["theta"] == pytest.approx(np.full(len(run), angle), abs=1e-9)
    assert run["phi"] == pytest.approx(rate * run.t, abs=1e-8)


def test_disturbed_cone_has_the_roots_of_the_errata() -> None:
    """At theta = 0.7: 0, 0 and +-i Omega sqrt(1 + 3 cos^2) = +-5.944365i; phi is cyclic."""
    angle = 0.7
    rate = np.sqrt(G / np.cos(angle))
    found = _roots(library_system("spherical-pendulum"), np.array([angle, 0.0]), np.array([0.0, rate]))
    found = found[np.argsort(np.abs(found))]
    assert np.abs(found[:2]).max() < 1e-6  # a double root is known to half the digits
    assert np.sort(found[2:].imag) == pytest.approx([-5.944365, 5.944365], abs=5e-7)
    assert rate * np.sqrt(1 + 3 * np.cos(angle) ** 2) == pytest.approx(5.944365, abs=5e-7)


def test_both_charts_of_the_spherical_pendulum_move_the_bob_alike() -> None:
    angles, xy = library_system("spherical-pendulum"), library_system("spherical-pendulum: xy")
    th, ph, thd, phd = 0.8, 0.4, 0.3, -1.1
    q = [np.sin(th) * np.cos(ph), np.sin(th) * np.sin(ph)]
    v = [
        np.cos(th) * np.cos(ph) * thd - np.sin(th) * np.sin(ph) * phd,
        np.cos(th) * np.sin(ph) * thd + np.sin(th) * np.cos(ph) * phd,
    ]
    a = angles.body_motion([th, ph], [thd, phd], angles.accelerations([th, ph], [thd, phd])).acceleration
    b = xy.body_motion(q, v, xy.accelerations(q, v)).acceleration
    np.testing.assert_allclose(a, b, rtol=1e-12)


# --- paper 001, example 1: bead on a turning hoop -----------------------------------------------------


def test_hoop_bead_has_equation_5() -> None:
    system = library_system("hoop-bead")
    t, q, v = states(system, 30)
    theta, rate = q[:, 0], v[:, 0]
    expected = -0.2 * rate + 20 * np.sin(theta) * np.cos(theta) - G * np.sin(theta)
    np.testing.assert_allclose(system.accelerations(q, v, t)[:, 0], expected, rtol=EXACT, atol=1e-12)


def test_hoop_bead_rests_at_the_four_places_of_the_errata() -> None:
    """0, pi and +-1.0581 at Omega^2 = 20; only 0 and pi where Omega^2 < g/r."""
    system = library_system("hoop-bead")
    side = np.arccos(G / 20)
    assert side == pytest.approx(1.0581, abs=1e-4)
    places = np.array([[0.0], [np.pi], [side], [-side]])
    assert np.abs(system.accelerations(places, np.zeros((4, 1)))).max() < 1e-13
    angles = np.linspace(-3.1, 3.1, 400)[:, None]
    signs = np.sign(system.accelerations(angles, 0 * angles)[:, 0])
    assert np.count_nonzero(np.diff(signs)) == 3  # in (-pi, pi), pi itself aside
    slow = np.sign(system.accelerations(angles, 0 * angles, parameters={"Omega": 3.0})[:, 0])
    assert np.count_nonzero(np.diff(slow)) == 1


def test_hoop_bead_in_friction_ends_at_the_side_place() -> None:
    run = pendula.simulate(library_system("hoop-bead"), 120.0, tol=1e-9)
    assert abs(run["theta"][-1]) == pytest.approx(np.arccos(G / 20), abs=1e-4)


# --- paper 002: a rod on a ball joint -----------------------------------------------------------------


def _gim(angles: Array, share: float) -> Array:
    """Eq. 10 with i2 = Q e1 and [I^c]_2 turned into the fixed frame; ``share`` is 12, or 3 as printed."""
    m, a, d = 2.5, 1.0, 0.02
    phi, theta, _ = angles
    Q = Rotation.from_euler("ZYZ", angles).as_matrix()
    L = np.array(
        [
            [0, -np.sin(phi), np.sin(theta) * np.cos(phi)],
            [0, np.cos(phi), np.sin(theta) * np.sin(phi)],
            [1, 0, np.cos(theta)],
        ]
    )
    across = m * d**2 / 16 + m * a**2 / share
    Ic = Q @ np.diag([m * d**2 / 8, across, across]) @ Q.T
    i2 = Q[:, 0]
    return L.T @ (m * a**2 / 4 * (np.eye(3) - np.outer(i2, i2)) + Ic) @ L


@pytest.mark.parametrize(("name", "share"), [("spatial-rod", 12), ("spatial-rod: printed inertia", 3)])
def test_spatial_rod_has_the_inertia_matrix_of_equation_10_corrected(name: str, share: float) -> None:
    system = library_system(name)
    _, q, _ = states(system, 20)
    for angles in q:
        np.testing.assert_allclose(system.mass_matrix(angles), _gim(angles, share), atol=1e-13)


def test_spatial_rod_entry_i33_is_constant() -> None:
    """Errata to A.2: i33 = m a^2/3 + m d^2/16."""
    _, q, _ = states(library_system("spatial-rod"), 20)
    found = library_system("spatial-rod").mass_matrix(q)[:, 2, 2]
    np.testing.assert_allclose(found, 2.5 / 3 + 2.5 * 0.02**2 / 16, rtol=1e-13)


def test_spatial_rod_has_the_gravity_terms_of_equation_13() -> None:
    """gamma = (0, m a g/2 C(theta) C(psi), -m a g/2 S(theta) S(psi)) with gravity along +z; f holds -gamma."""
    system = library_system("spatial-rod")
    t, q, v = states(system, 20)
    _, theta, psi = q.T
    half = 2.5 * 1.0 * 9.8 / 2
    gamma = np.stack([0 * psi, half * np.cos(theta) * np.cos(psi), -half * np.sin(theta) * np.sin(psi)], axis=1)
    found = evaluate(system, system.equations.parts.free["gravity"], q, v, t)
    np.testing.assert_allclose(found, -gamma, atol=1e-12)


def test_spatial_rod_has_the_velocity_terms_of_equation_11() -> None:
    """h_i = sum over j, k of (d i_ij/d th_k - (1/2) d i_jk/d th_i) th_j' th_k', by SymPy from eq. 10 corrected."""
    angles = sp.symbols("phi theta psi")
    phi, theta, psi = angles
    m, a, d = sp.Rational(5, 2), 1, sp.Rational(1, 50)
    turn = {"z": lambda x: sp.rot_axis3(-x), "y": lambda x: sp.rot_axis2(-x)}
    Q = turn["z"](phi) * turn["y"](theta) * turn["z"](psi)
    rows = [[0, -sp.sin(phi), sp.sin(theta) * sp.cos(phi)], [0, sp.cos(phi), sp.sin(theta) * sp.sin(phi)]]
    L = sp.Matrix([*rows, [1, 0, sp.cos(theta)]])
    across = m * d**2 / 16 + m * a**2 / 12
    i2 = Q[:, 0]
    gim = L.T * (m * a**2 / 4 * (sp.eye(3) - i2 * i2.T) + Q * sp.diag(m * d**2 / 8, across, across) * Q.T) * L
    slopes = sp.lambdify(angles, [gim.diff(x) for x in angles])
    system = library_system("spatial-rod")
    t, q, v = states(system, 6)
    found = evaluate(system, system.equations.parts.free["inertia"], q, v, t)
    for x, rate, inertia in zip(q, v, found, strict=True):
        D = np.array(slopes(*x), dtype=float)  # D[k] = d gim / d angle k
        h = np.einsum("kij,j,k->i", D, rate, rate) - np.einsum("ijk,j,k->i", D, rate, rate) / 2
        np.testing.assert_allclose(inertia, -h, atol=1e-11)


@pytest.mark.parametrize(
    ("name", "frequency"),
    [("spatial-rod: quaternion", 3.834), ("spatial-rod", 3.834), ("spatial-rod: printed inertia", 2.898)],
)
def test_spatial_rod_swings_at_the_frequency_of_the_errata(name: str, frequency: float) -> None:
    """sqrt((a/2) g/J) with J about the end: 3.834 rad/s; the printed inertia gives 2.898 rad/s (24 % less)."""
    system = library_system(name)
    # hanging down along +z; a turn about the horizontal y axis swings it
    if "quaternion" in name:
        turn = Rotation.from_euler("y", -np.pi / 2).as_quat()
        rest, swing = np.roll(turn, 1), 1
        np.testing.assert_allclose(system.poses(rest)[0][0] @ [1, 0, 0], [0, 0, 1], atol=1e-15)
        push = system.rates(rest, np.eye(3)[swing])
    else:
        rest, swing = np.array([0.4, -np.pi / 2, 0.0]), 1
        push = np.eye(3)[swing]
    slope = system.acceleration_jacobian("q", rest, np.zeros(3)) @ push
    assert np.sqrt(-slope[swing]) == pytest.approx(frequency, abs=5e-4)
    share = 3 if "printed" in name else 12
    J = 0.02**2 / 16 + 1 / share + 1 / 4
    assert np.sqrt(-slope[swing]) == pytest.approx(np.sqrt(0.5 * 9.8 / J), rel=1e-12)


def test_spatial_rod_moves_alike_in_angles_and_by_quaternion() -> None:
    times = np.linspace(0, 1.0, 11)
    names = ("spatial-rod: spatial", "spatial-rod: quaternion, spatial")
    runs = [pendula.simulate(library_system(n), 1.0, tol=1e-11, samples=times) for n in names]
    poses = [run.system.poses(run.q)[0] for run in runs]
    np.testing.assert_allclose(poses[0], poses[1], atol=1e-8)


def test_planar_start_of_the_spatial_rod_swings_as_a_plane_pendulum() -> None:
    run = pendula.simulate(library_system("spatial-rod"), 3.0, tol=1e-11, samples=np.linspace(0, 3, 31))
    J = 2.5 * (0.02**2 / 16 + 1 / 3)
    # theta is the angle of the rod below (negative) the horizontal
    swing = solve_ivp(
        lambda _, y: [y[1], -2.5 * 9.8 * 0.5 * np.cos(y[0]) / J],
        (0, 3),
        [-np.pi / 4, 0],
        rtol=1e-11,
        atol=1e-11,
        t_eval=run.t,
    )
    np.testing.assert_allclose(run["theta"], swing.y[0], atol=1e-7)
    assert np.ptp(run["phi"]) < 1e-9
    assert np.ptp(run["psi"]) < 1e-9


# --- free flight and the top --------------------------------------------------------------------------


def test_free_body_obeys_eulers_equations() -> None:
    system = library_system("free-body")
    m, (a, b, h) = 2.0, (1.0, 0.6, 0.2)
    inertia = m / 12 * np.array([b**2 + h**2, a**2 + h**2, a**2 + b**2])
    _, q, v = states(system, 20)
    names = dict(zip(system.layout.speeds, system.accelerations(q, v).T, strict=True))
    speeds = dict(zip(system.layout.speeds, v.T, strict=True))
    w = np.stack([speeds[f"box_w{x}"] for x in "xyz"], axis=1)
    expected = -np.cross(w, inertia * w) / inertia
    np.testing.assert_allclose(np.stack([names[f"box_w{x}"] for x in "xyz"], axis=1), expected, atol=1e-12)
    np.testing.assert_allclose(np.stack([names[f"box_{x}_dot"] for x in "xyz"], axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("tilt", [0.3, 1.2])
def test_heavy_top_precesses_steadily_at_both_rates(tilt: float, which: int) -> None:
    """I1 cos(theta) Omega^2 - I3 w3 Omega + m g l = 0: started on a root, the tilt stays."""
    m, l, r, w3 = 1.0, 0.5, 0.4, 60.0
    I1, I3 = m * r**2 / 4 + m * l**2, m * r**2 / 2
    rate = np.sort(np.roots([I1 * np.cos(tilt), -I3 * w3, m * G * l]).real)[which]
    system = library_system("heavy-top")
    turn = np.roll(Rotation.from_euler("y", tilt).as_quat(), 1)
    # angular velocity Omega about z, plus spin about the own axis, in body axes
    start = dict(zip((f"pivot_q{k}" for k in range(4)), turn, strict=True))
    start |= {"pivot_wx": -rate * np.sin(tilt), "pivot_wy": 0.0, "pivot_wz": w3}
    run = pendula.simulate(system, 2.0, initial_state=start, tol=1e-12)
    axis = run.system.poses(run.q)[0][:, 0, :, 2]
    np.testing.assert_allclose(np.arccos(axis[:, 2]), tilt, atol=1e-8)
    angle = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    np.testing.assert_allclose(angle, rate * run.t, atol=1e-7 * (1 + abs(rate)))
