"""What closing joints mean: where their points and axes are, seen from the poses alone, and that accelerations
keep them closed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pendula
from pendula import library
from pendula.model.expressions.expression import parse
from pendula.results import System
from tests.helpers.loops import CLOSING, closed_chain
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array, along_motion, slope, states

pytestmark = pytest.mark.usefixtures("quick_code")

CLOSED = 1e-10
"""States are assembled to gaps of 1e-12; a direction is known a little less well."""


@cache
def _system(kind: str) -> System:
    return pendula.compile_system(closed_chain(kind))


def _sides(system: System, q: Array, t: float) -> tuple[Array, Array, Array, Array, Array]:
    """World point and frame of the parent and of the child side, and the axis in the joint frame."""
    joint = system.model.closures[0]
    values = system.model.parameter_values
    R, r = system.poses(q, t)
    found = []
    for side in (joint.parent, joint.child):
        k = system.layout.bodies.index(side.body) if side.body != "ground" else None
        turn, origin = (np.eye(3), np.zeros(3)) if k is None else (R[k], r[k])
        place = np.array([parse(x).evaluate(values) for x in side.position])
        frame = np.eye(3)
        if side.rotation is not None:
            axis = np.array([parse(x).evaluate(values) for x in side.rotation.axis])
            angle = parse(side.rotation.angle).evaluate(values)
            frame = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
        found += [origin + turn @ place, turn @ frame]
    axis = np.array([parse(x).evaluate(values) for x in getattr(joint, "axis", (1, 0, 0))])
    return found[0], found[1], found[2], found[3], axis / np.linalg.norm(axis)


@pytest.mark.parametrize("kind", CLOSING)
def test_a_closed_loop_is_closed_as_its_joint_says(kind: str) -> None:
    system = _system(kind)
    for t, q, _ in zip(*states(system, 5), strict=True):
        point, frame, other, turned, axis = _sides(system, q, t)
        gap = other - point
        if kind in ("point-on-line", "prismatic"):
            assert np.linalg.norm(np.cross(gap, frame @ axis)) < CLOSED
        else:
            assert np.linalg.norm(gap) < CLOSED
        if kind == "revolute":
            np.testing.assert_allclose(turned @ axis, frame @ axis, atol=CLOSED)
        if kind == "universal":
            x, y = (np.eye(3)["xyz".index(a)] for a in system.model.closures[0].sequence)
            assert abs((frame @ x) @ (turned @ y)) < CLOSED
        if kind in ("fixed", "prismatic"):
            np.testing.assert_allclose(turned, frame, atol=CLOSED)


@pytest.mark.parametrize("kind", CLOSING)
def test_a_closed_loop_leaves_the_freedoms_of_its_joint(kind: str) -> None:
    """Three freedoms of each ball, minus six, plus those of the closing joint."""
    freedoms = {"coincident": 3, "point-on-line": 4, "revolute": 1, "prismatic": 1, "universal": 2, "spherical": 3}
    system = _system(kind)
    t, q, _ = states(system, 1)
    rank = np.linalg.matrix_rank(system.constraint_jacobian(q[0], t[0]), tol=1e-6)
    balls = len(system.model.bodies)
    assert len(system.layout.speeds) == 3 * balls
    assert 3 * balls - rank == 3 * balls - 6 + freedoms.get(kind, 0)


def _driven_slider() -> pendula.Model:
    """A four-bar linkage whose rocker pivot is shaken."""
    joints = list(library.four_bar().joints)
    parent = {"body": "ground", "position": ["d + 0.1*sin(3*t)", "0.05*t", 0]}
    joints[2] = {"name": "rocker", "type": "revolute", "parent": parent, "child": "rocker", "measured_from": "ground"}
    return library.four_bar().with_changes(joints=joints)


@pytest.mark.parametrize("kind", [*CLOSING, "four-bar", "shaken four-bar"])
def test_accelerations_keep_a_loop_closed(kind: str) -> None:
    """The rate of g is G v - b, and the rate of that vanishes with v' = accelerations."""
    if kind == "shaken four-bar":
        system = pendula.compile_system(_driven_slider())
    else:
        system = library_system(kind) if kind == "four-bar" else _system(kind)
    t, q, v = states(system, 4)
    later = along_motion(system, q, v, t)
    m = system.equations.loop_rows

    def gaps(s: float) -> Array:
        q, v, t = later(s)
        return system.gaps(q, v, t)[0][:, :m]

    def rates(s: float) -> Array:
        q, v, t = later(s)
        return system.gaps(q, v, t)[1]

    a = np.abs(system.accelerations(q, v, t)).max()
    np.testing.assert_allclose(slope(gaps), rates(0.0), atol=1e-9)
    np.testing.assert_allclose(slope(rates), 0.0, atol=1e-9 * (1 + a))


@pytest.mark.parametrize("formulation", ["lagrange", "kane", "newton-euler", "maximal", "projection"])
def test_a_moving_ground_point_may_be_either_side_of_a_closing_joint(formulation: str) -> None:
    """The motion is the same, and the force on the child side is the opposite one."""
    moving = {"body": "ground", "position": ["1.3 + 0.1*sin(4*t)", "0.05*t", 0]}
    tip = {"body": "rod", "position": [1.2, 0, 0]}
    bodies = [
        {"name": name, "rod": {"mass": 1, "length": x, "axis": [1, 0, 0]}} for name, x in (("crank", 0.5), ("rod", 1.2))
    ]
    joints = [
        {"name": "c", "type": "revolute", "parent": "ground", "child": "crank"},
        {"name": "r", "type": "revolute", "parent": {"body": "crank", "at": "end"}, "child": "rod"},
    ]
    found = []
    for parent, child in ((moving, tip), (tip, moving)):
        line = {"name": "L", "type": "coincident", "parent": parent, "child": child}
        model = pendula.Model(
            name="shaken", gravity=[0, -9.81, 0], bodies=bodies, joints=[*joints, line], initial={"c": 0.9, "r": -0.3}
        )
        run = pendula.simulate(pendula.compile_system(model, formulation), 0.5, samples=4)
        assert run.ok
        found.append((run.joints[0], pendula.reactions(run)["L"].force, pendula.reactions(run)["r"].force))
    np.testing.assert_allclose(found[1][0], found[0][0], atol=1e-8)
    np.testing.assert_allclose(found[1][1], -found[0][1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1][2], found[0][2], rtol=1e-5, atol=1e-6)
