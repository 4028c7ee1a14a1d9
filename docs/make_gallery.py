"""Makes the gallery of live pages: ``python docs/make_gallery.py [FOLDER]``, as ``make gallery`` does."""

from __future__ import annotations

import sys

from pendula.present.live.gallery import write_gallery


def main(folder: str) -> None:
    """Writes the gallery, naming each mechanism as it is done."""
    index = write_gallery(folder, on_progress=lambda name, k, count: print(f"{k:3} of {count}  {name}", flush=True))
    size = sum(path.stat().st_size for path in index.parent.iterdir()) / 1e6
    print(f"Open {index}, or put the folder ({size:.1f} MB) on any web server.")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "gallery")
