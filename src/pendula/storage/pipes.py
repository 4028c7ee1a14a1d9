"""Pipes in place of files: a program at the other end gets a few seconds to open it; nothing waits forever.

``pendula show <(generate-model)`` reads from a pipe, and ``-o >(less)`` writes to one. A named pipe (FIFO) that nobody
else has opened would block the usual ``open`` forever, so pipes are opened here without blocking, within a time limit.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import time
from typing import BinaryIO

OPENING = 5.0
"""seconds within which another program must open the other end of a pipe"""
SILENCE = 60.0
"""seconds for which a program that has opened the other end may write nothing"""
_PAUSE = 0.02
_BLOCK = 1 << 16


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a pipe, such as ``/dev/fd/63``; False if there is nothing.

    Example:
        >>> is_pipe("/no/such/file")
        False
    """
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_limited(path: str | os.PathLike[str], most: int) -> bytes:
    """The first ``most`` bytes of a file or of what another program writes to a pipe.

    Raises:
        OSError: it cannot be read, or it is a pipe and no program writes to it within the time limits.

    Example:
        >>> import os, tempfile
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     _ = file.write(b"all of it"), file.flush()
        ...     read_limited(file.name, 6)
        b'all of'
    """
    if not is_pipe(path):
        with open(path, "rb") as file:
            return file.read(most)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        return _drained(handle, most)
    finally:
        os.close(handle)


def open_to_read(path: str | os.PathLike[str], most: int) -> BinaryIO:
    """A binary file to read from; what a pipe or a device delivers is read into memory first.

    Raises:
        OSError: as for :func:`read_limited`; or a pipe or a device delivers more than ``most`` bytes.
    """
    if stat.S_ISREG(os.stat(path).st_mode):
        return open(path, "rb")
    content = read_limited(path, most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is no file, and delivers more than {most} bytes", os.fspath(path))
    return io.BytesIO(content)


def open_to_write(path: str | os.PathLike[str]) -> BinaryIO:
    """A pipe or a device as a binary file to write to.

    Raises:
        OSError: it cannot be opened, or it is a pipe that no program reads within the time limit.
    """
    if not is_pipe(path):
        return open(path, "wb")
    latest = time.monotonic() + OPENING
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
            break
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > latest:
                cause = f"it is a pipe, and no program began to read from it within {OPENING:g} s"
                raise OSError(errno.ENXIO, cause, os.fspath(path)) from None
            time.sleep(_PAUSE)
    os.set_blocking(handle, True)
    return os.fdopen(handle, "wb")


def _drained(handle: int, most: int) -> bytes:
    """Everything that other programs write to an open pipe until the last one closes it."""
    pieces: list[bytes] = []
    size, begun, heard = 0, False, time.monotonic()
    while size < most:
        try:
            piece = os.read(handle, min(_BLOCK, most - size))
        except BlockingIOError:  # a program holds the other end open and has not written yet
            begun = True
            if not select.select([handle], [], [], max(0.0, heard + SILENCE - time.monotonic()))[0]:
                cause = f"it is a pipe, and the program at its other end wrote nothing for {SILENCE:g} s"
                raise OSError(errno.ETIMEDOUT, cause) from None
            continue
        if piece:
            pieces.append(piece)
            size += len(piece)
            begun, heard = True, time.monotonic()
        elif begun:
            break
        elif time.monotonic() > heard + OPENING:
            raise OSError(errno.ETIMEDOUT, f"it is a pipe, and no program wrote to it within {OPENING:g} s")
        else:
            time.sleep(_PAUSE)
    return b"".join(pieces)
