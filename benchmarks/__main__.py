"""Runs the benchmarks: ``python -m benchmarks [names...] [--with jax,octave] [--quick]``."""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from pathlib import Path

from benchmarks import results
from benchmarks.lineup import EXTRAS, ask_for
from benchmarks.measure import one_core
from benchmarks.report import Report, environment

NAMES = (
    *("forward", "jacobian", "linearization", "work_precision", "ensemble", "memory", "first_call", "commands"),
    *("derivation", "ball_joints", "simulation", "maximal", "taylor", "compile_backend"),
)
PAGE = Path(__file__).resolve().parent.parent / "docs"


def main(arguments: list[str] | None = None) -> int:
    """Prints every report as it is finished, writes its figures and the page; 1 if a benchmark crashed, else 0."""
    given = _read(arguments)
    ask_for(given.extras)
    folder = given.results or (results.QUICK if given.quick else results.FOLDER)
    crashed: list[str] = []
    with one_core() as core:
        about = environment(core, given.quick)
        print(f"{about['cpu']}, pinned to core {core}, {about['date']}\n", flush=True)
        for name in given.names or NAMES:
            try:
                report: Report = importlib.import_module(f"benchmarks.{name}").run(given.quick)
            except Exception:
                traceback.print_exc()
                crashed.append(name)
                continue
            print(report.text(), flush=True)
            results.save(folder, name, about, report.json())
    print(f"All figures: {_short(folder)}")
    if given.results is None and not given.quick:
        print(f"The page: {_short(_make_page(folder))}")
    if crashed:
        print(f"Crashed: {', '.join(crashed)}", file=sys.stderr)
    return 1 if crashed else 0


def _read(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Our figures, next to those of others.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"which ones; all by default: {', '.join(NAMES)}")
    parser.add_argument("--with", dest="extras", default="", help=f"what takes part on request: {', '.join(EXTRAS)}")
    parser.add_argument(
        "--results", type=Path, metavar="FOLDER", help="where the figures go; the page is not made anew"
    )
    parser.add_argument("--quick", action="store_true", help="fewer repeats, without what takes long, and no page")
    given = parser.parse_args(arguments)
    given.extras = [extra for extra in given.extras.split(",") if extra]
    for kind, found, known in (("benchmark", given.names, NAMES), ("extra", given.extras, EXTRAS)):
        if unknown := [name for name in found if name not in known]:
            parser.error(f'there is no {kind} "{unknown[0]}"; available: {", ".join(known)}')
    return given


def _make_page(folder: Path) -> Path:
    """The page with its plots, from all figures there are; loads Matplotlib."""
    from benchmarks.page import write_page

    return write_page(folder, PAGE)


def _short(path: Path) -> Path:
    """A path below the working folder without it."""
    path = path.resolve()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


if __name__ == "__main__":
    sys.exit(main())
