"""Decorators that compile kernels and cache the machine code on disk.

The files (:mod:`pendula.numerics.compiled.kernel_files`) are keyed by everything that determines the machine code: the
name of the directory contains a hash of versions and processor, the name of each file a hash of the code and the
constants that its kernel reaches (:mod:`pendula.numerics.compiled.kernel_keys`).

The directory is ``$PENDULA_CACHE_DIR``, else ``$XDG_CACHE_HOME/pendula``, else the usual one of the platform
(``~/.cache/pendula``, ``~/Library/Caches/pendula``, ``%LOCALAPPDATA%\\pendula``). Cached code will be executed, so the
directory and every file in it must belong to the user and not be writable by others. Otherwise every process compiles
its kernels; :data:`cache_note` then states the reason.
"""

from __future__ import annotations

import gc
import hashlib
import os
import platform
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from llvmlite.binding import ModuleRef
from numba.core import event
from numba.core.codegen import JitEngine
from numba.core.compiler_lock import global_compiler_lock

from pendula.interrupts import uninterrupted
from pendula.numerics.compiled.kernel_files import (
    NOTHING_COUNTED,
    UNUSED_DAYS,
    KernelFiles,
    files_of,
    uncompiled_callback,
    with_files,
)
from pendula.numerics.compiled.native import Callback
from pendula.numerics.compiled.parts import PIPELINE, called_as_part
from pendula.storage.files import cache_root
from pendula.storage.private import DAY, make_private, refuse_others

NUMBA_OPTIONS = (
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "ENABLE_AVX",
    "CPU_NAME",
    "CPU_FEATURES",
)
CALLBACK_SIGNATURE = "void(intp, intp, intp)"

cache_note = ""
"""Empty while the disk cache works; otherwise a sentence that says why something is not cached."""

_lock = threading.RLock()


class _Uncollected(event.Listener):
    """Stops Python's search for garbage cycles while numba compiles: it takes an eighth of the time and finds little.

    Numba reports when a thread asks for its compiler lock and when it gives the lock back. A thread that waits for the
    lock may be interrupted, which numba does not report. So the search is stopped only by a thread that has the lock
    and asks for it again, as every pass of the compiler does.
    """

    def __init__(self) -> None:
        self._by: int | None = None  # the thread that stopped the search

    def on_start(self, event: Any) -> None:
        """A thread asks for the compiler lock."""
        me = threading.get_ident()
        if self._by == me or not global_compiler_lock.is_locked():
            return
        if self._by is not None or gc.isenabled():
            self._by = me
            gc.disable()

    def on_end(self, event: Any) -> None:
        """A thread has given the compiler lock back."""
        if self._by == threading.get_ident() and not global_compiler_lock.is_locked():
            gc.enable()
            self._by = None


event.register("numba:compiler_lock", _Uncollected())


def _hold_interrupts_in(owner: type, method: str) -> None:
    """Makes a keyboard interrupt wait until a call of LLVM is complete, which LLVM itself would not end sooner."""
    usual = getattr(owner, method)

    @wraps(usual)
    def call(*arguments: Any, **options: Any) -> Any:
        with uninterrupted():
            return usual(*arguments, **options)

    setattr(owner, method, call)


# LLVM hands machine code over to a Python function, which native code calls: an interrupt there would be ignored, and
# the code be missing.
_hold_interrupts_in(JitEngine, "finalize_object")
# A module gets another owner, which Python notes after the call: with an interrupt in between, both would free it.
_hold_interrupts_in(JitEngine, "add_module")
_hold_interrupts_in(ModuleRef, "link_in")


def processor() -> str:
    """The processor that code is compiled for, by the name that LLVM has for it."""
    return str(llvmlite.binding.get_host_cpu_name())


