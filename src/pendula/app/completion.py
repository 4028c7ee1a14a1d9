"""What the shell offers while a command is typed: mechanisms and model files, parameters, formulations."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from pendula.errors import PendulaError


def offer_models(ctx: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """Library mechanisms with their summaries, and files."""
    from pendula.library import mechanisms

    names = [] if "/" in typed or "\\" in typed else mechanisms().values()
    fitting = [CompletionItem(entry.name, help=entry.summary) for entry in names if entry.name.startswith(typed)]
    return fitting + [CompletionItem(path) for path in _model_files(typed)]


def _model_files(typed: str) -> list[str]:
    """Model files, and folders to look into, whose path begins with what was typed."""
    folder, _, beginning = typed.rpartition("/")
    lead = f"{folder}/" if folder or typed.startswith("/") else ""
    try:
        entries = sorted(Path(lead or ".").iterdir())
    except OSError:
        return []
    return [
        lead + entry.name + ("/" if entry.is_dir() else "")
        for entry in entries
        if entry.name.startswith(beginning) and (entry.suffix == ".toml" or entry.is_dir())
        if beginning or not entry.name.startswith(".")
    ]


def offer_parameters(ctx: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """Parameters of the model that was typed, and arguments of a library mechanism."""
    from pendula.app.options import read_model
    from pendula.library import mechanisms

    name = ctx.params.get("model") or next(iter(ctx.args), None)  # in args while an option lacks its value
    if not isinstance(name, str) or "=" in typed:
        return []
    known = mechanisms()
    names = list(known[name].arguments) if name in known else []
    with contextlib.suppress(PendulaError):  # a model file that is not valid yet
        names += [parameter for parameter in read_model(name, ()).parameters if parameter not in names]
    return [CompletionItem(f"{one}=") for one in names if one.startswith(typed)]


def offer_formulations(ctx: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """Registered formulations."""
    from pendula.equations.formulations.registry import FORMULATIONS

    return [CompletionItem(name) for name in FORMULATIONS if name.startswith(typed)]
