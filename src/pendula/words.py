"""Results as text: ``repr`` in one line, ``str`` in lines that fit a terminal."""

from __future__ import annotations

import importlib
import textwrap
from typing import Any, TypeVar

WIDTH = 80
LONGEST = 110
"""characters of a ``repr``"""

PROVEN, INDICATED, UNDECIDED = "proven", "indicated", "undecided"
"""how certain a statement is: proven by structure or interval arithmetic; indicated by trials; not known"""

Result = TypeVar("Result")


def readable(kind: type[Result]) -> type[Result]:
    """Class decorator for results: ``str`` fits 80 columns, and ``repr`` gives the class and the first line of ``str``.

    Example:
        >>> @readable
        ... class Sum:
        ...     def __str__(self):
        ...         return "1 + 1 = 2\\nno carry"
        >>> Sum()
        <Sum: 1 + 1 = 2>
    """
    tell = kind.__str__

    def to_text(self: Result) -> str:
        return fitted(tell(self))

    def to_line(self: Result) -> str:
        first = tell(self).partition("\n")[0]
        return textwrap.shorten(f"<{type(self).__name__}: {first}", LONGEST - 1, placeholder=" ...") + ">"

    kind.__str__ = to_text  # type: ignore[method-assign, assignment]
    kind.__repr__ = to_line  # type: ignore[method-assign, assignment]
    kind._told = tell  # type: ignore[attr-defined]
    for name in ("_repr_mimebundle_", "_repr_html_"):
        if not hasattr(kind, name):
            setattr(kind, name, getattr(Displayed, name))
    return kind


class Displayed:
    """Methods with which notebooks show a result: as HTML, and as LaTeX where it fits.

    The displays live in a room above (``pendula.present.notebook``), imported by name on first use;
    ``pendula.extend.register_display`` adds others.
    """

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        found: dict[str, Any] = importlib.import_module("pendula.present.notebook.show").bundle(self)
        return found

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")


def told(result: Any) -> list[str]:
    """The lines of ``str(result)``, not fitted to 80 columns."""
    tell = getattr(type(result), "_told", None)
    return str(result if tell is None else tell(result)).splitlines() or [""]


def fitted(text: str) -> str:
    """Text whose lines are at most 80 columns wide; continuation lines are indented."""
    return "\n".join(_fitted(line) for line in text.splitlines())


def _fitted(line: str) -> str:
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def some(names: tuple[str, ...] | list[str], most: int = 6) -> str:
    """The first names of a list, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(number: int, one: str, many: str = "") -> str:
    """1 joint, 2 joints.

    Example:
        >>> counted(1, "body", "bodies"), counted(2, "body", "bodies")
        ('1 body', '2 bodies')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def picked(thing: Any, names: str) -> dict[str, Any]:
    """Some attributes of a result by name; arrays as lists."""
    found = {name: getattr(thing, name) for name in names.split()}
    return {name: x.tolist() if hasattr(x, "tolist") else x for name, x in found.items()}
