"""The command that writes a state in other coordinates of its orientations: convert."""

from __future__ import annotations

import click

from pendula.app import options as opt
from pendula.errors import UsageError
from pendula.model.joints.orientation import Axes
from pendula.present.words.attitudes import attitude_data, coordinates_text, speeds_text
from pendula.present.words.tables import wrapped


@click.command("convert")
@opt.model_argument
@opt.parameter_option
@opt.start_option
@click.option(
    "--to",
    "charts",
    multiple=True,
    metavar="CHART",
    help='"quaternion", "zyz", "space xyz", "cardan", "rotation vector", ...; default: common ones. May be repeated.',
)
@click.option(
    "--speeds",
    type=click.Choice(["rates", "body", "parent"]),
    help="Speeds in CHART; default: rates of angles; for quaternions, the angular velocity in body axes.",
)
@opt.json_option
def convert_command(
    model: str,
    settings: tuple[str, ...],
    start: tuple[str, ...],
    charts: tuple[str, ...],
    speeds: Axes | None,
    as_json: bool,
) -> None:
    """The initial orientations of MODEL, or those that --start gives, in other coordinates.

    Exits with 1 if a chart is singular there and leaves a speed undetermined.
    """
    from pendula.simulation.charts.attitudes import COMMON, attitudes
    from pendula.system.build import compile_system

    found = opt.read_model(model, settings)
    system = compile_system(found).in_joints
    state = system.initial_state()
    if start:
        state = state.replace(opt.read_state(found, start))
    shown = attitudes(state, charts or COMMON, speeds)
    if not shown:
        raise UsageError(f"{found.name} has no spherical or free joint, so it has no orientation to convert")
    if as_json:
        opt.echo_json({"model": found.name, "orientations": attitude_data(shown)})
    else:
        click.echo(f"{found.name}: the same state in several coordinates")
        for joint in dict.fromkeys(x.joint for x in shown):
            click.echo(f'\njoint "{joint}"')
            for x in (x for x in shown if x.joint == joint):
                click.echo(f"  {x.chart}{' (of the model)' if x.own else ''}")
                for text in (coordinates_text(x), speeds_text(x)):
                    click.echo(wrapped(text, "    ", first="    "))
    if any(x.undetermined for x in shown):
        raise SystemExit(1)
