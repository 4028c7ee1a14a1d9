"""A four-bar linkage whose last pin is a hinge: of its five rows, three are zero in its plane, or rounding elsewhere."""

from __future__ import annotations

import numpy as np

import pendula
from pendula import library

AXIS = (1.0, 0.32, 0.003)


def leaning_four_bar(angle: float = 0.35) -> pendula.Model:
    """The four-bar of the library, turned about an axis with its gravity: crank and rocker move as they do there."""
    flat = library.four_bar()
    values = flat.parameter_values
    axis = np.array(AXIS) / np.linalg.norm(AXIS)
    K = np.cross(np.eye(3), axis)
    R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    turn = {"axis": list(AXIS), "angle": angle}
    z = {"type": "revolute", "axis": [0, 0, 1]}
    place = [float(x) for x in values["d"] * R[:, 0]]
    joints = [
        {"name": "crank", **z, "parent": {"body": "ground", "rotation": turn}, "child": "crank"},
        {"name": "coupler", **z, "parent": {"body": "crank", "at": "tip"}, "child": "coupler"},
        {"name": "rocker", **z, "parent": {"body": "ground", "position": place, "rotation": turn}, "child": "rocker"},
        {
            "name": "pin",
            "type": "loop",
            "kind": "revolute",
            "parent": {"body": "rocker", "at": "tip"},
            "child": {"body": "coupler", "at": "tip"},
        },
    ]
    start = pendula.compile_system(flat).initial_state()
    initial = {name: start[name] for name in ("crank", "rocker", "crank_dot", "rocker_dot")}
    initial |= {
        f"coupler{end}": start[f"coupler{end}"] - start[f"crank{end}"] for end in ("", "_dot")
    }  # from the crank
    return flat.with_changes(initial=initial, joints=joints, gravity=[float(x) for x in -values["g"] * R[:, 1]])
