"""Tables for the recursion: integers, found once per model, and numbers that depend on the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
import symengine as se

from pendula.equations import vectors as vec
from pendula.equations.closures import Axis, CoupledRow, GapRow, Row, closure_rows
from pendula.equations.equations import drive_definitions
from pendula.equations.mechanism import Mechanism, Shift, Step, Turn
from pendula.equations.orientation.symbols import TurnBall
from pendula.equations.tape import Expr
from pendula.errors import NotSupported
from pendula.model.bodies import GROUND as GROUND_NAME
from pendula.model.model import Model
from pendula.system.code.llvm import Native, compile_program
from pendula.system.code.lower import Lowering
from pendula.system.layout import Array
from pendula.system.recursion import columns as co
from pendula.system.recursion.charts import chart_places
from pendula.system.recursion.columns import BALL, CHART, PRISMATIC, REVOLUTE
from pendula.system.recursion.load_rows import LoadRows, Point
from pendula.system.recursion.plane import planar as pl
from pendula.system.recursion.skeleton import GROUND, Constant, Constants, Hinge, Skeleton, follow_steps, upright


@dataclass(frozen=True)
class Numbers:
    """Everything that depends on parameters.

    ``seats``: rotation and shift from each body's hinge to the body axes; ``resting``: potential energy of bodies that
    are fixed to ground.
    """

    hinges: Array
    springs: Array
    loads: Array
    gravity: Array
    seats: tuple[Array, Array]
    resting: float
    plane: Array | None
    """numbers for the planar recursion; None if something leaves the plane"""
    turns: Array
    """rotations from the axes of each hinge (z along the joint axis) to those of its joint; ground first"""
    heights: Array
    """heights of the hinges above the plane, if they move in one; ground first"""


@dataclass(frozen=True)
class Gradient:
    """Program of the derivatives of expressions: one row per symbol, one number for each of the ``places``.

    ``far``: for every symbol, whether anything beyond its own hinge depends on it.
    """

    native: Native
    places: Array
    far: tuple[bool, ...]


class Tables:
    """Tables of a model, and the program for all expressions of state or time.

    Raises:
        NotSupported: the recursion does not support something in the model; the message names it.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.mechanism = m = Mechanism(model)
        self.skeleton = Skeleton.of(m)
        self.constants = Constants(m.parameters)
        self.nv, self.nq = len(m.v), len(m.q)
        self.rows = LoadRows(self.skeleton)
        self._closing = [self._closing_row(row) for row in closure_rows(m)]
        self.rows.write_laws()
        self.expressions = self.rows.expressions
        self.drives = len(m.drives)  # LoadRows has added those of moving points on ground
        self.charts = _Charts(self.skeleton)
        self.hinges = table(co.HINGE, [self._integers(h) for h in self.skeleton.hinges])
        self.springs = table(co.SPRING, [r for r, _ in self.rows.springs])
        self.loads = table(co.LOAD, [r for r, _ in self.rows.others])
        self._note_constants()

    def _integers(self, hinge: Hinge) -> tuple[int, ...]:
        free: int = 3 if hinge.kind == BALL else int(hinge.drive < 0)
        chart: tuple[int, ...] = (0,) * 10
        if hinge.kind == CHART:
            at, free, driven, turned = self.charts.place(hinge)
            rates = co.CHART_AXES + 6 * (free + driven) if turned else 0
            chart = (at, driven, *chart_places(free, driven, turned)[:-1], rates, turned)
        return hinge.parent, hinge.kind, hinge.q, hinge.v, hinge.drive, int(hinge.absolute), free, *chart

    @property
    def is_chain(self) -> bool:
        """Whether the mechanism is a serial chain with angles measured from ground and no loads except springs."""
        hinges, order = self.hinges, np.arange(len(self.hinges))
        in_row = np.array_equal(hinges["parent"], order) and np.array_equal(hinges["v"], order)
        turns = np.all(hinges["kind"] == REVOLUTE) and np.all(hinges["absolute"] == 1)
        return bool(in_row and turns and np.all(hinges["drive"] < 0) and not len(self.loads))

    # -- closed loops ---------------------------------------------------------------------------

    def _closing_row(self, row: Row) -> tuple[str, tuple[int, ...], list[tuple[int, Point]]]:
        """Name of a row, its integers, and the points or directions in its columns."""
        if isinstance(row, GapRow):
            child, parent = (self.rows.end(p.body, p.place) for p in (row.child, row.parent))
            frame = self._direction(row.axis)
            hinges = [p.hinge or self.rows.hinge_of(p.link) for p in (child, parent, frame)]
            places = [(co.CHILD_AT, child), (co.PARENT_AT, parent), (co.NORMAL, frame)]
            return row.name, (co.GAP, *hinges), places
        if isinstance(row, CoupledRow):
            name = row.name.partition(": ")[0]
            raise NotSupported(
                f'joint "{name}": the recursive engine supports no couplings of coordinates; use the symbolic engine'
            )
        a, b = self._direction(row.a), self._direction(row.b)
        hinges = [self.rows.hinge_of(a.link), self.rows.hinge_of(b.link), GROUND]
        return row.name, (co.ANGLE, *hinges), [(co.NORMAL, a), (co.OTHER_NORMAL, b)]

    def _direction(self, axis: Axis) -> Point:
        return Point(-1 if axis.body == GROUND_NAME else self.mechanism.index[axis.body], tuple(axis.direction))

    def closing(self, names: Sequence[str]) -> Array:
        """The table of the rows with these names."""
        known = {name: ints for name, ints, _ in self._closing}
        return table(co.CLOSING, [known[name] for name in names])

    def closing_numbers(self, names: Sequence[str], numbers: Numbers, parameters: Array) -> Array:
        """The numbers of the rows with these names."""
        values = self.constants.values(parameters)
        known = {name: places for name, _, places in self._closing}
        out = np.zeros((len(names), co.CLOSING_NUMBERS))
        R, r = numbers.seats
        for row, name in zip(out, names, strict=True):
            for at, point in known[name]:
                place = np.array([values[self.constants.index(x)] for x in point.place])
                if point.link >= 0:
                    shift = 0.0 if at in (co.NORMAL, co.OTHER_NORMAL) else r[point.link]
                    place = shift + R[point.link] @ place
                row[at : at + 3] = place
        return out

    # -- numbers --------------------------------------------------------------------------------

    def _note_constants(self) -> None:
        """Registers all expressions of parameters."""
        note = self.constants.index
        for hinge in self.skeleton.hinges:
            self._note_steps(hinge.steps)
            for x in (*hinge.axis, *hinge.armature):
                note(x)
        for seat, link in zip(self.skeleton.seats, self.mechanism.links, strict=True):
            self._note_steps(seat.steps)
            for x in (link.mass, *link.com, *(x for row in link.inertia for x in row)):
                note(x)
        for x in self.rows.constants():
            note(x)
        for x in (x for _, _, places in self._closing for _, point in places for x in point.place):
            note(x)
        for x in self.mechanism.model.gravity:
            note(self.mechanism.constant(x))

    def _note_steps(self, steps: Sequence[Constant]) -> None:
        for step in steps:
            for x in step.vector if isinstance(step, Shift) else (*step.axis, step.angle):
                self.constants.index(x)

    def numbers(self, parameters: Array) -> Numbers:
        """All numbers for a set of parameters, complex for complex parameters."""
        values = self.constants.values(parameters)

        def value(expression: Expr) -> Any:
            return values[self.constants.index(expression)]

        kind = values.dtype
        turns = [np.eye(3)]
        hinges = np.zeros((len(self.skeleton.hinges), co.NUMBERS), dtype=kind)
        for k, hinge in enumerate(self.skeleton.hinges):
            Q = upright(np.array([value(x) for x in hinge.axis])) if hinge.kind in (REVOLUTE, PRISMATIC) else np.eye(3)
            turns.append(Q)
            R, r, angle = follow_steps(hinge.steps, value)
            above = turns[hinge.parent].T
            hinges[k, ROTATION] = (Q if hinge.absolute else above @ R @ Q).ravel()
            hinges[k, SHIFT] = above @ r
            hinges[k, co.TURN], hinges[k, co.SENSE] = angle, value(hinge.axis[2])
            hinges[k, co.ROTOR : co.ROTOR + len(hinge.armature)] = [value(x) for x in hinge.armature]
        seats = [follow_steps(seat.steps, value) for seat in self.skeleton.seats]
        R_seat = np.array([turns[s.hinge].T @ found[0] for s, found in zip(self.skeleton.seats, seats, strict=True)])
        r_seat = np.array([turns[s.hinge].T @ found[1] for s, found in zip(self.skeleton.seats, seats, strict=True)])
        gravity = np.array([value(self.mechanism.constant(x)) for x in self.model.gravity])
        on_ground = np.zeros(co.NUMBERS, dtype=kind)
        for k, (seat, link) in enumerate(zip(self.skeleton.seats, self.mechanism.links, strict=True)):
            row = on_ground if seat.hinge == GROUND else hinges[seat.hinge - 1]
            self._add_mass(row, link, R_seat[k], r_seat[k], value)
        springs, loads = self.rows.numbers(value, R_seat, r_seat, kind)
        resting = -float(np.real(gravity @ on_ground[MOMENT]))
        plane = planar_numbers(self, hinges, springs, np.array(turns))
        heights = np.zeros(len(turns), dtype=kind)
        for k, hinge in enumerate(self.skeleton.hinges):
            heights[k + 1] = heights[hinge.parent] + (turns[hinge.parent] @ hinges[k, SHIFT])[2]
        return Numbers(hinges, springs, loads, gravity, (R_seat, r_seat), resting, plane, np.array(turns), heights)

    @staticmethod
    def _add_mass(row: Array, link: Any, R: Array, r: Array, value: Any) -> None:
        """Adds a body's mass, first mass moment and inertia, transformed to the origin and axes of its hinge."""
        mass = value(link.mass)
        com = r + R @ np.array([value(x) for x in link.com])
        inertia = R @ np.array([[value(x) for x in line] for line in link.inertia]) @ R.T
        about = inertia + mass * ((com @ com) * np.eye(3) - np.outer(com, com))
        row[co.MASS] += mass
        row[MOMENT] += mass * com
        row[INERTIA] += about[np.triu_indices(3)]

    # -- expressions ----------------------------------------------------------------------------

    @property
    def aside(self) -> int:
        """Length of the output of the program of expressions: prescribed motions, values, charts with their scratch."""
        return 3 * self.drives + len(self.expressions) + self.charts.size

    def program(self, inputs_in_time: Sequence[tuple[Any, Any]] = ()) -> Native | None:
        """The program for prescribed motions, expressions and charts, which reads [t, q, v, u]; None if it is empty."""
        outputs, places = self._outputs()
        if not outputs:
            return None
        low = self._lowering(inputs_in_time)
        return compile_program(low.program, [low(e) for e in outputs], places, quick=len(outputs) > 400)

    def _outputs(self) -> tuple[list[Expr], list[int]]:
        """Outputs of the program of expressions, and their indices."""
        m = self.mechanism
        outputs: list[Expr] = [x for d in m.drives for x in (d.position, d.rate, d.acceleration)]
        outputs += self.expressions
        places = list(range(len(outputs)))
        start = len(outputs)
        for at, expressions in self.charts.outputs():
            places += range(start + at, start + at + len(expressions))
            outputs += expressions
        return outputs, places

    def _lowering(self, inputs_in_time: Sequence[tuple[Any, Any]] = ()) -> Lowering:
        m = self.mechanism
        in_time = {s for s, _ in inputs_in_time}
        slots = [se.Symbol(f"{s}'") if s in in_time else s for s in m.inputs]
        definitions = (*inputs_in_time, *drive_definitions(m), *m.tape.definitions.items())
        return Lowering([m.t, *m.q, *m.v, *slots], m.parameters, definitions)

    def gradient(self, by: Sequence[Any]) -> Gradient | None:
        """Derivatives of the outputs of :meth:`program` by some symbols, at constant inputs; None if all are zero."""
        outputs, places = self._outputs()
        low = self._lowering()
        program, values = low.program, [low(e) for e in outputs]
        order = program.needed(values)
        columns = [program.tangent(values, {low(x): program.one}, order) for x in by]
        moved = [k for k in range(len(outputs)) if any(column[k] != program.zero for column in columns)]
        if not moved:
            return None
        found = [
            (row * len(moved) + i, column[k])
            for row, column in enumerate(columns)
            for i, k in enumerate(moved)
            if column[k] != program.zero
        ]
        native = compile_program(program, [x for _, x in found], [at for at, _ in found], quick=len(found) > 400)
        shared = 3 * self.drives + len(self.expressions)  # outputs before the charts can act on any hinge
        far = [any(places[k] < shared and column[k] != program.zero for k in moved) for column in columns]
        return Gradient(native, np.array([places[k] for k in moved], dtype=np.int64), tuple(far))


