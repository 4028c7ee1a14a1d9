"""Assembles the blocks that a formulation derived into ``Equations``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pendula.equations import vectors as vec
from pendula.equations.closures import Constraints, closure_senses
from pendula.equations.equations import Equations, Node, Rows, Transmitted, drive_definitions
from pendula.equations.matrix import Matrix, columns, entries, rows
from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.tape import Expr


@dataclass(frozen=True)
class Blocks:
    """The blocks that a formulation derives. Rows belong to all rates: free speeds first, then prescribed motions."""

    mass: Matrix
    """mass matrix: rows are all rates, columns the free speeds"""
    parts: Mapping[str, Sequence[Expr]]
    constraints: Constraints
    kinetic: Expr
    potential: Expr
    momenta: Sequence[Expr]
    """generalized momentum dT/dv for every rate"""
    transmitted: Sequence[Transmitted] = ()
    nodes: Sequence[Node] = ()
    readings: Mapping[str, Expr] = field(default_factory=dict)
    solver: str = "kkt"


def free_rows(mechanism: Mechanism, constraints: Constraints) -> tuple[Matrix, Matrix, tuple[Expr, ...]]:
    """Columns of G for the free speeds and for the prescribed motions, and b of G v = b, which is due to the latter."""
    n, drives = len(mechanism.v), mechanism.drives
    G, driven_G = columns(constraints.G, 0, n), columns(constraints.G, n, n + len(drives))
    moved: list[list[Expr]] = [[] for _ in range(len(G))]
    for i, k, x in entries(driven_G):
        moved[i].append(x * drives[k].rate)
    return G, driven_G, tuple(-vec.total(terms) for terms in moved)


def shared_blocks(mechanism: Mechanism, constraints: Constraints) -> dict[str, Any]:
    """Symbols and constraints, which do not depend on masses and loads; fields as in ``Equations``."""
    # first, since they may add to the definitions
    senses = tuple(closure_senses(mechanism))
    return {
        "definitions": (*drive_definitions(mechanism), *mechanism.tape.definitions.items()),
        "t": mechanism.t,
        "q": tuple(mechanism.q),
        "v": tuple(mechanism.v),
        "u": tuple(mechanism.inputs),
        "p": tuple(mechanism.parameters),
        "g": (*constraints.g, *mechanism.unit_quaternions),
        "constraint_names": (*constraints.names, *(f"{at.owner}: unit quaternion" for at in mechanism.quaternions)),
        "senses": senses,
        "fixed_gaps": tuple(mechanism.fixed_gaps),
        "idle_rows": tuple(mechanism.idle_rows),
    }


def gather(mechanism: Mechanism, formulation: str, blocks: Blocks) -> Equations:
    """The ``Equations``: separates free from prescribed rows and adds what does not depend on the formulation."""
    n = len(mechanism.v)
    drives = mechanism.drives
    G, driven_G, b = free_rows(mechanism, blocks.constraints)
    jacobi: Expr | None = None
    if not (blocks.nodes and drives):  # speeds of bodies include the prescribed rates: v . dT/dv would be 2 T
        twice = vec.total([v * p for v, p in zip(mechanism.v, blocks.momenta, strict=False)])
        jacobi = twice - blocks.kinetic + blocks.potential
    poses = {
        link.body: (tuple(tuple(row) for row in pose.R), tuple(pose.r))
        for link, pose in zip(mechanism.links, mechanism.poses, strict=True)
    }
    shared = shared_blocks(mechanism, blocks.constraints)
    return Equations(
        model=mechanism.model,
        formulation=formulation,
        **shared,
        qdot=tuple(mechanism.qdot),
        M=columns(rows(blocks.mass, 0, n), 0, n),
        parts=Rows(
            free={name: tuple(part[:n]) for name, part in blocks.parts.items()},
            driven={name: tuple(part[n:]) for name, part in blocks.parts.items()},
        ),
        G=G,
        b=b,
        c=tuple(blocks.constraints.c),
        kinetic=blocks.kinetic,
        potential=blocks.potential,
        jacobi=jacobi,
        drives=tuple(drives),
        drive_M=columns(rows(blocks.mass, n, n + len(drives)), 0, n),
        drive_G=driven_G,
        poses=poses,
        coordinates=tuple(mechanism.coordinates),
        speeds=tuple(mechanism.speeds),
        quaternions=tuple(mechanism.quaternions),
        transmitted=tuple(blocks.transmitted),
        nodes=tuple(blocks.nodes),
        readings=blocks.readings,
        solver=blocks.solver,
    )
