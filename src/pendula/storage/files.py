"""The one writer of files: a file under its final name is whole, and an old one is replaced only by a whole one.

Everything that Pendula writes goes through here. The content goes to a file without a name (or with a temporary one,
where files must have names) in the same folder and to the disk (fsync), then the file gets its name. Whenever the
process or the machine stops, the final name holds either the old file or the new one. A disk that is full, a folder
that does not exist or is closed to the user is one :class:`~pendula.errors.UsageError` that names the path; then
nothing has changed on disk.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from pendula.errors import UsageError
from pendula.interrupts import uninterrupted
from pendula.storage.inside import held
from pendula.storage.pipes import open_to_write

UNFINISHED = ".part"  # how the names of files end while they are written
_NAME_CHARACTERS = 40  # of the final name that the temporary one repeats
_ABANDONED = 60.0  # seconds after which a file that nobody writes is removed


@contextlib.contextmanager
def writing(path: str | os.PathLike[str], *, mode: int | None = None, follow: bool = True) -> Iterator[BinaryIO]:
    """A binary file to write to, which takes the name ``path`` at the end, if nothing went wrong until then.

    Links are followed, the permissions of an old file are kept unless ``mode`` gives others, and anything but a
    regular file (a pipe, ``/dev/stdout``) is written to directly. With ``follow=False`` neither the file nor its folder
    may be a link, and the file no other than a regular one.

    Raises:
        UsageError: it cannot be written; the message names the path and the cause.

    Example:
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with writing(f"{folder}/a.txt") as file:
        ...         _ = file.write(b"all of it")
        ...     [entry.name for entry in pathlib.Path(folder).iterdir()]
        ['a.txt']
    """
    try:
        with _whole(path, mode) if follow else _whole_inside(Path(path)) as file:
            yield file
    except OSError as error:
        raise cannot_write(path, error) from None
    except ValueError as error:  # a path that no file can have
        if "null byte" not in str(error) and "null character" not in str(error):
            raise
        raise cannot_write(path, error) from None


def cannot_write(path: str | os.PathLike[str], error: Exception) -> UsageError:
    """The error that names a path and why it cannot be written."""
    shown = "".join(c if c.isprintable() else "?" for c in os.fspath(path))
    return UsageError(f'"{shown}" cannot be written: {getattr(error, "strerror", None) or error}')


@contextlib.contextmanager
def _whole(path: str | os.PathLike[str], mode: int | None) -> Iterator[BinaryIO]:
    target = os.path.realpath(path)
    old = stat_of(path)  # not of the target: /dev/fd/63 leads to a name that no file has
    if old is not None and not stat.S_ISREG(old.st_mode) and not stat.S_ISDIR(old.st_mode):
        with open_to_write(path) as file:
            yield file
        return
    unfinished = Unfinished(target, old, mode)
    try:
        yield unfinished.file
        unfinished.publish()
    finally:
        unfinished.drop()


@contextlib.contextmanager
def _whole_inside(path: Path) -> Iterator[BinaryIO]:
    with held(path.parent) as folder:
        target = folder / path.name
        old = target.lstat() if os.path.lexists(target) else None
        if old is not None and not stat.S_ISREG(old.st_mode):
            raise OSError(errno.ELOOP, "it is a link or not a file")
        unfinished = Unfinished(str(target), old)
        try:
            yield unfinished.file
            unfinished.publish()
        finally:
            unfinished.drop()


class Unfinished:
    """A new file that has no name until it is whole, so that nothing stays if the process is killed.

    Where files must have names (other systems than Linux, some file systems) it has a temporary one, and what killed
    processes left of the same file is removed.
    """

    def __init__(self, target: str, old: os.stat_result | None, mode: int | None = None) -> None:
        if old is not None and stat.S_ISDIR(old.st_mode):
            raise IsADirectoryError(21, os.strerror(21), target)
        if old is not None and not os.access(target, os.W_OK):
            raise PermissionError(13, os.strerror(13), target)
        self._target, self._name = target, ""
        self._folder, name = os.path.split(target)
        self._begin = f".{name[:_NAME_CHARACTERS]}."
        self.file = os.fdopen(self._open(), "w+b")
        if mode is None and old is not None:
            mode = stat.S_IMODE(old.st_mode)
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(self.file.fileno(), mode)

    def _open(self) -> int:
        flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
        if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
            with contextlib.suppress(OSError):  # this file system has none
                return os.open(self._folder or ".", flags | os.O_TMPFILE, 0o666)
        handle = self._named(flags)
        self._remove_abandoned()
        return handle

    def _named(self, flags: int) -> int:
        name = self._other_name()
        handle = os.open(name, flags | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        self._name = name
        _lock(handle)
        return handle

    def _remove_abandoned(self) -> None:
        """Removes files that no process writes any more: a process that writes one holds its lock."""
        for entry in os.scandir(self._folder or "."):
            left = entry.name.startswith(self._begin) and entry.name.endswith(UNFINISHED) and entry.path != self._name
            with contextlib.suppress(OSError):
                if left and time.time() - entry.stat().st_mtime > _ABANDONED:
                    handle = os.open(entry.path, os.O_RDWR)
                    try:
                        _lock(handle)
                    finally:
                        os.close(handle)
                    os.unlink(entry.path)

    def publish(self) -> None:
        """Brings the content to the disk and gives the file its name."""
        self.file.flush()
        os.fsync(self.file.fileno())
        if self._name:
            self.file.close()  # Windows renames no file that is open
        elif self._link(self._target):
            _sync_folder(self._folder)
            return
        else:  # rename alone replaces an old file
            other = self._other_name()
            if self._link(other):
                self._name = other
            else:
                self._copy()
        os.replace(self._name, self._target)
        self._name = ""
        _sync_folder(self._folder)

    def _other_name(self) -> str:
        return os.path.join(self._folder, f"{self._begin}{secrets.token_hex(6)}{UNFINISHED}")

    def _link(self, name: str) -> bool:
        """Gives a file without a name one that no other has; False if it cannot have it."""
        folder = os.open(self._folder or ".", os.O_RDONLY)
        try:
            source = f"/proc/self/fd/{self.file.fileno()}"
            os.link(source, name, src_dir_fd=folder, follow_symlinks=True)  # the folder: else it would link the link
        except OSError:
            return False
        finally:
            os.close(folder)
        return True

    def _copy(self) -> None:
        """A copy with a name, where files without one cannot get one later."""
        import shutil

        with os.fdopen(self._named(os.O_RDWR), "wb") as copy:
            self.file.seek(0)
            shutil.copyfileobj(self.file, copy)
            os.fchmod(copy.fileno(), stat.S_IMODE(os.fstat(self.file.fileno()).st_mode))
            copy.flush()
            os.fsync(copy.fileno())

    def keep(self) -> str:
        """Saves a whole file that cannot have its name under another one, in its folder or that for temporary files."""
        stem, ending = os.path.splitext(os.path.basename(self._target))
        name = f"{stem[:_NAME_CHARACTERS]}-{secrets.token_hex(4)}{ending}"
        with contextlib.suppress(OSError):
            if self._name:
                other = os.path.join(self._folder, name)
                os.rename(self._name, other)
                self._name = ""
                return other
        with contextlib.suppress(OSError, ValueError):  # ValueError: it was closed
            import shutil
            import tempfile

            other = os.path.join(tempfile.gettempdir(), name)
            self.file.seek(0)
            with writing(other) as copy:
                shutil.copyfileobj(self.file, copy)
            return other
        return ""

    def drop(self) -> None:
        """Removes the file, unless it was published."""
        with contextlib.suppress(OSError):  # a buffer that finds no room
            self.file.close()
        if self._name:
            with contextlib.suppress(OSError):
                os.unlink(self._name)


def _lock(handle: int) -> None:
    """Locks an open file where that can be done.

    Raises:
        OSError: another process holds it.
    """
    with contextlib.suppress(ImportError):  # Windows, where a file that is open cannot be removed anyway
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def stat_of(path: str | os.PathLike[str]) -> os.stat_result | None:
    """What the system knows about a file; None if there is none."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _sync_folder(folder: str) -> None:
    """Brings the new name to the disk, where folders can be synchronized (not on Windows)."""
    with contextlib.suppress(OSError):
        handle = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_bytes(path: str | os.PathLike[str], content: bytes, *, mode: int | None = None, follow: bool = True) -> None:
    """Writes a file; see :func:`writing`."""
    with writing(path, mode=mode, follow=follow) as file:
        file.write(content)


