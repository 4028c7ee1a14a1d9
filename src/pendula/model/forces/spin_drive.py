"""Turner's driving force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pendula.model.base import Scalar
from pendula.model.forces.actions import Action, Spin
from pendula.model.forces.base import ForceAtPoint


class ForceSpinDrive(ForceAtPoint):
    """Turner's driving force, eq. 58 (sign corrected): +coefficient theta_dot theta_hat at a point."""

    type: Literal["spin-drive"] = "spin-drive"
    coefficient: Scalar
    """[force time/rad]"""

    units: ClassVar[Mapping[str, str]] = {"coefficient": "force time/rad", "position": "length"}

    def actions(self) -> tuple[Action, ...]:
        """A force at the point, in the sense of the rotation."""
        return (Spin(self.body, self.coefficient, dissipative=False, at=self.at, position=self.position),)
