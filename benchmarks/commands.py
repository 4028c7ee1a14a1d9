"""How long do commands take: the first time on a machine, and afterwards?"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.first_call import child
from benchmarks.measure import Goal, duration
from benchmarks.report import Report, Table

QUESTION = "How long do commands take: the first time on a machine, and afterwards?"
PENDULA = ("-m", "pendula")
JACOBIAN = """
import pendula
system = pendula.compile_system(pendula.library.chain(links=20), engine="recursive")
state = system.initial_state()
assert system.acceleration_jacobian("q", state.q, state.v).shape == (20, 20)
"""
DEMO = str(Path(__file__).resolve().parent.parent / "examples" / "demo.py")
ENSEMBLE = ("ensemble", "double-pendulum", "--vary", "theta1=-1:1")

FIRST: dict[str, tuple[float, Sequence[str]]] = {
    "simulate chain -p links=10": (8.0, (*PENDULA, "simulate", "chain", "-p", "links=10")),
    "ensemble double-pendulum": (12.0, (*PENDULA, *ENSEMBLE)),
    "modes chain -p links=100": (10.0, (*PENDULA, "modes", "chain", "-p", "links=100")),
    "Jacobian of 20 links, from Python": (15.0, ("-c", JACOBIAN)),
    "make demo": (15.0, (DEMO, "demo")),
}
"""wall seconds at most on an empty cache of kernels, on two cores"""

LATER: dict[str, tuple[float, Sequence[str]]] = {
    "--help": (0.15, (*PENDULA, "--help")),
    "simulate chain -p links=10": (0.8, (*PENDULA, "simulate", "chain", "-p", "links=10")),
    "simulate chain -p links=10 --plot": (
        1.6,
        (*PENDULA, "simulate", "chain", "-p", "links=10", "--plot", "run.png"),
    ),
    "linearize double-pendulum": (1.2, (*PENDULA, "linearize", "double-pendulum")),
    "modes double-pendulum": (1.2, (*PENDULA, "modes", "double-pendulum")),
    "equilibria double-pendulum": (1.2, (*PENDULA, "equilibria", "double-pendulum")),
    "derive double-pendulum": (1.2, (*PENDULA, "derive", "double-pendulum")),
    "report double-pendulum": (3.0, (*PENDULA, "report", "double-pendulum", "-o", "report.html")),
}
"""CPU seconds at most once kernels are on disk"""


def run(quick: bool) -> Report:
    """Commands in fresh processes that may use all cores: on an empty cache of kernels, then on a full one."""
    report = Report("commands", QUESTION)
    report.notes.append("Fresh processes that may use all cores. Seconds, not ratios: they depend on the machine.")
    rounds = 1 if quick else 3
    with tempfile.TemporaryDirectory(prefix="pendula-bench-") as folder, _in(Path(folder)), _all_cores():
        # Bytecode of every module in one place, filled first: in an installed package it is there already.
        settings = {"PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode"))}
        full = settings | {"PENDULA_CACHE_DIR": str(Path(folder, "full"))}
        for _, arguments in (*FIRST.values(), *LATER.values()):
            child(arguments, full)

        def first(name: str) -> float:
            empty = [settings | {"PENDULA_CACHE_DIR": str(Path(folder, f"{name}-{k}"))} for k in range(rounds)]
            return min(child(FIRST[name][1], new)[1] for new in empty)

        def later(name: str) -> float:
            return min(child(LATER[name][1], full)[0] for _ in range(rounds))

        if not quick:
            report.tables.append(_table(report, "on an empty cache, wall", FIRST, first))
        report.tables.append(_table(report, "later, CPU", LATER, later))
    return report


def _table(
    report: Report, title: str, commands: dict[str, tuple[float, Sequence[str]]], seconds: Callable[[str], float]
) -> Table:
    table = Table([title, "found", "goal"])
    for name, (most, _) in commands.items():
        found = seconds(name)
        table.rows.append([name, duration(found), f"at most {duration(most)}"])
        report.goals.append(Goal(f"{name}, {title}", found, "at most", most, " s"))
        report.figures[f"{name}, {title}"] = found
    return table


@contextmanager
def _in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _all_cores() -> Iterator[None]:
    """Lets the processes that are started here use every core; benchmarks are pinned to one."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
