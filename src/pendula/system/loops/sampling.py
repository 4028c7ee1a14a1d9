"""Random consistent states, for checks that should hold at every state."""

from __future__ import annotations

import numpy as np

from pendula.arguments import read_count, read_seed
from pendula.errors import ComputationError, LoopNotClosed, PendulaError
from pendula.system.layout import Array, State
from pendula.system.loops.assembly import assemble
from pendula.system.loops.mobility import independent_rows, singular_values
from pendula.system.parameters import typical_length
from pendula.system.system import System

MOST_STATES = 1_000_000
WORST_CONDITION = 1e5
"""States at which the mass matrix (scaled to unit diagonal) is worse conditioned are skipped: near a singular chart."""

LEAST_SINGULAR = 1e-3
"""States at which the smallest singular value of G, relative to the largest, is below this are skipped."""


def random_states(system: System, count: int, seed: int = 0, *, spread: float = 1.0) -> tuple[Array, Array, Array]:
    """Times, coordinates and speeds of random states that satisfy the constraints, near the initial one.

    Angles are drawn from a full turn, other coordinates and the angles of closed loops from around their initial
    values. A state that is not finite or nearly singular is drawn again; after many failures the spread shrinks.

    Raises:
        LoopNotClosed: the loops cannot be closed.
        PendulaError: too few regular states were found.
    """
    joints = system.in_joints
    t, q, v = _drawn(joints.system, count, seed, spread)
    return t, *joints.place(q, v, t)


def _drawn(system: System, count: int, seed: int, spread: float) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(read_seed(seed))
    count = read_count(count, "states", MOST_STATES)
    start = system.initial_state()
    assemble(system, start)  # raises if the loops cannot be closed
    found: list[State] = []
    width, misses = spread, 0
    while len(found) < count:
        state = _draw(system, start, rng, width)
        if state is not None:
            found.append(state)
            continue
        misses += 1
        if misses % 20 == 0:
            width *= 0.7
        if misses > 40 * count + 400:
            raise PendulaError(
                f"only {len(found)} of {count} random states are regular: "
                "the mass matrix or the constraints are singular nearly everywhere"
            )
    return np.array([s.t for s in found]), np.array([s.q for s in found]), np.array([s.v for s in found])


def _draw(system: System, start: State, rng: np.random.Generator, width: float) -> State | None:
    kinds = np.array(system.layout.coordinate_kinds)
    closed = system.loop_rows > 0
    length = typical_length(system)
    scale = np.where(kinds == "angle", 0.4 if closed else np.pi, 0.5 * np.where(kinds == "length", length, 1.0))
    q = start.q + width * scale * rng.uniform(-1, 1, size=len(kinds))
    for at, _ in system.balls:
        turn = rng.normal(size=4)
        q[at : at + 4] = turn / np.linalg.norm(turn) if not closed else start.q[at : at + 4] + 0.3 * width * turn
    speeds = np.array(system.layout.speed_kinds)
    v = rng.normal(size=len(speeds)) * np.where(speeds == "length", length, 1.0)
    state = State(float(rng.uniform(0.0, 2.0)), q, v, system.layout)
    try:
        state = assemble(system, state).state
        M = system.mass_matrix(state.q, state.t)
        if not np.all(np.isfinite(M)) or (not closed and _condition(M) > WORST_CONDITION):
            return None
        if not np.all(np.isfinite(system.accelerations(state.q, state.v, state.t))):
            return None
        if closed and _nearly_singular(system, state):
            return None
    except (LoopNotClosed, ComputationError, PendulaError, np.linalg.LinAlgError):
        return None
    return state


def _nearly_singular(system: System, state: State) -> bool:
    """Whether the constraints nearly lose rank, so that the mechanism could continue in more than one way."""
    rank = independent_rows(system)
    sizes = singular_values(system, state.q[None], np.array([state.t]))[0]
    return bool(rank and sizes[rank - 1] < LEAST_SINGULAR * sizes[0])


def _condition(M: Array) -> float:
    diagonal = np.diag(M)
    if not np.all(diagonal > 0):
        return np.inf
    scale = np.sqrt(diagonal)
    return float(np.linalg.cond(M / np.outer(scale, scale)))
