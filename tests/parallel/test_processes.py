"""Worker processes: results whatever dies, and nobody left behind, with real kills."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from pendula.errors import ComputationError, UsageError, WorkerDied
from pendula.parallel.processes import AHEAD_BYTES, Processes
from pendula.parallel.signals import tidied

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills by POSIX signals")

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
"""seconds that a test waits for what must happen, on a busy machine"""


def square(task, tell):
    return task**2, os.getpid()


def slow_square(task, tell):
    for k in range(1, 6):
        time.sleep(0.01)
        tell(k, 5)
    return task**2


def die_once(task, tell):
    """Dies on the first attempt at each task; the file says that there was one."""
    try:
        os.close(os.open(task, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return "at the second attempt"
    os.kill(os.getpid(), signal.SIGKILL)


def die(task, tell):
    if task == "exit":
        os._exit(7)
    if task == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def endless(task, tell):
    ended = 0
    while True:
        time.sleep(0.01)
        ended += 1
        tell(ended, 0)


def until_told(task, tell):
    """As ensembles do: a partial result when it is asked to end early."""
    ended = 0
    try:
        while True:
            time.sleep(0.005)
            ended += 1
            tell(ended, 0)
    except KeyboardInterrupt:
        return "partial", ended


def deaf(task, tell):
    """Does not ask whether it is to end."""
    time.sleep(0.1)
    tell(2, 0)
    time.sleep(1000.0)


class Unpicklable(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def raising(task, tell):
    if task == "zero":
        return 1 / 0
    if task == "ours":
        raise UsageError("no such thing")
    if task == "odd":
        raise Unpicklable(1, 2)
    if task == "exit":
        sys.exit(3)
    return lambda: None  # which cannot be pickled


def large(task, tell):
    return bytes(3_000_000) + task


def made(work):
    return (partial, (work,))


def gather(processes):
    """All results by key."""
    found, begun = {}, time.monotonic()
    while processes.waiting:
        assert time.monotonic() - begun < PATIENCE
        for done in processes.wait(0.5):
            assert done.key not in found, "a task was reported twice"
            found[done.key] = done
    return found


@contextmanager
def other_thread():
    """Another thread, in whose presence processes cannot be forked."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def test_tasks_are_shared_among_the_workers():
    with Processes(square, made(square), 2) as processes:
        assert (processes.idle, processes.waiting) == (2, 0)
        for key in range(20):
            processes.submit(key, key)
        assert processes.idle == 0
        found = gather(processes)
        assert processes.wait(10.0) == []
        assert (processes.idle, processes.waiting) == (2, 0)
    assert {key: done.value[0] for key, done in found.items()} == {key: key**2 for key in range(20)}
    assert {done.pid for done in found.values()} == {done.value[1] for done in found.values()}
    assert os.getpid() not in {done.pid for done in found.values()}


@pytest.mark.parametrize("size", [10, AHEAD_BYTES, 20 * AHEAD_BYTES])
def test_tasks_and_results_of_any_size_go_through_the_pipes(size):
    """Both sides may have to wait for the other to read, but never at the same time."""
    with Processes(large, made(large), 2) as processes:
        for key in range(12):
            processes.submit(key, bytes([key]) * size)
        time.sleep(0.1)
        found = gather(processes)
    assert all(found[key].value == bytes(3_000_000) + bytes([key]) * size for key in range(12))


def test_workers_that_cannot_be_forked_are_made_anew():
    with other_thread(), Processes(square, made(square), 1) as processes:
        processes.submit(5, 4)
        assert gather(processes)[5].value[0] == 16


def test_progress_is_the_sum_of_what_tasks_tell():
    with Processes(slow_square, made(slow_square), 2) as processes:
        seen = []
        for key in range(6):
            processes.submit(key, key)
        while processes.waiting:
            processes.wait(0.02)
            seen.append(processes.ended)
    assert seen == sorted(seen)
    assert seen[-1] == 30


# -- deaths --------------------------------------------------------------------------------------------


