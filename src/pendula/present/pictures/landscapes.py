"""Pictures of a potential over one or two coordinates, with the equilibria in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.equilibria.find import Equilibria
from pendula.analysis.equilibria.landscape import Landscape, landscape
from pendula.errors import NotSupported, UsageError
from pendula.present.pictures.plots import FEW, INK, MUTED, dress, literally, sheet, titled
from pendula.present.words.units import in_degrees, labelled
from pendula.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEVELS = 24
LEAST_SIDE = 0.006
"""Undecided boxes are drawn at least this large, as a share of the picture, so that they can be seen."""
KINDS = (("stable", "o", FEW[2], True), ("unstable", "o", FEW[1], False), ("not decided", "D", FEW[3], False))


def plot_landscape(
    drawn: Landscape,
    found: Equilibria,
    verdicts: Sequence[str],
) -> Figure:
    """Figure of a potential: a curve, or contours over two coordinates; equilibria are marked by their verdict.

    Args:
        drawn: the potential.
        found: the equilibria.
        verdicts: verdict on each of them.
    """
    from matplotlib.ticker import MultipleLocator

    figure, (ax,) = sheet(1)
    figure.set_size_inches(9.0, 4.2 if len(drawn.axes) == 1 else 6.4)
    scale, labels = _axes_of(drawn.names, drawn.units)
    what = f"{'effective ' if drawn.steady else ''}potential [{drawn.energy_unit}]"
    literally(ax.set_xlabel(labels[0]))
    if len(drawn.axes) == 1:
        ax.plot(scale[0](drawn.axes[0]), drawn.values, color=FEW[0], lw=1.5)
        literally(ax.set_ylabel(what))
    else:
        x, y = (change(axis) for change, axis in zip(scale, drawn.axes, strict=True))
        filled = ax.contourf(x, y, drawn.values.T, LEVELS, cmap="Blues_r", alpha=0.8)
        ax.contour(x, y, drawn.values.T, LEVELS, colors=MUTED, linewidths=0.4)
        literally(figure.colorbar(filled, ax=ax, pad=0.02).ax.set_ylabel(what))
        literally(ax.set_ylabel(labels[1]))
    dress(ax)
    for axis, unit in zip((ax.xaxis, ax.yaxis), drawn.units, strict=False):
        if unit == "rad":
            axis.set_major_locator(MultipleLocator(90))
    _shade(ax, drawn.names, found, scale)
    heights = (
        np.interp([e[drawn.names[0]] for e in found], drawn.axes[0], drawn.values) if len(drawn.axes) == 1 else None
    )
    _mark(ax, drawn.names, heights, found, verdicts, scale)
    literally(figure.suptitle(f"{what.split(' [')[0]} and equilibria", x=0.012, ha="left", fontsize=13, color=INK))
    return figure


def _axes_of(names: Sequence[str], units: Sequence[str]) -> tuple[list[Any], list[str]]:
    """How values of coordinates are drawn, angles in degrees, and the names of their axes."""
    scale = [np.degrees if unit == "rad" else np.asarray for unit in units]
    return scale, [labelled(name, in_degrees(0.0, unit)[1]) for name, unit in zip(names, units, strict=True)]


def plot_equilibria(found: Equilibria, *, verdicts: Sequence[str] | None = None) -> Figure:
    """Figure of the equilibria on the (effective) potential, or of the mechanism if that cannot be drawn.

    A potential can be drawn over one or two coordinates without loops. Boxes that a proof left undecided are hatched;
    if there is no potential to draw them on, the figure shows them over two of the coordinates.

    Args:
        found: the equilibria.
        verdicts: of ``stability`` on each; default: whether the potential has a minimum there.
    """
    system = found[0].system if len(found) else None
    if system is None:
        raise UsageError("plot cannot draw these equilibria: there are none, or their system is unknown")
    kinds = [_by_potential(one) for one in found] if verdicts is None else list(verdicts)
    speeds = zip(found[0].layout.speeds, found[0].v.tolist(), strict=True)
    try:
        drawn = landscape(system, found, rates={name: rate for name, rate in speeds if rate})
    except NotSupported:
        return _boxes(found, kinds) if found.undecided else _poses(found, kinds)
    return plot_landscape(drawn, found, kinds)


def _by_potential(one: Equilibrium) -> str:
    if one.unstable_directions is None:
        return "undecided"
    return "unstable" if one.unstable_directions else "stable"


def _poses(found: Equilibria, verdicts: Sequence[str]) -> Figure:
    """The mechanism at its first equilibrium that is not unstable, or at the first if all are."""
    from pendula.present.pictures.mechanisms import plot_equilibrium

    order = sorted(range(len(found)), key=lambda k: (verdicts[k] == "unstable", k))
    one = found[order[0]]
    figure: Figure = plot_equilibrium(one)
    ax = figure.axes[0]
    others = f"; {len(found) - 1} more" if len(found) > 1 else ""
    literally(
        ax.set_title(
            titled(one.system, f"equilibrium {one.name} of {len(found)}, {verdicts[order[0]]}{others}"),
            loc="left",
            fontsize=11,
        )
    )
    return figure


def _boxes(found: Equilibria, verdicts: Sequence[str]) -> Figure:
    """Undecided boxes and equilibria over the two coordinates whose ranges the boxes cover most widely."""
    ranges = {name: max(high - low, 1e-300) for name, (low, high) in found.box.items()}
    ends = {name: np.array([box.get(name, found.box[name]) for box in found.undecided]) for name in ranges}
    order = sorted(ranges, key=lambda name: np.ptp(ends[name]) / ranges[name], reverse=True)
    names = [name for name in found.box if name in order[:2]]
    scale, labels = _axes_of(names, [found.units[name] for name in names])
    figure, (ax,) = sheet(1)
    figure.set_size_inches(9.0, 6.4 if len(names) == 2 else 2.4)
    literally(ax.set_xlabel(labels[0]))
    ax.set_xlim(*scale[0](np.array(found.box[names[0]])))
    if len(names) == 2:
        literally(ax.set_ylabel(labels[1]))
        ax.set_ylim(*scale[1](np.array(found.box[names[1]])))
    dress(ax)
    _shade(ax, names, found, scale)
    heights = None if len(names) == 2 else np.full(len(found), 0.5)
    _mark(ax, names, heights, found, verdicts, scale)
    title = f"{len(found)} found; {counted(len(found.undecided), 'undecided box', 'undecided boxes')} may hold more"
    literally(figure.suptitle(title, x=0.012, ha="left", fontsize=13, color=INK))
    return figure


def _shade(ax: Axes, names: Sequence[str], found: Equilibria, scale: Sequence[Any]) -> None:
    """Hatches the boxes that a proof left undecided."""
    from matplotlib.patches import Rectangle

    limits = (ax.get_xlim(), ax.get_ylim())
    for k, box in enumerate(found.undecided):
        corners = []
        for axis in range(2):
            low, high = limits[axis]
            if axis < len(names):
                low, high = (float(x) for x in scale[axis](np.array(box.get(names[axis], found.box[names[axis]]))))
                more = max(0.0, LEAST_SIDE * (limits[axis][1] - limits[axis][0]) - (high - low)) / 2
                low, high = low - more, high + more
            corners.append((low, high - low))
        (x, width), (y, height) = corners
        label = "undecided by the proof" if k == 0 else None
        ax.add_patch(
            Rectangle((x, y), width, height, fc="none", ec=FEW[3], hatch="////", lw=0.6, zorder=3, label=label)
        )


def _mark(
    ax: Axes, names: Sequence[str], heights: Any, found: Equilibria, verdicts: Sequence[str], scale: Sequence[Any]
) -> None:
    """Marks the equilibria by their verdicts, at given heights or at their second coordinate."""
    for kind, marker, color, full in KINDS:
        chosen = [k for k, verdict in enumerate(verdicts) if _kind(verdict) == kind]
        if not chosen:
            continue
        x = [float(scale[0](found[k][names[0]])) for k in chosen]
        y = [float(scale[1](found[k][names[1]])) if heights is None else heights[k] for k in chosen]
        ax.plot(
            x,
            y,
            marker,
            ms=8,
            mfc=color if full else "white",
            mec=color,
            mew=1.8,
            ls="",
            label=kind,
            clip_on=False,
            zorder=5,
        )
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="best", frameon=True, framealpha=0.85, fontsize=8.5)


def _kind(verdict: str) -> str:
    if verdict == "unstable":
        return "unstable"
    return "not decided" if verdict == "undecided" else "stable"
