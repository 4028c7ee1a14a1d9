"""Finds the symmetries of a mechanism from its description, in any chart.

Three kinds of motion may leave a mechanism unchanged: all bodies of a connected part turn about a fixed axis, they are
shifted along a fixed direction, or one body spins about its own axis of symmetry. Each has a momentum that is kept
(Noether). The decision uses joints, mass properties, forces and gravity as the model states them; what cannot be
decided counts as no symmetry, so nothing is wrongly called an integral.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pendula.analysis.symmetry.geometry import Geometry, Unknown, axis_of_symmetry, cross, on_line, parallel
from pendula.model.bodies import GROUND
from pendula.model.expressions.expression import parse
from pendula.model.forces.actions import Across, AcrossAll, Action, Between, OnCoordinate, Push
from pendula.model.joints import TreeJoint
from pendula.model.joints.coordinates import JointCoordinates
from pendula.model.joints.rows import Coupled
from pendula.model.joints.spherical import Orientation
from pendula.model.joints.steps import Shift, Slide, Turn
from pendula.model.model import Model
from pendula.system.layout import Array

AXES = np.eye(3)


@dataclass(frozen=True)
class Symmetry:
    """A motion that leaves a mechanism unchanged.

    Attributes:
        kind: ``turn`` about a fixed axis, ``shift`` along a fixed direction, ``spin`` of a body about its own axis.
        bodies: the bodies that move.
        axis: unit vector, in world axes, or for a spin in body axes.
        point: a point of the axis, in world axes, or for a spin in body axes.
        coordinate: the cyclic coordinate that alone changes in this motion; empty if there is none.
        joint: the joint at the fixed point, or that of the spinning body; empty if there are several.

    Example:
        >>> import pendula
        >>> pendula.integrals("heavy-top")["L_top"].symmetry.words()
        'the spin of top about its axis z'
    """

    kind: str
    bodies: tuple[str, ...]
    axis: tuple[float, float, float]
    point: tuple[float, float, float]
    coordinate: str = ""
    joint: str = ""

    @property
    def direction(self) -> str:
        """The axis in words: ``z``, or its components."""
        return _axis_words(self.axis)

    def words(self) -> str:
        """The motion in words."""
        if self.kind == "spin":
            return f"the spin of {self.bodies[0]} about its axis {self.direction}"
        if self.kind == "shift":
            return f"a shift along {self.direction}"
        return f"the rotation about {self.direction}"


def _axis_words(axis: tuple[float, ...]) -> str:
    for name, unit in zip("xyz", AXES, strict=True):
        if np.array_equal(np.abs(axis), unit):
            return name
    return f"({', '.join(f'{x:.4g}' for x in axis)})"


def find_symmetries(model: Model, values: Mapping[str, float] | None = None) -> tuple[Symmetry, ...]:
    """All symmetries of a mechanism that its description shows.

    Args:
        model: the mechanism.
        values: of all parameters; those of the model by default.

    Example:
        >>> import pendula
        >>> [(s.kind, s.words()) for s in find_symmetries(pendula.library.heavy_top())]
        [('turn', 'the rotation about z'), ('spin', 'the spin of top about its axis z')]
        >>> [s.coordinate for s in find_symmetries(pendula.library.cart_pole())]
        ['x']
    """
    given = model.parameter_values if values is None else values
    return _found(model, tuple(given.items()))


@lru_cache(maxsize=64)
def _found(model: Model, values: tuple[tuple[str, float], ...]) -> tuple[Symmetry, ...]:
    if any(joint.armature for joint in model.tree):
        return ()  # momenta of rotors are not among those of the bodies
    geometry = _with_inputs(model, dict(values))
    found: list[Symmetry] = []
    for part in _parts(model):
        found += [s for s in _turns(geometry, part) if s not in found]
        found += _shifts(geometry, part)
    found += [s for joint in model.tree if (s := _spin(geometry, joint)) is not None]
    return tuple(found)


def _with_inputs(model: Model, values: Mapping[str, float]) -> Geometry:
    """The model with values of its parameters, and of those inputs that are constant."""
    geometry, inputs = Geometry(model, values), {}
    for name, value in model.inputs.items():
        with suppress(Unknown):
            inputs[name] = geometry.number(value)
    return Geometry(model, {**values, **inputs})


# --- parts of the mechanism that move together ----------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """Bodies that joints or forces connect, not counting ground: its roots are the joints to ground."""

    bodies: frozenset[str]
    roots: tuple[TreeJoint, ...]


def _parts(model: Model) -> Iterator[_Part]:
    group: dict[str, set[str]] = {j.child.body: {j.child.body} for j in model.tree}

    def join(a: str, b: str) -> None:
        if a in group and b in group and group[a] is not group[b]:
            group[a] |= group[b]
            for body in group[b]:
                group[body] = group[a]

    for joint in model.joints:
        join(joint.parent.body, joint.child.body)
    for action in _actions(model):
        if isinstance(action, Between):
            join(action.start.body, action.end.body)
    done: list[set[str]] = []
    for bodies in group.values():
        if not any(bodies is other for other in done):
            done.append(bodies)
            roots = tuple(j for j in model.tree if j.child.body in bodies and j.parent.body == GROUND)
            yield _Part(frozenset(bodies), roots)


def _actions(model: Model) -> list[Action]:
    return [action for force in model.forces for action in force.actions()]


def _acting(geometry: Geometry) -> Iterator[Action]:
    """All actions but those that are zero, such as an input of value 0, and the forces of couplings on coordinates."""
    for action in _actions(geometry.model):
        entries = getattr(action, "vector", None) or (getattr(action, "value", 1.0),)
        try:
            if any(map(geometry.number, entries)):
                yield action
        except Unknown:
            yield action
    coordinates = {c.name for c in geometry.model.coordinates}
    for joint in geometry.model.closures:
        for row in joint.rows():
            if isinstance(row, Coupled):
                yield from (OnCoordinate(name, row.value) for name in sorted(parse(row.value).names & coordinates))


# --- turns of a part about a fixed axis -----------------------------------------------------------------------


def _turns(geometry: Geometry, part: _Part) -> Iterator[Symmetry]:
    try:
        places = [geometry.side(j.parent) for j in part.roots]
        gravity = geometry.gravity
    except Unknown:
        return
    fixed = [r for j, (r, _) in zip(part.roots, places, strict=True) if not _carries(j)]
    point = fixed[0] if fixed else np.zeros(3)
    for axis in _axes_of(geometry, part, places, gravity):
        try:
            taken = [_takes_turn(geometry, j, place, axis, point) for j, place in zip(part.roots, places, strict=True)]
        except Unknown:
            continue
        if any(t is None for t in taken):
            continue
        coordinate = taken[0] or "" if len(taken) == 1 else ""
        if any(j.absolute_turn() for j in geometry.model.tree if j.child.body in part.bodies and j not in part.roots):
            coordinate = ""  # absolute angles of the other bodies change, too
        if _turn_undisturbed(geometry, part, axis, point, coordinate):
            joint = part.roots[0].name if len(part.roots) == 1 else ""
            yield Symmetry("turn", tuple(sorted(part.bodies)), _tuple(axis), _tuple(point), coordinate, joint)


def _axes_of(geometry: Geometry, part: _Part, places: list[tuple[Array, Array]], gravity: Array) -> list[Array]:
    """Axes that may be axes of symmetry: the vertical, or without gravity those of the first rotations."""
    size = float(np.linalg.norm(gravity))
    if size:
        up = -gravity / size
        return [np.abs(up) if np.count_nonzero(up) == 1 else up]
    if all(isinstance(j, Orientation) for j in part.roots):
        return list(AXES)
    first = [R @ geometry.direction(s.axis) for j, (_, R) in zip(part.roots, places, strict=True)
             for s in j.steps() if isinstance(s, Turn)]  # fmt: skip
    return [*first[:1], *(a for a in AXES if not any(parallel(a, b) for b in first[:1]))]


def _carries(joint: TreeJoint) -> bool:
    """Whether a joint can translate in the plane across some axis, so that no point of it is fixed."""
    return sum(isinstance(s, Slide) for s in joint.steps()) >= 2


def _takes_turn(
    geometry: Geometry, joint: TreeJoint, place: tuple[Array, Array], axis: Array, point: Array
) -> str | None:
    """Whether a joint to ground permits a turn of its child about an axis.

    Returns the coordinate that alone changes, an empty text if several do, or None if it does not permit the turn.
    """
    origin, R = place
    if isinstance(joint, JointCoordinates):
        return _particle_turns(geometry, joint, place, axis, point)
    steps = list(joint.steps())
    slides = [s for s in steps if isinstance(s, Slide)]
    turning = [s for s in steps if not isinstance(s, (Slide, Shift))]
    free = not joint.prescribed()
    if len(slides) >= 2:
        span = np.array([R @ geometry.direction(s.axis) for s in slides])
        rank = np.linalg.matrix_rank(span)
        across = rank == 3 or all(abs(d @ axis) < 1e-14 for d in span)
        whole = isinstance(joint, Orientation) or _is_turn_about(geometry, turning[:1], R, axis)
        return "" if free and across and whole and steps[: len(slides)] == slides else None
    if any(isinstance(s, Shift) for s in steps):
        return None
    while steps and isinstance(steps[0], Slide) and parallel(R @ geometry.direction(steps[0].axis), axis):
        steps = steps[1:]
    if not steps or isinstance(steps[0], Slide) or not on_line(origin, axis, point):
        return None
    first = steps[0]
    if (
        isinstance(first, Turn)
        and first.angle in joint.coordinate_names()
        and _is_turn_about(geometry, [first], R, axis)
    ):
        return str(first.angle) if first.angle not in joint.prescribed() else None
    return "" if isinstance(joint, Orientation) and free else None


def _is_turn_about(geometry: Geometry, steps: Sequence[object], R: Array, axis: Array) -> bool:
    return bool(steps) and isinstance(steps[0], Turn) and parallel(R @ geometry.direction(steps[0].axis), axis)


def _particle_turns(
    geometry: Geometry, joint: JointCoordinates, place: tuple[Array, Array], axis: Array, point: Array
) -> str | None:
    """As :func:`_takes_turn`, for a point mass on a surface and all point masses that it carries.

    Their axes do not rotate, so each of them must permit the turn about an axis through the one that carries it.
    """
    from pendula.equations.cyclic.surfaces import turns_with  # loads SymEngine

    model, name = geometry.model, joint.child.body
    _, com, inertia = geometry.mass(model.body(name))
    if np.any(inertia) or np.any(com) or np.any(geometry.point(joint.child)) or joint.child.rotation is not None:
        return None
    origin, R = place
    found = turns_with(joint, geometry.values.keys(), (R.T @ axis).tolist(), (R.T @ (point - origin)).tolist())
    if any(name in (j.parent.body, j.child.body) for j in model.closures):
        return None
    for other in (j for j in model.tree if j.parent.body == name):
        if not isinstance(other, JointCoordinates) or np.any(geometry.point(other.parent)):
            return None
        R_next = R @ geometry.side(other.parent)[1]
        if _particle_turns(geometry, other, (np.zeros(3), R_next), axis, np.zeros(3)) is None:
            return None
        found = "" if found is not None else None  # several coordinates change
    return found


def _turn_undisturbed(geometry: Geometry, part: _Part, axis: Array, point: Array, coordinate: str) -> bool:
    """Whether no force has a moment about the axis."""
    if _closes_to_ground(geometry.model, part):
        return False
    if any(j.absolute_turn() and j.prescribed() for j in geometry.model.tree if j.child.body in part.bodies):
        return False  # an angle from ground that a motor holds
    for action in _acting(geometry):
        if isinstance(action, Between):
            ends = [s for s in (action.start, action.end) if s.body == GROUND]
            touched = {action.start.body, action.end.body} & part.bodies
            try:
                away = ends and touched and not on_line(geometry.point(ends[0]), axis, point)
            except Unknown:
                return False
            if away:
                return False
        elif isinstance(action, Push) and action.body in part.bodies:
            if not _along(geometry, action, axis):
                return False
        elif not _is_inside(geometry.model, action, part, coordinate) or (
            not coordinate and _turns_along(geometry.model, action, part)
        ):
            return False
    return True


def _along(geometry: Geometry, action: Push, axis: Array) -> bool:
    try:
        return action.axes == "world" and parallel(geometry.vector(action.vector), axis)
    except Unknown:
        return False


def _is_inside(model: Model, action: Action, part: _Part, coordinate: str) -> bool:
    """Whether an action is between bodies of the part, on another part, or on a coordinate that does not change."""
    roots = {j.name for j in part.roots}
    if isinstance(action, Across | AcrossAll):
        if action.joint not in roots:
            return True
        named = action.coordinate if isinstance(action, Across) else None
        return bool(coordinate) and named not in (None, coordinate)
    if isinstance(action, OnCoordinate):
        if coordinate:
            return action.coordinate not in (coordinate, f"{coordinate}_dot")
        owner = next((c.joint for c in (*model.coordinates, *model.speeds) if c.name == action.coordinate), "")
        return owner not in roots
    body = getattr(action, "body", "")
    return bool(body) and body not in part.bodies


def _turns_along(model: Model, action: Action, part: _Part) -> bool:
    """Whether an action is on a coordinate that changes in a turn: an absolute angle, or a place in world axes."""
    inside = [j for j in model.tree if j.child.body in part.bodies]
    turned = [j.coordinate_names() for j in inside if j.absolute_turn() or isinstance(j, JointCoordinates)]
    return isinstance(action, OnCoordinate) and any(action.coordinate.removesuffix("_dot") in x for x in turned)


def _closes_to_ground(model: Model, part: _Part) -> bool:
    return any(GROUND in (j.parent.body, j.child.body) and {j.parent.body, j.child.body} & part.bodies
               for j in model.closures)  # fmt: skip


# --- shifts of a part -----------------------------------------------------------------------------------------


def _shifts(geometry: Geometry, part: _Part) -> Iterator[Symmetry]:
    if _closes_to_ground(geometry.model, part):
        return
    try:
        gravity = geometry.gravity
        options = [_slides(geometry, joint) for joint in part.roots]
    except Unknown:
        return
    for axis, _ in options[0] if options else []:
        if abs(gravity @ axis) > 1e-14 * np.linalg.norm(gravity):
            continue
        names = [next((name for d, name in slides if parallel(d, axis)), None) for slides in options]
        if any(name is None for name in names):
            continue
        coordinate = names[0] or "" if len(names) == 1 else ""
        if _shift_undisturbed(geometry, part, axis, coordinate):
            yield Symmetry("shift", tuple(sorted(part.bodies)), _tuple(axis), (0.0, 0.0, 0.0), coordinate)


def _slides(geometry: Geometry, joint: TreeJoint) -> list[tuple[Array, str]]:
    """Directions, in world axes, along which the first steps of a joint can translate, with their coordinates."""
    _, R = geometry.side(joint.parent)
    found = []
    for step in joint.steps():
        if not isinstance(step, Slide):
            break
        if step.distance in joint.coordinate_names() and step.distance not in joint.prescribed():
            found.append((R @ geometry.direction(step.axis), str(step.distance)))
    return found


def _shift_undisturbed(geometry: Geometry, part: _Part, axis: Array, coordinate: str) -> bool:
    for action in _acting(geometry):
        if isinstance(action, Between):
            bodies = {action.start.body, action.end.body}
            if GROUND in bodies and bodies & part.bodies:
                return False
        elif isinstance(action, Push) and action.body in part.bodies:
            try:
                across = action.axes == "world" and abs(geometry.vector(action.vector) @ axis) == 0.0
            except Unknown:
                return False
            if not across:
                return False
        elif not _is_inside(geometry.model, action, part, coordinate):
            return False
    return True


# --- spins of a body about its own axis -----------------------------------------------------------------------


def _spin(geometry: Geometry, joint: TreeJoint) -> Symmetry | None:
    """The spin of the child of a joint about its axis of symmetry, if the joint and all forces permit it."""
    name = joint.child.body
    try:
        _, com, inertia = geometry.mass(geometry.model.body(name))
        origin, R = geometry.side(joint.child)
        turning = [s for s in joint.steps() if not isinstance(s, (Slide, Shift))]
        last = turning[-1] if turning else None
        hinge = R @ geometry.direction(last.axis) if isinstance(last, Turn) else None
    except Unknown:
        return None
    axis = _own_axis(inertia, com - origin, hinge)
    if axis is None or not on_line(com, axis, origin) or not axis @ inertia @ axis > 0.0:
        return None
    coordinate = None
    if isinstance(last, Turn) and hinge is not None and parallel(hinge, axis) and joint.steps()[-1] == last:
        coordinate = str(last.angle) if last.angle in joint.coordinate_names() and not last.absolute else None
        coordinate = None if coordinate in joint.prescribed() else coordinate
    if coordinate is None and not (isinstance(joint, Orientation) and not joint.prescribed()):
        return None
    if not _spin_undisturbed(geometry, joint, axis, com, coordinate or ""):
        return None
    return Symmetry("spin", (name,), _tuple(axis), _tuple(com), coordinate or "", joint.name)


def _own_axis(inertia: Array, arm: Array, hinge: Array | None) -> Array | None:
    """The axis of symmetry of a body; with equal inertias that through joint and mass centre, or that of the hinge."""
    axis = axis_of_symmetry(inertia)
    if axis is None or np.any(axis):
        return axis
    if np.linalg.norm(arm):
        return arm / np.linalg.norm(arm)
    return AXES[2] if hinge is None else hinge


def _spin_undisturbed(geometry: Geometry, joint: TreeJoint, axis: Array, com: Array, coordinate: str) -> bool:
    model, name = geometry.model, joint.child.body
    if any(name in (j.parent.body, j.child.body) for j in model.closures):
        return False
    carried = [j for j in model.tree if j.parent.body == name]
    try:
        for other in carried:  # a ball joint on the axis keeps what it carries from spinning
            if not isinstance(other, Orientation) or other.prescribed() or other.own_freedoms()[0][0] == "_x":
                return False
            if not on_line(geometry.point(other.parent), axis, com):
                return False
        for action in _acting(geometry):
            if not _spin_free(geometry, action, joint, {j.name for j in carried}, axis, com, coordinate):
                return False
    except Unknown:
        return False
    return not carried or not coordinate


def _spin_free(
    geometry: Geometry,
    action: Action,
    joint: TreeJoint,
    carried: set[str],
    axis: Array,
    com: Array,
    coordinate: str,
) -> bool:
    """Whether an action exerts no torque about the axis of a body."""
    model, name = geometry.model, joint.child.body
    if isinstance(action, Between):
        return all(s.body != name or on_line(geometry.point(s), axis, com) for s in (action.start, action.end))
    if isinstance(action, Push):
        if action.body != name:
            return True
        points = model.body(name).named_points()
        place = points[action.at] if action.at is not None else action.position or (0, 0, 0)
        return on_line(geometry.vector(place), axis, com)
    if isinstance(action, Across | AcrossAll):
        named = action.coordinate if isinstance(action, Across) else None
        if action.joint == joint.name:
            return bool(coordinate) and named not in (None, coordinate)
        return action.joint not in carried
    if isinstance(action, OnCoordinate):
        owner = next((c.joint for c in (*model.coordinates, *model.speeds) if c.name == action.coordinate), "")
        if owner == joint.name:
            return bool(coordinate) and action.coordinate not in (coordinate, f"{coordinate}_dot")
        return owner not in carried
    return getattr(action, "body", name) != name


def _tuple(vector: Array) -> tuple[float, float, float]:
    x, y, z = (float(v) + 0.0 for v in vector)
    return x, y, z


def twist(symmetry: Symmetry, body: str, R: Array, center: Array) -> Array:
    """Angular velocity and velocity of the mass centre of a body in a unit motion, for its pose."""
    if body not in symmetry.bodies:
        return np.zeros(6)
    axis, point = np.array(symmetry.axis), np.array(symmetry.point)
    if symmetry.kind == "shift":
        return np.concatenate([np.zeros(3), axis])
    if symmetry.kind == "spin":
        return np.concatenate([R @ axis, np.zeros(3)])  # the mass centre lies on the axis
    return np.concatenate([axis, cross(axis) @ (center - point)])
