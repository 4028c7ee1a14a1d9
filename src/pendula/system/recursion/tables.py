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
from pendula.equations.mechanism.parts import Shift, Step, Turn
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.equations.orientation.symbols import TurnBall
from pendula.equations.tape import Expr
from pendula.errors import NotSupported
from pendula.model.bodies import GROUND as GROUND_NAME
from pendula.model.model import Model
from pendula.system import refusals
from pendula.system.code.llvm import Native, compile_program
from pendula.system.code.lower import Lowering
from pendula.system.layout import Array
from pendula.system.recursion import columns as co
from pendula.system.recursion.charts import chart_places
from pendula.system.recursion.columns import BALL, CHART, PRISMATIC, REVOLUTE
from pendula.system.recursion.load_rows import LoadRows, Point
from pendula.system.recursion.plane import planar as pl
from pendula.system.recursion.skeleton import GROUND, Constants, Hinge, Skeleton, follow_steps, upright


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
        self.mechanism = m = TreeCoordinates(model)
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
        hinges, seats, links = self.skeleton.hinges, self.skeleton.seats, m.links
        self._steps = Distinct([h.steps for h in hinges] + [s.steps for s in seats])
        self._axes = Distinct([_axis(h) for h in hinges])
        self._bodies = Distinct([(link.mass, link.com, link.inertia) for link in links])
        self._seat_hinges = np.array([seat.hinge for seat in seats], dtype=np.int64)
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
            raise NotSupported(refusals.RECURSIVE_COUPLING, joint=name)
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
        for steps in self._steps.entries:
            for step in steps:
                for x in step.vector if isinstance(step, Shift) else (*step.axis, step.angle):
                    note(x)
        for axis in self._axes.entries:
            for x in axis[1:]:
                note(x)
        for x in (x for hinge in self.skeleton.hinges if hinge.armature for x in hinge.armature):
            note(x)
        for mass, com, inertia in self._bodies.entries:
            for x in (mass, *com, *(x for row in inertia for x in row)):
                note(x)
        for x in self.rows.constants():
            note(x)
        for x in (x for _, _, places in self._closing for _, point in places for x in point.place):
            note(x)
        for x in self.mechanism.model.gravity:
            note(self.mechanism.constant(x))

    def numbers(self, parameters: Array) -> Numbers:
        """All numbers for a set of parameters, complex for complex parameters."""
        values = self.constants.values(parameters)

        def value(expression: Expr) -> Any:
            return values[self.constants.index(expression)]

        kind, count = values.dtype, len(self.skeleton.hinges)
        parent = self.hinges["parent"]
        R, r, angle = self._followed(value, kind)
        turns = np.concatenate([np.eye(3, dtype=kind)[None], self._upright(value, kind)])
        above, own = np.swapaxes(turns[parent], 1, 2), turns[1:]
        hinges = np.zeros((count, co.NUMBERS), dtype=kind)
        placed = np.where((self.hinges["absolute"] == 1)[:, None, None], own, above @ R[:count] @ own)
        hinges[:, ROTATION] = placed.reshape(count, 9)
        hinges[:, SHIFT] = (above @ r[:count, :, None])[:, :, 0]
        hinges[:, co.TURN] = angle[:count]
        hinges[:, co.SENSE] = np.array([value(axis[3]) for axis in self._axes.entries], dtype=kind)[self._axes.index]
        for k, hinge in enumerate(self.skeleton.hinges):
            if hinge.armature:
                hinges[k, co.ROTOR : co.ROTOR + len(hinge.armature)] = [value(x) for x in hinge.armature]
        back = np.swapaxes(turns[self._seat_hinges], 1, 2)
        R_seat, r_seat = back @ R[count:], (back @ r[count:, :, None])[:, :, 0]
        gravity = np.array([value(self.mechanism.constant(x)) for x in self.model.gravity])
        on_ground = self._add_masses(hinges, R_seat, r_seat, value)
        springs, loads = self.rows.numbers(value, R_seat, r_seat, kind)
        resting = -float(np.real(gravity @ on_ground[MOMENT]))
        plane = planar_numbers(self, hinges, springs, turns)
        rises = np.einsum("kj,kj->k", turns[parent][:, 2], hinges[:, SHIFT]).tolist()
        heights = [0.0]
        for inboard, rise in zip(parent.tolist(), rises, strict=True):
            heights.append(heights[inboard] + rise)
        found = np.array(heights, dtype=kind)
        return Numbers(hinges, springs, loads, gravity, (R_seat, r_seat), resting, plane, turns, found)

    def _followed(self, value: Any, kind: Any) -> tuple[Array, Array, Array]:
        """Rotation, shift and angle about z of the constant steps before every hinge, then of those to every seat."""
        found = [follow_steps(steps, value) for steps in self._steps.entries]
        R, r, angle = (np.array([x[k] for x in found], dtype=kind) for k in range(3))
        at = self._steps.index
        return R.reshape(-1, 3, 3)[at], r.reshape(-1, 3)[at], angle[at]

    def _upright(self, value: Any, kind: Any) -> Array:
        """Rotations from the axes of every hinge, with z along the joint axis, to those of its joint."""
        found = [
            upright(np.array([value(x) for x in axis])) if turns else np.eye(3) for turns, *axis in self._axes.entries
        ]
        return np.array(found, dtype=kind).reshape(-1, 3, 3)[self._axes.index]

    def _add_masses(self, hinges: Array, R: Array, r: Array, value: Any) -> Array:
        """Adds mass, first mass moment and inertia of all bodies at the origin and axes of their hinges.

        Returns the row of ground, for bodies that are fixed to it.
        """
        rows = np.zeros((len(hinges) + 1, co.NUMBERS), dtype=hinges.dtype)
        found = [
            [value(mass), *(value(x) for x in com), *(value(x) for row in inertia for x in row)]
            for mass, com, inertia in self._bodies.entries
        ]
        bodies = np.array(found, dtype=hinges.dtype).reshape(-1, 13)[self._bodies.index]
        mass, com = bodies[:, 0], r + (R @ bodies[:, 1:4, None])[:, :, 0]
        inertia = R @ bodies[:, 4:].reshape(-1, 3, 3) @ np.swapaxes(R, 1, 2)
        square = np.einsum("ki,ki->k", com, com)[:, None, None] * np.eye(3)
        about = inertia + mass[:, None, None] * (square - com[:, :, None] * com[:, None, :])
        np.add.at(rows[:, co.MASS], self._seat_hinges, mass)
        np.add.at(rows[:, MOMENT], self._seat_hinges, mass[:, None] * com)
        np.add.at(rows[:, INERTIA], self._seat_hinges, about[:, *np.triu_indices(3)])
        hinges += rows[1:]
        ground: Array = rows[0]
        return ground

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


def _axis(hinge: Hinge) -> tuple[Expr, ...]:
    """Whether a hinge moves along or about its axis, and the axis."""
    return hinge.kind in (REVOLUTE, PRISMATIC), *hinge.axis


class Distinct:
    """The distinct values among many entries, and for every entry the index of its value.

    Example:
        >>> found = Distinct(["a", "b", "a"])
        >>> found.entries, found.index
        (['a', 'b'], array([0, 1, 0]))
    """

    def __init__(self, entries: Sequence[Any]) -> None:
        places: dict[Any, int] = {}
        self.index = np.array([places.setdefault(entry, len(places)) for entry in entries], dtype=np.int64)
        self.entries = list(places)


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
                    raise NotSupported(refusals.RECURSIVE_MIXED)
                case _:
                    assert_never(step)
        return R, arm, turned
