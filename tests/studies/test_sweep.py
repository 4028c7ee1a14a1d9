"""Studies: what varies, what is computed, and that results agree with the calls behind them."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import pendula
from pendula.errors import NotSupported, UsageError
from pendula.studies.batch import Computed
from pendula.studies.plan import Draws
from pendula.tables.table import Block

THETAS = [0.1, 0.7, 1.5]
LENGTHS = [0.5, 1.0]


@pytest.fixture(scope="module")
def pendulum():
    return pendula.compile_system("pendulum")


def test_end_states_equal_single_runs(pendulum):
    found = pendula.sweep(pendulum, {"theta": THETAS, "l": LENGTHS}, duration=2.0, tol=1e-10, on="here")
    assert found.dims == ("theta", "l")
    assert found["end.theta"].shape == (3, 2)
    for i, theta in enumerate(THETAS):
        for j, length in enumerate(LENGTHS):
            run = pendula.simulate(
                pendulum, 2.0, initial_state={"theta": theta}, parameters={"l": length}, tol=1e-10, samples=2
            )
            assert abs(found["end.theta"][i, j] - run["theta"][-1]) < 1e-8
    assert found.unit("end.theta") == "rad"
    assert found.unit("end.theta_dot") == "rad/s"
    assert found.complete
    assert not found.failures


def test_frequency_is_that_of_the_closed_form(pendulum):
    lengths = np.array([0.5, 1.0, 2.0, 4.0])
    found = pendula.sweep(pendulum, {"l": lengths}, "frequencies", at={"theta": 0}, on="here")
    values = pendulum.model.parameter_values
    for length, frequency in zip(lengths, found["frequency"][:, 0], strict=True):
        linear = pendula.linearize(pendulum, {"theta": 0}, parameters={"l": length})
        assert frequency == pytest.approx(np.sqrt(linear.K[0, 0] / linear.M[0, 0]), rel=1e-12)
    assert found["frequency"][0, 0] / found["frequency"][2, 0] == pytest.approx(2.0, rel=1e-12)
    assert values["g"] > 0


def test_a_damping_ratio_stands_beside_the_frequency_of_its_mode():
    """A cart that rolls freely has no frequency: the only oscillation is the pole's."""
    cart = pendula.library.cart_pole()
    slowed = {"type": "generalized", "name": "friction", "coordinate": "theta", "value": "-c*theta_dot"}
    cart = cart.with_changes(parameters={**cart.parameters, "c": 0.01}, forces=[*cart.forces, slowed])
    found = pendula.sweep(cart, {"c": [0.01, 0.02]}, "frequencies", at={"theta": 0}, on="here")
    for k, c in enumerate([0.01, 0.02]):
        roots = np.linalg.eigvals(pendula.linearize(cart, {"theta": 0}, parameters={"c": c}).A)
        s = roots[np.argmax(roots.imag)]
        assert found["frequency"][k] == pytest.approx([abs(s)], rel=1e-9)
        assert found["damping_ratio"][k] == pytest.approx([-s.real / abs(s)], rel=1e-6)


def test_a_steady_motion_near_a_point_has_its_rate_among_the_speeds():
    """Conical pendulum: cos(theta) = g/(l w^2), and small motion at w sqrt(1 + 3 cos(theta)^2)."""
    rate, length = 5.0, np.array([0.5, 1.0])
    lean = 9.81 / (length * rate**2)
    how = {"compute": "frequencies", "on": "here"}
    near = pendula.sweep("spherical-pendulum", {"l": length.tolist()}, at={"theta": 1.0, "phi_dot": rate}, **how)
    lowest = pendula.sweep("spherical-pendulum", {"l": length.tolist()}, rates={"phi": rate}, **how)
    for found in (near, lowest):
        np.testing.assert_allclose(found["frequency"][:, 0], rate * np.sqrt(1 + 3 * lean**2), rtol=1e-9)
    with pytest.raises(UsageError, match=r'rates are for .*, but theta asks .*\n.*at={"phi_dot": ...}'):
        pendula.sweep("spherical-pendulum", {"theta": [0.5, 1.0]}, rates={"phi": rate}, **how)
    with pytest.raises(UsageError, match="rates are for the search"):
        pendula.sweep("spherical-pendulum", {"l": [1.0]}, rates={"phi": rate}, at={"theta": 0.5}, **how)


def test_verdicts_of_both_equilibria(pendulum):
    found = pendula.sweep(pendulum, {"theta": [0.0, "180deg"]}, "verdict", on="here")
    assert found["verdict"].tolist() == ["stable", "unstable"]
    assert found["stable"].tolist() == [1.0, 0.0]
    assert found["at.theta"] == pytest.approx([0.0, np.pi], abs=1e-12)


