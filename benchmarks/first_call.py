"""How long until the first result in a fresh process?"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pendula
from benchmarks.measure import Goal, Timing, duration
from benchmarks.report import Report, Table

QUESTION = "How long until the first result in a fresh process?"
HELP = 0.15  # CPU seconds
FIRST, LATER = 20.0, 1.5  # wall seconds of `pendula simulate chain`
_CHAIN = ("-m", "pendula", "simulate", "chain")
NO_COMMAND = "the command line does not exist yet"

_HELP = "import sys; from pendula.app.main import main; sys.argv = ['pendula', '--help']; main()"
_LOADED = """
import sys
try:
    from pendula.app.main import main
    sys.argv = ['pendula', '--help']
    main()
except SystemExit:
    pass
print('\\nloaded', *[name for name in ('numpy', 'sympy', 'symengine', 'numba', 'scipy') if name in sys.modules])
"""
_SIMULATE = """
import json, time
started = time.process_time()
marks = [("start of Python", started)]
def mark(name):
    marks.append((name, time.process_time()))
import pendula
model = pendula.library.chain(links=10)
mark("import, model")
equations = pendula.derive(model)
mark("derive")
system = pendula.compile_system(equations)
mark("compile and check")
run = pendula.simulate(system, 10.0, tol=1e-8)
mark("simulate 10 s")
assert run.outcome.ok
steps = [(marks[0][0], marks[0][1])] + [(b[0], b[1] - a[1]) for a, b in zip(marks, marks[1:])]
print(json.dumps(steps))
"""


def child(code: str | Sequence[str], settings: Mapping[str, str] | None = None) -> tuple[float, float, str]:
    """CPU and wall time of a fresh Python running code or given arguments, and what it printed."""
    arguments = ["-c", code] if isinstance(code, str) else list(code)
    source = str(Path(pendula.__file__).resolve().parent.parent)
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(settings or {})}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    before, start = _children(), time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, check=False)
    cpu, wall = _children() - before, time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(f"a child process failed:\n{done.stderr[-2000:]}")
    return cpu, wall, done.stdout


def _children() -> float:
    """CPU time of all child processes so far."""
    try:
        import resource
    except ImportError:
        used = os.times()
        return used.children_user + used.children_system
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def in_turn(codes: Mapping[str, str], rounds: int, settings: Mapping[str, str] | None = None) -> dict[str, Timing]:
    """Times fresh processes in turn."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in codes}
    for _ in range(rounds):
        for name, code in codes.items():
            found[name].append(child(code, settings)[:2])
    return {name: Timing(*zip(*samples, strict=True)) for name, samples in found.items()}


def has_command() -> bool:
    """Whether the command line is there."""
    try:
        return importlib.util.find_spec("pendula.app.main") is not None
    except ModuleNotFoundError:
        return False


def run(quick: bool) -> Report:
    """Import, help, and the first run with and without compiled kernels on disk."""
    report = Report("first_call", QUESTION)
    with tempfile.TemporaryDirectory(prefix="pendula-bench-") as folder:
        # Bytecode of every module in one place, filled first: in an installed package it is there already.
        bytecode = {"PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode"))}
        child(_SIMULATE, bytecode)
        _fill(report, quick, Path(folder), bytecode)
    return report


def _fill(report: Report, quick: bool, folder: Path, bytecode: dict[str, str]) -> None:
    rounds = 3 if quick else 7
    codes = {"python": "pass", "import": "import pendula"}
    if has_command():
        codes["help"] = _HELP
        child(_HELP, bytecode)
    times = in_turn(codes, rounds, bytecode)
    labels = {"python": "Python alone", "import": "import pendula", "help": "pendula --help"}
    table = Table(["fresh process", "CPU", "wall", "beyond Python"])
    for name, timing in times.items():
        beyond = duration(max(0.0, timing.best - times["python"].best)) if name != "python" else ""
        table.rows.append([labels[name], duration(timing.best), duration(timing.best_wall), beyond])
        report.figures[name] = timing.figures()
    report.tables.append(table)
    if "help" in times:
        report.goals.append(Goal("pendula --help, CPU", times["help"].best, "at most", HELP, " s"))
        loaded = child(_LOADED, bytecode)[2].rpartition("loaded")[2].split()
        report.figures["help"]["loaded"] = loaded
        report.notes.append(f"pendula --help loads {', '.join(loaded) or 'no numerical package'}.")
    else:
        report.notes.append(f"pendula --help was skipped: {NO_COMMAND}.")
    _command(report, quick, folder, bytecode)
    settings = bytecode if quick else bytecode | {"PENDULA_CACHE_DIR": str(folder / "kernels")}
    report.tables.append(_first_run(report, quick, settings))


def _command(report: Report, quick: bool, folder: Path, bytecode: dict[str, str]) -> None:
    """The command of the README on a machine that has never run it, and again."""
    if not has_command():
        return
    settings = bytecode if quick else bytecode | {"PENDULA_CACHE_DIR": str(folder / "command")}
    table = Table(["pendula simulate chain", "CPU", "wall"])
    if not quick:
        cpu, wall, _ = child(_CHAIN, settings)
        table.rows.append(["on an empty cache", duration(cpu), duration(wall)])
        report.figures["command, empty cache"] = {"cpu_s": cpu, "wall_s": wall}
        report.goals.append(Goal("first pendula simulate chain, wall", wall, "at most", FIRST, " s"))
    child(_CHAIN, settings)
    again = [child(_CHAIN, settings)[:2] for _ in range(3)]
    cpu, wall = (min(x) for x in zip(*again, strict=True))
    table.rows.append(["later", duration(cpu), duration(wall)])
    report.figures["command, later"] = {"cpu_s": cpu, "wall_s": wall}
    report.goals.append(Goal("later pendula simulate chain, wall", wall, "at most", LATER, " s"))
    report.tables.append(table)


def _first_run(report: Report, quick: bool, settings: Mapping[str, str]) -> Table:
    """The first run, 10 links: kernels compiled, then loaded from disk."""
    columns: dict[str, list[tuple[str, float]]] = {}
    first = _steps(settings)
    if not quick:  # quick: the user's own cache, filled by now
        columns["empty cache"] = first
    tries = [_steps(settings) for _ in range(2 if quick else 4)]
    columns["warm cache"] = min(tries, key=lambda steps: sum(x for _, x in steps))
    table = Table(["first run of 10 links, CPU", *columns])
    for k, (name, _) in enumerate(columns["warm cache"]):
        table.rows.append([name, *(duration(steps[k][1]) for steps in columns.values())])
    totals = {name: sum(x for _, x in steps) for name, steps in columns.items()}
    table.rows.append(["together", *(duration(x) for x in totals.values())])
    for name, steps in columns.items():
        report.figures[f"first run, {name}"] = {**dict(steps), "together": totals[name]}
    return table


def _steps(settings: Mapping[str, str]) -> list[tuple[str, float]]:
    return [(name, seconds) for name, seconds in json.loads(child(_SIMULATE, settings)[2].splitlines()[-1])]
