"""Builds a trajectory from an integration: energy account, constraint violations, notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pendula.equations.derive import cannot
from pendula.numerics.steppers.stepper import STEPPERS
from pendula.numerics.steppers.stepping import Integration
from pendula.outcome import Outcome
from pendula.simulation.defaults import OPEN, UNTRUSTED
from pendula.simulation.events import Event, crossings_of, event_notes
from pendula.simulation.loops import Poses, pose_notes
from pendula.simulation.settings import Settings
from pendula.simulation.trajectory import EnergyAccount, Trajectory
from pendula.system.joint_forces import gives_jacobi, jacobi_integral
from pendula.system.layout import Array
from pendula.system.parameters import typical_length
from pendula.system.switches.schedule import constant_rates, moves_constraints
from pendula.system.system import System, has_gaps

_PAUSES = (Outcome.TOO_MANY_STEPS, Outcome.INTERRUPTED, Outcome.EVENT)


def trajectory_of(
    system: System,
    run: Integration,
    vector: Array,
    settings: Settings,
    events: Sequence[Event],
    notes: tuple[str, ...],
    poses: Poses,
) -> Trajectory:
    """The trajectory with its energy account and all notes."""
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    step_q, step_v = run.y[:, :nq], run.y[:, nq : nq + nv]
    account = _account(system, run, vector)
    sampled = settings.samples is not None
    if sampled and run.outcome is not Outcome.FINISHED:
        run = _with_last_sample(run)
    q, v = (run.sample_y[:, :nq], run.sample_y[:, nq : nq + nv]) if sampled else (step_q, step_v)
    position, velocity = _violations(system, run.t, step_q, step_v, vector)
    deviation, violation = account.error / account.scale, position
    if sampled:
        deviation = _unaccounted(system, run.sample_t, run.sample_y, account, vector) / account.scale
        violation = _violations(system, run.sample_t, q, v, vector)[0]
    outcome = run.outcome
    if outcome is Outcome.FINISHED and not np.all(np.isfinite(account.total)):
        outcome = Outcome.NOT_FINITE
    stopped = outcome not in (Outcome.FINISHED, *_PAUSES)
    near, doubts = pose_notes(poses, run.singular_t, system.layout.time_unit, stopped=stopped)
    notes += _energy_note(account) + _jacobi_note(system) + _stiffness_note(system, run)
    notes += event_notes(system, events, run) + near
    opening = float(max(position.max(initial=0.0), violation.max(initial=0.0)))
    doubts += _account_doubts(account, opening, typical_length(system, vector) if opening else 1.0)
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
        notes=notes,
        system=system,
        parameters=vector,
        step=None if settings.step is None else float(settings.step),
        events=crossings_of(system, events, run, vector),
        doubts=doubts,
    )


def _account(system: System, run: Integration, vector: Array) -> EnergyAccount:
    """Energies at the steps, and what does not add up in the middle of some."""
    nq, nv, steps = len(system.layout.coordinates), len(system.layout.speeds), len(run.t)
    t, y = (np.append(run.t, run.inside_t), np.vstack([run.y, run.inside_y])) if run.inside_t.size else (run.t, run.y)
    found = system.energies(y[:, :nq], y[:, nq : nq + nv], t, parameters=vector)
    work = y[:, nq + nv] if y.shape[1] > nq + nv else np.zeros(len(t))
    total = found.kinetic + found.potential
    inside = total[steps:] - total[0] - work[steps:]
    return EnergyAccount(run.t, found.kinetic[:steps], found.potential[:steps], work[:steps], inside)


def _energy_note(account: EnergyAccount) -> tuple[str, ...]:
    """Says that the energy drift has no scale, where that is so."""
    if float(max(account.kinetic.max(), np.ptp(account.potential))) > 0:
        return ()
    return ("nothing moves and no energy changes, so the energy drift is not scaled",)


def _account_doubts(account: EnergyAccount, opening: float, length: float) -> tuple[str, ...]:
    """Why a run is not to be trusted: its energy does not add up, or its loops are open."""
    doubts: tuple[str, ...] = ()
    if account.drift > UNTRUSTED:
        doubts += (f"energy is off by {account.drift:.2g} of its scale (a singular chart, or too loose a tolerance)",)
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


def _unaccounted(system: System, t: Array, y: Array, account: EnergyAccount, vector: Array) -> Array:
    """E(t) - E(0) - W(t) at other times than those of the steps; the work is integrated along with the state."""
    if not t.size:
        return np.zeros(0)
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    energies = system.energies(y[:, :nq], y[:, nq : nq + nv], t, parameters=vector)
    work = y[:, nq + nv] if y.shape[1] > nq + nv else 0.0
    return np.asarray(energies.kinetic + energies.potential - account.total[0] - work)


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
