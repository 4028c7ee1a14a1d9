"""Runs of many cases: end states, states over time, energies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True)
class Tried:
    """The runs of a batch that could be tried.

    Attributes:
        batch: the batch.
        runs: their results.
        some: their places in the batch.
    """

    batch: Batch
    runs: Ensemble
    some: Array

    @cached_property
    def started(self) -> Array:
        """True for the runs whose initial state could be assembled."""
        return ~np.isin(np.arange(len(self.runs)), [*self.runs.failures])

    def spread(self, values: Array) -> Array:
        """Values of these runs among all cases of the batch; NaN for the others."""
        values = np.asarray(values, dtype=float)
        if len(self.some) == len(self.batch):
            return values
        found = np.full((len(self.batch), *values.shape[1:]), np.nan)
        found[self.some] = values
        return found

    def account(self) -> list[Block]:
        """How every run ended, whether it can be trusted, and its cost."""
        runs = self.runs
        known = {"ok": runs.ok, "outcome": runs.code, "energy_drift": runs.energy_drift, "steps": runs.steps}
        blocks = [
            Block(name, CASE, self.spread(np.where(self.started, values, np.nan))) for name, values in known.items()
        ]
        if runs.constraint_violation is not None:
            blocks.append(Block("constraint_violation", CASE, self.spread(runs.constraint_violation)))
        return blocks


def run_batch(
    batch: Batch, tell: Tell, blocks: Callable[[Tried], Iterable[Block]], samples: Any = None, within: Any = None
) -> Computed:
    """Results of all runs of a batch, with their account; cases that cannot be tried fail.

    Args:
        batch: the cases.
        tell: progress.
        blocks: makes results from the runs.
        samples, within: as for ``simulate_many``.

    Raises:
        KeyboardInterrupt: the work was stopped; runs that are not finished are not results.
    """
    failures = batch.vectors[1]
    some = np.array([k for k in range(len(batch)) if k not in failures], dtype=int)
    if not some.size:
        return Computed((), failures)
    runs = simulated(batch.part(some) if failures else batch, tell, samples, within)
    tried = Tried(batch, runs, some)
    failed = failures | {int(some[k]): text for k, text in runs.failures.items()}
    return Computed((*blocks(tried), *tried.account()), failed)


def simulated(batch: Batch, tell: Tell, samples: Any = None, within: Any = None) -> Ensemble:
    """All runs of a batch, each of whose cases can be tried; arguments as of :func:`run_batch`."""
    rows = batch.vectors[0]
    how = {name: batch.options[name] for name in HOW if name != "duration"}
    starts: Any = dict(batch.initial) or ({} if len(rows) > 1 else [{}] * len(batch))
    return whole(
        simulate_many, batch.system, batch.options["duration"], starts, parameters=rows, samples=samples, within=within,
        workers=1, bad_starts="mark", on_progress=tell, **how,
    )  # fmt: skip


def _joint_states(runs: Ensemble, q: Array, v: Array, t: Array) -> tuple[Array, Array]:
    """States in the joints' coordinates, whatever the formulation."""
    joints = runs.system.in_joints
    if joints.same:
        return q, v
    vectors = np.broadcast_to(runs.parameters, (len(runs), runs.parameters.shape[1]))
    times = np.broadcast_to(t, q.shape[:2])
    found = [joints.read(q[k], v[k], times[k], parameters=vectors[k]) for k in range(len(runs))]
    return np.array([x for x, _ in found]), np.array([x for _, x in found])


def columns_of(batch: Batch) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of coordinates and speeds, and their units."""
    layout, formal = batch.system.in_joints.layout, batch.system.model.unit_names.formal
    names = (*layout.coordinates, *layout.speeds)
    return names, tuple(formal(layout.units[name]) for name in names)


def names_of(what: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of columns that distinguish what is known at the end from what is given at the start."""
    return tuple(f"{what}.{name}" for name in names)


def _end(batch: Batch, tell: Tell) -> Computed:
    def blocks(tried: Tried) -> list[Block]:
        runs, (names, units) = tried.runs, columns_of(batch)
        end = np.where(tried.started[:, None], ended_states(runs), np.nan)
        time = batch.system.model.unit_names
        end_t = tried.spread(np.where(tried.started, runs.end_t, np.nan))
        return [
            Block("end", CASE, tried.spread(end), "", names_of("end", names), units),
            Block("end_t", CASE, end_t, time.formal(time.time)),
        ]

    return run_batch(batch, tell, blocks)


def sampled_states(runs: Ensemble) -> Array:
    """States at the samples in the joints' coordinates, shape (runs, samples, names)."""
    return np.concatenate(_joint_states(runs, runs.q, runs.v, runs.t), axis=-1)


def ended_states(runs: Ensemble) -> Array:
    """Last states in the joints' coordinates, shape (runs, names)."""
    found = _joint_states(runs, runs.end_q[:, None], runs.end_v[:, None], runs.end_t[:, None])
    return np.concatenate(found, axis=-1)[:, 0]


def _times(tried: Tried) -> Block:
    units = tried.batch.system.model.unit_names
    return Block("t", ("t",), np.asarray(tried.runs.t, dtype=float), units.formal(units.time))


def _states(batch: Batch, tell: Tell) -> Computed:
    def blocks(tried: Tried) -> list[Block]:
        names, units = columns_of(batch)
        states = tried.spread(sampled_states(tried.runs))
        return [_times(tried), Block("state", ("case", "t"), states, "", names_of("state", names), units)]

    return run_batch(batch, tell, blocks, batch.options["samples"])


def _energies(batch: Batch, tell: Tell) -> Computed:
    def blocks(tried: Tried) -> list[Block]:
        runs = tried.runs
        kinetic, potential = np.full(runs.q.shape[:2], np.nan), np.full(runs.q.shape[:2], np.nan)
        for k in range(len(runs)):
            known = np.isfinite(runs.q[k]).all(axis=1)
            if known.any():
                vector = row_of(runs.parameters, k)
                found = batch.system.energies(runs.q[k][known], runs.v[k][known], runs.t[known], parameters=vector)
                kinetic[k, known], potential[k, known] = found
        units = batch.system.model.unit_names
        energy, dims = units.formal(units.energy), ("case", "t")
        return [
            _times(tried),
            Block("kinetic", dims, tried.spread(kinetic), energy),
            Block("potential", dims, tried.spread(potential), energy),
        ]

    return run_batch(batch, tell, blocks, batch.options["samples"])


END = Computation(_end, HOW)
STATES = Computation(_states, {**HOW, "samples": SAMPLES})
ENERGIES = Computation(_energies, {**HOW, "samples": SAMPLES})
