"""Equilibria of closed loops: those of gears lie on their coupling, and no joint is closed the wrong way round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula


def _gear(ratio: float) -> pendula.Model:
    """Two equal pendulums of unit mass and length, geared b = ratio*a, in unit gravity."""
    joints: list[dict[str, Any]] = [
        {"name": "a", "type": "revolute", "parent": "ground", "child": "first"},
        {"name": "b", "type": "revolute", "parent": {"body": "ground", "position": [3, 0, 0]}, "child": "second"},
        {"name": "gear", "type": "coupling", "value": f"b - {ratio}*a"},
    ]
    bodies = [{"name": name, "point": {"mass": 1.0, "at": [0, -1, 0]}} for name in ("first", "second")]
    return pendula.Model(name="gear", gravity=[0, -1, 0], bodies=bodies, joints=joints)


@pytest.mark.parametrize("prove", [None, 10.0])
@pytest.mark.parametrize("ratio", [2.0, -1.0, 0.37])
def test_geared_pendulums_rest_where_the_torques_balance(ratio: float, prove: float | None) -> None:
    """V = -cos a - cos(ratio a); all roots of V' with both angles in the box are found, on the coupling."""
    found = pendula.find_equilibria(_gear(ratio), prove=prove)
    low, high = found.box["a"]
    a = np.linspace(low, high, 400_001)
    a = a[np.abs(ratio * a) <= found.box["b"][1]]
    slope = np.sin(a) + ratio * np.sin(ratio * a)
    expected = a[:-1][(slope[:-1] <= 0) != (slope[1:] <= 0)]
    np.testing.assert_allclose(sorted(one["a"] for one in found), expected, atol=1e-4)
    for one in found:
        assert one["b"] == pytest.approx(ratio * one["a"], abs=1e-12)
    assert found.complete == ("proven" if prove else "indicated")


def test_poses_in_which_a_joint_is_closed_the_wrong_way_round_are_no_equilibria() -> None:
    """A guided weight hangs from a spring; upside down, its guide would be closed in the opposite direction."""
    model = pendula.Model(
        name="guided weight",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "weight", "mass": 1.0, "inertia": [0.02, 0.03, 0.01]}],
        joints=[
            {"name": "f", "type": "free", "parent": "ground", "child": "weight"},
            {"name": "guide", "type": "loop", "kind": "prismatic", "axis": [0, 0, 1], "parent": "ground",
             "child": "weight"},
        ],
        forces=[{"type": "spring", "from": {"body": "ground", "position": [0, 0, 2]}, "to": "weight",
                 "stiffness": 30.0}],
    )  # fmt: skip
    found = pendula.find_equilibria(model)
    heights = sorted(one["f_z"] for one in found)
    np.testing.assert_allclose(heights, [2 - 9.81 / 30], atol=1e-9)
    assert "opposite directions" in found.reason
    assert pendula.simulate(model, 0.1, initial_state=found[0].state).ok


@pytest.mark.parametrize("closing", [{"type": "coincident"}, {"type": "loop", "kind": "revolute"}])
def test_three_parallel_cranks_do_not_rest_when_they_lie_flat(closing: dict[str, str]) -> None:
    """All points of a coupler on parallel cranks move on equal circles: it hangs or stands, like one pendulum.

    With the cranks in line with the coupler the constraints lose rank, and multipliers without bound seem to hold it.
    """
    cranks = ["a", "b", "c"]
    ground = [{"body": "ground", "position": [0.8 * k, 0, 0]} for k in range(3)]
    joints: list[dict[str, Any]] = [
        {"name": f"t{k}", "type": "revolute", "parent": ground[k], "child": crank} for k, crank in enumerate(cranks)
    ]
    joints.append({"name": "tp", "type": "revolute", "parent": {"body": "a", "at": "tip"}, "child": "p"})
    for k, crank in ((1, "b"), (2, "c")):
        place = {"body": "p", "position": [0.8 * k, 0, 0]}
        joints.append({"name": f"L{k}", "parent": {"body": crank, "at": "tip"}, "child": place, **closing})
    bodies: list[dict[str, Any]] = [
        {"name": name, "rod": {"mass": 1 + 0.3 * k, "length": 1}} for k, name in enumerate(cranks)
    ]
    bodies.append({"name": "p", "mass": 2, "com": [0.7, 0.1, 0], "inertia": 0.25})
    model = pendula.Model(name="three cranks", gravity=[0, -9.81, 0], bodies=bodies, joints=joints)
    found = pendula.find_equilibria(model)
    poses = np.array([np.asarray(e.q, dtype=float) for e in found])
    np.testing.assert_allclose(poses, np.outer([0, np.pi], np.ones(4)), atol=1e-9)
    assert [e.unstable_directions for e in found] == [0, 1]
    weight, turning = 9.81 * (3.9 / 2 + 2), 3.9 / 3 + 2  # of the pendulum that the cranks and the coupler form
    frequency = np.abs(np.linalg.eigvals(pendula.linearize(model, found[0]).A))
    np.testing.assert_allclose(frequency, np.sqrt(weight / turning), rtol=1e-9)


def test_what_remains_unbalanced_has_units_of_forces_also_with_angles_in_space() -> None:
    """A body on a ball joint in angles under a slide without a spring: the weight of both, 2 kg, remains."""
    bodies = [{"name": "b", "mass": 1}, {"name": "a", "mass": 1, "com": [0.5, 0.1, -0.3], "inertia": [0.1, 0.2, 0.15]}]
    joints: list[dict[str, Any]] = [
        {"name": "s", "type": "prismatic", "axis": [0, 0, 1], "parent": "ground", "child": "b"},
        {"name": "f", "type": "spherical", "orientation": "zyx", "parent": "b", "child": "a"},
    ]
    model = pendula.Model(name="falling", gravity=[0, 0, -9.81], bodies=bodies, joints=joints)
    found = pendula.find_equilibria(model)
    assert "no equilibrium: at best -19.62 N on s_dot remains" in str(found)
    assert found.units["f_1_dot"] == "N m"
    assert found.units["s"] == "m"
