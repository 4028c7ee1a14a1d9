"""Equilibria of bodies on ball joints by quaternion that are called proven: compared with searches written here."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pendula
from pendula import library
from tests.helpers.choices import slow_too

G = 9.81
MASS, HEIGHT = 1.3, 0.5

Spring = tuple[float, float, tuple[float, float, float], tuple[float, float, float]]
"""stiffness, length, anchor on ground, place in body axes"""


def body(*springs: Spring, kind: str = "quaternion", rotation: object = None) -> pendula.Model:
    """A body on a ball joint at the origin, its mass centre below it, with springs to ground."""
    side = {"body": "ground"} | ({"rotation": rotation} if rotation else {})
    forces: list[dict[str, object]] = [
        {
            "type": "spring",
            "from": {"body": "ground", "position": list(anchor)},
            "to": {"body": "b", "position": list(place)},
            "stiffness": stiffness,
            "length": length,
        }
        for stiffness, length, anchor, place in springs
    ]
    return pendula.Model(
        name="body",
        gravity=[0, 0, -G],
        bodies=[{"name": "b", "mass": MASS, "com": [0, 0, -HEIGHT], "inertia": [0.2, 0.3, 0.1]}],
        joints=[{"name": "j", "type": "spherical", "orientation": kind, "parent": side, "child": "b"}],
        forces=forces,
    )


def turned(q: np.ndarray) -> np.ndarray:
    """Rotation matrices of quaternions."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def torque_on(R: np.ndarray, springs: tuple[Spring, ...]) -> np.ndarray:
    """Torque about the pivot, in world axes."""
    arm = R @ np.array([0.0, 0.0, -HEIGHT])
    found = np.cross(arm, np.array([0.0, 0.0, -MASS * G]))
    for stiffness, length, anchor, place in springs:
        at = R @ np.array(place)
        away = np.array(anchor) - at
        size = np.linalg.norm(away, axis=-1, keepdims=True)
        found = found + np.cross(at, stiffness * (1.0 - length / size) * away)
    return found


def small_turn(w: np.ndarray) -> np.ndarray:
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    return turned(np.concatenate([np.cos(angle / 2), w * np.sinc(angle / (2 * np.pi)) / 2], axis=-1))


def by_newton(springs: tuple[Spring, ...], starts: int) -> np.ndarray:
    """Rotation matrices at which torques balance, by Newton's method from random rotations."""
    q = np.random.default_rng(4).normal(size=(starts, 4))
    R = turned(q / np.linalg.norm(q, axis=1, keepdims=True))
    h = 1e-6
    for _ in range(80):
        T = torque_on(R, springs)
        columns = [
            (torque_on(small_turn(h * u) @ R, springs) - torque_on(small_turn(-h * u) @ R, springs)) / (2 * h)
            for u in np.eye(3)
        ]
        J = np.stack(columns, axis=-1)
        step = -np.linalg.lstsq(J[0], T[0], rcond=None)[0][None] if len(R) == 1 else -solved(J, T)
        size = np.linalg.norm(step, axis=1, keepdims=True)
        R = small_turn(step * np.minimum(1.0, 0.5 / np.maximum(size, 1e-12))) @ R
    R = R[np.abs(torque_on(R, springs)).max(axis=1) < 1e-7]
    kept: list[np.ndarray] = []
    for one in R:
        if not any(np.abs(one - other).max() < 1e-4 for other in kept):
            kept.append(one)
    return np.array(kept)


def solved(J: np.ndarray, T: np.ndarray) -> np.ndarray:
    return np.einsum("kij,kj->ki", np.linalg.pinv(J, rcond=1e-9), T)


NO_SYMMETRY: dict[str, tuple[Spring, ...]] = {
    "one": ((20.0, 0.3, (0.7, 0.2, -0.4), (0.3, 0.1, -1.0)),),
    "two": ((20.0, 0.3, (0.7, 0.2, -0.4), (0.3, 0.1, -1.0)), (30.0, 0.3, (-0.7, 0.5, 0.4), (-0.3, 0.2, 0.4))),
    "stiff": ((300.0, 0.5, (0.4, 1.2, 0.4), (0.0, 0.7, 0.5)), (200.0, 0.2, (-0.9, 0.5, 0.4), (-0.3, 0.2, 0.4))),
    "pushing": ((60.0, 2.5, (0.4, 0.9, -0.8), (0.5, 0.2, -0.4)),),
}


