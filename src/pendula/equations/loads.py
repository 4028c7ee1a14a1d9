"""The forces of a model, reduced to a few primitive loads that each formulation treats in its own way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se

from pendula.equations import vectors as vec
from pendula.equations.mechanism import WORLD, Mechanism, Turn
from pendula.equations.tape import Expr, is_zero
from pendula.errors import ModelError, Problem
from pendula.model.forces import (
    ForceComFriction,
    ForceDamper,
    ForceFriction,
    ForceGeneralized,
    ForceLoad,
    ForceSpinDrive,
    ForceSpring,
    ForceTorque,
    ForceTorsionSpring,
)
from pendula.model.joints import TreeJoint


@dataclass(frozen=True)
class SpringBetween:
    """A spring and damper between two points, each (body, place in body axes)."""

    start: tuple[str, tuple[Expr, ...]]
    end: tuple[str, tuple[Expr, ...]]
    stiffness: Expr
    damping: Expr
    length: Expr


@dataclass(frozen=True)
class SpringAcross:
    """A spring and damper on one coordinate of a joint, seen from the joint's parent side."""

    link: int
    coordinate: Any
    stretch: Expr
    stiffness: Expr
    damping: Expr
    rest: Expr


@dataclass(frozen=True)
class BallFriction:
    """Torque -coefficient omega in a ball joint; ``speeds`` are the indices of its angular speeds among the joints'."""

    speeds: tuple[int, int, int]
    coefficient: Expr


@dataclass(frozen=True)
class ForceAt:
    """A force at a point of a body."""

    body: str
    place: tuple[Expr, ...]
    vector: tuple[Expr, ...]
    axes: str


@dataclass(frozen=True)
class TorqueOn:
    """A torque on a body."""

    body: str
    vector: tuple[Expr, ...]
    axes: str


@dataclass(frozen=True)
class SpinForce:
    """A force coefficient * omega x e at a point of a body, e the unit vector from its origin to ``toward``."""

    body: str
    place: tuple[Expr, ...]
    direction: tuple[Expr, ...]
    coefficient: Expr
    dissipative: bool


@dataclass(frozen=True)
class OnCoordinate:
    """An expression that acts on one generalized speed (index among the joints' rates)."""

    rate: int
    value: Expr


Load = SpringBetween | SpringAcross | BallFriction | ForceAt | TorqueOn | SpinForce | OnCoordinate


def collect_loads(mechanism: Mechanism) -> list[Load]:
    """All loads of the model but gravity."""
    loads: list[Load] = []
    for number, force in enumerate(mechanism.model.forces):
        loads += _loads_of(mechanism, force, f"force{number + 1}")
    return loads


def torque_in_joint(mechanism: Mechanism, loads: Sequence[Load], k: int, rate: Callable[[Expr], Expr]) -> Expr:
    """Torque about z of the springs and dampers in a revolute joint of the plane, on its child.

    Through a joint whose angle is measured from ground nothing else goes about z: what drives such an angle acts
    from ground on the body.
    """
    turn = mechanism.links[k].absolute_turn
    assert turn is not None
    sense = turn.axis[2]
    terms = []
    for load in loads:
        if isinstance(load, SpringAcross) and load.link == k:
            terms.append(-sense * load.stiffness * (load.stretch - load.rest))
            terms.append(-sense * load.damping * rate(se.sympify(load.stretch)))
    return vec.total(terms)


def from_ground(joint: TreeJoint) -> bool:
    """Whether a joint's angle is measured from ground, so that what drives it acts from there."""
    return joint.absolute_turn() is not None


def potential_energy(mechanism: Mechanism, loads: list[Load]) -> Expr:
    """Energy of gravity and of the springs, from positions alone."""
    gravity = mechanism.constants_of(mechanism.model.gravity)
    terms = [-link.mass * vec.dot(gravity, mechanism.point(link.body, link.com)) for link in mechanism.links]
    for load in loads:
        if isinstance(load, SpringAcross):
            terms.append(load.stiffness * (load.stretch - load.rest) ** 2 / 2)
        elif isinstance(load, SpringBetween) and not is_zero(load.stiffness):
            gap = vec.subtract(mechanism.point(*load.end), mechanism.point(*load.start))
            terms.append(load.stiffness * (se.sqrt(vec.dot(gap, gap)) - load.length) ** 2 / 2)
    return vec.total(terms)


