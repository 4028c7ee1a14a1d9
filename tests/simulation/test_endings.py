"""How runs end and what they keep, what is noted, saved and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula import Outcome, library
from pendula.errors import LoopNotClosed, NoConvergence, NotSupported, SingularPose, UsageError
from tests.helpers.mechanisms import library_system


def _pendulum(value: str, **changes: Any) -> pendula.Model:
    force = {"type": "generalized", "coordinate": "theta", "value": value}
    return library.pendulum().with_changes(forces=[force], **changes)


# --- runs that stop -----------------------------------------------------------------------------------


def test_a_force_that_has_no_value_stops_the_run_and_keeps_what_was_computed() -> None:
    """The logarithm of a negative number, from t = 1 on."""
    run = pendula.simulate(pendula.compile_system(_pendulum("0.1*log(1 - t)")), 2.0)
    assert not run.outcome.ok
    assert run.outcome in (Outcome.NOT_FINITE, Outcome.STEP_TOO_SMALL)
    assert str(run.outcome).startswith("stopped: ")
    assert run.detail
    assert 0.9 < run.t[-1] <= 1.0
    assert np.all(np.isfinite(run.q))
    assert np.all(np.isfinite(run.energy.total))


def test_a_force_without_a_value_from_the_start_is_refused_at_once() -> None:
    with pytest.raises(pendula.errors.PendulaError, match="not finite"):
        pendula.simulate(pendula.compile_system(_pendulum("log(-1 - t)")), 2.0)


def test_a_run_into_a_singular_chart_stops_or_passes_but_never_gives_nonsense() -> None:
    """A spherical pendulum without moment of momentum swings through theta = 0, where its angles are singular."""
    system = library_system("spherical-pendulum")
    run = pendula.simulate(system, 2.0, initial_state={"theta": 1.0, "phi": 0.0, "phi_dot": 0.0}, tol=1e-9)
    assert np.all(np.isfinite(run.q))
    if run.outcome.ok:
        assert run.energy_drift < 1e-6
    else:
        assert run.detail


def test_a_motion_without_a_value_at_the_start_is_named() -> None:
    joint = {"name": "th", "type": "revolute", "parent": "ground", "child": "rod", "motion": "log(t)"}
    arm = {"name": "q", "type": "revolute", "parent": {"body": "rod", "at": "end"}, "child": "arm"}
    rods = [{"name": name, "rod": {"mass": 1, "length": 1}} for name in ("rod", "arm")]
    model = pendula.Model(name="driven", gravity=[0, -9.81, 0], bodies=rods, joints=[joint, arm])
    with pytest.raises(UsageError, match='motion of "th" is not defined at the start: "log'):
        pendula.simulate(model, 1.0)


@pytest.mark.parametrize("formulation", ["kane", "maximal"])
@pytest.mark.parametrize(("motion", "which"), [("sqrt(t)", "rate"), ("k*t**1.5", "acceleration")])
def test_a_motion_without_a_finite_rate_at_the_start_is_named(motion: str, which: str, formulation: str) -> None:
    joint = {"name": "th", "type": "revolute", "parent": "ground", "child": "rod", "motion": motion}
    arm = {"name": "q", "type": "revolute", "parent": {"body": "rod", "at": "end"}, "child": "arm"}
    rods = [{"name": name, "rod": {"mass": 1, "length": 1}} for name in ("rod", "arm")]
    model = pendula.Model(name="driven", gravity=[0, -9.81, 0], parameters={"k": 2.0}, bodies=rods, joints=[joint, arm])
    system = pendula.compile_system(model, formulation)
    with pytest.raises(UsageError, match=rf'motion of "th" has no finite {which} at the start, t = 0(.|\n)*Try: '):
        pendula.simulate(system, 1.0)
    assert pendula.simulate(system, t_span=(0.1, 0.2)).outcome.ok


def test_a_run_that_starts_singular_is_refused() -> None:
    with pytest.raises(SingularPose, match="theta = 0"):
        pendula.simulate(library_system("spherical-pendulum"), 1.0, initial_state={"theta": 0.0})


@pytest.mark.parametrize("speed", [6.0, 8.0])
def test_a_chart_that_ends_stops_the_run_or_shows_in_the_energy(speed: float) -> None:
    """The x, y chart ends at the equator; thrown hard enough, the bob gets there and cannot go on."""
    system = library_system("spherical-pendulum: xy")
    run = pendula.simulate(system, 5.0, initial_state={"x": 0.0, "y": 0.1, "x_dot": speed, "y_dot": 0.3})
    assert np.hypot(run["x"], run["y"]).max() <= 1.0 + 1e-12
    assert np.all(np.isfinite(run.q))
    if run.outcome.ok:
        assert run.energy_drift > 0.01
    else:
        assert str(run.outcome).startswith("stopped: ")
        assert "mass matrix" in run.detail or "singular" in run.detail


def test_a_run_with_too_few_steps_stops_and_keeps_them() -> None:
    run = pendula.simulate(library_system("chain"), 10.0, max_steps=20)
    assert run.outcome is Outcome.TOO_MANY_STEPS
    assert run.steps + run.rejected == 20
    assert len(run.t) == run.steps + 1
    assert 0 < run.t[-1] < 10
    assert "20 steps" in run.detail


def test_a_failure_can_be_raised() -> None:
    with pytest.raises(NoConvergence, match="number of steps"):
        pendula.simulate(library_system("chain"), 10.0, max_steps=20, on_failure="raise")


def test_an_interrupted_run_keeps_what_it_has() -> None:
    def stop(t: float, t_end: float, steps: int) -> None:
        if t > 0.5:
            raise KeyboardInterrupt

    run = pendula.simulate(
        library_system("chain"), 1000.0, tol=1e-10, on_progress=stop, samples=np.linspace(0, 1000, 10001)
    )
    assert run.outcome is Outcome.INTERRUPTED
    assert "interrupted" in str(run.outcome)
    assert len(run.t) > 5
    assert run.t[-1] < 1000
    assert np.all(np.isfinite(run.q))
    assert len(run.energy.t) == run.steps + 1


def test_progress_is_told_in_order() -> None:
    told: list[tuple[float, float, int]] = []
    pendula.simulate(library_system("chain"), 5.0, on_progress=lambda *x: told.append(x))
    assert told
    assert all(end == 5.0 for _, end, _ in told)
    assert [t for t, _, _ in told] == sorted(t for t, _, _ in told)


# --- the start ----------------------------------------------------------------------------------------


def test_a_loop_that_cannot_close_is_refused_with_joint_and_bodies() -> None:
    system = library_system("four-bar")
    vector = system.parameters.copy()
    vector[system.layout.parameters.index("a")] = 9.0  # longer than all others together
    with pytest.raises(LoopNotClosed) as error:
        pendula.simulate(system, 1.0, parameters=vector)
    assert all(word in str(error.value) for word in ('joint "pin"', "coupler", "rocker", "Try:"))


def test_an_initial_state_that_had_to_move_is_noted() -> None:
    system = library_system("four-bar")
    start = system.initial_state()
    assert pendula.simulate(system, 0.1).notes == ()
    run = pendula.simulate(system, 0.1, initial_state={"coupler": start["coupler"] + 0.05})
    assert len(run.notes) == 1
    assert "moved" in run.notes[0]
    assert "rad" in run.notes[0]
    assert "closed with coupler = " in run.doubts[0]  # at this angle the tips are farther apart than the rocker is long


def test_a_run_starts_from_the_state_given() -> None:
    system = library_system("double-pendulum")
    by_name = pendula.simulate(system, 0.5, initial_state={"theta1": 0.7, "theta2_dot": -1.0})
    assert by_name["theta1"][0] == 0.7
    assert by_name["theta2"][0] == pytest.approx(np.deg2rad(-5))
    assert by_name["theta2_dot"][0] == -1.0
    state = system.state({"theta1": 0.7})
    assert pendula.simulate(system, 0.5, initial_state=state)["theta2"][0] == 0.0


def test_a_run_goes_on_where_another_ended() -> None:
    system = library_system("hoop-bead")
    whole = pendula.simulate(system, 2.0, tol=1e-11)
    half = pendula.simulate(system, 1.0, tol=1e-11)
    rest = pendula.simulate(system, t_span=(1.0, 2.0), initial_state=half.state(), tol=1e-11)
    np.testing.assert_allclose(rest.q[-1], whole.q[-1], atol=1e-8)


def test_parameters_of_a_run_are_used_and_kept() -> None:
    run = pendula.simulate(
        library_system("pendulum: point"), np.pi, parameters={"g": 4.0}, initial_state={"theta": 1e-4}
    )
    assert run["theta"][-1] == pytest.approx(1e-4, rel=1e-3)  # one full period at frequency 2
    assert dict(zip(run.layout.parameters, run.parameters, strict=True))["g"] == 4.0


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"duration": 1.0, "t_span": (0, 1)},
        {"duration": np.nan},
        {"duration": np.inf},
        {"duration": "long"},
        {"t_span": (0, 1, 2)},
        {"duration": 1.0, "tol": 0.0},
        {"duration": 1.0, "tol": -1e-8},
        {"duration": 1.0, "tol": np.nan},
        {"duration": 1.0, "tol": 1e-20},
        {"duration": 1.0, "samples": "many"},
        {"duration": 1.0, "max_steps": "many"},
        {"duration": 1.0, "max_steps": 1.5},
        {"duration": 1.0, "stepper": "taylor", "step": 0.1},
        {"duration": 1.0, "atol": -1.0},
        {"duration": 1.0, "stepper": "euler"},
        {"duration": 1.0, "samples": 1},
        {"duration": 1.0, "samples": [0.0, 2.0]},
        {"duration": 1.0, "samples": [0.5, 0.1]},
        {"duration": 1.0, "samples": [np.nan]},
        {"duration": 1.0, "max_steps": 0},
        {"duration": 1.0, "constraints": "projected"},
        {"duration": 1.0, "on_failure": "ignore"},
        {"duration": 1.0, "initial_state": {"thetta": 1.0}},
        {"duration": 1.0, "initial_state": {"theta": np.nan}},
        {"duration": 1.0, "parameters": [1.0]},
    ],
    ids=str,
)
def test_bad_arguments_are_refused_with_a_message(arguments: dict[str, Any]) -> None:
    with pytest.raises((UsageError, NotSupported)) as error:
        pendula.simulate(library_system("pendulum"), **arguments)
    assert str(error.value)


def test_a_state_of_another_system_is_refused() -> None:
    state = library_system("double-pendulum").initial_state()
    with pytest.raises(UsageError):
        pendula.simulate(library_system("cart-pole"), 1.0, initial_state=state)
    with pytest.raises(UsageError):
        pendula.simulate(library_system("pendulum"), 1.0, initial_state=state)


# --- what a run gives ---------------------------------------------------------------------------------


def test_a_trajectory_is_read_by_name() -> None:
    run = pendula.simulate(library_system("cart-pole"), 1.0, samples=5)
    np.testing.assert_array_equal(run["theta"], run.q[:, 1])
    np.testing.assert_array_equal(run["x_dot"], run.v[:, 0])
    assert len(run) == 5
    assert run.state(2)["theta"] == run["theta"][2]
    assert run.state().t == 1.0
    with pytest.raises(UsageError, match='there is no "omega"'):
        run["omega"]


def test_a_saved_run_reads_back(tmp_path: Path) -> None:
    run = pendula.simulate(library_system("four-bar"), 1.0, samples=7)
    path = tmp_path / "run.npz"
    run.save(path)
    with np.load(path, allow_pickle=False) as saved:
        for name in ("t", "q", "v"):
            np.testing.assert_array_equal(saved[name], getattr(run, name))
        assert saved["coordinates"].tolist() == ["crank", "coupler", "rocker"]
        assert saved["speeds"].tolist() == ["crank_dot", "coupler_dot", "rocker_dot"]
        np.testing.assert_array_equal(saved["steps.kinetic"], run.energy.kinetic)
        account = json.loads(str(saved["account"]))
    assert account["outcome"] == "finished: reached the final time"
    assert account["energy_drift"] == run.energy_drift
    assert account["model"] == "four-bar linkage"
    assert [*account["parameters"].values()] == run.parameters.tolist()


def test_saving_where_nothing_can_be_written_is_refused(tmp_path: Path) -> None:
    run = pendula.simulate(library_system("pendulum"), 0.1)
    with pytest.raises(UsageError, match="cannot be written"):
        run.save(tmp_path / "nowhere" / "run.npz")


def test_a_run_of_no_length_has_one_state() -> None:
    run = pendula.simulate(library_system("pendulum"), 0.0)
    assert run.outcome.ok
    assert len(run.t) == 1


def test_the_same_run_twice_is_the_same() -> None:
    first, second = (pendula.simulate(library_system("chain"), 3.0) for _ in range(2))
    np.testing.assert_array_equal(first.q, second.q)


@pytest.mark.parametrize(
    "given", [{"parameters": {"l": "long"}}, {"parameters": "long"}, {"atol": "small"}, {"samples": "many"}]
)
def test_many_runs_refuse_words_where_numbers_belong(given: dict[str, Any]) -> None:
    with pytest.raises(pendula.errors.UsageError, match=r"must be|expected"):
        pendula.simulate_many(library_system("chain"), 1.0, {"theta1": [0.1, 0.2]}, **given)


def test_a_tolerance_may_be_any_kind_of_number() -> None:
    run = pendula.simulate(library_system("chain"), 0.1, tol=np.float32(1e-6))
    assert run.outcome.ok
    assert run.tolerance == pytest.approx(1e-6)


def test_a_run_that_stops_keeps_where_among_its_samples() -> None:
    """A force that grows without bound ends the run between two samples; the last state is where it stopped."""
    runaway = {"type": "generalized", "coordinate": "theta", "value": "50*theta**3"}
    model = library.pendulum().with_changes(forces=[runaway])
    sampled, stepped = (pendula.simulate(model, 10.0, samples=s) for s in ([0.0, 5.0, 9.0], None))
    assert not sampled.outcome.ok
    assert sampled.t[-1] == stepped.t[-1]
    assert 0.0 < sampled.t[-1] < 5.0
    assert np.array_equal(sampled.q[-1], stepped.q[-1])


@pytest.mark.parametrize("bad", [np.array([0.0, 1.0, 2.0]), np.array([[0.0, 1.0], [1.0, 2.0]]), 5, "ab", (0.0, np.inf)])
def test_a_time_span_is_two_numbers_in_any_container(bad: Any) -> None:
    assert pendula.simulate("pendulum", t_span=np.array([0.0, 0.5])).t[-1] == 0.5
    with pytest.raises(UsageError, match="time span must be two finite numbers"):
        pendula.simulate("pendulum", t_span=bad)


# --- ends that are driven ---------------------------------------------------------------------------------


def test_a_driven_linkage_takes_the_middle_of_its_motion() -> None:
    model = library.driven_linkage(pivot=(15, 0), start="80deg")
    run = pendula.simulate(model, 0.5, samples=6)
    assert run.ok
    end = run.position(model.bodies[-1].name, "tip")
    expected = np.column_stack([np.full(6, 15.0), 0.2 * np.cos(4.0 * run.t), np.zeros(6)])
    np.testing.assert_allclose(end, expected, atol=1e-9)


@pytest.mark.parametrize("engine", ["symbolic", "recursive"])
def test_an_end_driven_beyond_reach_names_its_loop(engine: str) -> None:
    """Two links of length 1 and one of length c cannot bring their end nearer to the base than c - 2."""
    model = library.driven_linkage(bars=4, pivot=(2.5, 0), amplitude=2.5, direction="90deg", start=["70deg", "90deg"])
    run = pendula.simulate(pendula.compile_system(model, engine=engine), 4.0, samples=3)
    assert not run.ok
    (note,) = [text for text in run.notes if "beyond its reach" in text]
    assert 'joint "end"' in note
    assert "ground, link1, link2, link3" in note
    last = np.linalg.norm(run.position("link3", "tip")[0] - run.position("link3")[0])
    at_stop = 2.5 + 2.5 * np.cos(4.0 * run.energy.t[-1])
    assert at_stop == pytest.approx(last - 2.0, abs=1e-5)


def test_a_duration_whose_square_is_no_number_is_refused() -> None:
    with pytest.raises(UsageError, match="the duration must be 0 or at least 1e-100, found 1e-300"):
        pendula.simulate("pendulum", 1e-300)
    with pytest.raises(UsageError, match="the duration must be 0 or at least 1e-100, found 1e-300"):
        pendula.simulate_many("pendulum", 1e-300, [{"theta": 1.0}])


def test_a_driven_bar_without_mass_is_not_said_to_stand_still():
    """Its motion changes no energy, beside a body that rests."""
    bodies = [{"name": "bar", "mass": 0}, {"name": "stone", "mass": 1.0}]
    joints = [
        {"name": "a", "type": "revolute", "parent": "ground", "child": "bar", "motion": "1.4*sin(t)"},
        {"name": "x", "type": "prismatic", "parent": "ground", "child": "stone", "axis": [1, 0, 0]},
    ]
    run = pendula.simulate(pendula.Model(name="bar", gravity=[0, 0, 0], bodies=bodies, joints=joints), 1.0)
    assert float(np.ptp(run["a"])) == pytest.approx(1.4 * np.sin(1.0))
    assert run.notes == ("no energy changes, so the energy drift is not scaled",)
