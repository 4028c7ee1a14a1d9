"""What must be kept along simulations: momentum, moment of momentum, energy with its account, Jacobi's integral."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula
from pendula import Model, library
from pendula.model.expressions.expression import parse
from pendula.results import Trajectory
from pendula.system.joint_forces import jacobi_integral
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array

pytestmark = pytest.mark.usefixtures("quick_code")

TOL = 1e-10
KEPT = 1e-8
"""Relative drift of an integral of motion over some thousand steps at tolerance 1e-10 each."""
CLOSES = 1e-8
"""Energy account over 5 s at tolerance 1e-10: errors of some hundred steps add up."""


def _momentum(run: Trajectory) -> tuple[Array, Array]:
    """Momentum, and moment of momentum about the origin of the world, at every step."""
    system, model = run.system, run.system.model
    values = model.parameter_values
    R, r = system.poses(run.q, run.t)
    motion = system.body_motion(run.q, run.v, None, run.t)
    total, moment = np.zeros((len(run), 3)), np.zeros((len(run), 3))
    for k, name in enumerate(system.layout.bodies):
        properties = model.body(name).mass_properties()
        m = parse(properties.mass).evaluate(values)
        com = np.array([parse(x).evaluate(values) for x in properties.com])
        inertia = np.array([[parse(x).evaluate(values) for x in row] for row in properties.inertia])
        place = r[:, k] + R[:, k] @ com
        p = m * motion.velocity[:, k]
        world = R[:, k] @ inertia @ np.swapaxes(R[:, k], 1, 2)
        total += p
        moment += np.cross(place, p) + np.einsum("kij,kj->ki", world, motion.angular_velocity[:, k])
    return total, moment


def _drift(x: Array) -> float:
    return float(np.abs(x - x[0]).max() / (1e-300 + np.abs(x).max()))


def test_free_body_keeps_momentum_moment_of_momentum_and_energy() -> None:
    run = pendula.simulate(library_system("free-body"), 10.0, tol=TOL)
    p, _ = _momentum(run)
    # about the mass centre, which is the body's origin here
    motion = run.system.body_motion(run.q, run.v, None, run.t)
    R, r = run.system.poses(run.q, run.t)
    m, (a, b, h) = 2.0, (1.0, 0.6, 0.2)
    inertia = m / 12 * np.diag([b**2 + h**2, a**2 + h**2, a**2 + b**2])
    spin = np.einsum("kij,kj->ki", R[:, 0] @ inertia @ np.swapaxes(R[:, 0], 1, 2), motion.angular_velocity[:, 0])
    assert _drift(p) < KEPT
    assert _drift(spin) < KEPT
    assert run.energy_drift < CLOSES
    np.testing.assert_allclose(r[:, 0], np.outer(run.t, [0.1, 0, 0]), atol=1e-9)  # the mass centre moves straight
    assert np.ptp(run["box_wy"]) > 5.0  # it did tumble: the middle axis is unstable


def test_cart_pole_keeps_its_momentum_along_the_rail() -> None:
    run = pendula.simulate(library_system("cart-pole"), 10.0, tol=TOL, initial_state={"x_dot": 0.4})
    p, _ = _momentum(run)
    assert _drift(p[:, 0]) < KEPT
    assert np.ptp(run["theta"]) > 1.0


@pytest.mark.parametrize(
    "name",
    [
        "spherical-pendulum",
        "spherical-pendulum: xy",
        "spatial-rod: spatial",
        "spatial-rod: quaternion, spatial",
        "heavy-top",
    ],
)
def test_moment_of_momentum_about_the_vertical_is_kept(name: str) -> None:
    start = {"spatial-rod: spatial": {"phi_dot": 1.0}, "spatial-rod: quaternion, spatial": {"ball_wz": 1.0}}
    run = pendula.simulate(library_system(name), 4.0, tol=TOL, initial_state=start.get(name))
    assert run.outcome.ok
    _, moment = _momentum(run)
    assert np.abs(moment[0, 2]) > 0.05
    assert _drift(moment[:, 2]) < KEPT


def test_heavy_top_keeps_its_spin_about_its_own_axis() -> None:
    run = pendula.simulate(library_system("heavy-top"), 4.0, tol=TOL)
    assert _drift(run["pivot_wz"]) < KEPT


# --- the energy account -------------------------------------------------------------------------------


def _pendulum(**changes: Any) -> Model:
    return library.pendulum().with_changes(**changes)


def _shaken(position: list[Any]) -> Model:
    joint = {"name": "theta", "type": "revolute", "parent": {"body": "ground", "position": position}, "child": "link"}
    return _pendulum(joints=[joint], initial={"theta": 1.0})


DRIVEN = library.hoop_bead().with_changes(
    joints=[
        {"name": "spin", "type": "revolute", "parent": "ground", "child": "hoop", "motion": "2*t + 0.3*sin(3*t)"},
        library.hoop_bead().joint("slide"),
    ]
)

ACCOUNTS: dict[str, Model] = {
    "friction": library.pendulum(friction=0.3),
    "chain with friction": library.chain(links=3, friction=0.2),
    "friction at the mass centres": library.chain(links=3, com_friction=0.4),
    "springs and dampers": library.double_pendulum(),
    "springs between points": _pendulum(
        forces=[
            {
                "type": "spring",
                "from": {"body": "ground", "position": [1.5, 0, 0]},
                "to": {"body": "link", "at": "tip"},
                "stiffness": 20,
                "length": 0.5,
                "damping": 0.3,
            }
        ]
    ),
    "input in time": library.cart_pole().with_changes(inputs={"F": "2*sin(3*t)"}),
    "input by cases": library.cart_pole().with_changes(inputs={"F": "3 if t < 1.3 else -1"}),
    "feedback": library.cart_pole().with_changes(
        forces=[{"type": "generalized", "coordinate": "x", "value": "-5*x - 2*x_dot + min(max(theta, -1), 1)"}]
    ),
    "follower force": _pendulum(
        forces=[{"type": "force", "body": "link", "at": "tip", "vector": ["cos(t)", 0], "axes": "body"}]
    ),
    "torque": _pendulum(forces=[{"type": "torque", "body": "link", "vector": [0, 0, "2*cos(2*t)"]}]),
    "shaken pivot": _shaken([0, "0.1*cos(20*t)", 0]),
    "shaken pivot on a circle": _shaken(["0.2*cos(3*t)", "0.2*sin(3*t)", 0]),
    "shaken pivot with friction": _shaken(["0.2*sin(5*t)", 0, 0]).with_changes(
        forces=[{"type": "friction", "joint": "theta", "coefficient": 0.2}]
    ),
    "shaken spring": _pendulum(
        forces=[
            {
                "type": "spring",
                "from": {"body": "ground", "position": [1.5, "0.3*sin(4*t)", 0]},
                "to": {"body": "link", "at": "tip"},
                "stiffness": 20,
            }
        ]
    ),
    "turning hoop": library.hoop_bead(),
    "hoop with a prescribed rate that varies": DRIVEN,
    "time inside a joint": Model(
        name="wire",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "bead", "point": {"mass": 1}}],
        joints=[
            {
                "name": "wire",
                "type": "coordinates",
                "coordinates": ["s"],
                "position": ["s*cos(2*t)", "s*sin(2*t)", "s**2"],
                "parent": "ground",
                "child": "bead",
            }
        ],
        initial={"s": 0.5},
    ),
    "ball with friction": library.heavy_top().with_changes(
        forces=[{"type": "friction", "joint": "pivot", "coefficient": 0.05}]
    ),
    "four bars with a torque": library.four_bar().with_changes(
        forces=[{"type": "generalized", "coordinate": "crank", "value": "5*sin(2*t) - 0.5*crank_dot"}]
    ),
}


@pytest.mark.parametrize("name", ACCOUNTS)
def test_energy_account_closes(name: str) -> None:
    system = pendula.compile_system(ACCOUNTS[name])
    run = pendula.simulate(system, 5.0, tol=TOL)
    assert run.outcome.ok
    assert np.abs(run.energy.work).max() > 1e-3  # something did work
    assert run.energy_drift < CLOSES


@pytest.mark.parametrize("name", ["chain", "free-body", "heavy-top", "four-bar", "spatial-rod: quaternion, spatial"])
def test_energy_is_kept_where_nothing_does_work(name: str) -> None:
    run = pendula.simulate(library_system(name), 3.0, tol=TOL)
    assert run.outcome.ok
    assert np.all(run.energy.work == 0.0)
    assert run.energy_drift < CLOSES


def test_steady_prescribed_rotation_is_paid_for_by_the_drive() -> None:
    """The drive of the hoop delivers Omega times the change of the moment of momentum about the axis."""
    system = pendula.compile_system(library.hoop_bead())
    run = pendula.simulate(system, 3.0, tol=1e-11)
    _, moment = _momentum(run)
    lost = run.energy.work - np.sqrt(20) * (moment[:, 2] - moment[0, 2])
    assert lost[-1] < -0.1  # friction takes the rest
    assert np.all(np.diff(lost) < 1e-9)


# --- Jacobi's integral --------------------------------------------------------------------------------


def _frictionless_hoop() -> Model:
    return library.hoop_bead().with_changes(forces=[])


def _jacobi(run: Trajectory) -> Array:
    p = run.system.model.parameter_values
    m, r, g, Omega = (p[n] for n in ("m", "r", "g", "Omega"))
    theta, rate = run["theta"], run["theta_dot"]
    return m * r**2 * rate**2 / 2 - m * r**2 * Omega**2 * np.sin(theta) ** 2 / 2 - m * g * r * np.cos(theta)


def test_hoop_bead_without_friction_keeps_the_closed_form_of_jacobis_integral() -> None:
    run = pendula.simulate(pendula.compile_system(_frictionless_hoop()), 10.0, tol=TOL)
    expected = _jacobi(run)
    found = jacobi_integral(run.system, run.q, run.v, run.t)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert _drift(expected) < KEPT
    assert run.jacobi_drift is not None
    assert run.jacobi_drift < KEPT
    assert np.ptp(run.energy.total) > 1.0  # while the energy is not kept


def test_hoop_bead_with_its_friction_set_to_zero_reports_jacobis_integral() -> None:
    run = pendula.simulate(pendula.compile_system(library.hoop_bead()), 10.0, tol=TOL, parameters={"c": 0.0})
    assert _drift(_jacobi(run)) < KEPT
    assert run.jacobi_drift is not None
    assert run.jacobi_drift < KEPT


@pytest.mark.parametrize("name", ["turning hoop", "hoop with a prescribed rate that varies", "shaken pivot"])
def test_jacobis_integral_is_not_claimed_where_it_is_not_kept(name: str) -> None:
    assert pendula.simulate(pendula.compile_system(ACCOUNTS[name]), 1.0).jacobi_drift is None
