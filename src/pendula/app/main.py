"""Entry point of the command line: ``pendula COMMAND ...``.

Exit codes: 0 success, 1 negative result of an analysis, 2 invalid input (one clear message), 3 internal error.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from pendula import __version__
from pendula.app.registry import COMMANDS
from pendula.errors import PendulaError, UsageError
from pendula.extensions import blamed, load_extension, load_installed, loaded
from pendula.interrupts import interruptible


class _OutputClosed(Exception):
    """The reader closed the output pipe (``pendula list | head -1``), which is not an error.

    Click would turn a BrokenPipeError into exit code 1, which here means a negative result of an analysis.
    """


class _Lazy(click.Group):
    """Loads the module of a command only when the command is used, so that --help is fast."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except BrokenPipeError:
            raise _OutputClosed from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _OutputClosed from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return COMMANDS[name] if name in COMMANDS else None  # noqa: SIM401  no mapping

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.summary) for entry in COMMANDS.entries()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-"):
            try:
                COMMANDS.entry(args[0])
            except UsageError as error:
                raise click.UsageError(str(error)) from None
        return super().resolve_command(ctx, args)


def _load(ctx: click.Context, option: click.Parameter, names: tuple[str, ...]) -> None:
    """Loads the extensions that ``--extension`` names."""
    ctx.meta["pendula.extensions"] = names  # see options.EXTENSION_FILES
    for name in names:
        load_extension(name)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="pendula")
@click.option(
    "--extension",
    multiple=True,
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_load,
    help="A Python file, or the name of a module, that adds commands, joints, forces, ... Place it before COMMAND.",
)
def cli() -> None:
    """Equations, motion and pictures of mechanisms.

    MODEL is a model file (such as rope.toml) or the name of a library mechanism (see "pendula list").
    """


def _run(arguments: list[str] | None) -> Any:
    load_installed()
    return cli.main(args=arguments, prog_name="pendula", standalone_mode=False)


def main(arguments: list[str] | None = None) -> None:
    """Runs a command and converts every error to one message and an exit code."""
    try:
        code = interruptible(_run, arguments)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 2
    except click.ClickException as error:
        click.echo(f"error: {_with_suggestion(error).format_message()}", err=True)
        code = 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = 130
    except PendulaError as error:
        from pendula.app.options import in_options

        click.echo(f"error: {in_options(str(error))}", err=True)
        code = 2
    except (_OutputClosed, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:  # such as a full disk
        click.echo(f"error: {error.strerror or error}{f': {error.filename}' if error.filename else ''}", err=True)
        code = 2
    except Exception as error:
        if os.environ.get("PENDULA_DEBUG"):
            raise
        code = _tell_unexpected(error)
    _note_uncached_code()
    sys.exit(code if isinstance(code, int) else 0)


def _tell_unexpected(error: Exception) -> int:
    """Prints an error that nobody foresaw: a mistake in an extension, if it came from there, or else a bug of ours."""
    cause, place = f"{type(error).__name__}: {error}", blamed(error)
    if place:
        click.echo(f"error: {place}: {cause}\n  PENDULA_DEBUG=1 shows where it happened.", err=True)
        return 2
    used = ", ".join(extension.path or extension.module for extension in loaded())
    whose = f"Pendula, or in an extension ({used})" if used else "Pendula"
    click.echo(
        f"internal error: {cause}\n  This is a bug in {whose}. PENDULA_DEBUG=1 shows where it happened.", err=True
    )
    return 3


_OTHER_NAMES = {
    "duration": "--for", "time": "--for", "until": "--for", "t-end": "--for", "initial": "--start",
    "initial-state": "--start", "state": "--start", "parameter": "--set", "parameters": "--set", "param": "--set",
    "n": "--runs", "number": "--runs", "tolerance": "--tol", "rtol": "--tol", "method": "--stepper", "out": "--output",
    "save": "--output", "animation": "--animate", "events": "--event", "dt": "--step",
}  # fmt: skip
"""options by the names that arguments have in Python or options in other programs"""


def _with_suggestion(error: click.ClickException) -> click.ClickException:
    """An unknown option with another name for a known one: suggests that instead of one that is spelt alike."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return error
    if error.option_name == "--extension":
        return click.UsageError(
            "No such option '--extension' here: it goes before the command, pendula --extension FILE ..."
        )
    meant = _OTHER_NAMES.get(error.option_name.lstrip("-"), "")
    if any(meant in parameter.opts for parameter in error.ctx.command.params):
        return click.UsageError(f"No such option '{error.option_name}'. Did you mean '{meant}'?")
    return error


def _note_uncached_code() -> None:
    """Prints a note if compiled machine code could not be cached for the next run."""
    kernels = sys.modules.get("pendula.numerics.compiled.jit")  # None: the command needed no machine code
    if kernels is not None and kernels.cache_note:
        click.echo(f"note: {kernels.cache_note}", err=True)
