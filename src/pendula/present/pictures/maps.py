"""Plots of chaos: Poincare sections, the distance between two motions, and the convergence of an exponent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pendula.analysis.chaos.divergence import Divergence
from pendula.analysis.chaos.horizon import Horizon
from pendula.analysis.chaos.lyapunov import Lyapunov
from pendula.arguments import available
from pendula.errors import UsageError
from pendula.present.pictures.plots import (
    FEW,
    FLOOR,
    MUTED,
    POINTS,
    Array,
    dress,
    headline,
    literally,
    sheet,
    titled,
)
from pendula.present.thinning import thinned
from pendula.present.words.units import in_degrees, labelled
from pendula.simulation.events import Crossings
from pendula.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CROWD = 2000  # number of points above which they are drawn smaller


def plot_crossings(found: Crossings, *, of: str | None = None) -> Figure:
    """Figure of a Poincare section: a coordinate and its speed at each occurrence of an event.

    Args:
        found: one of ``run.events``.
        of: the coordinate; default: the first that the event's expression does not contain.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("double-pendulum", 5.0, events=["theta1 = 0 rising"])
        >>> plot_crossings(run.events["theta1 = 0 rising"]).axes[0].get_xlabel()
        'theta2 [deg]'
    """
    layout = found.system.in_joints.layout
    usable = [n for n in layout.coordinates if f"{n}_dot" in layout.speeds]
    if not usable:
        raise UsageError("no coordinate of this mechanism has its own speed to draw a section with")
    chosen = of or next((n for n in usable if n not in found.event.parsed.names), usable[0])
    if chosen not in usable:
        raise UsageError(f'there is no coordinate "{chosen}" that has a speed; {available(usable)}')
    speed = f"{chosen}_dot"
    figure, (ax,) = sheet(1)
    figure.set_size_inches(7.0, 6.0)
    x, unit = in_degrees(found[chosen], layout.units[chosen])
    if unit == "deg":
        x = (x + 180.0) % 360.0 - 180.0
    ax.plot(x, found[speed], ".", color=FEW[0], ms=1.5 if x.size > CROWD else 4.0, ls="none")
    literally(ax.set_xlabel(labelled(chosen, unit)))
    literally(ax.set_ylabel(labelled(speed, layout.units[speed])))
    title = titled(found.system, "section")
    _finish(figure, ax, title, f"{found.event.name}: {counted(len(found), 'crossing')}")
    return figure


def plot_distance(found: Divergence | Horizon) -> Figure:
    """Figure of the distance between two runs over time, with the threshold and the time at which it is reached."""
    first, what = (found.run, "horizon") if isinstance(found, Horizon) else (found.first, "divergence")
    label = f"largest distance [{found.unit}]"
    figure, ax = _over_time(found.t, np.maximum(found.distance, FLOOR), label, found.time_unit, level=found.threshold)
    ax.set_yscale("log")
    if found.time is not None:
        ax.axvline(found.time, color=FEW[1], lw=1.0, ls="--")
    _finish(figure, ax, titled(first.system, what), str(found))
    return figure


def plot_exponent(found: Lyapunov) -> Figure:
    """Figure of the running average of a Lyapunov exponent, and of its value at the end."""
    label = f"average up to t [1/{found.time_unit}]"
    figure, ax = _over_time(found.t, found.running, label, found.time_unit, level=found.exponent)
    _finish(figure, ax, titled(found.mechanism, "largest Lyapunov exponent"), str(found))
    return figure


def _over_time(t: Array, y: Array, label: str, time_unit: str, *, level: float) -> tuple[Figure, Axes]:
    """A figure of one signal over time with a level marked."""
    figure, (ax,) = sheet(1)
    figure.set_size_inches(9.0, 4.5)
    ax.plot(*thinned(t, y, POINTS), color=FEW[0], lw=1.3)
    ax.axhline(level, color=FEW[1], lw=1.0, ls="--")
    literally(ax.set_xlabel(labelled("time", time_unit)))
    literally(ax.set_ylabel(label))
    return figure, ax


def _finish(figure: Figure, ax: Axes, title: str, subtitle: str) -> None:
    dress(ax)
    headline(figure, title)
    literally(ax.set_title(subtitle, loc="left", fontsize=9.5, color=MUTED))