ROTATION, SHIFT = slice(co.ROTATION, co.ROTATION + 9), slice(co.SHIFT, co.SHIFT + 3)
MOMENT, INERTIA = slice(co.MOMENT, co.MOMENT + 3), slice(co.INERTIA, co.INERTIA + 6)


def table(kind: Any, rows: Sequence[tuple[int, ...]]) -> Array:
    """An array of records."""
    return np.array([tuple(row) for row in rows], dtype=kind)


def has_straight_springs(springs: Array) -> bool:
    """Whether all springs across hinges have constant stiffness and damping."""
    return not (np.any(springs["damping"] >= 0) or np.any(springs["law"] >= 0))


def planar_numbers(tables: Tables, hinges: Array, springs: Array, turns: Array) -> Array | None:
    """Numbers of the hinges for the planar recursion; None if something leaves the plane or is not supported there.

    ``turns`` are rotations from the axes of each hinge to those of its joint, ground first.
    """
    table = tables.hinges
    if not len(table) or np.any(table["kind"] > PRISMATIC) or not has_straight_springs(tables.springs):
        return None
    loads = tables.loads
    known = loads["kind"] == co.EFFORT_GIVEN
    known |= (loads["kind"] == co.TORQUE) & (loads["in_body"] == 0)
    if not np.all(known) or any(hinge.armature for hinge in tables.skeleton.hinges):
        return None
    own, parent = turns[1:], table["parent"]
    axis = own[:, :, 2]  # of the hinge, in the axes of its joint
    is_turn = np.asarray(table["kind"] == REVOLUTE)
    placed = turns[parent] @ hinges[:, ROTATION].reshape(-1, 3, 3) @ np.swapaxes(own, 1, 2)
    upright_placed = np.where((table["absolute"] == 1)[:, None], [0.0, 0.0, 1.0], placed[:, :, 2])
    flat = np.where(is_turn[:, None], axis[:, :2], axis[:, 2:])
    if np.any(np.abs(flat) > 0) or np.any(np.abs(upright_placed - [0.0, 0.0, 1.0]) > 0):
        return None
    plane = np.zeros((len(table), pl.NUMBERS), dtype=hinges.dtype)
    plane[:, [pl.SX, pl.SY]] = np.einsum("kij,kj->ki", turns[parent], hinges[:, SHIFT])[:, :2]
    plane[:, pl.TURN], plane[:, pl.SENSE] = hinges[:, co.TURN], np.where(is_turn, hinges[:, co.SENSE], 1.0)
    plane[:, [pl.AX, pl.AY]] = np.where(is_turn[:, None], 0.0, axis[:, :2])
    plane[:, pl.MASS] = hinges[:, co.MASS]
    moment = np.einsum("kij,kj->ki", own, hinges[:, MOMENT])
    plane[:, [pl.HX, pl.HY]] = moment[:, :2]
    inertia = hinges[:, INERTIA][:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)  # from xx xy xz yy yz zz
    plane[:, pl.INERTIA] = np.einsum("ki,kij,kj->k", own[:, 2], inertia, own[:, 2])
    at = tables.springs["hinge"] - 1
    np.add.at(plane[:, pl.STIFFNESS], at, springs[:, co.STIFFNESS])
    np.add.at(plane[:, pl.PULL], at, springs[:, co.STIFFNESS] * springs[:, co.REST])
    np.add.at(plane[:, pl.DAMPING], at, springs[:, co.DAMPING])
    return plane


