"""Tables for the recursion: whole numbers found once per model, numbers that follow from the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
import symengine as se

from pendula.equations import loads as ld
from pendula.equations import vectors as vec
from pendula.equations.closures import AngleRow, Axis, GapRow, closure_rows
from pendula.equations.equations import drive_definitions
from pendula.equations.mechanism import Mechanism, Shift, Turn
from pendula.equations.tape import Expr, is_zero
from pendula.errors import NotSupported
from pendula.model.bodies import GROUND as GROUND_NAME
from pendula.model.model import Model
from pendula.system.code.llvm import Native, compile_program
from pendula.system.code.lower import Lowering
from pendula.system.layout import Array
from pendula.system.recursion import loads as lk
from pendula.system.recursion import loops as lp
from pendula.system.recursion import planar as pl
from pendula.system.recursion import spatial as sp
from pendula.system.recursion.skeleton import (
    GROUND,
    Constants,
    Hinge,
    Skeleton,
    follow_steps,
    is_constant,
    upright,
)


@dataclass(frozen=True)
class Numbers:
    """Everything that depends on parameters.

    ``seats``: rotation and shift from each body's hinge to its own axes; ``resting``: potential energy of bodies that
    are fixed to ground.
    """

    hinges: Array
    springs: Array
    loads: Array
    gravity: Array
    seats: tuple[Array, Array]
    resting: float
    plane: Array | None
    """numbers for the planar recursion; None where something leaves the plane"""
    turns: Array
    """from each hinge's own axes, z along its axis, to its joint's; ground's first"""
    heights: Array
    """of the hinges over the plane, if they move in one; ground's first"""


@dataclass(frozen=True)
class Gradient:
    """Program of the derivatives of expressions: one row per symbol, one number for each of the ``places``.

    ``far`` tells for every symbol whether more than the hinge of its own depends on it.
    """

    native: Native
    places: Array
    far: tuple[bool, ...]


@dataclass(frozen=True)
class _Point:
    """A point of a body, in body axes, with the body's index (-1: ground), or the origin of a hinge."""

    link: int
    place: tuple[Expr, ...]
    hinge: int = GROUND


