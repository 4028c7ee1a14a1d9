"""Commands about stability: of an equilibrium or a steady motion, and of a periodically driven mechanism."""

from __future__ import annotations

import sys
from typing import Any

import click

from pendula.app.commands.linear import chosen_or_exit, point_data, point_head
from pendula.app.options import draw, echo_json, file_of, json_option, plot_option, with_all
from pendula.app.point import Asked, at_option, mechanism_options, rate_option, read_asked, read_at, read_range
from pendula.app.progress import Progress
from pendula.errors import UsageError
from pendula.present.words.tables import facts_lines, heading


@click.command("stability")
@mechanism_options
@rate_option
@at_option
@click.option("--over", metavar="NAME=LOW:HIGH", help="Critical values of a parameter in a range, such as k=0:50.")
@click.option("--samples", default=200, show_default=True, type=click.IntRange(2, 100_000), help="Values for --over.")
@click.option(
    "--prove",
    type=click.FloatRange(0.0, min_open=True),
    metavar="SECONDS",
    help="With --over: longest time for a proof that no critical value lies between the samples.",
)
@json_option
def stability_command(
    at: tuple[str, ...], over: str | None, samples: int, prove: float | None, as_json: bool, **options: Any
) -> None:
    """Whether an equilibrium of MODEL is stable, by which argument, and over which range of a parameter.

    The verdict is asymptotically stable, stable, critical (it drifts along an unrestrained coordinate), unstable,
    or undecided, with a statement whether it holds for the nonlinear mechanism. Exits with 0 if it is stable or
    critical, with 1 if it is unstable or undecided, or if there is no equilibrium. --over follows the equilibrium
    from the low end of the range, to which --at refers; the exit code is then always 0.
    """
    if prove is not None and over is None:
        raise UsageError("--prove needs --over: a verdict at one point is proven without it, where that is possible")
    with Progress(quiet=as_json) as progress:
        asked = read_asked(**options, progress=progress)
        span = None if over is None else read_range(asked.model, over, "--over", "k=0:50")
        if span is not None:
            _over(_at_low_end(asked, span, progress), at, span, samples, prove, as_json, progress)
            return
        chosen = chosen_or_exit(asked, at, as_json, progress)
        from pendula.analysis.stability.verdict import stability

        found = stability(asked.system, chosen.point)
    from pendula.present.words.verdicts import stability_data, stability_text

    if as_json:
        echo_json(point_data(asked, chosen) | stability_data(found))
    else:
        click.echo("\n".join([*point_head(asked, chosen, "stability"), "", with_all(stability_text(found))]))
    if not found.is_stable:
        sys.exit(1)


def _over(
    asked: Asked,
    at: tuple[str, ...],
    span: tuple[str, float, float],
    samples: int,
    prove: float | None,
    as_json: bool,
    progress: Progress,
) -> None:
    """Prints critical values and verdicts over a range, for the equilibrium selected at its low end."""
    from pendula.analysis.stability.ranges import stability_over
    from pendula.present.words.verdicts import ranges_data, ranges_text

    name, low, high = span
    chosen = chosen_or_exit(asked, at, as_json, progress)
    progress.say(f"stability over {name}")
    found = stability_over(asked.system, name, low, high, at=chosen.point, samples=samples, prove=prove)
    if as_json:
        echo_json(point_data(asked, chosen) | ranges_data(asked.system, found))
        return
    title = point_head(asked, chosen, f"stability over {name}")
    begin = facts_lines([("followed", f"from there, {name} = {low:g}, to {name} = {high:g}")])
    click.echo("\n".join([*title, *begin, "", ranges_text(asked.system, found)]))


def _at_low_end(asked: Asked, span: tuple[str, float, float], progress: Progress) -> Asked:
    """The mechanism with the parameter at the low end of its range, where the continuation starts."""
    name, low, _ = span
    progress.say(f"compiling with {name} = {low:g}")
    return asked.with_parameters({name: low})