@pytest.mark.parametrize("name", slow_too(["one"], ["two", "stiff", "pushing"]))
@pytest.mark.slow
def test_springs_that_leave_no_symmetry(name: str) -> None:
    """As many as 2,000 starts of Newton's method find, at the same rotations, each in its enclosure."""
    springs = NO_SYMMETRY[name]
    found = pendula.find_equilibria(body(*springs), prove=600)
    known = by_newton(springs, 2_000)
    assert found.complete == "proven", found.reason
    assert len(found) == len(known)
    for one in found:
        assert np.abs(turned(np.array(one.q)) - known).max(axis=(1, 2)).min() < 1e-5
        assert one.enclosure is not None
        assert all(low - 1e-13 <= one[n] <= high + 1e-13 for n, (low, high) in one.enclosure.items())
        assert all(high - low < 1e-10 for low, high in one.enclosure.values())


TURNED_BACK = {"axis": [0, 0, 1], "angle": "-35deg"}


@pytest.mark.parametrize("rotation", [None, TURNED_BACK])
@pytest.mark.parametrize(
    ("spring", "tilts"),
    [(None, 2), ((20.0, 0.3, (0, 0, 1.5), (0, 0, -1)), 2), ((40.0, 0.8, (0, 0, -0.7), (0, 0, -1)), 3)],
)
def test_two_symmetries_leave_the_tilt(spring: Spring | None, tilts: int, rotation: object) -> None:
    """The tilt solves m g h sin + (spring) = 0, by changes of sign of the torque on half a turn and at its ends."""
    springs = () if spring is None else (spring,)
    found = pendula.find_equilibria(body(*springs, rotation=rotation), prove=600)
    assert found.complete == "proven", found.reason
    assert "about z and about its own z" in found.reason
    angle = np.linspace(1e-3, math.pi - 1e-3, 20_001)
    q = np.stack([np.cos(angle / 2), np.sin(angle / 2), 0 * angle, 0 * angle], axis=1)
    along = torque_on(turned(q), springs)[:, 0]
    inside = int(np.sum(along[1:] * along[:-1] < 0.0))
    assert len(found) == 2 + inside == tilts


@pytest.mark.parametrize("axis", range(3))
def test_bodies_along_any_axis(axis: int) -> None:
    """Gravity along y; the mass centre lies on any axis of the body."""
    along = [float(k == axis) for k in range(3)]
    model = pendula.Model(
        name="top",
        gravity=[0, -G, 0],
        bodies=[{"name": "b", "mass": 0.7, "com": [0.4 * x for x in along], "inertia": [0.1, 0.1, 0.1]}],
        joints=[{"name": "j", "type": "spherical", "parent": "ground", "child": "b"}],
    )
    found = pendula.find_equilibria(model, prove=600)
    assert (len(found), found.complete) == (2, "proven"), found.reason
    system = pendula.compile_system(model)
    heights = sorted(float((system.poses(one.q)[0][0] @ np.array(along))[1]) for one in found)
    assert heights == pytest.approx([-1.0, 1.0], abs=1e-12)


@pytest.mark.parametrize("axis", range(3))
def test_a_thin_rod_on_a_ball_joint_is_refused(axis: int) -> None:
    """Its spin moves no mass; rounding errors in the mass matrix must not hide that."""
    rod = {"mass": 1.0, "length": 0.8, "axis": [int(k == axis) for k in range(3)]}
    model = pendula.Model(
        name="rod",
        gravity=[0, -G, 0],
        bodies=[{"name": "b", "rod": rod}],
        joints=[{"name": "j", "type": "spherical", "parent": "ground", "child": "b"}],
    )
    with pytest.raises(pendula.errors.ModelError, match=f"j_w{'xyz'[axis]} has no mass"):
        pendula.compile_system(model)


