"""Checks across a whole model: names, references, connection, which names an expression may use, physics.

Each check gives back Problems instead of raising, so that everything wrong is reported at once.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pendula.errors import Problem
from pendula.model.base import parse
from pendula.model.bodies import GROUND, Body
from pendula.model.expressions import Expression, ExpressionError, ParameterError, evaluate_parameters
from pendula.model.forces import (
    Force,
    ForceComFriction,
    ForceDamper,
    ForceFriction,
    ForceGeneralized,
    ForceLoad,
    ForceSpinDrive,
    ForceSpring,
    ForceTorque,
    ForceTorsionSpring,
)
from pendula.model.joints import Joint, JointCoordinates, JointRevolute, Rotation, Side, TreeJoint
from pendula.model.topology import tree_order
from pendula.model.units import Units

MOST_BODIES = 5000
MOST_PARAMETERS = 20000


@dataclass(frozen=True)
class Parts:
    """The elements of a model; ``complete`` is false when some could not be read."""

    bodies: tuple[Body, ...]
    joints: tuple[Any, ...]
    forces: tuple[Any, ...]
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Any]
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    complete: bool
    initial: Mapping[str, Any] = field(default_factory=dict)
    gravity: tuple[Any, ...] = (0, 0, 0)
    units: str = "m-kg-s"


def check_parts(parts: Parts) -> list[Problem]:
    """Everything wrong that only the whole model shows."""
    problems = [*_sizes(parts)]
    if problems:
        return problems
    problems += [*_names(parts), *_references(parts)]
    if parts.complete:
        problems += [*_units(parts), *_expressions(parts)]
        if not problems:
            problems += _connection(parts)
        if not problems:
            problems += [*_absolute_angles(parts), *_initial(parts), *_physics(parts)]
    return problems


def unknown(kind: str, name: str, known: Iterable[str], *, element: str, place: str = "") -> Problem:
    """The problem that a name is not there, with the nearest one that is."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    some = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    advice = f'did you mean "{near[0]}"?' if near else f"known are: {some}" if known else ""
    return Problem(element, place, f'there is no {kind} "{name}"', advice)


def element_of(item: Any, index: int) -> str:
    """How a message names a body, joint or force."""
    kind = "body" if isinstance(item, Body) else "joint" if isinstance(item, Joint) else "force"
    return f'{kind} "{item.name}"' if item.name else f"{kind} number {index + 1} ({item.type})"


def _sizes(parts: Parts) -> Iterator[Problem]:
    for what, count, most in (
        ("bodies", max(len(parts.bodies), len(parts.body_names)), MOST_BODIES),
        ("joints", max(len(parts.joints), len(parts.joint_names)), MOST_BODIES * 2),
        ("forces", len(parts.forces), MOST_BODIES * 4),
        ("parameters", len(parts.parameters), MOST_PARAMETERS),
    ):
        if count > most:
            yield Problem("model", what, f"{count} {what} are more than the {most} allowed", "split the model")
    if parts.complete and not parts.bodies:
        yield Problem("model", "bodies", "there are no bodies", "add at least one body and the joint that holds it")


def _units(parts: Parts) -> Iterator[Problem]:
    try:
        Units.from_label(parts.units)
    except ValueError as error:
        yield Problem("model", "units", str(error))


def _names(parts: Parts) -> Iterator[Problem]:
    for kind, names in (("body", parts.body_names), ("joint", parts.joint_names)):
        for name, count in Counter(names).items():
            if count > 1:
                yield Problem(f'{kind} "{name}"', "name", f"{count} {kind} elements have this name", "rename all but one")
    owners: dict[str, str] = {}
    for name in parts.parameters:
        owners[name] = f'parameter "{name}"'
    used = [(name, f'input "{name}"') for name in parts.inputs]
    for joint in parts.joints:
        if isinstance(joint, TreeJoint):
            named = [*joint.coordinates(), *joint.speeds()]
            used += [(c.name, f'a coordinate of joint "{joint.name}"') for c in named]
    for name, owner in used:
        if name in owners:
            yield Problem(owner, "name", f'"{name}" is also {owners[name]}', "rename one of them")
        owners.setdefault(name, owner)


