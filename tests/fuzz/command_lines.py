"""Command lines from seeds, made from the commands' own parameters, with values of right and wrong kinds."""

from __future__ import annotations

import contextlib
import io
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import click

from pendula import library
from pendula.app.main import main
from pendula.app.registry import COMMANDS
from pendula.numerics.steppers.stepper import STEPPERS
from tests.fuzz import hostile
from tests.fuzz.models import model_text

QUICK = ("list", "show", "new", "schema", "derive", "convert", "export", "import", "completion")
"""commands that compile little"""
NEVER = ("studio", "papers", "bench", "doctor")
"""commands that serve, or that run for minutes by design"""
MODELS = (
    "pendulum",
    "double-pendulum",
    "cart-pole",
    "spherical-pendulum",
    "four-bar",
    "heavy-top",
    "hoop-bead",
    "inverted-chain",
)
STRANGERS = ("theta", "x", "nothing", "theta_dot", "l", "t", "ground")
"""names that a mechanism may or may not have"""
VALUES = ("0", "1", "0.1", "180deg", "-1", "0.5", "1e-3", "5 cm", "1e9", "2*l", "10")
RANGES = ("0.5:1", "1:2", "0:1", "-180deg:180deg", "2:1", "0:0", "a:b", "1:1e9")
WHOLE = ("1", "2", "3", "10", "20", "50")
DECIMAL = ("0.1", "0.5", "1", "0.2", "1e-6", "1e-3")
WORDS = {
    "formulation": ("lagrange", "kane", "newton-euler", "maximal", "projection"),
    "engine": ("auto", "symbolic", "recursive"),
    "stepper": tuple(STEPPERS),
    "constraints": ("projection", "baumgarte", "none"),
}
ENDINGS = (".csv", ".npz", ".json", ".html", ".png", ".svg", ".toml", ".txt", "", ".c", ".py", ".xml", ".urdf", ".nc")


@cache
def parameters_of(name: str) -> tuple[click.Parameter, ...]:
    """The parameters of a command."""
    return tuple(COMMANDS[name].params)


