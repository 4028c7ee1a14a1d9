"""Runs of many cases: end states, states over time, energies, extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.interrupts import whole
from pendula.simulation.defaults import MAX_STEPS, TOLERANCE
from pendula.simulation.ensemble import Ensemble
from pendula.simulation.simulate_many import simulate_many
from pendula.simulation.starts import row_of
from pendula.studies.batch import Batch, Computed, Tell
from pendula.studies.computations.registry import Computation
from pendula.system.layout import Array
from pendula.tables.table import Block

CASE = ("case",)
HOW: dict[str, Any] = {
    "duration": 10.0, "tol": TOLERANCE, "atol": None, "stepper": "dop853", "max_steps": MAX_STEPS,
}  # fmt: skip
"""settings of runs, as those of ``simulate_many``"""
SAMPLES = 100


def run_batch(
    batch: Batch, tell: Tell, samples: Any = None, within: Any = None
) -> tuple[Ensemble, Array, dict[int, str]]:
    """All runs of a batch, the places of those that could be tried, and why others could not.

    Raises:
        KeyboardInterrupt: the work was stopped; runs that are not finished are not results.
    """
    rows, failures = batch.vectors
    some = np.array([k for k in range(len(batch)) if k not in failures], dtype=int)
    if not some.size:
        return None, some, dict(failures)  # type: ignore[return-value]
    how = {name: batch.options[name] for name in HOW if name != "duration"}
    kept = batch.part(some) if failures else batch
    starts: Any = dict(kept.initial) or ({} if len(rows) > 1 else [{}] * len(some))
    runs = whole(
        simulate_many, batch.system, batch.options["duration"], starts,
        parameters=rows[some] if len(rows) > 1 else rows, samples=samples, within=within, workers=1,
        bad_starts="mark", on_progress=tell, **how,
    )  # fmt: skip
    return runs, some, dict(failures) | {int(some[k]): text for k, text in runs.failures.items()}


def spread(values: Array, some: Array, count: int) -> Array:
    """Values of some cases among all of a batch; NaN for the others."""
    values = np.asarray(values, dtype=float)
    if len(some) == count:
        return values
    found = np.full((count, *values.shape[1:]), np.nan)
    found[some] = values
    return found


def account(runs: Ensemble, some: Array, count: int) -> list[Block]:
    """How every run ended, whether it can be trusted, and its cost."""
    bad = np.isin(np.arange(len(runs)), [*runs.failures])
    code = np.where(bad, np.nan, runs.code.astype(float))
    drift = np.where(bad, np.nan, runs.energy_drift)
    blocks = [
        Block("ok", CASE, spread(np.where(bad, np.nan, runs.ok), some, count)),
        Block("outcome", CASE, spread(code, some, count)),
        Block("energy_drift", CASE, spread(drift, some, count)),
        Block("steps", CASE, spread(np.where(bad, np.nan, runs.steps), some, count)),
    ]
    if runs.constraint_violation is not None:
        blocks.append(Block("constraint_violation", CASE, spread(runs.constraint_violation, some, count)))
    return blocks


def _joint_states(runs: Ensemble, q: Array, v: Array, t: Array) -> tuple[Array, Array]:
    """States in the joints' coordinates, whatever the formulation."""
    joints = runs.system.in_joints
    if joints.same:
        return q, v
    vectors = np.broadcast_to(runs.parameters, (len(runs), runs.parameters.shape[1]))
    times = np.broadcast_to(t, q.shape[:2])
    found = [joints.read(q[k], v[k], times[k], parameters=vectors[k]) for k in range(len(runs))]
    return np.array([x for x, _ in found]), np.array([x for _, x in found])


