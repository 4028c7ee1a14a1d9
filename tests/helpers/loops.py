"""Mechanisms with closed loops."""

from __future__ import annotations

from typing import Any

import pendula
from pendula import Model
from tests.helpers.random_mechanisms import PARAMETERS, _Builder

CLOSING = ("coincident", "point-on-line", "revolute", "prismatic", "universal", "spherical", "fixed")

"""Every way to close a loop in space."""


def closed_chain(kind: str) -> Model:
    """Bodies on ball joints, one of them in Euler angles, tied back to ground by a closing joint.

    There are two bodies, or three where two could not move.
    """
    balls = ("spherical", "euler", "spherical")[: 3 if kind == "fixed" else 2]
    builder = _Builder(77, driven=False, closed=False)
    builder.flat = False
    builder.bodies = [builder._solid(f"body {i + 1}") for i in range(len(balls))]
    for i, ball in enumerate(balls):
        parent = "ground" if i == 0 else f"body {i}"
        builder._joint(f"j{i + 1}", ball, builder._side(parent), builder._side(f"body {i + 1}"))
    joints = [{k: x for k, x in j.items() if k != "_free"} for j in builder.joints]
    tree = Model(
        name=f"chain closed by {kind}",
        gravity=[0.5, "-g", 0.3],
        parameters=PARAMETERS,
        bodies=builder.bodies,
        joints=joints,
        initial=builder.initial,
    )
    system = pendula.compile_system(tree)
    poses = system.poses(system.initial_state().q)
    return tree.with_changes(joints=[*tree.joints, builder.closing(kind, system.layout.bodies, *poses, other=-1)])


def spherical_four_bar(**initial: float) -> Model:
    """Four revolute axes through one point, 30, 60, 50 and 70 degrees apart: the crank can turn fully (Grashof)."""

    def side(body: str, degrees: float) -> dict[str, Any]:
        return {"body": body, "rotation": {"axis": [1, 0, 0], "angle": f"{degrees}deg"}}

    bodies = [{"name": name, "mass": 1.0, "com": [0, 0.2, 0.5], "inertia": [0.01, 0.02, 0.02]} for name in "ckr"]
    joints: list[dict[str, Any]] = [
        {"name": "t1", "type": "revolute", "parent": "ground", "child": "c"},
        {"name": "t2", "type": "revolute", "parent": side("c", 30), "child": "k"},
        {"name": "t3", "type": "revolute", "parent": side("k", 60), "child": "r"},
        {"name": "t4", "type": "loop", "kind": "revolute", "parent": side("r", 50), "child": side("ground", -70)},
    ]
    return Model(name="spherical four-bar", gravity=[0, 0, -9.81], bodies=bodies, joints=joints, initial=initial)
