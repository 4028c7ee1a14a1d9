"""Small studies whose truth is known: how often their intervals contain it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import binom

from pendula.studies.designs import draws
from pendula.studies.stages.stopping import Goal, next_stage
from pendula.studies.statistics import Estimate, estimate

STUDIES, LOW, HIGH = 2000, 0.935, 0.965
"""What is promised: this share of so many studies, at a level of 95 %."""
UNIT = {"x": ("uniform", 0.0, 1.0), "y": ("uniform", 0.0, 1.0)}

RANDOM: dict[str, tuple[Callable, float, str]] = {
    "normal": (lambda rng, n: rng.normal(3.0, 1.0, n), 3.0, "mean"),
    "exponential": (lambda rng, n: rng.exponential(2.0, n), 2.0, "mean"),
    "lognormal 0.5": (lambda rng, n: rng.lognormal(0.0, 0.5, n), float(np.exp(0.125)), "mean"),
    "lognormal 1": (lambda rng, n: rng.lognormal(0.0, 1.0, n), float(np.exp(0.5)), "mean"),
    "half": (lambda rng, n: rng.random(n) < 0.5, 0.5, "probability"),
    "tenth": (lambda rng, n: rng.random(n) < 0.1, 0.1, "probability"),
    "fiftieth": (lambda rng, n: rng.random(n) < 0.02, 0.02, "probability"),
}
"""by name: samples, their true mean, and what is estimated"""

AREA: dict[str, tuple[Callable, float, str]] = {
    "smooth": (lambda x, y: np.exp(x) * np.cos(y), float((np.e - 1) * np.sin(1)), "mean"),
    "disc": (lambda x, y: (x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.09, float(np.pi * 0.09), "probability"),
}
"""by name: a function of two uniform variables, its true mean, and what is estimated"""


def bounds(studies: int, share: float = 1e-4) -> tuple[float, float]:
    """Shares outside which so few studies fall with this probability, if 93.5 to 96.5 % of all intervals are right."""
    return binom.ppf(share, studies, LOW) / studies, binom.isf(share, studies, HIGH) / studies


def covered(studies: list[Estimate], truth: float) -> float:
    return float(np.mean([one.low <= truth <= one.high for one in studies]))


def random_studies(name: str, count: int, samples: int, seed: int = 0) -> list[Estimate]:
    draw, _, of = RANDOM[name]
    rng = np.random.default_rng([seed, samples])
    return [estimate(draw(rng, samples), of=of) for _ in range(count)]


def random_stopped(name: str, count: int, goal: Goal, seed: int = 0) -> list[Estimate]:
    draw = RANDOM[name][0]
    rng = np.random.default_rng([seed, 1])

    def study() -> Estimate:
        values = np.empty(0)
        while not (stage := next_stage(goal, "random", values)).done:
            values = np.append(values, draw(rng, stage.samples - values.size))
        assert stage.estimate is not None
        return stage.estimate

    return [study() for _ in range(count)]


def replicate(design: str, name: str, samples: int, seed: int, number: int) -> np.ndarray:
    found = draws(design, UNIT, samples, seed=seed, replicate=number)
    return AREA[name][0](found["x"], found["y"])


def replicated_studies(design: str, name: str, count: int, samples: int, replicates: int = 32) -> list[Estimate]:
    rows = ([replicate(design, name, samples, seed, r) for r in range(replicates)] for seed in range(count))
    return [estimate(one, of=AREA[name][2]) for one in rows]


def replicated_stopped(design: str, name: str, count: int, goal: Goal) -> list[Estimate]:
    def study(seed: int) -> Estimate:
        rows: list[np.ndarray] = []
        stage = next_stage(goal, design)
        while not stage.done:
            if design == "sobol" and rows and stage.samples > rows[0].size:
                rows = []
            # Sobol sequences are drawn ahead: their first samples stay the same.
            length = max(stage.samples, 128) if design == "sobol" else stage.samples
            rows += [replicate(design, name, length, seed, r) for r in range(len(rows), stage.replicates)]
            stage = next_stage(goal, design, np.array(rows)[:, : stage.samples])
        assert stage.estimate is not None
        return stage.estimate

    return [study(seed) for seed in range(count)]
