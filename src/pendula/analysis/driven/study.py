"""Stability of a periodically driven mechanism over a parameter: Floquet multipliers and stability boundaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pendula.analysis.driven.floquet import Floquet, floquet, per_period
from pendula.analysis.driven.periods import symbolic
from pendula.arguments import read_number
from pendula.errors import NoConvergence, PendulaError, UsageError
from pendula.numerics.solvers.dips import between_roots, brackets, dip, missed
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array
from pendula.system.parameters import Parameters, named_changes, read_parameter
from pendula.system.system import System
from pendula.system.tangent import refuse_over_time
from pendula.tables.tabular import Tabular
from pendula.words import INDICATED, readable

NARROW = 1e-9
"""without a smooth function that changes sign, bisection narrows a boundary to this fraction of the interval"""


@readable
@dataclass(frozen=True)
class FloquetBoundary:
    """A value of a parameter at which stability changes.

    Attributes:
        parameter, value: the parameter and its value at the boundary.
        width: bound on the error of the value.
        below, above: verdicts on either side.
        how: what multipliers do there: they meet at 1, at -1 or elsewhere on the unit circle, or one leaves it.
        evaluations: number of times multipliers were computed.
        at_boundary: multipliers at the boundary.
        mechanism: its name, for titles.

    Example:
        >>> import math, pendula
        >>> shaken = pendula.library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0)
        >>> found = pendula.driven.floquet_boundary(shaken, "omega", 50, 100, at={"theta1": math.pi})
        >>> found.below, found.above
        ('unstable', 'stable (linear)')
    """

    parameter: str
    value: float
    width: float
    below: str
    above: str
    how: str
    evaluations: int
    at_boundary: Array
    mechanism: str = ""

    def __str__(self) -> str:
        where = f"{self.parameter} = {self.value:.12g} (+- {self.width:.1g})"
        return f"{where}: {self.below} below, {self.above} above; {self.how}"


@readable
@dataclass(frozen=True)
class FloquetMap(Tabular):
    """Multipliers over a parameter.

    Attributes:
        parameter, values: the parameter and its values.
        radius: spectral radius; nan where the computation failed.
        verdicts: at every value.
        ranges: (from, to, verdict) for each run of values with the same verdict, up to the refined boundaries.
        boundaries: the refined stability boundaries.
        failures: by value, why the computation failed.
        results: the ``Floquet`` at every value; None where it failed.
        missed_below: indicated, not proven: a range of this width contains a sample, but a narrower one is found only
            if an extremum of a margin of stability, as the samples show it, leads there.
        mechanism: its name, for titles.

    Example:
        >>> import math, pendula
        >>> shaken = pendula.library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0)
        >>> pendula.driven.floquet_over(shaken, "omega", 60, 100, samples=2, at={"theta1": math.pi}).verdicts
        ('unstable', 'stable (linear)')
    """

    parameter: str
    values: Array
    radius: Array
    verdicts: tuple[str, ...]
    ranges: tuple[tuple[float, float, str], ...]
    boundaries: tuple[FloquetBoundary, ...]
    failures: Mapping[float, str]
    results: tuple[Floquet | None, ...]
    missed_below: float = np.inf
    mechanism: str = ""

    @property
    def certainty(self) -> str:
        """``indicated``: multipliers are computed in floating point, and samples may miss a narrow range."""
        return INDICATED

    @property
    def caution(self) -> str:
        """What may have been missed."""
        return missed(len(self.values), self.missed_below)

    def __str__(self) -> str:
        lines = [f"{self.parameter} from {low:.8g} to {high:.8g}: {verdict}" for low, high, verdict in self.ranges]
        failed = [f"{self.parameter} = {value:.6g}: {why}" for value, why in list(self.failures.items())[:5]]
        return "\n".join([*lines, *(f"  limit {b}" for b in self.boundaries), *failed, self.caution])


def floquet_boundary(
    system: AnySystem,
    parameter: str,
    low: float,
    high: float,
    *,
    period: float | str | None = None,
    at: Any = None,
    parameters: Parameters = None,
    close: bool = False,
    tol: float = 1e-13,
) -> FloquetBoundary:
    """The value of a parameter in an interval at which the stability of a driven mechanism changes.

    Bisection on the verdict brackets the change. Its value is then the root of a smooth function: mu + 1/mu minus 2, or
    plus 2, of the pair that meets at 1 or -1; the discriminant of the sums mu + 1/mu where two pairs meet elsewhere on
    the unit circle; the spectral radius minus 1 if there is damping. If there are several changes in the interval, one
    of them is found.

    Args:
        system: as for ``floquet``.
        parameter: its name.
        low, high: ends of the interval, with different verdicts.
        period: as for ``floquet``; if it depends on the parameter, an expression such as "2*pi/omega", or None.
        at, parameters, close, tol: as for ``floquet``.

    Raises:
        UsageError: the verdict is the same at both ends.

    Example:
        >>> import math, pendula
        >>> shaken = pendula.library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0)
        >>> found = floquet_boundary(pendula.compile_system(shaken), "omega", 50, 100, at={"theta1": math.pi})
        >>> round(found.value, 4)  # rad/s; sqrt(2 g l)/a = 88.5889 for small amplitudes
        88.6373
    """
    study = _study(system, "floquet_boundary", parameter, parameters, period=period, at=at, close=close, tol=tol)
    low, high = _interval(low, high)
    ends = study(low), study(high)
    if ends[0].stable == ends[1].stable:
        raise UsageError(
            f'no boundary is bracketed: at {parameter} = {low:.6g} the verdict is "{ends[0].verdict}", at {high:.6g} '
            f'"{ends[1].verdict}".\n  Try: floquet_over(...) on the whole range, to see where it changes.'
        )
    return replace(_limit(study, low, high), evaluations=len(study.found))


def floquet_over(
    system: AnySystem,
    parameter: str,
    low: float,
    high: float,
    *,
    period: float | str | None = None,
    at: Any = None,
    parameters: Parameters = None,
    close: bool = False,
    tol: float = 1e-13,
    samples: int | Sequence[float] | Array = 50,
    refine: bool = True,
) -> FloquetMap:
    """Floquet multipliers over a range of a parameter, with the stability boundaries in it.

    Where a margin of stability (the characteristic polynomial at 1 or -1, or what vanishes when a pair leaves the unit
    circle elsewhere) has an extremum between samples, it is searched for a change of sign there, so that tongues much
    narrower than the spacing of the samples are found; the values at which it is found join the samples.

    Args:
        system, period, at, parameters, close, tol: as for ``floquet``.
        parameter: its name.
        low, high: the range.
        samples: number of equally spaced values, or the values themselves.
        refine: whether to refine the boundaries between values.

    Example:
        >>> import math, pendula
        >>> shaken = pendula.library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0)
        >>> found = floquet_over(pendula.compile_system(shaken), "omega", 60, 100, samples=3, at={"theta1": math.pi})
        >>> [verdict for _, _, verdict in found.ranges]
        ['unstable', 'stable (linear)']
    """
    study = _study(system, "floquet_over", parameter, parameters, period=period, at=at, close=close, tol=tol)
    row = _samples(parameter, *_interval(low, high), samples)
    spacing = float(np.diff(np.sort([low, *row, high])).max())
    failures: dict[float, str] = {}
    results = [_tried(study, value, failures) for value in row.tolist()]
    if len(failures) == len(row):
        raise UsageError(f"there are no multipliers at any value: {next(iter(failures.values()))}")
    if refine:
        row = np.unique([*row, *_between(study, row, results)])
        results = [_tried(study, value, failures) for value in row.tolist()]
    limits: list[FloquetBoundary] = []
    ranges = _ranges(study, row, results, limits, refine)
    return FloquetMap(
        parameter=parameter,
        values=row,
        radius=np.array([np.nan if r is None else r.radius for r in results]),
        verdicts=tuple("failed" if r is None else r.verdict for r in results),
        ranges=tuple(ranges),
        boundaries=tuple(limits),
        failures=failures,
        results=tuple(results),
        missed_below=spacing,
        mechanism=study.system.model.name,
    )


def _tried(study: _Study, value: float, failures: dict[float, str]) -> Floquet | None:
    if value in failures:
        return None
    try:
        return study(value)
    except PendulaError as error:
        failures[value] = str(error).splitlines()[0]
        return None


def _between(study: _Study, row: Array, results: list[Floquet | None]) -> list[float]:
    """Values between samples at which a margin has changed sign, and with it the verdict."""
    found: list[float] = []
    changing: dict[int, list[Callable[[float], float]]] = {}
    for margin in MARGINS.values():

        def size_at(value: float, margin: Callable[[Floquet], float] = margin) -> float:
            result = _tried(study, float(value), {})
            return np.nan if result is None else margin(result)

        sizes = np.array([np.nan if r is None else margin(r) for r in results])
        for k in np.flatnonzero(sizes[:-1] * sizes[1:] < 0).tolist():
            changing.setdefault(k, []).append(size_at)
        for triple in brackets(row, sizes):
            value = float(dip(size_at, row, sizes, triple))
            here, middle = _tried(study, value, {}), results[triple[1]]
            if here is not None and middle is not None and here.stable != middle.stable:
                found.append(value)
    for k, functions in changing.items():  # two margins that change sign may leave a window between them
        with suppress(ValueError):
            found.extend(between_roots(functions, float(row[k]), float(row[k + 1])))
    return found


@dataclass
class _Study:
    """Multipliers as a function of one parameter, cached by value."""

    system: System
    name: str
    parameters: dict[str, float]
    settings: dict[str, Any]
    found: dict[float, Floquet] = field(default_factory=dict)

    def __call__(self, value: float) -> Floquet:
        if value not in self.found:
            self.found[value] = self._at(value, self.settings["tol"])
        return self.found[value]

    def coarse(self, value: float) -> Floquet:
        """The same at ten times the tolerance."""
        return self._at(value, 10 * self.settings["tol"])

    def _at(self, value: float, tol: float) -> Floquet:
        return floquet(self.system, parameters=self.parameters | {self.name: value}, **self.settings | {"tol": tol})


def _samples(parameter: str, low: float, high: float, samples: int | Sequence[float] | Array) -> Array:
    """The sampled values of the parameter, in ascending order."""
    if isinstance(samples, (int, np.integer)):
        if samples < 2:
            raise UsageError(f"at least 2 samples are needed, found {samples}")
        return np.linspace(low, high, int(samples))
    row = np.unique(np.asarray(samples, dtype=float))
    if row.ndim != 1 or not row.size or not (row[0] >= low and row[-1] <= high):
        raise UsageError(f"samples of {parameter} must be numbers from {low:g} to {high:g}, found {samples!r}")
    return row


def _study(given: AnySystem, who: str, name: str, parameters: Parameters, **settings: Any) -> _Study:
    system = system_of(given, who)
    refuse_over_time(system)
    system = symbolic(system.in_joints.system)
    return _Study(system, read_parameter(system, name), named_changes(system, parameters), settings)


def _interval(low: float, high: float) -> tuple[float, float]:
    ends = sorted(read_number(value, "an end of the interval") for value in (low, high))
    if not np.isfinite(ends).all() or ends[0] == ends[1]:
        raise UsageError(f"the interval must have two different finite ends, found {low} and {high}")
    return ends[0], ends[1]


def _ranges(
    study: _Study, row: Array, results: list[Floquet | None], limits: list[FloquetBoundary], refine: bool
) -> list[tuple[float, float, str]]:
    """Runs of values with the same verdict; refined boundaries are appended to ``limits``."""
    ranges: list[tuple[float, float, str]] = []
    low = float(row[0])
    for k in range(1, len(row) + 1):
        here = results[k - 1]
        after = results[k] if k < len(row) else None
        if k < len(row) and (here.verdict if here else "failed") == (after.verdict if after else "failed"):
            continue
        high = float(row[k - 1])
        ranges.append((low, high, here.verdict if here else "failed"))
        if k < len(row):
            low = float(row[k])
            if refine and here and after and here.stable != after.stable:
                limits.append(_limit(study, high, low))
                low = limits[-1].value
                ranges[-1] = (ranges[-1][0], low, ranges[-1][2])
    return ranges


# --- one stability boundary -------------------------------------------------------------------------


def _limit(study: _Study, low: float, high: float) -> FloquetBoundary:
    """The boundary between two values with different verdicts."""
    before, verdicts = len(study.found), (study(low).verdict, study(high).verdict)
    value, width, how = _crossing(study, low, high)
    multipliers, title = study(value).multipliers, study.system.model.name
    count = len(study.found) - before
    return FloquetBoundary(study.name, value, width, *verdicts, how, count, multipliers, title)


def _crossing(study: _Study, low: float, high: float) -> tuple[float, float, str]:
    """Where the verdict changes, a bound on the error, and how multipliers cross."""
    whole = high - low
    stable_low = study(low).stable
    while high - low > NARROW * whole:
        found = _root(study, low, high) if high - low <= 0.02 * whole else None
        if found is not None:
            return found
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if study(middle).stable == stable_low:
            low = middle
        else:
            high = middle
    return (low + high) / 2, (high - low) / 2, "multipliers leave the unit circle"


def _root(study: _Study, low: float, high: float) -> tuple[float, float, str] | None:
    """The root of the smooth function that changes sign in the interval; None if none or several do."""
    from scipy import optimize  # slow to load

    ends = study(low), study(high)
    functions = _undamped if all(e.conservative for e in ends) else _damped
    changing = []
    for how, function in functions.items():
        values = [function(e) for e in ends]
        if np.all(np.isfinite(values)) and values[0] * values[1] < 0:
            changing.append((how, function))
    if not changing:
        return None
    if len(changing) > 1 and functions is _undamped:
        return None
    how, function = changing[0]
    size = max(abs(low), abs(high))
    try:
        value, info = optimize.brentq(
            lambda x: function(study(float(x))), low, high, xtol=1e-13 * size, rtol=1e-14, full_output=True
        )
    except (RuntimeError, NoConvergence):
        return None
    if not info.converged or abs(function(study(float(value)))) > 1e-8:
        return None  # a jump from one pair to another, not a root
    return float(value), _uncertainty(function, study, float(value), 1e-5 * (high - low)), how


def _uncertainty(function: Callable[[Floquet], float], study: _Study, value: float, step: float) -> float:
    """Error estimate of a root: the value of the function at ten times the tolerance, divided by its slope."""
    slope = abs(function(study(value + step)) - function(study(value - step))) / (2 * step)
    off = abs(function(study.coarse(value)))
    return max(float(off / slope), 4e-16 * abs(value)) if slope > 0 else step


def _at_one(found: Floquet) -> float:
    """mu + 1/mu - 2 of the pair nearest to 1: positive once it has left the unit circle."""
    mu = found.multipliers[int(np.argmin(np.abs(found.multipliers - 1)))]
    return float(np.real(mu + 1 / mu)) - 2.0


def _at_minus_one(found: Floquet) -> float:
    """-(mu + 1/mu) - 2 of the pair nearest to -1."""
    mu = found.multipliers[int(np.argmin(np.abs(found.multipliers + 1)))]
    return -float(np.real(mu + 1 / mu)) - 2.0


def _discriminant(found: Floquet) -> float:
    """Discriminant of the polynomial with roots mu + 1/mu: negative once two pairs have left the circle together."""
    sums = sums_of_pairs(per_period(found.matrix, found.period))
    differences = sums[:, None] - sums[None, :]
    return float(np.real(np.prod(differences[np.triu_indices(len(sums), 1)] ** 2)))


def sums_of_pairs(M: Array) -> Array:
    """mu + 1/mu of all pairs of multipliers of a conservative mechanism.

    The characteristic polynomial is palindromic, so it reduces to half the degree in mu + 1/mu.
    """
    n = len(M) // 2
    c = np.real(np.poly(M))
    c = (c + c[::-1]) / 2
    before, now = np.array([2.0]), np.array([1.0, 0.0])  # mu^k + mu^-k as polynomials in mu + 1/mu, k = 0 and 1
    total = np.array([c[n]])
    for k in range(1, n + 1):
        total = np.polyadd(total, c[n - k] * now)
        before, now = now, np.polysub(np.polymul([1.0, 0.0], now), before)
    return np.roots(total)


def _left_of_one(found: Floquet) -> float:
    """The characteristic polynomial at 1: changes sign where a real multiplier passes 1."""
    return float(np.prod(1 - found.nontrivial).real)


def _right_of_minus_one(found: Floquet) -> float:
    """The same at -1."""
    return float(np.prod(1 + found.nontrivial).real)


def _within_circle(found: Floquet) -> float:
    """Product of 1 - mu_i mu_j over all pairs: changes sign where a complex pair leaves the unit circle.

    It vanishes without damping. Multipliers then leave the circle elsewhere where the discriminant changes sign.
    """
    mu = found.nontrivial
    i, j = np.triu_indices(len(mu), 1)
    product = float(np.prod(1 - mu[i] * mu[j]).real)
    if found.conservative or abs(product) < 1e-9:
        return _discriminant(found) if len(found.matrix) > 2 and not found.trivial else np.nan
    return product


def _excess(found: Floquet) -> float:
    return found.radius - 1.0


_undamped: dict[str, Callable[[Floquet], float]] = {
    "two multipliers meet at 1": _at_one,
    "two multipliers meet at -1 (the response has twice the period)": _at_minus_one,
    "two pairs of multipliers meet on the unit circle": _discriminant,
}
_damped: dict[str, Callable[[Floquet], float]] = {"a multiplier leaves the unit circle": _excess}

MARGINS: dict[str, Callable[[Floquet], float]] = {
    "a multiplier passes 1": _left_of_one,
    "a multiplier passes -1 (the response has twice the period)": _right_of_minus_one,
    "a pair of multipliers leaves the unit circle": _within_circle,
}
"""Smooth functions of the multipliers that vanish where stability may change, by what happens there."""
