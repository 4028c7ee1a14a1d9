"""A body on a ball joint at and near a pole of its angles: accelerations and reactions are those of Euler's equations.

The pose is regular there and only the coordinates are not, so nothing but these may be large or undetermined.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import pendula

COM = np.array([0.1, 0.05, 0.3])
INERTIA = np.diag([0.1, 0.12, 0.05])
GRAVITY = np.array([0.0, -9.81, 0.0])
SPIN = np.array([0.5, -1.0, 2.0])
EXACT = 1e-9
"""both sides are computed in double precision, from terms below 100"""

POLES = {
    "zxz": (0.3, 0.0, 0.2),
    "zyz": (0.0, 0.0, 0.0),
    "xyz": (0.3, np.pi / 2, 0.2),
    "space zyx": (0.0, np.pi / 2, 0.0),
}
WAYS = ("kane", "lagrange", "newton-euler", "projection", "maximal", "recursive")


def one_body(chart: str, speeds: str, start: dict[str, float], *, carrier: bool = False) -> pendula.Model:
    """A body on a ball joint, on ground or on an arm whose hinge follows a given motion."""
    parent = '{ body = "arm", position = [0.4, 0, 0] }' if carrier else '"ground"'
    arm = """
        [[bodies]]
        name = "arm"
        mass = 2.0
        com = [0.2, 0, 0.1]
        inertia = [0.1, 0.12, 0.05]
        [[joints]]
        name = "hinge"
        type = "revolute"
        parent = "ground"
        child = "arm"
        axis = [0, 1, 0]
        motion = "0.3*sin(2*t)"
    """
    values = "\n".join(f"{name} = {float(x)!r}" for name, x in start.items())
    return pendula.loads(f"""
        name = "body on a ball joint"
        gravity = {GRAVITY.tolist()}
        {arm if carrier else ""}
        [[bodies]]
        name = "b"
        mass = 1.0
        com = {COM.tolist()}
        inertia = {np.diag(INERTIA).tolist()}
        [[joints]]
        name = "j"
        type = "spherical"
        parent = {parent}
        child = "b"
        orientation = "{chart}"
        speeds = "{speeds}"
        [initial]
        {values}
    """)


def matrix(chart: str, angles: tuple[float, ...]) -> np.ndarray:
    letters = chart.removeprefix("space ")
    return Rotation.from_euler(letters if "space" in chart else letters.upper(), angles).as_matrix()


def euler(R: np.ndarray, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """In body axes the angular acceleration; in world axes the acceleration of the mass centre, and the joint force."""
    about = INERTIA + COM @ COM * np.eye(3) - np.outer(COM, COM)
    alpha = np.linalg.solve(about, np.cross(COM, R.T @ GRAVITY) - np.cross(omega, about @ omega))
    a = R @ (np.cross(alpha, COM) + np.cross(omega, np.cross(omega, COM)))
    return alpha, a, a - GRAVITY


def rates(chart: str, angles: tuple[float, ...], omega: np.ndarray) -> np.ndarray:
    """Rates of the angles for an angular velocity in body axes: its components along the three turning axes."""
    columns, back = [], np.eye(3)
    for letter, angle in zip(reversed(chart), reversed(angles), strict=True):
        columns.insert(0, back @ np.eye(3)["xyz".index(letter)])
        back = back @ Rotation.from_euler(letter, angle).as_matrix().T
    return np.linalg.solve(np.array(columns).T, omega)


def compiled(model: pendula.Model, way: str) -> object:
    return pendula.compile_system(model, engine=way) if way == "recursive" else pendula.compile_system(model, way)


def off(run: pendula.results.Trajectory, R: np.ndarray, omega: np.ndarray) -> float:
    """Largest error of acceleration, joint force and joint torque at the start of a run."""
    _, a, force = euler(R, omega)
    joint = pendula.reactions(run)["j"]
    parts = (run.acceleration("b", "com")[0] - a, joint.force[0] - force, joint.torque[0])
    return float(np.max(np.abs(parts)))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("speeds", ["body", "parent"])
@pytest.mark.parametrize("aside", [0.0, 1e-9, 1e-5])
@pytest.mark.parametrize("chart", POLES)
def test_angular_velocities_as_speeds_have_regular_accelerations(
    chart: str, aside: float, speeds: str, way: str
) -> None:
    angles = tuple(np.array(POLES[chart]) + [0.0, aside, 0.0])
    R = matrix(chart, angles)
    start = dict(zip(("j_1", "j_2", "j_3", "j_wx", "j_wy", "j_wz"), (*angles, *SPIN), strict=True))
    run = pendula.simulate(compiled(one_body(chart, speeds, start), way), 0.01, samples=2)
    omega = SPIN if speeds == "body" else R.T @ SPIN
    alpha = euler(R, omega)[0]
    found = np.array([run[f"j_w{x}_dot"][0] for x in "xyz"])
    assert np.abs(found - (alpha if speeds == "body" else R @ alpha)).max() < EXACT
    assert off(run, R, omega) < EXACT


@pytest.mark.parametrize("way", ["kane", "lagrange", "maximal"])
@pytest.mark.parametrize("aside", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("chart", ["zxz", "xyz"])
def test_rates_of_angles_as_speeds_give_regular_motion_of_points(chart: str, aside: float, way: str) -> None:
    angles = tuple(np.array(POLES[chart]) + [0.0, aside, 0.0])
    names = ("j_1", "j_2", "j_3", "j_1_dot", "j_2_dot", "j_3_dot")
    start = dict(zip(names, (*angles, *rates(chart, angles, SPIN)), strict=True))
    run = pendula.simulate(compiled(one_body(chart, "rates", start), way), 0.01, samples=2)
    R = matrix(chart, angles)
    assert off(run, R, SPIN) < 1e-6  # rates next to the pole are large, and hold the angular velocity to 1e-16/aside


def test_reactions_at_the_very_pole_are_those_of_the_states_in_quaternions() -> None:
    """A motion that starts at the pole in angles, with a rate along the middle one, which is determined there."""
    start = {"j_1": 0.3, "j_3": 0.2, "j_2_dot": 1.0}
    run = pendula.simulate(one_body("zxz", "rates", start), 0.01, samples=2)
    R = matrix("zxz", (0.3, 0.0, 0.2))
    omega = Rotation.from_euler("Z", 0.2).as_matrix().T @ [1.0, 0.0, 0.0]  # about the middle axis, in body axes
    assert off(run, R, omega) < EXACT


@pytest.mark.parametrize("speeds", ["body", "parent", "rates"])
def test_multipliers_at_a_pole_are_those_of_mathieu_equations(speeds: str) -> None:
    """A body that hangs on a shaken ball joint, tilting about x and about y; turning about z it is free."""
    length, depth, rate = 0.3, 0.05, 12.0
    model = pendula.loads(f"""
        name = "shaken"
        gravity = [0, 0, -9.81]
        [[bodies]]
        name = "b"
        mass = 1.0
        com = [0, 0, {-length}]
        inertia = {np.diag(INERTIA).tolist()}
        [[joints]]
        name = "j"
        type = "spherical"
        parent = {{ body = "ground", position = [0, 0, "{depth}*cos({rate}*t)"] }}
        child = "b"
        orientation = "zxz"
        speeds = "{speeds}"
    """)
    period, expected = 2.0 * np.pi / rate, [1.0, 1.0]
    for about in np.diag(INERTIA)[:2] + length**2:

        def tilt(t: float, y: np.ndarray, about: float = about) -> list[float]:
            return [y[1], -length / about * (9.81 - depth * rate**2 * np.cos(rate * t)) * y[0]]

        ends = [solve_ivp(tilt, (0.0, period), y, rtol=1e-12, atol=1e-13).y[:, -1] for y in np.eye(2)]
        expected += [*np.linalg.eigvals(np.array(ends).T)]
    found = pendula.driven.floquet(model)
    assert np.abs(np.sort_complex(found.multipliers) - np.sort_complex(expected)).max() < 1e-6  # 1, 1 is a double root


def test_a_report_of_an_arm_that_starts_at_a_pole_is_written(tmp_path: object) -> None:
    model = one_body("zxz", "body", {"j_wx": 0.5, "j_wz": 2.0}, carrier=True)
    page = pendula.report(model, f"{tmp_path}/report.html", duration=0.2)
    assert "must be finite" not in page.read_text(encoding="utf-8")
