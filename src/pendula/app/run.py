"""What the commands that make a run share: their options, and the run itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from pendula.app.options import (
    duration_option,
    input_option,
    max_steps_option,
    model_argument,
    parameter_option,
    read_model,
    read_state,
    samples_option,
    start_option,
    tol_option,
    with_inputs,
)
from pendula.app.progress import Progress
from pendula.errors import UsageError
from pendula.numerics.steppers.stepper import stepper_help

if TYPE_CHECKING:
    from pendula.simulation.trajectory import Trajectory

_OPTIONS = (
    model_argument,
    parameter_option,
    duration_option,
    tol_option,
    start_option,
    input_option,
    samples_option(500),
    click.option(
        "--stepper",
        default="dop853",
        show_default=True,
        help=f"{stepper_help()}.",
    ),
    click.option("--step", type=float, help="Step size of a fixed-step stepper, in time units."),
    click.option(
        "--constraints",
        default="projection",
        show_default=True,
        help="How loops are kept closed: projection, baumgarte, none.",
    ),
    click.option("--baumgarte-rate", type=float, help="Rate of Baumgarte's stabilization, per time unit."),
    max_steps_option,
    click.option(
        "--stop", "stops", multiple=True, metavar="EXPR", help='Event that ends the run, such as "theta1 >= 90deg".'
    ),
)


@dataclass(frozen=True)
class RunOptions:
    """The options that all commands with a run have, as they were given."""

    model: str
    settings: tuple[str, ...]
    duration: float
    tol: float
    start: tuple[str, ...]
    inputs: tuple[str, ...]
    samples: int
    stepper: str
    step: float | None
    constraints: str
    baumgarte_rate: float | None
    max_steps: int
    stops: tuple[str, ...]


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """MODEL and all that describes a run; the command takes them as keywords for :class:`RunOptions`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def perform(
    options: RunOptions,
    *,
    formulation: str | None,
    engine: str,
    events: tuple[str, ...] = (),
    section: str | None = None,
    quiet: bool,
) -> tuple[Trajectory, float]:
    """The run that the options ask for, and the seconds it took with derivation and compilation."""
    if not 0 <= options.duration < float("inf"):
        raise UsageError(f"--for takes a time that is not negative, found {options.duration}")
    found = with_inputs(read_model(options.model, options.settings), options.inputs)
    begin = read_state(found, options.start)
    from pendula.simulation.events import Event, read_events
    from pendula.simulation.simulate import simulate
    from pendula.system.build import compile_system
    from pendula.system.first_use import prepare_motion

    looked_for = read_events(
        [
            *([Event.read(section, direction="rising")] if section is not None else []),
            *(Event.read(text) for text in events),
            *(Event.read(text, terminal=True) for text in options.stops),
        ]
    )
    before = time.perf_counter()
    with Progress(quiet=quiet) as progress:
        progress.say("deriving and compiling (the first run on a machine also compiles the solver, once)")
        prepare_motion(options.stepper)
        system = compile_system(found, formulation, engine=engine)
        progress.say(f"simulating {found.name}")
        run = simulate(
            system,
            options.duration,
            initial_state=begin,
            tol=options.tol,
            stepper=options.stepper,
            step=options.step,
            samples=options.samples,
            constraints=options.constraints,  # type: ignore[arg-type]
            baumgarte_rate=options.baumgarte_rate,
            max_steps=options.max_steps,
            events=looked_for,
            on_progress=progress.update,
        )
    return run, time.perf_counter() - before


def equations_of(system: Any) -> str:
    """Where the accelerations came from, in words."""
    return "recursion over the bodies" if system.engine == "recursive" else str(system.formulation)
