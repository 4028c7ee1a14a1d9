"""Pages that a notebook shows where they are made: live mechanisms and players."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from pendula.present.notebook.elements import framed
from pendula.present.web.bundle import page_path
from pendula.storage.files import write_text
from pendula.words import readable


@readable
@dataclass(frozen=True)
class InlinePage:
    """A self-contained page: notebooks show it in a frame, ``save(path)`` writes it, ``html`` is its text.

    Attributes:
        title: what it shows.
        html: the page.
        height: of its frame in a notebook, in pixels.

    Example:
        >>> import pendula
        >>> page = pendula.play("pendulum")
        >>> page
        <InlinePage: pendulum, live: a page of ... kB>
        >>> page._repr_html_().startswith("<iframe")
        True
    """

    title: str
    html: str = field(repr=False)
    height: int = 620

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page to a file whose name ends in .html, and returns its path.

        Raises:
            UsageError: the file has another ending, or cannot be written.
        """
        target = page_path(path)
        write_text(target, self.html)
        return target

    def _repr_html_(self) -> str:
        return framed(self.html, height=self.height, title=self.title)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __str__(self) -> str:
        return f"{self.title}: a page of {round(len(self.html.encode()) / 1000)} kB"
