"""Is this checkout as fast as another one?

    python -m benchmarks.before_after /path/to/other/checkout [rounds]

Five pieces of work, each timed in both checkouts in turn on one core (CPU time), the best of all rounds compared:
accelerations of a planar chain of 100 links and of a spatial chain of 30, a run of 10 links, an ensemble of
10,000 double pendulums, one linearization. Every checkout runs in a process that stays alive, so that each piece is compiled once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
ROUNDS = 20
LEAST = 0.95


def _works() -> dict[str, Callable[[], Any]]:
    """The pieces of work in this process's checkout; names of functions differ between versions."""
    import numpy as np

    import pendula

    def system_of(model: Any, engine: str = "auto") -> Any:
        return pendula.compile_system(model, engine=engine)

    def accelerations(model: Any, repeats: int) -> Callable[[], Any]:
        from benchmarks import ours

        system = system_of(model, "recursive")
        rng = np.random.default_rng(1)
        state = system.initial_state()
        q, v = state.q + 0.1 * rng.standard_normal(state.q.size), rng.standard_normal(state.v.size)
        out = np.empty(v.size)
        call = ours.forward(system, q, v, out)

        def work() -> None:
            for _ in range(repeats):
                call()

        return work

    chain = system_of(pendula.library.chain(links=10))
    double = system_of(pendula.library.chain(links=2))
    starts = np.random.default_rng(2).uniform(-1.5, 1.5, size=(10_000, 4))

    def ensemble() -> None:
        import inspect

        names, states = list(inspect.signature(pendula.simulate_many).parameters), (starts[:, :2], starts[:, 2:])
        given = (states, 2.0) if names[1] == "initial_states" else (2.0, states)
        pendula.simulate_many(double, *given, tol=1e-8, workers=1)

    kamman = system_of(pendula.library.double_pendulum())
    equilibrium = pendula.find_equilibria(kamman)[0]

    def linearizations() -> None:
        for _ in range(50):
            pendula.linearize(kamman, equilibrium)

    from benchmarks import twins

    works: dict[str, Callable[[], Any]] = {
        "planar 100": accelerations(pendula.library.chain(links=100), 400),
        "spatial 30": accelerations(twins.SpatialChain(30).ours(), 400),
        "10-link run": lambda: pendula.simulate(chain, 10.0, tol=1e-8),
        "10,000 double pendulums": ensemble,
        "linearization": linearizations,
    }
    return works


def _serve() -> None:
    """Reads the name of a piece of work, answers with its CPU time."""
    works = _works()
    for work in works.values():
        work()
    print(json.dumps(list(works)), flush=True)
    for line in sys.stdin:
        work = works[line.strip()]
        start = time.process_time()
        work()
        print(time.process_time() - start, flush=True)


def _process(checkout: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{checkout}", "OMP_NUM_THREADS": "1"}
    script = f"import runpy; runpy.run_path({str(HERE / 'benchmarks/before_after.py')!r}, run_name='serve')"
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=checkout,
    )


def main() -> None:
    """Prints the speed of this checkout relative to the other, for every piece of work."""
    other, rounds = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sides = [_process(other), _process(HERE)]
    answers = []
    for side in sides:
        assert side.stdout is not None
        answers.append(json.loads(side.stdout.readline()))
    names = [name for name in answers[1] if name in answers[0]]
    for name in names:
        best = [float("inf")] * 2
        for _ in range(rounds):
            for k, side in enumerate(sides):
                assert side.stdin is not None
                assert side.stdout is not None
                side.stdin.write(name + "\n")
                side.stdin.flush()
                best[k] = min(best[k], float(side.stdout.readline()))
        speed = best[0] / best[1]
        slower = "" if speed >= LEAST else "  <- slower"
        print(f"{name:26} before {best[0]:.6f} s   after {best[1]:.6f} s   speed {speed:.3f}{slower}", flush=True)
    for side in sides:
        assert side.stdin is not None
        side.stdin.close()
        side.wait()


if __name__ == "serve":
    _serve()
elif __name__ == "__main__":
    main()
