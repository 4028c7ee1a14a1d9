"""The Python of the second round of the build machine: which of those on a machine is chosen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import other_python

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the Pythons here are shell scripts")


def script(path: Path, says: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def places(tmp_path: Path) -> list[Path]:
    """Folders with Pythons of many kinds, as a machine may have them."""
    for where, name, says in (
        ("a", "python3.11", "echo 3 11 9 final cpython locked /a b/python3.11"),
        ("a", "python3.12", "echo 3 12 1 final cpython locked /a/python3.12"),
        ("a", "python3.12-config", "echo 3 99 0 final cpython locked /config"),
        ("b", "python3.12", "echo 3 12 7 final cpython locked /b/python3.12"),
        ("b", "python3.13", "echo pyenv: not switched on >&2; exit 127"),
        ("c", "python3.13", "echo 3 13 0 final cpython free /threads"),
        ("d", "python3.13", "echo 3 13 0 candidate cpython locked /candidate"),
        ("e", "python3.13", "echo 3 13 0 final pypy locked /pypy"),
        ("f", "python3.13", "echo welcome"),
        ("g", "python3.15", "echo 3 15 0 final cpython locked /not/named"),
    ):
        script(tmp_path / where / name, says)
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "python3.13").mkdir()
    return [tmp_path / letter for letter in ("a", "b", "c", "d", "e", "f", "g", "h", "none")]


def test_the_newest_release_that_starts_and_is_named_is_chosen(places: list[Path]) -> None:
    assert other_python.newest(places, {(3, 11), (3, 12), (3, 13)}) == "/b/python3.12"
    assert other_python.newest(places, {(3, 11), (3, 13)}) == "/a b/python3.11"
    assert other_python.newest(places, {(3, 13)}) is None
    assert other_python.newest([], {(3, 11)}) is None


def test_versions_are_those_that_the_project_names(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    named = [
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.11",
        "Topic :: Physics :: 3.10",
    ]
    project.write_text(f"[project]\nclassifiers = {named}\n")
    assert other_python.named_versions(project) == {(3, 11)}
    assert sys.version_info[:2] in other_python.named_versions()


def test_pythons_of_pyenv_and_of_the_path_are_found_and_this_one_is_not(tmp_path: Path) -> None:
    this = sys.version_info[:2]
    other = max(other_python.named_versions() - {this})
    for k, (major, minor) in enumerate((this, other)):
        where = (tmp_path / "pyenv" / "versions" / "x" / "bin", tmp_path / "bin")[k]
        script(where / f"python{major}.{minor}", f"echo {major} {minor} 0 final cpython locked /found/{minor}")
    for root, found in (("pyenv", f"/found/{other[1]}"), ("bin", f"/found/{other[1]}"), ("empty", "")):
        path = str(tmp_path / "empty") if root == "empty" else str(tmp_path / "bin")
        done = subprocess.run(
            [sys.executable, "-m", "tests.other_python"],
            capture_output=True,
            text=True,
            check=True,
            cwd=other_python.PROJECT.parent,
            env={"PATH": path, "PYENV_ROOT": str(tmp_path / root), "HOME": str(tmp_path)},
        )
        assert done.stdout.strip() == found
