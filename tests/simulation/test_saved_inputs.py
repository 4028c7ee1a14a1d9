"""Inputs of saved runs: a time series is the same after loading, so the run goes on as if it had never been saved."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from tests.helpers.numbers import Array

FORMATS = ("npz", "csv", "json", "nc")
TIMES, VALUES = [0.0, 0.4, 1.3, 2.0, 3.5], [0.0, 2.0, -1.0, 1.5, 0.5]
CLOSE = 1e-7


@pytest.fixture(scope="module")
def system() -> pendula.results.System:
    """A cart alone: m x'' = F."""
    body = {"name": "cart", "mass": 2.0}
    joint = {"name": "x", "type": "prismatic", "parent": "ground", "child": "cart", "axis": [1, 0, 0]}
    force = {"type": "generalized", "coordinate": "x", "value": "F"}
    return pendula.compile_system(
        pendula.Model(name="cart", gravity=[0, 0, 0], bodies=[body], joints=[joint], forces=[force], inputs={"F": 0})
    )


def loaded(run: pendula.results.Trajectory, path: Path, ending: str) -> pendula.results.Trajectory:
    file = path / f"run.{ending}"
    run.save(file)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return pendula.load_run(file)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("kind", ["hold", "linear", "cubic"])
def test_a_time_series_is_kept(system: pendula.results.System, tmp_path: Path, kind: str, ending: str) -> None:
    signal = pendula.Signal(TIMES, VALUES, kind)
    again = loaded(pendula.simulate(system, 1.5, inputs={"F": signal}, samples=4), tmp_path, ending)
    assert again.notes == ()
    longer = again.continue_for(2.0, samples=5)
    y = np.zeros(2)
    for a, b in pairwise(TIMES):  # by hand, from point to point
        held = signal(a)

        def rates(t: float, y: Array, held: float = held) -> list[float]:
            return [y[1], (held if kind == "hold" else signal(t)) / 2.0]

        y = solve_ivp(rates, (a, b), y, rtol=1e-11, atol=1e-12).y[:, -1]
    assert longer.t[-1] == 3.5
    assert np.abs([longer["x"][-1] - y[0], longer["x_dot"][-1] - y[1]]).max() < CLOSE
    assert longer["F"][-1] == VALUES[-1]


@pytest.mark.parametrize("ending", FORMATS)
def test_the_last_value_is_held_beyond_the_series(system: pendula.results.System, tmp_path: Path, ending: str) -> None:
    run = pendula.simulate(system, 1.0, inputs={"F": pendula.Signal([0.0, 0.5], [0.0, 4.0], "hold")}, samples=3)
    longer = loaded(run, tmp_path, ending).continue_for(1.0)
    assert longer["x_dot"][-1] == pytest.approx(4.0 / 2.0 * 1.5, abs=CLOSE)


def test_a_series_that_ends_with_the_run_still_ends_there(system: pendula.results.System, tmp_path: Path) -> None:
    run = pendula.simulate(system, 1.0, inputs={"F": ([0.0, 1.0], [0.0, 4.0])}, samples=3)
    with pytest.raises(pendula.errors.UsageError, match='input "F" is given from t = 0 to 1'):
        loaded(run, tmp_path, "npz").continue_for(1.0)


def test_a_function_beside_a_series_is_interpolated_and_named(
    tmp_path: Path,
) -> None:
    model = pendula.compile_system("cart-pole").model
    two = model.with_changes(
        inputs={**model.inputs, "T": 0},
        forces=[*model.forces, {"type": "generalized", "coordinate": "theta", "value": "T"}],
    )
    inputs = {"F": ([0.0, 2.0], [0.0, 1.0]), "T": lambda t, state: 0.1 * t}
    again = loaded(pendula.simulate(two, 1.0, inputs=inputs, samples=11), tmp_path, "npz")
    assert [note for note in again.notes if "interpolated" in note] == [
        "input T was a function of the run; here it is interpolated between the samples"
    ]
    assert again.system.inputs.signals["F"].times.tolist() == [0.0, 2.0]
