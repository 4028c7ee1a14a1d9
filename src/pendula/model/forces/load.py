"""A force on a body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pendula.model.base import Vector
from pendula.model.forces.actions import Action, Push
from pendula.model.forces.base import ForceAtPoint


class ForceLoad(ForceAtPoint):
    """A force on a body at a point, in world or body axes; its entries may be expressions."""

    type: Literal["force"] = "force"
    vector: Vector
    axes: Literal["world", "body"] = "world"

    units: ClassVar[Mapping[str, str]] = {"vector": "force", "position": "length"}

    def actions(self) -> tuple[Action, ...]:
        """The force at its point."""
        return (Push(self.body, self.vector, self.axes, self.at, self.position),)
