"""A static site of live pages: one for every library mechanism, with thumbnails, ready for any web server."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from pendula.errors import NotSupported
from pendula.interrupts import whole
from pendula.library import mechanisms
from pendula.library.registry import MECHANISMS, Entry
from pendula.present.live.page import play
from pendula.present.pictures.scenery.frames import plot_frames
from pendula.present.pictures.scenery.scenes import scene_of
from pendula.present.player.page import read_template
from pendula.present.web.bundle import page
from pendula.simulation.simulate import simulate
from pendula.storage.files import write_figure, write_text

FRAMES = 7  # in a thumbnail
SIZE = (4.0, 2.5)  # of a thumbnail [inches]
DPI = 100
FIRST, LAST = 0.0, 1.2  # time that a thumbnail shows
SHOWN: dict[str, dict[str, Any]] = {
    "driven-chain": {"parameters": {"alpha": 0.3}, "span": (12.5, 15.0)},  # the shaken base excites it slowly
    "spatial-rod": {"initial_state": {"phi": "25deg"}},  # across the line of sight instead of along it
}
"""what thumbnails show of mechanisms whose first moments show little"""


def write_gallery(
    folder: str | os.PathLike[str],
    names: Sequence[str] | None = None,
    *,
    on_progress: Callable[[str, int, int], object] | None = None,
) -> Path:
    """Writes ``index.html``, a live page and a thumbnail for every library mechanism; returns the path of the index.

    Mechanisms that a live page does not support are named on the index, with the reason.

    Args:
        folder: where to write; it is made if it does not exist.
        names: library mechanisms; default: all of them.
        on_progress: called with the name, its number and the number of mechanisms.

    Raises:
        UsageError: a name is not that of a library mechanism.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     index = write_gallery(folder, ["pendulum"])
        ...     sorted(path.name for path in index.parent.iterdir())
        ['index.html', 'pendulum.html', 'pendulum.png']
    """
    known = mechanisms()
    for name in names or ():
        MECHANISMS.entry(name)  # refuses unknown ones
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    listed = list(names or known)
    cards, missing = [], []
    for number, name in enumerate(listed, start=1):
        if on_progress is not None:
            on_progress(name, number, len(listed))
        try:
            cards.append(_card(known[name], target))
        except NotSupported as error:
            missing.append(f"<li>{escape(name)}: {escape(str(error))}</li>")
    parts = {
        "style": read_template("web/base.css"),
        "cards": "\n".join(cards),
        "missing": f"<h2>Without a page</h2><ul>{''.join(missing)}</ul>" if missing else "",
    }
    index = target / "index.html"
    write_text(index, page(read_template("live/gallery.html"), parts))
    return index


def _card(entry: Entry, folder: Path) -> str:
    """Writes the page and the thumbnail of one mechanism; returns its card on the index."""
    model = entry.make()
    play(model, folder / f"{entry.name}.html")
    shown = dict(SHOWN.get(entry.name, {}))
    first, last = shown.pop("span", (FIRST, LAST))
    times = np.linspace(first, last, 200)
    run = whole(simulate, model, last, tol=1e-6, samples=times, max_steps=50_000, **shown)
    figure = plot_frames(scene_of(run), count=FRAMES, dpi=DPI)
    _shrink(figure)
    write_figure(figure, folder / f"{entry.name}.png")
    name = escape(entry.name)
    title = escape(entry.name.replace("-", " "))
    return (
        f'<a class="card" href="{name}.html"><img src="{name}.png" width="400" height="250" loading="lazy" alt="">'
        f"<b>{title}</b><span>{escape(entry.summary)}</span></a>"
    )


def _shrink(figure: Any) -> None:
    """Leaves only the mechanism of a picture, in the middle of a small one."""
    axes = figure.axes[0]
    axes.set_axis_off()
    axes.set_title("", loc="left")
    middle = [(low + high) / 2 for low, high in (axes.get_xlim(), axes.get_ylim())]
    wide, high = (limits[1] - limits[0] for limits in (axes.get_xlim(), axes.get_ylim()))
    scale = 1.06 * max(wide / SIZE[0], high / SIZE[1]) / 2
    axes.set_xlim(middle[0] - scale * SIZE[0], middle[0] + scale * SIZE[0])
    axes.set_ylim(middle[1] - scale * SIZE[1], middle[1] + scale * SIZE[1])
    figure.set_layout_engine("none")
    axes.set_position((0.0, 0.0, 1.0, 1.0))
    figure.set_size_inches(*SIZE)
