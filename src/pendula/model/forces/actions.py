"""Where and how forces act: the few primitive actions that every formulation and engine understands.

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
    """A pull along the line between two points, equal and opposite; x of its law is their distance."""

    start: Side
    end: Side
    law: Law
    fields: Mapping[str, Scalar]
    """values of the fields that the law uses"""


@dataclass(frozen=True)
class Across:
    """A force or torque between the two sides of a joint; x of its law is a coordinate of the joint."""

    joint: str
    coordinate: str | None
    """None for a joint that has one coordinate only"""
    law: Law
    fields: Mapping[str, Scalar]


@dataclass(frozen=True)
class AcrossAll:
    """The same across every coordinate of a joint; a ball joint takes a drag proportional to its angular velocity."""

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
    """A value that acts on one coordinate or angular speed; its power is the value times the rate."""

    coordinate: str
    value: Scalar


Action = Between | Across | AcrossAll | Push | Twist | Spin | OnCoordinate
