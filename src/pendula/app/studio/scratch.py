"""The temporary folder of a studio: for results that are not kept. One that a killed studio left is removed later."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path
from typing import BinaryIO

from pendula.storage.files import open_lock

PREFIX = "pendula-studio-"
LOCK = "lock"
ABANDONED = 24 * 3600.0
"""Seconds after which a folder without a lock, or on a system without locks, belongs to nobody."""


class Scratch:
    """A temporary folder that is locked while its studio runs; the system releases the lock however that ends."""

    def __init__(self) -> None:
        self._made: tuple[Path, BinaryIO] | None = None

    @property
    def path(self) -> Path:
        """The folder; it is made when it is first needed."""
        if self._made is None:
            path = Path(tempfile.mkdtemp(prefix=PREFIX))
            lock = open_lock(path / LOCK)  # held until the studio ends
            _lock(lock)
            self._made = path, lock
        return self._made[0]

    def close(self) -> None:
        """Removes the folder."""
        if self._made is not None:
            path, lock = self._made
            self._made = None
            lock.close()
            shutil.rmtree(path, ignore_errors=True)


def remove_abandoned() -> None:
    """Removes the folders of this user whose studio was killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            about = path.lstat()
            own = not hasattr(os, "getuid") or about.st_uid == os.getuid()
            if own and stat.S_ISDIR(about.st_mode) and _is_abandoned(path, about.st_mtime):
                shutil.rmtree(path, ignore_errors=True)


def _is_abandoned(path: Path, changed: float) -> bool:
    try:
        if not (path / LOCK).exists():
            raise FileNotFoundError
        with open_lock(path / LOCK) as file:
            locked = _lock(file)
    except OSError:
        locked = None
    return time.time() - changed > ABANDONED if locked is None else locked


def _lock(file: BinaryIO) -> bool | None:
    """Whether a file could be locked; None if this system has no such locks."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
