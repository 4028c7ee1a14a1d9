"""Constraint rows: the template of a closing joint.

A closing joint lists constraints between the frame on its parent side and the frame on its child side. They determine
the constraint rows of all formulations, the motion subspace of the joint and its reactions. A direction is a direction
field of the joint (it may use parameters), or one of the two :func:`normals` of such a field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pendula.model.joints.steps import Entries


@dataclass(frozen=True)
class Normal:
    """The first or second of two unit vectors that form a right-handed frame with ``axis``."""

    axis: Entries
    number: Literal[1, 2]


Along = Entries | Normal


@dataclass(frozen=True)
class SamePoint:
    """The points of the two sides coincide: no gap along x, y and z of the world."""


@dataclass(frozen=True)
class NoGap:
    """The child's point has no gap to the parent's point along a direction fixed in the parent side.

    ``label`` completes the name of the row, "gap along ...".
    """

    direction: Along
    label: str


@dataclass(frozen=True)
class Perpendicular:
    """A direction of the parent side stays perpendicular to a direction of the child side."""

    parent: Along
    child: Along
    label: str


@dataclass(frozen=True)
class Coupled:
    """An expression of coordinates and parameters stays zero; it needs no sides."""

    value: int | float | str
    label: str


ClosingRow = SamePoint | NoGap | Perpendicular | Coupled


def normals(axis: Entries) -> tuple[Normal, Normal]:
    """Two unit vectors perpendicular to an axis and to each other."""
    return Normal(axis, 1), Normal(axis, 2)