ONE_SYMMETRY: dict[str, tuple[Spring, ...]] = {
    "its own axis": ((20.0, 0.3, (0.7, 0.2, -0.4), (0, 0, -1.0)),),
    "the vertical": ((20.0, 0.3, (0, 0, 1.5), (0.3, 0, -1.0)),),
    "the vertical, stiff": ((90.0, 1.2, (0, 0, -0.9), (0.5, 0.2, -0.6)),),
}


@pytest.mark.parametrize("name", slow_too(["its own axis", "the vertical"], ["the vertical, stiff"]))
def test_one_symmetry_leaves_circles(name: str) -> None:
    """Circles of equilibria are told apart by what the turns do not change; Newton's method finds the same ones."""
    springs = ONE_SYMMETRY[name]
    found = pendula.find_equilibria(body(*springs), prove=600)
    assert found.complete == "proven", found.reason
    known = by_newton(springs, 600)
    kept = (lambda R: R[..., :, 2]) if name == "its own axis" else (lambda R: R[..., 2, :])
    circles = np.unique(np.round(kept(known), 4) + 0.0, axis=0)
    assert len(found) == len(circles)
    for one in found:
        assert np.abs(kept(turned(np.array(one.q))) - circles).max(axis=1).min() < 2e-4


@pytest.mark.parametrize("axes", ["world", "body"])
def test_a_constant_torque_is_not_mistaken_for_a_symmetry(axes: str) -> None:
    """About the vertical it leaves all other torques unchanged as the body turns, but nothing balances it.

    Fixed in the body it is balanced where the mass centre's weight is across it: nowhere about its own axis.
    """
    torque = {"type": "torque", "body": "b", "vector": [0, 0, 0.5], "axes": axes}
    found = pendula.find_equilibria(body().with_changes(forces=[torque]), prove=600)
    assert len(found) == 0
    assert found.complete == "proven", found.reason


@pytest.mark.parametrize("kind", ["xyz", "zxz", "rotation vector"])
def test_other_charts_are_proven_in_quaternions(kind: str) -> None:
    """Also where their angles are singular: the hanging body is a pole of zxz."""
    found = pendula.find_equilibria(body(ONE_SYMMETRY["its own axis"][0], kind=kind), prove=600)
    assert (len(found), found.complete) == (2, "proven"), found.reason
    known = by_newton(ONE_SYMMETRY["its own axis"], 200)
    axes = np.unique(np.round(known[:, :, 2], 4) + 0.0, axis=0)
    system = pendula.compile_system(body(kind=kind))
    for one in found:
        R = system.poses(np.array(one.q))[0][0]
        assert np.abs(R[:, 2] - axes).max(axis=1).min() < 2e-4


def test_a_hinged_arm_on_a_ball_joint() -> None:
    """The vertical is the only symmetry: as many circles as Newton's method finds for pose and hinge together."""
    model = pendula.Model(
        name="arm",
        gravity=[0, 0, -G],
        bodies=[
            {"name": "b", "mass": 1.0, "com": [0.1, 0, -0.5], "inertia": [0.2, 0.3, 0.1]},
            {"name": "c", "mass": 0.5, "com": [0, 0.1, -0.4], "inertia": [0.02, 0.03, 0.01]},
        ],
        joints=[
            {"name": "j", "type": "spherical", "parent": "ground", "child": "b"},
            {
                "name": "h",
                "type": "revolute",
                "axis": [1, 0, 0],
                "parent": {"body": "b", "position": [0, 0, -1]},
                "child": "c",
            },
        ],
    )
    found = pendula.find_equilibria(model, prove=600)
    assert found.complete == "proven", found.reason
    searched = pendula.find_equilibria(model, starts=500)
    assert len(found) == len(searched)


def test_library_tops_are_proven() -> None:
    for name in ("heavy-top", "spatial-rod"):
        found = pendula.find_equilibria(name, prove=600)
        assert (len(found), found.complete) == (2, "proven"), (name, found.reason)
    rod = pendula.find_equilibria(library.spatial_rod(orientation="quaternion"), prove=600)
    assert (len(rod), rod.complete) == (2, "proven"), rod.reason
