"""Common parts of the commands that simulate: their options, and the run itself."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from pendula.app import options as opt
from pendula.app.progress import Progress
from pendula.errors import UsageError
from pendula.numerics.steppers.stepper import stepper_help
from pendula.outcome import Outcome

if TYPE_CHECKING:
    from pendula.simulation.trajectory import Trajectory

_OPTIONS = (
    opt.model_argument,
    opt.parameter_option,
    opt.duration_option,
    opt.tol_option,
    opt.start_option,
    opt.input_option,
    opt.samples_option(500),
    click.option(
        "--stepper",
        default="dop853",
        show_default=True,
        help=f"{stepper_help()}.",
    ),
    click.option("--step", type=opt.PlainNumber(), help="Step size of a fixed-step stepper, in time units."),
    click.option(
        "--constraints",
        default="projection",
        show_default=True,
        help="How loops are kept closed: projection, baumgarte, none.",
    ),
    click.option("--baumgarte-rate", type=float, help="Rate of Baumgarte's stabilization, per time unit."),
    opt.max_steps_option,
    click.option(
        "--no-chart-switching",
        "chart_switching",
        flag_value=False,
        type=bool,
        default=True,
        help="Stop at a singularity of angles instead of continuing in quaternions.",
    ),
    click.option(
        "--stop", "stops", multiple=True, metavar="EXPR", help='Event that ends the run, such as "theta1 >= 90deg".'
    ),
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds MODEL and the options of a run; the command passes them to :func:`perform`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def perform(
    model: str,
    settings: tuple[str, ...],
    duration: float,
    start: tuple[str, ...],
    inputs: tuple[str, ...],
    stops: tuple[str, ...],
    *,
    formulation: str | None,
    engine: str,
    equations: str | None = None,
    events: tuple[str, ...] = (),
    section: str | None = None,
    quiet: bool,
    **how: Any,
) -> tuple[Trajectory, float]:
    """The requested run, and the seconds it took including derivation and compilation.

    ``how`` are arguments of ``simulate``: tol, stepper, step, samples, ...
    """
    if not 0 <= duration < float("inf"):
        raise UsageError(f"--for must not be negative or infinite, found {duration}")
    found = opt.with_inputs(opt.read_model(model, settings), inputs)
    begin = opt.read_state(found, start)
    from pendula.simulation.events import Event, read_events
    from pendula.simulation.simulate import simulate
    from pendula.system.first_use import prepare_motion

    wanted = read_events(
        [
            *([Event.read(section, direction="rising")] if section is not None else []),
            *(Event.read(text) for text in events),
            *(Event.read(text, terminal=True) for text in stops),
        ]
    )
    before = time.perf_counter()
    with Progress(quiet=quiet) as progress:
        progress.say("deriving and compiling (the first run on a machine also compiles the solver, once)")
        prepare_motion(how["stepper"])
        system = opt.compile_asked(found, formulation, engine, equations)
        progress.say(f"simulating {found.name}")
        run = simulate(system, duration, initial_state=begin, events=wanted, on_progress=progress.update, **how)
    return run, time.perf_counter() - before


def exit_by(*outcomes: Outcome, ok: bool) -> None:
    """Exits after the results are shown: with 130 if runs were interrupted, else with 1 if they are not ok."""
    if Outcome.INTERRUPTED in outcomes:
        sys.exit(130)
    if not ok:
        sys.exit(1)