class Tables:
    """Tables of a model, and the program of everything that is an expression of state or time.

    Raises:
        NotSupported: the model has something the recursion cannot do; the message names it.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.mechanism = m = Mechanism(model)
        self.skeleton = Skeleton.of(m)
        self.constants = Constants(m.parameters)
        self._known = set(m.parameters)
        self.nv, self.nq = len(m.v), len(m.q)
        self.expressions: list[Expr] = []
        self._spring_rows: list[tuple[list[int], list[Expr]]] = []
        self._load_rows: list[tuple[list[int], dict[int, Any]]] = []
        self._laws: list[tuple[int, ld.Across | ld.Between]] = []
        self._collect_loads()
        self._closing = [self._closing_row(row) for row in closure_rows(m)]
        self._write_laws()
        self.drives = len(m.drives)  # those of moving points of ground came last
        self.charts = _Charts(self.skeleton)
        self.ints = np.array([self._integers(h) for h in self.skeleton.hinges], dtype=np.int64).reshape(-1, sp.INTEGERS)
        self.springs = self._whole([r for r, _ in self._spring_rows], lk.SPRING_INTEGERS)
        self.loads = self._whole([r for r, _ in self._load_rows], lk.LOAD_INTEGERS)
        self._note_constants()

    @staticmethod
    def _whole(rows: list[list[int]], width: int) -> Array:
        return np.array(rows, dtype=np.int64).reshape(-1, width)

    def _integers(self, hinge: Hinge) -> list[int]:
        if hinge.kind != sp.CHART:
            return [hinge.parent, hinge.kind, hinge.q, hinge.v, hinge.drive, int(hinge.absolute), 0, 1]
        at, free, driven = self.charts.place(hinge)
        return [hinge.parent, hinge.kind, hinge.q, hinge.v, driven, 0, at, free]

    # -- loads ----------------------------------------------------------------------------------

    def _collect_loads(self) -> None:
        for load in ld.collect_loads(self.mechanism):
            self._add(load)

    def _add(self, load: ld.Load) -> None:
        m = self.mechanism
        match load:
            case ld.Across():
                hinge, k = self._place_of(str(load.coordinate))
                line = load.pull.straight
                if line is None:
                    self._spring(hinge, k, 0, 0, 0, self._law(load))
                else:
                    self._spring(hinge, k, line.stiffness, line.length, line.damping)
            case ld.BallFriction(speeds, coefficient):
                hinge = next(
                    i + 1 for i, h in enumerate(self.skeleton.hinges) if h.v == speeds[0] and h.kind == sp.BALL
                )
                for k in range(3):
                    self._spring(hinge, k, 0, 0, coefficient)
            case ld.OnCoordinate(rate, value):
                self._on_coordinate(rate, value)
            case ld.ForceAt(body, place, vector, axes):
                self._load(lk.FORCE, _Point(m.index[body], tuple(place)), vector=vector, axes=axes)
            case ld.TorqueOn(body, vector, axes):
                self._load(lk.TORQUE, _Point(m.index[body], (0, 0, 0)), vector=vector, axes=axes)
            case ld.SpinForce(body, place, direction, coefficient, _):
                at, more = self._either(coefficient)
                point = _Point(m.index[body], tuple(place))
                self._load(lk.SPIN, point, at=at, factor=more, direction=tuple(direction))
            case ld.Between():
                line = load.pull.straight
                start, end = self._end(*load.start), self._end(*load.end)
                if line is None:
                    self._load(lk.PULL, start, end, at=self._law(load))
                    return
                at, more = self._either(line.damping)
                self._load(lk.BETWEEN, start, end, at=at, factor=more, spring=line.stiffness, length=line.length)
            case _:
                assert_never(load)

    def _law(self, load: ld.Across | ld.Between) -> int:
        """Index of the first of the expressions of a law: elastic pull, drag, potential; they are written later."""
        at = len(self.expressions)
        self.expressions += [0, 0, 0]
        self._laws.append((at, load))
        return at

    def _write_laws(self) -> None:
        """Elastic pull, drag and potential of laws with other than straight lines, as expressions of the state.

        What a law measures is found from the symbolic poses, so that the derivatives of the program of expressions
        contain all that the law adds to those of the kernels. Rates can be taken once all prescribed motions are
        known, those of moving points of ground included.
        """
        m = self.mechanism
        in_time = m.in_time()
        for at, load in self._laws:
            if isinstance(load, ld.Across):
                x = load.measured(m.tape)
            else:
                gap = m.tape.keep_all(vec.subtract(m.point(*load.end), m.point(*load.start)), "gap__law")
                x = m.tape.name(se.sqrt(vec.dot(gap, gap)), "length__law")
            rate = m.tape.name(se.sympify(in_time(x)), "rate__law")
            pull = load.pull
            self.expressions[at : at + 3] = pull.elastic(x), pull.drag(x, rate), pull.potential(x)

    def _place_of(self, name: str) -> tuple[int, int]:
        if name not in self.skeleton.place_of:
            raise NotSupported(f'the recursion has no spring on "{name}", a prescribed coordinate of a chart')
        return self.skeleton.place_of[name]

    def _end(self, body: str, place: Sequence[Expr]) -> _Point:
        if not all(is_constant(x, self._known) for x in place):  # a point of ground that moves
            return _Point(-1, (0, 0, 0), self.skeleton.moving_point(place))
        return _Point(-1 if body == GROUND_NAME else self.mechanism.index[body], tuple(place))

    def _either(self, value: Expr) -> tuple[int, Expr]:
        """Index of an expression of state or time with 0, or -1 with the constant that it is."""
        return (-1, value) if is_constant(value, self._known) else (self._expression(value), 0)

    def _expression(self, value: Expr) -> int:
        self.expressions.append(value)
        return len(self.expressions) - 1

    def _spring(self, hinge: int, k: int, stiffness: Expr, rest: Expr, damping: Expr, law: int = -1) -> None:
        own = self.skeleton.hinges[hinge - 1]
        effort = own.v + k if own.v >= 0 else self.nv + own.drive
        at, constant = self._either(damping)
        self._spring_rows.append(([hinge, k, effort, at, law], [stiffness, rest, constant]))

    def _on_coordinate(self, rate: int, value: Expr) -> None:
        m = self.mechanism
        name = str(m.joint_rates[rate]).removesuffix("_dot")
        place = self.skeleton.place_of.get(name)
        if place is not None and self.skeleton.hinges[place[0] - 1].absolute:
            link = next(
                k for k, l in enumerate(m.links) if l.joint.coordinates() and l.joint.coordinates()[0].name == name
            )
            sense = m.direction(m.links[link].joint.axis)[2]  # type: ignore[attr-defined]
            self._load(lk.TORQUE, _Point(link, (0, 0, 0)), vector=(0, 0, sense * value), axes="world")
            return
        self._load_rows.append(([lk.EFFORT_GIVEN, rate, 0, self._expression(value), 0], {}))

    def _load(
        self,
        kind: int,
        first: _Point,
        second: _Point | None = None,
        *,
        vector: Sequence[Expr] = (),
        axes: str = "world",
        at: int = -1,
        factor: Expr = 0,
        spring: Expr = 0,
        length: Expr = 0,
        direction: tuple[Expr, ...] = (0, 0, 0),
    ) -> None:
        if vector:
            at, *_ = [self._expression(x) for x in vector]
        hinges = [0 if p is None else p.hinge or self._hinge_of(p.link) for p in (first, second)]
        constants: dict[int, Any] = {lk.PLACE: first, lk.SPRING: spring, lk.LENGTH: length, lk.FACTOR: factor}
        constants |= {lk.DIRECTION: (first.link, direction), lk.AXES: first.link}
        if second is not None:
            constants[lk.OTHER] = second
        self._load_rows.append(([kind, *hinges, at, int(axes == "body")], constants))

    @property
    def load_hinges(self) -> Array:
        """The hinge that each load acts on."""
        of_rate = {h.v: k + 1 for k, h in enumerate(self.skeleton.hinges) if h.v >= 0}
        of_rate |= {self.nv + h.drive: k + 1 for k, h in enumerate(self.skeleton.hinges) if h.drive >= 0}
        found = [of_rate.get(r[lk.FIRST], 0) if r[lk.KIND] == lk.EFFORT_GIVEN else r[lk.FIRST] for r in self.loads]
        return np.array(found, dtype=np.int64)

    @property
    def is_chain(self) -> bool:
        """Whether it is links one after the other, with angles measured from ground and no loads but springs."""
        ints = self.ints
        in_row = np.array_equal(ints[:, sp.PARENT], np.arange(len(ints)))
        turns = np.all(ints[:, sp.KIND] == sp.REVOLUTE) and np.all(ints[:, sp.ABSOLUTE] == 1)
        free = np.all(ints[:, sp.DRIVE] < 0) and np.array_equal(ints[:, sp.V], np.arange(len(ints)))
        return bool(in_row and turns and free and not len(self.loads))

    @property
    def has_damping(self) -> bool:
        """Whether a damper or friction is in a hinge."""
        return any(
            not is_zero(constants[lk.DAMPING])
            or row[lk.DAMPING_AT] >= 0
            or (row[lk.LAW_AT] >= 0 and not is_zero(self.expressions[row[lk.LAW_AT] + lk.LAW_DRAG]))
            for row, constants in self._spring_rows
        )

    @property
    def does_work(self) -> bool:
        """Whether a load is anything but a spring."""
        return any(self._is_more_than_spring(*row) for row in self._load_rows)

    def _is_more_than_spring(self, row: list[int], entries: dict[int, Any]) -> bool:
        if row[lk.KIND] == lk.PULL:
            return not is_zero(self.expressions[row[lk.VALUE] + lk.LAW_DRAG])
        return row[lk.KIND] != lk.BETWEEN or row[lk.VALUE] >= 0 or not is_zero(entries[lk.FACTOR])

    def _hinge_of(self, link: int) -> int:
        return GROUND if link < 0 else self.skeleton.seats[link].hinge

    # -- closed loops ---------------------------------------------------------------------------

    def _closing_row(self, row: GapRow | AngleRow) -> tuple[str, list[int], list[tuple[int, _Point]]]:
        """Name of a row, its whole numbers, and what stands at which of its columns."""
        if isinstance(row, GapRow):
            child, parent = (self._end(p.body, p.place) for p in (row.child, row.parent))
            frame = self._direction(row.axis)
            hinges = [p.hinge or self._hinge_of(p.link) for p in (child, parent, frame)]
            places = [(lp.CHILD_AT, child), (lp.PARENT_AT, parent), (lp.DIRECTION, frame)]
            return row.name, [lp.GAP, *hinges], places
        a, b = self._direction(row.a), self._direction(row.b)
        hinges = [self._hinge_of(a.link), self._hinge_of(b.link), GROUND]
        return row.name, [lp.ANGLE, *hinges], [(lp.DIRECTION, a), (lp.OTHER, b)]

    def _direction(self, axis: Axis) -> _Point:
        return _Point(-1 if axis.body == GROUND_NAME else self.mechanism.index[axis.body], tuple(axis.direction))

    def closing(self, names: Sequence[str]) -> Array:
        """The table of the rows with these names."""
        known = {name: ints for name, ints, _ in self._closing}
        return self._whole([known[name] for name in names], lp.ROW_INTEGERS)

    def closing_numbers(self, names: Sequence[str], numbers: Numbers, parameters: Array) -> Array:
        """The numbers of the rows with these names."""
        values = self.constants.values(parameters)
        known = {name: places for name, _, places in self._closing}
        out = np.zeros((len(names), lp.ROW_NUMBERS))
        R, r = numbers.seats
        for row, name in zip(out, names, strict=True):
            for at, point in known[name]:
                place = np.array([values[self.constants.index(x)] for x in point.place])
                if point.link >= 0:
                    shift = 0.0 if at in (lp.DIRECTION, lp.OTHER) else r[point.link]
                    place = shift + R[point.link] @ place
                row[at : at + 3] = place
        return out

    # -- numbers --------------------------------------------------------------------------------

    def _note_constants(self) -> None:
        """Tells the constants which expressions will be asked for."""
        note = self.constants.index
        for hinge in self.skeleton.hinges:
            self._note_steps(hinge.steps)
            for x in hinge.axis:
                note(x)
        for seat, link in zip(self.skeleton.seats, self.mechanism.links, strict=True):
            self._note_steps(seat.steps)
            for x in (link.mass, *link.com, *(x for row in link.inertia for x in row)):
                note(x)
        for _, expressions in self._spring_rows:
            for x in expressions:
                note(x)
        for _, entries in self._load_rows:
            for key in (lk.SPRING, lk.LENGTH, lk.FACTOR):
                note(entries.get(key, 0))
            points = [entries[k].place for k in (lk.PLACE, lk.OTHER) if k in entries]
            for x in (x for vector in (*points, entries.get(lk.DIRECTION, (0, ()))[1]) for x in vector):
                note(x)
        for x in (x for _, _, places in self._closing for _, point in places for x in point.place):
            note(x)
        for x in self.mechanism.model.gravity:
            note(self.mechanism.constant(x))

    def _note_steps(self, steps: Sequence[Any]) -> None:
        for step in steps:
            for x in step.vector if isinstance(step, Shift) else (*step.axis, step.angle):
                self.constants.index(x)

    def numbers(self, parameters: Array) -> Numbers:
        """All numbers for a set of parameters; complex parameters give complex numbers."""
        values = self.constants.values(parameters)

        def value(expression: Expr) -> Any:
            return values[self.constants.index(expression)]

        kind = values.dtype
        turns = [np.eye(3)]  # from each hinge's own axes, z along its axis, to its joint's
        hinges = np.zeros((len(self.skeleton.hinges), sp.NUMBERS), dtype=kind)
        for k, hinge in enumerate(self.skeleton.hinges):
            Q = upright(np.array([value(x) for x in hinge.axis])) if hinge.kind < 2 else np.eye(3)
            turns.append(Q)
            R, r, angle = follow_steps(hinge.steps, value)
            above = turns[hinge.parent].T
            hinges[k, :9] = (Q if hinge.absolute else above @ R @ Q).ravel()
            hinges[k, 9:12] = above @ r
            hinges[k, sp.TURN], hinges[k, sp.SENSE] = angle, value(hinge.axis[2])
        seats = [follow_steps(seat.steps, value) for seat in self.skeleton.seats]
        R_seat = np.array([turns[s.hinge].T @ found[0] for s, found in zip(self.skeleton.seats, seats, strict=True)])
        r_seat = np.array([turns[s.hinge].T @ found[1] for s, found in zip(self.skeleton.seats, seats, strict=True)])
        gravity = np.array([value(self.mechanism.constant(x)) for x in self.model.gravity])
        on_ground = np.zeros(sp.NUMBERS, dtype=kind)
        for k, (seat, link) in enumerate(zip(self.skeleton.seats, self.mechanism.links, strict=True)):
            row = on_ground if seat.hinge == GROUND else hinges[seat.hinge - 1]
            self._add_mass(row, link, R_seat[k], r_seat[k], value)
        springs = np.array([[value(x) for x in row] for _, row in self._spring_rows], dtype=kind)
        loads = np.zeros((len(self._load_rows), lk.LOAD_NUMBERS), dtype=kind)
        for row, (_, entries) in zip(loads, self._load_rows, strict=True):
            self._fill_load(row, entries, R_seat, r_seat, value)
        resting = -float(np.real(gravity @ on_ground[sp.MOMENT : sp.MOMENT + 3]))
        springs = springs.reshape(-1, lk.SPRING_NUMBERS)
        plane = planar_numbers(self, hinges, springs, np.array(turns))
        heights = np.zeros(len(turns), dtype=kind)
        for k, hinge in enumerate(self.skeleton.hinges):
            heights[k + 1] = heights[hinge.parent] + (turns[hinge.parent] @ hinges[k, 9:12])[2]
        return Numbers(hinges, springs, loads, gravity, (R_seat, r_seat), resting, plane, np.array(turns), heights)

    @staticmethod
    def _add_mass(row: Array, link: Any, R: Array, r: Array, value: Any) -> None:
        """A body's mass, moved to the origin and axes of its hinge."""
        mass = value(link.mass)
        com = r + R @ np.array([value(x) for x in link.com])
        inertia = R @ np.array([[value(x) for x in line] for line in link.inertia]) @ R.T
        about = inertia + mass * ((com @ com) * np.eye(3) - np.outer(com, com))
        row[sp.MASS] += mass
        row[sp.MOMENT : sp.MOMENT + 3] += mass * com
        row[sp.INERTIA : sp.INERTIA + 6] += about[np.triu_indices(3)]

    @staticmethod
    def _fill_load(row: Array, entries: dict[int, Any], R: Array, r: Array, value: Any) -> None:
        if not entries:
            return
        for at in (lk.SPRING, lk.LENGTH, lk.FACTOR):
            row[at] = value(entries[at])
        for at in (lk.PLACE, lk.OTHER):
            if at in entries:
                point = entries[at]
                place = np.array([value(x) for x in point.place])
                row[at : at + 3] = place if point.link < 0 else r[point.link] + R[point.link] @ place
        link, direction = entries[lk.DIRECTION]
        if link >= 0:
            row[lk.DIRECTION : lk.DIRECTION + 3] = R[link] @ np.array([value(x) for x in direction])
            row[lk.AXES : lk.AXES + 9] = R[link].ravel()

    # -- expressions ----------------------------------------------------------------------------

    @property
    def aside(self) -> int:
        """Length of what the program of expressions writes: prescribed motions, values, charts with their scratch."""
        return 3 * self.drives + len(self.expressions) + self.charts.size

    def program(self, inputs_in_time: Sequence[tuple[Any, Any]] = ()) -> Native | None:
        """Prescribed motions, values of expressions and charts, from [t, q, v, u]; None if there is nothing."""
        outputs, places = self._outputs()
        if not outputs:
            return None
        low = self._lowering(inputs_in_time)
        return compile_program(low.program, [low(e) for e in outputs], places, quick=len(outputs) > 400)

    def _outputs(self) -> tuple[list[Expr], list[int]]:
        """All that the program of expressions writes, and where."""
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
        """Derivatives of what :meth:`program` writes by some symbols, all inputs held; None if there are none."""
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
        shared = 3 * self.drives + len(self.expressions)  # what stands before the charts can act anywhere
        far = [any(places[k] < shared and column[k] != program.zero for k in moved) for column in columns]
        return Gradient(native, np.array([places[k] for k in moved], dtype=np.int64), tuple(far))


