"""Compiles kernels ahead of their use in other processes, so that several compile at the same time.

Numba compiles one function at a time in a process. :func:`compile_ahead` starts a process for kernels that are not on
disk yet; it writes their machine code to disk (:mod:`pendula.numerics.compiled.kernel_files`), and this process waits
for it when it needs a kernel. This only saves time: without a second core, without a disk cache, or if such a process
fails, the process that needs a kernel compiles it.

``PENDULA_COMPILE_AHEAD=0`` turns it off.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pendula import extensions

VARIABLE = "PENDULA_COMPILE_AHEAD"
PATIENCE = 300.0  # seconds to wait for a kernel before compiling it here
POLL = 0.05  # seconds between polls if ``select`` does not support pipes

_START = (
    "import json, sys; work = json.loads(sys.argv[1]); sys.path[:] = work['path']; "
    "from pendula.numerics.compiled.ahead import work_off; work_off(work)"
)


@dataclass(frozen=True)
class Ahead:
    """A kernel that can be compiled ahead.

    Attributes:
        kernel: the kernel as ``"module:name"``.
        by: a function without arguments, as ``"module:name"``, that compiles the kernel by calling it. Callbacks do
            not need it, since their signature is known.
    """

    kernel: str
    by: str = ""


@dataclass
class _Worker:
    """A process that compiles, its kernels, and its progress."""

    process: subprocess.Popen[bytes]
    kernels: list[str]
    said: bytes = b""
    started: set[str] = field(default_factory=set)
    finished: set[str] = field(default_factory=set)

    def listen(self, seconds: float) -> None:
        """Reads reports of the process for up to some seconds."""
        pipe = self.process.stdout
        if pipe is None or pipe.closed:
            return
        try:
            if not select.select([pipe], [], [], seconds)[0]:
                return
        except (OSError, ValueError):  # this platform cannot select on pipes
            if self.process.poll() is None:
                time.sleep(min(seconds, POLL))
                return
        heard = os.read(pipe.fileno(), 65536)
        if not heard:
            pipe.close()
            self.process.wait()
            self.finished.update(self.kernels)
            return
        self.said += heard
        *lines, self.said = self.said.split(b"\n")
        for line in lines:
            word, _, name = line.decode(errors="replace").partition(" ")
            (self.started if word == "start" else self.finished).add(name)
        if self.finished >= set(self.kernels):
            pipe.close()
            self.process.wait()

    def end(self) -> None:
        """Stops the process, if it still runs."""
        with contextlib.suppress(OSError):
            if self.process.poll() is None:
                self.process.terminate()
            self.process.wait()
            if self.process.stdout is not None:
                self.process.stdout.close()


_workers: list[_Worker] = []


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _possible() -> bool:
    """Whether another process can help: there is a core for it, and this Python can be started again."""
    from pendula.numerics.compiled import jit

    name = os.path.basename(sys.executable or "").lower()
    is_python = name.startswith("python") and not getattr(sys, "frozen", False)
    return os.environ.get(VARIABLE) != "0" and bool(jit.cache_directory) and is_python and _cores() > 1


def _found(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def name_of(function: Callable[..., Any]) -> str:
    """``"module:name"`` of a function."""
    return f"{function.__module__}:{function.__qualname__}"


def compile_ahead(*kernels: Ahead | str) -> None:
    """Starts compiling kernels in other processes, unless their machine code is on disk; returns at once.

    One process for each spare core compiles them in the given order. Omit kernels that this process will use
    first: it compiles them meanwhile.
    """
    if not _possible():
        return
    for worker in _workers:
        worker.listen(0.0)
    _workers[:] = [worker for worker in _workers if worker.process.returncode is None]
    under_way = {name for worker in _workers for name in worker.kernels}
    wanted = [Ahead(kernel) if isinstance(kernel, str) else kernel for kernel in kernels]
    missing = [job for job in wanted if job.kernel not in under_way and not _on_disk(_found(job.kernel))]
    free = max(0, min(_cores() - 1 - len(_workers), len(missing)))
    for first in range(free):
        with contextlib.suppress(OSError):
            _workers.append(_started(missing[first::free]))


def _on_disk(kernel: Any) -> bool:
    from pendula.numerics.compiled import jit

    return jit.is_kept(kernel)


def _started(jobs: list[Ahead]) -> _Worker:
    work = {
        "path": sys.path,
        "extensions": [(e.module, e.path) for e in extensions.loaded()],
        "jobs": [(job.kernel, job.by) for job in jobs],
    }
    process = subprocess.Popen(
        [sys.executable, "-c", _START, json.dumps(work)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, VARIABLE: "0"},
    )
    return _Worker(process, [job.kernel for job in jobs])


def wait_for(function: Callable[..., Any]) -> bool:
    """Waits while another process compiles a kernel; True if it has finished, so that the kernel may be on disk."""
    if not _workers:
        return False
    name = name_of(function)
    worker = next((w for w in _workers if name in w.kernels), None)
    if worker is None:
        return False
    latest = time.monotonic() + PATIENCE
    worker.listen(0.0)
    if name not in worker.started and name != worker.kernels[0]:
        return False  # the worker is busy with another kernel: compile this one here
    while name not in worker.finished and time.monotonic() < latest:
        worker.listen(1.0)
    return name in worker.finished


@atexit.register
def _end_all() -> None:
    for worker in _workers:
        worker.end()


def work_off(work: dict[str, Any]) -> None:
    """The work of a worker: compiles each kernel and reports when it starts and finishes it."""
    for module, path in work["extensions"]:
        extensions.load_extension(path or module)
    for kernel, by in work["jobs"]:
        _say(f"start {kernel}")
        with contextlib.suppress(Exception):
            target = _found(kernel)
            if _on_disk(target):
                pass
            elif by:
                _found(by)()
            else:
                _ = target.address
        _say(f"finish {kernel}")


def _say(text: str) -> None:
    try:
        os.write(1, text.encode() + b"\n")
    except OSError:  # the reader has closed the pipe
        sys.exit(0)
