"""Runs the examples of a page as a reader would type them: one namespace, one folder, from top to bottom.

What runs on a page of Markdown:

- ```` ```python ````: in a namespace that all blocks of the page share. With ``>>>`` prompts it is a doctest, and its output is compared.
- ```` ```console ````: lines that start with ``$ pendula``, on pages that say ``run: commands`` in their head.
- ```` ```toml ```` whose first line is ``# file: NAME``: written to the folder under that name.

A block whose first line is ``# not run`` is skipped, and so are all other kinds of blocks.

    python docs/run_pages.py PAGE FOLDER       runs a page in FOLDER; prints outputs by the line of the closing fence, as JSON
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<ticks>`{3,})(?P<info>.*)$")
DOCTEST_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
COMMANDS_RUN = re.compile(r"\A---\n(?:.*\n)*?run: commands\n(?:.*\n)*?---\n")
LONGEST_COMMAND = 300.0  # seconds


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, the number of its first line (from 1), that of its closing fence, and its text."""

    kind: str
    line: int
    end: int
    code: str

    @property
    def skipped(self) -> bool:
        """Whether the author said that the block is not to be run."""
        return self.code.lstrip().lower().startswith("# not run")


@dataclass
class Ran:
    """What a block printed, or how it failed."""

    block: Block
    output: str = ""
    failure: str = ""


@dataclass
class Setting:
    """Where the blocks of one page run."""

    page: str
    folder: Path
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page.

    >>> [(b.kind, b.line, b.code) for b in blocks("Text\\n```python\\nx = 1\\n```")]
    [('python', 3, 'x = 1\\n')]
    """
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opening = FENCE.match(lines[at])
        at += 1
        if not opening:
            continue
        first = at
        while at < len(lines) and lines[at].strip() != opening["ticks"]:
            at += 1
        words = opening["info"].split()
        code = textwrap.dedent("\n".join(lines[first:at]) + "\n")
        yield Block(words[0] if words else "", first + 1, at + 1, code)
        at += 1


def run_page(text: str, page: str, folder: Path) -> Iterator[Ran]:
    """Runs what can be run, block by block, up to the first failure."""
    setting = Setting(page, folder)
    runners: dict[str, Callable[[Block, Setting], Ran | None]] = {
        "python": run_python, "py": run_python, "pycon": run_python, "toml": write_file,
    }  # fmt: skip
    if COMMANDS_RUN.match(text):
        runners["console"] = run_commands
    for block in blocks(text):
        if block.kind in runners and not block.skipped:
            ran = runners[block.kind](block, setting)
            if ran is not None:
                yield ran
                if ran.failure:
                    return


def run_python(block: Block, setting: Setting) -> Ran:
    """A block of Python; what it prints is its output."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        failure = _doctest(block, setting) if block.code.lstrip().startswith(">>>") else _exec(block, setting)
    return Ran(block, printed.getvalue(), failure)


def _doctest(block: Block, setting: Setting) -> str:
    report: list[str] = []
    names = setting.namespace
    test = doctest.DocTestParser().get_doctest(block.code, names, setting.page, setting.page, block.line - 1)
    test.globs = names  # the parser copies; later blocks must see the names
    runner = doctest.DocTestRunner(optionflags=DOCTEST_OPTIONS, verbose=False)
    runner.run(test, out=report.append, clear_globs=False)
    return "".join(report)


def _exec(block: Block, setting: Setting) -> str:
    try:
        # Empty lines before the code make the traceback count lines as the page does.
        code = compile("\n" * (block.line - 1) + block.code, setting.page, "exec", dont_inherit=True)
        exec(code, setting.namespace)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # an example that calls sys.exit fails too
        failure.__traceback__ = failure.__traceback__ and failure.__traceback__.tb_next  # leave out this file
        return "".join(traceback.format_exception(failure))
    return ""


def write_file(block: Block, setting: Setting) -> Ran | None:
    """Writes a block whose first line names a file."""
    named = re.match(r"# file: ([\w.-]+)\n", block.code)
    if not named:
        return None
    (setting.folder / named[1]).write_text(block.code[named.end() :], encoding="utf-8")
    return Ran(block)


def run_commands(block: Block, setting: Setting) -> Ran:
    """The ``$ pendula`` lines of a block, one after the other. A comment ``# exits with 1`` states another exit code."""
    output = []
    for line in re.sub(r"\\\n\s*", " ", block.code).splitlines():
        if not line.startswith("$ pendula"):
            continue
        words = shlex.split(line[2:], comments=True)
        expected = re.search(r"# exits with (\d+)", line)
        done = subprocess.run(
            [sys.executable, "-m", "pendula", *words[1:]],
            cwd=setting.folder,
            env=os.environ | {"COLUMNS": "80"},
            capture_output=True,
            text=True,
            timeout=LONGEST_COMMAND,
        )
        output.append(done.stdout + done.stderr)
        if done.returncode != (int(expected[1]) if expected else 0):
            return Ran(block, "", f"{line}\nended with exit code {done.returncode}:\n{output[-1]}")
    return Ran(block, "\n".join(part.rstrip() + "\n" for part in output if part.strip()))


def main(page: str, folder: str) -> int:
    """Runs one page in a process of its own, so that what it registers does not reach other pages."""
    text = Path(page).read_text(encoding="utf-8")
    os.environ.setdefault("MPLBACKEND", "Agg")  # plots must not ask for a screen
    os.chdir(folder)
    outputs = {}
    for ran in run_page(text, page, Path(folder)):
        if ran.failure:
            print(f"{page}:{ran.block.line}: this example fails\n{ran.failure}", file=sys.stderr)
            return 1
        outputs[ran.block.end] = "" if ran.block.code.lstrip().startswith(">>>") else ran.output
    print(json.dumps(outputs))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
