"""Wall times of many double pendulums with one process and with two, printed as JSON, in a process that does nothing else.

A process that has loaded other engines is slow to fork and has threads of its own, which users of ours have not.
"""

from __future__ import annotations

import json
import os
import sys
import time

from benchmarks.ensemble import OurMany

ROUNDS = 4


def main() -> None:
    """Best of several rounds for each, in turn."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    runs = int(sys.argv[1])
    calls = {workers: OurMany("symbolic", "dop853", runs, 1e-11, workers=workers) for workers in (1, 2)}
    walls = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for workers, call in calls.items():
            begun = time.perf_counter()
            call()
            walls[workers] = min(walls[workers], time.perf_counter() - begun)
    print(json.dumps(walls))


if __name__ == "__main__":
    main()