def environment_hash() -> str:
    """Digest of everything outside the sources that determines the machine code."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__, platform.python_version(), platform.machine())
    options = [getattr(numba.config, name, None) for name in NUMBA_OPTIONS]
    return hashlib.sha256(repr((versions, processor(), options)).encode()).hexdigest()[:20]


def _remove_unused(root: Path, keep: Path) -> None:
    """Removes directories of other versions that nobody has used for a while (best effort)."""
    oldest = time.time() - UNUSED_DAYS * DAY
    for other in root.glob("kernels-*"):
        if other != keep and other.stat().st_mtime < oldest:
            shutil.rmtree(other, ignore_errors=True)


def _prepare_directory() -> str:
    """Create and check the cache directory; if that fails, return '' and set :data:`cache_note`."""
    global cache_note
    try:
        root = cache_root()
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        refuse_others(root.stat(), root, sticky=True)
        directory = root / f"kernels-{environment_hash()}"
        make_private(directory)
        tempfile.TemporaryFile(dir=directory).close()
        os.utime(directory)
        _remove_unused(root, directory)
        return str(directory)
    except (OSError, RuntimeError) as error:  # RuntimeError: no home directory
        cache_note = f"compiled kernels are not cached on disk: {error}"
        return ""


cache_directory = _prepare_directory()


def _note(reason: str) -> None:
    """Remember the first reason why something is not cached."""
    global cache_note
    cache_note = cache_note or f"a compiled kernel is not cached on disk and will be compiled again: {reason}"


def _with_files(made: Any, function: Callable[..., Any], settings: dict[str, Any]) -> Any:
    """The function that numba made, with its machine code cached in our files if possible."""
    if not cache_directory:
        return made
    if not os.path.isfile(function.__code__.co_filename):  # e.g. a function typed at a prompt
        _note(f"{function.__name__} has no source file")
        return made
    return with_files(made, KernelFiles(function, Path(cache_directory), settings, _note))


def is_kept(kernel: Any) -> bool:
    """Whether machine code of the current version of a kernel is on disk."""
    if isinstance(kernel, CompiledCallback):
        function, settings = kernel.__wrapped__, kernel._settings
    elif (files := files_of(kernel)) is not None:
        return files.any_kept()
    else:
        return False
    return bool(cache_directory) and KernelFiles(function, Path(cache_directory), settings, _note).any_kept()


def _settings(allocates: bool, options: dict[str, Any]) -> dict[str, Any]:
    """Options for numba: IEEE division, and no reference counting of arrays if nothing is allocated."""
    settings: dict[str, Any] = {"error_model": "numpy", **options}
    return settings if allocates else settings | NOTHING_COUNTED


def compiled(function: Callable[..., Any] | None = None, /, *, allocates: bool = True, **options: Any) -> Any:
    """Compile a function on first call: ``numba.njit`` with our cache, IEEE division, no GIL.

    Use bare or with numba options: ``@compiled`` or ``@compiled(fastmath={"contract"})``.
    ``allocates=False`` promises that it creates no array; then passing arrays to other functions costs nothing.
    """
    settings = {"nogil": True, **_settings(allocates, options)}

    def decorate(target: Callable[..., Any]) -> Any:
        made = _with_files(numba.njit(**settings)(target), target, settings)
        return called_as_part(made, compiled_part(target, allocates=allocates, **options)) if PIPELINE else made

    return decorate if function is None else decorate(function)


def compiled_part(function: Callable[..., Any] | None = None, /, *, allocates: bool = False, **options: Any) -> Any:
    """Like :func:`compiled`, for functions that only compiled code calls: no entry from Python, no file.

    The machine code of a caller contains that of its parts, so the caller's cache entry is enough.
    """
    settings = {
        "nogil": True,
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
        **PIPELINE,
        **_settings(allocates, options),
    }
    return numba.njit(**settings) if function is None else numba.njit(**settings)(function)


class CompiledCallback:
    """A function ``(out, inp, context)`` of three addresses, compiled when its address is first needed.

    :func:`compiled_callback` makes it. ``address`` [int] is the native entry point, and
    :meth:`bind` pairs it with its data.
    """

    def __init__(self, function: Callable[[int, int, int], None], settings: dict[str, Any]) -> None:
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self._settings = settings
        self._native: Any = None

    @property
    def ready(self) -> bool:
        """Whether its machine code is in memory."""
        return self._native is not None

    @property
    def address(self) -> int:
        """Entry point of the machine code; the first use compiles or loads it."""
        with _lock:
            if self._native is None:
                self._native = self._compiled()
        return int(self._native.address)

    def _compiled(self) -> Any:
        """The result of ``numba.cfunc``, with our files."""
        made = uncompiled_callback(self.__wrapped__, CALLBACK_SIGNATURE, self._settings)
        native = _with_files(made, self.__wrapped__, self._settings)
        native.compile()
        return native

    def bind(self, context: np.ndarray | int = 0, *keep: object) -> Callback:
        """A :class:`~pendula.numerics.compiled.native.Callback` on ``context`` (a contiguous array, or an address).

        The array and everything in ``keep`` stay alive as long as the result does.
        """
        if isinstance(context, np.ndarray):
            if not context.flags.c_contiguous:
                raise ValueError("the context array of a callback must be contiguous; use numpy.ascontiguousarray")
            return Callback(self.address, context.ctypes.data, (self, context, *keep))
        return Callback(self.address, int(context), (self, *keep))

    def __repr__(self) -> str:
        return f"<compiled callback {self.__name__}>"


def compiled_callback(
    function: Callable[[int, int, int], None] | None = None, /, *, allocates: bool = True, **options: Any
) -> Any:
    """Make a native ``void (*)(double *out, const double *in, void *context)`` from a Python function.

    Inside it, :func:`pendula.numerics.compiled.native.doubles_at` turns addresses into arrays.

    Example:
        >>> from pendula.numerics.compiled.native import doubles_at
        >>> @compiled_callback
        ... def decay(out, inp, context):
        ...     doubles_at(out, 1)[0] = -doubles_at(inp, 2)[1]
        >>> decay.bind().context
        0
    """

    def decorate(target: Callable[[int, int, int], None]) -> CompiledCallback:
        return CompiledCallback(target, _settings(allocates, options))

    return decorate if function is None else decorate(function)