def test_all_computations_give_arrays_over_cases(pendulum):
    for name in pendula.extend.COMPUTATIONS:
        if name == "floquet":
            continue
        options = {"within": {"theta": 2.0}} if name == "first" else {}
        options |= {"duration": 1.0} if "duration" in pendula.extend.COMPUTATIONS[name].options else {}
        over = {"l": LENGTHS}
        found = pendula.sweep(pendulum, over, name, on="here", **options)
        assert not found.failures, (name, found.failures)
        assert found.names
        for one in found.names:
            assert found[one].shape[0] == 2
            assert found.dims_of(one)[0] == "l"


def test_floquet_of_a_shaken_pendulum():
    shaken = pendula.library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100.0, direction=0)
    found = pendula.sweep(shaken, {"g": [9.81]}, "floquet", at={"theta1": np.pi}, on="here")
    single = pendula.driven.floquet(shaken, at={"theta1": np.pi}, parameters={"g": 9.81})
    assert found["radius"][0] == single.radius
    assert found["stable"][0] == 1.0


def test_settings_vary_like_parameters(pendulum):
    found = pendula.sweep(
        pendulum, {"theta": [1.0], "stepper": ["dop853", "rk45"], "tol": [1e-6, 1e-10]}, duration=3.0, on="here"
    )
    assert found["end.theta"].shape == (1, 2, 2)
    exact = pendula.simulate(pendulum, 3.0, initial_state={"theta": 1.0}, tol=1e-13)["theta"][-1]
    off = np.abs(found["end.theta"][0] - exact)
    assert (off[:, 1] < off[:, 0]).all()  # the tighter tolerance is closer
    assert (off[:, 1] < 1e-8).all()


def test_formulation_is_a_setting():
    found = pendula.sweep("double-pendulum", {"formulation": ["kane", "maximal"]}, duration=0.5, tol=1e-11, on="here")
    assert not found.failures
    assert found["end.theta1"][0] == pytest.approx(found["end.theta1"][1], abs=1e-8)


def test_inputs_vary_in_one_system():
    forces = [0.0, 1.0, 2.5]
    found = pendula.sweep("cart-pole", {"F": forces}, duration=1.0, tol=1e-10, on="here")
    for force, x in zip(forces, found["end.x"], strict=True):
        run = pendula.simulate("cart-pole", 1.0, inputs={"F": force}, tol=1e-10)
        assert x == pytest.approx(run["x"][-1], abs=1e-8)


def test_listed_cases(pendulum):
    cases = [{"theta": 0.1, "l": 1.0}, {"theta": 0.2, "l": 2.0}, {"l": 3.0, "theta": "30deg"}]
    found = pendula.sweep(pendulum, cases, duration=1.0, on="here")
    assert found.dims == ("case",)
    assert found["theta"].tolist() == [0.1, 0.2, np.pi / 6]
    grid = pendula.sweep(pendulum, {"theta": [0.2], "l": [2.0]}, duration=1.0, on="here")
    assert found["end.theta"][1] == grid["end.theta"][0, 0]


def test_a_failing_case_does_not_stop_the_others(pendulum):
    found = pendula.sweep(pendulum, {"l": [1.0, -1.0, 2.0]}, duration=1.0, on="here")
    assert list(found.failures) == [1]
    assert "l" in found.failures[1]
    assert np.isfinite(found["end.theta"][[0, 2]]).all()
    assert np.isnan(found["end.theta"][1])
    assert "1 failure" in str(found)


def test_the_first_line_counts_what_failed(pendulum):
    def half(case):
        return 1.0 if case.number % 2 else 1 / 0

    found = pendula.sweep(pendulum, {"theta": [0.1, 0.2, 0.3]}, half, on="here")
    assert str(found).splitlines()[0] == "pendulum: 3 cases (3 theta), 1 computed, 2 failed"


def nothing(case):
    return None


def test_a_function_that_returns_nothing_fails(pendulum):
    found = pendula.sweep(pendulum, {"theta": [0.1, 0.2]}, nothing, on="here")
    assert list(found.failures) == [0, 1]
    assert "the function nothing returned None" in found.failures[0]


def seven(batch, tell):
    return Computed((Block("end.theta", ("case",), np.full(len(batch), 7.0)),), {})


def over_time(batch, tell):
    return Computed((Block("z", ("t",), np.zeros(2)),), {})


