"""Pictures of roots: eigenvalues in the complex plane, Floquet multipliers on the unit circle and over a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis.driven.floquet import Floquet
from pendula.analysis.driven.study import FloquetBoundary, FloquetMap
from pendula.analysis.linear.linearize_many import LinearModels
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.pencil import Pencil
from pendula.analysis.linear.spectrum import Spectrum, spectrum
from pendula.analysis.stability.ranges import StabilityRanges
from pendula.analysis.stability.verdict import Stability
from pendula.present.pictures.plots import FEW, MUTED, dress, headline, literally, sheet, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = {"physical": ("o", FEW[0]), "zero": ("s", FEW[4]), "artefact": ("x", FEW[1])}


def plot_spectrum(found: Spectrum) -> Figure:
    """Figure of all finite eigenvalues in the complex plane, by label; the unstable half is shaded."""
    figure, (ax,) = sheet(1)
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
            kind = "" if root.semisimple else " defective"
            ax.annotate(f" x{root.multiplicity}{kind}", where, fontsize=8.5, color=MUTED, va="bottom")
    others = [f"{r.multiplicity} {r.label.split(':')[0]}" for r in found.eigenvalues if not np.isfinite(r.value)]
    shade_unstable(ax)
    literally(ax.set_xlabel(f"real part [1/{unit}]"))
    literally(ax.set_ylabel(f"imaginary part [1/{unit}]"))
    dress(ax)
    ax.legend(loc="best", frameon=False, fontsize=8.5)
    if others:
        literally(ax.set_title(f"not drawn: {', '.join(others)}", loc="left", fontsize=9.5, color=MUTED))
    headline(figure, titled(found.model.system, "eigenvalues"))
    return figure


def plot_linear(found: LinearModel | Pencil) -> Figure:
    """Figure of the eigenvalues of a linear model, or of a pencil with its multipliers."""
    return plot_spectrum(spectrum(found))


def plot_linear_many(found: LinearModels) -> Figure:
    """Figure of the eigenvalues of all cases, dark to bright in their order."""
    figure, (ax,) = sheet(1)
    figure.set_size_inches(7.0, 6.0)
    cases, roots = np.nonzero(np.isfinite(found.values))
    values = found.values[cases, roots]
    dots = ax.scatter(values.real, values.imag, c=cases, cmap="viridis", s=14)
    if len(found) > 1:
        figure.colorbar(dots, ax=ax, pad=0.02).ax.set_ylabel("case")
    shade_unstable(ax)
    ax.set_xlabel("real part")
    ax.set_ylabel("imaginary part")
    dress(ax)
    headline(figure, f"eigenvalues of {len(found)} cases")
    return figure


def plot_stability(found: Stability) -> Figure:
    """Figure of the eigenvalues behind a verdict, with the verdict."""
    figure = plot_spectrum(found.spectrum)
    literally(figure.axes[0].set_title(found.verdict, loc="left", fontsize=9.5, color=MUTED))
    return figure


def plot_ranges(found: StabilityRanges) -> Figure:
    """Figure of the verdicts over a parameter, and of its critical values."""
    verdicts = list(dict.fromkeys(part.verdict for part in found.ranges))
    figure, (ax,) = sheet(1)
    figure.set_size_inches(9.0, 1.8 + 0.5 * len(verdicts))
    for part in found.ranges:
        color = FEW[1] if part.verdict == "unstable" else FEW[2] if "stable" in part.verdict else FEW[3]
        ax.barh(verdicts.index(part.verdict), part.high - part.low, 0.6, left=part.low, color=color, alpha=0.6)
    for critical in found.critical:
        ax.axvline(critical.value, color=MUTED, lw=0.9, ls="--")
    ax.set_yticks(range(len(verdicts)), labels=verdicts)
    ax.set_xlim(found.ranges[0].low, found.ranges[-1].high)
    literally(ax.set_xlabel(found.parameter))
    dress(ax)
    headline(figure, titled(found.mechanism, f"stability over {found.parameter}"))
    return figure


def shade_unstable(ax: Axes) -> None:
    """Symmetric limits about the axes, and the unstable half plane shaded."""
    size = max(abs(x) for x in (*ax.get_xlim(), *ax.get_ylim()))
    wide = max(max(abs(x) for x in ax.get_xlim()), 0.15 * size)
    ax.set_xlim(-wide, wide)
    ax.set_ylim(-size, size)
    ax.axvspan(0, wide, color=FEW[1], alpha=0.07, lw=0)
    ax.axvline(0, color=MUTED, lw=0.9)
    ax.axhline(0, color=MUTED, lw=0.9)


def plot_multipliers(found: Floquet) -> Figure:
    """Figure of Floquet multipliers next to the unit circle."""
    figure = _on_circle(found.multipliers, found.verdict, titled(found.mechanism, "Floquet multipliers"))
    return figure


def plot_boundary(found: FloquetBoundary) -> Figure:
    """Figure of the multipliers at a stability boundary."""
    title = titled(found.mechanism, f"Floquet multipliers at {found.parameter} = {found.value:.6g}")
    return _on_circle(found.at_boundary, f"{found.below} below, {found.above} above; {found.how}", title)


def _on_circle(multipliers: Any, words: str, title: str) -> Figure:
    figure, (ax,) = sheet(1)
    figure.set_size_inches(6.4, 6.0)
    turn = np.linspace(0, 2 * np.pi, 361)
    ax.plot(np.cos(turn), np.sin(turn), color=MUTED, lw=1.0)
    ax.plot(multipliers.real, multipliers.imag, "o", color=FEW[0], ms=7)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("real part")
    ax.set_ylabel("imaginary part")
    dress(ax)
    literally(ax.set_title(words, loc="left", fontsize=9.5, color=MUTED))
    headline(figure, title)
    return figure


def plot_floquet_over(found: FloquetMap) -> Figure:
    """Figure of the largest multiplier over a parameter; stable ranges are shaded, their boundaries marked."""
    figure, (ax,) = sheet(1)
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
    literally(ax.set_xlabel(found.parameter))
    ax.set_ylabel("modulus of the largest multiplier")
    dress(ax)
    headline(figure, titled(found.mechanism, f"Floquet multipliers over {found.parameter}"))
    return figure
