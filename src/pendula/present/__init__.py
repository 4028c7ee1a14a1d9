"""Results as plots, animations and tables; nothing here computes physics.

Names are loaded when first used, so that importing this package loads neither NumPy nor Matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pendula.present.pictures.plots import ForceSeries, RunSeries, plot_forces, plot_run
    from pendula.present.player.page import animation_html, write_animation
    from pendula.present.player.scene import Scene, SceneBody, SceneLink
    from pendula.present.player.shapes import Box, Disc, Pivot, Point, Polyline, Ring, Rod, SceneError, Shape, Sphere
    from pendula.present.words.tables import display_width, heading, number, table

_HOMES = {
    "player.page": ("animation_html", "write_animation"),
    "pictures.plots": ("ForceSeries", "RunSeries", "plot_forces", "plot_run"),
    "player.scene": ("Scene", "SceneBody", "SceneLink"),
    "player.shapes": (
        "Box", "Disc", "Pivot", "Point", "Polyline", "Ring", "Rod", "SceneError", "Shape", "Sphere",
    ),
    "words.tables": ("display_width", "heading", "number", "table"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Box",
    "Disc",
    "ForceSeries",
    "Pivot",
    "Point",
    "Polyline",
    "Ring",
    "Rod",
    "RunSeries",
    "Scene",
    "SceneBody",
    "SceneError",
    "SceneLink",
    "Shape",
    "Sphere",
    "animation_html",
    "display_width",
    "heading",
    "number",
    "plot_forces",
    "plot_run",
    "table",
    "write_animation",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
