"""Tutorials as Jupyter notebooks: ``python docs/make_notebooks.py [FOLDER]`` writes those of :data:`TUTORIALS`.

A notebook holds the text and the code of the page, and no outputs: those appear when you run it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from run_pages import blocks  # noqa: E402

TUTORIALS = ("double_pendulum", "checking_a_paper", "notebook")
FRAME = re.compile(r"!\[([^\]]*)\]\(([\w-]+\.html)\)")
OTHER_PAGE = re.compile(r"\[([^\]]*)\]\((?!https?:)[\w./-]+\.md\)")


def cells(text: str) -> list[dict[str, Any]]:
    """The page as a list of cells: Python blocks are code, all else is text.

    >>> [cell["cell_type"] for cell in cells("Text\\n```python\\nx = 1\\n```\\nMore")]
    ['markdown', 'code', 'markdown']
    """
    lines, found, begin = text.splitlines(), [], 0
    for block in blocks(text):
        if block.kind == "python" and not block.skipped:
            found += [_text(lines[begin : block.line - 2]), _code(block.code)]
            begin = block.end
    found.append(_text(lines[begin:]))
    return [cell | {"id": f"cell-{k}"} for k, cell in enumerate(found) if "".join(cell["source"]).strip()]


def _text(lines: list[str]) -> dict[str, Any]:
    """Text; pages that the code writes become links, links to other pages of the book their names."""
    text = OTHER_PAGE.sub(r"\1", FRAME.sub(r"[\1](\2)", "\n".join(lines).strip()))
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(code: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": code.rstrip("\n")}


def notebook(page: Path) -> dict[str, Any]:
    """A page as the content of a notebook file, format 4.5."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = cells(page.read_text(encoding="utf-8"))
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": content}


def main(folder: str) -> None:
    """Writes the notebooks."""
    from pendula.storage.files import write_text

    for name in TUTORIALS:
        path = Path(folder) / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(notebook(HERE / "tutorials" / f"{name}.md"), indent=1) + "\n")
        print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "notebooks")
