"""Splits a model into hinges of a few kinds, over which the recursion runs.

A hinge is an elementary joint with its motion subspace. A joint with several degrees of freedom becomes several hinges
(a planar joint: two prismatic, one revolute), except a spherical joint (ball) and a joint whose motion is a set of
expressions (chart). The template of the joint's motion determines the kinds. A prescribed coordinate is a hinge with
known motion. A seat is a body frame on a hinge: a fixed joint only adds its body to a hinge.

The structure is found once per model; the numbers depend on the parameters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, assert_never

import numpy as np
import symengine as se

from pendula.equations import vectors as vec
from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.mechanism.parts import Link, Shift, Step, Turn
from pendula.equations.orientation.symbols import TurnBall
from pendula.equations.tape import Expr, is_zero
from pendula.errors import NotSupported
from pendula.model.expressions.expression import parse
from pendula.model.joints import steps as template
from pendula.model.joints.steps import AXES
from pendula.system import refusals
from pendula.system.layout import Array
from pendula.system.recursion.columns import BALL, CHART, PRISMATIC, REVOLUTE

T = TypeVar("T")
Constant = Shift | Turn
"""steps before and after the motion of a joint"""

GROUND = 0  # number of ground among the hinges; real ones count from 1


@dataclass(frozen=True, slots=True)
class Hinge:
    """An elementary joint between two frames.

    Attributes:
        kind: REVOLUTE, PRISMATIC, BALL or CHART.
        parent: number of the inboard hinge, 0 for ground.
        steps: constant steps from the parent's frame (after its motion) to the frame in which this one moves.
        axis: unit axis of a revolute or prismatic hinge.
        q: index of the first coordinate, -1 if it is prescribed.
        v: index of the first speed, -1 if it is prescribed.
        drive: index of the prescribed motion, -1 if it is free.
        absolute: whether the angle is measured from ground.
        motion: steps of a chart.
        names: names of its coordinates.
        armature: inertia of the rotors that turn with its speeds; empty: none.
    """

    kind: int
    parent: int
    steps: tuple[Constant, ...]
    axis: tuple[Expr, ...] = (0, 0, 1)
    q: int = -1
    v: int = -1
    drive: int = -1
    absolute: bool = False
    motion: tuple[Step, ...] = ()
    names: tuple[str, ...] = ()
    armature: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Seat:
    """The frame of a body: the hinge that carries it, and constant steps from there to the body axes."""

    hinge: int
    steps: tuple[Constant, ...]


@dataclass
class Skeleton:
    """Hinges (joints) and seats (body frames) of a mechanism. ``place_of`` maps a coordinate to hinge and index."""

    mechanism: Mechanism
    hinges: list[Hinge] = field(default_factory=list)
    seats: list[Seat] = field(default_factory=list)
    place_of: dict[str, tuple[int, int]] = field(default_factory=dict)
    _moving: dict[tuple[Expr, ...], int] = field(default_factory=dict)
    _builder: _Builder | None = None

    @classmethod
    def of(cls, mechanism: Mechanism) -> Skeleton:
        """Splits the tree joints of a mechanism into hinges."""
        found = cls(mechanism)
        found._builder = builder = _Builder(found)
        for link in mechanism.links:
            builder.add(link)
        return found

    def moving_point(self, place: Sequence[Expr]) -> int:
        """Number of the hinge at a moving point on ground; it carries no body."""
        key = tuple(place)
        if key not in self._moving:
            builder = self._builder or _Builder(self)
            builder.move_point(place)
            self._moving[key] = builder.hinge
        return self._moving[key]

    @property
    def charts(self) -> list[int]:
        """Numbers of the hinges that are charts."""
        return [k + 1 for k, hinge in enumerate(self.hinges) if hinge.kind == CHART]


class _Builder:
    """Walks along the links and appends hinges."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        m = skeleton.mechanism
        self.q = {c.name: k for k, c in enumerate(m.model.coordinates)}
        self.v = {s.name: k for k, s in enumerate(m.model.speeds)}
        self.drives = {d.position: k for k, d in enumerate(m.drives)}
        rates = m.rates if m.rotors else []
        self.rotors = {str(rates[r.rate]): r.inertia for r in m.rotors}
        self.hinge, self.steps = GROUND, ()  # type: int, tuple[Constant, ...]

    def add(self, link: Link) -> None:
        """Appends all hinges of a link's joint, and the seat of its body."""
        seats = self.skeleton.seats
        parent = seats[link.parent] if link.parent >= 0 else Seat(GROUND, ())
        self.hinge, self.steps = parent.hinge, parent.steps
        if self.drives:
            for step in _constants(link.before, link):
                self._before(step)
        else:
            self.steps = _joined(self.steps, _constants(link.before, link))
        self._move(link)
        seats.append(Seat(self.hinge, _joined(self.steps, _constants(link.after, link))))

    def move_point(self, place: Sequence[Expr]) -> None:
        """Appends hinges from ground to a moving point, whose prescribed motions may be new."""
        drives = self.skeleton.mechanism.drives
        self.drives |= {drives[k].position: k for k in range(len(self.drives), len(drives))}
        self.hinge, self.steps = GROUND, ()
        self._before(Shift((place[0], place[1], place[2])))

    def _before(self, step: Constant) -> None:
        """A constant step, or a moving point on ground: prismatic hinges along x, y, z."""
        driven = [x in self.drives for x in step.vector] if isinstance(step, Shift) else [False]
        if not any(driven):
            self.steps = (*self.steps, step)
            return
        assert isinstance(step, Shift)
        rest = [0 if moves else x for x, moves in zip(step.vector, driven, strict=True)]
        self.steps = (*self.steps, Shift((rest[0], rest[1], rest[2])))
        for axis, x, moves in zip("xyz", step.vector, driven, strict=True):
            if moves:
                self._hinge(PRISMATIC, AXES[axis], str(x), drive=self.drives[x])

    def _hinge(self, kind: int, axis: Sequence[Expr], name: str, *, drive: int = -1, absolute: bool = False) -> None:
        if self.drives:
            drive = self.drives.get(se.Symbol(name), drive)
        free = drive < 0
        self._append(
            Hinge(
                kind,
                self.hinge,
                self.steps,
                tuple(axis),
                self.q[name] if free else -1,
                self.v[f"{name}_dot"] if free else -1,
                drive,
                absolute,
                names=(name,),
                armature=self._armature([f"{name}_dot"]),
            )
        )

    def _armature(self, speeds: Sequence[str]) -> tuple[Expr, ...]:
        return tuple(self.rotors.get(name, 0) for name in speeds) if self.rotors else ()

    def _append(self, hinge: Hinge) -> None:
        self.skeleton.hinges.append(hinge)
        self.hinge, self.steps = len(self.skeleton.hinges), ()
        for k, name in enumerate(hinge.names):
            self.skeleton.place_of[name] = (self.hinge, k)

    def _move(self, link: Link) -> None:
        """Appends the hinges of a joint, according to the template of its motion.

        A rotation or translation by a coordinate that appears nowhere else is a revolute or prismatic hinge, a
        quaternion with speeds in body axes is a ball. Any other orientation, one with armature, and all other steps
        between two orientations, become one chart.
        """
        joint = link.joint
        names = joint.coordinate_names()
        steps = joint.steps()
        if len(steps) == 1 and names == (_amount(steps[0]),):  # most joints: one step by one coordinate
            self._hinges(steps)
            return
        runs = _runs(steps, template.TurnBall)
        symbols = _runs(link.motion, TurnBall)
        uses = Counter(_used(steps))
        simple = [
            _simple(run) and not self._turns_rotors(run) and all(n in names and uses[n] == 1 for n in _moved(run))
            for run in runs
        ]
        placed = [name for run, good in zip(runs, simple, strict=True) if good for name in _moved(run)]
        left = [name for name in names if name not in placed]
        charts = [k for k, good in enumerate(simple) if not good]
        if len(charts) > 1 or (left and not charts):
            what = f'has no step that uses "{left[0]}"' if left and not charts else "mixes orientations and expressions"
            raise NotSupported(refusals.RECURSIVE_JOINT, joint=joint.name, type=joint.type, what=what)
        for run, motion, good in zip(runs, symbols, simple, strict=True):
            if good:
                self._hinges(run)
            else:
                self._chart(left, motion)

    def _turns_rotors(self, run: Sequence[template.Step]) -> bool:
        """Whether a run is an orientation with armature: the elimination of a ball leaves no room for it."""
        return any(isinstance(step, template.TurnBall) and step.speeds[0] in self.rotors for step in run)

    def _hinges(self, run: Sequence[template.Step]) -> None:
        """One hinge for every step."""
        direction = self.skeleton.mechanism.direction
        for step in run:
            match step:
                case template.Turn(axis, angle, absolute):
                    self._hinge(REVOLUTE, direction(axis), str(angle), absolute=absolute)
                case template.Slide(axis, distance):
                    self._hinge(PRISMATIC, direction(axis), str(distance))
                case template.TurnBall(coordinates=names, speeds=omega):
                    self._append(
                        Hinge(BALL, self.hinge, self.steps, q=self.q[names[0]], v=self.v[omega[0]], names=names)
                    )
                case template.Shift():
                    raise AssertionError("a shift by a vector is a chart")
                case _:
                    assert_never(step)

    def _chart(self, names: Sequence[str], motion: tuple[Step, ...]) -> None:
        """One hinge for all steps, whose pose and motion are expressions."""
        free = [n for n in names if se.Symbol(n) not in self.drives]
        first_q = self.q[free[0]] if free else -1
        if held := [n for n in names if n not in free and f"{n}_dot" in self.rotors]:
            raise NotSupported(refusals.RECURSIVE_DRIVEN_ROTOR, coordinate=held[0])
        if isinstance(motion[0], TurnBall):
            speeds = [*motion[0].template.speeds]
        else:
            speeds = [f"{n}_dot" for n in free]
        first_v = self.v[speeds[0]] if speeds else -1
        rotors = self._armature(speeds)
        self._append(
            Hinge(CHART, self.hinge, self.steps, q=first_q, v=first_v, motion=motion, names=(*free,), armature=rotors)
        )


