"""Options common to several commands, and how models and values are read from the command line."""

from __future__ import annotations

import json
import os
import re
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from pendula.app.completion import offer_formulations, offer_models, offer_parameters
from pendula.arguments import available
from pendula.equations.formulations.registry import FORMULATIONS
from pendula.errors import ModelError, UsageError
from pendula.formats import endings
from pendula.model.expressions.expression import parse
from pendula.model.model import Model
from pendula.model.names import ExpressionError, suggestion
from pendula.model.quantities import degrees_hint, looks_like_degrees, number_in, quantity_in
from pendula.simulation.defaults import MAX_STEPS, TOLERANCE
from pendula.storage.files import check_writable, write_text

model_argument = click.argument("model", metavar="MODEL", shell_complete=offer_models)
parameter_option = click.option(
    "-p",
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=offer_parameters,
    help="Set a parameter, or an argument of a library mechanism (such as links=10). May be repeated.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for other programs.")


def formulation_option(default: str | None, otherwise: str = "") -> Callable[[Any], Any]:
    """The option that selects a formulation; ``otherwise`` describes the default."""
    return click.option(
        "--formulation",
        default=default,
        show_default=default is not None,
        shell_complete=offer_formulations,
        help=", ".join(FORMULATIONS) + (f"; {otherwise}." if otherwise else "."),
    )


engine_option = click.option(
    "--engine",
    default="auto",
    show_default=True,
    help="How accelerations are computed: symbolic (equations), recursive (over the bodies), or auto (the faster).",
)


equations_option = click.option(
    "--equations",
    metavar="FILE",
    help="Use these equations of motion (TOML, see check --against), where nothing is concluded from MODEL itself.",
)


def compile_asked(model: Model, formulation: str | None, engine: str, equations: str | None) -> Any:
    """The system of a model, or of the equations that ``--equations`` names."""
    if equations is None:
        from pendula.system.build import compile_system

        return compile_system(model, formulation, engine=engine)
    if engine == "recursive":
        raise UsageError("--equations and --engine recursive exclude each other: the recursion derives no equations")
    from pendula.analysis.court.given_system import compile_equations

    return compile_equations(model, equations, **({} if formulation is None else {"formulation": formulation}))


start_option = click.option(
    "--start",
    multiple=True,
    metavar="NAME=VALUE",
    help="Initial coordinate or speed, such as theta1=90deg.",
)
input_option = click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=VALUE",
    help="An input: a number or an expression of t and the state, such as F=-3*x.",
)


