"""A report on one mechanism, or on several: all analyses as one self-contained page.

The page is ``report.html`` of this folder with its placeholders filled in. It holds the player once, as text, and
motions as scenes; each gets a frame when it comes into view. A policy in the page forbids loading over a network.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from pendula.analysis.study import Study, study
from pendula.errors import UsageError
from pendula.files import write_text
from pendula.library.lookup import model_of
from pendula.model.model import Model
from pendula.present.report.frame import framed
from pendula.present.report.html import Page
from pendula.present.report.mechanism import certificate_section, description_section, equations_section, facts
from pendula.present.report.motion import equilibria_section, modes_section, simulation_section, spectrum_section
from pendula.simulation.defaults import TOLERANCE

SECTIONS = (
    ("description", "Description", description_section),
    ("equations", "Equations of motion", equations_section),
    ("certificate", "Certificate", certificate_section),
    ("equilibria", "Equilibria and stability", equilibria_section),
    ("spectrum", "Eigenvalues", spectrum_section),
    ("modes", "Modes", modes_section),
    ("simulation", "Simulation", simulation_section),
)


def report(
    model: Model | str | Sequence[Model | str],
    path: str | os.PathLike[str],
    *,
    duration: float = 10.0,
    tol: float = TOLERANCE,
    on_progress: Callable[[str], None] | None = None,
) -> Path:
    """Writes everything about a mechanism into one self-contained HTML page, and returns its path.

    The page shows the description, equations of motion, agreement of all formulations, equilibria with their
    stability, eigenvalues, animated modes, and a simulation with its energy. A missing part states the reason.

    Args:
        model: a model, the name of a library mechanism, or a system; or a list of them, reported one after the other.
        path: file to write; its name ends in .html.
        duration: length of the simulation [time unit].
        tol: its tolerance.
        on_progress: called with the name of each part before it is computed.

    Example:
        >>> import tempfile, pendula
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = report(pendula.library.pendulum(), f"{folder}/pendulum.html", duration=2.0)
        ...     written.name, written.stat().st_size < 5e6
        ('pendulum.html', True)
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f'a report is a page, so its name must end in .html, found "{target.name}"')
    given = model if isinstance(model, (list, tuple)) and model else [model]
    models = [model_of(one, "report") for one in given]
    found = [study(one, duration=duration, tol=tol, on_progress=on_progress) for one in models]
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
            body.append(f'<header id="{prefix}top"><h1>{name}</h1>{_lead(one)}')
            body.append(f'<div class="facts">{facts(one)}</div></header>')
        for part, title, write in SECTIONS:
            name, inside = prefix + part, write(one, page)
            contents.append(f'<li{" class=inner" if prefix else ""}><a href="#{name}">{escape(title)}</a></li>')
            body.append(f'<section id="{name}" aria-labelledby="{name}-title">')
            body.append(f'<h2 id="{name}-title">{escape(title)}</h2>{inside}</section>')
    single = found[0] if len(found) == 1 else None
    return framed(
        title=escape(", ".join(one.model.name for one in found)),
        lead=_lead(single) if single else "",
        facts=facts(single) if single else "",
        contents="".join(contents),
        body="\n".join(body),
        scenes=page.scenes,
    )


def _lead(found: Study) -> str:
    return f"<p>{escape(found.model.description)}</p>" if found.model.description else ""
