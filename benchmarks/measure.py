"""Timing that stands noise: CPU time, the best of several samples, both sides in turn, on one core."""

from __future__ import annotations

import gc
import math
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np


@dataclass(frozen=True)
class Timing:
    """Samples of one piece of work, in seconds."""

    cpu: tuple[float, ...]
    wall: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.cpu or len(self.cpu) != len(self.wall):
            raise ValueError("a timing needs samples, each with CPU and wall time")

    @property
    def best(self) -> float:
        """Least CPU time: noise only ever adds."""
        return min(self.cpu)

    @property
    def best_wall(self) -> float:
        """Least wall time."""
        return min(self.wall)

    @property
    def noise(self) -> float:
        """How far the median lies above the best, relative to the best."""
        return statistics.median(self.cpu) / self.best - 1.0 if self.best > 0 else 0.0

    def per(self, count: int) -> Timing:
        """The timing of one of ``count`` equal parts."""
        return Timing(tuple(x / count for x in self.cpu), tuple(x / count for x in self.wall))

    def figures(self) -> dict[str, float]:
        """What goes to the JSON file."""
        return {
            "cpu_s": self.best,
            "wall_s": self.best_wall,
            "noise": self.noise,
            "samples": len(self.cpu),
        }


@dataclass(frozen=True)
class Side:
    """Work to be timed; ``prepare`` runs before every sample, untimed, and hands its result on."""

    work: Callable[[Any], object]
    prepare: Callable[[], Any] = lambda: None


def sample(side: Side) -> tuple[float, float]:
    """CPU and wall time of one run."""
    given = side.prepare()
    wall, cpu = time.perf_counter(), time.process_time()
    result = side.work(given)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    del result
    return cpu, wall


@contextmanager
def heap_set_aside() -> Iterator[None]:
    """Keeps what is on the heap already out of garbage collections: no side pays for objects of another."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def interleave(sides: Mapping[str, Side], *, rounds: int = 5, share: float = 0.05) -> dict[str, Timing]:
    """Times several sides in turn, so that a slow phase of the machine meets all of them.

    In every round each side runs at least once, and again until ``share`` seconds have passed.
    """
    if rounds < 1:
        raise ValueError("at least one round is needed")
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            with heap_set_aside():
                end = time.perf_counter() + share
                found[name].append(sample(side))
                while time.perf_counter() < end:
                    found[name].append(sample(side))
    return {name: Timing(*zip(*samples, strict=True)) for name, samples in found.items()}


def ratio(slow: float, fast: float) -> float:
    """How many times faster ``fast`` is; infinite if it took no measurable time."""
    return slow / fast if fast > 0 else float("inf")


def difference(a: Any, b: Any) -> float:
    """Largest difference of two arrays, relative to the largest entry; not a number compares as infinite."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if x.shape != y.shape:
        raise ValueError(f"cannot compare shapes {x.shape} and {y.shape}")
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        return float("inf")
    size = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    return float(np.abs(x - y).max(initial=0.0) / size) if size > 0 else 0.0


@dataclass(frozen=True)
class Goal:
    """What we want of a figure."""

    what: str
    found: float
    kind: Literal["at least", "at most"]
    wanted: float
    unit: str = ""
    why: str = ""
    """why there is no figure, if there is none"""

    @property
    def met(self) -> bool:
        """Whether the figure is on the right side."""
        return self.found >= self.wanted if self.kind == "at least" else self.found <= self.wanted

    def sentence(self) -> str:
        """The goal and its verdict in one line."""
        if self.why:
            return f"  --   {self.what}: {self.why}; goal {self.kind} {self.wanted:g}{self.unit}"
        verdict = "met" if self.met else "MISSED"
        return f"{verdict:6} {self.what}: {number(self.found)}{self.unit}, goal {self.kind} {self.wanted:g}{self.unit}"

    def figures(self) -> dict[str, Any]:
        """What goes to the JSON file."""
        found = self.found if math.isfinite(self.found) else None
        about = {"kind": self.kind, "wanted": self.wanted, "unit": self.unit.strip()}
        return {"what": self.what, "found": found, **about, "met": self.met, "why": self.why}


def goal(
    what: str,
    found: float | None,
    kind: Literal["at least", "at most"],
    wanted: float,
    unit: str = "",
    *,
    why: str = "not measured",
) -> Goal:
    """A goal whose figure may be missing, with the reason."""
    return Goal(what, float("nan"), kind, wanted, unit, why) if found is None else Goal(what, found, kind, wanted, unit)


def number(value: float) -> str:
    """A number to three digits, without exponent where it reads well."""
    if value != value or value in (float("inf"), float("-inf")) or value == 0:
        return f"{value:g}"
    if not 1e-4 <= abs(value) < 1e6:
        return f"{value:.1e}"
    digits = max(0, 2 - int(np.floor(np.log10(abs(value)))))
    return f"{value:.{digits}f}"


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= size:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds / 1e-9)} ns"


@contextmanager
def one_core() -> Iterator[int | None]:
    """Keeps this process, and those it starts, on the core that is least busy; gives its number."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {_idle_core(sorted(allowed)[:16])})
        yield next(iter(os.sched_getaffinity(0)))
    finally:
        os.sched_setaffinity(0, allowed)


def _idle_core(cores: list[int]) -> int:
    """The core on which a short loop finishes first."""
    times: dict[int, float] = {}
    for core in cores:
        os.sched_setaffinity(0, {core})
        start = time.perf_counter()
        sum(range(500_000))
        times[core] = time.perf_counter() - start
    return min(times, key=times.__getitem__)
