"""Stops at the limits of joints: closed forms of Hunt and Crossley's impact, agreement of formulations, checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import pendula
from pendula.errors import ModelError
from pendula.model.forces import ForceJointLimit

K, D, M = 4000.0, 0.4, 2.0
CLOSE = 1e-6
"""error of a run at tolerance 1e-10, relative"""


def sled(**limit: Any) -> pendula.Model:
    """A mass on a slide without gravity, with stops."""
    return pendula.Model(
        name="sled",
        gravity=[0, 0, 0],
        parameters={"k": K, "d": D},
        bodies=[{"name": "sled", "point": {"mass": M}}],
        joints=[{"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "sled"}],
        forces=[{"type": "joint-limit", "joint": "x", "stiffness": "k", **limit}],
    )


def leaving(v: float) -> float:
    """Speed after an impact: d v - log(1 + d v) is the same before, with v, and after, with minus the speed."""
    before = D * v - np.log1p(D * v)
    return float(brentq(lambda u: -D * u - np.log1p(-D * u) - before, 0.0, min(v, (1 - 1e-12) / D), xtol=1e-15))


@pytest.mark.parametrize("end", [1, -1])
@pytest.mark.parametrize("speed", [0.05, 1.0, 6.0])
def test_the_speed_after_an_impact_and_its_depth_equal_their_closed_forms(end: int, speed: float) -> None:
    limit = {"upper": 0.3} if end > 0 else {"lower": -0.3}
    model = sled(dissipation="d", **limit)
    run = pendula.simulate(model, 0.6 / speed + 0.5, tol=1e-11, initial_state={"x_dot": end * speed}, samples=20_001)
    assert run["x_dot"][-1] == pytest.approx(-end * leaving(speed), rel=CLOSE)
    depth = np.sqrt(2 * M / K * (D * speed - np.log1p(D * speed)) / D**2)
    assert (end * run["x"]).max() - 0.3 == pytest.approx(depth, rel=1e-5)
    assert run.energy_drift < 1e-8


def test_the_coefficient_of_restitution_is_that_of_the_docstring() -> None:
    # e = 1 - 2/3 d v to first order; the next term of the series is 4/9 (d v)^2.
    for speed in (0.02, 0.05):
        assert leaving(speed) / speed == pytest.approx(1 - 2 / 3 * D * speed, abs=(D * speed) ** 2)


def test_an_elastic_stop_returns_the_speed_after_half_a_period() -> None:
    model = sled(upper=0.0)
    half = np.pi * np.sqrt(M / K)
    run = pendula.simulate(model, half, tol=1e-12, initial_state={"x": 0.0, "x_dot": 2.0})
    assert run["x"][-1] == pytest.approx(0.0, abs=1e-9)
    assert run["x_dot"][-1] == pytest.approx(-2.0, rel=1e-9)


def test_a_stop_never_pulls() -> None:
    system = pendula.compile_system(sled(lower=-0.3, upper=0.3, dissipation="d"))
    for x, v, force in ((0.4, 0.0, -0.1 * K), (0.4, 1.0, -0.1 * K * (1 + D)), (0.4, -1 / D, 0.0), (0.4, -9.0, 0.0),
                        (0.2, 50.0, 0.0), (-0.4, -1.0, 0.1 * K * (1 + D)), (-0.4, 9.0, 0.0)):  # fmt: skip
        found = M * system.accelerations([x], [v])[0]
        assert found == pytest.approx(force, abs=1e-9)


def test_both_laws_derive_from_their_potentials() -> None:
    numeric = frozenset({"lower", "upper", "stiffness", "dissipation"})
    for law in ForceJointLimit.laws.values():
        assert law.fault(numeric) == law.mismatch({}) == ""
        assert law.fields <= numeric


def arm() -> pendula.Model:
    """Three links in space with stops on hinges and on one angle of a universal joint."""
    stop = {"type": "joint-limit", "stiffness": 30.0, "dissipation": 0.7}
    return pendula.Model(
        name="arm",
        gravity=[0, 0, -9.81],
        bodies=[{"name": n, "rod": {"mass": 1.0, "length": 0.5, "diameter": 0.05}} for n in "abc"],
        joints=[
            {
                "name": "p",
                "type": "revolute",
                "axis": [0, 1, 0],
                "parent": "ground",
                "child": {"body": "a", "at": "top"},
            },
            {
                "name": "q",
                "type": "universal",
                "parent": {"body": "a", "at": "tip"},
                "child": {"body": "b", "at": "top"},
            },
            {"name": "r", "type": "prismatic", "axis": [0, 1, 0], "parent": {"body": "b", "at": "tip"}, "child": "c"},
        ],
        forces=[
            stop | {"joint": "p", "lower": "-20deg", "upper": 0.4},
            stop | {"joint": "q", "coordinate": "q_2", "upper": 0.1},
            stop | {"joint": "r", "lower": -0.05},
        ],
    )


def test_formulations_and_recursion_agree_about_stops() -> None:
    model = arm()
    assert pendula.check(model, states=40).passed
    ours, recursion = (pendula.compile_system(model, engine=e) for e in ("symbolic", "recursive"))
    rng = np.random.default_rng(1)
    for _ in range(20):
        q, v = rng.normal(0, 0.6, 4), rng.normal(0, 2.0, 4)
        a, b = (s.accelerations(q, v) for s in (ours, recursion))
        assert np.abs(a - b).max() < 1e-11 * max(1.0, np.abs(a).max())


def test_a_pendulum_rests_at_its_stop_and_is_stable_there() -> None:
    model = pendula.library.pendulum().with_changes(
        forces=[{"type": "joint-limit", "joint": "theta", "lower": "30deg", "stiffness": 500.0, "dissipation": 1.0}]
    )
    (rest,) = (e for e in pendula.find_equilibria(model) if e["theta"] < 1)
    assert 0.4 < rest["theta"] < np.pi / 6  # a little into the stop
    assert pendula.stability(model, rest).verdict in ("stable", "asymptotically stable")
    with pytest.raises(pendula.errors.PendulaError, match="kink"):
        pendula.linearize(sled(lower=0.0), {"x": 0.0})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "lower: is missing, and so is upper"),
        ({"lower": 1.0, "upper": "k - 4000"}, "upper: must be above lower, found 0 and 1"),
        ({"upper": 1.0, "stiffness": -1}, "stiffness: must not be negative, found -1"),
        ({"upper": 1.0, "dissipation": -0.1}, "dissipation: must not be negative, found -0.1"),
        ({"upper": "x_dot"}, '"x_dot" cannot be used here; it may use parameters'),
    ],
)
def test_impossible_limits_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        sled(**fields)
