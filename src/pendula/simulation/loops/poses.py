"""Constraints in a run: check of the initial pose, rate of Baumgarte stabilization, singular poses along the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.errors import LoopNotClosed, PendulaError, SingularPose
from pendula.numerics.steppers.stepping import integrate
from pendula.system.dynamics import Dynamics
from pendula.system.layout import Array, State
from pendula.system.loops.assembly import assemble
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

LITTLE_LATER = (1e-3, 1e-2, 5e-2)
"""Fractions of the elapsed time after which closing the loops is tried again, once a run has stopped."""


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
    triples the steps of a four-bar linkage, a third of that rate adds a fifth. The step is the fixed one, or that which
    covers the middle of a short trial run without stabilization at the same tolerance: if steps are sorted by length,
    half of the time lies in shorter ones. Many tiny steps, as where the motion sticks to a jump, take hardly any time.
    """
    if settings.get("step"):
        return 1.0 / (STEPS_TO_DECAY * float(settings["step"]))
    trial = integrate(dynamics.rhs, y0, span, quadratures=quadratures, max_steps=PILOT_STEPS, **settings)
    steps = np.abs(np.diff(trial.t))
    if not steps.size:
        return 1.0 / (abs(span[1] - span[0]) or 1.0)
    steps = np.sort(steps)
    elapsed = np.cumsum(steps)
    return float(1.0 / (STEPS_TO_DECAY * steps[np.searchsorted(elapsed, elapsed[-1] / 2)]))


@dataclass(frozen=True)
class Poses:
    """How near a run came to singular poses, apart from those that it passed on a verified branch.

    Attributes:
        least: least singular value of G over the run, relative to its largest.
        at: when that was.
        last: the same at the end of the run.
        crossed: times of steps that crossed a singular pose.
    """

    least: float = 1.0
    at: float = 0.0
    last: float = 1.0
    crossed: tuple[float, ...] = ()


def beyond_reach(system: System, last: State, vector: Array, elapsed: float) -> tuple[str, ...]:
    """A note on the loop that prescribed motions drive beyond its reach right after the last state of a stopped run.

    A loop is beyond reach if it can be closed in the last state, but not near it a little later.
    """
    if not (system.drives and system.model.closures) or not elapsed:
        return ()
    for share in LITTLE_LATER:
        later = State(last.t + share * elapsed, last.q, last.v, last.layout)
        try:
            assemble(system, later, parameters=vector)
        except LoopNotClosed as error:
            first, *rest = str(error).splitlines()
            bodies = next((line.strip() for line in rest if "on the loop" in line), "")
            text = f"a prescribed motion drives a loop beyond its reach: at t = {later.t:.6g}, {first.rstrip('.')}"
            return (f"{text}. {bodies}".strip(),)
        except PendulaError:
            continue
    return ()


def pose_notes(poses: Poses, passed: Array, unit: str, *, stopped: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Notes on where a run came close to a singular pose, passed through one, or ended at one; and doubts about it.

    Args:
        poses: how near it came.
        passed: times of singular poses that the run passed on a verified branch.
        unit: of time.
        stopped: whether the run had to stop.
    """
    if stopped and poses.last < LOCKED:
        text = (
            "the run ends near a singular pose: the constraints nearly lose rank, so the mechanism locks there (a dead "
            "point), or could continue in more than one way"
        )
        return (text,), ()
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    if passed.size:
        notes += (
            f"passed {counted(passed.size, 'singular pose')} (t in {unit}: {some([f'{x:.6g}' for x in passed])}) along "
            "the branch that continues the motion with the same tangent and curvature",
        )
    if poses.crossed:
        where = some([f"{x:.4g}" for x in poses.crossed])
        doubts += (
            f"the constraints lost rank (before t in {unit}: {where}), and the run may have changed its branch there",
        )
    if not notes and not doubts and poses.least < CLOSE_BY:
        notes += (
            f"the mechanism came close to a singular pose at t = {poses.at:.6g} {unit} (least singular value of the "
            f"constraints {poses.least:.2g} of its largest): there it could have taken another branch",
        )
    return notes, doubts