class PlainNumber(click.ParamType):
    """A number in units of the model; the error about a number with a unit says what to write."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        try:
            return float(value)
        except ValueError:
            found = re.fullmatch(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*[A-Za-z]+\s*", str(value))
            hint = f"write {found[1]}, in units of the model, without a unit" if found else "write a number such as 2.5"
            self.fail(f'"{value}" is not a number: {hint}', param, ctx)


duration_option = click.option(
    "--for", "duration", default=10.0, show_default=True, type=PlainNumber(), help="Duration in time units."
)
tol_option = click.option("--tol", default=TOLERANCE, show_default=True, type=float, help="Tolerance of a step.")
max_steps_option = click.option(
    "--max-steps", default=MAX_STEPS, show_default=True, type=int, help="Largest number of steps."
)


def samples_option(default: int, more: str = "") -> Callable[[Any], Any]:
    """The option for the number of stored states."""
    return click.option(
        "--samples", default=default, show_default=True, type=int, help=f"Equally spaced times to store{more}."
    )


def output_option(what: str) -> Callable[[Any], Any]:
    """The option for the output file of a result."""
    return click.option("-o", "--output", metavar="FILE", help=what)


def data_option(what: str) -> Callable[[Any], Any]:
    """The option for the output file of a result that has a table."""
    return output_option(f"{what} (.csv, .npz, .nc, .parquet, .json).")


def plot_option(what: str, option: str = "--plot", name: str = "plot_file") -> Callable[[Any], Any]:
    """The option for the output file of a picture."""
    return click.option(option, name, metavar="FILE", help=f"{what} (.png, .svg, .pdf).")


def animate_option(what: str) -> Callable[[Any], Any]:
    """The option for the output file of an animation."""
    return click.option("--animate", "animation", metavar="FILE", help=f"{what} (.html).")


def pairs(settings: tuple[str, ...], option: str) -> dict[str, str]:
    """NAME=VALUE settings as a dict."""
    found: dict[str, str] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        name, value = name.strip(), value.strip()
        if not sign or not name or not value:
            raise UsageError(f'{option} expects NAME=VALUE, found "{setting}"')
        if name in found:
            raise UsageError(f'{option}: "{name}" is set twice')
        found[name] = value
    return found


def read_model(model: str, settings: tuple[str, ...] = ()) -> Model:
    """A model file or a library mechanism, with the settings of ``-p`` applied."""
    given = pairs(settings, "-p")
    if not model.strip():
        raise UsageError('MODEL is empty: give a model file or the name of a library mechanism (see "pendula list")')
    path = Path(model)
    from pendula.library import mechanisms

    library = mechanisms()
    if model not in library and (path.suffix or path.exists() or "/" in model or "\\" in model):
        from pendula.model.files import load

        return _with_parameters(load(path), given)
    if model not in library:
        hint = suggestion(model, library, f"library mechanisms are: {', '.join(library)}")
        raise UsageError(f'there is no library mechanism and no file "{model}"; {hint}')
    from pendula.library.registry import MECHANISMS

    entry = library[model]
    hints = typing.get_type_hints(entry.make)
    arguments = {n: _argument(n, v, hints.get(n)) for n, v in given.items() if n in entry.arguments}
    try:
        made = MECHANISMS.checked(model, entry.make(**arguments))
    except (UsageError, TypeError, KeyError) as error:
        raise UsageError(f"{model}: {error}") from None
    except ModelError as error:
        raise error.in_file(f"library mechanism {model}") from None
    rest = {n: v for n, v in given.items() if n not in entry.arguments}
    known = (*made.parameters, *entry.arguments)
    for name in rest:
        if name not in made.parameters:
            raise UsageError(f'{model} has no parameter or argument "{name}"; {suggestion(name, known)}')
    return _with_parameters(made, rest)


def _with_parameters(model: Model, values: dict[str, str]) -> Model:
    if not values:
        return model
    read = {}
    for name, value in values.items():
        read[name] = value if quantity_in(value, model.parameters) else scalar(value, f"-p {name}")
    try:
        return model.with_parameters(read)
    except ModelError as error:
        raise error.in_file("after -p " + " -p ".join(f"{n}={v}" for n, v in values.items())) from None


def scalar(text: str, where: str) -> int | float | str:
    """A number if the text is one, else the text of the expression."""
    try:
        expression = parse(text)
    except ExpressionError as error:
        raise UsageError(f"{where}: {error}") from None
    return expression.root.value if expression.is_number else text  # type: ignore[union-attr]


def _argument(name: str, text: str, hint: Any) -> Any:
    """An argument of a library mechanism: an integer, a number or expression, a list (a,b,c), or a word."""
    if hint is int:
        try:
            return int(text)
        except ValueError:
            raise UsageError(f'-p {name}: expected an integer, found "{text}"') from None
    choices = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
    if choices:
        if text not in choices:
            raise UsageError(f'-p {name}: choose one of {", ".join(map(str, choices))}, found "{text}"')
        return text
    if "," in text and "(" not in text:
        return [scalar(piece.strip(), f"-p {name}") for piece in text.split(",")]
    return scalar(text, f"-p {name}")


def with_inputs(model: Model, inputs: tuple[str, ...]) -> Model:
    """The model with its inputs replaced by those of ``--input``."""
    if not inputs:
        return model
    read = pairs(inputs, "--input")
    given = {n: v if quantity_in(v, model.parameters) else scalar(v, f"--input {n}") for n, v in read.items()}
    unknown = [n for n in given if n not in model.inputs]
    if unknown:
        raise UsageError(f'there is no input "{unknown[0]}"; {available(model.inputs)}')
    return model.with_changes(inputs=dict(model.inputs) | given)


def read_state(model: Model, settings: tuple[str, ...]) -> dict[str, float]:
    """``--start`` settings as numbers; expressions may use parameters."""
    return read_numbers(model.parameter_values, pairs(settings, "--start"), "--start", state_units(model))


def state_units(model: Model) -> dict[str, str]:
    """Units of coordinates and speeds."""
    units = model.unit_names
    found = {c.name: units.coordinate(c.kind) for c in model.coordinates}
    return found | {s.name: units.speed(s.kind) for s in model.speeds}


def read_numbers(
    values: Mapping[str, float], given: Mapping[str, str], option: str, units: Mapping[str, str] | None = None
) -> dict[str, float]:
    """Evaluates expressions, which may use values by name, such as parameters, and numbers with ``units``."""
    known = units or {}
    return {name: number_in(text, known.get(name, ""), f"{option} {name}", values) for name, text in given.items()}


def hint_degrees(model: Model, given: Mapping[str, float], option: str) -> None:
    """Prints a hint about angles that look like degrees."""
    units = state_units(model)
    for name, value in given.items():
        if units.get(name) == "rad" and looks_like_degrees(value):
            click.echo(f"note: {option} {degrees_hint(name, value)}", err=True)


_EQUIVALENTS = (
    ('stepper="', "--stepper "),
    ("step=...", "--step"),
    ("chart switching is off", "--no-chart-switching is given"),
    (", or save=..., which streams them to a file", ", or -o FILE.npz, to which they are streamed"),
    ("near=...", "--start"),
    ("period=...", "--period"),
    ("close=True", "--close"),
    ("damped=True", "--damped"),
    ("find_equilibria(system)", '"pendula equilibria MODEL"'),
    ("floquet(...)", '"pendula floquet MODEL"'),
    ('print_equations(model, "c") (or "python", "json", "text")', '"pendula derive MODEL --format c"'),
    ("inputs={...} with constant values", "--input NAME=VALUE"),
    ("linearize_motions(...), which holds", '"pendula linearize MODEL --hold TIME", which holds'),
    ("solve_for", "--solve"),
    ("in hold", "in --hold"),
    ("workers must be", "--workers must be"),
)
"""Arguments and functions in messages of the library, and their command-line equivalents."""


def in_options(text: str) -> str:
    """A message of the library with command-line options in place of arguments.

    Example:
        >>> in_options('try stepper="radau", which takes longer steps')
        'try --stepper radau, which takes longer steps'
    """
    for argument, option in _EQUIVALENTS:
        if argument.endswith('="'):
            text = re.sub(rf'{argument}(\w+)"', rf"{option}\1", text)
        text = text.replace(argument, option)
    text = re.sub(r"ignore=\[([^\]]*)\]", lambda found: _each(found[1], "--ignore"), text)
    return re.sub(r'Q\["(\w+)"\] = 1', r"--q \1=1", text)


def _each(texts: str, option: str) -> str:
    """An option for each of some texts in quotes."""
    return " ".join(f'{option} "{x}"' if " " in x else f"{option} {x}" for x in re.findall(r'"([^"]*)"', texts))


def in_fields(text: str) -> str:
    """A message of the command line with names of fields in place of options, for pages with forms.

    Example:
        >>> in_fields("--at: there is no equilibrium 7")
        'at: there is no equilibrium 7'
    """
    for option, word in (("-p ", ""), ("--over ", "parameter "), ("--", "")):
        text = text.replace(option, word)
    return text


def write_result(result: Any, path: Path | None, **options: Any) -> list[str]:
    """Writes a result in the format of the file suffix, if a file is given; returns the line that reports it."""
    if path is None:
        return []
    from pendula.formats import write

    write(result, path, **options)
    return [f"wrote {path}"]


def draw(result: Any, path: Path | None, **settings: Any) -> list[str]:
    """Draws a result, if a file is given; returns the line that reports it."""
    if path is None:
        return []
    from pendula.present.pictures.results import plot

    plot(result, path, **settings)
    return [f"wrote {path}"]


def animate(run: Any, path: Path | None, **settings: Any) -> list[str]:
    """Writes an animation of a run, if a file is given; returns the line that reports it."""
    if path is None:
        return []
    from pendula.present.pictures import results

    results.animate(run, path, **settings)
    return [f"wrote {path}"]


def print_or_write(text: str, path: Path | None, about: str = "") -> None:
    """Writes a text to a file and reports it, or prints it if no file is given."""
    if path is None:
        click.echo(text)
    else:
        write_text(path, text + "\n")
        click.echo(f"wrote {path}{about}")


def with_all(text: str, how: str = "--json") -> str:
    """A text, with a line on how to get all entries if it was shortened."""
    cut = re.search(r"(?m)^\.\.\. and \d+ more$|too many entries to show$", text)
    return f"{text}\nAll entries: {how}" if cut else text


def echo_json(data: Any) -> None:
    """Prints JSON; values that are not finite become null."""
    click.echo(json.dumps(_finite(data), indent=1, allow_nan=False))


def _finite(value: Any) -> Any:
    import math

    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return value


def page_name(name: str, kind: str = "") -> str:
    """The name of a model, and of a kind of page, as the name of a file: letters, digits and hyphens.

    Example:
        >>> page_name("Four-bar linkage (crossed)"), page_name("pendulum", "report")
        ('four-bar-linkage-crossed.html', 'pendulum-report.html')
    """
    kept = "".join(c if c.isalnum() and c.isascii() else "-" for c in name.lower())
    parts = [part for part in kept.split("-") if part] or ["mechanism"]
    return "-".join([*parts, kind] if kind else parts) + ".html"


_ENDINGS = {"Figure": (".png", ".svg", ".pdf", ".jpg", ".jpeg"), "Scene": (".html", ".htm")}


def file_of(path: str | None, option: str, kind: str) -> Path | None:
    """A writable path with the suffix of a format of this kind of result.

    ``Figure`` is for pictures and ``Scene`` for animations; any other kind of result can be written as a table, or in
    one of its registered formats. A format whose package is missing is refused at once.
    """
    from pendula.tables.formats import FORMATS, check_format

    own = endings(kind)
    found = writable(path, option, tuple(dict.fromkeys((*_ENDINGS.get(kind, tuple(FORMATS)), *own))))
    if found is not None and kind not in _ENDINGS and found.suffix.lower() not in own:
        check_format(found)
    return found


def writable(path: str | None, option: str, endings: tuple[str, ...] = ()) -> Path | None:
    """A writable path with a known suffix, checked before the computation starts."""
    if path is None:
        return None
    found = Path(path)
    if found.is_dir():
        raise UsageError(f'{option}: "{path}" is a folder')
    if endings and found.suffix.lower() not in endings:
        raise UsageError(f'{option}: the name of the file must end in {" or ".join(endings)}, found "{path}"')
    _refuse_same_file(found, option)
    try:
        check_writable(found)
    except UsageError as error:
        raise UsageError(f"{option}: {error}") from None
    return found


def _refuse_same_file(path: Path, option: str) -> None:
    """Refuses an output that another option or argument of the command names too: one would overwrite the other.

    Links are followed. ``--force`` allows it, and pipes and devices are no files that could be lost.
    """
    context = click.get_current_context(silent=True)
    if context is None or context.params.get("force"):
        return
    others = [(p, value) for p in context.command.params for value in _texts(context.params.get(p.name or ""))]
    for parameter, other in others:
        if option not in parameter.opts and _same_file(path, Path(other)) and not _is_library(parameter, other):
            label = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
            raise UsageError(
                f'{option} and {label} name the same file, "{path}", which would be overwritten.\n'
                f"  Try: another file after {option}."
            )
    for other in context.meta.get(EXTENSION_FILES, ()):
        if _same_file(path, Path(other)):
            raise UsageError(f'{option}: "{path}" is the file of an extension, which would be overwritten')


EXTENSION_FILES = "pendula.extensions"
"""where the context of a command keeps what ``--extension`` names"""


def _texts(value: Any) -> tuple[str, ...]:
    """Texts among the values of a parameter of a command."""
    values = value if isinstance(value, tuple) else (value,)
    return tuple(x for x in values if isinstance(x, str) and x)


def _is_library(parameter: click.Parameter, value: str) -> bool:
    """Whether a value of MODEL is a library mechanism, although there is a file of that name."""
    if parameter.name != "model":
        return False
    from pendula.library import mechanisms

    return value in mechanisms()


def _same_file(path: Path, other: Path) -> bool:
    try:
        if path.exists() and other.exists():
            return path.samefile(other) and path.is_file()
        return os.path.realpath(path) == os.path.realpath(other)
    except (OSError, ValueError):  # no path that a file can have
        return False
