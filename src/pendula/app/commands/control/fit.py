"""The fit command: parameters and initial values from measurements."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pendula.app import options as opt
from pendula.app.progress import Progress
from pendula.errors import ComputationError, ModelError, UsageError
from pendula.present.words.tables import heading, table, wrapped

if TYPE_CHECKING:
    from pendula.analysis.fit.result import Fit
    from pendula.model.model import Model


@click.command("fit")
@opt.model_argument
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@opt.parameter_option
@click.option(
    "--parameters",
    "names",
    required=True,
    metavar="NAMES",
    help="What to fit, separated by commas: parameters, and initial values such as theta1(0).",
)
@opt.start_option
@click.option("--guess", "guesses", multiple=True, metavar="NAME=VALUE", help="First value; default: the model's.")
@click.option(
    "--bounds", "bounds", multiple=True, metavar="NAME=LOW:HIGH", help="Bounds of a value; either may be empty."
)
@click.option(
    "--sigma", "sigmas", multiple=True, metavar="COLUMN=SIZE", help="Known noise of a column; default: estimated."
)
@click.option("--ignore", multiple=True, metavar="COLUMN", help="A column to leave out.")
@click.option("--tol", default=1e-9, show_default=True, type=float, help="Tolerance of the integration.")
@click.option("-o", "--output", metavar="FILE", help="Write the model with the fitted values (.toml).")
@opt.plot_option("Write measured and fitted values with residuals")
@opt.json_option
def fit_command(
    model: str,
    data: tuple[str, ...],
    settings: tuple[str, ...],
    names: str,
    start: tuple[str, ...],
    guesses: tuple[str, ...],
    bounds: tuple[str, ...],
    sigmas: tuple[str, ...],
    ignore: tuple[str, ...],
    tol: float,
    output: str | None,
    plot_file: str | None,
    as_json: bool,
) -> None:
    """Parameters of MODEL from measurements, with confidence intervals.

    DATA is a CSV file or a saved run. Columns are t and coordinates, speeds or positions such as lower.tip.x; units may
    follow in brackets.
    Several files are several experiments. Exits with 1 if the search did not converge or the data do not determine
    all values.

    Example: pendula fit double-pendulum swing.csv --parameters c1,c2,theta1(0) --plot fit.png
    """
    paths = {"-o": opt.writable(output, "-o", (".toml",)), "--plot": opt.file_of(plot_file, "--plot", "Figure")}
    found_model = opt.read_model(model, settings)
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    from pendula.analysis.fit.fit import fit

    with Progress(quiet=as_json) as progress:
        progress.say("deriving, compiling and fitting")
        found = fit(
            found_model, list(data), wanted, guess=opt.pairs(guesses, "--guess"),
            initial_state=_start(found_model, start), bounds=_bounds(found_model, bounds),
            sigma=_sigma(found_model, sigmas), ignore=ignore, tol=tol,
        )  # fmt: skip
    wrote, complete = _written(found, paths)
    if as_json:
        opt.echo_json({"model": found_model.name, "data": list(data)} | found.as_dict())
        click.echo("" if complete else wrote[-1], err=True, nl=not complete)
    else:
        click.echo("\n".join([*_lines(found_model, found), *([""] if wrote else []), *wrote]))
    if not (found.ok and complete):
        sys.exit(1)


def _start(model: Model, start: tuple[str, ...]) -> dict[str, float]:
    values = opt.read_state(model, start)
    opt.hint_degrees(model, values, "--start")
    return values


def _bounds(model: Model, given: tuple[str, ...]) -> dict[str, tuple[float | None, float | None]]:
    found: dict[str, tuple[float | None, float | None]] = {}
    for name, text in opt.pairs(given, "--bounds").items():
        low, colon, high = text.partition(":")
        if not colon:
            raise UsageError(f'--bounds {name} expects LOW:HIGH, found "{text}"')
        ends = [
            opt.read_numbers(model.parameter_values, {name: x}, "--bounds")[name] if x.strip() else None
            for x in (low, high)
        ]
        found[name] = ends[0], ends[1]
    return found


def _sigma(model: Model, given: tuple[str, ...]) -> dict[str, float] | None:
    units = opt.state_units(model)
    return opt.read_numbers(model.parameter_values, opt.pairs(given, "--sigma"), "--sigma", units) if given else None


def _written(found: Fit, paths: dict[str, Path | None]) -> tuple[list[str], bool]:
    """What became of the files, and whether all of them were written."""
    wrote = opt.draw(found, paths["--plot"])
    if paths["-o"] is not None:
        from pendula.model.files import save

        try:
            save(found.model, paths["-o"])
            wrote.append(f"wrote {paths['-o']}")
        except (ComputationError, ModelError) as error:  # no fitted values, or values that no mechanism has
            return [*wrote, f"{paths['-o']} is not written: {error}"], False
    return wrote, True


def _lines(model: Model, found: Fit) -> list[str]:
    count = found.degrees_of_freedom + len(found.names)
    lines = [heading(f"{model.name}: fit"), "", f"{count} measurements, {found.evaluations} motions integrated; "
             + ("converged" if found.converged else "NOT converged")]  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for name in found.names:
        low, high = found.interval(name)
        known = abs(high - low) < float("inf")
        ends = (found.error(name), low, high) if known else ("-", "-", "-")
        rows.append((name, found[name], *ends, found.units.get(name, "")))
    fitted = "fitted" if found.converged else "last tried"
    first = "95 % from" if found.independent else "from"
    lines += ["", table(rows, ["value of", fitted, "error", first, "to", "unit"]), ""]
    lines += [
        f"noise of {name}: {x:.4g}" + ("" if found.known_noise else " (estimated)") for name, x in found.noise.items()
    ]
    return [*lines, *(wrapped(f"note: {x}", "  ") for x in found.remarks)]
