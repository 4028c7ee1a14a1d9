"""The capabilities of a formulation, stated once: the documentation, the errors and the tests read them from here."""

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
    "bodies": "body by body from the tips to ground, with loops as a border; as one system if loops are redundant",
}
"""How a formulation solves for accelerations and multipliers, in words."""


@dataclass(frozen=True)
class Support:
    """What a formulation can do, how large its equations grow, and when to choose it.

    Example:
        >>> import pendula
        >>> pendula.formulations()["maximal"].support.coordinates
        'bodies'
    """

    coordinates: Literal["joints", "bodies"]
    """what q holds: coordinates of the joints that place bodies, or of every body separately"""
    solved: Literal["kkt", "complement", "bodies"]
    """how it solves for accelerations and multipliers: see ``SOLVED``"""
    growth: tuple[int, int]
    """powers of n with which the operations of a chain of n links grow: absolute angles, relative angles"""
    solution: int
    """power of n with which the cost of solving for the accelerations of an open chain grows"""
    uses: str
    """the mechanics it is based on, and no other formulation is"""
    choose: str
    """when to choose it"""
    closed_loops: bool = True
    redundant_loops: bool = True
    prescribed_motions: bool = True
    exact_derivatives: bool = True
    joint_mass_matrix: bool = True
    """M is that of the joints' coordinates, as printed in textbooks"""
    joint_forces: bool = False
    """its derivation yields the forces in joints (constraint wrenches)"""
    jacobi: bool = True
    """it provides v . dT/dv - T + V even with prescribed motions"""