def test_a_task_whose_worker_dies_is_given_to_another(tmp_path):
    with Processes(die_once, made(die_once), 2) as processes:
        for key in range(6):
            processes.submit(key, str(tmp_path / f"{key}"))
        found = gather(processes)
    assert {done.value for done in found.values()} == {"at the second attempt"}
    assert len(found) == 6


def test_workers_killed_at_random_change_no_result(monkeypatch):
    """Some of them before they could begin; neither limit on deaths can be reached, however slowly workers begin."""
    monkeypatch.setattr("pendula.parallel.processes.STARTS", {False: 100, True: 100})
    chance = random.Random(3)
    kills = 0
    with Processes(slow_square, made(slow_square), 3, deaths=100) as processes:
        for key in range(40):
            processes.submit(key, key)
        found = {}
        while processes.waiting:
            found |= {done.key: done.value for done in processes.wait(chance.uniform(0.0, 0.05))}
            if processes.pids and kills < 20:
                os.kill(chance.choice(processes.pids), signal.SIGKILL)
                kills += 1
    assert kills == 20
    assert found == {key: key**2 for key in range(40)}


@pytest.mark.parametrize(
    ("task", "words"),
    [("exit", "ended with exit code 7"), ("kill", "ended by SIGKILL, probably because memory ran out")],
)
def test_a_task_that_kills_every_worker_is_given_up_and_the_others_finish(task, words):
    with Processes(die, made(die), 2) as processes:
        for key, given in enumerate(["a", task, "b", "c", "d"]):
            processes.submit(key, given)
        found = gather(processes)
    assert isinstance(found[1].error, WorkerDied)
    assert words in str(found[1].error)
    assert [found[key].value for key in (0, 2, 3, 4)] == ["a", "b", "c", "d"]


def exit_at_once():
    os._exit(9)


def test_workers_that_die_before_they_begin_are_one_error():
    with other_thread(), Processes(square, (exit_at_once, ()), 2) as processes:
        processes.submit(0, 1)
        with pytest.raises(WorkerDied, match="before they begin, 3 in a row; the last one ended with exit code 9"):
            gather(processes)
        pids = processes.pids
    assert not any(alive(pid) for pid in pids)


def test_work_that_cannot_be_made_is_the_error_of_its_maker():
    with other_thread(), Processes(square, (int, ("x",)), 1) as processes:
        processes.submit(0, 1)
        with pytest.raises(ValueError, match="invalid literal") as raised:
            gather(processes)
    assert "in a worker process" in raised.value.__notes__[0]


def test_no_process_at_all_is_one_error(monkeypatch):
    def refused(self):
        raise BlockingIOError(11, os.strerror(11))

    monkeypatch.setattr("multiprocessing.process.BaseProcess.start", refused)
    with (
        Processes(square, made(square), 2) as processes,
        pytest.raises(ComputationError, match="no worker process can be started: Resource temporarily unavailable"),
    ):
        processes.submit(0, 1)


# -- errors --------------------------------------------------------------------------------------------


def test_errors_come_back_with_their_traceback():
    with Processes(raising, made(raising), 2) as processes:
        for key, task in enumerate(["zero", "ours", "odd", "exit", "function"]):
            processes.submit(key, task)
        processes.submit(5, lambda: None)
        found = {key: done.error for key, done in gather(processes).items()}
    assert type(found[0]) is ZeroDivisionError
    assert "1 / 0" in found[0].__notes__[0]
    assert type(found[1]) is UsageError
    assert str(found[1]) == "no such thing"
    if "tblib" not in sys.modules:  # which makes every exception picklable
        assert type(found[2]) is ComputationError
        assert "Unpicklable: 1 and 2" in str(found[2])
    assert "1 and 2" in str(found[2])
    assert "raise Unpicklable" in found[2].__notes__[0]
    assert "SystemExit: 3" in str(found[3])
    assert "result cannot be sent" in str(found[4])
    assert "task cannot be sent" in str(found[5])


# -- ends ----------------------------------------------------------------------------------------------


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        pytest.skip("needs /proc")


