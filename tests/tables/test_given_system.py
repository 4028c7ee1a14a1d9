"""Runs that are read with a system at hand have the inputs that they were made with, and only those of its mechanism."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula.errors import UsageError


def pushed(**changes: Any) -> pendula.Model:
    """A body on a rail, pushed by F: x'' = F/m."""
    model = pendula.Model(
        name="pushed",
        gravity=[0, 0, 0],
        parameters={"m": 2.0},
        inputs={"F": 0.0},
        bodies=[{"name": "body", "mass": "m"}],
        joints=[{"name": "x", "type": "prismatic", "parent": "ground", "child": "body"}],
        forces=[{"type": "generalized", "coordinate": "x", "value": "F"}],
    )
    return model.with_changes(**changes)


@pytest.mark.parametrize("law", ["6*t", "6*t - x", pendula.Signal([0.0, 2.0], [0.0, 12.0])])
def test_a_run_read_with_its_model_keeps_its_inputs(tmp_path: Path, law: Any) -> None:
    run = pendula.simulate(pushed(), 1.0, inputs={"F": law}, samples=11, tol=1e-11)
    run.save(tmp_path / "run.json")
    for given in (pushed(), pendula.compile_system(pushed()), run.system, pushed(inputs={"F": "3*x"})):
        again = pendula.load_run(tmp_path / "run.json", system=given)
        force = 6 * run.t - (run["x"] if isinstance(law, str) and "x" in law else 0.0)
        np.testing.assert_allclose(again["F"], force, atol=1e-9)
        np.testing.assert_allclose(again["x_ddot"], force / 2, atol=1e-9)
        if isinstance(law, str):
            np.testing.assert_array_equal(again.continue_for(1.0).q, run.continue_for(1.0).q)


def test_many_runs_read_with_their_model_keep_their_inputs(tmp_path: Path) -> None:
    runs = pendula.simulate_many(pushed(), 1.0, {"x": [0.0, 1.0]}, inputs={"F": "6*t"}, samples=3)
    runs.save(tmp_path / "runs.npz")
    again = pendula.load_run(tmp_path / "runs.npz", system=pushed())
    assert again.system.model.as_written.inputs["F"] == "6*t"


@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ("gravity", {"gravity": [0, -1, 0]}),
        ("bodies", {"bodies": [{"name": "body", "mass": "2*m"}]}),
        ("forces", {"forces": [{"type": "generalized", "coordinate": "x", "value": "2*F"}]}),
        ("parameters", {"parameters": {"m": 2.0, "k": 1.0}}),
        ("inputs", {"inputs": {"F": 0.0, "G": 0.0}}),
    ],
)
def test_another_mechanism_with_the_same_coordinates_is_refused(tmp_path: Path, what: str, changes: Any) -> None:
    pendula.simulate(pushed(), 1.0, samples=3).save(tmp_path / "run.csv")
    with pytest.raises(UsageError, match=rf"given system differ in their {what}\.\n  Try: load_run\(path\)"):
        pendula.load_run(tmp_path / "run.csv", system=pushed(**changes))


def test_other_values_of_parameters_are_those_of_the_run(tmp_path: Path) -> None:
    run = pendula.simulate(pushed(), 1.0, samples=3, inputs={"F": 1.0}, initial_state={"x_dot": 1.0})
    run.save(tmp_path / "run.csv")
    again = pendula.load_run(tmp_path / "run.csv", system=pushed(parameters={"m": 7.0}, initial={"x": 3.0}))
    np.testing.assert_array_equal(again["kinetic"], run["kinetic"])
    np.testing.assert_array_equal(again["x_ddot"], run["x_ddot"])
