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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.storage.files import UNFINISHED, cannot_write, open_lock, write_text
from pendula.studies.plan import Plan
from pendula.studies.recipe import Part
from pendula.tables.formats import read_table, write_table
from pendula.tables.table import Block, Table

REVISION = 1
MARK = "pendula_study"
STUDY, PLAN, PARTS, LOCK, ENDING = "study.json", "plan.npz", "parts", "lock", ".npz"
VALUE = "value."
"""how the names of blocks begin that hold what varied"""


class Store:
    """The folder of a study, read and written by one process at a time.

    Args:
        folder: its path.
        study: the description of the study as plain data; with ``identity``, what distinguishes it from others.
    """

    def __init__(self, folder: str | os.PathLike[str], study: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        self.study = dict(study)
        self._next = 0
        self._lock: Any = None

    def open(self) -> None:
        """Makes the folder, or opens that of the same study.

        Raises:
            UsageError: it holds something else or another study, another process works on it, or it cannot be written.
        """
        try:
            (self.folder / PARTS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self.folder, error) from None
        self._take_lock()
        try:
            known = self.folder / STUDY
            if known.exists():
                self._compare(read_study(self.folder))
            else:
                self._refuse_foreign()
                write_text(known, json.dumps({MARK: REVISION, **self.study}, indent=1, sort_keys=True) + "\n")
            self._clean()
        except BaseException:
            self.close()
            raise
        numbers = [int(path.stem) for path in part_files(self.folder)]
        self._next = max(numbers, default=-1) + 1

    def _take_lock(self) -> None:
        try:
            self._lock = open_lock(self.folder / LOCK)
        except OSError as error:
            raise cannot_write(self.folder / LOCK, error) from None
        if not _lock_now(self._lock):
            self._lock.close()
            self._lock = None
            raise UsageError(
                f'another process works on the study in "{self.folder}".\n'
                "  Try: wait for it, or read its results so far with pendula.load_sweep."
            )

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
        own, there = self.study["identity"], known.get("identity", {})
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
        write_table(part_table(part), path)
        self._next += 1
        return path

    def close(self) -> None:
        """Lets other processes work on the study."""
        if self._lock is not None:
            self._lock.close()
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


def read_study(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The description of the study in a folder.

    Raises:
        UsageError: there is none.
    """
    path = Path(folder) / STUDY
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f'"{folder}" is not the folder of a study: it has no {STUDY}') from None
    except (OSError, ValueError) as error:
        raise UsageError(f'"{path}" cannot be read: {error}') from None
    if not isinstance(data, dict) or data.get(MARK) != REVISION:
        raise UsageError(f'"{path}" is not a description of a study that this version reads')
    return data


@dataclass(frozen=True, eq=False)
class SavedPlan:
    """A plan as its file describes it: dimensions and the values along them, so that results need no model."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    labels: tuple[Block, ...]

    @property
    def size(self) -> int:
        """Number of cases."""
        return prod(self.shape)

    def blocks(self) -> list[Block]:
        """Values along the dimensions."""
        return list(self.labels)


def write_plan(folder: Path, plan: Plan) -> None:
    """Writes the dimensions of a plan; again if they have grown."""
    table = Table("StudyPlan", tuple(plan.blocks()), plan.dims, {"shape": list(plan.shape)})
    path = folder / PLAN
    if path.exists() and read_table(path).attributes["shape"] == list(plan.shape):
        return
    write_table(table, path)


def read_plan(folder: Path) -> SavedPlan:
    """The dimensions of the study in a folder.

    Raises:
        UsageError: there are none.
    """
    path = folder / PLAN
    if not path.exists():
        raise UsageError(f'the study in "{folder}" has not begun: there is no {PLAN}')
    table = read_table(path)
    return SavedPlan(table.main, tuple(map(int, table.attributes["shape"])), table.blocks)


def part_files(folder: str | os.PathLike[str]) -> list[Path]:
    """Files of the parts that are finished, in the order in which they were written."""
    return sorted(path for path in (Path(folder) / PARTS).glob(f"*{ENDING}") if path.stem.isdigit())


def read_parts(folder: str | os.PathLike[str]) -> Iterator[Part]:
    """All finished parts.

    Raises:
        UsageError: one is damaged; the message names the file.
    """
    for path in part_files(folder):
        table = read_table(path)
        yield part_of(table, path)


def part_table(part: Part) -> Table:
    """A part as a table."""
    reasons = part.failures
    blocks = (
        Block("case", ("case",), part.cases.astype(np.int64)),
        *(Block(f"{VALUE}{name}", ("case",), values) for name, values in part.values.items()),
        *part.blocks,
        Block("failure.case", ("failure",), np.array([*reasons], dtype=np.int64)),
        Block("failure.reason", ("failure",), np.array([*reasons.values()], dtype=str)),
    )
    known = {"seconds": part.seconds, "machine": dict(part.machine)}
    table = Table("StudyPart", blocks, ("case",), known, compress=False)
    return replace(table, attributes={**known, "checksum": table.digest()})


def part_of(table: Table, path: Path) -> Part:
    """The part behind a table.

    Raises:
        UsageError: its content does not agree with its checksum.
    """
    known = table.attributes
    if table.kind != "StudyPart" or known.get("checksum") != table.digest():
        raise UsageError(
            f'"{path}" is damaged: its content does not agree with its checksum.\n'
            "  Try: remove this file; the study then computes its cases again."
        )
    values: dict[str, Any] = {}
    blocks = []
    cases, failed, reasons = (table[name].values for name in ("case", "failure.case", "failure.reason"))
    for block in table.blocks:
        if block.name.startswith(VALUE):
            values[block.name.removeprefix(VALUE)] = block.values
        elif block.name not in ("case", "failure.case", "failure.reason"):
            blocks.append(block)
    failures = dict(zip(map(int, failed), map(str, reasons), strict=True))
    return Part(cases, values, tuple(blocks), failures, float(known["seconds"]), dict(known["machine"]))
