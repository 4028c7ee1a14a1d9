"""Everything that acts on the bodies besides gravity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.crossings.oracle.frames import Frame, Vector, cross
from tests.crossings.oracle.jets import Jet
from tests.crossings.oracle.joints import GROUND, Joint, Now, Side
from tests.crossings.oracle.solids import Solid
from tests.crossings.oracle.texts import Array, Values, number, padded


@dataclass
class Applied:
    """Loads at an instant: on bodies from outside, and inside joints."""

    count: int
    forces: list[tuple[str, Vector, Array]] = field(default_factory=list)
    """body, point and force in world axes; also on ground, whose points may move"""
    torques: list[tuple[str, Frame, Array]] = field(default_factory=list)
    inside: dict[str, Array] = field(default_factory=dict)
    """joint -> generalized forces on all speeds from springs, friction and the like between its two sides"""
    pulls: dict[str, float] = field(default_factory=dict)
    """joint with an absolute angle -> the torque of these along its axis"""
    from_ground: list[tuple[Joint, float, Array]] = field(default_factory=list)
    """generalized forces on absolute angles: joint, torque about its axis, generalized forces"""
    potential: float = 0.0
    power: float = 0.0
    """of everything that has no potential"""

    def generalized(self) -> Array:
        """Generalized forces on all speeds."""
        Q = np.zeros(self.count)
        for _, point, F in self.forces:
            Q = Q + F @ point.J
        for _, frame, T in self.torques:
            Q = Q + T @ frame.Jw
        for own in self.inside.values():
            Q = Q + own
        for _, _, own in self.from_ground:
            Q = Q + own
        return Q

    def across(self, joint: Joint, x: Jet, elastic: float, drag: float, potential: float) -> None:
        """A force that opposes a coordinate of a joint."""
        self._inside(joint, -(elastic + drag) * x.g)
        if joint.absolute:
            self.pulls[joint.name] = self.pulls.get(joint.name, 0.0) - elastic - drag
        self.potential += potential
        self.power -= drag * x.d

    def _inside(self, joint: Joint, Q: Array) -> None:
        self.inside[joint.name] = self.inside.get(joint.name, np.zeros(self.count)) + Q

    def on_speed(self, joint: Joint, Q: Array, power: float) -> None:
        """A generalized force, as a row by all speeds."""
        if joint.absolute:
            self.from_ground.append((joint, float(Q[joint.columns[joint.speed_names[0]]]), Q))
        else:
            self._inside(joint, Q)
        self.power += power

    def push(self, body: str, point: Vector, F: Array, *, potential: bool = False) -> None:
        """A force at a point."""
        self.forces.append((body, point, F))
        self.power += 0.0 if potential else float(F @ point.d)


@dataclass(frozen=True)
class Scene:
    """What loads may look at: the bodies' frames, joints, and values of names."""

    frames: Mapping[str, Frame]
    clock: Mapping[str, Jet]
    now: Now
    names: Mapping[str, float]
    relative: Mapping[str, Jet]
    """joint with an absolute angle -> its angle between the two sides"""
    speeds: Mapping[str, float]


class Value:
    """A field that may use everything; one that uses parameters only is read once."""

    def __init__(self, value: Any, values: Values) -> None:
        self.constant = values.scalar(value) if values.is_constant(value) else None
        self.text = value

    def at(self, scene: Scene) -> float:
        return number(self.text, scene.names) if self.constant is None else self.constant


