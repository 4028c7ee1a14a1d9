"""Pictures of roots: eigenvalues in the complex plane, Floquet multipliers on the unit circle and over a parameter."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from pendula.analysis.driven.floquet import Floquet
from pendula.analysis.driven.study import FloquetMap
from pendula.analysis.linear.spectrum import Spectrum
from pendula.files import write_figure
from pendula.present.pictures.plots import FEW, INK, MUTED, _dress, _sheet, _word

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = {"physical": ("o", FEW[0]), "zero": ("s", FEW[4]), "artefact": ("x", FEW[1])}


def plot_spectrum(found: Spectrum, path: str | os.PathLike[str] | None = None, *, dpi: float = 110) -> Figure:
    """Figure of all finite eigenvalues in the complex plane, by label; the unstable half is shaded.

    Raises:
        ModuleNotFoundError: Matplotlib is not installed (``pip install pendula[plot]``).
    """
    figure, (ax,) = _sheet(1, dpi)
    figure.set_size_inches(7.0, 6.0)
    unit = found.model.at.layout.time_unit
    roots = [r for r in found.eigenvalues if np.isfinite(r.value)]
    for kind, (marker, color) in MARKS.items():
        points = np.array([r.value for r in roots if r.label.startswith(kind)])
        if points.size:
            ax.plot(points.real, points.imag, marker, color=color, ms=7, ls="", label=kind)
    for root in roots:
        if root.multiplicity > 1:
            where = (root.value.real, root.value.imag)
            ax.annotate(f" x{root.multiplicity}", where, fontsize=8.5, color=MUTED, va="bottom")
    others = [f"{r.multiplicity} {r.label.split(':')[0]}" for r in found.eigenvalues if not np.isfinite(r.value)]
    _halves(ax)
    _word(ax.set_xlabel(f"real part [1/{unit}]"))
    _word(ax.set_ylabel(f"imaginary part [1/{unit}]"))
    _dress(ax)
    ax.legend(loc="best", frameon=False, fontsize=8.5)
    if others:
        _word(ax.set_title(f"not drawn: {', '.join(others)}", loc="left", fontsize=9.5, color=MUTED))
    _title(figure, "eigenvalues")
    if path is not None:
        write_figure(figure, path, dpi=dpi)
    return figure


def _halves(ax: Axes) -> None:
    """Equal margins about the axes, and the half plane of growth shaded."""
    size = max(abs(x) for x in (*ax.get_xlim(), *ax.get_ylim()))
    wide = max(max(abs(x) for x in ax.get_xlim()), 0.15 * size)
    ax.set_xlim(-wide, wide)
    ax.set_ylim(-size, size)
    ax.axvspan(0, wide, color=FEW[1], alpha=0.07, lw=0)
    ax.axvline(0, color=MUTED, lw=0.9)
    ax.axhline(0, color=MUTED, lw=0.9)


def plot_multipliers(found: Floquet, path: str | os.PathLike[str] | None = None, *, dpi: float = 110) -> Figure:
    """Figure of Floquet multipliers next to the unit circle.

    Raises:
        ModuleNotFoundError: Matplotlib is not installed (``pip install pendula[plot]``).
    """
    figure, (ax,) = _sheet(1, dpi)
    figure.set_size_inches(6.4, 6.0)
    turn = np.linspace(0, 2 * np.pi, 361)
    ax.plot(np.cos(turn), np.sin(turn), color=MUTED, lw=1.0)
    ax.plot(found.multipliers.real, found.multipliers.imag, "o", color=FEW[0], ms=7)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("real part")
    ax.set_ylabel("imaginary part")
    _dress(ax)
    _word(ax.set_title(found.verdict, loc="left", fontsize=9.5, color=MUTED))
    _title(figure, "Floquet multipliers")
    if path is not None:
        write_figure(figure, path, dpi=dpi)
    return figure


def plot_floquet_over(found: FloquetMap, path: str | os.PathLike[str] | None = None, *, dpi: float = 110) -> Figure:
    """Figure of the largest multiplier over a parameter; stable ranges are shaded, their limits marked.

    Raises:
        ModuleNotFoundError: Matplotlib is not installed (``pip install pendula[plot]``).
    """
    figure, (ax,) = _sheet(1, dpi)
    figure.set_size_inches(9.0, 4.2)
    x = np.concatenate([found.values, [limit.value for limit in found.boundaries]])
    y = np.concatenate([found.radius, [float(np.abs(limit.at_boundary).max()) for limit in found.boundaries]])
    order = np.argsort(x)
    ax.plot(x[order], y[order], color=FEW[0], lw=1.2, marker="." if len(x) < 60 else None)
    for low, high, verdict in found.ranges:
        if "stable" in verdict and verdict != "unstable":
            ax.axvspan(low, high, color=FEW[2], alpha=0.15, lw=0)
    for limit in found.boundaries:
        ax.axvline(limit.value, color=MUTED, lw=0.9, ls="--")
    ax.axhline(1.0, color=MUTED, lw=0.9)
    largest = np.nanmax(found.radius)
    if largest > 20:
        ax.set_yscale("log")
    _word(ax.set_xlabel(found.name))
    ax.set_ylabel("size of the largest multiplier")
    _dress(ax)
    _title(figure, f"Floquet multipliers over {found.name}")
    if path is not None:
        write_figure(figure, path, dpi=dpi)
    return figure


def _title(figure: Figure, text: str) -> None:
    _word(figure.suptitle(text, x=0.012, ha="left", fontsize=13, fontweight="bold", color=INK))
