"""What people type: every command, its output, its files, its JSON."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import pendula as package
from pendula.app.registry import COMMANDS
from pendula.library import mechanisms
from tests.helpers.choices import in_turn

WIDTH = 80
LIBRARY = sorted(mechanisms())


def test_help_names_every_command(pendula):
    result = pendula("--help")
    assert result.code == 0
    for command in COMMANDS:
        assert f"\n  {command}" in result.out


def test_help_is_quick_and_loads_no_numpy():
    """The limit on CPU time is in the benchmarks; what makes it hold is tested here."""
    code = (
        "import sys\n"
        "from pendula.app.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'sympy', 'symengine', 'numba', 'scipy', 'pydantic', 'matplotlib', 'rich'}\n"
        "print('loaded', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("loaded []")


def test_import_loads_nothing_heavy():
    code = (
        "import pendula, sys; print(sorted({'numpy', 'sympy', 'numba', 'pydantic', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_that_fits(pendula, command):
    result = pendula(command, "--help")
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= WIDTH


def test_list_has_one_line_per_mechanism(pendula):
    result = pendula("list")
    lines = result.out.splitlines()
    for name in LIBRARY:
        assert sum(line.split()[:1] == [name] for line in lines) == 1
    assert max(map(len, lines)) <= WIDTH
    assert {entry["name"] for entry in json.loads(pendula("list", "--json").out)} == set(LIBRARY)


@pytest.mark.parametrize("name", LIBRARY)
def test_list_tells_about_one_mechanism(pendula, name):
    result = pendula("list", name)
    assert result.code == 0
    assert "Closed forms" in result.out


@pytest.mark.parametrize("name", LIBRARY)
def test_show_fits_the_terminal_and_names_units(pendula, name):
    result = pendula("show", name)
    assert result.code == 0
    assert "freedom" in result.out
    assert "units" in result.out
    assert max(map(len, result.out.splitlines())) <= WIDTH
    data = json.loads(pendula("show", name, "--json").out)
    assert data["coordinates"]


def test_show_counts_the_freedom_of_a_loop(pendula):
    assert (
        "1 degree of freedom by count (3 coordinates, 3 speeds, 2 constraint rows)" in pendula("show", "four-bar").out
    )


def _with_the_pin_twice(path):
    plain = package.library.four_bar()
    twice = [{**plain.joints[3].model_dump(), "name": f"pin{k}"} for k in (1, 2)]
    package.save(plain.with_changes(joints=[*plain.joints[:3], *twice]), path)


def test_redundant_constraints_are_shown_and_simulated(pendula, tmp_path):
    _with_the_pin_twice(tmp_path / "twice.toml")
    shown = pendula("show", "twice.toml")
    assert "-1 degree" in shown.out
    assert "4 rows, 2 of them independent" in " ".join(shown.out.split())
    assert max(map(len, shown.out.splitlines())) <= WIDTH
    result = pendula("simulate", "twice.toml", "--for", "0.5")
    assert result.code == 0
    assert "note: redundant constraints" in result.out
    assert max(map(len, result.out.splitlines())) <= WIDTH


def test_simulate_takes_a_way_to_keep_constraints(pendula):
    common = ("simulate", "four-bar", "--for", "1", "--json", "--constraints")
    runs = {care: json.loads(pendula(*common, care).out) for care in ("projection", "baumgarte", "none")}
    assert runs["projection"]["constraint_violation"] < 1e-12 < runs["none"]["constraint_violation"]
    assert runs["projection"]["velocity_violation"] < 1e-12 < runs["none"]["velocity_violation"]
    assert any("Baumgarte" in note for note in runs["baumgarte"]["notes"])


@pytest.mark.parametrize("name", LIBRARY)
def test_new_writes_a_file_that_loads_as_the_same_model(pendula, tmp_path, name):
    result = pendula("new", name, "-o", "start.toml")
    assert result.code == 0
    assert package.load(tmp_path / "start.toml") == mechanisms()[name].make()


def test_new_prints_and_does_not_overwrite(pendula, tmp_path):
    assert 'name = "pendulum"' in pendula("new", "pendulum").out
    (tmp_path / "x.toml").write_text("mine")
    result = pendula("new", "pendulum", "-o", "x.toml")
    assert result.code == 2
    assert "--force" in result.err
    assert (tmp_path / "x.toml").read_text() == "mine"
    assert pendula("new", "pendulum", "-o", "x.toml", "--force").code == 0


def test_settings_reach_arguments_and_parameters(pendula):
    text = pendula("new", "chain", "-p", "links=2", "-p", "mass=1,2", "-p", "l=0.5", "-p", "g=g_moon").err
    assert "g_moon" in text
    model = package.loads(pendula("new", "chain", "-p", "links=2", "-p", "mass=1,2", "-p", "l=0.5", "-p", "g=1.62").out)
    assert model.parameter_values == {"m1": 1.0, "m2": 2.0, "l": 0.5, "g": 1.62}


def test_schema_is_json_schema(pendula):
    schema = json.loads(pendula("schema").out)
    assert schema["properties"]["gravity"]
    assert pendula("schema", "-o", "s.json").code == 0


def test_derive_in_stages(pendula):
    result = pendula("derive", "double-pendulum", "--stages")
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= WIDTH
    assert "passed: no step may change a value" in result.out
    data = json.loads(pendula("derive", "double-pendulum", "--stages", "--json").out)
    assert data["passed"]
    assert data["formulation"] == "lagrange"
    assert r"\begin{tabular}" in pendula("derive", "double-pendulum", "--stages", "--format", "latex").out


def test_derive_in_stages_exits_with_1_if_a_step_changes_a_value(pendula, monkeypatch):
    from pendula.equations.simplify import recipe

    monkeypatch.setitem(recipe.STEPS, "pairs", lambda polynomial, ring: {m: 2 * x for m, x in polynomial.items()})
    result = pendula("derive", "pendulum", "--stages")
    assert result.code == 1
    assert "FAILED" in result.out


def test_derive_prints_the_equations_of_a_pendulum(pendula):
    text = pendula("derive", "pendulum").out
    assert "M[theta_dot, theta_dot] = l**2*m/3" in text
    assert "f[theta_dot] = -g*l*m*sin(theta)/2" in text
    assert "lagrange" in text


@pytest.mark.parametrize(("name", "form"), in_turn(LIBRARY, ["text", "latex", "python", "c", "json"]))
def test_derive_writes_every_format(pendula, tmp_path, name, form):
    result = pendula("derive", name, "--format", form, "-o", f"out.{form}", "--formulation", "kane")
    assert result.code == 0, result.err
    assert len((tmp_path / f"out.{form}").read_text()) > 100


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "heavy-top"])
def test_check_passes_and_says_so(pendula, name):
    result = pendula("check", name, "--states", "20")
    assert result.code == 0
    assert "agree" in result.out
    assert "passed" in result.out
    data = json.loads(pendula("check", name, "--states", "20", "--json").out)
    assert data["passed"] is True
    assert data["pairs"][0].keys() >= {"a", "b", "max_difference"}


def test_check_says_no_with_exit_code_1_when_formulations_disagree(pendula, monkeypatch):
    """A deliberately wrong formulation: gravity counted twice."""
    from dataclasses import replace

    from pendula.equations.equations import Rows
    from pendula.equations.formulations import kane

    right = kane.Kane.derive

    def wrong(self, model):
        equations = right(self, model)
        free = dict(equations.parts.free)
        free["gravity"] = tuple(2 * x for x in free["gravity"])
        return replace(equations, parts=Rows(free, equations.parts.driven))

    monkeypatch.setattr(kane.Kane, "derive", wrong)
    result = pendula("check", "pendulum", "--states", "10")
    assert result.code == 1
    assert "DISAGREE" in result.out
    assert "acceleration" in result.out


def test_simulate_prints_the_account(pendula):
    result = pendula("simulate", "double-pendulum", "--for", "1")
    assert result.code == 0
    for word in ("finished: reached the final time", "steps", "energy drift", "ft lb", "rad/s", "kane", "dop853"):
        assert word in result.out
    assert max(map(len, result.out.splitlines())) <= WIDTH


def test_simulate_json_has_the_fields_other_tools_rely_on(pendula):
    data = json.loads(pendula("simulate", "four-bar", "--for", "1", "--samples", "11", "--json").out)
    assert data["outcome"].startswith("finished")
    assert len(data["t"]) == 11
    assert data["t"][-1] == 1.0
    assert set(data["states"]) == {"crank", "coupler", "rocker", "crank_dot", "coupler_dot", "rocker_dot"}
    assert 0 <= data["energy_drift"] < 1e-6
    assert 0 <= data["constraint_violation"] < 1e-12
    for key in ("steps", "rhs_evaluations", "seconds"):
        assert data[key] > 0


def test_simulate_start_and_parameters_change_the_motion(pendula):
    out = pendula(
        "simulate",
        "pendulum",
        "-p",
        "kind=point",
        "-p",
        "l=2",
        "--start",
        "theta=0.1deg",
        "--for",
        "2",
        "--json",
        "--samples",
        "2",
    ).out
    data = json.loads(out)
    # small swing of a point mass: theta = A cos(sqrt(g/l) t), up to terms of order A^3 = 5e-9
    expected = math.radians(0.1) * math.cos(math.sqrt(9.81 / 2) * 2)
    assert data["states"]["theta"][-1] == pytest.approx(expected, abs=1e-8)


def test_simulate_takes_inputs_as_expressions_of_time(pendula):
    data = json.loads(pendula("simulate", "cart-pole", "--input", "F=2*cos(t)", "--for", "1", "--json").out)
    assert data["energy_drift"] < 1e-7
    still = json.loads(pendula("simulate", "cart-pole", "--for", "1", "--json").out)
    assert abs(data["states"]["x"][-1] - still["states"]["x"][-1]) > 0.1


def test_simulate_writes_run_plot_and_page(pendula, tmp_path):
    result = pendula(
        "simulate",
        "chain",
        "-p",
        "links=3",
        "--for",
        "1",
        "-o",
        "out/run.npz",
        "--plot",
        "out/run.png",
        "--animate",
        "out/run.html",
    )
    assert result.code == 0, result.err
    with np.load(tmp_path / "out/run.npz", allow_pickle=False) as run:
        assert list(run["coordinates"]) == ["theta1", "theta2", "theta3"]
        assert run["q"].shape == (500, 3)
        assert json.loads(str(run["account"]))["outcome"].startswith("finished")
    assert (tmp_path / "out/run.png").read_bytes()[:4] == b"\x89PNG"
    page = (tmp_path / "out/run.html").read_text()
    assert "<canvas" in page
    assert "://" not in page


def test_simulate_tells_when_a_run_stops_early(pendula):
    result = pendula("simulate", "chain", "--for", "10", "--max-steps", "50")
    assert result.code == 1
    assert "stopped: the allowed number of steps was used up" in result.out


def test_module_and_script_are_the_same(tmp_path):
    done = subprocess.run([sys.executable, "-m", "pendula", "--version"], capture_output=True, text=True, check=True)
    assert package.__version__ in done.stdout


def test_a_closed_pipe_is_no_error(tmp_path):
    env = dict(os.environ, PYTHONUNBUFFERED="1")
    command = f'"{sys.executable}" -m pendula derive chain --format c | head -n 1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("what", ["list", "--help"])
def test_a_reader_that_has_enough_does_not_mean_that_the_analysis_says_no(what):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "pendula", what], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_simulate_by_taylor_series_says_so_and_refuses_loops(pendula) -> None:
    result = pendula("simulate", "double-pendulum", "--for", "0.1", "--stepper", "taylor", "--json")
    assert result.code == 0
    assert json.loads(result.out)["stepper"] == "taylor"
    result = pendula("simulate", "four-bar", "--for", "0.1", "--stepper", "taylor")
    assert result.code == 2
    assert "dop853" in result.err


def test_simulate_reports_writes_and_plots_quantities_by_name(pendula, tmp_path):
    names = ("--quantity", "theta1_ddot", "--quantity", "lower.tip.y")
    common = ("simulate", "double-pendulum", "--for", "0.5", "--samples", "6", *names)
    data = json.loads(pendula(*common, "--json").out)
    assert list(data["quantities"]) == ["theta1_ddot", "lower.tip.y"]
    assert data["units"]["theta1_ddot"] == "rad/s^2"
    result = pendula(*common, "-o", "run.npz", "--plot", "run.svg")
    assert result.code == 0, result.err
    assert "theta1_ddot" in result.out
    assert "theta1_ddot" in (tmp_path / "run.svg").read_text()
    refused = pendula("simulate", "double-pendulum", "--for", "0.5", "--quantity", "theta9_ddot", "-o", "no.npz")
    assert refused.code == 2
    assert not (tmp_path / "no.npz").exists()


def test_simulate_says_until_when_a_chaotic_run_can_be_trusted(pendula):
    chaotic = ("simulate", "chain", "-p", "links=2", "--for", "40")
    data = json.loads(pendula(*chaotic, "--json").out)
    assert 5.0 < data["predictability"]["until"] < 30.0
    assert data["predictability"]["error"] == 1.0
    text = " ".join(pendula(*chaotic).out.split())
    assert "error at the end 1 or more" in text
    assert "predicts the motion only up to about t =" in text
    quiet = pendula("simulate", "pendulum", "--for", "2").out
    assert "error at the end" in quiet
    assert "predicts the motion only" not in quiet


def test_an_animation_shows_what_was_asked(pendula, tmp_path):
    result = pendula(
        "simulate", "double-pendulum", "--for", "0.5", "--samples", "20", "--animate", "swing.html",
        "--signals", "lower.tip.x,theta1_ddot", "--trace", "upper.tip", "--speed", "0.25",
    )  # fmt: skip
    assert result.code == 0, result.err
    page = (tmp_path / "swing.html").read_text(encoding="utf-8")
    scene = json.loads(re.search(r'<script id="scene" type="application/json">(.*?)</script>', page, re.S)[1])
    assert [group["up"] for group in scene["signals"]["groups"]][:2] == ["lower.tip.x [ft]", "theta1_ddot [rad/s^2]"]
    assert scene["speed"] == 0.25
    assert scene["points"][0]["name"] == "upper tip"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--signals", "theta1"], "--signals requires an animation"),
        (["--animate", "a.html", "--signals", "theta9"], 'there is no "theta9"'),
        (["--animate", "a.html", "--trace", "elbow"], 'no body "elbow"'),
        (["--animate", "a.html", "--speed", "0"], "--speed must be a positive number"),
        (["--gif", "a.mp4"], "must end in .gif"),
    ],
)
def test_animations_that_cannot_be_are_refused(pendula, tmp_path, options, message):
    result = pendula("simulate", "double-pendulum", "--for", "0.1", *options)
    assert result.code == 2
    assert message in result.err
    assert not list(tmp_path.iterdir())


def test_the_horizon_is_told_in_single_blanks(pendula):
    found = pendula("simulate", "pendulum", "--for", "1", "--horizon")
    told = found.out[found.out.index("horizon: ") :].split("\n\n")[0]
    assert "  " not in told.replace("\n  ", " ")


def test_a_force_as_large_as_a_typical_one_is_100_percent(pendula):
    found = pendula("modes", "pendulum", "--at", "theta=90deg")
    assert "e+" not in found.err
    assert " % of a typical force" in found.err
