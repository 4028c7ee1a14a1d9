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
