"""How far a run predicts the motion: an estimate of its error over time.

Global errors are proportional to the tolerance, or nearly so (L. F. Shampine, "Tolerance proportionality in ODE codes",
1989). A second run at a hundred times the tolerance thus shows how errors arise, add up, and grow along the motion; the
error of the run itself is a hundredth of their difference. The ratio of the two energy errors is another estimate of
this factor; the geometric mean of both is taken.

The second run takes about half the time of the first. Over long runs it covers only a part, beyond which the error
is extrapolated: as a power of time for regular motions, exponentially for chaotic ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pendula.numerics.steppers.checks import TIGHTEST
from pendula.numerics.steppers.stepper import Stepper
from pendula.numerics.steppers.stepping import Integration
from pendula.simulation.defaults import LOST
from pendula.system.layout import Array
from pendula.system.parameters import typical_length
from pendula.words import readable

if TYPE_CHECKING:
    from pendula.simulation.course import Course
    from pendula.simulation.trajectory import EnergyAccount

LOOSER = 100.0
"""factor between the tolerances of the two runs"""
LOOSE = 1e-4
"""tolerance above which the second run is tighter instead"""
SHARE = 0.06
"""work of the second run as a share of that of the first, if that is more than the least work"""
LEAST_WORK, MOST_EVALUATIONS = 150_000, 15_000
"""least work of a second run (evaluations times components, times 1 plus the constraint rows), and the largest number
of evaluations for it"""
SERIES, SERIES_ORDER = 20, 8
"""evaluations to which one Taylor series corresponds, and an order by which the costs of tolerances compare"""
POINTS, STEPS_BETWEEN = 32, 4
"""times at which the two runs are compared, in each part; least number of steps between them"""
FEWEST_STEPS = 8
"""with fewer steps, the second run is tighter instead"""
FEW_STEPS = 20_000
"""steps of a run that are kept until the estimate is asked for, even if only samples of them were requested"""
RATE_FROM = 256
"""steps of a part from which the typical rate of its motion is found"""
FULL = 0.2
"""difference of the two runs above which it no longer grows in proportion to the tolerance [rad or typical length]"""
SUDDEN, LASTING = 100.0, 8.0
"""growth after the first quarter of a part, and after its first half, that only exponential growth explains"""
FASTER = 1.4
"""over the second half exponential growth is the square of that over the second quarter, powers of time grow alike"""
REGULAR, STEEPEST = 2.0, 3.0
"""power of time with which errors of regular motions grow, and the largest by which errors are extrapolated"""
ROUNDED = 4 * np.finfo(float).eps
"""an error below this is that of rounding"""
FAR = 100.0
"""factor by which the ratio of energy errors may differ from that of the tolerances"""


@readable
@dataclass(frozen=True)
class Predictability:
    """Estimated error of a run over time: an indication, not a bound. ``str()`` gives a sentence.

    Angles count in radians, all other coordinates relative to a typical length of the mechanism. ``until`` is when the
    error exceeds 0.001. For 41 motions of library mechanisms at tolerance 1e-8, three of four estimates are within a
    factor of 5 of the true error, and all within a factor of 15; with other steppers and tolerances it may reach
    100. The second run that the estimate needs takes 6 % of the work of the run or, if that is
    less, 15,000 evaluations of a small mechanism: one or two milliseconds.

    Attributes:
        t: times, from the start to the end of the run.
        error: estimated error of the least accurate coordinate at these times; at most 1. It is zero (at the start,
            or at rest) or at least the rounding of the coordinates, since no second run can show less.
        coordinate: name of that coordinate at the end.
        until: time after which the error is more than 0.001; None if it never is.
        seen: share of the run that the second run covers; beyond it, the error is extrapolated.
        second: tolerance of the second run, or its steps if they have a fixed size.
        time_unit: name of the unit of time.

    Example:
        >>> import pendula
        >>> found = pendula.simulate(pendula.library.chain(links=2), 40.0).predictability
        >>> bool(5.0 < found.until < 30.0), found.error[-1]
        (True, np.float64(1.0))
    """

    t: Array
    error: Array
    coordinate: str
    until: float | None
    seen: float
    second: str
    time_unit: str

    @property
    def size(self) -> str:
        """The error at the end in words."""
        much = f"about {self.error[-1]:.1g}" if self.error[-1] < 1.0 else "1 or more"
        if 0.0 < self.error[-1] < ROUNDED:
            much += ", as small as rounding allows"
        return f"{much} ({self.coordinate}, in rad or typical lengths)"

    def as_dict(self) -> dict[str, float | str | None]:
        """Plain data: ``error`` is that at the end."""
        return {
            "error": float(self.error[-1]), "coordinate": self.coordinate, "until": self.until, "seen": self.seen,
            "second": self.second,
        }  # fmt: skip

    @property
    def text(self) -> str:
        """The sentence of ``str()``, in one line."""
        seen = "all" if self.seen > 0.99 else f"{100 * self.seen:.2g} %"
        source = f"from a second run with {self.second} over {seen} of the time"
        if self.until is None:
            return f"the estimated error at the end is {self.size}. This is an indication, {source}"
        return (
            f"the run predicts the motion only up to about t = {self.until:.3g} of {self.t[-1]:.6g} {self.time_unit}: "
            f"from there on coordinates are off by more than {LOST:g}, and at the end by {self.size}. This is an "
            f"indication, {source}"
        )

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Part:
    """Some states of a run: their numbers among the steps, times and values; and those of its first steps."""

    steps: Array
    t: Array
    y: Array
    first_t: Array
    first_y: Array

    def rate(self, nq: int, nv: int) -> float:
        """A typical rate of the motion [1/time].

        An error of phase shows in the coordinates and, a quarter of a period later, in the speeds divided by this rate.
        """
        v = self.first_y[:, nq : nq + nv]
        change = np.diff(v, axis=0) / np.maximum(np.abs(np.diff(self.first_t)), 1e-300)[:, None]
        return float(np.sqrt(np.square(change).mean() / max(float(np.square(v).mean()), 1e-300)))


@dataclass(frozen=True)
class Evidence:
    """What the estimate needs of a run: its steps, or those that matter, and how to repeat it."""

    course: Course
    longest: float
    span: tuple[float, float]
    states: Integration | tuple[Part, ...]

    def estimate(self, energy: EnergyAccount) -> Predictability | None:
        """Makes the second run and compares; None if there can be none."""
        parts = self.states if isinstance(self.states, tuple) else _parts(self.course, self.states)
        laws = [law for law in (_Law(self, part, energy) for part in parts) if len(law.t) > 1]
        if not laws:
            return None
        t0, t1 = self.span
        breaks = [law.t for law in laws]
        t = np.unique(np.concatenate([np.linspace(t0, t1, 2 * POINTS), *breaks]))[:: 1 if t1 >= t0 else -1]
        error = np.minimum(np.max([law.at(t) for law in laws], axis=0), 1.0)
        error = np.where(error > 0.0, np.maximum(error, max(law.rounding for law in laws)), 0.0)
        last = max(laws, key=lambda law: float(law.at(t[-1:])[0]))
        covered = sum(abs(float(law.t[-1] - law.t[0])) for law in laws)
        return Predictability(
            t=t,
            error=error,
            coordinate=last.coordinate,
            until=first_above(t, error, LOST),
            seen=min(1.0, covered / abs(t1 - t0)),
            second=laws[0].second,
            time_unit=self.course.system.layout.time_unit,
        )


@dataclass(frozen=True)
class Settled:
    """An estimate that was made earlier, such as that of a run from a file."""

    found: Predictability | None

    def estimate(self, energy: EnergyAccount) -> Predictability | None:
        """The estimate."""
        return self.found


def at_samples(evidence: Evidence | None, step_t: Array) -> Evidence | None:
    """The same evidence, where its states are samples of a run with steps at the times ``step_t``."""
    if evidence is None:
        return None
    states = evidence.states
    parts = states if isinstance(states, tuple) else _parts(evidence.course, states)
    way = 1.0 if step_t[-1] >= step_t[0] else -1.0
    last = len(step_t) - 1
    moved = tuple(replace(part, steps=np.minimum(np.searchsorted(way * step_t, way * part.t), last)) for part in parts)
    return replace(evidence, states=moved)


def evidence_of(course: Course, run: Integration, longest: float) -> Evidence | None:
    """What the estimate of a run needs; None if it made no step or has no coordinates.

    Where the trajectory does not keep the steps of a long run, neither does this.
    """
    if len(run.t) < 2 or not course.start.q.size:
        return None
    many = course.settings.samples is not None and len(run.t) > FEW_STEPS
    states = _parts(course, run) if many else run
    return Evidence(course, longest, (float(run.t[0]), float(run.t[-1])), states)


def _parts(course: Course, run: Integration) -> tuple[Part, ...]:
    """The parts of a run to repeat: all of it, or steps from its start and from its middle."""
    first, last = _regular(run)
    stepper, n = course.settings.stepper, run.y.shape[1]
    work = max(1, run.rhs_evaluations * (SERIES if stepper.series else 1))
    least = min(MOST_EVALUATIONS, LEAST_WORK / (n * (1 + course.system.loop_rows)))
    cost = _factor(stepper, course.settings.tol, last - first) ** (-1.0 / _error_order(stepper))
    steps = max(8, int(len(run.t) * max(least, SHARE * work) / (work * cost)))
    ends = [(first, min(first + steps, last))]
    if first + steps < last:
        middle = (first + last) // 2
        ends = [(first, first + steps // 2), (middle, min(middle + steps // 2, last))]
    parts = []
    for a, b in ends:
        count = min(POINTS, max(1, (b - a) // STEPS_BETWEEN))
        which = np.unique(np.linspace(a, b, count + 1).astype(int))
        some = slice(a, min(a + RATE_FROM, b + 1))
        parts.append(Part(which, run.t[which], run.y[which], run.t[some].copy(), run.y[some].copy()))
    return tuple(parts)


def _regular(run: Integration) -> tuple[int, int]:
    """First and last step of the longest part of a run without singular poses; its last third leads to one."""
    if not run.singular_t.size:
        return 0, len(run.t) - 1
    way = 1.0 if run.t[-1] >= run.t[0] else -1.0
    at = [0, *np.searchsorted(way * run.t, way * np.asarray(run.singular_t)).tolist(), len(run.t) - 1]
    k = int(np.argmax(np.diff(at)))
    first = at[k] + (at[k + 1] - at[k]) // 3 if k else 0
    last = at[k + 1] - (at[k + 1] - at[k]) // 3 if k + 2 < len(at) else at[k + 1]
    return min(first, len(run.t) - 2), max(last, min(first, len(run.t) - 2) + 1)


def _factor(stepper: Stepper, tol: float, steps: int) -> float:
    """Factor of the tolerance of the second run, or of the error of one step at a fixed step.

    It is below 1 where the run itself is loose, or has so few steps that they cannot be longer.
    """
    size = float(2**stepper.order) if stepper.fixed else LOOSER
    loose = stepper.tolerance and tol > LOOSE
    return 1.0 / size if loose or steps < FEWEST_STEPS else size


def _error_order(stepper: Stepper) -> int:
    """Power of the step size to which the error that the tolerance limits is proportional."""
    if stepper.series:
        return SERIES_ORDER
    return stepper.order if stepper.fixed else stepper.error_order + 1


class _Law:
    """How the error grows along one part of a run, and beyond."""

    def __init__(self, evidence: Evidence, part: Part, energy: EnergyAccount) -> None:
        course, nq = evidence.course, evidence.course.start.q.size
        stepper, tol = course.settings.stepper, course.settings.tol
        factor, order = _factor(stepper, tol, int(part.steps[-1] - part.steps[0])), _error_order(stepper)
        longer = factor ** (1.0 / order)
        fixed = longer * float(course.settings.step or 0.0)
        self.second = f"steps of {fixed:g}" if stepper.fixed else f"tolerance {max(factor * tol, TIGHTEST):g}"
        many = int(4 * (part.steps[-1] - part.steps[0]) * max(1.0, 1.0 / longer)) + 8 * POINTS
        again = course.again(
            part.t, part.y[0], looser=1.0 if stepper.fixed else factor, longer=longer,
            longest=evidence.longest, max_steps=many,
        )  # fmt: skip
        way = 1.0 if part.t[-1] >= part.t[0] else -1.0
        reached = int(np.sum(way * part.t <= way * again.t[-1]))
        there = np.clip(np.searchsorted(way * again.t, way * part.t[:reached]), 0, len(again.t) - 1)
        # An error of a speed shifts its coordinate by at most that times the duration, however slowly speeds change.
        slowest = 1.0 / abs(evidence.span[1] - evidence.span[0])
        sizes = _sizes(course, max(part.rate(nq, course.start.v.size), slowest))
        apart = np.abs(again.y[there, : sizes.size] - part.y[:reached, : sizes.size]) / sizes
        difference = apart.max(axis=1)
        largest = np.abs(part.y[:, :nq]).max(axis=0) / sizes[:nq]
        self.rounding = float(np.finfo(float).eps * max(1.0, largest.max()))
        over = np.flatnonzero(~(difference <= FULL))
        count = int(over[0]) + 1 if over.size else reached
        scale = self._scale(course, again, part, energy, factor, order)
        self.t = part.t[:count]
        error = np.nan_to_num(difference[:count], nan=1.0) * scale
        self.error = np.maximum(error, np.append(0.0, error[:-1]))  # it may pass through zero
        self.coordinate = course.system.layout.coordinates[int(np.argmax(apart[count - 1, :nq]))]
        self._grow(saturated=bool(over.size))

    @staticmethod
    def _scale(
        course: Course, again: Integration, part: Part, energy: EnergyAccount, factor: float, order: int
    ) -> float:
        """Error of the run relative to its difference from the second one."""
        if factor < 1.0:
            return 1.0
        stepper = course.settings.stepper
        expected = factor if stepper.fixed or stepper.series else factor ** (stepper.order / order)
        nq, nv = course.start.q.size, course.start.v.size
        found = course.system.energies(again.y[:, :nq], again.y[:, nq : nq + nv], again.t, parameters=course.vector)
        work = again.y[:, nq + nv] if again.y.shape[1] > nq + nv else 0.0
        off = found.kinetic + found.potential - work
        here = energy.error[part.steps[0] : part.steps[-1] + 1]
        mine, other = float(np.abs(here - here[0]).mean()), float(np.abs(off - off[0]).mean())
        if not (mine > 0.0 and 0.0 < other < np.inf):
            return float(1.0 / expected)
        ratio = np.clip(other / mine, expected / FAR, expected * FAR)
        return float(1.0 / np.sqrt(expected * ratio))

    def _grow(self, *, saturated: bool) -> None:
        """The law beyond the part, a power or a rate, from the largest errors in a quarter, half and all of it."""
        since, largest = np.abs(self.t - self.t[0]), np.maximum.accumulate(self.error)
        self.power, self.rate = 2.0, 0.0
        if since.size < 8:
            return
        quarter, half = np.interp(np.array([0.25, 0.5]) * since[-1], since, largest)
        if not 0.0 < quarter < np.inf:
            return
        last, growth = float(largest[-1] / half), float(largest[-1] / quarter)
        self.power = float(np.clip(0.5 * np.log2(growth), 0.0, REGULAR if saturated else STEEPEST))
        if growth > SUDDEN and last > max(LASTING, 0.0 if saturated else (growth / last) ** FASTER):
            self.rate = float(np.log(growth) / (0.75 * since[-1]))

    def at(self, t: Array) -> Array:
        """The error at some times: zero before the part begins, compared inside it, extrapolated beyond."""
        way = 1.0 if self.t[-1] >= self.t[0] else -1.0
        x, known = way * (t - self.t[0]), way * (self.t - self.t[0])
        found = np.interp(x, known, self.error, left=0.0)
        last, end = max(self.error[-1], 1e-300), max(known[-1], 1e-300)
        beyond = np.maximum(x, end)
        with np.errstate(over="ignore"):
            more = last * (np.exp(self.rate * (beyond - end)) if self.rate else (beyond / end) ** self.power)
        return np.asarray(np.where(x > end, more, found))


def _sizes(course: Course, rate: float) -> Array:
    """What counts as an error of 1 in each coordinate and speed: a radian, or the typical length; times the rate."""
    size, layout = {"angle": 1.0, "quaternion": 0.5}, course.system.layout
    length = typical_length(course.system, course.vector)
    q = [size.get(kind, length) for kind in layout.coordinate_kinds]
    v = [size.get(kind, length) * rate for kind in layout.speed_kinds]
    return np.array(q + v)


def first_above(t: Array, error: Array, limit: float) -> float | None:
    """When an error first exceeds a limit, assuming exponential growth between times; None if it never does."""
    above = np.flatnonzero(~(error <= limit))
    if not above.size:
        return None
    k = int(above[0])
    if k == 0 or not error[k - 1] > 0.0 or not np.isfinite(error[k]):
        return float(t[k])
    part = np.log(limit / error[k - 1]) / np.log(error[k] / error[k - 1])
    return float(t[k - 1] + part * (t[k] - t[k - 1]))
