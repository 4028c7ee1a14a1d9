"""A chart of stability over two parameters, from margins of stability whose zeros are its borders.

A margin is a smooth function that vanishes where an eigenvalue or multiplier crosses the limit of stability. Margins
are evaluated on a grid; along each line of the grid, in both directions, every change of sign is refined to a root,
also of margins that only dip below zero between two points. A root is a border if stability differs on its two sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pendula.errors import PendulaError, UsageError
from pendula.numerics.solvers.dips import brackets, dip
from pendula.system.layout import Array
from pendula.system.parameters import read_parameter
from pendula.system.system import System
from pendula.tables.tabular import Tabular
from pendula.words import counted, readable

SHARP = 1e-13
"""roots are refined to this fraction of the range"""
HALVINGS = 40
"""bisections where stability changes although no margin vanishes"""
UNEXPLAINED = "the verdict changes"


class Look(NamedTuple):
    """What one pair of values gives: the verdict, a size (radius or growth rate), and the margins."""

    stable: bool | None
    verdict: str
    size: float
    margins: tuple[float, ...]


FAILED = Look(None, "failed", np.nan, ())


@readable
@dataclass(frozen=True)
class Border:
    """A point on the border of stability.

    Attributes:
        x, y: values of the two parameters.
        along: the parameter that was varied to find it, the other being that of a line of the grid.
        how: what happens there: which margin vanishes.
        stable_below: whether it is stable at smaller values of the parameter that was varied.

    Example:
        >>> import pendula
        >>> ranges = ("Omega", 2, 4), ("g", 5, 15)
        >>> found = pendula.linear.stability_chart("hoop-bead", *ranges, at={"theta": 0}, samples=5)
        >>> max(abs(b.x**2 - b.y) for b in found.borders) < 1e-9  # Omega^2 = g/r
        True
    """

    x: float
    y: float
    along: str
    how: str
    stable_below: bool

    def __str__(self) -> str:
        return f"({self.x:.10g}, {self.y:.10g}): {self.how}"


@readable
@dataclass(frozen=True)
class StabilityChart(Tabular):
    """Stability over two parameters.

    Attributes:
        parameters: names of the parameters on the x axis and on the y axis.
        x, y: values of the grid, shape (nx,) and (ny,).
        stable: 1 if stable, 0 if not, nan where the computation failed; shape (ny, nx).
        size: largest modulus of a multiplier, or largest real part of an eigenvalue; shape (ny, nx).
        borders: refined points of the borders, on all lines of the grid.
        what: name of ``size``.
        evaluations: number of pairs of values that were computed.
        failures: by pair of values, why a computation failed.
        system: the system at its original values.

    Example:
        >>> import pendula
        >>> ranges = ("Omega", 2, 4), ("g", 5, 15)
        >>> found = pendula.linear.stability_chart("hoop-bead", *ranges, at={"theta": 0}, samples=5)
        >>> found.stable.shape, found.stable[:, 0].tolist()  # at Omega = 2
        ((5, 5), [1.0, 1.0, 1.0, 1.0, 1.0])
    """

    parameters: tuple[str, str]
    x: Array
    y: Array
    stable: Array
    size: Array
    borders: tuple[Border, ...]
    what: str
    evaluations: int
    failures: dict[tuple[float, float], str]
    system: System | None = field(default=None, repr=False, compare=False)

    @property
    def points(self) -> Array:
        """The border points as rows (x, y)."""
        return np.array([[b.x, b.y] for b in self.borders]).reshape(-1, 2)

    def along(self, parameter: str, other: float) -> list[Border]:
        """The border points on one line: where ``parameter`` varies and the other one has a value of the grid."""
        fixed = "y" if parameter == self.parameters[0] else "x"
        return [b for b in self.borders if b.along == parameter and getattr(b, fixed) == other]

    def as_dict(self) -> dict[str, Any]:
        """All results as plain lists and strings."""
        return {
            "parameters": list(self.parameters),
            "x": self.x.tolist(),
            "y": self.y.tolist(),
            "stable": [[None if np.isnan(s) else bool(s) for s in row] for row in self.stable],
            self.what.replace(" ", "_"): self.size.tolist(),
            "borders": [{"x": b.x, "y": b.y, "along": b.along, "how": b.how} for b in self.borders],
            "evaluations": self.evaluations,
            "failures": len(self.failures),
        }

    def __str__(self) -> str:
        known = self.stable[np.isfinite(self.stable)]
        share = f"{100 * known.mean():.3g} % of the grid is stable" if known.size else "nothing could be computed"
        first = (
            f"{self.parameters[0]} from {self.x[0]:.6g} to {self.x[-1]:.6g}, {self.parameters[1]} from {self.y[0]:.6g} "
            f"to {self.y[-1]:.6g}: {share}, {counted(len(self.borders), 'border point')}"
        )
        kinds = sorted({b.how for b in self.borders})
        lines = [f"  {sum(b.how == how for b in self.borders)} where {how}" for how in kinds]
        if self.failures:
            lines.append(f"  {counted(len(self.failures), 'failure')}: {next(iter(self.failures.values()))}")
        return "\n".join([first, *lines])


Axis = tuple[str, float, float]
"""Name of a parameter, and the ends of its range."""


def read_axes(system: System, x: Any, y: Any, samples: int | tuple[int, int]) -> tuple[Axis, Axis, tuple[int, int]]:
    """The two axes and numbers of samples, checked.

    Raises:
        UsageError: an axis is not a name with two increasing numbers, a parameter is unknown, or samples are too few.
    """
    axes = []
    for given in (x, y):
        if not isinstance(given, (tuple, list)) or len(given) != 3 or not isinstance(given[0], str):
            raise UsageError(f'an axis of a chart is (name, low, high), such as ("omega", 1, 5), found {given!r}')
        name, low, high = given
        read_parameter(system, name)
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise UsageError(f"the range of {name} must go from a smaller to a larger number, found {low} to {high}")
        axes.append((name, float(low), float(high)))
    if axes[0][0] == axes[1][0]:
        raise UsageError(f"the two axes of a chart are different parameters, found {axes[0][0]} twice")
    counts = (samples, samples) if isinstance(samples, (int, np.integer)) else tuple(samples)
    if len(counts) != 2 or min(counts) < 2:
        raise UsageError(f"samples is a number of at least 2, or one for each axis, found {samples!r}")
    return axes[0], axes[1], (int(counts[0]), int(counts[1]))


def draw_chart(
    look: Callable[[float, float], Look],
    x: Axis,
    y: Axis,
    counts: tuple[int, int],
    *,
    how: Sequence[str],
    what: str,
    missing: str,
    system: System | None = None,
    on_progress: Callable[[int, int], object] | None = None,
) -> StabilityChart:
    """The chart from a function of the two parameters.

    Args:
        look: the function; it may raise a ``PendulaError`` where there is no result.
        x, y, counts: the axes, and the number of grid lines along each.
        how: describes the zeros of each of the margins.
        what: name of the size.
        missing: what is missing where the function fails, for the message.
        system: the system at its original values.
        on_progress: called as ``on_progress(lines done, lines)``.

    Raises:
        UsageError: the function fails at all points of the grid.
    """
    xs, ys = np.linspace(*x[1:], counts[0]), np.linspace(*y[1:], counts[1])
    known: dict[tuple[float, float], Look] = {}
    failures: dict[tuple[float, float], str] = {}

    def at(a: float, b: float) -> Look:
        key = (float(a), float(b))
        if key not in known:
            try:
                known[key] = look(*key)
            except PendulaError as error:
                known[key], failures[key] = FAILED, str(error)
        return known[key]

    borders: list[Border] = []
    for j, value in enumerate([*ys.tolist(), *xs.tolist()]):
        if j < len(ys):
            found = _on_line(partial(_swapped(at), value), xs, how)
            borders += [Border(root, value, x[0], name, below) for root, name, below in found]
        else:
            found = _on_line(partial(at, value), ys, how)
            borders += [Border(value, root, y[0], name, below) for root, name, below in found]
        if on_progress is not None:
            on_progress(j + 1, len(ys) + len(xs))
    grid = [[at(a, b) for a in xs.tolist()] for b in ys.tolist()]
    stable = np.array([[np.nan if one.stable is None else float(one.stable) for one in row] for row in grid])
    if not np.isfinite(stable).any():
        raise UsageError(f"there {missing} at any point: {next(iter(failures.values()), 'nothing was decided')}")
    reasons = {key: text.splitlines()[0] for key, text in failures.items()}
    size = np.array([[one.size for one in row] for row in grid])
    return StabilityChart((x[0], y[0]), xs, ys, stable, size, tuple(borders), what, len(known), reasons, system)


def _swapped(at: Callable[[float, float], Look]) -> Callable[[float, float], Look]:
    """The same function of y and x."""
    return lambda b, a: at(a, b)


def _on_line(look: Callable[[float], Look], grid: Array, how: Sequence[str]) -> list[tuple[float, str, bool]]:
    """Borders on one line: value, what happens there, and whether it is stable below."""
    looks = [look(s) for s in grid.tolist()]
    spans: list[_Span] = []
    for k, name in enumerate(how):

        def margin(s: float, k: int = k) -> float:
            found = look(float(s))
            return found.margins[k] if k < len(found.margins) else np.nan

        sizes = np.array([one.margins[k] if k < len(one.margins) else np.nan for one in looks])
        spans += [_Span(low, high, margin, name) for low, high in _sign_changes(margin, grid, sizes)]
    sharp = SHARP * float(grid[-1] - grid[0])
    roots = [(root, one.name) for one in spans if one.may_be_border(look, spans) for root in one.roots(sharp)]
    roots.sort()
    ends = [float(grid[0]), *(root for root, _ in roots), float(grid[-1])]
    sides = [_between(look, grid, a, b) for a, b in pairwise(ends)]
    found = [
        (root, name, bool(before))
        for (root, name), before, after in zip(roots, sides[:-1], sides[1:], strict=True)
        if before is not None and after is not None and before != after
    ]
    return sorted([*found, *_unexplained(look, grid, looks, [root for root, _, _ in found])])


def _unexplained(
    look: Callable[[float], Look], grid: Array, looks: list[Look], known: list[float]
) -> list[tuple[float, str, bool]]:
    """Changes of stability between neighbouring points at which no margin vanishes, by bisection."""
    found = []
    for k, (one, other) in enumerate(pairwise(looks)):
        low, high = float(grid[k]), float(grid[k + 1])
        if one.stable is None or other.stable is None or one.stable == other.stable:
            continue
        if any(low <= root <= high for root in known):
            continue
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            here = look(middle).stable
            if here is None:
                break
            low, high = (middle, high) if here == one.stable else (low, middle)
        found.append((0.5 * (low + high), UNEXPLAINED, one.stable))
    return found


def _between(look: Callable[[float], Look], grid: Array, a: float, b: float) -> bool | None:
    """Stability between two roots: at the grid point nearest to their middle, or at the middle."""
    inside = grid[(grid > a) & (grid < b)]
    middle = 0.5 * (a + b)
    at = float(inside[np.argmin(np.abs(inside - middle))]) if inside.size else middle
    return look(at).stable


class _Span(NamedTuple):
    """A part of a line over which a margin changes its sign."""

    low: float
    high: float
    margin: Callable[[float], float]
    name: str

    def may_be_border(self, look: Callable[[float], Look], spans: list[_Span]) -> bool:
        """Whether stability may change here: not if it is the same on both sides and no other margin vanishes."""
        alone = not any(one.low < self.high and self.low < one.high for one in spans if one is not self)
        before, after = look(self.low).stable, look(self.high).stable
        return not alone or before is None or before != after

    def roots(self, sharp: float) -> list[float]:
        """The zero of the margin, to a tolerance; none if it is not finite in between, or has no zero after all."""
        from scipy.optimize import brentq  # slow to load

        try:
            return [float(brentq(self.margin, self.low, self.high, xtol=sharp, rtol=1e-14))]
        except ValueError:
            return []


def _sign_changes(margin: Callable[[float], float], grid: Array, sizes: Array) -> list[tuple[float, float]]:
    """Where a margin changes its sign along a line: between neighbouring samples, and at dips between them."""
    spans: list[tuple[float, float]] = []
    for k in range(len(grid) - 1):
        if sizes[k] * sizes[k + 1] < 0:
            spans.append((float(grid[k]), float(grid[k + 1])))
    for a, m, b in brackets(grid, sizes):
        lowest = dip(margin, grid, sizes, (a, m, b))
        if margin(lowest) * sizes[m] < 0:
            spans += [(float(grid[a]), lowest), (lowest, float(grid[b]))]
    return spans
