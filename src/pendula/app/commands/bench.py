"""The bench command: published benchmarks, with accuracy and time by their definitions."""

from __future__ import annotations

import json
from typing import Any

import click

from pendula.app.options import echo_json, json_option, writable
from pendula.present.words.tables import heading, table, wrapped
from pendula.storage.files import write_text


@click.group("bench")
def bench_command() -> None:
    """Accuracy and speed on published benchmarks."""


@bench_command.command("linearization")
@click.option("--executions", default=10_000, show_default=True, type=int, help="Number of executions of each case.")
@click.option(
    "--longest",
    default=30.0,
    show_default=True,
    type=float,
    metavar="SECONDS",
    help="Processor time for each case; slower ones are executed less often, and the table shows how often.",
)
@click.option("--case", "cases", multiple=True, metavar="NAME", help="Only this case. May be repeated.")
@click.option("-o", "--output", metavar="FILE", help="Write all eigenvalues, true and spurious, as JSON.")
@json_option
def linearization_command(
    executions: int, longest: float, cases: tuple[str, ...], output: str | None, as_json: bool
) -> None:
    """Linearization of a 3D pendulum (IFToMM).

    The benchmark of a simple 3D pendulum, and a harder companion. Accuracy is the 2-norm of the difference between
    exact and true eigenvalues; time is that of all executions, each of which computes the terms, the eigenvalues and a
    label for each.
    """
    path = writable(output, "-o")
    from pendula.bench.linearization import benchmark_linearization
    from pendula.bench.solution import solution_file

    def tell(name: str) -> None:
        click.echo(f"  ... {name}", err=True)

    found = benchmark_linearization(executions, longest=longest, cases=cases, progress=None if as_json else tell)
    data = solution_file(found)
    if path is not None:
        write_text(path, json.dumps(data, indent=1, allow_nan=False) + "\n")
    if as_json:
        echo_json(data)
    else:
        click.echo(_report(found, executions, output))


def _report(found: Any, executions: int, output: str | None) -> str:
    from pendula.bench.linearization import ONE_EXECUTION

    rows = [
        [
            x.case.name,
            float(f"{x.error:.2g}"),
            len(x.true),
            sum(root.multiplicity for root in x.spurious),
            x.executions,
            float(f"{x.cpu_seconds:.3g}"),
            float(f"{1e6 * x.per_execution:.3g}"),
            None if x.batch_seconds is None else float(f"{1e6 * x.batch_seconds / x.batch_executions:.3g}"),
        ]
        for x in found
    ]
    head = ["case", "error [1/s]", "true", "spurious", "runs", "CPU [s]", "one [us]", "batch [us]"]
    parts = [heading("Linearization of a simple 3D pendulum (IFToMM benchmark)"), "", table(rows, head), ""]
    names = [[x.case.name, f"{x.case.problem}: {x.case.coordinates}"] for x in found]
    parts += [table(names, ["case", "coordinates"]), "", heading("Eigenvalues", level=2), ""]
    parts += [table(_roots(found), ["case", "value [1/s]", "times", "label"]), ""]
    parts += [wrapped(text) + "\n" for text in (ONE_EXECUTION, *_remarks(found, executions))]
    if output:
        parts.append(f"wrote {output}")
    return "\n".join(parts).rstrip()


def _roots(found: Any) -> list[list[Any]]:
    rows = []
    for x in found:
        for root in x.spectrum.eigenvalues:
            rows.append([x.case.name, _value(root), root.multiplicity, root.label])
    return rows


def _value(root: Any) -> str:
    for word, text in (("infinite", "infinite"), ("undetermined", "0/0")):
        if root.label.startswith(word):
            return text
    return f"{root.value.real + 0.0:.10g} {root.value.imag:+.10g}j"


def _remarks(found: Any, executions: int) -> list[str]:
    """Remarks on how to compare the figures."""
    parts = [
        "Error: 2-norm of exact minus true eigenvalues. CPU: time of all runs as single calls, without compilation. "
        "Batch: time of one execution when all are one call of linearize_many, eigenvalues included."
    ]
    short = [x.case.name for x in found if x.executions < executions]
    if short:
        parts.append(f"Executed less often than {executions} times because of --longest: {', '.join(short)}.")
    if any(x.case.name == "angles" for x in found):
        parts.append(
            "At theta = 0 the angles are singular: the labels report it, and the eigenvalues are those of a regular "
            "chart, which every execution finds again."
        )
    if any(x.case.problem == "companion" for x in found):
        parts.append(
            "The companion has two unequal bobs and dampers, one of which couples x and y; all its eigenvalues are "
            "distinct. The exact ones were computed with 50 digits from matrices derived by hand."
        )
    return parts
