"""Projection: the equations of free bodies, projected by an orthogonal complement of the joint constraints.

For body i, with its side of its inboard joint as reference point O (Tataru, eqs 1-13),

    M_i V_i' + Omega_i V_i = Q_i + reactions,      V_i = (v_O, omega),

    M_i = [ m 1   -[S] ]     Omega_i = [ m [omega]        -[omega][S] ]     Q_i = ( force, moment about O ),
          [ [S]     J  ]               [ [S][omega]        [omega] J  ]

with [a] b = a x b, S = m c the static moment and J the inertia about O. Joints impose L_lambda V = 0. For a tree the
complement of L_lambda needs no inversion, because the velocity of each body follows from its parent's (eqs 24-36),

    v = T^T (v_parent + omega_parent x arm + slide),      omega = T^T omega_parent + spin,

T the rotation matrix from the body's axes to its parent's, arm from the parent's reference point to the body's, slide
and spin the relative velocity in the joint. This gives the columns of L_tau for the free speeds, and the driven part
for prescribed motions: V = L_tau v + driven. Reactions do no work on these, L_tau^T L_lambda^T = 0, so (eqs 56-62)

    M = L_tau^T M_free L_tau,      f = L_tau^T (Q - Omega V - M_free (L_tau' v + driven')).

Closing joints are constraints on the same velocities, G_free V = b, hence G = G_free L_tau. The free bodies then give
the reactions lambda (eqs 71-81): the joints supply M_free V' + Omega V - Q, joint by joint from the tips to ground,
which for a tree solves the free-body equations for lambda without forming L_lambda L_lambda^T.

Components are in body axes. If all rotations are about z they are in world axes, which keeps planar equations short:
then V' is the rate in fixed axes, and the terms of Omega due to rotating axes, omega x m v and S x (omega x v), vanish.

Corrections to the printed paper, checked numerically:

- lower left block of eq. 3: [S][omega], not [S][M];
- eq. 21 has the zero column [R_1^33, 0], eq. 22 reads [-R_2^33, 0]; A of eqs 30-32 is 12 x 2;
- eq. 37 is L V' + L' V = A q''; eq. 41 has -R_2 [omega_2] above, and R [omega] below (as in eqs 38, 40);
- eq. 42 is V' = L_tau q'' + L_tau' q'; zero blocks of eqs 52, 53 are 6 x 6; eq. 66 means q' = omega;
- eqs 71, 73: L_lambda Omega, not L_tau Omega.

Extensions: any tree, spatial joints, prescribed motions, closed loops, all loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

import symengine as se

from pendula.equations import closures as cl
from pendula.equations import loads as ld
from pendula.equations import vectors as vec
from pendula.equations.assemble import Blocks, gather
from pendula.equations.equations import PARTS, Equations, Transmitted, acceleration_symbols, multiplier_symbols
from pendula.equations.formulations.support import Support
from pendula.equations.free_bodies import Columns, FreeBodies, FreeBody, Wrench
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.equations.shares import Book, Terms
from pendula.equations.tape import Expr, is_zero
from pendula.model.bodies import GROUND
from pendula.model.model import Model


class Projection:
    """Derivation from free bodies and an orthogonal complement."""

    name = "projection"
    support = Support(
        coordinates="joints",
        solved="complement",
        growth=(2, 3),
        solution=3,
        uses="free bodies, and an orthogonal complement of the joint constraints",
        choose="for forces in joints, with v' solved in the null space of the constraints",
        joint_forces=True,
    )

    def derive(self, model: Model) -> Equations:
        """The equations of motion of a model."""
        return ProjectionDerivation(TreeCoordinates(model)).equations()

    def derivation(self, model: Model) -> ProjectionDerivation:
        """The derivation, with all its intermediate results and the source of each term."""
        return ProjectionDerivation(TreeCoordinates(model), traced=True)


Wrenches = dict[int, Wrench]
"""Wrenches by the index of the body they act on."""


@dataclass(frozen=True)
class FreeRow:
    """A row of G_free: the wrench of a unit multiplier on every body, and prescribed points of ground."""

    gap: Expr
    wrenches: Wrenches
    direction: vec.Vector = vec.NULL
    moved: tuple[tuple[int, cl.Point], ...] = ()


class ProjectionDerivation:
    """The derivation for one mechanism; its attributes are the results, in the order in which they are found."""

    def __init__(self, mechanism: TreeCoordinates, *, traced: bool = False) -> None:
        self.m = mechanism
        self.tape = mechanism.tape
        self.loads = ld.collect_loads(mechanism)
        self.rows = cl.closure_rows(mechanism)
        self.count = len(mechanism.rates)
        free = FreeBodies(mechanism)
        self.bodies, self.joint_motions = free.bodies, free.joint_motions
        self.in_time, self.slopes = free.in_time, free.slopes
        self._dot = vec.Products()
        self.book = Book(traced=traced)
        self.forces: dict[str, list[Terms]] = {}
        self.mass_terms: list[list[Terms]] = []

    # -- loads as wrenches on free bodies -------------------------------------------------------

    @cached_property
    def wrenches(self) -> dict[str, Wrenches]:
        """Q by part and body: gravity and all external loads on bodies."""
        found: dict[str, dict[int, list[Wrench]]] = {part: {} for part in PARTS}

        def act(part: str, body: str, place: vec.Vector, force: vec.Vector, torque: vec.Vector = vec.NULL) -> None:
            """Adds a force at a point and a torque, both in the axes in use."""
            k = self.m.index[body]
            moment = vec.add(vec.cross(self.bodies[k].arm(place), force), torque)
            found[part].setdefault(k, []).append(Wrench(force, moment))

        gravity = self.m.constants_of(self.m.model.gravity)
        for k, body in enumerate(self.bodies):
            fall = self.tape.keep_all(body.from_world(gravity), f"g__{self.m.links[k].body}")
            found["gravity"][k] = [Wrench(vec.scale(body.mass, fall), vec.cross(body.S, fall))]
        for load in self.loads:
            match load:
                case ld.TorqueOn(name, vector, axes):
                    act("applied", name, self._body(name).place, vec.NULL, self._in_use(name, vector, axes))
                case ld.ForceAt(name, place, vector, axes):
                    act("applied", name, place, self._in_use(name, vector, axes))
                case ld.SpinForce(name, place, direction, coefficient, dissipative):
                    body = self._body(name)
                    force = vec.scale(coefficient, vec.cross(body.w, body.to_axes(direction)))
                    act("dissipation" if dissipative else "applied", name, place, force)
                case ld.Between():
                    for part, pull in self._pulls(load).items():
                        for (name, place), sign in ((load.start, 1), (load.end, -1)):
                            if name != GROUND:
                                act(part, name, place, self._body(name).from_world(vec.scale(sign, pull)))
                case ld.Across() | ld.BallFriction() | ld.OnCoordinate():
                    pass  # inside joints
                case _:
                    assert_never(load)
        return {part: {k: self._named(k, _sum(each)) for k, each in by.items()} for part, by in found.items()}

    def _named(self, k: int, wrench: Wrench, force: str = "F", moment: str = "T") -> Wrench:
        """A wrench on body k whose long entries become named intermediates with these letters."""
        hint, keep = self.m.links[k].body, self.tape.keep_all
        return Wrench(keep(wrench.force, f"{force}__{hint}"), keep(wrench.moment, f"{moment}__{hint}"))

    def _body(self, name: str) -> FreeBody:
        return self.bodies[self.m.index[name]]

    def _in_use(self, name: str, vector: vec.Vector, axes: str) -> vec.Vector:
        body = self._body(name)
        return body.from_world(vector) if axes == "world" else body.to_axes(vector)

    def _pulls(self, load: ld.Between) -> dict[str, vec.Vector]:
        """Forces of a spring and a damper on its start point, in world axes."""
        gap = vec.subtract(self.m.point(*load.end), self.m.point(*load.start))
        gap = self.tape.keep_all(gap, "gap__spring")
        square = self.tape.name(vec.dot(gap, gap), "square__spring")
        shares = load.shares(
            square,
            lambda: self.tape.name(se.sqrt(square), "length__spring"),
            lambda: vec.dot(vec.subtract(self._velocity(*load.end), self._velocity(*load.start)), gap),
        )
        if load.pull.straight is None:
            shares = {part: self.tape.name(se.sympify(share), f"share__{part}") for part, share in shares.items()}
        return {part: self.tape.keep_all(vec.scale(x, gap), f"pull__{part}") for part, x in shares.items()}

    def _velocity(self, name: str, place: vec.Vector) -> vec.Vector:
        """Velocity of a point in world axes; a point of ground has its prescribed velocity."""
        if name == GROUND:
            return self.in_time.all(place)
        body = self._body(name)
        return body.to_world(vec.add(body.v, vec.cross(body.w, body.arm(place))))

    def _inside_joints(self, rows: dict[str, list[Terms]]) -> None:
        """Generalized forces inside joints, and of springs on prescribed points of ground."""
        for load in self.loads:
            self.book.of_force(load.force)
            match load:
                case ld.Across():
                    x = load.measured(self.tape)
                    spring, damper = load.pull.elastic(x), load.pull.drag(x, self.in_time(x))
                    for k, slope in self.slopes([x]).items():
                        rows["springs"][k].append(-spring * slope[0])
                        rows["dissipation"][k].append(-damper * slope[0])
                case ld.BallFriction(speeds, coefficient):
                    for k in speeds:
                        rows["dissipation"][k].append(-coefficient * self.m.v[k])
                case ld.OnCoordinate(k, value):
                    rows["applied"][k].append(value)
                case ld.Between():
                    for (name, place), sign in ((load.start, 1), (load.end, -1)):
                        if name == GROUND:
                            self._pull_ground(rows, load, place, sign)
                case ld.ForceAt() | ld.TorqueOn() | ld.SpinForce():
                    pass  # on bodies
                case _:
                    assert_never(load)

    def _pull_ground(self, rows: dict[str, list[Terms]], load: ld.Between, place: vec.Vector, sign: int) -> None:
        slopes = self.slopes(place)
        if slopes:
            for part, force in self._pulls(load).items():
                for k, slope in slopes.items():
                    rows[part][k].append(sign * vec.dot(force, slope))

    # -- projection -----------------------------------------------------------------------------

    def _project(self, rows: list[Terms], wrenches: Wrenches, sign: int = 1) -> None:
        """Adds L_tau^T times wrenches on the free bodies."""
        for b, wrench in wrenches.items():
            self.book.of_body(self.m.links[b].body)
            body = self.bodies[b]
            for k in sorted({**body.V, **body.W}):
                terms = wrench.work(body.V.get(k, vec.NULL), body.W.get(k, vec.NULL))
                rows[k] += [sign * x for x in terms if not is_zero(x)]

    def _mass(self) -> list[list[Expr]]:
        """Mass matrix L_tau^T M_free L_tau: rows are all rates, columns the free speeds."""
        n, count = len(self.m.v), self.count
        terms = self.mass_terms = self.book.matrix(count, n)
        for link, body in zip(self.m.links, self.bodies, strict=True):
            self.book.of_body(link.body)
            if body.flat and len(body.W) <= 1:
                self._flat_mass(terms, body, n)
            else:
                self._body_mass(terms, body, link.body, n)
        for rotor in self.m.rotors:
            self.book.of_joint(self.m.links[rotor.link].joint.name)
            if rotor.rate < n:
                terms[rotor.rate][rotor.rate].append(rotor.inertia)
        mass = [[vec.total(terms[k][j]) for j in range(n)] for k in range(count)]
        for k in range(n):
            for j in range(k + 1, n):
                mass[k][j] = mass[j][k]
        return mass

    def _flat_mass(self, terms: list[list[Terms]], body: FreeBody, n: int) -> None:
        """Adds terms block by block, so that like terms of different bodies combine: best with absolute angles."""
        pushes = {k: vec.scale(body.mass, V) for k, V in body.V.items()}
        couplings = {k: vec.cross(W, body.S) for k, W in body.W.items()}
        spins = {k: body.J[2][2] * W[2] for k, W in body.W.items()}
        active = sorted({**body.V, **body.W})
        for k in active:
            for j in active:
                if j > k or j >= n:
                    continue
                if k in pushes and j in pushes:
                    terms[k][j].append(self._dot(pushes[k], body.V[j]))
                if k in couplings and j in body.V:
                    terms[k][j].append(self._dot(couplings[k], body.V[j]))
                if j in couplings and k in body.V:
                    terms[k][j].append(self._dot(couplings[j], body.V[k]))
                if k in spins and j in spins:
                    terms[k][j].append(spins[k] * body.W[j][2])

    def _body_mass(self, terms: list[list[Terms]], body: FreeBody, hint: str, n: int) -> None:
        """Adds terms with named columns of M_free L_tau."""
        active = sorted({**body.V, **body.W})
        columns = {}
        for j in active:
            if j < n:
                wrench = body.momentum(body.V.get(j, vec.NULL), body.W.get(j, vec.NULL))
                force = self.tape.keep_all(wrench.force, f"P__{hint}_{self.m.rates[j]}")
                columns[j] = Wrench(force, self.tape.keep_all(wrench.moment, f"H__{hint}_{self.m.rates[j]}"))
        for k in active:
            V, W = body.V.get(k, vec.NULL), body.W.get(k, vec.NULL)
            for j, column in columns.items():
                if j <= k:
                    terms[k][j] += column.work(V, W)

    @cached_property
    def biases(self) -> Wrenches:
        """Bias force M_free (L_tau' v + driven') + Omega V of every body."""
        return {
            k: self._named(k, body.momentum(body.dv, body.dw) + body.omega_terms(), "B", "C")
            for k, body in enumerate(self.bodies)
        }

    # -- closing joints -------------------------------------------------------------------------

    @cached_property
    def free_rows(self) -> dict[str, FreeRow]:
        """Rows of G_free by name: the wrenches of a unit multiplier on the free bodies."""
        found = {}
        for row in self.rows:
            match row:
                case cl.GapRow():
                    found[row.name] = self._gap_row(row)
                case cl.AngleRow():
                    found[row.name] = self._angle_row(row)
                case cl.CoupledRow():
                    found[row.name] = FreeRow(row.gap, {})  # acts inside joints
                case _:
                    assert_never(row)
        return found

    def _gap_row(self, row: cl.GapRow) -> FreeRow:
        """Gap = (child - parent) . direction; its rate includes the rotation of a direction fixed in a body."""
        direction = self.tape.keep_all(cl.world_axis(self.m, row.axis), "dir__closure")
        gap = vec.subtract(self.m.point(*row.child), self.m.point(*row.parent))
        gap = self.tape.keep_all(gap, "gap__closure")
        acting: dict[int, list[Wrench]] = {}
        moved = []
        for point, sign in ((row.child, 1), (row.parent, -1)):
            if point.body == GROUND:
                moved.append((sign, point))
                continue
            body = self._body(point.body)
            force = vec.scale(sign, body.from_world(direction))
            moment = vec.cross(body.arm(point.place), force)
            acting.setdefault(self.m.index[point.body], []).append(Wrench(force, moment))
        if row.axis.body != GROUND:
            torque = self._body(row.axis.body).from_world(vec.cross(direction, gap))
            acting.setdefault(self.m.index[row.axis.body], []).append(Wrench(vec.NULL, torque))
        wrenches = {k: self._named(k, _sum(each)) for k, each in acting.items()}
        return FreeRow(vec.dot(gap, direction), wrenches, direction, tuple(moved))

    def _angle_row(self, row: cl.AngleRow) -> FreeRow:
        """(a . b)' = (omega_a - omega_b) . (a x b)."""
        a, b = (self.tape.keep_all(cl.world_axis(self.m, axis), "dir__closure") for axis in (row.a, row.b))
        torque = self.tape.keep_all(vec.cross(a, b), "cross__closure")
        wrenches: Wrenches = {}
        for axis, sign in ((row.a, 1), (row.b, -1)):
            if axis.body != GROUND:
                k = self.m.index[axis.body]
                moment = self.bodies[k].from_world(vec.scale(sign, torque))
                wrenches[k] = self._named(k, Wrench(vec.NULL, moment))
        return FreeRow(vec.dot(a, b), wrenches)

    def _constraint(self, row: cl.Row) -> tuple[Expr, list[Expr], Expr]:
        """Gap, G = G_free L_tau, and c = -(G_free (L_tau' v + driven') + G_free' V)."""
        if isinstance(row, cl.CoupledRow):
            return cl.coupled_constraint(self.m, row)
        free = self.free_rows[row.name]
        slopes = self.book.column(self.count)
        self._project(slopes, free.wrenches)
        bias: list[Expr] = []
        for k, wrench in free.wrenches.items():
            body = self.bodies[k]
            bias += wrench.work(body.dv, body.dw)
            bias += Wrench(self.in_time.all(wrench.force), self.in_time.all(wrench.moment)).work(body.v, body.w)
        for sign, point in free.moved:
            rate = self.in_time.all(point.place)
            bias += [sign * vec.dot(free.direction, self.in_time.all(rate))]
            bias += [sign * vec.dot(self.in_time.all(free.direction), rate)]
            for k, slope in self.slopes(point.place).items():
                slopes[k].append(sign * vec.dot(free.direction, slope))
        return free.gap, [vec.total(x) for x in slopes], -vec.total(bias)

    # -- reactions ------------------------------------------------------------------------------

    def _multiplied(self, constraints: cl.Constraints) -> dict[int, list[Wrench]]:
        """Wrenches of the closing joints' multipliers on the free bodies."""
        found: dict[int, list[Wrench]] = {}
        for name, lam in zip(constraints.names, multiplier_symbols(len(constraints.names)), strict=True):
            for k, wrench in self.free_rows[name].wrenches.items():
                found.setdefault(k, []).append(wrench.times(lam))
        return found

    def _accelerations(self) -> list[tuple[vec.Vector, vec.Vector]]:
        """L_tau v' for every body, in symbols of v', by recursion from its parent's."""
        found: list[tuple[vec.Vector, vec.Vector]] = []
        symbols = acceleration_symbols(self.m.v)

        def along(columns: Columns) -> vec.Vector:
            terms = [vec.scale(symbols[k], x) for k, x in columns.items() if k < len(symbols)]
            return vec.add(*terms) if terms else vec.NULL

        for link, motion, body in zip(self.m.links, self.joint_motions, self.bodies, strict=True):
            v, w = found[link.parent] if link.parent >= 0 else (vec.NULL, vec.NULL)
            v = vec.add(v, vec.cross(w, motion.arm), along(motion.slides))
            if body.flat:
                w = along(body.W)
            else:
                back = vec.transposed(motion.turn)
                v = vec.times(back, self.tape.keep_all(v, f"avp__{link.body}"))
                w = vec.add(vec.times(back, w), along(motion.spins))
            keep = self.tape.keep_all
            found.append((keep(v, f"av__{link.body}"), keep(w, f"aw__{link.body}")))
        return found

    def _tree_joints(self, constraints: cl.Constraints) -> list[Transmitted]:
        """Wrench of every tree joint: the free-body equations solved for it, from the tips to ground."""
        supplied: list[list[Wrench]] = []
        multiplied = self._multiplied(constraints)
        for k, (body, (v, w)) in enumerate(zip(self.bodies, self._accelerations(), strict=True)):
            loads = [by[k] for by in self.wrenches.values() if k in by] + multiplied.get(k, [])
            supplied.append([body.momentum(v, w), self.biases[k], *(load.times(-1) for load in loads)])
        found = []
        for k in reversed(range(len(self.bodies))):
            link, body, motion = self.m.links[k], self.bodies[k], self.joint_motions[k]
            wrench = self._named(k, _sum(supplied[k]))
            if ld.from_ground(link.joint):
                axial = ld.torque_in_joint(self.m, self.loads, k, self.in_time)
                wrench = Wrench(wrench.force, [*wrench.moment[:2], axial])
            if link.parent >= 0:
                force = self.tape.keep_all(vec.times(motion.turn, wrench.force), f"F__{link.body}")
                moment = vec.add(vec.times(motion.turn, wrench.moment), vec.cross(motion.arm, force))
                supplied[link.parent].append(Wrench(force, moment))
            across = tuple(body.to_world(wrench.force)), tuple(body.to_world(wrench.moment))
            found.append(Transmitted(link.joint.name, *across))
        return found[::-1]

    # -- assembly -------------------------------------------------------------------------------

    def equations(self) -> Equations:
        """All blocks of the equations of motion."""
        rows = self.forces = {part: self.book.column(self.count) for part in PARTS}
        for part, wrenches in self.wrenches.items():
            self._project(rows[part], wrenches)
        self._project(rows["inertia"], self.biases, -1)
        self._inside_joints(rows)
        momenta = self.book.column(self.count)
        moving = {k: self._named(k, body.momentum(body.v, body.w), "p", "h") for k, body in enumerate(self.bodies)}
        self._project(momenta, moving)
        kinetic = [x / 2 for k, body in enumerate(self.bodies) for x in moving[k].work(body.v, body.w)]
        for rotor in self.m.rotors:
            self.book.of_joint(self.m.links[rotor.link].joint.name)
            rate = self.m.rates[rotor.rate]
            rows["inertia"][rotor.rate].append(self.m.rotor_drag(rotor))
            momenta[rotor.rate].append(rotor.inertia * rate)
            kinetic.append(rotor.inertia * rate**2 / 2)
        constraints = cl.constraint_rows(self.m, self.rows, self._constraint)
        blocks = Blocks(
            mass=self._mass(),
            parts={part: [vec.total(terms) for terms in lists] for part, lists in rows.items()},
            constraints=constraints,
            kinetic=vec.total(kinetic),
            potential=ld.potential_energy(self.m, self.loads),
            momenta=[vec.total(terms) for terms in momenta],
            transmitted=[*self._tree_joints(constraints), *cl.closures_transmit(self.m, self.rows, constraints)],
            solver="complement",
        )
        return gather(self.m, Projection.name, blocks)


def _sum(wrenches: Sequence[Wrench]) -> Wrench:
    force = vec.add(*(w.force for w in wrenches))
    return Wrench(force, vec.add(*(w.moment for w in wrenches)))
