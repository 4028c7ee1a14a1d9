"""Machine code of one compiled function on disk: one file for each signature, checked before it is used.

Numba has its own files for this. These differ in three ways. A file starts with a checksum, so a damaged one is
noticed and compiled anew (bad machine code would end the process without a word). Every signature has its own file,
which names what it was made from, so two processes that write at the same time cannot mix up their code. And loading
does not make numba import everything it could need to compile, which would take longer than all the rest.

What this uses of numba is not public: :data:`PRIVATE` lists it, a test looks for each name, and ``pyproject.toml``
holds numba below the first version that has not been tried. Only this module and
:mod:`pendula.numerics.compiled.parts` use private names of numba.

"""

from __future__ import annotations

import contextlib
import hashlib
import os
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
from pendula.files import write_bytes
from pendula.numerics.compiled import ahead
from pendula.numerics.compiled.kernel_keys import code_digest, signature_text

DAY = 86400.0  # seconds
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
"""what is used of numba beyond its documentation, by module"""

NOTHING_COUNTED: dict[str, Any] = {"_nrt": False} if hasattr(options.DefaultOptions, "_nrt") else {}
"""options of a function in which nothing is allocated: references to arrays are not counted"""


def uncompiled_callback(function: Callable[..., Any], signature: str, settings: dict[str, Any]) -> Any:
    """What ``numba.cfunc`` makes of a function, before it is compiled."""
    return CFunc(function, sigutils.normalize_signature(signature), locals={}, options=settings)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _mark_used(path: Path) -> None:
    """Renews the time of a file, at most once a day."""
    if time.time() - path.stat().st_mtime > DAY:
        os.utime(path)


@lru_cache
def _remove_unused(directory: Path) -> None:
    """Removes kernels that nobody has used for a while, once in a process (best effort)."""
    oldest = time.time() - UNUSED_DAYS * DAY
    for path in directory.glob("*.kernel"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


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


def with_files(made: Any, files: KernelFiles) -> Any:
    """A function that numba made, with its machine code kept in our files."""
    made._cache = files
    return made


def files_of(made: Any) -> KernelFiles | None:
    """The files that a function of numba's was given, if any."""
    files = getattr(made, "_cache", None)
    return files if isinstance(files, KernelFiles) else None


class KernelFiles(_Cache):
    """Replaces numba's cache: numba asks it for the machine code of a function, and hands new code to it.

    Args:
        function: the Python function that is compiled.
        directory: where the files are.
        settings: the options it is compiled with.
        note: called with a sentence when something could not be kept.
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
        """Forget all signatures of this function."""
        for path in self._directory.glob(f"{_named(self._function)}-*.kernel"):
            path.unlink(missing_ok=True)

    def _key(self, signature: object, codegen: Any) -> str:
        """Text that is different whenever the machine code could be."""
        made_of = code_digest(self._function, self._settings)
        return repr((made_of, self._function.__qualname__, codegen.magic_tuple(), signature_text(signature)))

    def _path(self, key: str) -> Path:
        """The file of a key: name of the function, start of the digest of its code, digest of the whole key."""
        whole = hashlib.sha256(key.encode()).hexdigest()
        return self._directory / f"{_named(self._function)}-{key[2:18]}-{whole[:24]}.kernel"

    def any_kept(self) -> bool:
        """Whether there is a file of this function as it is now, for any signature."""
        made_of = code_digest(self._function, self._settings)
        return any(self._directory.glob(f"{_named(self._function)}-{made_of[:16]}-*.kernel"))

    def load_overload(self, sig: object, target_context: Any) -> Any:
        """The compiled function for a signature, or None where there is no sound file of it."""
        if not self._enabled:
            return None
        found = self._loaded(sig, target_context)
        if found is None and ahead.wait_for(self._function):
            found = self._loaded(sig, target_context)
        return found

    def _loaded(self, signature: object, target: Any) -> Any:
        try:
            key = self._key(signature, target.codegen())
            path = self._path(key)
            content = path.read_bytes()
            _mark_used(path)
        except OSError:
            return None
        if content[:DIGEST_BYTES] != _digest(content[DIGEST_BYTES:]):
            return None
        try:
            return self._rebuilt(key, signature, content, target)
        except Exception:  # for any cause, a file that cannot be used must not stop the work: compile anew
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
        write_bytes(path, content)
