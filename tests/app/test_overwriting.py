"""No output overwrites an input of the same command, whatever the path to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pendula import dumps, library

MODEL = dumps(library.pendulum())


@pytest.fixture
def files(tmp_path) -> Path:
    """Inputs of every kind, and links to the model."""
    for name in ("m.toml", "m.html", "m.csv", "m.png", "m.json", "m.npz", "m.svg", "m.py"):
        tmp_path.joinpath(name).write_text(MODEL)
    tmp_path.joinpath("data.csv").write_text("t,theta\n0,1\n0.1,0.9\n0.2,0.7\n")
    tmp_path.joinpath("soft.toml").symlink_to("m.toml")
    os.link(tmp_path / "m.toml", tmp_path / "hard.toml")
    tmp_path.joinpath("here").symlink_to(".")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "report m.html -o m.html",
        "play m.html -o m.html",
        "simulate m.csv -o m.csv",
        "simulate m.png --plot m.png",
        "simulate m.html --animate ./m.html",
        "simulate m.html --animate here/m.html",
        "derive m.toml -o m.toml",
        "derive m.toml -o soft.toml",
        "derive hard.toml -o m.toml",
        "export m.py -o m.py",
        "ensemble m.npz --vary theta=0:1 -o m.npz",
        "equilibria m.json -o m.json",
        "linearize m.npz -o m.npz",
        "modes m.svg --plot m.svg",
        "floquet m.png --over l=1:2 --plot m.png",
        "reactions m.csv -o m.csv",
        "fit m.toml data.csv --parameters l -o m.toml",
        "fit m.toml data.csv --parameters l -o hard.toml",
        "simulate pendulum -o new.csv --equations new.csv",
        "simulate pendulum --plot same.png --plot-section ./same.png --section theta=0",
    ],
)
def test_an_output_that_is_an_input_is_refused(line, files, pendula):
    before = {path.name: path.read_bytes() for path in files.iterdir() if path.is_file()}
    found = pendula(*line.split())
    assert found.code == 2, found
    assert "name the same file" in found.err
    assert "another file" in found.err
    assert {path.name: path.read_bytes() for path in files.iterdir() if path.is_file()} == before


def test_an_extension_is_not_overwritten(files, pendula):
    files.joinpath("mine.py").write_text("")
    found = pendula("--extension", "mine.py", "derive", "pendulum", "--format", "python", "-o", "mine.py")
    assert found.code == 2
    assert "extension" in found.err
    assert files.joinpath("mine.py").read_text() == ""


def test_force_overwrites(files, pendula):
    assert pendula("new", "m.toml", "-p", "l=3", "-o", "m.toml", "--force").code == 0
    assert "l = 3" in files.joinpath("m.toml").read_text()


def test_a_file_with_the_name_of_a_library_mechanism_is_no_input(files, pendula):
    files.joinpath("pendulum").write_text("old")
    assert pendula("derive", "pendulum", "-o", "pendulum").code == 0
    assert files.joinpath("pendulum").read_text() != "old"


def test_a_device_for_two_outputs_is_no_file_that_could_be_lost(files, pendula):
    assert pendula("schema", "-o", os.devnull).code == 0
