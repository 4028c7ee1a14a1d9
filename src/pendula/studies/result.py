"""The result of a study: arrays over everything that varies, with names and units, failures and provenance."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.errors import UsageError
from pendula.model.names import suggestion
from pendula.numerics.compiled.machine import BITS
from pendula.simulation.ensemble import OUTCOMES
from pendula.storage.room import refuse_if_too_large
from pendula.studies.plan import CASE
from pendula.studies.recipe import Part, scatter
from pendula.system.layout import Array
from pendula.tables.table import Block, Table
from pendula.tables.tabular import Tabular
from pendula.words import counted, readable

if TYPE_CHECKING:
    from pendula.studies.plan import Plan
    from pendula.studies.saved import SavedPlan
    from pendula.studies.statistics import Estimate
    from pendula.system.system import System

MISSING, DONE, FAILED, INFERRED = range(4)
STATES = ("not computed", "computed", "failed", "inferred from its neighbours")
"""what is known of a case, by its number in ``Sweep.status``"""
SHOWN = 12
TRUTHS = ("ok", "stable", "chaotic")
"""results that are 1 for yes and 0 for no"""


@readable
@dataclass(frozen=True, eq=False)
class Sweep(Tabular):
    """Results of all cases of a study. ``sweep["end.theta1"]`` is an array over everything that varies.

    Attributes:
        dims: names of the dimensions: what varies on a grid, ``draw`` for random draws, or ``case``.
        labels: values along the dimensions.
        quantities: results, arrays over ``dims`` and further dimensions.
        status: what is known of every case, an entry of ``STATES``; shape of the grid.
        failures: by number of the case, why it could not be computed.
        machines: on which machines, with which processors and versions, how many cases were computed.
        seconds: computing time of all workers together.
        estimates: means and probabilities with confidence intervals, where they were asked for.
        study: what was asked, as plain data.
        system: the mechanism.
        folder: where the parts are, if they were kept.
        notes: further remarks.

    Example:
        >>> import pendula
        >>> found = pendula.sweep("pendulum", {"theta": [0.1, 0.2], "l": [1.0, 2.0, 3.0]}, duration=1.0, on="here")
        >>> found.dims, found["end.theta"].shape, found.complete
        (('theta', 'l'), (2, 3), True)
    """

    dims: tuple[str, ...]
    labels: tuple[Block, ...]
    quantities: tuple[Block, ...]
    status: Array
    failures: Mapping[int, str]
    machines: tuple[tuple[Mapping[str, str], int], ...]
    seconds: float
    study: Mapping[str, Any]
    system: System | None = field(default=None, repr=False)
    folder: Path | None = None
    estimates: tuple[Estimate, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dimensions."""
        return tuple(self.status.shape)

    def __len__(self) -> int:
        return int(self.status.size)

    @property
    def finished(self) -> int:
        """Number of cases that were computed, with or without success, or inferred."""
        return int((self.status != MISSING).sum())

    @property
    def complete(self) -> bool:
        """Whether all cases are finished."""
        return self.finished == len(self)

    @cached_property
    def _by_name(self) -> dict[str, tuple[Array, str, tuple[str, ...]]]:
        return {c.name: (c.values, c.unit, c.dims) for b in (*self.labels, *self.quantities) for c in b.quantities()}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all results."""
        return tuple(column.name for block in self.quantities for column in block.quantities())

    def __getitem__(self, name: str) -> Array:
        if name not in self._by_name:
            known = [*self._by_name]
            raise UsageError(f'the study has no "{name}"; {suggestion(name, known, most=20)}')
        return self._by_name[name][0]

    def unit(self, name: str) -> str:
        """The unit of a result or of what varies."""
        self[name]
        return self._by_name[name][1]

    def dims_of(self, name: str) -> tuple[str, ...]:
        """The dimensions of a result."""
        self[name]
        return self._by_name[name][2]

    def axis(self, dim: str) -> Array:
        """Values along a dimension: those of what varies, or numbers from 0."""
        label = next((b for b in self.labels if b.name == dim and b.dims == (dim,)), None)
        size = next((b.values.shape[b.dims.index(dim)] for b in (*self.labels, *self.quantities) if dim in b.dims), 0)
        return np.arange(size) if label is None else label.values

    def estimate(self, quantity: str, **how: Any) -> Estimate:
        """The mean of a result over all random draws, or the probability of a condition, with its confidence interval.

        Args:
            quantity: a result, or a condition on one, such as ``"first_t < 10"``.
            how: ``of`` ("mean" or "probability"), ``level`` (0.95), ``within`` (smallest and largest possible value).

        Raises:
            UsageError: the study is not over random draws alone, or there is no such result.

        Example:
            >>> import pendula
            >>> over = {"theta": {"uniform": [-1.0, 1.0]}}
            >>> found = pendula.sweep("pendulum", over, duration=1.0, draws=400, on="here")
            >>> found.estimate("end.theta").samples
            400
        """
        from pendula.studies.stages.staged import estimate_of

        return estimate_of(self, quantity, **how)

    def __str__(self) -> str:
        what = " x ".join(f"{n} {name}" for n, name in zip(self.shape, self.dims, strict=True))
        name = f"{self.system.model.name}: " if self.system is not None else ""
        failed = len(self.failures)
        of_all = "" if self.complete else f" of {len(self)}"
        done = f"{self.finished - failed}{of_all} computed" if failed or of_all else "all computed"
        done += f", {failed} failed" if failed else ""
        lines = [f"{name}{counted(len(self), 'case')} ({what}), {done}"]
        inferred = int((self.status == INFERRED).sum())
        if inferred:
            lines.append(f"  {inferred} of them inferred from their neighbours")
        lines += [f"  {one}" for one in self.estimates]
        lines += [f"  {line}" for line in self.ranges()[:SHOWN]]
        hidden = len(self.names) - SHOWN
        if hidden > 0:
            lines.append(f"  ... and {hidden} more")
        if self.failures:
            reasons = Counter(self.failures.values()).most_common(3)
            lines.append(f"  {counted(len(self.failures), 'failure')}:")
            lines += [f"    {n} times: {text}" if n > 1 else f"    {text}" for text, n in reasons]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def ranges(self) -> list[str]:
        """Every result in a line: its range, or how often each word occurs."""
        columns = [column for block in self.quantities for column in block.quantities()]
        return [_summary(column.name, column.values, column.unit) for column in columns]


def _summary(name: str, values: Array, unit: str) -> str:
    """A result in a line: its range, or how often each word occurs."""
    tail = f" {unit}" if unit else ""
    if values.dtype.kind == "U":
        counts = Counter(values[values != ""].ravel().tolist()).most_common(4)
        return f"{name}: " + (", ".join(f"{word} {n}" for word, n in counts) or "unknown")
    known = values[np.isfinite(values)]
    if not known.size:
        return f"{name}: unknown"
    if name == "outcome":
        counts = Counter(OUTCOMES[int(k)] for k in known.ravel().tolist()).most_common(3)
        return f"{name}: " + "; ".join(f"{n} {outcome}" for outcome, n in counts)
    if name in TRUTHS:
        return f"{name}: yes {int(known.sum())}, no {int((1 - known).sum())}"
    low, middle, high = (float(f(known)) for f in (np.min, np.median, np.max))
    return f"{name}: {low:.6g} to {high:.6g}, median {middle:.6g}{tail}"


def collect(
    plan: Plan | SavedPlan,
    parts: Iterable[Part],
    *,
    study: Mapping[str, Any],
    system: System | None,
    folder: Path | None,
) -> Sweep:
    """The result from all parts that are finished; later parts replace earlier ones.

    Args:
        plan: of the study.
        parts: finished parts.
        study: what was asked.
        system: the mechanism.
        folder: where the parts are.
    """
    found: dict[str, Block] = {}
    others: dict[str, Block] = {}
    status = np.zeros(plan.size, dtype=np.int64)
    failures: dict[int, str] = {}
    machines: Counter[tuple[tuple[str, str], ...]] = Counter()
    seconds = 0.0
    for part in parts:
        inside = part.cases < plan.size
        cases = part.cases[inside]
        if np.any(status[cases] == FAILED):
            for case in cases[status[cases] == FAILED].tolist():
                failures.pop(case, None)
        status[cases] = DONE
        for block in part.blocks:
            if block.dims[:1] != (CASE,):
                others.setdefault(block.name, block)
            else:
                if block.name not in found:
                    size = plan.size * prod(block.values.shape[1:]) * block.values.dtype.itemsize
                    refuse_if_too_large(f'results of {plan.size:,} cases ("{block.name}")', size)
                scatter(found, replace(block, values=block.values[inside]), cases, plan.size)
        for case, text in part.failures.items():
            if case < plan.size:
                failures[case] = text
                status[case] = FAILED
        machines[tuple(sorted(part.machine.items()))] += len(cases)
        seconds += part.seconds
    blocks = [
        replace(b, dims=(*plan.dims, *b.dims[1:]), values=b.values.reshape(*plan.shape, *b.values.shape[1:]))
        for b in found.values()
    ]
    labels = (*plan.blocks(), *others.values())
    known = tuple((dict(one), n) for one, n in machines.items() if one)
    return Sweep(
        plan.dims, labels, tuple(blocks), status.reshape(plan.shape), dict(sorted(failures.items())), known, seconds,
        study, system, folder, notes=_mixed(known),
    )  # fmt: skip


def _mixed(machines: tuple[tuple[Mapping[str, str], int], ...]) -> tuple[str, ...]:
    """A remark if cases were computed by processors or versions that may differ in the last bits."""
    kinds = Counter[tuple[str, ...]]()
    for one, n in machines:
        kinds[tuple(one.get(name, "") for name in BITS)] += n
    if len(kinds) < 2:
        return ()
    different = [name for k, name in enumerate(BITS) if len({kind[k] for kind in kinds}) > 1]
    text = "; ".join(f"{n} cases by {', '.join(kind[BITS.index(x)] for x in different)}" for kind, n in kinds.items())
    return (f"computed with different {' and '.join(different)}, so last bits may differ: {text}",)


def sweep_table(sweep: Sweep) -> Table:
    """A study as a table over everything that varies."""
    from pendula.simulation.tables.runs import system_attributes

    attributes: dict[str, Any] = {} if sweep.system is None else system_attributes(sweep.system)
    attributes |= {
        "study": dict(sweep.study),
        "states": list(STATES),
        "failures": {str(case): text for case, text in sweep.failures.items()},
        "machines": [[dict(one), n] for one, n in sweep.machines],
        "seconds": sweep.seconds,
        "notes": list(sweep.notes),
    }
    status = Block("status", sweep.dims, sweep.status)
    return Table("Sweep", (*sweep.labels, *sweep.quantities, status), sweep.dims, attributes)


def restored_sweep(table: Table, system: System | None = None) -> Sweep:
    """The study behind a table.

    Raises:
        ValueError: something is missing in it.
    """
    from pendula.simulation.tables.restore import recompiled

    known, dims = table.attributes, table.main
    status = table.array("status")
    if status is None or not isinstance(known["study"], dict):
        raise ValueError('"status" or "study" is missing')
    if system is None and "model_text" in known:
        system = recompiled(known)
    blocks = [block for block in table.blocks if block.name != "status"]
    quantities = tuple(block for block in blocks if block.dims[: len(dims)] == dims and block.name not in dims)
    labels = tuple(block for block in blocks if not any(block is other for other in quantities))
    machines = tuple((dict(one), int(n)) for one, n in known["machines"])
    failures = {int(case): text for case, text in known["failures"].items()}
    return Sweep(
        dims, labels, quantities, status, failures, machines, float(known["seconds"]), known["study"], system,
        notes=tuple(known["notes"]),
    )  # fmt: skip


def folder_of(path: str | os.PathLike[str]) -> Path:
    """The folder of a study as an absolute path.

    Raises:
        UsageError: it is not the path of a folder.
    """
    if not isinstance(path, str | os.PathLike) or not os.fspath(path) or "\0" in str(path):
        found = os.fspath(path) if isinstance(path, os.PathLike) else path
        raise UsageError(f"a study has a folder, given by its path; found {found!r:.60}")
    return Path(path).absolute()
