"""The newest other Python of this machine for which Pendula is said to work: ``python -m tests.other_python``.

It prints the path of that Python, or nothing if there is none. Other: its version is not that of the Python that runs
this; said to work: ``pyproject.toml`` names the version; and it must be able to make a virtual environment.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
SECONDS = 30  # for an answer
ASKED = (
    "import ensurepip, sys, sysconfig, venv; v = sys.version_info; "
    "print(v.major, v.minor, v.micro, v.releaselevel, sys.implementation.name, "
    "'free' if sysconfig.get_config_var('Py_GIL_DISABLED') else 'locked', getattr(sys, '_base_executable', '') or sys.executable)"
)

Version = tuple[int, int]


def named_versions(project: Path = PROJECT) -> set[Version]:
    """Versions of Python for which the project is said to work."""
    classifiers = tomllib.loads(project.read_text())["project"]["classifiers"]
    found = (re.fullmatch(r"Programming Language :: Python :: (\d+)\.(\d+)", text) for text in classifiers)
    return {(int(match[1]), int(match[2])) for match in found if match}


def folders() -> Iterator[Path]:
    """Where Pythons may be: those of pyenv, whichever of them is switched on, and those on the PATH."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(root.glob("versions/*/bin"))
    yield from (Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder)


def newest(places: Iterable[Path], versions: set[Version]) -> str | None:
    """The newest Python of these versions in these folders, or None."""
    found = []
    for place in places:
        for path in sorted(place.glob("python3.*")):
            if re.fullmatch(r"python3\.\d+", path.name) and (answer := _ask(path)) and answer[0][:2] in versions:
                found.append(answer)
    return max(found, key=lambda one: one[0])[1] if found else None


def _ask(path: Path) -> tuple[tuple[int, int, int], str] | None:
    """Version and path of a Python; None for one that does not start, or that is not a release with all we need."""
    try:
        done = subprocess.run([path, "-I", "-c", ASKED], capture_output=True, text=True, timeout=SECONDS, check=True)
        major, minor, micro, level, name, threads, executable = done.stdout.rstrip("\n").split(" ", 6)
        if (level, name, threads) == ("final", "cpython", "locked"):
            return (int(major), int(minor), int(micro)), executable
    except (OSError, subprocess.SubprocessError, ValueError):
        pass
    return None


if __name__ == "__main__":
    print(newest(folders(), named_versions() - {sys.version_info[:2]}) or "")
