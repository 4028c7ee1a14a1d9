"""Kills processes that write files, at random instants, and sees what is left: ``python -m tests.faults.kills --kills 500``.

Half of the kills come at a random step of the writer itself, counted in calls from the moment at which it opens its
file; the other half at a random time of the whole work. Afterwards the file must be whole, the old one or the new one.
Prints what it found as JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from pendula.storage import archives, files
from pendula.storage.files import UNFINISHED
from tests.faults.writers import Known, Writer, writers


class Steps:
    """Counts calls from the first file that is opened to the last that is published, and kills at one of them."""

    OWN = (files.__file__, archives.__file__)

    def __init__(self, last: int | None) -> None:
        self.count, self._last, self._open = 0, last, 0

    def __call__(self, frame, event, argument) -> None:
        if frame.f_code.co_filename in self.OWN and frame.f_code.co_name in ("__init__", "drop"):
            if event == "call" and frame.f_code.co_name == "__init__":
                self._open += 1
            elif event == "return" and frame.f_code.co_name == "drop":
                self._open -= 1
        if self._open > 0 and event in ("call", "c_call", "c_return"):
            self.count += 1
            if self.count == self._last:
                os.kill(os.getpid(), signal.SIGKILL)


def in_child(act) -> tuple[int, str]:
    """What a forked process does; its status, and the text that it gives."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            os.close(read)
            os.write(write, str(act()).encode()[:60_000])
            status = 0
        except BaseException as error:
            os.write(write, f"{type(error).__name__}: {error}".encode()[:60_000])
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    return (status, said) if alone(child) else (1, "processes that it started are alive after 5 s")


def alone(leader: int) -> bool:
    """Whether all processes of a group end within 5 s."""
    until = time.monotonic() + 5.0
    while time.monotonic() < until:
        try:
            os.killpg(leader, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    os.killpg(leader, signal.SIGKILL)
    return False


def count_steps(writer: Writer, folder: Path) -> int:
    """Number of calls that writing takes."""
    status, said = in_child(lambda: traced(writer, folder, None))
    if status != 0:
        raise RuntimeError(f"{writer.name}: {said}")
    return int(said)


def traced(writer: Writer, folder: Path, last: int | None) -> int:
    """Writes, and is killed at a step."""
    steps = Steps(last)
    sys.setprofile(steps)
    writer.write(folder)
    sys.setprofile(None)
    return steps.count


def kill_at_time(writer: Writer, folder: Path, seconds: float, number: int) -> tuple[int, str]:
    """Starts to write and ends it by a signal after a while; its status, and what is wrong."""
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            writer.write(folder)
        finally:
            os._exit(0)
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    time.sleep(seconds)
    os.kill(child, number)
    status = os.waitpid(child, 0)[1]
    return status, "" if alone(child) else "processes that it started are alive after 5 s"


class Tally:
    """What happened to one writer."""

    def __init__(self) -> None:
        self.attempts = self.kills = self.replaced = 0
        self.faults: list[str] = []
        self.left: list[str] = []


def torment(writer: Writer, attempts: int, chance: random.Random) -> Tally:
    """Kills a writer again and again."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = Known(writer, folder)
        usual = {path.name for path in folder.rglob("*")}
        begun = time.perf_counter()
        writer.write(folder)
        seconds = time.perf_counter() - begun
        steps = count_steps(writer, folder)
        for attempt in range(attempts):
            before = known.path.stat().st_ino if known.path.exists() else 0
            if steps and attempt % 2 == 0:
                # The last steps are those that rename: as often as all others
                last = chance.randint(1, steps) if chance.random() < 0.5 else chance.randint(max(1, steps - 60), steps)
                status, said = in_child(lambda last=last: traced(writer, folder, last))
            else:
                number = signal.SIGTERM if chance.random() < 0.25 else signal.SIGKILL
                status, said = kill_at_time(writer, folder, chance.uniform(0.0, 1.1 * seconds), number)
            tally.attempts += 1
            tally.kills += os.WIFSIGNALED(status)
            if "alive" in said:
                tally.faults.append(f"{writer.name}: {said}")
            if fault := known.fault():
                tally.faults.append(f"{writer.name}: {fault}")
                known.writer.write(folder)
            else:
                tally.replaced += known.path.stat().st_ino != before
            left = {path.name for path in folder.rglob("*")} - usual
            tally.left += sorted(left)
            usual |= left
    return tally


def main() -> None:
    """Kills all writers, or some."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no other writer after these")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="leave out those that take long")
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    chance = random.Random(given.seed)
    chosen = [
        w for w in writers().values() if (not given.only or w.name in given.only) and not (given.quick and w.slow)
    ]
    begun = time.monotonic()
    found, kills = {}, 0
    for number, writer in enumerate(chosen):
        share = -(-(given.kills - kills) // (len(chosen) - number))
        if time.monotonic() - begun > given.seconds or share <= 0:
            break
        tally = torment(writer, share, chance)
        kills += tally.kills
        found[writer.name] = vars(tally)
    print(json.dumps({"kills": kills, "seed": given.seed, "unfinished": UNFINISHED, "writers": found}, indent=1))


if __name__ == "__main__":
    main()
