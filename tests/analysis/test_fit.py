"""Fits: exact derivatives, known truths, coverage of intervals, identifiability, data and their faults."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import curve_fit

import pendula
from pendula.analysis.fit.structure import structure, structures
from pendula.errors import ComputationError, UsageError

TRUE = {"l": 1.2, "c": 0.15}
START = 1.0
NOISE = 0.01


def damped() -> pendula.Model:
    return pendula.Model(
        name="damped pendulum",
        gravity=[0, "-g", 0],
        parameters={"m": 1.0, "l": 1.0, "g": 9.81, "c": 0.1},
        inputs={"T": 0},
        bodies=[{"name": "rod", "rod": {"mass": "m", "length": "l"}}],
        joints=[{"name": "theta", "type": "revolute", "parent": "ground", "child": "rod"}],
        forces=[{"type": "generalized", "coordinate": "theta", "value": "T - c*theta_dot"}],
        initial={"theta": "60deg"},
    )


@pytest.fixture(scope="module")
def system() -> Any:
    return pendula.compile_system(damped())


@pytest.fixture(scope="module")
def truth(system: Any) -> Any:
    return pendula.simulate(system, 6, samples=61, parameters=TRUE, initial_state={"theta": START}, tol=1e-11)


def noisy(truth: Any, seed: int, names: tuple[str, ...] = ("theta",)) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"t": truth.t} | {name: truth[name] + rng.normal(0, NOISE, truth.t.size) for name in names}


def test_the_truth_is_found_from_data_without_noise(system: Any, truth: Any) -> None:
    data = {"t": truth.t, "rod.tip.x": truth.position("rod", "tip")[:, 0], "theta_dot": truth["theta_dot"]}
    found = pendula.fit(system, data, ["l", "c", "theta(0)"])
    assert found.ok
    assert [found[n] for n in ("l", "c", "theta(0)")] == pytest.approx([1.2, 0.15, START], rel=1e-7)
    run = pendula.simulate(found.model, 6, samples=61, tol=1e-11)
    assert np.abs(run["theta"] - truth["theta"]).max() < 1e-6


def test_derivatives_of_measured_quantities_equal_differences(system: Any, truth: Any) -> None:
    from pendula.analysis.fit.data import measurements
    from pendula.analysis.fit.motion import Experiment, Unknown
    from pendula.analysis.fit.outputs import known_outputs

    names = ("theta", "theta_dot", "rod.tip.x", "rod.com.y")
    columns = {"t": truth.t} | {name: np.zeros(truth.t.size) for name in names}
    read = measurements("data", columns, known_outputs(system), (), "s")
    unknowns = [Unknown("l", "l"), Unknown("c", "c"), Unknown("theta(0)", "theta", 0)]
    setup = Experiment(0, system, read, {"theta_dot": 0.3}, unknowns, 1e-12)
    at = {"l": 1.1, "c": 0.2, "theta(0)": 0.9}
    _, slopes = setup.motion(at)
    for k, name in enumerate(at):
        h = 1e-5
        ahead, behind = (setup.motion(at | {name: at[name] + s})[0] for s in (h, -h))
        assert np.abs(slopes[:, :, k] - (ahead - behind) / (2 * h)).max() < 1e-6 * np.abs(slopes[:, :, k]).max()


def test_values_and_errors_equal_those_of_scipy_curve_fit(system: Any, truth: Any) -> None:
    data = noisy(truth, 4)
    found = pendula.fit(system, data, ["l", "c", "theta(0)"])

    def angles(t: np.ndarray, l: float, c: float, start: float) -> np.ndarray:
        run = pendula.simulate(
            system, 6, samples=61, parameters={"l": l, "c": c}, initial_state={"theta": start}, tol=1e-11
        )
        return np.asarray(run["theta"])

    values, covariance = curve_fit(angles, data["t"], data["theta"], p0=[1.1, 0.1, 1.0], xtol=1e-12, ftol=1e-12)
    assert found.values == pytest.approx(values, rel=1e-6)
    assert found.covariance == pytest.approx(covariance, rel=1e-3)  # curve_fit differentiates by differences
    known = pendula.fit(system, data, ["l", "c", "theta(0)"], sigma=NOISE)
    assert known.values == pytest.approx(values, rel=1e-6)
    assert known.error("l") == pytest.approx(found.error("l") * NOISE / found.noise["theta"], rel=1e-6)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["c", "m", "l"], "only the ratio c/m is determined, not c and m themselves"),
        (["l", "g"], None),  # damping c/(m l^2) tells them apart
    ],
)
def test_identifiability_in_words(system: Any, truth: Any, names: list[str], words: str | None) -> None:
    found = pendula.fit(system, noisy(truth, 1), names, initial_state={"theta": START})
    assert found.identifiability == (() if words is None else (words,))
    if words is not None:
        assert found.error("c") == np.inf
        assert np.isfinite(found.error("l"))
        assert "not determined" in str(found)


def test_a_product_of_inertia_may_be_negative_and_a_bound_is_called_a_bound() -> None:
    """Truth -0.03, first guess +0.02; with the bound 0 the value ends there, although it has an effect."""
    model = pendula.Model(
        name="sp",
        gravity=[0, 0, -9.81],
        parameters={"Ixy": 0.02, "k": 3.0},
        bodies=[
            {
                "name": "A",
                "mass": 1,
                "com": [0, 0, -0.3],
                "inertia": [[0.1, "Ixy", 0], ["Ixy", 0.12, 0], [0, 0, 0.12]],
            }
        ],
        joints=[{"name": "u", "type": "universal", "parent": "ground", "child": "A"}],
        forces=[{"type": "torsion-spring", "joint": "u", "coordinate": "u_1", "stiffness": "k"}],
        initial={"u_1": 0.5, "u_2": -0.3},
    )
    system = pendula.compile_system(model)
    true = pendula.simulate(system, 2, samples=41, parameters={"Ixy": -0.03, "k": 2.5}, tol=1e-10)
    data = {"t": true.t, "u_1": true["u_1"]}
    found = pendula.fit(system, data, ["Ixy", "k"])
    assert (found["Ixy"], found["k"]) == (pytest.approx(-0.03, abs=1e-6), pytest.approx(2.5, abs=1e-5))
    assert not found.remarks
    held = pendula.fit(system, data, ["Ixy", "k"], bounds={"Ixy": (0, None)})
    assert held.at_bounds == ("Ixy",)
    structured, bound = held.remarks  # without its product of inertia the model is wrong
    assert bound == "Ixy ended at a bound: the best value may lie beyond it"
    assert structured.startswith(
        "the residuals are not independent of each other: u_1 of data has 4 runs of equal sign"
    )


def test_length_and_gravity_alone_cannot_be_told_apart_without_damping() -> None:
    run = pendula.simulate("pendulum", 5, samples=51, tol=1e-10)
    found = pendula.fit("pendulum", {"t": run.t, "theta": run["theta"]}, ["l", "g"])
    assert found.identifiability == ("only the ratio l/g is determined, not l and g themselves",)
    assert found["l"] / found["g"] == pytest.approx(1.0 / 9.81, rel=1e-6)


def test_several_experiments_share_parameters_and_have_their_own_starts(system: Any) -> None:
    runs = [pendula.simulate(system, 4, samples=41, parameters=TRUE, initial_state={"theta": a}) for a in (0.5, 1.5)]
    data = [{"t": r.t, "theta": r["theta"]} for r in runs]
    found = pendula.fit(system, data, ["l", "c", "theta(0)"])
    assert found.names == ("l", "c", "theta(0)[1]", "theta(0)[2]")
    assert found.values == pytest.approx([1.2, 0.15, 0.5, 1.5], rel=1e-5)
    again = pendula.fit(system, data, ["l", "c"], initial_state={"theta": [0.5, 1.5]})
    assert again.values == pytest.approx([1.2, 0.15], rel=1e-5)


def test_data_that_begin_later_start_the_motion_there(system: Any, truth: Any) -> None:
    """The fitted initial angle is that of the run at the first time of the data."""
    run = truth
    later = slice(len(run.t) // 3, None)
    data = {"t": run.t[later], "theta": run["theta"][later]}
    names = ["l", "c", "theta(0)", "theta_dot(0)"]
    found = pendula.fit(system, data, names, guess={n: float(run[n[:-3]][later][0]) for n in names[2:]})
    assert found["theta(0)"] == pytest.approx(run["theta"][later][0], abs=1e-6)
    assert any(f"the data begin at t = {data['t'][0]:.6g} s" in text for text in found.remarks)


def test_a_measured_input_drives_the_motion(system: Any) -> None:
    t = np.linspace(0, 6, 121)
    push = 2 * np.sin(3 * t)
    run = pendula.simulate(system, 6, samples=t, parameters=TRUE, inputs={"T": (t, push)}, initial_state={"theta": 0.1})
    found = pendula.fit(
        system, {"t": t, "theta": run["theta"], "T": push}, ["l", "c", "m"], initial_state={"theta": 0.1}
    )
    assert found.ok  # a known torque tells the mass
    assert found.values == pytest.approx([1.2, 0.15, 1.0], rel=1e-5)


@pytest.mark.parametrize("ending", ["npz", "json"])
def test_saved_runs_are_read_in_every_format(system: Any, tmp_path: Path, ending: str) -> None:
    run = pendula.simulate(system, 2.0, initial_state={"theta": 1.0}, samples=41)
    found = []
    for name in ("run.csv", f"run.{ending}"):
        run.save(tmp_path / name)
        found.append(pendula.fit(system, tmp_path / name, ["l"], initial_state={"theta": 1.0}))
    assert found[1]["l"] == found[0]["l"]
    assert found[1].left_out == found[0].left_out != ()


def test_a_file_that_is_no_run_is_refused(system: Any, tmp_path: Path) -> None:
    (tmp_path / "d.npz").write_bytes(b"nothing")
    with pytest.raises(UsageError, match=r"d\.npz"):
        pendula.fit(system, tmp_path / "d.npz", ["l"])


def test_csv_with_units_comments_and_missing_values(system: Any, truth: Any, tmp_path: Path) -> None:
    rows = ["# measured", "time [ms];theta [deg];spare"]
    for k, (t, x) in enumerate(zip(truth.t, truth["theta"], strict=True)):
        rows.append(f"{1000 * t:.17g};{'' if k % 7 == 3 else f'{np.degrees(x):.17g}'};1")
    (tmp_path / "d.csv").write_text("\n".join(rows))
    found = pendula.fit(system, tmp_path / "d.csv", ["l", "c"], initial_state={"theta": "1 rad"}, ignore=["spare"])
    assert found.values == pytest.approx([1.2, 0.15], rel=1e-6)
    assert found.degrees_of_freedom == 61 - 9 - 2


def test_bad_data_and_names_are_refused(system: Any, truth: Any, tmp_path: Path) -> None:
    good = noisy(truth, 1)
    cases: list[tuple[Any, list[str], dict[str, Any], str]] = [
        (
            good | {"thetas": good["theta"]},
            ["l"],
            {},
            'column "thetas" is no quantity of the mechanism; did you mean "theta"',
        ),
        ({"theta": good["theta"]}, ["l"], {}, 'no column of times "t"'),
        (good, ["L"], {}, 'there is no parameter "L"'),
        (good, ["theta"], {}, 'an initial value is written "theta(0)"'),
        (good, ["l"], {"guess": {"c": 1}}, '"c" is not fitted'),
        (good, ["l"], {"bounds": {"l": (2, 3)}}, "outside its bounds"),
        (good, ["l"], {"sigma": {"x": 1}}, '"x" was not measured'),
        (good, ["l"], {"sigma": 0.0}, "sigma must be positive"),
        ({"t": truth.t[::-1], "theta": good["theta"]}, ["l"], {}, "times must be finite and increase"),
        ({"t": truth.t, "theta [kg]": good["theta"]}, ["l"], {}, "is a mass, but an angle [rad] is expected"),
        ({"t": truth.t[:2], "theta": good["theta"][:2]}, ["l", "c"], {}, "2 measurements cannot determine 2 values"),
        (str(tmp_path / "none.csv"), ["l"], {}, "cannot read"),
    ]
    for data, names, more, words in cases:
        with pytest.raises(UsageError) as caught:
            pendula.fit(system, data, names, **more)
        assert words in str(caught.value), words
    (tmp_path / "page.csv").write_text("<!DOCTYPE html>\n<html>\n<table><tr><td>1, 2</td></tr></table>\n</html>\n")
    with pytest.raises(UsageError, match=r"page\.csv is a page \(HTML or XML\), not a table of measurements"):
        pendula.fit(system, tmp_path / "page.csv", ["l"])
    (tmp_path / "bad.csv").write_text("t,theta\n0,1\n1,abc\n")
    with pytest.raises(UsageError, match='line 3: "theta" must be a number, found "abc"'):
        pendula.fit(system, tmp_path / "bad.csv", ["l"])


# --- closed loops ----------------------------------------------------------------------------------------


def braked_four_bar() -> pendula.Model:
    model = pendula.library.four_bar()
    return model.with_changes(
        parameters={**model.parameters, "k": 3.0, "m": "rho*a"},
        forces=[{"type": "friction", "joint": "crank", "coefficient": "k"}],
    )


def braked_slider() -> pendula.Model:
    model = pendula.library.slider_crank()
    brake = {"type": "damper", "joint": "x", "damping": "k"}
    return model.with_changes(parameters={**model.parameters, "k": 2.0}, forces=[brake])


LOOPS = {
    "four-bar": (braked_four_bar, ("crank", "rocker", "coupler_dot", "coupler.tip.x"), {"k": 2.5, "b": 2.02}),
    "slider-crank": (braked_slider, ("crank", "x", "rod.tip.x"), {"k": 2.2, "l": 3.03, "M": 1.1}),
}


@pytest.mark.parametrize("name", LOOPS)
def test_derivatives_with_loops_equal_differences_of_runs(name: str) -> None:
    from pendula.analysis.fit.data import measurements
    from pendula.analysis.fit.motion import Experiment, Unknown
    from pendula.analysis.fit.outputs import known_outputs

    model, columns, at = LOOPS[name]
    system = pendula.compile_system(model())
    t = np.linspace(0, 1.5, 16)
    read = measurements("data", {"t": t} | dict.fromkeys(columns, np.zeros(16)), known_outputs(system), (), "s")
    start = {"crank(0)": 1.1, "crank_dot(0)": 3.0}
    unknowns = [*(Unknown(n, n) for n in at), *(Unknown(n, n.removesuffix("(0)"), 0) for n in start)]
    values, slopes = Experiment(0, system, read, {}, unknowns, 1e-12).motion(at | start)

    def run(change: dict[str, float]) -> Any:
        there = at | start | change
        initial = {n.removesuffix("(0)"): there[n] for n in start}
        found = pendula.simulate(
            system, 1.5, samples=t, tol=1e-12, parameters={n: there[n] for n in at}, initial_state=initial
        )
        assert found["crank"][0] == pytest.approx(there["crank(0)"], abs=1e-12)  # what is given is held
        return np.column_stack([
            found.position(*c.split(".")[:2])[:, "xyz".index(c[-1])] if "." in c else found[c] for c in columns
        ])  # fmt: skip

    assert np.abs(values - run({})).max() < 1e-8
    for k, (n, x) in enumerate((at | start).items()):
        h = 1e-4
        around = [run({n: x + j * h}) for j in (-2, -1, 1, 2)]
        slope = (8 * (around[2] - around[1]) - (around[3] - around[0])) / (12 * h)
        assert np.abs(slopes[:, :, k] - slope).max() < 1e-6 * max(1.0, np.abs(slope).max()), n


def test_a_four_bar_gives_its_brake_and_the_length_of_its_coupler() -> None:
    system = pendula.compile_system(braked_four_bar())
    true = {"k": 2.5, "b": 2.03}
    start = {"crank": "60deg", "crank_dot": 4.0}
    run = pendula.simulate(system, 2, samples=41, parameters=true, initial_state=start, tol=1e-11)
    data = {"t": run.t, "crank": run["crank"], "coupler.tip.y": run.position("coupler", "tip")[:, 1]}
    found = pendula.fit(system, data, ["k", "b"], initial_state=start)
    assert found.ok
    assert found.values == pytest.approx([2.5, 2.03], rel=1e-6)
    also = pendula.fit(system, data, ["k", "b", "crank_dot(0)"], initial_state={"crank": "60deg"}, guess={"b": 2.0})
    assert also.values == pytest.approx([2.5, 2.03, 4.0], rel=1e-6)


def test_initial_values_that_no_pose_has_are_refused() -> None:
    with pytest.raises(ComputationError, match=r"loops cannot be closed with rocker\(0\) = "):
        pendula.fit("four-bar", {"t": [0.0, 1.0, 2.0], "crank": [1.0, 2.0, 3.0]}, ["g"], initial_state={"rocker": 0.0})


@pytest.mark.slow
def test_intervals_of_a_closed_loop_cover_the_truth() -> None:
    system = pendula.compile_system(braked_four_bar())
    true = {"k": 2.5, "b": 2.03}
    start = {"crank": "60deg", "crank_dot": 4.0}
    run = pendula.simulate(system, 2, samples=41, parameters=true, initial_state=start, tol=1e-11)
    count, inside = 200, dict.fromkeys(true, 0)
    for seed in range(count):
        data = noisy(run, 5000 + seed, ("crank", "rocker"))
        found = pendula.fit(system, data, ["k", "b"], initial_state=start, tol=1e-8)
        assert found.converged
        for name, value in true.items():
            low, high = found.interval(name)
            inside[name] += low <= value <= high
    shares = {name: hits / count for name, hits in inside.items()}
    print(shares)
    assert all(0.91 <= share <= 0.99 for share in shares.values()), shares  # 95 % +- 2.6 sigma of 200 sets


def coverage(
    system: Any, truth: Any, columns: tuple[str, ...], names: list[str], true: list[float], count: int
) -> dict[str, float]:
    inside = dict.fromkeys(names, 0)
    for seed in range(count):
        found = pendula.fit(system, noisy(truth, 1000 + seed, columns), names, tol=1e-8)
        assert found.converged
        for name, value in zip(names, true, strict=True):
            low, high = found.interval(name)
            inside[name] += low <= value <= high
    return {name: hits / count for name, hits in inside.items()}


@pytest.mark.slow
@pytest.mark.parametrize("columns", [("theta",), ("theta", "rod.tip.x", "theta_dot")], ids=["angle", "three columns"])
def test_95_percent_intervals_cover_the_truth_in_92_to_98_percent(
    system: Any, truth: Any, columns: tuple[str, ...]
) -> None:
    found = coverage(system, truth, columns, ["l", "c", "theta(0)"], [1.2, 0.15, START], 500)
    print(found)
    assert all(0.92 <= share <= 0.98 for share in found.values()), found


# -- residuals ------------------------------------------------------------------------------------------


def test_residuals_of_a_rod_with_friction_that_the_model_lacks_are_named(system: Any) -> None:
    """Statistics counted by hand; the length is 0.83 and far outside of the interval, which is not called one."""
    run = pendula.simulate(system, 6, samples=121, parameters={"l": 0.83, "c": 0.05}, tol=1e-10)
    data = {"t": run.t, "theta": run["theta"] + np.random.default_rng(1).normal(0, 0.005, 121)}
    found = pendula.fit(damped().with_parameters({"c": 0.0}), data, ["l"])
    assert found.converged
    assert not found.independent
    assert not found.interval("l")[0] <= 0.83 <= found.interval("l")[1]
    left = data["theta"] - found.series[0].fitted
    stretches = len(list(groupby(left > 0)))
    related = [float((left[k:] * left[:-k]).sum() / (left**2).sum()) for k in (1, 2)]
    (one,) = found.structure
    assert (one.runs, one.autocorrelation) == (stretches, pytest.approx(tuple(related)))
    (note,) = found.remarks
    assert f"theta of data has {stretches} runs of equal sign" in note
    assert f"autocorrelation over one and two samples {related[0]:.2g} (p = " in note
    assert f" and {related[1]:.2g} (p = " in note
    assert "95 % interval" not in str(found).partition("note:")[0]
    plain = found.as_dict()
    assert plain["intervals_95"] is None
    assert plain["intervals_if_independent"]["l"] == list(found.interval("l"))
    assert pendula.plot(found).get_suptitle().endswith("residuals are not independent")
    right = pendula.fit(system, data, ["l", "c"])
    assert right.independent
    assert not right.remarks
    assert right.interval("l")[0] <= 0.83 <= right.interval("l")[1]
    assert right.as_dict()["intervals_95"]["l"] == list(right.interval("l"))


def test_chances_are_those_of_shuffled_residuals() -> None:
    """The share of 20,000 random orders of the same residuals that are as far from the average."""
    rng = np.random.default_rng(7)
    noise = rng.normal(size=61)
    related = noise[1:] + 0.35 * noise[:-1]
    one = structure("data", "x", related, 0.005)
    assert one is not None
    orders = np.array([rng.permutation(related) for _ in range(20_000)])
    for k, found, chance in zip((1, 2), one.autocorrelation, one.autocorrelation_p, strict=True):
        shuffled = (orders[:, k:] * orders[:, :-k]).sum(axis=1) / (related @ related)
        far = np.abs(shuffled - shuffled.mean()) >= abs(found - shuffled.mean())
        assert chance == pytest.approx(far.mean(), rel=0.15)
    runs = 1 + (np.diff(orders > 0, axis=1) != 0).sum(axis=1)
    assert one.expected_runs == pytest.approx(runs.mean(), rel=0.01)
    many = np.abs(runs - runs.mean()) >= abs(one.runs - runs.mean()) - 1e-9
    assert one.runs_p == pytest.approx(many.mean(), rel=0.15)


@pytest.mark.parametrize("period", [2.0, 3.0, 4.0, 5.5, 40.0])
def test_oscillations_of_every_period_are_structure(period: float) -> None:
    """With four samples in a period neighbours are unrelated, and runs are as many as in noise."""
    rng = np.random.default_rng(4)
    wave = np.sin(2 * np.pi * (np.arange(80) + 0.5) / period) + 0.5 * rng.normal(size=80)
    one = structure("data", "x", wave, 0.01 / 3)
    assert one is not None
    assert one.structured


@pytest.mark.parametrize("size", [16, 30, 100, 1000])
def test_white_noise_is_called_structured_in_one_case_of_a_hundred_at_most(size: int) -> None:
    """Residuals of straight lines, three columns at once, over 1,000 seeds: at most 1 % and three times its spread."""
    lines = np.stack([np.ones(size), np.linspace(-1, 1, size)], axis=1)
    alarms = 0
    for seed in range(1000):
        noise = np.random.default_rng(seed).normal(size=(3, size))
        left = [x - lines @ np.linalg.lstsq(lines, x, rcond=None)[0] for x in noise]
        alarms += any(one.structured for one in structures([("data", str(k), x, 0.0) for k, x in enumerate(left)]))
    assert alarms <= 10 + 3 * np.sqrt(10)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [("theta",), ("theta", "rod.tip.x", "theta_dot")], ids=["angle", "three columns"])
def test_fits_of_the_right_model_rarely_warn(system: Any, truth: Any, columns: tuple[str, ...]) -> None:
    warned = 0
    for seed in range(500):
        found = pendula.fit(system, noisy(truth, 5000 + seed, columns), ["l", "c", "theta(0)"], tol=1e-8)
        warned += not found.independent
        assert found.independent == (not any("not independent" in text for text in found.remarks))
    assert warned <= 5 + 3 * np.sqrt(5), warned


def test_errors_of_the_integration_are_no_structure(system: Any, truth: Any) -> None:
    found = pendula.fit(system, {"t": truth.t, "theta": truth["theta"]}, ["l", "c", "theta(0)"])
    assert found.independent
    assert not found.remarks


# -- searches that fail ---------------------------------------------------------------------------------


def test_a_search_that_did_not_converge_has_no_fitted_model_and_no_intervals(system: Any, truth: Any) -> None:
    found = pendula.fit(system, noisy(truth, 1), ["l", "c"], guess={"l": 3.0}, max_iterations=3)
    assert not found.converged
    assert not found.ok
    assert found.interval("l") == (-np.inf, np.inf)
    with pytest.raises(ComputationError, match="there is no fitted model: the search did not converge"):
        _ = found.model
    assert found.as_dict()["intervals_95"] is None
    assert "95 %" not in str(found)


def test_a_value_that_ends_at_its_bound_is_the_bound(system: Any) -> None:
    """Damping that is not there, of data with friction that drives: the search comes as near to zero as it can."""
    run = pendula.simulate(system, 4, samples=81, parameters={"l": 1.2, "c": -0.05}, initial_state={"theta": START})
    found = pendula.fit(system, {"t": run.t, "theta": run["theta"]}, ["l", "c"], initial_state={"theta": START})
    assert found.at_bounds == ("c",)
    assert found["c"] == 0.0
    assert found.model.parameter_values["c"] == 0.0


def test_values_with_an_effect_are_not_said_to_have_none() -> None:
    """J, kr, c and d with m d^2 appear in one ratio; far from m d^2, J hardly matters, but it does."""
    model = pendula.Model(
        name="sprung arm",
        gravity=[0, 0, 0],
        parameters={"m": 1.0, "d": 1.0, "J": 0.003, "kr": 2.0, "c": 0.05},
        bodies=[{"name": "arm", "mass": "m", "com": [0, "-d", 0], "inertia": ["J", "J", "J"]}],
        joints=[{"name": "theta", "type": "revolute", "parent": "ground", "child": "arm"}],
        forces=[{"type": "generalized", "coordinate": "theta", "value": "-kr*theta - c*theta_dot"}],
        initial={"theta": 1.0},
    )
    run = pendula.simulate(model, 8, samples=81)
    data = {"t": run.t, "theta": run["theta"] + np.random.default_rng(3).normal(0, 0.002, 81)}
    found = pendula.fit(model, data, ["J", "kr", "c"])
    (sentence,) = found.identifiability
    assert "no effect" not in sentence
    parts = dict(re.findall(r"(\w+) by ([+-][\d.e-]+) %", sentence))
    assert set(parts) == {"J", "kr", "c"}
    # the equation is (m d^2 + J) theta'' = -kr theta - c theta'
    turned = float(parts["J"]) * found["J"] / (1 + found["J"])
    assert float(parts["kr"]) == pytest.approx(turned, rel=0.05)
    assert float(parts["c"]) == pytest.approx(turned, rel=0.05)