def write_text(path: str | os.PathLike[str], text: str, *, follow: bool = True) -> None:
    """Writes a text file, UTF-8 with lines that end in a newline alone; see :func:`writing`."""
    write_bytes(path, text.encode("utf-8"), follow=follow)


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Any], *, compressed: bool = True) -> None:
    """Writes arrays as an ``.npz`` file; see :func:`writing`. Without compression they can be mapped into memory."""
    with writing(path) as file:
        pack_arrays(file, arrays, compressed=compressed)


def pack_arrays(file: BinaryIO, arrays: Mapping[str, Any], *, compressed: bool = True) -> None:
    """Writes arrays as an archive of NumPy to an open file."""
    import numpy as np

    with uninterrupted():  # an archive with an open entry refuses to close, and its ValueError would hide the interrupt
        (np.savez_compressed if compressed else np.savez)(file, **arrays)


def write_figure(figure: Any, path: str | os.PathLike[str], *, dpi: float | None = None) -> None:
    """Writes a Matplotlib figure in the format that the name of the file ends with; a name without gets ``.png``."""
    named = Path(path)
    if not named.suffix:
        named = named.with_name(f"{named.name}.png")
    kind = named.suffix[1:].lower()
    drawn = io.BytesIO()  # Matplotlib's PDF ends in other errors when a file finds no room
    if kind == "png" and dpi in (None, figure.dpi) and hasattr(figure.canvas, "print_png"):
        figure.canvas.print_png(drawn)  # savefig would draw everything twice
    else:
        figure.savefig(drawn, dpi=dpi or "figure", format=kind)
    write_bytes(named, drawn.getvalue())


