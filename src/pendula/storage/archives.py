"""Archives of arrays (``.npz``) that are filled in place, while what they hold is computed."""

from __future__ import annotations

import contextlib
import errno
import io
import math
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.storage.files import Unfinished, cannot_write, stat_of
from pendula.storage.room import in_words

_ALIGNED = 64  # bytes
_PADDING_FIELD = 0xD935  # of an entry in a zip file; tools that align entries use this one


class ArrayArchive:
    """An ``.npz`` file in the making, whose large arrays are mapped into memory and filled while they are computed.

    Their places in the file are laid out at the beginning and their room on disk is taken, so that nothing is copied
    at the end and a full disk is found before the work starts. (Found while a mapped array is filled, it would end
    the process.) The file has its final name once it is whole.

    Args:
        path: the final name.
        shapes: of the arrays to be mapped, by name; they hold numbers of type float64, at first NaN.
        more: bytes to be reserved for other arrays, which :meth:`write` adds.

    Raises:
        UsageError: it cannot be written, or there is not enough room.

    Example:
        >>> import tempfile, numpy as np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     archive = ArrayArchive(f"{folder}/a.npz", {"x": (2, 3)}, more=1000)
        ...     archive.arrays["x"][:] = 1.0
        ...     archive.write({"y": np.arange(3)})
        ...     archive.publish()
        ...     with np.load(f"{folder}/a.npz") as found:
        ...         float(found["x"].sum()), found["y"].tolist()
        (6.0, [0, 1, 2])
    """

    def __init__(self, path: str | os.PathLike[str], shapes: Mapping[str, tuple[int, ...]], more: int) -> None:
        self._path = path
        self.arrays: dict[str, np.ndarray] = {}
        """the mapped arrays by name; :meth:`publish` forgets them, and others must do so before"""
        self._members: list[tuple[zipfile.ZipInfo, bytes]] = []
        try:
            target = os.path.realpath(path)
            old = stat_of(target)
            if old is not None and not stat.S_ISREG(old.st_mode):
                raise OSError(21, "it is not a regular file, and arrays cannot be mapped to it")
            self._file = Unfinished(target, old)
        except (OSError, ValueError) as error:
            raise cannot_write(path, error) from None
        try:
            self._lay_out(shapes, more)
        except OSError as error:
            self.drop()
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise cannot_write(path, _no_room(os.path.dirname(target), self._size(shapes) + more)) from None
            raise cannot_write(path, error) from None
        except BaseException:
            self.drop()
            raise

    @staticmethod
    def _size(shapes: Mapping[str, tuple[int, ...]]) -> int:
        return sum(8 * math.prod(shape) + 1024 for shape in shapes.values())

    def _lay_out(self, shapes: Mapping[str, tuple[int, ...]], more: int) -> None:
        file, size = self._file.file, self._size(shapes)
        free = shutil.disk_usage(os.path.dirname(os.path.realpath(self._path))).free
        if size + more > free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size + more)
        for name, shape in shapes.items():
            header = io.BytesIO()
            described = {"descr": "<f8", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(header, described)
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            info.header_offset = file.tell()
            info.CRC = 0  # known at the end
            info.external_attr = 0o600 << 16
            info.file_size = info.compress_size = len(header.getvalue()) + 8 * math.prod(shape)
            # A field that says nothing, so that numbers begin at a multiple of 64 bytes
            padding = -(info.header_offset + len(info.FileHeader(zip64=True)) + 4) % _ALIGNED
            info.extra = struct.pack("<HH", _PADDING_FIELD, padding) + bytes(padding)
            file.write(info.FileHeader(zip64=True) + header.getvalue())
            self._members.append((info, header.getvalue()))
            begin, left = file.tell(), math.prod(shape)
            block = np.full(min(left, 1 << 17), np.nan)
            for k in range(0, left, max(block.size, 1)):
                file.write(block[: left - k].data)  # not through the map: a full disk is an error here
            file.flush()
            self.arrays[name] = np.memmap(file, "<f8", "r+", begin, shape) if left else np.zeros(shape)
            file.seek(begin + 8 * left)
        self._end = file.tell()

    def write(self, others: Mapping[str, Any]) -> None:
        """Adds the other arrays and completes the archive; those that are mapped are there already.

        Raises:
            UsageError: it cannot be written.
        """
        try:
            file = self._file.file
            file.seek(self._end)
            with zipfile.ZipFile(file, "w") as archive:
                for name, values in others.items():
                    if name not in self.arrays:
                        with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                            np.lib.format.write_array(member, np.asanyarray(values), allow_pickle=False)
                for info, header in self._members:
                    flat = self.arrays[info.filename[:-4]].reshape(-1)
                    info.CRC = (
                        zlib.crc32(flat.view(np.uint8).data, zlib.crc32(header)) if flat.size else zlib.crc32(header)
                    )
                    archive.filelist.append(info)
                    archive.NameToInfo[info.filename] = info
            self._end = file.tell()
            for info, _ in self._members:
                file.seek(info.header_offset)
                file.write(info.FileHeader(zip64=True))
            file.flush()
        except OSError as error:
            raise cannot_write(self._path, error) from None

    def publish(self) -> None:
        """Gives the file its final name.

        Raises:
            UsageError: it cannot have this name; the message says where it is instead.
        """
        self.arrays.clear()
        try:
            self._file.file.truncate(self._end)
            self._file.publish()
        except OSError as error:
            kept = self._file.keep()
            refused = cannot_write(self._path, error)
            raise UsageError(f"{refused}\n  The results are " + (f'kept in "{kept}".' if kept else "lost.")) from None
        finally:
            self._file.drop()

    def drop(self) -> None:
        """Removes the file, unless it was published."""
        self.arrays.clear()
        self._file.drop()


def _no_room(folder: str, size: int) -> OSError:
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(folder).free
        return OSError(errno.ENOSPC, f"it takes {in_words(size)}, and {in_words(free)} are free")
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
