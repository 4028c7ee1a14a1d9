"""Motions of a mechanism for trial values, at the times of the measurements, with derivatives with respect to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis.driven.periods import symbolic
from pendula.analysis.fit.data import Measurements
from pendula.analysis.fit.outputs import Outputs
from pendula.analysis.sensitivities import in_equations, parameter_changes, refuse_kinks
from pendula.errors import ComputationError, LoopNotClosed, UsageError
from pendula.model.quantities import number_in
from pendula.numerics.steppers.stepping import integrate
from pendula.simulation.beginning import start_state
from pendula.simulation.inputs.feed import Feed, with_run_inputs
from pendula.simulation.inputs.kinds import Signal
from pendula.system.layout import Array, State
from pendula.system.parameters import parameter_vector
from pendula.system.switches.schedule import largest_step
from pendula.system.system import System
from pendula.system.tangent import deviation_parts, initial_slopes

MOST_STEPS = 200_000
DIFFERENCE = 1e-4
"""relative step of differences of the initial state of a mechanism with loops"""
KEPT = 1e-9
"""largest change of a known initial value when loops are closed"""


@dataclass(frozen=True)
class Unknown:
    """A value to be found: a parameter, or an initial value of one experiment.

    Attributes:
        name: as shown: l, theta(0), theta(0) of the second experiment: theta(0)[2].
        of: the parameter, coordinate or speed.
        experiment: the experiment of an initial value; None for a parameter.
    """

    name: str
    of: str
    experiment: int | None = None


class Experiment:
    """One experiment: its measurements, and the motion of the mechanism in it for trial values."""

    def __init__(
        self, index: int, system: System, data: Measurements, start: Mapping[str, float | str],
        unknowns: Sequence[Unknown], tol: float,
    ) -> None:  # fmt: skip
        self.index, self.data, self.tol = index, data, tol
        inputs = {name: data.values[name] for name in data.values if name in system.layout.inputs}
        self.columns = tuple(name for name in data.values if name not in inputs)
        self.unknowns = list(unknowns)
        self.system = self._prepared(system, inputs)
        self._start = self._numbers(start)
        self._used = in_equations(self.system.model) if self.system.loop_rows else None
        parameters = [u.of for u in unknowns if u.experiment is None]
        self._outputs = Outputs(self.system, self.columns, self._moving(parameters))
        self.values = np.column_stack([data.values[name] for name in self.columns])
        self.measured = np.isfinite(self.values)

    def _prepared(self, system: System, inputs: Mapping[str, Array]) -> System:
        """The mechanism in the coordinates of its joints, with the measured inputs."""
        joints = symbolic(system.in_joints.system)
        if not inputs:
            return joints
        signals = {}
        for name, column in inputs.items():
            known = np.isfinite(column)
            signals[name] = Signal(self.data.t[known], column[known])
            signals[name].check_span(name, (float(self.data.t[0]), float(self.data.t[-1])))
        return with_run_inputs(joints, signals)

    def _numbers(self, start: Mapping[str, float | str]) -> dict[str, float]:
        units = self.system.layout.units
        for name in start:
            self.system.layout.position(name)
        found = {name: number_in(x, units.get(name, ""), name) for name, x in start.items()}
        for name, value in found.items():
            if not np.isfinite(value):
                raise UsageError(f'the initial value of "{name}" is not finite')
        return found

    def _moving(self, parameters: Sequence[str]) -> list[str]:
        """Parameters that change with the unknown ones, also through expressions."""
        along = self._along(self.system.parameters, tuple(parameters) or ("",))
        found = [n for n, row in zip(self.system.layout.parameters, along, strict=True) if row.any()]
        refuse_kinks(self.system, found)
        return found

    def _along(self, vector: Array, names: Sequence[str]) -> Array:
        """Changes of all parameters with each of the unknowns; with loops, of those in the equations of motion."""
        along, _ = parameter_changes(self.system, vector, names)
        if self._used is not None:
            along[[name not in self._used for name in self.system.layout.parameters]] = 0.0
        return along

    def first_state(self, values: Mapping[str, float], vector: Array) -> State:
        """The initial state: the model's, then what is known, then trial values; loops are closed as in a run.

        Raises:
            ComputationError: the loops cannot be closed with the values that are known or tried.
        """
        trial = {u.of: values[u.name] for u in self.unknowns if u.experiment == self.index}
        t = float(self.data.t[0])
        if not self.system.loop_rows:
            return self.system.in_joints.initial_state(vector, t=t).replace(self._start | trial)
        given = self._start | trial
        try:
            state = start_state(self.system, given, t, vector).state
        except LoopNotClosed as error:
            raise ComputationError(f"{self.data.source}: {error}") from None
        for name, value in given.items():
            if abs(state[name] - value) > KEPT * max(1.0, abs(value)):
                raise ComputationError(f"{self.data.source}: the loops cannot be closed with {name}(0) = {value:.6g}")
        return state

    def _vector(self, values: Mapping[str, float]) -> Array:
        """All parameters for trial values."""
        return parameter_vector(
            self.system, {u.of: values[u.name] for u in self.unknowns if u.experiment is None} or None
        )

    def motion(self, values: Mapping[str, float]) -> tuple[Array, Array]:
        """Measured quantities (times, columns) and derivatives (times, columns, unknowns) for trial values.

        Raises:
            ComputationError: the motion could not be integrated.
        """
        system = self.system
        vector = self._vector(values)
        layout, names = system.layout, tuple(u.of if u.experiment is None else "" for u in self.unknowns)
        along = self._along(vector, names)
        state = self.first_state(values, vector)
        first = self._closed_slopes(values) if system.loop_rows else self._first_slopes(state, vector, along)
        scales = np.array([abs(values[u.name]) or 1.0 for u in self.unknowns])
        callback, targets = deviation_parts(system, vector, along.T * scales[:, None], system.inputs.names)
        span = (float(self.data.t[0]), float(self.data.t[-1]))
        if system.inputs.over_time:
            callback = Feed(system, vector, span, callback, targets).callback()
        n = len(layout.coordinates) + len(layout.speeds)
        y0 = np.concatenate([state.q, state.v, (first * scales).T.ravel()])
        found = integrate(
            callback, y0, span, rtol=self.tol, atol=self.tol, sample_times=self.data.t, max_steps=MOST_STEPS,
            max_step=largest_step(system, vector, span, []), breakpoints=system.inputs.breaks(span).tolist(),
            keep_on_interrupt=False,
        )  # fmt: skip
        if not found.outcome.ok:
            raise ComputationError(f"{self.data.source}: the motion was not found: {found.outcome}: {found.detail}")
        y = found.sample_y[:, :n]
        S = found.sample_y[:, n:].reshape(len(self.data.t), -1, n).transpose(0, 2, 1) / scales
        return self._outputs(self.data.t, y, S, along, vector)

    def _closed_slopes(self, values: Mapping[str, float]) -> Array:
        """Changes of the initial state with each of the unknowns where loops decide, by differences of fourth order.

        Assembly is exact to rounding, so these are good to about 1e-11.
        """
        columns = []
        for u in self.unknowns:
            step = DIFFERENCE * (abs(values[u.name]) or 1.0)
            around = []
            for k in (-2, -1, 1, 2):
                there = dict(values) | {u.name: values[u.name] + k * step}
                state = self.first_state(there, self._vector(there))
                around.append(np.concatenate([state.q, state.v]))
            columns.append((8 * (around[2] - around[1]) - (around[3] - around[0])) / (12 * step))
        return np.array(columns).T

    def _first_slopes(self, state: State, vector: Array, along: Array) -> Array:
        """Changes of the initial coordinates and speeds with each of the unknowns."""
        dq, dv = (x @ along for x in initial_slopes(self.system, vector))
        trial = {u.of: k for k, u in enumerate(self.unknowns) if u.experiment == self.index}
        for name in {*self._start, *trial}:
            which, k = self.system.layout.position(name)
            (dq if which == "q" else dv)[k] = 0.0
        for name, column in trial.items():
            which, k = self.system.layout.position(name)
            (dq if which == "q" else dv)[k, column] = 1.0
        for at, _ in self.system.balls:  # initial quaternions are normalized
            unit = state.q[at : at + 4] / np.linalg.norm(state.q[at : at + 4])
            dq[at : at + 4] -= np.outer(unit, unit @ dq[at : at + 4])
        return np.concatenate([dq, dv])


def by_experiment(values: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Values by name of one experiment; entries may be one for all, or a list with one for each."""
    found = {}
    for name, x in values.items():
        if isinstance(x, (list, tuple)) and index >= len(x):
            raise UsageError(f'initial_state: "{name}" has {len(x)} values; give one for each experiment')
        found[name] = x[index] if isinstance(x, (list, tuple)) else x
    return found
