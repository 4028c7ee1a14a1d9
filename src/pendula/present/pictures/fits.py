"""Pictures of fits: measured and fitted values over time, and residuals in units of the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pendula.analysis.fit.result import Fit
from pendula.present.pictures.plots import FEW, MUTED, dress, headline, literally, sheet
from pendula.present.words.units import in_degrees, labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 4
"""columns that are drawn"""


def plot_fit(found: Fit) -> Figure:
    """Figure of a fit: each measured column with the fitted motion, and its residuals in units of the noise.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 2, samples=21)
        >>> found = pendula.fit("pendulum", {"t": run.t, "theta": run["theta"]}, ["l"])
        >>> [ax.get_ylabel() for ax in plot_fit(found).axes]
        ['theta [deg]', 'residual / noise']
    """
    shown = found.series[:MOST]
    figure, axes = sheet(2 * len(shown), shared=False)
    several = len({s.source for s in found.series}) > 1
    for k, series in enumerate(shown):
        upper, lower = axes[2 * k], axes[2 * k + 1]
        measured, unit = in_degrees(series.measured, series.unit)
        upper.plot(series.t, measured, "o", color=FEW[1], ms=3, ls="", label="measured")
        upper.plot(series.t, in_degrees(series.fitted, series.unit)[0], color=FEW[0], lw=1.4, label="fitted")
        literally(upper.set_ylabel(labelled(series.name, unit)))
        upper.legend(loc="best", frameon=False, fontsize=8.5)
        if several:
            literally(upper.set_title(series.source, loc="left", fontsize=9.5, color=MUTED))
        part = series.residuals / found.noise[series.name]
        lower.axhspan(-2, 2, color=MUTED, alpha=0.12, lw=0)
        lower.axhline(0.0, color=MUTED, lw=0.8)
        lower.plot(series.t, part, "o", color=FEW[0], ms=3, ls="")
        limit = max(3.0, 1.1 * float(np.abs(part).max(initial=0.0)))
        lower.set_ylim(-limit, limit)
        literally(lower.set_ylabel("residual / noise"))
        for ax in (upper, lower):
            ax.set_xlim(float(series.t[0]), float(series.t[-1]))
            dress(ax)
    literally(axes[-1].set_xlabel(labelled("time", found.system.layout.time_unit)))
    more = f" ({len(found.series) - MOST} more columns)" if len(found.series) > MOST else ""
    state = "" if found.independent else "; residuals are not independent"
    state = state if found.converged else "; not converged"
    headline(figure, f"{found.system.model.name}: fit of {', '.join(found.names[:6])}{more}{state}")
    return figure
