"""Cases in which all equilibria are known, with proof."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.domain import Domain
from pendula.analysis.equilibria.equations_at_rest import numbers_at_rest, refuse_time
from pendula.analysis.equilibria.intervals import Interval, Jet, Undecidable, evaluate
from pendula.analysis.equilibria.roots import Roots, isolate_roots
from pendula.equations.at_rest import forces_at_rest
from pendula.model.expressions.expression import parse
from pendula.model.forces import ForceTorsionSpring
from pendula.system.layout import Array
from pendula.system.system import System

MOST_LINKS = 10
"""longer chains have more equilibria than anyone reads; only that of least potential is given"""
ZERO = 1e-9
"""weights below this share of the largest are indistinguishable from zero"""


@dataclass(frozen=True)
class Proof:
    """All equilibria there are, and why there are no others.

    Attributes:
        states: the equilibria.
        reason: in a sentence.
        listed: False where they are too many to list, or some places are undecided.
        enclosures: bounds of every coordinate of each that forces depend on; empty if there are none.
        undecided: boxes that may hold any number of equilibria.
        box: where the proof holds, where that is not the domain of the search.
    """

    states: tuple[Array, ...]
    reason: str
    listed: bool = True
    enclosures: tuple[Mapping[str, tuple[float, float]], ...] = ()
    undecided: tuple[Mapping[str, tuple[float, float]], ...] = ()
    box: Mapping[str, tuple[float, float]] = field(default_factory=dict)


# -- open chains and trees of pinned bodies under gravity ---------------------------------------------


def prove_tree(balance: Balance, v: Array, most: int = MOST_LINKS) -> Proof | None:
    """All equilibria of pinned bodies in the plane under gravity alone; None where this is something else.

    Every mass centre is a sum of arms, each turned by the angle of one body. So the potential energy is a sum of one
    term a cos(angle) + b sin(angle) for every body's angle from a fixed direction, and each angle has two positions of
    rest on its own, unless its weight is zero. The angles of the joints follow one to one. With more than ``most``
    bodies only the equilibrium of least potential is given.
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
        """Moments that act on the angles of the bodies, when these are as given."""
        q = (angle - offset) @ to_joints.T
        return np.asarray(balance.forces(q) @ to_joints)

    level, upright = weights(np.zeros(n)), weights(np.full(n, math.pi / 2))
    size = np.hypot(level, upright)
    probes = np.random.default_rng(0).uniform(-3, 3, size=(6, n))
    expected = level * np.cos(probes) + upright * np.sin(probes)
    if np.abs(weights(probes) - expected).max() > ZERO * max(size.max(), 1e-300):
        return None
    if not np.all(size > ZERO * size.max(initial=0.0)):
        return None  # a balanced body may rest at any angle
    # The moment level cos + upright sin falls with the angle there, so that it pulls back.
    least = np.arctan2(-level, upright) + math.pi
    law = (
        f"each of the {n} bodies' angles enters the potential energy in a separate term, a cos + b sin, "
        f"with a nonzero weight, so each has exactly 2 equilibrium positions: 2^{n} equilibria"
    ).replace("each of the 1 bodies' angles", "the body's angle")
    if n > most:
        return Proof(((least - offset) @ to_joints.T,), f"{law}; only that of least potential is listed", listed=False)
    angles = least + math.pi * np.array(list(product((0, 1), repeat=n)))
    return Proof(tuple((angles - offset) @ to_joints.T), law)


_NOTHING_AT_REST = ("friction", "com-friction", "spin-drive", "damper")
"""types of forces that vanish at rest"""


def _is_pinned_tree(balance: Balance) -> bool:
    """Whether nothing but gravity acts on bodies that are joined by pins (or fixed to each other) in an open tree."""
    model = balance.system.model
    values = balance.system.layout.parameter_values(balance.parameters)
    if model.closures or balance.system.drives or balance.system.balls:
        return False
    if not all(joint.type in ("revolute", "fixed") for joint in model.tree):
        return False
    for force in model.forces:
        if isinstance(force, ForceTorsionSpring) and force.type == "torsion-spring":
            if parse(force.stiffness).evaluate(values) != 0.0:
                return False
        elif force.type not in _NOTHING_AT_REST:
            return False
    return True


