"""The sweep command: a study from a file, resumable, on one machine or a cluster."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pendula.app import options as opt
from pendula.app.progress import Progress, interactive
from pendula.errors import UsageError
from pendula.present.words.tables import heading
from pendula.words import counted

EXAMPLE = """\
# When does a double pendulum turn over for the first time?
#   pendula sweep {name} --dry-run              what it will cost
#   pendula sweep {name} --plot flips.png       compute and draw; if it is stopped, the same command continues

model = "chain"                  # a library mechanism, or a model file beside this one
parameters = {{ links = 2 }}
compute = "first"                # also: end, states, energies, extremes, equilibria, spectrum, verdict, ...
duration = 10
within = {{ theta1 = "180deg", theta2 = "180deg" }}      # a run ends where it leaves these bounds

[over]                           # LOW:HIGH:COUNT, a list, or a distribution such as {{ uniform = [0, 1] }}
theta1 = "-179deg:179deg:60"
theta2 = "-179deg:179deg:60"
"""
"""a study to start from"""


@click.command("sweep")
@click.argument("study", metavar="STUDY.toml")
@opt.parameter_option
@click.option("--on", help='Where: "cores" (default), "here", "dask", or a scheduler such as tcp://host:8786.')
@click.option("--workers", type=int, help="Number of processes; default: the number of cores.")
@click.option("--save", metavar="FOLDER", help="Folder of the study; default: STUDY.study, beside the file.")
@click.option("--retry", type=click.Choice(["failed"]), help="Compute failed cases again.")
@click.option("--new", "is_new", is_flag=True, help="Write an example to STUDY.toml; compute nothing.")
@click.option("--dry-run", is_flag=True, help="Estimate time, disk and memory from a few cases only.")
@click.option("--show", "only_show", is_flag=True, help="Show what is finished so far; compute nothing.")
@opt.data_option("Write all results as one table")
@opt.plot_option("Write a picture")
@click.option("--quantity", metavar="NAME", help="The result that --plot draws; default: the first.")
@opt.json_option
def sweep_command(
    study: str,
    settings: tuple[str, ...],
    on: str | None,
    workers: int | None,
    save: str | None,
    retry: str | None,
    is_new: bool,
    dry_run: bool,
    only_show: bool,
    output: str | None,
    plot_file: str | None,
    quantity: str | None,
    as_json: bool,
) -> None:
    """Compute all cases of STUDY.toml. If it is killed or interrupted, the same command continues.

    The file names a model, what varies ([over]) and what to compute. Exits with 1 if a case failed.
    """
    paths = {"-o": opt.file_of(output, "-o", "Sweep"), "--plot": opt.file_of(plot_file, "--plot", "Figure")}
    from pendula.studies.problems import Problems
    from pendula.studies.study_file import read_study_file

    if is_new:
        _write_example(study)
        return
    if not Path(study).exists():
        raise UsageError(f'there is no file "{study}".\n  Try: pendula sweep {study} --new, a study to start from.')
    problems = Problems(study)
    asked = read_study_file(study, problems)
    folder = Path(save) if save else asked.save
    if only_show:
        problems.raise_any()
        from pendula.studies.sweep import load_sweep

        found = load_sweep(folder)  # type: ignore[arg-type]
        _finish(found, paths, quantity, as_json)
        return
    from pendula.studies.sweep import prepare
    from pendula.system.build import compile_system

    with Progress(quiet=as_json, forks=True) as progress:
        given = {**{name: _text(value) for name, value in asked.parameters.items()}, **opt.pairs(settings, "-p")}
        where = _model_path(asked.model, asked.path)
        model = opt.read_model(where, tuple(f"{name}={value}" for name, value in given.items()))
        system = compile_system(model, asked.formulation, engine=asked.engine)
        if problems:  # reported together with those that only the model reveals
            with problems:
                prepare(system, asked.over, asked.compute, asked.draws, asked.options)
            problems.raise_any()
        if dry_run:
            from pendula.studies.estimate import estimate_sweep

            _show_cost(estimate_sweep(system, workers=workers, save=folder, **_plain(asked.arguments())), as_json)
            return
        from pendula.studies.sweep import sweep

        progress.say("computing")
        found = sweep(
            system, **asked.arguments(), on=on, workers=workers, save=folder, retry=retry or "",
            on_progress=progress.done, on_start=lambda text: _say(text, as_json),
        )  # fmt: skip
    _finish(found, paths, quantity, as_json)
    if not found.complete:
        click.echo(
            f"interrupted: {found.finished} of {len(found)} cases are kept in {folder}; the same command continues",
            err=True,
        )
        sys.exit(130)
    if found.failures:
        sys.exit(1)


def _write_example(study: str) -> None:
    from pendula.storage.files import write_text

    if Path(study).suffix.lower() != ".toml":
        raise UsageError(f'the name of a study must end in .toml, found "{study}"')
    if Path(study).exists():
        raise UsageError(f'"{study}" exists; give the name of a new file')
    write_text(study, EXAMPLE.format(name=study))
    click.echo(f"wrote {study}")


def _plain(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of an estimate: those that decide which cases come next do not matter to it."""
    return {name: value for name, value in arguments.items() if name not in ("refine", "until")}


