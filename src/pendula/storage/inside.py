"""Files of one folder that others may change meanwhile: neither the folder nor the file is ever a link elsewhere.

The folder is opened once, and its files are reached through what was opened. Whoever exchanges the folder for a link
after it was checked, or while a file is written, exchanges only its name.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

_HERE = "/proc/self/fd"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
PATIENCE = 5.0
"""seconds to wait for another process that writes"""
_PAUSE = 0.005


@contextlib.contextmanager
def held(folder: Path) -> Iterator[Path]:
    """A name of a folder that stays that of the same folder, where the system has such names (Linux).

    Raises:
        OSError: there is none, or it is a link.
    """
    if folder.is_symlink():  # where O_NOFOLLOW does not exist
        raise NotADirectoryError(20, "it is a link", str(folder))
    if not os.path.isdir(_HERE):
        yield folder
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK)
    try:
        yield Path(_HERE, str(handle))
    finally:
        os.close(handle)


def open_inside(folder: Path, name: str) -> int:
    """A descriptor of a regular file of a folder, opened to be read.

    Raises:
        OSError: there is none; it or its folder is a link.
    """
    with held(folder) as place:
        if (place / name).is_symlink():
            raise FileNotFoundError(2, "it is a link", name)
        flags = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(place / name, flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileNotFoundError(2, "it is not a regular file", name)
    return handle


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lets one process at a time compare and write what is in a folder, where folders can be locked (not on Windows).

    Raises:
        OSError: another process has locked it for longer than a few seconds.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE)
            except OSError:  # this file system has no such locks
                break
        yield
    finally:
        os.close(handle)
