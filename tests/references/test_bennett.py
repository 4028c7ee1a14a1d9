"""Bennett's linkage: four revolute joints in space that move although their count forbids it.

G. T. Bennett, "A new mechanism", Engineering 76 (1903) 777-778: opposite links have equal lengths a, b and twists alpha,
beta with a/sin(alpha) = b/sin(beta), and then tan(t1/2) tan(t2/2) = sin((beta + alpha)/2)/sin((beta - alpha)/2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula

ALPHA, BETA, A = np.radians(40.0), np.radians(70.0), 1.0
B = float(A * np.sin(BETA) / np.sin(ALPHA))
RATIO = float(np.sin((BETA + ALPHA) / 2) / np.sin((BETA - ALPHA) / 2))


def _side(body: str, length: float, twist: float) -> dict[str, Any]:
    return {"body": body, "position": [length, 0, 0], "rotation": {"axis": [1, 0, 0], "angle": float(twist)}}


def _bennett(t1: float) -> pendula.Model:
    bodies = [
        {"name": name, "mass": 1, "com": [length / 2, 0, 0], "inertia": [0.01, 0.1, 0.1]}
        for name, length in (("l1", A), ("l2", B), ("l3", A))
    ]
    joints: list[dict[str, Any]] = [
        {"name": "t1", "type": "revolute", "parent": "ground", "child": "l1"},
        {"name": "t2", "type": "revolute", "parent": _side("l1", A, ALPHA), "child": "l2"},
        {"name": "t3", "type": "revolute", "parent": _side("l2", B, BETA), "child": "l3"},
        {"name": "t4", "type": "loop", "kind": "revolute", "parent": _side("l3", A, ALPHA), "child": _side("ground", -B, -BETA)},
    ]  # fmt: skip
    initial = {"t1": t1, "t2": float(2 * np.arctan(RATIO / np.tan(t1 / 2))), "t3": 2 * np.pi - t1, "t1_dot": -1.0}
    return pendula.Model(name="Bennett", gravity=[0, 0, 0], bodies=bodies, joints=joints, initial=initial)


@pytest.mark.parametrize("tol", [1e-8, 1e-10])
@pytest.mark.parametrize("formulation", ["kane", "lagrange", "maximal"])
def test_bennetts_linkage_passes_the_pose_in_which_a_row_of_its_loop_vanishes(formulation: str, tol: float) -> None:
    run = pendula.simulate(pendula.compile_system(_bennett(0.5), formulation), 1.0, tol=tol)
    assert run.ok, run.doubts
    assert run["t1"].min() < -0.4  # at t1 = 0 the links fold into one line
    np.testing.assert_allclose(
        np.sin(run["t1"] / 2) * np.sin(run["t2"] / 2), RATIO * np.cos(run["t1"] / 2) * np.cos(run["t2"] / 2), atol=1e-9
    )
    assert run.energy_drift < 1e-6
