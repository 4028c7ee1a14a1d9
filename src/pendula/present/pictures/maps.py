"""Plots of chaos: Poincare sections, the distance between two motions, and the convergence of an exponent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pendula.present.pictures.plots import (
    FEW,
    FLOOR,
    MUTED,
    POINTS,
    Array,
    checked_signal,
    dress,
    headline,
    literally,
    sheet,
)
from pendula.present.thinning import thinned
from pendula.present.words.units import in_degrees, labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CROWD = 2000  # number of points above which they are drawn smaller


@dataclass(frozen=True, eq=False)
class SectionSeries:
    """Points of a Poincare section: a coordinate and its rate at each crossing.

    Attributes:
        x, y: values; those of ``x`` whose unit is "rad" are drawn in degrees between -180 and 180.
        x_name, y_name: names for the axes.
        x_unit, y_unit: units, "" if there is none.
    """

    title: str
    subtitle: str
    x: Array
    y: Array
    x_name: str
    y_name: str
    x_unit: str = ""
    y_unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", checked_signal(self.x, None, "x"))
        object.__setattr__(self, "y", checked_signal(self.y, self.x.size, "y"))


@dataclass(frozen=True, eq=False)
class GrowthSeries:
    """A positive quantity over time on a logarithmic axis, or a rate on a linear one.

    Attributes:
        level: a value to mark, or None.
        mark: a time to mark, or None.
        logarithmic: whether the axis of ``y`` is logarithmic.
    """

    title: str
    subtitle: str
    t: Array
    y: Array
    label: str
    level: float | None = None
    mark: float | None = None
    logarithmic: bool = True
    time_unit: str = "s"

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", checked_signal(self.t, None, "t"))
        object.__setattr__(self, "y", checked_signal(self.y, self.t.size, "y"))


def plot_section(series: SectionSeries, *, dpi: float = 110) -> Figure:
    """Figure of a Poincare section, one dot for each crossing."""
    figure, (ax,) = sheet(1, dpi)
    figure.set_size_inches(7.0, 6.0)
    x, unit = in_degrees(series.x, series.x_unit)
    if unit == "deg":
        x = (x + 180.0) % 360.0 - 180.0
    ax.plot(x, series.y, ".", color=FEW[0], ms=1.5 if x.size > CROWD else 4.0, ls="none")
    literally(ax.set_xlabel(labelled(series.x_name, unit)))
    literally(ax.set_ylabel(labelled(series.y_name, series.y_unit)))
    _head(figure, ax, series.title, series.subtitle)
    return figure


def plot_growth(series: GrowthSeries, *, dpi: float = 110) -> Figure:
    """Figure of a quantity over time, with a level and a time marked."""
    figure, (ax,) = sheet(1, dpi)
    figure.set_size_inches(9.0, 4.5)
    x, y = thinned(series.t, np.maximum(series.y, FLOOR) if series.logarithmic else series.y, POINTS)
    ax.plot(x, y, color=FEW[0], lw=1.3)
    if series.logarithmic:
        ax.set_yscale("log")
    if series.level is not None:
        ax.axhline(series.level, color=FEW[1], lw=1.0, ls="--")
    if series.mark is not None:
        ax.axvline(series.mark, color=FEW[1], lw=1.0, ls="--")
    literally(ax.set_xlabel(labelled("time", series.time_unit)))
    literally(ax.set_ylabel(series.label))
    _head(figure, ax, series.title, series.subtitle)
    return figure


def _head(figure: Figure, ax: object, title: str, subtitle: str) -> None:
    dress(ax)  # type: ignore[arg-type]
    headline(figure, title)
    literally(ax.set_title(subtitle, loc="left", fontsize=9.5, color=MUTED))  # type: ignore[attr-defined]
