"""The command that writes a model for another tool: export."""

from __future__ import annotations

from pathlib import Path

import click

from pendula.app import options as opt
from pendula.errors import UsageError


@click.command("export", epilog="Example: pendula export double-pendulum -o double.c")
@click.argument("model", metavar="MODEL", required=False)
@opt.parameter_option
@opt.output_option("File to write; its ending selects the format.")
@click.option("--format", "form", metavar="NAME", help="The format, if the ending of FILE does not say it.")
@opt.formulation_option(None, "for formats that hold equations; default: kane")
@click.option(
    "--option", "more", multiple=True, metavar="NAME=VALUE", help="Another option of the format. May be repeated."
)
@click.option("--list", "listing", is_flag=True, help="List the formats with their endings.")
@opt.json_option
def export_command(
    model: str | None,
    settings: tuple[str, ...],
    output: str | None,
    form: str | None,
    formulation: str | None,
    more: tuple[str, ...],
    listing: bool,
    as_json: bool,
) -> None:
    """MODEL as a file for another tool.

    The ending of FILE selects the format; --list shows all of them. What the file cannot hold is listed by name.
    """
    from pendula.exchange.exporting import export, export_endings, exporter_for, exporters

    if listing:
        rows = {name: ending for ending, name in export_endings().items()}
        if as_json:
            opt.echo_json([{"format": n, "ending": rows.get(n, ""), "summary": s} for n, s in exporters().items()])
        else:
            for name, summary in exporters().items():
                click.echo(f"{name:<11} {rows.get(name, ''):<6} {summary}")
        return
    if model is None:
        raise UsageError("MODEL is missing: give a model file or the name of a library mechanism")
    if output is None:
        raise UsageError("-o FILE is missing: its ending selects the format (see --list)")
    exporter_for(Path(output), form)  # raises for an unknown format before anything is computed
    path = opt.writable(output, "-o")
    options = opt.pairs(more, "--option")
    written = export(opt.read_model(model, settings), path or output, format=form, formulation=formulation, **options)
    if as_json:
        data = {"path": str(written.path), "format": written.format, "formulation": written.formulation}
        opt.echo_json({**data, "notes": list(written.notes)})
    else:
        click.echo(str(written))
