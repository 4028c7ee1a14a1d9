"""Commands that describe models: list, show, new, schema."""

from __future__ import annotations

import inspect
import json
import textwrap
from typing import Any

import click

from pendula.app.options import (
    echo_json,
    json_option,
    model_argument,
    parameter_option,
    print_or_write,
    read_model,
    state_units,
    writable,
)
from pendula.model.model import Model
from pendula.present.words.tables import heading, table, wrapped
from pendula.words import counted, picked


@click.command("list")
@click.argument("name", required=False)
@json_option
def list_command(name: str | None, as_json: bool) -> None:
    """Library mechanisms, one line each; with NAME, everything about one of them."""
    from pendula.library import mechanisms
    from pendula.library.registry import MECHANISMS

    entries = mechanisms()
    chosen = list(entries.values()) if name is None else [entries[MECHANISMS.entry(name).name]]
    if as_json:
        arguments = [{k: str(v) for k, v in e.arguments.items()} for e in chosen]
        echo_json([picked(e, "name summary") | {"arguments": x} for e, x in zip(chosen, arguments, strict=True)])
    elif name is not None:
        click.echo(heading(name) + "\n")
        click.echo(_reflow(inspect.getdoc(entries[name].make) or ""))
        defaults = ", ".join(f"{k}={v}" for k, v in entries[name].arguments.items() if v is not None)
        closing = f"Defaults: {defaults}" if defaults else 'It has no arguments; "pendula show" lists its parameters.'
        click.echo("\n" + wrapped(closing))
    else:
        width = max(len(e.name) for e in chosen) + 2
        for e in chosen:
            click.echo(f"{e.name:<{width}}{textwrap.shorten(e.summary, 80 - width, placeholder=' ...')}")
        click.echo('\n"pendula list NAME" shows more, "pendula show NAME" its bodies and joints.')


def _reflow(text: str) -> str:
    """A docstring with its paragraphs and its list of arguments wrapped to the terminal."""
    pieces: list[str] = []
    for line in text.splitlines():
        before = pieces[-1] if pieces else ""
        indent, first = (len(x) - len(x.lstrip()) for x in (line, before))
        continues = indent > first if first else indent == 0 and not before.endswith("Args:")
        if line and before and continues:
            pieces[-1] = f"{before} {line.strip()}"
        else:
            pieces.append(line)
    return "\n".join(wrapped(piece, 2 * " " * (len(piece) - len(piece.lstrip()))) for piece in pieces)


@click.command("show")
@model_argument
@parameter_option
@json_option
def show_command(model: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Bodies, joints, degrees of freedom, parameters of MODEL."""
    found = read_model(model, settings)
    if as_json:
        echo_json(_summary(found))
        return
    click.echo(describe(found))


def describe(model: Model) -> str:
    """A model in tables that fit 80 columns."""
    from pendula.present.words.models import body_rows, force_rows, joint_rows

    units = model.unit_names
    text = [heading(model.name), ""]
    if model.description:
        text += [model.description, ""]
    closing = f" ({len(model.closures)} closing a loop)" if model.closures else ""
    text.append(f"{counted(len(model.bodies), 'body', 'bodies')}, {counted(len(model.joints), 'joint')}{closing}")
    text.append(freedom(model))
    text.append(
        f"units {model.units}; gravity [{', '.join(str(x) for x in model.gravity)}] {units.length}/{units.time}^2"
    )
    for heads, rows in (body_rows(model), joint_rows(model), force_rows(model)):
        text += ["", table(rows, heads)] if rows else []
    start = {n: str(v) if not hasattr(v, "sequence") else "rotation" for n, v in model.initial.items()}
    kinds = state_units(model)
    if start:
        rows = [(n, v, kinds.get(n, "")) for n, v in start.items()]
        text += ["", table(rows, ["initial", "value", "unit"])]
    if model.parameters:
        values = model.parameter_values
        rows = [(n, values[n], str(v) if isinstance(v, str) else "") for n, v in model.parameters.items()]
        text += ["", table(rows, ["parameter", "value", "from"])]
    if model.inputs:
        text += ["", table([(n, str(v)) for n, v in model.inputs.items()], ["input", "value"])]
    if kept := _kept(model):
        rows = [(x["name"], x["meaning"], x["coordinate"] or "-") for x in kept]
        text += ["", table(rows, ["kept", "meaning", "cyclic coordinate"])]
    return "\n".join(text)


def _kept(model: Model) -> list[dict[str, str]]:
    """The momenta that a mechanism keeps."""
    from pendula.analysis.symmetry.integrals import momenta

    return [picked(one, "name meaning formula unit coordinate") for one in momenta(model)]


def freedom(model: Model) -> str:
    """Degrees of freedom in words."""
    speeds, coordinates = counted(len(model.speeds), "speed"), counted(len(model.coordinates), "coordinate")
    if not model.closures:
        return f"{counted(len(model.speeds), 'degree')} of freedom ({coordinates}, {speeds})"
    from pendula.equations.derive import derive

    equations = derive(model)
    rows = equations.loop_rows + len(equations.idle_rows)
    left = len(model.speeds) - rows
    by_count = (
        f"{counted(left, 'degree')} of freedom by count ({coordinates}, {speeds}, {counted(rows, 'constraint row')})"
    )
    return wrapped(f"{by_count}; {_by_rank(model)}")


def _by_rank(model: Model) -> str:
    """Degrees of freedom with closed loops, or why they cannot be determined."""
    from pendula.errors import PendulaError
    from pendula.system.build import compile_system
    from pendula.system.loops.mobility import mobility

    try:
        found = mobility(compile_system(model, engine="symbolic"))
    except PendulaError as error:
        return f"it cannot be simulated: {error}"
    return found.text if found.redundant else f"{found.by_rank} by rank"


def _summary(model: Model) -> dict[str, Any]:
    from pendula.model.files import to_data

    return {
        "model": to_data(model),
        "coordinates": [c.name for c in model.coordinates],
        "speeds": [s.name for s in model.speeds],
        "parameter_values": model.parameter_values,
        "loops": len(model.closures),
        "integrals": _kept(model),
    }


@click.command("new")
@model_argument
@parameter_option
@click.option("-o", "--output", metavar="FILE", help="File to write; default: print it.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def new_command(model: str, settings: tuple[str, ...], output: str | None, force: bool) -> None:
    """Write a model file to start from: MODEL is usually a library mechanism."""
    from pendula.errors import UsageError
    from pendula.model.files import dumps, save

    found = read_model(model, settings)
    if output is None:
        click.echo(dumps(found), nl=False)
        return
    path = writable(output, "-o")
    assert path is not None
    if path.exists() and not force:
        raise UsageError(f'"{path}" already exists; use --force to overwrite it')
    save(found, path)
    click.echo(f"wrote {path}: {found.name}. Try: pendula show {path}")


@click.command("schema")
@click.option("-o", "--output", metavar="FILE", help="File to write; default: print it.")
def schema_command(output: str | None) -> None:
    """JSON schema of model files, for editors that complete and check them."""
    from pendula.model.files import schema

    text = json.dumps(schema(), indent=1)
    print_or_write(text, writable(output, "-o"))
