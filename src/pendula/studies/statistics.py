"""Means and probabilities from samples, with confidence intervals.

Independent samples: a mean by Hall's transformation of Student's t, which corrects it for skewness; a probability by
Wilson's score interval, or the exact one of Clopper and Pearson where an event is too rare for that. Samples in
replicates (Latin hypercubes, scrambled Sobol): Student's t over the means of the replicates, since samples of one
replicate depend on each other. Failed cases (nan) are counted, and widen the interval or are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pendula.errors import UsageError
from pendula.words import counted, readable

Array = npt.NDArray[np.float64]

MOST_FAILED = 0.05
"""share of failed cases beyond which a mean of the others is refused"""
FEW = 10
"""With fewer events (or fewer of the opposite) the exact interval replaces Wilson's. Computed from the binomial
distribution, 95 % intervals so chosen cover in 93.5 to 97 % of studies if 10 events or more are expected among 50
samples or more; in 92.7 to 99.1 % if 3 to 10 are, and in at least 97.5 % if fewer are."""
COCHRAN = 25.0
"""A mean of n samples is taken as nearly normal if n exceeds this times the squared skewness (Cochran 1977, 2.15)."""

KINDS = ("mean", "probability")


class Interval(NamedTuple):
    """A value with the ends of its confidence interval and the method in words."""

    value: float
    low: float
    high: float
    method: str


@readable
@dataclass(frozen=True)
class Estimate:
    """A mean or a probability with its confidence interval.

    Attributes:
        value: the estimate.
        low, high: ends of the interval.
        level: share of studies whose interval contains the truth.
        samples: cases that were computed, failed ones included.
        failed: cases without a value.
        of: ``"mean"`` or ``"probability"``.
        method: how the interval was found.
        notes: what a reader must know to trust it.

    Example:
        >>> estimate([True] * 30 + [False] * 70, of="probability")
        <Estimate: probability 0.3, at 95 % between 0.218949 and 0.395849>
    """

    value: float
    low: float
    high: float
    level: float
    samples: int
    failed: int
    of: str
    method: str
    notes: tuple[str, ...] = ()

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def as_dict(self) -> dict[str, Any]:
        """All results as plain numbers and strings."""
        return {**self.__dict__, "notes": list(self.notes), "half_width": self.half_width}

    def __str__(self) -> str:
        first = f"{self.of} {self.value:.6g}, at {self.level * 100:g} % between {self.low:.6g} and {self.high:.6g}"
        failed = f", of which {self.failed} failed" if self.failed else ""
        return "\n".join([first, f"{counted(self.samples, 'sample')}{failed}; {self.method}", *self.notes])


def estimate(
    values: npt.ArrayLike, *, of: str = "mean", level: float = 0.95, within: tuple[float, float] | None = None
) -> Estimate:
    """The mean of samples, or the probability of an event, with its confidence interval.

    A failed case (nan) may have had any value. Where the possible values are known (0 and 1 of an event, or ``within``)
    the interval covers the worst case in both directions. Else it is that of the mean over cases that did not fail, the
    notes say so, and more than 5 % of failed cases are refused.

    Args:
        values: one number for each sample; events as True and False, or 1 and 0. Shape (n,) for independent samples;
            (R, n) for R independent randomizations of a Latin hypercube or a Sobol sequence of n samples each.
        of: ``"mean"`` or ``"probability"``.
        level: confidence level, for example 0.95.
        within: smallest and largest possible value of a sample.

    Raises:
        UsageError: too few samples or replicates, too many failed ones, infinite values, or values beyond ``within``.

    Example:
        >>> found = estimate([4.1, 3.9, 4.4, 4.0, 4.2, 3.8])
        >>> round(found.value, 3), round(found.low, 2), round(found.high, 2)
        (4.067, 3.86, 4.33)
    """
    x, bounds = _checked(values, of, level, within)
    failed = np.isnan(x)
    notes: list[str] = []
    if not failed.any():
        found = _interval(x, of, level)
    elif bounds is not None:
        low, high = (_interval(np.where(failed, end, x), of, level) for end in bounds)
        found = Interval(float(np.nanmean(x)), low.low, high.high, high.method)
        notes.append(f"failed cases count as {bounds[0]:g} at the lower end and as {bounds[1]:g} at the upper end")
    else:
        found = _interval(x, of, level)
        notes.append(f"mean of the cases that did not fail; {counted(int(failed.sum()), 'failed case')} may differ")
    low_end, high_end = bounds if bounds is not None else (-np.inf, np.inf)
    return Estimate(
        value=found.value, low=max(found.low, low_end), high=min(found.high, high_end), level=level, samples=x.size,
        failed=int(failed.sum()), of=of, method=found.method, notes=(*notes, *_warnings(x, of)),
    )  # fmt: skip


def _checked(
    values: npt.ArrayLike, of: str, level: float, within: tuple[float, float] | None
) -> tuple[Array, tuple[float, float] | None]:
    """The samples as numbers, and the ends of their possible values."""
    if of not in KINDS:
        raise UsageError(f'an estimate is of one of {", ".join(KINDS)}, found "{of}"')
    if not 0.5 <= level < 1:
        raise UsageError(f"a confidence level lies between 0.5 and 1, for example 0.95; found {level:g}")
    try:
        x = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"samples must be numbers, or True and False, found {values!r:.60}") from None
    if x.ndim not in (1, 2) or x.shape[-1] < 1 or (x.ndim == 1 and of == "mean" and x.size < 2):
        raise UsageError(f"an interval needs two samples or more, or an array (replicates, samples), found {x.shape}")
    if x.ndim == 2 and len(x) < 2:
        raise UsageError(f"samples in replicates need two replicates or more, found {len(x)}: they give the spread")
    if np.isinf(x).any():
        raise UsageError(
            f"{counted(int(np.isinf(x).sum()), 'sample')} of {x.size} are infinite, so there is no mean: "
            "try the probability of an event, or a largest value"
        )
    bounds = (0.0, 1.0) if of == "probability" else within
    if of == "probability" and not np.isin(x[~np.isnan(x)], (0.0, 1.0)).all():
        raise UsageError("a probability is estimated from True and False, or 1 and 0; found other numbers")
    if bounds is not None and not bounds[0] < bounds[1]:
        raise UsageError(f"the smallest possible value must be below the largest, found {within}")
    if bounds is not None and (
        np.nanmin(x, initial=bounds[0]) < bounds[0] or np.nanmax(x, initial=bounds[1]) > bounds[1]
    ):
        raise UsageError(f"samples go from {np.nanmin(x):g} to {np.nanmax(x):g}, beyond the stated range {bounds}")
    lost = np.isnan(x)
    failed = int(lost.sum())
    without = lost.all(axis=1).any() if x.ndim == 2 else x.size - failed < 2
    if failed == x.size or (bounds is None and (failed > MOST_FAILED * x.size or without)):
        raise UsageError(
            f"{failed} of {x.size} cases failed: a mean of the others may be far off. "
            "Try to mend the failed cases, or state the smallest and largest possible value"
        )
    return x, bounds


def _interval(x: Array, of: str, level: float) -> Interval:
    """The interval of samples; failed ones are left out."""
    known = x[~np.isnan(x)]
    if of == "probability" and (x.ndim == 1 or _events(known) < FEW):
        return _share(int(known.sum()), known.size, level)
    if known.min() == known.max():
        return Interval(float(known[0]), float(known[0]), float(known[0]), "all samples are equal")
    return _mean(known, level) if x.ndim == 1 else _replicates(np.nanmean(x, axis=1), x.shape[1], level)


def _events(known: Array) -> int:
    """How often the rarer of an event and its opposite occurred."""
    return int(min(known.sum(), known.size - known.sum()))


def _mean(x: Array, level: float) -> Interval:
    """Hall's interval. With a skewness of zero it is Student's.

    The transformed statistic T + c T^2/3 + c^2 T^3/27 + c/6, c = skewness/sqrt(n), has no skewness to first order
    (Hall 1992, J. R. Statist. Soc. B 54, 221); its cubic is inverted in closed form.
    """
    from scipy.special import stdtrit

    n, value, spread = x.size, float(x.mean()), float(x.std())
    c = float(np.mean(((x - value) / spread) ** 3)) / sqrt(n)
    t = float(stdtrit(n - 1, (1 + level) / 2))
    scale = spread / sqrt(n - 1)
    ends = [y if abs(c) < 1e-6 else 3 / c * (np.cbrt(1 + c * (y - c / 6)) - 1) for y in (t, -t)]
    low, high = (value - scale * float(end) for end in ends)
    return Interval(value, low, high, "Student's t, corrected for skewness (Hall)")


def _replicates(means: Array, samples: int, level: float) -> Interval:
    """Student's interval over the means of independent replicates."""
    from scipy.special import stdtrit

    count, value = means.size, float(means.mean())
    reach = float(stdtrit(count - 1, (1 + level) / 2) * means.std(ddof=1) / sqrt(count))
    return Interval(value, value - reach, value + reach, f"Student's t over {count} replicates of {samples} samples")


