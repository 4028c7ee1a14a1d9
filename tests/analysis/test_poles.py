"""Equilibria, linear models and verdicts where angles of an orientation are singular: those of the quaternion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pendula
from pendula.analysis.equilibria.equilibrium import equilibrium_at
from pendula.analysis.modes.motion import mode_motion
from pendula.errors import NotAnEquilibrium
from pendula.system.system import System

BODY = {"name": "body", "mass": 1.3, "com": [0, 0, -0.4], "inertia": [0.2, 0.3, 0.1]}
FREQUENCIES = np.sqrt(1.3 * 9.81 * 0.4 / (np.array([0.2, 0.3]) + 1.3 * 0.16))
"""closed form: a compound pendulum about each of its two transverse axes"""


def hanging(formulation: str, **joint: str) -> System:
    ball = {"name": "ball", "type": "spherical", "parent": "ground", "child": "body", **joint}
    model = pendula.Model(name="body", gravity=[0, 0, -9.81], bodies=[BODY], joints=[ball])
    return pendula.compile_system(model, formulation)


@pytest.mark.parametrize("formulation", ["lagrange", "maximal"])
@pytest.mark.parametrize("speeds", ["rates", "body", "parent"])
def test_hanging_body_at_the_pole_of_its_angles(formulation: str, speeds: str) -> None:
    system = hanging(formulation, orientation="zyz", speeds=speeds)
    linear = pendula.linearize(system, {"ball_1": 0.4})
    assert "ball_2 = 0 or 180 deg" in linear.chart
    found = sorted({round(x, 9) for x in pendula.linear.spectrum(linear).values.imag if x > 1e-6})
    np.testing.assert_allclose(found, sorted(FREQUENCIES), rtol=1e-8)
    assert pendula.stability(linear).verdict.startswith("critical: drifts along")
    shown = mode_motion(pendula.modes(linear), 1, frames=9)
    assert len(shown.q) == 9


@pytest.mark.parametrize("speeds", ["rates", "body"])
def test_equilibria_at_both_poles(speeds: str) -> None:
    """Hanging: a minimum; upright: the potential falls in two directions. Both belong to one family, turns about z."""
    system = hanging("kane", orientation="zyz", speeds=speeds)
    for angle, falls in ((0.0, 0), (np.pi, 2)):
        found = equilibrium_at(system, {"ball_2": angle})
        assert found.unstable_directions == falls
        assert len(found.free_directions) == 1
        assert found.nearest_singularity is not None
        assert found.nearest_singularity.distance < 1e-12
        assert pendula.stability(system, {"ball_2": angle}).is_stable is (falls == 0)
    assert sorted(e.unstable_directions for e in pendula.find_equilibria(system)) == [0, 2]


def test_rotation_vector_has_each_pose_once() -> None:
    found = pendula.find_equilibria(hanging("kane", orientation="rotation vector"))
    assert sorted(e.unstable_directions for e in found) == [0, 2]


def test_a_pole_that_hides_a_force_is_refused_by_name() -> None:
    """A rod along x hangs from a ball joint: at theta = 0 it is horizontal, and its weight acts along what is missing."""
    with pytest.raises(NotAnEquilibrium, match=r"theta = 0 or 180 deg.*unbalanced torque of -12.25"):
        equilibrium_at("spatial-rod", {"psi": np.pi / 2})


def test_steady_spin_at_the_pole_agrees_with_the_quaternion() -> None:
    """A symmetric top that spins upright (sleeping top): the same eigenvalues in angles with angular velocities."""
    top = pendula.library.heavy_top()
    ball = {"name": "pivot", "type": "spherical", "parent": "ground", "child": "top"}
    plain = pendula.compile_system(top.with_changes(joints=[ball], initial={}))
    angles = pendula.compile_system(
        top.with_changes(joints=[ball | {"orientation": "zyz", "speeds": "body"}], initial={})
    )
    spin = {"pivot_wz": 60.0}
    expected, found = (pendula.linear.spectrum(s, spin).values for s in (plain, angles))
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(expected), atol=1e-9)


def test_equilibria_by_rotation_vectors_are_listed_once() -> None:
    """Friction belongs to the speeds, so that they are searched in these coordinates; two vectors name each pose."""
    body = {
        "name": "b",
        "mass": 1,
        "com": [0.3, 0.2, 0.1],
        "inertia": [0.1, 0.2, 0.3],
        "points": {"tip": [0, 0.4, 0.1]},
    }
    ball = {"name": "ball", "type": "spherical", "orientation": "rotation vector", "speeds": "parent"}
    spring = {"type": "spring", "stiffness": 5, "length": 0.2}
    ends = {"from": {"body": "ground", "position": [1, 0.3, 0.2]}, "to": {"body": "b", "at": "tip"}}
    model = pendula.Model(
        name="hung",
        gravity=[0, 0, -9.81],
        bodies=[body],
        joints=[{**ball, "parent": "ground", "child": "b"}],
        forces=[{**spring, **ends}, {"type": "friction", "joint": "ball", "coefficient": 0.1}],
    )
    found = pendula.find_equilibria(model, starts=12)
    assert len(found) >= 2
    vectors = np.array([one.q for one in found])
    turns = [Rotation.from_rotvec(q).as_matrix() for q in vectors]
    assert all(np.abs(a - b).max() > 1e-6 for k, a in enumerate(turns) for b in turns[:k])
    assert np.linalg.norm(vectors, axis=1).max() <= np.pi + 1e-9
