"""Commands about the installation itself: doctor, completion."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from pendula.app.doctor.installation import Installation, OptionalPart, examine
from pendula.app.doctor.self_test import CHECKS, Check, self_test
from pendula.app.options import echo_json, json_option
from pendula.app.progress import Progress
from pendula.present.words.tables import heading, table
from pendula.words import counted, fitted


@click.command("doctor")
@click.option("--no-test", is_flag=True, help="Only look at versions, cache and optional parts.")
@json_option
def doctor_command(no_test: bool, as_json: bool) -> None:
    """Versions, cache, optional parts, and a quick self-test with figures.

    Send its output along when you report a problem. Exits with 1 if a check fails.
    """
    found = examine()
    if not as_json:
        click.echo(installation_text(found))
    checks = [] if no_test else _checks(as_json)
    passed = not found.missing and all(check.passed for check in checks)
    if as_json:
        echo_json(_data(found, checks) | {"passed": passed})
    else:
        click.echo("\n" + _verdict(found, checks, no_test))
    if not passed:
        raise SystemExit(1)


def _checks(quiet: bool) -> list[Check]:
    """Does the self-test and prints each check as it ends."""
    if not quiet:
        click.echo("\n" + heading("Self-test"))
    done: list[Check] = []
    with Progress(quiet) as progress:
        progress.say(CHECKS[0][0])
        for check in self_test():
            done.append(check)
            if not quiet:
                click.echo(check_text(check))
            progress.say(CHECKS[min(len(done), len(CHECKS) - 1)][0])
            progress.done(len(done), len(CHECKS))
    return done


def check_text(check: Check) -> str:
    """A check in two lines: what it compared, then its figures."""
    word = "ok     " if check.passed else "FAILED "
    if check.problem:
        return f"{word}{check.name}\n" + fitted(f"       {check.problem}")
    figures = f"difference {check.difference:.1e}, limit {check.limit:.0e}, {check.seconds:.2f} s"
    return f"{word}{check.name}\n       {figures}"


def installation_text(found: Installation) -> str:
    """The installation in lines and tables that fit 80 columns."""
    cache = found.cache
    kept = cache.problem or f"{counted(cache.kernels, 'file')}, {cache.megabytes:.1f} MB"
    lines = [
        heading(f"Pendula {found.version}"),
        f"in         {found.place}",
        f"Python     {found.python}",
        f"system     {found.system}",
        f"processor  {found.processor}, {counted(found.cores, 'core')}",
        f"cache      {cache.folder}",
        f"           {kept}",
        "",
        table([(name, version or "missing") for name, version in found.packages.items()], ["package", "version"]),
        "",
        table([(part.extra, _state(part), part.purpose) for part in found.optional], ["extra", "here", "adds"]),
    ]
    return "\n".join(lines)


def _state(part: OptionalPart) -> str:
    return "yes" if part.installed else "no" if len(part.missing) == len(part.packages) else "in part"


def _verdict(found: Installation, checks: list[Check], no_test: bool) -> str:
    lines = []
    if absent := [part.extra for part in found.optional if not part.installed]:
        lines.append(f"Optional parts that are not installed: {', '.join(absent)}")
        lines.append(f'Install one or several with: pip install "pendula[{",".join(absent[:2])}]"')
    if found.missing:
        lines.append(f"Missing: {', '.join(found.missing)}. Try: pip install --force-reinstall pendula")
    failed = [check.name for check in checks if not check.passed]
    if failed:
        lines.append(f"{len(failed)} of {counted(len(checks), 'check')} failed: {'; '.join(failed)}.")
        lines.append("Please report this with the whole output above.")
    elif not no_test:
        lines.append(f"All {len(checks)} checks passed.")
    return fitted("\n".join(lines))


def _data(found: Installation, checks: list[Check]) -> dict[str, Any]:
    optional = [asdict(part) | {"installed": part.installed} for part in found.optional]
    return asdict(found) | {"optional": optional, "checks": [asdict(c) | {"passed": c.passed} for c in checks]}


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """A script that completes commands, options and mechanisms in SHELL.

    \b
    pendula completion bash >> ~/.bashrc
    pendula completion zsh >> ~/.zshrc
    pendula completion fish > ~/.config/fish/completions/pendula.fish
    """
    from click.shell_completion import get_completion_class

    from pendula.app.main import cli

    kind = get_completion_class(shell)
    assert kind is not None  # click knows these three
    click.echo(kind(cli, {}, "pendula", "_PENDULA_COMPLETE").source())
