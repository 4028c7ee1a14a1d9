"""Names that a module gives away without importing what is behind them before they are used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def attach(
    module: str, content: dict[str, Any], names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a module whose names live elsewhere.

    The stub file beside the module shows the same names to type checkers; ``docs/make_stubs.py`` writes it.

    Args:
        module: the name of the module.
        content: its ``globals()``, where a name is kept once it was used.
        names: the module each name comes from; a name that is a module itself has its full name there.

    Example:
        >>> get, show, _ = attach("shapes", {}, {"Outcome": "pendula.outcome"})
        >>> get("Outcome").__name__, show()
        ('Outcome', ['Outcome'])
    """
    listed = sorted(names)

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = names[name]
        found = importlib.import_module(home)
        value = found if home == f"pendula.{name}" else getattr(found, name)
        content[name] = value
        return value

    def show() -> list[str]:
        return list(listed)

    return find, show, listed
