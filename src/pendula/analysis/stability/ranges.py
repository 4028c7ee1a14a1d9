"""Stability over a parameter: critical values, and the verdicts between them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.equilibria.find import lowest_equilibrium
from pendula.analysis.linear.linearize import Point, held_inputs, linearize, point_of
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.spectrum import spectrum
from pendula.analysis.stability.energy_argument import reduced_stiffness
from pendula.analysis.stability.following import follow, meets, off_axis, state_near, through_axis, through_zero
from pendula.analysis.stability.proven_ranges import Stretch, proven_over
from pendula.analysis.stability.verdict import Stability, sides_of_axis, stability
from pendula.arguments import read_count, read_number, read_positive
from pendula.errors import NotAnEquilibrium, PendulaError, UsageError
from pendula.numerics.solvers.dips import between_roots, brackets, dip, missed
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array
from pendula.system.parameters import Parameters, named_changes, parameter_vector, read_parameter
from pendula.system.system import System
from pendula.tables.tabular import Tabular
from pendula.words import INDICATED, readable

MOST_SAMPLES = 1_000_000
LOST = "no equilibrium nearby"
BORDER = "the followed equilibrium exists on one side only"
Margin = Callable[[Array, bool], float]
SHARP = 1e-14
"""bisection ends at this fraction of its initial interval"""


@readable
@dataclass(frozen=True)
class CriticalValue:
    """A value at which the verdict changes, or at which the equilibrium meets another one.

    Attributes:
        value: of the parameter.
        stability: the verdict exactly there; None if the equilibrium ends, begins or meets another.
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
        return self.stability.verdict if self.stability else BORDER


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
class StabilityRanges(Tabular):
    """Verdicts over a parameter. ``str()`` is a table.

    Attributes:
        parameter: its name.
        critical: values at which the verdict changes.
        ranges: the intervals between them.
        samples: number of sampled values.
        missed_below: indicated, not proven: a range of this width contains a sample, but a narrower one is found only
            if an extremum of a margin of stability, as the samples show it, leads there.
        ends: ends of the whole range with a verdict that differs from the adjacent range.
        certainty: ``proven`` if interval arithmetic showed that the verdicts hold between critical values, except in
            windows about these; ``undecided`` if a window is left at which the verdict does not change; else
            ``indicated``; see ``missed_below``.
        windows: if a proof was asked for, the intervals of the parameter in which it showed nothing.
        grounds: the result of the proof, or why there is none.
        mechanism: its name, for titles.

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
    missed_below: float = np.inf
    certainty: str = INDICATED
    windows: tuple[tuple[float, float], ...] = ()
    grounds: str = ""
    mechanism: str = ""

    @property
    def caution(self) -> str:
        """What is proven, or what may have been missed."""
        may = missed(self.samples, self.missed_below)
        if not self.grounds:
            return may
        said = f"{self.certainty}: {self.grounds}"
        return f"{said}; {may}" if self.certainty == INDICATED else said

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
        return "\n".join([*lines, self.caution])


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
    prove: float | None = None,
) -> StabilityRanges:
    """Critical values of a parameter and the verdict between them, following one equilibrium.

    Newton's method follows the equilibrium from the lowest value upward (continuation). Bisection and then a root
    finder locate every change of the verdict between neighbouring samples. Where a margin of stability (the product
    of the roots, that of the sums of their pairs, a discriminant) has an extremum between samples, it is searched for
    a change of sign there, so that windows much narrower than the spacing of the samples are found.

    Args:
        system: a system, a model, or the name of a library mechanism.
        parameter: its name.
        low, high: the range.
        at: the equilibrium at ``low`` (as in ``linearize``; a nearby point suffices). By default the one near the
            initial state, or if there is none the one of least potential.
        inputs, parameters: as in ``linearize``; the studied parameter overrides them.
        samples: number of sampled values.
        prove: seconds to spend on a proof, by interval arithmetic, that the verdicts hold everywhere between critical
            values; for mechanisms of up to 4 speeds whose equations are smooth, closed loops included.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.hoop_bead())
        >>> found = pendula.linear.stability_over(system, "Omega", 1, 5, at={"theta": 0}, samples=20, prove=10)
        >>> found.values.round(9).tolist(), [r.verdict for r in found.ranges], found.certainty
        ([3.132091953], ['asymptotically stable', 'unstable'], 'proven')
    """
    system = system_of(system, "stability_over", inputs=held_inputs(at, inputs))
    low, high = read_number(low, "the low end of the range"), read_number(high, "the high end of the range")
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise UsageError(f"a range must go from a smaller to a larger value, found {low} to {high}")
    samples = read_count(samples, "samples", MOST_SAMPLES, least=2)
    study = _Study(system, parameter, at, inputs, parameters)
    inner = low + (high - low) * (np.arange(samples) + 0.4871) / samples  # avoids round numbers, where edges tend to be
    study.follow_over([low, *inner.tolist(), high])
    touches = study.look_between()
    edges = [e for a, b in pairwise(list(study.samples)) for e in study.edges(a, b)]
    found = study.result(_merged([*edges, *touches], low, high), samples)
    return found if prove is None else study.proven(found, prove)


def _merged(edges: list[_Edge], low: float, high: float) -> list[_Edge]:
    """Edges without duplicates and without the ends."""
    width = high - low
    found: list[_Edge] = []
    for edge in sorted(edges, key=lambda e: e.value):
        near_end = min(edge.value - low, high - edge.value) < 1e-9 * width
        if not near_end and not (found and edge.value - found[-1].value < 1e-9 * width):
            found.append(edge)
    return found


@dataclass(frozen=True)
class _Sample:
    """The followed equilibrium at a value, the verdict from eigenvalues alone, and the eigenvalues."""

    value: float
    point: Equilibrium | None
    kind: str
    roots: Array
    undamped: bool


@dataclass(frozen=True)
class _Edge:
    """A value at which the verdict changes, the equilibrium ends or meets another, or a root touches the axis."""

    value: float
    what: str


class _Study:
    """Follows one equilibrium over one parameter."""

    def __init__(self, system: System, parameter: str, at: Point, inputs: Any, parameters: Parameters) -> None:
        self.system, self.parameter, self.at, self.inputs = system, read_parameter(system, parameter), at, inputs
        self.base = named_changes(system, parameters)

    def _vector(self, value: float) -> Array:
        return parameter_vector(self.system, {**self.base, self.parameter: value})

    def equilibrium(self, value: float, near: Equilibrium | None) -> Equilibrium | None:
        """The equilibrium at a value, from one nearby; None if it is lost."""
        vector = self._vector(value)
        if near is None:
            try:
                return point_of(self.system, self.at, self.inputs, vector)
            except NotAnEquilibrium:
                start = state_near(self.system, self.at, vector)
            found = follow(self.system, start, self.inputs, vector)
            if found is None and self.at is None:  # the initial state is far from all equilibria
                lowest = lowest_equilibrium(self.system, inputs=self.inputs, parameters=vector)
                self.at = None if lowest is None else lowest.state
                return lowest
            return found
        return follow(self.system, near.state, self.inputs, vector)

    def sample(self, value: float, near: Equilibrium | None) -> _Sample:
        """The equilibrium at a value, from one nearby, and the verdict from its eigenvalues alone."""
        point = self.equilibrium(value, near)
        if point is None:
            return _Sample(value, None, LOST, np.zeros(0), False)
        found = spectrum(linearize(self.system, point))
        sides = sides_of_axis(found)
        kind = "unstable" if (sides > 0).any() else "asymptotically stable" if (sides < 0).all() else "critical"
        return _Sample(value, point, kind, found.values, found.roots.kind == "undamped")

    def follow_over(self, grid: list[float]) -> None:
        """Follows the equilibrium from value to value, in smaller steps where Newton's method fails."""
        self.spacing = float(np.diff(grid).max())
        self.samples = [self.sample(grid[0], None)]
        for value in grid[1:]:
            self.samples.append(self._onward(self.samples[-1], value, 8))

    def _onward(self, last: _Sample, value: float, halvings: int) -> _Sample:
        found = self.sample(value, last.point)
        if found.point is not None or last.point is None or not halvings:
            return found
        middle = self._onward(last, 0.5 * (last.value + value), halvings - 1)
        return found if middle.point is None else self._onward(middle, value, halvings - 1)

    def look_between(self) -> list[_Edge]:
        """Adds samples where a margin crosses zero between two others; values at which one only touches zero."""
        row = np.array([s.value for s in self.samples])
        followed = [s.roots for s in self.samples if s.point is not None]
        zeros = min((int((roots == 0).sum()) for roots in followed), default=0)
        scale = float(np.median([np.abs(roots).max(initial=0.0) for roots in followed] or [0.0])) or 1.0
        touches: list[_Edge] = []
        extra: list[_Sample] = []
        changing: dict[int, list[Any]] = {}
        for margin in (through_zero, through_axis, off_axis):

            def size_of(sample: _Sample, margin: Margin = margin) -> float:
                return np.nan if sample.point is None else margin(sample.roots[zeros:] / scale, sample.undamped)

            def size_at(value: float, near: Equilibrium | None, size_of: Any = size_of) -> float:
                return float(size_of(self.sample(value, near)))

            sizes = np.array([size_of(s) for s in self.samples])
            for k in np.flatnonzero(sizes[:-1] * sizes[1:] < 0).tolist():
                changing.setdefault(k, []).append(partial(size_at, near=self.samples[k].point))
            for a, m, b in brackets(row, sizes):
                near = self.samples[a].point
                value = dip(partial(size_at, near=near), row, sizes, (a, m, b))
                found = self.sample(value, near)
                if found.kind != self.samples[m].kind and size_of(found) * sizes[m] < 0:
                    extra.append(found)
                elif margin is through_zero and abs(size_of(found)) < 1e-5 * min(abs(sizes[a]), abs(sizes[b])):
                    touches.append(self._touch(value, float(row[b]), near))
        for k, functions in changing.items():  # two margins that change sign may leave a window between them
            with suppress(ValueError):
                middles = between_roots(functions, float(row[k]), float(row[k + 1]))
                extra.extend(self.sample(value, self.samples[k].point) for value in middles)
        self.samples = sorted([*self.samples, *extra], key=lambda s: s.value)
        return touches

    def edges(self, left: _Sample, right: _Sample) -> list[_Edge]:
        """All changes of the verdict between two samples that differ, from left to right."""
        found: list[_Edge] = []
        least = 1e-7 * (right.value - left.value)
        while left.kind != right.kind and right.value - left.value > least:
            edge, left = self._edge(left, right, least)
            found.append(edge)
            if left is not right:
                self.samples.append(left)
        return found

    def _edge(self, left: _Sample, right: _Sample, least: float) -> tuple[_Edge, _Sample]:
        """Where the verdict of the left sample ends, by bisection, then refined; and a sample a little beyond."""
        near, a, b = left.point or right.point, left.value, right.value
        width = b - a
        while b - a > max(SHARP * width, 4e-16 * max(abs(a), abs(b))):
            middle = 0.5 * (a + b)
            if middle in (a, b):
                break
            here = self.sample(middle, near)
            if here.kind == left.kind:
                a, near = middle, here.point or near
            else:
                b = middle
        after = right if b + least >= right.value else self.sample(b + least, near)
        if LOST in (left.kind, after.kind):
            return _Edge(0.5 * (a + b), "ends" if after.kind == LOST else "begins"), after
        found = self._polished(0.5 * (a + b), left.value, right.value, near)
        short = 0.0 if abs(found) < SHARP * width else float(f"{found:.9g}")  # prefer a round number within rounding
        return _Edge(short if abs(short - found) <= 1e-12 * max(abs(found), width) else found, "changes"), after

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
        model = self._model(value, near)
        if model is None:
            return float("nan")
        K, _ = reduced_stiffness(model, np.zeros((len(model.M), 0)))
        lower = np.linalg.cholesky(model.M)
        return float(np.linalg.eigvalsh(np.linalg.solve(lower, np.linalg.solve(lower, K).T))[0])

    def _largest_real_part(self, value: float, near: Equilibrium | None) -> float:
        model = self._model(value, near)
        if model is None:
            return float("nan")
        values = spectrum(model).values
        return float(values[values != 0].real.max(initial=-np.inf))

    def _touch(self, value: float, end: float, near: Equilibrium | None) -> _Edge:
        """Whether the equilibrium meets another where its stiffness falls to zero and rises again, and the value."""
        if meets(lambda x: self.equilibrium(x, near), self.inputs, value, end - value):
            return _Edge(self._sharpened(value, end, near), "meets")
        short = float(f"{value:.6g}")
        return _Edge(short if abs(short - value) <= 1e-6 * (end - value) else value, "touches")

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

    def result(self, edges: list[_Edge], count: int) -> StabilityRanges:
        """Verdicts at the edges and between them."""
        low, high = self.samples[0].value, max(s.value for s in self.samples)
        rounding = 1e-14 * (high - low)
        edges = [e if abs(e.value) > rounding else replace(e, value=0.0) for e in edges]
        ranges = [self._range(a, b) for a, b in pairwise([low, *(e.value for e in edges), high])]
        critical, kept = [], [ranges[0]]
        for edge, after in zip(edges, ranges[1:], strict=True):
            found = self._at_edge(edge, kept[-1], after)
            if edge.what == "touches" and (found.stability is None or found.stability.verdict == after.verdict):
                kept[-1] = replace(kept[-1], high=after.high)  # it only comes near zero
                continue
            critical.append(found)
            kept.append(after)
        ends = [self._end(low, kept[0]), self._end(high, kept[-1])]
        return StabilityRanges(
            self.parameter,
            tuple(critical),
            tuple(kept),
            count,
            tuple(e for e in ends if e is not None),
            self.spacing,
            mechanism=self.system.model.name,
        )

    def proven(self, found: StabilityRanges, seconds: float) -> StabilityRanges:
        """The same ranges with what interval arithmetic proves of them."""
        seconds = read_positive(seconds, "prove", "number of seconds")
        stretches = []
        for part in found.ranges:
            points = [
                (s.value, s.point) for s in self.samples if s.point is not None and part.low < s.value < part.high
            ]
            judged = part.stability
            how = (judged.argument, judged.drifts) if judged else ("none", ())
            stretches.append(Stretch(part.low, part.high, part.verdict, *how, points))
        certainty, windows, grounds = proven_over(self.system, self.parameter, self.base, stretches, seconds)
        return replace(found, certainty=certainty, windows=windows, grounds=grounds)

    def _range(self, a: float, b: float) -> Range:
        """The verdict between two edges, at the middle; the equilibrium is followed from the nearest sample there."""
        middle = 0.5 * (a + b)
        near = min((s for s in self.samples if a <= s.value <= b), key=lambda s: abs(s.value - middle))
        point = None if near.point is None else self._walked(near.value, middle, near.point)
        found = None if point is None else stability(linearize(self.system, point))
        return Range(a, b, LOST if found is None else found.verdict, found)

    def _at_edge(self, edge: _Edge, before: Range, after: Range) -> CriticalValue:
        """What holds exactly at an edge."""
        if edge.what in ("meets", "ends", "begins"):
            return CriticalValue(edge.value, None, meets=edge.what == "meets")
        of = before if before.stability is not None else after
        if of.stability is None:
            return CriticalValue(edge.value, None)
        point = self._walked(0.5 * (of.low + of.high), edge.value, of.stability.at)
        found = None if point is None else stability(linearize(self.system, point))
        if found is not None and found.behavior == "significant":
            sizes = found.spectrum.values
            if abs(sizes.real.max()) <= 1e-4 * float(np.abs(sizes).max()):
                found = _on_axis(found)
        return CriticalValue(edge.value, found)

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


def _on_axis(found: Stability) -> Stability:
    """The verdict at a boundary, where roots reach the axis, though rounding errors (of multiple roots) move them."""
    far = float(np.abs(found.spectrum.values.real.max()))
    text = f"roots reach the imaginary axis at this value (computed within {far:.1g}); eigenvalues do not decide"
    return replace(found, verdict="undecided", behavior="critical", applies_to_nonlinear=False, proof=text)
