"""Every block of every page runs, some tutorials as notebooks."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.choices import slow_too

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def _script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


NOTEBOOKS = _script("make_notebooks").TUTORIALS
PAGES = [str(page.relative_to(ROOT)) for page in _script("check_examples").pages() if page.stem not in NOTEBOOKS]


EVERY_DAY = ("README.md", "docs/extending.md")
"""what is read first, and what others build on; the other pages take a minute"""


@pytest.mark.parametrize(
    "page", slow_too([p for p in PAGES if p in EVERY_DAY], [p for p in PAGES if p not in EVERY_DAY])
)
def test_examples_of_the_page_run(page, tmp_path):
    done = subprocess.run(
        [sys.executable, str(DOCS / "check_examples.py"), str(ROOT / page)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wrong_example_is_named_with_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nx = 1\n```\n\n```python\nprint(x)\nassert x == 2\n```\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(DOCS / "check_examples.py"), str(page)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"{page}:9: this example fails" in done.stderr


def test_commands_and_files_of_a_page_run(tmp_path):
    run_pages = _script("run_pages")
    text = "\n".join(
        ["---", "run: commands", "---", "```toml", "# file: given.toml", 'name = "x"', "```", "```console",
         "$ pendula show given.toml   # exits with 2", "$ pendula show pendulum", "```", ""]
    )  # fmt: skip
    _, ran = run_pages.run_page(text, "page.md", tmp_path)
    assert (tmp_path / "given.toml").read_text() == 'name = "x"\n'
    assert not ran.failure
    assert "1 body, 1 joint" in ran.output
    *_, failed = run_pages.run_page(text.replace("   # exits with 2", ""), "page.md", tmp_path)
    assert "exit code 2" in failed.failure


@pytest.mark.parametrize("name", slow_too(["checking_a_paper"], [n for n in NOTEBOOKS if n != "checking_a_paper"]))
def test_tutorial_runs_as_a_notebook(name, tmp_path):
    import nbformat
    from nbclient import NotebookClient

    content = _script("make_notebooks").notebook(DOCS / "tutorials" / f"{name}.md")
    notebook = nbformat.reads(json.dumps(content), as_version=4)
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) >= 3
    assert all(output.output_type != "error" for cell in code for output in cell.outputs)
    assert len(nbformat.writes(notebook)) < 5_000_000
