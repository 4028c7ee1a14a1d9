"""Loop-closure constraints of closing joints as scalar rows.

A row is ``gap . direction`` = 0 (the gap between two points along a direction fixed in a body or in the world),
``direction . direction`` = 0 (two directions stay perpendicular), or an expression of coordinates = 0. A formulation
differentiates it (Lagrange) or expresses its rate by relative velocities (Kane).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, assert_never

import symengine as se

from pendula.equations import vectors as vec
from pendula.equations.equations import Transmitted, multiplier_symbols
from pendula.equations.matrix import Matrix
from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.mechanism.parts import WORLD, Pose, Shift
from pendula.equations.tape import Expr, is_zero
from pendula.errors import ModelError, Problem
from pendula.model.bodies import GROUND
from pendula.model.joints import ClosingJoint, Side
from pendula.model.joints import rows as template
from pendula.model.joints.steps import AXES


class Point(NamedTuple):
    """A point of a body, in body axes."""

    body: str
    place: tuple[Expr, ...]


@dataclass(frozen=True)
class Axis:
    """A direction fixed in a body, in body axes."""

    body: str
    direction: tuple[Expr, ...]


@dataclass(frozen=True)
class GapRow:
    """(child point - parent point) . axis = 0."""

    name: str
    parent: Point
    child: Point
    axis: Axis


@dataclass(frozen=True)
class AngleRow:
    """Axis a (parent side) stays perpendicular to axis b (child side)."""

    name: str
    a: Axis
    b: Axis


@dataclass(frozen=True)
class CoupledRow:
    """An expression of coordinates = 0."""

    name: str
    gap: Expr


Row = GapRow | AngleRow | CoupledRow


def closure_rows(mechanism: Mechanism) -> list[Row]:
    """All rows of all closing joints; formulations omit rows that always hold, as some do in the plane."""
    rows: list[Row] = []
    for joint in mechanism.model.closures:
        rows += _rows_of(mechanism, joint)
    return rows


def _rows_of(mechanism: Mechanism, joint: ClosingJoint) -> list[Row]:
    """The constraint rows of a closing joint: its template with symbols."""
    parent = Point(joint.parent.body, mechanism.place(joint.parent, f"{joint.name}_parent"))
    child = child_point(mechanism, joint)
    sides = _Sides(mechanism, joint)
    rows: list[Row] = []
    for row in joint.rows():
        match row:
            case template.SamePoint():
                axes = [Axis(GROUND, axis) for axis in AXES.values()]
                rows += [
                    GapRow(f"{joint.name}: gap along {a}", parent, child, x) for a, x in zip(AXES, axes, strict=True)
                ]
            case template.NoGap(direction, label):
                rows.append(GapRow(f"{joint.name}: gap along {label}", parent, child, sides.of_parent(direction)))
            case template.Perpendicular(first, second, label):
                rows.append(AngleRow(f"{joint.name}: {label}", sides.of_parent(first), sides.of_child(second)))
            case template.Coupled(value, label):
                rows.append(CoupledRow(f"{joint.name}: {label}", _coupling(mechanism, joint, value)))
            case _:
                assert_never(row)
    return rows


def child_point(mechanism: Mechanism, joint: ClosingJoint) -> Point:
    """The point of a closing joint's child side, at which its force acts."""
    return Point(joint.child.body, mechanism.place(joint.child, joint.name))


def _coupling(mechanism: Mechanism, joint: ClosingJoint, value: int | float | str) -> Expr:
    """The expression of a coupling, which may use coordinates and parameters."""
    gap = se.sympify(mechanism.general(value))
    known = {*mechanism.joint_q, *mechanism.parameters, *(d.position for d in mechanism.drives)}
    others = sorted(str(s) for s in gap.free_symbols if s not in known and s not in mechanism.tape.definitions)
    if others:
        cause = f'it uses "{others[0]}"; a coupling may use coordinates and parameters'
        raise ModelError([Problem(f'joint "{joint.name}"', "value", cause)])
    if not {*mechanism.joint_q} & gap.free_symbols:
        raise ModelError([Problem(f'joint "{joint.name}"', "value", "it uses no coordinate that is free to move")])
    return gap


def coupled_constraint(mechanism: Mechanism, row: CoupledRow) -> tuple[Expr, list[Expr], Expr]:
    """Gap, its row of G, and c, minus its second time derivative for v' = 0: there is nothing but coordinates in it."""
    in_time = mechanism.in_time()
    rate = mechanism.tape.name(se.sympify(in_time(row.gap)), "rate__coupling")
    slopes = [mechanism.virtual(k)(row.gap) for k in range(len(mechanism.rates))]
    return row.gap, slopes, -in_time(rate)


