"""Room for results: memory and disk that are available, compared with what a computation will need before it starts.

A computation whose arrays do not fit would fail after hours, or the operating system would end it without a word. So
code that is about to make large arrays adds up their sizes and calls :func:`refuse_if_too_large` first.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from pendula.errors import UsageError

SPARE_MEMORY = 0.9
"""largest fraction of the available memory that arrays may take"""
SMALL = 64_000_000
"""bytes below which nothing is measured: they fit everywhere"""
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def in_words(size: float) -> str:
    """A number of bytes in words.

    Example:
        >>> in_words(640), in_words(1_234_567_890), in_words(8e12)
        ('640 bytes', '1.2 GB', '8.0 TB')
    """
    step = 0
    while size >= 999.5 and step < len(_UNITS) - 1:
        size, step = size / 1000, step + 1
    return f"{size:.0f} {_UNITS[step]}" if step == 0 or size >= 99.5 else f"{size:.1f} {_UNITS[step]}"


def bytes_of(shapes: Iterable[Iterable[int]], each: int = 8) -> int:
    """Bytes of arrays with these shapes, ``each`` byte for an entry; exact for any size.

    Example:
        >>> bytes_of([(10_000_000, 100_000, 2)])
        16000000000000
    """
    total = 0
    for shape in shapes:
        entries = 1
        for length in shape:
            entries *= int(length)
        total += entries * each
    return total


def bytes_available_memory() -> int | None:
    """Bytes of memory that this process can still take: of the machine, its container and its own limits.

    None if the operating system does not report it.

    Example:
        >>> bytes_available_memory() is None or bytes_available_memory() > 0
        True
    """
    found = [size for size in (_of_machine(), _of_container(), _of_process()) if size is not None]
    return max(0, min(found)) if found else None


def most_memory() -> int:
    """Largest memory that this process has had, in bytes; 0 if it is not known.

    Example:
        >>> most_memory() == 0 or most_memory() > 1_000_000
        True
    """
    try:  # Linux: ru_maxrss begins with the memory of the process that started this one, so it may be of another one
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM:"))
    except (OSError, ValueError, IndexError, StopIteration):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def bytes_free_on_disk(path: str | os.PathLike[str]) -> int | None:
    """Bytes free to this user on the disk that holds a path, which need not exist; None if that is unknown.

    Example:
        >>> bytes_free_on_disk("no/such/folder/run.npz") > 0
        True
    """
    try:
        here = Path(path).absolute()
        while not here.is_dir():
            if here == here.parent:
                return None
            here = here.parent
        return shutil.disk_usage(here).free
    except (OSError, ValueError):
        return None


def refuse_if_too_large(
    what: str, memory: int, *, disk: Mapping[str | os.PathLike[str], int] | None = None, reduce: str = ""
) -> None:
    """Refuses a computation whose arrays would not fit, before it starts.

    Args:
        what: the computation in words, such as "10,000,000 runs of 100,000 samples".
        memory: bytes it will hold in memory.
        disk: bytes it will write, by the path to which.
        reduce: what to try, such as "fewer runs or fewer samples".

    Raises:
        UsageError: names the size, what is available, and what to reduce.

    Example:
        >>> refuse_if_too_large("10 runs", 8_000)
        >>> refuse_if_too_large("10 runs", 8 * 10**18, reduce="fewer runs")
        Traceback (most recent call last):
        pendula.errors.UsageError: 10 runs need 8.0 EB of memory, and ... available.
          Try: fewer runs.
    """
    advice = f"\n  Try: {reduce}." if reduce else ""
    if memory > SMALL:
        available = bytes_available_memory()
        if available is not None and memory > SPARE_MEMORY * available:
            raise UsageError(
                f"{what} need {in_words(memory)} of memory, and {in_words(available)} are available.{advice}"
            )
    for path, size in (disk or {}).items():
        if size <= SMALL:
            continue
        free = bytes_free_on_disk(path)
        if free is not None and size > free:
            shown = "".join(c if c.isprintable() else "?" for c in os.fspath(path))
            raise UsageError(
                f'{what} need {in_words(size)} on the disk of "{shown}", and {in_words(free)} are free.{advice}'
            )


def refuse_large(size: int) -> None:
    """Refuses arrays that do not fit into memory, before any of them is read.

    Raises:
        ValueError: they take ``size`` bytes, and there are fewer.
    """
    room = bytes_available_memory() if size > SMALL else None
    if room is not None and size > SPARE_MEMORY * room:
        raise ValueError(f"its values take {in_words(size)} of memory, and {in_words(room)} are available")


def _of_machine() -> int | None:
    """Memory of the machine that is free or can be freed, swap included."""
    try:
        with open("/proc/meminfo", encoding="ascii", errors="replace") as file:
            lines = dict(line.split(":", 1) for line in file if ":" in line)
        return sum(int(lines[name].split()[0]) * 1024 for name in ("MemAvailable", "SwapFree") if name in lines) or None
    except (OSError, ValueError, IndexError):
        pass
    try:  # elsewhere: all memory, which is an upper limit at least
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_container() -> int | None:
    """Memory that the limit of a container (cgroup version 2 or 1) leaves."""
    for folder, limit, used in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        try:
            most, now = (int(Path(folder, name).read_text(encoding="ascii")) for name in (limit, used))
            return most - now
        except (OSError, ValueError):  # ValueError: "max", no limit
            continue
    return None


def _of_process() -> int | None:
    """Memory that the limit of this process (``ulimit -v``) leaves."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        with open("/proc/self/statm", encoding="ascii") as file:
            return most - int(file.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError, IndexError):
        return None
