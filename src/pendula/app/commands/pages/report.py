"""The report command: everything about a mechanism in one page."""

from __future__ import annotations

import sys

import click

from pendula.app.options import (
    json_option,
    model_argument,
    parameter_option,
    read_model,
    read_state,
    start_option,
    writable,
)
from pendula.app.progress import interactive
from pendula.simulation.defaults import TOLERANCE


@click.command("report")
@model_argument
@parameter_option
@click.option("-o", "--output", metavar="FILE", help="Page to write; default: MECHANISM-report.html.")
@click.option(
    "--for",
    "duration",
    type=float,
    help="Length of the simulation, in time units. Default: five periods of the slowest mode.",
)
@start_option
@click.option(
    "--at",
    default=1,
    type=int,
    metavar="NUMBER",
    help='The equilibrium whose eigenvalues and modes are shown: its number in "pendula equilibria". Default: the '
    "one of least potential.",
)
@click.option("--tol", default=TOLERANCE, show_default=True, type=float, help="Tolerance of the simulation.")
@json_option
def report_command(
    model: str,
    settings: tuple[str, ...],
    output: str | None,
    duration: float | None,
    start: tuple[str, ...],
    at: int,
    tol: float,
    as_json: bool,
) -> None:
    """Everything about MODEL in one self-contained HTML page.

    It shows the motion, equilibria with stability, eigenvalues, animated modes, a simulation with its energy, the
    description, equations, and the agreement of all formulations. Exits with 1 if formulations disagree or the
    simulation had to stop early.
    """
    from pendula.analysis.study import study
    from pendula.app.options import echo_json, page_name
    from pendula.present.report.page import write_report

    made = read_model(model, settings)
    path = writable(output or page_name(made.name, "report"), "-o", (".html", ".htm"))
    assert path is not None
    begin = read_state(made, start)
    tell = _progress if interactive() else None
    found = study(made, at=at, duration=duration, initial_state=begin, tol=tol, on_progress=tell)
    write_report(found, path=path)
    if interactive():
        click.echo("\r\033[K", nl=False, err=True)
    missing = {part: reason.splitlines()[0] for part, reason in found.absent.items() if part in _TOLD}
    size = path.stat().st_size
    agree = found.certificate is None or found.certificate.passed
    finished = found.run is not None and found.run.ok
    if as_json:
        echo_json({"file": str(path), "bytes": size, "missing": missing, "agree": agree, "finished": finished})
    else:
        click.echo(f"wrote {path}: {made.name}, {size / 1e6:.2f} MB")
        for part, reason in missing.items():
            click.echo(f"  no {_TOLD[part]}: {reason}")
        if not agree:
            click.echo("  formulations DISAGREE: see the section Certificate")
        if found.run is not None and not finished:
            click.echo(f"  simulation {found.run.outcome}")
    if not (agree and finished):
        sys.exit(1)


_TOLD = {
    "equations": "equations",
    "certificate": "certificate",
    "equilibria": "equilibria",
    "linear": "eigenvalues",
    "motions": "modes in motion",
    "run": "simulation",
}


def _progress(what: str) -> None:
    click.echo(f"\r\033[K{what} ...", nl=False, err=True)