class _Sides:
    """Converts directions of a closing joint's template to directions fixed in its two bodies."""

    def __init__(self, mechanism: Mechanism, joint: ClosingJoint) -> None:
        self.mechanism, self.joint = mechanism, joint
        self.frames = [side_frame(mechanism, side) for side in (joint.parent, joint.child)]

    def of_parent(self, direction: template.Along) -> Axis:
        """A direction of the parent side."""
        return Axis(self.joint.parent.body, tuple(vec.times(self.frames[0], self._unit(direction))))

    def of_child(self, direction: template.Along) -> Axis:
        """A direction of the child side."""
        return Axis(self.joint.child.body, tuple(vec.times(self.frames[1], self._unit(direction))))

    def _unit(self, direction: template.Along) -> tuple[Expr, ...]:
        if isinstance(direction, template.Normal):
            both = perpendiculars(self.mechanism, self.mechanism.direction(direction.axis))
            return both[direction.number - 1]
        return self.mechanism.direction(direction)


def closure_senses(mechanism: Mechanism) -> list[tuple[str, Expr]]:
    """Scalar products of directions that must be positive if a loop is closed in the correct orientation.

    Rows that keep directions perpendicular also hold if one side is reversed; the signs of these products decide.
    """
    found = []
    for joint in mechanism.model.closures:
        sides = _Sides(mechanism, joint)
        for direction in joint.senses():
            a, b = (world_axis(mechanism, x) for x in (sides.of_parent(direction), sides.of_child(direction)))
            found.append((joint.name, vec.dot(a, b)))
    return found


@dataclass(frozen=True)
class Constraints:
    """Constraints g, their Jacobian G (a column for every rate), the right-hand side c, and their names."""

    names: tuple[str, ...]
    g: tuple[Expr, ...]
    G: Matrix
    c: tuple[Expr, ...]


def constraint_rows(
    mechanism: Mechanism, rows: Sequence[Row], find: Callable[[Row], tuple[Expr, Sequence[Expr], Expr]]
) -> Constraints:
    """All rows that some motion changes; ``find`` derives each as (gap, row of G, c).

    The names of the others go to ``mechanism.idle_rows``, without those that hold a planar mechanism in its plane.
    """
    kept, idle = [], []
    for row in rows:
        gap, slopes, bias = _without_rounding(mechanism, row, *find(row))
        if not holds_by_itself(mechanism, row, gap, slopes):
            kept.append((row.name, gap, tuple(slopes), bias))
        else:
            idle.append(row)
    across = [row for row in idle if _acts_across(mechanism, row)]
    planar = bool(across) and _is_planar(mechanism)
    mechanism.idle_rows += [row.name for row in idle if not (planar and row in across)]
    names, g, G, c = zip(*kept, strict=True) if kept else ((), (), (), ())
    return Constraints(names, g, G, c)


def _without_rounding(
    mechanism: Mechanism, row: Row, gap: Expr, slopes: Sequence[Expr], bias: Expr
) -> tuple[Expr, Sequence[Expr], Expr]:
    """A row as derived, or with slopes of zero where nothing free moves its two sides relative to each other.

    Rotations that both sides share cancel in numbers only; the rounding that is left would pass for slopes.
    """
    if isinstance(row, CoupledRow) or not mechanism.joints_place_bodies:
        return gap, slopes, bias
    bodies = (row.parent.body, row.child.body) if isinstance(row, GapRow) else (row.a.body, row.b.body)
    chains = [_chain(mechanism, body) for body in bodies]
    paths = [[k for k in chain if k not in other] for chain, other in zip(chains, reversed(chains), strict=True)]
    joints = [mechanism.links[k].joint for path in paths for k in path]
    names, free = {joint.name for joint in joints}, len(mechanism.v)
    if any(speed.joint in names for speed in mechanism.speeds):
        return gap, slopes, bias
    ends: list[Expr] = [*row.parent.place, *row.child.place] if isinstance(row, GapRow) else []
    ends += [
        x
        for path in paths
        for k in path
        for step in mechanism.links[k].before
        if isinstance(step, Shift)
        for x in step.vector
    ]
    driven = {d.position for d in mechanism.drives}
    if any(joint.coordinates() for joint in joints) or any(driven & se.sympify(x).free_symbols for x in ends):
        return gap, [*[0] * free, *slopes[free:]], bias
    return _welded_gap(mechanism, row, paths), [0] * len(slopes), 0


def _chain(mechanism: Mechanism, body: str) -> list[int]:
    """Indices of a body and all bodies between it and ground."""
    k, found = -1 if body == GROUND else mechanism.index[body], []
    while k >= 0:
        found.append(k)
        k = mechanism.links[k].parent
    return found


def _welded_gap(mechanism: Mechanism, row: GapRow | AngleRow, paths: Sequence[Sequence[int]]) -> Expr:
    """The gap of a row between two welded bodies, in axes of the body that carries both."""
    poses = []
    for path in paths:
        pose = WORLD
        for k in reversed(path):
            link = mechanism.links[k]
            pose = mechanism.follow(pose, (*link.before, *link.after), link.body)
        poses.append(pose)
    first, second = poses
    if isinstance(row, AngleRow):
        return vec.dot(vec.times(first.R, row.a.direction), vec.times(second.R, row.b.direction))
    ends = [vec.add(p.r, vec.times(p.R, end.place)) for p, end in ((first, row.parent), (second, row.child))]
    own = row.axis.direction if row.axis.body == GROUND else vec.times(first.R, row.axis.direction)
    return vec.dot(vec.subtract(ends[1], ends[0]), own)


