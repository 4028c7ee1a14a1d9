"""Margins of a feedback loop: how much gain, phase and delay it tolerates before its motion no longer decays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pendula.analysis.control.crossings import Crossings, crossings_of
from pendula.analysis.control.minimal import reduced
from pendula.analysis.control.responses import PER_DECADE, Bode, around_poles, bode_of, check_single
from pendula.analysis.control.space import (
    DECAYS,
    StateSpace,
    closed_by,
    decaying,
    decays,
    matrix_decays,
    poles_with_errors,
)
from pendula.errors import UsageError
from pendula.system.layout import Array
from pendula.words import counted, readable, some


@readable
@dataclass(frozen=True, eq=False)
class Margins:
    """Margins of a loop with one input and one output under negative feedback, u = -L u.

    If the closed loop does not decay, it has no margins: they are nan, and ``stable_gains`` lists the factors of the
    gain for which it would decay. A mechanism that is unstable without feedback also has a least gain:
    ``gain_reduction`` is the factor down to which the gain may fall.

    Attributes:
        loop: the open loop L, with the sign such that u = -L u closes it.
        stable: whether the closed loop decays, apart from ``unmoved`` poles.
        stable_gains: all intervals (low, high) of positive factors of the gain for which the closed loop decays.
        unstable_poles: number of poles of the open loop that do not decay.
        unmoved: poles that do not decay and that this loop does not influence; nothing is claimed about them.
        phase_crossings: frequencies at which L is real and negative [rad/time]; 0 and infinity included.
        critical_gains: factor of the gain at each of them that puts a pole on the border of stability.
        gain_crossings: frequencies at which |L| = 1 [rad/time].
        lags: additional lag of phase at each of them that puts a pole on the border of stability, 0 to 360 [deg].
        distance: least distance of L from -1 (modulus margin); its inverse is the peak of the sensitivity.
        distance_at: frequency of that distance [rad/time].

    Example:
        >>> import pendula
        >>> gain = pendula.linearize("cart-pole", {"theta": "180deg"}).lqr({"x": 1, "theta": 10}, 0.1)
        >>> found = gain.margins()
        >>> bool(found.gain_reduction < 0.5), found.gain_margin, bool(found.phase_margin > 60)  # as for every LQR
        (True, inf, True)
    """

    loop: StateSpace
    stable: bool
    stable_gains: tuple[tuple[float, float], ...]
    unstable_poles: int
    unmoved: Array
    phase_crossings: Array
    critical_gains: Array
    gain_crossings: Array
    lags: Array
    distance: float
    distance_at: float

    @property
    def gain_margin(self) -> float:
        """Factor by which the gain may grow; inf if by any, nan if the closed loop does not decay."""
        return self._interval[1]

    @property
    def gain_reduction(self) -> float:
        """Factor to which the gain may fall; 0 if by any, nan if the closed loop does not decay."""
        return self._interval[0]

    @property
    def phase_margin(self) -> float:
        """Least change of phase, lag or lead, that puts a pole on the border of stability [deg]; inf if none does."""
        if not self.stable:
            return float("nan")
        return float(np.minimum(self.lags, 360 - self.lags).min(initial=np.inf))

    @property
    def delay_margin(self) -> float:
        """Least additional delay in the loop that puts a pole on the border of stability [time]; inf if none does."""
        if not self.stable:
            return float("nan")
        if self.loop.dt is None and abs(self.loop.D[0, 0]) >= 1:
            return 0.0  # |L| stays above 1 at all high frequencies: any delay destabilizes
        return float(self._delays().min(initial=np.inf))

    @property
    def _interval(self) -> tuple[float, float]:
        for low, high in self.stable_gains if self.stable else ():
            if low < 1 < high:
                return low, high
        return float("nan"), float("nan")

    def _delays(self) -> Array:
        return np.asarray(np.radians(self.lags) / self.gain_crossings)

    def bode(self) -> Bode:
        """The frequency response of the loop, over its poles and all crossings."""
        omega = around_poles(self.loop)
        marks = [x for x in (*self.phase_crossings, *self.gain_crossings) if 0 < x < np.inf]
        low, high = min([omega[0], *(x / 3 for x in marks)]), max([omega[-1], *(3 * x for x in marks)])
        if self.loop.dt is not None:
            high = min(high, np.pi / self.loop.dt)
        return bode_of(self.loop, np.geomspace(low, high, int(PER_DECADE * np.log10(high / low)) + 2))

    def frequency(self, margin: str) -> float:
        """Frequency [rad/time] of a margin: "gain", "reduction", "phase" or "delay"; nan if it has none.

        Example:
            >>> import pendula
            >>> gain = pendula.linearize("cart-pole", {"theta": "180deg"}).lqr({"x": 1, "theta": 10}, 0.1)
            >>> found = gain.margins()
            >>> abs(found.loop.response(1j * found.frequency("phase"))).item().__round__(9)
            1.0
        """
        ends = {"gain": self.gain_margin, "reduction": self.gain_reduction}
        if margin in ends:
            at, size = self.phase_crossings, np.abs(self.critical_gains - ends[margin])
            wanted = np.isfinite(ends[margin]) and ends[margin] > 0
        elif margin in ("phase", "delay"):
            at = self.gain_crossings
            size = self._delays() if margin == "delay" else np.minimum(self.lags, 360 - self.lags)
            wanted = self.stable
        else:
            raise UsageError(f'there is no margin "{margin}"; available: gain, reduction, phase, delay')
        return float(at[int(np.argmin(size))]) if wanted and at.size else float("nan")

    def __str__(self) -> str:
        unit = self.loop.time_unit
        lines = [f"margins of the loop {self.loop.inputs[0]} = -({self.loop.outputs[0]})"]
        count = f"{counted(self.unstable_poles, 'pole')} of the open loop {_do(self.unstable_poles)} not decay"
        if not self.stable:
            lost = self._lost()
            lines.append(f"  {lost or 'the closed loop does not decay, so it has no margins'}; {count}")
            if not lost:
                lines.append(f"  {_would(self.stable_gains)}")
        else:
            what = "what this loop influences decays" if self.unmoved.size else "the closed loop decays"
            lines.append(f"  {what}; {count}")
            lines.append(f"  gain: {self._gain_words()}")
            lines.append(f"  phase: {self._phase_words()}")
            delay = self.delay_margin
            lines.append(
                "  delay: any" if np.isinf(delay)
                else f"  delay: up to {delay:.4g} {unit} (at {self.frequency('delay'):.4g} rad/{unit})"
            )  # fmt: skip
            lines.append(
                f"  distance from -1: {self.distance:.4g} at {self.distance_at:.4g} rad/{unit} "
                f"(peak of the sensitivity {1 / self.distance:.4g})"
            )
        if self.unmoved.size:
            size = float(np.abs(self.loop.poles).max(initial=0.0))
            poles = some([f"{0.0 if abs(p) < DECAYS * size else p:.4g}" for p in self.unmoved])
            lines.append(
                f"  not influenced by this loop, and not decaying: {counted(self.unmoved.size, 'pole')} {poles}"
            )
        return "\n".join(lines)

    def _gain_words(self) -> str:
        unit, parts = self.loop.time_unit, []
        for word, value, which in (
            ("may fall to", self.gain_reduction, "reduction"), ("may grow to", self.gain_margin, "gain"),
        ):  # fmt: skip
            if value == 0 or np.isinf(value):
                parts.append(f"{word} {'zero' if value == 0 else 'any value'}")
            else:
                at = self.frequency(which)
                parts.append(f"{word} {value:.4g} ({20 * np.log10(value):+.4g} dB, at {at:.4g} rad/{unit})")
        return ", ".join(parts)

    def _lost(self) -> str:
        """What rounding leaves open, if the poles of the closed loop decay by less than their own errors."""
        poles, errors = poles_with_errors(closed_by(self.loop, 1.0))
        if self.unmoved.size or not decays(poles, self.loop.dt) or decays(poles, self.loop.dt, errors):
            return ""
        return f"rounding errors move poles by up to {errors.max():.2g}, so whether the closed loop decays is not known"

    def _phase_words(self) -> str:
        if not self.gain_crossings.size:
            return "any (the gain is nowhere 1)"
        k = int(np.argmin(np.minimum(self.lags, 360 - self.lags)))
        kind = "lag" if self.lags[k] <= 180 else "lead"
        return f"up to {self.phase_margin:.4g} deg of {kind} at {self.gain_crossings[k]:.4g} rad/{self.loop.time_unit}"


def _do(count: int) -> str:
    return "does" if count == 1 else "do"


def _would(intervals: tuple[tuple[float, float], ...]) -> str:
    if not intervals:
        return "no positive factor of the gain makes it decay"
    texts = [f"from {low:.4g}" + (f" to {high:.4g}" if np.isfinite(high) else " on") for low, high in intervals]
    return "it would decay with the gain times a factor " + ", or ".join(texts)


def margins_of(space: StateSpace, gain: float = 1.0) -> Margins:
    """Margins of the loop u = -gain*y of the only input and output."""
    check_single(space, "margins are of a loop through")
    if not isinstance(gain, (int, float, np.floating, np.integer)) or not np.isfinite(gain) or gain == 0:
        raise UsageError(f"the gain of a loop must be a finite number other than 0, found {gain!r}")
    name = space.outputs[0] if gain == 1 else f"{gain:g}*{space.outputs[0]}"
    loop = replace(
        space, C=gain * space.C, D=gain * space.D, outputs=(name,),
        units={**space.units, name: space.units.get(space.outputs[0], "")},
    )  # fmt: skip
    small, hidden = reduced(loop)
    found = crossings_of(small)
    edges = np.unique(np.concatenate([[0.0], found.critical_gains, [np.inf]]))
    stable_gains = tuple(
        (float(low), float(high)) for low, high in pairwise(edges)
        if matrix_decays(closed_by(small, _between(low, high)), loop.dt)
    )  # fmt: skip
    stable = matrix_decays(closed_by(small, 1.0), loop.dt) and any(low < 1 < high for low, high in stable_gains)
    at, distance = _nearest(small, found)
    largest = float(np.abs(space.poles).max(initial=0.0))
    return Margins(
        loop, stable, stable_gains, int((~decaying(small.poles, loop.dt)).sum()),
        hidden[~decaying(hidden, loop.dt, largest)], found.phase_at, found.critical_gains, found.gain_at, found.lags,
        distance, at,
    )  # fmt: skip


def _between(low: float, high: float) -> float:
    if low == 0 and np.isinf(high):
        return 1.0
    if low == 0:
        return high / 2
    return 2 * low if np.isinf(high) else float(np.sqrt(low * high))


def _nearest(space: StateSpace, found: Crossings) -> tuple[float, float]:
    """Frequency at which L is nearest to -1, and that distance: samples, then a search about each least one."""
    from scipy.optimize import minimize_scalar  # slow to load

    def distance(x: float) -> float:
        return float(np.abs(1 + space.response(found.point(np.exp(x)))[0, 0]))

    grid = np.log(found.grid)
    sizes = np.array([distance(x) for x in grid])
    best, at = float(sizes.min()), float(found.grid[int(np.argmin(sizes))])
    for k in range(1, grid.size - 1):
        if sizes[k] <= min(sizes[k - 1], sizes[k + 1]) and sizes[k] < 1.5 * sizes.min():
            fit = minimize_scalar(
                distance, bounds=(grid[k - 1], grid[k + 1]), method="bounded", options={"xatol": 1e-10}
            )
            if fit.fun < best:
                best, at = float(fit.fun), float(np.exp(fit.x))
    for omega, value in found.ends:  # zero and the highest frequency
        if abs(1 + value) <= best:
            best, at = abs(1 + value), omega
    return at, best
