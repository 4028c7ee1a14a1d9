"""Scenes of mechanisms: bodies, supports, pins, rails, springs and strings, over a motion or in one pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

import numpy as np

from pendula.analysis.modes.motion import ModeMotion
from pendula.arguments import available, read_name_or_names, read_number
from pendula.errors import UsageError
from pendula.model.bodies import GROUND
from pendula.model.bodies import Shape as ModelShape
from pendula.model.expressions.expression import parse
from pendula.model.forces.actions import Between
from pendula.model.joints import ClosingJoint, Joint, Side, TreeJoint
from pendula.model.joints.rows import Perpendicular, SamePoint
from pendula.model.joints.steps import Shift, Slide, Turn, TurnBall
from pendula.present.pictures.scenery.springs import ground_arm, joint_springs, place_of
from pendula.present.pictures.signals import signals_of
from pendula.present.player import shapes as sh
from pendula.present.player.scene import Scene, SceneBody, SceneEvent, SceneLink, SceneSpiral
from pendula.simulation.trajectory import Trajectory
from pendula.system.layout import Layout
from pendula.system.orientation.rotations import quaternion_of, turned
from pendula.system.parameters import typical_length
from pendula.system.system import System

Array = Any


@dataclass(frozen=True)
class Pose:
    """A mechanism in one pose, drawn like a motion with one frame."""

    system: System
    q: Array
    """coordinates, shape (1, coordinates)"""
    parameters: Array
    notes: tuple[str, ...] = ()

    @property
    def t(self) -> Array:
        """The only time, 0."""
        return np.zeros(1)

    @property
    def layout(self) -> Layout:
        """Names and units of the columns of q."""
        return self.system.layout


def scene_of(
    trajectory: Trajectory | ModeMotion | Pose,
    *,
    signals: Sequence[str] = (),
    trace: str | None = None,
    speed: float = 1.0,
) -> Scene:
    """The mechanism in motion, as shapes with poses over time; options as for :func:`animate`."""
    builder = _SceneBuilder(_in_order(trajectory) if isinstance(trajectory, Trajectory) else trajectory)
    speed = read_number(speed, "the speed of the animation")
    return builder.scene(read_name_or_names(signals, "signals"), trace, speed)


def _in_order(run: Trajectory) -> Trajectory:
    """A run with its states in the order of time, each time once: a run backwards is shown forwards."""
    t, places = np.unique(run.t, return_index=True)
    if np.array_equal(t, run.t):
        return run
    violation = None if run.violation is None else run.violation[places]
    return replace(
        run, t=t, q=run.q[places], v=run.v[places], energy_error=run.energy_error[places], violation=violation
    )


class _SceneBuilder:
    def __init__(self, trajectory: Trajectory | ModeMotion | Pose) -> None:
        self.run = trajectory
        self.model = trajectory.system.model
        self.t = trajectory.t
        names = trajectory.layout.parameters
        self.values = dict(zip(names, trajectory.parameters.tolist(), strict=True))
        self.R, self.r = trajectory.system.poses(trajectory.q, trajectory.t, parameters=trajectory.parameters)
        self.index = {name: k for k, name in enumerate(trajectory.layout.bodies)}
        self.length = typical_length(trajectory.system, trajectory.parameters)
        self.springs = joint_springs(self.model, self.values, self.length)

    def scene(self, signals: Sequence[str], trace: str | None, speed: float) -> Scene:
        """All bodies, pivots, rails, strings and springs."""
        gravity = np.array([parse(x).evaluate(self.values) for x in self.model.gravity])
        planar = bool(np.all(np.abs(self.R[..., 2, 2] - 1) < 1e-12)) and float(np.ptp(self.r[..., 2])) == 0.0
        if len(self.t) == 1 and gravity[2] != 0:
            planar = False  # a vertical pose of a spatial mechanism would be invisible from above
        vertical = np.array([0.0, 1.0, 0.0]) if planar else -gravity
        support = support_side(self.run.system, self.run.parameters, vertical)
        bodies = [*self._ground(support)]
        for body in self.model.bodies:
            k = self.index[body.name]
            shapes = [self._shape(s) for s in body.drawing()]
            shapes += [sh.Pivot(at) for at in self._pins(body.name) if not _is_end(at, shapes)]
            bodies.append(SceneBody(body.name, tuple(shapes), self.r[:, k], self.R[:, k]))
        up = tuple(-gravity / np.linalg.norm(gravity)) if gravity.any() and not planar else (0.0, 0.0, 1.0)
        return Scene(
            title=self.model.name,
            units=self.model.units,
            planar=planar,
            t=self.t,
            bodies=tuple(bodies),
            links=tuple(self._links()),
            spirals=tuple(self._spirals([body.name for body in bodies], support, vertical)),
            up=(float(up[0]), float(up[1]), float(up[2])),
            notes=(*self._account(), *self.run.notes),
            signals=signals_of(self.run, signals) if isinstance(self.run, Trajectory) else (),
            series={"energy error": np.abs(self.run.energy_error)} if isinstance(self.run, Trajectory) else {},
            events=self._events(),
            trace=None if trace in (None, "none") else self._traced(str(trace)),
            traced=trace != "none",
            points=self._points(),
            speed=speed,
        )

    def _events(self) -> tuple[SceneEvent, ...]:
        """Events that occurred: those that the run was asked to watch, and those that it found unasked."""
        if not isinstance(self.run, Trajectory):
            return ()
        return tuple(SceneEvent(name, found.t) for name, found in self.run.events.items() if len(found))

    def _points(self) -> tuple[tuple[str, str, sh.Vector], ...]:
        """Named points of all bodies, each once: the last name of a place is the plainest."""
        found: dict[tuple[str, sh.Vector], str] = {}
        for body in self.model.bodies:
            for name, place in body.named_points().items():
                found[body.name, self._numbers(place)] = f"{body.name} {name}"
        return tuple((label, body, at) for (body, at), label in found.items())

    def _traced(self, text: str) -> tuple[str, sh.Vector]:
        """A point given as ``body.point`` or as a body, whose tip or mass centre it is."""
        body, _, name = text.rpartition(".") if "." in text else (text, "", "")
        known = {b.name: b.named_points() for b in self.model.bodies}
        if body not in known:
            raise UsageError(f'trace: there is no body "{body}"; {available(known)}')
        name = name or next(n for n in ("tip", "center") if n in known[body])
        if name not in known[body]:
            raise UsageError(f'trace: body "{body}" has no point "{name}"; {available(known[body])}')
        return body, self._numbers(known[body][name])

    def _pins(self, body: str) -> list[sh.Vector]:
        """Points of a body about which other bodies turn."""
        found = []
        for joint in self.model.joints:
            if joint.parent.body != body or not _is_pin(joint):
                continue
            place = place_of(self.model, joint.parent)
            if not any("t" in parse(x).names for x in place):
                found.append(self._numbers(place))
        return found

    def _account(self) -> list[str]:
        run = self.run
        if not isinstance(run, Trajectory):
            return []
        scale = f"{run.energy.scale:.4g} {self.model.unit_names.energy}"
        return [f"{run.outcome}; {run.steps} steps; energy drift {run.energy_drift:.2g} of {scale}"]

    def _numbers(self, vector: Any, t: float | None = None) -> tuple[float, float, float]:
        values = self.values if t is None else self.values | {"t": t}
        x, y, z = (parse(e).evaluate(values) for e in vector)
        return x, y, z

    def _shape(self, shape: ModelShape) -> sh.Shape:
        points = tuple(self._numbers(p) for p in shape.points)
        radius = parse(shape.radius).evaluate(self.values)
        match shape.kind:
            case "rod":
                return sh.Rod(points[0], points[-1], radius)
            case "point":
                return sh.Point(points[0], radius)
            case "sphere":
                return sh.Sphere(points[0], radius)
            case "disc":
                return sh.Disc(points[0], self._numbers(shape.normal), radius)
            case "ring":
                return sh.Ring(points[0], self._numbers(shape.normal), radius)
            case "box":
                return sh.Box(points[0], self._numbers(shape.size))
            case "polyline":
                return sh.Polyline(points)
            case kind:
                assert_never(kind)

    def _ground(self, support: str) -> list[SceneBody]:
        """Pivots and rails; a moving pivot is a separate body."""
        count = len(self.t)
        still: list[sh.Shape] = []
        moving: list[SceneBody] = []
        turned = np.broadcast_to(np.eye(3), (count, 3, 3))
        for joint in self.model.joints:
            for side in (joint.parent, joint.child):
                if side.body != GROUND or (isinstance(joint, TreeJoint) and len(joint.speeds()) == 6):
                    continue  # a free joint has no pivot
                if side.position is not None and any("t" in parse(x).names for x in side.position):
                    path = np.array([self._numbers(side.position, float(t)) for t in self.t])
                    moving.append(SceneBody(f"base of {joint.name}", (sh.Pivot(),), path, turned))
                elif isinstance(joint, TreeJoint) and (slide := rail_of(joint)) is not None:
                    still.append(self._rail(joint, slide))
                else:
                    at = self._numbers(side.position) if side.position else (0.0, 0.0, 0.0)
                    still.append(sh.Pivot(at, support))
        still += [sh.Polyline(ends) for ends in self._walls()]
        ground = SceneBody(GROUND, tuple(still), np.zeros((count, 3)), turned)
        return [ground, *moving] if still else moving

    def _rail(self, joint: TreeJoint, slide: Slide) -> sh.Shape:
        """A line along which the body slides, slightly longer than the motion."""
        start = np.array(self._numbers(joint.parent.position) if joint.parent.position else (0.0, 0.0, 0.0))
        axis = np.array(self._numbers(slide.axis))
        if joint.parent.rotation is not None:
            axis = turned(quaternion_of(joint.parent.rotation, self.values), axis)
        axis /= np.linalg.norm(axis)
        along = (self.r[:, self.index[joint.child.body]] - start) @ axis
        low, high = float(along.min()), float(along.max())
        margin = 0.15 * (high - low) + 0.3
        ends = [start + axis * s for s in (low - margin, high + margin)]
        return sh.Polyline(tuple((float(p[0]), float(p[1]), float(p[2])) for p in ends))

    def _path(self, side: Side) -> Array:
        """World positions of a point over time."""
        if side.body == GROUND:
            vector = side.position or (0, 0, 0)
            if any("t" in parse(x).names for x in vector):
                return np.array([self._numbers(vector, float(t)) for t in self.t])
            return np.broadcast_to(np.array(self._numbers(vector)), (len(self.t), 3))
        k = self.index[side.body]
        return self.r[:, k] + self.R[:, k] @ np.array(self._numbers(place_of(self.model, side)))

    def _links(self) -> list[SceneLink]:
        links = []
        for force in self.model.forces:
            for action in force.actions() if force.drawn_as else ():
                if isinstance(action, Between):
                    links.append(SceneLink(force.drawn_as, self._path(action.start), self._path(action.end)))
        for spring in self.springs:
            if not spring.turns:
                begin = self._path(spring.joint.parent) - spring.back * self._turned(
                    spring.joint.parent.body, spring.axis
                )
                links.append(SceneLink(spring.kind, begin, self._path(spring.joint.child)))
        for joint in self.model.tree:
            if joint.parent.body == GROUND and any(isinstance(step, Shift) for step in joint.steps()):
                start, end = self._path(joint.parent), self.r[:, self.index[joint.child.body]]
                length = np.linalg.norm(end - start, axis=1)
                if np.ptp(length) < 1e-6 * length.max(initial=0.0):  # a string has constant length, a wire does not
                    links.append(SceneLink("string", start, end))
        return links

    def _turned(self, body: str, vector: sh.Vector) -> Array:
        """A vector of a body in world axes, over time."""
        if body == GROUND:
            return np.broadcast_to(np.array(vector), (len(self.t), 3))
        return self.R[:, self.index[body]] @ np.array(vector)

    def _walls(self) -> list[tuple[sh.Vector, ...]]:
        """Walls on the ground at which coil springs begin."""
        found: list[tuple[sh.Vector, ...]] = []
        for spring in self.springs:
            side = spring.joint.parent
            if not spring.turns and side.body == GROUND and not any("t" in parse(x).names for x in side.position or ()):
                begin = np.array(self._numbers(side.position or (0, 0, 0))) - spring.back * np.array(spring.axis)
                ends = spring.wall(begin, self.length).tolist()
                found.append(tuple((x, y, z) for x, y, z in ends))
        return found

    def _spirals(self, names: list[str], support: str, vertical: Array) -> list[SceneSpiral]:
        """Torsion springs; on the ground, their outer ends point to the side of the support."""
        found = []
        for spring in self.springs:
            if not spring.turns:
                continue
            side = spring.joint.parent
            base = f"base of {spring.joint.name}"
            outer = names.index(base if base in names else side.body)
            arm = spring.parent_arm or ground_arm(spring.axis, support, vertical)
            inner = spring.joint.child
            at = self._numbers(place_of(self.model, inner))
            found.append(SceneSpiral(outer, names.index(inner.body), at, spring.axis, arm, spring.child_arm))
        return found


def _is_pin(joint: Joint) -> bool:
    """Whether the bodies of a joint turn about one of its points."""
    if isinstance(joint, TreeJoint):
        steps = joint.steps()
        return bool(steps) and all(isinstance(step, (Turn, TurnBall)) for step in steps)
    rows = joint.rows() if isinstance(joint, ClosingJoint) else ()
    turns = 3 - sum(isinstance(row, Perpendicular) for row in rows)
    return turns > 0 and any(isinstance(row, SamePoint) for row in rows)


def _is_end(at: sh.Vector, shapes: Sequence[sh.Shape]) -> bool:
    """Whether a rod ends at this point, where the page draws a joint anyway."""
    ends = [end for shape in shapes if isinstance(shape, sh.Rod) for end in (shape.start, shape.end)]
    return any(np.allclose(at, end, rtol=0, atol=1e-9) for end in ends)


def support_side(system: System, parameters: Array, up: Array) -> str:
    """The side of the ground at supports: below if the bodies stand on them at the initial state, else above.

    The initial state of the model decides for all pictures of a mechanism, so that supports look the same in all.
    """
    pivots = [joint.parent for joint in system.model.tree if joint.parent.body == GROUND]
    start = system.in_joints.place_state(system.in_joints.initial_state(parameters), parameters)
    R, r = system.poses(start.q[None], np.zeros(1), parameters=parameters)
    values = dict(zip(system.layout.parameters, parameters.tolist(), strict=True))
    where: Array = [[parse(x).evaluate(values | {"t": 0.0}) for x in side.position or (0, 0, 0)] for side in pivots]
    centres = []
    for k, name in enumerate(system.layout.bodies):
        com = system.model.body(name).mass_properties().com
        centres.append(r[0, k] + R[0, k] @ np.array([parse(x).evaluate(values) for x in com]))
    if not where or not centres or not np.any(up):
        return ""
    heights, supports = np.array(centres) @ up, np.array(where) @ up
    size = float(np.ptp(np.concatenate([heights, supports]))) or 1.0
    return "below" if heights.mean() > supports.mean() + 0.05 * size else "above"


def rail_of(joint: TreeJoint) -> Slide | None:
    """The only slide of a joint, if its direction is constant: all rotations before it are about the same axis."""
    steps = joint.steps()
    slides = [step for step in steps if isinstance(step, Slide)]
    if len(slides) != 1 or any(isinstance(step, Shift) for step in steps):
        return None
    before = steps[: steps.index(slides[0])]
    fixed = all(isinstance(step, Turn) and step.axis == slides[0].axis for step in before)
    return slides[0] if fixed else None
