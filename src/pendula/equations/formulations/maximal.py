"""Maximal coordinates: every body moves on its own, and joints hold the bodies together by constraints.

Each body has the equations of a free body, m a = F and I alpha + omega x I omega = T, so that M is constant and
block-diagonal. Each joint adds rows to g, G, b and c from a template that knows only its own two bodies; the
multipliers are what the joint transmits. Cost grows in proportion to the number of bodies, and accelerations
are found from the tips to ground, body by body.

Rows of a joint (A is its frame on the parent, B on the child, P where B should be according to the joint's own
coordinates): the gap r_B - r_P in world axes, and three products of an axis of P with another axis of B, which
vanish where the two are parallel. A hinge in the plane and a ball joint need only the gap between A and B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import symengine as se

from pendula.equations import closures as cl
from pendula.equations import loads as ld
from pendula.equations import vectors as vec
from pendula.equations.assemble import Blocks, gather
from pendula.equations.body_coordinates import GROUND_BODY, BodyCoordinates, FreeBody, readable_shifts
from pendula.equations.equations import PARTS, Equations, Node, Transmitted, multiplier_symbols
from pendula.equations.formulations.support import Support
from pendula.equations.matrix import Sparse, entries
from pendula.equations.mechanism import Pose, Shift, Step, Turn, TurnQuaternion
from pendula.equations.tape import Expr, is_zero
from pendula.model.bodies import GROUND
from pendula.model.model import Model

Slopes = dict[int, Expr]
"""Index of a rate -> derivative by it."""


class Maximal:
    """Derivation with coordinates for every body."""

    name = "maximal"
    support = Support(
        coordinates="bodies",
        solved="bodies",
        growth=(1, 1),
        solution=1,
        uses="free bodies, and joints as constraints between two of them",
        choose="for many bodies: everything grows in proportion to their number",
        joint_mass_matrix=False,
        joint_forces=True,
        jacobi=False,
    )

    def derive(self, model: Model) -> Equations:
        """The equations of motion of a model."""
        return _Derivation(BodyCoordinates(model)).equations()


@dataclass
class ConstraintRow:
    """One row: what must vanish, its slope by every rate that moves it, and minus its second rate with v' = 0."""

    name: str
    gap: Expr
    slopes: Slopes
    c: Expr


@dataclass
class Spot:
    """A point that moves with a body (or as ground prescribes): position, slopes by rate, velocity, and its
    acceleration with v' = 0."""

    body: FreeBody
    r: vec.Vector
    slopes: dict[int, vec.Vector]
    velocity: vec.Vector
    a: vec.Vector


@dataclass
class Turning:
    """How a set of axes turns: slopes by rate, angular velocity, angular acceleration with v' = 0."""

    slopes: dict[int, vec.Vector]
    w: vec.Vector
    alpha: vec.Vector


def merged(first: Mapping[int, vec.Vector], second: Mapping[int, vec.Vector], sign: int = 1) -> dict[int, vec.Vector]:
    """Sum (or difference) of slopes."""
    out = dict(first)
    for k, x in second.items():
        x = vec.scale(sign, x)
        out[k] = vec.add(out[k], x) if k in out else x
    return out


