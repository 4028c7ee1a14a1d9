"""Mobility of a mechanism with loops: its degrees of freedom, and which of its constraints are redundant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from pendula.errors import LoopNotClosed
from pendula.system.layout import Array, State
from pendula.system.loops.assembly import assemble
from pendula.system.loops.speeds import DEPENDENT, row_scales
from pendula.system.orientation.maps import moved
from pendula.system.parameters import Parameters, parameter_vector, typical_steps
from pendula.system.system import System
from pendula.words import readable

DOUBTFUL = 1e-6
"""Singular values between ``DEPENDENT`` and this indicate a nearly singular pose, whose rank is not trusted."""

_NEIGHBOURS = 7
_STRIDE = 0.25


@readable
@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom by counting and by rank; they differ if constraints are redundant.

    Example:
        >>> import pendula
        >>> found = mobility(pendula.compile_system(pendula.library.four_bar()))
        >>> found.by_count, found.by_rank, found.redundant
        (1, 1, ())
    """

    by_count: int
    """speeds minus constraint rows (Gruebler's count), in the plane for planar mechanisms"""
    by_rank: int
    """speeds minus independent constraint rows, at regular poses"""
    rows: int
    """constraint rows, including those that no motion changes"""
    rank: int
    """independent ones among them, at regular poses"""
    redundant: tuple[str, ...]
    """names of linearly dependent constraint rows; empty if all are independent"""

    @property
    def joints(self) -> tuple[str, ...]:
        """Closing joints whose forces are not fully determined."""
        return tuple(sorted({name.partition(":")[0] for name in self.redundant}))

    @property
    def text(self) -> str:
        """The result in a sentence."""
        freedoms = f"{self.by_rank} degree{'' if self.by_rank == 1 else 's'} of freedom"
        if not self.redundant:
            return freedoms
        names = ", ".join(self.joints)
        alone = len(self.joints) == 1
        forces = f"all forces in closing joint {names}" if alone else f"how closing joints {names} share the load"
        return (
            f"redundant constraints: {self.rows} rows, {self.rank} of them independent, so {freedoms} "
            f"(by count {self.by_count}); the motion is determined, but not {forces} "
            f"(rows {', '.join(self.redundant)})"
        )

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Pose:
    """A closed pose with the dimensionless G there."""

    state: State
    G: Array
    rank: int
    free: Array
    """directions of speeds that the loops allow, by columns"""
    clear: bool
    """whether every singular value is clearly zero or clearly nonzero"""


def singular_values(system: System, q: Array, t: Array, parameters: Parameters = None) -> Array:
    """Singular values of the dimensionless G, at many poses: shape (poses, min(rows, speeds))."""
    G = system.constraint_jacobian(q, t, parameters=parameters)
    return np.asarray(np.linalg.svd(dimensionless(system, G, parameters), compute_uv=False))


def dimensionless(system: System, G: Array, parameters: Parameters) -> Array:
    """G in units of a typical length, for gaps and for speeds, so that ranks do not depend on units."""
    return np.asarray(G / row_scales(system, parameters)[:, None] * typical_steps(system, parameters))


def comparable(rows: Array) -> Array:
    """Dimensionless rows scaled to size 1; those that no motion changes are rounding and become zero.

    Example:
        >>> comparable(np.array([[[3.0, 4.0], [1e-17, 0.0]]]))[0].round(3).tolist()
        [[0.6, 0.8], [0.0, 0.0]]
    """
    sizes = np.linalg.norm(rows, axis=-1, keepdims=True)
    found: Array = rows / np.where(sizes > DEPENDENT, sizes, np.inf)
    return found


def look_at(system: System, state: State, parameters: Parameters = None) -> Pose:
    """The rank of G and the free directions at a pose."""
    G = system.constraint_jacobian(state.q, state.t, parameters=parameters)
    if not len(G) or not np.all(np.isfinite(G)):
        return Pose(state, G, 0, np.eye(G.shape[1]), clear=True)
    G = dimensionless(system, G, parameters)
    _, sizes, directions = np.linalg.svd(G)
    unit = max(sizes[0], 1.0)
    rank = int(np.sum(sizes > DEPENDENT * unit))
    free = typical_steps(system, parameters)[:, None] * directions[rank:].T
    return Pose(state, G, rank, free, clear=rank == int(np.sum(sizes > DOUBTFUL * unit)))


