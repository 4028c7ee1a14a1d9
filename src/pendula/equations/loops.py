"""Loop-closure constraints alone, g = 0 and G v = b, for engines that need no symbolic masses and forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pendula.equations.assemble import free_rows, shared_blocks
from pendula.equations.closures import Constraints
from pendula.equations.formulations.kane import loop_constraints
from pendula.equations.matrix import Matrix
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.equations.tape import Expr


@dataclass(frozen=True)
class LoopEquations:
    """The constraint fields of :class:`~pendula.equations.equations.Equations`, and no others."""

    definitions: tuple[tuple[Any, Expr], ...]
    t: Any
    q: tuple[Any, ...]
    v: tuple[Any, ...]
    u: tuple[Any, ...]
    p: tuple[Any, ...]
    g: tuple[Expr, ...]
    G: Matrix
    b: tuple[Expr, ...]
    constraint_names: tuple[str, ...]
    senses: tuple[tuple[str, Expr], ...]
    fixed_gaps: tuple[tuple[str, Expr], ...]
    idle_rows: tuple[str, ...]


def derive_loops(mechanism: TreeCoordinates) -> LoopEquations:
    """Constraints of the closed loops and quaternions of a mechanism, in joint coordinates."""
    constraints = loop_constraints(mechanism) if mechanism.model.closures else Constraints((), (), (), ())
    G, _, b = free_rows(mechanism, constraints)
    return LoopEquations(G=G, b=b, **shared_blocks(mechanism, constraints))
