"""Kane's equations: inertia forces and applied forces projected on partial velocities, in world axes.

For every body, velocity and angular velocity are linear in the speeds; their coefficients are the partial velocities
V_k and partial angular velocities W_k. Accelerations a0, alpha0 with v' = 0 follow body by body. Then

    M_kj = sum over bodies of  m V_k . V_j + W_k . I W_j
    f_k  = sum over bodies of  V_k . (F - m a0) + W_k . (T - I alpha0 - omega x I omega)

(Kane and Levinson, Dynamics: Theory and Applications, 1985). Only a joint's own pose template is differentiated.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, assert_never

import symengine as se

from pendula.equations import closures as cl
from pendula.equations import loads as ld
from pendula.equations import vectors as vec
from pendula.equations.assemble import Blocks, gather
from pendula.equations.equations import PARTS, Equations
from pendula.equations.formulations.support import Support
from pendula.equations.mechanism.parts import WORLD, Pose, Shift, Turn
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.equations.orientation.symbols import TurnBall
from pendula.equations.shares import Book, Terms
from pendula.equations.tape import Expr, is_zero
from pendula.model.bodies import GROUND
from pendula.model.model import Model


@dataclass
class Motion:
    """Motion of a frame in world axes: partial velocities by rate, velocities, accelerations for v' = 0."""

    r: vec.Vector = vec.NULL
    W: dict[int, vec.Vector] = field(default_factory=dict)
    V: dict[int, vec.Vector] = field(default_factory=dict)
    w: vec.Vector = vec.NULL
    v: vec.Vector = vec.NULL
    alpha: vec.Vector = vec.NULL
    a: vec.Vector = vec.NULL


class Kane:
    """Derivation by partial velocities (Kane's method)."""

    name = "kane"
    support = Support(
        coordinates="joints",
        solved="kkt",
        growth=(2, 3),
        solution=3,
        uses="partial velocities and accelerations",
        choose="by default, up to some tens of bodies: few operations, quick to derive",
    )

    def derive(self, model: Model) -> Equations:
        """The equations of motion of a model."""
        return KaneDerivation(TreeCoordinates(model)).equations()

    def derivation(self, model: Model) -> KaneDerivation:
        """The derivation, with all its intermediate results and the source of each term."""
        return KaneDerivation(TreeCoordinates(model), traced=True)


def loop_constraints(mechanism: TreeCoordinates) -> cl.Constraints:
    """Loop-closure constraints alone: kinematics of the bodies, without masses and loads."""
    derivation = KaneDerivation(mechanism)
    return cl.constraint_rows(mechanism, derivation.rows, derivation._constraint)


