"""Joints that close loops, and couplings: rows that stay zero, and the wrenches that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.crossings.oracle.charts import AXES
from tests.crossings.oracle.frames import Frame, Vector, cross
from tests.crossings.oracle.jets import Formula, Jet
from tests.crossings.oracle.joints import Lookup, Now, Side
from tests.crossings.oracle.solids import Solid
from tests.crossings.oracle.texts import Array, Values, names_in


def normals(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors that form a right-handed frame with a unit axis."""
    first = cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first = first / float(np.linalg.norm(first))
    return first, cross(axis, first)


class Closure:
    """A closing joint with two sides."""

    def __init__(self, data: Mapping[str, Any], values: Values, solids: Mapping[str, Solid]) -> None:
        self.name, self.type = str(data["name"]), str(data["type"])
        self.parent, self.child = (Side(data[key], values, solids) for key in ("parent", "child"))
        self.same_point, self.along, self.square = self._template(data, values)

    def _template(self, data: Mapping[str, Any], values: Values) -> tuple[bool, list[Array], list[tuple[Array, Array]]]:
        """Whether the points coincide; directions of the parent side without a gap; perpendicular directions."""
        kind = self.type if self.type != "loop" else str(data.get("kind", "revolute"))
        axis = values.direction(data.get("axis", (1, 0, 0) if self.type == "point-on-line" else (0, 0, 1)))
        n1, n2 = normals(axis)
        x, y, z = AXES.values()
        match kind:
            case "coincident" | "spherical":
                return True, [], []
            case "point-on-line":
                return False, [n1, n2], []
            case "revolute":
                return True, [], [(n1, axis), (n2, axis)]
            case "prismatic":
                return False, [n1, n2], [(n1, axis), (n2, axis), (n1, n2)]
            case "universal":
                first, second = (AXES[letter] for letter in data.get("sequence", "xy"))
                return True, [], [(first, second)]
            case "fixed":
                return True, [], [(x, y), (y, z), (z, x)]
        raise ValueError(f"joint {self.name}: kind {kind} is not known")

    def sides(self, frames: Mapping[str, Frame], clock: Mapping[str, Jet]) -> tuple[Frame, Frame]:
        return self.parent.frame(frames, clock), self.child.frame(frames, clock)

    def rows(self, frames: Mapping[str, Frame], clock: Mapping[str, Jet]) -> list[Jet]:
        """Its rows; slopes are their rates by all speeds."""
        parent, child = self.sides(frames, clock)
        gap = _origin(child) - _origin(parent)
        found = [gap.entry(k) for k in range(3)] if self.same_point else []
        found += [gap.dot(parent.along(direction)) for direction in self.along]
        found += [parent.along(a).dot(child.along(b)) for a, b in self.square]
        return found

    def wrenches(self, frames: Mapping[str, Frame], clock: Mapping[str, Jet]) -> Array:
        """Wrenches (force, torque about the child's point) that it transmits, a column each (6, rows)."""
        parent, child = self.sides(frames, clock)
        columns = [np.concatenate([e, np.zeros(3)]) for e in np.eye(3)] if self.same_point else []
        columns += [np.concatenate([parent.R @ d, np.zeros(3)]) for d in self.along]
        # the rate of a . b is (w_child - w_parent) . (b x a)
        columns += [np.concatenate([np.zeros(3), cross(child.R @ b, parent.R @ a)]) for a, b in self.square]
        return np.array(columns).T


def _origin(frame: Frame) -> Vector:
    return Vector(frame.r, frame.v, frame.a, frame.Jr)


class Coupling:
    """An expression of coordinates that stays zero."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.name = str(data["name"])
        self.value = Formula(data["value"])
        self.names = names_in(data["value"])

    def row(self, now: Now) -> Jet:
        return self.value.at(Lookup(now))
