"""Is this checkout as fast as another one?

    python -m benchmarks.before_after /path/to/other/checkout [rounds] [names of pieces of work ...]

Small pieces of work that users wait for, each timed in both checkouts in turn on one core (CPU time, with that of child
processes), the best of all rounds compared. Every checkout runs in a process that stays alive, and does each piece once
before it is timed, so that kernels are compiled and files are read. Each piece gives a number; where those of the two
checkouts differ, the line says so: then they did not do the same work.

A new piece is a function marked ``@work``. It gets things ready and returns what is timed, 0.02 to 0.5 s long. It uses public
names that old checkouts have as well; one that a checkout refuses or does not know is missing there.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
ROUNDS = 20
ENOUGH = 5.0
"""seconds of one side, after which a piece of work is not timed again; but thrice at least"""
LEAST = 0.95
SAME = 1e-5  # relative: runs at tolerances of 1e-8, by steps that may differ
Work = Callable[[], float]
WORKS: dict[str, Callable[[], Work]] = {}


def work(name: str) -> Callable[[Callable[[], Work]], Callable[[], Work]]:
    """Enters a piece of work under its name."""

    def enter(make: Callable[[], Work]) -> Callable[[], Work]:
        WORKS[name] = make
        return make

    return enter


def _accelerations(model: Any, repeats: int) -> Work:
    import numpy as np

    import pendula
    from benchmarks import ours

    system = pendula.compile_system(model, engine="recursive")
    rng = np.random.default_rng(1)
    state = system.initial_state()
    q, v = state.q + 0.1 * rng.standard_normal(state.q.size), rng.standard_normal(state.v.size)
    out = np.empty(v.size)
    call = ours.forward(system, q, v, out)

    def repeat() -> float:
        for _ in range(repeats):
            call()
        return float(np.linalg.norm(out))

    return repeat


@work("accelerations, planar 100")
def _planar() -> Work:
    import pendula

    return _accelerations(pendula.library.chain(links=100), 20_000)


@work("accelerations, spatial 30")
def _spatial() -> Work:
    from benchmarks import twins

    return _accelerations(twins.SpatialChain(30).ours(), 20_000)


def _run(system: Any, duration: float, repeats: int, **options: Any) -> Work:
    """Runs it some times; gives the speed at the end. Chaotic mechanisms run only as long as that can be predicted."""
    import numpy as np

    import pendula

    def run() -> float:
        for _ in range(repeats):
            done = pendula.simulate(system, duration, tol=1e-8, **options)
        if not done.ok:
            raise RuntimeError(f"the run: {done.outcome}")
        return float(np.linalg.norm(done.v[-1]))

    return run


@work("run, chain of 10")
def _chain() -> Work:
    import pendula

    return _run(pendula.compile_system(pendula.library.chain(links=10)), 3.0, 20)


@work("run, chain of 100, maximal")
def _maximal() -> Work:
    import pendula

    return _run(pendula.compile_system(pendula.library.chain(links=100), "maximal"), 0.2, 5)


@work("run, four-bar")
def _four_bar() -> Work:
    import pendula

    return _run(pendula.compile_system(pendula.library.four_bar()), 20.0, 5)


@work("run, driven chain")
def _driven_chain() -> Work:
    import pendula

    return _run(pendula.compile_system(pendula.library.driven_chain(links=5)), 5.0, 20)


@work("run, feedback in text")
def _feedback() -> Work:
    import pendula

    cart = pendula.compile_system(pendula.library.cart_pole())
    law = "60*sin(theta) + 12*theta_dot + 2*x + 4*x_dot"  # keeps the pole upright
    start = {"x": 0.3, "theta": 0.3, "x_dot": 0.0, "theta_dot": 0.0}
    return _run(cart, 10.0, 2, inputs={"F": law}, initial_state=start)


@work("run, fast top, quaternions")
def _top() -> Work:
    import pendula

    return _run(pendula.compile_system(pendula.library.heavy_top()), 2.0, 20)


@work("run, fast top, zyz")
def _top_in_angles() -> Work:
    import pendula

    top = pendula.library.heavy_top()
    pivot = {"name": "pivot", "type": "spherical", "parent": "ground", "child": "top"}
    pivot |= {"orientation": "zyz", "speeds": "body"}
    return _run(pendula.compile_system(top.with_changes(joints=[pivot])), 2.0, 20)


@work("10,000 double pendulums")
def _ensemble() -> Work:
    import inspect

    import numpy as np

    import pendula

    double = pendula.compile_system(pendula.library.chain(links=2))
    starts = np.random.default_rng(2).uniform(-1.5, 1.5, size=(10_000, 4))
    names, states = list(inspect.signature(pendula.simulate_many).parameters), (starts[:, :2], starts[:, 2:])
    given = (states, 2.0) if names[1] == "initial_states" else (2.0, states)

    def ensemble() -> float:
        return float(sum(one.q[-1, 0] for one in pendula.simulate_many(double, *given, tol=1e-8, workers=1)))

    return ensemble


@work("50 linearizations")
def _linearizations() -> Work:
    import numpy as np

    import pendula

    system = pendula.compile_system(pendula.library.double_pendulum())
    name, value = next(iter(system.model.parameter_values.items()))

    def linearizations() -> float:
        for k in range(50):  # each of another mechanism: the last ones are remembered
            model = pendula.linearize(system, parameters={name: value * (1.0 + 0.01 * k)})
        return float(np.linalg.norm(model.M) + np.linalg.norm(model.C) + np.linalg.norm(model.K))

    return linearizations


@work("10,000 linearizations at once")
def _linearizations_at_once() -> Work:
    import numpy as np

    import pendula

    system = pendula.compile_system(pendula.library.double_pendulum())
    name, value = next(iter(system.model.parameter_values.items()))
    many = {name: value * np.linspace(1.0, 1.5, 10_000)}

    def linearizations() -> float:
        return float(np.abs(pendula.linear.linearize_many(system, parameters=many).values).sum())

    return linearizations


@work("reactions at 1,000 samples")
def _reactions() -> Work:
    import numpy as np

    import pendula

    system = pendula.compile_system(pendula.library.double_pendulum())
    run = pendula.simulate(system, 10.0, tol=1e-8, samples=1000)
    joint = system.model.joints[0].name
    return lambda: float(np.linalg.norm(pendula.reactions(run)[joint].force))


def _compiling(make: Callable[[], Any]) -> Work:
    """Derives and compiles a model that was made anew, so that nothing is remembered of it."""
    import numpy as np

    import pendula

    def compile_again() -> float:
        system = pendula.compile_system(make())
        state = system.initial_state()
        return float(np.linalg.norm(system.accelerations(state.q, state.v)))

    return compile_again


@work("compile_system, double pendulum")
def _compile_double() -> Work:
    import pendula

    return _compiling(pendula.library.double_pendulum)


@work("compile_system, spatial chain of 10")
def _compile_spatial() -> Work:
    import pendula

    return _compiling(lambda: pendula.library.spatial_chain(links=10))


def _child(*arguments: str) -> Work:
    """A Python of its own; gives how many characters it printed."""

    def start() -> float:
        done = subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, check=True, text=True)
        return float(len(done.stdout))

    return start


@work("import pendula")
def _import() -> Work:
    return _child("-c", "import pendula")


@work("command: equilibria")
def _command() -> Work:
    return _child("-m", "pendula", "equilibria", "double-pendulum", "--json")


def _used() -> float:
    """CPU time of this process and of those it started, so far."""
    try:
        import resource
    except ImportError:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def _serve() -> None:
    """Reads the name of a piece of work, does it, and answers with its CPU time and number, or with what failed."""
    ready: dict[str, Work] = {}
    for line in sys.stdin:
        name = line.strip()
        try:
            if name not in ready:
                ready[name] = WORKS[name]()
                ready[name]()
            start = _used()
            found = ready[name]()
            answer: dict[str, Any] = {"seconds": _used() - start, "found": found}
        except Exception as error:
            answer = {"missing": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), flush=True)


class Side:
    """A process that does the work of one checkout."""

    def __init__(self, checkout: Path) -> None:
        paths = f"{checkout / 'src'}{os.pathsep}{checkout}"
        settings = {
            "PYTHONPATH": paths,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PENDULA_COMPILE_AHEAD": "0",
        }
        script = f"import runpy; runpy.run_path({str(HERE / 'benchmarks/before_after.py')!r}, run_name='serve')"
        self._process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **settings},
            cwd=checkout,
        )

    def __call__(self, name: str) -> dict[str, Any]:
        """The answer of the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        return dict(json.loads(self._process.stdout.readline()))

    def end(self) -> None:
        """Ends the process."""
        self._process.communicate()