def planar_numbers(tables: Tables, hinges: Array, springs: Array, turns: Array) -> Array | None:
    """Numbers of the same hinges for the planar recursion; None if something leaves the plane or is not known there.

    ``turns`` lead from each hinge's own axes to those of its joint, ground's first.
    """
    ints = tables.ints
    if (
        not len(ints)
        or np.any(ints[:, sp.KIND] > sp.PRISMATIC)
        or np.any(tables.springs[:, [lk.DAMPING_AT, lk.LAW_AT]] >= 0)
    ):
        return None
    known = tables.loads[:, lk.KIND] == lk.EFFORT_GIVEN
    known |= (tables.loads[:, lk.KIND] == lk.TORQUE) & (tables.loads[:, lk.IN_BODY] == 0)
    if not np.all(known):
        return None
    own, parent = turns[1:], ints[:, sp.PARENT]
    axis = own[:, :, 2]  # of the hinge, in the axes of its joint
    is_turn = np.asarray(ints[:, sp.KIND] == sp.REVOLUTE)
    placed = turns[parent] @ hinges[:, :9].reshape(-1, 3, 3) @ np.swapaxes(own, 1, 2)
    upright_placed = np.where((ints[:, sp.ABSOLUTE] == 1)[:, None], [0.0, 0.0, 1.0], placed[:, :, 2])
    flat = np.where(is_turn[:, None], axis[:, :2], axis[:, 2:])
    if np.any(np.abs(flat) > 0) or np.any(np.abs(upright_placed - [0.0, 0.0, 1.0]) > 0):
        return None
    plane = np.zeros((len(ints), pl.NUMBERS), dtype=hinges.dtype)
    plane[:, [pl.SX, pl.SY]] = np.einsum("kij,kj->ki", turns[parent], hinges[:, 9:12])[:, :2]
    plane[:, pl.TURN], plane[:, pl.SENSE] = hinges[:, sp.TURN], np.where(is_turn, hinges[:, sp.SENSE], 1.0)
    plane[:, [pl.AX, pl.AY]] = np.where(is_turn[:, None], 0.0, axis[:, :2])
    plane[:, pl.MASS] = hinges[:, sp.MASS]
    moment = np.einsum("kij,kj->ki", own, hinges[:, sp.MOMENT : sp.MOMENT + 3])
    plane[:, [pl.HX, pl.HY]] = moment[:, :2]
    inertia = hinges[:, [16, 17, 18, 17, 19, 20, 18, 20, 21]].reshape(-1, 3, 3)
    plane[:, pl.INERTIA] = np.einsum("ki,kij,kj->k", own[:, 2], inertia, own[:, 2])
    at = tables.springs[:, lk.HINGE] - 1
    np.add.at(plane[:, pl.STIFFNESS], at, springs[:, lk.STIFFNESS])
    np.add.at(plane[:, pl.PULL], at, springs[:, lk.STIFFNESS] * springs[:, lk.REST])
    np.add.at(plane[:, pl.DAMPING], at, springs[:, lk.DAMPING])
    return plane


