"""The drawing of a mechanism for a live page, where parameters may change: shapes in terms of numbers to compute.

Every number of the drawing that is an expression of the model becomes an index into one list of scalars, which the
page computes from time and parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pendula.model.bodies import GROUND, Shape
from pendula.model.expressions.expression import parse
from pendula.model.forces.actions import Between
from pendula.model.joints import Side, TreeJoint
from pendula.model.joints.steps import Shift, Slide
from pendula.model.model import Model
from pendula.present.pictures.scenery.scenes import rail_of
from pendula.present.pictures.scenery.springs import joint_springs, place_of

_FIELDS = {
    "rod": ("start", "end"),
    "point": ("at",),
    "sphere": ("center",),
    "disc": ("center",),
    "ring": ("center",),
    "box": ("center",),
}


@dataclass
class Drawing:
    """Shapes, links and hinges of a mechanism, with indices in place of numbers.

    Attributes:
        scalars: expressions of time and parameters.
        bodies: name, index of the pose (-1: none), index of the position (moving supports), shapes.
        links: springs, dampers and strings: kind, start and end.
        spirals: torsion springs, as in SceneSpiral; an outer arm of None points to the side of the support.
        hinges: for every joint, the points of its two bodies that stay together.
    """

    scalars: list[Any] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    spirals: list[dict[str, Any]] = field(default_factory=list)
    hinges: list[list[Any]] = field(default_factory=list)
    _index: dict[str, int] = field(default_factory=dict)

    def number(self, scalar: Any) -> int:
        """The index of a scalar."""
        key = str(parse(scalar))
        if key not in self._index:
            self._index[key] = len(self.scalars)
            self.scalars.append(scalar)
        return self._index[key]

    def vector(self, of: Sequence[Any]) -> list[int]:
        """The indices of three scalars."""
        return [self.number(x) for x in of]


def draw(model: Model, length: float) -> Drawing:
    """The drawing of a model of a typical length: ground, moving supports, bodies, links, spirals, hinges."""
    drawing = Drawing()
    poses = {joint.child.body: k for k, joint in enumerate(model.tree)}
    _ground(model, drawing)
    for body in model.bodies:
        shapes = [_shape(drawing, shape) for shape in body.drawing()]
        drawing.bodies.append({"name": body.name, "pose": poses[body.name], "base": None, "shapes": shapes})
    shown = {body["name"]: k for k, body in enumerate(drawing.bodies)}
    _links(model, drawing, shown)
    _springs(model, drawing, shown, length)
    _hinges(model, drawing, shown)
    return drawing


def _shape(drawing: Drawing, shape: Shape) -> dict[str, Any]:
    record: dict[str, Any] = {"kind": shape.kind, "radius": drawing.number(shape.radius)}
    points = [drawing.vector(point) for point in shape.points]
    if shape.kind == "polyline":
        record["points"] = points
    else:
        record |= dict(zip(_FIELDS[shape.kind], points, strict=True))
    if shape.kind in ("disc", "ring"):
        record["normal"] = drawing.vector(shape.normal)
    if shape.kind == "box":
        record["size"] = drawing.vector(shape.size)
    return record


def _moves(place: Sequence[Any]) -> bool:
    return any("t" in parse(x).names for x in place)


def _ground(model: Model, drawing: Drawing) -> None:
    """Supports and rails; a support that moves is drawn as a body."""
    still: list[dict[str, Any]] = []
    moving = []
    for joint in model.joints:
        for side in (joint.parent, joint.child):
            if side.body != GROUND or (isinstance(joint, TreeJoint) and len(joint.speeds()) == 6):
                continue  # a free joint has no support
            place = side.position or (0, 0, 0)
            if _moves(place):
                pivot = {"kind": "pivot", "at": drawing.vector((0, 0, 0))}
                name = f"base of {joint.name}"
                moving.append({"name": name, "pose": -1, "base": drawing.vector(place), "shapes": [pivot]})
            elif isinstance(joint, TreeJoint) and (slide := rail_of(joint)) is not None and side.rotation is None:
                still.append({"kind": "rail", "at": drawing.vector(place), "axis": drawing.vector(slide.axis)})
            else:
                still.append({"kind": "pivot", "at": drawing.vector(place)})
    drawing.bodies.append({"name": GROUND, "pose": -1, "base": None, "shapes": still})
    drawing.bodies += moving


def _links(model: Model, drawing: Drawing, shown: dict[str, int]) -> None:
    for force in model.forces:
        for action in force.actions() if force.drawn_as else ():
            if isinstance(action, Between):
                ends = [_end(model, drawing, shown, side) for side in (action.start, action.end)]
                drawing.links.append({"kind": force.drawn_as, "start": ends[0], "end": ends[1]})
    for joint in model.tree:
        if joint.parent.body == GROUND and any(isinstance(step, Shift) for step in joint.steps()):
            start = _end(model, drawing, shown, joint.parent)
            end = {"body": shown[joint.child.body], "at": drawing.vector((0, 0, 0))}
            drawing.links.append({"kind": "string", "start": start, "end": end})


def _springs(model: Model, drawing: Drawing, shown: dict[str, int], length: float) -> None:
    """Springs and dampers across joints: coils along slides, spirals about hinges."""
    for spring in joint_springs(model, model.parameter_values, length):
        joint, child = spring.joint, spring.joint.child
        base = f"base of {joint.name}"
        outer = shown[base if base in shown else joint.parent.body]
        end = _end(model, drawing, shown, child)
        if spring.turns:
            arm = None if spring.parent_arm is None else drawing.vector(spring.parent_arm)
            drawing.spirals.append(
                {
                    "outer": outer,
                    "inner": end["body"],
                    "at": end["at"],
                    "axis": drawing.vector(spring.axis),
                    "outer_arm": arm,
                    "inner_arm": drawing.vector(spring.child_arm),
                }
            )
            continue
        place = (0, 0, 0) if base in shown else place_of(model, joint.parent)
        begin = [
            f"({parse(x).to_text()}) - {spring.back * a!r}" if a else x for x, a in zip(place, spring.axis, strict=True)
        ]
        drawing.links.append({"kind": spring.kind, "start": {"body": outer, "at": drawing.vector(begin)}, "end": end})
        if joint.parent.body == GROUND:
            values = {**model.parameter_values, "t": 0.0}
            ends = spring.wall([parse(x).evaluate(values) for x in begin], length)
            wall = {"kind": "polyline", "points": [drawing.vector(point) for point in ends.tolist()]}
            drawing.bodies[outer]["shapes"].append(wall)


def _end(model: Model, drawing: Drawing, shown: dict[str, int], side: Side) -> dict[str, Any]:
    """One end of a link: a point of a drawn body, which may depend on time on the ground."""
    return {"body": shown[side.body], "at": drawing.vector(place_of(model, side))}


def _hinges(model: Model, drawing: Drawing, shown: dict[str, int]) -> None:
    """Points at which two bodies are held together: joints that turn only."""
    for joint in model.joints:
        if isinstance(joint, TreeJoint) and any(isinstance(step, (Slide, Shift)) for step in joint.steps()):
            continue
        if isinstance(joint, TreeJoint) and len(joint.speeds()) == 6:
            continue
        parts = []
        for side in (joint.parent, joint.child):
            base = f"base of {joint.name}"
            if side.body == GROUND and base in shown:
                parts.append([shown[base], drawing.vector((0, 0, 0))])
            else:
                parts.append([shown[side.body], drawing.vector(place_of(model, side))])
        drawing.hinges.append(parts)
