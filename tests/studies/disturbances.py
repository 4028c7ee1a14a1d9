"""Studies that are disturbed: workers and main processes killed, disks full, schedulers lost; run as a script too.

python -m tests.studies.disturbances --cases 100000 --kills 50
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import pendula

SCRIPT = """
import sys, pendula
from tests.studies.disturbances import study
if __name__ == "__main__":
    try:
        found = pendula.sweep(**study({side}, {duration}), save={folder!r}, workers=2, on={on!r})
    except pendula.errors.PendulaError as error:
        print(error)
        sys.exit(2)
    sys.exit(0 if found.complete else 130)
"""


def study(side: int, duration: float) -> dict[str, Any]:
    """A study of ``side**2`` double pendulums, some seconds of work for each ten thousand."""
    return {
        "system": pendula.library.chain(links=2),
        "over": {"theta1": f"-3:3:{side}", "theta2": f"-3:3:{side}"},
        "compute": "end",
        "duration": duration,
        "tol": 1e-11,
    }


def start(folder: Path, side: int, duration: float, on: str | None = None) -> subprocess.Popen[str]:
    """The study in a process of its own."""
    code = SCRIPT.format(side=side, duration=duration, folder=str(folder), on=on)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)


def children(pid: int) -> list[int]:
    """Processes that a process has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] not in ("Z", "X"):
                found.append(int(entry.name))
    return found


