"""Plots of charts: stability over two parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pendula.analysis.charts.chart import StabilityChart
from pendula.present.pictures.plots import FEW, INK, dress, headline, literally, sheet, titled
from pendula.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.tri import Triangulation

LEVELS = 12
"""number of shades of growth in unstable regions"""
TOUCHING = 1e-3
"""of a step of the grid: border points closer to a grid point add nothing to a picture"""
FAINT = 1e-6
"""of the first shade: where shading begins"""


def plot_chart(found: StabilityChart) -> Figure:
    """Figure of a chart: stable regions white, unstable ones shaded by their growth, refined border points in ink.

    Example:
        >>> import pendula
        >>> ranges = ("Omega", 2, 4), ("g", 5, 15)
        >>> found = pendula.linear.stability_chart("hoop-bead", *ranges, at={"theta": 0}, samples=5)
        >>> plot_chart(found).axes[0].get_xlabel()
        'Omega'
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.ticker import MaxNLocator

    rate = f" [1/{found.system.layout.time_unit}]" if found.system is not None else ""
    figure, (ax,) = sheet(1)
    figure.set_size_inches(8.0, 6.0)
    growth = np.where(found.stable == 0, _growth(found), 0.0)
    shades = LinearSegmentedColormap.from_list("growth", ["#fbe8dd", "#f2b896", FEW[1]])
    if growth.max(initial=0.0) > 0:
        ticks = MaxNLocator(LEVELS).tick_values(0.0, float(growth.max()))
        levels = [FAINT * ticks[1], *ticks[1:]]  # what does not grow stays white
        drawn = ax.tricontourf(*_with_borders(found, growth), levels=levels, cmap=shades)
        bar = figure.colorbar(drawn, ax=ax, shrink=0.8, ticks=ticks[1:])
        literally(bar.ax.set_ylabel("growth per period [1]" if found.what == "spectral radius" else found.what + rate))
    failed = np.argwhere(np.isnan(found.stable))
    if len(failed):
        ax.plot(found.x[failed[:, 1]], found.y[failed[:, 0]], "x", color=FEW[0], ms=4, ls="none")
    points = found.points
    ax.plot(points[:, 0], points[:, 1], ".", color=INK, ms=3.0, ls="none")
    ax.set_xlim(found.x[0], found.x[-1])
    ax.set_ylim(found.y[0], found.y[-1])
    literally(ax.set_xlabel(found.parameters[0]))
    literally(ax.set_ylabel(found.parameters[1]))
    dress(ax)
    headline(figure, titled(found.system, f"stability over {found.parameters[0]} and {found.parameters[1]}"))
    subtitle = f"white: stable; dots: {counted(len(points), 'refined border point')}"
    literally(ax.set_title(subtitle, loc="left", fontsize=9.5))
    return figure


def _with_borders(found: StabilityChart, growth: np.ndarray) -> tuple[Triangulation, np.ndarray]:
    """The grid and the refined borders, where growth is zero, as triangles: shades end at the borders."""
    from matplotlib.tri import Triangulation

    x, y = (axis.ravel() for axis in np.meshgrid(found.x, found.y))
    step = np.array([found.x[1] - found.x[0], found.y[1] - found.y[0]])
    places = (found.points - [found.x[0], found.y[0]]) / step
    places = places[np.abs(places - np.round(places)).max(axis=1, initial=0.0) > TOUCHING]
    points = np.unique(np.round(places, 6), axis=0) * step + [found.x[0], found.y[0]]
    x, y = np.concatenate([x, points[:, 0]]), np.concatenate([y, points[:, 1]])
    triangles = Triangulation(x / step[0], y / step[1]).triangles
    return Triangulation(x, y, triangles), np.concatenate([growth.ravel(), np.zeros(len(points))])


def _growth(found: StabilityChart) -> np.ndarray:
    """What the shades show: the logarithm of the spectral radius, or the growth rate."""
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.log(found.size) if found.what == "spectral radius" else found.size
    return np.nan_to_num(np.asarray(size), nan=0.0, neginf=0.0)
