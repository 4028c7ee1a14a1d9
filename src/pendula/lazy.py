"""Late imports: public names of a module whose objects live in other modules, imported on first use."""

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
        content: its ``globals()``, which keep a name once it has been used.
        names: for each module, the names that come from it, separated by spaces; these may be modules themselves.

    Example:
        >>> get, show, _ = attach("shapes", {}, {"pendula.outcome": "Outcome", "pendula": "errors"})
        >>> get("Outcome").__name__, show()
        ('Outcome', ['Outcome', 'errors'])
    """
    homes = {name: home for home, listed in names.items() for name in listed.split()}
    public = sorted(homes)

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = homes[name]
        inside = home == "pendula"
        found = importlib.import_module(f"{home}.{name}" if inside else home)
        content[name] = found if inside else getattr(found, name)
        return content[name]

    return find, lambda: list(public), public
