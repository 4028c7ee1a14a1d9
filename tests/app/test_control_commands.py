"""The commands control and fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import pendula as library

UPRIGHT = ("control", "cart-pole", "--at", "theta=180deg")


def test_control_designs_simulates_and_draws(pendula):
    weights = ["--q", "x=1", "--q", "theta=10", "--r", "F=0.1"]
    run = ["--start", "theta=150deg", "--run", "8", "--plot", "run.png", "--bode", "bode.png", "--step", "step.png"]
    found = pendula(*UPRIGHT, *weights, *run)
    assert found.code == 0, found.err
    assert "controllable by F" in found.out
    assert "closed loop, nonlinear: finished" in found.out
    assert all(len(line) <= 80 for line in found.out.splitlines())
    for name in ("run.png", "bode.png", "step.png"):
        assert Path(name).stat().st_size > 5000
    data = json.loads(pendula(*UPRIGHT, *weights, "--every", "0.01", *run[:4], "--json").out)
    assert data["gain"]["every"] == 0.01
    assert abs(data["run"]["states"]["theta"][-1] - np.pi) < 1e-3
    assert len(data["run"]["inputs"]["F"]) == len(data["run"]["t"])


def test_control_names_what_is_out_of_reach_and_exits_with_1(pendula):
    Path("two.toml").write_text(
        """
