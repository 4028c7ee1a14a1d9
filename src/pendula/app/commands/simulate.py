"""The simulate command."""

from __future__ import annotations

import sys
import textwrap
from typing import Any

import click

from pendula.app.commands.describe import count
from pendula.app.options import (
    animate_option,
    echo_json,
    engine_option,
    file_of,
    formulation_option,
    in_options,
    json_option,
    output_option,
    plot_option,
)
from pendula.app.run import RunOptions, equations_of, perform, run_options
from pendula.errors import UsageError
from pendula.present.words.tables import heading, number, table


@click.command("simulate")
@run_options
@formulation_option(None, "default: kane, where equations are derived")
@engine_option
@click.option("--event", "events", multiple=True, metavar="EXPR", help='Event to locate, such as "theta1 = 0 rising".')
@click.option("--section", metavar="EXPR", help='A section of the motion, such as "theta1 = 0" (crossed rising).')
@click.option("--section-of", metavar="NAME", help="The coordinate to plot against its speed.")
@plot_option("Write a picture of the section", "--plot-section", "section_file")
@click.option("--horizon", is_flag=True, help="Find how long the run is reliable, by comparison with a tighter run.")
@output_option("Write the run as .npz.")
@plot_option("Write a plot")
@animate_option("Write an animation as a self-contained page")
@json_option
def simulate_command(
    formulation: str | None,
    engine: str,
    events: tuple[str, ...],
    section: str | None,
    section_of: str | None,
    section_file: str | None,
    horizon: bool,
    output: str | None,
    plot_file: str | None,
    animation: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Motion of MODEL from its initial state. Exits with 1 if the run had to stop early."""
    if section is None and (section_file is not None or section_of is not None):
        raise UsageError('--plot-section and --section-of require --section, such as --section "theta1 = 0"')
    paths = {
        "-o": file_of(output, "-o", "Trajectory"),
        "--plot": file_of(plot_file, "--plot", "Figure"),
        "--animate": file_of(animation, "--animate", "Scene"),
        "--plot-section": file_of(section_file, "--plot-section", "Figure"),
    }
    asked = RunOptions(**options)
    run, wall = perform(asked, formulation=formulation, engine=engine, events=events, section=section, quiet=as_json)
    wrote = _write(run, paths, section_of)
    found = _horizon(run) if horizon else None
    if as_json:
        echo_json(_data(run, found))
    else:
        click.echo(report(run, wall, wrote, found))
    if not run.outcome.ok:
        sys.exit(1)


def _horizon(run: Any) -> Any:
    from pendula.analysis.chaos.horizon import horizon

    return horizon(run)


def _write(run: Any, paths: dict[str, Any], section_of: str | None = None) -> list[str]:
    """Writes the requested files; a run without stored states has nothing to show."""
    wrote = []
    if paths["-o"] is not None:
        from pendula.formats import write

        write(run, paths["-o"])
        wrote.append(str(paths["-o"]))
    if len(run) < 2 and (paths["--plot"] is not None or paths["--animate"] is not None):
        click.echo("note: no plot or animation was written, since the run stored only one state", err=True)
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
    lines += [textwrap.fill(f"note: {in_options(note)}", 80, subsequent_indent="  ") for note in run.notes]
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
        "notes": [in_options(note) for note in run.notes],
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
        "text": " ".join(str(found).split()),
    }
