"""Compiling a kernel ahead, in a second process, while this one does something else.

Numba compiles one function at a time in a process. The step loop does not depend on the model, so on an empty cache a
command starts to compile it at once in a forked process, derives and compiles the equations meanwhile, and then loads
what the other process has put into the cache. Where processes cannot be forked, or there is one core only, nothing is
done ahead, and the kernel is compiled when it is first called.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

from pendula.numerics.compiled import jit

_children: dict[int, int] = {}  # process by the identity of the kernel it compiles


def compile_ahead(kernel: Any, signature: Sequence[Any]) -> None:
    """Starts to compile a kernel in a second process, unless the cache holds it already.

    Args:
        kernel: what :func:`pendula.numerics.compiled.jit.compiled` made.
        signature: numba types of its arguments.
    """
    if id(kernel) in _children or kernel.overloads or not _worthwhile() or _is_kept(kernel, tuple(signature)):
        return
    child = os.fork()
    if child:
        _children[id(kernel)] = child
        return
    try:  # the second process: nothing of the first may run on in it, whatever happens
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        kernel.compile(tuple(signature))
    finally:
        os._exit(0)


def wait_for(kernel: Any) -> None:
    """Waits until a kernel that is being compiled ahead is in the cache."""
    child = _children.pop(id(kernel), None)
    if child is not None:
        try:
            os.waitpid(child, 0)
        except ChildProcessError:  # someone else has waited for it
            return


def _worthwhile() -> bool:
    """Forking is safe on Linux as long as no other thread runs; it helps with a cache and a second core."""
    if sys.platform != "linux" or threading.active_count() > 1 or not jit.cache_directory:
        return False
    return len(os.sched_getaffinity(0)) > 1


def _is_kept(kernel: Any, signature: tuple[Any, ...]) -> bool:
    holds = getattr(kernel._cache, "holds", None)
    return holds is None or bool(holds(signature, kernel.targetctx))
