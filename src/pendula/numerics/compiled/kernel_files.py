"""Machine code of one compiled function on disk: one file for each signature, checked before it is used.

Numba has files of its own for this. These differ in three ways. A file starts with a checksum, so a damaged one is
noticed and compiled anew (bad machine code would end the process without a word). Every signature has its own file,
which names what it was made from, so two processes that write at the same time cannot mix up their code. And loading
does not make numba import everything it could need to compile, which would take longer than all the rest.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

DIGEST_BYTES = hashlib.sha256().digest_size


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def source_stamp(path: str, packages: tuple[Path, ...]) -> tuple[object, ...]:
    """What changes when a source file does. Files in ``packages`` are already in the name of the directory.

    Raises:
        OSError: there is no such file, e.g. for a function typed at a prompt.
    """
    if any(Path(path).is_relative_to(package) for package in packages):
        return ()
    found = os.stat(path)
    return (os.path.abspath(path), found.st_mtime_ns, found.st_size)


def _named(function: Callable[..., Any]) -> str:
    """Start of the names of the files of a function."""
    name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
    return "".join(c if c.isalnum() or c in "._" else "" for c in name)[:80]


def _needed_symbols(result: Any) -> list[str]:
    """Functions and data outside the machine code that it refers to."""
    module = result.library._final_module
    outside = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    return outside + [v.name for v in module.global_variables if v.is_declaration]


def _all_known(symbols: list[str]) -> bool:
    return all(llvmlite.binding.address_of_symbol(name) is not None for name in symbols)


class KernelFiles(_Cache):
    """What numba asks for the machine code of a function, and gives it to, in place of its own cache.

    Args:
        function: the Python function that is compiled.
        directory: where the files are.
        stamp: of the function's source (:func:`source_stamp`).
        note: called with a sentence when something could not be kept.
    """

    def __init__(
        self, function: Callable[..., Any], directory: Path, stamp: tuple[object, ...], note: Callable[[str], None]
    ) -> None:
        self._function, self._directory, self._stamp, self._note = function, directory, stamp, note
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """The directory."""
        return str(self._directory)

    def enable(self) -> None:
        """Use the files (again)."""
        self._enabled = True

    def disable(self) -> None:
        """Neither read nor write files."""
        self._enabled = False

    def flush(self) -> None:
        """Forget all signatures of this function."""
        for path in self._directory.glob(f"{_named(self._function)}-*.kernel"):
            path.unlink(missing_ok=True)

    def _key(self, signature: object, codegen: Any) -> str:
        """Text that is different whenever the machine code could be."""
        code, cells = self._function.__code__, self._function.__closure__ or ()
        kept = hashlib.sha256(code.co_code).hexdigest()
        if cells:
            kept += hashlib.sha256(dumps(tuple(cell.cell_contents for cell in cells))).hexdigest()
        where = (self._function.__module__, self._function.__qualname__, code.co_firstlineno, *self._stamp)
        return repr((where, kept, codegen.magic_tuple(), signature))

    def _path(self, key: str) -> Path:
        return self._directory / f"{_named(self._function)}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.kernel"

    def holds(self, signature: object, target_context: Any) -> bool:
        """Whether there is a file for a signature; it may turn out to be damaged."""
        return self._enabled and self._path(self._key(signature, target_context.codegen())).exists()

    def load_overload(self, sig: object, target_context: Any) -> Any:
        """The compiled function for a signature, or None where there is no sound file of it."""
        if not self._enabled:
            return None
        key = self._key(sig, target_context.codegen())
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        if content[:DIGEST_BYTES] != _digest(content[DIGEST_BYTES:]):
            return None
        try:
            return self._rebuilt(key, sig, content, target_context)
        except Exception:  # whatever made it, a file that cannot be used must not stop the work: compile anew
            return None

    def _rebuilt(self, key: str, signature: object, content: bytes, target: Any) -> Any:
        """The function in a sound file; None if it belongs to something else or lacks a symbol here."""
        found_key, found_signature, symbols, payload = pickle.loads(memoryview(content)[DIGEST_BYTES:])
        if found_key != key or found_signature != signature:
            return None
        rtsys.initialize(target)
        if not _all_known(symbols):
            target.refresh()  # imports everything numba has; some of it brings symbols
            if not _all_known(symbols):
                return None
        return CompileResult._rebuild(target, *payload)

    def save_overload(self, sig: object, data: Any) -> None:
        """Keep a function that has just been compiled, where that is possible."""
        if not self._enabled or data.lifted:
            return
        if data.library.has_dynamic_globals:
            self._note(f"{self._function.__name__} holds addresses of this process")
            return
        key = self._key(sig, data.codegen)
        try:
            payload = dumps((key, sig, _needed_symbols(data), data._reduce()))
            self._write(self._path(key), _digest(payload) + payload)
        except (OSError, pickle.PicklingError) as error:
            self._note(str(error))
            self.disable()

    def _write(self, path: Path, content: bytes) -> None:
        """All of a file or nothing, whoever else writes it."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=self._directory)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(unfinished, path)
        except OSError:
            Path(unfinished).unlink(missing_ok=True)
            raise
