"""Contents by MIME type for any result: by its registered display, else its text with its picture."""

from __future__ import annotations

from typing import Any

from pendula.present.notebook.elements import card, picture_of, text_lines
from pendula.present.notebook.registry import DISPLAYS
from pendula.words import told


def bundle(result: Any) -> dict[str, Any]:
    """What a notebook shows of a result; the one-line text is for terminals.

    Example:
        >>> import pendula
        >>> sorted(bundle(pendula.modes("pendulum", {"theta": 0})))
        ['text/html', 'text/plain']
    """
    found: dict[str, Any] = {"text/plain": repr(result)}
    for kind in type(result).__mro__:
        if kind.__name__ in DISPLAYS:
            shown = DISPLAYS[kind.__name__](result)
            return found | ({"text/html": shown} if isinstance(shown, str) else dict(shown))
    return found | {"text/html": show_text(result)}


def show_text(result: Any) -> str:
    """The text of a result, its first line as a title, with its picture if it has one."""
    title, *lines = told(result)
    return card(title, text_lines(lines), picture_of(result))
