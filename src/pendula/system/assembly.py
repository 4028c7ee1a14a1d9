"""Bringing a state onto the constraints: closing loops with the least change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.errors import LoopNotClosed
from pendula.numerics.newton import solve_least_change
from pendula.system.layout import Array, State
from pendula.system.system import Parameters, System

CLOSED = 1e-12
"""Largest gap of an assembled loop, in the model's length unit (and for directions, as a sine)."""


@dataclass(frozen=True)
class Assembly:
    """A consistent state and what had to move to get there."""

    state: State
    moved: dict[str, float]
    """coordinate or speed -> change, for those that changed noticeably"""
    gap: float
    """largest gap left"""


def assemble(system: System, state: State, *, parameters: Parameters = None) -> Assembly:
    """The consistent state nearest to a given one: loops closed, speeds compatible with them.

    Raises:
        LoopNotClosed: no consistent state was found; names the joint, the gap and the bodies involved.
    """
    eq = system.equations
    q, v = np.array(state.q, dtype=float), np.array(state.v, dtype=float)
    for at, _ in system.balls:
        length = np.linalg.norm(q[at : at + 4])
        if not length > 0:
            raise LoopNotClosed(f'the quaternion of "{system.layout.coordinates[at]}" is zero, so it is no rotation')
        q[at : at + 4] /= length
    gap = 0.0
    if eq.loop_rows:
        q, gap = _close(system, q, state.t, parameters)
        v = _compatible_speeds(system, q, v, state.t, parameters)
    found = State(state.t, q, v, system.layout)
    changes = {n: found[n] - state[n] for n in found}
    moved = {n: float(x) for n, x in changes.items() if abs(x) > 1e-9}
    return Assembly(found, moved, gap)


def _close(system: System, q0: Array, t: float, parameters: Parameters) -> tuple[Array, float]:
    m = system.equations.loop_rows

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
        return g[:m], G

    result = solve_least_change(residual, np.zeros(len(system.layout.speeds)), tol=CLOSED, max_iterations=60)
    q = shifted(result.x)
    if not result.converged:
        raise LoopNotClosed(_gap_message(system, q, t, parameters), last=q, residual=result.residual_norm)
    if wrong := system.turned_over(q, t, parameters=parameters):
        raise LoopNotClosed(
            f'joint "{wrong[0]}" closes from this start only with its two sides turned over against each other.\n'
            "  Try: a pose in which they point the same way, with --start or initial.",
            last=q,
            residual=result.residual_norm,
        )
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


def _compatible_speeds(system: System, q: Array, v: Array, t: float, parameters: Parameters) -> Array:
    _, rate = system.gaps(q, v, t, parameters=parameters)
    G = system.constraint_jacobian(q, t, parameters=parameters)
    change, *_ = np.linalg.lstsq(G, -rate, rcond=None)
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
        f'joint "{name}" cannot close: {what} is {abs(g[worst]):.4g} {unit} off (tolerance {CLOSED:g}) '
        "at the best pose found.\n"
        f"  It joins: {', '.join(bodies)}.\n"
        "  Try: check the lengths, or start from a closer pose with --start or initial."
    )
