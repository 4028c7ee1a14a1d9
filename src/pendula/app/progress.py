"""Progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def interactive() -> bool:
    """Whether stderr is a terminal; it may have been closed before the start."""
    return sys.stderr is not None and sys.stderr.isatty()


class Progress:
    """A progress bar on a terminal; nothing if stderr is not a terminal.

    With ``forks`` it uses no thread, so that processes can fork, and shows a count.
    """

    def __init__(self, quiet: bool, *, forks: bool = False) -> None:
        self._on = not quiet and interactive()
        self._forks = forks
        self._bar: Any = None
        self._task: Any = None
        self._text = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *details: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """Sets the description of the current work."""
        self._text = text
        if self._on and self._bar is None:
            self._start()
        if self._bar is not None:
            self._bar.update(self._task, description=text)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        counter = (MofNCompleteColumn(),) if self._forks else ()
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), *counter, TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=not self._forks)
        self._task = self._bar.add_task(self._text, total=None)
        self._bar.start()

    def done(self, so_far: int, planned: int) -> None:
        """Sets the completed fraction of the work."""
        if self._bar is not None:
            self._bar.update(self._task, total=planned or 1, completed=min(so_far, planned), refresh=self._forks)

    @property
    def update(self) -> Callable[[float, float, int], None]:
        """Called by the stepper with (t, t_end, steps)."""

        def step(t: float, t_end: float, steps: int) -> None:
            if self._bar is not None:
                self._bar.update(self._task, total=abs(t_end) or 1.0, completed=abs(t))

        return step
