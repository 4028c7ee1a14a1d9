"""The simulate command."""

from __future__ import annotations

import sys
import textwrap
import time
from typing import Any

import click

from pendula.app.commands.describe import count
from pendula.app.options import (
    ARRAYS,
    PICTURES,
    echo_json,
    engine_option,
    formulation_option,
    json_option,
    model_argument,
    pairs,
    parameter_option,
    read_model,
    read_state,
    scalar,
    writable,
)
from pendula.app.progress import Progress
from pendula.numerics.steppers.stepper import stepper_help
from pendula.present.words.tables import heading, number, table


@click.command("simulate")
@model_argument
@parameter_option
@click.option("--for", "duration", default=10.0, show_default=True, type=float, help="How long, in time units.")
@click.option("--tol", default=1e-8, show_default=True, type=float, help="Tolerance of a step.")
@click.option("--start", multiple=True, metavar="NAME=VALUE", help="Initial coordinate or speed, such as theta1=90deg.")
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=VALUE", help="An input: a number or an expression of t."
)
@click.option("--samples", default=500, show_default=True, type=int, help="Equally spaced times to keep.")
@click.option(
    "--stepper",
    default="dop853",
    show_default=True,
    help=f"{stepper_help()}.",
)
@click.option("--step", type=float, help="Size of the steps of a stepper without tolerance, in time units.")
@formulation_option(None, "default: kane, where equations are derived")
@engine_option
@click.option(
    "--constraints",
    default="projection",
    show_default=True,
    help="How loops are kept closed: projection, baumgarte, none.",
)
@click.option("--baumgarte-rate", type=float, help="Rate of Baumgarte's stabilization, per time unit.")
@click.option("--max-steps", default=1_000_000, show_default=True, type=int, help="Steps before the run is stopped.")
@click.option("--event", "events", multiple=True, metavar="EXPR", help='What to look for, such as "theta1 = 0 rising".')
@click.option("--stop", "stops", multiple=True, metavar="EXPR", help='What ends the run, such as "theta1 >= 90deg".')
@click.option("--section", metavar="EXPR", help='A section of the motion, such as "theta1 = 0" (crossed rising).')
@click.option("--section-of", metavar="NAME", help="The coordinate to draw it with.")
@click.option("--plot-section", "section_file", metavar="FILE", help="Write the section as PNG.")
@click.option("--horizon", is_flag=True, help="Find up to which time the run can be relied on, by a tighter run.")
@click.option("-o", "--output", metavar="FILE", help="Write the run as .npz.")
@click.option("--plot", "plot_file", metavar="FILE", help="Write a plot as PNG.")
@click.option("--animate", "animation", metavar="FILE", help="Write an animation as a self-contained HTML page.")
@json_option
def simulate_command(
    model: str,
    settings: tuple[str, ...],
    duration: float,
    tol: float,
    start: tuple[str, ...],
    inputs: tuple[str, ...],
    samples: int,
    stepper: str,
    step: float | None,
    formulation: str | None,
    engine: str,
    constraints: str,
    baumgarte_rate: float | None,
    max_steps: int,
    events: tuple[str, ...],
    stops: tuple[str, ...],
    section: str | None,
    section_of: str | None,
    section_file: str | None,
    horizon: bool,
    output: str | None,
    plot_file: str | None,
    animation: str | None,
    as_json: bool,
) -> None:
    """Motion of MODEL from its initial state. Exits with 1 if the run had to stop early."""
    from pendula.errors import UsageError

    if section is None and (section_file is not None or section_of is not None):
        raise UsageError('--plot-section and --section-of go with --section, such as --section "theta1 = 0"')
    if animation is not None and not animation.lower().endswith((".html", ".htm")):
        raise UsageError(f'--animate writes a page: its name must end in .html, found "{animation}"')
    paths = {
        "-o": writable(output, "-o", ARRAYS),
        "--plot": writable(plot_file, "--plot", PICTURES),
        "--animate": writable(animation, "--animate"),
        "--plot-section": writable(section_file, "--plot-section", PICTURES),
    }
    run, wall = perform(
        model,
        settings,
        duration,
        tol,
        start,
        inputs,
        samples,
        stepper,
        step,
        formulation,
        engine,
        constraints,
        baumgarte_rate,
        max_steps,
        stops,
        events,
        section,
        quiet=as_json,
    )
    wrote = _write(run, paths, section_of)
    found = _horizon(run) if horizon else None
    if as_json:
        echo_json(_data(run, found))
    else:
        click.echo(report(run, wall, wrote, found))
    if not run.outcome.ok:
        sys.exit(1)