name = "two"
gravity = [0, -9.81, 0]
inputs = { F = 0 }
bodies = [
  { name = "cart", box = { mass = 1, size = [0.4, 0.2, 0.2] } },
  { name = "a", rod = { mass = 0.2, length = 1 } },
  { name = "b", rod = { mass = 0.2, length = 1 } },
]
joints = [
  { name = "x", type = "prismatic", axis = [1, 0, 0], parent = "ground", child = "cart" },
  { name = "theta1", type = "revolute", parent = "cart", child = "a" },
  { name = "theta2", type = "revolute", parent = "cart", child = "b" },
]
forces = [{ type = "generalized", coordinate = "x", value = "F" }]
"""
    )
    found = pendula("control", "two.toml", "--at", "theta1=180deg,theta2=180deg", "--q", "x=1")
    assert found.code == 1
    assert "the difference theta1 - theta2" in " ".join(found.out.split())


def test_control_refuses_options_that_do_not_fit(pendula):
    for options, words in (
        (["--place=-1,-2,-3,-4", "--q", "x=1"], "exclude each other"),
        (["--run", "3"], "needs a gain"),
        (["--place=-1,b,-3,-4"], "--place expects numbers"),
        (["--q", "y=1"], 'there is no "y"'),
        (["--locus", "l.png"], "--locus needs one output"),
    ):
        found = pendula(*UPRIGHT, *options)
        assert found.code == 2, options
        assert words in found.err


def test_fit_reads_a_file_and_writes_the_model(pendula):
    run = library.simulate("pendulum", 4, samples=81, parameters={"l": 1.4}, initial_state={"theta": 0.8})
    noise = np.random.default_rng(2).normal(0, 0.2, 81)
    rows = ["t,theta [deg]", *(f"{t},{x}" for t, x in zip(run.t, np.degrees(run["theta"]) + noise, strict=True))]
    Path("swing.csv").write_text("\n".join(rows))
    command = ["fit", "pendulum", "swing.csv", "--parameters", "l,theta(0)"]
    found = pendula(*command, "--plot", "fit.png", "-o", "fitted.toml")
    assert found.code == 0, found.err
    assert all(len(line) <= 80 for line in found.out.splitlines())
    assert Path("fit.png").stat().st_size > 5000
    assert abs(library.load("fitted.toml").parameter_values["l"] - 1.4) < 0.01
    data = json.loads(
        pendula(*command, "--bounds", "l=0.5:3", "--guess", "l=1.2 m", "--sigma", "theta=0.2deg", "--json").out
    )
    low, high = data["intervals_95"]["l"]
    assert low < 1.4 < high
    lost = pendula("fit", "pendulum", "swing.csv", "--parameters", "l,g", "--start", "theta=0.8")
    assert lost.code == 1
    assert "only the ratio l/g is determined" in " ".join(lost.out.split())
    wrong = pendula("fit", "pendulum", "swing.csv", "--parameters", "length")
    assert wrong.code == 2
    assert 'no parameter "length"' in wrong.err


def test_fit_names_structure_in_residuals(pendula):
    """A rod with friction, fitted by one without."""
    rubbing = library.library.chain(links=1, length=0.83, friction=0.05, start=1.0)
    run = library.simulate(rubbing, 6, samples=121)
    noise = np.random.default_rng(1).normal(0, 0.005, 121)
    rows = ["t,theta", *(f"{t},{x}" for t, x in zip(run.t, run["theta1"] + noise, strict=True))]
    Path("swing.csv").write_text("\n".join(rows))
    command = ["fit", "pendulum", "swing.csv", "--parameters", "l", "-p", "l=0.8", "--start", "theta=1"]
    found = pendula(*command)
    assert found.code == 0, found.err
    assert "the residuals are not independent of each other: theta of swing.csv has" in " ".join(found.out.split())
    assert "95 % from" not in found.out
    assert json.loads(pendula(*command, "--json").out)["intervals_95"] is None


def test_no_model_is_written_from_a_fit_that_did_not_converge(pendula, monkeypatch):
    monkeypatch.setitem(library.fit.__kwdefaults__, "max_iterations", 2)
    run = library.simulate("pendulum", 4, samples=81, parameters={"l": 1.4}, initial_state={"theta": 0.8})
    Path("swing.csv").write_text(
        "\n".join(["t,theta", *(f"{t},{x}" for t, x in zip(run.t, run["theta"], strict=True))])
    )
    Path("fitted.toml").write_text("kept")
    command = ["fit", "pendulum", "swing.csv", "--parameters", "l,m", "--guess", "l=3", "-o", "fitted.toml"]
    found = pendula(*command)
    assert found.code == 1
    assert Path("fitted.toml").read_text() == "kept"
    assert "fitted.toml is not written: there is no fitted model: the search did not" in " ".join(found.out.split())
    assert "last tried" in found.out
    plain = pendula(*command, "--json")
    assert (plain.code, json.loads(plain.out)["converged"]) == (1, False)
    assert "fitted.toml is not written" in plain.err


def test_margins_are_printed_drawn_and_given_as_data(pendula):
    weights = ["--q", "x=1", "--q", "theta=10", "--r", "F=0.1"]
    shown = pendula(*UPRIGHT, *weights, "--margins", "loop.png")
    assert shown.code == 0, shown.err
    assert "phase: up to 60.5 deg of lag at 10.11 rad/s" in shown.out  # python-control: 60.50 deg at 10.11 rad/s
    assert all(len(line) <= 80 for line in shown.out.splitlines())
    assert Path("loop.png").stat().st_size > 10_000
    data = json.loads(pendula(*UPRIGHT, *weights, "--json").out)["gain"]["margins"]["F"]
    assert data["stable"]
    assert data["gain_margin"] is None  # any
    assert abs(data["gain_reduction"] - 0.440153) < 1e-5
    alone = pendula(*UPRIGHT, "--margins", "no.png")
    assert alone.code == 2
    assert "--margins needs a gain" in alone.err


def test_control_names_the_coordinate_that_no_weight_holds(pendula):
    found = pendula(*UPRIGHT, "--q", "theta=10", "--r", "F=0.1")
    assert found.code == 2
    assert "x is not held: it has no weight in Q" in found.err
    assert "--q x=1" in found.err


def test_fit_reads_runs_that_pendula_saved(pendula):
    library.simulate("pendulum", 2).save("data.csv")
    found = pendula("fit", "pendulum", "data.csv", "--parameters", "l", "-p", "l=1.1", "--start", "theta=90deg")
    assert found.code == 0, found.err
    assert " ".join(found.out.split()).endswith("were left out: kinetic, potential, work, run.energy_error")
    library.simulate("four-bar", 1).save("bars.csv", accelerations=True)
    read = library.fit("four-bar", "bars.csv", ["g"])
    assert {"run.violation", "crank_ddot"} <= {*read.left_out}


def test_fit_lists_all_unknown_columns_at_once_with_the_option_that_leaves_them_out(pendula):
    Path("data.csv").write_text("t,theta,mood,my weather [m]\n0,1,2,3\n1,2,3,4\n")
    found = pendula("fit", "pendulum", "data.csv", "--parameters", "l")
    assert found.code == 2
    assert 'columns "mood", "my weather [m]" are no quantities of the mechanism' in found.err
    assert '--ignore mood --ignore "my weather"' in found.err
