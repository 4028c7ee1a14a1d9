"""Fuzzing as a script: ``python -m tests.fuzz models 0 20000``, ``python -m tests.fuzz commands 0 3000``.

Cases run in a process of their own, with limits of processor time and memory for each; a failure names its seed, and
``python -m tests.fuzz models 123 124`` repeats it with the text of the model file.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from pendula.errors import PendulaError
from tests.fuzz.limits import Failure, failures, limit_memory

DERIVED, SIMULATED = 10, 100
"""of so many valid models one is derived, one simulated"""
PRINTED = 2
"""largest number of bodies of models whose equations are printed: those of many bodies in space are long"""


def try_model(seed: int) -> None:
    """Reads the model file of a seed; derives some of those that are valid, and simulates a few."""
    from tests.fuzz.models import model_text

    read_model(model_text(seed), seed)


def read_model(text: str, seed: int) -> None:
    """Reads a model from text; derives it or simulates it for some seeds."""
    import pendula
    from pendula.app.commands.describe import describe

    model = pendula.loads(text)
    assert pendula.loads(pendula.dumps(model)) == model
    if len(model.bodies) > 12:
        return  # long, and by design
    if not model.closures:
        describe(model)
    if seed % DERIVED == 0:
        equations = pendula.derive(model)
        if len(model.bodies) <= PRINTED:
            pendula.print_equations(equations, "c")
    if seed % SIMULATED == 1:
        pendula.simulate(model, 0.02, samples=3, max_steps=20_000)


def try_command(seed: int) -> None:
    """Runs the command line of a seed."""
    from tests.fuzz.command_lines import check, command_line, prepare

    prepare(Path.cwd(), seed)
    check(command_line(seed))


ATTEMPTS = {"models": try_model, "commands": try_command}
ALLOWED = (PendulaError, click.ClickException)


def work(kind: str, first: int, last: int) -> None:
    """Runs cases in this process and prints failures; the file ``now`` holds the seed at work."""
    os.environ["PENDULA_DEBUG"] = "1"  # bugs are raised, not reported as internal errors
    now, attempt = Path("now").absolute(), ATTEMPTS[kind]
    if kind == "commands":
        warm_up()

    def watched(seed: int) -> None:
        now.write_text(str(seed))
        limit_memory()  # of this case; compiled code of thousands of models stays in the process
        attempt(seed)

    for failure in failures(range(first, last), watched, ALLOWED):
        print(failure, flush=True)
    now.unlink(missing_ok=True)


def warm_up() -> None:
    """Compiles what commands share, which takes longer on a new machine than a case may."""
    from tests.fuzz.command_lines import run

    for line in (
        "simulate pendulum --for 0.1 --samples 3", "simulate four-bar --for 0.1 --samples 3", "stability pendulum",
        "equilibria double-pendulum", "modes heavy-top", "ensemble pendulum --vary theta=0:1 --runs 16 --workers 1",
        "simulate pendulum --for 0.1 --stepper taylor", "simulate pendulum --for 0.1 --stepper radau",
        "chart hoop-bead --x Omega=1:5 --y r=0.5:1 --samples 3", "reactions pendulum --for 0.1", "floquet driven-chain",
        "simulate chain --for 0.1 --samples 3 --engine recursive", "equilibria pendulum --prove",
    ):  # fmt: skip
        run(line.split())


def fuzz(kind: str, first: int, last: int) -> list[str]:
    """Failures among the cases, each with its seed; cases run in other processes, which may die."""
    found: list[str] = []
    while first < last:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "tests.fuzz", kind, str(first), str(last), "--here"]
            environment = {**os.environ, "PYTHONPATH": os.getcwd()}
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace"
            )
            found += [f"seed {part}" for part in done.stdout.split("seed ")[1:]]
            now = Path(folder, "now")
            if done.returncode == 0:
                return found
            if not now.exists():
                return [*found, f"the fuzzer failed: {done.stderr[-2000:]}"]
            died = int(now.read_text())
            found.append(str(Failure(died, f"the process ended with {done.returncode}", done.stderr[-2000:])))
            first = died + 1
    return found


def tell() -> int:
    """Reads the arguments, fuzzes, and prints what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=ATTEMPTS)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--here", action="store_true", help="run the cases in this process")
    given = parser.parse_args()
    if given.here:
        work(given.kind, given.first, given.last)
        return 0
    begun = time.monotonic()
    if given.last == given.first + 1:
        from tests.fuzz.command_lines import command_line
        from tests.fuzz.models import model_text

        print(model_text(given.first))
        if given.kind == "commands":
            print(command_line(given.first))
    found = fuzz(given.kind, given.first, given.last)
    print("\n".join(found))
    took = time.monotonic() - begun
    print(f"{given.kind}, seeds {given.first} to {given.last - 1}: {len(found)} failures in {took:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(tell())
