"""Commands that exchange models with other tools: export, import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pendula.app import options as opt
from pendula.errors import NotSupported, UsageError


@click.command("export", epilog="Example: pendula export double-pendulum -o double.c")
@click.argument("model", metavar="MODEL", required=False)
@opt.parameter_option
@opt.output_option("File to write; its ending selects the format.")
@click.option("--format", "form", metavar="NAME", help="The format, if the ending of FILE does not determine it.")
@opt.formulation_option(None, "for formats that hold equations; default: kane, or newton-euler for an FMU")
@click.option("--fmi", type=click.Choice(["2", "3"]), help="For an FMU: version of FMI; default: 2.")
@click.option(
    "--kind",
    type=click.Choice(["cs", "me", "both"]),
    help="For an FMU: co-simulation, model exchange or both (the default).",
)
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
    fmi: str | None,
    kind: str | None,
    more: tuple[str, ...],
    listing: bool,
    as_json: bool,
) -> None:
    """MODEL as a file for another tool.

    The ending of FILE selects the format; --list shows all of them. Lists by name what the file cannot hold.
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
    options |= {name: value for name, value in (("fmi", fmi), ("kind", kind)) if value is not None}
    written = export(opt.read_model(model, settings), path or output, format=form, formulation=formulation, **options)
    if as_json:
        data = {"path": str(written.path), "format": written.format, "formulation": written.formulation}
        opt.echo_json({**data, "notes": list(written.notes)})
    else:
        click.echo(str(written))


@click.command("import", epilog="Example: pendula import robot.urdf -o robot.toml")
@click.argument("file", metavar="FILE")
@opt.output_option("Model file to write (.toml); default: print what was read.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--floating", is_flag=True, help="URDF: let the root link move freely.")
@click.option("--without", multiple=True, metavar="KIND", help="Leave out elements of this kind: fluid, mimic, ...")
@click.option("--keyframe", metavar="NAME", help="MJCF: start from this keyframe.")
@click.option("--limits", type=float, metavar="STIFFNESS", help="Keep joint limits, as stops of this stiffness.")
@click.option("--dissipation", type=float, metavar="D", help="Dissipation of these stops, per unit of speed.")
@opt.json_option
def import_command(
    file: str,
    output: str | None,
    force: bool,
    floating: bool,
    without: tuple[str, ...],
    keyframe: str | None,
    limits: float | None,
    dissipation: float | None,
    as_json: bool,
) -> None:
    """A URDF or MJCF file as a model file.

    Lists by name what the model leaves out (contacts, limits, ...). Anything else that the motion depends on and a
    model cannot hold is an error, unless --without names it.
    """
    from pendula.exchange.robots.importing import load_robot
    from pendula.model.files import save

    path = opt.writable(output, "-o", (".toml",))
    if path is not None and path.exists() and not force:
        raise UsageError(f'"{path}" already exists; use --force to overwrite it')
    options: dict[str, Any] = {"without": without} if without else {}
    options |= {"floating": True} if floating else {}
    if dissipation is not None and limits is None:
        raise UsageError("--dissipation is that of the stops at limits; give --limits STIFFNESS too")
    options |= {name: x for name, x in (("limits", limits), ("dissipation", dissipation)) if x is not None}
    if keyframe is not None:
        options["keyframe"] = int(keyframe) if keyframe.isdigit() else keyframe
    try:
        found = load_robot(file, **options)
    except NotSupported as error:
        raise error.with_advice("On the command line: --without KIND.") from None
    if path is not None:
        save(found.model, path)
    if as_json:
        model = found.model
        opt.echo_json(
            {
                "source": found.source,
                "path": None if path is None else str(path),
                "name": model.name,
                "bodies": [b.name for b in model.bodies],
                "joints": [j.name for j in model.joints],
                "coordinates": list(found.coordinates),
                "speeds": list(found.speeds),
                "inputs": list(model.inputs),
                "notes": list(found.notes),
                "renamed": dict(found.renamed),
            }
        )
        return
    click.echo(str(found))
    if path is not None:
        click.echo(f"wrote {path}. Try: pendula show {path}")
