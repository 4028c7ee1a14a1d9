"""How many ways a mechanism with loops can move, and which of its constraints say the same thing twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pendula.errors import LoopNotClosed
from pendula.system.assembly import DEPENDENT, assemble, row_scales
from pendula.system.layout import Array, State
from pendula.system.system import Parameters, System
from pendula.words import readable

DOUBTFUL = 1e-6
"""Singular values between these two belong to a pose next to a singular one: its rank is not trusted."""

_NEIGHBOURS = 7
_STRIDE = 0.25


@readable
@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom by counting and by rank; they differ where constraints are redundant.

    Example:
        >>> import pendula
        >>> mobility = pendula.compile_system(pendula.library.four_bar()).mobility
        >>> mobility.by_count, mobility.by_rank, mobility.redundant
        (1, 1, ())
    """

    by_count: int
    """speeds less constraint rows"""
    by_rank: int
    """speeds less independent constraint rows, at regular poses"""
    rows: int
    """constraint rows"""
    rank: int
    """independent ones among them, at regular poses"""
    redundant: tuple[str, ...]
    """constraint rows that depend on each other, by name; empty if all are independent"""

    @property
    def joints(self) -> tuple[str, ...]:
        """Closing joints whose forces are not fully determined."""
        return tuple(sorted({name.partition(":")[0] for name in self.redundant}))

    @property
    def text(self) -> str:
        """A sentence."""
        freedoms = f"{self.by_rank} degree{'' if self.by_rank == 1 else 's'} of freedom"
        if not self.redundant:
            return freedoms
        return (
            f"redundant constraints: {self.rows} rows, {self.rank} of them independent, so {freedoms} "
            f"(by count {self.by_count}); the motion is determined, but not how closing "
            f"joint{'' if len(self.joints) == 1 else 's'} {', '.join(self.joints)} share the load "
            f"(rows {', '.join(self.redundant)})"
        )

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Pose:
    """A closed pose with the scaled G there."""

    state: State
    G: Array
    rank: int
    free: Array
    """null space of G, by columns"""
    clear: bool
    """whether singular values are clearly zero or clearly not"""


def singular_values(system: System, q: Array, t: Array, parameters: Parameters = None) -> Array:
    """Singular values of G with its rows scaled to pure numbers, at many poses: shape (poses, min(rows, speeds))."""
    G = system.constraint_jacobian(q, t, parameters=parameters) / row_scales(system, parameters)[:, None]
    return np.asarray(np.linalg.svd(G, compute_uv=False))


def look_at(system: System, state: State, parameters: Parameters = None) -> Pose:
    """Rank and free directions at a pose."""
    G = system.constraint_jacobian(state.q, state.t, parameters=parameters)
    if not len(G) or not np.all(np.isfinite(G)):
        return Pose(state, G, 0, np.eye(G.shape[1]), clear=True)
    G = G / row_scales(system, parameters)[:, None]
    _, sizes, directions = np.linalg.svd(G)
    unit = max(sizes[0], 1.0)
    rank = int(np.sum(sizes > DEPENDENT * unit))
    return Pose(state, G, rank, directions[rank:].T, clear=rank == int(np.sum(sizes > DOUBTFUL * unit)))


def poses_near_start(system: System, parameters: Parameters = None) -> Iterator[Pose]:
    """Closed poses: the start, and others that the mechanism can reach from it by moving a little.

    Where the start does not close, poses at random are tried.
    """
    if system.bodies_have_coordinates:
        for pose in poses_near_start(system.in_joints, parameters):
            yield look_at(system, system.placed(pose.state, parameters), parameters)
        return
    rng = np.random.default_rng(12345)
    begin = system.initial_state(parameters)
    start: Pose | None = None
    try:
        start = look_at(system, assemble(system, begin, parameters=parameters).state, parameters)
        yield start
    except LoopNotClosed:
        pass
    for k in range(1, _NEIGHBOURS):
        hold: set[str] = set()
        if start is None:
            q, t = begin.q + rng.uniform(-0.7, 0.7, size=begin.q.size), 0.1 * k
        else:
            shift = start.free @ rng.uniform(-_STRIDE, _STRIDE, size=start.free.shape[1])
            q, t = moved(system, start.state.q, shift), 0.01 * k
            # the coordinate that moves most is held there: from a singular pose loops would close back onto it
            hold = {system.layout.coordinates[int(np.argmax(np.abs(q - start.state.q)))]}
        try:
            state = assemble(system, State(t, q, begin.v, system.layout), parameters=parameters, prefer=hold).state
        except LoopNotClosed:
            continue
        yield look_at(system, state, parameters)


def moved(system: System, q: Array, shift: Array) -> Array:
    """q + N shift; quaternions to first order (they are brought to length one when assembled)."""
    found = np.array(q, dtype=float)
    for i, k in enumerate(system.speed_of):
        if k >= 0:
            found[i] += shift[k]
    for at, k in system.balls:
        w, x, y, z = q[at : at + 4]
        a, b, c = shift[k : k + 3] / 2
        turn = [-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]
        found[at : at + 4] += turn
    return found


def mobility_of(system: System, poses: list[Pose]) -> Mobility:
    """Mobility from closed poses: regular ones have the largest rank, single poses may have less."""
    n, m = len(system.layout.speeds), system.loop_rows
    trusted = [pose for pose in poses if pose.clear] if any(pose.clear for pose in poses[1:]) else poses
    rank = max((pose.rank for pose in trusted), default=m)
    involved = np.zeros(m, dtype=bool)
    for pose in (p for p in poses if p.rank == rank < m):
        dependent = np.linalg.svd(pose.G)[0][:, rank:]
        involved |= np.abs(dependent).max(axis=1) > 1e-6
    names = tuple(name for name, yes in zip(system.equations.constraint_names, involved, strict=False) if yes)
    return Mobility(n - m, n - rank, m, rank, names)


def find_mobility(system: System, parameters: Parameters = None) -> Mobility:
    """Mobility of a system, looked at around its initial state, for some parameters."""
    if not system.model.closures:
        n = len(system.model.speeds)
        return Mobility(n, n, 0, 0, ())
    return mobility_of(system, list(poses_near_start(system, parameters)))
