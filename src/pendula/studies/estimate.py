"""What a study will cost, from a few of its cases: time, memory and disk."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pendula.numerics.scalars.eight import LANES
from pendula.numerics.steppers.stepper import STEPPERS
from pendula.parallel.processes import available_cores
from pendula.storage.room import bytes_available_memory, bytes_free_on_disk, in_words
from pendula.studies.batch import silent
from pendula.studies.followed import RUNS
from pendula.studies.plan import Plan
from pendula.studies.recipe import Recipe, Task, Work
from pendula.studies.result import folder_of
from pendula.studies.statistics import Interval, estimate
from pendula.studies.sweep import prepare
from pendula.system.entry import AnySystem, refuse_written, system_of
from pendula.system.lanes import has_lane_program
from pendula.system.layout import Array
from pendula.words import counted, readable

CASES = 1024
"""largest number of cases that are tried, at random places of the study"""
GROUPS = (32, 32, 64, 128, 256, 512)
"""sizes of the groups of runs side by side in which they are computed; other computations are tried in groups of ONE"""
ONE = 8
LONGEST = 6.0
"""seconds that trying may take, apart from the first case and the group that it begins with"""
ACCURATE = 0.1
"""half the interval, relative to the cost of a case, that is short enough"""
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
        seconds: computing time of one case, on average: time of the processor, however busy the machine is.
        low, high: its 95 % interval, from the spread between cases.
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
    low: float
    high: float
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
        each = f"{_time(self.seconds)} each (95 %: {_time(self.low)} to {_time(self.high)})"
        tried = f"from {counted(self.tried, 'case')}" + (f", of which {self.failed} failed" if self.failed else "")
        lines = [
            f"{counted(self.cases, 'case')}, {each}, {tried}",
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
        ('120 us', '1.25 min', '25 h')
    """
    for size, unit in ((86400 * 3, "d"), (3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if abs(seconds) >= size or unit == "us":
            return f"{seconds / (86400 if unit == 'd' else size):.3g} {unit}"
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
    first = work.first(Task.of(plan, chosen[:1]))  # compiles everything
    found = _tried(work, plan, chosen[1:], side_by_side(recipe))
    sizes, failed = [float(first.size), *found.sizes], len(first.failures) + found.failed
    each = found.interval(plan.size) if found.each else Interval(first.seconds, 0.0, first.seconds, "")
    count = workers or available_cores()
    result = float(np.mean(sizes[1:] or sizes))
    total = each.value * plan.size
    parts = max(1.0, total / 2.0)
    return StudyCost(
        cases=plan.size, tried=found.count + 1, failed=failed, seconds=each.value, low=each.low, high=each.high,
        total=total, wall=total / count, workers=count, result=result,
        disk=result * plan.size + OVERHEAD * min(parts, plan.size), memory=2.0 * result * plan.size,
        free_disk=None if save is None else bytes_free_on_disk(folder_of(save)), free_memory=bytes_available_memory(),
    )  # fmt: skip


@dataclass
class _Tried:
    """Cases that were tried: how many, what each of them or each group cost, the bytes of their results."""

    count: int = 0
    failed: int = 0
    seconds: float = 0.0
    passes: float = 0.0
    each: list[float] = field(default_factory=list)
    """steps of every run side by side; else seconds of a case of every group"""
    sizes: list[float] = field(default_factory=list)

    def interval(self, cases: int) -> Interval:
        """Seconds that one case takes in a study of ``cases`` cases, with its 95 % interval."""
        x = np.array(self.each)
        if self.passes:  # in the study all lanes are busy nearly all of the time
            x = x * (self.seconds / self.passes / LANES)
        value = float(x.mean())
        if len(x) < 2:  # one group: all cases of a small study
            return Interval(value, value, value, "")
        found = estimate(x)
        left = np.sqrt(max(0.0, 1.0 - self.count / cases))  # cases that were tried are known
        known = value * min(1.0, self.count / cases)
        return Interval(value, max(value + left * (found.low - value), known), value + left * (found.high - value), "")


def side_by_side(recipe: Recipe) -> bool:
    """Whether all cases of a study are runs side by side, in the lanes of the processor."""
    stepper, varies = recipe.options.get("stepper"), "stepper" in recipe.kinds
    if varies or not isinstance(stepper, str) or stepper not in STEPPERS or not STEPPERS[stepper].lanes:
        return False
    named = all(isinstance(one, str) and one in RUNS for one in recipe.compute)
    return (
        named and len(recipe.compute) == 1 and recipe.options.get("events") is None and has_lane_program(recipe.system)
    )


def passes_of(steps: Array) -> float:
    """Steps of eight lanes together, if each lane takes the next run as soon as its run ends.

    Example:
        >>> passes_of(np.array([100.0, 1, 1, 1, 1, 1, 1, 1, 1])), passes_of(np.ones(16))
        (100.0, 2.0)
    """
    lanes = np.zeros(LANES)
    for count in steps:
        lanes[np.argmin(lanes)] += count
    return float(lanes.max())


def _tried(work: Work, plan: Plan, cases: Array, lanes: bool) -> _Tried:
    """Computes groups of cases until the cost of one is known well enough, or the time is up."""
    found, begun, at = _Tried(), time.perf_counter(), 0
    for size in GROUPS if lanes else (ONE,) * (CASES // ONE):
        some = cases[at : at + size]
        if not some.size or (at and time.perf_counter() - begun > LONGEST):
            break
        before = _processor_time()
        part = work(Task.of(plan, some), silent)
        seconds = _processor_time() - before
        at += size
        steps = next((b.values for b in part.blocks if b.name == "steps"), None)
        found.count += len(some)
        found.failed += len(part.failures)
        found.seconds += seconds
        found.sizes.append(part.size / len(some))
        if lanes and steps is not None:
            steps = np.nan_to_num(steps) + 1.0  # a run that ends at once takes some time
            found.passes += passes_of(steps)
            found.each += steps.tolist()
        elif not lanes:
            found.each.append(seconds / len(some))
        if len(found.each) > ONE:
            each = found.interval(plan.size)
            if each.high - each.low <= 2 * ACCURATE * each.value:
                break
    return found


def _processor_time() -> float:
    """Seconds of the processor of this process and of those that it has started and that have ended."""
    used = os.times()
    return time.process_time() + used.children_user + used.children_system
