"""Charts of equilibria: stability of one equilibrium over two parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pendula.analysis.charts.chart import Axis, Look, StabilityChart, draw_chart, read_axes
from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.linear.linearize import Point, held_inputs, linearize, point_of
from pendula.analysis.linear.spectrum import spectrum
from pendula.analysis.stability.following import follow, off_axis, state_near, through_axis, through_zero
from pendula.analysis.stability.verdict import sides_of_axis
from pendula.errors import NotAnEquilibrium
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array
from pendula.system.parameters import Parameters, named_changes, parameter_vector
from pendula.system.system import System

MARGINS = {
    "a real eigenvalue passes zero": through_zero,
    "a pair of eigenvalues crosses the imaginary axis": through_axis,
    "two pairs of eigenvalues meet on the imaginary axis": off_axis,
}


def stability_chart(
    system: AnySystem,
    x: Axis,
    y: Axis,
    *,
    at: Point = None,
    inputs: Any = None,
    parameters: Parameters = None,
    samples: int | tuple[int, int] = 40,
    on_progress: Callable[[int, int], object] | None = None,
) -> StabilityChart:
    """Stability of an equilibrium over two parameters, by its eigenvalues, with refined borders.

    The equilibrium is followed from point to point by Newton's method, each time from the nearest known one. A point
    without an eigenvalue to the right of the imaginary axis counts as stable. On every line of the grid the borders are
    roots of smooth functions of the eigenvalues, refined to rounding.

    Args:
        system: a system, a model, or the name of a library mechanism.
        x, y: (name, low, high) of the parameters on the two axes.
        at: the equilibrium at the low ends of both ranges (as in ``linearize``; a nearby point suffices).
        inputs, parameters: as in ``linearize``; the parameters of the axes override them.
        samples: number of grid lines along each axis, or one number for each.
        on_progress: called as ``on_progress(lines done, lines)``.

    Raises:
        UsageError: an axis is wrong, or there is no equilibrium at any point.

    Example:
        >>> import pendula
        >>> found = stability_chart("hoop-bead", ("Omega", 2, 4), ("g", 5, 15), at={"theta": 0}, samples=5)
        >>> [round(b.x, 9) for b in found.along("Omega", 10.0)]  # sqrt(g/r)
        [3.16227766]
    """
    given = system_of(system, "stability_chart", inputs=held_inputs(at, inputs))
    axis_x, axis_y, counts = read_axes(given, x, y, samples)
    followed, base = _Followed(given, at, inputs), named_changes(given, parameters)

    def look(a: float, b: float) -> Look:
        place = (a - axis_x[1]) / (axis_x[2] - axis_x[1]), (b - axis_y[1]) / (axis_y[2] - axis_y[1])
        return followed(parameter_vector(given, {**base, axis_x[0]: a, axis_y[0]: b}), place)

    return draw_chart(
        look, axis_x, axis_y, counts, how=tuple(MARGINS), what="growth rate", missing="is no equilibrium",
        system=given, on_progress=on_progress,
    )  # fmt: skip


class _Followed:
    """One equilibrium followed over two parameters, and its eigenvalues."""

    def __init__(self, system: System, at: Point, inputs: Any) -> None:
        self.system, self.at, self.inputs = system, at, inputs
        self.places: list[tuple[float, float]] = []
        self.points: list[Equilibrium] = []
        self.scale, self.zeros = 0.0, 0

    def __call__(self, vector: Array, place: tuple[float, float]) -> Look:
        point = self._point(vector, place)
        if point is None:
            raise NotAnEquilibrium("no equilibrium was found near the last one", residual=float("nan"))
        self.places.append(place)
        self.points.append(point)
        found = spectrum(linearize(self.system, point))
        sides, roots = sides_of_axis(found), found.values
        if not self.scale:
            self.scale, self.zeros = float(np.abs(roots).max(initial=0.0)) or 1.0, int((roots == 0).sum())
        kept, undamped = roots[self.zeros :] / self.scale, found.roots.kind == "undamped"
        verdict = "unstable" if (sides > 0).any() else "stable"
        margins = tuple(margin(kept, undamped) for margin in MARGINS.values())
        return Look(verdict == "stable", verdict, float(roots.real.max(initial=-np.inf)), margins)

    def _point(self, vector: Array, place: tuple[float, float]) -> Equilibrium | None:
        if self.points:
            nearest = int(np.argmin(np.sum((np.array(self.places) - place) ** 2, axis=1)))
            start = self.points[nearest].state
        else:
            try:
                return point_of(self.system, self.at, self.inputs, vector)
            except NotAnEquilibrium:
                start = state_near(self.system, self.at, vector)
        return follow(self.system, start, self.inputs, vector)
