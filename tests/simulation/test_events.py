"""Events of mechanisms: closed forms, SciPy on equations written by hand, linkages, endings, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk, ellipkinc

import pendula
from pendula import Event, Outcome, library
from pendula.errors import UsageError
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array

G = 9.81
EXACT = 1e-9
"""Error of event times at tolerance 1e-12 over some seconds."""


def _quarter_period(start: float) -> float:
    """Time from rest at an angle to the lowest point, of a rod of length 1: K(sin(start/2)) / omega."""
    return float(ellipk(np.sin(start / 2) ** 2) / np.sqrt(1.5 * G))


@pytest.mark.parametrize("start", [0.1, 1.5, 3.0])
def test_a_rod_passes_its_lowest_point_after_odd_quarters_of_its_period(start: float) -> None:
    system = library_system("pendulum")
    events = ["theta = 0", "left: theta = 0 falling", "rest: theta_dot"]
    run = pendula.simulate(system, 8.0, initial_state={"theta": start}, tol=1e-12, events=events)
    quarter = _quarter_period(start)
    low, rest = (quarter * np.arange(first, 8.0 / quarter, 2) for first in (1, 2))
    np.testing.assert_allclose(run.events["theta = 0"].t, low, atol=EXACT)
    np.testing.assert_allclose(run.events["left"].t, low[::2], atol=EXACT)
    np.testing.assert_allclose(run.events["rest"].t, rest, atol=EXACT)
    np.testing.assert_allclose(np.abs(run.events["rest"]["theta"]), start, atol=1e-9)
    speed = np.sqrt(2 * 1.5 * G * (1 - np.cos(start)))
    np.testing.assert_allclose(np.abs(run.events["theta = 0"]["theta_dot"]), speed, rtol=1e-9)


# --- sections against SciPy ---------------------------------------------------------------------------


def _two_points(t: float, y: Array) -> list[float]:
    """Two equal point masses on massless rods of length 1, absolute angles: textbook equations, written by hand."""
    a, b, u, w = y
    s, c = np.sin(a - b), np.cos(a - b)
    first, second = -s * w * w - 2 * G * np.sin(a), s * u * u - G * np.sin(b)
    det = 2 - c * c
    return [u, w, (first - c * second) / det, (2 * second - c * first) / det]


@pytest.mark.parametrize("tol", [1e-12])
def test_section_of_the_double_pendulum_is_that_of_scipy(tol: float) -> None:
    def rising(t: float, y: Array) -> float:
        return float(y[0])

    rising.direction = 1  # type: ignore[attr-defined]
    start = [0.9, 0.4, 0.0, 0.3]
    expected = solve_ivp(_two_points, (0, 20), start, method="DOP853", rtol=1e-13, atol=1e-13, events=rising)
    system = pendula.compile_system(library.chain(links=2, kind="point"))
    names = ("theta1", "theta2", "theta1_dot", "theta2_dot")
    run = pendula.simulate(
        system, 20.0, initial_state=dict(zip(names, start, strict=True)), tol=tol, events=["theta1 = 0 rising"]
    )
    found = run.events["theta1 = 0 rising"]
    assert len(found) == len(expected.t_events[0]) > 5
    np.testing.assert_allclose(found.t, expected.t_events[0], atol=1e-6)
    states = np.stack([found[n] for n in names], axis=1)
    np.testing.assert_allclose(states, expected.y_events[0], atol=1e-5)
    assert np.abs(found["theta1"]).max() < 1e-14
    assert np.all(found["theta1_dot"] > 0)


def test_events_do_not_change_the_run() -> None:
    system = library_system("double-pendulum")
    plain = pendula.simulate(system, 5.0)
    seen = pendula.simulate(system, 5.0, events=["theta1 = 0", "theta2_dot = theta1_dot"])
    assert np.array_equal(plain.t, seen.t)
    assert np.array_equal(plain.q, seen.q)


def test_a_momentary_passage_between_two_steps_is_found() -> None:
    """The angle of a swing reaches 0.999999 of its greatest value for a moment at the end of each swing."""
    system = library_system("pendulum")
    start = 0.5
    run = pendula.simulate(
        system, 6.0, initial_state={"theta": start}, tol=1e-10, events=["theta = -0.4999999", "theta_dot = 0"]
    )
    turns = run.events["theta_dot = 0"].t[::2]  # on the far side
    found = run.events["theta = -0.4999999"].t
    assert len(found) == 2 * len(turns)
    np.testing.assert_allclose(found.reshape(-1, 2).mean(axis=1), turns, atol=1e-5)
    # theta'' = 1.5 g sin(0.5) there: 1e-7 is passed for sqrt(2e-7 / theta'') on either side
    half = np.sqrt(2e-7 / (1.5 * G * np.sin(start)))
    np.testing.assert_allclose(np.diff(found.reshape(-1, 2))[:, 0], 2 * half, rtol=0.05)
    naive = np.diff(np.sign(run["theta"] + 0.4999999))
    assert np.count_nonzero(naive) < len(found)  # signs at the steps alone do not show them


# --- linkages -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["kane", "maximal", "projection"])
def test_events_of_a_linkage_lie_on_its_constraints(formulation: str) -> None:
    system = library_system("four-bar", formulation)
    run = pendula.simulate(system, 5.0, tol=1e-8, events=["crank = 90deg", "rocker_dot = 0"])
    turned = run.events["crank = 90deg"]
    assert len(turned) >= 2
    np.testing.assert_allclose(turned["crank"], np.pi / 2, atol=1e-13)
    for found in run.events.values():
        g, rate = system.gaps(found.q, found.v, found.t)
        assert np.abs(g).max() < 1e-13
        assert np.abs(rate).max() < 1e-12
    # the rocker stands still where crank and coupler are in line: sin(crank - coupler) = 0
    still = run.events["rocker_dot = 0"]
    assert len(still) >= 2
    moving = np.abs(still["crank_dot"]) > 0.1
    np.testing.assert_allclose(np.sin(still["crank"] - still["coupler"])[moving], 0.0, atol=1e-10)


def test_formulations_agree_on_the_events_of_a_linkage() -> None:
    times = [
        pendula.simulate(library_system("four-bar", f), 4.0, tol=1e-11, events=["crank = 90deg"])
        .events["crank = 90deg"]
        .t
        for f in ("kane", "maximal")
    ]
    np.testing.assert_allclose(times[0], times[1], atol=1e-8)


# --- time, inputs, prescribed motions, parameters -----------------------------------------------------


def _pulled() -> pendula.results.System:
    """A mass on a spring of frequency 1, pulled by one unit until pi: 1 - cos t, then -2 cos t."""
    return pendula.compile_system(
        pendula.Model(
            name="pulled",
            gravity=[0, 0, 0],
            parameters={"stop": "pi", "far": 1.5},
            inputs={"F": "1 if t < stop else 0"},
            bodies=[{"name": "block", "point": {"mass": 1}}],
            joints=[{"name": "x", "type": "prismatic", "parent": "ground", "child": "block"}],
            forces=[
                {"type": "spring", "joint": "x", "stiffness": 1},
                {"type": "generalized", "coordinate": "x", "value": "F"},
            ],
        )
    )


def test_events_at_a_breakpoint_are_found_once() -> None:
    """At pi the pull ends, and the speed passes zero in the same moment."""
    events = ["switch: t = stop", "end of pull: F - 0.5 falling", "turn: x_dot = 0", "x = far rising"]
    run = pendula.simulate(_pulled(), 9.0, tol=1e-12, events=events)
    assert run.events["switch"].t.tolist() == [np.pi]
    np.testing.assert_allclose(run.events["end of pull"].t, [np.pi], atol=1e-14)
    np.testing.assert_allclose(run.events["turn"].t, [np.pi, 2 * np.pi], atol=1e-9)
    np.testing.assert_allclose(
        run.events["x = far rising"].t, [np.arccos(-0.5), 2 * np.pi + np.arccos(-0.75)], atol=1e-9
    )


def test_parameters_of_the_run_enter_events() -> None:
    run = pendula.simulate(_pulled(), 3.0, tol=1e-12, parameters={"far": 0.5}, events=["x = far"])
    np.testing.assert_allclose(run.events["x = far"].t, [np.arccos(0.5)], atol=1e-9)


def test_prescribed_motions_can_be_named() -> None:
    model = pendula.Model(
        name="turned",
        gravity=[0, -9.81, 0],
        bodies=[{"name": "arm", "rod": {"mass": 1, "length": 1}}, {"name": "end", "rod": {"mass": 1, "length": 1}}],
        joints=[
            {"name": "a", "type": "revolute", "parent": "ground", "child": "arm", "motion": {"a": "0.3*sin(2*t)"}},
            {
                "name": "b",
                "type": "revolute",
                "parent": {"body": "arm", "at": "end"},
                "child": {"body": "end", "at": "start"},
            },
        ],
    )
    run = pendula.simulate(pendula.compile_system(model), 4.0, tol=1e-10, events=["a = 0.1 rising", "a_dot = 0"])
    turns = np.arcsin(1 / 3) / 2
    np.testing.assert_allclose(run.events["a = 0.1 rising"].t, [turns, turns + np.pi], atol=1e-13)
    np.testing.assert_allclose(run.events["a_dot = 0"].t, np.pi / 4 * np.array([1, 3, 5]), atol=1e-13)


# --- endings ------------------------------------------------------------------------------------------


def test_a_stop_ends_the_run_exactly_there_and_keeps_everything(tmp_path: Path) -> None:
    system = library_system("pendulum")
    events = ["theta_dot = 0", "stop: theta <= -30deg"]
    run = pendula.simulate(system, 20.0, tol=1e-11, samples=2001, events=events)
    assert run.outcome is Outcome.EVENT
    assert run.outcome.ok
    assert "theta <= -30deg at t = " in run.detail
    assert run["theta"][-1] == pytest.approx(-np.pi / 6, abs=1e-14)
    assert run.t[-1] == run.energy.t[-1] == run.events["theta <= -30deg"].t[0]
    assert np.array_equal(run.state().q, run.events["theta <= -30deg"].q[0])
    # 1/2 theta_dot^2 = 1.5 g (cos theta - cos 90deg)
    assert run["theta_dot"][-1] == pytest.approx(-np.sqrt(3 * G * np.cos(np.pi / 6)), rel=1e-9)
    plain = pendula.simulate(system, 20.0, tol=1e-11, samples=2001)
    kept = len(run) - 1
    assert np.array_equal(run.q[:kept], plain.q[:kept])
    assert plain.t[kept] > run.t[-1]
    assert len(run.energy_error) == len(run)
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as file:
        assert file["event.names"].tolist() == ["theta_dot = 0", "theta <= -30deg"]
        assert file["event.which"].tolist() == [1]
        assert file["event.t"].tolist() == [run.t[-1]]
        assert np.array_equal(file["event.q"], run.q[-1:])
        assert json.loads(str(file["account"]))["events"][1]["terminal"]


def test_the_third_passage_ends_the_run() -> None:
    third = Event("third", "theta", terminal=True, count=3)
    run = pendula.simulate(library_system("pendulum"), 60.0, tol=1e-12, events=[third])
    assert run.t[-1] == pytest.approx(5 * _quarter_period(np.pi / 2), abs=EXACT)
    assert len(run.events["third"]) == 3


def test_a_run_can_go_on_from_where_it_was_stopped() -> None:
    system = library_system("pendulum")
    first = pendula.simulate(system, 60.0, tol=1e-12, events=["stop: theta = 0 falling"])
    second = pendula.simulate(system, 60.0, tol=1e-12, initial_state=first.state(), events=["stop: theta = 0 falling"])
    assert second.t[-1] - first.t[-1] == pytest.approx(4 * _quarter_period(np.pi / 2), abs=EXACT)


def test_a_start_on_a_limit_is_no_event_if_the_motion_leaves_it() -> None:
    run = pendula.simulate(library_system("pendulum"), 1.0, events=["stop: theta >= 90deg"])
    assert run.outcome is Outcome.FINISHED


def test_a_start_on_a_limit_that_is_passed_ends_the_run_at_once() -> None:
    run = pendula.simulate(
        library_system("pendulum"), 1.0, initial_state={"theta_dot": 1.0}, events=["stop: theta >= 90deg"]
    )
    assert run.outcome is Outcome.EVENT
    assert run.t[-1] < 1e-9


def test_an_expression_that_loses_its_value_ends_the_run() -> None:
    run = pendula.simulate(library_system("pendulum"), 5.0, events=["sqrt(theta) = 2"])
    assert run.outcome is Outcome.EVENT_FAILED
    assert not run.outcome.ok
    assert "sqrt(theta) = 2" in run.detail
    assert np.all(run["theta"] > 0)


# --- how events are written ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "expression", "direction", "terminal"),
    [
        ("theta = 0 rising", "theta = 0 rising", "theta", "rising", False),
        ("theta=90deg", "theta=90deg", "(theta) - (90deg)", "any", False),
        ("stop: theta >= 90deg", "theta >= 90deg", "(theta) - (90deg)", "rising", True),
        ("stop: far: theta < -1", "far", "(theta) - (-1)", "falling", True),
        ("apex: theta_dot falling", "apex", "theta_dot", "falling", False),
        ("theta_dot*(1 if t < 1 else 2)", "theta_dot*(1 if t < 1 else 2)", "theta_dot*(1 if t < 1 else 2)", "any", False),
        ("theta = (1 if t < 1 else 2)", "theta = (1 if t < 1 else 2)", "(theta) - ((1 if t < 1 else 2))", "any", False),
    ],
)  # fmt: skip
def test_lines_of_text_are_events(text: str, name: str, expression: str, direction: str, terminal: bool) -> None:
    event = Event.read(text)
    assert (event.name, event.expression, event.direction, event.terminal) == (name, expression, direction, terminal)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        (["thata = 0"], 'event "thata = 0": there is no "thata"; did you mean "theta"'),
        (["theta^2 = 1"], 'event "theta\\^2 = 1": .*use \\*\\* for powers'),
        (["theta = 0 = 1"], "expected one ="),
        (["theta >= 1 rising"], "an inequality implies its direction"),
        (["theta = 0", "theta = 0"], 'two events are called "theta = 0"'),
        (["a: b: theta = 0"], "more than one name"),
        (["  "], "an event must be an Event or text"),
        ([3], "an event must be an Event or text"),
        (["stop: theta >= 0"], "already holds at the start"),
        (["sqrt(-theta) = 1"], "has no finite value at the start"),
        (["__import__('os') = 1"], "event"),
    ],
)
def test_bad_events_are_refused_with_their_name(events: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pendula.simulate(library_system("pendulum"), 1.0, events=events)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "", "expression": "t"}, "an event needs a name"),
        ({"name": "x", "expression": "t", "direction": "up"}, "rising, falling or any"),
        ({"name": "x", "expression": "t", "count": 0}, "positive integer"),
        ({"name": "x", "expression": "t +"}, 'event "x"'),
        ({"name": "x", "expression": "t", "limit": True}, "needs a direction"),
    ],
)
def test_bad_fields_of_an_event_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Event(**arguments)  # type: ignore[arg-type]


# --- steps, kinks, poles, touches and pulses ----------------------------------------------------------


def _time_at(angle: float, start: float) -> float:
    """When a rod of length 1, released at rest, first reaches an angle: K - F of the elliptic integrals."""
    k = np.sin(start / 2)
    return float((ellipk(k**2) - ellipkinc(np.arcsin(np.sin(angle / 2) / k), k**2)) / np.sqrt(1.5 * G))


@pytest.mark.parametrize(
    ("condition", "at"),
    [
        ("floor(t) >= 3", 3.0),
        ("ceil(t) > 3", 3.0),
        ("min(t, 2) >= 2", 2.0),
        ("max(0, t - 2) > 0", 2.0),
        ("sign(t - 2.5) >= 0", 2.5),
        ("abs(t - 1) + t <= 1", 0.0),
        ("1/(t - 1.25) > 0", 1.25),
        ("max(0, theta - 1.5) <= 0", _time_at(1.5, 2.0)),
        ("1 - floor(theta) >= 0", _time_at(2.0, 2.5)),
    ],
)
def test_a_run_stops_where_a_condition_with_steps_and_kinks_begins_to_hold(condition: str, at: float) -> None:
    start = 2.5 if "floor(theta)" in condition else 2.0
    events = [f"stop: {condition}"]
    run = pendula.simulate(library_system("pendulum"), 5.0, initial_state={"theta": start}, tol=1e-12, events=events)
    assert run.outcome is Outcome.EVENT
    assert run.t[-1] == pytest.approx(at, abs=EXACT)


def test_a_change_of_sign_through_infinity_is_no_zero() -> None:
    start = {"theta": 2.0}
    events = ["1/(theta - 1) = 0", "tan(theta) = 0", "theta = 0"]
    run = pendula.simulate(library_system("pendulum"), 5.0, initial_state=start, events=events)
    assert len(run.events["1/(theta - 1) = 0"]) == 0
    np.testing.assert_allclose(run.events["tan(theta) = 0"].t, run.events["theta = 0"].t, atol=1e-14)


@pytest.mark.parametrize("touch", ["abs(theta - 1)", "(theta - 1)**2", "-3*abs(theta - 1)**4/2"])
def test_zeros_of_what_never_changes_sign_are_those_of_what_it_is_made_of(touch: str) -> None:
    events = ["theta = 1", f"touch: {touch} = 0"]
    run = pendula.simulate(library_system("pendulum"), 5.0, initial_state={"theta": 2.0}, events=events)
    assert len(run.events["touch"]) == 5
    np.testing.assert_array_equal(run.events["touch"].t, run.events["theta = 1"].t)
    with pytest.raises(UsageError, match=r'never changes sign(.|\n)*"theta - 1 = 0 rising"'):
        Event.read(f"{touch} = 0 rising")


def test_other_touches_are_noted() -> None:
    events = ["abs(theta - 1) + (theta - 1)**2 = 0"]
    run = pendula.simulate(library_system("pendulum"), 1.0, initial_state={"theta": 2.0}, tol=1e-11, events=events)
    (note,) = (n for n in run.notes if "may touch zero" in n)
    at = float(note.split("t = ")[1].split()[0])
    assert at == pytest.approx(_time_at(1.0, 2.0), abs=1e-7)


def test_a_condition_on_time_that_holds_for_a_moment_is_found() -> None:
    events = ["exp(-((t - 2.5)/1e-4)**2) >= 0.5", "-1 if t < 3.3 or t > 3.30001 else 1", "sin(40*t) = 0.99999 rising"]
    run = pendula.simulate(library_system("pendulum"), 5.0, events=events)
    first, second, third = run.events.values()
    np.testing.assert_allclose(first.t, 2.5 - 1e-4 * np.sqrt(np.log(2)), rtol=1e-12)
    np.testing.assert_allclose(second.t, [3.3, 3.30001], rtol=1e-12)
    turns = np.arange(int((5.0 * 40 - np.arcsin(0.99999)) / (2 * np.pi)) + 1)
    np.testing.assert_allclose(third.t, (np.arcsin(0.99999) + 2 * np.pi * turns) / 40, rtol=1e-9)


def test_a_shifted_tangent_is_an_event() -> None:
    """tan(theta + pi/2) = -cot(theta) vanishes at theta = pi/2, where tan(theta - pi/2) does."""
    times = [
        pendula.simulate("pendulum", 2.0, initial_state={"theta": 2.5}, events=[f"tan(theta {shift} pi/2) = 0"])
        .events[f"tan(theta {shift} pi/2) = 0"].t
        for shift in "+-"
    ]  # fmt: skip
    cosine = pendula.simulate("pendulum", 2.0, initial_state={"theta": 2.5}, events=["cos(theta) = 0"])
    for found in times:
        np.testing.assert_allclose(found, cosine.events["cos(theta) = 0"].t, atol=1e-9)
