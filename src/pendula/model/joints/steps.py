"""Steps: the template of a joint's motion.

A tree joint describes how its child-side frame moves by a short list of steps. Each step acts in the axes of the
frame as the steps before have left it. Entries are scalars of the model language: numbers, or text such as
``"2*(pitch)*angle"`` that may use parameters, the joint's coordinates and time t. Poses, all formulations, the
recursion and the drawings are derived from these steps.
"""

from __future__ import annotations

from dataclasses import dataclass

Entry = int | float | str
"""A number, or an expression as text."""

Entries = tuple[Entry, Entry, Entry]

AXES: dict[str, tuple[int, int, int]] = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
"""Unit vectors of a frame by name."""


@dataclass(frozen=True)
class Slide:
    """Moves the frame along ``axis`` by ``distance``. The axis depends on parameters only."""

    axis: Entries
    distance: Entry


@dataclass(frozen=True)
class Shift:
    """Moves the frame by a vector of expressions."""

    vector: Entries


@dataclass(frozen=True)
class Turn:
    """Turns the frame about ``axis`` by ``angle`` [rad]. The axis depends on parameters only.

    With ``absolute`` the angle is measured from ground instead of from the parent side. This needs a planar
    mechanism, and the turn must be the joint's only step.
    """

    axis: Entries
    angle: Entry
    absolute: bool = False


@dataclass(frozen=True)
class TurnQuaternion:
    """Turns the frame by a unit quaternion, scalar first; ``omega`` are the speeds: angular velocity in turned axes."""

    quaternion: tuple[str, str, str, str]
    omega: tuple[str, str, str]


Step = Slide | Shift | Turn | TurnQuaternion


def turns(sequence: str, angles: tuple[Entry, ...]) -> tuple[Turn, ...]:
    """Turns about the axes named by the letters of a sequence, one after the other (intrinsic).

    Example:
        >>> [step.angle for step in turns("zx", ("a", 0.5))]
        ['a', 0.5]
    """
    return tuple(Turn(AXES[letter], angle) for letter, angle in zip(sequence, angles, strict=True))
