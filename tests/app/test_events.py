"""Events, sections and the horizon from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import ellipk

QUARTER = float(ellipk(0.5) / np.sqrt(1.5 * 9.81))
"""Quarter of the period of the library's rod from 90 degrees."""


def test_events_are_printed_as_a_table(pendula):
    result = pendula("simulate", "pendulum", "--for", "5", "--event", "theta = 0 rising", "--event", "rest: theta_dot")
    assert result.code == 0
    lines = result.out.splitlines()
    row = next(line for line in lines if line.startswith("theta = 0 rising"))
    assert row.split()[4] == "2"
    assert f"{3 * QUARTER:.5f}" in row
    assert any(line.startswith("rest ") for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_stop_ends_the_run_with_a_sentence_and_without_an_error(pendula):
    result = pendula("simulate", "pendulum", "--stop", "theta <= -30deg")
    assert result.code == 0
    assert "stopped: an event ended the run (theta <= -30deg at t =" in " ".join(result.out.split())
    assert max(map(len, result.out.splitlines())) <= 80


def test_events_are_in_the_json(pendula):
    result = pendula("simulate", "pendulum", "--for", "3", "--tol", "1e-11", "--stop", "low: theta = 0", "--json")
    data = json.loads(result.out)
    assert result.code == 0
    assert data["finished"]
    low = data["events"]["low"]
    assert low["t"] == [pytest.approx(QUARTER, abs=1e-8)]
    assert low["terminal"]
    assert low["states"]["theta"] == [pytest.approx(0.0, abs=1e-14)]
    assert data["t"][-1] == low["t"][0]
    assert data["horizon"] is None


def test_a_section_is_drawn(pendula, tmp_path):
    result = pendula(
        "simulate", "chain", "-p", "links=2", "--for", "20", "--section", "theta1=0", "--plot-section", "section.png"
    )
    assert result.code == 0
    assert "wrote section.png" in result.out
    assert (tmp_path / "section.png").read_bytes().startswith(b"\x89PNG")


def test_the_horizon_is_a_sentence_and_a_number(pendula):
    chaotic = ("simulate", "chain", "-p", "links=3", "--for", "20", "--tol", "1e-6", "--horizon")
    printed = pendula(*chaotic)
    assert printed.code == 0
    assert "note: reliable up to t = " in printed.out
    found = json.loads(pendula(*chaotic, "--json").out)["horizon"]
    assert found["reached"]
    assert 1.0 < found["time"] < 20.0
    assert found["tolerance"] == pytest.approx(1e-8)
    regular = pendula("simulate", "pendulum", "--for", "2", "--horizon")
    assert "reliable to the end" in " ".join(regular.out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--event", "thetta = 0"], 'error: event "thetta = 0": there is no "thetta"; did you mean "theta"?'),
        (["--stop", "theta >= 0"], "already holds at the start"),
        (["--event", "theta == "], 'error: event "theta ==":'),
        (["--plot-section", "a.png"], "require --section"),
        (["--section", "theta=0", "--section-of", "theta"], "--section-of requires --plot-section"),
        (["--section", "theta=0", "--plot-section", "a.png", "--section-of", "x"], 'no coordinate "x"'),
    ],
)
def test_bad_events_end_in_one_message(pendula, arguments, message):
    result = pendula("simulate", "pendulum", "--for", "1", *arguments)
    assert result.code == 2
    assert message in result.err
    assert result.err.count("error:") == 1
    assert "Traceback" not in result.err


def test_reactions_can_be_stopped_by_an_event(pendula):
    result = pendula("reactions", "pendulum", "--stop", "theta <= 0", "--json")
    data = json.loads(result.out)
    assert result.code == 0
    assert data["t"][-1] == pytest.approx(QUARTER, abs=1e-6)
