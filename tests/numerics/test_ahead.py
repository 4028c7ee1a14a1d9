"""Kernels that another process compiles ahead of their use."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pendula.numerics.compiled import jit
from pendula.numerics.compiled.ahead import Ahead
from pendula.numerics.intervals.first_use import ALL_ROOTS, BOUNDS
from pendula.numerics.quick.first_use import CHECKED, ROOTS
from pendula.numerics.steppers.first_use import LOCKSTEP, kernels_of
from pendula.numerics.steppers.stepper import STEPPERS
from pendula.system.first_use import SLOPES, SOLVE_ROWS
from tests.studies.disturbances import alive


def lines_of(code, *given, **environment):
    """Lines that a fresh Python prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *given],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_job_names_a_kernel_and_runs():
    """A worker suppresses errors, so nothing else would show that a job has stopped working."""
    jobs = {ROOTS, CHECKED, LOCKSTEP, SLOPES, SOLVE_ROWS, ALL_ROOTS, BOUNDS}
    jobs |= {job for name in STEPPERS for job in kernels_of(name)}
    assert len(jobs) >= 11
    for job in jobs:
        assert isinstance(job, Ahead)
        module, _, name = job.kernel.partition(":")
        kernel = getattr(importlib.import_module(module), name)
        if job.by:
            module, _, name = job.by.partition(":")
            getattr(importlib.import_module(module), name)()
        else:
            assert kernel.address > 0


SAME_SIGNATURES = """
import pendula
from pendula.registry import found_at
from pendula.numerics.intervals.first_use import ALL_ROOTS, BOUNDS
from pendula.numerics.quick.first_use import CHECKED, ROOTS
from pendula.numerics.steppers.first_use import LOOP
from pendula.system.first_use import SOLVE_ROWS
jobs = ALL_ROOTS, BOUNDS, CHECKED, ROOTS, LOOP, SOLVE_ROWS
for job in jobs:
    found_at(job.by)()
before = [list(found_at(job.kernel).signatures) for job in jobs]
model = pendula.library.double_pendulum()
pendula.check(model, formulations=["kane", "lagrange"], states=2)
rest = pendula.find_equilibria(model, prove=1.0)
pendula.stability(model, rest[0])
pendula.simulate(model, 0.1)
for job, known in zip(jobs, before):
    print(job.kernel, len(known), list(found_at(job.kernel).signatures) == known)
"""


def test_jobs_compile_the_signatures_that_are_used():
    """Machine code for other types of arguments would be compiled in vain."""
    folder = {} if not jit.cache_directory else {"PENDULA_CACHE_DIR": str(Path(jit.cache_directory).parent)}
    found = lines_of(SAME_SIGNATURES, **folder)
    assert len(found) == 6
    assert [line.split()[1:] for line in found] == [["1", "True"]] * 6, found


SMALL = """
import time
from pathlib import Path
from pendula.numerics.compiled.jit import compiled
@compiled
def one(x): return x + 1.0
@compiled
def two(x): return x + 2.0
@compiled
def three(x): return x + 3.0
def use_two():
    while not Path(__file__).with_name("go").exists(): time.sleep(0.01)  # as a long compilation would
    two(0.0)
def use_three(): three(0.0)
"""

TWO_PROCESSES = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import small_kernels as k
from pendula.numerics.compiled import ahead, jit
ahead._cores = lambda: 2
jobs = [ahead.Ahead(f"small_kernels:{name}", f"small_kernels:use_{name}") for name in ("two", "three")]
def kept(name): return len(list(Path(jit.cache_directory).glob(f"small_kernels.{name}-*")))
ahead.expect(*jobs)
print("workers", len(ahead._workers))
k.one(0.0)
print("workers", len(ahead._workers), "queue", *ahead._workers[0].pending if ahead._workers else ())
if ahead._workers:
    print("not begun", ahead.wait_for(k.three.py_func), *ahead._workers[0].pending)
    Path(sys.argv[1], "go").touch()
    print("finished", ahead.wait_for(k.two.py_func), kept("two"))
    worker = ahead._workers[0].process
    worker.stdin.close()
    print("ended", worker.wait(60), "three", kept("three"))
print("value", k.two(1.0), "loaded", sum(k.two.stats.cache_hits.values()))
"""


def test_another_process_compiles_what_is_expected_once_a_kernel_is_missing(tmp_path):
    """Only then; what this process needs first, it takes out of the queue."""
    (tmp_path / "small_kernels.py").write_text(SMALL)
    folder = {"PENDULA_CACHE_DIR": str(tmp_path / "kernels"), "PENDULA_COMPILE_AHEAD": "1"}
    assert lines_of(TWO_PROCESSES, str(tmp_path), **folder) == [
        "workers 0",
        "workers 1 queue small_kernels:two small_kernels:three",
        "not begun False small_kernels:two",
        "finished True 1",
        "ended 0 three 0",
        "value 3.0 loaded 1",
    ]
    assert lines_of(TWO_PROCESSES, str(tmp_path), **folder) == ["workers 0", "workers 0 queue", "value 3.0 loaded 1"]


MORE = """
@compiled
def four(x): return x + 4.0
@compiled
def five(x): return x + 5.0
def use_four():
    four(0.0)
    Path(__file__).with_name("go").touch()
def use_five(): five(0.0)
"""

WHILE_WAITING = """
import sys
sys.path.insert(0, sys.argv[1])
import small_kernels as k
from pendula.numerics.compiled import ahead
ahead._cores = lambda: 2
ahead.PATIENCE = 60.0
names = "two", "three", "four", "five"
ahead.compile_ahead(*(ahead.Ahead(f"small_kernels:{name}", f"small_kernels:use_{name}") for name in names))
print("finished", ahead.wait_for(k.two.py_func), "here", *(name for name in names if getattr(k, name).signatures))
"""


def test_while_it_waits_for_a_kernel_this_process_compiles_the_last_of_a_long_queue(tmp_path):
    """The first kernel is finished only when the fourth has been compiled, which is after it in the queue."""
    (tmp_path / "small_kernels.py").write_text(SMALL + MORE)
    folder = {"PENDULA_CACHE_DIR": str(tmp_path / "kernels"), "PENDULA_COMPILE_AHEAD": "1"}
    assert lines_of(WHILE_WAITING, str(tmp_path), **folder) == ["finished True here four five"]


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
import small_kernels as k
from pendula.numerics.compiled import ahead
ahead._cores = lambda: 2
ahead.compile_ahead(ahead.Ahead("small_kernels:two", "small_kernels:use_two"))
(worker,) = ahead._workers
while not worker.started:
    worker.listen(0.1)
print(worker.process.pid, flush=True)
k.use_two()
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_worker_ends_with_its_parent_in_the_middle_of_a_kernel(tmp_path):
    (tmp_path / "small_kernels.py").write_text(SMALL)
    folder = {"PENDULA_CACHE_DIR": str(tmp_path / "kernels"), "PENDULA_COMPILE_AHEAD": "1"}
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(command, env={**os.environ, **folder}, stdout=subprocess.PIPE, text=True) as parent:
        worker = int(parent.stdout.readline())
        assert alive(worker)
        parent.kill()
    until = time.monotonic() + 3.0
    while alive(worker) and time.monotonic() < until:
        time.sleep(0.02)
    survived = alive(worker)
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker, signal.SIGKILL)
    assert not survived
