"""The ensemble command: random starts and parameters, its table, files and JSON."""

from __future__ import annotations

import json

import numpy as np

CHAIN = ("ensemble", "chain", "-p", "links=2", "--for", "1", "--runs", "30", "--samples", "6")


def test_table_files_and_picture(pendula, tmp_path):
    result = pendula(*CHAIN, "--vary", "theta1=-180deg:180deg", "-o", "runs.npz", "--plot", "runs.png")
    assert result.code == 0, result.err
    assert "30  finished" in result.out
    assert max(map(len, result.out.splitlines())) <= 80
    assert (tmp_path / "runs.png").read_bytes().startswith(b"\x89PNG")
    with np.load(tmp_path / "runs.npz") as file:
        assert file["q"].shape == (30, 6, 2)
        first = file["q"][:, 0, 0]
    assert -np.pi <= first.min() < -2 < 2 < first.max() <= np.pi


def test_seed_decides_the_numbers_of_each_name(pendula):
    def medians(*more):
        return json.loads(pendula(*CHAIN, "--vary", "theta1=0:1", "--json", *more).out)["states"]

    same, again, other = medians(), medians(), medians("--seed", "2")
    assert same == again
    assert same["theta1"] != other["theta1"]
    with_speed = medians("--spread", "theta2_dot=0.5")
    assert [row[0] for row in with_speed["theta1"]] == [row[0] for row in same["theta1"]]


def test_parameters_may_vary(pendula):
    result = pendula("ensemble", "pendulum", "--runs", "9", "--vary", "l=0.5:2", "--samples", "1", "--json")
    data = json.loads(result.out)
    assert data["runs"] == 9
    assert data["finished"] is True
    assert data["energy_drift"]["largest"] < 1e-5


def test_runs_that_stop_early_are_counted(pendula):
    result = pendula(*CHAIN, "--vary", "theta1=1:3", "--max-steps", "5")
    assert result.code == 1
    assert "30  stopped: the allowed number of steps" in result.out


def test_a_bad_number_of_processes_names_the_option(pendula):
    result = pendula(*CHAIN, "--vary", "theta1=1:3", "--workers", "0")
    assert result.code == 2
    assert "--workers must be a positive integer, found 0" in result.err
