"""A command, a mechanism, a formulation, a format and a plot from outside the package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

import pendula
from pendula.app.registry import COMMANDS
from pendula.equations.formulations.registry import FORMULATIONS
from pendula.errors import UsageError
from pendula.extend import (
    register_command,
    register_format,
    register_formulation,
    register_mechanism,
    register_plot,
)
from pendula.formats import remove_format
from pendula.library.registry import MECHANISMS
from pendula.present.pictures.registry import PLOTS

COMMAND = Path(__file__).parent / "energy_command.py"
MECHANISM = '''
import pendula
from pendula.extend import register_format, register_mechanism

@register_mechanism
def short_pendulum(length: float = 0.25) -> pendula.Model:
    """A pendulum of a quarter of a metre."""
    return pendula.library.pendulum().with_parameters({"l": length})

def as_csv(run):
    return "\\n".join(f"{t:.17g},{x:.17g}" for t, x in zip(run.t, run["theta"]))

register_format("csv", as_csv, of="Trajectory", ending=".csv")
register_format("names", lambda equations: " ".join(map(str, equations.v)), of="Equations", ending=".names")
'''


SCRIPT = """
import contextlib, io, json, sys
from pendula.app.main import main
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def _pendula(*lines: list[str], **environment: str) -> list[Ended]:
    """How command lines end, one after the other in one fresh process; an extension stays loaded from line to line."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(lines)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return [Ended(*json.loads(line)) for line in done.stdout.splitlines()]


GIVEN = ["--extension", str(COMMAND)]


# --- a command -------------------------------------------------------------------------------------------------


def test_a_command_from_a_file_runs_with_its_options() -> None:
    done, text = _pendula(
        [*GIVEN, "energy", "pendulum", "-p", "m=2", "--start", "theta=0", "--json"], [*GIVEN, "energy", "pendulum"]
    )
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["kinetic"] == 0.0
    assert found["potential"] == pytest.approx(-2 * 9.81 / 2)  # a rod of length 1: -m g l/2
    assert found["unit"] == "J"
    assert text.out.startswith("pendulum: kinetic 0 J, potential ")


def test_a_command_from_a_file_is_listed_and_has_help() -> None:
    before, listed, usage = _pendula(["--help"], [*GIVEN, "--help"], [*GIVEN, "energy", "--help"])
    assert "Kinetic" not in before.out
    assert "energy      Kinetic and potential energy of MODEL at its initial state." in listed.out
    assert "--json" in usage.out
    assert "--set NAME=VALUE" in usage.out


def test_mistakes_with_a_command_from_a_file_are_one_message() -> None:
    unknown, absent, wrong = _pendula(
        ["energy", "pendulum"], ["--extension", "absent.py", "energy", "pendulum"], [*GIVEN, "energy", "pendulm"]
    )
    assert unknown.code == 2
    assert 'there is no command "energy"' in unknown.err
    assert (absent.code, absent.err) == (2, 'error: extension "absent.py": there is no such file\n')
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err == 'error: there is no library mechanism and no file "pendulm"; did you mean "pendulum"?\n'


def test_the_environment_adds_commands() -> None:
    (done,) = _pendula(["energy", "pendulum", "--json"], PENDULA_EXTENSIONS=str(COMMAND))
    assert done.code == 0, done.err
    assert json.loads(done.out)["model"] == "pendulum"


def test_help_loads_no_numpy() -> None:
    code = (
        "import sys\n"
        "from pendula.app.main import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit:\n    print(sorted({'numpy', 'numba', 'sympy', 'importlib.metadata'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


# --- a mechanism and formats -----------------------------------------------------------------------------------


def test_a_mechanism_and_formats_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "short_extension.py"
    file.write_text(MECHANISM)
    given = ["--extension", str(file)]
    out, by_ending = tmp_path / "run.csv", tmp_path / "equations.names"
    run = ["simulate", "short-pendulum", "-p", "length=0.5", "--for", "1", "--samples", "3", "-o", str(out)]
    listed, done, derived, usage, written, refused = _pendula(
        [*given, "list"],
        [*given, *run],
        [*given, "derive", "short-pendulum", "--format", "names"],
        [*given, "derive", "--help"],
        [*given, "derive", "short-pendulum", "-o", str(by_ending)],
        [*given, "simulate", "short-pendulum", "-o", str(tmp_path / "run.xyz")],
    )
    assert "short-pendulum A pendulum of a quarter of a metre." in " ".join(listed.out.split())
    assert done.code == 0, done.err
    assert [line.partition(",")[0] for line in out.read_text().splitlines()] == ["0", "0.5", "1"]
    assert derived.out == "theta_dot\n"
    assert "names" in usage.out
    assert written.code == 0
    assert by_ending.read_text().strip() == "theta_dot"
    assert refused.code == 2
    assert ".csv or .npz" in refused.err


def test_a_registered_mechanism_is_a_name_for_every_function() -> None:
    def long_pendulum() -> pendula.Model:
        """A pendulum of two metres."""
        return pendula.library.pendulum().with_parameters({"l": 2.0})

    register_mechanism(long_pendulum)
    try:
        assert pendula.library.mechanisms()["long-pendulum"].summary == "A pendulum of two metres."
        found = pendula.modes("long-pendulum", {"theta": 0})
        assert found.frequencies[0] ** 2 == pytest.approx(1.5 * 9.81 / 2.0)
    finally:
        MECHANISMS.remove("long-pendulum")
    with pytest.raises(UsageError, match='no library mechanism "long-pendulum"'):
        pendula.modes("long-pendulum", {"theta": 0})


def test_a_mechanism_needs_defaults() -> None:
    def bare(length: float) -> pendula.Model:
        return pendula.library.pendulum().with_parameters({"l": length})

    with pytest.raises(UsageError, match='"bare": argument "length" has no default'):
        register_mechanism(bare)


# --- a formulation ---------------------------------------------------------------------------------------------


class Scaled:
    """Kane's equations with every row doubled: other equations, the same accelerations."""

    name = "scaled"

    def __init__(self) -> None:
        self.support = pendula.derivation.formulations()["kane"].support

    def derive(self, model: pendula.Model) -> pendula.results.Equations:
        return replace(pendula.derive(model, "kane"), formulation=self.name)


