"""Pictures of many runs: the spread of each coordinate over time, and the energy drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.present.pictures.plots import FEW, FLOOR, MUTED, dress, headline, literally, sheet, shortened, titled
from pendula.present.words.units import in_degrees, labelled
from pendula.simulation.ensemble import Ensemble

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = Any
BANDS = ((0.05, 0.95, 0.18), (0.25, 0.75, 0.35))  # lower quantile, upper quantile, opacity
MOST_PANELS = 8
SINGLE_RUNS = 12  # drawn as thin lines


def plot_ensemble(runs: Ensemble) -> Figure:
    """Figure of many runs: for each coordinate its median, the bands of 50 % and 90 % of the runs, and some runs.

    The last panel shows the energy drift of all runs, in ascending order. With a single sample, histograms replace the
    bands.
    """
    layout = runs.system.in_joints.layout
    names = layout.coordinates[:MOST_PANELS]
    figure, axes = sheet(len(names) + 1, shared=False)
    for index, (ax, name) in enumerate(zip(axes, names, strict=False)):
        values, unit = in_degrees(runs[name], layout.units[name])
        draw = _draw_bands if len(runs.t) > 1 else _draw_histogram
        draw(ax, runs.t, values, FEW[index % len(FEW)], labelled(shortened(name, 18), unit), layout.time_unit)
        dress(ax)
    drift = runs.energy_drift[np.isfinite(runs.energy_drift)]
    _draw_drift(axes[-1], drift)
    dress(axes[-1])
    figure.align_ylabels(axes)
    headline(figure, titled(runs.system, f"{len(runs)} runs"))
    median = f", median energy drift {np.median(drift):.2g}" if drift.size else ""
    subtitle = f"{runs.stepper} at {runs.tolerance:g}: {int(runs.ok.sum())} finished{median}"
    literally(axes[0].set_title(subtitle, loc="left", fontsize=9.5, color=MUTED))
    return figure


def _draw_bands(ax: Axes, t: Array, y: Array, color: str, label: str, time_unit: str) -> None:
    ax.set_xlim(float(t[0]), float(t[-1]))
    reached = np.isfinite(y).any(axis=0)
    t, y = t[reached], y[:, reached]
    for k in np.linspace(0, len(y) - 1, min(len(y), SINGLE_RUNS)).astype(int):
        ax.plot(t, y[k], color=MUTED, lw=0.4, alpha=0.5)
    for low, high, dark in BANDS:
        edges = np.nanquantile(y, (low, high), axis=0)
        name = f"{high - low:.0%} of the runs"
        ax.fill_between(t, *edges, color=color, alpha=dark, lw=0, label=name)
    ax.plot(t, np.nanmedian(y, axis=0), color=color, lw=1.4, label="median")
    literally(ax.set_ylabel(label))
    literally(ax.set_xlabel(labelled("time", time_unit)))
    ax.legend(loc="upper left", bbox_to_anchor=(1.005, 1.02), frameon=False, fontsize=8.5, borderaxespad=0.0)


def _draw_histogram(ax: Axes, t: Array, y: Array, color: str, label: str, time_unit: str) -> None:
    values = y[np.isfinite(y)]
    ax.hist(values, bins=min(80, max(10, values.size // 20)), color=color, alpha=0.7)
    literally(ax.set_xlabel(f"{label} at {t[0]:g} {time_unit}"))
    ax.set_ylabel("runs")


def _draw_drift(ax: Axes, drift: Array) -> None:
    known = np.sort(np.maximum(drift, FLOOR))
    ax.plot(np.linspace(0, 100, known.size), known, color=FEW[0], lw=1.3)
    if known.size:
        ax.set_yscale("log")
        ax.set_ylim(10.0 ** np.floor(np.log10(known[0]) - 0.3), 10.0 ** np.ceil(np.log10(known[-1]) + 0.3))
    ax.set_ylabel("energy drift")
    ax.set_xlabel("runs with less [%]")