class _Derivation:
    def __init__(self, mechanism: BodyCoordinates) -> None:
        self.m = mechanism
        self.tape = mechanism.tape
        self.loads = ld.collect_loads(mechanism)  # loads and closing joints may prescribe motions of ground points,
        self.closures = cl.closure_rows(mechanism)  # so they come first
        self.in_time = mechanism.in_time()
        self.count = len(mechanism.rates)
        self.free = len(mechanism.v)
        self.rate_index = {str(rate): k for k, rate in enumerate(mechanism.rates)}
        self.pushes: list[tuple[FreeBody, vec.Vector, vec.Vector]] = []  # body, force, torque about its mass centre
        self.drive_of = {d.position: self.free + k for k, d in enumerate(mechanism.drives)}

    # -- points and axes ------------------------------------------------------------------------

    def _spot(self, body: FreeBody, r: Sequence[Expr], hint: str) -> Spot:
        """The point of a body that is at world position r."""
        if body is GROUND_BODY:
            slopes: dict[int, vec.Vector] = {}
            for k in self._drives_in(r):
                slopes[k] = self.m.virtual(k).all(r)
            velocity = self.in_time.all(r)
            return Spot(body, r, slopes, velocity, self.in_time.all(velocity))
        arm = self.tape.keep_all(vec.subtract(r, body.center), f"arm__{hint}")
        slopes = dict(body.V)
        slopes = merged(slopes, {k: vec.cross(W, arm) for k, W in body.W.items()})
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

    def _own_rates(self, k: int) -> list[int]:
        """Speeds that joint k keeps, and its prescribed rates."""
        joint = self.m.links[k].joint
        names = {f"{name}_dot" for name in joint.prescribed()}
        own = [*self.m.bodies[k].kept_v]
        own += [i for i in range(self.free, self.count) if str(self.m.rates[i]) in names]
        motion = [x for step in self.m.links[k].motion for x in _parts(step)]
        own += [i for i in self._drives_in(motion) if i not in own]
        return own

    # -- joints of the tree -----------------------------------------------------------------------

    def _joint(self, k: int) -> tuple[list[ConstraintRow], list[vec.Vector], list[vec.Vector]]:
        """Rows of joint k, and for each row the force and the torque on the child per unit of its multiplier."""
        link, body = self.m.links[k], self.m.bodies[k]
        reads = not body.kept_v and bool(link.joint.coordinates()) and not link.joint.prescribed()
        if reads and readable_shifts(link.joint, body.flat):  # free to move: there is nothing to constrain
            return [], [], []
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
        """How far a joint's motion moves the child's frame, in axes of the parent's side."""
        here = Pose(vec.IDENTITY, vec.NULL, 0)
        return self.m.follow(here, tuple(motion), f"{hint}_own").r

    def _gap_rows(self, k: int, A: Pose, B: Pose, d: vec.Vector) -> list[ConstraintRow]:
        """The child's point is where the joint says: r_B - r_A - R_A d = 0 in world axes."""
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
        for i in self._own_rates(k):
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
        """In the plane: the child's angle is what the joint says."""
        gap = se.sympify(B.theta) - P.theta
        slopes: Slopes = {}
        candidates = [*self.m.bodies[k].v, *self.m.parent_of(k).v, *self._own_rates(k)]
        for i in candidates:
            slopes[i] = self.m.virtual(i)(gap)
        rate = self.in_time(gap)
        return ConstraintRow(f"{self.m.links[k].joint.name}: turn", gap, slopes, -self.in_time(rate))

    def _turn_rows(self, k: int, A: Pose, B: Pose, P: Pose) -> tuple[list[ConstraintRow], list[vec.Vector]]:
        """In space: axes of P and B that must be perpendicular, and their vector products."""
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
        """p . b = 0 for two directions that turn, and p x b: the rate is (w_p - w_b) . (p x b)."""
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
        """How the child's frame turns according to the parent and the joint's own coordinates."""
        parent = self.m.parent_of(k)
        hint = self.m.links[k].joint.name
        here = Pose(vec.IDENTITY, vec.NULL)
        spin: vec.Vector = vec.NULL
        own: dict[int, vec.Vector] = {}
        for step in self.m.links[k].motion:
            assert not isinstance(step, TurnQuaternion)  # read from the bodies, never kept
            if isinstance(step, Turn):
                axis = vec.times(here.R, step.axis)
                spin = vec.add(spin, vec.scale(self.in_time(step.angle), axis))
                for i in self._own_rates(k):
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

    def _body(self, name: str) -> FreeBody:
        return GROUND_BODY if name == GROUND else self.m.bodies[self.m.index[name]]

    def _point(self, point: cl.Point, hint: str) -> Spot:
        return self._spot(self._body(point.body), self.m.point(point.body, point.place), hint)

    def _axis(self, axis: cl.Axis) -> tuple[vec.Vector, Turning]:
        body = self._body(axis.body)
        return self.tape.keep_all(vec.times(body.pose.R, axis.direction), "dir__closure"), self._turning(body)

    def _closure(self, row: cl.Row) -> tuple[Expr, list[Expr], Expr]:
        if isinstance(row, cl.AngleRow):
            (a, first), (b, second) = self._axis(row.a), self._axis(row.b)
            found, _ = self._perpendicular(row.name, a, first, b, second)
            return self._spread(found)
        assert isinstance(row, cl.GapRow)
        child, parent = self._point(row.child, "closure"), self._point(row.parent, "closure")
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

    # -- loads --------------------------------------------------------------------------------------

    def _forces(self) -> dict[str, list[list[Expr]]]:
        rows: dict[str, list[list[Expr]]] = {part: [[] for _ in range(self.count)] for part in PARTS}
        gravity = self.m.constants_of(self.m.model.gravity)
        for link, body in zip(self.m.links, self.m.bodies, strict=True):
            weight = vec.scale(link.mass, gravity)
            self.pushes.append((body, weight, vec.NULL))
            for k, V in body.V.items():
                rows["gravity"][k].append(vec.dot(weight, V))
            if not body.flat:  # omega x I omega, in body axes
                omega = [self.m.v[i] for i in body.v[3:]]
                spin = self.tape.keep_all(vec.times(link.inertia, omega), f"H__{link.body}")
                for i, x in zip(body.v[3:], vec.cross(omega, spin), strict=True):
                    rows["inertia"][i].append(-x)
        for load in self.loads:
            self._load(load, rows)
        return rows

    def _load(self, load: ld.Load, rows: dict[str, list[list[Expr]]]) -> None:
        match load:
            case ld.Between():
                self._spring(load, rows)
            case ld.Across():
                x = se.sympify(load.measured(self.tape))
                spring, damper = load.pull.elastic(x), load.pull.drag(x, self.in_time(x))
                for k in self._near(load.link):
                    slope = self.m.virtual(k)(x)
                    if not is_zero(slope):
                        rows["springs"][k].append(-spring * slope)
                        rows["dissipation"][k].append(-damper * slope)
            case ld.BallFriction(speeds, coefficient):
                for i in speeds:
                    self._on_rate(self.m.joint_v[i], -coefficient * self.m.joint_v[i], rows["dissipation"])
            case ld.OnCoordinate(i, value):
                self._on_rate(self.m.joint_rates[i], value, rows["applied"])
            case ld.TorqueOn(body, vector, axes):
                torque = self._world(body, vector, axes)
                self.pushes.append((self._body(body), vec.NULL, torque))
                for k, W in self._body(body).W.items():
                    rows["applied"][k].append(vec.dot(torque, W))
            case ld.ForceAt(body, place, vector, axes):
                spot = self._point(cl.Point(body, place), f"{body}_load")
                self._push(rows["applied"], spot, self._world(body, vector, axes))
            case ld.SpinForce(body, place, direction, coefficient, dissipative):
                across = vec.cross(self._body(body).w, self._world(body, direction, "body"))
                spot = self._point(cl.Point(body, place), f"{body}_load")
                self._push(rows["dissipation" if dissipative else "applied"], spot, vec.scale(coefficient, across))
            case _:
                assert_never(load)

    def _world(self, body: str, vector: vec.Vector, axes: str) -> vec.Vector:
        return vector if axes == "world" else vec.times(self._body(body).pose.R, vector)

    def _push(self, rows: list[list[Expr]], spot: Spot, force: vec.Vector) -> None:
        self._note(spot.body, spot.r, force, vec.NULL)
        for k, V in spot.slopes.items():
            rows[k].append(vec.dot(force, V))

    def _note(self, body: FreeBody, point: vec.Vector, force: vec.Vector, torque: vec.Vector, sign: int = 1) -> None:
        """Keeps what acts on a body, for the forces that joints of the plane transmit across it."""
        moment = vec.add(vec.cross(vec.subtract(point, body.center), force), torque)
        self.pushes.append((body, vec.scale(sign, force), vec.scale(sign, moment)))

    def _near(self, k: int) -> list[int]:
        """Rates that can change a coordinate of joint k."""
        return [*self.m.bodies[k].v, *self.m.parent_of(k).v, *self._own_rates(k)]

    def _on_rate(self, rate: Any, value: Expr, rows: list[list[Expr]]) -> None:
        """A load that acts on a joint's own rate; where that is read from two bodies, it acts on both."""
        if str(rate) in self.rate_index:
            rows[self.rate_index[str(rate)]].append(value)
            return
        names = {s.name: k for k, link in enumerate(self.m.links) for s in link.joint.speeds()}
        for i in self._near(names[str(rate)]):
            slope = self.m.by_speed(i)(rate)
            if not is_zero(slope):
                rows[i].append(value * slope)

    def _spring(self, load: ld.Between, rows: dict[str, list[list[Expr]]]) -> None:
        start, end = (self._point(cl.Point(*x), "spring") for x in (load.start, load.end))
        gap = self.tape.keep_all(vec.subtract(end.r, start.r), "gap__spring")
        square = vec.dot(gap, gap)
        shares = load.shares(
            square,
            lambda: self.tape.name(se.sqrt(square), "length__spring"),
            lambda: vec.dot(vec.subtract(end.velocity, start.velocity), gap),
        )
        for part, share in shares.items():
            if load.pull.straight is None:
                share = self.tape.name(se.sympify(share), "share__spring")
            force = self.tape.keep_all(vec.scale(share, gap), "pull__spring")
            self._push(rows[part], start, force)
            self._push(rows[part], end, vec.scale(-1, force))

    # -- all together ---------------------------------------------------------------------------------

    def equations(self) -> Equations:
        """Every block of the one equation."""
        nodes: list[Node] = []
        rows: list[ConstraintRow] = []
        lever = []
        for k, link in enumerate(self.m.links):
            body = self.m.bodies[k]
            own, forces, torques = self._joint(k)
            first = body.v[0]
            speeds = (first, first + len(body.v) + len(body.kept_v))
            nodes.append(Node(link.parent, speeds, len(body.v), (len(rows), len(rows) + len(own))))
            rows += own
            lever.append((link.joint.name, forces, torques))
        closing = cl.constraint_rows(self.m, self.closures, self._closure)
        constraints = cl.Constraints(
            (*(r.name for r in rows), *closing.names),
            (*(r.gap for r in rows), *closing.g),
            Sparse([*(r.slopes for r in rows), *_sparse_rows(closing)], self.count),
            (*(r.c for r in rows), *closing.c),
        )
        parts = {part: [vec.total(terms) for terms in lists] for part, lists in self._forces().items()}
        mass = self._mass()
        momenta: list[Expr] = [0] * self.count
        for i, row in enumerate(mass.rows[: self.free]):
            momenta[i] = vec.total([x * self.m.v[j] for j, x in row.items()])
        kinetic = vec.total([p * v / 2 for p, v in zip(momenta, self.m.v, strict=False) if not is_zero(p)])
        blocks = Blocks(
            mass=mass,
            parts=parts,
            constraints=constraints,
            kinetic=kinetic,
            potential=ld.potential_energy(self.m, self.loads),
            momenta=momenta,
            transmitted=self._transmitted(nodes, lever, cl.closures_transmit(self.m, self.closures, constraints)),
            nodes=nodes,
            readings=self.m.readings,
        )
        return gather(self.m, Maximal.name, blocks)

    def _mass(self) -> Sparse:
        rows: list[dict[int, Expr]] = [{} for _ in range(self.count)]
        for link, body in zip(self.m.links, self.m.bodies, strict=True):
            for i in body.v[: 2 if body.flat else 3]:
                rows[i][i] = link.mass
            if body.flat:
                rows[body.v[2]][body.v[2]] = link.inertia[2][2]
                continue
            for i, entry in zip(body.v[3:], link.inertia, strict=True):
                rows[i] = dict(zip(body.v[3:], entry, strict=True))
        return Sparse(rows, self.free)

    def _transmitted(
        self, nodes: list[Node], lever: list[tuple[str, list[Any], list[Any]]], closing: list[Transmitted]
    ) -> list[Transmitted]:
        """Multipliers as forces and torques on the children; joints of the plane also what goes across it."""
        for closure, carried in zip(self.m.model.closures, closing, strict=True):
            pin = self.m.point(closure.child.body, self.m.place(closure.child, closure.name))
            for side, sign in ((closure.child, 1), (closure.parent, -1)):
                self._note(self._body(side.body), pin, carried.force, carried.torque, sign)
        loads: dict[int, list[tuple[vec.Vector, vec.Vector]]] = {id(body): [] for body in self.m.bodies}
        for body, force, torque in self.pushes:
            loads.setdefault(id(body), []).append((force, torque))
        multipliers = multiplier_symbols(nodes[-1].rows[1])
        found: list[Transmitted] = []
        for k in reversed(range(len(nodes))):
            joint, forces, torques = lever[k]
            lam = multipliers[slice(*nodes[k].rows)]
            wrench: tuple[vec.Vector, vec.Vector] = (
                vec.add(vec.NULL, *(vec.scale(x, f) for x, f in zip(lam, forces, strict=True))),
                vec.add(vec.NULL, *(vec.scale(x, t) for x, t in zip(lam, torques, strict=True))),
            )
            body, parent = self.m.bodies[k], self.m.parent_of(k)
            point: vec.Vector = self.m.child_frame(k).r
            if ld.from_ground(self.m.links[k].joint):
                axial = ld.torque_in_joint(self.m, self.loads, k, self.in_time)
                wrench = (wrench[0], [*wrench[1][:2], axial])
            if body.flat:
                wrench = self._across_plane(k, *wrench, loads[id(body)])
            back = vec.add(vec.cross(vec.subtract(point, parent.center), wrench[0]), wrench[1])
            loads.setdefault(id(parent), []).append((vec.scale(-1, wrench[0]), vec.scale(-1, back)))
            found.append(Transmitted(joint, tuple(wrench[0]), tuple(wrench[1])))
        return [*found[::-1], *closing]

    def _across_plane(
        self, k: int, force: vec.Vector, torque: vec.Vector, loads: list[tuple[vec.Vector, vec.Vector]]
    ) -> tuple[vec.Vector, vec.Vector]:
        """Force along z and torque about x and y, from the balance of the body across its plane."""
        link, body = self.m.links[k], self.m.bodies[k]
        F = [force[0], force[1], -vec.total([f[2] for f, _ in loads])]
        arm = vec.subtract(self.m.child_frame(k).r, body.center)
        products = vec.times(body.pose.R, (link.inertia[0][2], link.inertia[1][2], 0))
        turn, spin = se.Symbol(f"{self.m.v[body.v[2]]}'"), body.w[2]
        rate = vec.add(vec.scale(turn, products), vec.scale(spin**2, vec.cross((0, 0, 1), products)))
        taken = vec.add(vec.cross(arm, F), vec.NULL, *(t for _, t in loads))
        T = vec.subtract(rate, taken)
        keep = self.tape.keep
        name = link.joint.name
        return [*F[:2], keep(F[2], f"F__{name}_z")], [
            *(keep(T[i], f"T__{name}_{a}") for i, a in enumerate("xy")),
            torque[2],
        ]


def _parts(step: Step) -> list[Expr]:
    match step:
        case Shift(vector):
            return list(vector)
        case Turn(_, angle):
            return [angle]
        case TurnQuaternion(quaternion):
            return list(quaternion)


def _sparse_rows(constraints: cl.Constraints) -> list[Slopes]:
    found: list[Slopes] = [{} for _ in constraints.names]
    for i, j, x in entries(constraints.G):
        found[i][j] = x
    return found
