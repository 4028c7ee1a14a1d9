"""Every chart and every choice of speeds of an orientation describes the same motion: paper 002's rod, and trees."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pendula
from pendula import library
from pendula.model.joints.orientation import Chart, chart_named
from pendula.system.orientation import maps as ori
from pendula.system.system import System

SEQUENCES = ["".join(s) for s in itertools.product("xyz", repeat=3) if s[0] != s[1] != s[2]]
CHARTS = [*SEQUENCES, *(f"space {s}" for s in SEQUENCES), "rotation vector", "quaternion"]
SOME = ["zyz", "space xyz", "yxz", "rotation vector", "quaternion"]
SPEEDS = ("rates", "body", "parent")
ENGINES = ("lagrange", "kane", "newton-euler", "projection", "maximal", "recursive")

AGREE = 1e-9
"""The thin rod's inertia about its own axis is 1e-4 of that across, so accelerations lose four digits to rounding."""
TIGHT = 1e-13
"""tolerance of runs that are compared to 1e-9 after 10 s"""
CLEAR = 0.3
"""distance of random states from singularities [rad]"""


def made(chart: str, speeds: str, engine: str) -> System:
    model = library.spatial_rod(orientation=chart, speeds=speeds)  # type: ignore[arg-type]
    return (
        pendula.compile_system(model, engine="recursive")
        if engine == "recursive"
        else pendula.compile_system(model, engine)
    )


