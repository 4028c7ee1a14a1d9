"""The oracle shares nothing with the code under test but the second reader of expressions."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
READER = "pendula.analysis.court.second_reader"
ALLOWED = {"__future__", "ast", "collections", "dataclasses", "math", "numpy", "re", "typing"}


def _imports(text: str) -> set[tuple[str, str]]:
    """Every import of a file, also inside functions: module and name."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not followed"
            found |= {(node.module or "", alias.name) for alias in node.names}
        if isinstance(node, ast.Name):
            assert node.id not in ("__import__", "importlib", "exec", "eval")
    return found


def _strangers(text: str) -> set[str]:
    """Modules that the oracle may not use; those of this folder are followed by the caller."""
    found = set()
    for module, name in _imports(text):
        if (module, name) == (READER, "evaluate_text") or module.partition(".")[0] in ALLOWED:
            continue
        if module.startswith("tests.crossings.oracle"):
            continue
        found.add(module)
    return found


def test_the_oracle_imports_numpy_and_the_second_reader_only():
    seen, waiting, readers = set(), ["__init__"], 0
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        assert not _strangers(text), name
        for module, imported in _imports(text):
            readers += module == READER
            if module == "tests.crossings.oracle":
                waiting.append(imported)
            elif module.startswith("tests.crossings.oracle."):
                waiting.append(module.rpartition(".")[2])
    own = {path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("test_")}
    assert seen == own
    assert readers == 1


def test_the_second_reader_imports_nothing_of_pendula():
    import pendula.analysis.court.second_reader as reader

    assert reader.__file__
    text = Path(reader.__file__).read_text(encoding="utf-8")
    assert not [module for module, _ in _imports(text) if module.startswith("pendula")]


@pytest.mark.parametrize(
    "text", ["import pendula", "from pendula.model import Model", "def f():\n    import scipy", f"import {READER}"]
)
def test_other_imports_are_found(text):
    assert _strangers(text)
