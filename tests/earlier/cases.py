"""What an earlier version wrote: mechanisms, runs, studies. The script that writes and the tests that read share this list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pendula
from tests.earlier import laws

DATA = Path(__file__).parent / "data"
FORMATS = ("npz", "csv", "json", "nc")
DURATION, LATER = 0.6, 0.3
SAMPLES = 7


def _stone(orientation: str) -> pendula.Model:
    """A body without symmetry on a ball joint."""
    return pendula.Model(
        name=f"stone in {orientation}",
        gravity=[0, 0, "-g"],
        parameters={"g": 9.81},
        bodies=[{"name": "stone", "mass": 1.0, "com": [0.1, 0.05, -0.3], "inertia": [0.1, 0.12, 0.05]}],
        joints=[
            {"name": "ball", "type": "spherical", "orientation": orientation, "parent": "ground", "child": "stone"}
        ],
        initial={"ball": {"axis": [1, 2, 0], "angle": 1.4}},
    )


def _led() -> pendula.Model:
    """Two links, of which the first one is led."""
    bodies = [{"name": name, "rod": {"mass": 1.0, "length": "l"}} for name in ("upper", "lower")]
    shoulder = {"parent": "ground", "child": {"body": "upper", "at": "top"}, "motion": "0.3*sin(2*t)"}
    elbow = {"parent": {"body": "upper", "at": "tip"}, "child": {"body": "lower", "at": "top"}}
    return pendula.Model(
        name="led arm",
        gravity=[0, "-g", 0],
        parameters={"g": 9.81, "l": 1.0},
        bodies=bodies,
        joints=[{"name": n, "type": "revolute"} | x for n, x in (("shoulder", shoulder), ("elbow", elbow))],
        initial={"elbow": 0.4},
    )


MODELS: dict[str, Callable[[], pendula.Model]] = {
    "angles": lambda: _stone("zyz"),
    "rotation_vector": lambda: _stone("rotation vector"),
    "quaternion": lambda: _stone("quaternion"),
    "driven": _led,
    "loop": pendula.library.four_bar,
    "plane": pendula.library.double_pendulum,
    "chain": lambda: pendula.library.chain(links=3),
    "cart": pendula.library.cart_pole,
}


@dataclass(frozen=True)
class Run:
    """A run to write.

    Attributes:
        model: its mechanism.
        compiled: arguments of ``compile_system``.
        inputs: what acts on it.
        start: initial values.
        extras: further arguments of ``simulate``.
    """

    model: str
    compiled: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    start: dict[str, float] = field(default_factory=dict)
    extras: dict[str, Any] = field(default_factory=dict)

    @property
    def over_time(self) -> bool:
        """Whether only the run knows its inputs: they are neither numbers nor text."""
        return any(not isinstance(value, float | str) for value in self.inputs.values())


def _pushed(force: Any) -> Run:
    return Run("cart", inputs={"F": force}, start={"x": 0.1, "theta": 0.4})


KNOTS, PUSHES = [0.0, 0.25, 0.6, 1.0, 1.5], [0.0, 5.0, -5.0, 2.0, 0.0]

RUNS: dict[str, Run] = {
    "angles": Run("angles"),
    "rotation_vector": Run("rotation_vector"),
    "quaternion": Run("quaternion"),
    "driven": Run("driven"),
    "loop": Run("loop"),
    "maximal": Run("loop", {"formulation": "maximal"}),
    "recursive": Run("chain", {"engine": "recursive"}, start={"theta1": 0.5}),
    "events": Run("plane", extras={"events": ["theta1 = 0", "theta2_dot = 1"]}),
    "number": _pushed(1.5),
    "text": _pushed("-3*x - 2*x_dot + sin(5*t)"),
    "series_hold": _pushed(pendula.Signal(KNOTS, PUSHES, "hold")),
    "series_linear": _pushed(pendula.Signal(KNOTS, PUSHES, "linear")),
    "series_cubic": _pushed(pendula.Signal(KNOTS, PUSHES, "cubic")),
    "function": _pushed(laws.push),
    "sampled": _pushed(pendula.Sampled(laws.pull, every=0.05)),
    "sampled_text": _pushed(pendula.Sampled("-4*x - 2*x_dot", every=0.05, delay=0.02)),
    "sampled_memory": _pushed(pendula.Sampled(laws.pid, every=0.05, memory=0.0)),
}

FMUS = {"open": "plane", "driven": "driven", "loop": "loop", "quaternion": "quaternion"}
"""name of a file: its mechanism"""

STUDIES: dict[str, dict[str, Any]] = {
    "plain": {"model": "plane", "over": {"theta1": [0.1, 0.7], "l": [1.0, 2.0, 3.0]}, "duration": 0.5},
    "inputs": {"model": "cart", "over": {"F": [-1.0, 0.0, 2.0], "theta": ["10deg", "40deg"]}, "duration": 0.5},
    "interrupted": {"model": "plane", "over": {"theta1": "-1:1:15", "theta2": [0.0, 0.5]}, "duration": 0.5},
}


def simulated(run: Run, model: pendula.Model, duration: float, **options: Any) -> Any:
    """The run as it is computed."""
    system = pendula.compile_system(model, **run.compiled)
    return pendula.simulate(system, duration, inputs=run.inputs, initial_state=run.start, **run.extras, **options)


def swept(name: str, model: pendula.Model, **options: Any) -> Any:
    """The study as it is computed."""
    study = STUDIES[name]
    return pendula.sweep(model, study["over"], duration=study["duration"], on="here", **options)


def numbers_of(run: Any) -> dict[str, list[float]]:
    """All that a run says at its samples, as plain numbers by name: readings, energies, inputs, accelerations."""
    layout = run.joint_layout
    names = [*run.layout.coordinates, *run.layout.speeds, *layout.coordinates, *layout.speeds]
    names += [f"{name}_ddot" for name in layout.coordinates if f"{name}_dot" in layout.speeds]
    names += ["kinetic", "potential", "work", *run.system.layout.inputs]
    return {name: run[name].tolist() for name in dict.fromkeys(names)}


def _at_start(system: Any) -> dict[str, Any]:
    state = system.initial_state()
    return {"q": state.q, "accelerations": system.accelerations(state.q, state.v, 0.0)}


def _of_run(run: Any) -> dict[str, Any]:
    return {name: np.array(values) for name, values in numbers_of(run).items()} | {"drift": run.energy_drift}


def _continued(run: Any) -> dict[str, Any]:
    longer = run.continue_for(LATER)
    return _of_run(run) | {"end": longer.q[-1], "end_t": longer.t[-1]}


class Pickled(NamedTuple):
    """An object to pickle, and the numbers that it gives."""

    make: Callable[[], Any]
    numbers: Callable[[Any], dict[str, Any]]


def _run(name: str) -> Any:
    run = RUNS[name]
    return simulated(run, MODELS[run.model](), DURATION, samples=SAMPLES)


def _attributes(*names: str) -> Callable[[Any], dict[str, Any]]:
    return lambda of: {name: getattr(of, name) for name in names}


PICKLES: dict[str, Pickled] = {
    "model": Pickled(MODELS["loop"], lambda model: _at_start(pendula.compile_system(model))),
    "system": Pickled(lambda: pendula.compile_system(MODELS["quaternion"](), "lagrange"), _at_start),
    "system_maximal": Pickled(lambda: pendula.compile_system(MODELS["loop"](), "maximal"), _at_start),
    "system_recursive": Pickled(lambda: pendula.compile_system(MODELS["chain"](), engine="recursive"), _at_start),
    "run": Pickled(lambda: _run("loop"), _continued),
    "run_angles": Pickled(lambda: _run("angles"), _continued),
    "run_series": Pickled(lambda: _run("series_hold"), _continued),
    "run_function": Pickled(lambda: _run("function"), _continued),
    "run_sampled": Pickled(lambda: _run("sampled_memory"), _of_run),
    "state": Pickled(lambda: _run("driven").state(), _attributes("t", "q", "v")),
    "ensemble": Pickled(lambda: ensemble(), _attributes("q", "v", "energy_drift")),
    "reactions": Pickled(lambda: pendula.reactions(_run("loop")), _attributes("t", "force_world", "torque_world")),
    "equilibrium": Pickled(
        lambda: pendula.equilibria.lowest_equilibrium(MODELS["loop"]()), _attributes("q", "multipliers", "potential")
    ),
    "equilibria": Pickled(
        lambda: pendula.find_equilibria(MODELS["plane"]()), lambda all_: {"q": [one.q for one in all_]}
    ),
    "linear_model": Pickled(
        lambda: pendula.linearize(MODELS["cart"](), {"theta": "180deg"}), _attributes("M", "C", "K", "A", "B")
    ),
    "gain": Pickled(
        lambda: pendula.linearize(MODELS["cart"](), {"theta": "180deg"}).lqr({"x": 1, "theta": 10}), _attributes("K")
    ),
    "modes": Pickled(lambda: pendula.modes(MODELS["plane"]()), _attributes("frequencies", "shapes")),
    "spectrum": Pickled(
        lambda: pendula.linear.spectrum(MODELS["plane"]()),
        lambda found: {"re": np.real(found.values), "im": np.imag(found.values)},
    ),
    "stability": Pickled(
        lambda: pendula.stability(MODELS["plane"]()), lambda found: {"stable": float(found.is_stable), "q": found.at.q}
    ),
}


def ensemble() -> Any:
    """Three runs of two links from several starts."""
    return pendula.simulate_many(MODELS["plane"](), 0.4, {"theta1": [0.1, 0.4, 0.9]}, samples=3, workers=1)


OTHERS: dict[str, Callable[[], Any]] = {"ensemble": ensemble, "reactions": lambda: pendula.reactions(_run("driven"))}
"""results other than runs that files hold"""
