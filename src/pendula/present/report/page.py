"""A report on one mechanism, or on several: all analyses as one self-contained page.

The page is ``report.html`` of this folder with its placeholders filled in. It holds the player once, as text, and
motions as scenes; each gets a frame when it comes into view. A policy in the page forbids loading over a network.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

from pendula.analysis.study import Study, study
from pendula.library.lookup import model_of
from pendula.model.model import Model
from pendula.present.report.forced import forced_section
from pendula.present.report.frame import framed
from pendula.present.report.html import Page
from pendula.present.report.mechanism import certificate_section, description_section, equations_section, facts
from pendula.present.report.motion import (
    equilibria_section,
    modes_section,
    motion_section,
    simulation_section,
    spectrum_section,
)
from pendula.present.web.bundle import page_path
from pendula.simulation.defaults import TOLERANCE
from pendula.storage.files import write_text

OPENING = ("motion", "Motion", motion_section)
"""the section before the most important results"""
SECTIONS = (
    ("equilibria", "Equilibria and stability", equilibria_section),
    ("spectrum", "Eigenvalues", spectrum_section),
    ("modes", "Modes", modes_section),
    ("forced", "Forced response", forced_section),
    ("simulation", "Simulation", simulation_section),
    ("description", "Description", description_section),
    ("equations", "Equations of motion", equations_section),
    ("certificate", "Certificate", certificate_section),
)


def report(
    model: Model | str | Sequence[Model | str],
    path: str | os.PathLike[str],
    *,
    duration: float | None = None,
    initial_state: Mapping[str, float] | None = None,
    tol: float = TOLERANCE,
    on_progress: Callable[[str], None] | None = None,
) -> Path:
    """Writes everything about a mechanism into one self-contained HTML page, and returns its path.

    The page opens with the motion and the most important results; then come equilibria with their stability,
    eigenvalues, animated modes, responses to drives and inputs, a simulation with its energy, the description,
    equations of motion, and agreement of all formulations. A missing part states the reason.

    Args:
        model: a model, the name of a library mechanism, or a system; or a list of them, reported one after the other.
        path: file to write; its name ends in .html.
        duration: length of the simulation [time unit]; default: five periods of the slowest mode.
        initial_state: coordinates and speeds at its start that differ from those of the model.
        tol: its tolerance.
        on_progress: called with the name of each part before it is computed.

    Example:
        >>> import tempfile, pendula
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = report(pendula.library.pendulum(), f"{folder}/pendulum.html", duration=2.0)
        ...     written.name, written.stat().st_size < 5e6
        ('pendulum.html', True)
    """
    target = page_path(path)
    given = model if isinstance(model, (list, tuple)) and model else [model]
    models = [model_of(one, "report", alone=True) for one in given]
    found = [
        study(one, duration=duration, initial_state=initial_state, tol=tol, on_progress=on_progress) for one in models
    ]
    if on_progress is not None:
        on_progress("writing the page")
    return write_report(*found, path=target)


def write_report(*found: Study, path: str | os.PathLike[str]) -> Path:
    """Writes the page of a study, or of several, and returns its path."""
    target = Path(path)
    write_text(target, report_html(*found))
    return target


def report_html(*found: Study) -> str:
    """The report as the text of one self-contained HTML page."""
    page = Page()
    contents, body = [], []
    for k, one in enumerate(found, start=1):
        prefix = f"mechanism{k}-" if len(found) > 1 else ""
        if prefix:
            name = escape(one.model.name)
            contents.append(f'<li><a href="#{prefix}top">{name}</a></li>')
            body.append(f'<header id="{prefix}top"><h1>{name}</h1>{_lead(one)}</header>')
        for part, title, write in (OPENING, *SECTIONS):
            name, inside = prefix + part, write(one, page)
            contents.append(f'<li{" class=inner" if prefix else ""}><a href="#{name}">{escape(title)}</a></li>')
            body.append(f'<section id="{name}" class="{part}" aria-labelledby="{name}-title">')
            body.append(f'<h2 id="{name}-title">{escape(title)}</h2>{inside}</section>')
            if part == OPENING[0]:
                body.append(f'<div class="facts">{facts(one)}</div>')
    return framed(
        title=escape(", ".join(one.model.name for one in found)),
        lead=_lead(found[0]) if len(found) == 1 else "",
        facts="",
        contents="".join(contents),
        body="\n".join(body),
        scenes=page.scenes,
    )


def _lead(found: Study) -> str:
    return f"<p>{escape(found.model.description)}</p>" if found.model.description else ""
