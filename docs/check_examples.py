"""Runs the examples of README.md and of all pages in docs/, so that what the pages say keeps working.

    python docs/check_examples.py [PAGE ...]       exits 1 and names file and line if an example fails

:mod:`run_pages` states which blocks run. Files that examples write go to a scratch folder.
"""

import os
import re
import sys
import tempfile
import textwrap
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from run_pages import blocks, run_page

ROOT = Path(__file__).resolve().parent.parent


def failing_line(failure: str, page: str, line: int) -> int:
    """The line of the page that a failure points to; the start of the block if it names none."""
    named = re.findall(rf'File "{re.escape(page)}", line (\d+)', failure)
    return int(named[0]) if named else line


def check_page(path: Path) -> bool:
    """Run all examples of one page up to the first failure; True if all went well."""
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
    text = path.read_text(encoding="utf-8")
    began, run = time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        try:
            for ran in run_page(text, str(path), Path(scratch)):
                if ran.failure:
                    at = failing_line(ran.failure, str(path), ran.block.line)
                    shown = textwrap.indent(ran.failure, "    ")
                    print(f"{name}:{at}: this example fails\n{shown}", file=sys.stderr)
                    return False
                run += 1
        finally:
            os.chdir(ROOT)
    skipped = sum(block.skipped for block in blocks(text))
    left_out = f", {skipped} not run" if skipped else ""
    print(f"{name}: {run} examples run{left_out} ({time.perf_counter() - began:.1f} s)", flush=True)
    return True


def pages() -> list[Path]:
    """README.md and the pages in docs/ that people wrote (those that the book makes are in docs/generated/)."""
    found = sorted((ROOT / "docs").glob("**/*.md"))
    return [ROOT / "README.md", *(page for page in found if "generated" not in page.relative_to(ROOT).parts)]


def main(arguments: list[str]) -> int:
    """Check the pages named, or all; the exit code."""
    chosen = [Path(argument).resolve() for argument in arguments] or pages()
    missing = [str(page) for page in chosen if not page.is_file()]
    if missing:
        print(f"No such page: {', '.join(missing)}", file=sys.stderr)
        return 2
    os.environ.setdefault("MPLBACKEND", "Agg")  # plots must not ask for a screen
    return 0 if all([check_page(page) for page in chosen]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
