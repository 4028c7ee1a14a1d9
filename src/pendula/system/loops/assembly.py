"""Assembly: moves a state onto the constraints (closes the loops) with the least change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pendula.arguments import read_name_or_names, read_names, read_table
from pendula.errors import LoopNotClosed, UsageError
from pendula.model.bodies import GROUND
from pendula.model.joints import Rotation
from pendula.model.model import Model
from pendula.numerics.solvers.newton import LeastChange, solve_least_change
from pendula.system.code.rows import state_rows
from pendula.system.layout import Array, State
from pendula.system.loops.speeds import ROUNDED, STIFF, compatible_speeds, row_scales
from pendula.system.orientation.maps import moved
from pendula.system.parameters import Parameters, parameter_vector, typical_length, typical_steps
from pendula.system.system import System
from pendula.words import readable

CLOSED = 1e-15
"""Gap at which a loop counts as closed, relative to the size of the mechanism (for directions, as a sine)."""

CLOSED_ENOUGH = 1e-11
"""Largest relative gap that is accepted if rounding prevents a smaller one."""

FIRM = 1e8
"""weight of given values against the others, once the loops are closed"""
BACK, CLOSING = 8, 6
"""steps back towards given values, and in each of them, steps that close the loops"""

FIXED_GAP = 1e-9
"""largest gap, relative to a typical length, of a constraint that no motion changes"""
DISPLACED = (0.1, 0.3, 1.0)
"""Displacements that are tried to leave a dead point, in radians or typical lengths."""

MOVED = 1e-9
"""Changes of coordinates and speeds above this are reported."""

ELSEWHERE = 24
"""Random poses from which a loop is closed if it cannot be closed from the given one."""

SINGULAR = 1e-6
"""Singular values of the scaled G below this fraction of its largest entry count as zero at a dead point."""


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
    near: State | Mapping[str, Any] | None = None,
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
    if not isinstance(near, State):
        near = system.in_joints.layout.by_coordinates(read_table(near, "near"))
    named = () if isinstance(near, State) else tuple(near)
    written = () if isinstance(near, State) else tuple(system.model.initial)
    prefer = named if prefer is None else read_name_or_names(prefer, "prefer")
    return assemble_holding(system, near, parameters, keep, ((*prefer, *written), prefer))


def assemble_holding(
    system: System, near: State | Mapping[str, Any] | None, parameters: Parameters, keep: Collection[str],
    prefer: Sequence[Collection[str]], *, anywhere: bool | None = None,
) -> Assembly:  # fmt: skip
    """:func:`assemble` with several sets of names to hold if possible, tried one after the other.

    ``anywhere``: whether to look for poses all over, if none is found nearby; default: unless ``near`` is a State.
    """
    vector, joints = parameter_vector(system, parameters), system.in_joints
    own = {*system.layout.coordinates, *system.layout.speeds}
    rotations = {name for name, value in system.model.initial.items() if isinstance(value, Rotation)}
    asked = {*read_names(keep, "keep"), *(n for names in prefer for n in read_names(names, "prefer"))}
    for name in asked - own - rotations:
        joints.layout.position(name)  # raises if there is no such name
    holds = list(dict.fromkeys(frozenset({*keep, *names}) for names in (*prefer, ())))
    state = _near(system, near, vector)
    anywhere = not isinstance(near, State) if anywhere is None else anywhere
    close = _assemble_anywhere if anywhere else _assemble
    if state.layout is system.layout:
        return close(system, state, vector, holds)
    if not system.model.closures:
        q = _with_unit_quaternions(np.array(state.q, dtype=float), joints.quaternions, state.layout.coordinates)
        placed = joints.place_state(State(state.t, q, state.v, joints.layout), vector)
        return Assembly(placed, {}, 0.0, system)
    found = close(joints.system, state, vector, holds)  # the joints decide what moves least
    return Assembly(joints.place_state(found.state, vector), found.moved, found.gap, system)


def _assemble_anywhere(system: System, state: State, parameters: Array, holds: Sequence[frozenset[str]]) -> Assembly:
    """:func:`_assemble`; where it fails, the nearest of the poses that it finds from all over, with the same holds.

    A person gives one angle of a linkage and leaves the others at zero, from where Newton's method may lead nowhere, or
    only to poses with another value of that angle.
    """
    failed: LoopNotClosed | None = None
    changed: Assembly | None = None
    try:
        changed = _assemble(system, state, parameters, holds)
        coordinates = {*system.layout.coordinates}
        least = [names for names in holds if names & coordinates][-1:]
        if not any(abs(changed.moved.get(name, 0.0)) > ROUNDED for names in least for name in names & coordinates):
            return changed
        holds = least
    except LoopNotClosed as error:
        failed = error
    steps, held = typical_steps(system, parameters), _held(system, holds[0])
    if changed is not None and held.all():
        return changed
    some, best = np.random.default_rng(0), None
    for _ in range(ELSEWHERE):
        shift = np.where(held, 0.0, np.pi * steps * some.uniform(-1.0, 1.0, len(steps)))
        try:
            found = _assemble(system, replace(state, q=moved(system, state.q, shift)), parameters, holds[:1], state)
        except LoopNotClosed:
            continue
        gave_way = any(abs(found.moved.get(name, 0.0)) > ROUNDED for name in holds[0])
        if not gave_way and (best is None or _distance(found) < _distance(best)):
            best = found
    if best is not None:
        return best
    if changed is None:
        assert failed is not None
        raise failed
    return changed


def _distance(found: Assembly) -> float:
    return float(np.linalg.norm([x for n, x in found.moved.items() if n in found.state.layout.coordinates]))


def _assemble(
    system: System, state: State, parameters: Array, holds: Sequence[frozenset[str]], given: State | None = None
) -> Assembly:
    """:func:`assemble` for a state in the coordinates of the system; names to hold, tried one after the other.

    ``given`` is the state to which the result is compared, if the search starts from another one.
    """
    q, v = np.array(state.q, dtype=float), np.array(state.v, dtype=float)
    q = _with_unit_quaternions(q, [at for at, _ in system.balls], system.layout.coordinates)
    gap = 0.0
    if system.model.closures:
        _check_fixed_gaps(system, parameters)
    if system.loop_rows:
        q, gap = _close(system, q, state.t, parameters, holds)
        q = _shorter_way(system, q, (given or state).q, state.t, parameters)
        v = compatible_speeds(system, q, v, state.t, parameters, holds)
    if wrong := turned_over(system, q, state.t, parameters):
        raise LoopNotClosed(
            f'joint "{wrong[0]}" closes from this start only with its two sides pointing in opposite directions.\n'
            "  Try: a pose in which they point the same way, or another initial state.",
            last=q,
            residual=gap,
        )
    result = State(state.t, q, v, system.layout)
    changes = {n: result[n] - (given or state)[n] for n in result}
    return Assembly(result, {n: float(x) for n, x in changes.items() if abs(x) > MOVED}, gap, system)


def _shorter_way(system: System, q: Array, given: Array, t: float, parameters: Array) -> Array:
    """The same pose with every angle within half a turn of the given one, if the loops stay closed: gears may not."""
    angles = np.array([kind == "angle" for kind in system.layout.coordinate_kinds])
    turns = np.where(angles, np.round((q - given) / (2 * np.pi)), 0.0)
    if not turns.any():
        return q
    closer = q - 2 * np.pi * turns
    scale = row_scales(system, parameters)
    gaps = system.gaps(closer, None, t, parameters=parameters)[0][: system.loop_rows]
    return closer if np.abs(gaps / scale).max(initial=0.0) <= CLOSED_ENOUGH else q


def turned_over(system: System, q: Array, t: float, parameters: Array) -> list[str]:
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


def _near(system: System, near: State | Mapping[str, Any] | None, parameters: Parameters) -> State:
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
    """Coordinates that close the loops, near q0, and their gap.

    It holds the first set of ``holds`` for which the remaining coordinates can close the loops. If there is no such
    set, held values that contradict each other by no more than rounding may change that little: those of the first set
    for which this is enough. Otherwise the values of the last set change by more.
    """
    closing, found, opened = _Closing(system, q0, t, parameters), None, list[tuple[Array, Array]]()
    masks = {mask.tobytes(): mask for mask in (_held(system, names) for names in holds) if mask.any()}
    limit = ROUNDED * typical_steps(system, parameters)
    for held in masks.values():
        result = closing.holding(held)
        if closing.is_closed(result):
            return closing.at(result.x), result.residual_norm
        opened.append((held, result.x))
    for held, start in opened:
        stiff = np.where(held, STIFF, 1.0)
        result = closing.solve(start, stiff)
        if closing.is_closed(result):
            found = result if np.all(np.abs(result.x) <= limit, where=held) else closing.nearer(result, held)
            if np.all(np.abs(found.x) <= limit, where=held):
                break
    if found is None:
        found = closing.solve(np.zeros(len(limit)))
    q = closing.at(found.x)
    if not closing.is_closed(found):
        raise LoopNotClosed(_gap_message(system, q, t, parameters), last=q, residual=found.residual_norm)
    return q, found.residual_norm


class _Closing:
    """Closes the loops by displacements along the speeds from one pose."""

    def __init__(self, system: System, q0: Array, t: float, parameters: Parameters) -> None:
        self._system, self._q0, self._t, self._parameters = system, q0, t, parameters
        self._scale = row_scales(system, parameters)

    def at(self, s: Array) -> Array:
        """The coordinates after a displacement."""
        return moved(self._system, self._q0, s)

    def residual(self, s: Array) -> tuple[Array, Array]:
        """Dimensionless gaps and their changes with the displacement."""
        q, m = self.at(s), self._system.loop_rows
        g, _ = self._system.gaps(q, None, self._t, parameters=self._parameters)
        G = self._system.constraint_jacobian(q, self._t, parameters=self._parameters)
        return g[:m] / self._scale, G / self._scale[:, None]

    @staticmethod
    def is_closed(result: LeastChange) -> bool:
        return result.residual_norm <= CLOSED_ENOUGH

    def solve(self, start: Array, weights: Array | None = None) -> LeastChange:
        """The least change from a displacement."""
        return solve_least_change(self.residual, start, tol=CLOSED, max_iterations=60, weights=weights)

    def holding(self, held: Array) -> LeastChange:
        """The smallest gap with some coordinates held.

        If the others do not change a gap to first order in the pose where this begins or ends (at a dead point), it
        begins again with these displaced a little, by the same numbers every time.
        """
        weights = np.where(held, np.inf, 1.0)
        result = self.solve(np.zeros(len(held)), weights)
        if held.all() or self.is_closed(result):
            return result
        here = min(self._rank(np.zeros(len(held)), held), self._rank(result.x, held))
        some = np.random.default_rng(0)
        sizes = typical_steps(self._system, self._parameters)
        for size in DISPLACED:
            start = np.where(held, 0.0, size * sizes * some.uniform(-1.0, 1.0, len(held)))
            if not here < self._rank(start, held):
                break
            again = self.solve(start, weights)
            if self.is_closed(again):
                return again
        return result

    def nearer(self, found: LeastChange, held: Array) -> LeastChange:
        """The same with less change of held values, or none: back along the motions that the closed loops allow.

        Rows that depend on each other only where the loops are closed lead astray next to it: their slopes here count.
        """
        weights = np.where(held, FIRM, 1.0)
        root = np.sqrt(weights)
        for _ in range(BACK):
            left, sizes, ways = np.linalg.svd(self.residual(found.x)[1] / root)
            rank = int(np.sum(sizes > SINGULAR * sizes.max(initial=0.0)))
            free, inverse = ways[rank:].T, (ways[:rank].T / sizes[:rank]) @ left[:, :rank].T
            x = found.x - free @ (free.T @ (root * found.x)) / root
            for _ in range(CLOSING):
                x = x - inverse @ self.residual(x)[0] / root
            again = self.solve(x, weights)
            if not (self.is_closed(again) and np.linalg.norm(root * again.x) < 0.99 * np.linalg.norm(root * found.x)):
                break
            found = again
        exactly = self.solve(np.where(held, 0.0, found.x), np.where(held, np.inf, 1.0))
        return exactly if self.is_closed(exactly) else found

    def _rank(self, s: Array, held: Array) -> int:
        """Number of gaps that the coordinates that are not held change independently of each other."""
        G = self.residual(s)[1]
        return int(np.linalg.matrix_rank(G[:, ~held], tol=SINGULAR * np.abs(G).max())) if np.all(np.isfinite(G)) else 0


def _held(system: System, names: Collection[str]) -> Array:
    """For every speed, whether the displacement along it is held: that of a coordinate, or of an orientation."""
    layout = system.layout
    held = np.zeros(len(layout.speeds), dtype=bool)
    for name, speed in zip(layout.coordinates, layout.speed_of, strict=True):
        if speed >= 0:
            held[speed] = name in names
    for one in layout.orientations:
        parts = () if one.axes == "rates" else layout.coordinates[one.q]  # any of these gives all of it
        held[one.v] |= one.joint in names or any(name in names for name in parts)
    return held


def not_kept(found: Assembly, names: Collection[str], parameters: Parameters = None) -> str:
    """What the loops did not allow of some given coordinates, beyond rounding, in words; empty if they stayed."""
    assert found.system is not None
    layout, length = found.system.in_joints.layout, typical_length(found.system, parameters)
    here = found.system.in_joints.read_state(found.state, parameter_vector(found.system, parameters))
    kinds = dict(zip(layout.coordinates, layout.coordinate_kinds, strict=True))
    given = [n for n in kinds if n in names and n not in _kept_orientations(found, here)]
    limits = {n: ROUNDED * (length if kinds[n] == "length" else 1.0) for n in given}
    if not any(abs(found.moved.get(n, 0.0)) > limits[n] for n in given):
        return ""

    def listed(values: Mapping[str, float]) -> str:
        return ", ".join(f"{n} = {x:.6g} {layout.units[n]}".rstrip() for n, x in values.items())

    used = {n: here[n] for n in given}
    asked = listed({n: here[n] - found.moved.get(n, 0.0) for n in given})
    why = ", which contradict each other" if len(given) > 1 else ""
    return f"the loops could not be closed with {asked}{why}; the nearest pose found has {listed(used)}"


def _kept_orientations(found: Assembly, here: State) -> set[str]:
    """Components of quaternions that changed their length alone, or nearly so: every length means the same turn."""
    assert found.system is not None
    layout, kept = found.system.in_joints.layout, set[str]()
    for one in layout.orientations:
        names = layout.coordinates[one.q]
        now = np.array([here[n] for n in names])
        asked = now - [found.moved.get(n, 0.0) for n in names]
        if len(names) == 4 and np.abs(asked / (np.linalg.norm(asked) or 1.0) - now).max() <= 0.5 * ROUNDED:
            kept.update(names)
    return kept


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
