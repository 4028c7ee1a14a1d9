"""Capabilities of formulations, stated once for the documentation, the error messages and the tests."""

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
"""Boolean fields of :class:`Support`, in words."""

SOLVED = {
    "kkt": "M v' = f + G^T lam and G v' = c together, as one dense symmetric system",
    "complement": "v' along the null space of G (an orthogonal complement), then lam",
    "bodies": "body by body from the tips to ground, with loops as a border; as one system if loops are redundant",
}
"""How a formulation solves for accelerations and multipliers, in words."""


@dataclass(frozen=True)
class Support:
    """Capabilities of a formulation, the growth of its equations, and when to choose it.

    Example:
        >>> import pendula
        >>> pendula.derivation.formulations()["maximal"].support.coordinates
        'bodies'
    """

    coordinates: Literal["joints", "bodies"]
    """whether q holds joint coordinates or maximal coordinates (of every body)"""
    solved: Literal["kkt", "complement", "bodies"]
    """solver of accelerations and multipliers: see ``SOLVED``"""
    growth: tuple[int, int]
    """powers of n in the number of operations for a chain of n links: absolute angles, relative angles"""
    solution: int
    """power of n in the cost of solving for the accelerations of an open chain"""
    uses: str
    """the mechanics that only this formulation is based on"""
    choose: str
    """when to choose it"""
    closed_loops: bool = True
    redundant_loops: bool = True
    prescribed_motions: bool = True
    exact_derivatives: bool = True
    joint_mass_matrix: bool = True
    """M belongs to the joint coordinates, as in textbooks"""
    joint_forces: bool = False
    """its derivation yields the joint reactions (constraint wrenches)"""
    jacobi: bool = True
    """it provides v . dT/dv - T + V even with prescribed motions"""
