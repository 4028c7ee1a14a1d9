"""Copies of source folders in which some files have another text, and fresh Python processes that import from them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]
FOLDER = Path(tempfile.gettempdir()) / f"pendula-mutants-{os.getuid() if hasattr(os, 'getuid') else 0}"
"""what belongs to all calls: lines that rows reach, results, and the kernels of mutants"""


def copied_source(folder: Path, changed: Mapping[str, str], of: str = "src") -> Path:
    """A folder like one of the repository, of links where nothing changes; returns it, to be put on the path.

    Hard links, because the source asks where its files really are.
    """
    shutil.rmtree(folder, ignore_errors=True)
    root = REPOSITORY / of
    for path in root.rglob("*"):
        name = path.relative_to(root)
        if not path.is_file() or name.as_posix() in changed or _is_bytecode_of(name, changed):
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        _link(path, folder / name)
    for name, text in changed.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _is_bytecode_of(name: Path, changed: Mapping[str, str]) -> bool:
    source = name.parent.parent / f"{name.name.partition('.')[0]}.py"
    return name.parent.name == "__pycache__" and source.as_posix() in changed


def _link(path: Path, new: Path) -> None:
    try:
        os.link(path, new)
    except OSError:  # another disk
        shutil.copy2(path, new)


@cache
def kernels() -> Path:
    """The cache of kernels of all mutants: machine code is kept by the code it comes from. It begins with the usual one."""
    from pendula.storage.files import cache_root

    folder = FOLDER / "cache"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for path in cache_root().glob("kernels-*/*.kernel"):
        new = folder / path.parent.name / path.name
        new.parent.mkdir(exist_ok=True, mode=0o700)
        if not new.exists():
            _link(path, new)
    return folder


def run_python(
    module: str,
    paths: Sequence[Path],
    given: str = "",
    *,
    stdout: int | None = subprocess.PIPE,
    arguments: Sequence[str] = (),
) -> subprocess.Popen[str]:
    """A module run by a fresh Python that imports from some folders first; it reads a text.

    It leads a group of processes, so that all can be ended together.
    """
    surroundings = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, (*paths, REPOSITORY))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PENDULA_CACHE_DIR": str(kernels()),
        "PENDULA_COMPILE_AHEAD": "0",
    }
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        file.write(given)
        file.seek(0)
        return subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            cwd=FOLDER, env=surroundings, stdin=file, stdout=stdout, stderr=subprocess.STDOUT if stdout else None,
            text=True, start_new_session=True,
        )  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What some rows said to a mutant.

    Attributes:
        ending: "survived"; "wrong" if an oracle contradicted; "error", "refused", "unsuitable" as a row ended; "import" if
            nothing ran at all; "crash" if the process ended; "time" if a row took much longer than it should.
        row: the number of the row that did not pass, or None.
        detail: what it said.
        passed: numbers of the rows that passed.
    """

    ending: str
    row: int | None
    detail: str
    passed: list[int]


def ask(paths: Sequence[Path], rows: Sequence[Any], *, seconds: float = 60.0, patience: float = 45.0) -> Answer:
    """Asks rows (number, levels, numbers of the draw) of a source, one by one, until one does not pass.

    No row begins after some seconds; one that takes longer than the patience is ended.
    """
    process = run_python("tests.crossings.planting.planted", paths, json.dumps({"rows": rows, "seconds": seconds}))
    passed: list[int] = []
    said: deque[str] = deque(maxlen=12)
    begun: int | None = None
    try:
        while True:
            late = threading.Event()
            timer = threading.Timer(patience, _end, (process, late))
            timer.start()
            line = process.stdout.readline() if process.stdout else ""
            timer.cancel()
            if late.is_set():
                return Answer("time", begun, f"more than {patience:g} s", passed)
            if not line:
                break
            if not line.startswith('{"row"'):
                said.append(line)
                continue
            found = json.loads(line)
            if found["row"] is None:  # processes of its own may still hold the pipe
                return Answer("survived", None, "", passed)
            begun = found["row"]
            if found.get("ending") == "passed":
                passed.append(found["row"])
            elif "ending" in found:
                return Answer(found["ending"], begun, found["detail"], passed)
        return Answer("import" if begun is None else "crash", begun, "".join(said)[-400:], passed)
    finally:
        _end(process)
        if process.stdout:
            process.stdout.close()


def _end(process: subprocess.Popen[str], late: threading.Event | None = None) -> None:
    if late is not None:
        late.set()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _main() -> None:
    """Asks the rows that it reads, and writes a line before and after each."""
    given = json.load(sys.stdin)
    from tests.crossings.net import try_row
    from tests.helpers.compiling import compile_once

    compile_once(quickly=True)

    begun = time.monotonic()
    for n, levels, numbers in given["rows"]:
        if time.monotonic() - begun > given["seconds"]:
            break
        print(json.dumps({"row": n}), flush=True)
        result = try_row(levels, tuple(numbers))
        print(json.dumps({"row": n, "ending": result.ending, "detail": result.detail[-400:]}), flush=True)
        if result.ending != "passed":
            break
    print(json.dumps({"row": None}), flush=True)
    os._exit(0)  # a mutant may leave threads and files that do not end


if __name__ == "__main__":
    _main()
