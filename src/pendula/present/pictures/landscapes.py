"""Pictures of a potential over one or two coordinates, with the equilibria in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.equilibria.find import Equilibria
from pendula.analysis.equilibria.landscape import Landscape, landscape
from pendula.errors import NotSupported, UsageError
from pendula.present.pictures.plots import FEW, INK, MUTED, _dress, _sheet, _word

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEVELS = 24
KINDS = (("stable", "o", FEW[2], True), ("unstable", "o", FEW[1], False), ("not decided", "D", FEW[3], False))


def plot_landscape(
    drawn: Landscape,
    found: Equilibria,
    verdicts: Sequence[str],
    *,
    dpi: float = 110,
) -> Figure:
    """Figure of a potential: a curve, or contours over two coordinates; equilibria are marked by their verdict.

    Args:
        drawn: the potential.
        found: the equilibria.
        verdicts: verdict on each of them.
        dpi: dots per inch.
    """
    from matplotlib.ticker import MultipleLocator

    figure, (ax,) = _sheet(1, dpi)
    figure.set_size_inches(9.0, 4.2 if len(drawn.axes) == 1 else 6.4)
    scale = [np.degrees if unit == "rad" else np.asarray for unit in drawn.units]
    labels = [f"{n} [{'deg' if u == 'rad' else u}]" for n, u in zip(drawn.names, drawn.units, strict=True)]
    what = f"{'effective ' if drawn.steady else ''}potential [{drawn.energy_unit}]"
    _word(ax.set_xlabel(labels[0]))
    if len(drawn.axes) == 1:
        ax.plot(scale[0](drawn.axes[0]), drawn.values, color=FEW[0], lw=1.5)
        _word(ax.set_ylabel(what))
    else:
        x, y = (change(axis) for change, axis in zip(scale, drawn.axes, strict=True))
        filled = ax.contourf(x, y, drawn.values.T, LEVELS, cmap="Blues_r", alpha=0.8)
        ax.contour(x, y, drawn.values.T, LEVELS, colors=MUTED, linewidths=0.4)
        _word(figure.colorbar(filled, ax=ax, pad=0.02).ax.set_ylabel(what))
        _word(ax.set_ylabel(labels[1]))
    _dress(ax)
    for axis, unit in zip((ax.xaxis, ax.yaxis), drawn.units, strict=False):
        if unit == "rad":
            axis.set_major_locator(MultipleLocator(90))
    _mark(ax, drawn, found, verdicts, scale)
    _word(figure.suptitle(f"{what.split(' [')[0]} and equilibria", x=0.012, ha="left", fontsize=13, color=INK))
    return figure


def plot_equilibria(found: Equilibria, *, verdicts: Sequence[str] | None = None) -> Figure:
    """Figure of the equilibria on the (effective) potential, or of the mechanism if that cannot be drawn.

    A potential can be drawn over one or two coordinates without loops.

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
        return _poses(found, kinds)
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
    _word(
        ax.set_title(f"equilibrium {one.name} of {len(found)}: {verdicts[order[0]]}{others}", loc="left", fontsize=11)
    )
    return figure


def _mark(ax: Axes, drawn: Landscape, found: Equilibria, verdicts: Sequence[str], scale: Sequence[Any]) -> None:
    """Marks the equilibria by their verdicts."""
    for kind, marker, color, full in KINDS:
        chosen = [e for e, verdict in zip(found, verdicts, strict=True) if _kind(verdict) == kind]
        points = [[float(change(e[n])) for change, n in zip(scale, drawn.names, strict=True)] for e in chosen]
        if not points:
            continue
        x = np.array(points)
        y = x[:, 1] if len(drawn.axes) == 2 else _levels(drawn, [e[drawn.names[0]] for e in chosen])
        ax.plot(
            x[:, 0],
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


def _levels(drawn: Landscape, places: Sequence[float]) -> Any:
    return np.interp(places, drawn.axes[0], drawn.values)


def _kind(verdict: str) -> str:
    if verdict == "unstable":
        return "unstable"
    return "not decided" if verdict == "undecided" else "stable"
