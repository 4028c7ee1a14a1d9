"""Result of a simulation: states, outcome, energy account and constraint violations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pendula.arguments import shortly
from pendula.errors import UsageError
from pendula.outcome import Outcome
from pendula.simulation.defaults import LEAST_SCALE, ROUNDED_ENERGY
from pendula.simulation.events import Crossings
from pendula.simulation.predictability import Evidence, Predictability, Settled
from pendula.simulation.readings import (
    evaluated,
    integrated,
    joint_accelerations,
    point_acceleration,
    point_motion,
    reading,
    unit_of,
)
from pendula.simulation.settings import Settings
from pendula.system.layout import Array, Layout, State
from pendula.system.orientation.singularities import Nearest
from pendula.system.system import System
from pendula.tables.tabular import Tabular
from pendula.words import counted, readable, some


def relative_drift(error: Any, scale: Any, depth: Any) -> Any:
    """Energy errors relative to their scale; those that rounding explains, relative to the energies themselves.

    A run that ends after a nanosecond has a kinetic energy below the rounding of its potential energy: relative to that
    scale, its rounding errors would look like a drift.

    Args:
        error: largest energy error of each run.
        scale: its energy scale: the largest kinetic energy, or the range of the potential energy.
        depth: the largest modulus of its potential energy.

    Example:
        >>> relative_drift(np.array([1e-15, 1e-12]), 1e-10, 1.0).tolist()
        [1e-15, 0.01]
    """
    depth = np.maximum(depth, scale)
    return np.where(error <= ROUNDED_ENERGY * depth, error / depth, error / scale)


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
    """errors of the balance at points inside steps: inside each of the first ones, later inside at least one in 16"""

    @property
    def total(self) -> Array:
        """Kinetic plus potential energy."""
        return self.kinetic + self.potential

    @cached_property
    def scale(self) -> float:
        """Largest kinetic energy, or range of the potential energy if that is larger; 1 if both are zero.

        In a motion so small that rounding hides its energy, it is 1e-11 of the largest energy.
        """
        size = max(float(self.kinetic.max()), float(np.ptp(self.potential)))
        least = LEAST_SCALE * float(np.abs(self.potential).max())
        return max(size, least) if size > 0 else 1.0

    @property
    def error(self) -> Array:
        """E(t) - E(0) - W(t)."""
        return self.total - self.total[0] - self.work

    @property
    def drift(self) -> float:
        """max |E(t) - E(0) - W(t)| / scale, at the steps and at points inside them, whatever the samples.

        An error of at most 1e-14 of the largest energy is rounding, and is given relative to that energy.

        Where dense output costs evaluations (dop853), these are two points inside each of the first 16 steps, every
        second of the next 32, and so on, at least one in 16; else one point of every step. At other times inside steps
        the error may be up to four times as large.
        """
        off = max(np.abs(self.error).max(), np.abs(self.inside).max(initial=0.0))
        return float(relative_drift(off, self.scale, np.abs(self.potential).max()))

    def __str__(self) -> str:
        return f"energies at {counted(len(self.t), 'step')}: drift {self.drift:.2e} of {self.scale:.6g}"


@readable
@dataclass(frozen=True)
class Trajectory(Tabular):
    """Times, coordinates and speeds of a run, with its energy account and statistics.

    ``trajectory["theta1"]`` is a coordinate over time; so are speeds (``theta1_dot``), accelerations (``theta1_ddot``,
    of an angular velocity ``ball_wx_dot``), prescribed motions, inputs, parts of points of bodies (``lower.tip.x``,
    ``.vx``, ``.ax``), and the energies ``kinetic``, ``potential``, ``energy`` (their sum) and ``work`` (done on the
    mechanism). ``t``, ``q``, ``v`` are at the requested samples, or at the accepted steps. ``to_pandas()``,
    ``to_xarray()``, ``to_csv(path)`` and ``save(path)`` export them with units and metadata,
    :func:`pendula.load_run` reads them back, and ``continue_for(duration)`` continues the run from its end.

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
    """why the run cannot be trusted; empty if it can"""
    evidence: Evidence | Settled | None = None
    """states from which ``predictability`` is estimated"""
    settings: Settings | None = field(default=None, repr=False)
    """all settings of the run"""
    end: State | None = field(default=None, repr=False)
    """the state at the end of the run, whether or not it is a sample"""

    @cached_property
    def predictability(self) -> Predictability | None:
        """Estimated error of the coordinates over time, and until when the run can be trusted.

        None if that is unknown, as for a run without steps. For a run that changed the coordinates of an orientation on
        its way, the error is that of quaternions.

        It is an indication, from a second run with another tolerance over all or part of the time. That run is made
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
        """Whether the run did everything requested, and its results can be trusted.

        They cannot if energy is off by more than 0.001 of its scale, if loops are open by more than 0.001 of a typical
        length, if the run may have changed its branch in a singular pose, or if the loops did not allow the given
        coordinates at the start; ``doubts`` names the reasons.
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
        if not isinstance(name, str):
            raise UsageError(f"a quantity of a run has a name, found {shortly(name)}")
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
            UsageError: the expression cannot be read, the ends of the run were not kept, or so few states between them
                that the integral would be off by more than about 0.001 of that of the absolute value.

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

    def continue_for(
        self,
        duration: float,
        *,
        samples: int | Sequence[float] | Array | None = None,
        max_steps: int | None = None,
        on_progress: Callable[[float, float, int], object] | None = None,
        on_failure: Literal["return", "raise"] = "return",
    ) -> Trajectory:
        """The run with a further stretch of time, continued from its end: one run, with one energy account.

        Stepper, tolerance, parameters, inputs and events are those of the run; prescribed motions and inputs continue
        at its last time. The result agrees with an uninterrupted run to the tolerance: only the choice of step sizes
        begins anew. An event that ended the run is recorded from here on, and does not end it again. Runs from files
        (:func:`pendula.load_run`) continue in the same way.

        Args:
            duration: length of the further stretch, in the direction of the run.
            samples: number of equally spaced times of that stretch, or the times; default: as in the run, that is
                every accepted step, or samples at the same distance.
            max_steps: most steps of that stretch; default: as in the run.
            on_progress: called as (t, t_end, steps) about ten times a second.
            on_failure: "return" returns the run up to the failure, with its outcome; "raise" raises.

        Raises:
            UsageError: an argument is out of range, or the last state was not kept.

        Example:
            >>> import pendula
            >>> run = pendula.simulate("pendulum", 1.0, samples=11).continue_for(1.0)
            >>> float(run.t[-1]), len(run), run.energy_drift < 1e-6
            (2.0, 21, True)
        """
        from pendula.simulation.continuation import continue_run

        return continue_run(
            self, duration, samples=samples, max_steps=max_steps, on_progress=on_progress, on_failure=on_failure
        )

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
