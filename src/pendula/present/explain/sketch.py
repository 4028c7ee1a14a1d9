"""Sketches of a mechanism: its frames and angles, and single bodies with the forces on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.analysis.explain.explanation import Explanation
from pendula.analysis.explain.walk import Turned, numbers, rotation
from pendula.equations.printing.latex import latex_name
from pendula.equations.story.story import Picture
from pendula.equations.story.telling import upright
from pendula.model.bodies import GROUND
from pendula.model.forces.actions import Between, Push
from pendula.model.joints import Side, TreeJoint
from pendula.model.joints.steps import Slide
from pendula.present.explain.drawing import LETTER, Drawing
from pendula.present.pictures.scenery.frames import outline
from pendula.present.pictures.scenery.scenes import Pose, scene_of
from pendula.present.player.scene import Scene, SceneBody
from pendula.present.player.shapes import Pivot
from pendula.present.player.springs import spiral, zigzag

Array = Any

AXES = 0.17
"""Length of the axes of a frame, relative to the mechanism."""


class Sketch:
    """Draws the mechanism of an explanation."""

    def __init__(self, told: Explanation) -> None:
        self.told, self.model, self.pose = told, told.model, told.pose
        system = told.system
        q = np.array([self.pose.values[name] for name in system.layout.coordinates])
        self.scene: Scene = scene_of(Pose(system, q[None], system.parameters))
        gravity = numbers(self.model.gravity, self.pose.values)
        self.gravity = gravity / np.linalg.norm(gravity) if gravity.any() else None
        self.view = self._view()
        points = [self._body_points(body) for body in self.scene.bodies]
        flat = np.concatenate([self.flat(p) for p in points if len(p)] or [np.zeros((1, 2))])
        self.size = float(max(np.ptp(flat[:, 0]), np.ptp(flat[:, 1]), 1e-9))
        self.colors = {body.name: k for k, body in enumerate(self.model.bodies)}

    def draw(self, picture: Picture) -> Drawing:
        """The drawing that a story asks for."""
        return self.mechanism(picture) if picture.kind == "mechanism" else self.body(picture)

    # -- geometry -------------------------------------------------------------------------------

    def _view(self) -> Array:
        """Rows: directions of the drawing to the right and upwards."""
        if self.scene.planar:
            return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        up = np.array(self.scene.up) / np.linalg.norm(self.scene.up)
        first = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
        first -= (first @ up) * up
        first /= np.linalg.norm(first)
        second = np.cross(up, first)
        eye = 0.55 * first - 0.75 * second + 0.42 * up  # towards the reader: seen from the front, from above
        eye /= np.linalg.norm(eye)
        right = np.cross(up, eye)
        right /= np.linalg.norm(right)
        return np.array([right, np.cross(eye, right)])

    def flat(self, points: Array) -> Array:
        """World points in the plane of the drawing."""
        return np.asarray(points) @ self.view.T

    def _body_points(self, body: SceneBody) -> Array:
        shapes = [outline(shape) for shape in body.shapes]
        if not shapes:
            return np.zeros((0, 3))
        return np.concatenate(shapes) @ body.rotation[0].T + body.position[0]

    def _point(self, side: Side) -> Array:
        return self.pose.point(self.model, side)

    def _center(self, body: str) -> Array:
        frame = self.pose.frames[body]
        return frame.r + frame.R @ numbers(self.model.body(body).mass_properties().com, self.pose.values)

    # -- parts ----------------------------------------------------------------------------------

    def _shapes(self, drawing: Drawing, only: str | None = None) -> None:
        for body in self.scene.bodies:
            faint = only is not None and body.name != only
            color = -1 if faint else self.colors.get(body.name, -1)
            for shape in body.shapes:
                points = self.flat(outline(shape) @ body.rotation[0].T + body.position[0])
                if isinstance(shape, Pivot):
                    if only is None:
                        self._pivot(drawing, points[0])
                elif len(points) == 1:
                    drawing.mark(points[0], "faint" if faint else "bob", 7.0, color)
                else:
                    style = "faint" if faint else "ground" if body.name == GROUND else "body"
                    drawing.line(points, style, color=color)
        if only is None:
            for link in self.scene.links:
                ends = self.flat(np.array([link.start[0], link.end[0]]))
                drawing.line(zigzag(ends[0], ends[1], 0.02 * self.size) if link.kind == "spring" else ends, "spring")
            for one in self.scene.spirals:
                turned = spiral(one, one.ends(self.scene.bodies), 0.045 * self.size)
                drawing.line(self.flat(turned), "spring")

    def _pivot(self, drawing: Drawing, at: Array) -> None:
        d = 0.035 * self.size
        down = at + np.array([[0.0, 0.0], [-d, -1.6 * d], [d, -1.6 * d], [0.0, 0.0]])
        drawing.line(down, "ground")
        base = at + np.array([[-1.7 * d, -1.6 * d], [1.7 * d, -1.6 * d]])
        drawing.line(base, "ground")
        drawing.mark(at, "pin", 3.2)

    def _frame(self, drawing: Drawing, R: Array, r: Array, style: str, color: int, length: float, named: bool) -> None:
        """Axes of a frame; those that point at the reader are left out."""
        origin = self.flat(r)
        for k, letter in enumerate("xyz"):
            tip = self.flat(r + length * self.size * R[:, k])
            if np.hypot(*(tip - origin)) > 0.25 * length * self.size:
                drawing.line([origin, tip], style, arrow=True, color=color)
                if named:
                    away = (tip - origin) / np.hypot(*(tip - origin))
                    drawing.label(tip, letter, (10 * away[0], -10 * away[1] + 4), "small", color)

    def mechanism(self, picture: Picture) -> Drawing:
        """All bodies with their frames, and the coordinates of the joints."""
        drawing = Drawing(f"{self.model.name}: {picture.caption}")
        few = len(self.model.bodies) <= 8
        self._shapes(drawing)
        self._frame(drawing, np.eye(3), np.zeros(3), "axis", -1, 1.5 * AXES, named=True)
        for body in self.model.bodies:
            frame, color = self.pose.frames[body.name], self.colors[body.name]
            if few:
                self._frame(drawing, frame.R, frame.r, "frame", color, AXES, named=len(self.model.bodies) <= 3)
            center = self.flat(self._center(body.name))
            drawing.mark(center, "com", 3.6, color)
            if few:
                self._named(drawing, body.name)
        self._angles(drawing)
        self._slides(drawing)
        self._gravity(drawing)
        return drawing

    def _named(self, drawing: Drawing, body: str) -> None:
        """The name of a body beside its mass centre."""
        center, origin = self.flat(self._center(body)), self.flat(self.pose.frames[body].r)
        along = center - origin
        size = float(np.hypot(*along))
        side = np.array([along[1], -along[0]]) / size if size > 1e-9 * self.size else np.array([0.7, -0.7])
        side = side if side[0] >= 0 else -side
        reach = 13 + LETTER["name"] * len(body) / 2
        drawing.label(center, upright(body), (reach * side[0], -17 * side[1] + 5), "name", self.colors[body])

    def _gravity(self, drawing: Drawing) -> None:
        if self.gravity is None:
            return
        points = np.concatenate([line.points for line in drawing.lines])
        corner = np.array([points[:, 0].max() + 0.12 * self.size, points[:, 1].max()])
        fall = self.flat(self.gravity)
        if np.hypot(*fall) > 0.3:
            tip = corner + 0.22 * self.size * fall / np.hypot(*fall)
            drawing.line([corner, tip], "force", arrow=True)
            drawing.label((corner + tip) / 2, r"\boldsymbol{g}", (13, 4))

    # -- coordinates ----------------------------------------------------------------------------

    def _angles(self, drawing: Drawing) -> None:
        last = {turn.joint: k for k, turn in enumerate(self.pose.turns)}
        for k, turn in enumerate(self.pose.turns):
            if k < 8 and abs(turn.angle) > 1e-6:
                self._angle(drawing, turn, last[turn.joint] == k, k)

    def _angle(self, drawing: Drawing, turn: Turned, final: bool, rank: int) -> None:
        """An arc from the direction before a rotation to the direction after it."""
        axis = turn.before.R @ turn.axis / np.linalg.norm(turn.axis)
        child = self.model.joint(turn.joint).child.body
        after = None
        if final:
            after = _across(self._center(child) - turn.after.r, axis, self.size)
        if after is None:
            candidates = [_across(turn.after.R[:, i], axis, 1.0) for i in range(3)]
            after = next(c for c in candidates if c is not None)
        start = rotation(axis, -turn.angle) @ after
        angle = (turn.angle + np.pi) % (2 * np.pi) - np.pi
        radius = (0.17 + 0.05 * (rank % 3)) * self.size
        steps = np.linspace(0.0, angle, 24)
        arc = np.array([turn.after.r + radius * (rotation(axis, s) @ start) for s in steps])
        flat = self.flat(arc)
        drawing.line([self.flat(turn.after.r), self.flat(turn.after.r + 1.35 * radius * start)], "dash")
        if not final:
            drawing.line([self.flat(turn.after.r), self.flat(turn.after.r + 1.35 * radius * after)], "dash")
        drawing.line(flat, "arc", arrow=True)
        middle, origin = flat[len(flat) // 2], self.flat(turn.after.r)
        away = (middle - origin) / max(float(np.hypot(*(middle - origin))), 1e-12)
        drawing.label(middle, _name(turn.text), (14 * away[0], -14 * away[1] + 5))

    def _slides(self, drawing: Drawing) -> None:
        for joint in self.model.tree:
            slides = [step for step in joint.steps() if isinstance(step, Slide)]
            if len(slides) == 1 and joint.child.body in self.pose.frames:
                start, end = self._point(joint.parent), self._point(joint.child)
                gap = float(np.linalg.norm(end - start))
                if gap > 0.02 * self.size:
                    a, b = self.flat(start), self.flat(end)
                    side = np.array([b[1] - a[1], a[0] - b[0]]) / max(float(np.hypot(*(b - a))), 1e-12)
                    off = 0.06 * self.size * side
                    drawing.line([a + off, b + off], "arc", arrow=True)
                    drawing.label((a + b) / 2 + off, _name(str(slides[0].distance)), (14 * side[0], -14 * side[1] + 5))

    # -- free bodies ----------------------------------------------------------------------------

    def body(self, picture: Picture) -> Drawing:
        """One body, cut free, with the forces on it."""
        drawing = Drawing(f"{self.model.name}: {picture.caption}")
        name = picture.body
        self._shapes(drawing, only=name)
        color, center = self.colors[name], self._center(name)
        drawing.mark(self.flat(center), "com", 4.0, color)
        self._named(drawing, name)
        for rank, (kind, which, label) in enumerate(picture.forces):
            self._force(drawing, name, kind, which, label, rank)
        return drawing

    def _force(self, drawing: Drawing, body: str, kind: str, which: str, label: str, rank: int) -> None:
        center = self._center(body)
        if kind == "weight":
            assert self.gravity is not None
            self._arrow(drawing, self.flat(center), self.flat(self.gravity), label, 0.24)
            return
        if kind in ("joint", "reaction", "closing", "closing back"):
            joint = self.model.joint(which)
            at = self._point(joint.child)
            out = self.flat(at) - self.flat(center)
            size = float(np.hypot(*out))
            out = out / size if size > 1e-9 * self.size else np.array([0.0, 1.0])
            turn = 0.5 if kind in ("joint", "closing") else -0.5
            c, s = np.cos(turn), np.sin(turn)
            self._arrow(
                drawing, self.flat(at), np.array([c * out[0] - s * out[1], s * out[0] + c * out[1]]), label, 0.22
            )
            if isinstance(joint, TreeJoint) and _carries_moment(joint, self.scene.planar):
                self._moment(drawing, self.flat(at), label.replace("F", "T", 1), rank)
            return
        if kind.startswith("inside"):
            joint = self.model.joint(which)
            at, back = self.flat(self._point(joint.child)), kind.endswith("back")
            if "T" in kind:
                self._moment(drawing, at, label, rank, clockwise=back)
            else:
                along = self.flat(self._point(joint.child) - self._point(joint.parent))
                self._arrow(drawing, at, -along if back else along, label, 0.18)
            return
        self._load(drawing, body, kind, which, label, rank)

    def _load(self, drawing: Drawing, body: str, kind: str, which: str, label: str, rank: int) -> None:
        center = self._center(body)
        for action in self.model.forces[int(which)].actions():
            if isinstance(action, Between) and body in (action.start.body, action.end.body):
                here, there = (action.start, action.end) if action.start.body == body else (action.end, action.start)
                at, to = self.flat(self._point(here)), self.flat(self._point(there))
                self._arrow(drawing, at, to - at, label, 0.2)
                return
            if isinstance(action, Push) and action.body == body:
                at = self._point(Side(body=body, at=action.at, position=action.position))
                self._arrow(drawing, self.flat(at), np.array([0.8, 0.6]), label, 0.2)
                return
        if kind == "torque":
            self._moment(drawing, self.flat(center), label, rank)
        else:
            self._arrow(drawing, self.flat(center), np.array([0.8, 0.6]), label, 0.2)

    def _arrow(self, drawing: Drawing, at: Array, along: Array, label: str, length: float) -> None:
        size = float(np.hypot(*along))
        along = along / size if size > 1e-12 else np.array([0.0, 1.0])
        tip = at + length * self.size * along
        drawing.line([at, tip], "force", arrow=True)
        drawing.label(tip, label, (24 * along[0], -15 * along[1] + 4))

    def _moment(self, drawing: Drawing, at: Array, label: str, rank: int, *, clockwise: bool = False) -> None:
        radius = (0.06 + 0.02 * (rank % 3)) * self.size
        angles = np.linspace(0.4, 4.0, 30) + 0.9 * rank
        arc = [at + radius * np.array([np.cos(a), np.sin(a)]) for a in (angles[::-1] if clockwise else angles)]
        drawing.line(arc, "force", arrow=True)
        away = (arc[15] - at) / radius
        drawing.label(arc[15], label, (26 * away[0], -16 * away[1] + 4))


def _across(vector: Array, axis: Array, scale: float) -> Array | None:
    """The direction of a vector across an axis; None if it is along the axis."""
    across = vector - (vector @ axis) * axis
    size = float(np.linalg.norm(across))
    return across / size if size > 1e-6 * scale else None


def _carries_moment(joint: TreeJoint, planar: bool) -> bool:
    """Whether a joint can transmit a moment that the drawing should show."""
    turning = sum(c.kind == "angle" for c in joint.coordinates())
    return not (joint.quaternion() or turning == 3 or (planar and turning == 1))


def _name(text: str) -> str:
    """An angle or distance in TeX: a name, or an expression as it is."""
    return latex_name(text) if text.isidentifier() else rf"\text{{{text}}}"
