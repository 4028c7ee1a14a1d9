"""Makes the pictures of the documentation: ``python docs/make_images.py``."""

from __future__ import annotations

from pathlib import Path

import pendula
from pendula.present.frames import plot_frames
from pendula.present.results import scene_of

HERE = Path(__file__).parent / "images"


def main() -> None:
    """The 10-link chain of the README, falling from 90 degrees."""
    HERE.mkdir(exist_ok=True)
    system = pendula.compile_system(pendula.library.chain(links=10))
    run = pendula.simulate(system, 1.6, tol=1e-9, samples=400)
    plot_frames(scene_of(run), HERE / "chain.png", count=14)


if __name__ == "__main__":
    main()
