"""Model files, runs and results of an earlier version are read, give the same numbers, and go on.

``write.py`` says how they were made. What newer code computes agrees with them to the tolerance of the runs.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import pendula
from pendula.errors import PendulaError, UsageError
from tests.earlier import cases
from tests.earlier.cases import DATA, DURATION, FORMATS, LATER, RUNS, SAMPLES
from tests.helpers.choices import in_turn

NUMBERS = json.loads((DATA / "numbers.json").read_text(encoding="utf-8"))
ROUNDING = 1e-12
"""relative: the same formulas, perhaps in another order"""
AGREE = 1e-7
"""two runs of up to 0.9 s whose steps are within 1e-8, relative to the largest value of each quantity (found: 2e-8)"""


def model_of(name: str) -> pendula.Model:
    return pendula.load(DATA / f"models/{name}.toml")


@cache
def read(name: str, ending: str) -> Any:
    return pendula.load_run(DATA / f"runs/{name}.{ending}")


def close(found: dict[str, Any], wanted: dict[str, Any], tolerance: float) -> None:
    """Fails unless all wanted numbers were found, relative to the largest of their name or to 1."""
    for name, values in wanted.items():
        scale = max(1.0, float(np.abs(values).max()))
        worst = np.abs(np.asarray(found[name]) - values).max()
        assert worst <= tolerance * scale, f"{name}: {worst}"


def test_nothing_is_missing() -> None:
    kept = {path.name for path in (DATA / "runs").iterdir()}
    assert kept == {f"{name}.{ending}" for name in (*RUNS, *cases.OTHERS) for ending in FORMATS}
    assert {path.stem for path in (DATA / "models").iterdir()} == {*cases.MODELS}
    size = sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file())
    assert size < 1.5e6


@pytest.mark.parametrize("name", cases.MODELS)
def test_model_files_give_the_same_start_and_accelerations(name: str) -> None:
    system = pendula.compile_system(model_of(name))
    wanted = NUMBERS["models"][name]
    assert [*system.layout.coordinates, *system.layout.speeds] == wanted["names"]
    state = system.initial_state()
    found = np.concatenate([state.q, state.v, system.accelerations(state.q, state.v, 0.0)])
    np.testing.assert_allclose(found, wanted["values"], rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("name", RUNS)
def test_runs_are_read_to_the_last_bit(name: str, ending: str) -> None:
    run, wanted = read(name, ending), NUMBERS["runs"][name]
    assert run.t.tolist() == wanted["t"]
    assert (str(run.outcome), run.tolerance, run.energy_drift) == (
        wanted["outcome"], wanted["tolerance"], wanted["energy_drift"],
    )  # fmt: skip
    for key in wanted["states"]:
        assert run[key].tolist() == wanted["values"][key], key
    for event, times in wanted["events"].items():
        assert run.events[event].t.tolist() == times
    assert {*run.events} == {*wanted["events"]}
    assert run.ok


@pytest.mark.parametrize(("name", "ending"), in_turn(RUNS, FORMATS))
def test_runs_that_were_read_answer_as_before(name: str, ending: str) -> None:
    """Energies, inputs and accelerations are computed anew from the states."""
    close(cases.numbers_of(read(name, ending)), NUMBERS["runs"][name]["values"], ROUNDING)


@pytest.mark.parametrize("name", RUNS)
def test_a_new_simulation_is_the_same_motion(name: str) -> None:
    case, wanted = RUNS[name], NUMBERS["runs"][name]
    run = cases.simulated(case, model_of(case.model), DURATION, samples=SAMPLES)
    close(cases.numbers_of(run), wanted["values"], AGREE)
    assert {event: len(found) for event, found in run.events.items()} == {
        event: len(times) for event, times in wanted["events"].items()
    }


@pytest.mark.parametrize(("name", "ending"), in_turn([n for n in RUNS if not RUNS[n].over_time], FORMATS))
def test_runs_that_were_read_go_on(name: str, ending: str) -> None:
    run = read(name, ending).continue_for(LATER)
    assert run.t[0] == 0.0
    assert run.t[-1] == pytest.approx(DURATION + LATER, abs=1e-12)
    found = {key: values[-1] for key, values in cases.numbers_of(run).items()}
    close(found, NUMBERS["runs"][name]["later"], AGREE)
    assert run.energy_drift < 1e-6


@pytest.mark.parametrize(("name", "ending"), in_turn([n for n in RUNS if RUNS[n].over_time], FORMATS))
def test_runs_whose_inputs_the_file_does_not_hold_refuse_to_go_on(name: str, ending: str) -> None:
    """These files hold samples of series, functions and controllers: what comes after them is unknown."""
    run = read(name, ending)
    assert any("F" in note and "interpolated between the samples" in note for note in run.notes)
    with pytest.raises(PendulaError, match=r'"F" is given from t = 0 to 0\.6'):
        run.continue_for(LATER)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("name", cases.OTHERS)
def test_other_results_are_read_to_the_last_bit(name: str, ending: str) -> None:
    table = read(name, ending).table()
    for column, wanted in NUMBERS["others"][name].items():
        (values,) = (each.values for each in table.columns() if each.name == column)
        np.testing.assert_array_equal(values, np.array(wanted, dtype=float), err_msg=column)


def test_a_changed_digit_is_found(tmp_path: Path) -> None:
    """The files carry checksums that newer code still reads."""
    text = (DATA / "runs/loop.csv").read_text(encoding="utf-8")
    first = repr(float(read("loop", "csv").q[1, 0]))
    assert first in text
    (tmp_path / "run.csv").write_text(text.replace(first, first[:-1] + ("1" if first[-1] != "1" else "2"), 1))
    with pytest.raises(UsageError, match=r"run\.csv"):
        pendula.load_run(tmp_path / "run.csv")


# --- the numbers themselves, by equations of our own and SciPy --------------------------------------------------------

BY_SCIPY = 1e-7
"""runs at 1e-8 for each step, of a motion that does not magnify errors"""


def _stone_by_scipy(times: list[float]) -> np.ndarray:
    """The mass centre of the stone over time: Euler's equations about the pivot, and R' = R [w]."""
    r, g = np.array([0.1, 0.05, -0.3]), np.array([0.0, 0.0, -9.81])
    inertia = np.diag([0.1, 0.12, 0.05]) + r @ r * np.eye(3) - np.outer(r, r)

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        R, w = y[:9].reshape(3, 3), y[9:]
        turning = np.cross(np.eye(3), w)  # [w], the matrix of w x
        torque = np.cross(r, R.T @ g) - np.cross(w, inertia @ w)
        return np.concatenate([(R @ turning).ravel(), np.linalg.solve(inertia, torque)])

    axis = np.array([1.0, 2.0, 0.0]) / np.sqrt(5)
    start = Rotation.from_rotvec(1.4 * axis).as_matrix()
    found = solve_ivp(rates, (0, times[-1]), [*start.ravel(), 0, 0, 0], "DOP853", t_eval=times, rtol=1e-12, atol=1e-12)
    return found.y[:9].T.reshape(-1, 3, 3) @ r


@pytest.mark.parametrize("name", ["angles", "rotation_vector", "quaternion"])
def test_the_stone_moves_as_by_eulers_equations(name: str) -> None:
    run = read(name, "json")
    np.testing.assert_allclose(run.position("stone", "com"), _stone_by_scipy(run.t.tolist()), atol=BY_SCIPY)


def test_the_led_arm_moves_as_by_its_equation() -> None:
    """The lower rod, of unit mass and length, about an elbow that is led on an arc of unit length."""
    g = 9.81

    def rates(t: float, y: np.ndarray) -> list[float]:
        a, da, dda = 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)
        b = a + y[0]  # of the lower rod from the vertical
        moment = -g / 2 * np.sin(b) - (dda * np.cos(b - a) + da**2 * np.sin(b - a)) / 2
        return [y[1], 3 * moment - dda]

    run = read("driven", "csv")
    found = solve_ivp(rates, (0, run.t[-1]), [0.4, 0.0], "DOP853", t_eval=run.t, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.column_stack([run["elbow"], run["elbow_dot"]]), found.y.T, atol=BY_SCIPY)
