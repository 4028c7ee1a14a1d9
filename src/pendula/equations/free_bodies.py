"""Free bodies, and the recursion that gives the velocity of each body from that of its parent.

The reference point of a body is its side of its inboard joint. Velocities are V = L_tau v + driven. The columns of
L_tau, V itself and its rate with v' = 0 (the velocity-product acceleration) follow body by body. L_tau is the natural
orthogonal complement of Angeles and Lee (1988, J. Appl. Mech. 55). See ``projection.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import symengine as se

from pendula.equations import vectors as vec
from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.mechanism.parts import WORLD, Link, Pose, Shift, Step, Turn
from pendula.equations.orientation.symbols import TurnBall
from pendula.equations.tape import Expr

Columns = Mapping[int, vec.Vector]
"""Three rows of L_tau: index of a rate -> column. Missing columns are zero."""


@dataclass(frozen=True)
class Wrench:
    """A force and its moment about a body's reference point, in the axes in use."""

    force: vec.Vector
    moment: vec.Vector

    def __add__(self, other: Wrench) -> Wrench:
        return Wrench(vec.add(self.force, other.force), vec.add(self.moment, other.moment))

    def times(self, factor: Expr) -> Wrench:
        """The wrench times a factor."""
        return Wrench(vec.scale(factor, self.force), vec.scale(factor, self.moment))

    def work(self, v: vec.Vector, w: vec.Vector) -> list[Expr]:
        """Its power for a velocity and an angular velocity, as two terms."""
        return [vec.dot(v, self.force), vec.dot(w, self.moment)]


@dataclass(frozen=True)
class JointMotion:
    """Joint kinematics: how a body's velocity follows from that of its parent.

    ``arm`` and linear quantities are in the parent's axes, angular ones in the body's own; ``turn`` is the rotation
    matrix from the body's axes to the parent's.
    """

    turn: vec.Matrix
    arm: vec.Vector
    slide: vec.Vector
    bend: vec.Vector
    """rate of ``slide`` with v' = 0"""
    slides: Columns
    spin: vec.Vector
    spin_rate: vec.Vector
    spins: Columns


@dataclass(frozen=True)
class FreeBody:
    """Mass properties about the reference point, and the velocities of the body with their rates for v' = 0."""

    pose: Pose
    """only R and theta are used"""
    place: vec.Vector
    """the reference point in body axes"""
    mass: Expr = 0
    S: vec.Vector = vec.NULL
    J: vec.Matrix = (vec.NULL,) * 3
    v: vec.Vector = vec.NULL
    w: vec.Vector = vec.NULL
    dv: vec.Vector = vec.NULL
    dw: vec.Vector = vec.NULL
    V: Columns = field(default_factory=dict)
    W: Columns = field(default_factory=dict)

    @property
    def flat(self) -> bool:
        """Whether components are in world axes."""
        return self.pose.theta is not None

    def momentum(self, v: vec.Vector, w: vec.Vector) -> Wrench:
        """Momentum: M_free times a velocity."""
        push = vec.add(vec.scale(self.mass, v), vec.cross(w, self.S))
        return Wrench(push, vec.add(vec.cross(self.S, v), vec.times(self.J, w)))

    def omega_terms(self) -> Wrench:
        """Bias force Omega V: the inertia terms quadratic in the velocity."""
        centripetal = vec.cross(self.w, vec.cross(self.w, self.S))
        twist = vec.cross(self.w, vec.times(self.J, self.w))
        if self.flat:
            return Wrench(centripetal, twist)
        carried = vec.cross(self.w, self.v)
        return Wrench(vec.add(vec.scale(self.mass, carried), centripetal), vec.add(vec.cross(self.S, carried), twist))

    def to_axes(self, body_vector: vec.Vector) -> vec.Vector:
        """Body components in the axes in use."""
        return vec.times(self.pose.R, body_vector) if self.flat else body_vector

    def from_world(self, vector: vec.Vector) -> vec.Vector:
        """World components in the axes in use."""
        return vector if self.flat else vec.times(vec.transposed(self.pose.R), vector)

    def to_world(self, vector: vec.Vector) -> vec.Vector:
        """Components in the axes in use as world components."""
        return vector if self.flat else vec.times(self.pose.R, vector)

    def arm(self, place: vec.Vector) -> vec.Vector:
        """Vector from the reference point to a point of the body, in the axes in use."""
        return self.to_axes(vec.subtract(place, self.place))