def _say(text: str, quiet: bool) -> None:
    if not quiet and interactive():
        click.echo(f"computing {text}", err=True)


def _text(value: Any) -> str:
    if isinstance(value, bool | Mapping | list):
        raise UsageError(f"parameters are numbers or text, found {value!r:.60}")
    return str(value)


def _model_path(model: str, study: Path) -> str:
    """A library mechanism by its name, or a model file relative to the study."""
    from pendula.library import mechanisms

    if model in mechanisms():
        return model
    beside = study.parent / model
    return str(beside) if beside.exists() or not Path(model).exists() else model


def _show_cost(cost: Any, as_json: bool) -> None:
    if as_json:
        opt.echo_json({**{name: getattr(cost, name) for name in cost.__dataclass_fields__}, "fits": cost.fits})
    else:
        click.echo(str(cost))
    if not cost.fits:
        sys.exit(1)


def _finish(found: Any, paths: Mapping[str, Path | None], quantity: str | None, as_json: bool) -> None:
    wrote = opt.write_result(found, paths["-o"])
    wrote += opt.draw(found, paths["--plot"], **({} if quantity is None else {"quantity": quantity}))
    if as_json:
        opt.echo_json(sweep_data(found))
        return
    name = found.system.model.name if found.system is not None else "study"
    kept = [f"kept in {found.folder}"] if found.folder is not None else []
    click.echo("\n".join([heading(f"{name}: study of {counted(len(found), 'case')}"), str(found), *kept, *wrote]))


def sweep_data(found: Any) -> dict[str, Any]:
    """A study as plain data: dimensions, how many cases are finished, failures, ranges of all results."""
    import numpy as np

    ranges: dict[str, dict[str, Any]] = {}
    for name in found.names:
        values = found[name]
        if values.dtype.kind == "U":
            words, counts = np.unique(values, return_counts=True)
            ranges[name] = {str(w): int(n) for w, n in zip(words, counts, strict=True) if w}
            continue
        known = values[np.isfinite(values)]
        ranges[name] = {
            "least": float(known.min()) if known.size else None,
            "median": float(np.median(known)) if known.size else None,
            "largest": float(known.max()) if known.size else None,
            "unit": found.unit(name),
        }
    return {
        "model": found.system.model.name if found.system is not None else None,
        "dims": list(found.dims),
        "shape": list(found.shape),
        "cases": len(found),
        "finished": found.finished,
        "complete": found.complete,
        "failures": {str(case): text for case, text in list(found.failures.items())[:1000]},
        "failed": len(found.failures),
        "quantities": ranges,
        "estimates": [one.as_dict() for one in found.estimates],
        "seconds": found.seconds,
        "folder": None if found.folder is None else str(found.folder),
        "machines": [{**dict(one), "cases": n} for one, n in found.machines],
        "notes": list(found.notes),
    }
