"""Writes live pages: one self-contained HTML file in which a mechanism is simulated and can be touched.

The page is ``live.html`` of this folder with its placeholders filled in: names are escaped as HTML, the description is
JSON in a script element, and one script holds the modules of :mod:`pendula.present.web` and the program of the
mechanism. Its Content-Security-Policy permits this script by its hash and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, overload

from pendula.library.lookup import model_of
from pendula.model.model import Model
from pendula.present.live.content import live_content
from pendula.present.notebook.pages import InlinePage
from pendula.present.player.page import in_script, printable, read_template
from pendula.present.web import bundle
from pendula.simulation.events import Event
from pendula.storage.files import write_text
from pendula.words import counted

ENTRY = "live/live.js"
"""The module that runs the page."""


@overload
def play(
    model: Model | str,
    path: None = None,
    *,
    initial_state: Mapping[str, float] | None = None,
    events: Sequence[Event | str] = (),
) -> InlinePage: ...
@overload
def play(
    model: Model | str,
    path: str | os.PathLike[str],
    *,
    initial_state: Mapping[str, float] | None = None,
    events: Sequence[Event | str] = (),
) -> Path: ...
def play(
    model: Model | str,
    path: str | os.PathLike[str] | None = None,
    *,
    initial_state: Mapping[str, float] | None = None,
    events: Sequence[Event | str] = (),
) -> Path | InlinePage:
    """Writes a live page of a mechanism: one HTML file that simulates it in the browser, and returns its path.

    Without a path it returns the page, which a notebook shows in a frame.

    In the page, bodies can be dragged and thrown, every parameter has a slider, and charts, energies, the equations
    with their current numbers and the linear modes are beside the mechanism. The page needs no network and no server;
    scripts reach it as ``window.pendula`` (docs/play.md).

    Args:
        model: a model, the name of a library mechanism, or a system.
        path: file to write; its name ends in .html. Default: none is written.
        initial_state: changes to the model's initial state by name.
        events: what the page marks in charts and on traces, as for ``simulate``: ``"theta = 0 rising"``; with ``stop:``
            before it, the page stops there.

    Raises:
        UsageError: the file has another ending, or the initial state or an event has an unknown name.
        LoopNotClosed: the loops cannot be closed at the initial state.
        NotSupported: the mechanism has more bodies than a page can move in time.

    Example:
        >>> import tempfile, pendula
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = play("pendulum", f"{folder}/pendulum.html")
        ...     written.name, written.stat().st_size < 150_000
        ('pendulum.html', True)
    """
    if path is None:
        made = live_html(model, initial_state, events)
        return InlinePage(f"{model_of(model, 'play').name}, live", made)
    target = bundle.page_path(path)
    write_text(target, live_html(model, initial_state, events))
    return target


def live_html(
    model: Model | str, initial_state: Mapping[str, float] | None = None, events: Sequence[Event | str] = ()
) -> str:
    """The live page of a mechanism as text; see :func:`play`."""
    content = live_content(model, initial_state, events)
    record = content["record"]
    script = _script(content)
    bodies = record["about"]["names"]["bodies"]
    size = f"{counted(len(bodies), 'body', 'bodies')}, {counted(record['about']['freedoms'], 'degree')} of freedom"
    parts = {
        "title": escape(printable(record["title"])),
        "about": f"{size}, live",
        "label": escape(printable(f"{record['title']} in motion. Bodies: {', '.join(bodies[:12])}.")),
        "style": bundle.style("base.css", "matrix.css", "toy.css", "live/live.css"),
        "policy": bundle.policy(script),
        "equations": _equations(content["equations"]),
        "record": in_script(record),
        "script": script,
    }
    return bundle.page(read_template("live/live.html"), parts)


def _script(content: dict[str, Any]) -> str:
    """The modules of the page, the program of the mechanism, and the call that starts them."""
    wrenches = content["wrenches"] or "null"
    text = f"{bundle.script(ENTRY)}startLive({content['program']}, {wrenches});\n"
    if "</" in text or "<!--" in text:  # numbers, names of functions and operators cannot form these
        raise AssertionError("the script of a live page contains text that would end it")
    return text


def _equations(groups: list[dict[str, Any]]) -> str:
    """Formulas in MathML under short headings."""
    if not groups:
        return "<p>The symbolic equations of this mechanism are too long for a page.</p>"
    shown = [f"<h3>{escape(g['words'])}</h3>{''.join(f'<div>{f}</div>' for f in g['formulas'])}" for g in groups]
    return f'<div class="formulas" tabindex="0" role="region" aria-label="Equations of motion">{"".join(shown)}</div>'
