"""Commands about equations: derive, check."""

from __future__ import annotations

import math
import sys
import textwrap

import click

from pendula.app import options as opt
from pendula.files import write_text
from pendula.formats import format_for, formats
from pendula.model.model import Model
from pendula.present.words.tables import WIDTH, number, table


@click.command("derive")
@opt.model_argument
@opt.parameter_option
@opt.formulation_option("lagrange")
@click.option("--format", "form", help=f"{', '.join(formats('Equations'))}; default: by the ending of -o, or text.")
@opt.output_option("File to write; default: print it.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def derive_command(
    model: str, settings: tuple[str, ...], formulation: str, form: str | None, output: str | None, as_json: bool
) -> None:
    """Equations of motion of MODEL."""
    from pendula.equations.derive import derive
    from pendula.equations.printing.formats import print_equations

    path = opt.writable(output, "-o")
    by_ending = format_for("Equations", path) if path is not None else None
    form = "json" if as_json else form or by_ending or "text"
    formats("Equations").entry(form)  # raises for an unknown format before the derivation
    text = print_equations(derive(opt.read_model(model, settings), formulation), form)
    if path is None:
        click.echo(text)
    else:
        write_text(path, text + "\n")
        click.echo(f"wrote {path} ({form}, by {formulation})")


@click.command("check")
@opt.model_argument
@opt.parameter_option
@click.option("--against", metavar="FILE", help="File (TOML) of your own equations, to compare with those of MODEL.")
@click.option(
    "--states", default=100, show_default=True, type=click.IntRange(1, 100_000), help="How many random states."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**31), help="Seed of the random states.")
@opt.json_option
def check_command(
    model: str, settings: tuple[str, ...], against: str | None, states: int, seed: int, as_json: bool
) -> None:
    """Derive MODEL by every formulation and compare them at random states.

    With --against, compare the equations in FILE with those of MODEL instead: M and f, accelerations, or equations
    that contain the accelerations. Exits with 1 if they disagree, and shows where.
    """
    made = opt.read_model(model, settings)
    passed = (
        _formulations(made, states, seed, as_json) if against is None else _own(made, against, states, seed, as_json)
    )
    if not passed:
        sys.exit(1)


def _formulations(model: Model, states: int, seed: int, as_json: bool) -> bool:
    """Prints the certificate of a model; returns whether all formulations agree."""
    from pendula.analysis.court.agreement import TOLERANCE, check

    certificate = check(model, states=states, seed=seed)
    if as_json:
        found = [{"a": p.a, "b": p.b, "max_difference": p.max_difference, "where": p.where} for p in certificate.pairs]
        opt.echo_json(
            {
                "model": certificate.model,
                "formulations": list(certificate.formulations),
                "states": certificate.states,
                "tolerance": TOLERANCE,
                "pairs": found,
                "passed": certificate.passed,
            }
        )
        return certificate.passed
    *first, last = certificate.formulations
    click.echo(_paragraph(f"{certificate.model}: {', '.join(first)} and {last} at {states} random states") + "\n")
    rows = [
        (f"{p.a} - {p.b}", number(p.max_difference, 3), "agree" if p.passed else "DISAGREE", p.what)
        for p in certificate.pairs
    ]
    click.echo(table(rows, ["pair", "difference", "verdict", "largest in the"]))
    click.echo(f"\n{'passed' if certificate.passed else 'FAILED'}: relative differences, allowed {TOLERANCE:g}")
    for pair in certificate.pairs:
        if not pair.passed:  # with the state
            click.echo(_paragraph(f"{pair.a} and {pair.b} disagree most in the {pair.where}"))
    return certificate.passed


def _own(model: Model, against: str, states: int, seed: int, as_json: bool) -> bool:
    """Prints a comparison of given equations with those of a model; returns whether they agree."""
    from pendula.analysis.court.against import TOLERANCE, check_against

    found = check_against(model, against, states=states, seed=seed)
    if as_json:
        opt.echo_json(
            {
                "model": found.model,
                "against": found.source,
                "states": found.states,
                "tolerance": TOLERANCE,
                "passed": found.passed,
                "max_difference": found.max_difference,
                "counterexample": found.counterexample,
                "difference": [{"what": d.what, "ours": d.ours, "theirs": d.theirs} for d in found.differences],
                "sentence": found.sentence,
                "remark": found.remark,
            }
        )
        return found.passed
    click.echo(_paragraph(found.sentence))
    if found.counterexample is not None:
        angles = {c.name for c in model.coordinates if c.kind == "angle"}
        state = [
            (n, x, f"{number(math.degrees(x))} deg" if n in angles else "") for n, x in found.counterexample.items()
        ]
        click.echo("\n" + table(state, ["counterexample", "value", ""]))
        click.echo("\n" + table([(d.what, d.ours, d.theirs) for d in found.differences], ["what", "model", "given"]))
    if found.remark:
        click.echo("\n" + _paragraph(found.remark))
    verdict = "passed" if found.passed else "FAILED"
    click.echo(f"\n{verdict}: relative difference {number(found.max_difference, 3)}, allowed {TOLERANCE:g}")
    return found.passed


def _paragraph(text: str) -> str:
    """Text wrapped to the width of the page."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
