"""Runs the benchmarks: ``python -m benchmarks [names...] [--json FILE] [--quick]``."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import traceback
from pathlib import Path
from typing import Any

from benchmarks.measure import one_core
from benchmarks.report import Report, environment

NAMES = ("derivation", "ball_joints", "simulation", "maximal", "taylor", "first_call", "compile_backend")
RESULTS = Path(__file__).resolve().parent / "results" / "latest.json"


def main(arguments: list[str] | None = None) -> int:
    """Prints every report as it is finished and writes all figures; 1 if a benchmark crashed, else 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Our figures, next to those of others.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"which ones; all by default: {', '.join(NAMES)}")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="FILE", help="where the figures go")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, and without what takes long")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f'there is no benchmark "{unknown[0]}"; known are {", ".join(NAMES)}')

    results: dict[str, Any] = {}
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
                results[name] = {"crashed": traceback.format_exc()}
                continue
            print(report.text(), flush=True)
            results[name] = report.json()
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps({"environment": about, "benchmarks": results}, indent=2) + "\n", encoding="utf-8")
    print(f"All figures: {_short(given.json)}")
    if crashed:
        print(f"Crashed: {', '.join(crashed)}", file=sys.stderr)
    return 1 if crashed else 0


def _short(path: Path) -> Path:
    """A path below the working folder without it."""
    path = path.resolve()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


if __name__ == "__main__":
    sys.exit(main())
