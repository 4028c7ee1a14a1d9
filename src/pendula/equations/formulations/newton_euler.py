"""Newton-Euler: for every joint, the momentum balance of all bodies outboard of it, along its motion subspace.

The outward recursion, from ground to the tips, gives accelerations as linear forms of v'. The inward recursion, from
the tips to ground, sums the rate of momentum of the bodies minus the loads on them, as a wrench about each body's
origin. This is the wrench that the joint must transmit. Its component along the joint's motion subspace vanishes for
an ideal joint, which gives one equation per freedom; the rest is the joint's reaction. With numbers instead of linear
forms this is the recursive Newton-Euler algorithm (Featherstone 2008, chapter 5).

Vectors are in world axes if all rotations are about z, in body axes otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import symengine as se

from pendula.equations import closures as cl
from pendula.equations import loads as ld
from pendula.equations import vectors as vec
from pendula.equations.assemble import Blocks, gather
from pendula.equations.equations import PARTS, Equations, Transmitted, acceleration_symbols, multiplier_symbols
from pendula.equations.formulations.support import Support
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.equations.outward import BIAS, Form, Freedom, Outward, added, mapped
from pendula.equations.shares import Book, Terms
from pendula.equations.tape import Expr, is_zero
from pendula.model.bodies import GROUND
from pendula.model.model import Model


class NewtonEuler:
    """Derivation by momentum balances (Newton-Euler)."""

    name = "newton-euler"
    support = Support(
        coordinates="joints",
        solved="kkt",
        growth=(2, 2),
        solution=3,
        uses="balances of force and moment, joint by joint",
        choose="for forces in joints, and for long chains with angles between links",
        joint_forces=True,
    )

    def derive(self, model: Model) -> Equations:
        """The equations of motion of a model."""
        return NewtonEulerDerivation(TreeCoordinates(model)).equations()

    def derivation(self, model: Model) -> NewtonEulerDerivation:
        """The derivation, with all its intermediate results and the source of each term."""
        return NewtonEulerDerivation(TreeCoordinates(model), traced=True)


@dataclass
class Wrench:
    """A force and a moment about a body's origin, each a linear form."""

    force: Form
    moment: Form


