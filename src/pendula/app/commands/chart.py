"""The chart command: stability over two parameters."""

from __future__ import annotations

from typing import Any

import click

from pendula.app import options as opt
from pendula.app.commands.linear import chosen_or_exit, point_data, point_head
from pendula.app.point import Asked, at_option, mechanism_options, rate_option, read_asked, read_at, read_range
from pendula.app.progress import Progress
from pendula.errors import UsageError
from pendula.present.words.tables import heading


@click.command("chart")
@mechanism_options
@rate_option
@at_option
@click.option("--x", "across", required=True, metavar="NAME=LOW:HIGH", help="The parameter on the x axis.")
@click.option("--y", "upward", required=True, metavar="NAME=LOW:HIGH", help="The parameter on the y axis.")
@click.option("--samples", default=40, show_default=True, type=click.IntRange(2, 2000), help="Grid lines on each axis.")
@click.option("--period", help="Period of the driving: a number or an expression; default: from the model.")
@click.option("--close", is_flag=True, help="Correct the state so that a driven motion becomes periodic.")
@opt.plot_option("Write the chart")
@opt.json_option
def chart_command(
    at: tuple[str, ...],
    across: str,
    upward: str,
    samples: int,
    period: str | None,
    close: bool,
    plot_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Stability of MODEL over two parameters, with refined borders.

    If MODEL depends on time (as in an Ince-Strutt chart of amplitude against frequency), Floquet multipliers decide
    for the state that --at gives at time 0. Otherwise eigenvalues decide: --at selects an equilibrium at the low ends
    of both ranges, which is followed from there.
    """
    path = opt.file_of(plot_file, "--plot", "Figure")
    with Progress(quiet=as_json) as progress:
        asked = read_asked(**options, progress=progress)
        x, y = (read_range(asked.model, text, option, "k=0:50") for text, option in ((across, "--x"), (upward, "--y")))
        if _driven_in_time(asked):
            settings = {"period": period, "close": close}
            head, data, found = _driven(asked, at, x, y, samples, settings, progress.done)
        else:
            if period is not None or close:
                raise UsageError("--period and --close are for models that depend on time; this one does not")
            head, data, found = _at_rest(asked, at, x, y, samples, as_json, progress)
    wrote = opt.draw(found, path)
    if as_json:
        opt.echo_json(data | found.as_dict())
    else:
        click.echo("\n".join([*head, "", str(found), *wrote]))


def _driven_in_time(asked: Asked) -> bool:
    """Whether forces on the mechanism at rest in some pose depend on time (a constant rotation alone does not)."""
    import numpy as np

    from pendula.analysis.equilibria.balance import Balance

    joints = asked.system.in_joints.system
    q = joints.initial_state().q
    return Balance.of(joints, None, None).depends_on_time(q + np.random.default_rng(0).uniform(0.1, 0.4, size=q.size))


def _driven(
    asked: Asked, at: tuple[str, ...], x: Any, y: Any, samples: int, settings: dict[str, Any], done: Any
) -> tuple[list[str], dict[str, Any], Any]:
    from pendula.analysis.charts.driven import floquet_chart

    if any("=" not in text for text in at):
        raise UsageError(f'--at expects values such as theta=180deg for a driven model, found "{at[0]}"')
    where = read_at(asked, at)
    found = floquet_chart(asked.system, x, y, at=where, samples=samples, on_progress=done, **settings)
    return [heading(f"{asked.model.name}: chart of multipliers")], {"model": asked.model.name, "at": where}, found


def _at_rest(
    asked: Asked, at: tuple[str, ...], x: Any, y: Any, samples: int, as_json: bool, progress: Progress
) -> tuple[list[str], dict[str, Any], Any]:
    from pendula.analysis.charts.at_rest import stability_chart

    low = asked.with_parameters({x[0]: x[1], y[0]: y[1]})
    chosen = chosen_or_exit(low, at, as_json, progress)
    found = stability_chart(low.system, x, y, at=chosen.point, samples=samples, on_progress=progress.done)
    return point_head(low, chosen, "chart of stability"), point_data(low, chosen), found
