"""The folder of a study: its description, and a file for every part that is finished.

    study.json          model, what varies, what is computed; written once, before anything is computed
    plan.npz            values along all dimensions; written again when they grow
    parts/000000.npz    results of some cases, each written whole, with a checksum
    predictability.json notes on runs that are too long to be predicted
    lock                locked while a process works on the study

A part is committed when its file has its final name. Whenever the process or the machine stops, the parts that are
there are whole, and the same study continues with the cases that are in none of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from pendula.errors import UsageError
from pendula.storage.files import UNFINISHED, cannot_write, open_lock, write_text
from pendula.studies.plan import Plan
from pendula.studies.recipe import Part
from pendula.studies.saved import (
    ENDING,
    MARK,
    OWNER,
    PART_KIND,
    PARTS,
    PLAN,
    PLAN_KIND,
    REVISION,
    STUDY,
    VALUE,
    digest_of,
    part_files,
    read_plan,
    read_study,
)
from pendula.tables.formats import write_table
from pendula.tables.table import Block, Table

LOCK = "lock"

_open: WeakValueDictionary[tuple[int, int, int], Store] = WeakValueDictionary()
"""those of this process, which the system lets lock a folder again, by the id of the process and place of the folder"""
_holding = threading.Lock()


class Store:
    """The folder of a study, read and written by one process at a time.

    Args:
        folder: its path.
        study: the description of the study as plain data; with ``identity``, what distinguishes it from others.

    Attributes:
        study: the description, once the folder is open that which is in it.
    """

    def __init__(self, folder: str | os.PathLike[str], study: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        self.study: dict[str, Any] = json.loads(json.dumps({MARK: REVISION, **study}))  # as it is read: without tuples
        self._next = 0
        self._lock: Any = None
        self._key = (0, 0, 0)

    def open(self) -> None:
        """Makes the folder, or opens that of the same study.

        Raises:
            UsageError: it holds something else or another study, someone works on it already, or it cannot be written.
        """
        try:
            if self.folder.exists():
                self._known()  # before anything is made there
            (self.folder / PARTS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self.folder, error) from None
        self._take_lock()
        try:
            known = self._known()
            if known is None:
                write_text(self.folder / STUDY, json.dumps(self.study, indent=1, sort_keys=True) + "\n")
            else:
                self.study = known
            self._clean()
        except BaseException:
            self.close()
            raise
        numbers = [int(path.stem) for path in part_files(self.folder)]
        self._next = max(numbers, default=-1) + 1

    def _known(self) -> dict[str, Any] | None:
        """The description of the same study that is in the folder; None if the folder is empty."""
        if (self.folder / STUDY).exists():
            known = read_study(self.folder)
            self._compare(known)
            return known
        self._refuse_foreign()
        return None

    def _take_lock(self) -> None:
        try:
            found = self.folder.stat()
            self._key = os.getpid(), found.st_dev, found.st_ino
            with _holding:  # a second file of the lock that this process closes would end it
                who = "this process already works" if self._key in _open else self._lock_file()
                if not who:
                    _open[self._key] = self
        except OSError as error:
            raise cannot_write(self.folder / LOCK, error) from None
        if who:
            raise UsageError(
                f'{who} on the study in "{self.folder}".\n'
                "  Try: wait for it, or read its results so far with pendula.load_sweep."
            )

    def _lock_file(self) -> str:
        """Locks the file of the folder; who has done so already, if anyone has."""
        lock = open_lock(self.folder / LOCK)
        if not _lock_now(lock):
            lock.close()
            return "another process works"
        self._lock = lock
        return ""

    def _refuse_foreign(self) -> None:
        """Refuses a folder that holds other things."""
        other = sorted(entry.name for entry in self.folder.iterdir() if entry.name not in (PARTS, LOCK))
        other = [name for name in other if not name.endswith(UNFINISHED)]
        if other or any((self.folder / PARTS).glob(f"*{ENDING}")):
            found = other[0] if other else PARTS
            raise UsageError(
                f'"{self.folder}" is not the folder of a study: it holds "{found}" and no {STUDY}.\n'
                "  Try: a new folder."
            )

    def _compare(self, known: Mapping[str, Any]) -> None:
        """Whether the folder belongs to the same study."""
        own, there = self.study["identity"], known["identity"]
        for name in own:
            if own[name] != there.get(name):
                what = _difference(own[name], there.get(name))
                verb = "differ" if name.endswith("s") else "differs"
                raise UsageError(
                    f'"{self.folder}" holds another study: its {name} {verb}{what}.\n'
                    "  Try: another folder, or remove this one."
                )

    def _clean(self) -> None:
        """Removes what processes that were killed left unfinished."""
        for place in (self.folder, self.folder / PARTS):
            for path in place.glob(f".*{UNFINISHED}"):
                with contextlib.suppress(OSError):
                    path.unlink()

    def add(self, part: Part) -> Path:
        """Commits a part: when this returns, it is on the disk.

        Raises:
            UsageError: it cannot be written, such as on a full disk; what is there already stays.
        """
        path = self.folder / PARTS / f"{self._next:06d}{ENDING}"
        write_table(part_table(part, self.study), path)
        self._next += 1
        return path

    def close(self) -> None:
        """Lets other processes work on the study."""
        if self._lock is not None:
            with _holding:
                self._lock.close()
                _open.pop(self._key, None)
            self._lock = None


def _lock_now(file: Any) -> bool:
    """Locks a file, unless another process has; the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # not inherited by workers, so that they do not hold it
    except OSError:
        return False
    return True


def _difference(own: Any, there: Any) -> str:
    """What differs between two descriptions, in a few words."""
    if isinstance(own, Mapping) and isinstance(there, Mapping):
        for name in (*own, *(x for x in there if x not in own)):
            if own.get(name) != there.get(name):
                return f" in {name}{_difference(own.get(name), there.get(name))}"
    if isinstance(own, list) and isinstance(there, list) and len(own) == len(there):
        for a, b in zip(own, there, strict=True):
            if a != b:
                return _difference(a, b)
    short = [repr(x) for x in (there, own)]
    return f" ({short[0]} there, {short[1]} now)" if max(map(len, short)) <= 80 else ""


def write_plan(folder: Path, plan: Plan, study: Mapping[str, Any]) -> None:
    """Writes the dimensions of a plan; again if they have grown.

    Raises:
        UsageError: those that are there belong to another study, or they cannot be written.
    """
    path = folder / PLAN
    if path.exists() and read_plan(folder, study).shape == plan.shape:
        return
    known = {"shape": list(plan.shape), OWNER: digest_of(study)}
    write_table(Table(PLAN_KIND, tuple(plan.blocks()), plan.dims, known), path)


def part_table(part: Part, study: Mapping[str, Any]) -> Table:
    """A part of a study as a table."""
    reasons = part.failures
    blocks = (
        Block("case", ("case",), part.cases.astype(np.int64)),
        *(Block(f"{VALUE}{name}", ("case",), values) for name, values in part.values.items()),
        *part.blocks,
        Block("failure.case", ("failure",), np.array([*reasons], dtype=np.int64)),
        Block("failure.reason", ("failure",), np.array([*reasons.values()], dtype=str)),
    )
    known = {"seconds": part.seconds, "machine": dict(part.machine), OWNER: digest_of(study)}
    table = Table(PART_KIND, blocks, ("case",), known, compress=False)
    return replace(table, attributes={**known, "checksum": table.digest()})
