"""Lagrange's equations, from kinetic energy, potential energy and virtual work:

    d/dt (dT/dv) - dT/ds + dV/ds = Q + G^T lam

with ds the virtual displacement of a speed (dq = N ds). For the angular velocity of a ball joint, which is a
quasi-velocity and not the derivative of coordinates, the term omega x dT/domega is added (Boltzmann-Hamel): as it is in
body axes, with the opposite sign in axes of the parent side.
Velocities follow body by body: in world axes if all rotations are about z, otherwise in body axes, which keeps the
energies short.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import symengine as se

from pendula.equations import loads as ld
from pendula.equations import vectors as vec
from pendula.equations.assemble import Blocks, gather
from pendula.equations.closures import (
    AngleRow,
    CoupledRow,
    GapRow,
    Row,
    closure_rows,
    constraint_rows,
    world_axis,
)
from pendula.equations.equations import PARTS, Equations
from pendula.equations.formulations.support import Support
from pendula.equations.mechanism.parts import WORLD, Pose, Shift, Step, Turn
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.equations.orientation.symbols import TurnBall
from pendula.equations.shares import Book, Terms
from pendula.equations.tape import Expr, is_zero
from pendula.model.model import Model


@dataclass(frozen=True)
class Velocity:
    """Angular velocity and velocity of the origin of a frame, in world axes if ``flat``, else in its own."""

    pose: Pose
    w: vec.Vector
    u: vec.Vector

    @property
    def flat(self) -> bool:
        """Whether vectors are in world axes."""
        return self.pose.theta is not None


class Lagrange:
    """Derivation from energies (Lagrange's method)."""

    name = "lagrange"
    support = Support(
        coordinates="joints",
        solved="kkt",
        growth=(2, 3),
        solution=3,
        uses="kinetic energy, potential energy, virtual work",
        choose="to read equations, or to compare with a textbook: short for small mechanisms",
    )

    def derive(self, model: Model) -> Equations:
        """The equations of motion of a model."""
        return LagrangeDerivation(TreeCoordinates(model)).equations()

    def derivation(self, model: Model) -> LagrangeDerivation:
        """The derivation, with all its intermediate results and the source of each term."""
        return LagrangeDerivation(TreeCoordinates(model), traced=True)


class LagrangeDerivation:
    """The derivation for one mechanism; its attributes are the results, in the order in which they are found."""

    def __init__(self, mechanism: TreeCoordinates, *, traced: bool = False) -> None:
        self.m = mechanism
        self.tape = mechanism.tape
        self.loads = ld.collect_loads(mechanism)
        self.rows = closure_rows(mechanism)
        self.count = len(mechanism.rates)
        self.free = len(mechanism.v)
        self.in_time = mechanism.in_time()
        self.virtual = [mechanism.virtual(k) for k in range(self.count)]
        self.by_speed = [mechanism.by_speed(k) for k in range(self.count)]
        self.velocities = self._velocities()
        self.book = Book(traced=traced)
        self.centers: list[vec.Vector] = []
        """velocities of the mass centres"""
        self.kinetic: list[Expr] = []
        self.weights: list[Expr] = []
        self.spring_energies: list[tuple[int, Expr]] = []
        """number of the force, and its potential energy"""
        self.momentum: list[list[Expr]] = []
        """dT/dv by rate and body"""
        self.momenta: list[Expr] = []
        self.forces: dict[str, list[Terms]] = {}
        self.mass_terms: list[list[Terms]] = []

    # -- velocities -----------------------------------------------------------------------------

    def _velocities(self) -> list[Velocity]:
        found: list[Velocity] = []
        start = Velocity(WORLD, vec.NULL, vec.NULL)
        for k, link in enumerate(self.m.links):
            here = found[link.parent] if link.parent >= 0 else start
            here = self._follow(here, link.before, link.body)
            here = self._follow(here, self.m.relative_motion(k, here.pose), link.body)
            here = self._follow(here, link.after, link.body)
            w = self.tape.keep_all(here.w, f"w__{link.body}")
            u = self.tape.keep_all(here.u, f"u__{link.body}")
            found.append(Velocity(here.pose, w, u))
        return found

    def _follow(self, here: Velocity, steps: tuple[Step, ...], hint: str) -> Velocity:
        for step in steps:
            match step:
                case Shift(vector):
                    rate = self.in_time.all(vector)
                    if here.flat:
                        vector, rate = vec.times(here.pose.R, vector), vec.times(here.pose.R, rate)  # type: ignore[assignment]
                    u = vec.add(here.u, vec.cross(here.w, vector), rate)
                    here = Velocity(
                        self.m.follow(here.pose, (step,), hint), here.w, self.tape.keep_all(u, f"u__{hint}")
                    )
                case Turn(axis, angle):
                    spin = vec.scale(self.in_time(angle), axis)
                    if here.flat and is_zero(axis[0]) and is_zero(axis[1]):
                        here = Velocity(self.m.follow(here.pose, (step,), hint), vec.add(here.w, spin), here.u)
                    else:
                        here = self._turned(here, step, self.m.turn_matrix(axis, angle, hint), spin, hint)
                case TurnBall(matrix, omega=omega):
                    here = self._turned(here, step, self.m.named(matrix, f"{hint}_joint"), list(omega), hint)
                case _:
                    assert_never(step)
        return here

    def _turned(self, here: Velocity, step: Step, matrix: vec.Matrix, spin: list[Expr], hint: str) -> Velocity:
        """Components in the rotated axes; vectors in world axes are first transformed to body axes."""
        w, u = here.w, here.u
        if here.flat:
            back = vec.transposed(here.pose.R)
            w, u = vec.times(back, w), vec.times(back, u)
        back = vec.transposed(matrix)
        w = self.tape.keep_all(vec.add(vec.times(back, w), spin), f"w__{hint}")
        u = self.tape.keep_all(vec.times(back, u), f"u__{hint}")
        pose = self.m.follow(here.pose, (step,), hint)
        return Velocity(Pose(pose.R, pose.r), w, u)

    def _point_velocity(self, k: int, place: vec.Vector) -> vec.Vector:
        """Velocity of a point of link k, in the axes of the link's velocity."""
        here = self.velocities[k]
        arm = vec.times(here.pose.R, place) if here.flat else place
        return vec.add(here.u, vec.cross(here.w, arm))

    def _own_axes(self, k: int, vector: vec.Vector, axes: str) -> vec.Vector:
        """A vector given in world or body axes, in the axes of link k's velocity."""
        here = self.velocities[k]
        if axes == "body":
            return vec.times(here.pose.R, vector) if here.flat else vector
        return vector if here.flat else vec.times(vec.transposed(here.pose.R), vector)

    # -- energies -------------------------------------------------------------------------------

    def kinetic_energies(self) -> list[Expr]:
        """Kinetic energy of every body, with that of the rotors in its joint."""
        energies = []
        for k, link in enumerate(self.m.links):
            here = self.velocities[k]
            u = self.tape.keep_all(self._point_velocity(k, link.com), f"uc__{link.body}")
            self.centers.append(u)
            if here.flat:  # angular velocity along z only
                spin = link.inertia[2][2] * here.w[2] ** 2 if not is_zero(here.w[2]) else 0
            else:
                spin = vec.dot(here.w, vec.times(link.inertia, here.w))
            energies.append(link.mass * vec.dot(u, u) / 2 + spin / 2)
        for rotor in self.m.rotors:
            energies[rotor.link] += rotor.inertia * self.m.rates[rotor.rate] ** 2 / 2
        return [se.sympify(e) for e in energies]

    def potential_energies(self) -> tuple[list[Expr], list[tuple[int, Expr]]]:
        """Potential energy of gravity for every body, and of the springs, with the number of each force."""
        gravity = self.m.constants_of(self.m.model.gravity)
        weights = []
        for link, pose in zip(self.m.links, self.m.poses, strict=True):
            center = vec.add(pose.r, vec.times(pose.R, link.com))
            weights.append(se.sympify(-link.mass * vec.dot(gravity, center)))
        springs: list[tuple[int, Expr]] = []
        for load in self.loads:
            match load:
                case ld.Across():
                    springs.append((load.force, load.pull.potential(load.measured(self.tape))))
                case ld.Between():
                    if load.pull.is_elastic:
                        distance = self._distance(load, by_name=load.needs_distance())
                        springs.append((load.force, load.pull.potential(distance)))
                case ld.BallFriction() | ld.ForceAt() | ld.TorqueOn() | ld.SpinForce() | ld.OnCoordinate():
                    pass  # virtual work
                case _:
                    assert_never(load)
        return weights, [(number, se.sympify(e)) for number, e in springs if not is_zero(e)]

    # -- generalized forces ---------------------------------------------------------------------

    def _virtual_work(self) -> dict[str, list[Terms]]:
        """Generalized forces of loads without a potential, by part."""
        rows = {part: self.book.column(self.count) for part in ("dissipation", "applied")}
        for load in self.loads:
            self.book.of_force(load.force)
            match load:
                case ld.Across() | ld.Between():
                    if load.pull.has_drag:
                        x = load.measured(self.tape) if isinstance(load, ld.Across) else self._distance(load)
                        drag = self._drag(load.pull, x)
                        for k in range(self.count):
                            rows["dissipation"][k].append(-drag * self.virtual[k](x))
                case ld.BallFriction(speeds, coefficient):
                    for k in speeds:
                        rows["dissipation"][k].append(-coefficient * self.m.v[k])
                case ld.OnCoordinate(k, value):
                    rows["applied"][k].append(value)
                case ld.TorqueOn(body, vector, axes):
                    i = self.m.index[body]
                    self._work(rows["applied"], self.velocities[i].w, self._own_axes(i, vector, axes))
                case ld.ForceAt(body, place, vector, axes):
                    i = self.m.index[body]
                    self._work(rows["applied"], self._point_velocity(i, place), self._own_axes(i, vector, axes))
                case ld.SpinForce(body, place, direction, coefficient, dissipative):
                    i = self.m.index[body]
                    across = vec.cross(self.velocities[i].w, self._own_axes(i, direction, "body"))
                    part = rows["dissipation" if dissipative else "applied"]
                    self._work(part, self._point_velocity(i, place), vec.scale(coefficient, across))
                case _:
                    assert_never(load)
        return rows

    def _drag(self, pull: ld.Pull, x: Expr) -> Expr:
        rate = self.tape.keep(self.in_time(x), "rate__damper")
        if pull.straight is not None:
            return pull.straight.damping * rate
        return self.tape.name(se.sympify(pull.drag(x, rate)), "drag__damper")

    def _distance(self, load: ld.Between, *, by_name: bool = True) -> Expr:
        gap = self.tape.keep_all(vec.subtract(self.m.point(*load.end), self.m.point(*load.start)), "gap__spring")
        distance = se.sqrt(vec.dot(gap, gap))
        return self.tape.name(distance, "length__spring") if by_name else distance

    def _work(self, rows: list[Terms], velocity: vec.Vector, force: vec.Vector) -> None:
        """Adds force . d(velocity)/d(speed k) to every row."""
        for k in range(self.count):
            rows[k].append(vec.dot(force, self.by_speed[k].all(velocity)))

    # -- constraints ----------------------------------------------------------------------------

    def _row(self, row: Row) -> Expr:
        match row:
            case GapRow(parent=parent, child=child, axis=axis):
                gap = vec.subtract(self.m.point(child.body, child.place), self.m.point(parent.body, parent.place))
                return vec.dot(gap, world_axis(self.m, axis))
            case AngleRow(a=a, b=b):
                return vec.dot(world_axis(self.m, a), world_axis(self.m, b))
            case CoupledRow(gap=value):
                return value
            case _:
                assert_never(row)

    def _constraint(self, row: Row) -> tuple[Expr, list[Expr], Expr]:
        """Gap, its row of G, and c, minus its second time derivative for v' = 0."""
        gap = self._row(row)
        rate = self.tape.name(se.sympify(self.in_time(gap)), f"rate__{row.name.split(':')[0]}")
        return gap, [direction(gap) for direction in self.virtual], -self.in_time(rate)

    # -- assembly -------------------------------------------------------------------------------

    def equations(self) -> Equations:
        """All blocks of the equations of motion."""
        n, count = self.free, self.count
        kinetic = self.kinetic = self.kinetic_energies()
        weights, springs = self.weights, self.spring_energies = self.potential_energies()
        self.momentum = [[self.by_speed[k](T) for T in kinetic] for k in range(count)]

        self.mass_terms = self._mass_terms()
        mass: list[list[Expr]] = [
            [vec.total(row[j]) if j <= k else 0 for j in range(n)] for k, row in enumerate(self.mass_terms)
        ]
        for k in range(n):
            for j in range(k + 1, n):
                mass[k][j] = mass[j][k]

        forces = self.forces = {"inertia": self._inertia_forces(), **self._virtual_work()}
        forces["gravity"], forces["springs"] = self.book.column(count), self.book.column(count)
        for k in range(count):
            for link, V in zip(self.m.links, weights, strict=True):
                self.book.of_body(link.body)
                forces["gravity"][k].append(-self.virtual[k](V))
        for k in range(count):
            for number, V in springs:
                self.book.of_force(number)
                forces["springs"][k].append(-self.virtual[k](V))

        blocks = Blocks(
            mass=mass,
            parts={part: [vec.total(terms) for terms in forces[part]] for part in PARTS},
            constraints=constraint_rows(self.m, self.rows, self._constraint),
            kinetic=vec.total(kinetic),
            potential=vec.total([*weights, *(V for _, V in springs)]),
            momenta=self.momenta,
        )
        return gather(self.m, Lagrange.name, blocks)

    def _mass_terms(self) -> list[list[Terms]]:
        """d(dT/dv_k)/dv_j, body by body, for j <= k."""
        terms = self.book.matrix(self.count, self.free)
        for k in range(self.count):
            for j in range(min(k + 1, self.free)):
                for link, p in zip(self.m.links, self.momentum[k], strict=True):
                    if not is_zero(p):
                        self.book.of_body(link.body)
                        terms[k][j].append(self.by_speed[j](p))
        return terms

    def _inertia_forces(self) -> list[Terms]:
        """dT/ds - d/dt(dT/dv) for v' = 0, body by body, with the Boltzmann-Hamel terms of ball joints."""
        rows = self.book.column(self.count)
        for k, row in enumerate(rows):
            for link, p in zip(self.m.links, self.momentum[k], strict=True):
                if not is_zero(p):
                    self.book.of_body(link.body)
                    row.append(-self.in_time(p))
            for link, T in zip(self.m.links, self.kinetic, strict=True):
                self.book.of_body(link.body)
                row.append(self.virtual[k](T))
        self.momenta = [
            self.tape.keep(vec.total(row), f"p__{rate}") for row, rate in zip(self.momentum, self.m.rates, strict=True)
        ]
        for joint, ball, sense in self.m.balls:
            self.book.of_joint(joint)
            turning = vec.cross([self.m.v[k] for k in ball], [self.momenta[k] for k in ball])
            for k, extra in zip(ball, turning, strict=True):
                rows[k].append(-sense * extra)
        return rows
