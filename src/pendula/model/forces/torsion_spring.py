"""A torsion spring with damping in a joint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pendula.model.base import Scalar
from pendula.model.forces.base import ForceAcross
from pendula.model.forces.law import Law


class ForceTorsionSpring(ForceAcross):
    """Torque -(stiffness (angle - rest) + damping rate) between the two sides of a joint."""

    type: Literal["torsion-spring"] = "torsion-spring"
    stiffness: Scalar = 0
    """[force length/rad]"""
    damping: Scalar = 0
    """[force length time/rad]"""
    rest: Scalar = 0
    """angle of zero torque [rad]"""

    law = Law(elastic="stiffness*(x - rest)", potential="stiffness*(x - rest)**2/2", drag="damping*rate")
    units: ClassVar[Mapping[str, str]] = {"stiffness": "torque/rad", "damping": "torque time/rad", "rest": "rad"}
    drawn_as = "spring"
    measures = "angle"
    otherwise = 'use type = "spring"'