class FreeBodies:
    """All bodies of a mechanism with their columns of L_tau, the natural orthogonal complement."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.m = mechanism
        self.tape = mechanism.tape
        self.in_time = mechanism.in_time()
        self.index_of = mechanism.rate_index
        self.joint_motions: list[JointMotion] = []
        self.bodies: list[FreeBody] = []
        self._bits = [self.tape.bit(rate) for rate in mechanism.rates]
        self._virtual: dict[int, Any] = {}
        for link, pose in zip(mechanism.links, mechanism.poses, strict=True):
            self._add_body(link, pose)

    def _parent(self, link: Link) -> FreeBody:
        return self.bodies[link.parent] if link.parent >= 0 else FreeBody(WORLD, vec.NULL)

    def slopes(self, expressions: Sequence[Expr]) -> dict[int, list[Expr]]:
        """Derivatives of a joint's own expressions by every rate that moves them."""
        rates = [se.sympify(x) for x in self.in_time.all(expressions)]
        seen = 0
        for rate in rates:
            for symbol in self.tape.symbols(rate):
                seen |= self.tape.reach(symbol)
        found = {}
        for k, bit in enumerate(self._bits):
            if seen & bit:
                if k not in self._virtual:
                    self._virtual[k] = self.m.virtual(k)
                slopes = self._virtual[k].all(expressions)
                if not vec.all_zero(slopes):
                    found[k] = slopes
        return found

    def _joint_motion(self, link: Link, parent: FreeBody) -> tuple[JointMotion, Expr | None]:
        """Kinematics from the parent's reference point to the body's, and the body's angle if planar."""
        walk = _JointWalk(self, link.body, parent)
        for step in link.before:
            walk.step(step)
        for step in self.m.relative_motion(self.m.index[link.body], walk.pose):
            walk.step(step)
        for step in link.after:
            if not isinstance(step, Shift):  # the last shift leads from the reference point to the body's origin
                walk.step(step)
        return walk.motion(), walk.pose.theta

    def _add_body(self, link: Link, pose: Pose) -> None:
        parent = self._parent(link)
        motion, theta = self._joint_motion(link, parent)
        place = _reference(link)
        mass, S, J = self._mass_properties(link, place, pose)
        move = self._flat_motion if theta is not None else self._motion
        v, w, dv, dw, V, W = move(link, parent, motion, theta)
        keep, hint = self.tape.keep_all, link.body
        body = FreeBody(
            pose,
            place,
            mass,
            S,
            J,
            keep(v, f"v__{hint}"),
            keep(w, f"w__{hint}"),
            keep(dv, f"dv__{hint}"),
            keep(dw, f"dw__{hint}"),
            {k: keep(x, f"V__{hint}_{self.m.rates[k]}") for k, x in V.items() if not vec.all_zero(x)},
            {k: keep(x, f"W__{hint}_{self.m.rates[k]}") for k, x in W.items() if not vec.all_zero(x)},
        )
        self.joint_motions.append(motion)
        self.bodies.append(body)

    def _carried(self, parent: FreeBody, motion: JointMotion) -> tuple[vec.Vector, vec.Vector, dict[int, vec.Vector]]:
        """Velocity of the body's reference point in the parent's axes, its rate for v' = 0, and its columns."""
        arm, slide = motion.arm, motion.slide
        v = vec.add(parent.v, vec.cross(parent.w, arm), slide)
        dv = vec.add(parent.dv, vec.cross(parent.dw, arm), vec.cross(parent.w, slide), motion.bend)
        if parent.flat:  # arm and slide rotate relative to world axes
            dv = vec.add(dv, vec.cross(parent.w, vec.cross(parent.w, arm)), vec.cross(parent.w, slide))
        V: dict[int, vec.Vector] = {}
        for k in {**parent.V, **parent.W, **motion.slides}:
            swing = vec.cross(parent.W.get(k, vec.NULL), arm)
            V[k] = vec.add(parent.V.get(k, vec.NULL), swing, motion.slides.get(k, vec.NULL))
        return v, dv, V

    def _flat_motion(self, link: Link, parent: FreeBody, motion: JointMotion, theta: Expr) -> Any:
        """Motion in world axes; the angular velocity is the rate of the absolute angle."""
        v, dv, V = self._carried(parent, motion)
        rate = self.in_time(theta)
        W = {k: [0, 0, slope[0]] for k, slope in self.slopes([theta]).items()}
        return v, [0, 0, rate], dv, [0, 0, self.in_time(rate)], V, W

    def _motion(self, link: Link, parent: FreeBody, motion: JointMotion, theta: None) -> Any:
        """Motion in body axes; their rotation adds -turning x vector to the rates of components."""
        back = vec.transposed(motion.turn)
        hint = link.body
        v, dv, V = self._carried(parent, motion)
        carried = self.tape.keep_all(vec.times(back, parent.w), f"wp__{hint}")
        w = self.tape.keep_all(vec.add(carried, motion.spin), f"w__{hint}")
        v = self.tape.keep_all(vec.times(back, self.tape.keep_all(v, f"vp__{hint}")), f"v__{hint}")
        dv = self.tape.keep_all(dv, f"dvp__{hint}")
        turning = w if parent.flat else motion.spin  # of the body's axes relative to the parent's
        dv = vec.subtract(vec.times(back, dv), vec.cross(turning, v))
        dw = vec.subtract(vec.times(back, parent.dw), vec.cross(motion.spin, carried))
        dw = vec.add(dw, motion.spin_rate)
        V = {k: vec.times(back, self.tape.keep_all(x, f"Vp__{hint}")) for k, x in V.items()}
        W = {k: vec.times(back, x) for k, x in parent.W.items()}
        for k, x in motion.spins.items():
            W[k] = vec.add(W.get(k, vec.NULL), x)
        return v, w, dv, dw, V, W

    def _mass_properties(self, link: Link, place: vec.Vector, pose: Pose) -> tuple[Expr, vec.Vector, vec.Matrix]:
        """Mass, static moment and inertia about the reference point, in the axes in use."""
        c = vec.subtract(link.com, place)
        S, J = vec.scale(link.mass, c), self._inertia(link, c)
        if pose.theta is not None:  # rotation about z only needs one column
            column = vec.times(pose.R, [row[2] for row in J])
            S, J = vec.times(pose.R, S), [[0, 0, x] for x in column]
        return link.mass, self.tape.keep_all(S, f"S__{link.body}"), J

    def _inertia(self, link: Link, c: vec.Vector) -> vec.Matrix:
        """Inertia about the reference point in body axes: I + m (c.c 1 - c c^T)."""
        square = vec.dot(c, c)
        matrix: list[list[Expr]] = [[0] * 3 for _ in range(3)]
        for i in range(3):
            for j in range(i + 1):
                spread = square - c[i] * c[j] if i == j else -c[i] * c[j]
                whole = se.expand(link.inertia[i][j] + link.mass * spread)
                matrix[i][j] = matrix[j][i] = self.tape.keep(whole, f"J__{link.body}_{'xyz'[j]}{'xyz'[i]}")
        return matrix