def give_name(made: Path, name: Path) -> None:
    """Gives a whole file a name that no other file has.

    Raises:
        FileExistsError: another file has it.
        OSError: it cannot have it.
    """
    try:
        os.link(made, name)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: an empty file holds the name for a moment
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.replace(made, name)
    _sync_folder(str(name.parent))


def open_lock(path: Path) -> BinaryIO:
    """A file that processes lock and that holds nothing; it is made if there is none, and not where a link leads.

    Raises:
        OSError: it cannot be made, or it is a link or a pipe.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o666)
    try:
        return os.fdopen(handle, "r+b")
    except OSError:  # it is a pipe
        os.close(handle)
        raise


def check_writable(path: Path) -> None:
    """Checks that a file can be written, before long work starts; makes its folder if there is none.

    Raises:
        UsageError: it cannot.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        old = stat_of(path)
        if old is not None and (stat.S_ISDIR(old.st_mode) or not os.access(path, os.W_OK)):
            code = 21 if stat.S_ISDIR(old.st_mode) else 13
            raise OSError(code, os.strerror(code))
        if old is None or stat.S_ISREG(old.st_mode):
            folder = os.path.dirname(os.path.realpath(path))
            probe = os.path.join(folder, f".{secrets.token_hex(6)}{UNFINISHED}")
            os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.unlink(probe)
    except (OSError, ValueError) as error:
        raise cannot_write(path, error) from None


def cache_root() -> Path:
    """Per-user directory for what can be computed again, such as compiled kernels; this does not create it."""
    if chosen := os.environ.get("PENDULA_CACHE_DIR"):
        return Path(chosen).expanduser().absolute()
    if (chosen := os.environ.get("XDG_CACHE_HOME")) and Path(chosen).expanduser().is_absolute():  # as its rules say
        return Path(chosen).expanduser() / "pendula"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "pendula" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "pendula"
    return Path.home() / ".cache" / "pendula"
