"""Motions that stick to a jump of a force, as dry friction by sign() makes them: no step gets past the jump."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pendula.simulation.forces.laws import Jump, along, jumps_of, laws_of, values
from pendula.system.layout import Array
from pendula.system.system import System

FLIPS, OFTEN = 200, 0.02
"""a run sticks to a jump if it crosses it at least this many times, and in at least this share of its steps"""
STEPS = 500
"""successive steps that are examined together"""
FEW = 10
"""the same at the end of a run that could not continue"""
SLOW = 0.1
"""they stall if together they are shorter than this share of the longest step so far"""
NEAR = 1e-3
"""and stick to a jump if its margin stays below this share of the largest so far"""


class Sticking:
    """Watches the steps of a run for a jump of a force at which they stall.

    Steps near a jump are short, since their error is large across it; where the force drives the motion back to the
    jump from both sides, they stay short forever.
    """

    @classmethod
    def of(cls, system: System, vector: Array) -> Sticking | None:
        """A watch for a run of a system; None if no force jumps."""
        jumps = list(jumps_of(system)) if laws_of(system) else []
        return cls(system, vector, jumps) if jumps else None

    def __init__(self, system: System, vector: Array, jumps: list[Jump]) -> None:
        self.system, self.vector, self.jumps = system, vector, jumps
        self.constants = system.layout.parameter_values(vector)
        self.largest = np.zeros(len(self.jumps))
        self.longest = 0.0
        self.t, self.margins = np.zeros(0), np.zeros((len(self.jumps), 0))
        self.found: tuple[Jump, float] | None = None

    def look(self, t: Array, y: Array) -> int | None:
        """The last of some further states if the run has stalled there; else None."""
        names = {**self.constants, **along(self.system, t, y, self.vector)}
        margins = np.abs([values(jump.margin, names, t.shape) for jump in self.jumps])
        self.t = np.append(self.t, t)[-STEPS:]
        self.margins = np.hstack([self.margins, margins])[:, -STEPS:]
        self.largest = np.maximum(self.largest, margins.max(axis=1))
        self.longest = max(self.longest, float(np.abs(np.diff(self.t)).max(initial=0.0)))
        if len(self.t) < STEPS or abs(self.t[-1] - self.t[0]) > SLOW * self.longest:
            return None
        near = self.margins.max(axis=1) <= NEAR * self.largest
        if not near.any():
            return None
        self.found = self.jumps[int(np.argmax(near))], float(self.t[0])
        return len(t) - 1

    def look_back(self, t: Array, y: Array) -> None:
        """Examines the end of a run that could not continue."""
        names = {**self.constants, **along(self.system, t, y, self.vector)}
        for jump in self.jumps:
            margin = np.abs(values(jump.margin, names, t.shape))
            if (
                margin[-1] <= NEAR * margin.max()
                and abs(t[-1] - t[-min(FEW, len(t))]) <= SLOW * np.abs(np.diff(t)).max()
            ):
                self.found = jump, float(t[-1])
                return

    @property
    def detail(self) -> str:
        """What happened, and what to try."""
        assert self.found is not None
        jump, since = self.found
        return (
            f"the force {jump.law} jumps at {jump.text} = 0, and the motion sticks there from t = {since:.6g} "
            f"{self.system.layout.time_unit}: forces on both sides drive it back to the jump, which steps cannot "
            f"follow. {jump.advice}"
        )


def sticking_notes(system: System, t: Array, names: dict[str, Array], constants: dict[str, float]) -> Iterator[str]:
    """Notes on jumps that many steps cross."""
    for jump in jumps_of(system):
        side = np.sign(values(jump.margin, {**constants, **names}, t.shape))
        flips = np.flatnonzero(side[1:] * side[:-1] < 0.0)
        if flips.size > max(FLIPS, OFTEN * len(t)):
            yield (
                f"the force {jump.law} jumps at {jump.text} = 0, and the run crosses that {flips.size} times in "
                f"{len(t) - 1} steps (from t = {t[flips[flips.size // 10]]:.4g} {system.layout.time_unit}): it sticks "
                f"there, which steps cannot follow. {jump.advice}"
            )
