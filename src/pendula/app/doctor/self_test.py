"""A quick self-test of an installation: results against closed forms, formulations and engines against each other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One comparison: what was compared, the largest relative difference, and the largest one allowed."""

    name: str
    difference: float
    limit: float
    seconds: float
    problem: str = ""
    """the error that ended it, if one did"""

    @property
    def passed(self) -> bool:
        """Whether the difference is within the limit."""
        return not self.problem and self.difference <= self.limit


def quarter_period_error() -> float:
    """Angle of a rod released from 120 degrees after a quarter of its period, when it hangs straight down.

    The period follows from the complete elliptic integral of the first kind. At a turning point the angle would hardly
    depend on it.
    """
    from scipy.special import ellipk

    import pendula

    start = math.radians(120)
    model = pendula.library.pendulum(start=start)
    frequency = math.sqrt(3 * model.parameter_values["g"] / (2 * model.parameter_values["l"]))
    quarter = ellipk(math.sin(start / 2) ** 2) / frequency
    run = pendula.simulate(model, quarter, tol=1e-10)
    return abs(float(run["theta"][-1])) / start


def formulation_difference() -> float:
    """Largest relative difference between the five formulations of a four-bar linkage."""
    import pendula

    return max(pair.max_difference for pair in pendula.check("four-bar", states=10).pairs)


def engine_difference() -> float:
    """Accelerations of a chain of 10 links by both engines, at random states."""
    import numpy as np

    import pendula

    model = pendula.library.chain(links=10)
    systems = [pendula.compile_system(model, engine=name) for name in ("symbolic", "recursive")]
    draw = np.random.default_rng(1)
    q, v = draw.uniform(-3, 3, (5, 10)), draw.uniform(-3, 3, (5, 10))
    one, other = (np.array([system.accelerations(*row) for row in zip(q, v, strict=True)]) for system in systems)
    return float(abs(one - other).max() / abs(one).max())


def frequency_error() -> float:
    """Frequencies of two equal point masses on strings, against sqrt((2 -+ sqrt(2)) g/l)."""
    import pendula

    model = pendula.library.chain(links=2, kind="point")
    values = model.parameter_values
    exact = [math.sqrt((2 + sign * math.sqrt(2)) * values["g"] / values["l"]) for sign in (-1, 1)]
    found = pendula.modes(model).frequencies
    return max(abs(a - b) / b for a, b in zip(found, exact, strict=True))


def open_loop() -> float:
    """How far the loop of a four-bar linkage opens during a run, relative to its crank."""
    import pendula

    run = pendula.simulate("four-bar", 1.0, tol=1e-8)
    return float(run.constraint_violation or 0.0)


CHECKS: tuple[tuple[str, Callable[[], float], float], ...] = (
    ("period of a pendulum, against its elliptic integral", quarter_period_error, 1e-8),
    ("five formulations of a four-bar linkage", formulation_difference, 1e-9),
    ("two engines, a chain of 10 links", engine_difference, 1e-10),
    ("frequencies of a double pendulum, against their closed form", frequency_error, 1e-12),
    ("the loop of a four-bar linkage stays closed", open_loop, 1e-12),
)


def self_test(checks: tuple[tuple[str, Callable[[], float], float], ...] = CHECKS) -> Iterator[Check]:
    """Runs the checks in turn. An error in one does not prevent the next."""
    for name, compute, limit in checks:
        begun = time.perf_counter()
        difference, problem = math.inf, ""
        try:
            difference = float(compute())
        except Exception as error:  # the report must be complete whatever is wrong
            problem = f"{type(error).__name__}: {error}"
        yield Check(name, difference, limit, time.perf_counter() - begun, problem)
