"""Steps: the template of a joint's motion.

A tree joint describes the motion of its child-side frame by a short list of translations and rotations, each in the
current axes of the frame. Entries are scalars of the model language: numbers, or text such as ``"2*(pitch)*angle"``
that may use parameters, the joint's coordinates and time t. Poses, all formulations, the recursion and the drawings
follow from these steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from pendula.model.joints.orientation import Axes, Chart

Entry = int | float | str
"""A number, or an expression as text."""

Entries = tuple[Entry, Entry, Entry]

AXES: dict[str, tuple[int, int, int]] = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
"""Unit vectors of a frame by name."""


@dataclass(frozen=True)
class Slide:
    """Translates the frame along ``axis`` by ``distance``. The axis depends on parameters only."""

    axis: Entries
    distance: Entry


@dataclass(frozen=True)
class Shift:
    """Translates the frame by a vector of expressions."""

    vector: Entries


@dataclass(frozen=True)
class Turn:
    """Rotates the frame about ``axis`` by ``angle`` [rad]. The axis depends on parameters only.

    With ``absolute`` the angle is measured from ground instead of from the parent side. This needs a planar
    mechanism, and the rotation must be the joint's only step.
    """

    axis: Entries
    angle: Entry
    absolute: bool = False


@dataclass(frozen=True)
class TurnBall:
    """Rotates the frame by an orientation in one of its charts.

    Attributes:
        chart: a quaternion (scalar first), a rotation vector, or angles.
        axes: whether the speeds are rates of the coordinates, or the angular velocity in rotated axes ("body") or in
            those before the rotation ("parent").
        coordinates: in the order of the chart.
        speeds: names of the three speeds.
    """

    chart: Chart
    axes: Axes
    coordinates: tuple[str, ...]
    speeds: tuple[str, str, str]


Step = Slide | Shift | Turn | TurnBall


def turns(sequence: str, angles: tuple[Entry, ...]) -> tuple[Turn, ...]:
    """Intrinsic rotations about the axes named by the letters of a sequence.

    Example:
        >>> [step.angle for step in turns("zx", ("a", 0.5))]
        ['a', 0.5]
    """
    return tuple(Turn(AXES[letter], angle) for letter, angle in zip(sequence, angles, strict=True))