def _sides(item: Any) -> Iterator[tuple[str, Side]]:
    for place in ("parent", "child", "start", "end"):
        side = getattr(item, place, None)
        if isinstance(side, Side):
            yield {"start": "from", "end": "to"}.get(place, place), side


def _references(parts: Parts) -> Iterator[Problem]:
    bodies = {b.name: b for b in parts.bodies}
    known = {GROUND, *parts.body_names}
    joints = {j.name: j for j in parts.joints}
    for items in (parts.joints, parts.forces):
        for index, item in enumerate(items):
            element = element_of(item, index)
            for place, side in _sides(item):
                if side.body not in known:
                    yield unknown("body", side.body, known, element=element, place=f"{place}.body")
                elif side.at is not None:
                    yield from _point(side.body, side.at, bodies, element, f"{place}.at")
            if isinstance(item, Force):
                yield from _force_references(item, element, bodies, known, joints, parts)
    for index, joint in enumerate(parts.joints):
        if joint.parent.body == joint.child.body:
            yield Problem(element_of(joint, index), "child", f'parent and child are the same body "{joint.child.body}"')


def _point(body: str, at: str, bodies: Mapping[str, Body], element: str, place: str) -> Iterator[Problem]:
    points: Collection[str] = {"origin"} if body == GROUND else ()
    if body in bodies:
        points = bodies[body].named_points()
    if points and at not in points:
        yield unknown("point", at, points, element=element, place=place)


def _force_references(
    force: Any, element: str, bodies: Mapping[str, Body], known: Collection[str], joints: Mapping[str, Any], parts: Parts
) -> Iterator[Problem]:
    if isinstance(force, (ForceLoad, ForceTorque, ForceComFriction, ForceSpinDrive)):
        if force.body not in known:
            yield unknown("body", force.body, known, element=element, place="body")
        elif force.body == GROUND:
            yield Problem(element, "body", "a force on ground does nothing", "name a body")
        elif getattr(force, "at", None) is not None:
            yield from _point(force.body, force.at, bodies, element, "at")  # type: ignore[union-attr, arg-type]
        if getattr(force, "at", None) is not None and getattr(force, "position", None) is not None:
            yield Problem(element, "at", "the point is given twice: by at and by position", "keep one of them")
    if isinstance(force, ForceComFriction) and force.body in bodies and not any(_com(bodies[force.body])):
        yield Problem(element, "body", f'the mass centre of "{force.body}" is at its origin, so it has no theta_hat')
    name = getattr(force, "joint", None)
    if name is None:
        return
    if name not in parts.joint_names:
        yield unknown("joint", name, parts.joint_names, element=element, place="joint")
    elif name in joints and not isinstance(joints[name], TreeJoint):
        yield Problem(element, "joint", f'"{name}" closes a loop and has no coordinate', "use a joint that places a body")
    elif name in joints and not isinstance(force, ForceFriction):
        yield from _coordinate_choice(force, joints[name], element)


def _com(body: Body) -> tuple[Any, ...]:
    return tuple(x != 0 for x in body.mass_properties().com)