def _constants(steps: tuple[Step, ...], link: Link) -> tuple[Constant, ...]:
    for step in steps:
        if isinstance(step, TurnBall):
            raise NotSupported(refusals.RECURSIVE_PLACED_BALL, joint=link.joint.name)
    return steps  # type: ignore[return-value]


def _joined(first: tuple[T, ...], then: tuple[T, ...]) -> tuple[T, ...]:
    """Both sequences; one of them itself if the other is empty, so that equal bodies share theirs."""
    return (*first, *then) if first and then else first or then


def _runs(steps: Sequence[T], ball: type) -> list[tuple[T, ...]]:
    """Splits steps at orientations: the steps before one, the orientation alone, the steps after it; no empty runs."""
    runs: list[tuple[T, ...]] = []
    start = 0
    for k, step in enumerate(steps):
        if isinstance(step, ball):
            runs += [tuple(steps[start:k]), (step,)]
            start = k + 1
    return [run for run in (*runs, tuple(steps[start:])) if run]


def _amount(step: template.Step) -> Any:
    """The angle or distance of a step along or about an axis; None for other steps."""
    match step:
        case template.Turn(_, amount) | template.Slide(_, amount):
            return amount
    return None


def _moved(run: Sequence[template.Step]) -> list[str]:
    """The coordinates by which the steps of a simple run move."""
    found: list[str] = []
    for step in run:
        match step:
            case template.Turn(_, amount) | template.Slide(_, amount):
                found.append(str(amount))
            case template.TurnBall(coordinates=names):
                found += names
            case template.Shift():
                pass
            case _:
                assert_never(step)
    return found


