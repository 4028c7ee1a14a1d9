"""Joints that place bodies: coordinates, speeds, and the motion from the parent side to the child side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.crossings.oracle.charts import AXES, Quaternion, RotationVector, Sequence, chart_named
from tests.crossings.oracle.frames import Frame, rotation
from tests.crossings.oracle.jets import Formula, Jet
from tests.crossings.oracle.solids import Solid
from tests.crossings.oracle.texts import Array, Values, padded

CLOSING = ("coincident", "point-on-line", "loop", "coupling")
GROUND = "ground"
Turns = list[tuple[Array, Any]]
"""axis and angle of every elementary rotation"""


def turns_of(data: Mapping[str, Any] | None, values: Values) -> Turns:
    """Elementary rotations of a rotation field, in the current axes."""
    if not data:
        return []
    if "sequence" in data:
        return [(AXES[letter], angle) for letter, angle in zip(data["sequence"], data["angles"], strict=True)]
    return [(values.direction(data["axis"]), data["angle"])]


class Side:
    """A side of a joint or force: a body, a point of it, and the rotation of the frame there."""

    def __init__(self, data: Any, values: Values, solids: Mapping[str, Solid]) -> None:
        data = {"body": data} if isinstance(data, str) else data
        self.body = str(data["body"])
        self.moving: list[Formula] | None = None
        place: Any = padded(data.get("position", (0, 0, 0)))
        if self.body == GROUND and not all(map(values.is_constant, place)):
            self.moving, self.place = [Formula(x) for x in place], np.zeros(3)
        elif "at" in data and self.body != GROUND:
            self.place = solids[self.body].points[data["at"]]
        else:
            self.place = values.vector(place)
        turns = [(axis, values.scalar(angle)) for axis, angle in turns_of(data.get("rotation"), values)]
        self.R, self.angle = np.eye(3), 0.0 if all(a[0] == a[1] == 0 for a, _ in turns) else None
        for axis, angle in turns:
            self.R = self.R @ rotation(axis, angle)
            self.angle = None if self.angle is None else self.angle + float(axis[2]) * angle

    def frame(self, frames: Mapping[str, Frame], clock: Mapping[str, Jet]) -> Frame:
        """The frame of this side."""
        frame = frames[self.body].copy()
        if self.moving is not None:
            frame.slide([x.at(clock) for x in self.moving])
        elif self.place.any():
            frame.fixed_slide(self.place)
        frame.fixed_turn(self.R, self.angle)
        return frame


@dataclass(frozen=True, eq=False)
class Speed:
    """A generalized speed; ``column`` is its place among the slopes."""

    name: str
    column: int
    armature: float


class Ball:
    """The orientation of a joint whose speeds are not the rates of angles."""

    def __init__(self, chart: Quaternion | RotationVector | Sequence, axes: str, names: tuple[str, ...]) -> None:
        self.chart, self.axes, self.names = chart, axes, names


@dataclass(frozen=True)
class Now:
    """Everything that is known at an instant: parameters, t, coordinates as jets as far as they are found."""

    t: float
    q: Mapping[str, float]
    v: Mapping[str, float]
    a: Mapping[str, float]
    jets: dict[str, Jet]
    later: dict[str, Callable[[], None]]
    """coordinates whose rates are solved for when someone asks: angles and quaternions with angular velocities"""

    def jet(self, name: str) -> Jet:
        """A parameter, the time or a coordinate."""
        if name not in self.jets and name in self.later:
            self.later[name]()
        return self.jets[name]


class Lookup(Mapping[str, Jet]):
    """Names of an expression at an instant."""

    def __init__(self, now: Now) -> None:
        self.now = now

    def __getitem__(self, name: str) -> Jet:
        return self.now.jet(name)

    def __iter__(self) -> Any:
        return iter(self.now.jets)

    def __len__(self) -> int:
        return len(self.now.jets)


_KINDS: Mapping[str, tuple[str, ...]] = {
    "fixed": (), "revolute": ("",), "prismatic": ("",), "planar": ("_x", "_y", "_angle"), "universal": ("_1", "_2"),
    "spherical": (), "free": ("_x", "_y", "_z"), "coordinates": (),
}  # fmt: skip


class Joint:
    """A joint that places its child body."""

    def __init__(self, data: Mapping[str, Any], values: Values, solids: Mapping[str, Solid]) -> None:
        self.data, self.name, self.type = data, str(data["name"]), str(data.get("type"))
        self.parent, self.child = (Side(data[key], values, solids) for key in ("parent", "child"))
        endings = _KINDS[self.type]
        self.chart: Quaternion | RotationVector | Sequence | None = None
        axes = "rates"
        if self.type in ("spherical", "free"):
            self.chart = chart_named(str(data.get("orientation", "quaternion")))
            axes = str(data.get("speeds", "body" if isinstance(self.chart, Quaternion) else "rates"))
            endings = (*endings, *self.chart.endings)
        self.names: tuple[str, ...] = tuple(data.get("names") or [self.name + ending for ending in endings])
        if self.type == "coordinates":
            self.names = tuple(data["coordinates"])
        self.ball: Ball | None = None
        if self.chart is not None and (axes != "rates" or isinstance(self.chart, RotationVector)):
            self.ball = Ball(self.chart, axes, self.names[-len(self.chart.endings) :])
        self.turned = self.ball is not None and axes != "rates"
        """whether its last speeds are an angular velocity"""
        rated = self.names[: -len(self.chart.endings)] if self.turned and self.chart else self.names
        self.rated: tuple[str, ...] = rated
        """coordinates whose rates are speeds"""
        self.speed_names = [f"{name}_dot" for name in rated]
        if self.turned:
            self.speed_names += [f"{self.name}_w{x}" for x in "xyz"]
        motion = data.get("motion", {})
        motion = motion if isinstance(motion, Mapping) else {self.names[0]: motion}
        self.motion = {name: Formula(text) for name, text in motion.items()}
        armature = data.get("armature", ())
        armature = armature if isinstance(armature, (list, tuple)) else [armature]
        self.armature = [values.scalar(x) for x in armature] or [0.0] * len(self.speed_names)
        self.absolute = self.type == "revolute" and data.get("measured_from", "parent") == "ground"
        self.axis = values.direction(data.get("axis", (0, 0, 1) if self.type == "revolute" else (1, 0, 0)))
        self.columns: dict[str, int] = {}
        """speed -> column of slopes"""
        self._place = [Formula(x) for x in padded(data.get("position", (0, 0, 0)))]
        self._turns = [(axis, Formula(angle)) for axis, angle in turns_of(data.get("rotation"), values)]

    # -- coordinates

    def read(self, now: Now, count: int) -> None:
        """Adds the jets of its coordinates."""
        for name in self.rated:
            unit = np.zeros(count)
            unit[self.columns[f"{name}_dot"]] = 1.0
            if name in self.motion:
                s = self.motion[name].at(Lookup(now))
                now.jets[name] = Jet(s.x, s.d, s.dd, unit)
            else:
                speed = f"{name}_dot"
                now.jets[name] = Jet(now.q[name], now.v[speed], now.a.get(speed, 0.0), unit)
        if self.turned and self.ball is not None:
            for name in self.ball.names:
                now.later[name] = lambda: self._read_ball(now, count)

    def _read_ball(self, now: Now, count: int) -> None:
        assert self.ball is not None
        q, (_, w, al, slopes) = np.array([now.q[n] for n in self.ball.names]), self._spin(now, count)
        d, dd, by = self.ball.chart.rates(q, w, al)
        for k, name in enumerate(self.ball.names):
            now.jets[name] = Jet(float(q[k]), float(d[k]), float(dd[k]), by[k] @ slopes)

    def _spin(self, now: Now, count: int) -> tuple[Array, Array, Array, Array]:
        """Rotation, angular velocity and acceleration in axes of the parent side, and slopes of the velocity."""
        assert self.ball is not None
        chart, names = self.ball.chart, self.ball.names
        q = np.array([now.q[n] for n in names])
        R, slopes = chart.rotation(q), np.zeros((3, count))
        if not self.turned:
            assert isinstance(chart, RotationVector)
            x = [now.jets[n] for n in names]
            L, qd = chart.map(q), np.array([e.d for e in x])
            slopes[:, [self.columns[f"{n}_dot"] for n in names]] = L
            return R, L @ qd, L @ np.array([e.dd for e in x]) + chart.bias(q, qd), slopes
        own = [f"{self.name}_w{x}" for x in "xyz"]
        # (R w)' = R (w' + w x w): the derivative has the same components in the axes of either side
        axes = R if self.ball.axes == "body" else np.eye(3)
        slopes[:, [self.columns[n] for n in own]] = axes
        w, al = (np.array([x.get(n, 0.0) for n in own]) for x in (now.v, now.a))
        return R, axes @ w, axes @ al, slopes

    # -- motion

    def place(self, frames: Mapping[str, Frame], now: Now, clock: Mapping[str, Jet]) -> tuple[Frame, Jet | None]:
        """The frame of the child body; and its angle relative to the parent side, if it is measured from ground."""
        frame = self.parent.frame(frames, clock)
        relative = None
        if self.absolute:
            q = now.jets[self.names[0]]
            assert frame.theta is not None
            relative = q - frame.theta.times(float(self.axis[2]))
            frame.absolute_turn(self.axis, q)
        else:
            self._move(frame, now)
        back = None if self.child.angle is None else -self.child.angle
        frame.fixed_turn(self.child.R.T, back)
        if self.child.place.any():
            frame.fixed_slide(-self.child.place)
        return frame, relative

    def _move(self, frame: Frame, now: Now) -> None:
        zero = Jet(0.0)
        match self.type:
            case "revolute":
                frame.turn(self.axis, now.jets[self.names[0]])
            case "prismatic":
                frame.slide([now.jets[self.names[0]].times(x) for x in self.axis.tolist()])
            case "planar":
                x, y, angle = (now.jets[name] for name in self.names)
                frame.slide([x, y, zero])
                frame.turn(AXES["z"], angle)
            case "universal":
                for letter, name in zip(self.data.get("sequence", "xy"), self.names, strict=True):
                    frame.turn(AXES[letter], now.jets[name])
            case "spherical" | "free":
                if self.type == "free":
                    frame.slide([now.jets[name] for name in self.names[:3]])
                if self.ball is not None:
                    frame.ball(*self._spin(now, frame.Jw.shape[1]))
                elif isinstance(self.chart, Sequence):
                    names = self.names[-3:]
                    for k, axis in zip(self.chart.order, self.chart.axes, strict=True):
                        frame.turn(axis, now.jets[names[k]])
            case "coordinates":
                names = Lookup(now)
                frame.slide([x.at(names) for x in self._place])
                for axis, angle in self._turns:
                    frame.turn(axis, angle.at(names))
            case "fixed":
                pass
            case other:
                raise ValueError(f"joint {self.name}: type {other} is not known")


def in_tree_order(joints: list[Joint]) -> list[Joint]:
    """Parents before children, otherwise as listed."""
    placed, ordered, waiting = {GROUND}, [], list(joints)
    while waiting:
        found = next(joint for joint in waiting if joint.parent.body in placed)
        waiting.remove(found)
        placed.add(found.child.body)
        ordered.append(found)
    return ordered