def closures_transmit(mechanism: Mechanism, rows: Sequence[Row], constraints: Constraints) -> list[Transmitted]:
    """The constraint wrench of every closing joint on its child side, in terms of the multipliers of its rows.

    The force acts at the child's point. Its power is lam (G v) for every motion, that of the constraint force G^T lam.
    An omitted row transmits nothing.
    """
    multipliers = dict(zip(constraints.names, multiplier_symbols(len(constraints.names)), strict=True))
    forces: dict[str, list[vec.Vector]] = {joint.name: [vec.NULL] for joint in mechanism.model.closures}
    torques: dict[str, list[vec.Vector]] = {name: [vec.NULL] for name in forces}
    for row in rows:
        joint = row.name.partition(": ")[0]
        if row.name not in multipliers:
            continue
        match row:
            case GapRow():
                forces[joint].append(vec.scale(multipliers[row.name], world_axis(mechanism, row.axis)))
            case AngleRow():
                # d(a . b)/dt = (w_child - w_parent) . (b x a)
                across = vec.cross(world_axis(mechanism, row.b), world_axis(mechanism, row.a))
                torques[joint].append(vec.scale(multipliers[row.name], across))
            case CoupledRow():
                pass  # acts inside joints
            case _:
                assert_never(row)
    return [Transmitted(name, tuple(vec.add(*forces[name])), tuple(vec.add(*torques[name]))) for name in forces]


def holds_by_itself(mechanism: Mechanism, row: Row, gap: Expr, slopes: Sequence[Expr]) -> bool:
    """Whether no motion changes a row, so that it can be omitted (the z gap of a planar loop).

    ``mechanism.fixed_gaps`` collects gaps that depend on parameters, so that changed parameters are checked again.

    Raises:
        ModelError: no motion changes it and it is not zero: the joint can never close.
    """
    if not all(is_zero(x) for x in slopes):
        return False
    values: dict[Any, Expr] = dict(mechanism.model.parameter_values)
    found = mechanism.tape.inline(gap)
    if found.free_symbols:
        mechanism.fixed_gaps.append((row.name, found))
    found = found.subs(values)
    size = abs(float(found)) if not found.free_symbols else 0.0
    if size > 1e-9:
        name, _, what = row.name.partition(": ")
        cause = f"{what} is {size:.6g}, and no motion of the mechanism changes it"
        raise ModelError([Problem(f'joint "{name}"', "", cause, "check the positions and rotations of its two sides")])
    return True


def _acts_across(mechanism: Mechanism, row: Row) -> bool:
    """Whether a row prevents only motion out of the x-y plane: a slide along z, or a turn about an axis in it."""
    if isinstance(row, GapRow):
        along = world_axis(mechanism, row.axis)
        return is_zero(along[0]) and is_zero(along[1])
    return isinstance(row, AngleRow) and is_zero(
        vec.cross(world_axis(mechanism, row.a), world_axis(mechanism, row.b))[2]
    )


def _is_planar(mechanism: Mechanism) -> bool:
    """Whether all bodies stay in planes parallel to x-y and gravity acts along them."""
    gravity = mechanism.constants_of(mechanism.model.gravity)
    return is_zero(gravity[2]) and all(is_flat(mechanism, k) for k in range(len(mechanism.links)))


def side_frame(mechanism: Mechanism, side: Side) -> vec.Matrix:
    """Rotation matrix from the axes of the joint's side to body axes."""
    pose = WORLD
    for turn in mechanism.turns(side.rotation):
        pose = mechanism.follow(pose, (turn,), side.body)
    return pose.R


def perpendiculars(mechanism: Mechanism, axis: tuple[Expr, ...]) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """Two unit vectors that form a right-handed frame with a unit axis."""
    values = mechanism.model.parameter_values
    numbers = [float(se.sympify(x).subs(values)) for x in axis]
    smallest = min(range(3), key=lambda k: abs(numbers[k]))
    helper = [1 if k == smallest else 0 for k in range(3)]
    first = vec.cross(axis, helper)
    square = vec.dot(first, first)
    first = first if square == 1 else vec.scale(1 / se.sqrt(square), first)
    return tuple(first), tuple(vec.cross(axis, first))


def world_axis(mechanism: Mechanism, axis: Axis) -> list[Expr]:
    """A body direction in world axes."""
    pose: Pose = WORLD if axis.body == GROUND else mechanism.poses[mechanism.index[axis.body]]
    return vec.times(pose.R, axis.direction)


def is_flat(mechanism: Mechanism, k: int) -> bool:
    """Whether a body rotates about z only, at a constant height, so that x, y and an angle determine its pose."""
    link, tape = mechanism.links[k], mechanism.tape
    if mechanism.poses[k].theta is None:
        return False
    moving = 0
    for symbol in (*mechanism.q, *(d.position for d in mechanism.drives)):
        moving |= tape.bit(symbol)
    height = se.sympify(mechanism.point(link.body, link.com)[2])
    return not any(tape.reach(s) & moving for s in height.free_symbols)