class KaneDerivation:
    """The derivation for one mechanism; its attributes are the results, in the order in which they are found."""

    def __init__(self, mechanism: TreeCoordinates, *, traced: bool = False) -> None:
        self.m = mechanism
        self.tape = mechanism.tape
        self.loads = ld.collect_loads(mechanism)
        self.rows = cl.closure_rows(mechanism)
        self.count = len(mechanism.rates)
        self.rate_index = mechanism.rate_index
        # coordinate -> index of its rate, rate, acceleration for v' = 0
        self.rate_of: dict[Any, tuple[int, Any, Expr]] = {}
        for k, drive in enumerate(mechanism.drives):
            self.rate_of[drive.position] = (len(mechanism.v) + k, drive.rate, drive.acceleration)
        for q, rate in zip(mechanism.q, mechanism.qdot, strict=True):
            if str(rate) in self.rate_index:
                self.rate_of[q] = (self.rate_index[str(rate)], rate, 0)
        self.bodies = self._bodies()
        self.book = Book(traced=traced)
        self.centers: list[Motion] = []
        """motion of the mass centres"""
        self.inertias: list[vec.Matrix] = []
        """inertia about the mass centre, world axes"""
        self.twists: list[vec.Vector] = []
        """I alpha + omega x I omega for v' = 0"""
        self.forces: dict[str, list[Terms]] = {}
        self.mass_terms: list[list[Terms]] = []

    # -- kinematics -----------------------------------------------------------------------------

    def _bodies(self) -> list[Motion]:
        found: list[Motion] = []
        for k, link in enumerate(self.m.links):
            parent = found[link.parent] if link.parent >= 0 else Motion()
            pose = self.m.poses[link.parent] if link.parent >= 0 else WORLD
            motion, here = parent, pose
            for step in link.before:
                motion, here = self._step(motion, here, step, link.body)
            for step in self.m.relative_motion(k, here):
                if link.absolute_turn is not None:
                    assert isinstance(step, Turn)
                    motion, here = self._absolute_turn(motion, here, step, link.absolute_turn, link.body)
                else:
                    motion, here = self._step(motion, here, step, link.body)
            for step in link.after:
                motion, here = self._step(motion, here, step, link.body)
            found.append(self._named(motion, link.body))
        return found

    def _named(self, motion: Motion, hint: str) -> Motion:
        keep = self.tape.keep_all
        return Motion(
            motion.r,
            {k: keep(x, f"W__{hint}_{self.m.rates[k]}") for k, x in motion.W.items()},
            {k: keep(x, f"V__{hint}_{self.m.rates[k]}") for k, x in motion.V.items()},
            keep(motion.w, f"w__{hint}"),
            keep(motion.v, f"v__{hint}"),
            keep(motion.alpha, f"alpha__{hint}"),
            keep(motion.a, f"a__{hint}"),
        )

    def _step(self, motion: Motion, pose: Pose, step: Shift | Turn | TurnBall, hint: str) -> tuple[Motion, Pose]:
        after = self.m.follow(pose, (step,), hint)
        match step:
            case Shift(vector):
                return self._shifted(motion, pose, vector, after, hint), after
            case Turn(axis, angle):
                direction = self.tape.keep_all(vec.times(pose.R, axis), f"axis__{hint}")
                slopes, rate, bend = self._template([angle])
                return self._spun(motion, direction, slopes, rate[0], bend[0], after), after
            case TurnBall(omega=omega, columns=columns, bias=bias):
                spin = self.tape.keep_all(vec.times(after.R, omega), f"spin__{hint}")
                turned = replace(motion, r=after.r, W=dict(motion.W), V=dict(motion.V))
                for speed, column in columns.items():
                    turned.W[self.rate_index[speed]] = vec.times(after.R, column)
                turned.w = vec.add(motion.w, spin)
                turned.alpha = vec.add(motion.alpha, vec.cross(motion.w, spin), vec.times(after.R, bias))
                return turned, after
            case _:
                assert_never(step)

    def _template(self, entries: Any) -> tuple[dict[int, list[Expr]], list[Expr], list[Expr]]:
        """Derivatives by rate, first and second time derivative (for v' = 0) of a joint's own expressions."""
        flat = [self.tape.inline(e) for e in entries]
        used = set().union(*(e.free_symbols for e in flat))
        symbols = sorted((s for s in used if s in self.rate_of), key=lambda s: self.rate_of[s][0])
        slopes: dict[int, list[Expr]] = {}
        rate: list[Expr] = [0] * len(flat)
        bend: list[Expr] = [0] * len(flat)
        for s in symbols:
            k, speed, acceleration = self.rate_of[s]
            slopes[k] = [e.diff(s) for e in flat]
            rate = [r + d * speed for r, d in zip(rate, slopes[k], strict=True)]
            bend = [b + d * acceleration for b, d in zip(bend, slopes[k], strict=True)]
        for s in symbols:
            _, speed, _ = self.rate_of[s]
            for o in symbols:
                _, other, _ = self.rate_of[o]
                bend = [b + e.diff(s).diff(o) * speed * other for b, e in zip(bend, flat, strict=True)]
        return slopes, rate, bend

    def _shifted(self, motion: Motion, pose: Pose, vector: Any, after: Pose, hint: str) -> Motion:
        """Motion of the translated origin, including the relative velocity and acceleration of the translation."""
        arm = self.tape.keep_all(vec.times(pose.R, vector), f"arm__{hint}")
        moved = Motion(after.r, dict(motion.W), dict(motion.V), motion.w, alpha=motion.alpha)
        for k, W in motion.W.items():
            swing = vec.cross(W, arm)
            if not vec.all_zero(swing):
                moved.V[k] = vec.add(motion.V.get(k, vec.NULL), swing)
        moved.v = vec.add(motion.v, vec.cross(motion.w, arm))
        centripetal = vec.cross(motion.w, vec.cross(motion.w, arm))
        moved.a = vec.add(motion.a, vec.cross(motion.alpha, arm), centripetal)
        slopes, rate, bend = self._template(vector)
        if slopes:
            for k, slope in slopes.items():
                own = vec.times(pose.R, slope)
                moved.V[k] = vec.add(moved.V.get(k, vec.NULL), own)
            slide = self.tape.keep_all(vec.times(pose.R, rate), f"slide__{hint}")
            moved.v = vec.add(moved.v, slide)
            coriolis = vec.scale(2, vec.cross(motion.w, slide))
            moved.a = vec.add(moved.a, coriolis, vec.times(pose.R, bend))
        return moved

    def _spun(
        self,
        motion: Motion,
        direction: vec.Vector,
        slopes: dict[int, list[Expr]],
        rate: Expr,
        bend: Expr,
        after: Pose,
    ) -> Motion:
        """Motion after a rotation about a direction, by an angle with these derivatives by rate and in time."""
        turned = replace(motion, r=after.r, W=dict(motion.W), V=dict(motion.V))
        for k, (slope,) in slopes.items():
            turned.W[k] = vec.add(turned.W.get(k, vec.NULL), vec.scale(slope, direction))
        spin = vec.scale(rate, direction)
        turned.w = vec.add(motion.w, spin)
        turned.alpha = vec.add(motion.alpha, vec.cross(motion.w, spin), vec.scale(bend, direction))
        return turned

    def _absolute_turn(self, motion: Motion, pose: Pose, step: Turn, own: Turn, hint: str) -> tuple[Motion, Pose]:
        """An angle measured from ground: the angular velocity is the speed, for any motion of the parent."""
        after = self.m.follow(pose, (step,), hint)
        k, speed, acceleration = self.rate_of[own.angle]
        w, alpha = vec.scale(speed, own.axis), vec.scale(acceleration, own.axis)
        return replace(motion, r=after.r, W={k: own.axis}, V=dict(motion.V), w=w, alpha=alpha), after

    def _at(self, body: str, place: vec.Vector) -> Motion:
        """Motion of a point of a body."""
        if body == GROUND:
            motion, pose = Motion(), WORLD
        else:
            k = self.m.index[body]
            motion, pose = self.bodies[k], self.m.poses[k]
        return self._shifted(motion, pose, tuple(place), Pose(pose.R, self.m.point(body, place)), body)

    # -- forces ---------------------------------------------------------------------------------

    def _world(self, body: str, vector: vec.Vector, axes: str) -> vec.Vector:
        return vector if axes == "world" else vec.times(self.m.poses[self.m.index[body]].R, vector)

    def _forces(self) -> dict[str, list[Terms]]:
        rows = {part: self.book.column(self.count) for part in PARTS}
        gravity = self.m.constants_of(self.m.model.gravity)
        for link in self.m.links:
            self.book.of_body(link.body)
            center = self._at(link.body, link.com)
            for k, V in center.V.items():
                rows["gravity"][k].append(vec.dot(vec.scale(link.mass, gravity), V))
        for load in self.loads:
            self.book.of_force(load.force)
            match load:
                case ld.Between():
                    self._spring(load, rows)
                case ld.Across():
                    self._joint_spring(load, rows)
                case ld.BallFriction(speeds, coefficient):
                    for k in speeds:
                        rows["dissipation"][k].append(-coefficient * self.m.v[k])
                case ld.OnCoordinate(k, value):
                    rows["applied"][k].append(value)
                case ld.TorqueOn(body, vector, axes):
                    torque = self._world(body, vector, axes)
                    for k, W in self.bodies[self.m.index[body]].W.items():
                        rows["applied"][k].append(vec.dot(torque, W))
                case ld.ForceAt(body, place, vector, axes):
                    self._push(rows["applied"], self._at(body, place), self._world(body, vector, axes))
                case ld.SpinForce(body, place, direction, coefficient, dissipative):
                    here = self._at(body, place)
                    force = vec.scale(coefficient, vec.cross(here.w, self._world(body, direction, "body")))
                    self._push(rows["dissipation" if dissipative else "applied"], here, force)
                case _:
                    assert_never(load)
        return rows

    def _push(self, rows: list[Terms], motion: Motion, force: vec.Vector) -> None:
        for k, V in motion.V.items():
            rows[k].append(vec.dot(force, V))

    def _spring(self, load: ld.Between, rows: dict[str, list[Terms]]) -> None:
        """Equal and opposite forces along the line between two points."""
        start, end = self._at(*load.start), self._at(*load.end)
        gap = self.tape.keep_all(vec.subtract(end.r, start.r), "gap__spring")
        square = vec.dot(gap, gap)
        shares = load.shares(
            square,
            lambda: self.tape.name(se.sqrt(square), "length__spring"),
            lambda: vec.dot(vec.subtract(end.v, start.v), gap),
        )
        for part, share in shares.items():
            if part == "dissipation" or load.pull.straight is None:
                share = self.tape.name(se.sympify(share), "drag__spring" if part == "dissipation" else "share__spring")
            force = vec.scale(share, gap)
            if part == "springs":
                force = self.tape.keep_all(force, "pull__spring")
            self._push(rows[part], start, force)
            self._push(rows[part], end, vec.scale(-1, force))

    def _joint_spring(self, load: ld.Across, rows: dict[str, list[Terms]]) -> None:
        """A torque (or force) between the two sides of a joint, which acts on the relative rate."""
        turn = self.m.links[load.link].absolute_turn
        if load.coordinate in self.rate_of:
            own, speed, _ = self.rate_of[load.coordinate]
            shares: dict[int, Expr] = {own: 1}
            rate: Expr = speed
        else:  # an angle whose rate is linear in angular velocities
            rate = self.m.joint_qdot[str(load.coordinate)]
            shares = {k: x for k in range(self.count) if not is_zero(x := rate.diff(self.m.rates[k]))}
        if turn is not None:
            # relative rate = own rate - rate of the parent about the same axis
            parent = self.m.links[load.link].parent
            axis = turn.axis
            if parent >= 0:
                for k, W in self.bodies[parent].W.items():
                    shares[k] = shares.get(k, 0) - vec.dot(axis, W)
                rate = speed - vec.dot(axis, self.bodies[parent].w)
        x = load.measured(self.tape)
        spring, damper = load.pull.elastic(x), load.pull.drag(x, rate)
        for k, share in shares.items():
            rows["springs"][k].append(-spring * share)
            rows["dissipation"][k].append(-damper * share)

    # -- constraints ----------------------------------------------------------------------------

    def _axis_motion(self, axis: cl.Axis) -> tuple[vec.Vector, Motion]:
        direction = self.tape.keep_all(cl.world_axis(self.m, axis), "dir__closure")
        return direction, Motion() if axis.body == GROUND else self.bodies[self.m.index[axis.body]]

    def _constraint(self, row: cl.Row) -> tuple[Expr, list[Expr], Expr]:
        """Gap, its row of G, and c, minus its second time derivative for v' = 0."""
        if isinstance(row, cl.AngleRow):
            return self._angle_row(row)
        if isinstance(row, cl.CoupledRow):
            return cl.coupled_constraint(self.m, row)
        assert isinstance(row, cl.GapRow)
        parent, child = self._at(*row.parent), self._at(*row.child)
        direction, frame = self._axis_motion(row.axis)
        gap = self.tape.keep_all(vec.subtract(child.r, parent.r), "gap__closure")
        across = self.tape.keep_all(vec.cross(direction, gap), "cross__closure")
        slopes: list[Expr] = []
        for k in range(self.count):
            relative = vec.subtract(child.V.get(k, vec.NULL), parent.V.get(k, vec.NULL))
            # d(gap . d) = relative velocity . d + gap . (W x d)
            slopes.append(vec.dot(relative, direction) + vec.dot(frame.W.get(k, vec.NULL), across))
        velocity = vec.subtract(child.v, parent.v)
        turning = vec.cross(frame.w, direction)
        bias = vec.dot(vec.subtract(child.a, parent.a), direction) + 2 * vec.dot(velocity, turning)
        bias = bias + vec.dot(gap, vec.add(vec.cross(frame.alpha, direction), vec.cross(frame.w, turning)))
        return vec.dot(gap, direction), slopes, -bias

    def _angle_row(self, row: cl.AngleRow) -> tuple[Expr, list[Expr], Expr]:
        (a, first), (b, second) = self._axis_motion(row.a), self._axis_motion(row.b)
        across = self.tape.keep_all(vec.cross(a, b), "cross__closure")
        slopes: list[Expr] = []
        for k in range(self.count):
            relative = vec.subtract(first.W.get(k, vec.NULL), second.W.get(k, vec.NULL))
            slopes.append(vec.dot(relative, across))
        turn_a, turn_b = vec.cross(first.w, a), vec.cross(second.w, b)
        bias = vec.dot(vec.add(vec.cross(first.alpha, a), vec.cross(first.w, turn_a)), b)
        bias = bias + 2 * vec.dot(turn_a, turn_b)
        bias = bias + vec.dot(a, vec.add(vec.cross(second.alpha, b), vec.cross(second.w, turn_b)))
        return vec.dot(a, b), slopes, -bias

    # -- assembly -------------------------------------------------------------------------------

    def equations(self) -> Equations:
        """All blocks of the equations of motion."""
        n, count = len(self.m.v), self.count
        mass_terms = self.mass_terms = self.book.matrix(count, n)
        rows = self.forces = self._forces()
        kinetic: list[Expr] = []
        momenta: list[list[Expr]] = [[] for _ in range(count)]
        products = vec.Products()
        for link, pose, body in zip(self.m.links, self.m.poses, self.bodies, strict=True):
            self.book.of_body(link.body)
            center = self._named(self._at(link.body, link.com), f"{link.body}_com")
            inertia = self._world_inertia(link.inertia, pose, link.body)
            spin = self.tape.keep_all(vec.times(inertia, body.w), f"H__{link.body}")
            twist = vec.add(vec.times(inertia, body.alpha), vec.cross(body.w, spin))
            twist = self.tape.keep_all(twist, f"T__{link.body}")
            self.centers.append(center)
            self.inertias.append(inertia)
            self.twists.append(twist)
            inertias = {k: vec.times(inertia, W) for k, W in body.W.items()}
            active = sorted(set(center.V) | set(body.W))
            for k in active:
                V, W = center.V.get(k, vec.NULL), body.W.get(k, vec.NULL)
                pushed = vec.scale(link.mass, V)
                rows["inertia"][k] += [-vec.dot(pushed, center.a), -vec.dot(W, twist)]
                momenta[k] += [vec.dot(pushed, center.v), vec.dot(W, spin)]
                for j in active:
                    if j <= k and j < n:
                        if j in center.V:
                            mass_terms[k][j].append(products(pushed, center.V[j]))
                        if j in inertias and k in body.W:
                            mass_terms[k][j].append(vec.dot(W, inertias[j]))
            kinetic += [link.mass * vec.dot(center.v, center.v) / 2, vec.dot(body.w, spin) / 2]
        for rotor in self.m.rotors:
            self.book.of_joint(self.m.links[rotor.link].joint.name)
            k, rate = rotor.rate, self.m.rates[rotor.rate]
            rows["inertia"][k].append(self.m.rotor_drag(rotor))
            momenta[k].append(rotor.inertia * rate)
            kinetic.append(rotor.inertia * rate**2 / 2)
            if k < n:
                mass_terms[k][k].append(rotor.inertia)
        mass = [[vec.total(mass_terms[k][j]) for j in range(n)] for k in range(count)]
        for k in range(n):
            for j in range(k + 1, n):
                mass[k][j] = mass[j][k]

        blocks = Blocks(
            mass=mass,
            parts={part: [vec.total(terms) for terms in lists] for part, lists in rows.items()},
            constraints=cl.constraint_rows(self.m, self.rows, self._constraint),
            kinetic=vec.total(kinetic),
            potential=ld.potential_energy(self.m, self.loads),
            momenta=[vec.total(terms) for terms in momenta],
        )
        return gather(self.m, Kane.name, blocks)

    def _world_inertia(self, inertia: Any, pose: Pose, hint: str) -> vec.Matrix:
        """R I R^T; for a body with an axis of symmetry, I_t 1 + (I_a - I_t) e e^T."""
        if all(is_zero(x) for row in inertia for x in row):
            return (vec.NULL,) * 3
        if pose.theta is not None:  # only rotation about z
            return ((0, 0, 0), (0, 0, 0), (0, 0, inertia[2][2]))
        diagonal = [inertia[i][i] for i in range(3)]
        off = [inertia[i][j] for i in range(3) for j in range(3) if i != j]
        columns = vec.transposed(pose.R)
        if all(is_zero(x) for x in off):
            for k in range(3):
                i, j = (k + 1) % 3, (k + 2) % 3
                if diagonal[i] == diagonal[j]:
                    e, extra = columns[k], self.tape.keep(diagonal[k] - diagonal[i], f"dI__{hint}")
                    matrix = [
                        [extra * e[a] * e[b] + (diagonal[i] if a == b else 0) for b in range(3)] for a in range(3)
                    ]
                    return self._symmetric(matrix, hint)
        matrix = vec.product(vec.product(pose.R, inertia), columns)
        return self._symmetric(matrix, hint)

    def _symmetric(self, matrix: vec.Matrix, hint: str) -> vec.Matrix:
        named = {}
        for i in range(3):
            for j in range(i + 1):
                named[i, j] = named[j, i] = self.tape.keep(se.sympify(matrix[i][j]), f"I__{hint}_{'xyz'[j]}{'xyz'[i]}")
        return [[named[i, j] for j in range(3)] for i in range(3)]