def _simple(run: Sequence[template.Step]) -> bool:
    """Whether every step moves along or about an axis, or by a quaternion with speeds in body axes."""
    if any(isinstance(step, template.TurnBall) and (step.chart.count, step.axes) != (4, "body") for step in run):
        return False
    return not any(isinstance(step, template.Shift) for step in run)


def _used(steps: Sequence[template.Step]) -> Iterator[str]:
    """The names in the entries of a template, once for every entry that uses them."""
    for step in steps:
        match step:
            case template.Turn(_, amount) | template.Slide(_, amount):
                yield from parse(amount).names
            case template.Shift(vector):
                for entry in vector:
                    yield from parse(entry).names
            case template.TurnBall(coordinates=names):
                yield from names
            case _:
                assert_never(step)


# -- numbers --------------------------------------------------------------------------------------


class Constants:
    """Expressions of parameters, each evaluated once per set of parameters."""

    def __init__(self, parameters: Sequence[Any]) -> None:
        self._parameters = list(parameters)
        self._expressions: dict[Any, int] = {}
        self._evaluate: Any = None

    def index(self, expression: Expr) -> int:
        """Index of an expression in :meth:`values`; registers a new one."""
        key = se.sympify(expression)
        return self._expressions.setdefault(key, len(self._expressions))

    def values(self, parameters: Array) -> Array:
        """The values of all expressions, complex for complex parameters."""
        expressions = list(self._expressions)
        numbers = [float(e.n()) if e.is_Number or not e.free_symbols else None for e in expressions]
        open_ones = [k for k, x in enumerate(numbers) if x is None]
        out = np.array([0.0 if x is None else x for x in numbers], dtype=np.asarray(parameters).dtype)
        if open_ones:
            real = not np.iscomplexobj(out)
            function = se.Lambdify(self._parameters, [expressions[k] for k in open_ones], real=real, backend="lambda")
            out[open_ones] = function(np.asarray(parameters))
        return out