class _Charts:
    """Joints whose pose, motion and motion subspace are expressions."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.mechanism = skeleton.mechanism
        self._places: dict[int, tuple[int, int, int, int]] = {}
        self._found: list[tuple[int, list[Expr]]] = []
        self._drives: list[tuple[int, list[int]]] = []
        self.size = 0
        for hinge in skeleton.hinges:
            if hinge.kind == CHART and isinstance(hinge.motion[0], TurnBall):
                self._add_ball(hinge, hinge.motion[0])
            elif hinge.kind == CHART:
                self._add(hinge)

    def place(self, hinge: Hinge) -> tuple[int, int, int, int]:
        """Start of a chart's numbers, number of its freedoms, prescribed motions and coordinates with given rates."""
        return self._places[id(hinge)]

    def outputs(self) -> list[tuple[int, list[Expr]]]:
        """For every chart, its start and its expressions."""
        return self._found

    def fill_drives(self, charts: Array) -> None:
        """Writes the indices of prescribed motions to the end of each chart's numbers."""
        for at, drives in self._drives:
            charts[at : at + len(drives)] = drives

    def _flat(self, expression: Expr) -> Any:
        expression = se.sympify(expression)
        while named := [s for s in expression.free_symbols if s in self.mechanism.tape.definitions]:
            expression = expression.subs({s: self.mechanism.tape.definitions[s] for s in named})
        return expression

    def _add(self, hinge: Hinge) -> None:
        m = self.mechanism
        R, arm, turned = self._followed(hinge.motion)
        axes, angles = [axis for axis, _, _ in turned], [angle for _, angle, _ in turned]
        free = [(se.Symbol(n), se.Symbol(f"{n}_dot"), se.Integer(0)) for n in hinge.names]
        used = set().union(*(e.free_symbols for e in (*arm, *angles)))
        numbers = [k for k, d in enumerate(m.drives) if d.position in used]
        moved = [(m.drives[k].position, m.drives[k].rate, m.drives[k].acceleration) for k in numbers]
        variables = [*free, *moved]
        spins = [
            [sum(e.diff(x) * a[i] for a, e in zip(axes, angles, strict=True)) for i in range(3)]
            for x, _, _ in variables
        ]
        slides = [[e.diff(x) for e in arm] for x, _, _ in variables]
        flat: list[Expr] = [x for row in R for x in row] + arm
        for columns in (spins, slides):
            flat += [sum(c[i] * rate for c, (_, rate, _) in zip(columns, variables, strict=True)) for i in range(3)]
        for columns in (spins, slides):
            flat += [self._bias(columns, variables, i) for i in range(3)]
        flat.append(sum(upright * angle for _, angle, upright in turned))
        for spin, slide in zip(spins, slides, strict=True):
            flat += [*spin, *slide]
        length = chart_places(len(free), len(moved))[-1]
        self._places[id(hinge)] = (self.size, len(free), len(moved), 0)
        self._drives.append((self.size + length - len(moved), numbers))
        self._found.append((self.size, [se.sympify(e) for e in flat]))
        self.size += length

    def _add_ball(self, hinge: Hinge, step: TurnBall) -> None:
        """An orientation: its motion subspace, and the rates of its coordinates if its speeds are others."""
        R, m = step.matrix, self.mechanism
        turned = 0 if step.template.axes == "rates" else step.template.chart.count
        flat = [x for row in R for x in row] + [0] * 3
        flat += [*vec.times(R, step.omega), 0, 0, 0, *vec.times(R, step.bias), 0, 0, 0, 0]
        for column in step.columns.values():
            flat += [*vec.times(R, column), 0, 0, 0]
        if turned:
            flat += [m.joint_qdot[name] for name in step.template.coordinates]
        self._places[id(hinge)] = (self.size, 3, 0, turned)
        self._found.append((self.size, [se.sympify(e) for e in flat]))
        self.size += chart_places(3, 0, turned)[-1]

    @staticmethod
    def _bias(columns: list[list[Any]], variables: list[Any], i: int) -> Any:
        """Entry i of the velocity-product acceleration, with the accelerations of prescribed motions."""
        total = se.Integer(0)
        for column, (_, rate, acceleration) in zip(columns, variables, strict=True):
            entry = se.sympify(column[i])
            total += entry * acceleration
            for other, turning, _ in variables:
                total += entry.diff(other) * rate * turning
        return total

    def _followed(self, steps: Sequence[Step]) -> tuple[Any, list[Any], list[tuple[Any, Any, Any]]]:
        """Rotation and shift of a sequence of steps, in the axes of the parent frame.

        Third, for every rotation: its axis in these axes, its angle, and the z entry of its own axis.
        """
        R: Any = [[se.Integer(int(i == j)) for j in range(3)] for i in range(3)]
        arm = [se.Integer(0)] * 3
        turned = []
        for step in steps:
            match step:
                case Shift(vector):
                    own = [self._flat(x) for x in vector]
                    arm = [a + sum(R[i][j] * x for j, x in enumerate(own)) for i, a in enumerate(arm)]
                case Turn(axis, angle):
                    own, by = [se.sympify(a) for a in axis], self._flat(angle)
                    turned.append(([sum(R[i][j] * a for j, a in enumerate(own)) for i in range(3)], by, own[2]))
                    turn = vec.turn_matrix(own, se.cos(by), se.sin(by))
                    R = [[sum(R[i][l] * turn[l][j] for l in range(3)) for j in range(3)] for i in range(3)]
                case TurnBall():
                    raise NotSupported("the recursive engine supports no orientation among other expressions")
                case _:
                    assert_never(step)
        return R, arm, turned
