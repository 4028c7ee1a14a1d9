"""Assembly: moves a state onto the constraints (closes the loops) with the least change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pendula.arguments import read_names
from pendula.errors import LoopNotClosed, UsageError
from pendula.model.bodies import GROUND
from pendula.model.joints import Rotation
from pendula.model.model import Model
from pendula.numerics.solvers.newton import solve_least_change
from pendula.system.layout import Array, State
from pendula.system.orientation.maps import moved
from pendula.system.parameters import Parameters, parameter_vector, typical_length
from pendula.system.rows import state_rows
from pendula.system.system import System
from pendula.words import readable

CLOSED = 1e-15
"""Gap at which a loop counts as closed, relative to the size of the mechanism (for directions, as a sine)."""

CLOSED_ENOUGH = 1e-11
"""Largest relative gap that is accepted if rounding prevents a smaller one."""

FIXED_GAP = 1e-9
"""largest gap, relative to a typical length, of a constraint that no motion changes"""
DEPENDENT = 1e-9
"""Singular values of the scaled G below this fraction of the largest count as zero: rows are linearly dependent."""

ROUNDED = 1e-3
"""Speeds in ``keep`` that contradict each other by less than this fraction count as rounded, and are corrected."""


@readable
@dataclass(frozen=True)
class Assembly:
    """A consistent state, and what had to move to reach it.

    Attributes:
        state: the state.
        moved: coordinate or speed -> change, for changes above 1e-9.
        gap: largest remaining gap in the loops, divided by a typical length (for directions, as a sine).
        system: the system it belongs to.

    Example:
        >>> import pendula
        >>> found = pendula.assemble("four-bar", {"crank": 1.0}, keep={"crank"})
        >>> found.state["crank"], found.gap < 1e-9
        (1.0, True)
    """

    state: State
    moved: dict[str, float]
    gap: float
    system: System | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        moved = ", ".join(f"{name} by {change:.4g}" for name, change in self.moved.items())
        return f"assembled to a gap of {self.gap:.2g}; moved: {moved or 'nothing'}"


def assemble(
    system: System,
    near: State | Mapping[str, float] | None = None,
    *,
    parameters: Parameters = None,
    keep: Collection[str] = (),
    prefer: Collection[str] | None = None,
) -> Assembly:
    """The consistent state nearest to a given one: loops closed, speeds compatible with them.

    Redundant constraints are allowed if they do not contradict each other. What is given by name stays if it can, as at
    the start of a run: first all values that the model or ``near`` state, otherwise those in ``near``, otherwise those
    to ``keep``; the rest changes as little as possible, by the sum of squares.

    Args:
        system: the compiled mechanism.
        near: a State, or changes to the model's initial state by name; default: the initial state.
        parameters: changes of parameters by name, or all values as an array.
        keep: coordinates and speeds to hold. Coordinates are released if the loops cannot be closed otherwise
            (see ``moved``); contradictory speeds raise an error.
        prefer: coordinates and speeds to hold if possible; default: the names in ``near`` (none of a State).

    Raises:
        LoopNotClosed: no consistent state was found (the message names the joint, the gap and the bodies involved), or
            the speeds in ``keep`` contradict the loops.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system("four-bar")
        >>> sorted(assemble(system, {"rocker": 3.9}, keep={"crank", "coupler", "crank_dot"}).moved)
        ['rocker']
    """
    named = () if near is None or isinstance(near, State) else tuple(near)
    written = () if isinstance(near, State) else tuple(system.model.initial)
    prefer = named if prefer is None else prefer
    return assemble_holding(system, near, parameters, keep, ((*prefer, *written), prefer))


def assemble_holding(
    system: System, near: State | Mapping[str, float] | None, parameters: Parameters, keep: Collection[str],
    prefer: Sequence[Collection[str]],
) -> Assembly:  # fmt: skip
    """:func:`assemble` with several sets of names to hold if possible, tried one after the other."""
    vector, joints = parameter_vector(system, parameters), system.in_joints
    own = {*system.layout.coordinates, *system.layout.speeds}
    rotations = {name for name, value in system.model.initial.items() if isinstance(value, Rotation)}
    asked = {*read_names(keep, "keep"), *(n for names in prefer for n in read_names(names, "prefer"))}
    for name in asked - own - rotations:
        joints.layout.position(name)  # raises if there is no such name
    holds = list(dict.fromkeys(frozenset({*keep, *names}) for names in (*prefer, ())))
    state = _near(system, near, vector)
    if state.layout is system.layout:
        return _assemble(system, state, vector, holds)
    if not system.model.closures:
        q = _with_unit_quaternions(np.array(state.q, dtype=float), joints.quaternions, state.layout.coordinates)
        placed = joints.place_state(State(state.t, q, state.v, joints.layout), vector)
        return Assembly(placed, {}, 0.0, system)
    found = _assemble(joints.system, state, vector, holds)  # the joints decide what moves least
    return Assembly(joints.place_state(found.state, vector), found.moved, found.gap, system)


def _assemble(system: System, state: State, parameters: Array, holds: Sequence[frozenset[str]]) -> Assembly:
    """:func:`assemble` for a state in the coordinates of the system; names to hold, tried one after the other."""
    q, v = np.array(state.q, dtype=float), np.array(state.v, dtype=float)
    q = _with_unit_quaternions(q, [at for at, _ in system.balls], system.layout.coordinates)
    gap = 0.0
    if system.model.closures:
        _check_fixed_gaps(system, parameters)
    if system.loop_rows:
        q, gap = _close(system, q, state.t, parameters, holds)
        v = _compatible_speeds(system, q, v, state.t, parameters, holds)
    if wrong := _turned_over(system, q, state.t, parameters):
        raise LoopNotClosed(
            f'joint "{wrong[0]}" closes from this start only with its two sides pointing in opposite directions.\n'
            "  Try: a pose in which they point the same way, or another initial state.",
            last=q,
            residual=gap,
        )
    result = State(state.t, q, v, system.layout)
    changes = {n: result[n] - state[n] for n in result}
    moved = {n: float(x) for n, x in changes.items() if abs(x) > 1e-9}
    return Assembly(result, moved, gap, system)


def _turned_over(system: System, q: Array, t: float, parameters: Array) -> list[str]:
    """Closing joints whose two sides point in opposite directions."""
    if not system.model.closures:
        return []
    rows, _ = state_rows(system.layout, q, None, t, system.inputs.none)
    return system.constraints.turned_over(rows[0], parameters)


def _with_unit_quaternions(q: Array, balls: Sequence[int], names: Sequence[str]) -> Array:
    for at in balls:
        length = np.linalg.norm(q[at : at + 4])
        if not length > 0:
            raise LoopNotClosed(f'the quaternion of "{names[at]}" is zero, so it is not a rotation')
        q[at : at + 4] /= length
    return q


def _near(system: System, near: State | Mapping[str, float] | None, parameters: Parameters) -> State:
    if near is None or isinstance(near, Mapping):
        return system.in_joints.initial_state(parameters).replace(near or {})
    if not isinstance(near, State):
        raise UsageError(f"near is a State or values by name, found {type(near).__name__}")
    names = (near.layout.coordinates, near.layout.speeds)
    for layout in (system.layout, system.in_joints.layout):
        if names == (layout.coordinates, layout.speeds):
            return State(near.t, near.q, near.v, layout)
    there, here = (", ".join(x[:6]) for x in (names[0], system.layout.coordinates))
    raise UsageError(f"the state belongs to another system: it has {there}; this one has {here}")


def row_scales(system: System, parameters: Parameters = None) -> Array:
    """Divisors that make the constraint rows dimensionless: a typical length for gaps, 1 for directions."""
    length = typical_length(system, parameters)
    names = system.constraint_names[: system.loop_rows]
    return np.array([length if "gap" in name else 1.0 for name in names])


def _check_fixed_gaps(system: System, parameters: Array) -> None:
    """Raises if a constraint that no motion changes does not hold for these parameters."""
    gaps = system.constraints.fixed_gaps(parameters)
    length = typical_length(system, parameters)
    sizes = {name: abs(gap) / (length if "gap" in name else 1.0) for name, gap in gaps.items()}
    worst = max(sizes, key=lambda name: sizes[name], default="")
    if gaps and not sizes[worst] < FIXED_GAP:
        name, _, what = worst.partition(": ")
        raise LoopNotClosed(
            f'joint "{name}" cannot close: {what} is {abs(gaps[worst]):.6g} for these parameters, '
            "and no motion changes it.\n"
            "  Try: check the parameters its two sides depend on."
        )


def _close(
    system: System, q0: Array, t: float, parameters: Parameters, holds: Sequence[frozenset[str]]
) -> tuple[Array, float]:
    m = system.loop_rows
    scale = row_scales(system, parameters)

    def shifted(s: Array) -> Array:
        return moved(system, q0, s)

    def residual(s: Array) -> tuple[Array, Array]:
        q = shifted(s)
        g, _ = system.gaps(q, None, t, parameters=parameters)
        G = system.constraint_jacobian(q, t, parameters=parameters)
        return g[:m] / scale, G / scale[:, None]

    names = [name.removesuffix("_dot") for name in system.layout.speeds]
    start = np.zeros(len(names))
    for held in dict.fromkeys((*(frozenset(n for n in names if n in some) for some in holds), frozenset[str]())):
        weights = np.array([np.inf if name in held else 1.0 for name in names])
        result = solve_least_change(residual, start, tol=CLOSED, max_iterations=60, weights=weights)
        if result.residual_norm <= CLOSED_ENOUGH:
            break
    q = shifted(result.x)
    if not result.residual_norm <= CLOSED_ENOUGH:
        raise LoopNotClosed(_gap_message(system, q, t, parameters), last=q, residual=result.residual_norm)
    return q, float(result.residual_norm)


def _compatible_speeds(
    system: System, q: Array, v: Array, t: float, parameters: Parameters, holds: Sequence[frozenset[str]]
) -> Array:
    """The speeds with G v = b nearest to v. Holds those named in the first of ``holds``, else those in the next."""
    scale = row_scales(system, parameters)
    rate = system.gaps(q, v, t, parameters=parameters)[1] / scale
    G = system.constraint_jacobian(q, t, parameters=parameters) / scale[:, None]
    enough = 1e-9 * (1.0 + np.abs(rate).max())

    def left(change: Array) -> float:
        return float(np.abs(G @ change + rate).max())

    for held in holds:
        change = _least_change(G, rate, np.array([name not in held for name in system.layout.speeds]))
        if left(change) <= enough:
            return np.asarray(v + change)
    change = _least_change(G, rate, np.ones(len(v), dtype=bool))
    if not left(change) <= enough:
        unit = system.model.unit_names.speed("length")
        raise LoopNotClosed(
            f"no speeds are compatible with the loops: a gap still opens at {left(change) * scale.max():.3g} {unit}. "
            "The mechanism is locked at this pose against its prescribed motion.\n"
            "  Try: a pose that is not at a dead point, or a smaller prescribed rate.",
            last=v + change,
            residual=left(change),
        )
    kept = [k for k, name in enumerate(system.layout.speeds) if name in holds[-1]]
    if kept and np.abs(change[kept]).max() > ROUNDED * np.abs(v[kept]).max(initial=0.0):
        raise LoopNotClosed(_contradiction(system, G, rate, v, kept, v + change), last=v + change, residual=left(0 * v))
    return np.asarray(v + change)


def _least_change(G: Array, rate: Array, free: Array) -> Array:
    """The smallest change of the free speeds that solves G change = -rate, in the least-squares sense."""
    change = np.zeros(len(free))
    if free.any():
        change[free] = np.linalg.lstsq(G[:, free], -rate, rcond=DEPENDENT)[0]
    return change


def _contradiction(system: System, G: Array, rate: Array, v: Array, kept: list[int], nearest: Array) -> str:
    """Why the requested speeds are impossible."""
    names, units = system.layout.speeds, system.layout.units
    free = np.array([k not in kept for k in range(len(v))])
    worst = int(np.argmax(np.abs(G @ _least_change(G, rate, free) + rate)))
    joint = system.constraint_names[worst].partition(":")[0]

    def listed(values: Array) -> str:
        return ", ".join(f"{names[k]} = {values[k]:.6g} {units[names[k]]}" for k in kept)

    moving = [k for k in kept if v[k] != 0.0]
    what = f"the speeds {listed(v)} contradict each other"
    if len(kept) == 1 or len(moving) == 1:
        what = f"the mechanism cannot move with {listed(v)} from this pose: it is locked there (a dead point)"
    return (
        f'{what}: joint "{joint}" would not stay closed.\n'
        f"  The nearest compatible speeds are {listed(nearest)}.\n"
        "  Try: give fewer speeds, so that the others follow from the loops; or another pose."
    )


def _gap_message(system: System, q: Array, t: float, parameters: Parameters) -> str:
    m = system.loop_rows
    g, _ = system.gaps(q, None, t, parameters=parameters)
    scale = row_scales(system, parameters)
    worst = int(np.argmax(np.abs(g[:m] / scale)))
    name, _, what = system.constraint_names[worst].partition(": ")
    unit = f" {system.model.unit_names.length}" if "gap" in what else ""
    G = system.constraint_jacobian(q, t, parameters=parameters) / scale[:, None]
    rank = int(np.linalg.matrix_rank(G, rtol=1e-6)) if np.all(np.isfinite(G)) else m
    # dependent rows cannot all be satisfied unless the parts fit exactly
    redundancy = (
        f"  The constraints depend on each other there ({m} rows, {rank} independent) and are inconsistent.\n"
        if rank < m
        else ""
    )
    return (
        f'joint "{name}" cannot close: {what} is {abs(g[worst]):.4g}{unit} off '
        f"(allowed: {CLOSED_ENOUGH:g} of its size) at the best pose found.\n"
        f"  Bodies on the loop: {', '.join(_loop_bodies(system.model, name))}.\n"
        f"{redundancy}"
        "  Try: check the lengths, or start from a closer pose."
    )


def _loop_bodies(model: Model, joint: str) -> list[str]:
    """Bodies on the loop that a joint closes, from its parent side to its child side."""
    above = {j.child.body: j.parent.body for j in model.tree}

    def way(body: str) -> list[str]:
        found = [body]
        while found[-1] in above:
            found.append(above[found[-1]])
        return found

    closing = model.joint(joint)
    one, other = way(closing.parent.body), way(closing.child.body)
    meet = next((body for body in one if body in other), GROUND)
    return [*one[: one.index(meet)], meet, *reversed(other[: other.index(meet)])]
