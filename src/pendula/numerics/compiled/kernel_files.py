"""Machine code of compiled functions on disk: one file per signature, checked before it is used.

These files differ from numba's cache in three ways. A file starts with a checksum, so a damaged one is detected and
the kernel recompiled (damaged machine code would crash the process without a message). Every signature has its own
file, which records its source, so two processes that write at the same time cannot mix up their code. And loading does
not make numba import everything that compiling might need, which would take longer than all the rest.

This module uses private names of numba: :data:`PRIVATE` lists them, a test checks each, and ``pyproject.toml`` keeps
numba below the first untested version. Only this module and :mod:`pendula.numerics.compiled.parts` use such names.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import llvmlite.binding
from numba.core import options, sigutils
from numba.core.caching import _Cache
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from pendula.errors import UsageError
from pendula.numerics.compiled import ahead
from pendula.numerics.compiled.kernel_keys import code_digest, signature_text
from pendula.storage.files import write_bytes
from pendula.storage.private import DAY, read_private, remove_foreign

UNUSED_DAYS = 30.0  # kernels are removed after this long without use
DIGEST_BYTES = hashlib.sha256().digest_size

PRIVATE = {
    "numba.core.caching": "_Cache",
    "numba.core.ccallback": "CFunc",
    "numba.core.compiler": "CompileResult._rebuild CompileResult._reduce",
    "numba.core.runtime": "rtsys.initialize",
    "numba.core.options": "DefaultOptions._nrt",
    "numba.core.codegen": "CPUCodeLibrary.has_dynamic_globals CPUCodeLibrary._optimize_final_module",
}
"""undocumented names of numba that are used, by module"""

NOTHING_COUNTED: dict[str, Any] = {"_nrt": False} if hasattr(options.DefaultOptions, "_nrt") else {}
"""options of a function that allocates nothing: no reference counting of arrays"""


def uncompiled_callback(function: Callable[..., Any], signature: str, settings: dict[str, Any]) -> Any:
    """The object that ``numba.cfunc`` makes from a function, before it is compiled."""
    return CFunc(function, sigutils.normalize_signature(signature), locals={}, options=settings)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


@lru_cache
def _remove_unused(directory: Path) -> None:
    """Removes kernels that have not been used for a while, once per process (best effort)."""
    oldest = time.time() - UNUSED_DAYS * DAY
    for path in directory.glob("*.kernel"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def _named(function: Callable[..., Any]) -> str:
    """Prefix of the names of a function's files."""
    name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
    return "".join(c if c.isalnum() or c in "._" else "" for c in name)[:80]


def _needed_symbols(result: Any) -> list[str]:
    """External functions and data to which the machine code refers."""
    module = result.library._final_module
    outside = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    return outside + [v.name for v in module.global_variables if v.is_declaration]


def _all_known(symbols: list[str]) -> bool:
    return all(llvmlite.binding.address_of_symbol(name) is not None for name in symbols)


def with_files(made: Any, files: KernelFiles) -> Any:
    """A function that numba made, with its machine code cached in our files."""
    made._cache = files
    return made


def files_of(made: Any) -> KernelFiles | None:
    """The files of a function that numba made, if it has any."""
    files = getattr(made, "_cache", None)
    return files if isinstance(files, KernelFiles) else None


class KernelFiles(_Cache):
    """Replaces numba's cache: numba loads the machine code of a function from it, and saves new code to it.

    Args:
        function: the Python function that is compiled.
        directory: directory of the files.
        settings: options of the compilation.
        note: called with a sentence if something cannot be cached.
    """

    def __init__(
        self, function: Callable[..., Any], directory: Path, settings: dict[str, Any], note: Callable[[str], None]
    ) -> None:
        self._function, self._directory, self._settings, self._note = function, directory, settings, note
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
        """Delete the files of all signatures of this function."""
        for path in self._directory.glob(f"{_named(self._function)}-*.kernel"):
            path.unlink(missing_ok=True)

    def _key(self, signature: object, codegen: Any) -> str:
        """A text that differs whenever the machine code might differ."""
        made_of = code_digest(self._function, self._settings)
        return repr((made_of, self._function.__qualname__, codegen.magic_tuple(), signature_text(signature)))

    def _path(self, key: str) -> Path:
        """The file of a key: name of the function, start of the digest of its code, digest of the whole key."""
        whole = hashlib.sha256(key.encode()).hexdigest()
        return self._directory / f"{_named(self._function)}-{key[2:18]}-{whole[:24]}.kernel"

    def any_kept(self) -> bool:
        """Whether there is a file for the current version of this function, for any signature."""
        made_of = code_digest(self._function, self._settings)
        return any(self._directory.glob(f"{_named(self._function)}-{made_of[:16]}-*.kernel"))

    def load_overload(self, sig: object, target_context: Any) -> Any:
        """The compiled function for a signature, or None if there is no intact file of it."""
        if not self._enabled:
            return None
        found = self._loaded(sig, target_context)
        if found is None:
            if ahead.wait_for(self._function):
                found = self._loaded(sig, target_context)
            if found is None:
                ahead.found_missing(self._function)
        return found

    def _loaded(self, signature: object, target: Any) -> Any:
        try:
            key = self._key(signature, target.codegen())
            path = self._path(key)
            content = read_private(path)
        except OSError:
            return None
        if content[:DIGEST_BYTES] != _digest(content[DIGEST_BYTES:]):
            return None
        try:
            return self._rebuilt(key, signature, content, target)
        except Exception:  # an unusable file must never stop the work: recompile
            return None

    def _rebuilt(self, key: str, signature: object, content: bytes, target: Any) -> Any:
        """The function in an intact file; None if its key differs or a symbol is missing here."""
        found_key, found_signature, symbols, payload = pickle.loads(memoryview(content)[DIGEST_BYTES:])
        if found_key != key or found_signature != signature:
            return None
        rtsys.initialize(target)
        if not _all_known(symbols):
            target.refresh()  # imports all of numba, which may define the symbols
            if not _all_known(symbols):
                return None
        return CompileResult._rebuild(target, *payload)

    def save_overload(self, sig: object, data: Any) -> None:
        """Save a function that has just been compiled, if possible."""
        if not self._enabled or data.lifted:
            return
        if data.library.has_dynamic_globals:
            self._note(f"{self._function.__name__} contains addresses of this process")
            return
        try:
            key = self._key(sig, data.codegen)
            payload = dumps((key, sig, _needed_symbols(data), data._reduce()))
            self._write(self._path(key), _digest(payload) + payload)
            _remove_unused(self._directory)
        except (OSError, UsageError, pickle.PicklingError) as error:
            self._note(str(error))
            self.disable()

    def _write(self, path: Path, content: bytes) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_foreign(path)
        write_bytes(path, content, mode=0o600)
