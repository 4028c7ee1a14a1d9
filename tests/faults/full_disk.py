"""Fills the disk below every writer of files: ``python -m tests.faults.full_disk``.

With ``--tmpfs`` the disk is a small one in memory, mounted where only this process sees it (needs the right to do so).
Otherwise a limit of the size of files stands in for it. A writer must end in one error of Pendula that names the file
and the reason, and the old file must be as it was. Prints what it found as JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pendula.errors import PendulaError
from tests.faults.kills import in_child
from tests.faults.writers import Known, Writer, digest, writers

DISK = 16_000_000  # bytes of the small disk
REASONS = ("No space left on device", "File too large", "are free")
PAGE = 4096


def attempt(writer: Writer, folder: Path) -> str:
    """How writing ends: "written", or "refused" and the message."""
    try:
        writer.write(folder)
    except PendulaError as error:
        return f"refused {error}"
    return "written"


def limited(writer: Writer, folder: Path, most: int) -> tuple[int, str]:
    """Writes while files may have so many bytes."""

    def act() -> str:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        return attempt(writer, folder)

    return in_child(act)


def with_room(writer: Writer, folder: Path, room: int) -> tuple[int, str]:
    """Writes while the disk has so many bytes left."""
    filler = folder.parent / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(PAGE))
        except OSError:
            pass
        file.truncate(max(0, filler.stat().st_size // PAGE - room // PAGE) * PAGE)
    try:
        return in_child(lambda: attempt(writer, folder))
    finally:
        filler.unlink()


def examine(writer: Writer, disk: Path, write, chance: random.Random) -> dict[str, object]:
    """What a writer does when there is room for none, some or most of its file."""
    folder = disk / "files"
    folder.mkdir()
    known = Known(writer, folder)
    faults, refused, messages = [], 0, set()
    for share in (0.0, chance.uniform(0.1, 0.9), 0.97):
        before = digest(known.path)
        names = {path.name for path in folder.rglob("*")}
        status, said = write(writer, folder, int(share * known.bytes) if known.bytes > 2 * PAGE else 0)
        if status != 0:
            faults.append(f"ended by {status}: {said}")
        elif said.startswith("refused"):
            refused += 1
            messages.add(said.removeprefix("refused "))
            named = known.path.name in said or any(name in said for name in names)
            if not named or not any(reason in said for reason in REASONS) or said.count("\n") > 1:
                faults.append(f"no clear message: {said}")
            if digest(known.path) != before:
                faults.append("the old file was replaced")
        if fault := known.fault():
            faults.append(fault)
        if left := {path.name for path in folder.rglob("*")} - names:
            faults.append(f"left behind: {', '.join(sorted(left))}")
    if not refused and not writer.quiet:
        faults.append("it was never refused")
    shutil.rmtree(folder)
    return {"faults": faults, "refused": refused, "messages": sorted(messages)}


def main() -> None:
    """Examines all writers, or some."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tmpfs", action="store_true")
    parser.add_argument("--inside", metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="leave out those that take long")
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    if given.tmpfs and not given.inside:
        with tempfile.TemporaryDirectory() as folder:
            again = [sys.executable, "-m", "tests.faults.full_disk", *sys.argv[1:], "--inside", folder]
            sys.exit(subprocess.run(["unshare", "--map-root-user", "--mount", *again]).returncode)
    disk = Path(given.inside or tempfile.mkdtemp())
    write = limited
    if given.inside:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", str(disk)], check=True)
        write = with_room
    chance = random.Random(given.seed)
    found = {}
    for writer in writers().values():
        if (not given.only or writer.name in given.only) and not (given.quick and writer.slow):
            found[writer.name] = examine(writer, disk, write, chance)
    if not given.inside:
        shutil.rmtree(disk)
    print(json.dumps({"disk": "tmpfs" if given.inside else "limit", "seed": given.seed, "writers": found}, indent=1))


if __name__ == "__main__":
    main()
