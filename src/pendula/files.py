"""The one writer of files: a file under its final name is whole, and an old one is replaced only by a whole one.

Everything that Pendula writes goes through here. The content goes to a temporary name in the same folder and to the
disk (fsync), then the file is renamed. Whenever the process or the machine stops, the final name holds either the old
file or the new one. A disk that is full, a folder that does not exist or is closed to the user is one
:class:`~pendula.errors.UsageError` that names the path; then nothing has changed on disk.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pendula.errors import UsageError
from pendula.pipes import open_to_write

if TYPE_CHECKING:
    import numpy as np

UNFINISHED = ".part"  # how the names of files end while they are written
_NAME_CHARACTERS = 40  # of the final name that the temporary one repeats


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file to write to, which takes the name ``path`` at the end, if nothing went wrong until then.

    Links are followed, the permissions of an old file are kept, and what is no regular file (a pipe, ``/dev/stdout``)
    is written to directly.

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
        with _whole(path) as file:
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
def _whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    target = os.path.realpath(path)
    old = _stat(path)  # not of the target: /dev/fd/63 leads to a name that no file has
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(21, os.strerror(21), target)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open_to_write(path) as file:
            yield file
        return
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, os.strerror(13), target)
    folder, name = os.path.split(target)
    unfinished = os.path.join(folder, f".{name[:_NAME_CHARACTERS]}.{secrets.token_hex(6)}{UNFINISHED}")
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    handle = os.open(unfinished, flags, 0o666)
    try:
        with os.fdopen(handle, "w+b") as file:
            if old is not None and hasattr(os, "fchmod"):
                os.fchmod(handle, stat.S_IMODE(old.st_mode))
            yield file
            file.flush()
            os.fsync(handle)
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise
    _sync_folder(folder)


def _stat(path: str | os.PathLike[str]) -> os.stat_result | None:
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


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes a file; see :func:`writing`."""
    with writing(path) as file:
        file.write(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a text file, UTF-8 with lines that end in a newline alone; see :func:`writing`."""
    write_bytes(path, text.encode("utf-8"))


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Any], *, compressed: bool = True) -> None:
    """Writes arrays as an ``.npz`` file; see :func:`writing`. Without compression they can be mapped into memory."""
    with writing(path) as file:
        pack_arrays(file, arrays, compressed=compressed)


def pack_arrays(file: BinaryIO, arrays: Mapping[str, Any], *, compressed: bool = True) -> None:
    """Writes arrays as an archive of NumPy to an open file."""
    import numpy as np

    (np.savez_compressed if compressed else np.savez)(file, **arrays)


def write_figure(figure: Any, path: str | os.PathLike[str], *, dpi: float | None = None) -> None:
    """Writes a Matplotlib figure in the format that the name of the file ends with; a name without gets ``.png``."""
    named = Path(path)
    if not named.suffix:
        named = named.with_name(f"{named.name}.png")
    kind = named.suffix[1:].lower()
    with writing(named) as file:
        if kind == "png" and dpi in (None, figure.dpi) and hasattr(figure.canvas, "print_png"):
            figure.canvas.print_png(file)  # savefig would draw everything twice
        else:
            figure.savefig(file, dpi=dpi or "figure", format=kind)


def scratch_array(path: Path, kind: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """A new array in a file, for numbers that memory would not hold. The room on disk is taken at once.

    Raises:
        UsageError: there is not enough room. (Found out later, while the array is filled, it would end the process.)
    """
    import numpy as np

    array = np.lib.format.open_memmap(path, "w+", kind, shape)
    try:
        if hasattr(os, "posix_fallocate"):
            with open(path, "r+b") as file:
                os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise cannot_write(path, error) from None
    return array


def open_lock(path: Path) -> BinaryIO:
    """A file that processes lock and that holds nothing; it is made if there is none."""
    return open(path, "a+b")


def check_writable(path: Path) -> None:
    """Sees whether a file can be written, before long work starts; makes its folder if there is none.

    Raises:
        UsageError: it cannot.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        old = _stat(path)
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
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen).expanduser().absolute() / "pendula"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "pendula" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "pendula"
    return Path.home() / ".cache" / "pendula"
