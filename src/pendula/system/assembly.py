"""Bringing a state onto the constraints: closing loops with the least change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.errors import LoopNotClosed
from pendula.numerics.newton import solve_least_change
from pendula.system.layout import Array, State
from pendula.system.system import Parameters, System

CLOSED = 1e-15
"""Gap at which a loop counts as closed, relative to the size of the mechanism (for directions, as a sine)."""

CLOSED_ENOUGH = 1e-11
"""Largest relative gap that is accepted where rounding does not let it become smaller."""


@dataclass(frozen=True)
class Assembly:
    """A consistent state and what had to move to get there."""

    state: State
    moved: dict[str, float]
    """coordinate or speed -> change, for those that changed noticeably"""
    gap: float
    """largest gap left"""


def assemble(system: System, state: State, *, parameters: Parameters = None, keep: Collection[str] = ()) -> Assembly:
    """The consistent state nearest to a given one: loops closed, speeds compatible with them.

    Coordinates and speeds named in ``keep`` are held where that is possible; otherwise all may move.

    Raises:
        LoopNotClosed: no consistent state was found; names the joint, the gap and the bodies involved.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.four_bar())
        >>> rough = system.initial_state().replace({"rocker": 3.9})
        >>> sorted(assemble(system, rough, keep={"crank", "coupler", "crank_dot"}).moved)
        ['rocker']
    """
    eq = system.equations
    if eq.nodes and state.layout == system.joint_layout:  # the joints decide what moves least
        if system.model.closures:
            found = assemble(system.in_joints, state, parameters=parameters, keep=keep)
        else:
            balls = [
                state.layout.coordinates.index(j.coordinates()[-4].name) for j in system.model.tree if j.quaternion()
            ]
            q = _with_unit_quaternions(np.array(state.q, dtype=float), balls, state.layout.coordinates)
            found = Assembly(State(state.t, q, state.v, state.layout), {}, 0.0)
        return Assembly(system.placed(found.state, parameters), found.moved, found.gap)
    q, v = np.array(state.q, dtype=float), np.array(state.v, dtype=float)
    q = _with_unit_quaternions(q, [at for at, _ in system.balls], system.layout.coordinates)
    gap = 0.0
    _check_fixed_gaps(system, parameters)
    if eq.loop_rows:
        q, gap = _close(system, q, state.t, parameters, keep)
        v = _compatible_speeds(system, q, v, state.t, parameters, keep)
    if wrong := system.turned_over(q, state.t, parameters=parameters):
        raise LoopNotClosed(
            f'joint "{wrong[0]}" closes from this start only with its two sides turned over against each other.\n'
            "  Try: a pose in which they point the same way, with --start or initial.",
            last=q,
            residual=gap,
        )
    result = State(state.t, q, v, system.layout)
    changes = {n: result[n] - state[n] for n in result}
    moved = {n: float(x) for n, x in changes.items() if abs(x) > 1e-9}
    return Assembly(result, moved, gap)


def _assemble_joints(system: System, state: State, parameters: Parameters, keep: Collection[str]) -> Assembly:
    """Closes loops in the joints' coordinates, then places the bodies."""
    if system.model.closures:
        found = assemble(system.in_joints, state, parameters=parameters, keep=keep)
        return Assembly(system.placed(found.state, parameters), found.moved, found.gap)
    names = state.layout.coordinates
    balls = [names.index(j.coordinates()[-4].name) for j in system.model.tree if j.quaternion()]
    q = _with_unit_quaternions(np.array(state.q, dtype=float), balls, names)
    return Assembly(system.placed(State(state.t, q, state.v, state.layout), parameters), {}, 0.0)


def _with_unit_quaternions(q: Array, balls: Sequence[int], names: Sequence[str]) -> Array:
    for at in balls:
        length = np.linalg.norm(q[at : at + 4])
        if not length > 0:
            raise LoopNotClosed(f'the quaternion of "{names[at]}" is zero, so it is no rotation')
        q[at : at + 4] /= length
    return q


