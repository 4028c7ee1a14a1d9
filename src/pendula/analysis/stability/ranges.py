"""Stability over a parameter: critical values, and the verdicts between them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import BALANCED, Equilibrium, equilibrium_at
from pendula.analysis.linear.linearize import Point, displaced, independent_directions, linearize, point_of
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.spectrum import spectrum
from pendula.analysis.linear.terms import Terms, terms_at
from pendula.analysis.stability.energy_argument import reduced_stiffness
from pendula.analysis.stability.verdict import Stability, sides_of_axis, stability
from pendula.errors import NotAnEquilibrium, PendulaError, UsageError
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array, State
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.system import System
from pendula.words import readable

LOST = "no equilibrium"
SHARP = 1e-14
"""bisection ends at this fraction of its initial interval"""


@readable
@dataclass(frozen=True)
class CriticalValue:
    """A value at which the verdict changes, or at which the equilibrium meets another one.

    Attributes:
        value: of the parameter.
        stability: the verdict exactly there; None if the equilibrium is lost or meets another.
        meets: whether it meets another equilibrium (a bifurcation), which the study follows from there on.

    Example:
        >>> import pendula
        >>> found = pendula.linear.stability_over("hoop-bead", "Omega", 1, 5, at={"theta": 0}, samples=20)
        >>> round(found.critical[0].value, 6)
        3.132092
    """

    value: float
    stability: Stability | None
    meets: bool = False

    def __str__(self) -> str:
        if self.meets:
            return "meets another equilibrium, which the study follows from there on"
        return self.stability.verdict if self.stability else LOST


@readable
@dataclass(frozen=True)
class Range:
    """An interval with one verdict, and the stability at its middle; None if there is no equilibrium.

    Example:
        >>> import pendula
        >>> found = pendula.linear.stability_over("hoop-bead", "Omega", 1, 5, at={"theta": 0}, samples=20)
        >>> found.ranges[1].verdict
        'unstable'
    """

    low: float
    high: float
    verdict: str
    stability: Stability | None

    def __str__(self) -> str:
        return f"{self.low:.6g} to {self.high:.6g}: {self.verdict}"


@readable
@dataclass(frozen=True)
class StabilityRanges:
    """Verdicts over a parameter. ``str()`` is a table.

    Attributes:
        parameter: its name.
        critical: values at which the verdict changes.
        ranges: the intervals between them.
        samples: number of sampled values; a range narrower than their spacing may have been missed.
        ends: ends of the whole range with a verdict that differs from the adjacent range.

    Example:
        >>> import pendula
        >>> found = pendula.linear.stability_over("hoop-bead", "Omega", 1, 5, at={"theta": 0}, samples=20)
        >>> found.values.round(6).tolist()
        [3.132092]
    """

    parameter: str
    critical: tuple[CriticalValue, ...]
    ranges: tuple[Range, ...]
    samples: int
    ends: tuple[CriticalValue, ...] = ()

    @property
    def values(self) -> Array:
        """The critical values."""
        return np.array([c.value for c in self.critical])

    def __str__(self) -> str:
        lines = []
        exact = {c.value: c for c in (*self.critical, *self.ends)}
        if self.ranges[0].low in exact:
            lines.append(f"{self.parameter} = {self.ranges[0].low:.10g}: {exact[self.ranges[0].low]}")
        for part in self.ranges:
            lines.append(f"{part.low:.10g} < {self.parameter} < {part.high:.10g}: {part.verdict}")
            edge = exact.get(part.high)
            if edge is not None:
                lines.append(f"{self.parameter} = {edge.value:.10g}: {edge}")
        lines.append(f"from {self.samples} values; a range narrower than their spacing may have been missed")
        return "\n".join(lines)


def stability_over(
    system: AnySystem,
    parameter: str,
    low: float,
    high: float,
    *,
    at: Point = None,
    inputs: Any = None,
    parameters: Parameters = None,
    samples: int = 200,
) -> StabilityRanges:
    """Critical values of a parameter and the verdict between them, following one equilibrium.

    Newton's method follows the equilibrium from the lowest value upward (continuation). Bisection and then a root
    finder locate every change of the verdict between neighbouring samples.

    Args:
        system: a system, a model, or the name of a library mechanism.
        parameter: its name.
        low, high: the range.
        at: the equilibrium at ``low`` (as in ``linearize``; a nearby point suffices).
        inputs, parameters: as in ``linearize``; the studied parameter overrides them.
        samples: number of sampled values.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.hoop_bead())
        >>> found = pendula.linear.stability_over(system, "Omega", 1, 5, at={"theta": 0})
        >>> found.values.round(9).tolist(), [r.verdict for r in found.ranges]
        ([3.132091953], ['asymptotically stable', 'unstable'])
    """
    system = system_of(system, "stability_over")
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise UsageError(f"a range must go from a smaller to a larger value, found {low} to {high}")
    if samples < 2:
        raise UsageError(f"at least 2 samples are needed, found {samples}")
    study = _Study(system, parameter, at, inputs, parameters)
    inner = low + (high - low) * (np.arange(samples) + 0.4871) / samples  # avoids round numbers, where edges tend to be
    grid = np.array([low, *inner, high])
    points: list[Equilibrium | None] = []
    last: Equilibrium | None = None
    for value in grid:
        last = study.equilibrium(float(value), last)
        points.append(last)
    kinds = [study.kind(x) for x in points]
    edges: list[float] = []
    for k in range(len(grid) - 1):
        if kinds[k] != kinds[k + 1]:
            edges.append(study.edge(float(grid[k]), float(grid[k + 1]), points[k] or points[k + 1], kinds[k]))
    meetings = study.meetings(grid, points)
    edges = [e for e in edges if not any(abs(e - m) < 2e-3 * (high - low) for m in meetings)]
    return study.result(low, high, _merged([*edges, *meetings], low, high), samples, meetings)


def _merged(edges: list[float], low: float, high: float) -> list[float]:
    """Edges without duplicates and without the ends."""
    width = high - low
    found: list[float] = []
    for edge in sorted(edges):
        near_end = min(edge - low, high - edge) < 1e-9 * width
        if not near_end and not (found and edge - found[-1] < 1e-9 * width):
            found.append(edge)
    return found


class _Study:
    """Follows one equilibrium over one parameter."""

    def __init__(self, system: System, parameter: str, at: Point, inputs: Any, parameters: Parameters) -> None:
        if parameter not in system.layout.parameters:
            known = ", ".join(system.layout.parameters)
            raise UsageError(f'there is no parameter "{parameter}"; known are {known}')
        self.system, self.parameter, self.at, self.inputs = system, parameter, at, inputs
        self.base = dict(parameters) if isinstance(parameters, dict) else {}
        if parameters is not None and not isinstance(parameters, dict):
            vector = parameter_vector(system, parameters)
            self.base = system.layout.parameter_values(vector)

    def _vector(self, value: float) -> Array:
        return parameter_vector(self.system, {**self.base, self.parameter: value})

    def equilibrium(self, value: float, near: Equilibrium | None) -> Equilibrium | None:
        """The equilibrium at a value, from one nearby; None if it is lost."""
        vector = self._vector(value)
        if near is None:
            try:
                return point_of(self.system, self.at, self.inputs, vector)
            except NotAnEquilibrium:
                start = self._start(vector)
        else:
            start = near.state
        return follow(self.system, start, self.inputs, vector)

    def _start(self, vector: Array) -> State:
        if isinstance(self.at, Equilibrium):
            return self.at.state
        if isinstance(self.at, State):
            return self.at
        from pendula.analysis.equilibria.equilibrium import closed_state

        return closed_state(self.system, self.at, vector)

    def kind(self, point: Equilibrium | None) -> str:
        """The verdict from eigenvalues alone."""
        if point is None:
            return LOST
        sides = sides_of_axis(spectrum(linearize(self.system, point)))
        if (sides > 0).any():
            return "unstable"
        return "asymptotically stable" if (sides < 0).all() else "critical"

    def edge(self, a: float, b: float, near: Equilibrium | None, kind: str) -> float:
        """Where the verdict changes between two values, by bisection, then refined by :meth:`_polished`."""
        ends, width = (a, b), abs(b - a)
        while abs(b - a) > max(SHARP * width, 4e-16 * max(abs(a), abs(b))):
            middle = 0.5 * (a + b)
            if middle in (a, b):
                break
            point = self.equilibrium(middle, near)
            a, b = (middle, b) if self.kind(point) == kind else (a, middle)
        found = self._polished(0.5 * (a + b), *ends, near)
        short = float(f"{found:.9g}")  # prefer a round number within rounding
        return short if abs(short - found) <= 1e-12 * max(abs(found), width) else found

    def _polished(self, guess: float, low: float, high: float, near: Equilibrium | None) -> float:
        """The root of a smooth function near the guess: the smallest stiffness, or the largest real part."""
        from scipy.optimize import brentq  # slow to load

        reach = 1e-3 * (high - low)
        a, b = max(low, guess - reach), min(high, guess + reach)
        for function in (self._smallest_stiffness, self._largest_real_part):
            try:
                ends = function(a, near), function(b, near)
                if np.isfinite(ends).all() and ends[0] * ends[1] < 0:
                    root = float(brentq(function, a, b, args=(near,), xtol=1e-15 * max(1.0, abs(guess)), rtol=1e-15))
                    if abs(root - guess) <= 1e-6 * (high - low):
                        return root
            except (PendulaError, ValueError):
                continue
        return guess

    def _model(self, value: float, near: Equilibrium | None) -> LinearModel | None:
        point = self.equilibrium(value, near)
        return None if point is None else linearize(self.system, point)

    def _smallest_stiffness(self, value: float, near: Equilibrium | None) -> float:
        point = self.equilibrium(value, near)
        return float("nan") if point is None else self._stiffness_at(point)

    def _stiffness_at(self, point: Equilibrium) -> float:
        model = linearize(self.system, point)
        K, _ = reduced_stiffness(model, np.zeros((len(model.M), 0)))
        lower = np.linalg.cholesky(model.M)
        return float(np.linalg.eigvalsh(np.linalg.solve(lower, np.linalg.solve(lower, K).T))[0])

    def _largest_real_part(self, value: float, near: Equilibrium | None) -> float:
        model = self._model(value, near)
        if model is None:
            return float("nan")
        values = spectrum(model).values
        return float(values[values != 0].real.max(initial=-np.inf))

    def meetings(self, grid: Array, points: list[Equilibrium | None]) -> list[float]:
        """Bifurcations: the smallest stiffness falls to zero and rises again on the other equilibrium."""
        from scipy.optimize import minimize_scalar  # slow to load

        sizes = np.array([np.nan if x is None else abs(self._stiffness_at(x)) for x in points])
        found = []
        for k in range(1, len(grid) - 1):
            if not sizes[k] <= min(sizes[k - 1], sizes[k + 1]):
                continue
            near, a, b = points[k - 1], float(grid[k - 1]), float(grid[k + 1])
            best = minimize_scalar(
                lambda x, near=near: abs(self._smallest_stiffness(x, near)),
                bounds=(a, b),
                method="bounded",
                options={"xatol": 1e-12 * (b - a)},
            )
            before, after = (self._smallest_stiffness(x, near) for x in (a, b))
            if before * after > 0 and best.fun < 1e-5 * min(abs(before), abs(after)):
                found.append(self._sharpened(float(best.x), b, near))
        return found

    def _sharpened(self, guess: float, end: float, near: Equilibrium | None) -> float:
        """Where the stiffness of the other equilibrium vanishes, extrapolated from two values beyond the bifurcation.

        At the bifurcation itself rounding errors cost half of the digits.
        """
        reach = 1e-3 * (end - guess)
        (p, a), (r, b) = ((x, self._smallest_stiffness(x, near)) for x in (guess + reach, guess + 2 * reach))
        root = p - a * (r - p) / (b - a) if a != b else guess
        found = root if abs(root - guess) < reach else guess
        short = float(f"{found:.6g}")
        return short if abs(short - found) <= 1e-8 * max(abs(found), end - guess) else found

    def result(
        self, low: float, high: float, edges: list[float], samples: int, meetings: list[float]
    ) -> StabilityRanges:
        """Verdicts at the edges and between them."""
        bounds = [low, *edges, high]
        ranges, critical, near = [], [], None
        for a, b in pairwise(bounds):
            near = self._walked(a, 0.5 * (a + b), near)
            found = None if near is None else stability(linearize(self.system, near))
            ranges.append(Range(a, b, LOST if found is None else found.verdict, found))
            if b in meetings:
                critical.append(CriticalValue(b, None, meets=True))
            elif b != high:
                point = self._walked(0.5 * (a + b), b, near)
                critical.append(CriticalValue(b, None if point is None else stability(linearize(self.system, point))))
        ends = [self._end(low, ranges[0]), self._end(high, ranges[-1])]
        return StabilityRanges(
            self.parameter, tuple(critical), tuple(ranges), samples, tuple(end for end in ends if end is not None)
        )

    def _end(self, value: float, part: Range) -> CriticalValue | None:
        """The verdict exactly at an end of the whole range, if it differs from the adjacent range."""
        if part.stability is None:
            return None
        point = self._walked(0.5 * (part.low + part.high), value, part.stability.at)
        found = None if point is None else stability(linearize(self.system, point))
        verdict = LOST if found is None else found.verdict
        return None if verdict == part.verdict else CriticalValue(value, found)

    def _walked(self, start: float, end: float, near: Equilibrium | None) -> Equilibrium | None:
        """The equilibrium at ``end``, by continuation in small steps."""
        for value in np.linspace(start, end, 12):
            near = self.equilibrium(float(value), near)
        return near


def follow(system: System, start: State, inputs: Any, parameters: Array) -> Equilibrium | None:
    """The equilibrium nearest to a state, by Newton's method; None if there is none nearby."""
    u = system.inputs.at(0.0, parameters) if inputs is None else system.inputs.rows(np.array(0.0), inputs, parameters)
    q, v = np.array(start.q, dtype=float), np.array(start.v, dtype=float)
    lam = np.zeros(system.loop_rows)
    for _ in range(30):
        terms, lam = _balanced(system, q, v, u, lam, parameters)
        here = _as_equilibrium(system, q, v, u, lam, parameters)
        try:
            Z = independent_directions(system, terms.G, here)[0] if system.loop_rows else np.eye(len(v))
            step = np.linalg.lstsq(Z.T @ terms.K @ Z, Z.T @ terms.left, rcond=1e-12)[0]
            force = np.abs(Z.T @ terms.left).max()
            if force == 0 or np.abs(step).max() < 1e-15:
                break
            if np.abs(step).max() > 1.0:
                return None
            q = displaced(system, here, Z, step, 0.0 * step)[0]
        except (PendulaError, np.linalg.LinAlgError):
            return None
    try:
        return equilibrium_at(system, State(0.0, q, v, system.layout), inputs=inputs, parameters=parameters)
    except (NotAnEquilibrium, UsageError):
        return None


def _balanced(system: System, q: Array, v: Array, u: Array, lam: Array, parameters: Array) -> tuple[Terms, Array]:
    """Terms with the multipliers of least-squares residual force."""
    terms = terms_at(system, q, v, u, lam, parameters)
    if len(lam):
        lam = lam + np.linalg.lstsq(terms.G.T, -terms.left, rcond=None)[0]
        terms = terms_at(system, q, v, u, lam, parameters)
    return terms, lam


def _as_equilibrium(system: System, q: Array, v: Array, u: Array, lam: Array, parameters: Array) -> Equilibrium:
    return Equilibrium("trial", q, v, u, parameters, lam, BALANCED, 0.0, None, (), 1.0, system.layout, (), None, system)
