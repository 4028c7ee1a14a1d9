"""A linear damper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pendula.model.base import Scalar
from pendula.model.forces.base import ForceBetweenOrAcross
from pendula.model.forces.law import Law


class ForceDamper(ForceBetweenOrAcross):
    """A damper between two points, or across a joint."""

    type: Literal["damper"] = "damper"
    damping: Scalar

    law = Law(drag="damping*rate")
    units: ClassVar[Mapping[str, str]] = {"damping": "pull time/x"}
    drawn_as = "damper"