def _coordinate_choice(force: Any, joint: TreeJoint, element: str) -> Iterator[Problem]:
    """A spring across a joint acts on one of its angles or lengths."""
    found = [c.name for c in joint.coordinates() if c.kind != "quaternion"]
    if joint.quaternion() and not found:
        advice = 'give the joint euler = "zyz", or use a spring between points'
        yield Problem(element, "joint", f'joint "{joint.name}" has no angle a spring could act on', advice)
    elif force.coordinate is None and len(found) != 1:
        what = f"has {len(found)} coordinates" if found else "has no coordinates"
        yield Problem(element, "coordinate", f'joint "{joint.name}" {what}', f"choose one of {', '.join(found)}" if found else "")
    elif force.coordinate is not None and force.coordinate not in found:
        yield unknown("coordinate", force.coordinate, found, element=element, place="coordinate")
    else:
        chosen = force.coordinate or found[0]
        kind = next(c.kind for c in joint.coordinates() if c.name == chosen)
        if isinstance(force, ForceTorsionSpring) and kind == "length":
            yield Problem(element, "joint", f'"{chosen}" is a length, not an angle', 'use type = "spring"')
        if isinstance(force, ForceSpring) and kind == "angle":
            yield Problem(element, "joint", f'"{chosen}" is an angle, not a length', 'use type = "torsion-spring"')


def _connection(parts: Parts) -> Iterator[Problem]:
    placed_by: dict[str, str] = {}
    for index, joint in enumerate(parts.joints):
        if not isinstance(joint, TreeJoint):
            continue
        child = joint.child.body
        if child == GROUND:
            advice = "swap parent and child"
            yield Problem(element_of(joint, index), "child", "ground cannot be the child of a joint", advice)
        elif child in placed_by:
            cause = f'body "{child}" is placed by joint "{placed_by[child]}" already, so this joint closes a loop'
            advice = 'use a closing joint: type = "coincident", "point-on-line" or "loop"'
            yield Problem(element_of(joint, index), "child", cause, advice)
        placed_by.setdefault(child, joint.name)
    reached = {GROUND, *(j.child.body for j in tree_order(parts.joints))}
    for index, body in enumerate(parts.bodies):
        if body.name in reached:
            continue
        if body.name in placed_by:
            cause = f'it hangs on joint "{placed_by[body.name]}", but that is not connected to ground'
            yield Problem(element_of(body, index), "", cause, "connect one body of the group to ground")
        else:
            advice = 'add a joint with this body as child; type = "free" lets it fly'
            yield Problem(element_of(body, index), "", "it is connected to nothing", advice)


# -- which names an expression may use ------------------------------------------------------------


def _scalars(value: Any, place: str) -> Iterator[tuple[str, Expression]]:
    """Every expression below a field, with the place it stands at."""
    if isinstance(value, Rotation) or (hasattr(type(value), "model_fields") and not isinstance(value, Side)):
        for name in type(value).model_fields:
            if name not in ("name", "type", "sequence", "body", "at", "kind", "axes", "joint", "coordinate"):
                yield from _scalars(getattr(value, name), f"{place}.{name}" if place else name)
    elif isinstance(value, (tuple, list)):
        for k, entry in enumerate(value):
            yield from _scalars(entry, f"{place}[{k}]")
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _scalars(entry, f"{place}.{key}")
    elif isinstance(value, (int, float, str)) and not isinstance(value, bool):
        yield place, parse(value)


def _expressions(parts: Parts) -> Iterator[Problem]:
    constants = set(parts.parameters)
    try:
        evaluate_parameters({name: parse(value) for name, value in parts.parameters.items()})
    except ParameterError as error:
        for name, message in error.problems:
            yield Problem(f'parameter "{name}"', "", message)
    state = {c.name for j in parts.joints if isinstance(j, TreeJoint) for c in (*j.coordinates(), *j.speeds())}
    everything = constants | state | set(parts.inputs) | {"t"}

    for name, value in parts.inputs.items():
        yield from _uses(f'input "{name}"', _scalars(value, ""), constants | {"t"}, "parameters and t")
    yield from _uses("model", _scalars(parts.gravity, "gravity"), constants, "parameters")
    for name, value in parts.initial.items():
        yield from _uses(f'initial "{name}"', _scalars(value, ""), constants, "parameters")
    for index, body in enumerate(parts.bodies):
        yield from _uses(element_of(body, index), _scalars(body, ""), constants, "parameters")
    for index, joint in enumerate(parts.joints):
        yield from _joint_expressions(joint, element_of(joint, index), constants)
    for index, force in enumerate(parts.forces):
        element = element_of(force, index)
        yield from _uses(element, _scalars(force, ""), everything, "parameters, inputs, coordinates, speeds and t")
        for place, side in _sides(force):
            yield from _side_expressions(side, place, element, constants)
        if isinstance(force, ForceGeneralized) and force.coordinate not in state:
            yield unknown("coordinate", force.coordinate, state, element=element, place="coordinate")


