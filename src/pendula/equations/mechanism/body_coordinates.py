"""Maximal coordinates: every body has its own coordinates, the position of its mass centre and its orientation.

Bodies that stay in the x-y plane have (x, y, theta); others have a position in world axes and a quaternion, with the
velocity in world axes and the angular velocity in body axes as speeds. Joints become constraints.
A joint's own coordinates are either *read* from the poses of its two bodies (the angle of a planar revolute joint) or
*kept* as further coordinates (the angle of a spatial revolute joint, which counts full turns and cannot be read).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, assert_never, final

import symengine as se

from pendula.equations import refusals
from pendula.equations import vectors as vec
from pendula.equations.closures import is_flat
from pendula.equations.equations import drive_definitions
from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.mechanism.parts import WORLD, Link, Pose, Quaternion, Shift, Step, Turn
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.equations.orientation.symbols import (
    TurnBall,
    conjugate,
    quaternion_matrix,
    quaternion_rate,
    times,
    turn_quaternion,
)
from pendula.equations.tape import Direction, Expr, is_zero
from pendula.errors import NotSupported
from pendula.model.joints import Coordinate, TreeJoint
from pendula.model.joints import steps as template
from pendula.model.joints.steps import AXES
from pendula.model.model import Model

PLANAR = ("x", "y", "theta")
SPATIAL = ("x", "y", "z", "q0", "q1", "q2", "q3")
SPATIAL_SPEEDS = ("x_dot", "y_dot", "z_dot", "wx", "wy", "wz")
KINDS = {"x": "length", "y": "length", "z": "length", "theta": "angle"}


@dataclass(frozen=True)
class FreeBody:
    """A body with its own coordinates: their indices, those of its speeds, and its motion in world axes."""

    flat: bool
    q: tuple[int, ...]
    v: tuple[int, ...]
    kept_q: tuple[int, ...]
    """coordinates of its joint that are kept"""
    kept_v: tuple[int, ...]
    center: tuple[Expr, Expr, Expr]
    pose: Pose
    W: dict[int, vec.Vector]
    """partial angular velocity of each speed"""
    V: dict[int, vec.Vector]
    """partial velocity of the mass centre for each speed"""
    w: vec.Vector
    velocity: vec.Vector


GROUND_BODY = FreeBody(True, (), (), (), (), (0, 0, 0), WORLD, {}, {}, vec.NULL, vec.NULL)


@final
class BodyCoordinates(Mechanism):
    """The mechanism in maximal coordinates: q and v belong to the bodies."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        joints = TreeCoordinates(model)  # has its own tape, so its poses leave no names in this one
        self.flats = [is_flat(joints, k) for k in range(len(self.links))]
        self._refuse_absolute_in_space()
        self._heights = [_height(joints, k) if flat else 0 for k, flat in enumerate(self.flats)]
        self._coordinates: list[Coordinate] = []
        self._speeds: list[Coordinate] = []
        self._q: list[Any] = []
        self._v: list[Any] = []
        self._rates: list[Expr] = []
        self._seeds: list[dict[Any, Expr]] = []
        self._quaternions: list[Quaternion] = []
        self._taken = {x.name for j in model.tree for x in (*j.coordinates(), *j.speeds())}
        self._taken |= {*model.parameters, *model.inputs}
        self.bodies: list[FreeBody] = [self._body(k) for k in range(len(self.links))]
        self.readings: dict[str, Expr] = {}
        for k in range(len(self.links)):
            self._read(k)

    # -- coordinates and speeds -----------------------------------------------------------------

    @property
    def q(self) -> Sequence[Any]:
        """Symbols of the coordinates."""
        return self._q

    @property
    def v(self) -> Sequence[Any]:
        """Symbols of the speeds."""
        return self._v

    @property
    def coordinates(self) -> Sequence[Coordinate]:
        """Name and kind of every entry of q."""
        return self._coordinates

    @property
    def speeds(self) -> Sequence[Coordinate]:
        """Name and kind of every entry of v."""
        return self._speeds

    @property
    def qdot(self) -> Sequence[Expr]:
        """Rates of the coordinates in terms of the speeds: N v."""
        return self._rates

    @property
    def quaternions(self) -> Sequence[Quaternion]:
        """Every quaternion among the coordinates."""
        return self._quaternions

    @property
    def joints_place_bodies(self) -> bool:
        """Whether poses follow from the joints, body by body: here joints become constraints."""
        return False

    def virtual(self, k: int) -> Direction:
        """The virtual displacement of speed or drive k: dq = column k of N."""
        if k < len(self.v):
            return Direction(self.tape, self._seeds[k] | self.turning(self.v[k]), f"by_{self.v[k]}")
        drive = self.drives[k - len(self.v)]
        return Direction(self.tape, {drive.position: 1}, f"by_{drive.rate}")

    @cached_property
    def poses(self) -> list[Pose]:
        """World pose of every link's body axes."""
        return [body.pose for body in self.bodies]

    def parent_of(self, k: int) -> FreeBody:
        """The body that carries joint k."""
        parent = self.links[k].parent
        return self.bodies[parent] if parent >= 0 else GROUND_BODY

    def parent_frame(self, k: int) -> Pose:
        """The joint's frame on its parent side, in world axes."""
        return self.follow(self.parent_of(k).pose, self.links[k].before, self.links[k].body)

    def child_frame(self, k: int) -> Pose:
        """The joint's frame on its child side, in world axes."""
        back: list[Step] = []
        for step in reversed(self.links[k].after):
            if isinstance(step, Shift):
                x, y, z = vec.scale(-1, step.vector)
                back.append(Shift((x, y, z)))
            else:
                assert isinstance(step, Turn)
                back.append(Turn(step.axis, -step.angle))
        return self.follow(self.bodies[k].pose, tuple(back), self.links[k].body)

    # -- bodies ---------------------------------------------------------------------------------

    def _refuse_absolute_in_space(self) -> None:
        """Raises NotSupported for an angle measured from ground whose parent has the coordinates of a body in space."""
        for link in self.links:
            if link.absolute_turn is not None and link.parent >= 0 and not self.flats[link.parent]:
                raise NotSupported(refusals.ABSOLUTE_IN_SPACE, joint=link.joint.name, parent=link.joint.parent.body)

    def _name(self, body: str, endings: Sequence[str]) -> str:
        """A prefix for the names of a body's coordinates that no name of the model uses."""
        start = re.sub(r"[^A-Za-z0-9]+", "_", body).strip("_")  # names of bodies may have spaces, dots and hyphens
        start = f"body_{start}" if start[0].isdigit() else start
        while any(name in self._taken for e in endings for name in (f"{start}_{e}", f"{start}_{e}_dot")):
            start += "_com"
        self._taken |= {f"{start}_{e}" for e in endings}
        return start

    def _add(self, name: str, kind: str, owner: str) -> Any:
        self._coordinates.append(Coordinate(name, kind, owner))  # type: ignore[arg-type]
        self._q.append(se.Symbol(name))
        return self._q[-1]

    def _add_speed(self, name: str, kind: str, owner: str) -> Any:
        self._speeds.append(Coordinate(name, kind, owner))  # type: ignore[arg-type]
        self._v.append(se.Symbol(name))
        return self._v[-1]

    def _body(self, k: int) -> FreeBody:
        link = self.links[k]
        flat = self.flats[k]
        first_q, first_v = len(self.q), len(self.v)
        start = self._name(link.body, PLANAR if flat else (*SPATIAL, *SPATIAL_SPEEDS))
        made = self._planar(k, start) if flat else self._spatial(k, start)
        own_q, own_v = len(self.q), len(self.v)
        if not self._can_read(link, k):
            self._keep(link)
        return FreeBody(
            flat,
            tuple(range(first_q, own_q)),
            tuple(range(first_v, own_v)),
            tuple(range(own_q, len(self.q))),
            tuple(range(own_v, len(self.v))),
            *made,
        )

    def _planar(self, k: int, start: str) -> tuple[Any, ...]:
        link = self.links[k]
        x, y, theta = (self._add(f"{start}_{e}", KINDS[e], link.joint.name) for e in PLANAR)
        first = len(self.v)
        speeds = [self._add_speed(f"{start}_{e}_dot", KINDS[e], link.joint.name) for e in PLANAR]
        self._rates += speeds
        self._seeds += [{s: 1} for s in (x, y, theta)]
        c, s = self.tape.trig(theta, link.body)
        R = ((c, -s, 0), (s, c, 0), (0, 0, 1))
        height = self._heights[k]
        com = vec.times(R, link.com)
        r = self.tape.keep_all([x - com[0], y - com[1], height - com[2]], f"r__{link.body}")
        W = {first + 2: [0, 0, 1]}
        V = {first: [1, 0, 0], first + 1: [0, 1, 0]}
        return (x, y, height), Pose(R, r, theta), W, V, [0, 0, speeds[2]], [speeds[0], speeds[1], 0]

    def _spatial(self, k: int, start: str) -> tuple[Any, ...]:
        link = self.links[k]
        owner = link.joint.name
        x, y, z = (self._add(f"{start}_{e}", "length", owner) for e in SPATIAL[:3])
        self._quaternions.append(Quaternion(link.body, len(self.q), len(self.v) + 3))
        w, a, b, c = (self._add(f"{start}_{e}", "quaternion", owner) for e in SPATIAL[3:])
        first = len(self.v)
        velocity = [self._add_speed(f"{start}_{e}", "length", owner) for e in SPATIAL_SPEEDS[:3]]
        omega = [self._add_speed(f"{start}_{e}", "angle", owner) for e in SPATIAL_SPEEDS[3:]]
        rates = quaternion_rate((w, a, b, c), omega, "body")
        self._rates += [*velocity, *rates]
        self._seeds += [{s: 1} for s in (x, y, z)]
        self._seeds += [{s: rate.diff(o) for s, rate in zip((w, a, b, c), rates, strict=True)} for o in omega]
        R = self.named(quaternion_matrix((w, a, b, c)), link.body)
        r = self.tape.keep_all(vec.subtract((x, y, z), vec.times(R, link.com)), f"r__{link.body}")
        columns = vec.transposed(R)
        W = {first + 3 + i: columns[i] for i in range(3)}
        V = {first + i: vec.IDENTITY[i] for i in range(3)}
        spin = self.tape.keep_all(vec.times(R, omega), f"w__{link.body}")
        return (x, y, z), Pose(R, r), W, V, spin, velocity

    # -- joints' coordinates: read or kept --------------------------------------------------------

    def _can_read(self, link: Link, k: int) -> bool:
        joint = link.joint
        if not joint.coordinates():
            return True
        return not joint.prescribed() and not joint.armature and readable_shifts(joint, self.flats[k]) is not None

    def _keep(self, link: Link) -> None:
        """The joint's free coordinates become coordinates of the mechanism."""
        joint = link.joint
        if joint.quaternion() and joint.armature:
            raise NotSupported(refusals.QUATERNION_ARMATURE, joint=joint.name)
        if joint.quaternion() and joint.prescribed():
            raise NotSupported(refusals.QUATERNION_MOTION, joint=joint.name)
        if joint.quaternion():
            raise NotSupported(refusals.JOINT_QUATERNION, joint=joint.name, type=joint.type)
        prescribed = joint.prescribed()
        kept = [c for c in joint.coordinates() if c.name not in prescribed]
        symbols = [self._add(c.name, c.kind, joint.name) for c in kept]
        rates = [self.joint_qdot[c.name] for c in kept]
        self._rates += rates
        for s in joint.speeds():
            if s.name.removesuffix("_dot") not in prescribed:
                speed = self._add_speed(s.name, s.kind, joint.name)
                slopes = [(q, se.sympify(rate).diff(speed)) for q, rate in zip(symbols, rates, strict=True)]
                self._seeds.append({q: slope for q, slope in slopes if not is_zero(slope)})

    def _read(self, k: int) -> None:
        """Defines the joint's coordinates and speeds by the poses and velocities of its two bodies."""
        link, body = self.links[k], self.bodies[k]
        joint = link.joint
        if body.kept_v or not joint.coordinates() or joint.prescribed():
            for x in (*joint.coordinates(), *joint.speeds()):
                if x.name.removesuffix("_dot") not in joint.prescribed():
                    self.readings[x.name] = se.Symbol(x.name)
            return
        A, B = self.parent_frame(k), self.child_frame(k)
        values: list[Expr] = []
        speeds: list[Expr] = []
        parent = self.parent_of(k)
        shifts = readable_shifts(joint, self.flats[k])
        if shifts:
            gap = self.tape.keep_all(vec.subtract(B.r, A.r), f"gap__{joint.name}")
            back = vec.transposed(A.R)
            place = self.tape.keep_all(vec.times(back, gap), f"at__{joint.name}")
            values += place[:shifts]
            start = self.moving(parent, B.r) if link.parent >= 0 else self.in_time().all(A.r)
            relative = vec.subtract(self.moving(body, B.r), start)
            speeds += vec.times(back, relative)[: len(values)]
        last = link.motion[-1]
        if isinstance(last, Turn):
            assert A.theta is not None
            assert B.theta is not None
            turn, spin = (B.theta, body.w[2]) if last.absolute else (B.theta - A.theta, body.w[2] - parent.w[2])
            sense = last.axis[2]
            values.append(sense * turn)
            speeds.append(sense * spin)
        else:
            values += self._relative_quaternion(k)
            assert isinstance(last, TurnBall)
            own = B if last.template.axes == "body" else A
            speeds += vec.times(vec.transposed(own.R), vec.subtract(body.w, parent.w))
        for c, value in zip((*joint.coordinates(), *joint.speeds()), (*values, *speeds), strict=True):
            symbol = se.Symbol(c.name)
            self.tape.definitions[symbol] = value
            self.readings[c.name] = symbol

    def moving(self, body: FreeBody, point: Sequence[Expr]) -> vec.Vector:
        """Velocity of the material point of a body at a world position."""
        return vec.add(body.velocity, vec.cross(body.w, vec.subtract(point, body.center)))

    def _relative_quaternion(self, k: int) -> list[Expr]:
        link = self.links[k]
        parent: vec.Vector = (1, 0, 0, 0)
        if link.parent >= 0:
            parent = _body_quaternion(self, link.parent)
        A = _turned_quaternion(parent, link.before)
        back = tuple(Turn(s.axis, -s.angle) for s in reversed(link.after) if isinstance(s, Turn))
        B = _turned_quaternion(_body_quaternion(self, k), back)
        return [self.tape.keep(x, f"turn__{link.joint.name}") for x in times(conjugate(A), B)]


