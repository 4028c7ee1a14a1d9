"""The ensemble command."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import click

from pendula.app.options import (
    duration_option,
    echo_json,
    engine_option,
    file_of,
    formulation_option,
    json_option,
    max_steps_option,
    model_argument,
    output_option,
    pairs,
    parameter_option,
    plot_option,
    read_model,
    read_state,
    samples_option,
    start_option,
    tol_option,
)
from pendula.errors import UsageError
from pendula.numerics.steppers.stepper import stepper_help
from pendula.present.words.tables import heading, number, table

MOST_RUNS = 10_000_000
LEVELS = (0.05, 0.5, 0.95)


@click.command("ensemble")
@model_argument
@parameter_option
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
@start_option
@duration_option
@tol_option
@samples_option(200, "; 1: the end")
@click.option("--stepper", default="dop853", show_default=True, help=f"{stepper_help(ability='lanes')}.")
@formulation_option(None, "default: kane, where equations are derived")
@engine_option
@click.option("--workers", type=int, help="Number of processes; default: the number of cores.")
@max_steps_option
@output_option("Write all runs as .npz, as they come.")
@plot_option("Write a picture of the spread")
@json_option
def ensemble_command(
    model: str,
    settings: tuple[str, ...],
    runs: int,
    vary: tuple[str, ...],
    spread: tuple[str, ...],
    seed: int,
    start: tuple[str, ...],
    duration: float,
    tol: float,
    samples: int,
    stepper: str,
    formulation: str | None,
    engine: str,
    workers: int | None,
    max_steps: int,
    output: str | None,
    plot_file: str | None,
    as_json: bool,
) -> None:
    """Many runs of MODEL with random initial states or parameters. Exits with 1 if a run had to stop early."""
    paths = {"-o": file_of(output, "-o", "Ensemble"), "--plot": file_of(plot_file, "--plot", "Figure")}
    streamed = paths["-o"] if paths["-o"] is not None and paths["-o"].suffix.lower() == ".npz" else None
    if not 1 <= runs <= MOST_RUNS:
        raise UsageError(f"--runs takes a whole number from 1 to {MOST_RUNS}, found {runs}")
    if seed < 0:
        raise UsageError(f"--seed takes a whole number that is not negative, found {seed}")
    if not vary and not spread:
        raise UsageError("all runs would be identical: give --vary NAME=LOW:HIGH or --spread NAME=SIGMA")
    found = read_model(model, settings)
    states: dict[str, Any] = dict(read_state(found, start))
    from pendula.simulation.simulate_many import simulate_many
    from pendula.system.build import compile_system
    from pendula.system.first_use import prepare_many_motions

    with _Bar(quiet=as_json) as bar:
        prepare_many_motions(stepper)
        system = compile_system(found, formulation, engine=engine)
        drawn = _draw(system, vary, spread, states, runs, seed)
        parameters = {n: x for n, x in drawn.items() if n in found.parameters}
        states |= {n: x for n, x in drawn.items() if n not in parameters}
        ensemble = simulate_many(
            system, duration, states, parameters=parameters or None, tol=tol, stepper=stepper, samples=samples,
            max_steps=max_steps, workers=workers, bad_starts="mark", on_progress=bar.update, save=streamed,
        )  # fmt: skip
    if paths["-o"] is not None and streamed is None:
        from pendula.formats import write

        write(ensemble, paths["-o"])
    if paths["--plot"] is not None:
        from pendula.present.pictures.results import plot

        plot(ensemble, paths["--plot"])
    if as_json:
        echo_json(_data(ensemble, seed))
    else:
        click.echo(_report(ensemble, [str(p) for p in paths.values() if p is not None]))
    if not ensemble.ok.all():
        sys.exit(1)


def _draw(
    system: Any, vary: tuple[str, ...], spread: tuple[str, ...], given: dict[str, Any], runs: int, seed: int
) -> dict[str, Any]:
    """Random values by name. Every name has a separate random stream: one more does not change the others."""
    import numpy as np

    ranges, widths = pairs(vary, "--vary"), pairs(spread, "--spread")
    if both := ranges.keys() & widths.keys():
        raise UsageError(f'"{min(both)}" is given to --vary and to --spread')
    known = {**system.model.parameter_values, **system.in_joints.initial_state().as_dict(), **given}
    drawn = {}
    for name, text in {**ranges, **widths}.items():
        if name not in known:
            system.in_joints.layout.position(name)  # says so if there is no such name
        rng = np.random.default_rng([seed, *name.encode()])
        if name in widths:
            width = _value(text, f"--spread {name}", known)
            if not width >= 0:
                raise UsageError(f"--spread {name} takes a width that is not negative, found {text}")
            drawn[name] = known[name] + width * rng.standard_normal(runs)
            continue
        low, colon, high = text.partition(":")
        if not colon:
            raise UsageError(f'--vary {name} takes LOW:HIGH, found "{text}"')
        ends = [_value(end, f"--vary {name}", known) for end in (low, high)]
        if not ends[0] <= ends[1]:
            raise UsageError(f'--vary {name}: the range must go from a smaller to a larger number, found "{text}"')
        drawn[name] = rng.uniform(ends[0], ends[1], runs)
    return drawn


def _value(text: str, where: str, known: dict[str, float]) -> float:
    from pendula.model.expressions.expression import ExpressionError, parse

    try:
        return float(parse(text).evaluate(known))
    except ExpressionError as error:
        raise UsageError(f"{where}: {error}") from None


def _report(ensemble: Any, wrote: list[str]) -> str:
    """The account of all runs, in 80 columns."""
    import numpy as np

    layout, units = ensemble.system.in_joints.layout, ensemble.system.model.unit_names
    lines = [heading(f"{ensemble.system.model.name}: {len(ensemble)} runs"), ""]
    counts = Counter(ensemble.outcome)
    lines.append(table([(n, str(outcome)) for outcome, n in counts.most_common()], ["runs", "outcome"]))
    first = next((k for k in range(len(ensemble)) if not ensemble.outcome[k].ok), None)
    if first is not None and ensemble.detail(first):
        lines.append(f"run {first}: {ensemble.detail(first)}")
    drift = ensemble.energy_drift[np.isfinite(ensemble.energy_drift)]
    lines.append("")
    if drift.size:
        lines.append(f"energy drift  median {np.median(drift):.2e}, largest {drift.max():.2e}")
    if ensemble.constraint_violation is not None:
        lines.append(f"constraint violation  at most {np.nanmax(ensemble.constraint_violation):.2e}")
    lines.append(
        f"steps         {ensemble.steps.mean():.1f} accepted, {ensemble.rejected.mean():.1f} rejected on average"
    )
    how = "eight at a time" if ensemble.in_lanes else "one after the other"
    lines.append(f"seconds       {ensemble.seconds:.3f} with {ensemble.workers} processes, {how}")
    names = [*layout.coordinates, *layout.speeds]
    if ensemble.ok.any() and len(names) <= 24:
        at = f"{number(float(ensemble.t[-1]))} {units.time}"
        rows = [(n, *_levels(ensemble, n), layout.units[n]) for n in names]
        lines += ["", table(rows, [f"at {at}", *(f"{level:.0%}" for level in LEVELS), "unit"])]
    lines += ["", *(f"wrote {name}" for name in wrote)] if wrote else []
    return "\n".join(lines)


def _levels(ensemble: Any, name: str) -> tuple[float, ...]:
    import numpy as np

    return tuple(float(x) for x in np.quantile(ensemble[name][ensemble.ok, -1], LEVELS))


def _data(ensemble: Any, seed: int) -> dict[str, Any]:
    import numpy as np

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
        "seconds": ensemble.seconds,
        "workers": ensemble.workers,
        "seed": seed,
        "formulation": ensemble.system.formulation,
        "engine": ensemble.system.engine,
        "stepper": ensemble.stepper,
        "tolerance": ensemble.tolerance,
    }


class _Bar:
    """A progress bar with the remaining time on a terminal; drawn without a thread, so that processes can fork."""

    def __init__(self, quiet: bool) -> None:
        self._on = not quiet and sys.stderr.isatty()
        self._bar: Any = None
        self._task: Any = None
        self._since = time.perf_counter()

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *details: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def update(self) -> Callable[[int, int], None]:
        """Called with the runs that have ended and all runs."""

        def step(ended: int, runs: int) -> None:
            if not self._on or (self._bar is None and time.perf_counter() - self._since < 0.5):
                return
            if self._bar is None:
                self._start(runs)
            self._bar.update(self._task, completed=ended)
            self._bar.refresh()

        return step

    def _start(self, runs: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
        self._task = self._bar.add_task("simulating", total=runs)
        self._bar.start()
