"""Simulates a system from an initial state."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from pendula.errors import NoConvergence
from pendula.interrupts import Interrupt
from pendula.numerics.steppers.stepping import Integration
from pendula.outcome import Outcome
from pendula.simulation.account import trajectory_of
from pendula.simulation.beginning import start_state
from pendula.simulation.charts.switching import ChartRun, Elsewhere, has_singular_charts, starts_elsewhere
from pendula.simulation.charts.undetermined import named
from pendula.simulation.course import Course
from pendula.simulation.defaults import MAX_STEPS, TOLERANCE
from pendula.simulation.events import Event, read_events
from pendula.simulation.forces.narrow import NARROW, look_at_forces
from pendula.simulation.inputs.given import InputsGiven, check_inputs, for_a_run
from pendula.simulation.loops.poses import Poses, check_start
from pendula.simulation.settings import Settings
from pendula.simulation.trajectory import Trajectory
from pendula.storage.room import bytes_of, refuse_if_too_large
from pendula.system.entry import AnySystem, system_of
from pendula.system.first_use import expect_motion
from pendula.system.layout import Array, State
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.system import System

MOST_REPEATED = 300_000
"""A run that passed a narrow force is repeated if it needs fewer steps than this."""


def simulate(
    system: AnySystem,
    duration: float | None = None,
    *,
    t_span: Sequence[float] | None = None,
    initial_state: State | Mapping[str, Any] | None = None,
    parameters: Parameters = None,
    inputs: InputsGiven = None,
    tol: float = TOLERANCE,
    atol: float | None = None,
    stepper: str = "dop853",
    step: float | None = None,
    samples: int | Sequence[float] | Array | None = None,
    constraints: Literal["projection", "baumgarte", "none"] = "projection",
    baumgarte_rate: float | None = None,
    max_steps: int = MAX_STEPS,
    events: Sequence[Event | str] | None = None,
    chart_switching: bool = True,
    on_progress: Callable[[float, float, int], object] | None = None,
    on_samples: Callable[[Array, Array, Array], object] | None = None,
    on_failure: Literal["return", "raise"] = "return",
) -> Trajectory:
    """The motion of a mechanism from an initial state.

    Loops are closed at the start with the least change (``notes`` says what moved), and after every step the state is
    projected back onto the constraints. Every run has an energy account.

    Args:
        system: a system, a model, or the name of a library mechanism.
        duration: length of the run, from t = 0 or from the time of a given State; alternatively give ``t_span``.
        t_span: first and last time.
        initial_state: a State, or changes to the model's initial state by name: numbers, or text such as "30deg" or
            "5 cm" (units other than deg by pint), and an orientation by the name of its joint, such as
            ``{"ball": {"axis": [0, 0, 1], "angle": "30deg"}}``. A number of radians that looks like degrees gets a
            note.
        parameters: changes of parameters by name (numbers, or text such as "50 cm"), or all values as an array.
        inputs: inputs by name: numbers, expressions of t, coordinates, speeds and parameters in text ("-k*x", a
            feedback law), a :class:`~pendula.Signal` or a pair (times, values), a Python function of (t, state), which
            is slow, or a :class:`~pendula.Sampled` controller; or one Sampled controller for several inputs.
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
        chart_switching: whether a run in angles that comes near a singularity of them (theta = 0 of "zyz") continues in
            quaternions until they are regular again, and a rotation vector is kept shorter than a whole turn. Results
            are always in the coordinates of the system. Without it the run stops there, and the outcome names the
            coordinate.
        on_progress: called as (t, t_end, steps) about ten times a second.
        on_samples: called as (t, q, v) about ten times a second with the samples that are new, one row each, in the
            system's coordinates, so that a long run can be shown while it continues. It needs ``samples``. Where the
            run is repeated with shorter steps, time goes back: new samples replace those at the same or later times.
        on_failure: "return" returns the trajectory up to the failure, with its outcome; "raise" raises.

    Returns:
        Trajectory; check ``outcome``, ``energy_drift`` and ``constraint_violation`` first. A keyboard interrupt ends
        the run with the outcome "interrupted", or is raised if it came too late to end a run of less than a second.

    Raises:
        LoopNotClosed: the loops cannot be closed at the start.
        SingularPose: accelerations are not determined at the start (singular chart, or branch point of a linkage).
        UsageError: an argument is out of range.
        NotSupported: the stepper does not support a request; the message lists those that do.

    Example:
        >>> print(simulate("pendulum", 2.0, tol=1e-9).outcome)
        finished: reached the final time
    """
    expect_motion(stepper)
    system = system_of(system, "simulate")
    system, about = for_a_run(system, inputs)
    settings = Settings.checked(
        initial_state.t if isinstance(initial_state, State) else 0.0, duration, t_span, tol=tol, atol=atol,
        stepper=stepper, step=step, samples=samples, constraints=constraints, baumgarte_rate=baumgarte_rate,
        max_steps=max_steps, on_failure=on_failure, chart_switching=chart_switching,
    )  # fmt: skip
    check_inputs(system, settings)
    _refuse_too_many_samples(system, settings)
    wanted = read_events(events)
    if wanted:
        settings.stepper.require("events")
    vector = parameter_vector(system, parameters)
    start, notes, doubts = start_state(system, initial_state, settings.span[0], vector)
    notes += about
    if system.inputs.over_time and chart_switching and has_singular_charts(system):
        settings = replace(settings, chart_switching=False)
        notes += ("the run stays in its coordinates near their singularities, because of its inputs over time",)
    course = Course(system, vector, start, settings, wanted, on_progress, on_samples, doubts)
    return follow(course, notes, on_failure)


def _refuse_too_many_samples(system: System, settings: Settings) -> None:
    count = 0 if settings.samples is None else settings.samples.size
    width = len(system.layout.coordinates) + len(system.layout.speeds) + 1
    need = 3 * bytes_of([(count, width)])  # the samples, those in joint coordinates, and the energy account
    refuse_if_too_large(f"{count:,} samples of {width - 1} coordinates and speeds", need, reduce="fewer samples")


def follow(course: Course, notes: tuple[str, ...], on_failure: str = "return") -> Trajectory:
    """The motion of a course from its start, which satisfies the constraints.

    Raises:
        SingularPose: accelerations are not determined at the start.
        NoConvergence: the run failed, and ``on_failure`` is "raise".
        KeyboardInterrupt: the same for a run that was interrupted; or the interrupt came too late to end a brief run.
    """
    system, vector, start = course.system, course.vector, course.start
    notes += check_start(system, start, vector)
    if not (course.settings.chart_switching and starts_elsewhere(system, start, vector)):
        system.accelerations(start.q, start.v, start.t, parameters=vector)  # raises if they are not determined
    begun, interrupt = time.perf_counter(), Interrupt(in_loops=True)
    found, last = interrupt.run(_followed, course, notes)
    if found.outcome is not Outcome.INTERRUPTED:
        interrupt.raise_if_brief(time.perf_counter() - begun)
    if on_failure == "raise" and not found.ok:
        if found.outcome is Outcome.INTERRUPTED:
            raise KeyboardInterrupt
        raise NoConvergence(": ".join(filter(None, (str(found.outcome), found.detail, *found.doubts))), last=last)
    return found


def _followed(course: Course, notes: tuple[str, ...]) -> tuple[Trajectory, Array]:
    """The motion, as far as it was not interrupted, and the last state of the integration."""
    run, more, poses, longest, elsewhere = _seen(course)
    more += course.system.inputs.after()
    return trajectory_of(course, run, notes + more, poses, longest, elsewhere), run.y[-1]


def _seen(course: Course) -> tuple[Integration, tuple[str, ...], Poses, float, Elsewhere]:
    """The integration, repeated with shorter steps if it passed a force that acts only in a narrow range of the state.

    Returns the integration, notes, how near it came to singular poses, the limit of its steps, and what was computed in
    other charts.
    """
    settings, system = course.settings, course.system
    longest, length = np.inf, abs(settings.span[1] - settings.span[0])
    elsewhere = Elsewhere()
    while True:
        if has_singular_charts(system):
            run, notes, poses, elsewhere = ChartRun(course, longest, switching=settings.chart_switching).to_the_end()
        else:
            run, notes, poses = course.run(longest)
            run = named(system, run, course.vector)
        missed, more = look_at_forces(system, run, course.vector)
        shorter = min([m.step for m in missed], default=np.inf)
        few = length < shorter * min(settings.max_steps, MOST_REPEATED)
        if settings.stepper.fixed or run.outcome is Outcome.INTERRUPTED or not (shorter < longest and few):
            break
        longest = shorter
    notes += (*(m.note for m in missed), *more)
    if longest < np.inf:
        notes += (f"steps are at most {longest:.2g} {system.layout.time_unit} long, {NARROW}",)
    return run, notes, poses, longest, elsewhere