def perform(
    model: str,
    settings: tuple[str, ...],
    duration: float,
    tol: float,
    start: tuple[str, ...],
    inputs: tuple[str, ...],
    samples: int,
    stepper: str,
    step: float | None,
    formulation: str | None,
    engine: str,
    constraints: str,
    baumgarte_rate: float | None,
    max_steps: int,
    stops: tuple[str, ...] = (),
    events: tuple[str, ...] = (),
    section: str | None = None,
    *,
    quiet: bool,
) -> tuple[Any, float]:
    """The run that the options ask for, and the seconds it took with derivation and compilation."""
    from pendula.errors import UsageError

    if not 0 <= duration < float("inf"):
        raise UsageError(f"--for takes a time that is not negative, found {duration}")
    found = read_model(model, settings)
    if inputs:
        given = {n: scalar(v, f"--input {n}") for n, v in pairs(inputs, "--input").items()}
        unknown = [n for n in given if n not in found.inputs]
        if unknown:
            raise UsageError(f'there is no input "{unknown[0]}"; known are: {", ".join(found.inputs) or "none"}')
        found = found.with_changes(inputs=dict(found.inputs) | given)
    begin = read_state(found, start)
    from pendula.simulation.events import Event, read_events
    from pendula.simulation.simulate import simulate
    from pendula.system.build import compile_system
    from pendula.system.first_use import prepare_motion

    looked_for = read_events(
        [
            *([Event.read(section, direction="rising")] if section is not None else []),
            *(Event.read(text) for text in events),
            *(Event.read(text, terminal=True) for text in stops),
        ]
    )
    before = time.perf_counter()
    with Progress(quiet=quiet) as progress:
        progress.say("deriving and compiling (the first run on a machine also compiles the solver, once)")
        prepare_motion(stepper)
        system = compile_system(found, formulation, engine=engine)
        progress.say(f"simulating {found.name}")
        run = simulate(
            system,
            duration,
            initial_state=begin,
            tol=tol,
            stepper=stepper,
            step=step,
            samples=samples,
            constraints=constraints,  # type: ignore[arg-type]
            baumgarte_rate=baumgarte_rate,
            max_steps=max_steps,
            events=looked_for,
            on_progress=progress.update,
        )
    return run, time.perf_counter() - before


def equations_of(system: Any) -> str:
    """Where the accelerations came from, in words."""
    return "recursion over the bodies" if system.engine == "recursive" else str(system.formulation)


def _horizon(run: Any) -> Any:
    from pendula.analysis.chaos.horizon import horizon

    return horizon(run)


def _write(run: Any, paths: dict[str, Any], section_of: str | None = None) -> list[str]:
    """Writes the files that were asked for; a run that kept nothing has nothing to show."""
    wrote = []
    if paths["-o"] is not None:
        run.save(paths["-o"])
        wrote.append(str(paths["-o"]))
    if len(run) < 2 and (paths["--plot"] is not None or paths["--animate"] is not None):
        click.echo("note: no plot or animation was written, since the run kept only one state", err=True)
    if len(run) > 1 and paths["--plot"] is not None:
        from pendula.present.pictures.results import plot

        plot(run, paths["--plot"])
        wrote.append(str(paths["--plot"]))
    if len(run) > 1 and paths["--animate"] is not None:
        from pendula.present.pictures.results import animate

        animate(run, paths["--animate"])
        wrote.append(str(paths["--animate"]))
    if paths["--plot-section"] is not None:
        from pendula.present.pictures.results import plot

        plot(next(iter(run.events.values())), paths["--plot-section"], of=section_of)
        wrote.append(str(paths["--plot-section"]))
    return wrote


