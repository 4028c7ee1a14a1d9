"""Viscous friction in a joint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pendula.model.base import Scalar
from pendula.model.forces.base import ForceInJoint
from pendula.model.forces.law import Law


class ForceFriction(ForceInJoint):
    """Viscous friction in a joint: -coefficient times every speed of the joint."""

    type: Literal["friction"] = "friction"
    coefficient: Scalar

    law = Law(drag="coefficient*rate")
    units: ClassVar[Mapping[str, str]] = {"coefficient": "pull time/x"}
