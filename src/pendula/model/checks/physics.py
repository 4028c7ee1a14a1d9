"""Checks of numeric values: initial state, directions, sizes, masses and inertias, for the given parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, assert_never

from pendula.errors import NotSupported, Problem
from pendula.model.base import Element
from pendula.model.bodies import GROUND, SHORTHANDS, Body
from pendula.model.checks.usage import scalars
from pendula.model.expressions.expression import parse
from pendula.model.fields import marked_fields
from pendula.model.forces.actions import Action, Spin
from pendula.model.forces.base import NEED_ONE, Force
from pendula.model.joints import Rotation, TreeJoint
from pendula.model.joints.steps import Shift, Slide, Step, Turn, TurnBall
from pendula.model.names import ExpressionError, quote
from pendula.model.parts import Parts
from pendula.model.problems import listing, unknown

_SIZES = {  # field of a shorthand -> whether it may be zero
    "length": False,
    "radius": False,
    "diameter": True,
    "thickness": True,
    "size": True,
}
NOT_NEGATIVE = "remove the minus sign, or write 0"
_SLACK = 1e-9  # relative tolerance for inertias


def check_physics(parts: Parts) -> Iterator[Problem]:
    """All values without mechanical meaning."""
    yield from _absolute_angles(parts)
    yield from _initial(parts)
    for element, item in (*parts.bodies, *parts.joints):
        yield from _directions(parts, element, item, "")
    for element, joint in parts.tree_joints:
        for k, value in enumerate((_values(parts, joint.armature) if joint.armature else None) or ()):
            if value < 0:
                place = f"armature[{k}]" if len(joint.armature) > 1 else "armature"
                yield Problem(element, place, f"must not be negative, found {value:g}", NOT_NEGATIVE)
    sound: set[Any] = set()  # equal descriptions are checked once
    for element, body in parts.bodies:
        described = _described(body)
        if described not in sound:
            problems = list(_body(parts, element, body))
            yield from problems
            if not problems:
                sound.add(described)
    for element, force in parts.forces:
        for action in _actions(force):
            if isinstance(action, Spin) and action.body in parts.body:
                yield from _turning_point(parts, element, action)
        if type(force).model_fields.keys() - force.model_fields_set >= NEED_ONE:
            cause = "is missing, and so is damping: this force would do nothing"
            yield Problem(element, "stiffness", cause, "give stiffness, damping, or both")
        for field, cause, advice in force.faults(partial(_values, parts)):
            yield Problem(element, field, cause, advice)


def _values(parts: Parts, entries: Sequence[Any], *, strict: bool = False) -> list[float] | None:
    """Values of some scalars; None if a parameter or, unless strict, a scalar has none (reported elsewhere).

    ``strict`` is for scalars composed from fields.
    """
    values = []
    for entry in entries:
        known = parts.values.get(entry) if isinstance(entry, str) else float(entry)
        if known is not None:  # usually a parameter or a number
            values.append(known)
            continue
        try:
            expression = parse(entry)
            if not expression.names <= parts.values.keys():
                return None
            values.append(expression.evaluate(parts.values))
        except ExpressionError:
            if strict:
                raise
            return None
    return values


# -- absolute angles, initial state ------------------------------------------------------------------


def _absolute_angles(parts: Parts) -> Iterator[Problem]:
    """An angle measured from ground is defined only if all rotations are about z."""
    planar = {GROUND: True}
    for joint in parts.tree:
        steps = _steps(joint)
        flat = planar[joint.parent.body] and steps is not None and _turns_about_z(joint, steps)
        planar[joint.child.body] = flat
        if any(isinstance(step, Turn) and step.absolute for step in steps or ()) and not flat:
            cause = "an angle can be measured from ground only if all rotations before it are about z"
            yield Problem(f"joint {quote(joint.name)}", "measured_from", cause, 'use measured_from = "parent"')


def _steps(joint: TreeJoint) -> tuple[Step, ...] | None:
    """The template of a joint's motion; None if its type has none."""
    try:
        return joint.steps()
    except NotSupported:
        return None


def _turns_about_z(joint: TreeJoint, steps: tuple[Step, ...]) -> bool:
    turned = [turn for side in (joint.parent, joint.child) if side.rotation for turn in side.rotation.turns()]
    for step in (*turned, *steps):
        match step:
            case Turn(axis):
                if not _along_z(axis):
                    return False
            case TurnBall():
                return False
            case Slide() | Shift():
                continue
            case _:
                assert_never(step)
    return True


def _along_z(axis: tuple[Any, ...]) -> bool:
    if len(axis) == 3 and type(axis[0]) is int and type(axis[1]) is int:  # most axes
        return axis[0] == axis[1] == 0
    entries = [parse(x) for x in axis[:2]]
    return len(entries) == 2 and all(e.is_constant and e.evaluate() == 0 for e in entries)


