"""When two motions with slightly different initial states diverge: Turner, section 5.5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pendula.analysis.chaos.separation import Separated, Separation, separation
from pendula.arguments import read_number, read_table
from pendula.errors import UsageError
from pendula.interrupts import whole
from pendula.simulation.simulate import simulate
from pendula.simulation.trajectory import Trajectory
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array, State
from pendula.system.loops.assembly import assemble
from pendula.system.parameters import Parameters
from pendula.words import readable

Start = Trajectory | State | Mapping[str, float] | None


@readable
@dataclass(frozen=True)
class Divergence(Separated):
    """Distance between two motions over time; ``time`` is when they diverge. ``str()`` gives a sentence.

    Example:
        >>> import pendula
        >>> found = pendula.chaos.divergence("pendulum", 1.0, perturbation={"theta": 1e-3}, samples=11)
        >>> bool(found.distance.max() > 1e-4)
        True
    """

    separation: Separation
    first: Trajectory
    second: Trajectory

    def __str__(self) -> str:
        size = f"{self.threshold:.4g} {self.unit}"
        if self.time is None:
            largest = f"{self.distance.max():.3g} {self.unit}"
            return (
                f"the motions stay within {size} up to t = {self.t[-1]:.6g} {self.time_unit} (at most {largest} apart)"
            )
        return f"the motions are more than {size} apart from t = {self.time:.6g} {self.time_unit} on"


def divergence(
    system: AnySystem,
    duration: float = 10.0,
    *,
    first: Start = None,
    second: Start = None,
    perturbation: Mapping[str, float] | None = None,
    parameters: Parameters = None,
    tol: float = 1e-10,
    samples: int | Sequence[float] | Array = 2001,
    threshold: float | None = None,
    points: Sequence[str] | None = None,
) -> Divergence:
    """Distance between two motions of a mechanism over time, and the time at which they diverge.

    The measure is Turner's: the largest distance between the same link end in the two motions, with 0.1 % of
    the link's length as the threshold. In a chaotic mechanism the integration error grows just as fast: see
    :func:`pendula.chaos.horizon`.

    Args:
        system: a system, a model, or the name of a library mechanism.
        duration: length of both runs; ignored if ``first`` is a run.
        first: a run, or an initial state (a State, or changes to the model's initial state by name).
        second: the other run or initial state; alternatively give ``perturbation``.
        perturbation: increments of coordinates and speeds of the first initial state, by name.
        parameters: changes of parameters by name, for both.
        tol: tolerance of the runs.
        samples: number of times, or the times, at which they are compared.
        threshold: distance at which they count as different [length].
        points: points to compare, "body" or "body.point"; default: all named points of all bodies.

    Returns:
        Divergence; ``time`` is None if the motions do not diverge.

    Raises:
        UsageError: the second motion is missing or given twice, or the runs cannot be compared.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.chain(links=3))
        >>> parts = [divergence(system, perturbation={"theta1": d}).time for d in (1e-4, 1e-6)]
        >>> 0 < parts[0] < parts[1]
        True
    """
    system = system_of(system, "divergence")
    if (second is None) == (perturbation is None):
        raise UsageError("divergence compares two motions: give either the second, or a perturbation of the first")
    settings: dict[str, Any] = {"parameters": parameters, "tol": tol}
    one = first
    if not isinstance(one, Trajectory):
        given: Any = {"initial_state": first, "samples": samples, **settings}
        one = whole(simulate, system, duration, **given)
    other = second
    if not isinstance(other, Trajectory):
        start = second if perturbation is None else perturbed(one, perturbation)
        span = (float(one.t[0]), float(one.t[-1]))
        if isinstance(first, Trajectory):
            settings = {"parameters": first.parameters, "tol": first.tolerance, "stepper": first.stepper}
        again: Any = {"initial_state": start, "samples": one.t, **settings}
        other = whole(simulate, system, t_span=span, **again)
    found = separation(one, other, threshold=threshold, points=points)
    return Divergence(found, first=one, second=other)


def perturbed(run: Trajectory, changes: Mapping[str, float]) -> State:
    """The initial state of a run with increments on some coordinates and speeds; assembly closes the loops again."""
    layout, system = run.joint_layout, run.system
    changes = read_table(changes, "perturbation")
    start = State(float(run.t[0]), run.joints[0][0], run.joints[1][0], layout)
    by = {name: read_number(change, f'perturbation: "{name}"') for name, change in changes.items()}
    moved = start.replace({name: start[name] + change for name, change in by.items()})
    speeds = {*changes} & {*layout.speeds}
    return assemble(system, moved, parameters=run.parameters, keep=speeds, prefer={*changes}).state