def report(run: Any, wall: float, wrote: list[str], horizon: Any = None) -> str:
    """The account of a run, in 80 columns."""
    layout, units = run.joint_layout, run.system.model.unit_names
    lines = [heading(run.system.model.name), ""]
    facts = [
        ("outcome", f"{run.outcome}" + (f" ({run.detail})" if run.detail else "")),
        (
            "time span",
            f"{number(float(run.energy.t[0]), 6)} to {number(float(run.energy.t[-1]), 6)} {units.time}",
        ),
        ("equations", f"{equations_of(run.system)}, {count(len(run.layout.speeds), 'speed')}"),
        ("stepper", f"{run.stepper}, " + (f"step {run.step:g}" if run.step else f"tolerance {run.tolerance:g}")),
        ("steps", f"{run.steps} accepted, {run.rejected} rejected, {run.rhs_evaluations} evaluations"),
        ("energy drift", f"{run.energy_drift:.2e} of {number(run.energy.scale, 6)} {units.energy}"),
    ]
    if run.jacobi_drift is not None:
        facts.append(("Jacobi integral", f"kept to {run.jacobi_drift:.2e}"))
    if run.violation is not None:
        opening = f"{run.constraint_violation:.2e}, its rate {run.velocity_violation:.2e}"
        facts.append(("constraint violation", opening))
    if horizon is not None:
        facts.append(("horizon", "the end" if horizon.time is None else f"{number(horizon.time, 6)} {units.time}"))
    facts.append(("seconds", f"{run.seconds:.4f} integrating, {wall:.2f} in all"))
    width = max(len(name) for name, _ in facts) + 2
    lines += [textwrap.fill(f"{name:<{width}}{text}", 80, subsequent_indent=" " * width) for name, text in facts]
    lines += [textwrap.fill(f"note: {note}", 80, subsequent_indent="  ") for note in run.notes]
    if horizon is not None:
        lines.append(
            textwrap.fill(f"{'note' if horizon.reached else 'horizon'}: {horizon}", 80, subsequent_indent="  ")
        )
    if run.events:
        from pendula.present.words.events import events_text

        lines += ["", events_text(run.events, units.time)]
    names = [*layout.coordinates, *layout.speeds]
    if len(run) and len(names) <= 24:
        rows = [(n, float(run[n][0]), float(run[n][-1]), layout.units[n]) for n in names]
        lines += ["", table(rows, ["state", "first", "last", "unit"])]
    if wrote:
        lines += ["", *(f"wrote {name}" for name in wrote)]
    return "\n".join(lines)


def _data(run: Any, horizon: Any = None) -> dict[str, Any]:
    from pendula.present.words.events import events_data

    layout = run.joint_layout
    names = [*layout.coordinates, *layout.speeds]
    return {
        "model": run.system.model.name,
        "outcome": str(run.outcome),
        "finished": run.outcome.ok,
        "detail": run.detail,
        "t": run.t.tolist(),
        "states": {n: run[n].tolist() for n in names},
        "units": dict(layout.units),
        "energy_drift": run.energy_drift,
        "jacobi_drift": run.jacobi_drift,
        "constraint_violation": run.constraint_violation,
        "velocity_violation": run.velocity_violation,
        "steps": run.steps,
        "rejected": run.rejected,
        "rhs_evaluations": run.rhs_evaluations,
        "seconds": run.seconds,
        "formulation": run.system.formulation,
        "engine": run.system.engine,
        "stepper": run.stepper,
        "tolerance": run.tolerance,
        "step": run.step,
        "notes": list(run.notes),
        "events": events_data(run.events),
        "horizon": None if horizon is None else _horizon_data(horizon),
    }


def _horizon_data(found: Any) -> dict[str, Any]:
    return {
        "time": found.time,
        "reached": found.reached,
        "threshold": found.threshold,
        "largest_distance": float(found.distance.max()),
        "stepper": found.reference.stepper,
        "tolerance": found.reference.tolerance,
        "text": str(found),
    }
