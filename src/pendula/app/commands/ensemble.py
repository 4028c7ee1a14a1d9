"""The ensemble command."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from pendula.app import options as opt
from pendula.app.progress import Progress
from pendula.app.run import exit_by
from pendula.errors import UsageError
from pendula.numerics.steppers.stepper import stepper_help
from pendula.present.words.tables import facts_lines, heading, table
from pendula.words import picked

MOST_RUNS = 10_000_000
MOST_ROWS = 24
"""largest number of coordinates and speeds whose quantiles are listed"""


@click.command("ensemble")
@opt.model_argument
@opt.parameter_option
@click.option("--runs", default=1000, show_default=True, type=int, help="Number of runs.")
@click.option(
    "--vary",
    multiple=True,
    metavar="NAME=LOW:HIGH",
    help="Coordinate, speed or parameter, at random between two values, such as theta1=-180deg:180deg.",
)
@click.option(
    "--spread", multiple=True, metavar="NAME=SIGMA", help="The same, normally distributed about its value in the model."
)
@click.option("--seed", default=1, show_default=True, type=int, help="Seed of the random numbers.")
@opt.start_option
@opt.duration_option
@opt.tol_option
@opt.samples_option(200, "; 1: the end")
@click.option("--stepper", default="dop853", show_default=True, help=f"{stepper_help(ability='lanes')}.")
@opt.formulation_option(None, "default: kane, where equations are derived")
@opt.engine_option
@click.option("--workers", type=int, help="Number of processes; default: the number of cores.")
@opt.max_steps_option
@opt.data_option("Write all runs; .npz is streamed")
@opt.plot_option("Write a picture of the spread")
@opt.json_option
def ensemble_command(
    model: str,
    settings: tuple[str, ...],
    runs: int,
    vary: tuple[str, ...],
    spread: tuple[str, ...],
    seed: int,
    start: tuple[str, ...],
    duration: float,
    formulation: str | None,
    engine: str,
    output: str | None,
    plot_file: str | None,
    as_json: bool,
    **how: Any,
) -> None:
    """Many runs of MODEL with random initial states or parameters. Exits with 1 if a run had to stop early."""
    paths = {"-o": opt.file_of(output, "-o", "Ensemble"), "--plot": opt.file_of(plot_file, "--plot", "Figure")}
    streamed = paths["-o"] if paths["-o"] is not None and paths["-o"].suffix.lower() == ".npz" else None
    if not 1 <= runs <= MOST_RUNS:
        raise UsageError(f"--runs must be an integer from 1 to {MOST_RUNS}, found {runs}")
    if seed < 0:
        raise UsageError(f"--seed must not be negative, found {seed}")
    if not vary and not spread:
        raise UsageError("all runs would be identical: give --vary NAME=LOW:HIGH or --spread NAME=SIGMA")
    found = opt.read_model(model, settings)
    states: dict[str, Any] = dict(opt.read_state(found, start))
    from pendula.simulation.simulate_many import refuse_too_many, simulate_many
    from pendula.system.build import compile_system
    from pendula.system.first_use import prepare_many_motions

    with Progress(quiet=as_json, forks=True) as progress:
        prepare_many_motions(how["stepper"])
        system = compile_system(found, formulation, engine=engine)
        refuse_too_many(system, runs, max(how["samples"], 1), streamed)
        drawn = draw_values(system, vary, spread, states, runs, seed)
        parameters = {n: x for n, x in drawn.items() if n in found.parameters}
        states |= {n: x for n, x in drawn.items() if n not in parameters}
        progress.say("simulating")
        ensemble = simulate_many(
            system, duration, states, parameters=parameters or None, bad_starts="mark", on_progress=progress.done,
            save=streamed, **how,
        )  # fmt: skip
    wrote = opt.write_result(ensemble, paths["-o"]) if streamed is None else [f"wrote {streamed}"]
    wrote += opt.draw(ensemble, paths["--plot"])
    if as_json:
        opt.echo_json(ensemble_data(ensemble, seed))
    else:
        click.echo(_report(ensemble, wrote))
    exit_by(*{*ensemble.outcome}, ok=bool(ensemble.ok.all()))


def draw_values(
    system: Any, vary: tuple[str, ...], spread: tuple[str, ...], given: dict[str, Any], runs: int, seed: int
) -> dict[str, Any]:
    """Random values by name. Every name has its own random stream, so a further name does not change the others."""
    import numpy as np

    ranges, widths = opt.pairs(vary, "--vary"), opt.pairs(spread, "--spread")
    if both := ranges.keys() & widths.keys():
        raise UsageError(f'"{min(both)}" is given to --vary and to --spread')
    known = {**system.model.parameter_values, **system.in_joints.initial_state().as_dict(), **given}
    drawn = {}
    for name, text in {**ranges, **widths}.items():
        if name not in known:
            system.in_joints.layout.position(name)  # raises for an unknown name
        rng = np.random.default_rng([seed, *name.encode()])
        if name in widths:
            width = opt.read_numbers(known, {name: text}, "--spread")[name]
            if not width >= 0:
                raise UsageError(f"--spread {name}: the width must not be negative, found {text}")
            drawn[name] = known[name] + width * rng.standard_normal(runs)
            continue
        low, colon, high = text.partition(":")
        if not colon:
            raise UsageError(f'--vary {name} expects LOW:HIGH, found "{text}"')
        ends = [opt.read_numbers(known, {name: end}, "--vary")[name] for end in (low, high)]
        if not ends[0] <= ends[1]:
            raise UsageError(f'--vary {name}: the range must go from a smaller to a larger number, found "{text}"')
        drawn[name] = rng.uniform(ends[0], ends[1], runs)
    return drawn


def _report(ensemble: Any, wrote: list[str]) -> str:
    """A summary of all runs in 80 columns."""
    from pendula.present.words.runs import ensemble_facts, level_rows, outcome_rows

    lines = [heading(f"{ensemble.system.model.name}: {len(ensemble)} runs"), ""]
    lines.append(table(outcome_rows(ensemble), ["runs", "outcome"]))
    first = next((k for k in range(len(ensemble)) if not ensemble.outcome[k].ok), None)
    if first is not None and ensemble.detail(first):
        lines.append(f"run {first}: {ensemble.detail(first)}")
    lines += ["", *facts_lines(ensemble_facts(ensemble))]
    if ensemble.ok.any():
        heads, rows = level_rows(ensemble)
        lines += ["", table(rows, heads)] if len(rows) <= MOST_ROWS else []
    lines += ["", *wrote] if wrote else []
    return "\n".join(lines)


def ensemble_data(ensemble: Any, seed: int) -> dict[str, Any]:
    """Many runs as plain data: quantiles of the states over time, and counts of outcomes."""
    import numpy as np

    from pendula.present.words.runs import LEVELS

    layout = ensemble.system.in_joints.layout
    names = [*layout.coordinates, *layout.speeds]
    drift = ensemble.energy_drift
    known = drift[np.isfinite(drift)]
    return {
        "model": ensemble.system.model.name,
        "runs": len(ensemble),
        "finished": bool(ensemble.ok.all()),
        "outcomes": {str(outcome): n for outcome, n in Counter(ensemble.outcome).items()},
        "failed_runs": np.flatnonzero(~ensemble.ok)[:1000].tolist(),
        "t": ensemble.t.tolist(),
        "quantiles": list(LEVELS),
        "states": {n: np.nanquantile(ensemble[n], LEVELS, axis=0).tolist() for n in names} if known.size else {},
        "units": dict(layout.units),
        "energy_drift": {
            "median": float(np.median(known)) if known.size else None,
            "largest": float(known.max()) if known.size else None,
        },
        "steps": float(ensemble.steps.mean()),
        "rejected": float(ensemble.rejected.mean()),
        **picked(ensemble, "seconds workers stepper tolerance"),
        **picked(ensemble.system, "formulation engine"),
        "seed": seed,
    }