def _columns(batch: Batch) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of coordinates and speeds, and their units."""
    layout, formal = batch.system.in_joints.layout, batch.system.model.unit_names.formal
    names = (*layout.coordinates, *layout.speeds)
    return names, tuple(formal(layout.units[name]) for name in names)


def _end(batch: Batch, tell: Tell) -> Computed:
    runs, some, failures = run_batch(batch, tell)
    if not some.size:
        return Computed((), failures)
    count, (names, units) = len(batch), _columns(batch)
    q, v = _joint_states(runs, runs.end_q[:, None], runs.end_v[:, None], runs.end_t[:, None])
    bad = np.isin(np.arange(len(runs)), [*runs.failures])[:, None]
    end = np.where(bad, np.nan, np.concatenate([q[:, 0], v[:, 0]], axis=1))
    time = batch.system.model.unit_names
    blocks = [
        Block("end", CASE, spread(end, some, count), "", names_of("end", names), units),
        Block("end_t", CASE, spread(np.where(bad[:, 0], np.nan, runs.end_t), some, count), time.formal(time.time)),
    ]
    return Computed((*blocks, *account(runs, some, count)), failures)


def names_of(what: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of columns that distinguish what is known at the end from what is given at the start."""
    return tuple(f"{what}.{name}" for name in names)


def _sampled(batch: Batch, tell: Tell) -> tuple[Ensemble, Array, dict[int, str], Array]:
    """Runs with states in the joints' coordinates, shape (runs, samples, names)."""
    runs, some, failures = run_batch(batch, tell, batch.options["samples"])
    if not some.size:
        return runs, some, failures, np.zeros(0)
    q, v = _joint_states(runs, runs.q, runs.v, runs.t)
    return runs, some, failures, np.concatenate([q, v], axis=-1)


def _times(batch: Batch, runs: Ensemble) -> Block:
    units = batch.system.model.unit_names
    return Block("t", ("t",), np.asarray(runs.t, dtype=float), units.formal(units.time))


def _states(batch: Batch, tell: Tell) -> Computed:
    runs, some, failures, states = _sampled(batch, tell)
    if not some.size:
        return Computed((), failures)
    names, units = _columns(batch)
    over = Block("state", ("case", "t"), spread(states, some, len(batch)), "", names_of("state", names), units)
    return Computed((_times(batch, runs), over, *account(runs, some, len(batch))), failures)


def _energies(batch: Batch, tell: Tell) -> Computed:
    runs, some, failures = run_batch(batch, tell, batch.options["samples"])
    if not some.size:
        return Computed((), failures)
    kinetic, potential = np.full(runs.q.shape[:2], np.nan), np.full(runs.q.shape[:2], np.nan)
    for k in range(len(runs)):
        known = np.isfinite(runs.q[k]).all(axis=1)
        if known.any():
            vector = row_of(runs.parameters, k)
            found = batch.system.energies(runs.q[k][known], runs.v[k][known], runs.t[known], parameters=vector)
            kinetic[k, known], potential[k, known] = found.kinetic, found.potential
    units = batch.system.model.unit_names
    energy, dims, count = units.formal(units.energy), ("case", "t"), len(batch)
    blocks = (
        Block("kinetic", dims, spread(kinetic, some, count), energy),
        Block("potential", dims, spread(potential, some, count), energy),
    )
    return Computed((_times(batch, runs), *blocks, *account(runs, some, count)), failures)


def _extremes(batch: Batch, tell: Tell) -> Computed:
    runs, some, failures, states = _sampled(batch, tell)
    if not some.size:
        return Computed((), failures)
    (names, units), count = _columns(batch), len(batch)
    known = np.isfinite(states)
    low = np.where(known, states, np.inf).min(axis=1)
    high = np.where(known, states, -np.inf).max(axis=1)
    blocks = [
        Block(what, CASE, spread(np.where(np.isfinite(x), x, np.nan), some, count), "", names_of(what, names), units)
        for what, x in (("least", low), ("largest", high))
    ]
    return Computed((*blocks, *account(runs, some, count)), failures)


END = Computation(_end, HOW)
STATES = Computation(_states, {**HOW, "samples": SAMPLES})
ENERGIES = Computation(_energies, {**HOW, "samples": SAMPLES})
EXTREMES = Computation(_extremes, {**HOW, "samples": 1000})
