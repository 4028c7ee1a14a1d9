"""Rows of the recursion's tables for loads, and the expressions of state and time that they use."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, assert_never

import numpy as np
import symengine as se

from pendula.equations import loads as ld
from pendula.equations import vectors as vec
from pendula.equations.orientation.symbols import TurnBall
from pendula.equations.tape import Expr, is_zero
from pendula.errors import NotSupported
from pendula.model.bodies import GROUND as GROUND_NAME
from pendula.system import refusals
from pendula.system.layout import Array
from pendula.system.recursion import columns as co
from pendula.system.recursion.skeleton import GROUND, Skeleton, is_constant


@dataclass(frozen=True)
class Point:
    """A point of a body, in body axes, with the body's index (-1: ground), or the origin of a hinge."""

    link: int
    place: tuple[Expr, ...]
    hinge: int = GROUND


SpringRow = namedtuple("SpringRow", "hinge coordinate effort damping law")
LoadRow = namedtuple("LoadRow", "kind first second value in_body")
"""records of ``columns.SPRING`` and ``columns.LOAD``"""


class LoadRows:
    """Springs across hinges, and all other loads.

    Attributes:
        expressions: functions of state and time that loads use.
        springs: integers and constants of every spring across a hinge.
        others: integers and constants of every other load, by column.

    Raises:
        NotSupported: the recursion does not support a load; the message names it.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton, self.mechanism = skeleton, skeleton.mechanism
        self.expressions: list[Expr] = []
        self.springs: list[tuple[SpringRow, list[Expr]]] = []
        self.others: list[tuple[LoadRow, dict[int, Any]]] = []
        self._laws: list[tuple[int, ld.Across | ld.Between]] = []
        self._known, self._nv = set(self.mechanism.parameters), len(self.mechanism.v)
        for load in ld.collect_loads(self.mechanism):
            self._add(load)

    def _add(self, load: ld.Load) -> None:
        m = self.mechanism
        match load:
            case ld.Across():
                hinge, k = self._place_of(str(load.coordinate))
                motion = self.skeleton.hinges[hinge - 1].motion
                if motion and isinstance(motion[0], TurnBall) and motion[0].template.axes != "rates":
                    raise NotSupported(refusals.RECURSIVE_BALL_SPRING, coordinate=load.coordinate)
                line = load.pull.straight
                if line is None:
                    self._spring(hinge, k, 0, 0, 0, self._law(load))
                else:
                    self._spring(hinge, k, line.stiffness, line.length, line.damping)
            case ld.BallFriction(speeds, coefficient):
                hinge = self._hinge_of_speed[speeds[0]]
                for k in range(3):
                    self._spring(hinge, k, 0, 0, coefficient)
            case ld.OnCoordinate(rate, value):
                self._on_coordinate(rate, value)
            case ld.ForceAt(body, place, vector, axes):
                self._load(co.FORCE, Point(m.index[body], tuple(place)), vector=vector, axes=axes)
            case ld.TorqueOn(body, vector, axes):
                self._load(co.TORQUE, Point(m.index[body], (0, 0, 0)), vector=vector, axes=axes)
            case ld.SpinForce(body, place, direction, coefficient, _):
                at, more = self._either(coefficient)
                point = Point(m.index[body], tuple(place))
                self._load(co.SPIN, point, at=at, factor=more, direction=tuple(direction))
            case ld.Between():
                line = load.pull.straight
                start, end = self.end(*load.start), self.end(*load.end)
                if line is None:
                    self._load(co.PULL, start, end, at=self._law(load))
                    return
                at, more = self._either(line.damping)
                self._load(co.BETWEEN, start, end, at=at, factor=more, spring=line.stiffness, length=line.length)
            case _:
                assert_never(load)

    @cached_property
    def _hinge_of_speed(self) -> dict[int, int]:
        return {hinge.v: k + 1 for k, hinge in enumerate(self.skeleton.hinges)}

    @cached_property
    def _rates(self) -> list[Any]:
        return self.mechanism.joint_rates

    @cached_property
    def _link_of(self) -> dict[str, int]:
        """The link that moves by a coordinate, if that is the first one of its joint."""
        names = [link.joint.coordinate_names() for link in self.mechanism.links]
        return {own[0]: k for k, own in enumerate(names) if own}

    def _law(self, load: ld.Across | ld.Between) -> int:
        """Reserves expressions for a law (elastic force, drag, potential); returns the index of the first."""
        at = len(self.expressions)
        self.expressions += [0, 0, 0]
        self._laws.append((at, load))
        return at

    def write_laws(self) -> None:
        """Writes elastic force, drag and potential of nonlinear laws as expressions of the state.

        The length or angle in a law comes from the symbolic poses, so that the derivatives of the program of
        expressions contain everything the law adds to those of the kernels. Rates are available only after all
        prescribed motions are known, including those of moving points on ground.
        """
        if not self._laws:
            return
        m = self.mechanism
        in_time = m.in_time()
        for at, load in self._laws:
            match load:
                case ld.Across():
                    x = load.measured(m.tape)
                case ld.Between():
                    gap = m.tape.keep_all(vec.subtract(m.point(*load.end), m.point(*load.start)), "gap__law")
                    x = m.tape.name(se.sqrt(vec.dot(gap, gap)), "length__law")
                case _:
                    assert_never(load)
            rate = m.tape.name(se.sympify(in_time(x)), "rate__law")
            pull = load.pull
            self.expressions[at : at + 3] = pull.elastic(x), pull.drag(x, rate), pull.potential(x)

    def _place_of(self, name: str) -> tuple[int, int]:
        if name not in self.skeleton.place_of:
            raise NotSupported(refusals.RECURSIVE_DRIVEN_SPRING, coordinate=name)
        return self.skeleton.place_of[name]

    def end(self, body: str, place: Sequence[Expr]) -> Point:
        """A point of a body; a moving point on ground has its own hinge."""
        if not all(is_constant(x, self._known) for x in place):
            return Point(-1, (0, 0, 0), self.skeleton.moving_point(place))
        return Point(-1 if body == GROUND_NAME else self.mechanism.index[body], tuple(place))

    def _either(self, value: Expr) -> tuple[int, Expr]:
        """(index, 0) for an expression of state or time, (-1, value) for a constant."""
        return (-1, value) if is_constant(value, self._known) else (self._expression(value), 0)

    def _expression(self, value: Expr) -> int:
        self.expressions.append(value)
        return len(self.expressions) - 1

    def _spring(self, hinge: int, k: int, stiffness: Expr, rest: Expr, damping: Expr, law: int = -1) -> None:
        own = self.skeleton.hinges[hinge - 1]
        effort = own.v + k if own.v >= 0 else self._nv + own.drive
        at, constant = self._either(damping)
        self.springs.append((SpringRow(hinge, k, effort, at, law), [stiffness, rest, constant]))

    def _on_coordinate(self, rate: int, value: Expr) -> None:
        m = self.mechanism
        name = str(self._rates[rate]).removesuffix("_dot")
        place = self.skeleton.place_of.get(name)
        if place is not None and self.skeleton.hinges[place[0] - 1].absolute:
            link = self._link_of[name]
            turn = m.links[link].absolute_turn
            assert turn is not None
            sense = turn.axis[2]
            self._load(co.TORQUE, Point(link, (0, 0, 0)), vector=(0, 0, sense * value), axes="world")
            return
        self.others.append((LoadRow(co.EFFORT_GIVEN, rate, 0, self._expression(value), 0), {}))

    def _load(
        self,
        kind: int,
        first: Point,
        second: Point | None = None,
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
        on, other = (0 if p is None else p.hinge or self.hinge_of(p.link) for p in (first, second))
        constants: dict[int, Any] = {co.PLACE: first, co.SPRING_RATE: spring, co.LENGTH: length, co.FACTOR: factor}
        constants |= {co.DIRECTION: (first.link, direction), co.AXES: first.link}
        if second is not None:
            constants[co.OTHER] = second
        self.others.append((LoadRow(kind, on, other, at, {"world": 0, "body": 1}[axes]), constants))

    def hinge_of(self, link: int) -> int:
        """The hinge that carries a body (-1: ground)."""
        return GROUND if link < 0 else self.skeleton.seats[link].hinge

    @property
    def load_hinges(self) -> Array:
        """The hinge that each load acts on."""
        of_rate = {h.v: k + 1 for k, h in enumerate(self.skeleton.hinges) if h.v >= 0}
        of_rate |= {self._nv + h.drive: k + 1 for k, h in enumerate(self.skeleton.hinges) if h.drive >= 0}
        found = [of_rate.get(r.first, 0) if r.kind == co.EFFORT_GIVEN else r.first for r, _ in self.others]
        return np.array(found, dtype=np.int64)

    @property
    def has_damping(self) -> bool:
        """Whether any hinge has a damper or friction."""
        return any(
            not is_zero(constants[co.DAMPING])
            or row.damping >= 0
            or (row.law >= 0 and not is_zero(self.expressions[row.law + co.LAW_DRAG]))
            for row, constants in self.springs
        )

    @property
    def does_work(self) -> bool:
        """Whether any load is more than a spring."""
        return any(self._is_more_than_spring(*row) for row in self.others)

    def _is_more_than_spring(self, row: LoadRow, entries: dict[int, Any]) -> bool:
        if row.kind == co.PULL:
            return not is_zero(self.expressions[row.value + co.LAW_DRAG])
        return row.kind != co.BETWEEN or row.value >= 0 or not is_zero(entries[co.FACTOR])

    def constants(self) -> Iterator[Expr]:
        """Every expression of parameters in the rows."""
        for _, expressions in self.springs:
            yield from expressions
        for _, entries in self.others:
            for key in (co.SPRING_RATE, co.LENGTH, co.FACTOR):
                yield entries.get(key, 0)
            points = [entries[k].place for k in (co.PLACE, co.OTHER) if k in entries]
            for vector in (*points, entries.get(co.DIRECTION, (0, ()))[1]):
                yield from vector

    def numbers(self, value: Callable[[Expr], Any], R: Array, r: Array, kind: Any) -> tuple[Array, Array]:
        """The numbers of springs and of other loads; ``R`` and ``r`` transform from body axes to hinge axes."""
        springs = np.array([[value(x) for x in row] for _, row in self.springs], dtype=kind)
        others = np.zeros((len(self.others), co.LOAD_NUMBERS), dtype=kind)
        for row, (_, entries) in zip(others, self.others, strict=True):
            self._fill(row, entries, R, r, value)
        return springs.reshape(-1, co.SPRING_NUMBERS), others

    @staticmethod
    def _fill(row: Array, entries: dict[int, Any], R: Array, r: Array, value: Any) -> None:
        if not entries:
            return
        for at in (co.SPRING_RATE, co.LENGTH, co.FACTOR):
            row[at] = value(entries[at])
        for at in (co.PLACE, co.OTHER):
            if at in entries:
                point = entries[at]
                place = np.array([value(x) for x in point.place])
                row[at : at + 3] = place if point.link < 0 else r[point.link] + R[point.link] @ place
        link, direction = entries[co.DIRECTION]
        if link >= 0:
            row[co.DIRECTION : co.DIRECTION + 3] = R[link] @ np.array([value(x) for x in direction])
            row[co.AXES : co.AXES + 9] = R[link].ravel()