def _share(events: int, count: int, level: float) -> Interval:
    """The interval of a probability: Wilson (1927), or Clopper and Pearson (1934) if events are few."""
    from scipy.special import betaincinv, ndtri

    tail, value = (1 - level) / 2, events / count
    if min(events, count - events) < FEW:
        low = float(betaincinv(events, count - events + 1, tail)) if events else 0.0
        high = float(betaincinv(events + 1, count - events, 1 - tail)) if events < count else 1.0
        return Interval(value, low, high, "exact interval (Clopper and Pearson)")
    z = float(ndtri(1 - tail))
    shrunk = 1 + z * z / count
    centre = (value + z * z / (2 * count)) / shrunk
    reach = z / shrunk * sqrt(value * (1 - value) / count + (z / (2 * count)) ** 2)
    return Interval(value, centre - reach, centre + reach, "Wilson's score interval")


def _warnings(x: Array, of: str) -> list[str]:
    """What makes an interval doubtful, in words."""
    known = x[~np.isnan(x)]
    if of == "probability":
        few = _events(known)
        return [f"only {few} of the rarer outcome: the interval is wider than it need be"] if few < FEW else []
    if known.min() == known.max():
        # An outcome of probability 3/n stays unseen in n samples with probability 5 %.
        return [f"all samples are equal: outcomes rarer than about {3 / known.size:.2g} may not have occurred yet"]
    if x.ndim == 2:
        return []
    skewness = float(np.mean(((known - known.mean()) / known.std()) ** 3))
    needed = int(np.ceil(COCHRAN * skewness**2))
    if known.size >= needed:
        return []
    return [f"skewness {skewness:.2g}: with fewer than {needed} samples the interval may cover less often than stated"]
