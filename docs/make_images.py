"""Makes the pictures of the documentation: ``python docs/make_images.py``."""

from __future__ import annotations

from pathlib import Path

import pendula
from pendula.present.pictures.scenery.frames import plot_frames
from pendula.present.pictures.scenery.scenes import scene_of
from pendula.storage.files import write_figure

HERE = Path(__file__).parent / "images"


def main() -> None:
    """The pictures of the README: the 10-link chain falling from 90 degrees, and the four-bar linkage swinging."""
    HERE.mkdir(exist_ok=True)
    for name, model, duration, frames in (
        ("chain", pendula.library.chain(links=10), 1.6, 14),
        ("four-bar", pendula.library.four_bar(), 0.7, 8),
    ):
        run = pendula.simulate(pendula.compile_system(model), duration, tol=1e-9, samples=400)
        write_figure(plot_frames(scene_of(run), count=frames), HERE / f"{name}.png")


if __name__ == "__main__":
    main()
