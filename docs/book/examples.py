"""Runs the examples of every page before the book is made, and shows what they print and draw.

An output that a page shows in a block ``text`` below its command is replaced by what the command prints. A page shows a
figure that its examples write as ``![Caption](angles.png)``, and a page that they write (an animation, a live page, a
report) as ``![Caption](toy.html)``, which becomes a frame. Files that no example has written, and examples
that fail, end the build. Results are kept in ``generated/run`` until the page or the package changes.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from run_pages import blocks
from sphinx.errors import SphinxError
from sphinx.util.display import status_iterator

DOCS = Path(__file__).resolve().parents[1]
KEPT = DOCS / "generated" / "run"
EXTRA = DOCS / "generated" / "extra"
SHOWN = re.compile(r"!\[(?P<caption>[^\]]*)\]\((?P<name>[\w-]+\.(?:png|svg|html|gif))\)")
LINKED = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<name>[\w-]+\.(?:html|csv|toml|json|npz))\)")
OUTSIDE = re.compile(
    r"(?<!!)\[(?P<text>[^\]]*)\]\((?:\.\./)+(?P<name>(?:CHANGELOG|README|CONTRIBUTING|CITATION|examples/|src/|tests/|benchmarks/)[^)]*)\)"
)
# What a page itself shows of an output, for those who read it elsewhere: the book has all of it.
REPEATED = re.compile(
    r"(?P<output>^```\{code-block\} text\n:class: output\n(?:(?!```).*\n)*```\n)\s*^```text\n(?:(?!```).*\n)*```\n",
    re.M,
)
HEAD = re.compile(r"\A---\n.*?\n---\n", re.S)
LONGEST_OUTPUT = 60  # lines that are shown
WORKERS = 2


def package_hash() -> str:
    """Digest of the sources of the package and of what runs the pages."""
    digest = hashlib.sha256()
    for folder, kinds in ((DOCS.parent / "src", ("*.py", "*.js", "*.css", "*.html")), (DOCS, ("run_pages.py",))):
        for path in sorted(path for kind in kinds for path in folder.rglob(kind)):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def run_all(app: Any) -> None:
    """Runs every page that has examples, unless its results are kept; two at a time."""
    state = package_hash()
    pages = [page for page in sorted(app.env.found_docs) if any(_runs(block) for block in blocks(_text(app, page)))]
    with ThreadPoolExecutor(WORKERS) as pool:
        work = pool.map(lambda page: _run(app, page, state), pages)
        for failure in status_iterator(work, "running the examples: ", "darkgreen", len(pages), app.verbosity, str):
            if failure:
                raise SphinxError(failure)


def _runs(block: Any) -> bool:
    return block.kind in ("python", "pycon", "console", "toml") and not block.skipped


def _text(app: Any, page: str) -> str:
    return Path(app.env.doc2path(page)).read_text(encoding="utf-8")


def _run(app: Any, page: str, state: str) -> str:
    """Runs one page in its own folder and process, and keeps what its blocks printed; returns how it failed."""
    key = hashlib.sha256(f"{state}{_text(app, page)}".encode()).hexdigest()
    folder = KEPT / page
    if (folder / "outputs.json").is_file() and json.loads((folder / "outputs.json").read_text())["key"] == key:
        return ""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, str(DOCS / "run_pages.py"), app.env.doc2path(page), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr
    (folder / "outputs.json").write_text(json.dumps({"key": key, "outputs": json.loads(done.stdout)}))
    return ""


def insert(app: Any, page: str, source: list[str]) -> None:
    """Puts outputs after their blocks, and the paths of figures and pages into the text."""
    folder, up = KEPT / page, "../" * page.count("/")
    kept = folder / "outputs.json"
    found = json.loads(kept.read_text())["outputs"] if kept.is_file() else {}
    outputs = {int(line): text for line, text in found.items()}
    lines = []
    for number, line in enumerate(source[0].splitlines(), start=1):
        lines.append(line)
        if outputs.get(number, "").strip():
            lines += ["", "```{code-block} text", ":class: output", "", *_shortened(outputs[number]), "```", ""]
    text = HEAD.sub("", "\n".join(lines) + "\n")
    text = REPEATED.sub(lambda found: found["output"], text)
    text = SHOWN.sub(lambda found: _figure(found, page, folder, up), text)
    text = LINKED.sub(lambda found: _link(found, page, folder, up), text)
    source[0] = OUTSIDE.sub(lambda found: _outside(found, up), text)


def _outside(found: re.Match[str], up: str) -> str:
    """A link to a file of the checkout outside the book: the changes are a page of it, others stay as their names."""
    if found["name"] == "CHANGELOG.md":
        return f"[{found['text']}]({up}changes.md)"
    return f"{found['text']} (`{found['name']}`)"


def _shortened(output: str) -> list[str]:
    lines = [line.rstrip() for line in output.rstrip().splitlines()]
    if len(lines) <= LONGEST_OUTPUT:
        return lines
    return [*lines[: LONGEST_OUTPUT - 1], f"... {len(lines) - LONGEST_OUTPUT + 1} more lines"]


def _figure(found: re.Match[str], page: str, folder: Path, up: str) -> str:
    """A figure, or a page in a frame, that the examples wrote."""
    name, caption = found["name"], found["caption"]
    if not (folder / name).is_file():
        raise SphinxError(f"{page}.md shows {name}, which none of its examples writes")
    if not name.endswith(".html"):
        return f"```{{figure}} {up}generated/run/{page}/{name}\n:alt: {caption}\n\n{caption}\n```"
    place = _copied(page, folder, name)
    frame = f'<iframe class="page" src="{up}{place}" title="{caption}" loading="lazy"></iframe>'
    below = f'<p class="caption">{caption} <a href="{up}{place}">Open it alone.</a></p>'
    return f"```{{raw}} html\n{frame}\n{below}\n```"


def _link(found: re.Match[str], page: str, folder: Path, up: str) -> str:
    """A link to a file that the examples wrote; other links stay."""
    if not (folder / found["name"]).is_file():
        return found[0]
    place = _copied(page, folder, found["name"])
    return f'<a href="{up}{place}">{found["text"]}</a>'


def _copied(page: str, folder: Path, name: str) -> str:
    """The path, below the root of the book, of a copy of a file that the examples wrote."""
    target = EXTRA / "run" / page
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder / name, target / name)
    return f"run/{page}/{name}"


def setup(app: Any) -> dict[str, Any]:
    """Runs before pages are read."""
    EXTRA.mkdir(parents=True, exist_ok=True)
    app.connect("env-before-read-docs", lambda app, env, names: run_all(app))
    app.connect("source-read", insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
