"""The gallery: a live page of every library mechanism, with thumbnails, inside the book."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import Any

from sphinx.util.display import status_iterator

from book.examples import EXTRA, package_hash

PAGE = Path(__file__).resolve().parents[1] / "generated" / "gallery.md"
HEAD = """# Gallery

Each picture opens a live page: drag the mechanism, throw it, move its sliders. The pages need no network and no server;
you can save and send them. `make gallery` writes them as a site of their own.

"""


def make(app: Any) -> None:
    """Writes the live pages unless they are those of this version, and the page that shows them."""
    from pendula.library import mechanisms
    from pendula.present.live.gallery import write_gallery

    os.environ.setdefault("MPLBACKEND", "Agg")
    folder, stamp = EXTRA / "gallery", EXTRA / "gallery" / ".made"
    chosen = app.config.gallery_mechanisms or list(mechanisms())
    state = f"{package_hash()} {chosen}"
    if not stamp.is_file() or stamp.read_text() != state:
        for name in status_iterator(chosen, "live page of ", "darkgreen", len(chosen), app.verbosity):
            write_gallery(folder, [name])
        stamp.write_text(state)
    cards = [_card(entry.name, entry.summary) for entry in mechanisms().values() if entry.name in chosen]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(HEAD + "```{raw} html\n<div class='cards'>\n" + "\n".join(cards) + "\n</div>\n```\n")


def _card(name: str, summary: str) -> str:
    shown = escape(name.replace("-", " "))
    picture = f'<img src="../gallery/{name}.png" loading="lazy" alt="">'
    return f'<a href="../gallery/{name}.html">{picture}<b>{shown}</b><span>{escape(summary)}</span></a>'


def setup(app: Any) -> dict[str, Any]:
    """Runs before the list of pages is made."""
    app.add_config_value("gallery_mechanisms", [], "env", types=[list])
    app.connect("builder-inited", make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