def _joint_expressions(joint: Any, element: str, constants: set[str]) -> Iterator[Problem]:
    for place, side in _sides(joint):
        yield from _side_expressions(side, place, element, constants)
    for place in ("axis",):
        yield from _uses(element, _scalars(getattr(joint, place, ()), place), constants, "parameters")
    for place, value in getattr(joint, "motion", {}).items():
        name = f"motion.{place}" if place else "motion"
        yield from _uses(element, _scalars(value, name), constants | {"t"}, "parameters and t")
    if isinstance(joint, JointCoordinates):
        own = set(joint.coordinates_)
        pose = [*_scalars(joint.position, "position"), *_scalars(joint.rotation, "rotation")]
        yield from _uses(element, pose, constants | own | {"t"}, "parameters, t and the joint's own coordinates")


def _side_expressions(side: Side, place: str, element: str, constants: set[str]) -> Iterator[Problem]:
    allowed, words = (constants | {"t"}, "parameters and t") if side.body == GROUND else (constants, "parameters")
    yield from _uses(element, _scalars(side.position, f"{place}.position"), allowed, words)
    yield from _uses(element, _scalars(side.rotation, f"{place}.rotation"), constants, "parameters")


def _uses(element: str, found: Iterable[tuple[str, Expression]], allowed: Collection[str], words: str) -> Iterator[Problem]:
    for place, expression in found:
        for name in sorted(expression.names - set(allowed)):
            near = difflib.get_close_matches(name, sorted(allowed), n=1)
            advice = f'did you mean "{near[0]}"?' if near else f'add "{name}" to [parameters]'
            yield Problem(element, place, f'"{name}" in "{expression}" is not known here; it may use {words}', advice)


# -- start and physics ----------------------------------------------------------------------------


def _absolute_angles(parts: Parts) -> Iterator[Problem]:
    """An angle measured from ground makes sense only while everything turns about z."""
    planar = {GROUND: True}
    for joint in tree_order(parts.joints):
        turns = [s.rotation for s in (joint.parent, joint.child) if s.rotation is not None]
        turns += [joint.rotation] if isinstance(joint, JointCoordinates) and joint.rotation is not None else []
        flat = all(_about_z(r) for r in turns)
        axis = getattr(joint, "axis", (0, 0, 1)) if joint.type == "revolute" else (0, 0, 1)
        flat = flat and joint.type in ("fixed", "revolute", "prismatic", "planar", "coordinates") and _along_z(axis)
        parent_flat = planar.get(joint.parent.body, False)
        planar[joint.child.body] = flat and parent_flat
        if isinstance(joint, JointRevolute) and joint.measured_from == "ground" and not (flat and parent_flat):
            advice = 'use measured_from = "parent"'
            yield Problem(f'joint "{joint.name}"', "measured_from", "an angle from ground needs turns about z only", advice)


def _about_z(rotation: Rotation) -> bool:
    return set(rotation.sequence) == {"z"} if rotation.sequence else _along_z(rotation.axis or ())


def _along_z(axis: tuple[Any, ...]) -> bool:
    return len(axis) == 3 and axis[0] == 0 and axis[1] == 0