def test_a_registered_formulation_is_known_everywhere() -> None:
    register_formulation(Scaled())
    try:
        assert "scaled" in pendula.derivation.formulations()
        found = pendula.check("pendulum", states=5)
        assert "scaled" in found.formulations
        assert found.passed
        assert pendula.compile_system("pendulum", "scaled").formulation == "scaled"
    finally:
        FORMULATIONS.remove("scaled")
    with pytest.raises(UsageError, match='no formulation "scaled"'):
        pendula.derive("pendulum", "scaled")


# --- plots, and names that are taken ---------------------------------------------------------------------------


class Orbit:
    """A result of user code."""


class LowOrbit(Orbit):
    """A special one."""


def test_a_registered_plot_shows_its_type_and_what_derives_from_it(tmp_path: Path) -> None:
    def draw(orbit: Orbit, *, color: str = "red"):
        from matplotlib.figure import Figure

        figure = Figure()
        figure.subplots().plot([0, 1], color=color)
        return figure

    register_plot(Orbit, draw)
    try:
        assert pendula.plot(LowOrbit(), tmp_path / "orbit.svg", color="blue") is not None
        assert (tmp_path / "orbit.svg").stat().st_size > 0
        with pytest.raises(UsageError, match="unexpected keyword argument 'colour'"):
            pendula.plot(Orbit(), colour="blue")
        with pytest.raises(UsageError, match=r"plot\.png"):
            pendula.plot(Orbit(), tmp_path / "orbit.xyz")
    finally:
        PLOTS.remove("Orbit")
    with pytest.raises(UsageError, match="found an Orbit"):
        pendula.plot(Orbit())


def test_names_of_the_package_are_taken() -> None:
    import click

    @click.command("simulate")
    def other() -> None:
        """Another one."""

    with pytest.raises(UsageError, match='command "simulate" is already registered'):
        register_command(other)
    with pytest.raises(UsageError, match='format "text" is already registered'):
        register_format("text", str, of="Equations")
    with pytest.raises(UsageError, match=r'end in \.txt already use the format "text"'):
        register_format("words", str, of="Equations", ending=".txt")
    with pytest.raises(UsageError, match='plot "Modes" is already registered'):
        register_plot("Modes", print)
    assert "simulate" in COMMANDS
    register_format("words", str, of="Equations", ending=".words")
    remove_format("words", of="Equations")


@pytest.fixture(autouse=True)
def _nothing_left() -> None:
    assert "scaled" not in FORMULATIONS
