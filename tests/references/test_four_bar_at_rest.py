"""A four-bar linkage at its lowest pose, from its geometry alone: the frequency of small motion in symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import fsolve, minimize_scalar

import pendula

A, B, C, D, G = 1.0, 2.0, 2.2, 2.5, 9.81
"""lengths of crank, coupler, rocker and ground; all rods weigh 1 kg/m"""


def hanging(angle: float) -> np.ndarray:
    """Unit vector of a rod that hangs straight down at angle zero."""
    return np.array([np.sin(angle), -np.cos(angle)])


def pose(crank: float) -> np.ndarray:
    """Angles of crank, coupler and rocker, on the branch of the library's pose."""

    def gap(x: np.ndarray) -> np.ndarray:
        return A * hanging(crank) + B * hanging(x[0]) - [D, 0.0] - C * hanging(x[1])

    return np.array([crank, *fsolve(gap, [0.95, -0.28], xtol=1e-13)])


def centres(crank: float) -> np.ndarray:
    one, two, three = (hanging(angle) for angle in pose(crank))
    return np.array([A / 2 * one, A * one + B / 2 * two, [D, 0.0] + C / 2 * three])


def potential(crank: float) -> float:
    return float(G * np.array([A, B, C]) @ centres(crank)[:, 1])


def inertia(crank: float) -> float:
    """2 T for a crank that turns at 1 rad/s."""
    h = 1e-4
    move, turn = ((f(crank + h) - f(crank - h)) / (2 * h) for f in (centres, pose))
    lengths = np.array([A, B, C])
    return float(lengths @ (move**2).sum(axis=1) + lengths**3 / 12 @ turn**2)


@pytest.mark.slow
def test_without_a_point_a_linkage_is_linearized_at_its_lowest_pose() -> None:
    rest = minimize_scalar(potential, bounds=(0.0, 0.6), method="bounded", options={"xatol": 1e-9}).x
    h = 1e-3
    stiffness = (potential(rest + h) - 2 * potential(rest) + potential(rest - h)) / h**2
    found = pendula.linear.linearize_symbolic("four-bar")
    crank, coupler, rocker = pose(float(rest))
    values = {"a": A, "b": B, "c": C, "d": D, "g": G, "rho": 1.0}
    values |= {"crank_e": crank, "coupler_e": coupler, "rocker_e": rocker}

    def number(entry: Any) -> float:
        full = entry.subs({x: found.definitions[x.name] for x in entry.free_symbols if x.name in found.definitions})
        return float(full.subs({symbol: values[symbol.name] for symbol in full.free_symbols}))

    assert number(found.M[0, 0]) == pytest.approx(inertia(float(rest)), rel=1e-5)
    assert number(found.K[0, 0]) == pytest.approx(stiffness, rel=1e-4)


def test_what_rests_at_zero_is_linearized_there() -> None:
    """A parallelogram that hangs: at zero it closes, and it is at rest."""
    arm, bar = ({"name": n, "rod": {"mass": 1, "length": length}} for n, length in (("left", 1), ("right", 1)))
    bodies = [arm, bar, {"name": "coupler", "mass": 2.0, "inertia": [0.1, 0.1, 0.1]}]
    joints = [
        {"name": "left", "type": "revolute", "parent": "ground", "child": "left"},
        {"name": "right", "type": "revolute", "parent": {"body": "ground", "position": [1, 0, 0]}, "child": "right"},
        {"name": "coupler", "type": "revolute", "parent": {"body": "left", "at": "tip"}, "child": "coupler"},
        {"name": "pin", "type": "coincident", "parent": {"body": "coupler", "position": [1, 0, 0]},
         "child": {"body": "right", "at": "tip"}},
    ]  # fmt: skip
    model = pendula.Model(name="parallelogram", gravity=[0, -9.81, 0], bodies=bodies, joints=joints)
    found = pendula.linear.linearize_symbolic(model)
    ratio = float(found.K[0, 0] / found.M[0, 0])
    assert ratio == pytest.approx(9.81 * (0.5 + 0.5 + 2.0) / (1 / 3 + 1 / 3 + 2.0))  # the coupler does not turn
