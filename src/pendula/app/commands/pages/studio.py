"""The studio command: build and study mechanisms in the browser."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pendula.errors import UsageError

if TYPE_CHECKING:
    from pendula.app.studio.folder import Folder

NEEDED = ("starlette", "uvicorn", "websockets")


@click.command("studio")
@click.argument("model", metavar="[MODEL]", required=False)
@click.option("--folder", default=".", metavar="DIR", help="Where models, runs and results are kept. Default: here.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port to listen on. Default: any that is free.")
@click.option("--no-open", is_flag=True, help="Print the address only, and open no browser.")
@click.option(
    "--time-limit",
    default=900.0,
    show_default=True,
    type=click.FloatRange(1.0, 1e6),
    metavar="SECONDS",
    help="Longest time of one job.",
)
@click.option(
    "--memory-limit",
    type=click.IntRange(500, 10**6),
    metavar="MB",
    help="Most memory of one job. Default: a quarter of that of this machine, up to 3000.",
)
def studio_command(
    model: str | None, folder: str, port: int, no_open: bool, time_limit: float, memory_limit: int | None
) -> None:
    """Build and study mechanisms in the browser, starting with MODEL if it is given.

    Serves a page on this machine alone, at an address with a secret token, until Ctrl-C. Models, runs and results are
    files in the folder. MODEL is a model file in that folder, or a library mechanism, which is copied there.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f'the studio needs {", ".join(missing)}, the extra "studio" of the package: pip install "pendula[studio]"'
        )
    home = Path(folder)
    if not home.is_dir():
        raise UsageError(f'--folder: there is no folder "{folder}"')
    from pendula.app.studio.folder import Folder
    from pendula.app.studio.limits import Limits
    from pendula.app.studio.server import serve

    place = Folder(home)
    place.prepare()
    first = _first_model(place, model) if model is not None else ""
    memory = {} if memory_limit is None else {"memory": memory_limit * 10**6}
    limits = Limits(seconds=time_limit, **memory)

    def tell(address: str) -> None:
        click.echo(f"The studio is at {address}")
        click.echo(f"It works in {place.path} and ends with Ctrl-C.")

    serve(place.path, port=port, model=first, limits=limits, tell=tell, open_page=not no_open)
    click.echo("The studio has ended.")


def _first_model(place: Folder, model: str) -> str:
    """The name of a model file in the folder: the given one, or the copy of a library mechanism."""
    from pendula.app.options import read_model
    from pendula.app.studio.folder import MODEL, checked_name, plain_name
    from pendula.app.studio.guard import Refused
    from pendula.library import mechanisms
    from pendula.model.files import dumps

    try:
        if model in mechanisms():
            name = plain_name(model) + MODEL
            if not (place.path / name).exists():
                place.write_model(name, dumps(read_model(model)))
            return name
        path = Path(model)
        if path.resolve().parent != place.path:
            raise UsageError(f'"{model}" is not in the folder of the studio, {place.path}; choose that with --folder')
        name = checked_name(path.name, (MODEL,))
        place.read_model(name)
        return name
    except Refused as error:
        raise UsageError(f'"{model}": {error.reason}') from None