@click.command("floquet")
@mechanism_options
@click.option(
    "--at", "at", multiple=True, metavar="NAME=VALUE", help="The state at time 0, such as theta=180deg; others zero."
)
@click.option("--period", help="Period of the driving: a number or an expression; default: from the model.")
@click.option("--close", is_flag=True, help="Correct the state so that the motion becomes periodic.")
@click.option("--over", metavar="NAME=LOW:HIGH", help="Stability boundaries of a parameter, such as omega=20:1000.")
@click.option("--samples", default=50, show_default=True, type=click.IntRange(2, 100_000), help="Values for --over.")
@click.option("--tol", default=1e-13, show_default=True, type=float, help="Tolerance of the integration.")
@plot_option("Write the multipliers; with --over, the largest one")
@json_option
def floquet_command(
    at: tuple[str, ...],
    period: str | None,
    close: bool,
    over: str | None,
    samples: int,
    tol: float,
    plot_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Stability of a periodically driven MODEL: its Floquet multipliers.

    They measure the growth, over one period, of small deviations from a periodic motion (or from an equilibrium that
    holds at all times). Exits with 0 if none is outside the unit circle and deviations stay bounded, otherwise with
    1; with --over always with 0.
    """
    path = file_of(plot_file, "--plot", "Figure")
    if any("=" not in text for text in at):
        raise UsageError(f'--at expects values such as theta=180deg here, found "{at[0]}"')
    with Progress(quiet=as_json) as progress:
        asked = read_asked(**options, rates=(), progress=progress)
        where = read_at(asked, at)
        settings: dict[str, Any] = {"period": period, "at": where, "close": close, "tol": tol}
        progress.say("integrating deviations over a period")
        if over is not None:
            _floquet_over(asked, over, samples, settings, path, as_json)
            return
        from pendula.analysis.driven.floquet import floquet

        found = floquet(asked.system, **settings)
    from pendula.present.words.equilibria import state_words
    from pendula.present.words.verdicts import floquet_text

    wrote = draw(found, path)
    if as_json:
        echo_json({"model": asked.model.name} | found.as_dict())
    else:
        lines = [*_floquet_head(asked, state_words(found.state.layout, found.state.as_dict())), "", floquet_text(found)]
        click.echo("\n".join([*lines, *wrote]))
    if not found.stable:
        sys.exit(1)


def _floquet_head(asked: Asked, start: str) -> list[str]:

    return [heading(f"{asked.model.name}: Floquet multipliers"), "", *facts_lines([("at time 0", start)])]


def _given_words(asked: Asked, where: dict[str, float], close: bool) -> str:
    """The state that was given for all values of a parameter, and whether it is corrected at each of them."""
    from pendula.present.words.equilibria import named_values

    layout = asked.system.in_joints.layout
    given = named_values(where, layout.units) or "all coordinates and speeds zero"
    others = ", others zero" if where and len(where) < len(layout.coordinates) else ""
    return f"near {given}{others}, corrected so that the motion is periodic" if close else given + others


def _floquet_over(asked: Asked, over: str, samples: int, settings: dict[str, Any], path: Any, as_json: bool) -> None:
    """Prints verdicts over a range of a parameter, and the boundaries between them."""
    from pendula.analysis.driven.study import floquet_over
    from pendula.present.words.verdicts import floquet_over_data, floquet_over_text

    name, low, high = read_range(asked.model, over, "--over", "omega=20:1000")
    found = floquet_over(asked.system, name, low, high, samples=samples, **settings)
    wrote = draw(found, path)
    if as_json:
        echo_json({"model": asked.model.name, "at": settings["at"]} | floquet_over_data(found))
    else:
        given = _given_words(asked, settings["at"], settings["close"])
        lines = [*_floquet_head(asked, given), "", floquet_over_text(found)]
        click.echo("\n".join([*lines, *wrote]))
