"""What a study will cost, from a few of its cases: time, memory and disk."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.parallel.processes import available_cores
from pendula.storage.room import bytes_available_memory, bytes_free_on_disk, in_words
from pendula.studies.plan import Plan
from pendula.studies.recipe import Recipe, Task, Work
from pendula.studies.result import folder_of
from pendula.studies.sweep import prepare
from pendula.system.entry import AnySystem, refuse_written, system_of
from pendula.words import counted, readable

CASES = 48
"""cases that are tried at the most, spread over the study"""
LONGEST = 10.0
"""seconds that trying may take, apart from the first case"""
SEED = 7
OVERHEAD = 4000
"""bytes of a part beside its arrays"""


@readable
@dataclass(frozen=True)
class StudyCost:
    """The estimated cost of a study.

    Attributes:
        cases: of the study.
        tried: cases that were computed for the estimate, and how many of them ``failed``.
        seconds: of one case, on average.
        spread: standard error of that.
        total: computing time of all cases on one core.
        wall: time on the given number of ``workers``.
        result: bytes of the results of one case.
        disk, memory: bytes of all results on disk, and in memory at the end.
        free_disk, free_memory: what is available; None if that is unknown.

    Example:
        >>> import pendula
        >>> cost = estimate_sweep("pendulum", {"theta": "0:1:100000"}, duration=1.0)
        >>> cost.cases, cost.fits
        (100000, True)
    """

    cases: int
    tried: int
    failed: int
    seconds: float
    spread: float
    total: float
    wall: float
    workers: int
    result: float
    disk: float
    memory: float
    free_disk: int | None
    free_memory: int | None

    @property
    def fits(self) -> bool:
        """Whether memory and disk suffice, as far as they are known."""
        return not (
            (self.free_disk is not None and self.disk > self.free_disk)
            or (self.free_memory is not None and self.memory > self.free_memory)
        )

    def __str__(self) -> str:
        each = f"{_time(self.seconds)} +- {_time(self.spread)} each"
        tried = f"from {counted(self.tried, 'case')}" + (f", of which {self.failed} failed" if self.failed else "")
        lines = [
            f"{counted(self.cases, 'case')}, {each} ({tried})",
            f"  time: {_time(self.total)} of one core, about {_time(self.wall)} on {counted(self.workers, 'core')}",
            f"  disk: {in_words(self.disk)}{_free(self.free_disk)}",
            f"  memory: {in_words(self.memory)} at the end{_free(self.free_memory)}",
        ]
        if not self.fits:
            lines.append("  this does not fit: compute less for each case, or split the study")
        return "\n".join(lines)


def _free(size: int | None) -> str:
    return "" if size is None else f" ({in_words(size)} free)"


def _time(seconds: float) -> str:
    """A time in words.

    Example:
        >>> _time(0.00012), _time(75.0), _time(90000.0)
        ('120 us', '1.2 min', '25 h')
    """
    for size, unit in ((86400 * 3, "d"), (3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if abs(seconds) >= size or unit == "us":
            return f"{seconds / (86400 if unit == 'd' else size):.2g} {unit}"
    return f"{seconds:.2g} s"


def estimate_sweep(
    system: AnySystem,
    over: Any,
    compute: Any = "end",
    *,
    draws: Any = None,
    workers: int | None = None,
    save: str | os.PathLike[str] | None = None,
    **options: Any,
) -> StudyCost:
    """What :func:`~pendula.sweep` with the same arguments will cost, from a few cases at random places of the study.

    Args:
        system, over, compute, draws, workers, save, options: as for ``sweep``.

    Raises:
        UsageError: an argument is wrong.

    Example:
        >>> import pendula
        >>> print(estimate_sweep("pendulum", {"theta": "0:1:1000"}, duration=1.0))
        1000 cases, ...
          time: ...
    """
    given = system_of(system, "estimate_sweep")
    refuse_written(given, "sweep")
    plan, recipe = prepare(given, over, compute, draws, options)
    return cost_of(plan, recipe, workers=workers, save=save)


def cost_of(
    plan: Plan, recipe: Recipe, *, workers: int | None = None, save: str | os.PathLike[str] | None = None
) -> StudyCost:
    """The cost of a study, from a few of its cases."""
    work = Work(recipe)
    rng = np.random.default_rng(SEED)
    chosen = rng.permutation(np.unique(rng.integers(0, plan.size, CASES + 1)))
    first = work.first(_task(plan, chosen[:1]))  # compiles everything
    times: list[float] = []
    sizes, failed, begun = [float(first.size)], len(first.failures), time.perf_counter()
    groups = np.array_split(chosen[1:], 6) if len(chosen) > 7 else [chosen[1:]]
    for some in groups:
        if not some.size or (times and time.perf_counter() - begun > LONGEST):
            continue
        part = work(_task(plan, some), lambda ended, of: None)
        times += [part.seconds / len(some)] * len(some)
        sizes.append(part.size / len(some))
        failed += len(part.failures)
    seconds = float(np.mean(times)) if times else first.seconds
    spread = float(np.std(times) / np.sqrt(len(groups))) if len(times) > 1 else seconds
    count = workers or available_cores()
    result = float(np.mean(sizes[1:] or sizes))
    total = seconds * plan.size
    parts = max(1.0, total / 2.0)
    return StudyCost(
        cases=plan.size, tried=len(times) + 1, failed=failed, seconds=seconds, spread=spread, total=total,
        wall=total / count, workers=count, result=result, disk=result * plan.size + OVERHEAD * min(parts, plan.size),
        memory=2.0 * result * plan.size,
        free_disk=None if save is None else bytes_free_on_disk(folder_of(save)), free_memory=bytes_available_memory(),
    )  # fmt: skip


def _task(plan: Plan, cases: Any) -> Task:
    values: Mapping[str, Any] = plan.values(np.asarray(cases))
    return Task(np.asarray(cases), values)
