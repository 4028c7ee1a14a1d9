"""Whether residuals look like noise: signs in runs, and values that follow their neighbours.

Residuals of independent measurements about the right model change sign at random. Where the model is wrong, or the
noise of neighbouring samples is related, they do not, and intervals that take each sample as new are too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pendula.system.layout import Array
from pendula.words import readable

FALSE_ALARMS = 0.01
"""chance that independent residuals of a whole fit are called structured, at most"""
FEWEST = 16
"""residuals that a test needs"""
LAGS = 1, 2
RESOLVED = 100.0
"""residuals below so many tolerances of the integration are its errors, not those of measurements"""


@readable
@dataclass(frozen=True)
class Structure:
    """How far the residuals of one column in one experiment are from independent ones.

    Attributes:
        source, name: the data and the column.
        runs, expected_runs: stretches of equal sign, and how many independent residuals have on average.
        runs_p: chance of independent residuals to be as far from the average or farther.
        autocorrelation: correlation of each residual with the next one, and with the one after that. No oscillation
            leaves both at zero.
        autocorrelation_p: chances of independent residuals to be as far from their averages or farther.
        level: chances below this count as structure; small enough for all tests of the fit together.

    Example:
        >>> import numpy as np
        >>> wave = np.sin(np.linspace(0, 20, 100))
        >>> print(structure("swing.csv", "theta", wave, 0.005))
        theta of swing.csv has 8 runs of equal sign for 51.0 expected (p = 1e-17),
          autocorrelation over one and two samples 0.97 (p = 5e-23) and 0.9 (p = 2e-20)
    """

    source: str
    name: str
    runs: int
    expected_runs: float
    runs_p: float
    autocorrelation: tuple[float, ...]
    autocorrelation_p: tuple[float, ...]
    level: float

    @property
    def least(self) -> float:
        """The least of the chances."""
        return min(self.runs_p, *self.autocorrelation_p)

    @property
    def structured(self) -> bool:
        """Whether one of the tests excludes independent residuals."""
        return self.least < self.level

    @property
    def words(self) -> str:
        """The statistics in one line."""
        related = " and ".join(
            f"{x:.2g} (p = {p:.1g})" for x, p in zip(self.autocorrelation, self.autocorrelation_p, strict=True)
        )
        return (
            f"{self.name} of {self.source} has {self.runs} runs of equal sign for {self.expected_runs:.1f} expected "
            f"(p = {self.runs_p:.1g}), autocorrelation over one and two samples {related}"
        )

    def __str__(self) -> str:
        return self.words


def structure(source: str, name: str, residuals: Array, level: float) -> Structure | None:
    """The tests of one series of residuals in the order of time; None if there are too few of them.

    Runs about zero by Wald and Wolfowitz, and the autocorrelations with their means and variances over all orders of
    the same values; all by the normal distribution, on both sides.
    """
    from scipy.stats import norm  # slow to load

    n = residuals.size
    above = residuals > 0
    first, second = int(above.sum()), int(n - above.sum())
    size = float(residuals @ residuals)
    if n < FEWEST or not min(first, second) or not size:
        return None
    runs = 1 + int((above[1:] != above[:-1]).sum())
    expected = 1 + 2 * first * second / n
    spread = np.sqrt((expected - 1) * (expected - 2) / (n - 1))
    off = max(abs(runs - expected) - 0.5, 0.0)  # runs are whole numbers
    related = [float(residuals[k:] @ residuals[:-k]) / size for k in LAGS]
    usual = [_over_all_orders(residuals, k) for k in LAGS]
    far = [abs(x - mean) / np.sqrt(variance) for x, (mean, variance) in zip(related, usual, strict=True)]
    return Structure(
        source, name, runs, float(expected), float(2 * norm.sf(off / spread)) if spread else 1.0,
        tuple(related), tuple(float(2 * norm.sf(x)) for x in far), level,
    )  # fmt: skip


def _over_all_orders(residuals: Array, lag: int) -> tuple[float, float]:
    """Mean and variance of sum(r_i r_i+lag) / sum(r_i^2) over all orders of the residuals."""
    n = residuals.size
    s, total, cubes, fourth = (float((residuals**k).sum()) for k in (1, 2, 3, 4))
    # averages of products of different residuals, by the power sums
    two = (s**2 - total) / (n * (n - 1))
    squares = (total**2 - fourth) / (n * (n - 1))  # r_i^2 r_j^2
    chain = (s**2 * total - total**2 - 2 * s * cubes + 2 * fourth) / (n * (n - 1) * (n - 2))  # r_i^2 r_j r_k
    four = s**4 - 6 * s**2 * total + 3 * total**2 + 8 * s * cubes - 6 * fourth  # r_i r_j r_k r_l
    four /= n * (n - 1) * (n - 2) * (n - 3)
    pairs, sharing = n - lag, 2 * (n - 2 * lag)  # pairs, and pairs of them with one residual in common
    second = pairs * squares + sharing * chain + (pairs * (pairs - 1) - sharing) * four
    mean = pairs * two
    return mean / total, max(second - mean**2, 1e-300) / total**2


def structures(series: Sequence[tuple[str, str, Array, float]]) -> tuple[Structure, ...]:
    """The tests of all series: source, name, residuals, and the size below which they are integration errors."""
    shown = [one for one in series if one[2].size >= FEWEST and float(np.sqrt(np.mean(one[2] ** 2))) > one[3]]
    level = FALSE_ALARMS / max((1 + len(LAGS)) * len(shown), 1)
    found = (structure(source, name, residuals, level) for source, name, residuals, _ in shown)
    return tuple(one for one in found if one is not None)
