"""From the blocks a formulation has found to the finished ``Equations``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pendula.equations import vectors as vec
from pendula.equations.closures import Constraints, closure_senses
from pendula.equations.equations import Equations, Rows, Transmitted, drive_definitions
from pendula.equations.mechanism import Mechanism
from pendula.equations.tape import Expr, is_zero


@dataclass(frozen=True)
class Blocks:
    """What a formulation finds. Rows belong to all rates: the free speeds first, then the prescribed motions."""

    mass: Sequence[Sequence[Expr]]
    """every rate by every free speed"""
    parts: Mapping[str, Sequence[Expr]]
    constraints: Constraints
    kinetic: Expr
    potential: Expr
    momenta: Sequence[Expr]
    """dT/dv for every rate"""
    transmitted: Sequence[Transmitted] = ()


def gather(mechanism: Mechanism, formulation: str, blocks: Blocks) -> Equations:
    """Splits free from prescribed rows and adds what does not depend on the formulation."""
    n = len(mechanism.v)
    drives = mechanism.drives
    rates = [d.rate for d in drives]
    quaternions = mechanism.unit_quaternions
    balls = [j.name for j in mechanism.model.tree if j.quaternion()]
    b = [
        -vec.total([x * rate for x, rate in zip(row[n:], rates, strict=True) if not is_zero(x)])
        for row in blocks.constraints.G
    ]
    jacobi = (
        vec.total([v * p for v, p in zip(mechanism.v, blocks.momenta, strict=False)])
        - blocks.kinetic
        + blocks.potential
    )
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
        M=tuple(tuple(row[:n]) for row in blocks.mass[:n]),
        parts=Rows(
            free={name: tuple(rows[:n]) for name, rows in blocks.parts.items()},
            driven={name: tuple(rows[n:]) for name, rows in blocks.parts.items()},
        ),
        g=(*blocks.constraints.g, *quaternions),
        G=tuple(tuple(row[:n]) for row in blocks.constraints.G),
        b=tuple(b),
        c=tuple(blocks.constraints.c),
        constraint_names=(*blocks.constraints.names, *(f"{name}: unit quaternion" for name in balls)),
        senses=tuple(senses),
        fixed_gaps=tuple(mechanism.fixed_gaps),
        kinetic=blocks.kinetic,
        potential=blocks.potential,
        jacobi=jacobi,
        drives=tuple(drives),
        drive_M=tuple(tuple(row[:n]) for row in blocks.mass[n:]),
        drive_G=tuple(tuple(row[n:]) for row in blocks.constraints.G),
        poses=poses,
        transmitted=tuple(blocks.transmitted),
    )