def readable_shifts(joint: TreeJoint, flat: bool) -> int | None:
    """Number of translations of a joint whose coordinates can be read from its two bodies' poses; otherwise None.

    They can if the joint is a single rotation (about z in the plane, by a quaternion in space), alone or after
    translations along all axes. Other coordinates, such as an angle in space, which counts full turns, must be kept.
    """
    *slides, turn = joint.steps() or (None,)
    names = joint.coordinate_names()
    axes = "xy" if flat else "xyz"
    free = [template.Slide(AXES[axis], name) for axis, name in zip(axes, names, strict=False)]
    if slides and slides != free:
        return None
    if flat:
        turns = isinstance(turn, template.Turn) and turn.angle == names[-1] and len(names) == len(slides) + 1
    else:
        turns = isinstance(turn, template.TurnBall) and joint.quaternion()
    return len(slides) if turns else None


def _body_quaternion(m: BodyCoordinates, k: int) -> list[Expr]:
    body = m.bodies[k]
    if body.flat:
        return turn_quaternion(AXES["z"], m.q[body.q[2]])
    return [m.q[i] for i in body.q[3:]]


def _turned_quaternion(start: Sequence[Expr], steps: Sequence[Step]) -> list[Expr]:
    """A quaternion after the rotations of some steps."""
    for step in steps:
        if isinstance(step, Turn):
            start = times(start, turn_quaternion(step.axis, step.angle))
        elif isinstance(step, TurnBall):
            start = times(start, step.quaternion)
        elif not isinstance(step, Shift):
            assert_never(step)
    return list(start)