def compare(name: str, sides: Sequence[Callable[[str], dict[str, Any]]], rounds: int) -> str:
    """One line about one piece of work, done by the checkout before and by that after in turn."""
    best, found, spent = [math.inf] * 2, [math.nan] * 2, 0.0
    for done in range(rounds):
        if done >= 3 and spent > 2 * ENOUGH:
            break
        for k, side in enumerate(sides):
            answer = side(name)
            if "missing" in answer:
                return f"{name:36} missing {('before', 'after')[k]}: {answer['missing']}"
            best[k], found[k] = min(best[k], answer["seconds"]), answer["found"]
            spent += answer["seconds"]
    speed = best[0] / best[1]
    remarks = "" if speed >= LEAST else "  <- slower"
    if not math.isclose(*found, rel_tol=SAME):
        remarks += f"  <- not the same: {found[0]:.9g} before, {found[1]:.9g} after"
    return f"{name:36} before {best[0]:.6f} s   after {best[1]:.6f} s   speed {speed:.3f}{remarks}"


def main(arguments: Sequence[str]) -> None:
    """Prints the speed of this checkout relative to the other, for every piece of work."""
    other, rounds = Path(arguments[0]).resolve(), int(arguments[1]) if len(arguments) > 1 else ROUNDS
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sides = [Side(other), Side(HERE)]
    for name in arguments[2:] or WORKS:
        print(compare(name, sides, rounds), flush=True)
    for side in sides:
        side.end()


if __name__ == "serve":
    _serve()
elif __name__ == "__main__":
    main(sys.argv[1:])
