"""How loops are kept closed during a run: projection, Baumgarte's terms, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.errors import UsageError
from tests.helpers.mechanisms import library_system


def _opened(rate: float, seconds: float) -> tuple[float, float]:
    """Gap of a four-bar linkage that starts 1e-4 open and at rest, before and after, by the right-hand side alone."""
    from pendula.numerics.steppers.stepping import integrate

    model = library.four_bar(crank_rate=0.0)
    system = pendula.compile_system(model.with_changes(gravity=[0, 0, 0]))
    start = system.initial_state().replace({"coupler": system.initial_state()["coupler"] + 1e-4})
    dynamics = system.dynamics(baumgarte=rate)
    run = integrate(dynamics.rhs, np.concatenate([start.q, start.v]), (0.0, seconds), rtol=1e-10, atol=1e-14)
    first, last = (np.linalg.norm(system.gaps(y[:3])[0]) for y in (run.y[0], run.y[-1]))
    return float(first), float(last)


@pytest.mark.parametrize("rate", [2.0, 7.0])
def test_baumgarte_lets_a_gap_decay_as_a_critically_damped_oscillator(rate: float) -> None:
    """g'' + 2 rate g' + rate^2 g = 0 from rest: g = g0 (1 + rate t) exp(-rate t)."""
    first, last = _opened(rate, 1.0)
    assert first > 5e-5
    assert last == pytest.approx(first * (1 + rate) * np.exp(-rate), rel=1e-3)


def test_baumgarte_follows_a_driven_constraint() -> None:
    """The pivot of the rocker is shaken: G v = b with b not zero, so the rate of the gap is G v - b."""
    joints = list(library.four_bar().joints)
    parent = {"body": "ground", "position": ["d + 0.1*sin(3*t)", "0.05*t", 0]}
    joints[2] = {"name": "rocker", "type": "revolute", "parent": parent, "child": "rocker", "measured_from": "ground"}
    system = pendula.compile_system(library.four_bar().with_changes(joints=joints))
    projected = pendula.simulate(system, 3.0, tol=1e-10, samples=11)
    stabilized = pendula.simulate(system, 3.0, tol=1e-10, samples=11, constraints="baumgarte", baumgarte_rate=20.0)
    assert stabilized.constraint_violation < 1e-8
    np.testing.assert_allclose(stabilized["crank"], projected["crank"], atol=1e-6)


def test_the_rate_of_baumgarte_is_told() -> None:
    system = library_system("four-bar")
    given = pendula.simulate(system, 0.2, constraints="baumgarte", baumgarte_rate=12.5)
    assert any("Baumgarte" in note and "12.5/s" in note for note in given.notes)
    chosen = pendula.simulate(system, 0.2, constraints="baumgarte")
    assert any("Baumgarte" in note and "typical steps" in note for note in chosen.notes)


def test_backwards_baumgarte_lets_gaps_decay_towards_the_end_of_the_run() -> None:
    """The motion back is the motion there: with the sign of a forward run, gaps grow by exp(2 rate t) = 1e17."""
    system = library_system("four-bar")
    there = pendula.simulate(system, 1.0, tol=1e-11, samples=5)
    back = pendula.simulate(
        system, t_span=(1.0, 0.0), initial_state=there.state(-1), tol=1e-11, samples=5,
        constraints="baumgarte", baumgarte_rate=20.0,
    )  # fmt: skip
    assert back.constraint_violation < 1e-8
    np.testing.assert_allclose(back["crank"][::-1], there["crank"], atol=1e-7)


def test_without_loops_baumgarte_changes_nothing() -> None:
    plain = pendula.simulate(library_system("double-pendulum"), 1.0)
    run = pendula.simulate(library_system("double-pendulum"), 1.0, constraints="baumgarte")
    np.testing.assert_array_equal(run.q, plain.q)
    assert run.notes == ()


@pytest.mark.parametrize(
    "arguments",
    [
        {"constraints": "projection", "baumgarte_rate": 5.0},
        {"constraints": "baumgarte", "baumgarte_rate": 0.0},
        {"constraints": "baumgarte", "baumgarte_rate": -1.0},
        {"constraints": "baumgarte", "baumgarte_rate": np.nan},
        {"constraints": "baumgarte", "baumgarte_rate": "fast"},
    ],
    ids=str,
)
def test_a_bad_rate_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="baumgarte_rate"):
        pendula.simulate(library_system("four-bar"), 1.0, **arguments)


@pytest.mark.parametrize("name", ["four-bar"])
def test_the_complement_solver_moves_a_linkage_like_the_kkt_solver(name: str) -> None:
    from dataclasses import replace

    plain = library_system(name)
    other = pendula.compile_system(replace(plain.equations, solver="complement"))
    start = plain.initial_state()
    np.testing.assert_allclose(
        other.accelerations(start.q, start.v), plain.accelerations(start.q, start.v), rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose(
        other.multipliers(start.q, start.v), plain.multipliers(start.q, start.v), rtol=1e-10, atol=1e-10
    )
    one, two = (pendula.simulate(system, 2.0, tol=1e-10, samples=9) for system in (plain, other))
    np.testing.assert_allclose(two.q, one.q, atol=1e-7)
    assert two.constraint_violation < 1e-12


def test_an_unknown_solver_is_refused() -> None:
    from dataclasses import replace

    with pytest.raises(pendula.errors.PendulaError, match="kkt, complement"):
        replace(library_system("four-bar").equations, solver="guess")
