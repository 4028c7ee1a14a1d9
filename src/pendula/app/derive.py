"""Commands about equations: derive, check."""

from __future__ import annotations

import sys

import click

from pendula.app.options import (
    echo_json,
    formulation_option,
    json_option,
    model_argument,
    parameter_option,
    read_model,
    writable,
)
from pendula.present.tables import number, table


@click.command("derive")
@model_argument
@parameter_option
@formulation_option("lagrange")
@click.option("--format", "form", default="text", show_default=True, help="text, latex, python, c or json.")
@click.option("-o", "--output", metavar="FILE", help="File to write; default: print it.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def derive_command(
    model: str, settings: tuple[str, ...], formulation: str, form: str, output: str | None, as_json: bool
) -> None:
    """Equations of motion of MODEL."""
    from pendula.equations.derive import derive
    from pendula.equations.printing import FORMATS, print_equations
    from pendula.errors import UsageError

    form = "json" if as_json else form
    if form not in FORMATS:
        raise UsageError(f'there is no format "{form}"; choose one of {", ".join(FORMATS)}')
    path = writable(output, "-o")
    text = print_equations(derive(read_model(model, settings), formulation), form)
    if path is None:
        click.echo(text)
    else:
        path.write_text(text + "\n", encoding="utf-8")
        click.echo(f"wrote {path} ({form}, by {formulation})")


@click.command("check")
@model_argument
@parameter_option
@click.option("--states", default=100, show_default=True, type=click.IntRange(1, 100_000), help="Random states.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**31), help="Of the random states.")
@json_option
def check_command(model: str, settings: tuple[str, ...], states: int, seed: int, as_json: bool) -> None:
    """Derive MODEL by every formulation and compare them at random states.

    Exits with 1 if they disagree.
    """
    from pendula.analysis.agreement import TOLERANCE, check

    certificate = check(read_model(model, settings), states=states, seed=seed)
    if as_json:
        found = [{"a": p.a, "b": p.b, "max_difference": p.max_difference, "where": p.where} for p in certificate.pairs]
        echo_json(
            {
                "model": certificate.model,
                "formulations": list(certificate.formulations),
                "states": certificate.states,
                "tolerance": TOLERANCE,
                "pairs": found,
                "passed": certificate.passed,
            }
        )
    else:
        click.echo(f"{certificate.model}: {' and '.join(certificate.formulations)} at {states} random states")
        rows = [
            (f"{p.a} - {p.b}", number(p.max_difference, 3), "agree" if p.passed else "DISAGREE", p.where)
            for p in certificate.pairs
        ]
        click.echo(table(rows, ["pair", "largest difference", "verdict", "where it is largest"]))
        click.echo(f"\n{'passed' if certificate.passed else 'FAILED'}: relative differences, allowed {TOLERANCE:g}")
    if not certificate.passed:
        sys.exit(1)
