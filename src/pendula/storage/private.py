"""Files and folders that no other user could have written: what is read from them may be executed."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

DAY = 86400.0  # seconds
_OPENING = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # neither a link nor waiting for a pipe


def refuse_others(found: os.stat_result, path: Path, *, sticky: bool = False) -> None:
    """Refuses a file or folder that another user owns or can write to.

    Args:
        found: what the system knows about it.
        path: its name, for the message.
        sticky: whether others may add to a folder if they cannot change what others have there (such as ``/tmp``).

    Raises:
        OSError: it is not private.
    """
    if not hasattr(os, "getuid"):
        return
    if found.st_uid not in (os.getuid(), 0):
        raise OSError(f"{path} belongs to another user")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not (sticky and found.st_mode & stat.S_ISVTX):
        raise OSError(f"{path} is writable by other users")


def make_private(path: Path) -> None:
    """Makes a folder for one user alone, or checks that there is one.

    Raises:
        OSError: it cannot be made, is a link, or others could write to it.
    """
    path.mkdir(exist_ok=True, mode=0o700)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise OSError(f"{path} is not a folder but a link or a file")
    refuse_others(found, path)


def remove_foreign(path: Path) -> None:
    """Removes what :func:`read_private` would refuse, so that an own file can take the name.

    Raises:
        OSError: it cannot be removed.
    """
    try:
        found = path.lstat()
        _check(found, path)
    except FileNotFoundError:
        return
    except OSError:
        path.unlink()


def _check(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path} is not a regular file")
    refuse_others(found, path)


def read_private(path: Path) -> bytes:
    """The content of a regular file that no other user could have written; its time is updated, at most once a day.

    What is checked is the file that was opened, whatever has its name by then.

    Raises:
        OSError: it is not private, or cannot be read.
    """
    with os.fdopen(os.open(path, _OPENING | _AS_IT_IS), "rb") as file:
        found = os.fstat(file.fileno())
        _check(found, path)
        if time.time() - found.st_mtime > DAY:
            os.utime(file.fileno() if os.utime in os.supports_fd else path)
        return file.read()