def _initial(parts: Parts) -> Iterator[Problem]:
    prescribed = {n for _, j in parts.tree_joints for c in j.prescribed() for n in (c, f"{c}_dot")}
    balls = {j.name: j for _, j in parts.tree_joints if j.attitude() is not None}
    for name, value in parts.initial.items():
        element = f"initial {quote(name)}"
        if name in prescribed:
            yield Problem(element, "", "its motion is prescribed, so it has no initial value", "remove it")
        elif isinstance(value, Rotation):
            yield from _initial_rotation(parts, element, name, value, balls)
        elif name in balls:
            advice = 'write { axis = [0, 0, 1], angle = "90deg" }'
            yield Problem(element, "", "a ball joint takes a rotation, not a number", advice)
        elif name not in parts.state and not parts.may_exist(name):
            yield unknown("coordinate or speed", name, parts.state, element=element)
    for joint in balls.values():
        if joint.quaternion():
            yield from _initial_quaternion(parts, joint)


def _initial_rotation(
    parts: Parts, element: str, name: str, rotation: Rotation, balls: dict[str, TreeJoint]
) -> Iterator[Problem]:
    if name not in balls:
        if parts.may_exist(name):
            return
        if name in parts.state or name in parts.joint:
            cause = "a rotation needs a spherical or free joint, and this is none"
            yield Problem(element, "", cause, f"those are: {listing(balls)}" if balls else "give a number")
        else:
            yield unknown("spherical or free joint", name, balls, element=element)
        return
    yield from _directions(parts, element, rotation, "")
    own = balls[name].attitude()
    assert own is not None  # by the choice of balls
    names = balls[name].coordinate_names()[-own.chart.count :]
    driven = [n for n in names if n in balls[name].prescribed()]
    if driven:
        cause = f"a rotation determines {driven[0]}, whose motion is prescribed"
        yield Problem(element, "", cause, "give the other angles by their names")
    twice = [n for n in names if n in parts.initial]
    if twice:
        cause = f"the orientation is given twice, by this rotation and by {', '.join(twice)}"
        yield Problem(element, "", cause, "keep one of them")


def _initial_quaternion(parts: Parts, joint: TreeJoint) -> Iterator[Problem]:
    """Components of an initial quaternion must not all be zero."""
    names = [c.name for c in joint.coordinates() if c.kind == "quaternion"]
    entries = [parts.initial.get(name, int(k == 0)) for k, name in enumerate(names)]
    if any(isinstance(entry, Rotation) for entry in entries):
        return
    values = _values(parts, entries)
    if values is not None and not any(values):
        first = next(name for name in names if name in parts.initial)
        cause = f"the quaternion {', '.join(names)} is zero, which is not a rotation"
        yield Problem(f"initial {quote(first)}", "", cause, f"give {joint.name} = {{ axis = ..., angle = ... }}")


# -- directions -------------------------------------------------------------------------------------


def _directions(parts: Parts, element: str, item: Any, place: str) -> Iterator[Problem]:
    """Directions of an element that have zero length for the given parameters."""
    if isinstance(item, Element):
        for field in marked_fields(type(item)):
            value = getattr(item, field.name)
            if value is None:
                continue
            where = f"{place}.{field.label}" if place else field.label
            if not field.is_direction:
                if isinstance(value, (Element, tuple)):
                    yield from _directions(parts, element, value, where)
            elif any(isinstance(x, str) for x in value):
                numbers = _values(parts, value)
                if numbers is not None and not any(numbers):
                    cause = "its length is 0 for the given parameters"
                    yield Problem(element, where, cause, "a direction needs an entry that is not 0")
    elif isinstance(item, tuple) and item and isinstance(item[0], Element):
        for k, entry in enumerate(item):
            yield from _directions(parts, element, entry, f"{place}[{k}]")


def _actions(force: Force) -> tuple[Action, ...]:
    """Where a force acts; nowhere if its type does not state it."""
    try:
        return force.actions()
    except NotSupported:
        return ()


def _turning_point(parts: Parts, element: str, action: Spin) -> Iterator[Problem]:
    """Turner's forces act perpendicular to the line from the origin to a point other than the origin."""
    body, at, position = parts.body[action.body], action.at, action.position
    point = position if position is not None else body.named_points().get(at or "com")
    values = _values(parts, point) if point is not None else None
    if values is not None and not any(values):
        field = "position" if position is not None else "at" if at is not None else "body"
        cause = f"the point it acts at is the origin of {quote(body.name)}, so theta_hat is not defined"
        advice = "name a body whose mass centre is elsewhere"
        yield Problem(element, field, cause, 'name another point, such as at = "tip"' if at or position else advice)


# -- bodies -----------------------------------------------------------------------------------------


def _described(body: Body) -> Any:
    """The fields that determine the mass properties of a body."""
    for name in SHORTHANDS:
        if (part := getattr(body, name)) is not None:
            return part
    return body.mass, body.com, body.inertia


