"""Faults on purpose: every writer of files is killed and runs out of room; what is on disk is whole, or as it was."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pendula
from pendula.storage import archives, files

if os.name != "posix":
    pytest.skip("signals and limits are POSIX", allow_module_level=True)

from tests.faults import full_disk, kills
from tests.faults.writers import Writer, writers
from tests.helpers.choices import slow_too

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(pendula.__file__).parent
QUICK = ("run.npz", "run.csv", "model file", "streamed ensemble")
CALLS = {"write_text", "write_bytes", "write_arrays", "write_figure", "writing", "ArrayArchive"}


def tool(name, *arguments, seconds=900):
    """What one of the tools of this folder reports."""
    command = [sys.executable, "-m", f"tests.faults.{name}", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def faults_of(found):
    return [fault for one in found["writers"].values() for fault in one["faults"]]


# -- the harness itself --------------------------------------------------------------------------------


def careless(folder):
    """Writes under the final name, bit by bit."""
    with open(folder / "a.txt", "wb") as file:
        for _ in range(20):
            file.write(b"0123456789")
            file.flush()
            time.sleep(0.005)


def test_a_careless_writer_is_found_by_both_tools(tmp_path):
    writer = Writer("careless", "a.txt", careless)
    tally = kills.torment(writer, 12, random.Random(1))
    assert any("differs" in fault for fault in tally.faults)
    found = full_disk.examine(writer, tmp_path, full_disk.limited, random.Random(1))
    assert any("File too large" in fault for fault in found["faults"])


def modules_that_write():
    """Modules of the package that call the writer of files."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        calls = (node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
        if any(isinstance(call, ast.Name) and call.id in CALLS for call in calls):
            found.add(str(path.relative_to(SOURCE)))
    # A function of the same name gives a text; the writers themselves
    return found - {"equations/printing/formats.py", "storage/files.py", "storage/archives.py"}


def callers(monkeypatch):
    """Modules of the package that make files from now on, seen by their frames."""
    seen = set()
    own = {files.__file__, archives.__file__, contextlib.__file__}
    begin = files.Unfinished.__init__

    def look(*arguments):
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename in own:
            frame = frame.f_back
        if frame is not None and frame.f_code.co_filename.startswith(str(SOURCE)):
            seen.add(str(Path(frame.f_code.co_filename).relative_to(SOURCE)))
        begin(*arguments)

    monkeypatch.setattr(files.Unfinished, "__init__", look)
    return seen


@pytest.mark.slow
def test_every_module_that_writes_files_is_among_the_writers(tmp_path, monkeypatch):
    seen = callers(monkeypatch)
    for writer in writers().values():
        folder = tmp_path / writer.name.replace(" ", "-")
        folder.mkdir()
        writer.write(folder)
    missing = modules_that_write() - seen
    assert missing == set(), "add a writer to tests/faults/writers.py"


# -- kills ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_killed_writers_leave_whole_files():
    found = tool("kills", "--kills", 24, "--only", *QUICK)
    assert faults_of(found) == []
    assert found["kills"] >= 12


@pytest.mark.slow
def test_all_writers_killed_for_a_minute_leave_whole_files():
    found = tool("kills", "--kills", 200, "--seconds", 60, "--seed", random.randrange(10**6))
    assert faults_of(found) == [], found["seed"]
    assert found["kills"] >= 20


def children_of(parent):
    """Ids of the processes that a process started and that are alive."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, owner = entry.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(owner) == parent and state != "Z":
            found.append(int(entry.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", slow_too([signal.SIGKILL], [signal.SIGTERM]))
def test_an_ensemble_whose_process_ends_leaves_no_worker_and_no_file(tmp_path, number):
    (tmp_path / "e.npz").write_text("old")
    command = [sys.executable, "-m", "pendula", "ensemble", "double-pendulum", "--runs", "100000", "--for", "1000"]
    command += ["--vary", "theta1=-1:1", "--workers", "2", "--samples", "20", "-o", str(tmp_path / "e.npz")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        begun, workers = time.monotonic(), []
        while len(workers) < 2 and time.monotonic() - begun < 120.0:
            time.sleep(0.1)
            assert process.poll() is None
            workers = [
                pid for pid in children_of(process.pid) if "ahead" not in Path(f"/proc/{pid}/cmdline").read_text()
            ]
        assert len(workers) == 2
        process.send_signal(number)
        assert process.wait(60.0) == -number
    begun = time.monotonic()
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() - begun < 5.0:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert [path.name for path in tmp_path.iterdir()] == ["e.npz"]
    assert (tmp_path / "e.npz").read_text() == "old"


# -- full disks ----------------------------------------------------------------------------------------


def can_mount():
    """Whether this process may mount a disk that only it sees."""
    try:
        command = ["unshare", "--map-root-user", "--mount", "true"]
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def test_a_full_disk_is_one_message_and_the_old_file_stays():
    found = tool("full_disk", "--only", *QUICK)
    assert faults_of(found) == []


@pytest.mark.slow
@pytest.mark.parametrize("disk", ["limit", "tmpfs"])
def test_a_full_disk_is_one_message_for_every_writer(disk):
    if disk == "tmpfs" and not can_mount():
        pytest.skip("no right to mount")
    found = tool("full_disk", *(["--tmpfs"] if disk == "tmpfs" else []))
    assert faults_of(found) == []
    assert found["disk"] == disk
    assert sum(one["refused"] for one in found["writers"].values()) >= 2 * len(found["writers"])
