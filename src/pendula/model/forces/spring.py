"""A linear spring with damping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pendula.model.base import Scalar
from pendula.model.forces.base import ForceBetweenOrAcross
from pendula.model.forces.law import Law


class ForceSpring(ForceBetweenOrAcross):
    """A spring (with damping) between two points, or on a length coordinate of a joint.

    Between points the tension is stiffness (distance - length) + damping (rate of distance).
    """

    type: Literal["spring"] = "spring"
    stiffness: Scalar = 0
    """[force/length]"""
    damping: Scalar = 0
    """[force time/length]"""
    length: Scalar = 0
    """free length: distance (or joint coordinate) at zero force [length unit]"""

    law = Law(elastic="stiffness*(x - length)", potential="stiffness*(x - length)**2/2", drag="damping*rate")
    units: ClassVar[Mapping[str, str]] = {"stiffness": "pull/x", "damping": "pull time/x", "length": "length"}
    drawn_as = "spring"
    measures = "length"
    otherwise = 'use type = "torsion-spring"'
