"""A torque on a body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pendula.model.base import Vector
from pendula.model.forces.actions import Action, Twist
from pendula.model.forces.base import ForceOnBody


class ForceTorque(ForceOnBody):
    """A torque on a body, in world or body axes; its entries may be expressions."""

    type: Literal["torque"] = "torque"
    vector: Vector
    axes: Literal["world", "body"] = "world"

    units: ClassVar[Mapping[str, str]] = {"vector": "torque"}

    def actions(self) -> tuple[Action, ...]:
        """The torque."""
        return (Twist(self.body, self.vector, self.axes),)
