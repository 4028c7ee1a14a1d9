"""Runs that pickles, files, continuation, ensembles, studies and other processes carry."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import pendula
from tests.crossings import oracle
from tests.crossings.case import DURATION, Case, Stretch, Unsuitable, Wrong


@dataclass(frozen=True)
class Carried:
    """A run that was carried, with the times at which it is looked at, and what it claims there.

    Attributes:
        run: the run.
        stretch: its times; ``stretch.inside`` are those at which no input jumps.
        moments: states, accelerations and (own) inputs at all samples.
    """

    run: Any
    stretch: Stretch
    moments: list[oracle.Moment]

    @property
    def system(self) -> Any:
        """The system of the run."""
        return self.run.system

    def inside(self, count: int) -> list[int]:
        """Indices of some samples away from jumps, spread over the run."""
        inside = self.stretch.inside
        return [int(k) for k in inside[np.linspace(1, inside.size - 2, count).astype(int)]]


def same_states(case: Case, what: str, run: Any, other: Any, order: Any = slice(None)) -> None:
    """Raises Wrong if two runs have other states at the same samples.

    Orientations are compared as poses of bodies: a run that loaded may have chosen other coordinates of one pose.
    """
    for part, a, b in zip(("coordinates", "speeds"), run.joints, other.joints, strict=True):
        error = np.abs(a - b[order]).max(initial=0.0)
        scale = 1 + np.abs(b).max(initial=0.0)
        bound = case.tolerance * scale + (1e-3 if case.row["constraints"] == "baumgarte" else 0)
        if not error <= bound:
            raise Wrong(f"{what}: {part} differ by {error:.2e}")


def pickled_system(case: Case) -> Any:
    system = pickle.loads(pickle.dumps(case.system))
    run = case.simulated(system)
    same_states(case, "pickled system", run, case.fresh)
    return run


def pickled_run(case: Case) -> Any:
    run = pickle.loads(pickle.dumps(case.fresh))
    same_states(case, "pickled run", run, case.fresh)
    return run


def saved(ending: str) -> Callable[[Case], Any]:
    def carry(case: Case) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"run.{ending}"
            case.fresh.save(path)
            run, there = pendula.load_run(path), pendula.load_run(path, system=case.system)
        same_states(case, f"run.{ending}", run, case.fresh)
        if run.system.model.as_written != case.fresh.system.model.as_written:
            raise Wrong(f"run.{ending} has another model")
        _same_forces(case, f"run.{ending} with the system at hand", run.system, there.system)
        return run

    return carry


def backwards(case: Case) -> Any:
    """From the end of the fresh run back to its start."""
    back = Stretch(DURATION, 0.0)
    run = case.simulated(stretch=back, initial_state=case.fresh.state(-1))
    same_states(case, "backwards", run, case.fresh, slice(None, None, -1))
    return Carried(run, back, case.moments(run))


def again(case: Case) -> Any:
    """Simulated again from the system of the run: inputs that are not given anew stay, what the run did does not."""
    settings = {name: value for name, value in case.settings.items() if name != "inputs"}
    one, other = ({"inputs": {name: case.inputs[name]}} if len(case.inputs) > 1 else {} for name in ("F", "G"))
    _again_later(case, settings | one)
    settings |= other
    span = (case.stretch.first, case.stretch.last)
    run = pendula.simulate(case.fresh.system, t_span=span, samples=case.stretch.times, **settings)
    same_states(case, "again", run, case.fresh)
    return run


def _again_later(case: Case, settings: dict[str, Any]) -> None:
    """A run from another start, by the system of the run: it moves like one with the inputs given, and changes nothing."""
    on, end = Stretch(DURATION, 1.5 * DURATION), case.fresh.state(-1)
    try:
        right = case.simulated(stretch=on, initial_state=end)
    except Unsuitable:
        return
    before = _accelerations(case, case.fresh.system)
    settings = {**settings, "initial_state": end}
    run = pendula.simulate(case.fresh.system, t_span=(on.first, on.last), samples=on.times, **settings)
    same_states(case, "again, from another start", run, right)
    if not np.allclose(_accelerations(case, case.fresh.system), before, rtol=1e-9, atol=1e-9):
        raise Wrong("a run with the system of another changes the inputs of that one")


def _same_forces(case: Case, what: str, one: Any, other: Any) -> None:
    """Raises Wrong if two systems accelerate differently at the samples of the run."""
    a, b = (_accelerations(case, system) for system in (one, other))
    if not np.allclose(a, b, rtol=1e-9, atol=1e-9):
        raise Wrong(f"{what}: accelerations differ by {np.abs(a - b).max():.2e}")


def _accelerations(case: Case, system: Any) -> Any:
    run, k = case.fresh, case.stretch.inside
    return system.accelerations(run.q[k], run.v[k], run.t[k], parameters=run.parameters)


def ensemble(case: Case) -> Any:
    """A run that begins where one of an ensemble ended."""
    start = case.fresh.state(0)
    settings = {
        name: case.settings[name]
        for name in ("stepper", "tol", "max_steps", "inputs", "parameters")
        if name in case.settings
    }
    runs = pendula.simulate_many(
        case.system, DURATION, [start, start], samples=case.stretch.times, workers=1, **settings
    )
    same_end(case, "ensemble", runs[1].end, case.fresh.state(-1))
    return from_there(case, runs[1].end)


def study(case: Case) -> Any:
    """A run that begins where one case of a study ended; the study is of the system of the run, with its inputs."""
    given = {name: case.settings[name] for name in ("stepper", "tol", "max_steps") if name in case.settings}
    values = {"k": case.own.values.parameters["k"], **case.parameters}
    over: dict[str, Any] = {name: [value] for name, value in values.items()}
    over["k"] = [5.0, values["k"]]
    found = pendula.sweep(case.fresh.system, over, "end", duration=DURATION, on="here", **given)
    names = [name for name in found.names if name.startswith("end.")]
    ends = {name.removeprefix("end."): float(np.ravel(found[name])[1]) for name in names}
    own = case.states_of(case.fresh)[-1]
    if ends.keys() != own.keys():
        raise Wrong(f"study: it has {sorted(ends)} at the end, and the run {sorted(own)}")
    error = max(abs(ends[name] - own[name]) for name in own)
    if not error <= case.tolerance * (1 + max(map(abs, own.values()))):
        raise Wrong(f"study: the end differs by {error:.2e}")
    on = Stretch(DURATION, 1.5 * DURATION)
    run = case.simulated(stretch=on, initial_state=ends)
    return Carried(run, on, case.moments(run))


def same_end(case: Case, what: str, state: Any, end: Any) -> None:
    error = max(abs(state[name] - end[name]) for name in end)
    if not error <= case.tolerance * (1 + max(abs(end[name]) for name in end)):
        raise Wrong(f"{what}: the end differs by {error:.2e}")


def from_there(case: Case, state: Any) -> Carried:
    on = Stretch(DURATION, 1.5 * DURATION)
    run = case.simulated(stretch=on, initial_state=state)
    return Carried(run, on, case.moments(run))


def process(case: Case) -> Any:
    """Simulated in another process, which receives the system and returns the run."""
    span = (case.stretch.first, case.stretch.last)
    settings = {**case.settings, "t_span": span, "samples": case.stretch.times}
    assert case.fresh  # numbers that do not suit end here
    run = pickle.loads(elsewhere(pickle.dumps((case.system, settings))))
    same_states(case, "process", run, case.fresh)
    return run


def elsewhere(sent: bytes) -> bytes:
    """A pickled system and settings of ``simulate``, sent to the one other process; the pickled run."""
    other = worker()
    assert other.stdin is not None
    assert other.stdout is not None
    other.stdin.write(len(sent).to_bytes(8, "big") + sent)
    other.stdin.flush()
    return other.stdout.read(int.from_bytes(other.stdout.read(8), "big"))


@cache
def worker() -> subprocess.Popen[bytes]:
    """One other process, for all rows; it starts no thread here, and ends when its input does."""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "tests.crossings.carry.elsewhere"]
    return subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
