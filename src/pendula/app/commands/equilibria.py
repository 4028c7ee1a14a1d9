"""The equilibria command: all equilibria found, each with its verdict, and whether there may be others."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pendula.app.options import (
    data_option,
    draw,
    echo_json,
    file_of,
    json_option,
    pairs,
    plot_option,
    read_numbers,
    with_all,
    write_result,
)
from pendula.app.point import Asked, mechanism_options, rate_option, read_asked
from pendula.app.progress import Progress
from pendula.present.words.tables import heading
from pendula.words import picked

if TYPE_CHECKING:
    from pendula.analysis.equilibria.find import Equilibria


@click.command("equilibria")
@mechanism_options
@rate_option
@click.option(
    "--box",
    multiple=True,
    metavar="NAME=VALUE",
    help="Search domain: theta=720deg (either way) or theta=0:90deg. Default: angles with torsion springs up to a full "
    "turn either way, lengths up to ten typical ones.",
)
@click.option("--starts", type=int, help="Number of random starts of the search.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**31), help="Seed of the random starts.")
@click.option(
    "--prove",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Longest time for a proof, by interval arithmetic, that the box holds no others.",
)
@data_option("Write all equilibria with their verdicts")
@plot_option("Write the (effective) potential over one or two coordinates with the equilibria, or else their poses")
@json_option
def equilibria_command(
    box: tuple[str, ...],
    starts: int | None,
    seed: int,
    prove: float | None,
    output: str | None,
    plot_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """All equilibria of MODEL that can be found, and whether it is proven that there are no others.

    Each has its verdict: asymptotically stable, stable, critical, unstable or undecided ("pendula stability MODEL --at
    NUMBER" gives the reason). With --rate, steady motions. Exits with 1 if there is none, and names the force that
    remains unbalanced.
    """
    path, data_file = file_of(plot_file, "--plot", "Figure"), file_of(output, "-o", "Equilibria")
    with Progress(quiet=as_json) as progress:
        asked = read_asked(**options, progress=progress)
        from pendula.analysis.equilibria.find import find_equilibria

        progress.say("searching for equilibria")
        found = find_equilibria(
            asked.system,
            box=_read_box(asked, box),
            starts=starts,
            seed=seed,
            rates=asked.rates,
            prove=prove,
            on_progress=progress.done,
        )
        verdicts = verdicts_of(asked, found, progress)
        judged = [v["verdict"] for v in verdicts]
        wrote = write_result(found, data_file, verdicts=judged)
    if as_json:
        echo_json(equilibria_data(asked, found, verdicts))
    else:
        click.echo(_report(asked, found, verdicts, wrote))
    drawn = draw(found, path, verdicts=judged) if len(found) else []  # after the table, so that no picture costs it
    if drawn and not as_json:
        click.echo("\n".join(drawn))
    if not len(found):
        sys.exit(1)


def _read_box(asked: Asked, box: tuple[str, ...]) -> dict[str, Any] | None:
    """Bounds by coordinate: one number for both sides, or LOW:HIGH."""
    found: dict[str, Any] = {}
    for name, text in pairs(box, "--box").items():
        low, colon, high = text.partition(":")
        given = {"low": low, "high": high} if colon else {"both": text}
        numbers = read_numbers(asked.values, given, f"--box {name}")
        found[name] = (numbers["low"], numbers["high"]) if colon else numbers["both"]
    return found or None


def verdicts_of(asked: Asked, found: Equilibria, progress: Progress) -> list[dict[str, str]]:
    """Verdict, certainty and proof of each; if the linear model fails, undecided with the reason."""
    from pendula.analysis.stability.verdict import judged

    progress.say("stability of each")
    return judged(asked.system, found, progress.done)


def _report(asked: Asked, found: Equilibria, verdicts: list[dict[str, str]], wrote: list[str]) -> str:
    from pendula.present.words.equilibria import equilibria_text

    text = equilibria_text(asked.system, found, [v["verdict"] for v in verdicts], [v["certainty"] for v in verdicts])
    lines = [heading(f"{asked.model.name}: equilibria"), "", with_all(text)]
    return "\n".join([*lines, *wrote])


def equilibria_data(asked: Asked, found: Equilibria, verdicts: list[dict[str, str]]) -> dict[str, Any]:
    """Equilibria with their verdicts as plain data."""
    from pendula.present.words.equilibria import equilibrium_data

    entries = [
        equilibrium_data(asked.system, one) | judged | {"found": times}
        for one, judged, times in zip(found, verdicts, found.found, strict=True)
    ]
    return {
        "model": asked.model.name,
        "equilibria": entries,
        **picked(found, "complete reason starts outside"),
        "box": {name: list(ends) for name, ends in found.box.items()},
        "circles": list(found.circles),
        "undecided": [{name: list(ends) for name, ends in box.items()} for box in found.undecided],
        "unbalanced": dict(found.unbalanced),
        "units": dict(found.units) | {"potential": asked.model.unit_names.energy},
        **picked(asked.system, "formulation engine"),
    }
