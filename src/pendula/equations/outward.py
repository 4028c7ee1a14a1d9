"""Outward recursion: velocities and accelerations of bodies from ground to the tips, linear in v'.

Vectors are in world axes if all rotations are about z, in body axes otherwise. See ``newton_euler.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pendula.equations import vectors as vec
from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.mechanism.parts import WORLD, Pose, Shift, Step, Turn
from pendula.equations.orientation.symbols import TurnBall
from pendula.equations.tape import Expr, is_zero

BIAS = -1
"""Key of the bias term of a linear form, which does not depend on v'."""

Form = Mapping[int, vec.Vector]
"""A vector linear in the accelerations of the rates: index of the rate (or BIAS) -> coefficient."""


@dataclass
class Body:
    """Motion of a body: angular velocity w and velocity u of its origin, and accelerations alpha and a."""

    pose: Pose
    w: vec.Vector = vec.NULL
    u: vec.Vector = vec.NULL
    alpha: Form = field(default_factory=dict)
    a: Form = field(default_factory=dict)

    @property
    def flat(self) -> bool:
        """Whether vectors are in world axes (else in body axes)."""
        return self.pose.theta is not None


def added(*forms: Form) -> Form:
    """The sum of linear forms."""
    total: dict[int, list[vec.Vector]] = {}
    for form in forms:
        for k, vector in form.items():
            total.setdefault(k, []).append(vector)
    return {k: vec.add(*vectors) if len(vectors) > 1 else vectors[0] for k, vectors in total.items()}


def mapped(form: Form, function: Any) -> Form:
    """A linear form with a map applied to every coefficient."""
    return {k: function(vector) for k, vector in form.items()}


@dataclass
class Freedom:
    """Motion subspace of a joint: angular and linear velocity of its child's origin per rate, in the child's axes."""

    spins: Form = field(default_factory=dict)
    slides: Form = field(default_factory=dict)


