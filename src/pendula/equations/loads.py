"""The forces of a model as a few primitive loads; each formulation derives their generalized forces in its own way.

The type of force (:mod:`pendula.model.forces`) supplies the force law. Formulations ask a load for its force or its
potential and contain no law themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, assert_never

import symengine as se

from pendula.equations import refusals
from pendula.equations import vectors as vec
from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.mechanism.parts import WORLD, Turn
from pendula.equations.tape import Expr, Tape, is_zero
from pendula.equations.translate import translate
from pendula.errors import ModelError, NotSupported, Problem
from pendula.model.expressions.expression import parse
from pendula.model.forces import actions as ac
from pendula.model.forces.law import Law
from pendula.model.joints import TreeJoint

_X, _RATE = se.Symbol("x__law"), se.Symbol("rate__law")


class Straight(NamedTuple):
    """A linear force law: the force is stiffness * (x - length) + damping * rate."""

    stiffness: Expr
    length: Expr
    damping: Expr


@dataclass(frozen=True, eq=False)
class Pull:
    """A force law with symbols for the values of its fields; the force is positive in tension."""

    law: Law
    fields: Mapping[str, Expr]

    def elastic(self, x: Expr) -> Expr:
        """The part of the force that has a potential."""
        return self._read(self.law.elastic, x=x)

    def potential(self, x: Expr) -> Expr:
        """The potential of the elastic part."""
        return self._read(self.law.potential, x=x)

    def drag(self, x: Expr, rate: Expr) -> Expr:
        """The part of the force that has no potential."""
        return self._read(self.law.drag, x=x, rate=rate)

    def _read(self, text: str, **measured: Expr) -> Expr:
        return translate(parse(text), {**self.fields, **measured})

    @cached_property
    def is_elastic(self) -> bool:
        """Whether a part of the force has a potential."""
        return not is_zero(self.elastic(_X)) or not is_zero(self.potential(_X))

    @cached_property
    def has_drag(self) -> bool:
        """Whether a part of the force has no potential."""
        return not is_zero(self.drag(_X, _RATE))

    @cached_property
    def straight(self) -> Straight | None:
        """Stiffness, free length and damping of a linear law; None for all others."""
        elastic, drag = se.sympify(self.elastic(_X)), se.sympify(self.drag(_X, _RATE))
        stiffness, damping = elastic.diff(_X), drag.diff(_RATE)
        if _X in stiffness.free_symbols or {_X, _RATE} & damping.free_symbols or not is_zero(self.drag(_X, 0)):
            return None
        slack = (0, *(self.fields[name] for name in sorted(self.law.fixed_fields)))
        length = next((x for x in slack if is_zero(self.elastic(x))), None)
        return None if length is None else Straight(stiffness, length, damping)


@dataclass(frozen=True)
class _Load:
    force: int = field(default=-1, kw_only=True)
    """number of the force in the model, from 0"""


@dataclass(frozen=True)
class Between(_Load):
    """A force along the line between two points, each (body, position in body axes)."""

    start: tuple[str, tuple[Expr, ...]]
    end: tuple[str, tuple[Expr, ...]]
    pull: Pull

    def needs_distance(self) -> bool:
        """Whether the elastic part needs the distance, and not only its square."""
        return self.pull.straight is None or not is_zero(self.pull.straight.length)

    def shares(self, square: Expr, distance: Callable[[], Expr], opening: Callable[[], Expr]) -> dict[str, Expr]:
        """The force divided by the distance, by part; times the gap vector it is the force on the start.

        Args:
            square: of the distance.
            distance: returns the distance as a named intermediate.
            opening: returns the scalar product of the gap with its rate, that is distance times rate.
        """
        found: dict[str, Expr] = {}
        line = self.pull.straight
        if self.pull.is_elastic:
            if line is not None:
                found["springs"] = line.stiffness * (1 if is_zero(line.length) else 1 - line.length / distance())
            else:
                found["springs"] = self.pull.elastic(distance()) / distance()
        if self.pull.has_drag:
            if line is not None:
                found["dissipation"] = line.damping * opening() / square
            else:
                found["dissipation"] = self.pull.drag(distance(), opening() / distance()) / distance()
        return found


@dataclass(frozen=True)
class Across(_Load):
    """A force or torque along one coordinate of a joint, relative to its parent side."""

    link: int
    coordinate: Any
    stretch: Expr
    """the coordinate relative to the joint's parent side"""
    pull: Pull

    def measured(self, tape: Tape) -> Expr:
        """The stretch; as a named intermediate if the law is nonlinear."""
        return self.stretch if self.pull.straight is not None else tape.name(se.sympify(self.stretch), "x__joint")


