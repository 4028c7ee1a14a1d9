"""Pages of the reference, from the program itself: every public name, every command with its options."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

PAGES = Path(__file__).resolve().parents[1] / "generated"


def public_modules() -> list[str]:
    """The root of the package and its public modules."""
    import pendula

    return ["pendula", *(f"pendula.{name}" for name in pendula.NAMES["pendula"].split())]


def write_interface(folder: Path) -> None:
    """A page for each public module. A name that several modules offer is described in the first, and linked in the others."""
    described: dict[int, str] = {}
    listing = []
    for name in public_modules():
        module = importlib.import_module(name)
        text = [f"# {name}", "", f"```{{eval-rst}}\n.. automodule:: {name}\n   :no-index:\n```", ""]
        again = []
        for public in sorted(public_names(module), key=str.lower):
            found = getattr(module, public)
            if public.startswith("__") or inspect.ismodule(found):
                continue
            if id(found) in described:
                again.append(f"- {{py:obj}}`{public} <{described[id(found)]}>`")
            else:
                described[id(found)] = f"{name}.{public}"
                text += [f"```{{eval-rst}}\n{directive(f'{name}.{public}', found)}\n```", ""]
        if again:
            text += ["Also here:", "", *again, ""]
        (folder / f"{name}.md").write_text("\n".join(text), encoding="utf-8")
        listing.append(name)
    head = "# Programming interface\n\nEvery public name, by module. Names are loaded when you first use them.\n\n"
    (folder / "index.md").write_text(head + "```{toctree}\n" + "\n".join(listing) + "\n```\n", encoding="utf-8")


def public_names(module: Any) -> list[str]:
    """The names that a module offers: those of its list, else those that it defines."""
    defined = [name for name, found in vars(module).items() if getattr(found, "__module__", None) == module.__name__]
    return list(getattr(module, "__all__", [name for name in defined if not name.startswith("_")]))


def directive(name: str, found: Any) -> str:
    """The lines that describe one name."""
    if inspect.isclass(found) and issubclass(found, BaseException):
        return f".. autoexception:: {name}"
    if inspect.isclass(found):
        # A model's fields are listed with their meaning in the model reference; here its signature says enough.
        members = "" if hasattr(found, "model_fields") else "\n   :members:"
        return f".. autoclass:: {name}{members}"
    return f".. autofunction:: {name}" if callable(found) else f".. autodata:: {name}\n   :no-value:"


def write_commands(path: Path) -> None:
    """One page with all commands: what they do, how to call them, and their options."""
    import click

    from pendula.app.main import cli
    from pendula.app.registry import COMMANDS

    text = ["# Commands", "", "Every command has `--help`; those with results have `--json`.", ""]
    text += ["| command | what it does |", "|---|---|"]
    text += [f"| [`{entry.name}`](#{entry.name}) | {entry.summary} |" for entry in COMMANDS.entries()]
    for entry in COMMANDS.entries():
        command = COMMANDS[entry.name]
        context = click.Context(command, parent=click.Context(cli, info_name="pendula"), info_name=entry.name)
        help_text = inspect.cleandoc(command.help or "").replace("\b\n", "")
        text += ["", f"## {entry.name}", "", "```text", command.get_usage(context).removeprefix("Usage: "), "```", ""]
        text += [_prose(help_text), ""]
        options = [record for option in command.get_params(context) if (record := option.get_help_record(context))]
        if options:
            text += ["| option | meaning |", "|---|---|"]
            text += [f"| `{_cell(names)}` | {_plain(meaning)} |" for names, meaning in options]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def _prose(text: str) -> str:
    """The paragraphs of a help text, with what Markdown would read as markup made plain."""
    return "\n\n".join(_plain(" ".join(part.split())) for part in text.split("\n\n"))


def _plain(text: str) -> str:
    return re.sub(r"([*_<>\[\]`$|])", r"\\\1", " ".join(text.split()))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def make(app: Any) -> None:
    """Writes all pages of the reference."""
    folder = PAGES / "api"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    write_interface(folder)
    write_commands(PAGES / "commands.md")


def plain_bars(app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Absolute values such as |E| in docstrings are no substitutions of reStructuredText."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``.*?``)", line)
            lines[number] = "".join(part if k % 2 else part.replace("|", r"\|") for k, part in enumerate(parts))


def setup(app: Any) -> dict[str, Any]:
    """Runs before the list of pages is made."""
    app.connect("builder-inited", make)
    app.connect("autodoc-process-docstring", plain_bars)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
