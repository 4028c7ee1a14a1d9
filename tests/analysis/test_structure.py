"""What structure alone shows of forces: that they vanish at rest, that they have a potential, exact numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
import symengine as se
from scipy.optimize import brentq

import pendula
from pendula import library
from pendula.model.base import Scalar
from pendula.model.forces import FORCES, ForceAcross, Law, register_force
from pendula.model.forces.at_rest import value_of
from pendula.system.exact import exact_equations
from tests.helpers.loops import closed_chain

G = 9.81


class ForceHard(ForceAcross):
    """A spring that gets harder."""

    type: Literal["hard spring"] = "hard spring"
    stiffness: Scalar
    law = Law(elastic="stiffness*x**3", potential="stiffness*x**4/4")


class ForceBrake(ForceAcross):
    """A brake that gets stronger."""

    type: Literal["strong brake"] = "strong brake"
    coefficient: Scalar
    law = Law(drag="coefficient*rate*(1 + x**2)")


@pytest.fixture(autouse=True, scope="module")
def _types() -> Iterator[None]:
    register_force(ForceHard)
    register_force(ForceBrake)
    yield
    FORCES.remove("hard spring")
    FORCES.remove("strong brake")


# -- forces at rest ------------------------------------------------------------------------------------------------


def with_force(**force: object) -> pendula.Model:
    return library.pendulum().with_changes(forces=[force])


@pytest.mark.parametrize("stiffness", [0.05, 2.0])
def test_a_new_type_of_spring_is_not_ignored(stiffness: float) -> None:
    """All roots of m g l/2 sin + k x^3 on two turns either way, by changes of sign."""
    found = pendula.find_equilibria(with_force(type="hard spring", joint="theta", stiffness=stiffness), prove=20)
    weight = -pendula.compile_system(library.pendulum()).forces(np.array([math.pi / 2]), np.zeros(1))[0]

    def torque(x: float) -> float:
        return float(weight * math.sin(x) + stiffness * x**3)

    low, high = found.box["theta"]
    x = np.linspace(low, high, 20_000)
    y = np.array([torque(a) for a in x])
    places = [brentq(torque, x[k], x[k + 1]) for k in np.flatnonzero(y[1:] * y[:-1] < 0)]
    assert found.complete == "proven"
    assert sorted(one["theta"] for one in found) == pytest.approx(sorted({round(p, 9) + 0.0 for p in places}), abs=1e-8)


def test_a_new_type_of_brake_leaves_the_proof_by_structure() -> None:
    found = pendula.find_equilibria(with_force(type="strong brake", joint="theta", coefficient=0.3))
    assert (len(found), found.complete) == (2, "proven")
    assert "cos" in found.reason


@pytest.mark.parametrize(
    ("value", "vanishes"),
    [("-0.3*theta_dot", True), ("theta_dot*theta", True), ("0.3*sin(theta)", False)],
)
def test_generalized_forces_at_rest(value: str, vanishes: bool) -> None:
    found = pendula.find_equilibria(with_force(type="generalized", coordinate="theta", value=value), starts=16)
    assert ("a cos + b sin" in found.reason) == vanishes


@pytest.mark.parametrize(
    ("text", "value"),
    [("0*x", 0.0), ("k*x", None), ("z*x/k", 0.0), ("z/x", None), ("z*x + z", 0.0), ("z*x + k", None), ("k + 1", 3.0)],
)
def test_zero_times_anything_is_zero(text: str, value: float | None) -> None:
    assert value_of(text, {"k": 2.0, "z": 0.0}) == value


# -- potentials ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "verdict", "certainty"),
    [
        ("-20*crank", "stable", "proven"),
        ("-20*crank - 3*sin(crank)", "stable", "proven"),
        ("-20*crank - 0.4*crank_dot", "asymptotically stable", "proven"),
        ("-20*crank + 0.4*crank_dot", "unstable", "proven"),
        ("-20*crank + 0.4*crank_dot**2", "undecided", "undecided"),
        ("-20*crank - 0.3*rocker", None, "undecided"),
    ],
)
def test_generalized_forces_on_a_loop(value: str, verdict: str | None, certainty: str) -> None:
    """Those of their own coordinate have a potential; others are not given one."""
    model = library.four_bar()
    force = {"type": "generalized", "coordinate": "crank", "value": value}
    model = model.with_changes(forces=[*model.forces, force])
    found = pendula.stability(model, pendula.find_equilibria(model, starts=100)[0])
    if verdict is not None:
        assert found.verdict == verdict
    assert found.certainty == certainty


def test_coupled_forces_with_a_potential_on_a_loop() -> None:
    """V = 10 crank rocker^2 + 30 crank^2: both rows together have it, one alone does not."""
    model = library.four_bar()
    one = {"type": "generalized", "coordinate": "crank", "value": "-10*rocker**2 - 60*crank"}
    other = {"type": "generalized", "coordinate": "rocker", "value": "-20*crank*rocker"}
    both = model.with_changes(forces=[*model.forces, one, other])
    rest = pendula.find_equilibria(both, starts=100)[0]
    assert pendula.stability(both, rest).certainty == "proven"
    alone = model.with_changes(forces=[*model.forces, one])
    rest = pendula.find_equilibria(alone, starts=100)[0]
    assert pendula.stability(alone, rest).certainty != "proven"


# -- exact numbers -------------------------------------------------------------------------------------------------


def test_numbers_of_a_model_are_not_rounded_in_proofs() -> None:
    """0.1 + 0.2 - 0.3 is not zero in doubles, whose exact sum is 2^-55; folded once it is 2^-54."""
    folded, exact = 0.1 + 0.2 - 0.3, Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    assert folded == 2.0**-54
    assert exact == Fraction(1, 2**55)
    model = with_force(type="generalized", coordinate="theta", value="(0.1 + 0.2 - 0.3)*theta")
    system = pendula.compile_system(model)
    (row,) = exact_equations(system).parts.free["applied"]
    slope = se.expand(exact_equations(system).inline(row).diff(system.equations.q[0]))
    assert Fraction(int(slope.p), int(slope.q)) == exact
    assert exact_equations(system) is exact_equations(system)


def test_equations_without_rounded_numbers_are_their_own() -> None:
    system = pendula.compile_system("double-pendulum")
    assert exact_equations(system) is system.equations


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_exact_equations_are_the_same_equations(kind: str) -> None:
    """Loops in space with many numbers: forces by exact fractions agree to rounding."""
    system = pendula.compile_system(closed_chain(kind), "kane")
    exact = exact_equations(system)
    assert exact is not system.equations
    rng = np.random.default_rng(0)
    values = {s: float(x) for s, x in zip((*exact.q, *exact.v), rng.normal(size=99), strict=False)}
    values |= dict(zip(exact.p, system.parameters.tolist(), strict=True))
    for a, b in zip(system.equations.f, exact.f, strict=True):
        one, other = (float(e.inline(x).subs(values)) for e, x in ((system.equations, a), (exact, b)))
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
