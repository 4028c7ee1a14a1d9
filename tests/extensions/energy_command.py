"""A command from outside the package: ``pendula --extension energy_command.py energy MODEL``."""

import click

from pendula.app.options import (
    echo_json,
    json_option,
    model_argument,
    parameter_option,
    read_model,
    read_state,
    start_option,
)
from pendula.extend import register_command


@register_command
@click.command("energy")
@model_argument
@parameter_option
@start_option
@json_option
def energy_command(model: str, settings: tuple[str, ...], start: tuple[str, ...], as_json: bool) -> None:
    """Kinetic and potential energy of MODEL at its initial state."""
    import pendula

    described = read_model(model, settings)
    system = pendula.compile_system(described)
    state = pendula.assemble(system, read_state(described, start)).state
    found = system.energies(state.q, state.v, state.t)
    kinetic, potential = float(found.kinetic), float(found.potential)
    unit = described.unit_names.energy
    if as_json:
        echo_json({"model": described.name, "kinetic": kinetic, "potential": potential, "unit": unit})
    else:
        click.echo(f"{described.name}: kinetic {kinetic:.6g} {unit}, potential {potential:.6g} {unit}")
