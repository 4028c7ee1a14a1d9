"""Turner's friction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pendula.model.base import Scalar
from pendula.model.forces.actions import Action, Spin
from pendula.model.forces.base import ForceOnBody


class ForceComFriction(ForceOnBody):
    """Turner's friction, eq. 25: a force -coefficient theta_dot along theta_hat at the mass centre.

    theta_dot is the body's angular velocity and theta_hat the unit vector perpendicular to the line from the body's
    origin to its mass centre. In a chain the mass centre does not move at theta_dot alone, so this friction can
    temporarily add energy to a link; the energy account shows it.
    """

    type: Literal["com-friction"] = "com-friction"
    coefficient: Scalar
    """[force time/rad]"""

    units: ClassVar[Mapping[str, str]] = {"coefficient": "force time/rad"}

    def actions(self) -> tuple[Action, ...]:
        """A force at the mass centre that opposes the rotation."""
        return (Spin(self.body, self.coefficient, dissipative=True),)