def states(chart: Chart, count: int, seed: int = 1) -> tuple[Any, Any]:
    """Random coordinates, away from singularities, and angular velocities in body axes."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-2.5, 2.5, size=(count, chart.count))
    while (near := ori.distance(chart, q) < CLEAR).any():
        q[near] = rng.uniform(-2.5, 2.5, size=(int(near.sum()), chart.count))
    if chart.count == 4:
        q /= np.linalg.norm(q, axis=1)[:, None]
    return q, 2.0 * rng.normal(size=(count, 3))


def speeds_of(chart: Chart, q: Any, omega: Any, axes: str) -> Any:
    if axes == "body":
        return omega
    if axes == "parent":
        return ori.rotated(ori.to_quaternion(chart, q), omega)
    return np.linalg.solve(ori.velocity_matrix(chart, q), omega[..., None])[..., 0]


def worst(name: str, axes: str, engines: tuple[str, ...], count: int) -> float:
    """Largest difference of velocities, accelerations and energies from those of the quaternion, relative to them."""
    chart, known = chart_named(name), made("quaternion", "body", "lagrange")
    q, omega = states(chart, count)
    turn, v = ori.to_quaternion(chart, q), speeds_of(chart, q, omega, axes)
    expected = known.body_motion(turn, omega, known.accelerations(turn, omega))
    energy = known.energies(turn, omega)
    found = 0.0
    for engine in engines:
        system = made(name, axes, engine)
        own = system.in_joints.place(q, v)
        motion = system.body_motion(*own, system.accelerations(*own))
        pairs = [*zip(motion, expected, strict=True), *zip(system.energies(*own), energy, strict=True)]
        pairs.append((system.in_joints.system.rates(q, v), rates_of(chart, q, omega)))
        found = max(found, *(float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) for a, b in pairs))
    return found


def rates_of(chart: Chart, q: Any, omega: Any) -> Any:
    return np.einsum("kij,kj->ki", ori.inverse_matrix(chart, q), omega)


@pytest.mark.parametrize("name", SOME)
def test_charts_and_speeds_give_the_same_accelerations(name: str) -> None:
    for axes in SPEEDS[name == "quaternion" :]:
        engines = {"body": ("lagrange", "maximal"), "parent": ("lagrange", "projection")}.get(axes, ENGINES[1:3])
        assert worst(name, axes, engines, 20) < AGREE


@pytest.mark.slow
@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_in_every_formulation_and_engine(name: str) -> None:
    for axes in SPEEDS[name == "quaternion" :]:
        assert worst(name, axes, ENGINES, 100) < AGREE


@pytest.mark.parametrize("name", ["zxy", *(pytest.param(n, marks=pytest.mark.slow) for n in SEQUENCES if n != "zxy")])
def test_differences_of_accelerations_are_those_that_the_condition_of_the_mass_matrix_allows(name: str) -> None:
    """Of the thin rod, M in rates of angles has condition 1e5 and accelerations reach 200 rad/s^2, so that rounding alone
    makes 1e-9 of absolute difference, in the spin about the rod. Thick as long, nothing of it is left."""
    chart = chart_named(name)
    q, omega = states(chart, 100)
    turn, v = ori.to_quaternion(chart, q), speeds_of(chart, q, omega, "rates")
    known = made("quaternion", "body", "lagrange")
    for engine in ("lagrange", "kane"):
        system = made(name, "rates", engine)
        for thickness in (0.02, 1.0):
            given = {"d": thickness}
            acc = system.accelerations(q, v, parameters=given)
            a = system.body_motion(q, v, acc, parameters=given).angular_acceleration
            b = known.body_motion(
                turn, omega, known.accelerations(turn, omega, parameters=given), parameters=given
            ).angular_acceleration
            off = np.abs(a - b).reshape(len(q), -1).max(axis=1)
            if thickness == 1.0:
                assert off.max() < 1e-12 * np.abs(acc).max()
            else:
                condition = np.linalg.cond(system.mass_matrix(q, parameters=given))
                terms = np.abs(acc).max(axis=1) + np.sum(v**2, axis=1)  # f is a sum of terms of the size of M v^2
                assert np.all(off < np.finfo(float).eps * condition * terms)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHARTS[:-1])
def test_runs_of_10_s_agree_in_every_chart(name: str) -> None:
    """Motion, energy and moment about the vertical; some sequences pass next to their singularities on the way."""
    known = made("quaternion", "body", "kane")
    angles = made("zyz", "rates", "kane").state({"phi": 1.1, "theta": -0.6, "psi": 0.3})
    start = pendula.convert(angles, known).replace({"ball_wx": 3.0, "ball_wy": -1.0, "ball_wz": 2.0})
    expected = pendula.simulate(known, 10.0, initial_state=start, tol=TIGHT, samples=51)
    assert expected.ok
    for axes in SPEEDS[:2]:
        system = made(name, axes, "kane")
        run = pendula.simulate(system, 10.0, initial_state=pendula.convert(start, system), tol=TIGHT, samples=51)
        assert run.ok
        for a, b in zip(system.poses(run.q), known.poses(expected.q), strict=True):
            assert np.abs(a - b).max() < AGREE
        assert np.abs(run["energy"] - expected["energy"]).max() < AGREE * expected.energy.scale


@pytest.mark.parametrize("name", CHARTS[:24])
def test_sequences_are_those_of_scipy(name: str) -> None:
    """SciPy writes rotations about body-fixed axes in capitals."""
    chart = chart_named(name)
    q, omega = states(chart, 20)
    expected = Rotation.from_euler(chart.letters if chart.space else chart.letters.upper(), q)
    assert np.abs(ori.matrix_of(ori.to_quaternion(chart, q)) - expected.as_matrix()).max() < 1e-14
    h = 1e-6
    rates = rates_of(chart, q, omega)
    ends = [Rotation.from_matrix(ori.matrix_of(ori.to_quaternion(chart, q + s * h * rates))) for s in (-1, 1)]
    assert np.abs((ends[0].inv() * ends[1]).as_rotvec() / (2 * h) - omega).max() < 1e-8  # central differences


def test_rotation_vector_is_that_of_scipy() -> None:
    chart = chart_named("rotation vector")
    q, _ = states(chart, 50)
    q[0] = 0.0
    assert np.abs(ori.matrix_of(ori.to_quaternion(chart, q)) - Rotation.from_rotvec(q).as_matrix()).max() < 1e-14
    turns = Rotation.from_rotvec(q).as_quat()[:, [3, 0, 1, 2]]
    assert np.abs(ori.from_quaternion(chart, turns, q) - q).max() < 1e-14


def test_rotation_vector_is_regular_at_no_rotation() -> None:
    """At r = 0, L is the identity; near it, series and closed forms agree."""
    system = made("rotation vector", "rates", "kane")
    still = made("quaternion", "body", "kane")
    for size in (0.0, 1e-9, 1e-3, 1.4, 1.4143):
        q = np.array([0.6, 0.0, 0.8]) * size
        v = np.array([0.3, -0.2, 0.5])
        omega = ori.velocity_matrix(chart_named("rotation vector"), q) @ v
        turn = ori.to_quaternion(chart_named("rotation vector"), q)
        expected = still.body_motion(turn, omega, still.accelerations(turn, omega)).angular_acceleration
        found = system.body_motion(q, v, system.accelerations(q, v)).angular_acceleration
        assert np.abs(found - expected).max() < AGREE


@pytest.mark.parametrize(
    ("name", "like"), [("cardan", "xyz"), ("bryan", "xyz"), ("euler", "zxz"), ("yaw-pitch-roll", "zyx")]
)
def test_named_sequences(name: str, like: str) -> None:
    q = [0.3, 0.7, -1.1]
    assert np.array_equal(ori.to_quaternion(chart_named(name), q), ori.to_quaternion(chart_named(like), q))


def test_forces_along_angles_do_the_same_work_with_any_speeds() -> None:
    """A spring, a torque and gravity along the angles of a ball joint: the same accelerations for all speeds."""
    found = []
    for speeds in SPEEDS:
        model = library.spatial_rod(orientation="xyz", speeds=speeds)  # type: ignore[arg-type]
        model = model.with_changes(
            forces=[
                {"type": "torsion-spring", "joint": "ball", "coordinate": "ball_2", "stiffness": 3.0, "damping": 0.2},
                {"type": "generalized", "coordinate": "ball_1", "value": "0.4*ball_3"},
            ]
        )
        chart = chart_named("xyz")
        q, omega = states(chart, 10)
        v = speeds_of(chart, q, omega, speeds)
        for engine in ENGINES[: 5 if speeds == "parent" else 2]:
            system = pendula.compile_system(model, engine)
            own = system.in_joints.place(q, v)
            found.append(system.body_motion(*own, system.accelerations(*own)).angular_acceleration)
    size = float(np.abs(found[0]).max())  # large about the rod's own axis
    assert max(float(np.abs(x - found[0]).max()) for x in found) < AGREE * size
