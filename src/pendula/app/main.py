"""Entry point of the command line: ``pendula COMMAND ...``.

Exit codes: 0 all is well, 1 the analysis says no, 2 the input is bad (one clear message), 3 an internal error.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from pendula import __version__

_COMMANDS = {
    "list": "pendula.app.commands.describe",
    "show": "pendula.app.commands.describe",
    "new": "pendula.app.commands.describe",
    "schema": "pendula.app.commands.describe",
    "derive": "pendula.app.commands.derive",
    "check": "pendula.app.commands.derive",
    "simulate": "pendula.app.commands.simulate",
    "ensemble": "pendula.app.commands.ensemble",
    "reactions": "pendula.app.commands.reactions",
    "equilibria": "pendula.app.commands.equilibria",
    "trim": "pendula.app.commands.trim",
    "linearize": "pendula.app.commands.linear",
    "modes": "pendula.app.commands.linear",
    "stability": "pendula.app.commands.stability",
    "floquet": "pendula.app.commands.stability",
    "bench": "pendula.app.commands.bench",
    "report": "pendula.app.commands.report",
}
_SUMMARIES = {
    "list": "Library mechanisms, one line each.",
    "show": "Bodies, joints, degrees of freedom, parameters of a model.",
    "new": "Write a model file to start from.",
    "schema": "JSON schema of model files, for editors.",
    "derive": "Equations of motion: text, LaTeX, Python, C or JSON.",
    "check": "All formulations against each other, or your equations.",
    "simulate": "Motion from the initial state, with plot and animation.",
    "ensemble": "Many runs with random initial states or parameters.",
    "reactions": "Forces and torques at every joint along the motion.",
    "equilibria": "All equilibria, their stability, and whether any is missing.",
    "trim": "Inputs, motor torques or rates that hold a pose.",
    "linearize": "Small motion: M C K, A B, eigenvalues with labels.",
    "modes": "Frequencies, damping and shapes of small motion, in words.",
    "stability": "The verdict and its reason; ranges over a parameter.",
    "floquet": "Stability of a periodically driven mechanism.",
    "bench": "Accuracy and speed on published benchmarks.",
    "report": "Everything about a model in one page that opens anywhere.",
}


class _NobodyReads(Exception):
    """The reader of the output is gone (``pendula list | head -1``): it has what it wanted, so all is well.

    A broken pipe itself would become exit code 1 inside click, which here means that the analysis says no.
    """


class _Lazy(click.Group):
    """Loads a command's module only when the command is used, so that --help stays quick."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except BrokenPipeError:
            raise _NobodyReads from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _NobodyReads from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        import importlib

        module = importlib.import_module(_COMMANDS[name])
        command: click.Command = getattr(module, f"{name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_SUMMARIES.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            import difflib

            near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"known are: {', '.join(_COMMANDS)}"
            raise click.UsageError(f'there is no command "{args[0]}"; {hint}')
        return super().resolve_command(ctx, args)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="pendula")
def cli() -> None:
    """Equations, motion and pictures of mechanisms.

    MODEL is a model file (such as rope.toml) or the name of a library mechanism (see "pendula list").
    """


def main(arguments: list[str] | None = None) -> None:
    """Runs a command and turns every error into one message and an exit code."""
    from pendula.errors import PendulaError

    try:
        code = cli.main(args=arguments, prog_name="pendula", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 2
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}", err=True)
        code = 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = 130
    except PendulaError as error:
        click.echo(f"error: {error}", err=True)
        code = 2
    except (_NobodyReads, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        if os.environ.get("PENDULA_DEBUG"):
            raise
        click.echo(f"internal error: {type(error).__name__}: {error}", err=True)
        click.echo("  This is a fault in Pendula. PENDULA_DEBUG=1 shows where it happened.", err=True)
        code = 3
    _tell_what_was_not_kept()
    sys.exit(code if isinstance(code, int) else 0)


def _tell_what_was_not_kept() -> None:
    """One line if machine code had to be compiled that the next run will have to compile again."""
    kernels = sys.modules.get("pendula.numerics.compiled.jit")  # None: the command needed no machine code
    if kernels is not None and kernels.cache_note:
        click.echo(f"note: {kernels.cache_note}", err=True)


if __name__ == "__main__":
    main()
