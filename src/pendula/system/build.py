"""From a model to a compiled system that has been found well posed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from pendula.equations.derive import DEFAULT, derive
from pendula.equations.equations import Equations
from pendula.errors import ComputationError, LoopNotClosed, ModelError, NotSupported, PendulaError, Problem
from pendula.model.model import Model
from pendula.system.assembly import assemble
from pendula.system.layout import State
from pendula.system.system import System

_TRIES = 6
_SINGULAR = 1e-11


def compile_system(model: Model | Equations, formulation: str = DEFAULT) -> System:
    """A compiled system: derives the equations by a formulation and checks that they are well posed.

    Well posed means that every allowed motion has mass: M is positive definite on the null space of G.

    Raises:
        ModelError: a motion has no mass, whatever the pose; names the coordinates involved.
        NotSupported: constraints are redundant, so their forces are not determined.

    Example:
        >>> from pendula import library
        >>> compile_system(library.cart_pole()).layout.coordinates
        ('x', 'theta')
    """
    equations = model if isinstance(model, Equations) else derive(model, formulation)
    system = System(equations)
    _check_well_posed(system)
    if system.tree is not None and not _solves_by_bodies(system):
        return System(equations, by_bodies=False)  # massless bodies that only a loop holds
    return system


def _solves_by_bodies(system: System) -> bool:
    """Whether accelerations can be found from the tips to ground, at one of some poses."""
    for state in _poses(system):
        try:
            system.accelerations(state.q, state.v, state.t)
        except ComputationError:
            continue
        return True
    return False


def _check_well_posed(system: System) -> None:
    """Looks at some poses; one good pose is enough, since single poses may be singular."""
    layout = system.layout
    if not layout.speeds:
        raise ModelError([Problem("model", "joints", "nothing can move: there are no free coordinates")])
    if system.tree is not None and system.free_motions > 0 and _solves_by_bodies(system):
        return
    last: PendulaError | None = None
    for state in _poses(system):
        last = _fault(system, state)
        if last is None:
            return
    if last is not None:
        raise last


def _poses(system: System) -> Iterator[State]:
    """Some consistent states around the initial one."""
    rng = np.random.default_rng(12345)
    start = system.initial_joint_state()
    for k in range(_TRIES):
        q = start.q if k == 0 else start.q + rng.uniform(-0.7, 0.7, size=start.q.size)
        with suppress(LoopNotClosed):
            yield assemble(system, State(0.1 * k, q, start.v, start.layout)).state


def _fault(system: System, state: State) -> PendulaError | None:
    M = system.mass_matrix(state.q, state.t)
    G = system.constraint_jacobian(state.q, state.t)
    if not (np.all(np.isfinite(M)) and np.all(np.isfinite(G))):
        return ModelError([Problem("model", "", "the mass matrix is not finite at any pose that was tried")])
    free = np.eye(M.shape[0])
    if len(G):
        _, sizes, rows = np.linalg.svd(G)
        rank = int(np.sum(sizes > 1e-9 * max(sizes[0], system.typical_length())))
        if rank < len(G):
            return NotSupported(_redundant(system, G, rank))
        free = rows[rank:].T
        if free.shape[1] == 0 and system.equations.drives:
            return None  # prescribed motions move it all
        if free.shape[1] == 0:
            return ModelError([Problem("model", "joints", "the closing joints leave no motion: it is a structure")])
    scale = np.sqrt(np.where(np.diag(M) > 0, np.diag(M), 1.0))
    reduced = free.T @ (M / np.outer(scale, scale)) @ free
    sizes, modes = np.linalg.eigh(reduced)
    if sizes[0] > _SINGULAR * max(sizes[-1], 1e-300):
        return None
    mode = np.abs(free @ modes[:, 0]) / scale
    names = [system.layout.speeds[i].removesuffix("_dot") for i in np.flatnonzero(mode > 0.1 * mode.max())]
    joints = sorted({s.joint for s in system.model.speeds if s.name.removesuffix("_dot") in names})
    what = "motion of " + ", ".join(names)
    advice = f"give mass or inertia to the bodies that joint {', '.join(joints)} moves"
    return ModelError(
        [Problem("model", "bodies", f"a {what} has no mass, so its acceleration is not determined", advice)]
    )


def _redundant(system: System, G: np.ndarray, rank: int) -> str:
    names = [n.split(":")[0] for n in system.equations.constraint_names[: len(G)]]
    joints = sorted(set(names))
    return (
        f"the closing joints {', '.join(joints)} are redundant: {len(G)} constraint rows, "
        f"but only {rank} independent ones.\n"
        "  Their forces are not determined. Try: a closing joint with fewer constraints (for a planar mechanism built "
        'in space: "point-on-line" with its axis across the plane, or "coincident" in place of a full loop joint).'
    )
