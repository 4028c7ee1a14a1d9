"""Commands write their results in the format that the name of the file asks for."""

from __future__ import annotations

import numpy as np
import pytest

import pendula as library
from pendula import extras
from pendula.tables.formats import read_table

ENDINGS = (".csv", ".npz", ".nc", ".parquet", ".json")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_run_is_written_with_names_units_and_metadata(pendula, ending, tmp_path):
    done = pendula(
        "simulate", "pendulum", "--for", "1", "--samples", "5", "--quantity", "theta_ddot", "-o", f"run{ending}"
    )
    assert done.code == 0, done.err
    assert f"wrote run{ending}" in done.out
    run = library.load_run(tmp_path / f"run{ending}")
    again = library.simulate("pendulum", 1.0, samples=5)
    assert np.array_equal(run.q, again.q)
    table = read_table(tmp_path / f"run{ending}")
    assert table["theta_ddot"].unit == "rad/s^2"
    assert {"model", "parameters", "tolerance", "version", "outcome", "stepper"} <= {*table.attributes}


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (("ensemble", "pendulum", "--runs", "3", "--vary", "theta=0:1", "--samples", "4", "--for", "1"), "Ensemble"),
        (("reactions", "pendulum", "--samples", "4", "--for", "1"), "Reactions"),
        (("equilibria", "pendulum"), "Equilibria"),
        (("modes", "pendulum", "--at", "theta=0"), "Modes"),
        (("linearize", "pendulum", "--at", "theta=0"), "LinearModel"),
    ],
)
def test_other_results_are_written_too(pendula, command, kind, tmp_path):
    done = pendula(*command, "-o", "found.csv")
    assert done.code == 0, done.err
    table = read_table(tmp_path / "found.csv")
    assert table.kind == kind
    assert table.attributes["model"] == "pendulum"
    if kind == "Equilibria":
        assert table["point.verdict"].values.tolist() == ["stable", "unstable"]


def test_a_missing_package_is_named_before_anything_is_computed(pendula, tmp_path, monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", absent)
    done = pendula("simulate", "pendulum", "--for", "1e9", "-o", "run.parquet")
    assert done.code == 2
    assert 'pip install "pendula[parquet]"' in done.err
    assert not [*tmp_path.iterdir()]


def test_files_that_hold_no_run_are_refused(pendula, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    for name, message in (("x.csv", "holds no table of Pendula"), ("x.doc", ".csv, .npz"), ("no.csv", "No such file")):
        done = pendula("continue", name)
        assert done.code == 2
        assert message in done.err
    pendula("modes", "pendulum", "--at", "theta=0", "-o", "modes.json")
    done = pendula("continue", "modes.json")
    assert done.code == 2
    assert "Modes" in done.err