def _check_fixed_gaps(system: System, parameters: Parameters) -> None:
    """Constraints that no motion changes must hold for the parameters of this run too."""
    fixed = system.equations.fixed_gaps
    if not fixed:
        return
    gaps = system.fixed_gaps(parameters)
    worst = int(np.argmax(np.abs(gaps)))
    if not abs(gaps[worst]) < 1e-9:
        name, _, what = fixed[worst][0].partition(": ")
        raise LoopNotClosed(
            f'joint "{name}" cannot close: {what} is {abs(gaps[worst]):.6g} for these parameters, '
            "and no motion changes it.\n"
            "  Try: check the parameters its two sides depend on."
        )


def _close(system: System, q0: Array, t: float, parameters: Parameters, keep: Collection[str]) -> tuple[Array, float]:
    m = system.equations.loop_rows
    length = system.typical_length(parameters)
    scale = np.array([length if "gap" in name else 1.0 for name in system.equations.constraint_names[:m]])

    def shifted(s: Array) -> Array:
        """q0 moved by N s (small turns of a ball joint multiply its quaternion)."""
        q = q0.copy()
        for i, k in enumerate(system.speed_of):
            if k >= 0:
                q[i] += s[k]
        for at, k in system.balls:
            q[at : at + 4] = _turned(q0[at : at + 4], s[k : k + 3])
        return q

    def residual(s: Array) -> tuple[Array, Array]:
        q = shifted(s)
        g, _ = system.gaps(q, None, t, parameters=parameters)
        G = system.constraint_jacobian(q, t, parameters=parameters)
        return g[:m] / scale, G / scale[:, None]

    held = [name.removesuffix("_dot") in keep for name in system.layout.speeds]
    start = np.zeros(len(held))
    weights = np.where(held, np.inf, 1.0)
    result = solve_least_change(residual, start, tol=CLOSED, max_iterations=60, weights=weights)
    if not result.residual_norm <= CLOSED_ENOUGH:
        result = solve_least_change(residual, start, tol=CLOSED, max_iterations=60)
    q = shifted(result.x)
    if not result.residual_norm <= CLOSED_ENOUGH:
        raise LoopNotClosed(_gap_message(system, q, t, parameters), last=q, residual=result.residual_norm)
    return q, float(result.residual_norm)


def _turned(q: Array, s: Array) -> Array:
    angle = float(np.linalg.norm(s))
    if angle == 0.0:
        return q
    half = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * s / angle])
    w, x, y, z = q
    a, b, c, d = half
    return np.array(
        [
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c + y * a + z * b - x * d,
            w * d + z * a + x * c - y * b,
        ]
    )


def _compatible_speeds(
    system: System, q: Array, v: Array, t: float, parameters: Parameters, keep: Collection[str]
) -> Array:
    _, rate = system.gaps(q, v, t, parameters=parameters)
    G = system.constraint_jacobian(q, t, parameters=parameters)
    free = np.array([name not in keep for name in system.layout.speeds])
    change = np.zeros(len(free))
    change[free] = np.linalg.lstsq(G[:, free], -rate, rcond=None)[0]
    if np.abs(G @ change + rate).max() > 1e-9 * (1.0 + np.abs(rate).max()):
        change = np.linalg.lstsq(G, -rate, rcond=None)[0]
    fixed = v + change
    left = np.abs(system.gaps(q, fixed, t, parameters=parameters)[1]).max()
    if not left < 1e-9 * (1.0 + np.abs(rate).max()):
        raise LoopNotClosed(
            f"no speeds are compatible with the loops: a gap still opens at {left:.3g} "
            f"{system.model.unit_names.speed('length')}.\n"
            "  Try: a pose that is not at a dead point, or a smaller prescribed rate."
        )
    return np.asarray(fixed)


def _gap_message(system: System, q: Array, t: float, parameters: Any) -> str:
    g, _ = system.gaps(q, None, t, parameters=parameters)
    worst = int(np.argmax(np.abs(g[: system.equations.loop_rows])))
    name, _, what = system.equations.constraint_names[worst].partition(": ")
    joint = system.model.joint(name)
    unit = system.model.unit_names.length
    bodies = sorted({joint.parent.body, joint.child.body})
    return (
        f'joint "{name}" cannot close: {what} is {abs(g[worst]):.4g} {unit} off '
        f"(allowed: {CLOSED_ENOUGH:g} of its size) at the best pose found.\n"
        f"  It joins: {', '.join(bodies)}.\n"
        "  Try: check the lengths, or start from a closer pose with --start or initial."
    )