class NewtonEulerDerivation:
    """The derivation for one mechanism; its attributes are the results, in the order in which they are found."""

    def __init__(self, mechanism: TreeCoordinates, *, traced: bool = False) -> None:
        self.m = mechanism
        self.tape = mechanism.tape
        self.loads = ld.collect_loads(mechanism)
        self.rows = cl.closure_rows(mechanism)
        self.count = len(mechanism.rates)
        motion = Outward(mechanism)
        self.bodies, self.freedoms, self.turns, self.arms = motion.bodies, motion.freedoms, motion.turns, motion.arms
        self.in_time, self.slopes = motion.in_time, motion.slopes
        self.units: dict[str, list[dict[str, Wrench]]] = {}  # by row: wrenches of a unit multiplier
        self.book = Book(traced=traced)
        self.rates: list[Wrench] = []
        """rate of momentum of every body, about its origin"""
        self.own: list[dict[str, Wrench]] = []
        """by body: rate of momentum, and the loads on it by part"""
        self.totals: list[dict[str, Wrench]] = []
        """the same for all bodies outboard of its joint"""
        self.inside: dict[str, list[Terms]] = {}
        """generalized forces of springs and drives inside joints"""
        self.balanced: dict[tuple[str, int, int], Terms] | None = {} if traced else None
        """by part, rate and coefficient: the terms of the balance along a rate, each from a joint"""

    # -- inward recursion -----------------------------------------------------------------------

    def _center(self, k: int) -> vec.Vector:
        return self._axes_of(k, self.m.links[k].com)

    def _axes_of(self, k: int, vector: Sequence[Expr]) -> vec.Vector:
        """Body components in the axes of the body's motion."""
        here = self.bodies[k]
        return vec.times(here.pose.R, vector) if here.flat else vector

    def _from_world(self, k: int, vector: Sequence[Expr]) -> vec.Vector:
        here = self.bodies[k]
        return vector if here.flat else vec.times(vec.transposed(here.pose.R), vector)

    def _spin_inertia(self, k: int, vector: vec.Vector) -> vec.Vector:
        link = self.m.links[k]
        if self.bodies[k].flat:
            return [0, 0, 0 if is_zero(vector[2]) else link.inertia[2][2] * vector[2]]
        return vec.times(link.inertia, vector)

    def _momentum_rate(self, k: int) -> tuple[Wrench, Wrench]:
        """Rate of momentum of a body, and its momentum, both about its origin."""
        link, here = self.m.links[k], self.bodies[k]
        c = self.tape.keep_all(self._center(k), f"c__{link.body}")
        H = self.tape.keep_all(self._spin_inertia(k, here.w), f"H__{link.body}")
        centripetal = vec.cross(here.w, vec.cross(here.w, c))
        a = added(here.a, mapped(here.alpha, lambda x: vec.cross(x, c)), {BIAS: centripetal})
        force = {i: self.tape.keep_all(vec.scale(link.mass, x), f"F__{link.body}") for i, x in a.items()}
        moment = added(
            mapped(here.alpha, lambda x: self._spin_inertia(k, x)),
            {BIAS: vec.cross(here.w, H)},
            mapped(force, lambda x: vec.cross(c, x)),
        )
        u = vec.add(here.u, vec.cross(here.w, c))
        push = self.tape.keep_all(vec.scale(link.mass, u), f"P__{link.body}")
        return Wrench(force, moment), Wrench({BIAS: push}, {BIAS: vec.add(H, vec.cross(c, push))})

    def balances(self, own: list[dict[str, Wrench]]) -> dict[str, list[dict[int, Expr]]]:
        """For every part and every rate, the generalized force along the rate, as a linear form of v'."""
        totals = own
        rows: dict[str, list[dict[int, Expr]]] = {}
        for part in {name for wrenches in own for name in wrenches}:
            rows[part] = [{} for _ in range(self.count)]
        for k in reversed(range(len(self.m.links))):
            link = self.m.links[k]
            for part, wrench in totals[k].items():
                force = {i: self.tape.keep_all(x, f"F__{link.body}") for i, x in wrench.force.items()}
                moment = {i: self.tape.keep_all(x, f"T__{link.body}") for i, x in wrench.moment.items()}
                self._project(rows[part], self.freedoms[k], force, moment)
                if self.balanced is not None:
                    self._trace(self.balanced, part, k, force, moment)
                if link.parent >= 0:
                    self._add_to_parent(totals[link.parent], part, k, force, moment)
        return rows

    def _project(self, rows: list[dict[int, Expr]], freedom: Freedom, force: Form, moment: Form) -> None:
        for i in {**freedom.spins, **freedom.slides}:
            spin, slide = freedom.spins.get(i, vec.NULL), freedom.slides.get(i, vec.NULL)
            for j in {**force, **moment}:
                value = vec.dot(spin, moment.get(j, vec.NULL)) + vec.dot(slide, force.get(j, vec.NULL))
                if not is_zero(value):
                    rows[i][j] = rows[i].get(j, 0) + value

    def _trace(self, found: dict[tuple[str, int, int], Terms], part: str, k: int, force: Form, moment: Form) -> None:
        """Notes the terms of a balance with the joint along whose freedoms it was taken."""
        self.book.of_joint(self.m.links[k].joint.name)
        own: list[dict[int, Expr]] = [{} for _ in range(self.count)]
        self._project(own, self.freedoms[k], force, moment)
        for i, forms in enumerate(own):
            for j, value in forms.items():
                found.setdefault((part, i, j), self.book.row()).append(value)

    def _add_to_parent(self, parent: dict[str, Wrench], part: str, k: int, force: Form, moment: Form) -> None:
        """Adds a wrench to the parent's, transformed to the parent's origin and axes."""
        turn, arm = self.turns[k], self.arms[k]
        force = mapped(force, lambda x: vec.times(turn, x))
        moment = added(mapped(moment, lambda x: vec.times(turn, x)), mapped(force, lambda x: vec.cross(arm, x)))
        before = parent.get(part, Wrench({}, {}))
        parent[part] = Wrench(added(before.force, force), added(before.moment, moment))

    # -- loads ----------------------------------------------------------------------------------

    def _apply(self, own: list[dict[str, Wrench]], part: str, body: str, point: Any, force: Any, torque: Any) -> None:
        """Adds a force (world axes) at a world point and a torque (world axes) to the loads on a body."""
        if body == GROUND:
            return
        k = self.m.index[body]
        arm = vec.subtract(point, self.bodies[k].pose.r)
        moment = vec.add(vec.cross(arm, force), torque)
        load = Wrench({BIAS: self._from_world(k, force)}, {BIAS: self._from_world(k, moment)})
        before = own[k].get(part, Wrench({}, {}))
        own[k][part] = Wrench(added(before.force, load.force), added(before.moment, load.moment))

    def _apply_loads(self, own: list[dict[str, Wrench]], direct: dict[str, list[Terms]]) -> None:
        """Applies loads to bodies; loads inside a joint go directly to its row."""
        gravity = self.m.constants_of(self.m.model.gravity)
        for link in self.m.links:
            center = self.m.point(link.body, link.com)
            self._apply(own, "gravity", link.body, center, vec.scale(link.mass, gravity), vec.NULL)
        for load in self.loads:
            self.book.of_force(load.force)
            match load:
                case ld.Between():
                    self._apply_spring(own, direct, load)
                case ld.Across():
                    # the joint itself supplies a force along its motion subspace
                    x = load.measured(self.tape)
                    spring, damper = load.pull.elastic(x), load.pull.drag(x, self.in_time(x))
                    for i, slope in self.slopes([x]).items():
                        direct["springs"][i].append(-spring * slope[0])
                        direct["dissipation"][i].append(-damper * slope[0])
                case ld.BallFriction(speeds, coefficient):
                    for k in speeds:
                        direct["dissipation"][k].append(-coefficient * self.m.v[k])
                case ld.OnCoordinate(i, value):
                    direct["applied"][i].append(value)
                case ld.TorqueOn(body, vector, axes):
                    pose = self.m.poses[self.m.index[body]]
                    torque = vector if axes == "world" else vec.times(pose.R, vector)
                    self._apply(own, "applied", body, pose.r, vec.NULL, torque)
                case ld.ForceAt(body, place, vector, axes):
                    pose = self.m.poses[self.m.index[body]]
                    force = vector if axes == "world" else vec.times(pose.R, vector)
                    self._apply(own, "applied", body, self.m.point(body, place), force, vec.NULL)
                case ld.SpinForce(body, place, direction, coefficient, dissipative):
                    k = self.m.index[body]
                    across = vec.cross(self.bodies[k].w, self._axes_of(k, direction))
                    here = self.bodies[k]
                    force = across if here.flat else vec.times(here.pose.R, across)
                    part = "dissipation" if dissipative else "applied"
                    self._apply(own, part, body, self.m.point(body, place), vec.scale(coefficient, force), vec.NULL)
                case _:
                    assert_never(load)

    def _apply_spring(self, own: list[dict[str, Wrench]], direct: dict[str, list[Terms]], load: ld.Between) -> None:
        ends = [self.m.point(*end) for end in (load.start, load.end)]
        gap = self.tape.keep_all(vec.subtract(ends[1], ends[0]), "gap__spring")
        square = vec.dot(gap, gap)
        shares = load.shares(
            square,
            lambda: self.tape.name(se.sqrt(square), "length__spring"),
            lambda: vec.dot(vec.subtract(self._velocity(*load.end), self._velocity(*load.start)), gap),
        )
        for part, share in shares.items():
            if load.pull.straight is None:
                share = self.tape.name(se.sympify(share), "share__spring")
            force = self.tape.keep_all(vec.scale(share, gap), "pull__spring")
            for (body, place), point, sign in ((load.start, ends[0], 1), (load.end, ends[1], -1)):
                self._apply(own, part, body, point, vec.scale(sign, force), vec.NULL)
                if body == GROUND:  # a prescribed point: the force acts on its drive
                    for i, slope in self.slopes(place).items():
                        direct[part][i].append(sign * vec.dot(force, slope))

    def _velocity(self, body: str, place: Sequence[Expr]) -> vec.Vector:
        """Velocity of a point in world axes; a point of ground has its prescribed velocity."""
        if body == GROUND:
            return self.in_time.all(place)
        k = self.m.index[body]
        here = self.bodies[k]
        velocity = vec.add(here.u, vec.cross(here.w, self._axes_of(k, place)))
        return velocity if here.flat else vec.times(here.pose.R, velocity)

    # -- closing joints -------------------------------------------------------------------------

    def _constraint(self, row: cl.Row) -> tuple[Expr, list[Expr], Expr]:
        """Gap, its row of G (power of a unit multiplier per rate), and c, minus its second derivative for v' = 0."""
        own: list[dict[str, Wrench]] = [{} for _ in self.m.links]
        if isinstance(row, cl.CoupledRow):  # acts inside joints
            self.units[row.name] = own
            return cl.coupled_constraint(self.m, row)
        slopes: list[Expr] = [0] * self.count
        if isinstance(row, cl.GapRow):
            child, parent = self.m.point(*row.child), self.m.point(*row.parent)
            direction = self.tape.keep_all(cl.world_axis(self.m, row.axis), "dir__closure")
            gap = vec.dot(vec.subtract(child, parent), direction)
            # a direction fixed in the parent rotates with it, so the reaction acts at the child's point
            back = child if row.axis.body != GROUND else parent
            self._apply(own, "unit", row.child.body, child, direction, vec.NULL)
            holder = row.axis.body if row.axis.body != GROUND else row.parent.body
            self._apply(own, "unit", holder, back, vec.scale(-1, direction), vec.NULL)
            moving = (row.child, 1), (row.parent, -1)
            for point, sign in moving:
                if point.body == GROUND:
                    for i, slope in self.slopes(point.place).items():
                        slopes[i] = slopes[i] + sign * vec.dot(slope, direction)
        else:
            assert isinstance(row, cl.AngleRow)
            a, b = cl.world_axis(self.m, row.a), cl.world_axis(self.m, row.b)
            gap = vec.dot(a, b)
            torque = self.tape.keep_all(vec.cross(a, b), "cross__closure")
            self._apply(own, "unit", row.a.body, vec.NULL, vec.NULL, torque)
            self._apply(own, "unit", row.b.body, vec.NULL, vec.NULL, vec.scale(-1, torque))
        self.units[row.name] = own
        for i, forms in enumerate(self.balances(own).get("unit", [])):
            slopes[i] = slopes[i] + forms.get(BIAS, 0)
        rate = self.tape.name(se.sympify(self.in_time(gap)), "rate__closure")
        return gap, slopes, -self.in_time(rate)

    # -- assembly -------------------------------------------------------------------------------

    def equations(self) -> Equations:
        """All blocks of the equations of motion."""
        n, count = len(self.m.v), self.count
        own: list[dict[str, Wrench]] = []
        for k in range(len(self.m.links)):
            rate, momentum = self._momentum_rate(k)
            self.rates.append(rate)
            own.append({"inertia": rate, "momentum": momentum} | self._out_of_plane(k))
        direct = self.inside = {part: self.book.column(count) for part in PARTS}
        self._apply_loads(own, direct)
        self.own, self.totals = [dict(wrenches) for wrenches in own], own
        rows = self.balances(own)
        inertia = rows["inertia"]
        mass: list[list[Expr]] = [[0] * n for _ in range(count)]
        for i in range(count):
            for j in range(min(i + 1, n)):
                mass[i][j] = inertia[i].get(j, 0)
                if i < n:
                    mass[j][i] = mass[i][j]
        parts: dict[str, list[Expr]] = {"inertia": [-form.get(BIAS, 0) for form in inertia]}
        momenta = [form.get(BIAS, 0) for form in rows["momentum"]]
        for rotor in self.m.rotors:  # turns in the joint: no part of the wrench on the child
            k = rotor.rate
            momenta[k] += rotor.inertia * self.m.rates[k]
            parts["inertia"][k] += self.m.rotor_drag(rotor)
            if k < n:
                mass[k][k] += rotor.inertia
        for part in PARTS[1:]:
            found = rows.get(part, [{} for _ in range(count)])
            parts[part] = [vec.total([form.get(BIAS, 0), *direct[part][i]]) for i, form in enumerate(found)]
        constraints = cl.constraint_rows(self.m, self.rows, self._constraint)
        kinetic = self._kinetic()
        blocks = Blocks(
            mass=mass,
            parts=parts,
            constraints=constraints,
            kinetic=kinetic,
            potential=ld.potential_energy(self.m, self.loads),
            momenta=momenta,
            transmitted=[*self._transmitted(own, constraints), *cl.closures_transmit(self.m, self.rows, constraints)],
        )
        return gather(self.m, NewtonEuler.name, blocks)

    # -- transmitted wrenches -------------------------------------------------------------------

    def _out_of_plane(self, k: int) -> dict[str, Wrench]:
        """Out-of-plane moments due to products of inertia, for a body that rotates about z; they do no work."""
        link, here = self.m.links[k], self.bodies[k]
        products = (link.inertia[0][2], link.inertia[1][2], 0)
        if not here.flat or vec.all_zero(products):
            return {}
        arm = self.tape.keep_all(vec.times(here.pose.R, products), f"h__{link.body}")
        moment = added(
            mapped(here.alpha, lambda x: vec.scale(x[2], arm)),
            {BIAS: vec.scale(here.w[2], vec.cross(here.w, arm))},
        )
        return {"out of plane": Wrench({}, moment)}

    def _transmitted(self, totals: list[dict[str, Wrench]], constraints: cl.Constraints) -> list[Transmitted]:
        """Wrench of each tree joint on its child: rate of momentum of all outboard bodies minus the loads on them."""
        multipliers = multiplier_symbols(len(constraints.names))
        found = []
        grounded: list[Expr] = [0] * len(self.m.links)  # torque about z from ground on all bodies outboard of a joint
        for k, link in reversed(list(enumerate(self.m.links))):
            here, name = self.bodies[k], link.joint.name
            shares: list[tuple[Expr, Wrench]] = []
            for part, wrench in totals[k].items():
                if part != "momentum":
                    shares.append((1 if part in ("inertia", "out of plane") else -1, wrench))
            for row, multiplier in zip(constraints.names, multipliers, strict=True):
                shares += [(-multiplier, wrench) for wrench in self.units[row][k].values()]
            force = self._combined([(factor, wrench.force) for factor, wrench in shares], f"F__{link.body}")
            moment = self._combined([(factor, wrench.moment) for factor, wrench in shares], f"T__{link.body}")
            arm = self._axes_of(k, self.m.place(link.joint.child, name))
            torque: vec.Vector = vec.subtract(moment, vec.cross(arm, force))
            if here.flat:
                through = torque[2] - grounded[k]
                if ld.from_ground(link.joint):
                    axial = ld.torque_in_joint(self.m, self.loads, k, self.in_time)
                    grounded[k], through = grounded[k] + through - axial, axial
                if link.parent >= 0:
                    grounded[link.parent] = grounded[link.parent] + grounded[k]
                torque = [torque[0], torque[1], through]
            else:
                force, torque = vec.times(here.pose.R, force), vec.times(here.pose.R, torque)
            found.append(Transmitted(name, tuple(force), tuple(torque)))
        return found[::-1]

    def _combined(self, shares: Sequence[tuple[Expr, Form]], hint: str) -> vec.Vector:
        """A sum of linear forms, with symbols for v'; the BIAS of each form includes prescribed motions."""
        accelerations = acceleration_symbols(self.m.v)
        terms: list[vec.Vector] = [vec.NULL]
        for factor, form in shares:
            for i, vector in form.items():
                if i < len(accelerations):
                    symbol = accelerations[i] if i != BIAS else 1
                    terms.append(vec.scale(factor * symbol, self.tape.keep_all(vector, hint)))
        return vec.add(*terms)

    def _kinetic(self) -> Expr:
        terms = []
        for k, link in enumerate(self.m.links):
            here = self.bodies[k]
            u = vec.add(here.u, vec.cross(here.w, self._center(k)))
            terms += [link.mass * vec.dot(u, u) / 2, vec.dot(here.w, self._spin_inertia(k, here.w)) / 2]
        terms += [rotor.inertia * self.m.rates[rotor.rate] ** 2 / 2 for rotor in self.m.rotors]
        return vec.total(terms)
