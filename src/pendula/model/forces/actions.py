"""Where and how forces act: the primitive actions that every formulation and engine supports.

A type of force states its actions in the language of model files; :mod:`pendula.equations.loads` translates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pendula.model.base import Scalar, Vector
from pendula.model.forces.law import Law
from pendula.model.joints import Side


@dataclass(frozen=True)
class Between:
    """Equal and opposite forces along the line between two points; x of the law is their distance."""

    start: Side
    end: Side
    law: Law
    fields: Mapping[str, Scalar]
    """values of the fields in the law"""


@dataclass(frozen=True)
class Across:
    """A force or torque between the two sides of a joint; x of the law is a coordinate of the joint."""

    joint: str
    coordinate: str | None
    """None for a joint with one coordinate"""
    law: Law
    fields: Mapping[str, Scalar]


@dataclass(frozen=True)
class AcrossAll:
    """The same for every coordinate of a joint; in a ball joint, drag proportional to the angular velocity."""

    joint: str
    law: Law
    fields: Mapping[str, Scalar]


@dataclass(frozen=True)
class Push:
    """A force on a body at a named point, at a position in body axes, or at its origin."""

    body: str
    vector: Vector
    axes: Literal["world", "body"] = "world"
    at: str | None = None
    position: Vector | None = None


@dataclass(frozen=True)
class Twist:
    """A torque on a body."""

    body: str
    vector: Vector
    axes: Literal["world", "body"] = "world"


@dataclass(frozen=True)
class Spin:
    """A force coefficient * omega x e at a point of a body (default: its mass centre).

    e is the unit vector from the body's origin to the point. A ``dissipative`` force has the opposite sign.
    """

    body: str
    coefficient: Scalar
    dissipative: bool
    at: str | None = None
    position: Vector | None = None


@dataclass(frozen=True)
class OnCoordinate:
    """A generalized force on one coordinate or angular speed; its power is the value times the rate."""

    coordinate: str
    value: Scalar


Action = Between | Across | AcrossAll | Push | Twist | Spin | OnCoordinate