@dataclass(frozen=True)
class BallFriction(_Load):
    """Torque -coefficient omega in a ball joint; ``speeds`` are the indices of its angular speeds."""

    speeds: tuple[int, int, int]
    coefficient: Expr


@dataclass(frozen=True)
class ForceAt(_Load):
    """A force at a point of a body."""

    body: str
    place: tuple[Expr, ...]
    vector: tuple[Expr, ...]
    axes: str


@dataclass(frozen=True)
class TorqueOn(_Load):
    """A torque on a body."""

    body: str
    vector: tuple[Expr, ...]
    axes: str


@dataclass(frozen=True)
class SpinForce(_Load):
    """A force coefficient * omega x ``direction``, the unit vector from the body's origin to the point of action."""

    body: str
    place: tuple[Expr, ...]
    direction: tuple[Expr, ...]
    coefficient: Expr
    dissipative: bool


@dataclass(frozen=True)
class OnCoordinate(_Load):
    """A generalized force on one speed (index among the joints' rates)."""

    rate: int
    value: Expr


Load = Between | Across | BallFriction | ForceAt | TorqueOn | SpinForce | OnCoordinate


def collect_loads(mechanism: Mechanism) -> list[Load]:
    """All loads of the model except gravity.

    Raises:
        NotSupported: a type of force does not state where it acts, or its law has no meaning there.
    """
    loads: list[Load] = []
    for number, force in enumerate(mechanism.model.forces):
        for action in force.actions():
            loads += [replace(load, force=number) for load in _loads_of(mechanism, action, f"force{number + 1}")]
    return loads


def torque_in_joint(mechanism: Mechanism, loads: Sequence[Load], k: int, rate: Callable[[Expr], Expr]) -> Expr:
    """Torque about z of the springs and dampers in a planar revolute joint, on its child.

    A joint whose angle is measured from ground transmits no other torque about z: the drive torque of such an angle
    acts from ground on the body.
    """
    turn = mechanism.links[k].absolute_turn
    assert turn is not None
    sense = turn.axis[2]
    terms = []
    for load in loads:
        if isinstance(load, Across) and load.link == k:
            x = load.measured(mechanism.tape)
            terms.append(-sense * load.pull.elastic(x))
            terms.append(-sense * load.pull.drag(x, rate(se.sympify(x))))
    return vec.total(terms)


def from_ground(joint: TreeJoint) -> bool:
    """Whether a joint's angle is measured from ground, so that its drive torque acts from ground."""
    return joint.absolute_turn() is not None


def potential_energy(mechanism: Mechanism, loads: list[Load]) -> Expr:
    """Potential energy of gravity and of the springs."""
    gravity = mechanism.constants_of(mechanism.model.gravity)
    terms = [-link.mass * vec.dot(gravity, mechanism.point(link.body, link.com)) for link in mechanism.links]
    for load in loads:
        match load:
            case Across():
                terms.append(load.pull.potential(load.measured(mechanism.tape)))
            case Between():
                if load.pull.is_elastic:
                    gap = vec.subtract(mechanism.point(*load.end), mechanism.point(*load.start))
                    x = se.sqrt(vec.dot(gap, gap))
                    x = x if load.pull.straight is not None else mechanism.tape.name(x, "length__spring")
                    terms.append(load.pull.potential(x))
            case BallFriction() | ForceAt() | TorqueOn() | SpinForce() | OnCoordinate():
                pass  # no potential
            case _:
                assert_never(load)
    return vec.total(terms)


