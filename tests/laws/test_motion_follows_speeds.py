"""Kinematics: bodies really move as the speeds say, and accelerations are the rates of velocities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula
from pendula import Model
from tests.helpers.mechanisms import VARIANTS, has_ball, library_system
from tests.helpers.numbers import Array, along_motion, slope, states
from tests.helpers.random_mechanisms import random_mechanism

pytestmark = pytest.mark.usefixtures("quick_code")

MOVES = 1e-8
"""Truncation of a difference of order 6 with h = 2e-3 (some 1e-14) and round-off over h (1e-13), with room for
poses that bend fast: quadratic and cubic motions in time of random mechanisms."""

FRAMES = {
    "parent": {"body": "ground", "position": [0.2, -0.3, 0.4], "rotation": {"axis": [1, 2, 3], "angle": 0.7}},
    "child": {"body": "box", "position": [0.1, 0.2, -0.1], "rotation": {"sequence": "xyz", "angles": [0.3, -0.4, 0.5]}},
}

JOINTS: dict[str, dict[str, Any]] = {
    "revolute": {"type": "revolute", "axis": [0.3, -0.5, 0.9]},
    "prismatic": {"type": "prismatic", "axis": [1, 2, -2]},
    "planar": {"type": "planar"},
    "universal": {"type": "universal", "sequence": "yz"},
    "spherical": {"type": "spherical"},
    "spherical zyz": {"type": "spherical", "orientation": "zyz"},
    "spherical xyz": {"type": "spherical", "orientation": "xyz"},
    "free": {"type": "free"},
    "free zxz": {"type": "free", "orientation": "zxz"},
    "helix": {
        "type": "coordinates",
        "coordinates": ["s"],
        "position": ["cos(s)", "sin(s)", "0.3*s"],
        "rotation": {"axis": [0, 1, 1], "angle": "s**2"},
    },
    "moving wire": {"type": "coordinates", "coordinates": ["s"], "position": ["s*cos(2*t)", "s*sin(2*t)", "0.1*s**2"]},
    "driven planar": {"type": "planar", "motion": {"j_x": "0.3*sin(2*t)", "j_angle": "t**2"}},
}


def _with_joint(joint: dict[str, Any]) -> Model:
    return Model(
        name="one joint",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "box", "box": {"mass": 1, "size": [1, 0.6, 0.3], "at": [0.2, 0.1, 0.3]}}],
        joints=[{"name": "j", **FRAMES, **joint}],
        initial={"j_2": 0.9} if "orientation" in joint else {},
    )


def _skew(w: Array) -> Array:
    x, y, z = np.moveaxis(w, -1, 0)
    zero = np.zeros_like(x)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*w.shape, 3)


def _assert_bodies_move_as_speeds_say(system: pendula.results.System, t: Array, q: Array, v: Array) -> None:
    a = system.accelerations(q, v, t)
    motion = system.body_motion(q, v, a, t)
    later = along_motion(system, q, v, t)
    coms = _mass_centres(system)

    def turn(s: float) -> Array:
        q, _, t = later(s)
        return system.poses(q, t)[0]

    def centre(s: float) -> Array:
        q, _, t = later(s)
        R, r = system.poses(q, t)
        return r + np.einsum("...ij,...j->...i", R, coms)

    def velocity(s: float) -> Array:
        q, v, t = later(s)
        found = system.body_motion(q, v, a, t)
        return np.concatenate([found.angular_velocity, found.velocity], axis=-1)

    size = 1.0 + max(float(np.abs(x).max()) for x in motion)
    np.testing.assert_allclose(slope(turn), _skew(motion.angular_velocity) @ turn(0.0), atol=MOVES * size)
    np.testing.assert_allclose(slope(centre), motion.velocity, atol=MOVES * size)
    accelerations = np.concatenate([motion.angular_acceleration, motion.acceleration], axis=-1)
    np.testing.assert_allclose(slope(velocity), accelerations, atol=MOVES * size)


def _mass_centres(system: pendula.results.System) -> Array:
    values, model = system.model.parameter_values, system.model
    from pendula.model.expressions.expression import parse

    coms = [model.body(b).mass_properties().com for b in system.layout.bodies]
    return np.array([[parse(x).evaluate(values) for x in com] for com in coms])


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
def test_body_on_one_joint_moves_as_its_speeds_say(joint: dict[str, Any]) -> None:
    system = pendula.compile_system(_with_joint(joint))
    _assert_bodies_move_as_speeds_say(system, *states(system, 8))


@pytest.mark.parametrize("name", ["chain: relative", "hoop-bead", "four-bar", "spatial-rod", "heavy-top", "free-body"])
def test_bodies_of_library_mechanism_move_as_their_speeds_say(name: str) -> None:
    system = library_system(name)
    _assert_bodies_move_as_speeds_say(system, *states(system, 8))


@pytest.mark.parametrize("seed", range(3000, 3006))
def test_bodies_of_random_mechanism_move_as_their_speeds_say(seed: int) -> None:
    system = pendula.compile_system(random_mechanism(seed))
    _assert_bodies_move_as_speeds_say(system, *states(system, 4))


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
def test_rotation_matrices_are_proper_rotations(joint: dict[str, Any]) -> None:
    system = pendula.compile_system(_with_joint(joint))
    t, q, _ = states(system, 8)
    R = system.poses(q, t)[0]
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(R), 1.0, rtol=1e-13)


@pytest.mark.parametrize("name", [n for n in VARIANTS if has_ball(n)])
def test_rates_of_a_quaternion_keep_its_length(name: str) -> None:
    system = library_system(name)
    _, q, v = states(system, 20)
    rates = system.rates(q, v)
    for at, _ in system.balls:
        np.testing.assert_allclose(np.sum(q[:, at : at + 4] * rates[:, at : at + 4], axis=1), 0.0, atol=1e-15)


@pytest.mark.parametrize("angle", [0.4, -1.9])
@pytest.mark.parametrize(
    ("axis", "body", "world"), [([1, 0, 0], "y", "z"), ([0, 1, 0], "z", "x"), ([0, 0, 1], "x", "y")]
)
def test_a_positive_angle_turns_by_the_right_hand_rule(axis: list[int], body: str, world: str, angle: float) -> None:
    """A turn about x takes the body's y axis towards the world's z axis, and so on around."""
    joint = {"name": "j", "type": "revolute", "axis": axis, "parent": "ground", "child": "box"}
    system = pendula.compile_system(_with_joint({"type": "revolute"}).with_changes(joints=[joint]))
    R = system.poses([angle])[0][0]
    assert R["xyz".index(world), "xyz".index(body)] == pytest.approx(np.sin(angle))
    assert R["xyz".index(body), "xyz".index(body)] == pytest.approx(np.cos(angle))


def test_frames_coincide_at_the_zero_pose() -> None:
    """With frames on both sides: R_WB R_child = R_parent, and both points are one."""
    from scipy.spatial.transform import Rotation

    system = pendula.compile_system(_with_joint({"type": "revolute"}))
    R, r = system.poses([0.0])
    parent = Rotation.from_rotvec(0.7 * np.array([1, 2, 3]) / np.sqrt(14)).as_matrix()
    child = Rotation.from_euler("XYZ", [0.3, -0.4, 0.5]).as_matrix()
    np.testing.assert_allclose(R[0] @ child, parent, atol=1e-15)
    np.testing.assert_allclose(r[0] + R[0] @ [0.1, 0.2, -0.1], [0.2, -0.3, 0.4], atol=1e-15)


def test_absolute_angle_is_the_angle_of_the_body_whatever_its_parent_does() -> None:
    system = library_system("chain: lists")
    R, _ = system.poses([0.3, -1.1, 2.0])
    np.testing.assert_allclose(np.arctan2(R[:, 1, 0], R[:, 0, 0]), [0.3, -1.1, 2.0], rtol=1e-14)


def test_relative_angle_adds_up_along_the_chain() -> None:
    system = library_system("chain: point, relative")
    R, _ = system.poses([0.3, -0.4, 0.6])
    np.testing.assert_allclose(np.arctan2(R[:, 1, 0], R[:, 0, 0]), [0.3, -0.1, 0.5], rtol=1e-14)
