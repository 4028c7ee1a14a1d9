"""The reactions command: its tables, its JSON, its files, and how it ends."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from pendula import save
from pendula.library import mechanisms

WIDTH = 80


@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_every_library_mechanism_has_its_table(pendula, name):
    result = pendula("reactions", name, "--for", "0.3", "--samples", "5")
    assert result.code == 0, result.err
    assert "5 sampled times" in result.out
    assert max(map(len, result.out.splitlines())) <= WIDTH


def test_planar_tables_leave_out_what_is_zero(pendula):
    result = pendula("reactions", "chain", "-p", "links=2", "-p", "start=0", "--for", "1", "--samples", "3")
    lines = [line.split() for line in result.out.splitlines()]
    assert ["theta1", "19.62", "0", "0", "19.62"] in lines  # largest, when, Fx, Fy
    assert ["theta2", "9.81", "0", "0", "9.81"] in lines
    assert "No joint transmits a torque: all are 0 N m." in result.out
    assert "Fz" not in result.out


def test_spatial_tables_and_motors_have_units(pendula):
    result = pendula("reactions", "hoop-bead", "--for", "1", "--samples", "20")
    for text in ("largest force [N]", "Fz then", "largest torque [N m]", "prescribed motion needs", "N m"):
        assert text in result.out


def test_units_are_those_of_the_model(pendula):
    result = pendula("reactions", "double-pendulum", "--for", "0.1", "--samples", "3")
    assert "[lb]" in result.out
    assert "ft-lb" in result.out


def test_json_holds_forces_by_joint(pendula):
    result = pendula("reactions", "four-bar", "--for", "1", "--samples", "7", "--formulation", "kane", "--json")
    data = json.loads(result.out)
    assert (data["formulation"], data["simulated_by"]) == ("newton-euler", "kane")
    assert data["units"] == {"time": "s", "force": "N", "torque": "N m"}
    assert set(data["joints"]) == {"crank", "coupler", "rocker", "pin"}
    assert np.array(data["joints"]["pin"]["force_world"]).shape == (7, 3)
    peak = next(p for p in data["peaks"] if p["joint"] == "pin")
    assert peak["force"] == pytest.approx(max(math.hypot(*x) for x in data["joints"]["pin"]["force_world"]))
    assert data["indeterminate"] == []
    assert data["planar"] is True


def test_forces_of_a_coupling_are_listed_by_coordinate(pendula, tmp_path):
    """Two pulleys: 0.3 N m on the first, I1 = 0.04 and I2 = 0.005 kg m^2, ratio 2; see the tests of reactions."""
    from tests.analysis.test_reactions import belt

    save(belt(), tmp_path / "belt.toml")
    arguments = ("reactions", "belt.toml", "--for", "0.1", "--samples", "2")
    rows = [line.split() for line in pendula(*arguments).out.splitlines()]
    assert ["bt", "a", "-0.1", "-0.1", "0", "N", "m"] in rows
    assert ["bt", "b", "0.05", "0.05", "0", "N", "m"] in rows
    data = json.loads(pendula(*arguments, "--json").out)
    assert set(data["joints"]) == {"a", "b"}
    assert data["couplings"]["bt"]["a"] == {"unit": "N m", "values": [pytest.approx(-0.1), pytest.approx(-0.1)]}


def test_files_are_written(pendula, tmp_path):
    result = pendula("reactions", "heavy-top", "--for", "0.2", "--samples", "9", "-o", "f.npz", "--plot", "f.png")
    assert result.code == 0
    assert "wrote f.npz" in result.out
    with np.load(tmp_path / "f.npz") as read:
        assert read["force_body"].shape == (9, 1, 3)
    assert (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"


def test_what_is_not_determined_is_said(pendula, tmp_path):
    made = pendula("new", "four-bar", "-o", "bar.toml")
    assert made.code == 0
    text = (tmp_path / "bar.toml").read_text()
    # a load across the plane: nothing tells how the pins share it
    text += '\n[[forces]]\ntype = "force"\nbody = "coupler"\nvector = [0, 0, 1]\n'
    (tmp_path / "bar.toml").write_text(text)
    result = pendula("reactions", "bar.toml", "--for", "0.2", "--samples", "3")
    assert result.code == 0
    assert "not determined" in result.out
    assert "pin: force z" in " ".join(result.out.split())
    data = json.loads(pendula("reactions", "bar.toml", "--for", "0.2", "--samples", "3", "--json").out)
    assert data["joints"]["pin"]["force_world"][0][2] is None
    assert data["joints"]["pin"]["force_world"][0][0] is not None


def test_a_run_that_stops_early_exits_with_1(pendula):
    result = pendula("reactions", "chain", "--for", "10", "--max-steps", "50")
    assert result.code == 1
    assert "stopped: the allowed number of steps was used up" in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--for", "-1"], "--for"),
        (["--start", "thetta=1"], '"theta"'),
        (["--formulation", "magic"], "newton-euler"),
        (["--plot", "."], "folder"),
        (["--animate", "x.html"], "--animate"),
    ],
)
def test_bad_options_end_in_one_message(pendula, arguments, words):
    result = pendula("reactions", "pendulum", *arguments)
    assert result.code == 2
    assert words in result.err
    assert "Traceback" not in result.err


def test_a_torque_that_is_zero_is_largest_at_no_time(pendula):
    """The hoop holds a torque, the bead on it none."""
    result = pendula("reactions", "hoop-bead", "--for", "1", "--samples", "9")
    lines = [line.split() for line in result.out.splitlines()]
    torques = lines[next(k for k, line in enumerate(lines) if "torque" in line) :]
    assert ["slide", "0", "-", "0", "0", "0"] in torques, result.out
