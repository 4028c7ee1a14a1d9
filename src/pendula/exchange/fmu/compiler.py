"""Compiles the source of an FMU by a C compiler that is found on this machine."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pendula.errors import ComputationError
from pendula.parallel.children import python
from pendula.storage.files import write_text

COMPILERS = ("cc", "gcc", "clang")
"""names of compilers, in the order in which they are tried"""
SECONDS = 600
"""longest time that a compiler may take"""

_ENDINGS = {"linux": ".so", "darwin": ".dylib", "win32": ".dll"}


def find_compiler() -> tuple[str, ...] | None:
    """The command of a C compiler: one on the path, or that of the package ``ziglang``; None if there is none.

    Example:
        >>> command = find_compiler()
        >>> command is None or len(command) >= 1
        True
    """
    for name in COMPILERS:
        found = shutil.which(name)
        if found:
            return (found,)
    if importlib.util.find_spec("ziglang") is not None:
        return tuple(python("-m", "ziglang", "cc"))
    return None


def platform_folder(fmi: int) -> str:
    """The folder of binaries for this machine, by the rules of FMI."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    system = {"linux": "linux", "darwin": "darwin", "win32": "windows"}.get(sys.platform, sys.platform)
    if fmi == 2 and machine == "x86_64":
        return {"linux": "linux64", "darwin": "darwin64", "windows": "win64"}.get(system, f"{machine}-{system}")
    return f"{machine}-{system}"


def library_ending() -> str:
    """The ending of shared libraries on this machine."""
    return _ENDINGS.get(sys.platform, ".so")


def compile_library(source: str, command: tuple[str, ...]) -> bytes:
    """The shared library of a source.

    Raises:
        ComputationError: the compiler refuses it; the message holds its first words.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, library = Path(folder, "model.c"), Path(folder, f"model{library_ending()}")
        write_text(file, source)
        flags = ["-std=c99", "-O2", "-shared", "-fvisibility=hidden", *([] if sys.platform == "win32" else ["-fPIC"])]
        words = [*command, *flags, str(file), "-o", str(library), *([] if sys.platform == "win32" else ["-lm"])]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise ComputationError(f"the C compiler {command[0]} took more than {SECONDS} s") from None
        if done.returncode != 0:
            raise ComputationError(f"the C compiler {command[0]} refused the source:\n  {done.stderr.strip()[:400]}")
        return library.read_bytes()
