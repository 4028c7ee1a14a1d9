"""Figures that a notebook shows exactly once: as the value of a cell, not also by pyplot."""

from __future__ import annotations

import sys
from typing import Any

from pendula.present.notebook.elements import PICTURE_WIDTH, small_png

FIGURE_DPI = 144
"""of figures in notebooks: two points for each pixel of common screens"""


def displayed(figure: Any) -> Any:
    """The same figure, which notebooks show when it is the value of a cell.

    Figures of Pendula are made without pyplot, so nothing keeps them open. One that pyplot made is closed in pyplot,
    which would otherwise show it a second time at the end of the cell, and keep it in memory.
    """
    pyplot = sys.modules.get("matplotlib.pyplot")
    number = getattr(figure, "number", None)
    if pyplot is not None and number is not None and pyplot.fignum_exists(number):
        pyplot.close(figure)
    if hasattr(figure, "savefig") and not hasattr(figure, "_repr_mimebundle_"):
        figure._repr_mimebundle_ = _Show(figure)
    return figure


class _Show:
    """What IPython calls to show a figure; a class, so that figures can still be copied and pickled."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def __call__(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        content, (width, height) = small_png(self.figure, FIGURE_DPI)
        shown = min(1.4 * PICTURE_WIDTH, width / FIGURE_DPI * 96)
        size = {"width": round(shown), "height": round(shown * height / width)}
        return {"image/png": content, "text/plain": repr(self.figure)}, {"image/png": size}