@cache
def names_of(model: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Coordinates, speeds, parameters and inputs of a library mechanism; usual ones for a file."""
    entries = library.mechanisms()
    if model not in entries:
        return ("j1", "j2", "theta"), ("j1_dot", "theta_dot"), ("m", "a", "k", "c"), ("F", "H")
    made = entries[model].make()
    coordinates, speeds = tuple(c.name for c in made.coordinates), tuple(c.name for c in made.speeds)
    return coordinates, speeds, tuple(made.parameters), tuple(made.inputs)


def command_line(seed: int, quick: bool = False) -> list[str]:
    """The command line of a seed."""
    rng = random.Random(f"command {seed}")
    names = [n for n in COMMANDS if n not in NEVER] if not quick else [*QUICK]
    name = rng.choice(names) if rng.random() < 0.98 else rng.choice(hostile.NAMES)
    if name not in COMMANDS:
        return [name]
    model = rng.choice((*MODELS, *MODELS, "model.toml", "model.toml"))
    line = [name]
    for parameter in parameters_of(name):
        needed = parameter.required or isinstance(parameter, click.Argument) or parameter.name in ("vary", "output")
        twice = isinstance(parameter, click.Option) and parameter.multiple and rng.random() < 0.3
        for _ in range(2 if twice else 1):
            if rng.random() < (0.98 if parameter.required else 0.8 if needed else 0.12):
                line += _given(parameter, model, rng)
    line += _bounds(name, line)
    if rng.random() < 0.03:
        line.insert(rng.randrange(len(line) + 1), rng.choice((*hostile.NAMES, "--nothing", "-h", "--json")))
    return [word.replace("\0", "") for word in line]


BOUNDS = {"--workers": "1", "--max-steps": "2000", "--for": "0.2", "--runs": "16", "--samples": "4", "--seconds": "2"}
"""options that keep a computation short, which would be long because it was asked for"""


def _bounds(name: str, line: list[str]) -> list[str]:
    """Options that keep a command short, unless they are given."""
    options = {option: p for p in parameters_of(name) for option in p.opts}
    return [
        x
        for option, value in BOUNDS.items()
        if option in options and not {*options[option].opts} & {*line}
        for x in (option, value)
    ]


def _given(parameter: click.Parameter, model: str, rng: random.Random) -> list[str]:
    """An argument, or an option with its value."""
    if isinstance(parameter, click.Argument):
        count = 1 if parameter.nargs != -1 else rng.choice((0, 1, 2))
        return [_text(parameter, model, rng) for _ in range(count)]
    assert isinstance(parameter, click.Option)
    option = rng.choice(parameter.opts)
    if parameter.is_flag or parameter.count:
        return [option]
    return [option, *(_text(parameter, model, rng) for _ in range(max(1, parameter.nargs)))]


def _text(parameter: click.Parameter, model: str, rng: random.Random) -> str:
    """A value for a parameter: of the right kind most of the time."""
    if rng.random() < 0.05:
        return rng.choice(hostile.EXPRESSIONS + hostile.NAMES)
    wrong = rng.random() < 0.08
    name, kind = parameter.name or "", parameter.type
    if name == "model":
        return rng.choice(("none.toml", "folder", "data.csv", "/dev/null")) if wrong else model
    if isinstance(kind, click.Choice):
        return str(rng.choice(list(kind.choices)))
    if isinstance(kind, (click.types.IntParamType, click.IntRange)):
        return rng.choice(("0", "-1", "1000000", "10000000000", "1e3", "2.5", "x", "9" * 30) if wrong else WHOLE)
    if isinstance(kind, (click.types.FloatParamType, click.FloatRange)):
        return rng.choice(("0", "-1", "inf", "nan", "1e308", "x", "1e-300") if wrong else DECIMAL)
    if name in WORDS:
        return rng.choice(WORDS[name])
    metavar = str(getattr(parameter, "metavar", "") or "")
    if "FILE" in metavar or name in ("output", "path", "file", "data"):
        return _file(parameter, wrong, rng)
    coordinates, speeds, parameters, inputs = names_of(model)
    known = {"settings": parameters, "inputs": inputs, "rates": coordinates, "across": parameters, "upward": parameters}
    chosen = rng.choice(STRANGERS if wrong else (known.get(name) or (*coordinates, *speeds, *parameters)))
    if "LOW:HIGH" in metavar:
        return f"{chosen}={rng.choice(RANGES)}"
    if "=" in metavar or name in ("at", "settings", "start"):
        return f"{chosen}={rng.choice(hostile.EXPRESSIONS[:40] if wrong else VALUES)}"
    if "EXPR" in metavar:
        return rng.choice(
            ("{} = 0", "{} >= 10deg", "{}", "stop: {} < 0", "{} = 0 rising", "{}**2", "{}/0", "{} = {} = 0")
        ).replace("{}", chosen)
    return rng.choice((chosen, chosen, f"{chosen},{rng.choice(coordinates or STRANGERS)}", rng.choice(VALUES)))


def _file(parameter: click.Parameter, wrong: bool, rng: random.Random) -> str:
    """The name of a file, with an ending that the help of the parameter names."""
    fitting = re.findall(r"\.[a-z]{1,7}\b", str(getattr(parameter, "help", "") or "")) or [".toml", ".csv", ".html"]
    stem = rng.choice(("model", "data", "folder/sub/out", "/dev/null", "folder", "out")) if wrong else "out"
    return stem + rng.choice(ENDINGS if wrong else tuple(fitting))


def prepare(folder: Path, seed: int) -> None:
    """Files that command lines name: a model that may be wrong, data, a folder."""
    folder.joinpath("model.toml").write_bytes(model_text(seed, small=True).encode("utf-8", "surrogatepass"))
    folder.joinpath("data.csv").write_text(
        "t,theta [deg]\n0,10\n0.1,9\n0.2,7\n0.3,x\n" if seed % 3 else "t,theta\n0,1\n1,2\n2,3\n"
    )
    folder.joinpath("folder").mkdir(exist_ok=True)


def run(line: list[str]) -> tuple[int, str]:
    """Exit code and error output of a command line, in this process; errors that are bugs are raised."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(line)
        except SystemExit as end:
            code = end.code or 0
    return int(code), err.getvalue()


def check(line: list[str]) -> None:
    """Runs a command line; its end must be one of those that are promised, with a message where something is wrong."""
    code, err = run(line)
    assert code in (0, 1, 2), f"exit code {code}: {err[-300:]}"
    assert "Traceback" not in err, err[-300:]
    assert code != 2 or err.strip(), "exit code 2 without a message"
