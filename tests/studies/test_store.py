"""The folder of a study: resumed after a kill, whole files only, one process at a time, other studies refused."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula.errors import UsageError
from pendula.studies.saved import read_parts, read_plan, read_study
from pendula.studies.store import Store, part_table
from pendula.tables.formats import write_table
from tests.helpers.choices import slow_too
from tests.studies.disturbances import alive, children

OVER = {"theta": "-2:2:41", "l": [0.5, 1.0]}


@pytest.fixture(scope="module")
def quiet():
    return pendula.sweep("pendulum", OVER, duration=1.0, on="here")


def same(one, other):
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in one.names)


def test_a_finished_study_computes_nothing_again(tmp_path, quiet):
    first = pendula.sweep("pendulum", OVER, duration=1.0, save=tmp_path / "s", on="here")
    parts = sorted((tmp_path / "s" / "parts").iterdir())
    told = []
    second = pendula.sweep("pendulum", OVER, duration=1.0, save=tmp_path / "s", on="here", on_start=told.append)
    assert sorted((tmp_path / "s" / "parts").iterdir()) == parts
    assert not told
    assert same(first, quiet)
    assert same(second, quiet)
    assert same(pendula.load_sweep(tmp_path / "s"), quiet)


def test_lost_and_damaged_parts(tmp_path, quiet):
    folder = tmp_path / "s"
    pendula.sweep("pendulum", OVER, duration=1.0, save=folder, on="here")
    parts = sorted((folder / "parts").iterdir())
    parts[1].unlink()
    partial = pendula.load_sweep(folder)
    assert not partial.complete
    assert np.isnan(partial["end.theta"]).any()
    whole = pendula.sweep("pendulum", OVER, duration=1.0, save=folder, on="here")
    assert whole.complete
    assert same(whole, quiet)
    damaged = sorted((folder / "parts").iterdir())[0]
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 0xFF
    damaged.write_bytes(content)
    with pytest.raises(UsageError, match=damaged.name):
        pendula.sweep("pendulum", OVER, duration=1.0, save=folder, on="here")


def test_unfinished_files_of_a_killed_process_are_removed(tmp_path):
    folder = tmp_path / "s"
    pendula.sweep("pendulum", {"theta": [0.1]}, duration=1.0, save=folder, on="here")
    left = folder / "parts" / ".000009.npz.abc.part"
    left.write_bytes(b"half")
    pendula.sweep("pendulum", {"theta": [0.1]}, duration=1.0, save=folder, on="here")
    assert not left.exists()


def test_another_study_is_refused_with_what_differs(tmp_path):
    pendula.sweep("pendulum", {"theta": [0.1]}, duration=1.0, save=tmp_path, on="here")
    for change, word in (
        ({"over": {"theta": [0.2]}}, "over"),
        ({"duration": 2.0}, "duration"),
        ({"compute": "states"}, "compute"),
        ({"system": "cart-pole"}, "model"),
    ):
        arguments = {"system": "pendulum", "over": {"theta": [0.1]}, "duration": 1.0, **change}
        with pytest.raises(UsageError, match=f"another study.*{word}"):
            pendula.sweep(**arguments, save=tmp_path, on="here")


def test_a_staged_study_with_a_range_is_the_same_study(tmp_path):
    until = {"quantity": "end.theta", "half_width": 0.5, "within": [-2.0, 2.0]}
    asked = {"over": {"theta": {"uniform": [0.0, 0.5]}}, "duration": 1.0, "until": until, "on": "here"}
    first, second = (pendula.sweep("pendulum", **asked, save=tmp_path / "s") for _ in range(2))
    assert same(first, second)


def test_a_folder_with_other_things_is_refused_and_stays_as_it_is(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match=r"thesis\.tex"):
        pendula.sweep("pendulum", {"theta": [0.1]}, save=tmp_path, on="here")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(UsageError, match=r"no study\.json"):
        pendula.load_sweep(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_one_process_at_a_time(tmp_path):
    pendula.sweep("pendulum", {"theta": [0.1]}, duration=1.0, save=tmp_path, on="here")
    code = (
        "import sys, pendula\nfrom pendula.studies.store import Store\nfrom pendula.studies.saved import read_study\n"
        f"store = Store({str(tmp_path)!r}, read_study({str(tmp_path)!r}))\n"
        "store.open()\nprint('open', flush=True)\nsys.stdin.read()"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(UsageError, match="another process works on"):
            Store(tmp_path, read_study(tmp_path)).open()
    finally:
        other.kill()
        other.wait()
    store = Store(tmp_path, read_study(tmp_path))  # the lock ended with the process
    store.open()
    store.close()


LOCKED = """
import fcntl, sys
with open(sys.argv[1], "a+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(7)
"""


def test_one_thread_at_a_time(tmp_path):
    """The system locks files for processes: it would let every thread of this one in."""
    pendula.sweep("pendulum", {"theta": [0.1]}, duration=1.0, save=tmp_path, on="here")
    store = Store(tmp_path, read_study(tmp_path))
    store.open()
    with pytest.raises(UsageError, match="this process already works on"):
        pendula.sweep("pendulum", {"theta": [0.1]}, duration=1.0, save=tmp_path / ".", on="here")
    other = subprocess.run([sys.executable, "-c", LOCKED, str(tmp_path / "lock")], check=False)
    assert other.returncode == 7, "the lock has ended, so that other processes are let in"
    store.close()
    assert pendula.sweep("pendulum", {"theta": [0.1]}, duration=1.0, save=tmp_path, on="here").complete


def test_threads_that_share_a_folder_lose_no_part(tmp_path, quiet):
    """One computes, the others are told so; whoever comes later finds its results."""

    def compute(_):
        try:
            return pendula.sweep("pendulum", OVER, duration=1.0, save=tmp_path / "s", on="here")
        except UsageError as error:
            return str(error)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(compute, range(4)))
    refused = [one for one in found if isinstance(one, str)]
    assert all("this process already works on" in text for text in refused)
    for one in (*(one for one in found if not isinstance(one, str)), pendula.load_sweep(tmp_path / "s")):
        assert one.complete
        assert same(one, quiet)


def test_failed_cases_are_tried_again_on_request(tmp_path):
    marker = tmp_path / "works"

    def moody(case):
        if case.number == 1 and not marker.exists():
            raise RuntimeError("not today")
        return {"value": case.initial_state["theta"]}

    first = pendula.sweep("pendulum", {"theta": [1.0, 2.0, 3.0]}, moody, save=tmp_path / "s", on="here")
    assert list(first.failures) == [1]
    marker.touch()
    second = pendula.sweep("pendulum", {"theta": [1.0, 2.0, 3.0]}, moody, save=tmp_path / "s", on="here")
    assert list(second.failures) == [1]
    third = pendula.sweep("pendulum", {"theta": [1.0, 2.0, 3.0]}, moody, save=tmp_path / "s", on="here", retry="failed")
    assert not third.failures
    assert third["value"].tolist() == [1.0, 2.0, 3.0]


def test_a_full_disk_keeps_what_was_finished(tmp_path, monkeypatch, quiet):
    folder = tmp_path / "s"
    add, written = Store.add, []

    def full(self, part):
        if len(written) == 2:
            raise UsageError('"x" cannot be written: No space left on device')
        written.append(part)
        return add(self, part)

    monkeypatch.setattr(Store, "add", full)
    with pytest.raises(UsageError, match=r"No space left on device.*\n.*9 cases of 82 are kept"):
        pendula.sweep("pendulum", OVER, duration=1.0, save=folder, on="here")
    monkeypatch.undo()
    assert pendula.load_sweep(folder).finished == 9
    assert same(pendula.sweep("pendulum", OVER, duration=1.0, save=folder, on="here"), quiet)


def test_a_study_that_will_not_fit_is_refused_after_its_first_cases(tmp_path, monkeypatch):
    monkeypatch.setattr("pendula.storage.room.bytes_free_on_disk", lambda path: 10**6)
    over = {"theta": "-2:2:10000", "l": "0.5:2:100"}
    with pytest.raises(UsageError, match=r"1,000,000 cases of .* need .* on the disk of .*1\.0 MB are free"):
        pendula.sweep("pendulum", over, "states", duration=1.0, samples=4, save=tmp_path / "s", on="here")
    assert pendula.load_sweep(tmp_path / "s").finished == 9


def test_a_study_can_be_read_while_it_is_computed(tmp_path):
    seen = []

    def look(done, of):
        if 9 <= done < of and not seen:
            seen.append(pendula.load_sweep(tmp_path / "s").finished)

    pendula.sweep("pendulum", OVER, duration=1.0, save=tmp_path / "s", on="here", on_progress=look)
    assert seen
    assert 9 <= seen[0] < 82


def test_mixtures_of_machines_are_reported(tmp_path):
    folder = tmp_path / "s"
    pendula.sweep("pendulum", {"theta": "0:1:20"}, duration=1.0, save=folder, on="here")
    path = sorted((folder / "parts").iterdir())[-1]
    study = read_study(folder)
    part = next(iter(read_parts(folder, study, read_plan(folder, study))))
    assert not pendula.load_sweep(folder).notes
    other = replace(part, cases=part.cases, machine={**part.machine, "processor": "another 1234"})
    write_table(part_table(other, study), path)
    (note,) = pendula.load_sweep(folder).notes
    assert "different processor" in note
    assert "another 1234" in note


SCRIPT = """
import time, pendula
if __name__ == "__main__":
    slowly = lambda done, of: time.sleep(0.05)  # so that it never finishes before it is ended
    pendula.sweep("pendulum", {over!r}, duration=1.0, save={folder!r}, workers=2, on_progress=slowly)
"""


def start(folder: Path, over: dict) -> subprocess.Popen:
    code = SCRIPT.format(over=over, folder=str(folder))
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes in /proc")
@pytest.mark.parametrize("number", slow_too([signal.SIGKILL, signal.SIGINT], [signal.SIGTERM]))
def test_a_study_that_is_ended_resumes_and_leaves_no_process(tmp_path, number):
    over = {"theta": "-2:2:1001", "l": "0.5:2:10"}
    folder = tmp_path / "s"
    process = start(folder, over)
    until = time.monotonic() + 60
    while time.monotonic() < until and len(list(folder.glob("parts/*.npz"))) < 4:
        time.sleep(0.02)
    workers = children(process.pid)
    os.kill(process.pid, number)
    process.wait(30)
    until = time.monotonic() + 5
    while any(map(alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, workers))
    known = pendula.load_sweep(folder)
    assert known.finished > 0
    again = pendula.sweep("pendulum", over, duration=1.0, save=folder)
    assert again.complete
    cases = np.concatenate([np.load(path)["case"] for path in (folder / "parts").iterdir()])
    assert len(cases) == len(set(cases.tolist())) == len(again)
    assert same(again, pendula.sweep("pendulum", over, duration=1.0))
    assert not list(folder.rglob("*.part"))
    assert json.loads((folder / "study.json").read_text())["name"] == "pendulum"
