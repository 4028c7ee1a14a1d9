"""A cable that pulls and never pushes: a type of force added from outside the package, in one file."""

from typing import ClassVar, Literal

from pendula.extend import register_force
from pendula.model.base import Scalar
from pendula.model.forces import ForceBetween, Law


@register_force
class ForceCable(ForceBetween):
    """A cable between two points: slack up to its length, a spring with damping beyond it."""

    type: Literal["cable"] = "cable"
    stiffness: Scalar
    """[force/length]"""
    damping: Scalar = 0
    """while it is taut [force time/length]"""
    length: Scalar
    """distance up to which it is slack [length unit]"""

    law = Law(
        elastic="stiffness*max(0, x - length)",
        potential="stiffness*max(0, x - length)**2/2",
        drag="damping*rate if x > length else 0",
    )
    units: ClassVar = {"stiffness": "force/length", "damping": "force time/length", "length": "length"}
    drawn_as = "string"
