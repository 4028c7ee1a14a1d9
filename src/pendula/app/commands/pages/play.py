"""The play command: a live page."""

from __future__ import annotations

import click

from pendula.app.options import json_option, model_argument, parameter_option, read_model, start_option, writable


@click.command("play")
@model_argument
@parameter_option
@start_option
@click.option(
    "--event",
    "events",
    multiple=True,
    metavar="EXPR",
    help='Event to mark, such as "theta1 = 0 rising"; "stop: theta1 >= 90deg" stops the motion.',
)
@click.option("-o", "--output", metavar="FILE", help="Page to write; default: MECHANISM.html.")
@json_option
def play_command(
    model: str,
    settings: tuple[str, ...],
    start: tuple[str, ...],
    events: tuple[str, ...],
    output: str | None,
    as_json: bool,
) -> None:
    """A page in which MODEL moves under your hand: drag it, throw it, change its parameters.

    The page simulates the mechanism in the browser, without network and without a server. Open it in any browser,
    also on a phone. docs/play.md describes what it can do.
    """
    from pendula.app.options import echo_json, page_name, read_state
    from pendula.present.live.page import play

    made = read_model(model, settings)
    path = writable(output or page_name(made.name), "-o", (".html", ".htm"))
    assert path is not None
    play(made, path, initial_state=read_state(made, start) or None, events=events)
    size = path.stat().st_size
    if as_json:
        echo_json({"file": str(path), "bytes": size})
    else:
        click.echo(f"wrote {path}: {made.name}, {size / 1e3:.0f} kB; open it in a browser")