def too_short(batch, tell):
    return Computed((Block("z", ("case",), np.zeros(len(batch) + 1)),), {})


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (["end", seven], '"end" and "given" both compute "end.theta"'),
        (["end", lambda case: {"end.theta": 1.0}], 'both compute "end.theta"'),
        ([lambda case: {"x": 1.0}, lambda case: {"x": 2.0}], 'both compute "x"'),
        ([lambda case: {"theta": 1.0}], 'computes "theta", but "theta" is what varies'),
        ([over_time], '"z", which "given" computes, must be an array over "case"'),
        ([too_short], '"z", which "given" computes, must be an array over "case"'),
    ],
)
def test_results_that_collide_or_are_not_over_cases_are_refused(pendulum, compute, message):
    given = [one for one in compute if one in (seven, over_time, too_short)]
    for one in given:
        pendula.extend.register_computation("given", pendula.extend.Computation(one, {"duration": 1.0}))
    asked = ["given" if one in given else one for one in compute]
    try:
        with pytest.raises(UsageError, match=message):
            pendula.sweep(pendulum, {"theta": [0.1, 0.2]}, asked, on="here", duration=0.1)
    finally:
        for _ in given:
            pendula.extend.COMPUTATIONS.remove("given")


def test_facts_about_runs_are_shared(pendulum):
    found = pendula.sweep(pendulum, {"theta": [0.1, 0.2]}, ["end", "states", "energies"], on="here", duration=0.1)
    assert found["ok"].tolist() == [1.0, 1.0]
    assert found["kinetic"].shape == found["state.theta"].shape


def test_defaults_that_differ_between_computations_are_asked_for(pendulum):
    both, given = ["end", "lyapunov"], {"duration": 2.0, "tol": 1e-9}
    words = r"of duration and tol \(duration: 10\.0 for end, 100\.0 for lyapunov; tol: 1e-08 for end, 1e-09 for"
    with pytest.raises(UsageError, match=words):
        pendula.sweep(pendulum, {"theta": [0.1]}, both, on="here")
    with pytest.raises(UsageError, match="different defaults of tol "):
        pendula.sweep(pendulum, {"theta": [0.1], "duration": [1.0, 2.0]}, both, on="here")
    together = pendula.sweep(pendulum, {"theta": [0.1]}, both, on="here", **given)
    alone = pendula.sweep(pendulum, {"theta": [0.1]}, "lyapunov", on="here", **given)
    assert together["lyapunov"].tolist() == alone["lyapunov"].tolist()


def test_own_function_with_failures_words_and_arrays(pendulum):
    def measure(case):
        if case.initial_state["theta"] > 1.0:
            raise ZeroDivisionError("too far")
        return {"double": 2 * case.initial_state["theta"], "word": f"case {case.number}", "pair": [1.0, case.number]}

    found = pendula.sweep(pendulum, {"theta": THETAS}, measure, on="here")
    assert found["double"][:2].tolist() == [0.2, 1.4]
    assert np.isnan(found["double"][2])
    assert found["word"].tolist() == ["case 0", "case 1", ""]
    assert found["pair"].shape == (3, 2)
    assert found.failures == {2: "ZeroDivisionError: too far"}


def top_level(case):
    return float(case.parameters[0]) + sum(case.initial_state.values())


@pytest.mark.parametrize("where", ["here", "cores", "processes", "threads"])
def test_results_do_not_depend_on_where(pendulum, where):
    over = {"theta": "-2:2:37", "l": LENGTHS}
    here = pendula.sweep(pendulum, over, duration=2.0, on="here")
    if where in ("here", "cores"):
        other = pendula.sweep(pendulum, over, duration=2.0, on=where, workers=None if where == "here" else 2)
    else:
        pool = ProcessPoolExecutor(1) if where == "processes" else ThreadPoolExecutor(2)
        with pool:
            other = pendula.sweep(pendulum, over, duration=2.0, on=pool)
    for name in here.names:
        assert np.array_equal(here[name], other[name], equal_nan=True), name


def test_first_crossing_by_lanes_and_by_events_agree():
    system = pendula.compile_system(pendula.library.chain(links=2))
    over = {"theta1": "-3:3:5", "theta2": "-3:3:5"}
    bounds = {"theta1": "180deg", "theta2": "180deg"}
    lanes = pendula.sweep(system, over, "first", within=bounds, duration=8.0, tol=1e-10, on="here")
    events = [f"stop: a{k}: abs(theta{k}) >= 180deg" for k in (1, 2)]
    single = pendula.sweep(system, over, "first", events=events, duration=8.0, tol=1e-10, on="here")
    known = np.isfinite(lanes["first_t"])
    assert 3 < known.sum() < 25
    assert np.array_equal(known, np.isfinite(single["first_t"]))
    assert np.abs(lanes["first_t"][known] - single["first_t"][known]).max() < 1e-6  # chaos grows the tolerance
    names = {"theta1": "a1", "theta2": "a2", "": ""}
    assert [names[x] for x in lanes["first"].ravel()] == single["first"].ravel().tolist()


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"thet": [1.0]}, 'did you mean "theta"'),
        ({"theta": "0:1"}, "expected a list of values"),
        ({"theta": "0:1:x"}, "number of values"),
        ({"theta": []}, "at least one value"),
        ({"theta": [np.nan]}, "is not finite"),
        ({"theta": {"uniform": [1, 0]}}, "from a smaller to a larger"),
        ({"theta": {"uniform": [0, 1]}}, "is random: give the number of draws"),
        ({"theta": {"gauss": [0, 1]}}, "expected a list of values"),
        ({"theta": [True]}, "expected a number"),
        ({}, "dictionary of what varies"),
        ([{"theta": 1.0}, {"l": 2.0}], "case 1 sets l"),
        ({"theta": "0:1:100000", "l": "1:2:100000"}, "at most"),
        ({"stepper": {"uniform": [0, 1]}}, "is a setting"),
    ],
)
def test_what_varies_is_checked(pendulum, over, message):
    with pytest.raises(UsageError, match=message):
        pendula.sweep(pendulum, over, on="here")


