"""Result of a simulation: states, outcome, energy account and constraint violations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pendula.files import write_arrays
from pendula.outcome import Outcome
from pendula.simulation.events import Crossings
from pendula.simulation.predictability import Evidence, Predictability
from pendula.simulation.readings import (
    evaluated,
    integrated,
    joint_accelerations,
    point_acceleration,
    point_motion,
    reading,
    unit_of,
)
from pendula.system.layout import Array, Layout, State
from pendula.system.orientation.singularities import Nearest
from pendula.system.system import System
from pendula.words import counted, readable, some


@readable
@dataclass(frozen=True)
class EnergyAccount:
    """Energies at every accepted step, the work done on the mechanism, and the error of their balance.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 1.0, samples=3)
        >>> run.energy.total.shape == run.energy.t.shape, run.energy.drift < 1e-6
        (True, True)
    """

    t: Array
    kinetic: Array
    potential: Array
    work: Array
    """work of friction, damping, inputs, loads and prescribed motions since the start"""

    inside: Array = field(default_factory=lambda: np.zeros(0))
    """what does not add up at points inside steps: all of the first, fewer later, at least one in 16"""

    @property
    def total(self) -> Array:
        """Kinetic plus potential energy."""
        return self.kinetic + self.potential

    @cached_property
    def scale(self) -> float:
        """Largest kinetic energy, or range of the potential energy if that is larger; 1 if both are zero."""
        size = max(float(self.kinetic.max()), float(np.ptp(self.potential)))
        return size if size > 0 else 1.0

    @property
    def error(self) -> Array:
        """E(t) - E(0) - W(t)."""
        return self.total - self.total[0] - self.work

    @property
    def drift(self) -> float:
        """max |E(t) - E(0) - W(t)| / scale, at the steps and at points inside them, whatever the samples.

        Where dense output takes evaluations (dop853), these are two points inside each of the first 16 steps, every
        second of the next 32, and so on, at least one in 16; else one point of every step. At other times inside steps
        the error may be up to four times as large.
        """
        return float(max(np.abs(self.error).max(), np.abs(self.inside).max(initial=0.0)) / self.scale)

    def __str__(self) -> str:
        return f"energies at {counted(len(self.t), 'step')}: drift {self.drift:.2e} of {self.scale:.6g}"


@readable
@dataclass(frozen=True)
class Trajectory:
    """Times, coordinates and speeds of a run, with its energy account and statistics.

    ``trajectory["theta1"]`` is a coordinate over time; so are speeds (``theta1_dot``), accelerations (``theta1_ddot``,
    of an angular velocity ``ball_wx_dot``), prescribed motions, inputs, parts of points of bodies (``lower.tip.x``,
    ``.vx``, ``.ax``), and the energies ``kinetic``, ``potential``, ``energy`` (their sum) and ``work`` (done on the
    mechanism). ``t``, ``q``, ``v`` are at the requested samples, or at the accepted steps.

    Example:
        >>> import pendula
        >>> run = pendula.simulate(pendula.compile_system(pendula.library.pendulum()), 1.0, samples=3)
        >>> run["theta"].round(3)[0], run.energy_drift < 1e-6
        (np.float64(1.571), True)
    """

    t: Array
    q: Array
    v: Array
    outcome: Outcome
    detail: str
    """details of the outcome; empty if it finished"""
    energy: EnergyAccount
    energy_error: Array
    """(E(t) - E(0) - W(t)) / scale at the times of ``t``"""
    violation: Array | None
    """largest |g| at the times of ``t``; None without constraints"""
    constraint_violation: float
    """largest |g| at the accepted steps and samples"""
    velocity_violation: float
    """largest |G v - b| at the accepted steps"""
    jacobi_drift: float | None
    """relative drift of the Jacobi integral, if prescribed motions conserve it"""
    steps: int
    rejected: int
    rhs_evaluations: int
    seconds: float
    """wall time of the integration"""
    stepper: str
    tolerance: float
    remarks: tuple[str, ...]
    """notes of the run itself; ``notes`` adds what is known about its accuracy"""
    system: System
    parameters: Array
    step: float | None = None
    """fixed step size, if any; the tolerance then had no effect"""
    events: Mapping[str, Crossings] = field(default_factory=dict)
    """occurrences of each event, by its name; singular poses that were passed are the event ``singular pose``"""
    nearest_singularity: Nearest | None = None
    """how near to a singularity of its coordinates the run came, and when; None if they have none"""
    elsewhere: Any = field(default=None, repr=False)
    """states that were computed in other coordinates, next to such a singularity"""
    doubts: tuple[str, ...] = ()
    """why the run is not to be trusted; empty if nothing speaks against it"""
    evidence: Evidence | None = None
    """states from which ``predictability`` is estimated"""

    @cached_property
    def predictability(self) -> Predictability | None:
        """Estimated error of the coordinates over time, and until when the run can be trusted.

        None if that is unknown, as for a run without steps. For a run that changed the coordinates of an orientation on
        its way, the error is that of quaternions.

        It is an indication, from a second run with another tolerance over all or part of the time. That run is done
        when this, ``notes`` or ``str()`` is read for the first time: see :class:`~pendula.results.Predictability`.

        Example:
            >>> import pendula
            >>> print(pendula.simulate("pendulum", 2.0).predictability.until)
            None
        """
        return None if self.evidence is None else self.evidence.estimate(self.energy)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know about the run, such as the time after which its digits are lost."""
        found = self.predictability
        return self.remarks if found is None or found.until is None else (*self.remarks, found.text)

    @property
    def ok(self) -> bool:
        """Whether the run did all that was asked, and nothing speaks against trusting it.

        Energy that is off by more than 0.001 of its scale, loops open by more than 0.001 of a typical length, and a
        branch that may have changed in a singular pose do; ``doubts`` says which.
        """
        return self.outcome.ok and not self.doubts

    @property
    def layout(self) -> Layout:
        """Names and units of the columns of ``q`` and ``v``."""
        return self.system.layout

    @property
    def joint_layout(self) -> Layout:
        """Names and units of the joint coordinates and speeds."""
        return self.system.in_joints.layout

    @cached_property
    def joints(self) -> tuple[Array, Array]:
        """Joint coordinates and speeds over time, in any formulation."""
        return self.system.in_joints.read(self.q, self.v, self.t, parameters=self.parameters)

    @cached_property
    def accelerations(self) -> Array:
        """Accelerations of the joints over time, one column for each of the joints' speeds.

        Raises:
            SingularPose: they are not determined at a state.
        """
        return joint_accelerations(self)

    def unit(self, name: str) -> str:
        """The unit of a quantity that ``trajectory[name]`` gives; empty if it has none.

        Example:
            >>> import pendula
            >>> run = pendula.simulate("pendulum", 1.0, samples=3)
            >>> [run.unit(name) for name in ("theta", "theta_ddot", "kinetic", "link.tip.vx")]
            ['rad', 'rad/s^2', 'J', 'm/s']
        """
        return unit_of(self, name)

    @property
    def energy_drift(self) -> float:
        """max |E(t) - E(0) - W(t)| relative to the energy scale, whatever the samples; see :class:`EnergyAccount`."""
        return self.energy.drift

    def __getitem__(self, name: str) -> Array:
        if name in (*self.joint_layout.coordinates, *self.joint_layout.speeds):
            which, k = self.joint_layout.position(name)
            return self.joints[0 if which == "q" else 1][:, k]
        if name in (*self.layout.coordinates, *self.layout.speeds):
            which, k = self.layout.position(name)
            return self.q[:, k] if which == "q" else self.v[:, k]
        return reading(self, name)

    def evaluate(self, expression: str) -> Array:
        """An expression of t, coordinates, speeds, prescribed motions, inputs and parameters, over time.

        Raises:
            UsageError: it cannot be read, or has an unknown name.

        Example:
            >>> import pendula
            >>> run = pendula.simulate("pendulum", 1.0, samples=3)
            >>> bool(abs(run.evaluate("sin(theta)**2 + cos(theta)**2") - 1.0).max() < 1e-15)
            True
        """
        return evaluated(self, expression)

    def position(self, body: str, point: str | Sequence[float] = "origin") -> Array:
        """Where a point of a body is over time, in world axes, shape (times, 3).

        Args:
            body: name of the body.
            point: one of its named points (``origin``, ``com``, ``tip`` of a rod, ...), or a place in body axes.

        Raises:
            UsageError: there is no such body or point.

        Example:
            >>> import pendula
            >>> run = pendula.simulate("double-pendulum", 1.0, samples=3)
            >>> run.position("lower", "tip").shape
            (3, 3)
        """
        return point_motion(self, body, point)[0]

    def velocity(self, body: str, point: str | Sequence[float] = "origin") -> Array:
        """The velocity of a point of a body over time, in world axes; arguments as of :meth:`position`."""
        return point_motion(self, body, point)[1]

    def acceleration(self, body: str, point: str | Sequence[float] = "origin") -> Array:
        """The acceleration of a point of a body over time, in world axes; arguments as of :meth:`position`.

        Example:
            >>> import pendula
            >>> run = pendula.simulate("pendulum", 1.0, samples=2, initial_state={"theta": 0, "theta_dot": 2.0})
            >>> run.acceleration("link", "tip")[0].round(12).tolist()  # towards the pivot
            [0.0, 4.0, 0.0]
        """
        return point_acceleration(self, body, point)

    def integral(self, expression: str) -> float:
        """The integral of an expression over the time of the run, by a spline through the states that were kept.

        Its error falls with the fourth power of the distance between them: ask for enough ``samples``.

        Raises:
            UsageError: the expression cannot be read, or there are fewer than two states.

        Example:
            >>> import pendula
            >>> run = pendula.simulate("pendulum", 1.0, samples=201)
            >>> bool(abs(run.integral("theta_dot") - (run["theta"][-1] - run["theta"][0])) < 1e-7)
            True
        """
        return integrated(self, expression)

    def __len__(self) -> int:
        return len(self.t)

    def state(self, index: int = -1) -> State:
        """One state of the run; the last by default."""
        return State(float(self.t[index]), self.q[index], self.v[index], self.layout)

    def _event_arrays(self) -> dict[str, Array]:
        """Names of the events; times and states of all occurrences, each with the index of its event."""
        found = list(self.events.values())
        nq, nv = len(self.layout.coordinates), len(self.layout.speeds)
        return {
            "event_names": np.array(list(self.events), dtype=str),
            "event_which": np.repeat(np.arange(len(found)), [len(f) for f in found]),
            "event_t": np.concatenate([f.t for f in found] or [np.zeros(0)]),
            "event_q": np.concatenate([f.q for f in found] or [np.zeros((0, nq))]),
            "event_v": np.concatenate([f.v for f in found] or [np.zeros((0, nv))]),
        }

    def save(self, path: str | Path, *, quantities: Sequence[str] = ()) -> None:
        """Writes t, q, v, names, energies, events and the account to an ``.npz`` file.

        Args:
            path: the file.
            quantities: names of further quantities, such as ``theta1_ddot``, that ``trajectory[name]`` gives; they
                become the columns of ``quantities``.
        """
        path = Path(path)
        account: dict[str, Any] = {
            "model": self.system.model.name,
            "formulation": self.system.formulation,
            "stepper": self.stepper,
            "tolerance": self.tolerance,
            "step": self.step,
            "outcome": str(self.outcome),
            "detail": self.detail,
            "steps": self.steps,
            "rejected": self.rejected,
            "rhs_evaluations": self.rhs_evaluations,
            "seconds": self.seconds,
            "energy_drift": self.energy_drift,
            "constraint_violation": self.constraint_violation,
            "velocity_violation": self.velocity_violation,
            "units": dict(self.layout.units),
            "notes": list(self.notes),
            "doubts": list(self.doubts),
            "predictability": None if self.predictability is None else self.predictability.as_dict(),
            "events": [asdict(found.event) for found in self.events.values()],
        }
        content = {
            "t": self.t,
            "q": self.q,
            "v": self.v,
            "coordinates": np.array(self.layout.coordinates),
            "speeds": np.array(self.layout.speeds),
            "parameters": self.parameters,
            "parameter_names": np.array(self.layout.parameters),
            "step_t": self.energy.t,
            "kinetic": self.energy.kinetic,
            "potential": self.energy.potential,
            "work": self.energy.work,
            "account": np.array(json.dumps(account)),
            **self._event_arrays(),
        }
        if quantities:
            content["quantity_names"] = np.array(list(quantities))
            content["quantities"] = np.column_stack([self[name] for name in quantities])
        write_arrays(path, content)

    def __str__(self) -> str:
        layout = self.joint_layout
        names = some([*layout.coordinates, *layout.speeds])
        step = f"steps of {self.step:g}" if self.step else f"tolerance {self.tolerance:g}"
        ends = f"{self.energy.t[0]:.6g} to {self.energy.t[-1]:.6g} {layout.time_unit}"
        lines = [
            f"{self.system.model.name}, {ends}: {self.outcome}",
            f"{counted(len(self), 'state')} of {names}",
            f"{self.stepper} with {step}: {counted(self.steps, 'step')}, {self.rejected} rejected",
            f"energy drift {self.energy_drift:.2e}",
        ]
        if self.predictability is not None:
            lines.append(f"estimated error at the end {self.predictability.size}")
        if self.violation is not None:
            lines.append(f"constraint violation {self.constraint_violation:.2e}")
        if self.nearest_singularity is not None:
            lines.append(f"{self.nearest_singularity} at t = {self.nearest_singularity.t:.6g} {layout.time_unit}")
        lines += [f"not to be trusted: {doubt}" for doubt in self.doubts]
        lines += [str(found) for found in self.events.values()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])
