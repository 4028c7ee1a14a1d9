"""A model with symbols in place of names, shared by all formulations.

It holds the coordinates, speeds and prescribed motions as symbols, each joint as a short list of steps (translations
and rotations) from the joint's template, the mass properties, and the poses of all bodies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, assert_never

import symengine as se

from pendula.equations import refusals
from pendula.equations import vectors as vec
from pendula.equations.mechanism.parts import Drive, Link, Pose, Quaternion, Rotor, Shift, Step, Turn
from pendula.equations.orientation.symbols import TurnBall, chart_rates, matrix_rates, turn_ball, turns_by_speeds
from pendula.equations.tape import Direction, Expr, Tape, is_zero
from pendula.equations.translate import exact, jumps, number, translate
from pendula.errors import NotSupported
from pendula.model.base import unit_vector
from pendula.model.bodies import GROUND, MassProperties
from pendula.model.expressions.expression import Expression, parse
from pendula.model.joints import Coordinate, Rotation, Side, TreeJoint
from pendula.model.joints import steps as template
from pendula.model.model import Model
from pendula.refusals import Refusal

_parse = lru_cache(maxsize=20_000)(parse)


class Mechanism(ABC):
    """Symbols, links, drives and poses of a model.

    Subclasses choose the coordinates: :class:`~pendula.equations.mechanism.tree_coordinates.TreeCoordinates` those of
    the joints, :class:`~pendula.equations.mechanism.body_coordinates.BodyCoordinates` those of the bodies.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tape = Tape()
        self.t = se.Symbol("t")
        self.parameters = [se.Symbol(name) for name in model.parameters]
        self.inputs = [se.Symbol(name) for name in model.inputs]
        self.constants: dict[str, Expr] = {str(s): s for s in self.parameters}
        self.joint_q = tuple(se.Symbol(c.name) for c in model.coordinates)
        self.joint_v = tuple(se.Symbol(s.name) for s in model.speeds)
        self.drives: list[Drive] = []
        self.balls_by_speeds: list[TurnBall] = []
        self.fixed_gaps: list[tuple[str, Expr]] = []
        self.idle_rows: list[str] = []
        self._known: dict[Any, Any] = {}  # results for equal fields: most bodies and joints are alike
        self._driven: dict[str, Drive] = {}
        for joint in model.tree:
            prescribed = joint.prescribed()
            kinds = {c.name: c.kind for c in joint.coordinates()} if prescribed else {}
            for name, value in prescribed.items():
                self._driven[name] = self._drive(name, kinds[name], _parse(value))
        self.links = self._links()
        self.index = {link.body: k for k, link in enumerate(self.links)}

    # -- what the choice of coordinates decides ---------------------------------------------------

    @property
    @abstractmethod
    def q(self) -> Sequence[Any]:
        """Symbols of the coordinates."""

    @property
    @abstractmethod
    def v(self) -> Sequence[Any]:
        """Symbols of the speeds."""

    @property
    @abstractmethod
    def coordinates(self) -> Sequence[Coordinate]:
        """Name and kind of every entry of q."""

    @property
    @abstractmethod
    def speeds(self) -> Sequence[Coordinate]:
        """Name and kind of every entry of v."""

    @property
    @abstractmethod
    def qdot(self) -> Sequence[Expr]:
        """Rates of the coordinates in terms of the speeds: N v."""

    @property
    @abstractmethod
    def quaternions(self) -> Sequence[Quaternion]:
        """Every quaternion among the coordinates."""

    @property
    @abstractmethod
    def poses(self) -> Sequence[Pose]:
        """World pose of every link's body axes."""

    @property
    @abstractmethod
    def joints_place_bodies(self) -> bool:
        """Whether poses follow from the joints, body by body; otherwise joints become constraints."""

    @abstractmethod
    def virtual(self, k: int) -> Direction:
        """The virtual displacement of speed or drive k: dq = column k of N."""

    # -- symbols --------------------------------------------------------------------------------

    @property
    def rates(self) -> list[Any]:
        """All generalized speeds: the free ones, then the rates of the prescribed motions."""
        return [*self.v, *(d.rate for d in self.drives)]

    @property
    def rate_index(self) -> dict[str, int]:
        """Index of every rate by its name; complete once loads and closing joints have prescribed their motions."""
        return {str(rate): k for k, rate in enumerate(self.rates)}

    @cached_property
    def rotors(self) -> list[Rotor]:
        """Rotors of all joints: armature*rate^2/2 of kinetic energy each, and a constant entry of M."""
        index, found = self.rate_index, []
        for k, link in enumerate(self.links):
            if not link.joint.armature:
                continue
            for speed, value in zip(link.joint.speeds(), link.joint.armature, strict=False):
                inertia = self.constant(value)
                if not is_zero(inertia):
                    found.append(Rotor(k, index[speed.name], inertia))
        return found

    def rotor_drag(self, rotor: Rotor) -> Expr:
        """Generalized inertia force of a rotor for v' = 0: not zero if its motion is prescribed."""
        drive = rotor.rate - len(self.v)
        return -rotor.inertia * self.drives[drive].acceleration if drive >= 0 else 0

    @property
    def joint_rates(self) -> list[Any]:
        """Rates of the joint coordinates: the free ones, then those of the prescribed motions."""
        return [*self.joint_v, *(d.rate for d in self.drives)]

    @cached_property
    def joint_qdot(self) -> dict[str, Expr]:
        """Rates of the free joint coordinates in terms of the joint speeds."""
        rates: dict[str, Expr] = {}
        for joint in self.model.tree:
            free = [c for c in joint.coordinates() if c.name not in self._driven]
            speeds = [se.Symbol(s.name) for s in joint.speeds() if s.name.removesuffix("_dot") not in self._driven]
            ball = joint.ball()
            if ball is not None:
                shifts = len(free) - ball.chart.count
                names = [c.name for c in free[shifts:]]
                rates |= zip(names, chart_rates(self.tape, joint.turn_ball(), joint.name), strict=True)
                free, speeds = free[:shifts], speeds[:shifts]
            rates |= {c.name: s for c, s in zip(free, speeds, strict=True)}
        return rates

    @cached_property
    def turned_by_speeds(self) -> set[str]:
        """Angles and rotation vectors whose rates are linear in an angular velocity."""
        found: set[str] = set()
        for joint in self.model.tree:
            ball = joint.ball()
            if ball is not None and ball.axes != "rates" and not joint.quaternion():
                found |= set(joint.coordinate_names()[-3:])
        return found

    @property
    def unit_quaternions(self) -> list[Expr]:
        """One row |quaternion|^2 - 1 for every quaternion."""
        return [se.Add(*[x**2 for x in self.q[at.first : at.first + 4]]) - 1 for at in self.quaternions]

    def turning(self, speed: Any | None = None) -> dict[Any, Expr]:
        """Rates of rotation matrices whose coordinates may be singular: in a motion, or for one speed alone."""
        found: dict[Any, Expr] = {}
        for ball in self.balls_by_speeds:
            own = [se.Symbol(name) for name in ball.template.speeds]
            if speed is None or speed in own:
                found |= matrix_rates(ball, own if speed is None else [int(x == speed) for x in own])
        return found

    def in_time(self, *, accelerations: dict[Any, Expr] | None = None) -> Direction:
        """The time derivative; speeds are constant unless their ``accelerations`` are given."""
        seeds: dict[Any, Expr] = dict(zip(self.q, self.qdot, strict=True)) | self.turning()
        for drive in self.drives:
            seeds[drive.position], seeds[drive.rate] = drive.rate, drive.acceleration
        seeds |= accelerations or {}
        return Direction(self.tape, seeds, "dt" if accelerations is None else "ddt")

    def angular_velocity(self, R: vec.Matrix, in_time: Direction, hint: str) -> list[Expr]:
        """The angular velocity of axes with rotation matrix R, in world axes: R' R^T is its skew matrix."""
        turning = [self.tape.keep_all(in_time.all(row), f"Rt__{hint}") for row in R]
        skew = vec.product(turning, vec.transposed(R))
        return self.tape.keep_all([skew[2][1], skew[0][2], skew[1][0]], f"wW__{hint}")

    def by_speed(self, k: int) -> Direction:
        """The partial derivative by speed or drive rate k."""
        return Direction(self.tape, {self.rates[k]: 1}, f"per_{self.rates[k]}")

    def constant(self, value: int | float | str) -> Expr:
        """A field of the model that may contain parameters."""
        if isinstance(value, (int, float)):
            return number(value)
        return self._once(value, lambda: translate(_parse(value), self.constants))

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """The result of ``make``, cached by key; separately for exact numbers."""
        known, key = self._known, (key, exact())
        if key not in known:
            known[key] = make()
        return known[key]

    def general(self, value: int | float | str) -> Expr:
        """A field that may contain t, coordinates, speeds, parameters and inputs."""
        expression = _parse(value)
        return translate(expression, {n: self._names[n] for n in expression.names})

    @cached_property
    def _names(self) -> dict[str, Expr]:
        """Everything that a force may depend on, by name."""
        names: dict[str, Expr] = {**self.constants, "t": self.t}
        names |= {str(s): s for s in (*self.joint_q, *self.joint_v, *self.inputs)}
        for drive in self._driven.values():
            names[drive.name], names[f"{drive.name}_dot"] = drive.position, drive.rate
        return names

    def constants_of(self, values: Any) -> tuple[Expr, Expr, Expr]:
        """A vector of fields that may contain parameters."""
        a, b, c = values
        found: tuple[Expr, Expr, Expr] = self._once((a, b, c), lambda: tuple(map(self.constant, (a, b, c))))
        return found

    def direction(self, values: Any) -> tuple[Expr, ...]:
        """A unit vector from an axis field."""
        found: tuple[Expr, ...] = self._once(("direction", *values), lambda: self._direction(values))
        return found

    def _direction(self, values: Any) -> tuple[Expr, ...]:
        entries = [self.constant(x) for x in values]
        if all(isinstance(x, (int, float)) for x in entries):
            return unit_vector([float(x) for x in entries])
        length = se.sqrt(se.Add(*[x**2 for x in entries]))
        return tuple(0 if is_zero(x) else x / length for x in entries)

    def _drive(self, name: str, kind: str, value: Expression) -> Drive:
        used = {n: self.t if n == "t" else self.constants[n] for n in value.names}
        if "__" in name:  # not a coordinate of the model
            name = self.tape.unique(name)
        symbols = (se.Symbol(name), se.Symbol(f"{name}_dot"), se.Symbol(self.tape.unique(f"{name}__ddot")))
        drive = Drive(name, kind, *symbols, translate(value, used), tuple(jumps(value, self.constants)))
        self.drives.append(drive)
        return drive

    # -- steps ----------------------------------------------------------------------------------

    def place(self, side: Side, owner: str) -> tuple[Expr, ...]:
        """The point of a side in body axes; on ground its entries may be prescribed motions."""
        if side.position is None:
            if side.at is None or side.body == GROUND:
                return (0, 0, 0)
            return self.constants_of(self.model.body(side.body).named_point(side.at))
        entries: list[Expr] = []
        for axis, value in zip("xyz", side.position, strict=True):
            expression = _parse(value)
            if side.body == GROUND and "t" in expression.names:
                entries.append(self._moving_ground(f"{owner}__{axis}", expression).position)
            else:
                entries.append(self.constant(value))
        return tuple(entries)

    def _moving_ground(self, name: str, value: Expression) -> Drive:
        """The motion of a ground point along one axis; the same one for a side that is placed again."""
        key = ("ground", name, value)
        if key not in self._known:
            self._known[key] = self._drive(name, "length", value)
        found: Drive = self._known[key]
        return found

    def turns(self, rotation: Rotation | None) -> tuple[Turn, ...]:
        """The elementary rotations of a rotation field."""
        found = []
        for turn in rotation.turns() if rotation is not None else ():
            x, y, z = self.direction(turn.axis)
            found.append(Turn((x, y, z), self.constant(turn.angle)))
        return tuple(found)

    def _links(self) -> list[Link]:
        links: list[Link] = []
        index: dict[str, int] = {GROUND: -1}
        for joint in self.model.tree:
            body = self.model.body(joint.child.body)
            properties = body.mass_properties()
            mass, com, inertia = self._once(properties, partial(self._mass, properties))
            steps = self._before(joint), self._motion(joint), self._after(joint)
            links.append(Link(joint, body.name, index[joint.parent.body], *steps, mass, com, inertia))
            index[body.name] = len(links) - 1
        return links

    def _before(self, joint: TreeJoint) -> tuple[Step, ...]:
        """The steps from the parent's body axes to the parent-side frame of a joint."""
        at = self.place(joint.parent, joint.name)
        turns = self.turns(joint.parent.rotation)
        return self._once(("before", at, turns), lambda: (*_unless_zero(at), *turns))

    def _after(self, joint: TreeJoint) -> tuple[Step, ...]:
        """The steps from the child-side frame of a joint to the child's body axes."""
        turns = self.turns(joint.child.rotation)
        at = self.place(joint.child, joint.name)
        back = [Turn(turn.axis, -turn.angle) for turn in reversed(turns)]
        return self._once(("after", at, turns), lambda: (*back, *_unless_zero([-x for x in at])))

    def _mass(self, properties: MassProperties) -> tuple[Expr, tuple[Expr, ...], tuple[tuple[Expr, ...], ...]]:
        inertia = tuple(self.constants_of(row) for row in properties.inertia)
        return self.constant(properties.mass), self.constants_of(properties.com), inertia

    def _motion(self, joint: TreeJoint) -> tuple[Step, ...]:
        """The joint's motion from its parent-side frame to its child-side frame: its template with symbols."""
        own: dict[str, Expr] = {name: se.Symbol(name) for name in joint.coordinate_names()}

        def read(value: Any) -> Expr:
            if value in own:  # most templates use bare coordinates
                return own[value]
            expression = _parse(value)
            if "t" in expression.names and "t" not in own:  # explicit time is a prescribed motion
                clock = self._drive(f"{joint.name}__clock", "time", _parse("t"))
                own["t"] = clock.position
            names = {n: own[n] if n in own else self.constants.get(n) for n in expression.names}
            if unknown := sorted(n for n, x in names.items() if x is None):
                raise NotSupported(refusals.UNKNOWN_NAME, joint=joint.name, type=joint.type, unknown=unknown[0])
            return translate(expression, names)

        steps: list[Step] = []
        slides: list[vec.Vector] = []  # consecutive slides form one translation
        for step in joint.steps():
            if slides and not isinstance(step, template.Slide):
                steps.append(_shift(vec.add(*slides)))
                slides = []
            match step:
                case template.Slide(axis, distance):
                    slides.append(vec.scale(read(distance), self.direction(axis)))
                case template.Shift(vector):
                    pairs = zip("xyz", vector, strict=True)
                    steps.append(_shift([self.tape.keep(read(x), f"{joint.name}_{a}") for a, x in pairs]))
                case template.Turn(axis, angle, absolute):
                    x, y, z = self.direction(axis)
                    steps.append(Turn((x, y, z), read(angle), absolute))
                case template.TurnBall():
                    ball = turn_ball(self.tape, step, joint.name)
                    if turns_by_speeds(step):
                        self.balls_by_speeds.append(ball)
                    steps.append(ball)
                case _:
                    assert_never(step)
        if slides:
            steps.append(_shift(vec.add(*slides)))
        if len(steps) > 1 and any(isinstance(step, Turn) and step.absolute for step in steps):
            raise NotSupported(refusals.TURN_FROM_GROUND, joint=joint.name, type=joint.type)
        return tuple(steps)

    # -- poses ----------------------------------------------------------------------------------

    def relative_motion(self, k: int, frame: Pose) -> tuple[Step, ...]:
        """The motion of joint k relative to its parent-side frame; absolute angles become relative."""
        link = self.links[k]
        if (turn := link.absolute_turn) is not None:
            # the absolute angle is sign*q, so the relative one is this minus the frame's own angle
            return (Turn(turn.axis, turn.angle - turn.axis[2] * frame.theta),)
        return link.motion

    def follow(self, pose: Pose, steps: tuple[Step, ...], hint: str) -> Pose:
        """The pose after a list of steps."""
        for step in steps:
            match step:
                case Shift(vector):
                    moved = vec.add(pose.r, vec.times(pose.R, vector))
                    pose = Pose(pose.R, self.tape.keep_all(moved, f"r__{hint}"), pose.theta)
                case Turn(axis, angle):
                    pose = self._turned(pose, axis, angle, hint)
                case TurnBall(matrix):
                    R = self.named(vec.product(pose.R, matrix), hint)
                    pose = Pose(R, pose.r)
                case _:
                    assert_never(step)
        return pose

    def _turned(self, pose: Pose, axis: tuple[Expr, ...], angle: Expr, hint: str) -> Pose:
        if pose.theta is not None and is_zero(axis[0]) and is_zero(axis[1]):
            theta = pose.theta + axis[2] * angle
            c, s = self.tape.trig(theta, hint)
            return Pose(((c, -s, 0), (s, c, 0), (0, 0, 1)), pose.r, theta)
        return Pose(self.named(vec.product(pose.R, self.turn_matrix(axis, angle, hint)), hint), pose.r)

    def turn_matrix(self, axis: tuple[Expr, ...], angle: Expr, hint: str) -> vec.Matrix:
        """Rotation matrix about a unit axis, with cosine and sine as named intermediates."""
        return vec.turn_matrix(axis, *self.tape.trig(angle, hint))

    def named(self, matrix: vec.Matrix, hint: str) -> vec.Matrix:
        """A rotation matrix whose long entries become named intermediates."""
        return self.tape.keep_matrix(matrix, f"R__{hint}")

    def point(self, body: str, place: vec.Vector) -> list[Expr]:
        """World position of a point given in body axes."""
        if body == GROUND:
            return list(place)
        pose = self.poses[self.index[body]]
        return vec.add(pose.r, vec.times(pose.R, place))


def refuse_rotors(model: Model, refusal: Refusal) -> None:
    """Raises NotSupported if a joint has armature, for parts of the package that consider bodies alone."""
    for joint in model.tree:
        if joint.armature:
            raise NotSupported(refusal, joint=joint.name)


def _unless_zero(vector: vec.Vector) -> tuple[Shift, ...]:
    return () if vec.all_zero(vector) else (_shift(vector),)


def _shift(vector: vec.Vector) -> Shift:
    x, y, z = vector
    return Shift((x, y, z))