def _loads_of(mechanism: Mechanism, action: ac.Action, owner: str) -> list[Load]:
    general = mechanism.general
    match action:
        case ac.Between(start, end, law, fields):
            ends = [(s.body, mechanism.place(s, f"{owner}_{k}")) for k, s in (("from", start), ("to", end))]
            return [Between(ends[0], ends[1], _pull(mechanism, law, fields))]
        case ac.Across(name, coordinate, law, fields):
            joint = _tree_joint(mechanism, name)
            choices = [c.name for c in joint.coordinates() if c.kind != "quaternion"]
            return [_on_coordinate(mechanism, joint, coordinate or choices[0], _pull(mechanism, law, fields))]
        case ac.AcrossAll(name, law, fields):
            return _on_all_coordinates(mechanism, name, _pull(mechanism, law, fields))
        case ac.Push(body, vector, axes, at, position):
            place = _place(mechanism, body, at, position, (0, 0, 0))
            return [ForceAt(body, place, tuple(general(x) for x in vector), axes)]
        case ac.Twist(body, vector, axes):
            return [TorqueOn(body, tuple(general(x) for x in vector), axes)]
        case ac.Spin(body, coefficient, dissipative, at, position):
            place = _place(mechanism, body, at, position, mechanism.links[mechanism.index[body]].com)
            sign = -1 if dissipative else 1
            return [SpinForce(body, place, _unit(mechanism, body, place), sign * general(coefficient), dissipative)]
        case ac.OnCoordinate(coordinate, value):
            names = [str(r) for r in mechanism.joint_rates]
            name = coordinate if coordinate in names else f"{coordinate}_dot"
            if name not in names and coordinate in mechanism.turned_by_speeds:  # Q of a coordinate is N^T Q of speeds
                rate, force = se.sympify(mechanism.joint_qdot[coordinate]), general(value)
                slopes = {k: rate.diff(s) for k, s in enumerate(mechanism.joint_rates)}
                return [OnCoordinate(k, force * x) for k, x in slopes.items() if not is_zero(x)]
            if name not in names:
                cause = f'"{coordinate}" is part of a quaternion'
                raise ModelError(
                    [Problem(f"force {owner}", "coordinate", cause, "name one of the joint's angular speeds")]
                )
            return [OnCoordinate(names.index(name), general(value))]
        case _:
            assert_never(action)


def _pull(mechanism: Mechanism, law: Law, fields: Mapping[str, Any]) -> Pull:
    """The law with symbols; fields of the potential are constants, others may depend on t, q, v and u."""
    fixed = law.fixed_fields
    return Pull(
        law, {n: se.sympify(mechanism.constant(x) if n in fixed else mechanism.general(x)) for n, x in fields.items()}
    )


def _place(
    mechanism: Mechanism, body: str, at: str | None, position: Any, otherwise: tuple[Expr, ...]
) -> tuple[Expr, ...]:
    if position is not None:
        return mechanism.constants_of(position)
    if at is not None:
        return mechanism.constants_of(mechanism.model.body(body).named_points()[at])
    return otherwise


def _unit(mechanism: Mechanism, body: str, place: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Unit vector from a body's origin to a point; along a rod it is a coordinate axis, without a square root."""
    alive = [k for k, x in enumerate(place) if not is_zero(x)]
    if len(alive) == 1 and mechanism.model.body(body).rod is not None:
        number = float(se.sympify(place[alive[0]]).subs(mechanism.model.parameter_values))
        return tuple((1 if number > 0 else -1) if k == alive[0] else 0 for k in range(3))
    length = se.sqrt(se.Add(*[x**2 for x in place]))
    return tuple(0 if is_zero(x) else x / length for x in place)


def _tree_joint(mechanism: Mechanism, name: str) -> TreeJoint:
    joint = mechanism.model.joint(name)
    if not isinstance(joint, TreeJoint):
        raise NotSupported(refusals.NO_COORDINATE, joint=name)
    return joint


def _on_coordinate(mechanism: Mechanism, joint: TreeJoint, name: str, pull: Pull) -> Across:
    k = mechanism.index[joint.child.body]
    coordinate = se.Symbol(name)
    stretch: Expr = coordinate
    if from_ground(joint):
        link = mechanism.links[k]
        parent = mechanism.poses[link.parent] if link.parent >= 0 else WORLD
        turn = mechanism.relative_motion(k, mechanism.follow(parent, link.before, link.body))[0]
        assert isinstance(turn, Turn)
        stretch = turn.angle
    return Across(k, coordinate, stretch, pull)


def _on_all_coordinates(mechanism: Mechanism, name: str, pull: Pull) -> list[Load]:
    joint = _tree_joint(mechanism, name)
    loads: list[Load] = []
    ball = joint.ball()
    turned = ball.chart.count if ball is not None and ball.axes != "rates" else 0
    for coordinate in joint.coordinates()[: len(joint.coordinates()) - turned]:
        loads.append(_on_coordinate(mechanism, joint, coordinate.name, pull))
    if turned:
        if pull.straight is None or pull.is_elastic:
            raise NotSupported(refusals.BALL_SPRING, joint=name, elastic=pull.law.elastic, drag=pull.law.drag)
        speeds = [s.name for s in mechanism.model.speeds]
        a, b, c = (speeds.index(s.name) for s in joint.speeds()[-3:])
        loads.append(BallFriction((a, b, c), pull.straight.damping))
    return loads
