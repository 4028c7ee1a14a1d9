"""Writes the stub files of the public modules, for type checkers: ``python docs/make_stubs.py``.

The one list of a module's names is its ``NAMES``; a test compares the stubs with it.
"""

from __future__ import annotations

import importlib
from pathlib import Path

MODULES = (
    "pendula",
    "pendula.chaos",
    "pendula.derivation",
    "pendula.driven",
    "pendula.equilibria",
    "pendula.exchange",
    "pendula.extend",
    "pendula.linear",
    "pendula.model",
    "pendula.results",
    "pendula.studies",
)


def stub(module: str) -> str:
    """The content of a module's stub."""
    homes: dict[str, str] = importlib.import_module(module).NAMES
    names = " ".join(homes.values()).split()
    lines = ["# Made by docs/make_stubs.py from NAMES of the module beside it.", ""]
    for home in sorted(homes):
        lines += [f"from {home} import {name} as {name}" for name in sorted(homes[home].split())]
    listed = sorted([*names, "__version__"] if module == "pendula" else names, key=lambda x: (not x.isupper(), x))
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in listed), "]"]
    if module == "pendula":
        lines += ["", "__version__: str"]
    return "\n".join(lines) + "\n"


def path_of(module: str) -> Path:
    """The stub file beside a module."""
    file = Path(str(importlib.import_module(module).__file__))
    return file.with_suffix(".pyi")


if __name__ == "__main__":
    for module in MODULES:
        path_of(module).write_text(stub(module), encoding="utf-8")
