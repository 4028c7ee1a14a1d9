"""Who takes part in a comparison: sides that are there, and those that are not, each with its reason."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.measure import Side, Timing, interleave

ON_REQUEST = {"jax": "jax", "diffrax": "jax"}
"""Python packages that take part only when asked for, and the word that asks"""
EXTRAS = ("jax", "octave")
PACKAGE = {"pinocchio": "pin"}
"""modules that are installed under another name"""
SLOW = 2.0
"""seconds of getting ready that are worth telling"""
_asked: set[str] = set()


class Missing(Exception):
    """A side that cannot be measured here; the text says why in a few words."""


def ask_for(extras: Iterable[str]) -> None:
    """Lets peers that need more than the lock file take part."""
    _asked.clear()
    _asked.update(extras)


def need(extra: str) -> None:
    """Stops a side that takes part on request only."""
    if extra not in _asked:
        raise Missing(f"only when asked for: make bench WITH={extra}")


def peer(module: str) -> Any:
    """A module of another engine."""
    if module in ON_REQUEST:
        need(ON_REQUEST[module])
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Missing(f"{PACKAGE.get(module, module)} is not installed here") from error


class Lineup:
    """The sides of one comparison."""

    def __init__(self) -> None:
        self.sides: dict[str, Side] = {}
        self.parts: dict[str, int] = {}
        self.missing: dict[str, str] = {}

    def add(self, name: str, make: Callable[[], Any], *, least: float = 0.01) -> bool:
        """Takes a function that makes the call to be timed; False if this side cannot be had.

        The call is repeated inside one sample until that takes ``least`` seconds (0: called once). What takes long to
        get ready is told on the error stream.
        """
        begun = time.perf_counter()
        try:
            call = make()
            count = repeats(call, least)
            if (spent := time.perf_counter() - begun) > SLOW:
                print(f"  ... {name} was ready after {spent:.1f} s", file=sys.stderr, flush=True)
        except (Missing, MemoryError) as reason:
            self.missing[name] = str(reason) or "out of memory"
            return False
        self.sides[name] = Side(lambda _: _often(call, count))
        self.parts[name] = count
        return True

    def run(self, *, rounds: int = 5, share: float = 0.05) -> dict[str, Timing]:
        """Times all sides in turn; per call."""
        found = interleave(self.sides, rounds=rounds, share=share)
        return {name: timing.per(self.parts[name]) for name, timing in found.items()}


def repeats(call: Callable[[], Any], least: float) -> int:
    """How often a call fits into ``least`` seconds; runs it at least once, as warm-up."""
    call()
    count = 1
    while least > 0:
        start = time.perf_counter()
        _often(call, count)
        spent = time.perf_counter() - start
        if spent >= least:
            break
        count = min(10 * count, max(count + 1, int(count * least / max(spent, 1e-9)) + 1))
    return count


def _often(call: Callable[[], Any], count: int) -> None:
    for _ in range(count):
        call()
