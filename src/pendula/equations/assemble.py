"""From the blocks a formulation has found to the finished ``Equations``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pendula.equations import vectors as vec
from pendula.equations.closures import Constraints, closure_senses
from pendula.equations.equations import Equations, Node, Rows, Transmitted, drive_definitions
from pendula.equations.matrix import Matrix, columns, entries, rows
from pendula.equations.mechanism import Mechanism
from pendula.equations.tape import Expr


@dataclass(frozen=True)
class Blocks:
    """What a formulation finds. Rows belong to all rates: the free speeds first, then the prescribed motions."""

    mass: Matrix
    """every rate by every free speed"""
    parts: Mapping[str, Sequence[Expr]]
    constraints: Constraints
    kinetic: Expr
    potential: Expr
    momenta: Sequence[Expr]
    """dT/dv for every rate"""
    transmitted: Sequence[Transmitted] = ()
    nodes: Sequence[Node] = ()
    readings: Mapping[str, Expr] = field(default_factory=dict)
    solver: str = "kkt"


def free_rows(mechanism: Mechanism, constraints: Constraints) -> tuple[Matrix, Matrix, tuple[Expr, ...]]:
    """G by the free speeds and by the prescribed motions, and b of G v = b, which these motions make."""
    n, drives = len(mechanism.v), mechanism.drives
    G, driven_G = columns(constraints.G, 0, n), columns(constraints.G, n, n + len(drives))
    moved: list[list[Expr]] = [[] for _ in range(len(G))]
    for i, k, x in entries(driven_G):
        moved[i].append(x * drives[k].rate)
    return G, driven_G, tuple(-vec.total(terms) for terms in moved)


def constraint_names(mechanism: Mechanism, constraints: Constraints) -> tuple[str, ...]:
    """What each row of g says: those of G, then the lengths of quaternions."""
    return (*constraints.names, *(f"{at.owner}: unit quaternion" for at in mechanism.quaternions))


def gather(mechanism: Mechanism, formulation: str, blocks: Blocks) -> Equations:
    """Splits free from prescribed rows and adds what does not depend on the formulation."""
    n = len(mechanism.v)
    drives = mechanism.drives
    quaternions = mechanism.unit_quaternions
    G, driven_G, b = free_rows(mechanism, blocks.constraints)
    jacobi: Expr | None = None
    if not (blocks.nodes and drives):  # speeds of bodies hold the prescribed rates: v . dT/dv would be 2 T
        twice = vec.total([v * p for v, p in zip(mechanism.v, blocks.momenta, strict=False)])
        jacobi = twice - blocks.kinetic + blocks.potential
    poses = {
        link.body: (tuple(tuple(row) for row in pose.R), tuple(pose.r))
        for link, pose in zip(mechanism.links, mechanism.poses, strict=True)
    }
    senses = closure_senses(mechanism)
    return Equations(
        model=mechanism.model,
        formulation=formulation,
        definitions=(*drive_definitions(mechanism), *mechanism.tape.definitions.items()),
        t=mechanism.t,
        q=tuple(mechanism.q),
        v=tuple(mechanism.v),
        u=tuple(mechanism.inputs),
        p=tuple(mechanism.parameters),
        qdot=tuple(mechanism.qdot),
        M=columns(rows(blocks.mass, 0, n), 0, n),
        parts=Rows(
            free={name: tuple(part[:n]) for name, part in blocks.parts.items()},
            driven={name: tuple(part[n:]) for name, part in blocks.parts.items()},
        ),
        g=(*blocks.constraints.g, *quaternions),
        G=G,
        b=b,
        c=tuple(blocks.constraints.c),
        constraint_names=constraint_names(mechanism, blocks.constraints),
        senses=tuple(senses),
        fixed_gaps=tuple(mechanism.fixed_gaps),
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
