"""A row made concrete: its mechanism, system, run, and what carried them to where the question is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import pendula
from pendula.errors import PendulaError
from pendula.system.build import compile_again
from pendula.system.symbolic import SymbolicSystem
from tests.crossings import oracle
from tests.crossings.constants import changed
from tests.crossings.factors import FLAT, Row
from tests.crossings.inputs import EVERY, Given, State, given_beside, given_input
from tests.crossings.mechanism import Array, Builder, Drawn
from tests.crossings.starts import Starter

DURATION = 0.4
MOST_STEPS = 4000
"""of a run, which takes some hundred; one that needs more suits no row, and where dry friction stops it must say so"""
BLOCK = 0.05
"""inputs jump, and controllers sample, only between blocks"""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)


class Unsuitable(Exception):
    """The drawn numbers do not suit the row: draw others."""


class Wrong(AssertionError):
    """An answer that an oracle contradicts."""


@dataclass(frozen=True)
class Stretch:
    """Times at which a run is looked at: edges of blocks, and Gauss points inside of each."""

    first: float
    last: float

    @property
    def edges(self) -> Array:
        """Ends of all blocks, in the direction of the run."""
        count = round(abs(self.last - self.first) / BLOCK)
        return np.linspace(self.first, self.last, count + 1)

    @cached_property
    def times(self) -> Array:
        """Edges and Gauss points, in order."""
        edges = self.edges
        inner = (edges[:-1] + edges[1:])[:, None] / 2 + np.diff(edges)[:, None] / 2 * NODES
        return np.concatenate([np.column_stack([edges[:-1], inner]).ravel(), edges[-1:]])

    @property
    def inside(self) -> Array:
        """Indices of the Gauss points in ``times``."""
        return np.flatnonzero(np.arange(self.times.size) % (NODES.size + 1))


class Case:
    """One attempt at a row.

    Attributes:
        row: its levels.
        rng: its generator: the same numbers for the same seed, row and attempt.
        drawn: the mechanism as data.
        own: the oracle's reading of the data.
        start: where its run starts.
        given: what acts on it: the input F.
        beside: the input G.
        parameters: changed parameters of the run.
    """

    def __init__(self, row: Row, seed: tuple[int, ...]) -> None:
        self.row = row
        self.seed = seed
        self.rng = np.random.default_rng([*seed, 4711])
        self.drawn: Drawn = Builder(row, self.rng).drawn()
        self.parameters = changed(row, self.rng)
        self.own = oracle.Mechanism(self.drawn.data, self.parameters)
        begins = np.random.default_rng([*seed, 4712])
        self.start = Starter(row, self.drawn, self.own, begins).drawn_start()
        self.given: Given = given_input(row, *self._law_names(), self.rng)
        self.beside: Given = given_beside(row, self.rng)

    def _law_names(self) -> tuple[str, str]:
        """The coordinate and the speed that a feedback law names."""
        return self.drawn.law

    @cached_property
    def model(self) -> pendula.Model:
        """The model."""
        return pendula.Model(**self.drawn.data)

    @cached_property
    def system(self) -> Any:
        """The system, by the engine of the row."""
        return self.compiled(self.model)

    def compiled(self, model: pendula.Model) -> Any:
        """The system of a model, by the engine of the row."""
        engine = self.row["engine"]
        if engine == "recursive":
            return pendula.compile_system(model, engine="recursive")
        if engine == "recursive with equations":  # what "auto" chooses for more than five speeds
            return compile_again(model, "", "recursive", symbolic_terms=True)
        if engine == "maximal as one system":
            return SymbolicSystem(pendula.derive(model, "maximal"), by_bodies=False)
        return pendula.compile_system(model, engine)

    @property
    def is_flat(self) -> bool:
        """Whether all moves in the plane."""
        return self.row["orientation"] in FLAT

    @cached_property
    def stretch(self) -> Stretch:
        """The times of the run."""
        return Stretch(0.0, DURATION)

    @property
    def inputs(self) -> dict[str, Any]:
        """What the caller gives for inputs."""
        return {**self.given.inputs, **self.beside.inputs}

    def values_at(self, t: float, state: State, at: Callable[[float], State]) -> dict[str, float]:
        """Values of the inputs that the caller gives."""
        pairs = ((one, name) for one in (self.given, self.beside) for name in one.inputs)
        return {name: one.value(t, state, at) for one, name in pairs}

    def all_inputs(self, u: Mapping[str, float]) -> dict[str, float]:
        """Values of the inputs that the caller gave, and those of the others as the model has them."""
        own = self.drawn.data.get("inputs", {})
        return {name: u[name] if name in u else self.own.values.scalar(own[name]) for name in own}

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of ``simulate`` besides the time."""
        stepper, constraints = self.row["stepper"], self.row["constraints"]
        found: dict[str, Any] = {"stepper": stepper, "constraints": constraints, "max_steps": MOST_STEPS}
        found |= {"step": 0.001} if stepper == "rk4" else {"tol": 1e-8 if stepper == "radau" else 1e-10}
        if self.inputs:
            found["inputs"] = self.inputs
        if self.parameters:
            found["parameters"] = self.parameters
        if self.start.state is not None:
            found["initial_state"] = self.start.state
        if self.row["question"] == "events":
            found["events"] = list(self.events)
        return found

    @cached_property
    def events(self) -> dict[str, tuple[str, float, float, float]]:
        """Events of the run by their text: a variable x, and (a, b, c) of ``cos(a x + b t)``, or (0, 0, c) of ``x = c``."""
        initial, found = {**self.drawn.data["initial"], **(self.start.state or {})}, {}
        moving = [name for name in ("crank", *self.drawn.free) if name in initial and initial.get(f"{name}_dot")]
        for name in moving[:1]:
            value = round(initial[name] + 0.03 * float(np.sign(initial[f"{name}_dot"])), 6)
            found[f"{name} = {value}"] = (name, 0.0, 0.0, value)
            found[f"cos(40*{name} + 10*t) = 0"] = (name, 40.0, 10.0, 0.0)
        for name in (*self.drawn.shoulder, *(f"{name}_dot" for name in moving))[:1]:
            found[f"cos(25*{name} + 12*t) = 0"] = (name, 25.0, 12.0, 0.0)
        return found

    @cached_property
    def rubbing(self) -> str:
        """The speed that dry friction opposes; empty if there is none."""
        if self.row["load"] != "dry friction":
            return ""
        values = [str(force.get("value")) for force in self.drawn.data["forces"]]  # integrals are asked for without it
        return next((x.partition("sign(")[2].removesuffix(")") for x in values if "sign(" in x), "")

    @property
    def tolerance(self) -> float:
        """How near motions must be to each other: by the tolerance of their steps."""
        rough = self.row["load"] in ("kink", "joint limit") or self.row["closure"] == "change point"
        return {"radau": 3e-5, "rk4": 1e-6}.get(self.row["stepper"], 1e-6) * (30 if rough else 1)

    def simulated(self, system: Any = None, stretch: Stretch | None = None, **changes: Any) -> Any:
        """A run."""
        stretch = stretch or self.stretch
        settings = {**self.settings, **changes}
        run = pendula.simulate(
            system or self.system, t_span=(stretch.first, stretch.last), samples=stretch.times, **settings
        )
        if self.rubbing and run.outcome.name == "TOO_MANY_STEPS" and abs(run[self.rubbing][0]) > 1e-6:
            raise Wrong(f"dry friction stops {self.rubbing}, and the run says: {run.outcome}: {run.detail}")
        if not run.outcome.ok or len(run.t) != stretch.times.size:
            raise Unsuitable(f"{run.outcome}: {run.detail}")
        if self.rubbing and np.ptp(np.sign(run[self.rubbing])) > 0:
            raise Unsuitable("dry friction changes its side")
        if any("could have taken another branch" in x or "late, near a singular pose" in x for x in run.notes):
            raise Unsuitable(f"in a singular pose: {run.notes}")
        return run

    @cached_property
    def fresh(self) -> Any:
        """The run of the row, before anything carried it; it starts as it should."""
        run = self.simulated()
        self.start.check(self, run)
        return run

    # -- what a run says, by name

    def states_of(self, run: Any) -> list[dict[str, float]]:
        """Coordinates and speeds of the joints at all samples."""
        layout = run.joint_layout
        q, v = run.joints
        names = (*layout.coordinates, *layout.speeds)
        return [dict(zip(names, map(float, (*a, *b)), strict=True)) for a, b in zip(q, v, strict=True)]

    def moments(self, run: Any, stretch: Stretch | None = None) -> list[oracle.Moment]:
        """What the run claims at its samples: states, accelerations; inputs by what the caller gave."""
        states, times = self.states_of(run), run.t
        layout = run.joint_layout
        accelerations = run.accelerations
        inputs = self.inputs_at(times, states)
        found = []
        for k, (t, state) in enumerate(zip(times, states, strict=True)):
            found.append(
                oracle.Moment(
                    float(t),
                    {name: state[name] for name in layout.coordinates},
                    {name: state[name] for name in layout.speeds},
                    dict(zip(layout.speeds, map(float, accelerations[k]), strict=True)),
                    inputs[k],
                )
            )
        return found

    def inputs_at(self, times: Any, states: list[dict[str, float]]) -> list[dict[str, float]]:
        """Values of the inputs at samples."""
        if not self.inputs:
            return [{} for _ in times]

        def at(t: float) -> Mapping[str, float]:
            k = int(np.argmin(np.abs(np.asarray(times) - t)))
            if abs(times[k] - t) > 1e-9:
                raise Unsuitable(f"no sample at t = {t}")
            return states[k]

        return [self.values_at(float(t), state, at) for t, state in zip(times, states, strict=True)]


def passes(error: BaseException) -> bool:
    """Whether an error says that the numbers of a case do not suit, rather than that something is wrong."""
    return isinstance(error, PendulaError)


__all__ = ["BLOCK", "DURATION", "EVERY", "Case", "Stretch", "Unsuitable", "Wrong", "passes"]
