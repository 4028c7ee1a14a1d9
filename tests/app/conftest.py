"""Running commands inside the test process: quick, with exit code, output and errors kept apart."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pendula.app.main import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


def run_command(*arguments: str) -> Result:
    """Exit code, standard output and standard error of a command."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(arguments))
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Result(code, out.getvalue(), err.getvalue())


@pytest.fixture
def pendula(tmp_path, monkeypatch) -> Callable[..., Result]:
    """Runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pendula.numerics.compiled.jit.cache_note", "")  # other tests of this process may have left one
    return run_command
