"""Inertias of links that no body can have: added to a link that is rigidly connected, which leaves the motion as it is.

Files often give links such as feet, cameras and dummy bases inertias without mass, or principal values that no mass
distribution has. Only the sum over all links that fixed joints connect matters to the motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.exchange.robots.draft import Draft
from pendula.exchange.robots.frames import Array, floats
from pendula.model.checks.physics import principal_values

SLACK = 1e-9
"""relative tolerance of principal values, as in the checks of a model"""
NOISE = 1e-16
"""inertia per mass [m^2] that is rounding error"""


@dataclass(frozen=True)
class Mount:
    """A fixed joint: the link above, and the pose of a link in its axes."""

    above: str
    r: Array
    R: Array


def is_possible(mass: float, inertia: Array) -> bool:
    """Whether some body has this mass and this inertia about its mass centre."""
    largest = float(np.abs(inertia).max())
    if largest == 0.0:
        return mass >= 0.0
    small, middle, large = principal_values((inertia / largest).tolist())
    return mass > 0.0 and small >= -SLACK and small + middle >= large - SLACK


@dataclass
class Lump:
    """Mass, first moment and inertia about the origin of a link."""

    mass: float
    moment: Array
    about: Array

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Lump:
        """The mass properties of a body, given as data."""
        mass, com = float(body["mass"]), np.array(body.get("com", (0.0, 0.0, 0.0)))
        inertia = np.array(body.get("inertia", np.zeros((3, 3))))
        return cls(mass, mass * com, inertia + mass * (com @ com * np.eye(3) - np.outer(com, com)))

    def moved(self, mount: Mount) -> Lump:
        """The same in the axes of the link above."""
        r, m = mount.r, self.mass
        h = mount.R @ self.moment
        turned = mount.R @ self.about @ mount.R.T
        cross = 2 * (r @ h) * np.eye(3) - np.outer(r, h) - np.outer(h, r)
        return Lump(m, h + m * r, turned + cross + m * (r @ r * np.eye(3) - np.outer(r, r)))

    def __add__(self, other: Lump) -> Lump:
        return Lump(self.mass + other.mass, self.moment + other.moment, self.about + other.about)

    def fields(self) -> dict[str, Any]:
        """Fields of a body."""
        com = self.moment / self.mass if self.mass else np.zeros(3)
        inertia = self.about - self.mass * (com @ com * np.eye(3) - np.outer(com, com))
        return {"mass": self.mass, "com": floats(com), "inertia": [floats(row) for row in (inertia + inertia.T) / 2]}


def merge_impossible(draft: Draft, mounts: Mapping[str, Mount]) -> None:
    """Adds impossible inertias to the links above, as long as fixed joints lead there and the sum is impossible.

    ``mounts`` holds the fixed joint of every link that has one, by labels; a link above that is "ground" ends the way.
    What remains impossible is left to the checks of the model.
    """
    bodies = {body["name"]: body for body in draft.bodies}
    added: list[str] = []
    for label, body in bodies.items():
        inertia = np.array(body.get("inertia", np.zeros((3, 3))))
        if np.abs(inertia).max() <= NOISE * abs(float(body["mass"])):
            body.pop("inertia", None)
            continue
        here, lump, path = label, Lump.of(body), [label]
        while not is_possible(float(bodies[here]["mass"]), np.array(bodies[here].get("inertia", np.zeros((3, 3))))):
            mount = mounts.get(here)
            if mount is None:
                break
            bodies[here] |= {"mass": 0, "com": [0.0, 0.0, 0.0]}
            bodies[here].pop("inertia", None)
            added.append(here)
            if mount.above == "ground":
                break
            lump = lump.moved(mount) + Lump.of(bodies[mount.above])
            here = mount.above
            bodies[here] |= lump.fields()
            path.append(here)
    names = list(dict.fromkeys(added))
    draft.note_all("inertias", names, "no body can have them; added to the link that carries them, or to ground")