class Load:
    """A force of the model."""

    def __init__(
        self, data: Mapping[str, Any], values: Values, solids: Mapping[str, Solid], joints: Sequence[Joint]
    ) -> None:
        self.data, self.type = data, str(data["type"])
        self.joint = next((j for j in joints if j.name == data.get("joint")), None)
        self.solid = solids.get(str(data.get("body")))
        self.ends = [Side(data[key], values, solids) for key in ("from", "to")] if "from" in data else []
        self.fields = {key: Value(data.get(key, 0), values) for key in _FIELDS if key in data or key not in _ENDS}
        self.vector = [Value(x, values) for x in padded(data.get("vector", (0, 0, 0)))]
        self.place = self._placed(values)
        self.owner = next((j for j in joints if data.get("coordinate") in (*j.names, *j.speed_names)), None)

    def _placed(self, values: Values) -> Array | None:
        if "position" in self.data:
            return values.vector(self.data["position"])
        return self.solid.points[self.data["at"]] if "at" in self.data and self.solid else None

    def apply(self, scene: Scene, to: Applied) -> None:
        """Adds what it does at an instant."""
        match self.type:
            case "spring" | "damper" | "torsion-spring" if self.ends:
                self._between(scene, to)
            case "spring" | "damper" | "torsion-spring" | "joint-limit":
                assert self.joint is not None
                # docs/model.md: "coordinate of the joint; needed if it has several"
                self._across(scene, to, self.joint, self.data.get("coordinate", self.joint.names[0]))
            case "friction":
                self._friction(scene, to)
            case "force" | "torque" | "com-friction" | "spin-drive":
                self._on_body(scene, to)
            case "generalized":
                self._generalized(scene, to)
            case other:
                raise ValueError(f"force of type {other} is not known")

    def _field(self, name: str, scene: Scene) -> float:
        return self.fields[name].at(scene)

    def _between(self, scene: Scene, to: Applied) -> None:
        """A spring or damper between two points; tension is positive."""
        start, end = (_point(side, scene) for side in self.ends)
        gap = end - start
        length = float(np.linalg.norm(gap.x))
        along = gap.x / length
        rate = float(gap.d @ along)
        stretch = length - self._field("length", scene)
        stiffness, drag = self._field("stiffness", scene), self._field("damping", scene) * rate
        for side, point, sign in zip(self.ends, (start, end), (1, -1), strict=True):
            to.push(side.body, point, sign * (stiffness * stretch + drag) * along, potential=True)
        to.potential += stiffness * stretch**2 / 2
        to.power -= drag * rate

    def _across(self, scene: Scene, to: Applied, joint: Joint, name: str) -> None:
        """A spring, damper or stop on a coordinate."""
        # docs/conventions.md, section 4: across an absolute angle the angle of a spring is the relative one. Of dampers,
        # friction and stops the docs do not say it; src measures all of them between the two sides.
        x = scene.relative[joint.name] if joint.absolute else scene.now.jet(name)
        if self.type == "joint-limit":
            k, c = self._field("stiffness", scene), self._field("dissipation", scene)
            for end, outward in (("upper", 1.0), ("lower", -1.0)):
                if end not in self.fields:
                    continue
                depth = outward * (x.x - self._field(end, scene))
                if depth > 0:
                    total = max(k * depth * (1 + c * outward * x.d), 0.0)  # never pulls
                    to.across(joint, x, outward * k * depth, outward * (total - k * depth), k * depth**2 / 2)
            return
        rest = self._field("rest" if self.type == "torsion-spring" else "length", scene)
        k, drag = self._field("stiffness", scene), self._field("damping", scene) * x.d
        to.across(joint, x, k * (x.x - rest), drag, k * (x.x - rest) ** 2 / 2)

    def _friction(self, scene: Scene, to: Applied) -> None:
        """Opposes the rates of all coordinates; of an orientation with angular velocities, the angular velocity."""
        joint, c = self.joint, self._field("coefficient", scene)
        assert joint is not None
        for name in joint.rated:
            x = scene.relative[joint.name] if joint.absolute else scene.now.jet(name)
            to.across(joint, x, 0.0, c * x.d, 0.0)
        for name in joint.speed_names[len(joint.rated) :]:
            row, w = np.zeros(to.count), scene.speeds[name]
            row[joint.columns[name]] = -c * w
            to.on_speed(joint, row, -c * w * w)

    def _on_body(self, scene: Scene, to: Applied) -> None:
        assert self.solid is not None
        body, frame = self.solid.name, scene.frames[self.solid.name]
        if self.type in ("force", "torque"):
            vector = np.array([x.at(scene) for x in self.vector])
            vector = frame.R @ vector if self.data.get("axes", "world") == "body" else vector
            if self.type == "torque":
                to.torques.append((body, frame, vector))
                to.power += float(vector @ frame.w)
                return
            # docs/model.md does not say where a force without a point acts; src: at the body's origin
            to.push(body, frame.at(np.zeros(3) if self.place is None else self.place), vector)
            return
        # docs/model.md gives the planar form, coefficient theta_dot theta_hat; src: in space, coefficient omega x e with
        # the unit vector e from the body's origin to the point; a spin-drive without a point acts at the mass centre
        sign = -1.0 if self.type == "com-friction" else 1.0
        place = self.solid.com if self.place is None or self.type == "com-friction" else self.place
        arm = frame.R @ (place / float(np.linalg.norm(place)))
        to.push(body, frame.at(place), sign * self._field("coefficient", scene) * cross(frame.w, arm))

    def _generalized(self, scene: Scene, to: Applied) -> None:
        name, value = str(self.data["coordinate"]), self._field("value", scene)
        assert self.owner is not None
        if name in self.owner.names:
            x = scene.now.jet(name)
            to.on_speed(self.owner, value * x.g, value * x.d)
            return
        row = np.zeros(to.count)
        row[self.owner.columns[name]] = value
        to.on_speed(self.owner, row, value * scene.speeds[name])


_ENDS = ("lower", "upper")
_FIELDS = ("stiffness", "damping", "length", "rest", "coefficient", "dissipation", "value", *_ENDS)


def _point(side: Side, scene: Scene) -> Vector:
    frame = side.frame(scene.frames, scene.clock) if side.body == GROUND else scene.frames[side.body]
    return frame.at(np.zeros(3) if side.body == GROUND else side.place)