def test_stop_keeps_partial_results_and_drops_the_rest():
    with Processes(until_told, made(until_told), 2) as processes:
        for key in range(8):
            processes.submit(key, None)
        while processes.ended < 4:
            processes.wait(0.05)
        processes.stop()
        found = gather(processes)
        with pytest.raises(UsageError, match="stopped"):
            processes.submit(9, None)
    assert {done.value[0] for done in found.values()} == {"partial"}
    assert 1 <= len(found) <= 2


def test_tasks_that_do_not_catch_the_interrupt_are_dropped():
    with Processes(endless, made(endless), 2) as processes:
        for key in range(3):
            processes.submit(key, None)
        while processes.ended < 4:
            processes.wait(0.05)
        processes.stop()
        assert gather(processes) == {}


def test_closing_ends_busy_workers():
    with Processes(endless, made(endless), 2) as processes:
        processes.submit(0, None)
        processes.submit(1, None)
        pids = processes.pids
        assert all(alive(pid) for pid in pids)
    assert not any(alive(pid) for pid in pids)


PARENT = """
import os, signal, sys, threading, time
sys.path.insert(0, {root!r})
from tests.parallel.test_processes import {work}, made
from pendula.parallel.processes import Processes

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):  # whoever runs the tests may ignore them (nohup)
        signal.signal(number, signal.SIG_DFL)
    {before}
    with Processes({work}, made({work}), 2) as processes:
        processes.submit(0, None)
        processes.submit(1, None)
        while processes.ended < 4:
            processes.wait(0.1)
        try:
            print(*processes.pids, flush=True)
            found = []
            while processes.waiting:
                found += processes.wait(0.1)
            print("found", len(found), processes.interrupted, flush=True)
        finally:
            print("cleaned", flush=True)
    print("left", flush=True)
"""
THREAD = "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()"


def parent(folder, work="endless", before=""):
    """A process with two busy workers, and their ids."""
    script = folder / "parent.py"
    script.write_text(PARENT.format(root=str(ROOT), work=work, before=before))
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    return process, [int(pid) for pid in process.stdout.readline().split()]


def gone(pids):
    begun = time.monotonic()
    while any(alive(pid) for pid in pids):
        if time.monotonic() - begun > 5.0:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("before", ["", THREAD], ids=["forked", "spawned"])
@pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)]
)
def test_workers_end_with_their_parent(number, before, tmp_path):
    process, pids = parent(tmp_path, before=before)
    assert len(pids) == 2
    process.send_signal(number)
    said = process.stdout.read()
    assert process.wait(PATIENCE) == -number
    assert said == ("" if number == signal.SIGKILL else "cleaned\n")
    assert gone(pids)


def test_the_first_keyboard_interrupt_keeps_what_there_is(tmp_path):
    process, pids = parent(tmp_path, "until_told")
    process.send_signal(signal.SIGINT)
    said = process.stdout.read()
    assert process.wait(PATIENCE) == 0
    assert said == "found 2 True\ncleaned\nleft\n"
    assert gone(pids)


def test_the_second_keyboard_interrupt_ends_at_once(tmp_path):
    process, pids = parent(tmp_path, "deaf")
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said = process.stdout.read()
    assert process.wait(PATIENCE) != 0
    assert "left" not in said
    assert gone(pids)


# -- signals -------------------------------------------------------------------------------------------


def test_a_signal_that_ends_the_process_waits_for_the_outermost_context():
    """Seen in a child: it prints what was cleaned, inner things first, and then it ends by the signal."""
    script = (
        "import os, signal\n"
        "from pendula.parallel.signals import tidied\n"
        "with tidied():\n"
        "    try:\n"
        "        with tidied():\n"
        "            try:\n"
        "                os.kill(os.getpid(), signal.SIGTERM)\n"
        "            finally:\n"
        "                print('inner')\n"
        "                os.kill(os.getpid(), signal.SIGTERM)\n"
        "    finally:\n"
        "        print('outer', flush=True)\n"
        "print('never')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == -signal.SIGTERM
    assert done.stdout == "inner\nouter\n"
    assert done.stderr == ""


def test_a_program_that_handles_a_signal_keeps_its_handler():
    seen = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with tidied():
            os.kill(os.getpid(), signal.SIGTERM)
        assert seen == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)
    with tidied():
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is before
