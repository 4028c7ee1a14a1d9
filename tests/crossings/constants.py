"""Parameters of a mechanism: numbers, numbers and texts of others, or none at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

PARAMETERS: dict[str, Any] = {"g": 9.81, "m": 0.8, "k": 7.0, "c": 0.35, "w": "2*sqrt(k/7)", "a": 0.4}
DERIVED: dict[str, Any] = {**PARAMETERS, "s": 1.0, "m": "0.8*s", "k": "7*sqrt(s)", "c": "0.05*k"}
CHOICES: Mapping[str, tuple[dict[str, float], ...]] = {
    "parameters": ({"k": 9.0, "m": 0.7}, {}),
    "derived": ({"s": 1.2}, {"s": 0.9, "k": 8.0}),
    "none": ({},),
}
"""parameters that a run changes"""
LEAVES = ("python", "c", "fmu", "live page")
"""what goes without its run: parameters that are texts of others follow these there"""
LEFT_ALONE = ("name", "type", "body", "joint", "coordinate", "at", "sequence", "axes", "orientation", "speeds")


def changed(row: Mapping[str, str], rng: np.random.Generator) -> dict[str, float]:
    """Parameters that the run of a row changes."""
    choices = CHOICES[row["constants"]]
    if row["question"] in LEAVES:
        choices = choices[:1]
    return dict(choices[int(rng.random() * len(choices))])


def with_constants(data: dict[str, Any], kind: str) -> dict[str, Any]:
    """The same mechanism with parameters of another kind."""
    if kind == "parameters":
        return data
    if kind == "derived":
        return {**data, "parameters": DERIVED}
    found: dict[str, Any] = _written_out({name: value for name, value in data.items() if name != "parameters"})
    return found


def _written_out(part: Any) -> Any:
    """Texts with numbers in place of parameters."""
    if isinstance(part, dict):
        return {key: value if key in LEFT_ALONE else _written_out(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_written_out(value) for value in part]
    if isinstance(part, str):
        return re.sub(r"\b[a-zA-Z_]\w*\b", lambda found: str(PARAMETERS.get(found[0], found[0])), part)
    return part
