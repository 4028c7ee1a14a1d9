"""When a study has enough samples: stages that grow until an interval is as short as requested.

Stopping at the first interval that is short enough favours samples whose spread is small by chance, and such intervals
cover too rarely. Three things prevent that here: a pilot large enough that its spread is known well, few looks (each
stage is as large as the spread so far predicts, Stein 1945), and, where the stages double, one stage decided ahead.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt

from pendula.errors import UsageError
from pendula.studies.designs import DESIGNS
from pendula.studies.statistics import Array, Estimate, estimate
from pendula.words import readable

PILOT = 256
"""Random samples of the first stage. With 128, 95 % intervals of values as skewed as lognormal ones with sigma = 1
(skewness 6) would cover in 92 % of studies."""
REPLICATES = 32
"""replicates of the first stage"""
SIZE = {"latin": 64, "sobol": 16}
"""samples of one replicate in the first stage; a Latin hypercube keeps its size"""
SAFETY = 1.1
"""a stage is larger by this than predicted, so that a further one is seldom needed"""
LEAST_GROWTH, MOST_GROWTH = 1.25, 8.0
"""a stage multiplies the number of samples by a factor in this range"""


@readable
@dataclass(frozen=True)
class Goal:
    """The accuracy a study shall reach.

    Attributes:
        half_width: half the width of the interval; with ``relative``, divided by the estimate.
        relative: whether ``half_width`` is a fraction of the estimate.
        of, level, within: as in :func:`estimate`.
        most: largest number of samples, all replicates together.

    Raises:
        UsageError: a half-width that is not positive, or fewer samples than a first stage has.

    Example:
        >>> Goal(0.02, of="probability")
        <Goal: probability to within 0.02 at 95 %, at most 1000000 samples>
    """

    half_width: float
    relative: bool = False
    of: str = "mean"
    level: float = 0.95
    within: tuple[float, float] | None = None
    most: int = 1_000_000

    def __post_init__(self) -> None:
        if not 0 < self.half_width < np.inf:
            raise UsageError(f"the half-width of an interval must be positive, found {self.half_width!r}")
        if not self.most >= 2:
            raise UsageError(f"the largest number of samples must be 2 or more, found {self.most!r}")

    def met_by(self, found: Estimate, slack: float = 1.0) -> bool:
        """Whether an interval is short enough."""
        return found.half_width <= slack * self.width(found)

    def width(self, found: Estimate) -> float:
        """The half-width wanted of an estimate."""
        return self.half_width * abs(found.value) if self.relative else self.half_width

    def __str__(self) -> str:
        unit = " of its value" if self.relative else ""
        return f"{self.of} to within {self.half_width:g}{unit} at {self.level * 100:g} %, at most {self.most} samples"


@readable
@dataclass(frozen=True)
class Stage:
    """What a study shall have computed next: sample numbers from 0 in each of some replicates.

    Attributes:
        replicates, samples: number of replicates (1 for random samples), and samples of each, in total.
        done: whether these were computed and the study ends.
        reason: why it ends or continues.
        estimate: from the samples so far; None before the first stage, or if too many cases failed.

    Example:
        >>> next_stage(Goal(0.02, of="probability"), "random")
        <Stage: 256 samples: the first stage>
    """

    replicates: int
    samples: int
    done: bool
    reason: str
    estimate: Estimate | None = None

    def __str__(self) -> str:
        rows = f"{self.replicates} replicates of " if self.replicates > 1 else ""
        return f"{rows}{self.samples} samples: {self.reason}"


def next_stage(goal: Goal, design: str, values: npt.ArrayLike | None = None) -> Stage:
    """The next stage of a study, from all values so far, or that it is done.

    The answer depends on the values alone, so an interrupted study takes the same stages as an undisturbed one. Random
    samples are extended, Latin hypercubes get further replicates, and every Sobol sequence is doubled.

    Args:
        goal: the accuracy wanted.
        design: ``"random"``, ``"latin"`` or ``"sobol"``.
        values: what the samples gave, nan for failed cases: shape (n,) for random samples, else (replicates, n).

    Raises:
        UsageError: an unknown design, values of a wrong shape, or a goal that allows less than the first stage.

    Example:
        >>> import numpy as np
        >>> hits = np.random.default_rng(1).random(256) < 0.3
        >>> next_stage(Goal(0.05, of="probability"), "random", hits)
        <Stage: 357 samples: half-width 0.0562, wanted 0.05>
    """
    if design not in DESIGNS:
        raise UsageError(f'unknown design "{design}": try one of {", ".join(DESIGNS)}')
    rows, columns = (1, min(PILOT, goal.most)) if design == "random" else (REPLICATES, SIZE[design])
    if rows * columns > goal.most:
        raise UsageError(f"a {design} study begins with {rows * columns} samples; at most {goal.most} are allowed")
    x = np.empty(0) if values is None else np.asarray(values, dtype=float)
    if not x.size:
        return Stage(rows, columns, False, "the first stage")
    if x.ndim != (1 if design == "random" else 2):
        raise UsageError(
            f"values of a {design} study have shape {'(n,)' if design == 'random' else '(R, n)'}, found {x.shape}"
        )
    now = (1, x.size) if design == "random" else x.shape
    if now[0] < rows or now[1] < columns:
        return Stage(max(now[0], rows), max(now[1], columns), False, "the first stage")
    try:
        found = estimate(x, of=goal.of, level=goal.level, within=goal.within)
    except UsageError as error:
        if not np.isnan(x).any():
            raise
        return Stage(now[0], now[1], True, str(error))
    if design == "sobol" and goal.met_by(found) and not _decided_ahead(goal, x):
        return _grown(goal, design, now, found, "short enough by chance, perhaps: one doubling more decides")
    if goal.met_by(found):
        reached = f"half-width {found.half_width:.3g} reached, wanted {goal.width(found):.3g}"
        return Stage(now[0], now[1], True, reached, found)
    return _grown(goal, design, now, found, f"half-width {found.half_width:.3g}, wanted {goal.width(found):.3g}")


def _decided_ahead(goal: Goal, x: Array) -> bool:
    """Whether this stage was foreseen as the last one, from the samples of a stage before.

    It was if half of the samples or fewer gave an interval of at most sqrt(2) times the wanted width. The spread that
    decides is then not that of the final interval.
    """
    half = x.shape[1] // 2
    while half >= max(2, SIZE["sobol"] // 2):
        with contextlib.suppress(UsageError):  # too many failed cases among these few
            before = estimate(x[:, :half], of=goal.of, level=goal.level, within=goal.within)
            if goal.met_by(before, np.sqrt(2)):
                return True
        half //= 2
    return False


def _grown(goal: Goal, design: str, now: tuple[int, int], found: Estimate, why: str) -> Stage:
    """The next stage, or the end if no stage is allowed or can help."""
    rows, columns = now
    wanted = goal.width(found)
    # What failed cases alone add to the width does not shrink with more samples.
    ends = (0.0, 1.0) if goal.of == "probability" else goal.within
    floor = found.failed / found.samples * (ends[1] - ends[0]) / 2 if ends else 0.0
    if floor and floor >= wanted:
        return Stage(rows, columns, True, f"failed cases alone keep the half-width above {wanted:.3g}", found)
    if design == "sobol":
        more = (rows, 2 * columns)
    else:
        ratio = ((found.half_width - floor) / (wanted - floor)) ** 2 * SAFETY if wanted else MOST_GROWTH
        factor = min(max(ratio, LEAST_GROWTH), MOST_GROWTH)
        if design == "random":
            more = (1, min(ceil(columns * factor), goal.most))
        else:
            more = (min(ceil(rows * factor), goal.most // columns), columns)
    if more == now or more[0] * more[1] > goal.most:
        return Stage(rows, columns, True, f"{why}; more than {goal.most} samples are not allowed", found)
    return Stage(*more, False, why, found)
