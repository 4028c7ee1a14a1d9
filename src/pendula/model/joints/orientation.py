"""Charts of an orientation: a quaternion, three angles in any sequence, or a rotation vector.

A chart says which coordinates describe a rotation. The generalized speeds are a separate choice: the rates of the
coordinates, or the angular velocity in body axes or in the axes of the parent side.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from pendula.model.names import quote
from pendula.model.problems import shown

Axes = Literal["rates", "body", "parent"]
"""Generalized speeds: rates of the coordinates, or the angular velocity in body axes or in those of the parent side."""

QUATERNION, ROTATION_VECTOR = "quaternion", "rotation vector"
SPACE = "space "
NAMED = {"euler": "zxz", "cardan": "xyz", "bryan": "xyz", "yaw-pitch-roll": "zyx"}
"""Named sequences, all about body-fixed axes: the classical Euler angles (precession, nutation,
spin), Cardan or Bryan angles, and the angles of vehicles"""


@dataclass(frozen=True)
class Chart:
    """Coordinates of an orientation.

    Attributes:
        name: as in the model: ``"quaternion"``, ``"rotation vector"``, ``"zyz"``, ``"space zyx"``, ``"cardan"``.
        letters: axes of the three rotations in the order of the coordinates; empty for the other charts.
        space: whether the rotations are about axes fixed in the parent side instead of in the body.
    """

    name: str
    letters: str = ""
    space: bool = False

    @property
    def count(self) -> int:
        """Number of coordinates."""
        return 4 if self.name == QUATERNION else 3

    @property
    def is_sequence(self) -> bool:
        """Whether the coordinates are angles of three successive rotations."""
        return bool(self.letters)

    @property
    def order(self) -> tuple[int, int, int]:
        """Numbers of the coordinates in the order of rotations about body-fixed axes.

        A sequence about fixed axes is the reversed sequence about body-fixed axes.
        """
        return (2, 1, 0) if self.space else (0, 1, 2)

    @property
    def body_letters(self) -> str:
        """Axes of the equivalent rotations about body-fixed axes, in their order."""
        return "".join(self.letters[k] for k in self.order) if self.letters else ""

    @property
    def repeats(self) -> bool:
        """Whether the first and the last rotation are about the same axis, as in "zyz"."""
        return self.letters[:1] == self.letters[2:]

    def __str__(self) -> str:
        return self.name


def chart_named(text: str) -> Chart:
    """The chart of an orientation by its name in a model.

    Example:
        >>> chart_named("space xyz").body_letters, chart_named("cardan").letters
        ('zyx', 'xyz')
    """
    if text in (QUATERNION, ROTATION_VECTOR):
        return Chart(text)
    letters = NAMED.get(text, text.removeprefix(SPACE))
    return Chart(text, letters, text.startswith(SPACE))


def check_orientation(value: Any) -> Any:
    """Returns the name of a chart; raises ValueError for anything else."""
    if type(value) is not str:
        raise ValueError(f'must be letters in quotes, such as "zyz", or "quaternion", found {shown(value)}')
    if value in (QUATERNION, ROTATION_VECTOR, *NAMED):
        return value
    letters = value.removeprefix(SPACE)
    if len(letters) != 3 or any(a not in "xyz" for a in letters):
        others = ", ".join(quote(name) for name in (QUATERNION, ROTATION_VECTOR, *NAMED))
        raise ValueError(
            f"must be three of the letters x, y, z, found {quote(value)}; try: "
            f'"zyz" (about body-fixed axes), "space zyz" (about fixed axes), {others}'
        )
    if any(a == b for a, b in pairwise(letters)):
        raise ValueError(f"{quote(value)} rotates about the same axis twice in succession")
    return value


OrientationName = Annotated[str, BeforeValidator(check_orientation)]
