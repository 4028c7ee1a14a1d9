"""Commands that the user interrupts: they show what they have, write it to the files, and exit with 130."""

from __future__ import annotations

import json
import signal

import numpy as np
import pytest

from pendula.app.progress import Progress


@pytest.fixture
def pressed(monkeypatch):
    """The keyboard interrupt comes after the first stretch of work."""

    def interrupt(*progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "done", lambda self, *progress: interrupt())
    monkeypatch.setattr(Progress, "update", interrupt)


def test_an_interrupted_run_is_shown_and_can_be_continued(pendula, pressed, monkeypatch, tmp_path):
    result = pendula("simulate", "chain", "-p", "links=2", "--for", "100", "-o", "run.npz")
    assert result.code == 130
    assert "interrupted by the user" in result.out
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    result = pendula("continue", "run.npz", "--for", "1", "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["outcome"].startswith("finished")


def test_an_interrupted_ensemble_is_shown_and_written(pendula, pressed, tmp_path):
    words = ("--runs", "40", "--vary", "theta1=-1:1", "--for", "50", "--workers", "1", "-o", "runs.npz")
    result = pendula("ensemble", "chain", "-p", "links=2", *words)
    assert result.code == 130
    assert "interrupted by the user" in result.out
    with np.load(tmp_path / "runs.npz") as file:
        assert len(file["q"]) == 40


def test_interrupted_reactions_exit_with_130(pendula, pressed):
    result = pendula("reactions", "four-bar", "--for", "50")
    assert result.code == 130
    assert "interrupted by the user" in result.out


def test_what_a_library_makes_of_an_interrupt_is_no_bug_of_a_command(pendula, monkeypatch):
    """Numba misses its machine code after an interrupt that LLVM has not passed on."""

    def library(*progress):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("no compiled object yet") from None

    monkeypatch.setattr(Progress, "say", library)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = pendula("simulate", "pendulum")
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.code == 130
    assert result.err.strip() == "interrupted"
