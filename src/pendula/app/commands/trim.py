"""The trim command: inputs, torques or rates that hold a pose or a steady motion."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pendula.app.options import echo_json, in_options, json_option
from pendula.app.point import Asked, mechanism_options, read_asked, read_at
from pendula.app.progress import Progress
from pendula.errors import NoConvergence, UsageError
from pendula.present.words.tables import facts_lines, heading, number

if TYPE_CHECKING:
    from pendula.analysis.equilibria.trim import Trim


@click.command("trim")
@mechanism_options
@click.option(
    "--hold",
    multiple=True,
    metavar="NAME=VALUE",
    help="Held values: coordinates, such as theta=30deg, and constant rates of cyclic ones, such as phi_dot=3. "
    "The others are solved for.",
)
@click.option(
    "--solve",
    "wanted",
    multiple=True,
    required=True,
    metavar="NAME",
    help="What to solve for (may be repeated): an input; a coordinate, for a motor along it; a rate, such as phi_dot.",
)
@json_option
def trim_command(hold: tuple[str, ...], wanted: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """The inputs, motor torques or rates that hold a pose or a steady motion of MODEL.

    Exits with 1 if there is no solution, and names the unbalanced force.
    """
    from pendula.analysis.equilibria.trim import trim

    with Progress(quiet=as_json) as progress:
        asked = read_asked(**options, rates=(), progress=progress)
        held = read_at(asked, hold, "--hold")
        progress.say("solving for trim")
        try:
            found = trim(asked.system, held, wanted)
        except NoConvergence as error:
            _fail(asked, in_options(str(error)), as_json)
        except UsageError as error:
            raise UsageError(in_options(str(error))) from None
    if as_json:
        echo_json(_data(asked, found))
    else:
        click.echo(_report(asked, found))


def _fail(asked: Asked, reason: str, as_json: bool) -> None:
    """Reports that there is no solution and exits with 1."""
    if as_json:
        echo_json({"model": asked.model.name, "values": None, "reason": reason.splitlines()[0]})
    else:
        click.echo(reason)
    sys.exit(1)


def _report(asked: Asked, found: Trim) -> str:
    from pendula.present.words.equilibria import named_values

    layout = found.state.layout
    state = found.state.as_dict()
    facts = [("held", named_values({n: x for n, x in state.items() if x or n in layout.coordinates}, layout.units))]
    facts += [(_kind(asked, name), _value(found, name)) for name in found.values]
    facts += [("also", f"{n} = {number(x)} {found.units[n]}") for n, x in found.also.items()]
    others = {n: x for n, x in found.inputs.items() if n not in found.values}
    if others:
        facts.append(("other inputs", ", ".join(f"{n} = {number(x)}" for n, x in others.items())))
    facts.append(("residual", f"{number(found.residual, 2)} of a typical force"))
    return "\n".join([heading(f"{asked.model.name}: trim"), "", *facts_lines(facts)])


def _kind(asked: Asked, name: str) -> str:
    """The kind of adjustment that a name refers to."""
    layout = asked.system.in_joints.layout
    if name in layout.inputs:
        return "input"
    if name in [d.name for d in asked.system.drives]:
        return "drive"
    return "rate" if name in layout.speeds else "motor"


def _value(found: Trim, name: str) -> str:
    return f"{name} = {number(found[name])} {found.units.get(name, '')}".rstrip()


def _data(asked: Asked, found: Trim) -> dict[str, Any]:
    return {
        "model": asked.model.name,
        "values": dict(found.values),
        "kinds": {name: _kind(asked, name) for name in found.values},
        "units": dict(found.units),
        "state": found.state.as_dict(),
        "inputs": dict(found.inputs),
        "also": dict(found.also),
        "residual": found.residual,
    }
