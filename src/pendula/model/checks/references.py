"""Checks of references between elements (bodies, points, joints, coordinates) and of the kinematic tree."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from pendula.errors import Problem
from pendula.model.bodies import GROUND
from pendula.model.fields import marked_fields
from pendula.model.joints import Side, TreeJoint
from pendula.model.names import quote, suggestion
from pendula.model.parts import Parts
from pendula.model.problems import MOST_SHOWN, listing, unknown


def sides(item: Any) -> Iterator[tuple[str, Side]]:
    """The sides of a joint or force, each with its name in a model file."""
    for field in marked_fields(type(item)):
        side = getattr(item, field.name)
        if isinstance(side, Side):
            yield field.label, side


def check_references(parts: Parts) -> Iterator[Problem]:
    """References to bodies, points, joints and coordinates that do not exist."""
    for element, joint in parts.joints:
        for place, side in sides(joint):
            yield from _side(parts, element, place, side)
        if joint.parent.body == joint.child.body and joint.has_sides and not parts.doubled:
            cause = f"parent and child are the same body {quote(joint.child.body)}"
            yield Problem(element, "child", cause, "name two bodies, or ground and a body")
    for element, force in parts.forces:
        for place, side in sides(force):
            yield from _side(parts, element, place, side)
            if side.rotation is not None:
                cause = "a force acts at a point, which has no rotation"
                yield Problem(element, f"{place}.rotation", cause, "remove it")
        fields = type(force).model_fields
        if "body" in fields:
            yield from _acted_on(parts, element, force)
        if "coordinate" in fields and "joint" not in fields:
            yield from _generalized(parts, element, force.coordinate)
        elif getattr(force, "joint", None) is not None:
            yield from _across(parts, element, force)


def _side(parts: Parts, element: str, place: str, side: Side) -> Iterator[Problem]:
    if side.body not in parts.places:
        if not parts.doubled:
            yield unknown("body", side.body, parts.places, element=element, place=f"{place}.body")
    elif side.at is not None:
        yield from _point(parts, element, f"{place}.at", side.body, side.at)


def _point(parts: Parts, element: str, place: str, body: str, at: str) -> Iterator[Problem]:
    points: Collection[str] = {"origin"} if body == GROUND else ()
    if body in parts.body:
        if parts.body[body].named_point(at) is not None:
            return
        points = parts.body[body].named_points()
    if points and at not in points:
        advice = suggestion(at, sorted(points), most=MOST_SHOWN)
        if body == GROUND:
            advice = "give its coordinates: position = [x, y, z]"
        yield Problem(element, place, f"there is no point {quote(at)} on {quote(body)}", advice)


def _acted_on(parts: Parts, element: str, force: Any) -> Iterator[Problem]:
    at = getattr(force, "at", None)
    if force.body not in parts.places:
        if not parts.doubled:
            yield unknown("body", force.body, parts.places, element=element, place="body")
    elif force.body == GROUND:
        yield Problem(element, "body", "a force on ground has no effect", "name a body")
    elif at is not None:
        yield from _point(parts, element, "at", force.body, at)
    if at is not None and getattr(force, "position", None) is not None:
        yield Problem(element, "at", "the point is given twice, by at and by position", "keep one of them")


def _generalized(parts: Parts, element: str, name: str) -> Iterator[Problem]:
    found = parts.state.get(name)
    if found is None and not parts.may_exist(name):
        known = [c.name for c in parts.state.values() if c.kind != "quaternion" and not c.name.endswith("_dot")]
        yield unknown("coordinate", name, known, element=element, place="coordinate")
    elif found is not None and found.kind == "quaternion":
        speeds = [c.name for c in parts.joint[found.joint].speeds()[-3:]]
        cause = f"{quote(name)} is part of a quaternion, on which no generalized force can act"
        yield Problem(element, "coordinate", cause, f"name one of {', '.join(speeds)}: the value is then a torque")


def _across(parts: Parts, element: str, force: Any) -> Iterator[Problem]:
    if force.joint not in parts.joint_names:
        yield unknown("joint", force.joint, parts.joint_names, element=element, place="joint")
        return
    joint = parts.joint.get(force.joint)
    if joint is None:
        return
    name = quote(joint.name)
    if not isinstance(joint, TreeJoint):
        cause = f"joint {name} closes a loop and has no coordinate"
        yield Problem(element, "joint", cause, "name a joint that places a body")
    elif "coordinate" in type(force).model_fields:  # others act on all coordinates of a joint, if any
        yield from _coordinate_choice(force, joint, element)


def _coordinate_choice(force: Any, joint: TreeJoint, element: str) -> Iterator[Problem]:
    """A spring across a joint acts on one of its angles or lengths."""
    kinds = {c.name: c.kind for c in joint.coordinates() if c.kind != "quaternion"}
    name = quote(joint.name)
    if not joint.coordinates():
        yield Problem(element, "joint", f"joint {name} cannot move: it has no coordinate", "name another joint")
    elif not kinds:
        advice = 'give the joint orientation = "zyz", or put a spring between two points'
        yield Problem(element, "joint", f"joint {name} has a quaternion and no angle to act on", advice)
    elif force.coordinate is None and len(kinds) != 1:
        advice = f"add coordinate = ..., one of {', '.join(kinds)}"
        yield Problem(element, "coordinate", f"is missing: joint {name} has {len(kinds)} of them", advice)
    elif force.coordinate is not None and force.coordinate not in kinds:
        problem = unknown("coordinate", force.coordinate, kinds, element=element, place="coordinate")
        yield Problem(element, "coordinate", f"{problem.cause} in joint {name}", problem.advice)
    else:
        chosen = force.coordinate or next(iter(kinds))
        wrong = {"angle": "length", "length": "angle"}.get(force.measures)
        if kinds[chosen] == wrong:
            words = {"angle": "an angle", "length": "a length"}
            cause = f"{quote(chosen)} is {words[wrong]}, not {words[force.measures]}"
            yield Problem(element, "type", cause, force.otherwise)


# -- kinematic tree ---------------------------------------------------------------------------------


def check_connection(parts: Parts) -> Iterator[Problem]:
    """Every body needs exactly one tree joint, in a tree rooted at ground."""
    placed_by: dict[str, TreeJoint] = {}
    for element, joint in parts.tree_joints:
        child = joint.child.body
        if child == GROUND:
            cause = "ground cannot be the child of a joint"
            yield Problem(element, "child", cause, "swap parent and child")
        elif child in placed_by:
            other = quote(placed_by[child].name)
            cause = f"body {quote(child)} is already placed by joint {other}, so this joint closes a loop"
            advice = 'use a closing joint: type = "coincident", "point-on-line" or "loop"'
            yield Problem(element, "child", cause, advice)
        else:
            placed_by[child] = joint
    parent_of = {child: parts.meant(joint.parent.body) for child, joint in placed_by.items()}
    vague = False  # whether a joint that could not be read may place any body
    for unread in parts.unread_joints:
        vague = vague or not unread.child
        parent_of.setdefault(parts.meant(unread.child), parts.meant(unread.parent))
    for joint in placed_by.values():
        parent_of.setdefault(parts.meant(joint.child.body), parts.meant(joint.parent.body))
    yield from _cycles(parent_of, placed_by)
    tied = {side.body for _, j in parts.joints if not isinstance(j, TreeJoint) for _, side in sides(j)}
    for element, body in parts.bodies:
        if body.name not in parent_of and not vague:
            cause = "only closing joints connect it, and these do not place a body" if body.name in tied else ""
            advice = 'add a joint with this body as child; type = "free" lets it fly'
            yield Problem(element, "", cause or "it is connected to nothing", advice)


def _cycles(parent_of: dict[str, str], placed_by: dict[str, TreeJoint]) -> Iterator[Problem]:
    """Cycles of bodies that place each other, each cycle once."""
    finished: set[str] = {GROUND}
    for start in parent_of:
        path: dict[str, None] = {}
        body = start
        while body in parent_of and body not in finished and body not in path:
            path[body] = None
            body = parent_of[body]
        names = list(path)
        cycle = names[names.index(body) :] if body in path else []
        joints = [placed_by[name].name for name in cycle if name in placed_by]
        if len(cycle) > 1 and joints:
            cause = f"joints {listing(joints)} form a cycle that is not connected to ground"
            yield Problem(f"joint {quote(joints[0])}", "parent", cause, "connect one of these bodies to ground")
        finished.update(path)
