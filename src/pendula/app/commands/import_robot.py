"""The command that reads a model of another tool: import."""

from __future__ import annotations

from typing import Any

import click

from pendula.app import options as opt
from pendula.errors import NotSupported, UsageError


@click.command("import", epilog="Example: pendula import robot.urdf -o robot.toml")
@click.argument("file", metavar="FILE")
@opt.output_option("Model file to write (.toml); default: print what was read.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--floating", is_flag=True, help="URDF: let the root link move freely.")
@click.option("--without", multiple=True, metavar="KIND", help="Leave out a kind of thing: fluid, mimic, ...")
@click.option("--keyframe", metavar="NAME", help="MJCF: start from this keyframe.")
@opt.json_option
def import_command(
    file: str,
    output: str | None,
    force: bool,
    floating: bool,
    without: tuple[str, ...],
    keyframe: str | None,
    as_json: bool,
) -> None:
    """A URDF or MJCF file as a model file.

    What the model does not hold (contacts, limits, ...) is listed by name. Anything else that the motion depends on and
    a model cannot hold is an error, unless --without names it.
    """
    from pendula.exchange.robots.importing import load_robot
    from pendula.model.files import save

    path = opt.writable(output, "-o", (".toml",))
    if path is not None and path.exists() and not force:
        raise UsageError(f'"{path}" already exists; use --force to overwrite it')
    options: dict[str, Any] = {"without": without} if without else {}
    options |= {"floating": True} if floating else {}
    if keyframe is not None:
        options["keyframe"] = int(keyframe) if keyframe.isdigit() else keyframe
    try:
        found = load_robot(file, **options)
    except NotSupported as error:
        raise NotSupported(f"{error}\n  On the command line: --without KIND.") from None
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