def _initial(parts: Parts) -> Iterator[Problem]:
    tree = tree_order(parts.joints)
    prescribed = {n for j in tree for c in j.prescribed() for n in (c, f"{c}_dot")}
    names = {c.name for j in tree for c in (*j.coordinates(), *j.speeds())}
    balls = {j.name for j in tree if j.quaternion()}
    for name, value in parts.initial.items():
        element = f'initial "{name}"'
        if name in prescribed:
            yield Problem(element, "", "its motion is prescribed, so it has no initial value", "remove it")
        elif isinstance(value, Rotation):
            if name not in balls:
                yield Problem(element, "", "a rotation is for a joint with a quaternion", f"those are: {', '.join(sorted(balls)) or 'none'}")
        elif name not in names:
            yield unknown("coordinate or speed", name, names, element=element)
    values = evaluate_parameters({n: parse(v) for n, v in parts.parameters.items()})
    for name, value in parts.initial.items():
        for place, expression in _scalars(value, ""):
            yield from _finite(f'initial "{name}"', place, expression, values)


def _finite(element: str, place: str, expression: Expression, values: Mapping[str, float]) -> Iterator[Problem]:
    try:
        expression.evaluate(values)
    except ExpressionError as error:
        yield Problem(element, place, str(error))


def _physics(parts: Parts) -> Iterator[Problem]:
    values = evaluate_parameters({n: parse(v) for n, v in parts.parameters.items()})
    for place, expression in _scalars(parts.gravity, "gravity"):
        yield from _finite("model", place, expression, values)
    for index, body in enumerate(parts.bodies):
        element = element_of(body, index)
        try:
            yield from _body_physics(body, element, values)
        except ExpressionError as error:
            yield Problem(element, "", str(error))
    for index, joint in enumerate(parts.joints):
        axis = [e for _, e in _scalars(getattr(joint, "axis", ()), "axis")]
        try:
            if axis and not any(e.evaluate(values) for e in axis):
                yield Problem(element_of(joint, index), "axis", "its length is 0 for the given parameters")
        except ExpressionError as error:
            yield Problem(element_of(joint, index), "axis", str(error))


def _body_physics(body: Body, element: str, values: Mapping[str, float]) -> Iterator[Problem]:
    for shorthand, fields in (("rod", ("length",)), ("disc", ("radius",)), ("sphere", ("radius",))):
        part = getattr(body, shorthand)
        for name in fields if part is not None else ():
            size = parse(getattr(part, name)).evaluate(values)
            if size <= 0:
                yield Problem(element, f"{shorthand}.{name}", f"must be positive, found {size:g}")
    properties = body.mass_properties()
    mass = parse(properties.mass).evaluate(values)
    for x in (x for point in body.named_points().values() for x in point):
        parse(x).evaluate(values)
    inertia = [[parse(x).evaluate(values) for x in row] for row in properties.inertia]
    if mass < 0:
        yield Problem(element, "mass", f"must not be negative, found {mass:g}")
    largest = max(abs(x) for row in inertia for x in row)
    slack = 1e-9 * largest
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(inertia[i][j] - inertia[j][i]) > slack:
            yield Problem(element, "inertia", f"must be symmetric: I{'xyz'[i]}{'xyz'[j]} = {inertia[i][j]:g} and {inertia[j][i]:g}")
            return
    principal = _principal(inertia)
    if principal[0] < -slack:
        yield Problem(element, "inertia", f"must not have a negative principal value, found {principal[0]:g}")
    elif principal[0] + principal[1] < principal[2] - slack:
        cause = (
            f"no body has the principal values {principal[0]:g}, {principal[1]:g}, {principal[2]:g}: "
            "the two smaller ones must add up to at least the largest"
        )
        yield Problem(element, "inertia", cause, "check units, and that it is taken about the centre of mass")
    elif mass == 0 and largest > 0:
        yield Problem(element, "mass", "is 0 while the inertia is not", "give the body a mass, or remove the inertia")


def _principal(inertia: list[list[float]]) -> list[float]:
    """Eigenvalues of a symmetric 3 by 3 matrix, ascending (cyclic Jacobi; no array library needed here)."""
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


__all__ = ["Parts", "check_parts", "element_of", "unknown", "ForceDamper"]
