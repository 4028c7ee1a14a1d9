"""Builds a trajectory from an integration: energy account, constraint violations, notes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pendula.equations.derive import cannot
from pendula.numerics.steppers.stepper import STEPPERS
from pendula.numerics.steppers.stepping import Integration
from pendula.outcome import Outcome
from pendula.simulation.charts.evidence import evidence_elsewhere
from pendula.simulation.charts.switching import Elsewhere, has_singular_charts, switches_of
from pendula.simulation.course import Course
from pendula.simulation.defaults import OPEN, UNTRUSTED
from pendula.simulation.events import crossings_of, event_notes
from pendula.simulation.loops.poses import Poses, beyond_reach, pose_notes
from pendula.simulation.predictability import evidence_of
from pendula.simulation.trajectory import EnergyAccount, Trajectory
from pendula.system.joint_forces import gives_jacobi, jacobi_integral
from pendula.system.layout import Array, State
from pendula.system.orientation.singularities import Nearest, nearest_singularity
from pendula.system.parameters import typical_length
from pendula.system.switches.schedule import constant_rates, moves_constraints
from pendula.system.system import System, has_gaps

AT_SAMPLES = 4.0
"""energy errors at samples above this multiple of the drift are noted"""
LEAST_NOTED = 1e-13
"""energy errors below this are rounding"""
_PAUSES = (Outcome.TOO_MANY_STEPS, Outcome.INTERRUPTED, Outcome.EVENT)


def trajectory_of(
    course: Course, run: Integration, notes: tuple[str, ...], poses: Poses, longest: float, elsewhere: Elsewhere
) -> Trajectory:
    """The trajectory with its energy account and all notes; no step was to be above ``longest``."""
    system, vector, settings, events = course.system, course.vector, course.settings, course.events
    step_q, step_v = system.layout.split(run.y)
    account = _account(system, run, vector, elsewhere)
    sampled = settings.samples is not None
    if sampled and run.outcome is not Outcome.FINISHED:
        run = _with_last_sample(run)
    q, v = system.layout.split(run.sample_y) if sampled else (step_q, step_v)
    position, velocity = _violations(system, run.t, step_q, step_v, vector)
    deviation, violation = account.error / account.scale, position
    if sampled:
        kinetic, potential, work = _energies(system, run.sample_t, run.sample_y, vector, elsewhere)
        deviation = (kinetic + potential - account.total[0] - work) / account.scale
        violation = _violations(system, run.sample_t, q, v, vector)[0]
    outcome = run.outcome
    if outcome is Outcome.FINISHED and not np.all(np.isfinite(account.total)):
        outcome = Outcome.NOT_FINITE
    stopped = outcome not in (Outcome.FINISHED, *_PAUSES)
    near, doubts = pose_notes(poses, run.singular_t, system.layout.time_unit, stopped=stopped)
    if stopped:
        last = State(float(run.t[-1]), step_q[-1], step_v[-1], system.layout)
        near = beyond_reach(system, last, vector, float(run.t[-1] - run.t[0])) or near
    notes += _energy_note(account) + _jacobi_note(system) + _stiffness_note(system, run)
    if system.written:
        notes += (f"the motion is that of the equations in {system.written}; energies and loads are the model's",)
    notes += event_notes(system, events, run) + near + elsewhere.notes
    opening = float(max(position.max(initial=0.0), violation.max(initial=0.0)))
    worst = max(account.drift, float(np.abs(deviation).max(initial=0.0)))
    notes += _sample_note(account, worst)
    doubts += course.doubts
    doubts += account_doubts(worst, opening, typical_length(system, vector) if opening else 1.0, system.written)
    return Trajectory(
        t=run.sample_t if sampled else run.t,
        q=q,
        v=v,
        outcome=outcome,
        detail=run.detail,
        energy=account,
        energy_error=deviation,
        violation=violation if has_gaps(system) else None,
        constraint_violation=opening,
        velocity_violation=float(velocity.max(initial=0.0)),
        jacobi_drift=_jacobi_drift(system, account, step_q, step_v, vector),
        steps=run.accepted,
        rejected=run.rejected,
        rhs_evaluations=run.rhs_evaluations,
        seconds=run.seconds,
        stepper=settings.stepper.name,
        tolerance=settings.tol,
        remarks=notes,
        system=system,
        parameters=vector,
        step=None if settings.step is None else float(settings.step),
        events={**crossings_of(system, events, run, vector), **switches_of(system, elsewhere)},
        nearest_singularity=_nearest(system, run, vector),
        elsewhere=elsewhere,
        doubts=doubts,
        settings=settings,
        end=State(float(run.t[-1]), step_q[-1].copy(), step_v[-1].copy(), system.layout),
        evidence=(
            evidence_elsewhere(course, run, longest, elsewhere)
            if elsewhere.switch_t
            else evidence_of(course, run, longest)
        ),
    )


def _nearest(system: System, run: Integration, vector: Array) -> Nearest | None:
    """How near to a singularity of its coordinates a run came."""
    if not has_singular_charts(system):
        return None
    joints = system.in_joints
    q, v = joints.read(*system.layout.split(run.y), run.t, parameters=vector)
    return nearest_singularity(joints.layout, run.t, q, v)


def _account(system: System, run: Integration, vector: Array, elsewhere: Elsewhere) -> EnergyAccount:
    """Energies at the steps, and errors of their balance inside some of them."""
    steps = len(run.t)
    t, y = (np.append(run.t, run.inside_t), np.vstack([run.y, run.inside_y])) if run.inside_t.size else (run.t, run.y)
    kinetic, potential, work = _energies(system, t, y, vector, elsewhere)
    total = kinetic + potential
    inside = total[steps:] - total[0] - work[steps:]
    return EnergyAccount(run.t, kinetic[:steps], potential[:steps], work[:steps], inside)


def _energies(system: System, t: Array, y: Array, vector: Array, elsewhere: Elsewhere) -> tuple[Array, Array, Array]:
    """Kinetic and potential energy, and the work done so far, which is integrated along with the state."""
    q, v = system.layout.split(y)
    found = elsewhere.energies(system.energies(q, v, t, parameters=vector), t)
    size = q.shape[1] + v.shape[1]
    return found.kinetic, found.potential, y[:, size] if y.shape[1] > size else np.zeros(len(t))


def _energy_note(account: EnergyAccount) -> tuple[str, ...]:
    """A note that the energy drift has no scale, if no energy changes: nothing moves, or nothing that has mass."""
    if float(max(account.kinetic.max(), np.ptp(account.potential))) > 0:
        return ()
    return ("no energy changes, so the energy drift is not scaled",)


def _sample_note(account: EnergyAccount, worst: float) -> tuple[str, ...]:
    """A note that samples are less accurate than the energy drift suggests."""
    if worst <= AT_SAMPLES * account.drift or worst < LEAST_NOTED:
        return ()
    return (
        f"at samples between steps energy is off by up to {worst:.2g} of its scale, more than the drift of "
        f"{account.drift:.2g}: try a smaller tol",
    )


def account_doubts(off: float, opening: float, length: float, written: str = "") -> tuple[str, ...]:
    """Why a run cannot be trusted: its energy does not add up, or its loops are open.

    Args:
        off: error of the energy, relative to its scale.
        opening, length: how far loops are open, and a typical length.
        written: the source of the equations, if they were not derived from the model.
    """
    doubts: tuple[str, ...] = ()
    if off > UNTRUSTED:
        why = "a singular chart, or too loose a tolerance"
        if written:
            why = "the given equations gain or lose it without a load of the model, or the tolerance is too loose"
        doubts += (f"energy is off by {off:.2g} of its scale ({why})",)
    if opening > OPEN * length:
        doubts += (f"the loops are open by up to {opening:.2g}, which is {opening / length:.2g} of a typical length",)
    return doubts


def _stiffness_note(system: System, run: Integration) -> tuple[str, ...]:
    """Advice if stability limited the step size."""
    if run.stiff_from is None:
        return ()
    at = f"{run.stiff_from:.4g} {system.layout.time_unit}"
    better = " or ".join(name for name in STEPPERS if STEPPERS[name].stiff)
    return (f"the motion looks stiff from t = {at}: try the stepper {better}, which can take longer steps",)


def _with_last_sample(run: Integration) -> Integration:
    """Appends the last state of a run that ended early (by an event or a failure) as its last sample."""
    if run.sample_t.size and run.sample_t[-1] == run.t[-1]:
        return run
    t, y = np.append(run.sample_t, run.t[-1]), np.vstack([run.sample_y, run.y[-1:]])
    return replace(run, sample_t=t, sample_y=y)


def _violations(system: System, t: Array, q: Array, v: Array, vector: Array) -> tuple[Array, Array]:
    """Largest |g| and |G v - b| at every time."""
    g, rate = system.gaps(q, v, t, parameters=vector)
    return np.abs(g).max(axis=1, initial=0.0), np.abs(rate).max(axis=1, initial=0.0)


def _jacobi_note(system: System) -> tuple[str, ...]:
    """A note that Jacobi's integral is not checked, although another formulation could check it."""
    if gives_jacobi(system) or not constant_rates(system) or not system.equations.power_is_zero:
        return ()
    return ("Jacobi's integral is not checked: " + " ".join(str(cannot(system.formulation, "jacobi")).split()),)


def _jacobi_drift(system: System, account: EnergyAccount, q: Array, v: Array, vector: Array) -> float | None:
    """Drift of the Jacobi integral, if prescribed motions at constant rates conserve it; else None."""
    if not system.drives or not constant_rates(system) or moves_constraints(system):
        return None  # in maximal coordinates every prescribed motion moves a constraint
    if np.any(system.power(q, v, account.t, parameters=vector)):
        return None
    # conserved only if the energies have no explicit time dependence: compare two times
    index = np.linspace(0, len(q) - 1, min(len(q), 7)).astype(int)
    first = system.energies(q[index], v[index], 0.0, parameters=vector)
    second = system.energies(q[index], v[index], 0.8765, parameters=vector)
    pairs = [*zip(first, second, strict=True)]
    pairs.append(tuple(jacobi_integral(system, q[index], v[index], at, parameters=vector) for at in (0.0, 0.8765)))
    size = account.scale
    if max(np.abs(a - b).max() for a, b in pairs) > 1e-9 * size:
        return None
    jacobi = jacobi_integral(system, q, v, account.t, parameters=vector)
    return float(np.abs(jacobi - jacobi[0]).max() / size)
