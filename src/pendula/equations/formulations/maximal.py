"""Maximal (absolute) coordinates: every body has its own coordinates, and joints are constraints.

Each body has the equations of a free body, m a = F and I alpha + omega x I omega = T, so that M is constant and
block-diagonal. Each joint adds rows to g, G, b and c (``joint_rows.py``); its multipliers give its constraint wrench.
The cost is O(n) in the number of bodies: elimination proceeds from the tips to ground, body by body (Baraff 1996,
Linear-time dynamics using Lagrange multipliers).
"""

from __future__ import annotations

from typing import Any, assert_never

import symengine as se

from pendula.equations import closures as cl
from pendula.equations import loads as ld
from pendula.equations import vectors as vec
from pendula.equations.assemble import Blocks, gather
from pendula.equations.equations import PARTS, Equations, Node, Transmitted, acceleration_symbols, multiplier_symbols
from pendula.equations.formulations.support import Support
from pendula.equations.joint_rows import ConstraintRow, JointRows, Slopes, Spot
from pendula.equations.matrix import Sparse, entries
from pendula.equations.mechanism.body_coordinates import BodyCoordinates, FreeBody
from pendula.equations.shares import Book, Terms
from pendula.equations.tape import Expr, is_zero
from pendula.model.model import Model


class Maximal:
    """Derivation in maximal coordinates."""

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
        return MaximalDerivation(BodyCoordinates(model)).equations()

    def derivation(self, model: Model) -> MaximalDerivation:
        """The derivation, with all its intermediate results and the source of each term."""
        return MaximalDerivation(BodyCoordinates(model), traced=True)


