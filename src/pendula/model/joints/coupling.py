"""A closing joint without sides: a condition on coordinates, such as that of gears."""

from __future__ import annotations

from typing import Annotated, Literal

from pendula.model.base import Scalar
from pendula.model.bodies import GROUND
from pendula.model.fields import Use
from pendula.model.joints.base import ClosingJoint
from pendula.model.joints.rows import ClosingRow, Coupled
from pendula.model.joints.sides import BodySide, Side


class JointCoupling(ClosingJoint):
    """Gears, belts, fingers that close together: an expression of coordinates stays zero, as in ``"a - 2*b"``.

    The forces of the coupling act inside the joints whose coordinates it uses; it has no sides.
    """

    type: Literal["coupling"] = "coupling"
    has_sides = False
    parent: BodySide = Side(body=GROUND)
    child: BodySide = Side(body=GROUND)
    value: Annotated[Scalar, Use.EVERYTHING]
    """expression of coordinates and parameters that stays zero"""

    def rows(self) -> tuple[ClosingRow, ...]:
        """One condition."""
        return (Coupled(self.value, "coupling"),)
