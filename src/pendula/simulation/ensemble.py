"""Results of many runs of one system: states, outcomes and energy drift."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np

from pendula.outcome import Outcome
from pendula.simulation.defaults import OPEN, UNTRUSTED
from pendula.simulation.starts import row_of
from pendula.system.layout import Array, Layout, State
from pendula.system.parameters import typical_length
from pendula.system.system import System
from pendula.system.undirected import without_direction
from pendula.tables.tabular import Tabular
from pendula.words import counted, readable

OUTCOMES = tuple(Outcome)
"""Outcomes by their code."""


@readable
@dataclass(frozen=True)
class EnsembleRun:
    """One run of an ensemble: states at the samples it reached, its last state, and its outcome.

    Example:
        >>> import pendula
        >>> runs = pendula.simulate_many("pendulum", 1.0, {"theta": [0.1, 0.2]}, workers=1)
        >>> print(runs[0].outcome)
        finished: reached the final time
    """

    t: Array
    q: Array
    v: Array
    end: State
    outcome: Outcome
    detail: str
    energy_drift: float
    steps: int
    rejected: int
    parameters: Array

    def __str__(self) -> str:
        where = f"{counted(len(self.t), 'state')} up to t = {self.end.t:.6g}"
        return f"{self.outcome}, {where}, energy drift {self.energy_drift:.2e}"


@readable
@dataclass(frozen=True)
class Ensemble(Tabular):
    """Results of many runs of one system. Arrays have one row for each run, in the order of the initial states.

    ``ensemble[k]`` is run k, ``ensemble["theta1"]`` a coordinate or speed of all runs at the samples.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> runs = pendula.simulate_many(system, 1.0, {"theta": [0.1, 0.2, 0.3]}, samples=5)
        >>> runs.q.shape, runs.ok.all()
        ((3, 5, 1), np.True_)
    """

    t: Array
    """sample times; only the final time if none were requested"""
    q: Array
    """coordinates at the samples, shape (runs, samples, coordinates); NaN beyond the end of a run"""
    v: Array
    """speeds at the samples"""
    end_t: Array
    end_q: Array
    end_v: Array
    """last time and state of each run"""
    code: Array
    """index of each outcome in ``OUTCOMES``; see ``outcome``"""
    where: Array
    """time near which a run failed"""
    energy_drift: Array
    """max |E(t) - E(0) - W(t)| at the accepted steps and samples of each run, relative to its energy scale"""
    energy_scale: Array
    constraint_violation: Array | None
    """largest |g| at the samples and at the end of each run; None without constraints"""
    steps: Array
    rejected: Array
    shortest_step: Array
    longest_step: Array
    parameters: Array
    """parameters of each run; one row if they are the same for all"""
    failures: dict[int, str]
    """by run, why it could not be started"""
    seconds: float
    """total wall time; the first call on a machine also compiles the stepper"""
    lane_seconds: float
    """time in compiled loops, summed over all processes"""
    workers: int
    stepper: str
    tolerance: float
    in_lanes: bool
    """whether eight states were computed together (SIMD lanes), or one after the other"""
    system: System
    path: Path | None = None
    """file that holds the arrays, if they were streamed to one"""

    def __len__(self) -> int:
        return len(self.code)

    @cached_property
    def outcome(self) -> tuple[Outcome, ...]:
        """How each run ended."""
        return tuple(OUTCOMES[k] for k in self.code)

    @property
    def ok(self) -> Array:
        """True for the runs that reached the final time or left their bounds, and whose results can be trusted.

        They cannot if energy is off by more than 0.001 of its scale or loops are open by more than 0.001 of a typical
        length.
        """
        return self._done & ~self.doubtful

    @property
    def _done(self) -> Array:
        """True for the runs that did everything requested."""
        return np.isin(self.code, [k for k, outcome in enumerate(OUTCOMES) if outcome.ok])

    @property
    def doubtful(self) -> Array:
        """True for the runs that did everything requested, but whose results cannot be trusted."""
        off = self.energy_drift > UNTRUSTED
        if self.constraint_violation is not None:
            off = off | (self.constraint_violation > OPEN * typical_length(self.system))
        return np.asarray(off & self._done)

    @property
    def layout(self) -> Layout:
        """Names and units of the columns of ``q`` and ``v``."""
        return self.system.layout

    def detail(self, run: int) -> str:
        """Details of an outcome; empty if the run finished."""
        if run in self.failures:
            return self.failures[run]
        if self.outcome[run].ok:
            return ""
        reached = f"reached t = {self.end_t[run]:.9g}"
        if self.outcome[run] is Outcome.NOT_FINITE and np.isfinite(self.end_q[run]).all():
            cause = without_direction(self.system, self.end_q[run], self.end_t[run], row_of(self.parameters, run))
            reached = f"{reached}; {cause}" if cause else reached
        return reached if np.isnan(self.where[run]) else f"near t = {self.where[run]:.9g}; {reached}"

    @overload
    def __getitem__(self, which: str) -> Array: ...
    @overload
    def __getitem__(self, which: int) -> EnsembleRun: ...
    def __getitem__(self, which: int | str) -> EnsembleRun | Array:
        if isinstance(which, str):
            return self._series(which)
        run = range(len(self))[which]
        reached = np.isfinite(self.q[run]).all(axis=1)
        parameters = row_of(self.parameters, run)
        end = State(float(self.end_t[run]), self.end_q[run], self.end_v[run], self.layout)
        return EnsembleRun(
            self.t[reached], self.q[run][reached], self.v[run][reached], end, self.outcome[run], self.detail(run),
            float(self.energy_drift[run]), int(self.steps[run]), int(self.rejected[run]), parameters,
        )  # fmt: skip

    def __iter__(self) -> Iterator[EnsembleRun]:
        return (self[k] for k in range(len(self)))

    def _series(self, name: str) -> Array:
        """A coordinate or speed of all runs, shape (runs, samples)."""
        joints = self.system.in_joints.layout
        if joints is not self.layout and name in (*joints.coordinates, *joints.speeds):
            return self._read_joints(name)
        which, k = self.layout.position(name)
        return np.asarray((self.q if which == "q" else self.v)[:, :, k])

    def _read_joints(self, name: str) -> Array:
        which, k = self.system.in_joints.layout.position(name)
        out = np.empty(self.q.shape[:2])
        for run in range(len(self)):
            vector = row_of(self.parameters, run)
            found = self.system.in_joints.read(self.q[run], self.v[run], self.t, parameters=vector)
            out[run] = found[0 if which == "q" else 1][:, k]
        return out

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """A summary of all runs in a few lines."""
        counts = Counter(self.outcome)
        lines = [f"{len(self)} runs of {self.system.model.name}"]
        lines += [f"  {counts[outcome]:>8}  {outcome}" for outcome in OUTCOMES if counts[outcome]]
        if self.doubtful.any():
            lines.append(f"  {self.doubtful.sum():>8}  of these are not to be trusted: energy or loops are off")
        drift = self.energy_drift[np.isfinite(self.energy_drift)]
        if drift.size:
            lines.append(f"energy drift: median {np.median(drift):.2e}, largest {drift.max():.2e}")
        if self.constraint_violation is not None:
            lines.append(f"constraint violation: at most {np.nanmax(self.constraint_violation, initial=0.0):.2e}")
        lines.append(f"steps: {self.steps.mean():.1f} accepted, {self.rejected.mean():.1f} rejected on average")
        each = 1e6 * self.lane_seconds / max(len(self), 1)
        how = "eight at a time" if self.in_lanes else "one after the other"
        lines.append(f"{self.seconds:.3f} s with {self.workers} workers, {each:.1f} us of stepping per run, {how}")
        return "\n".join(lines)


OF_RUNS = (
    "end_t", "code", "where", "energy_drift", "energy_scale", "steps", "rejected", "shortest_step", "longest_step",
)  # fmt: skip
"""Names of the arrays of an ensemble with one number for each run."""


def mark_unfinished(arrays: Mapping[str, Array], at: Any, t0: float) -> None:
    """Makes the arrays of some runs those of runs that were interrupted before their first step."""
    for values in arrays.values():
        values[at] = 0 if values.dtype.kind == "i" else np.nan
    arrays["code"][at] = OUTCOMES.index(Outcome.INTERRUPTED)
    arrays["end_t"][at] = t0


def mapped_array(path: Path, name: str) -> Array:
    """A memory map of an array in an uncompressed ``.npz`` file."""
    with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as member:
        start = archive.getinfo(f"{name}.npy").header_offset
        version = np.lib.format.read_magic(member)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(member)
        header = member.tell()
    with path.open("rb") as file:
        file.seek(start + 26)
        lengths = np.frombuffer(file.read(4), dtype="<u2")
    offset = start + 30 + int(lengths.sum()) + header
    if 0 in shape:
        return np.zeros(shape, dtype)
    return np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")
