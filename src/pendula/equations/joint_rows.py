"""Tree joints as constraint rows between two bodies, for maximal coordinates.

A is the joint's frame on the parent, B its frame on the child, and P the frame B required by the joint's own
coordinates. The rows are the gap r_B - r_P in world axes, and three scalar products of an axis of P with another axis
of B, which vanish if P and B are parallel. A planar revolute joint and a ball joint need only the gap between A and B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import symengine as se

from pendula.equations import closures as cl
from pendula.equations import loads as ld
from pendula.equations import vectors as vec
from pendula.equations.mechanism.body_coordinates import GROUND_BODY, BodyCoordinates, FreeBody, readable_shifts
from pendula.equations.mechanism.parts import WORLD, Pose, Shift, Step, Turn
from pendula.equations.orientation.symbols import TurnBall
from pendula.equations.tape import Expr, is_zero
from pendula.model.bodies import GROUND

Slopes = dict[int, Expr]
"""Row of G: index of a rate -> derivative by it."""


@dataclass
class ConstraintRow:
    """One constraint: its gap, its row of G, and c, minus its second time derivative for v' = 0."""

    name: str
    gap: Expr
    slopes: Slopes
    c: Expr


@dataclass
class Spot:
    """A point of a body (or a prescribed point of ground): position, Jacobian by rate, velocity, and its
    acceleration for v' = 0."""

    body: FreeBody
    r: vec.Vector
    slopes: dict[int, vec.Vector]
    velocity: vec.Vector
    a: vec.Vector


@dataclass
class Turning:
    """Rotation of a frame: Jacobian by rate, angular velocity, angular acceleration for v' = 0."""

    slopes: dict[int, vec.Vector]
    w: vec.Vector
    alpha: vec.Vector


def merged(first: Mapping[int, vec.Vector], second: Mapping[int, vec.Vector], sign: int = 1) -> dict[int, vec.Vector]:
    """Sum (or difference) of two Jacobians by rate."""
    out = dict(first)
    for k, x in second.items():
        x = vec.scale(sign, x)
        out[k] = vec.add(out[k], x) if k in out else x
    return out


