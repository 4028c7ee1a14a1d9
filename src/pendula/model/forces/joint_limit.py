"""Stops that limit a coordinate of a joint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import model_validator

from pendula.model.base import Scalar
from pendula.model.fields import Use
from pendula.model.forces.actions import Across, Action
from pendula.model.forces.base import ForceAcross
from pendula.model.forces.law import Law

_ABOVE = "max(x - upper, 0)"
_BELOW = "max(lower - x, 0)"


class ForceJointLimit(ForceAcross):
    """Elastic stops at one or both ends of the range of a coordinate, after Hunt and Crossley.

    Within the range there is no force. Beyond a limit by a depth d, the stop pushes back with
    stiffness d (1 + dissipation d_dot), and never pulls. The force is continuous, so a run needs no event: its steps
    become short in the stop. A mass m stays in a stop for about pi sqrt(m/stiffness). A body that arrives with the
    speed v leaves with about (1 - 2/3 dissipation v) v, so dissipation = 1.5 (1 - e)/v gives the coefficient of
    restitution e at that speed.

    Source: K. H. Hunt and F. R. E. Crossley, "Coefficient of restitution interpreted as damping in vibroimpact",
    J. Appl. Mech. 42 (1975) 440-445, with a linear spring.
    """

    type: Literal["joint-limit"] = "joint-limit"
    lower: Annotated[Scalar | None, Use.PARAMETERS] = None
    """least value of the coordinate; none: no stop there"""
    upper: Annotated[Scalar | None, Use.PARAMETERS] = None
    """largest value of the coordinate; none: no stop there"""
    stiffness: Annotated[Scalar, Use.PARAMETERS]
    """of the stops [force/length, or torque/rad]"""
    dissipation: Annotated[Scalar, Use.PARAMETERS] = 0
    """growth of the force per speed of approach [time/length, or time/rad]"""

    laws: ClassVar[Mapping[str, Law]] = {
        "upper": Law(
            elastic=f"stiffness*{_ABOVE}", potential=f"stiffness*{_ABOVE}**2/2",
            drag=f"stiffness*{_ABOVE}*max(dissipation*rate, -1)",
        ),
        "lower": Law(
            elastic=f"-stiffness*{_BELOW}", potential=f"stiffness*{_BELOW}**2/2",
            drag=f"-stiffness*{_BELOW}*max(-dissipation*rate, -1)",
        ),
    }  # fmt: skip
    """law of the stop at each end; a stop that would pull exerts no force"""
    units: ClassVar[Mapping[str, str]] = {
        "lower": "x", "upper": "x", "stiffness": "pull/x", "dissipation": "time/x",
    }  # fmt: skip

    @model_validator(mode="after")
    def _some_end(self) -> ForceJointLimit:
        if self.lower is None and self.upper is None:
            raise ValueError("lower: is missing, and so is upper; try: give one of them or both")
        return self

    def actions(self) -> tuple[Action, ...]:
        """One action across the joint for each stop."""
        return tuple(
            Across(self.joint, self.coordinate, law, self.law_fields(law))
            for end, law in self.laws.items()
            if getattr(self, end) is not None
        )

    def faults(self, values: Callable[[Sequence[Scalar]], list[float] | None]) -> Iterator[tuple[str, str, str]]:
        """Limits in the wrong order, and negative numbers."""
        for name in ("stiffness", "dissipation"):
            found = values([getattr(self, name)])
            if found is not None and found[0] < 0:
                yield name, f"must not be negative, found {found[0]:g}", ""
        if self.lower is not None and self.upper is not None:
            ends = values([self.lower, self.upper])
            if ends is not None and not ends[0] < ends[1]:
                yield "upper", f"must be above lower, found {ends[1]:g} and {ends[0]:g}", "exchange them"
