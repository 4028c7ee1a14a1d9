"""Runs the Python examples of README.md and docs/*.md, so that what the pages say keeps working.

The ```python blocks of one page run in order and share one namespace, as a reader would type them. A block
with ``>>>`` prompts is a doctest: its output is compared. A block whose first line is ``# not run`` is
skipped, and so is every other kind of block (console, toml, text). Files that examples write go to a scratch
folder.

    python docs/check_examples.py [PAGE ...]       exits 1 and names file and line if an example fails
"""

import doctest
import os
import re
import sys
import tempfile
import textwrap
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<ticks>`{3,})(?P<info>.*)$")
DOCTEST_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def python_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Each ```python block of a page: the number of its first line, counted from 1, and its code.

    >>> list(python_blocks("Text\\n```python\\nx = 1\\n```\\n```toml\\nx = 2\\n```"))
    [(3, 'x = 1\\n')]
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
        if words and words[0] in ("python", "py", "pycon"):
            yield first + 1, textwrap.dedent("\n".join(lines[first:at]) + "\n")
        at += 1


def is_skipped(code: str) -> bool:
    """Whether the author said that the block is not to be run."""
    return code.lstrip().lower().startswith("# not run")


def run_block(code: str, page: str, line: int, namespace: dict[str, Any]) -> str | None:
    """Run one block; the text of its failure, or None if it went well."""
    if code.lstrip().startswith(">>>"):
        report: list[str] = []
        test = doctest.DocTestParser().get_doctest(code, namespace, page, page, line - 1)
        test.globs = namespace  # the parser copies; later blocks must see the names
        doctest.DocTestRunner(optionflags=DOCTEST_OPTIONS, verbose=False).run(
            test, out=report.append, clear_globs=False
        )
        return "".join(report) or None
    try:
        # Empty lines before the code make the traceback count lines as the page does.
        exec(compile("\n" * (line - 1) + code, page, "exec"), namespace)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # an example that calls sys.exit fails too
        failure.__traceback__ = failure.__traceback__ and failure.__traceback__.tb_next  # leave out this file
        return "".join(traceback.format_exception(failure))
    return None


def failing_line(failure: str, page: str, line: int) -> int:
    """The line of the page that a failure points to; the start of the block if it names none."""
    named = re.findall(rf'File "{re.escape(page)}", line (\d+)', failure)
    return int(named[0]) if named else line


def check_page(path: Path) -> bool:
    """Run all examples of one page up to the first failure; True if all went well."""
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    began, run, skipped = time.perf_counter(), 0, 0
    for line, code in python_blocks(path.read_text(encoding="utf-8")):
        if is_skipped(code):
            skipped += 1
            continue
        failure = run_block(code, str(path), line, namespace)
        if failure:
            at = failing_line(failure, str(path), line)
            print(f"{name}:{at}: this example fails\n{textwrap.indent(failure, '    ')}", file=sys.stderr)
            return False
        run += 1
    left_out = f", {skipped} not run" if skipped else ""
    print(f"{name}: {run} examples run{left_out} ({time.perf_counter() - began:.1f} s)")
    return True


def main(arguments: list[str]) -> int:
    """Check the pages named, or all; the exit code."""
    every_page = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    pages = [Path(argument).resolve() for argument in arguments] or every_page
    missing = [str(page) for page in pages if not page.is_file()]
    if missing:
        print(f"No such page: {', '.join(missing)}", file=sys.stderr)
        return 2
    os.environ.setdefault("MPLBACKEND", "Agg")  # plots must not ask for a screen
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        results = [check_page(page) for page in pages]
        os.chdir(ROOT)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