def step_matrix(step: Constant, value: Any) -> tuple[Array, Array]:
    """Rotation and shift of a constant step; ``value`` evaluates expressions."""
    if isinstance(step, Shift):
        return np.eye(3), np.array([value(x) for x in step.vector])
    angle = value(step.angle)
    return np.array(vec.turn_matrix([value(x) for x in step.axis], np.cos(angle), np.sin(angle))), np.zeros(3)


def follow_steps(steps: Sequence[Constant], value: Any) -> tuple[Array, Array, Any]:
    """Rotation, shift and angle about z [rad] of a sequence of constant steps."""
    R, r, angle = np.eye(3), np.zeros(3), 0.0
    for step in steps:
        turn, shift = step_matrix(step, value)
        R, r = R @ turn, r + R @ shift
        if isinstance(step, Turn):
            angle = angle + value(step.angle) * value(step.axis[2])
    return R, r, angle


def upright(axis: Array) -> Array:
    """A rotation that maps the z axis to a unit axis; the identity if it is the z axis."""
    x, y, z = axis
    if not (np.any(np.abs(np.real([x, y])) > 0) or np.any(np.abs(np.imag([x, y])) > 0)):
        return np.eye(3) if np.real(z) > 0 else np.diag([1.0, -1.0, -1.0])
    helper = np.eye(3)[int(np.argmin(np.abs(np.real(axis))))]
    first = helper - axis * (axis @ helper)
    first = first / np.sqrt(first @ first)
    return np.stack([first, np.cross(axis, first), axis], axis=1)


def is_constant(expression: Expr, parameters: set[Any]) -> bool:
    """Whether an expression depends on parameters alone."""
    return is_zero(expression) or isinstance(expression, (int, float)) or expression.free_symbols <= parameters