class JointRows:
    """Constraint rows of all joints of a mechanism in maximal coordinates."""

    def __init__(self, mechanism: BodyCoordinates) -> None:
        self.m = mechanism
        self.tape = mechanism.tape
        self.in_time = mechanism.in_time()
        self.count = len(mechanism.rates)
        self.free = len(mechanism.v)
        self.index_of = mechanism.rate_index
        self.drive_of = {d.position: self.free + k for k, d in enumerate(mechanism.drives)}

    def _spot(self, body: FreeBody, r: Sequence[Expr], hint: str) -> Spot:
        """The material point of a body at world position r."""
        if body is GROUND_BODY:
            slopes: dict[int, vec.Vector] = {}
            for k in self._drives_in(r):
                slopes[k] = self.m.virtual(k).all(r)
            velocity = self.in_time.all(r)
            return Spot(body, r, slopes, velocity, self.in_time.all(velocity))
        arm = self.tape.keep_all(vec.subtract(r, body.center), f"arm__{hint}")
        slopes = merged(body.V, {k: vec.cross(W, arm) for k, W in body.W.items()})
        sweep = self.tape.keep_all(vec.cross(body.w, arm), f"sweep__{hint}")
        return Spot(body, r, slopes, vec.add(body.velocity, sweep), vec.cross(body.w, sweep))

    def _turning(self, body: FreeBody) -> Turning:
        return Turning(dict(body.W), body.w, vec.NULL)

    def _drives_in(self, expressions: Sequence[Expr]) -> list[int]:
        found = {s for e in expressions for s in se.sympify(e).free_symbols}
        return sorted(k for position, k in self.drive_of.items() if self._uses(found, position))

    def _uses(self, symbols: set[Any], base: Any) -> bool:
        bit = self.tape.bit(base)
        return any(self.tape.reach(s) & bit for s in symbols)

    def own_rates(self, k: int) -> list[int]:
        """Speeds that joint k keeps, and its prescribed rates."""
        joint = self.m.links[k].joint
        names = {f"{name}_dot" for name in joint.prescribed()}
        own = [*self.m.bodies[k].kept_v]
        own += [i for i in range(self.free, self.count) if str(self.m.rates[i]) in names]
        motion = [x for step in self.m.links[k].motion for x in _parts(step)]
        own += [i for i in self._drives_in(motion) if i not in own]
        return own

    # -- joints of the tree -----------------------------------------------------------------------

    def _reads(self, k: int) -> bool:
        """Whether the coordinates of joint k are read from its two bodies."""
        joint = self.m.links[k].joint
        return not self.m.bodies[k].kept_v and bool(joint.coordinates()) and not joint.prescribed()

    def read_slides(self, k: int) -> tuple[str, ...]:
        """Coordinates that translate along all axes, if those of joint k are read from its two bodies."""
        joint = self.m.links[k].joint
        shifts = readable_shifts(joint, self.m.bodies[k].flat) if self._reads(k) else 0
        return joint.coordinate_names()[: shifts or 0]

    def joint(self, k: int) -> tuple[list[ConstraintRow], list[vec.Vector], list[vec.Vector]]:
        """Rows of joint k, and the force and torque of each on the child per unit multiplier."""
        link, body = self.m.links[k], self.m.bodies[k]
        if self.read_slides(k):  # all motions are free: no constraint
            return [], [], []
        reads = self._reads(k)
        A, B = self.m.parent_frame(k), self.m.child_frame(k)
        parent = self.m.parent_of(k)
        both_flat = body.flat and parent.flat
        hint = link.joint.name
        d: vec.Vector = vec.NULL
        relative: tuple[Step, ...] = ()
        if not reads:
            relative = self.m.relative_motion(k, A)
            d = self._shift_of(link.motion, hint)
        P = A if reads else self.m.follow(A, relative, f"{hint}_to")
        rows = self._gap_rows(k, A, B, d)
        forces: list[vec.Vector] = [vec.IDENTITY[i] for i in range(len(rows))]
        torques: list[vec.Vector] = [vec.NULL] * len(rows)
        if both_flat and not reads:
            rows.append(self._flat_turn(k, B, P))
            forces.append(vec.NULL)
            torques.append(vec.NULL if ld.from_ground(link.joint) else (0, 0, 1))
        elif not reads:
            turns, normals = self._turn_rows(k, A, B, P)
            rows += turns
            forces += [vec.NULL] * 3
            torques += [vec.scale(-1, n) for n in normals]
        return rows, forces, torques

    def _shift_of(self, motion: Sequence[Step], hint: str) -> vec.Vector:
        """Translation of the child's frame by the joint, in axes of the parent's side."""
        return self.m.follow(WORLD, tuple(motion), f"{hint}_own").r

    def _gap_rows(self, k: int, A: Pose, B: Pose, d: vec.Vector) -> list[ConstraintRow]:
        """Position constraint of the child's point: r_B - r_A - R_A d = 0 in world axes."""
        link, body, parent = self.m.links[k], self.m.bodies[k], self.m.parent_of(k)
        hint = link.joint.name
        child = self._spot(body, B.r, f"{hint}_B")
        shift = self.tape.keep_all(vec.times(A.R, d), f"shift__{hint}")
        target = self.tape.keep_all(vec.add(A.r, shift), f"r__{hint}_to")
        if parent is GROUND_BODY:
            base = self._spot(parent, A.r, hint)
        else:
            base = self._spot(parent, target, f"{hint}_A")
        slopes = merged(child.slopes, base.slopes, -1)
        for i in self.own_rates(k):
            own = vec.times(A.R, self.m.virtual(i).all(d))
            if not vec.all_zero(own):
                slopes = merged(slopes, {i: own}, -1)
        rate = self.in_time.all(d)
        slide, bend = vec.times(A.R, rate), vec.times(A.R, self.in_time.all(rate))
        due = vec.add(base.a, vec.scale(2, vec.cross(parent.w, slide)), bend)
        c = vec.subtract(due, child.a)
        gap = vec.subtract(B.r, target)
        axes = "xy" if body.flat and parent.flat else "xyz"
        return [
            ConstraintRow(f"{hint}: gap along {a}", gap[i], {j: x[i] for j, x in slopes.items()}, c[i])
            for i, a in enumerate(axes)
        ]

    def _flat_turn(self, k: int, B: Pose, P: Pose) -> ConstraintRow:
        """Orientation constraint in the plane: theta_B - theta_P = 0."""
        gap = se.sympify(B.theta) - P.theta
        slopes: Slopes = {}
        candidates = [*self.m.bodies[k].v, *self.m.parent_of(k).v, *self.own_rates(k)]
        for i in candidates:
            slopes[i] = self.m.virtual(i)(gap)
        rate = self.in_time(gap)
        return ConstraintRow(f"{self.m.links[k].joint.name}: turn", gap, slopes, -self.in_time(rate))

    def _turn_rows(self, k: int, A: Pose, B: Pose, P: Pose) -> tuple[list[ConstraintRow], list[vec.Vector]]:
        """Orientation constraints in space: axes of P and B must be perpendicular; and their vector products."""
        hint = self.m.links[k].joint.name
        expected = self._expected_turning(k, A)
        child = self._turning(self.m.bodies[k])
        there, here = vec.transposed(P.R), vec.transposed(B.R)
        rows, normals = [], []
        for label, a, b in (("z", 0, 1), ("x", 1, 2), ("y", 2, 0)):
            row, n = self._perpendicular(f"{hint}: turn about {label}", there[a], expected, here[b], child)
            rows.append(row)
            normals.append(n)
        return rows, normals

    def _perpendicular(
        self, name: str, p: vec.Vector, first: Turning, b: vec.Vector, second: Turning
    ) -> tuple[ConstraintRow, vec.Vector]:
        """p . b = 0 for two rotating directions, and p x b: the rate is (w_p - w_b) . (p x b)."""
        hint = name.partition(":")[0]
        n = self.tape.keep_all(vec.cross(p, b), f"n__{hint}")
        slopes = {i: vec.dot(x, n) for i, x in merged(first.slopes, second.slopes, -1).items()}
        turn_p = self.tape.keep_all(vec.cross(first.w, p), f"turn__{hint}_p")
        turn_b = self.tape.keep_all(vec.cross(second.w, b), f"turn__{hint}_b")
        change = vec.add(vec.cross(turn_p, b), vec.cross(p, turn_b))
        bias = vec.dot(vec.subtract(first.alpha, second.alpha), n)
        bias = bias + vec.dot(vec.subtract(first.w, second.w), change)
        return ConstraintRow(name, vec.dot(p, b), slopes, -bias), n

    def _expected_turning(self, k: int, A: Pose) -> Turning:
        """Rotation of the frame P, from the parent's motion and the joint's own coordinates."""
        parent = self.m.parent_of(k)
        hint = self.m.links[k].joint.name
        here = Pose(vec.IDENTITY, vec.NULL)
        spin: vec.Vector = vec.NULL
        own: dict[int, vec.Vector] = {}
        for step in self.m.links[k].motion:
            if isinstance(step, TurnBall):  # angles or a rotation vector: quaternions are read, never kept
                after = vec.product(here.R, step.matrix)
                spin = vec.add(spin, vec.times(after, step.omega))
                for rate, column in step.columns.items():
                    own = merged(own, {self.index_of[rate]: vec.times(after, column)})
            elif isinstance(step, Turn):
                axis = vec.times(here.R, step.axis)
                spin = vec.add(spin, vec.scale(self.in_time(step.angle), axis))
                for i in self.own_rates(k):
                    slope = self.m.virtual(i)(step.angle)
                    if not is_zero(slope):
                        own = merged(own, {i: vec.scale(slope, axis)})
            here = self.m.follow(here, (step,), f"{hint}_own")
        spin = self.tape.keep_all(spin, f"spin__{hint}")
        turned = self.tape.keep_all(vec.times(A.R, spin), f"wrel__{hint}")
        bend = vec.times(A.R, self.in_time.all(spin))
        alpha = vec.add(vec.cross(parent.w, turned), bend)
        slopes = merged(parent.W, {i: vec.times(A.R, x) for i, x in own.items()})
        return Turning(slopes, vec.add(parent.w, turned), self.tape.keep_all(alpha, f"alpha__{hint}"))

    # -- closing joints ---------------------------------------------------------------------------

    def body(self, name: str) -> FreeBody:
        """A body by name, or ground."""
        return GROUND_BODY if name == GROUND else self.m.bodies[self.m.index[name]]

    def point(self, point: cl.Point, hint: str) -> Spot:
        """The motion of a point of a body."""
        return self._spot(self.body(point.body), self.m.point(point.body, point.place), hint)

    def _axis(self, axis: cl.Axis) -> tuple[vec.Vector, Turning]:
        body = self.body(axis.body)
        return self.tape.keep_all(vec.times(body.pose.R, axis.direction), "dir__closure"), self._turning(body)

    def closure(self, row: cl.Row) -> tuple[Expr, list[Expr], Expr]:
        """A row of a closing joint: gap, row of G, and c, minus its second time derivative for v' = 0."""
        if isinstance(row, cl.CoupledRow):
            return cl.coupled_constraint(self.m, row)
        if isinstance(row, cl.AngleRow):
            (a, first), (b, second) = self._axis(row.a), self._axis(row.b)
            found, _ = self._perpendicular(row.name, a, first, b, second)
            return self._spread(found)
        assert isinstance(row, cl.GapRow)
        child, parent = self.point(row.child, "closure"), self.point(row.parent, "closure")
        d, turning = self._axis(row.axis)
        gap = self.tape.keep_all(vec.subtract(child.r, parent.r), "gap__closure")
        across = self.tape.keep_all(vec.cross(d, gap), "across__closure")
        slopes: Slopes = {i: vec.dot(x, d) for i, x in merged(child.slopes, parent.slopes, -1).items()}
        for i, W in turning.slopes.items():
            slopes[i] = slopes.get(i, 0) + vec.dot(W, across)
        sweep = vec.cross(turning.w, d)
        bias = vec.dot(vec.subtract(child.a, parent.a), d)
        bias = bias + 2 * vec.dot(vec.subtract(child.velocity, parent.velocity), sweep)
        bias = bias + vec.dot(gap, vec.cross(turning.w, sweep))
        return self._spread(ConstraintRow(row.name, vec.dot(gap, d), slopes, -bias))

    def _spread(self, row: ConstraintRow) -> tuple[Expr, list[Expr], Expr]:
        return row.gap, [row.slopes.get(i, 0) for i in range(self.count)], row.c


def _parts(step: Step) -> list[Expr]:
    match step:
        case Shift(vector):
            return list(vector)
        case Turn(_, angle):
            return [angle]
        case TurnBall():
            return []
        case _:
            assert_never(step)
