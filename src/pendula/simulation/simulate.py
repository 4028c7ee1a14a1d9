"""Simulates a system from an initial state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from pendula.errors import NoConvergence, UsageError
from pendula.numerics.steppers.stepping import Integration, integrate
from pendula.numerics.taylor.integrate import integrate_series
from pendula.outcome import Outcome
from pendula.simulation.account import trajectory_of
from pendula.simulation.beginning import energy_size, start_state, with_inputs
from pendula.simulation.defaults import MAX_STEPS, TOLERANCE
from pendula.simulation.events import Event, read_events, times_of_pulses, watch_events
from pendula.simulation.force_notes import look_at_forces
from pendula.simulation.loops import Poses, check_start, stabilization_rate
from pendula.simulation.passage import Passages
from pendula.simulation.settings import Settings
from pendula.simulation.trajectory import Trajectory
from pendula.system.dynamics import Dynamics
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array, State
from pendula.system.loops.mobility import mobility
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.switches.schedule import breakpoints, largest_step, moves_by_time
from pendula.system.system import System

MOST_REPEATED = 300_000
"""A run that passed a narrow force is repeated if it needs fewer steps than this."""
INSIDE = 16
"""The energy account looks at the middle of one in this many steps."""


def simulate(
    system: AnySystem,
    duration: float | None = None,
    *,
    t_span: Sequence[float] | None = None,
    initial_state: State | Mapping[str, float] | None = None,
    parameters: Parameters = None,
    inputs: Mapping[str, float | str] | None = None,
    tol: float = TOLERANCE,
    atol: float | None = None,
    stepper: str = "dop853",
    step: float | None = None,
    samples: int | Sequence[float] | Array | None = None,
    constraints: Literal["projection", "baumgarte", "none"] = "projection",
    baumgarte_rate: float | None = None,
    max_steps: int = MAX_STEPS,
    events: Sequence[Event | str] | None = None,
    on_progress: Callable[[float, float, int], object] | None = None,
    on_failure: Literal["return", "raise"] = "return",
) -> Trajectory:
    """The motion of a mechanism from an initial state.

    Loops are closed at the start with the least change (``notes`` says what moved), and after every step the state is
    projected back onto the constraints. Every run has an energy account.

    Args:
        system: a system, a model, or the name of a library mechanism.
        duration: length of the run, from t = 0 or from the time of a given State; alternatively give ``t_span``.
        t_span: first and last time.
        initial_state: a State, or changes to the model's initial state by name.
        parameters: changes of parameters by name, or all values as an array.
        inputs: values of inputs by name: numbers, or expressions of t and parameters in text.
        tol: relative tolerance of a step (step-size control); also the absolute one unless ``atol`` is given.
        stepper: a name from :data:`pendula.extend.STEPPERS`: "dop853" (order 8), "rk45" (order 5), "taylor" (Taylor
            series, for high accuracy with up to 12 speeds; neither loops nor conditions on the motion such as abs),
            "radau" (implicit, order 5: for stiff mechanisms), "rk4" (order 4, fixed steps), or one that you registered.
        step: size of the steps of a stepper without tolerance, such as "rk4".
        samples: number of equally spaced times, or the times, at which states are kept; default: every accepted step.
        constraints: "projection" projects every step onto the constraints; "baumgarte" adds stabilizing terms to the
            equations, so that violations decay; "none" does nothing, to show the drift.
        baumgarte_rate: rate of that decay [1/time]; default: violations decay over a few steps (see ``notes``).
        events: events to detect, as :class:`~pendula.Event` or text: "theta1 = 0 rising" is recorded in ``events``,
            "stop: theta1 >= 90deg" ends the run exactly there (which is then also the last sample). Crossings of an
            expression that oscillates several times within a step may be missed; ``notes`` says so.
        on_progress: called as (t, t_end, steps) about ten times a second.
        on_failure: "return" returns the trajectory up to the failure, with its outcome; "raise" raises.

    Returns:
        Trajectory; check ``outcome``, ``energy_drift`` and ``constraint_violation`` first.

    Raises:
        LoopNotClosed: the loops cannot be closed at the start.
        SingularPose: accelerations are not determined at the start (singular chart, or branch point of a linkage).
        UsageError: an argument is out of range.
        NotSupported: the stepper does not support a request; the message lists those that do.

    Example:
        >>> print(simulate("pendulum", 2.0, tol=1e-9).outcome)
        finished: reached the final time
    """
    system = system_of(system, "simulate")
    if inputs:
        system = with_inputs(system, inputs)
    settings = Settings.checked(
        initial_state.t if isinstance(initial_state, State) else 0.0, duration, t_span, tol=tol, atol=atol,
        stepper=stepper, step=step, samples=samples, constraints=constraints, baumgarte_rate=baumgarte_rate,
        max_steps=max_steps, on_failure=on_failure,
    )  # fmt: skip
    wanted = read_events(events)
    if wanted:
        settings.stepper.require("events")
    vector = parameter_vector(system, parameters)
    start, notes = start_state(system, initial_state, settings.span[0], vector)
    notes += check_start(system, start, vector)
    system.accelerations(start.q, start.v, start.t, parameters=vector)  # raises if they are not determined
    run, more, poses = _seen(system, start, vector, settings, wanted, on_progress)
    found = trajectory_of(system, run, vector, settings, wanted, notes + more, poses)
    if on_failure == "raise" and not found.ok:
        raise NoConvergence(": ".join(filter(None, (str(found.outcome), found.detail, *found.doubts))), last=run.y[-1])
    return found


def _seen(
    system: System,
    start: State,
    vector: Array,
    settings: Settings,
    events: Sequence[Event],
    on_progress: Callable[[float, float, int], object] | None,
) -> tuple[Integration, tuple[str, ...], Poses]:
    """The integration, again with shorter steps if it passed a force that acts only in a narrow range of the state."""
    longest, length = np.inf, abs(settings.span[1] - settings.span[0])
    while True:
        run, notes, poses = _integrated(system, start, vector, settings, events, on_progress, longest)
        missed, more = look_at_forces(system, run, vector)
        shorter = min([m.step for m in missed], default=np.inf)
        few = length < shorter * min(settings.max_steps, MOST_REPEATED)
        if settings.stepper.fixed or run.outcome is Outcome.INTERRUPTED or not (shorter < longest and few):
            break
        longest = shorter
    notes += (*(m.note for m in missed), *more)
    if longest < np.inf:
        notes += (f"steps are at most {longest:.2g} {system.layout.time_unit} long, because a force is so narrow",)
    return run, notes, poses


def _integrated(
    system: System,
    start: State,
    vector: Array,
    settings: Settings,
    events: Sequence[Event],
    on_progress: Callable[[float, float, int], object] | None,
    longest: float = np.inf,
) -> tuple[Integration, tuple[str, ...], Poses]:
    """The integration, with no step above ``longest``, and notes on constraint stabilization."""
    dynamics = system.dynamics(vector)
    y0 = np.concatenate([start.q, start.v, np.zeros(dynamics.quadratures)])
    watched = watch_events(system, events, vector, settings.span[0], y0)
    series = system.series(vector) if settings.stepper.series else None
    breaks = breakpoints(system, vector, settings.span)
    if events:
        breaks = sorted({*breaks, *times_of_pulses(system, events, vector, settings.span)})
    common: dict[str, Any] = {"rtol": settings.tol, "atol": settings.atol, "quadratures": dynamics.quadratures}
    if dynamics.quadratures and moves_by_time(system):
        # drives may do work while the state is at rest, so step-size control includes the work
        work = settings.tol * energy_size(system, start, vector)
        common |= {"atol": np.append(np.full(y0.size - 1, settings.atol), work), "quadratures": 0}
    if series is None:
        common |= {"method": settings.stepper.name, "step": settings.step, "coordinates": start.q.size}
    if not settings.stepper.fixed:
        common["max_step"] = min(longest, largest_step(system, vector, settings.span, breaks))
    common["breakpoints"] = breaks
    notes: tuple[str, ...] = ()
    try:
        if settings.constraints == "baumgarte" and system.loop_rows:
            dynamics, notes = _stabilized(system, dynamics, y0, vector, settings, common)
        common |= {
            "y0": y0,
            "t_span": settings.span,
            "sample_times": settings.samples,
            "project": dynamics.project if settings.constraints == "projection" else None,
            "max_steps": settings.max_steps,
            "on_progress": on_progress,
        }
        if series:
            return integrate_series(series, **common), notes, Poses()
        common |= {"watched": watched, "inside_every": INSIDE}
        if system.model.closures and system.loop_rows and mobility(system, vector).rank:
            through = settings.constraints == "projection"
            passages = Passages(system, vector, dynamics, pass_through=through, rhs=dynamics.rhs, **common)
            run, poses = passages.to_the_end()
            return run, notes, poses
        return integrate(dynamics.rhs, **common), notes, Poses()
    except ValueError as error:
        raise UsageError(str(error)) from None


def _stabilized(
    system: System, dynamics: Dynamics, y0: Array, vector: Array, settings: Settings, common: dict[str, Any]
) -> tuple[Dynamics, tuple[str, ...]]:
    """Equations with Baumgarte stabilization, and a note on its rate."""
    rate, chosen = settings.baumgarte_rate, "as given"
    if rate is None:
        rate = stabilization_rate(dynamics, y0, settings.span, **common)
        chosen = "so that errors decay over a few typical steps"
    unit = system.layout.time_unit
    note = f"Baumgarte's terms stabilize the constraints at a rate of {rate:.4g}/{unit}, {chosen}"
    return system.dynamics(vector, baumgarte=float(rate)), (note,)
