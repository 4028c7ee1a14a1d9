"""The continue command: a run from a file, continued from its end."""

from __future__ import annotations

import time

import click

from pendula.app import options as opt
from pendula.app.commands.simulate import report, run_data
from pendula.app.progress import Progress
from pendula.app.run import exit_by
from pendula.errors import UsageError


@click.command("continue")
@click.argument("file", metavar="FILE")
@click.option(
    "--for", "duration", default=10.0, show_default=True, type=opt.PlainNumber(), help="Further duration in time units."
)
@click.option("--samples", type=int, help="Equally spaced further times to store; default: as in FILE.")
@click.option("--max-steps", type=int, help="Largest number of further steps; default: as in FILE.")
@opt.data_option("Write the whole run")
@opt.plot_option("Write a plot")
@opt.animate_option("Write an animation as a self-contained page")
@opt.json_option
def continue_command(
    file: str,
    duration: float,
    samples: int | None,
    max_steps: int | None,
    output: str | None,
    plot_file: str | None,
    animation: str | None,
    as_json: bool,
) -> None:
    """Continue the run in FILE (from "pendula simulate ... -o FILE") from its end, as one run with one energy account.

    Model, parameters, inputs, tolerance, stepper and events are those of FILE. Exits with 1 if the run had to stop
    early or is not to be trusted.

    Example: pendula continue run.npz --for 10 -o longer.npz
    """
    paths = {
        "-o": opt.file_of(output, "-o", "Trajectory"),
        "--plot": opt.file_of(plot_file, "--plot", "Figure"),
        "--animate": opt.file_of(animation, "--animate", "Scene"),
    }
    from pendula.simulation.tables.load import load_run
    from pendula.simulation.trajectory import Trajectory
    from pendula.system.first_use import prepare_motion

    before = time.perf_counter()
    with Progress(quiet=as_json) as progress:
        progress.say("reading and compiling")
        first = load_run(file)
        if not isinstance(first, Trajectory):
            raise UsageError(f'"{file}" holds a result of the kind {type(first).__name__}; only a run can be continued')
        prepare_motion(first.stepper)
        progress.say(f"simulating {first.system.model.name}")
        run = first.continue_for(duration, samples=samples, max_steps=max_steps, on_progress=progress.update)
    wrote = [
        *opt.write_result(run, paths["-o"]),
        *opt.draw(run, paths["--plot"]),
        *opt.animate(run, paths["--animate"]),
    ]
    if as_json:
        opt.echo_json(run_data(run))
    else:
        click.echo(report(run, time.perf_counter() - before, wrote))
    exit_by(run.outcome, ok=run.ok)
