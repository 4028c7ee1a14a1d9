"""Constraints in a run: check of the initial pose, rate of Baumgarte stabilization, singular poses along the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.errors import SingularPose
from pendula.numerics.steppers.stepping import integrate
from pendula.system.dynamics import Dynamics
from pendula.system.layout import Array, State
from pendula.system.loops.assembly import row_scales
from pendula.system.loops.mobility import look_at, mobility
from pendula.system.system import System
from pendula.words import counted, some

PILOT_STEPS = 50
"""Steps of the trial run that determines the rate of Baumgarte stabilization."""

STEPS_TO_DECAY = 3.0
"""Number of steps in which stabilization reduces a constraint error by a factor e."""

CLOSE_BY = 1e-3
"""A pose is nearly singular if the smallest singular value of G is below this fraction of its maximum over the run."""

LOCKED = 0.05
"""The same for the last pose of a run that failed."""

_BUDGET = 0.2  # approximate seconds for examining the poses of a run


def check_start(system: System, start: State, vector: Array) -> tuple[str, ...]:
    """Notes on redundant constraints.

    Raises:
        SingularPose: the initial pose is singular, so the mechanism can continue in more than one way.
    """
    if not system.model.closures:
        return ()
    start, system = system.in_joints.read_state(start, vector), system.in_joints.system
    here, usual = look_at(system, start, vector).rank, mobility(system, vector)
    if here < usual.rank:
        usual = mobility(system, vector, look_again=True)
    if here < usual.rank:
        values = ", ".join(f"{n} = {start[n]:.6g}" for n in system.layout.coordinates[:6])
        raise SingularPose(
            f"singular pose: at the start ({values}) only {here} of {usual.rank} independent constraints remain, so "
            "the mechanism can continue in two ways from there, and its accelerations are not determined.\n"
            "  Try: a start slightly to one side of it."
        )
    return (usual.text,) if usual.redundant else ()


def stabilization_rate(
    dynamics: Dynamics, y0: Array, span: tuple[float, float], quadratures: int, **settings: Any
) -> float:
    """A rate for Baumgarte stabilization such that errors decay over a few steps.

    A slower rate lets errors accumulate, a faster one makes the equations stiff and the steps shorter: a rate of 1/step
    triples the steps of a four-bar linkage, a third of that rate adds a fifth. The step is the fixed one, or the median
    step of a short trial run without stabilization at the same tolerance.
    """
    if settings.get("step"):
        return 1.0 / (STEPS_TO_DECAY * float(settings["step"]))
    trial = integrate(dynamics.rhs, y0, span, quadratures=quadratures, max_steps=PILOT_STEPS, **settings)
    steps = np.abs(np.diff(trial.t))
    if not steps.size:
        return 1.0 / (abs(span[1] - span[0]) or 1.0)
    return float(1.0 / (STEPS_TO_DECAY * np.median(steps[len(steps) // 4 :])))


def pose_notes(
    system: System, t: Array, q: Array, vector: Array, passed: Array, *, stopped: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Notes on where a run came close to a singular pose, passed through one, or ended at one; and doubts about it.

    Args:
        system, vector: the mechanism and its parameters.
        t, q: times and coordinates of the steps.
        passed: times of singular poses that the run passed on a verified branch.
        stopped: whether the run had to stop.
    """
    if not system.model.closures:
        return (), ()
    q, _ = system.in_joints.read(q, np.zeros((len(q), len(system.layout.speeds))), t, parameters=vector)
    system = system.in_joints.system
    n, m = len(system.layout.speeds), system.loop_rows
    rank = mobility(system, vector).rank if m else 0
    if not rank or len(t) < 2:
        return (), ()
    stride = max(1, int(np.ceil(len(t) * (5e-6 + 5e-9 * m * m * n) / _BUDGET)))
    index = np.unique(np.append(np.arange(0, len(t), stride), len(t) - 1))
    G = system.constraint_jacobian(q[index], t[index], parameters=vector) / row_scales(system, vector)[:, None]
    good = np.all(np.isfinite(G), axis=(1, 2))
    G, times = G[good], t[index][good]
    left, sizes, right = np.linalg.svd(G, full_matrices=False)
    least = sizes[:, rank - 1]
    scale = float(least.max(initial=0.0))
    if not scale > 0:
        return (), ()
    unit = system.model.unit_names.time
    if stopped and least[-1] < LOCKED * scale:
        text = (
            f"the run ends near a singular pose (t = {times[-1]:.6g} {unit}): the constraints nearly lose rank, so "
            "the mechanism locks there (a dead point), or could continue in more than one way"
        )
        return (text,), ()
    crossed = _turned_over(left[..., :rank], right[:, :rank]) if stride == 1 else np.zeros(0, dtype=bool)
    crossed &= np.minimum(least[1:], least[:-1])[: len(crossed)] < 0.5 * scale
    crossed &= ~_between(times[:-1], times[1:], passed)[: len(crossed)]
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    if passed.size:
        notes += (
            f"passed {counted(passed.size, 'singular pose')} (t = {some([f'{x:.6g}' for x in passed])} {unit}) along "
            "the branch that continues the motion with the same tangent and curvature",
        )
    if crossed.any():
        where = some([f"{x:.4g}" for x in times[1:][crossed]])
        doubts += (
            f"the constraints lost rank before t = {where} {unit}, and the run may have changed its branch there",
        )
    k = int(np.argmin(least))
    if not notes and not doubts and least[k] < CLOSE_BY * scale:
        notes += (
            f"the mechanism came close to a singular pose at t = {times[k]:.6g} {unit} (least singular value of the "
            f"constraints {least[k] / scale:.2g} of its largest): there it could have taken another branch",
        )
    return notes, doubts


def _between(first: Array, last: Array, times: Array) -> Array:
    """Which of some intervals of time contain one of some times."""
    low, high = np.minimum(first, last)[:, None], np.maximum(first, last)[:, None]
    return np.asarray(np.any((low <= times) & (times <= high), axis=1))


def _turned_over(left: Array, right: Array) -> Array:
    """Between which poses G lost rank: the relative orientation of its row and column spaces then changes.

    While the rank is constant, the determinants for neighbouring poses have a positive product; a simple zero of a
    singular value between them changes its sign.
    """
    first = np.linalg.det(np.swapaxes(left[:-1], -1, -2) @ left[1:])
    second = np.linalg.det(right[:-1] @ np.swapaxes(right[1:], -1, -2))
    return np.asarray(first * second < 0)
