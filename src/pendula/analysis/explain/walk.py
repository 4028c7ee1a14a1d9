"""Poses of all bodies by numbers alone: matrices multiplied along the joints, without symbolic equations.

This is what positions in a story are compared with, and where its drawings take frames and angles from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.symmetry.geometry import Geometry, turned_by
from pendula.errors import NotSupported
from pendula.model.bodies import GROUND
from pendula.model.expressions.expression import parse
from pendula.model.joints import Side, TreeJoint
from pendula.model.joints.steps import Shift, Slide, Turn, TurnBall
from pendula.model.model import Model
from pendula.system.orientation.maps import matrix_of, to_quaternion

Array = Any


@dataclass(frozen=True)
class Frame:
    """Rotation matrix to world axes and origin in world axes."""

    R: Array
    r: Array


@dataclass(frozen=True)
class Turned:
    """One rotation of a joint: frames before and after it, its axis in the former, its angle in radians, its text."""

    joint: str
    before: Frame
    after: Frame
    axis: Array
    angle: float
    text: str
    absolute: bool


@dataclass(frozen=True)
class Walk:
    """Frames of all bodies and the rotations on the way."""

    frames: Mapping[str, Frame]
    turns: tuple[Turned, ...]
    values: Mapping[str, float]

    def point(self, model: Model, side: Side) -> Array:
        """World position of a side of a joint or force."""
        frame = self.frames[side.body]
        return frame.r + frame.R @ Geometry(model, self.values).point(side)


def walk(model: Model, state: Mapping[str, float], t: float = 0.0) -> Walk:
    """Frames of all bodies for coordinates by name.

    Example:
        >>> from pendula import library
        >>> walk(library.pendulum(), {"theta": np.pi / 2}).frames["link"].R[:, 1].round(12).tolist()
        [-1.0, 0.0, 0.0]
    """
    values = {**model.parameter_values, "t": t, **state}
    frames: dict[str, Frame] = {GROUND: Frame(np.eye(3), np.zeros(3))}
    turns: list[Turned] = []
    for joint in model.tree:
        for name, value in joint.prescribed().items():
            values[name] = parse(value).evaluate(values)
        here = _side_frame(model, frames[joint.parent.body], joint.parent, values)
        for step in joint.steps():
            here = _step(joint, here, step, values, turns)
        back = _side_frame(model, Frame(np.eye(3), np.zeros(3)), joint.child, values)
        R = here.R @ back.R.T
        frames[joint.child.body] = Frame(R, here.r - R @ back.r)
    return Walk(frames, tuple(turns), values)


def numbers(vector: Any, values: Mapping[str, float]) -> Array:
    """A vector of expressions as numbers."""
    return np.array([parse(x).evaluate(values) for x in vector], dtype=float)


def rotation(axis: Array, angle: float) -> Array:
    """Rotation matrix about an axis of any length."""
    return turned_by(axis / np.linalg.norm(axis), angle)


def _side_frame(model: Model, frame: Frame, side: Side, values: Mapping[str, float]) -> Frame:
    """The frame of a joint's side: at its point, rotated."""
    point, R = Geometry(model, values).side(side)
    return Frame(frame.R @ R, frame.r + frame.R @ point)


def _step(joint: TreeJoint, here: Frame, step: Any, values: Mapping[str, float], turns: list[Turned]) -> Frame:
    match step:
        case Slide(axis, distance):
            along = numbers(axis, values)
            return Frame(here.R, here.r + here.R @ along / np.linalg.norm(along) * parse(distance).evaluate(values))
        case Shift(vector):
            return Frame(here.R, here.r + here.R @ numbers(vector, values))
        case Turn(axis, angle, absolute):
            about, by = numbers(axis, values), parse(angle).evaluate(values)
            before = Frame(np.eye(3), here.r) if absolute else here
            after = Frame(before.R @ rotation(about, by), here.r)
            turns.append(Turned(joint.name, before, after, about, by, str(angle), absolute))
            return after
        case TurnBall(chart, coordinates=names):
            turn = to_quaternion(chart, [values[name] for name in names])
            return Frame(here.R @ matrix_of(turn), here.r)
    raise NotSupported(refusals.STEP_UNEXPLAINED, joint=joint.name, step=type(step).__name__)