def _height(joints: TreeCoordinates, k: int) -> Expr:
    """Height of the mass centre of a body in planar motion; it depends on parameters only."""
    return joints.tape.inline(joints.point(joints.links[k].body, joints.links[k].com)[2])


@dataclass(frozen=True)
class Placement:
    """The bodies' own coordinates and speeds as expressions of the joint coordinates and speeds."""

    definitions: tuple[tuple[Any, Expr], ...]
    inputs: tuple[Any, ...]
    """t, then the joint coordinates and speeds"""
    q: tuple[Expr, ...]
    v: tuple[Expr, ...]


def derive_placement(model: Model) -> Placement:
    """Pose and velocity of every body from the joint coordinates and speeds."""
    joints, bodies = TreeCoordinates(model), BodyCoordinates(model)
    tape, rate = joints.tape, joints.in_time()
    turns: list[list[Expr]] = []
    q: list[Expr] = []
    v: list[Expr] = []
    for k, (link, body) in enumerate(zip(joints.links, bodies.bodies, strict=True)):
        pose = joints.poses[k]
        parent = turns[link.parent] if link.parent >= 0 else [1, 0, 0, 0]
        center = tape.keep_all(joints.point(link.body, link.com), f"c__{link.body}")
        if body.flat:
            assert pose.theta is not None
            turns.append(turn_quaternion(AXES["z"], pose.theta))
            q += [center[0], center[1], pose.theta]
            v += [*rate.all(center)[:2], rate(se.sympify(pose.theta))]
        else:
            frame = joints.follow(joints.poses[link.parent] if link.parent >= 0 else WORLD, link.before, link.body)
            steps = (*link.before, *joints.relative_motion(k, frame), *link.after)
            turn = [tape.keep(x, f"turn__{link.body}") for x in _turned_quaternion(parent, steps)]
            turns.append(turn)
            spin = vec.times(vec.transposed(pose.R), joints.angular_velocity(pose.R, rate, link.body))
            q += [*center, *turn]
            v += [*rate.all(center), *spin]
        q += [bodies.q[i] for i in body.kept_q]
        v += [bodies.v[i] for i in body.kept_v]
    definitions = (*drive_definitions(joints), *tape.definitions.items())
    return Placement(definitions, (joints.t, *joints.q, *joints.v), tuple(q), tuple(v))
