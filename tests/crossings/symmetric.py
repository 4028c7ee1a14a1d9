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
        if joint["name"] == "shoulder" and row["closure"] != "loop in space":  # which closes as it was drawn
            joint = {**joint, "parent": {name: x for name, x in joint["parent"].items() if name != "rotation"}}
        joints.append(_straight(joint) if row["orientation"] in FLAT and row["closure"] == "tree" else joint)
    if row["orientation"] in FLAT:
        data = {
            **data,
            "bodies": [{**body, "com": [x * (body["name"] == "arm") for x in body["com"]]} for body in data["bodies"]],
        }
    gravity = [0, 0, 0] if row["orientation"] in FLAT else [0, 0, "-g"]
    forces = [force for force in data["forces"] if _is_within(force, data)]
    return {**data, "joints": joints, "gravity": gravity, "forces": forces}


def _straight(joint: dict[str, Any]) -> dict[str, Any]:
    """All on one line, where a momentum is short enough to be written out."""
    sides = {end: dict(joint[end]) if isinstance(joint[end], dict) else joint[end] for end in ("parent", "child")}
    for side in sides.values():
        if isinstance(side, dict) and "position" in side and side["body"] != "ground":
            side["position"] = [0 if joint["name"] == "shoulder" else side["position"][0], 0, 0]
        elif isinstance(side, dict) and "at" in side:
            del side["at"]
    return {**joint, **sides} | ({"axis": [1, 0, 0]} if joint["type"] == "prismatic" else {})


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