def _loads_of(mechanism: Mechanism, force: Any, owner: str) -> list[Load]:
    constant, general = mechanism.constant, mechanism.general
    match force:
        case ForceTorsionSpring():
            return [_across(mechanism, force, force.stiffness, force.damping, force.rest)]
        case ForceSpring() | ForceDamper():
            stiffness = getattr(force, "stiffness", 0)
            length = getattr(force, "length", 0)
            if force.joint is not None:
                return [_across(mechanism, force, stiffness, force.damping, length)]
            ends = [
                (s.body, mechanism.place(s, f"{owner}_{k}")) for k, s in (("from", force.start), ("to", force.end)) if s
            ]
            return [SpringBetween(ends[0], ends[1], constant(stiffness), general(force.damping), constant(length))]
        case ForceFriction():
            return _friction(mechanism, force)
        case ForceComFriction():
            place = mechanism.links[mechanism.index[force.body]].com
            return [
                SpinForce(force.body, place, _unit(mechanism, force.body, place), -general(force.coefficient), True)
            ]
        case ForceSpinDrive():
            place = _place(mechanism, force)
            if all(is_zero(x) for x in place):
                place_error = f'the point is the origin of "{force.body}", so it has no theta_hat'
                raise ModelError(
                    [Problem(f"force {owner}", "at", place_error, 'name another point, such as at = "tip"')]
                )
            return [
                SpinForce(force.body, place, _unit(mechanism, force.body, place), general(force.coefficient), False)
            ]
        case ForceLoad():
            return [ForceAt(force.body, _place(mechanism, force), tuple(general(x) for x in force.vector), force.axes)]
        case ForceTorque():
            return [TorqueOn(force.body, tuple(general(x) for x in force.vector), force.axes)]
        case ForceGeneralized():
            names = [str(r) for r in mechanism.joint_rates]
            name = force.coordinate if force.coordinate in names else f"{force.coordinate}_dot"
            if name not in names:
                cause = f'"{force.coordinate}" is part of a quaternion'
                raise ModelError(
                    [Problem(f"force {owner}", "coordinate", cause, "name one of the joint's angular speeds")]
                )
            return [OnCoordinate(names.index(name), general(force.value))]
    raise TypeError(f"no load for {force!r}")


def _place(mechanism: Mechanism, force: Any) -> tuple[Expr, ...]:
    if force.position is not None:
        return mechanism.constants_of(force.position)
    if force.at is not None:
        return mechanism.constants_of(mechanism.model.body(force.body).named_points()[force.at])
    if isinstance(force, ForceSpinDrive):
        return mechanism.links[mechanism.index[force.body]].com
    return (0, 0, 0)


def _unit(mechanism: Mechanism, body: str, place: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Unit vector from a body's origin toward a place; along a rod, whose length is positive, it is exact."""
    alive = [k for k, x in enumerate(place) if not is_zero(x)]
    if len(alive) == 1 and mechanism.model.body(body).rod is not None:
        number = float(se.sympify(place[alive[0]]).subs(mechanism.model.parameter_values))
        return tuple((1 if number > 0 else -1) if k == alive[0] else 0 for k in range(3))
    length = se.sqrt(se.Add(*[x**2 for x in place]))
    return tuple(0 if is_zero(x) else x / length for x in place)


def _across(mechanism: Mechanism, force: Any, stiffness: Any, damping: Any, rest: Any) -> SpringAcross:
    joint = mechanism.model.joint(force.joint)
    choices = [c.name for c in joint.coordinates() if c.kind != "quaternion"]
    return _on_coordinate(mechanism, joint, force.coordinate or choices[0], stiffness, damping, rest)


def _on_coordinate(
    mechanism: Mechanism, joint: TreeJoint, name: str, stiffness: Any, damping: Any, rest: Any
) -> SpringAcross:
    k = mechanism.index[joint.child.body]
    coordinate = se.Symbol(name)
    stretch: Expr = coordinate
    if from_ground(joint):
        link = mechanism.links[k]
        parent = mechanism.poses[link.parent] if link.parent >= 0 else WORLD
        turn = mechanism.relative_motion(k, mechanism.follow(parent, link.before, link.body))[0]
        assert isinstance(turn, Turn)
        stretch = turn.angle
    read = mechanism.constant
    return SpringAcross(k, coordinate, stretch, read(stiffness), mechanism.general(damping), read(rest))


def _friction(mechanism: Mechanism, force: ForceFriction) -> list[Load]:
    joint = mechanism.model.joint(force.joint)
    loads: list[Load] = []
    for coordinate in joint.coordinates():
        if coordinate.kind != "quaternion":
            loads.append(_on_coordinate(mechanism, joint, coordinate.name, 0, force.coefficient, 0))
    if joint.quaternion():
        speeds = [s.name for s in mechanism.model.speeds]
        a, b, c = (speeds.index(s.name) for s in joint.speeds()[-3:])
        loads.append(BallFriction((a, b, c), mechanism.general(force.coefficient)))
    return loads
