"""Proofs of completeness from the structure of the mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.model.forces.at_rest import vanishes_at_rest
from pendula.system.layout import Array

MOST_LINKS = 10
"""for longer chains only the equilibrium of least potential is listed"""
ZERO = 1e-9
"""weights below this fraction of the largest are indistinguishable from zero"""


@dataclass(frozen=True)
class Proof:
    """All equilibria, and why there are no others.

    Attributes:
        states: the equilibria.
        reason: the proof in a sentence.
        listed: False if they are too many to list, or some boxes are undecided.
        enclosures: for each equilibrium, bounds of the coordinates on which forces depend; may be empty.
        undecided: boxes that may contain any number of equilibria.
        box: where the proof holds, if that differs from the search domain.
    """

    states: tuple[Array, ...]
    reason: str
    listed: bool = True
    enclosures: tuple[Mapping[str, tuple[float, float]], ...] = ()
    undecided: tuple[Mapping[str, tuple[float, float]], ...] = ()
    box: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def prove_tree(balance: Balance, v: Array, most: int = MOST_LINKS) -> Proof | None:
    """All equilibria of an open tree of planar revolute joints under gravity alone; None for other mechanisms.

    Every mass centre is a sum of arms, each rotated by the absolute angle of one body. So the potential energy is a sum
    of one term a cos(angle) + b sin(angle) for each body's angle, whose weights two poses determine, and each angle
    has two equilibrium positions independently, unless its weight is zero. The joint angles follow one to one. With
    more than ``most`` bodies only the equilibrium of least potential is listed.
    """
    system = balance.system
    n = len(system.layout.speeds)
    if np.any(v) or n == 0 or not _is_pinned_tree(balance):
        return None
    turn, offset = _angles_of_bodies(balance)
    if turn is None:
        return None
    to_joints = np.linalg.inv(turn)

    def weights(angle: Array) -> Array:
        """Generalized forces on the absolute angles of the bodies."""
        q = (angle - offset) @ to_joints.T
        return np.asarray(balance.forces(q) @ to_joints)

    level, upright = weights(np.zeros(n)), weights(np.full(n, math.pi / 2))
    size = np.hypot(level, upright)
    if not np.all(size > ZERO * size.max(initial=0.0)):
        return None  # a balanced body rests at any angle
    # There the moment level cos + upright sin decreases with the angle: it restores.
    least = np.arctan2(-level, upright) + math.pi
    law = (
        f"each of the {n} bodies' angles enters the potential energy in a separate term, a cos + b sin, "
        f"with a nonzero weight, so each has exactly 2 equilibrium positions: 2^{n} equilibria"
    ).replace("each of the 1 bodies' angles", "the body's angle")
    if n > most:
        return Proof(((least - offset) @ to_joints.T,), f"{law}; only that of least potential is listed", listed=False)
    angles = least + math.pi * np.array(list(product((0, 1), repeat=n)))
    return Proof(tuple((angles - offset) @ to_joints.T), law)


def _is_pinned_tree(balance: Balance) -> bool:
    """Whether only gravity acts, on an open tree of revolute (and fixed) joints."""
    model = balance.system.model
    values = balance.system.layout.parameter_values(balance.parameters)
    if model.closures or balance.system.drives or balance.system.balls:
        return False
    if not all(joint.type in ("revolute", "fixed") for joint in model.tree):
        return False
    still = dict.fromkeys(balance.system.layout.speeds, 0.0)
    return all(vanishes_at_rest(action, values | still) for force in model.forces for action in force.actions())


def _angles_of_bodies(balance: Balance) -> tuple[Any, Array]:
    """Absolute angles of the bodies about z as turn @ q + offset; None if bodies rotate about other axes.

    Revolute joints whose axes are parallel to z in one pose are so in every pose, since they turn about each other.
    """
    system = balance.system
    n = len(system.layout.speeds)
    spin = system.body_motion(np.zeros(n), np.eye(n), parameters=balance.parameters).angular_velocity
    rows = np.round(spin[:, :, 2].T)  # (bodies, speeds)
    if np.abs(spin[..., :2]).max() > 1e-12 or np.abs(rows - spin[:, :, 2].T).max() > 1e-12:
        return None, np.zeros(n)
    R = system.poses(np.zeros(n), parameters=balance.parameters)[0]
    if np.abs(R[:, 2, :2]).max() > 1e-12:
        return None, np.zeros(n)
    chosen: dict[tuple[float, ...], int] = {}
    for body, row in enumerate(rows.tolist()):
        if any(row):
            chosen.setdefault(tuple(row), body)
    if len(chosen) != n or abs(abs(np.linalg.det(np.array(list(chosen)))) - 1.0) > 1e-9:
        return None, np.zeros(n)
    bodies = list(chosen.values())
    return np.array(list(chosen)), np.arctan2(R[bodies, 1, 0], R[bodies, 0, 0])