def test_arguments_are_checked(pendulum):
    over = {"theta": [0.1]}
    with pytest.raises(UsageError, match='no computation "ends"; did you mean "end"'):
        pendula.sweep(pendulum, over, "ends")
    with pytest.raises(UsageError, match='"samples" is not a setting of end'):
        pendula.sweep(pendulum, over, "end", samples=3)
    with pytest.raises(UsageError, match="on is"):
        pendula.sweep(pendulum, {"theta": "0:1:100000"}, on=3)
    with pytest.raises(UsageError, match="workers must be"):
        pendula.sweep(pendulum, {"theta": "0:1:100000"}, workers=0)
    with pytest.raises(UsageError, match="stepper"):
        pendula.sweep(pendulum, over, stepper="rk99", on="here")
    with pytest.raises(UsageError, match='"tol" is a setting of all cases, and also varies'):
        pendula.sweep(pendulum, {"tol": [1e-6]}, tol=1e-7)
    with pytest.raises(UsageError, match="retry"):
        pendula.sweep(pendulum, over, retry="failed")
    with pytest.raises(UsageError, match="draws: nothing is random"):
        pendula.sweep(pendulum, over, draws=3)
    with pytest.raises(UsageError, match="replicates"):
        Draws(100, "sobol", replicates=16)
    with pytest.raises(UsageError, match="first: give"):
        pendula.sweep(pendulum, over, "first", on="here")
    with pytest.raises(NotSupported, match="top level"), ProcessPoolExecutor(1) as pool:
        pendula.sweep(pendulum, over, lambda case: 1.0, on=pool)


def test_the_result_becomes_a_dataset_and_files_and_back(pendulum, tmp_path):
    found = pendula.sweep(pendulum, {"theta": THETAS, "l": [1.0, -1.0]}, duration=1.0, on="here")
    data = found.to_xarray()
    assert data["end.theta"].dims == ("theta", "l")
    assert data["end.theta"].attrs["units"] == "rad"
    for ending in ("npz", "nc", "csv", "json", "parquet"):
        path = tmp_path / f"found.{ending}"
        found.save(path)
        again = pendula.load_run(path)
        assert again.dims == found.dims
        assert dict(again.failures) == dict(found.failures)
        for name in found.names:
            assert np.array_equal(again[name], found[name], equal_nan=True), (ending, name)


def test_bounds_of_an_ensemble(pendulum):
    starts = {"theta": np.linspace(0.12, 3.02, 30)}
    runs = pendula.simulate_many(pendulum, 5.0, starts, within={"theta": (-1.0, None)}, tol=1e-10, samples=40)
    for k, theta in enumerate(starts["theta"]):
        single = pendula.simulate(
            pendulum, 5.0, initial_state={"theta": theta}, events=["stop: theta < -1"], tol=1e-10, samples=40
        )
        assert abs(single.t[-1] - runs.end_t[k]) < 1e-8
        assert runs.outcome[k] is single.outcome
        reached = np.isfinite(runs.q[k]).all(axis=1)
        assert runs.t[reached].max() <= runs.end_t[k]
    with pytest.raises(UsageError, match="increasing"):
        pendula.simulate_many(pendulum, 1.0, starts, within={"theta": (1.0, 0.0)})
    with pytest.raises(NotSupported, match="taylor"):
        pendula.simulate_many(pendulum, 1.0, starts, within={"theta": 1.0}, stepper="taylor")


def test_a_peak_between_steps_leaves_the_bounds(pendulum):
    """A pendulum that rises above the bound by so little that both ends of the step are below."""
    theta = 1.0
    starts = {"theta": [-theta], "theta_dot": [0.0]}
    bound = theta * (1 - 1e-6)
    runs = pendula.simulate_many(pendulum, 4.0, starts, within={"theta": (None, bound)}, tol=1e-11)
    single = pendula.simulate(
        pendulum, 4.0, initial_state={"theta": -theta}, events=[f"stop: theta > {bound!r}"], tol=1e-11
    )
    assert runs.end_t[0] == pytest.approx(single.t[-1], abs=1e-6)
    assert single.t[-1] < 4.0
