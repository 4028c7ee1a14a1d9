"""Commands about equations: derive, check."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any, Literal

import click

from pendula.app import options as opt
from pendula.errors import UsageError
from pendula.formats import endings, format_for, formats
from pendula.model.model import Model
from pendula.present.words.tables import number, table, wrapped
from pendula.words import picked

if TYPE_CHECKING:
    from pendula.analysis.court.agreement import Certificate
    from pendula.analysis.court.expressions import ExpressionCheck
    from pendula.equations.equations import Equations


@click.command("derive")
@opt.model_argument
@opt.parameter_option
@opt.formulation_option("lagrange")
@click.option("--format", "form", help=f"{', '.join(formats('Equations'))}; default: by the ending of -o, or text.")
@opt.output_option("File to write; default: print it.")
@click.option("--stages", is_flag=True, help="Derive in stages: a table of sizes and checks (text, latex or json).")
@click.option("--routh", is_flag=True, help="Eliminate cyclic coordinates, whose momenta become parameters (Routh).")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--angular-velocity",
    "axes",
    type=click.Choice(["parent", "body"]),
    help="Instead, the maps L of omega = L q' in these axes, for each spherical or free joint (text or latex).",
)
@click.option("--explain", metavar="FILE", help="Instead, write the derivation step by step (.html or .tex).")
def derive_command(
    model: str,
    settings: tuple[str, ...],
    formulation: str,
    form: str | None,
    output: str | None,
    stages: bool,
    routh: bool,
    as_json: bool,
    axes: Literal["parent", "body"] | None,
    explain: str | None,
) -> None:
    """Equations of motion of MODEL.

    With --stages: rotation matrices, inertia tensors, inertia matrix, Coriolis terms and gravity, each with its
    numbers of terms and operations before and after every simplification step, and a numerical check. With
    --explain: the derivation from the frames to the equations, written to FILE, with a comparison at every step.
    Exits with 1 if a check or a comparison fails.
    """
    if axes is not None:
        _velocity_maps(opt.read_model(model, settings), axes, form, output)
        return
    if explain is not None:
        if form or output or as_json or stages or routh:
            raise UsageError("--explain writes a separate file: leave out --format, -o, --json, --stages and --routh")
        _explain(opt.read_model(model, settings), formulation, explain)
        return
    from pendula.equations.derive import derive
    from pendula.equations.printing.formats import print_equations

    path = opt.writable(output, "-o")
    by_ending = format_for("Equations", path) if path is not None else None
    form = "json" if as_json else form or by_ending or "text"
    formats("Equations").entry(form)  # raises for an unknown format before the derivation
    if routh and (stages or formulation != "lagrange"):
        raise UsageError("--routh reduces Lagrange's equations: leave out --stages and --formulation")
    found = opt.read_model(model, settings)
    equations = _reduced(found) if routh else derive(found, formulation)
    passed = True
    if stages:
        text, passed = _stages(equations, form)
    else:
        text = print_equations(equations, form)
    opt.print_or_write(text, path, f" ({form}, by {formulation})")
    if not passed:
        sys.exit(1)


def _reduced(model: Model) -> Equations:
    """Routh's equations, at the momenta of the initial state."""
    from pendula.analysis.symmetry.routh import routh

    return routh(model).system.equations


def _stages(equations: Equations, form: str) -> tuple[str, bool]:
    """The derivation in stages in a format, and whether all checks passed."""
    from pendula.equations.stages.stages import stages

    if form not in ("text", "latex", "json"):
        raise UsageError(f'--stages can be written as text, latex or json, found "{form}"')
    found = stages(equations)
    written = {"text": lambda: str(found), "latex": found.latex, "json": lambda: json.dumps(found.as_dict(), indent=1)}
    return written[form](), found.passed


def _explain(model: Model, formulation: str, file: str) -> None:
    """Writes the story of a derivation."""
    path = opt.writable(file, "--explain", endings("Explanation"))
    from pendula.present.explain.explain import explain

    told = explain(model, path, formulation=formulation)
    click.echo(f"wrote {path}")
    click.echo(wrapped(" ".join(str(told).split())))
    if not told.passed:
        sys.exit(1)


def _velocity_maps(model: Model, axes: Literal["parent", "body"], form: str | None, output: str | None) -> None:
    """Writes the angular-velocity maps of a model."""
    from pendula.equations.orientation.velocity_maps import velocity_maps

    if form not in (None, "text", "latex"):
        raise UsageError(f'--angular-velocity writes text or latex, not "{form}"')
    path = opt.writable(output, "-o")
    found = velocity_maps(model, axes)
    if not found:
        raise UsageError(f"{model.name} has no spherical or free joint, so it has no angular-velocity map")
    is_latex = form == "latex" or (form is None and path is not None and path.suffix == ".tex")
    opt.print_or_write("\n\n".join(x.latex() if is_latex else str(x) for x in found), path)


@click.command("check")
@opt.model_argument
@opt.parameter_option
@click.option("--against", metavar="FILE", help="Your own equations (a TOML file), to compare with those of MODEL.")
@click.option(
    "--states", default=100, show_default=True, type=click.IntRange(1, 100_000), help="Number of random states."
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
    from pendula.present.words.verdicts import pair_rows
    from pendula.system.first_use import prepare_comparison

    prepare_comparison()
    certificate = check(model, states=states, seed=seed)
    if as_json:
        opt.echo_json(certificate_data(certificate))
        return certificate.passed
    *first, last = certificate.formulations
    click.echo(wrapped(f"{certificate.model}: {', '.join(first)} and {last} at {states} random states") + "\n")
    heads, rows = pair_rows(certificate)
    click.echo(table(rows, heads))
    click.echo(f"\n{'passed' if certificate.passed else 'FAILED'}: relative differences, allowed {TOLERANCE:g}")
    for pair in certificate.pairs:
        if not pair.passed:  # with the state
            click.echo(wrapped(f"{pair.a} and {pair.b} disagree most in the {pair.where}"))
    click.echo("\n".join(wrapped(line) for line in str(certificate.expressions).splitlines()))
    return certificate.passed


def certificate_data(certificate: Certificate) -> dict[str, Any]:
    """The agreement of all formulations as plain data."""
    from pendula.analysis.court.agreement import TOLERANCE

    return {
        "model": certificate.model,
        "formulations": list(certificate.formulations),
        "states": certificate.states,
        "tolerance": TOLERANCE,
        "pairs": [picked(pair, "a b max_difference where") for pair in certificate.pairs],
        "expressions": _expression_data(certificate.expressions),
        "passed": certificate.passed,
    }


def _expression_data(found: ExpressionCheck) -> dict[str, Any]:
    return {
        **picked(found, "count max_difference passed"),
        "differences": [
            {**one.place._asdict(), **picked(one, "compiled independent state size")} for one in found.differences
        ],
        "skipped": [str(place) for place in found.skipped],
    }


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
    click.echo(wrapped(found.sentence))
    if found.counterexample is not None:
        angles = {c.name for c in model.coordinates if c.kind == "angle"}
        state = [
            (n, x, f"{number(math.degrees(x))} deg" if n in angles else "") for n, x in found.counterexample.items()
        ]
        click.echo("\n" + table(state, ["counterexample", "value", ""]))
        click.echo("\n" + table([(d.what, d.ours, d.theirs) for d in found.differences], ["what", "model", "given"]))
    if found.remark:
        click.echo("\n" + wrapped(found.remark))
    verdict = "passed" if found.passed else "FAILED"
    click.echo(f"\n{verdict}: relative difference {number(found.max_difference, 3)}, allowed {TOLERANCE:g}")
    return found.passed
