"""The four-bar linkage against one equation for the crank alone, found without any of our code.

With the coupler and rocker angles as functions of the crank angle x (two circles meet), T = I(x) x'^2/2 and
V(x), so x'' = -(I'(x) x'^2/2 + V'(x))/I(x). Functions and slopes come from SymPy, the motion from SciPy.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import pendula
from tests.helpers.mechanisms import library_system

A, B, C, D, RHO, G = 1.0, 2.0, 2.2, 2.5, 1.0, 9.81
SECONDS = 10.0
CLOSE = 1e-6
"""Crank angle after 10 s at tolerance 1e-9: the design's promise for closed loops."""


@cache
def _crank_alone(sign: int) -> Any:
    """(I, I', V', coupler, rocker, coupler', rocker') as functions of the crank angle; angles from hanging down."""
    x = sp.Symbol("x")
    tip = sp.Matrix([A * sp.sin(x), -A * sp.cos(x)])
    gap = sp.Matrix([D, 0]) - tip
    length = sp.sqrt(gap.dot(gap))
    # angle of the line from the crank's tip to the rocker's pivot, counted from straight down
    line = sp.atan2(gap[0], -gap[1])
    coupler = line + sign * sp.acos((B**2 + length**2 - C**2) / (2 * B * length))
    pin = tip + B * sp.Matrix([sp.sin(coupler), -sp.cos(coupler)])
    rocker = sp.atan2(pin[0] - D, -pin[1])
    c1, r1 = coupler.diff(x), rocker.diff(x)
    centre = tip + B / 2 * sp.Matrix([sp.sin(coupler), -sp.cos(coupler)])
    moved = centre.diff(x)
    inertia = RHO * A**3 / 3 + RHO * B * moved.dot(moved) + RHO * B**3 / 12 * c1**2 + RHO * C**3 / 3 * r1**2
    height = RHO * A * (-A / 2 * sp.cos(x)) + RHO * B * centre[1] + RHO * C * (-C / 2 * sp.cos(rocker))
    wanted = [inertia, inertia.diff(x), (G * height).diff(x), coupler, rocker, c1, r1]
    return sp.lambdify(x, wanted, modules="numpy", cse=True)


TIMES = np.linspace(0, SECONDS, 41)


@cache
def _angles_of_the_crank(sign: int) -> np.ndarray:
    alone = _crank_alone(sign)

    def rhs(_: float, y: np.ndarray) -> list[float]:
        inertia, change, slope, *_ = alone(y[0])
        return [y[1], -(change * y[1] ** 2 / 2 + slope) / inertia]

    start = [np.pi / 3, 4.0]
    return solve_ivp(rhs, (0, SECONDS), start, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=TIMES).y[0]


@pytest.mark.parametrize(("name", "sign"), [("four-bar", 1), ("four-bar: crossed", -1)])
def test_four_bar_turns_as_its_crank_alone_would(name: str, sign: int) -> None:
    run = pendula.simulate(library_system(name), SECONDS, tol=1e-9, samples=TIMES)
    assert run.outcome.ok
    assert np.abs(run["crank"] - _angles_of_the_crank(sign)).max() < CLOSE
    assert run.constraint_violation < 1e-12
    assert run.velocity_violation < 1e-12


@pytest.mark.parametrize("tol", [1e-9, 1e-6])
def test_loops_stay_closed_best_by_projection_then_baumgarte_then_nothing(tol: float) -> None:
    """Left alone, gaps grow with every step (quadratically in time); stabilized, they stay near the error of a step."""
    runs = {
        care: pendula.simulate(library_system("four-bar"), SECONDS, tol=tol, samples=TIMES, constraints=care)
        for care in ("projection", "baumgarte", "none")
    }
    gaps = {care: run.constraint_violation for care, run in runs.items()}
    assert gaps["projection"] < 1e-11
    assert gaps["projection"] < 1e-2 * gaps["baumgarte"]
    assert gaps["baumgarte"] < 0.5 * gaps["none"]
    assert gaps["none"] < 1000 * tol
    for run in runs.values():
        assert run.outcome.ok
        assert np.abs(run["crank"] - _angles_of_the_crank(1)).max() < 1000 * tol
        assert run.velocity_violation < 100 * tol


@pytest.mark.parametrize(("name", "sign"), [("four-bar", 1), ("four-bar: crossed", -1)])
def test_four_bar_starts_where_two_circles_meet(name: str, sign: int) -> None:
    *_, coupler, rocker, c1, r1 = _crank_alone(sign)(np.pi / 3)
    system = library_system(name)
    start = system.initial_state()
    assert np.exp(1j * start["coupler"]) == pytest.approx(np.exp(1j * coupler), abs=1e-12)
    assert np.exp(1j * start["rocker"]) == pytest.approx(np.exp(1j * rocker), abs=1e-12)
    assert start["coupler_dot"] == pytest.approx(4.0 * c1, rel=1e-12)
    assert start["rocker_dot"] == pytest.approx(4.0 * r1, rel=1e-12)
    assert not pendula.assemble(system, start).moved


def test_crank_of_the_four_bar_turns_fully() -> None:
    """Grashof: 1 + 2.5 < 2 + 2.2. Pushed hard enough, it goes round and round while the rocker swings."""
    system = pendula.compile_system(pendula.library.four_bar(crank_rate=15.0))
    run = pendula.simulate(system, 5.0, tol=1e-8)
    assert np.ptp(run["crank"]) > 6 * np.pi
    assert np.ptp(run["rocker"]) < np.pi


def test_pin_forces_of_the_four_bar_balance_the_rocker() -> None:
    """The rocker turns about its pivot by the pin's force and its weight alone, so the multipliers are that force."""
    system = library_system("four-bar")
    start = pendula.assemble(system, system.initial_state()).state
    a = dict(zip(system.layout.speeds, system.accelerations(start.q, start.v), strict=True))
    lam = system.multipliers(start.q, start.v)
    x = start["rocker"]
    tip = C * np.array([np.sin(x), -np.cos(x)])
    # rows say child (coupler) minus parent (rocker): the rocker feels -lam
    torque = tip[0] * -lam[1] - tip[1] * -lam[0] - RHO * C * G * C / 2 * np.sin(x)
    assert a["rocker_dot"] * RHO * C**3 / 3 == pytest.approx(torque, rel=1e-10)
