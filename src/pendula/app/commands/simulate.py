"""The simulate command."""

from __future__ import annotations

from typing import Any

import click

from pendula.app import options as opt
from pendula.app.run import exit_by, perform, run_options
from pendula.errors import UsageError
from pendula.present.words.tables import facts_lines, heading, number, table, wrapped
from pendula.words import picked

MOST_ROWS = 24
"""largest number of coordinates and speeds that the summary of a run lists"""


@click.command("simulate")
@run_options
@opt.formulation_option(None, "default: kane, where equations are derived")
@opt.engine_option
@opt.equations_option
@click.option("--event", "events", multiple=True, metavar="EXPR", help='Event to locate, such as "theta1 = 0 rising".')
@click.option("--section", metavar="EXPR", help='Poincare section, such as "theta1 = 0" (crossed upwards).')
@click.option("--section-of", metavar="NAME", help="The coordinate that --plot-section draws against its speed.")
@opt.plot_option("Write a picture of the section", "--plot-section", "section_file")
@click.option("--integrals", is_flag=True, help="Report how well the run conserves the momenta of the mechanism.")
@click.option("--horizon", is_flag=True, help="Find how long the run can be trusted, by comparison with a tighter run.")
@click.option(
    "--quantity",
    "quantities",
    multiple=True,
    metavar="NAME",
    help="Also report, write and plot this: theta1_ddot, kinetic, lower.tip.x, a prescribed motion. May be repeated.",
)
@opt.data_option("Write the run")
@opt.plot_option("Write a plot")
@opt.animate_option("Write an animation as a self-contained page")
@click.option("--gif", metavar="FILE", help="Write a film as animated GIF (needs the extra video).")
@click.option("--mp4", metavar="FILE", help="Write a film as MP4 (needs the extra video).")
@click.option("--signals", metavar="NAMES", help="Signals shown first below an animation, such as theta1,lower.tip.x.")
@click.option("--trace", metavar="POINT", help='Point whose path an animation draws, such as lower.tip, or "none".')
@click.option("--speed", type=float, help="Speed of an animation, relative to true time; default 1.")
@opt.json_option
def simulate_command(
    section: str | None,
    section_of: str | None,
    section_file: str | None,
    integrals: bool,
    horizon: bool,
    quantities: tuple[str, ...],
    output: str | None,
    plot_file: str | None,
    animation: str | None,
    gif: str | None,
    mp4: str | None,
    signals: str | None,
    trace: str | None,
    speed: float | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Motion of MODEL from its initial state. Exits with 1 if the run had to stop early or is not to be trusted."""
    if section is None and (section_file is not None or section_of is not None):
        raise UsageError('--plot-section and --section-of require --section, such as --section "theta1 = 0"')
    if section_of is not None and section_file is None:
        raise UsageError("--section-of requires --plot-section, whose coordinate it chooses")
    paths = {
        "-o": opt.file_of(output, "-o", "Trajectory"),
        "--plot": opt.file_of(plot_file, "--plot", "Figure"),
        "--animate": opt.file_of(animation, "--animate", "Scene"),
        "--gif": _film_of(gif, "--gif"),
        "--mp4": _film_of(mp4, "--mp4"),
        "--plot-section": opt.file_of(section_file, "--plot-section", "Figure"),
    }
    shown = _animation(paths, signals, trace, speed)
    run, wall = perform(**options, section=section, quiet=as_json)
    chosen = {name: run[name] for name in (*quantities, *shown["signals"])}  # unknown names, before files are written
    chosen = {name: chosen[name] for name in quantities}
    wrote = _write(run, paths, section_of, quantities, shown)
    found = _horizon(run) if horizon else None
    kept = _integrals(run) if integrals else None
    if as_json:
        data = run_data(run, found) | ({} if kept is None else {"integrals": kept})
        if chosen:
            data["quantities"] = {name: values.tolist() for name, values in chosen.items()}
            data["units"] |= {name: run.unit(name) for name in chosen}
        opt.echo_json(data)
    else:
        click.echo(report(run, wall, wrote, found, quantities, kept))
    exit_by(run.outcome, ok=run.ok)


def _horizon(run: Any) -> Any:
    from pendula.analysis.chaos.horizon import horizon

    return horizon(run)


def _integrals(run: Any) -> list[dict[str, Any]]:
    """The integrals of motion with their first values and drifts along a run."""
    from pendula.analysis.symmetry.integrals import integrals

    found = integrals(run.system, parameters=run.parameters)
    values, drift = found.values(run), found.drift(run)
    return [
        {
            **picked(one, "name meaning formula unit coordinate"),
            "value": float(values[one.name][0]),
            "drift": drift[one.name],
        }
        for one in found
    ]


ANIMATIONS = ("--animate", "--gif", "--mp4")


def _film_of(path: str | None, option: str) -> Any:
    """The file of a film, refused at once where its packages are missing."""
    if path is None:
        return None
    from pendula.present.player.film import needed

    for package in ("PIL", "imageio_ffmpeg")[: 1 + (option == "--mp4")]:
        needed(package)
    return opt.writable(path, option, (f".{option[2:]}",))


def _animation(paths: dict[str, Any], signals: str | None, trace: str | None, speed: float | None) -> dict[str, Any]:
    """What animations show, checked before anything is computed."""
    given = {"--signals": signals, "--trace": trace, "--speed": speed}
    unused = [option for option, value in given.items() if value is not None]
    if unused and all(paths[option] is None for option in ANIMATIONS):
        raise UsageError(f"{unused[0]} requires an animation: --animate, --gif or --mp4")
    if speed is not None and not 0 < speed < float("inf"):
        raise UsageError(f"--speed must be a positive number, found {speed:g}")
    names = [name.strip() for name in (signals or "").split(",") if name.strip()]
    return {"signals": names, "trace": trace, "speed": speed or 1.0}


def _write(
    run: Any, paths: dict[str, Any], section_of: str | None, quantities: tuple[str, ...], shown: dict[str, Any]
) -> list[str]:
    """Writes the requested files; a run without stored states has nothing to show."""
    wrote = opt.write_result(run, paths["-o"], **({"quantities": quantities} if quantities else {}))
    if len(run) < 2 and any(paths[option] is not None for option in ("--plot", *ANIMATIONS)):
        click.echo("note: no plot or animation was written, since the run stored only one state", err=True)
    if len(run) > 1:
        wrote += opt.draw(run, paths["--plot"], **({"quantities": quantities} if quantities else {}))
        for option in ANIMATIONS:
            wrote += opt.animate(run, paths[option], **shown)
    if paths["--plot-section"] is not None:
        wrote += opt.draw(next(iter(run.events.values())), paths["--plot-section"], of=section_of)
    return wrote


def report(
    run: Any,
    wall: float,
    wrote: list[str],
    horizon: Any = None,
    quantities: tuple[str, ...] = (),
    kept: list[dict[str, Any]] | None = None,
) -> str:
    """A summary of a run in 80 columns."""
    from pendula.present.words.runs import run_facts

    layout, unit = run.joint_layout, run.system.model.unit_names.time
    facts = run_facts(run)
    if horizon is not None:
        facts.append(("horizon", "the end" if horizon.time is None else f"{number(horizon.time)} {unit}"))
    facts.append(("seconds", f"{run.seconds:.4f} integrating, {wall:.2f} in all"))
    lines = [heading(run.system.model.name), "", *facts_lines(facts)]
    lines += [wrapped(f"not to be trusted: {doubt}", "  ") for doubt in run.doubts]
    lines += [wrapped(f"note: {opt.in_options(note)}", "  ") for note in run.notes]
    if horizon is not None:
        lines.append(wrapped(f"{'note' if horizon.reached else 'horizon'}: {' '.join(str(horizon).split())}", "  "))
    if kept is not None:
        each = [(x["name"], x["meaning"], x["value"], x["unit"], f"{x['drift']:.1e}") for x in kept]
        shown = table(each, ["integral", "meaning", "value", "unit", "drift"]) if each else "no integrals were found"
        lines += ["", shown]
    if run.events:
        from pendula.present.words.events import events_text

        lines += ["", events_text(run.events, unit)]
    names = [*layout.coordinates, *layout.speeds]
    names = [*(names if len(names) <= MOST_ROWS else []), *quantities]
    if len(run) and names:
        rows = [(n, float(run[n][0]), float(run[n][-1]), run.unit(n)) for n in names]
        lines += ["", table(rows, ["state", "first", "last", "unit"])]
    if wrote:
        lines += ["", *wrote]
    return "\n".join(lines)


def run_data(run: Any, horizon: Any = None) -> dict[str, Any]:
    """A run as plain data: states by name at its samples, and its account."""
    from pendula.present.words.events import events_data

    layout = run.joint_layout
    names = [*layout.coordinates, *layout.speeds]
    return {
        "model": run.system.model.name,
        "outcome": str(run.outcome),
        "finished": run.outcome.ok,
        "ok": run.ok,
        "doubts": list(run.doubts),
        **picked(run, "detail t energy_drift jacobi_drift constraint_violation velocity_violation"),
        **picked(run, "steps rejected rhs_evaluations seconds stepper tolerance step"),
        **picked(run.system, "formulation engine"),
        "nearest_singularity": _singularity_data(run.nearest_singularity),
        "states": {n: run[n].tolist() for n in names},
        "units": dict(layout.units),
        "notes": [opt.in_options(note) for note in run.notes],
        "events": events_data(run.events),
        "predictability": None if run.predictability is None else run.predictability.as_dict(),
        "horizon": None if horizon is None else _horizon_data(horizon),
    }


def _singularity_data(found: Any) -> dict[str, Any] | None:
    if found is None:
        return None
    return {**picked(found.singularity, "joint coordinate words lost"), **picked(found, "distance t")}


def _horizon_data(found: Any) -> dict[str, Any]:
    return {
        **picked(found, "time reached threshold"),
        **picked(found.reference, "stepper tolerance"),
        "largest_distance": float(found.distance.max()),
        "text": " ".join(str(found).split()),
    }
