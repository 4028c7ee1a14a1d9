"""Results as plots, animations and tables; nothing here computes physics.

Names are loaded when first used, so that importing this package loads neither NumPy nor Matplotlib.
"""

from pendula.lazy import attach

NAMES = {
    "pendula.present.pictures.plots": "ForceSeries RunSeries plot_forces plot_run",
    "pendula.present.player.page": "animation_html write_animation",
    "pendula.present.player.scene": "Scene SceneBody SceneLink",
    "pendula.present.player.shapes": "Box Disc Pivot Point Polyline Ring Rod SceneError Shape Sphere",
    "pendula.present.words.tables": "display_width heading number table",
}
"""Every public name of this module, by the module that defines it."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