class _JointWalk:
    """Follows the steps of a joint and accumulates its kinematics.

    Translations accumulate in the parent's axes, rotations in the current axes.
    """

    def __init__(self, free: FreeBodies, body: str, parent: FreeBody) -> None:
        self._free = free
        self._body = body
        self._hint = body if parent.flat else f"{body}_rel"
        self.pose = parent.pose if parent.flat else Pose(vec.IDENTITY, vec.NULL)
        self._arm: vec.Vector = vec.scale(-1, vec.times(self.pose.R, parent.place))
        self._slide: vec.Vector = vec.NULL
        self._bend: vec.Vector = vec.NULL
        self._slides: dict[int, vec.Vector] = {}
        self._spin: vec.Vector = vec.NULL
        self._spin_rate: vec.Vector = vec.NULL
        self._spins: dict[int, vec.Vector] = {}

    def step(self, step: Step) -> None:
        """Adds one step."""
        match step:
            case Shift(vector):
                self._shift(vector)
            case Turn(axis, angle):
                rate = self._free.in_time(angle)
                columns = {k: vec.scale(x[0], axis) for k, x in self._free.slopes([angle]).items()}
                bend = vec.scale(self._free.in_time(rate), axis)
                self._turn(step, vec.scale(rate, axis), bend, columns)
            case TurnBall(omega=omega, columns=columns, bias=bias):
                self._turn(step, omega, bias, {self._free.index_of[rate]: x for rate, x in columns.items()})
            case _:
                assert_never(step)

    def motion(self) -> JointMotion:
        """The accumulated kinematics."""
        keep = self._free.tape.keep_all
        return JointMotion(
            vec.IDENTITY if self.pose.theta is not None else self.pose.R,
            keep(self._arm, f"arm__{self._body}"),
            keep(self._slide, f"slide__{self._body}"),
            keep(self._bend, f"bend__{self._body}"),
            {k: keep(x, f"slide__{self._body}_{self._free.m.rates[k]}") for k, x in self._slides.items()},
            keep(self._spin, f"spin__{self._body}"),
            keep(self._spin_rate, f"dspin__{self._body}"),
            {k: keep(x, f"spin__{self._body}_{self._free.m.rates[k]}") for k, x in self._spins.items()},
        )

    def _shift(self, vector: vec.Vector) -> None:
        """Adds a translation in the current, rotating axes: (A x)' = A (x' + spin x x)."""
        free, R = self._free, self.pose.R
        rate = free.in_time.all(vector)
        sweep = vec.cross(self._spin, vector)
        bend = vec.add(
            free.in_time.all(rate),
            vec.scale(2, vec.cross(self._spin, rate)),
            vec.cross(self._spin_rate, vector),
            vec.cross(self._spin, sweep),
        )
        self._arm = vec.add(self._arm, vec.times(R, vector))
        self._slide = vec.add(self._slide, vec.times(R, vec.add(rate, sweep)))
        self._bend = vec.add(self._bend, vec.times(R, bend))
        columns = free.slopes(vector)
        for k in {**columns, **self._spins}:
            column = vec.add(columns.get(k, vec.NULL), vec.cross(self._spins.get(k, vec.NULL), vector))
            if not vec.all_zero(column):
                self._slides[k] = vec.add(self._slides.get(k, vec.NULL), vec.times(R, column))

    def _turn(self, step: Turn | TurnBall, spin: vec.Vector, bend: vec.Vector, columns: Columns) -> None:
        """Transforms angular quantities to the axes after a rotation, (A^T x)' = A^T x' - spin x A^T x, and adds it."""
        if self._spins:
            back = vec.transposed(self._matrix(step))
            carried = vec.times(back, self._spin)
            rate = vec.subtract(vec.times(back, self._spin_rate), vec.cross(spin, carried))
            self._spin, self._spin_rate = carried, rate
            self._spins = {k: vec.times(back, x) for k, x in self._spins.items()}
        self._spin = vec.add(self._spin, spin)
        self._spin_rate = vec.add(self._spin_rate, bend)
        for k, column in columns.items():
            self._spins[k] = vec.add(self._spins.get(k, vec.NULL), column)
        self.pose = self._free.m.follow(self.pose, (step,), self._hint)

    def _matrix(self, step: Turn | TurnBall) -> vec.Matrix:
        if isinstance(step, Turn):
            return self._free.m.turn_matrix(step.axis, step.angle, self._hint)
        return self._free.m.named(step.matrix, f"{self._hint}_joint")


def _reference(link: Link) -> vec.Vector:
    """The body's side of its inboard joint, in body axes."""
    shifts = [step.vector for step in link.after if isinstance(step, Shift)]
    return vec.scale(-1, shifts[0]) if shifts else vec.NULL
