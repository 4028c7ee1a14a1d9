"""How much memory does a chain of n links take?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import duration, number
from benchmarks.report import Report, Table

QUESTION = "How much memory does a chain of n links take, and how long to set it up?"
SIZES = (10, 100, 1000, 10_000, 100_000)
MOST = {"pendula symbolic": 100, "MuJoCo": 1000, "Pinocchio": 1000}
LIMIT = 6 * 2**30
"""bytes of address space of a child process: Pinocchio would take all there is at 1000 links"""
SECONDS = 120
_CHILD = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
from benchmarks import forward, ours, twins
from benchmarks.lineup import Missing
import numpy as np

def memory(name):
    for line in open("/proc/self/status"):
        if line.startswith(name):
            return 1024 * int(line.split()[1])

def forget_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")

who, n = sys.argv[1], int(sys.argv[2])
make = forward.planar_makers()[{{"Pinocchio": "Pinocchio WORLD"}}.get(who, who)]
try:
    make(3, {{}})()
    forget_peak()
    before, start = memory("VmRSS"), time.process_time()
    call = make(n, {{}})
    call()
    print(json.dumps({{"bytes": memory("VmHWM") - before, "setup_cpu_s": time.process_time() - start}}))
except Missing as reason:
    print(json.dumps({{"missing": str(reason)}}))
except MemoryError:
    print(json.dumps({{"missing": "out of memory"}}))
"""


def run(quick: bool) -> Report:
    """Peak memory beyond that of three links, in a process of its own for every size."""
    report = Report("memory", QUESTION)
    if not Path("/proc/self/clear_refs").exists():
        report.missing["everyone"] = "this system does not tell a process its peak of memory"
        return report
    sizes = SIZES[:2] if quick else SIZES
    table = Table(["memory beyond 3 links", *(f"n = {n}" for n in sizes)])
    setup = Table(["set up, CPU", *(f"n = {n}" for n in sizes)])
    for who in ("pendula recursive", "pendula symbolic", "Pinocchio", "MuJoCo"):
        found = {n: child(who, n) for n in sizes if n <= MOST.get(who, SIZES[-1])}
        report.figures[who] = {str(n): x for n, x in found.items()}
        table.rows.append([who, *(_bytes(found.get(n)) for n in sizes)])
        setup.rows.append([who, *(_seconds(found.get(n)) for n in sizes)])
        report.missing |= {f"{who}, {n} links": x["missing"] for n, x in found.items() if "missing" in x}
    report.tables += [table, setup]
    report.notes.append(
        f"Peak of the resident memory while a chain is set up and evaluated once, in a process limited to {LIMIT >> 30} GiB."
    )
    return report


def child(who: str, links: int) -> dict[str, Any]:
    """Memory and set-up time of one side at one size, or why there is none."""
    code = _CHILD.format(limit=LIMIT)
    command = [sys.executable, "-c", code, who, str(links)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return {"missing": f"not ready within {SECONDS} s"}
    if done.returncode != 0 or not done.stdout.strip():
        error = done.stderr.strip().splitlines()[-1:] or [f"ended with {done.returncode}"]
        return {"missing": f"out of memory ({LIMIT >> 30} GiB)" if _ran_out(done) else error[0][:120]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def _ran_out(done: subprocess.CompletedProcess[str]) -> bool:
    return done.returncode < 0 or "bad_alloc" in done.stderr or "MemoryError" in done.stderr or "alloc" in done.stderr


def _bytes(found: dict[str, Any] | None) -> str:
    if found is None or "bytes" not in found:
        return "-"
    return f"{number(found['bytes'] / 2**20)} MiB"


def _seconds(found: dict[str, Any] | None) -> str:
    return duration(found["setup_cpu_s"]) if found and "setup_cpu_s" in found else "-"