class Outward:
    """The motion of all bodies, the motion subspaces of their joints, and their poses relative to their parents."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.m = mechanism
        self.tape = mechanism.tape
        self.in_time = mechanism.in_time()
        self.virtual = [mechanism.virtual(k) for k in range(len(mechanism.rates))]
        self.index_of = mechanism.rate_index
        self.bodies: list[Body] = []
        self.freedoms: list[Freedom] = []
        self.turns: list[vec.Matrix] = []  # from a body's axes to those of its parent
        self.arms: list[vec.Vector] = []  # from the parent's origin to the body's, in the parent's axes
        for k in range(len(mechanism.links)):
            self._add(k)

    def _add(self, k: int) -> None:
        link = self.m.links[k]
        parent = self.bodies[link.parent] if link.parent >= 0 else Body(WORLD)
        here, own = parent, Freedom()
        turn: vec.Matrix = vec.IDENTITY
        arm: vec.Vector = vec.NULL
        for step in link.before:
            here, own, turn, arm = self._step(here, own, turn, arm, step, link.body)
        for step in (*self.m.relative_motion(k, here.pose), *link.after):
            here, own, turn, arm = self._step(here, own, turn, arm, step, link.body)
        keep = self.tape.keep_all
        hint = link.body
        self.bodies.append(
            Body(
                here.pose,
                keep(here.w, f"w__{hint}"),
                keep(here.u, f"u__{hint}"),
                {i: keep(x, f"alpha__{hint}") for i, x in here.alpha.items() if not vec.all_zero(x)},
                {i: keep(x, f"a__{hint}") for i, x in here.a.items() if not vec.all_zero(x)},
            )
        )
        self.freedoms.append(own)
        self.turns.append(self.m.named(turn, f"{hint}_rel"))
        self.arms.append(keep(arm, f"arm__{hint}"))

    def slopes(self, expressions: Sequence[Expr]) -> dict[int, list[Expr]]:
        """Derivatives of a joint's own expressions by every rate that moves them."""
        found = {}
        for i, direction in enumerate(self.virtual):
            slopes = direction.all(expressions)
            if not vec.all_zero(slopes):
                found[i] = slopes
        return found

    def _step(
        self, here: Body, own: Freedom, turn: vec.Matrix, arm: vec.Vector, step: Step, hint: str
    ) -> tuple[Body, Freedom, vec.Matrix, vec.Vector]:
        after = self.m.follow(here.pose, (step,), hint)
        if isinstance(step, Shift):
            return *self._shifted(here, own, step, after, hint), turn, self._further(here, turn, arm, step)
        if isinstance(step, Turn) and here.flat and is_zero(step.axis[0]) and is_zero(step.axis[1]):
            return *self._spun(here, own, step.axis, step.angle, after), turn, arm
        if isinstance(step, Turn):
            matrix = self.m.turn_matrix(step.axis, step.angle, hint)
        else:
            matrix = self.m.named(step.matrix, f"{hint}_joint")
        if here.flat:  # from world axes to body axes first
            turn = vec.product(turn, here.pose.R)
            here, own = self._in_axes(here, own, vec.transposed(here.pose.R), Pose(here.pose.R, here.pose.r), hint)
        here, own = self._in_axes(here, own, vec.transposed(matrix), Pose(after.R, after.r), hint)
        turn = self.m.named(vec.product(turn, matrix), f"{hint}_rel")
        if isinstance(step, Turn):
            return *self._spun(here, own, step.axis, step.angle, Pose(after.R, after.r)), turn, arm
        return *self._ball(here, own, step), turn, arm

    def _further(self, here: Body, turn: vec.Matrix, arm: vec.Vector, step: Shift) -> vec.Vector:
        vector: vec.Vector = step.vector
        if here.flat:
            vector = vec.times(here.pose.R, vector)
        return vec.add(arm, vec.times(turn, vector))

    def _in_axes(self, here: Body, own: Freedom, matrix: vec.Matrix, pose: Pose, hint: str) -> tuple[Body, Freedom]:
        """The same motion in other axes."""

        def turned(vector: vec.Vector) -> vec.Vector:
            return self.tape.keep_all(vec.times(matrix, vector), f"t__{hint}")

        body = Body(pose, turned(here.w), turned(here.u), mapped(here.alpha, turned), mapped(here.a, turned))
        return body, Freedom(mapped(own.spins, turned), mapped(own.slides, turned))

    def _shifted(self, here: Body, own: Freedom, step: Shift, after: Pose, hint: str) -> tuple[Body, Freedom]:
        """Motion after a translation, including the relative velocity and acceleration of the translation itself."""

        def axes(vector: Sequence[Expr]) -> vec.Vector:
            return vec.times(here.pose.R, vector) if here.flat else vector

        d = self.tape.keep_all(axes(step.vector), f"d__{hint}")
        rate = self.in_time.all(step.vector)
        bend = self.in_time.all(rate)
        slide = axes(rate)
        u = vec.add(here.u, vec.cross(here.w, d), slide)
        bias = vec.add(vec.cross(here.w, vec.cross(here.w, d)), vec.scale(2, vec.cross(here.w, slide)), axes(bend))
        slopes = {i: axes(x) for i, x in self.slopes(step.vector).items()}
        a = added(here.a, mapped(here.alpha, lambda x: vec.cross(x, d)), slopes, {BIAS: bias})
        slides = added(own.slides, mapped(own.spins, lambda x: vec.cross(x, d)), slopes)
        return Body(after, here.w, u, here.alpha, a), Freedom(own.spins, slides)

    def _spun(self, here: Body, own: Freedom, axis: Sequence[Expr], angle: Expr, after: Pose) -> tuple[Body, Freedom]:
        """Motion after a rotation about an axis that is fixed in the frames before and after it (revolute)."""
        rate = self.in_time(angle)
        spin = vec.scale(rate, axis)
        bias = vec.add(vec.cross(here.w, spin), vec.scale(self.in_time(rate), axis))
        slopes = {i: vec.scale(x[0], axis) for i, x in self.slopes([angle]).items()}
        alpha = added(here.alpha, slopes, {BIAS: bias})
        body = Body(after, vec.add(here.w, spin), here.u, alpha, here.a)
        return body, Freedom(added(own.spins, slopes), own.slides)

    def _ball(self, here: Body, own: Freedom, step: TurnBall) -> tuple[Body, Freedom]:
        columns = {self.index_of[rate]: column for rate, column in step.columns.items()}
        alpha = added(here.alpha, columns, {BIAS: vec.add(vec.cross(here.w, step.omega), step.bias)})
        body = Body(here.pose, vec.add(here.w, step.omega), here.u, alpha, here.a)
        return body, Freedom(added(own.spins, columns), own.slides)
