"""Mechanisms that keep momenta: nothing pulls at them from ground, and gravity acts along the axis about which they turn."""

from __future__ import annotations

from typing import Any

from tests.crossings.factors import FLAT, Row
from tests.crossings.oracle.texts import names_in

WITHIN = ("hinge", "slide", "tail")
"""joints between bodies"""


def symmetric(row: Row, data: dict[str, Any]) -> dict[str, Any]:
    """The mechanism of a row, without what breaks its symmetry if it is asked for integrals of motion."""
    if row["question"] != "integrals":
        return data
    joints = []
    for joint in data["joints"]:
        if joint["name"] == "shoulder":
            joint = {**joint, "parent": {name: x for name, x in joint["parent"].items() if name != "rotation"}}
        joints.append(joint)
    gravity = [0, 0, 0] if row["orientation"] in FLAT else [0, 0, "-g"]
    forces = [force for force in data["forces"] if _is_within(force, data)]
    return {**data, "joints": joints, "gravity": gravity, "forces": forces}


def _is_within(force: dict[str, Any], data: dict[str, Any]) -> bool:
    """Whether a force acts between bodies, and depends on their relative motion only."""
    if "from" in force:
        return all(force[end]["body"] != "ground" for end in ("from", "to"))
    if "joint" in force:
        return force["joint"] != "shoulder"
    if force["type"] != "generalized" or force["coordinate"] not in WITHIN:
        return False
    known = {*data["parameters"], *data.get("inputs", {}), "t", *WITHIN, *(f"{name}_dot" for name in WITHIN)}
    return names_in(force["value"]) <= known
