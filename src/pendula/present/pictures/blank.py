"""Empty figures: made without pyplot and without its backend, so that they keep no state and need no display."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from pendula.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def load_matplotlib() -> None:
    """Loads Matplotlib, before anything of it is used.

    Raises:
        UsageError: an environment variable keeps it from being loaded.
        ModuleNotFoundError: it is not installed.
    """
    try:
        import matplotlib as _  # noqa: F401
    except ValueError:
        chosen = os.environ.get("MPLBACKEND")
        if chosen is None:
            raise
        raise UsageError(
            f'the environment variable MPLBACKEND is "{chosen}", which is not a backend of Matplotlib.\n'
            "  Try: unset MPLBACKEND; plots of Pendula need none."
        ) from None


def blank_figure(
    width: float, height: float, *, dpi: float, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """An empty white figure of a size in inches."""
    load_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=dpi, layout=layout, facecolor="white")
    FigureCanvasAgg(figure)
    return figure
