"""Compiles kernels ahead of their use in other processes, so that several compile at the same time.

Numba compiles one function at a time in a process. Two calls let other processes help:

- :func:`compile_ahead` starts at once with kernels that are not on disk yet: to be called before equations are derived.
- :func:`expect` only notes which kernels a task will need. If this process then finds that the machine code of any
  kernel is not on disk, the noted ones follow; otherwise nothing happens, and the call costs nothing.

The other process takes kernels from a queue and writes their machine code to disk
(:mod:`pendula.numerics.compiled.kernel_files`). When this process needs a kernel that the other one is compiling, it
waits, and meanwhile compiles the last ones of a long queue here; one that is still in the queue it withdraws and
compiles here. This only saves time: without a second core,
without a disk cache, or if such a process fails, the process that needs a kernel compiles it.

``PENDULA_COMPILE_AHEAD=0`` turns it off.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pendula import extensions
from pendula.parallel.children import can_start_python, python
from pendula.parallel.worker import end_with
from pendula.registry import found_at

VARIABLE = "PENDULA_COMPILE_AHEAD"
PATIENCE = 300.0  # seconds to wait for a kernel before compiling it here
POLL = 0.05  # seconds between polls if ``select`` does not support pipes
IDLE = (
    30.0 if os.name == "posix" else 0.5
)  # seconds after which a worker without work ends; only then ``poll`` hears it
MOST_WORKERS = 4
LEFT_TO_WORKER = 2  # kernels: while this process waits for the first of a longer queue, it compiles the last ones

ADD, WITHDRAW = "add", "withdraw"  # orders to a worker: a line [order, kernel, by] of JSON each

_START = (
    "import json, sys; work = json.loads(sys.argv[1]); sys.path[:] = work['path']; "
    "from pendula.numerics.compiled.ahead import work_off; work_off(work['parent'], work['extensions'])"
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
    kernels: dict[str, Ahead] = field(default_factory=dict)
    said: bytes = b""
    started: set[str] = field(default_factory=set)
    finished: set[str] = field(default_factory=set)

    @property
    def pending(self) -> list[str]:
        """Kernels that it has not finished."""
        return [name for name in self.kernels if name not in self.finished]

    def add(self, job: Ahead) -> None:
        """Puts a kernel at the end of its queue."""
        self.kernels[job.kernel] = job
        self._order(ADD, job.kernel, job.by)

    def withdraw(self, kernel: str) -> Ahead:
        """Takes a kernel out of its queue."""
        self._order(WITHDRAW, kernel, "")
        return self.kernels.pop(kernel)

    def _order(self, *order: str) -> None:
        pipe = self.process.stdin
        with contextlib.suppress(OSError, ValueError):  # it has ended
            if pipe is not None:
                pipe.write(json.dumps(order).encode() + b"\n")
                pipe.flush()

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

    def end(self) -> None:
        """Stops the process, if it still runs."""
        with contextlib.suppress(OSError):
            if self.process.poll() is None:
                self.process.terminate()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()


_workers: list[_Worker] = []
_expected: dict[str, Ahead] = {}
"""kernels that a task has announced, and that no worker has been given"""
_some_missing = False
"""whether this process has needed a kernel that was not on disk"""
_forked = False
"""whether this process is a copy of the one to which the workers belong"""


def _begin_as_copy() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_as_copy)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _possible() -> bool:
    """Whether another process can help: there is a core for it, and this Python can be started again."""
    from pendula.numerics.compiled import jit

    wanted = os.environ.get(VARIABLE) != "0" and not _forked
    return wanted and bool(jit.cache_directory) and can_start_python() and _cores() > 1


def name_of(function: Callable[..., Any]) -> str:
    """``"module:name"`` of a function."""
    return f"{function.__module__}:{function.__qualname__}"


def compile_ahead(*kernels: Ahead | str) -> None:
    """Starts compiling kernels in other processes, unless their machine code is on disk; returns at once.

    They are compiled in the given order. Omit kernels that this process will use first: it compiles them meanwhile.
    """
    if _possible():
        _give([job for job in map(_job, kernels) if not _on_disk(found_at(job.kernel))])


def expect(*kernels: Ahead | str) -> None:
    """Notes kernels that this process will probably need, to be compiled in other processes if it finds one missing."""
    _expected.update({job.kernel: job for job in map(_job, kernels)})
    if _some_missing:
        _give_expected()


def found_missing(function: Callable[..., Any]) -> None:
    """Called when this process needs a kernel that is not on disk: other processes begin with the expected ones."""
    global _some_missing
    _some_missing = True
    _expected.pop(name_of(function), None)
    _give_expected()


def _give_expected() -> None:
    jobs = list(_expected.values())
    _expected.clear()
    if jobs and _possible():
        _give(jobs)


def _job(kernel: Ahead | str) -> Ahead:
    return Ahead(kernel) if isinstance(kernel, str) else kernel


def _give(jobs: list[Ahead]) -> None:
    """Distributes kernels among the workers, of which there may be one for each spare core."""
    for worker in tuple(_workers):
        worker.listen(0.0)
        if worker.process.poll() is not None:
            worker.end()
            _workers.remove(worker)
    under_way = {name for worker in _workers for name in worker.kernels}
    for job in jobs:
        if job.kernel in under_way:
            continue
        with contextlib.suppress(OSError):
            least = min(_workers, key=lambda worker: len(worker.pending), default=None)
            if least is None or (least.pending and len(_workers) < min(_cores() - 1, MOST_WORKERS)):
                least = _started()
                _workers.append(least)
            least.add(job)


def _on_disk(kernel: Any) -> bool:
    from pendula.numerics.compiled import jit

    return jit.is_kept(kernel)


def _started() -> _Worker:
    work = {
        "path": sys.path,
        "parent": (os.getpid(), threading.current_thread() is threading.main_thread()),
        "extensions": [(e.module, e.path) for e in extensions.loaded()],
    }
    process = subprocess.Popen(
        python("-c", _START, json.dumps(work)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, VARIABLE: "0"},
    )
    return _Worker(process)


def wait_for(function: Callable[..., Any]) -> bool:
    """Waits while another process compiles a kernel; True if it has finished, so that the kernel may be on disk."""
    name = name_of(function)
    worker = next((w for w in _workers if name in w.kernels), None)
    if worker is None or _forked:
        return False
    latest = time.monotonic() + PATIENCE
    worker.listen(0.0)
    if name not in worker.started and name in worker.pending[1:]:
        worker.withdraw(name)  # it is busy with another kernel: compile this one here
        return False
    while name not in worker.finished and time.monotonic() < latest:
        if len(worker.pending) > LEFT_TO_WORKER:
            _compile(worker.withdraw(worker.pending[-1]))
            worker.listen(0.0)
        else:
            worker.listen(1.0)
    return name in worker.finished


@atexit.register
def _end_all() -> None:
    for worker in () if _forked else _workers:
        worker.end()


def work_off(parent: tuple[int, bool], to_load: list[tuple[str, str]]) -> None:
    """The work of a worker: compiles kernels as orders arrive, and reports when it starts and finishes each.

    It ends with the process that gives the orders, also in the middle of a kernel, or when there has been no work for a
    while.

    Args:
        parent: the id of that process, and whether its main thread has started this one.
        to_load: modules and paths of its extensions.
    """
    end_with(*parent)
    for module, path in to_load:
        extensions.load_extension(path or module)
    orders: queue.SimpleQueue[list[str] | None] = queue.SimpleQueue()
    threading.Thread(target=_read_orders, args=(orders,), daemon=True).start()
    waiting: dict[str, Ahead] = {}
    while True:
        try:
            order = orders.get(timeout=0.0 if waiting else IDLE)
        except queue.Empty:
            if not waiting:
                return
            kernel = next(iter(waiting))
            _say(f"start {kernel}")
            _compile(waiting.pop(kernel))
            _say(f"finish {kernel}")
            continue
        if order is None:
            return
        what, kernel, by = order
        if what == ADD:
            waiting[kernel] = Ahead(kernel, by)
        else:
            waiting.pop(kernel, None)


def _read_orders(orders: queue.SimpleQueue[list[str] | None]) -> None:
    for line in sys.stdin:
        orders.put(json.loads(line))
    orders.put(None)


def _compile(job: Ahead) -> None:
    """Compiles a kernel in this process; if that fails, its first use will."""
    with contextlib.suppress(Exception):
        target = found_at(job.kernel)
        if _on_disk(target):
            pass
        elif job.by:
            found_at(job.by)()
        else:
            _ = target.address


def _say(text: str) -> None:
    try:
        os.write(1, text.encode() + b"\n")
    except OSError:  # the reader has closed the pipe
        sys.exit(0)
