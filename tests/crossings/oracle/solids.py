"""Mass properties and named points of bodies, from docs/model.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.crossings.oracle.texts import Array, Values


class Solid:
    """A rigid body: mass, centre of mass and inertia about it in body axes, and named points."""

    def __init__(self, data: Mapping[str, Any], values: Values) -> None:
        self.name = str(data["name"])
        self.mass, self.com, self.inertia, points = _properties(data, values)
        own = {name: values.vector(place) for name, place in data.get("points", {}).items()}
        self.points = {"origin": np.zeros(3), "com": self.com, "center": self.com} | points | own


def _about(axis: Array, along: float, across: float) -> Array:
    on = np.outer(axis, axis)
    return along * on + across * (np.eye(3) - on)


def _properties(data: Mapping[str, Any], values: Values) -> tuple[float, Array, Array, dict[str, Array]]:
    scalar, vector = values.scalar, values.vector
    if "rod" in data:
        return _rod(data["rod"], values)
    if "point" in data:
        at = data["point"]
        return scalar(at["mass"]), vector(at.get("at", (0, 0, 0))), np.zeros((3, 3)), {}
    if "disc" in data:
        disc = data["disc"]
        m, r, h = scalar(disc["mass"]), scalar(disc["radius"]), scalar(disc.get("thickness", 0))
        inertia = _about(values.direction(disc.get("normal", (0, 0, 1))), m * r**2 / 2, m * (3 * r**2 + h**2) / 12)
        return m, vector(disc.get("at", (0, 0, 0))), inertia, {}
    if "box" in data:
        m, (a, b, c) = scalar(data["box"]["mass"]), vector(data["box"]["size"])
        inertia = m / 12 * np.diag([b**2 + c**2, c**2 + a**2, a**2 + b**2])
        return m, vector(data["box"].get("at", (0, 0, 0))), inertia, {}
    if "sphere" in data:
        m, r = scalar(data["sphere"]["mass"]), scalar(data["sphere"]["radius"])
        return m, vector(data["sphere"].get("at", (0, 0, 0))), 0.4 * m * r**2 * np.eye(3), {}
    return scalar(data["mass"]), vector(data.get("com", (0, 0, 0))), _inertia(data.get("inertia", 0), values), {}


def _inertia(value: Any, values: Values) -> Array:
    if not isinstance(value, (list, tuple)):  # Izz of a flat body
        izz = values.scalar(value)
        return np.diag([izz / 2, izz / 2, izz])
    if isinstance(value[0], (list, tuple)):
        return np.array([[values.scalar(x) for x in row] for row in value])
    return np.diag([values.scalar(x) for x in value])


def _rod(rod: Mapping[str, Any], values: Values) -> tuple[float, Array, Array, dict[str, Array]]:
    m, length, d = (values.scalar(rod.get(key, 0)) for key in ("mass", "length", "diameter"))
    axis = values.direction(rod.get("axis", (0, -1, 0)))
    at = values.scalar(rod["com"]) if "com" in rod else length / 2
    across = m * at * (length - at) / 3 + m * d**2 / 16
    if "com" not in rod:
        across = m * length**2 / 12 + m * d**2 / 16
    if "inertia" in rod:
        across = values.scalar(rod["inertia"])
    ends = dict.fromkeys(("start", "top"), np.zeros(3)) | dict.fromkeys(("end", "bottom", "tip"), axis * length)
    # docs/model.md calls a rod's ``center`` one of its points and says no more; src: the middle, also of a rod whose
    # centre of mass is elsewhere
    return m, axis * at, _about(axis, m * d**2 / 8, across), ends | {"center": axis * (length / 2)}
