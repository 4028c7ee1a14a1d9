"""Bounds at which runs end: starts on a bound, and the energy of runs that end at once."""

import numpy as np
import pytest

import pendula
from pendula.outcome import Outcome

HALF = "180deg"


@pytest.fixture(scope="module")
def double():
    return pendula.compile_system(pendula.library.chain(links=2))


@pytest.fixture(scope="module")
def pendulum():
    return pendula.compile_system("pendulum")


def test_a_start_on_its_bound_that_moves_outward_leaves_at_once(pendulum):
    starts = {"theta": [1.0, 1.0, 1.0], "theta_dot": [0.5, 1e-9, 0.0]}  # at rest, gravity pulls towards 0
    runs = pendula.simulate_many(pendulum, 3.0, starts, within={"theta": (None, 1.0)}, samples=4)
    assert runs.outcome[:2] == (Outcome.EVENT, Outcome.EVENT)
    assert runs.end_t[:2].tolist() == [0.0, 0.0]
    assert runs.end_t[2] > 1.0
    assert runs.q[0, 0, 0] == 1.0
    assert np.isnan(runs.q[0, 1:]).all()
    assert runs.ok.all()
    low = pendula.simulate_many(pendulum, 3.0, {"theta": [1.0]}, within={"theta": (1.0, None)})
    assert low.end_t.tolist() == [0.0]
    assert low.energy_drift.tolist() == [0.0]


def test_a_start_on_its_bound_that_moves_inward_leaves_where_it_crosses_later(pendulum):
    for start in (1.0, np.nextafter(1.0, 2.0)):  # the second is beyond the bound by rounding
        starts = {"theta": [start], "theta_dot": [-1.0]}
        runs = pendula.simulate_many(pendulum, 5.0, starts, within={"theta": (None, 1.0)}, tol=1e-11)
        event = pendula.simulate(
            pendulum, 5.0, initial_state={"theta": 1.0, "theta_dot": -1.0}, events=["stop: theta > 1.0"], tol=1e-11
        )
        assert runs.outcome[0] is Outcome.EVENT
        assert runs.end_t[0] == pytest.approx(event.t[-1], abs=1e-8)
        assert runs.end_t[0] > 0.5


@pytest.mark.parametrize(("model", "start", "name"), [("pendulum", "theta", "theta"), ("four-bar", "crank", "rocker")])
def test_a_start_beyond_its_bound_has_left_at_once(model, start, name):
    starts = [0.5, 1.0, 2.0]
    begin = [pendula.simulate(model, 5.0, initial_state={start: x}, samples=[0.0])[name][0] for x in starts]
    one, two = sorted(begin)[:2]
    high = (one + two) / 2
    runs = pendula.simulate_many(model, 5.0, {start: starts}, within={name: (None, high)}, tol=1e-11)
    for x, t, q in zip(begin, runs.end_t, runs.end_q[:, runs.layout.coordinates.index(name)], strict=True):
        assert (t == 0.0) == (x > high)
        assert x <= high or q == pytest.approx(x, abs=1e-9)
    assert runs.ok.all()


def test_a_redundant_loop_that_starts_on_its_bound_leaves_at_once():
    """Three equal cranks carry a coupler: one is redundant, and beside the start not even closed."""

    def at(body, x):
        return {"body": body, "position": [x, 0, 0]}

    hinge = {"type": "revolute", "axis": [0, 0, 1]}
    bodies = [{"name": name, "mass": 1, "com": [0.2, 0.02, 0], "inertia": [0.1, 0.1, 0.1]} for name in "abcd"]
    joints = [{"name": n, **hinge, "parent": at("ground", x), "child": n} for n, x in (("a", 0), ("b", 0.5), ("c", 1))]
    joints.append({"name": "d", **hinge, "parent": at("a", 0.4), "child": "d"})
    joints += [
        {"name": f"pin_{n}", "type": "coincident", "parent": at("d", x), "child": at(n, 0.4)}
        for n, x in (("b", 0.5), ("c", 1))
    ]
    initial = {"a": -0.5, "b": -0.5, "c": -0.5, "d": 0.5, "a_dot": 0.4}
    model = pendula.Model(name="cranks", gravity=[0, -9.81], bodies=bodies, joints=joints, initial=initial)
    runs = pendula.simulate_many(model, 0.4, {"a_dot": [0.4, -0.4]}, within={"a": (None, -0.5)}, workers=1)
    assert runs.outcome[0] is Outcome.EVENT
    assert runs.end_t[0] == 0.0
    assert runs.end_t[1] > 0.05


def test_an_equilibrium_on_its_bound_never_leaves(pendulum, double):
    runs = pendula.simulate_many(pendulum, 2.0, {"theta": [np.pi, -np.pi]}, within={"theta": HALF})
    assert runs.outcome == (Outcome.FINISHED, Outcome.FINISHED)
    corners = pendula.simulate_many(
        double, 2.0, {"theta1": [np.pi, np.pi, -np.pi, 0.0], "theta2": [np.pi, -np.pi, 0.0, np.pi]},
        within={"theta1": HALF, "theta2": HALF},
    )  # fmt: skip
    assert set(corners.outcome) == {Outcome.FINISHED}


def test_of_two_names_of_one_pose_exactly_one_leaves_at_once(double):
    """+180 and -180 degrees are the same pose at rest: the same motion is outward for one and inward for the other."""
    other = np.radians([-150.0, -90.0, -31.0, 1e-3, 90.0, 120.0])  # at +-90 degrees theta1 is at rest for longer
    starts = {"theta1": np.repeat([np.pi, -np.pi], other.size), "theta2": np.tile(other, 2)}
    runs = pendula.simulate_many(double, 3.0, starts, within={"theta1": HALF})
    at_once = (runs.end_t == 0.0).reshape(2, -1)
    assert (at_once[0] != at_once[1]).all()
    assert runs.end_t[runs.end_t > 0].min() > 0.01


def test_energy_that_is_off_by_rounding_alone_is_no_drift(double):
    """Runs of nanoseconds: their kinetic energy is less than the rounding of the potential energy."""
    starts = {"theta1": np.pi - np.geomspace(1e-15, 1e-9, 12), "theta2": np.linspace(-3.0, 3.0, 12)}
    runs = pendula.simulate_many(double, 1.0, starts, within={"theta1": HALF})
    short = runs.end_t < 1e-4
    assert short.any()
    assert runs.energy_drift[short].max() < 1e-12
    single = pendula.simulate(double, 1e-8, initial_state={"theta1": 3.0, "theta2": 1.0})
    assert single.energy_drift < 1e-12