class _Charts:
    """The joints with expressions of their own: pose, motion and axes as expressions."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.mechanism = skeleton.mechanism
        self._places: dict[int, tuple[int, int, int]] = {}
        self._found: list[tuple[int, list[Expr]]] = []
        self._drives: list[tuple[int, list[int]]] = []
        self.size = 0
        for hinge in skeleton.hinges:
            if hinge.kind == sp.CHART:
                self._add(hinge)

    def place(self, hinge: Hinge) -> tuple[int, int, int]:
        """Where its numbers start, how many freedoms it has, how many prescribed motions."""
        return self._places[id(hinge)]

    def outputs(self) -> list[tuple[int, list[Expr]]]:
        """For every chart where it starts, and its expressions."""
        return self._found

    def fill_drives(self, charts: Array) -> None:
        """Writes the indices of prescribed motions, which stand at the end of each chart's numbers."""
        for at, drives in self._drives:
            charts[at : at + len(drives)] = drives

    def _flat(self, expression: Expr) -> Any:
        expression = se.sympify(expression)
        while named := [s for s in expression.free_symbols if s in self.mechanism.tape.definitions]:
            expression = expression.subs({s: self.mechanism.tape.definitions[s] for s in named})
        return expression

    def _add(self, hinge: Hinge) -> None:
        m = self.mechanism
        shift = next(s for s in hinge.motion if isinstance(s, Shift))
        turns = [s for s in hinge.motion if isinstance(s, Turn)]
        arm = [self._flat(x) for x in shift.vector]
        angles = [self._flat(s.angle) for s in turns]
        free = [(se.Symbol(n), se.Symbol(f"{n}_dot"), se.Integer(0)) for n in hinge.names]
        used = set().union(*(e.free_symbols for e in (*arm, *angles)))
        numbers = [k for k, d in enumerate(m.drives) if d.position in used]
        moved = [(m.drives[k].position, m.drives[k].rate, m.drives[k].acceleration) for k in numbers]
        variables = [*free, *moved]
        R, axes = self._turned(turns, angles)
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
        flat.append(sum(se.sympify(s.axis[2]) * e for s, e in zip(turns, angles, strict=True)))
        for spin, slide in zip(spins, slides, strict=True):
            flat += [*spin, *slide]
        length = int(lk.chart_size.py_func(len(free), len(moved)))
        self._places[id(hinge)] = (self.size, len(free), len(moved))
        self._drives.append((self.size + length - len(moved), numbers))
        self._found.append((self.size, [se.sympify(e) for e in flat]))
        self.size += length

    @staticmethod
    def _bias(columns: list[list[Any]], variables: list[Any], i: int) -> Any:
        """Second rate without the accelerations of the freedoms."""
        total = se.Integer(0)
        for column, (_, rate, acceleration) in zip(columns, variables, strict=True):
            entry = se.sympify(column[i])
            total += entry * acceleration
            for other, turning, _ in variables:
                total += entry.diff(other) * rate * turning
        return total

    @staticmethod
    def _turned(turns: list[Turn], angles: list[Any]) -> tuple[Any, list[Any]]:
        """The rotation after some turns, and the axis of each before it is made, in the axes of the parent side."""
        R = [[se.Integer(int(i == j)) for j in range(3)] for i in range(3)]
        axes = []
        for turn, angle in zip(turns, angles, strict=True):
            x, y, z = (se.sympify(a) for a in turn.axis)
            axes.append([sum(R[i][j] * a for j, a in enumerate((x, y, z))) for i in range(3)])
            c, s = se.cos(angle), se.sin(angle)
            skew = ((0, -z, y), (z, 0, -x), (-y, x, 0))
            both = [[a * b * (1 - c) for b in (x, y, z)] for a in (x, y, z)]
            own = [[both[i][j] + s * skew[i][j] + (c if i == j else 0) for j in range(3)] for i in range(3)]
            R = [[sum(R[i][l] * own[l][j] for l in range(3)) for j in range(3)] for i in range(3)]
        return R, axes