def _angles_of_bodies(balance: Balance) -> tuple[Any, Array]:
    """Angles of the bodies about z as turn @ q + offset; None where bodies turn about other axes."""
    system = balance.system
    n = len(system.layout.speeds)
    rng = np.random.default_rng(1)
    q = np.concatenate([np.zeros((1, n)), rng.uniform(-2, 2, size=(2, n))])
    spin = np.array([system.body_motion(x, np.eye(n), parameters=balance.parameters).angular_velocity for x in q])
    if np.abs(spin[..., :2]).max() > 1e-12 or np.abs(spin - spin[0]).max() > 1e-12:
        return None, np.zeros(n)
    rows = np.round(spin[0, :, :, 2].T)  # (bodies, speeds)
    if np.abs(rows - spin[0, :, :, 2].T).max() > 1e-12:
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


# -- one coordinate ------------------------------------------------------------------------------------


def prove_one(balance: Balance, v: Array, domain: Domain) -> Proof | str | None:
    """All equilibria where a single force depends on a single coordinate.

    Returns the proof, a sentence that says why it failed, or None where the case is another.
    """
    system = balance.system
    if system.loop_rows or system.balls or len(system.layout.speeds) > 4:
        return None
    numbers = numbers_at_rest(balance, v)
    rows = forces_at_rest(system.equations, [s for s, x in numbers.items() if x == 0.0])
    names = {symbol: i for i, symbol in enumerate(system.equations.q)}
    used = [sorted(names[s] for s in row.free_symbols if s in names) for row in rows]
    acting = [k for k, row in enumerate(rows) if row != 0]
    known = {s: Jet.constant(x) for s, x in numbers.items()}
    try:
        refuse_time(balance, rows)
        for k in acting:
            value = evaluate(rows[k], known).value if not used[k] else None
            if value is not None and bool(value.excludes_zero):
                return Proof((), f'the force on "{system.layout.speeds[k]}" is nonzero and depends on no coordinate')
        depends = [k for k in acting if used[k]]
        if len(acting) != len(depends) or len(depends) != 1 or len(used[depends[0]]) != 1:
            return None
        return _roots_of(rows[depends[0]], used[depends[0]][0], system, known, domain)
    except Undecidable as reason:
        return f"there are no bounds for {reason}"


def _roots_of(row: Any, i: int, system: System, known: dict[Any, Jet], domain: Domain) -> Proof | str:
    symbol = system.equations.q[i]

    def bounds(x: Interval) -> Jet:
        return evaluate(row, {**known, symbol: Jet(x, Interval.at(1.0))})

    circle = bool(domain.circles[i])
    ends = (
        [(-math.pi - cut, math.pi - cut) for cut in (0.1234, 0.777, 1.8)] if circle else [(domain.lo[i], domain.hi[i])]
    )
    found = Roots((), ())
    for lo, hi in ends:
        found = isolate_roots(bounds, float(lo), float(hi))
        if not found.undecided:
            break
    name = system.layout.coordinates[i]
    if found.undecided:
        lo, hi = found.undecided[0]
        return (
            f"bounds do not decide how many there are near {name} = {(lo + hi) / 2:.6g}, where the force nearly has a "
            "multiple root"
        )
    states = np.zeros((len(found.found), len(domain.names)))
    states[:, i] = found.found
    where = "the circle" if circle else f"the box, {ends[0][0]:.6g} to {ends[0][1]:.6g} {system.layout.units[name]}"
    reason = (
        f"by interval arithmetic: the force depends on {name} alone, and {where} was cut into pieces on each of "
        "which it has no root, or is monotone and changes sign"
    )
    return Proof(tuple(states), reason)
