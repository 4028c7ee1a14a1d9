"""A generalized force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pendula.model.base import Name, Scalar
from pendula.model.forces.actions import Action, OnCoordinate
from pendula.model.forces.base import Force


class ForceGeneralized(Force):
    """A generalized force on one coordinate: an expression of t, coordinates, speeds, parameters and inputs.

    Its power is the value times the coordinate's rate.
    """

    type: Literal["generalized"] = "generalized"
    coordinate: Name
    value: Scalar

    units: ClassVar[Mapping[str, str]] = {"value": "pull"}

    def actions(self) -> tuple[Action, ...]:
        """The value on its coordinate."""
        return (OnCoordinate(self.coordinate, self.value),)
