"""Pictures of comparisons: formulations with each other, and given equations with those of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pendula.analysis.court.against import Comparison
from pendula.analysis.court.agreement import TOLERANCE, Certificate
from pendula.present.pictures.plots import FEW, MUTED, dress, headline, literally, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALLEST = 1e-17
"""smaller differences are drawn at this value"""


def plot_certificate(found: Certificate) -> Figure:
    """A figure of the largest relative difference of each pair of formulations, and the tolerance."""
    names = [f"{pair.a} - {pair.b}" for pair in found.pairs]
    sizes = [max(pair.max_difference, SMALLEST) for pair in found.pairs]
    figure, (ax,) = sheet(1)
    figure.set_size_inches(9.0, 1.6 + 0.32 * len(names))
    colors = [FEW[2] if pair.passed else FEW[1] for pair in found.pairs]
    ax.barh(np.arange(len(names)), sizes, color=colors, left=SMALLEST / 10)
    ax.set_xscale("log")
    ax.axvline(TOLERANCE, color=MUTED, lw=0.9, ls="--")
    ax.set_yticks(np.arange(len(names)), labels=names)
    ax.invert_yaxis()
    ax.set_xlabel("largest relative difference (dashed: allowed)")
    dress(ax)
    verdict = "agree" if found.passed else "DISAGREE"
    title = f"{found.model}: formulations {verdict} at {found.states} random states"
    headline(figure, title)
    return figure


def plot_comparison(found: Comparison) -> Figure:
    """A figure of the given equations and the model at the counterexample; empty if they agree."""
    shown = found.differences[:12]
    figure, (ax,) = sheet(1)
    figure.set_size_inches(9.0, 2.0 + 0.5 * max(len(shown), 1))
    places = np.arange(len(shown))
    ax.barh(places - 0.2, [d.ours for d in shown], 0.38, color=FEW[0], label="the model")
    ax.barh(places + 0.2, [d.theirs for d in shown], 0.38, color=FEW[1], label="given equations")
    ax.set_yticks(places, labels=[d.what for d in shown])
    ax.invert_yaxis()
    dress(ax)
    if shown:
        ax.legend(loc="best", frameon=False, fontsize=8.5)
    verdict = "agree with" if found.passed else "differ from"
    literally(
        ax.set_title(f"largest relative difference {found.max_difference:.2g}", loc="left", fontsize=9.5, color=MUTED)
    )
    title = f"{found.source}: the equations {verdict} {found.model}"
    headline(figure, title)
    return figure
