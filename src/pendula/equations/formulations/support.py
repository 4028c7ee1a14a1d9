"""What a formulation can do, stated once: the documentation, the errors and the tests read it from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ABILITIES = {
    "closed_loops": "closed loops",
    "redundant_loops": "redundant loops",
    "prescribed_motions": "prescribed motions",
    "exact_derivatives": "exact derivatives of accelerations",
    "joint_mass_matrix": "mass matrix in the joints' coordinates",
    "joint_forces": "forces in joints",
    "jacobi": "Jacobi's integral with prescribed motions",
}
"""Fields of :class:`Support` that are yes or no, in words."""

SOLVED = {
    "kkt": "M v' = f + G^T lam and G v' = c together, as one dense symmetric system",
    "complement": "v' along the null space of G (an orthogonal complement), then lam",
    "bodies": "body by body from the tips to ground, loops as a border; all at once if they are redundant",
}
"""How accelerations and multipliers are found, in words."""


@dataclass(frozen=True)
class Support:
    """What a formulation can do, how large its equations grow, and when to choose it.

    Example:
        >>> import pendula
        >>> pendula.formulations()["maximal"].support.coordinates
        'bodies'
    """

    coordinates: Literal["joints", "bodies"]
    """what q holds: coordinates of the joints that place bodies, or of every body by itself"""
    solved: Literal["kkt", "complement", "bodies"]
    """how accelerations and multipliers are found: see ``SOLVED``"""
    growth: tuple[int, int]
    """operations of a chain of n links grow like these powers of n: angles from ground, angles between links"""
    solution: int
    """and those of solving for the accelerations of an open chain like this one"""
    uses: str
    """the mechanics it rests on, and no other formulation does"""
    choose: str
    """when to choose it"""
    closed_loops: bool = True
    redundant_loops: bool = True
    prescribed_motions: bool = True
    exact_derivatives: bool = True
    joint_mass_matrix: bool = True
    """M is that of the joints' coordinates: the one that textbooks print"""
    joint_forces: bool = False
    """it meets the forces in joints on its way"""
    jacobi: bool = True
    """it has v . dT/dv - T + V also where motions are prescribed"""