def poses_near_start(system: System, parameters: Parameters = None) -> Iterator[Pose]:
    """Closed poses: the initial one and others nearby that the mechanism can reach from it.

    If the loops do not close from the initial pose, random poses are tried.
    """
    joints = system.in_joints
    for state in _closed_states(joints.system, parameters):
        yield look_at(system, joints.place_state(state, parameters), parameters)


def _closed_states(system: System, parameters: Parameters) -> Iterator[State]:
    rng = np.random.default_rng(12345)
    begin = system.initial_state(parameters)
    start: Pose | None = None
    try:
        start = look_at(system, assemble(system, parameters=parameters).state, parameters)  # as a run begins
        yield start.state
    except LoopNotClosed:
        pass
    for k in range(1, _NEIGHBOURS):
        hold: set[str] = set()
        if start is None:
            q, t = begin.q + rng.uniform(-0.7, 0.7, size=begin.q.size), 0.1 * k
        else:
            shift = start.free @ rng.uniform(-_STRIDE, _STRIDE, size=start.free.shape[1])
            q, t = moved(system, start.state.q, shift), 0.01 * k
            # hold the coordinate that moves most: near a singular pose, assembly would otherwise return to that pose
            hold = {system.layout.coordinates[int(np.argmax(np.abs(q - start.state.q)))]}
        try:
            yield assemble(system, State(t, q, begin.v, system.layout), parameters=parameters, prefer=hold).state
        except LoopNotClosed:
            continue


_KNOWN: WeakKeyDictionary[System, dict[bytes, Mobility]] = WeakKeyDictionary()


def mobility(system: System, parameters: Parameters = None, *, look_again: bool = False) -> Mobility:
    """Degrees of freedom by count and by rank, and redundant constraints, at poses near the initial state.

    Whether constraints are redundant may depend on parameters. Constraints that are independent for the model's
    own parameters are assumed to be independent for others, unless ``look_again``: singular equations raise an
    error anyway.

    Example:
        >>> import pendula
        >>> mobility(pendula.compile_system(pendula.library.four_bar())).text
        '1 degree of freedom'
    """
    if not system.model.closures:
        n = len(system.model.speeds)
        return Mobility(n, n, 0, 0, ())
    system = system.in_joints.system
    vector = parameter_vector(system, parameters)
    key, known = vector.tobytes(), _KNOWN.setdefault(system, {})
    if key not in known:
        own = known.get(system.parameters.tobytes())
        if own is not None and own.rank == system.loop_rows and not look_again:
            return own
        known[key] = _from_poses(system, list(poses_near_start(system, vector)))
    return known[key]


def regular_poses(system: System) -> Iterable[Pose]:
    """Poses near the initial one at which G has its largest rank; also caches the mobility."""
    if not system.loop_rows:
        return poses_near_start(system)  # all of them, each computed on demand
    poses = list(poses_near_start(system))
    if system is not system.in_joints.system:
        rank = max((pose.rank for pose in poses), default=0)
    elif system.model.closures:
        rank = _KNOWN.setdefault(system, {}).setdefault(system.parameters.tobytes(), _from_poses(system, poses)).rank
    else:
        rank = 0
    return [pose for pose in poses if pose.rank == rank]


def independent_rows(system: System, parameters: Parameters = None) -> int:
    """Number of independent constraint rows at regular poses; rows of tree joints are always independent."""
    held = system.tree_rows
    return held + mobility(system, parameters).rank if system.loop_rows > held else held


def _from_poses(system: System, poses: list[Pose]) -> Mobility:
    """Mobility from closed poses: regular poses have the largest rank, isolated singular ones a smaller rank."""
    n, m = len(system.layout.speeds), system.loop_rows
    trusted = [pose for pose in poses if pose.clear] if any(pose.clear for pose in poses[1:]) else poses
    rank = max((pose.rank for pose in trusted), default=m)
    involved = np.zeros(m, dtype=bool)
    for pose in (p for p in poses if p.rank == rank < m):
        dependent = np.linalg.svd(pose.G)[0][:, rank:]
        involved |= np.abs(dependent).max(axis=1) > 1e-6
    names = tuple(name for name, yes in zip(system.constraint_names, involved, strict=False) if yes)
    names += system.constraints.idle
    m += len(system.constraints.idle)
    return Mobility(n - m, n - rank, m, rank, names)