def alive(pid: int) -> bool:
    """Whether a process still runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


@contextmanager
def worker_killer(process: subprocess.Popen[str], every: float, rng: random.Random) -> Iterator[list[int]]:
    """Kills a random worker of a process again and again."""
    done, killed = threading.Event(), list[int]()

    def kill() -> None:
        while not done.wait(every):
            workers = children(process.pid)
            if workers:
                killed.append(rng.choice(workers))
                with_suppressed_kill(killed[-1])

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        done.set()
        thread.join()


def with_suppressed_kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Sends a signal to a process that may have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def disturbed(
    folder: Path, side: int, duration: float, kills: int, *, every: float = 5.0, seed: int = 1, longest: float = 6.0
) -> dict[str, int]:
    """Runs a study to its end although its main process is ended ``kills`` times and its workers again and again."""
    rng = random.Random(seed)
    counts = {"starts": 0, "main": 0, "workers": 0, "left": 0}
    numbers = [signal.SIGKILL] * max(0, kills - 2) + [signal.SIGTERM, signal.SIGINT][: min(2, kills)]
    rng.shuffle(numbers)
    while True:
        process = start(folder, side, duration)
        counts["starts"] += 1
        with worker_killer(process, every, rng) as killed:
            try:
                code = process.wait(rng.uniform(0.2, longest) if numbers else 600)
            except subprocess.TimeoutExpired:
                workers = children(process.pid)
                with_suppressed_kill(process.pid, numbers.pop())
                process.wait(60)
                counts["main"] += 1
                until = time.monotonic() + 5
                while any(map(alive, workers)) and time.monotonic() < until:
                    time.sleep(0.05)
                counts["left"] += sum(map(alive, workers))
            else:
                counts["workers"] += len(killed)
                if code == 0:
                    return counts
                assert code == 130, (code, process.stdout.read() if process.stdout else "")
                continue
        counts["workers"] += len(killed)


def verdict(folder: Path, quiet: pendula.results.Sweep) -> dict[str, Any]:
    """Whether the study in a folder is complete, has no case twice, left nothing, and equals an undisturbed one."""
    found = pendula.load_sweep(folder)
    cases = np.concatenate([np.load(path)["case"] for path in sorted((folder / "parts").iterdir())])
    return {
        "complete": found.complete,
        "missing": len(found) - len(np.unique(cases)),
        "twice": len(cases) - len(np.unique(cases)),
        "failures": len(found.failures),
        "unfinished files": len([path for path in folder.rglob("*") if path.name.endswith(".part")]),
        "equal": all(np.array_equal(found[name], quiet[name], equal_nan=True) for name in quiet.names),
    }


def until_full(folder: Path, side: int, duration: float) -> str:
    """Runs a study until its disk is full, and returns what it said."""
    process = start(folder, side, duration)
    said = process.communicate(timeout=600)[0]
    assert process.returncode == 2, (process.returncode, said)
    return said


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """A small disk in memory, which ``grow`` makes larger; raises PermissionError where nothing can be mounted."""
    with tempfile.TemporaryDirectory() as place:
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], capture_output=True)
        if made.returncode:
            raise PermissionError(made.stderr.decode())
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", place], check=True)


def grow(disk: Path, size: str) -> None:
    """Makes a small disk larger."""
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Cluster:
    """A Dask cluster of separate processes: a scheduler and two workers, which can be killed."""

    def __init__(self) -> None:
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler = self._start("scheduler", "--port", str(self.port), "--no-dashboard", "--host", "127.0.0.1")
        self.workers = [self._worker() for _ in range(2)]

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
        return subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tempfile.gettempdir()
        )

    def _worker(self) -> subprocess.Popen[bytes]:
        return self._start(
            "worker", self.address, "--nthreads", "1", "--no-dashboard", "--death-timeout", "600", "--host", "127.0.0.1"
        )

    def kill_worker(self) -> None:
        """Kills the process that computes; its nanny starts another."""
        for child in children(self.workers[0].pid):
            with_suppressed_kill(child)

    def restart_scheduler(self) -> None:
        """Kills the scheduler and starts another at the same address.

        Workers of Dask end when they lose their scheduler; as a cluster's manager does, this starts others.
        """
        self.scheduler.kill()
        self.scheduler.wait()
        time.sleep(1.0)
        self.scheduler = self._start("scheduler", "--port", str(self.port), "--no-dashboard", "--host", "127.0.0.1")
        until = time.monotonic() + 10
        while any(worker.poll() is None for worker in self.workers) and time.monotonic() < until:
            time.sleep(0.1)
        self.workers = [worker if worker.poll() is None else self._worker() for worker in self.workers]

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *details: object) -> None:
        for process in (*self.workers, self.scheduler):
            for child in children(process.pid):
                with_suppressed_kill(child)
            process.kill()
            process.wait()


def disturbed_on_dask(folder: Path, side: int, duration: float) -> None:
    """Runs a study on a cluster of which a worker is killed, and then the scheduler."""
    with Cluster() as cluster:
        process = start(folder, side, duration, cluster.address)
        until = time.monotonic() + 120
        while len(list(folder.glob("parts/*.npz"))) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        cluster.kill_worker()
        time.sleep(2.0)
        assert process.poll() is None, "the study ended before it was disturbed"
        cluster.restart_scheduler()
        said = process.communicate(timeout=600)[0]
    assert process.returncode == 0, said


def main() -> None:
    """Disturbs a study in every way, as often as asked, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--duration", type=float, default=40.0)
    parser.add_argument("--disk", default="2m", help="size of the disk at first, which must not hold the study")
    given = parser.parse_args()
    side = int(np.ceil(np.sqrt(given.cases)))
    begun = time.monotonic()
    quiet = pendula.sweep(**study(side, given.duration))
    print(f"quiet: {len(quiet)} cases in {time.monotonic() - begun:.0f} s", flush=True)
    with small_disk(given.disk) as place:
        print(f"disk of {given.disk}: {until_full(place / 'study', side, given.duration)}", flush=True)
        grow(place, "4g")
        begun = time.monotonic()
        counts = disturbed(place / "study", side, given.duration, given.kills)
        print(f"disturbed: {counts} in {time.monotonic() - begun:.0f} s", flush=True)
        print(verdict(place / "study", quiet), flush=True)
    with tempfile.TemporaryDirectory() as place:
        begun = time.monotonic()
        disturbed_on_dask(Path(place) / "study", side, given.duration)
        print(f"on Dask, worker and scheduler killed: {time.monotonic() - begun:.0f} s", flush=True)
        print(verdict(Path(place) / "study", quiet), flush=True)


if __name__ == "__main__":
    main()
