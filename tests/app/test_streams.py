"""Output that cannot be written, and an interpreter that keeps no docstrings: one message at most, no traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pendula as package
from pendula.errors import UsageError
from pendula.storage import files

PROGRAM = [sys.executable, "-m", "pendula"]


def run(*arguments: str, shell: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own; ``shell`` follows it on the command line."""
    command = [sys.executable, "-m", "pendula", *arguments]
    return subprocess.run(
        ["bash", "-c", f'"$@" {shell}', "bash", *command], capture_output=True, text=True, timeout=100
    )


needs_bash = pytest.mark.skipif(not Path("/bin/bash").exists(), reason="no bash")


@needs_bash
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_device_is_one_message():
    found = run("schema", shell="> /dev/full")
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert os.strerror(errno.ENOSPC) in found.stderr


@needs_bash
@pytest.mark.parametrize("closing", [">&-", ">&- 2>&-", "2>&- | cat"])
def test_closed_streams_are_no_error(closing):
    found = run("list", shell=closing)
    assert found.returncode == 0
    assert found.stderr == ""


@needs_bash
def test_a_reader_that_leaves_is_no_error():
    found = run("schema", shell="| head -1; exit ${PIPESTATUS[0]}")
    assert (found.returncode, found.stdout, found.stderr) == (0, "{\n", "")


def test_without_docstrings_commands_work():
    """One process for all of them."""
    code = (
        "from pendula.app.main import main\n"
        "for line in ('list pendulum', 'simulate --help', 'show pendulum'):\n"
        "    try: main(line.split())\n"
        "    except SystemExit as end: print('ended with', end.code)\n"
    )
    found = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, timeout=100)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("ended with 0\n") == 3
    assert not found.stderr
    for text in found.stdout.split("ended with 0\n")[:3]:
        assert text


def test_a_plot_on_a_full_disk_is_one_message_and_the_old_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "run.png"
    path.write_bytes(b"old")
    run = package.simulate("pendulum", 0.1)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(UsageError, match="cannot be written: " + os.strerror(errno.ENOSPC)):
        package.plot(run, path)
    assert [p.name for p in tmp_path.iterdir()] == ["run.png"]
    assert path.read_bytes() == b"old"