class MaximalDerivation:
    """The derivation for one mechanism; its attributes are the results, in the order in which they are found."""

    def __init__(self, mechanism: BodyCoordinates, *, traced: bool = False) -> None:
        self.m = mechanism
        self.tape = mechanism.tape
        # First, since loads and closing joints may prescribe motions of ground points.
        self.loads, self.closures = ld.collect_loads(mechanism), cl.closure_rows(mechanism)
        self.joints = JointRows(mechanism)
        self.in_time, self.count, self.free = self.joints.in_time, self.joints.count, self.joints.free
        self.pushes: list[tuple[FreeBody, vec.Vector, vec.Vector]] = []  # body, force, torque about its mass centre
        self.book = Book(traced=traced)
        self.forces: dict[str, list[Terms]] = {}
        self.nodes: list[Node] = []

    # -- loads --------------------------------------------------------------------------------------

    def _forces(self) -> dict[str, list[Terms]]:
        rows = {part: self.book.column(self.count) for part in PARTS}
        gravity = self.m.constants_of(self.m.model.gravity)
        for link, body in zip(self.m.links, self.m.bodies, strict=True):
            self.book.of_body(link.body)
            weight = vec.scale(link.mass, gravity)
            self.pushes.append((body, weight, vec.NULL))
            for k, V in body.V.items():
                rows["gravity"][k].append(vec.dot(weight, V))
            if not body.flat:  # omega x I omega, in body axes
                omega = [self.m.v[i] for i in body.v[3:]]
                spin = self.tape.keep_all(vec.times(link.inertia, omega), f"H__{link.body}")
                for i, x in zip(body.v[3:], vec.cross(omega, spin), strict=True):
                    rows["inertia"][i].append(-x)
        for rotor in self.m.rotors:
            self.book.of_joint(self.m.links[rotor.link].joint.name)
            rows["inertia"][rotor.rate].append(self.m.rotor_drag(rotor))
        for load in self.loads:
            self.book.of_force(load.force)
            self._load(load, rows)
        return rows

    def _load(self, load: ld.Load, rows: dict[str, list[Terms]]) -> None:
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
                self._note_slide(load.link, str(load.coordinate), -spring - damper)
            case ld.BallFriction(speeds, coefficient):
                for i in speeds:
                    self._on_rate(self.m.joint_v[i], -coefficient * self.m.joint_v[i], rows["dissipation"])
            case ld.OnCoordinate(i, value):
                self._on_rate(self.m.joint_rates[i], value, rows["applied"])
            case ld.TorqueOn(body, vector, axes):
                torque = self._world(body, vector, axes)
                self.pushes.append((self.joints.body(body), vec.NULL, torque))
                for k, W in self.joints.body(body).W.items():
                    rows["applied"][k].append(vec.dot(torque, W))
            case ld.ForceAt(body, place, vector, axes):
                spot = self.joints.point(cl.Point(body, place), f"{body}_load")
                self._push(rows["applied"], spot, self._world(body, vector, axes))
            case ld.SpinForce(body, place, direction, coefficient, dissipative):
                across = vec.cross(self.joints.body(body).w, self._world(body, direction, "body"))
                spot = self.joints.point(cl.Point(body, place), f"{body}_load")
                self._push(rows["dissipation" if dissipative else "applied"], spot, vec.scale(coefficient, across))
            case _:
                assert_never(load)

    def _world(self, body: str, vector: vec.Vector, axes: str) -> vec.Vector:
        return vector if axes == "world" else vec.times(self.joints.body(body).pose.R, vector)

    def _push(self, rows: list[Terms], spot: Spot, force: vec.Vector) -> None:
        self._note(spot.body, spot.r, force, vec.NULL)
        for k, V in spot.slopes.items():
            rows[k].append(vec.dot(force, V))

    def _note(self, body: FreeBody, point: vec.Vector, force: vec.Vector, torque: vec.Vector, sign: int = 1) -> None:
        """Records a wrench on a body, for the out-of-plane reactions of planar joints."""
        moment = vec.add(vec.cross(vec.subtract(point, body.center), force), torque)
        self.pushes.append((body, vec.scale(sign, force), vec.scale(sign, moment)))

    def _near(self, k: int) -> list[int]:
        """Rates that affect a coordinate of joint k."""
        return [*self.m.bodies[k].v, *self.m.parent_of(k).v, *self.joints.own_rates(k)]

    def _on_rate(self, rate: Any, value: Expr, rows: list[Terms]) -> None:
        """A generalized force on a joint's own rate; if the rate is read from two bodies, it acts on both."""
        if str(rate) in self.joints.index_of:
            rows[self.joints.index_of[str(rate)]].append(value)
            return
        names = {s.name: k for k, link in enumerate(self.m.links) for s in link.joint.speeds()}
        for i in self._near(names[str(rate)]):
            slope = self.m.by_speed(i)(rate)
            if not is_zero(slope):
                rows[i].append(value * slope)
        self._note_slide(names[str(rate)], str(rate).removesuffix("_dot"), value)

    def _note_slide(self, k: int, coordinate: str, value: Expr) -> None:
        """Records a force along a slide in the plane that is read from two bodies: no row of the joint carries it."""
        body, slides = self.m.bodies[k], self.joints.read_slides(k)
        if not body.flat or coordinate not in slides:
            return
        along = vec.transposed(self.m.parent_frame(k).R)[slides.index(coordinate)]
        point, force = self.m.child_frame(k).r, vec.scale(value, along)
        self._note(body, point, force, vec.NULL)
        self._note(self.m.parent_of(k), point, force, vec.NULL, -1)

    def _note_couplings(self, constraints: cl.Constraints) -> None:
        """Records the forces of couplings along such slides."""
        multipliers = dict(zip(constraints.names, multiplier_symbols(len(constraints.names)), strict=True))
        for row in self.closures:
            if not isinstance(row, cl.CoupledRow) or row.name not in multipliers:
                continue
            for k in range(len(self.m.links)):
                for name in self.joints.read_slides(k):
                    slope = se.sympify(row.gap).diff(se.Symbol(name))
                    if not is_zero(slope):
                        self._note_slide(k, name, multipliers[row.name] * slope)

    def _spring(self, load: ld.Between, rows: dict[str, list[Terms]]) -> None:
        start, end = (self.joints.point(cl.Point(*x), "spring") for x in (load.start, load.end))
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

    # -- assembly -------------------------------------------------------------------------------------

    def equations(self) -> Equations:
        """All blocks of the equations of motion."""
        nodes = self.nodes
        rows: list[ConstraintRow] = []
        units = []
        for k, link in enumerate(self.m.links):
            body = self.m.bodies[k]
            own, forces, torques = self.joints.joint(k)
            first = body.v[0]
            speeds = (first, first + len(body.v) + len(body.kept_v))
            nodes.append(Node(link.parent, speeds, len(body.v), (len(rows), len(rows) + len(own))))
            rows += own
            units.append((link.joint.name, forces, torques))
        closing = cl.constraint_rows(self.m, self.closures, self.joints.closure)
        constraints = cl.Constraints(
            (*(r.name for r in rows), *closing.names),
            (*(r.gap for r in rows), *closing.g),
            Sparse([*(r.slopes for r in rows), *_sparse_rows(closing)], self.count),
            (*(r.c for r in rows), *closing.c),
        )
        self.forces = self._forces()
        self._note_couplings(constraints)
        parts = {part: [vec.total(terms) for terms in lists] for part, lists in self.forces.items()}
        mass = self._mass()
        momenta: list[Expr] = [0] * self.count
        for i, row in enumerate(mass.rows[: self.free]):
            momenta[i] = vec.total([x * self.m.v[j] for j, x in row.items()])
        for rotor in self.m.rotors:
            if rotor.rate >= self.free:
                momenta[rotor.rate] = rotor.inertia * self.m.rates[rotor.rate]
        kinetic = vec.total([p * v / 2 for p, v in zip(momenta, self.m.rates, strict=True) if not is_zero(p)])
        blocks = Blocks(
            mass=mass,
            parts=parts,
            constraints=constraints,
            kinetic=kinetic,
            potential=ld.potential_energy(self.m, self.loads),
            momenta=momenta,
            transmitted=self._transmitted(nodes, units, cl.closures_transmit(self.m, self.closures, constraints)),
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
        for rotor in self.m.rotors:  # its joint keeps its speeds
            if rotor.rate < self.free:
                rows[rotor.rate][rotor.rate] = rotor.inertia
        return Sparse(rows, self.free)

    def _transmitted(
        self, nodes: list[Node], units: list[tuple[str, list[Any], list[Any]]], closing: list[Transmitted]
    ) -> list[Transmitted]:
        """Constraint wrenches on the children from the multipliers, with out-of-plane components for planar joints."""
        for closure, carried in zip(self.m.model.closures, closing, strict=True):
            pin = self.m.point(*cl.child_point(self.m, closure))
            for side, sign in ((closure.child, 1), (closure.parent, -1)):
                self._note(self.joints.body(side.body), pin, carried.force, carried.torque, sign)
        loads: dict[int, list[tuple[vec.Vector, vec.Vector]]] = {id(body): [] for body in self.m.bodies}
        for body, force, torque in self.pushes:
            loads.setdefault(id(body), []).append((force, torque))
        multipliers = multiplier_symbols(nodes[-1].rows[1])
        found: list[Transmitted] = []
        for k in reversed(range(len(nodes))):
            joint, forces, torques = units[k]
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
        """Force along z and torque about x and y, from the out-of-plane equations of the body."""
        link, body = self.m.links[k], self.m.bodies[k]
        F = [force[0], force[1], -vec.total([f[2] for f, _ in loads])]
        arm = vec.subtract(self.m.child_frame(k).r, body.center)
        products = vec.times(body.pose.R, (link.inertia[0][2], link.inertia[1][2], 0))
        (turn,), spin = acceleration_symbols([self.m.v[body.v[2]]]), body.w[2]
        rate = vec.add(vec.scale(turn, products), vec.scale(spin**2, vec.cross((0, 0, 1), products)))
        taken = vec.add(vec.cross(arm, F), vec.NULL, *(t for _, t in loads))
        T = vec.subtract(rate, taken)
        keep = self.tape.keep
        name = link.joint.name
        return [*F[:2], keep(F[2], f"F__{name}_z")], [
            *(keep(T[i], f"T__{name}_{a}") for i, a in enumerate("xy")),
            torque[2],
        ]


def _sparse_rows(constraints: cl.Constraints) -> list[Slopes]:
    found: list[Slopes] = [{} for _ in constraints.names]
    for i, j, x in entries(constraints.G):
        found[i][j] = x
    return found