def _body(parts: Parts, element: str, body: Body) -> Iterator[Problem]:
    shorthand = next((name for name in SHORTHANDS if getattr(body, name) is not None), "")
    part = getattr(body, shorthand) if shorthand else body
    bad = list(_sizes(parts, element, body, shorthand)) if shorthand else []
    yield from bad
    field = f"{shorthand}." if shorthand else ""
    mass = _values(parts, [part.mass])
    if mass is not None and mass[0] < 0:
        yield Problem(element, f"{field}mass", f"must not be negative, found {mass[0]:g}", NOT_NEGATIVE)
    elif mass is not None and not bad and _has_values(parts, part):
        yield from _inertia(parts, element, f"{field}inertia", body.mass_properties(), mass[0])


def _has_values(parts: Parts, part: Any) -> bool:
    """Whether all scalars of a body or shorthand have values; missing ones are reported elsewhere."""
    return _values(parts, [expression.text for _, expression in scalars(part, "")]) is not None


def _sizes(parts: Parts, element: str, body: Body, shorthand: str) -> Iterator[Problem]:
    part = getattr(body, shorthand)
    for name, zero_allowed in _SIZES.items():
        given = getattr(part, name, None)
        values = _values(parts, given if isinstance(given, tuple) else (given,)) if given is not None else None
        for k, value in enumerate(values or ()):
            place = f"{shorthand}.{name}[{k}]" if isinstance(given, tuple) else f"{shorthand}.{name}"
            if value < 0 and zero_allowed:
                yield Problem(element, place, f"must not be negative, found {value:g}", NOT_NEGATIVE)
            elif value <= 0 and not zero_allowed:
                yield Problem(element, place, f"must be positive, found {value:g}", "give its size, without a sign")
    if body.rod is not None and body.rod.com is not None and body.rod.inertia is None:
        both = _values(parts, (body.rod.com, body.rod.length))
        if both is not None and not 0 <= both[0] <= both[1] and both[1] > 0:
            cause = f"must lie between 0 and the length {both[1]:g}, found {both[0]:g}"
            yield Problem(element, "rod.com", cause, "if this is intended, also give the inertia")


def _inertia(parts: Parts, element: str, place: str, properties: Any, mass: float) -> Iterator[Problem]:
    try:
        flat = _values(parts, [entry for row in properties.inertia for entry in row], strict=True)
    except ExpressionError as error:
        yield Problem(element, place, str(error), "check the sizes, or name parts of them as parameters")
        return
    if flat is None:
        return
    largest = max(abs(x) for x in flat)
    if largest == 0:
        return
    rows = [[x / largest for x in flat[k : k + 3]] for k in (0, 3, 6)]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(rows[i][j] - rows[j][i]) > _SLACK:
            a, b = f"I{'xyz'[i]}{'xyz'[j]}", f"I{'xyz'[j]}{'xyz'[i]}"
            cause = f"must be symmetric: {a} is {flat[3 * i + j]:g} and {b} is {flat[3 * j + i]:g}"
            yield Problem(element, place, cause, f"make {a} and {b} equal")
            return
    small, middle, large = principal_values(rows)
    listed = ", ".join(f"{x * largest:g}" for x in (small, middle, large))
    if small < -_SLACK:
        yield Problem(element, place, f"must not have a negative principal value, found {listed}")
    elif small + middle < large - _SLACK:
        cause = f"no body has the principal values {listed}: the two smaller ones must add up to at least the largest"
        advice = "check units, and that it is taken about the centre of mass; of a flat body give Izz alone"
        yield Problem(element, place, cause, advice)
    elif mass == 0:
        where = place.replace("inertia", "mass")
        yield Problem(element, where, "is 0 while the inertia is not", "give a mass, or remove the inertia")


def principal_values(inertia: list[list[float]]) -> list[float]:
    """Eigenvalues of a symmetric 3 by 3 matrix, ascending (Jacobi's method, without NumPy).

    Example:
        >>> [round(x, 9) for x in principal_values([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 5.0]])]
        [1.0, 3.0, 5.0]
    """
    a = [row[:] for row in inertia]
    for _ in range(60):
        i, j = max(((0, 1), (0, 2), (1, 2)), key=lambda ij: abs(a[ij[0]][ij[1]]))
        if abs(a[i][j]) <= 1e-16 * max(abs(a[k][k]) for k in range(3)) or a[i][j] == 0:
            break
        angle = 0.5 * math.atan2(2 * a[i][j], a[i][i] - a[j][j])
        c, s = math.cos(angle), math.sin(angle)
        for k in range(3):
            a[k][i], a[k][j] = c * a[k][i] + s * a[k][j], -s * a[k][i] + c * a[k][j]
        for k in range(3):
            a[i][k], a[j][k] = c * a[i][k] + s * a[j][k], -s * a[i][k] + c * a[j][k]
    return sorted(a[k][k] for k in range(3))
