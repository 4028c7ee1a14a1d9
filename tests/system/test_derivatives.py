"""Exact derivatives against central differences, on trees, loops, quaternions and expressions by cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula
from pendula import Model, library
from pendula.errors import UsageError
from pendula.results import System
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array, regular, slope, states
from tests.helpers.random_mechanisms import random_mechanism

DIFFERENCE = 1e-7
"""Relative: a central difference of order 6 with h = 2e-3 keeps some 1e-9 where nothing bends faster than over 0.1."""

BY_CASES = library.cart_pole().with_changes(
    inputs={"F": "sin(2*t)", "H": 0.4},
    parameters={"M": 1.0, "m": 0.2, "l": "2*h", "h": 0.5, "g": 9.81, "k": 3.0},
    forces=[
        {"type": "generalized", "coordinate": "x", "value": "F*cos(theta) - k*x if x < 0.1 else -0.1*k*x_dot**3"},
        {
            "type": "generalized",
            "coordinate": "theta",
            "value": "H*min(theta, 1) + abs(x_dot) + max(k*x, theta_dot, -1)",
        },
        {"type": "spring", "from": "ground", "to": {"body": "pole", "at": "tip"}, "stiffness": "k", "length": "l/2"},
    ],
)

SYSTEMS: dict[str, Any] = {
    "double-pendulum": lambda: library_system("double-pendulum"),
    "chain: everything": lambda: library_system("chain: everything"),
    "four-bar": lambda: library_system("four-bar"),
    "heavy-top": lambda: library_system("heavy-top"),
    "free-body": lambda: library_system("free-body"),
    "hoop-bead": lambda: library_system("hoop-bead"),
    "spherical-pendulum": lambda: library_system("spherical-pendulum"),
    "by cases": lambda: pendula.compile_system(BY_CASES),
    "by cases, lagrange": lambda: pendula.compile_system(BY_CASES, "lagrange"),
    "random with a loop": lambda: pendula.compile_system(random_mechanism(1001, closed=True)),
    "random in space": lambda: pendula.compile_system(random_mechanism(2)),
}


@pytest.fixture(scope="module", params=SYSTEMS, ids=str)
def case(request: pytest.FixtureRequest) -> tuple[System, Array, Array, Array]:
    system = SYSTEMS[request.param]()
    t, q, v = regular(system, *states(system, 6, seed=11))
    return system, t[:3], q[:3], v[:3]


def _free(a: Array, b: Array) -> None:
    size = 1.0 + np.abs(a).max()
    np.testing.assert_allclose(a, b, atol=DIFFERENCE * size)


def _shifted(system: System, by: str, q: Array, v: Array, u: Array, p: Array) -> Any:
    """Arguments with a small step along every direction of one of them."""
    given = {"q": q, "v": v, "u": u, "p": p}
    count = given[by].shape[-1]

    def at(k: int, s: float) -> dict[str, Array]:
        return given | {by: given[by] + s * np.eye(count)[k]}

    return count, at


@pytest.mark.parametrize("by", ["q", "v", "u", "p"])
def test_jacobian_of_the_residual_is_its_derivative(case: tuple[System, Array, Array, Array], by: str) -> None:
    """Of M a - f - G^T lam and of G a - c, with a and lam held; every entry of q on its own, quaternions too."""
    system, times, qs, vs = case
    for t, q, v in zip(times, qs, vs, strict=True):
        u, p = system.inputs.at(t, system.parameters), system.parameters
        a, lam = np.linspace(-1, 1, v.size), np.linspace(2, 1, system.equations.loop_rows)
        count, at = _shifted(system, by, q, v, u, p)
        top, bottom = system.residual_jacobian(by, q, v, a, lam, t, inputs=u)
        assert top.shape == (v.size, count)
        assert bottom.shape == (lam.size, count)

        def residual(k: int, s: float, at: Any = at, t: float = t, a: Array = a, lam: Array = lam) -> Array:
            x = at(k, s)
            M = system.mass_matrix(x["q"], t, parameters=x["p"])
            G = system.constraint_jacobian(x["q"], t, parameters=x["p"])
            f = system.forces(x["q"], x["v"], t, inputs=x["u"], parameters=x["p"])
            return M @ a - f - G.T @ lam

        for k in range(count):
            _free(top[:, k], slope(lambda s, k=k, r=residual: r(k, s), 1e-3))


@pytest.mark.parametrize("by", ["v", "p"])
def test_jacobian_of_the_accelerations_is_their_derivative(case: tuple[System, Array, Array, Array], by: str) -> None:
    system, times, qs, vs = case
    for t, q, v in zip(times, qs, vs, strict=True):
        u, p = system.inputs.at(t, system.parameters), system.parameters
        count, at = _shifted(system, by, q, v, u, p)
        found = system.acceleration_jacobian(by, q, v, t)
        for k in range(count):

            def accelerations(s: float, k: int = k, at: Any = at, t: float = t) -> Array:
                x = at(k, s)
                return system.accelerations(x["q"], x["v"], t, parameters=x["p"])

            # inputs that depend on parameters would follow them, so those parameters are left out
            if by == "p" and any(system.layout.parameters[k] in str(e) for e in system.model.inputs.values()):
                continue
            _free(found[:, k], slope(accelerations, 1e-3))


def test_jacobian_of_the_accelerations_by_q_is_their_derivative(case: tuple[System, Array, Array, Array]) -> None:
    """Along directions q' = N s for quaternions; v' is a smooth function off the constraints as well."""
    system, times, qs, vs = case
    for t, q, v in zip(times, qs, vs, strict=True):
        found = system.acceleration_jacobian("q", q, v, t)
        for push in np.eye(v.size):
            turn = system.rates(q, push, t) - system.rates(q, 0 * push, t)
            _free(found @ turn, slope(lambda s, x=turn, q=q, v=v, t=t: system.accelerations(q + s * x, v, t), 1e-3))


@pytest.mark.parametrize("inputs", [{"F": 0.0, "H": 0.4}, {"F": "sin(2*t)", "H": 0.4}], ids=["numbers", "in time"])
def test_jacobian_of_the_accelerations_by_inputs_is_their_derivative(inputs: dict[str, Any]) -> None:
    system = pendula.compile_system(BY_CASES.with_changes(inputs=inputs))
    q, v, u = np.array([0.05, 0.4]), np.array([0.3, -0.7]), np.array([0.9, 0.4])
    found = system.acceleration_jacobian("u", q, v, 0.5, inputs=u)
    for k in range(2):
        step = np.eye(2)[k]
        _free(found[:, k], slope(lambda s, x=step: system.accelerations(q, v, 0.5, inputs=u + s * x)))


def test_jacobian_by_an_unknown_letter_is_refused() -> None:
    system = library_system("pendulum")
    with pytest.raises(UsageError, match='"q", "v", "u" or "p"'):
        system.acceleration_jacobian("x", [0.1], [0.0])


def test_jacobian_by_inputs_of_a_model_without_inputs_is_empty() -> None:
    assert library_system("pendulum").acceleration_jacobian("u", [0.1], [0.0]).shape == (1, 0)


def test_derivative_uses_the_parameters_given() -> None:
    """d(theta'')/d(theta) = -3 g/(2 l) at rest."""
    system = library_system("pendulum")
    found = system.acceleration_jacobian("q", [0.0], [0.0], parameters={"g": 4.0, "l": 3.0})
    assert found[0, 0] == pytest.approx(-1.5 * 4 / 3, rel=1e-13)


@pytest.mark.parametrize("x", [-0.5, 0.5])
def test_derivative_by_cases_is_that_of_the_case_that_holds(x: float) -> None:
    force = {"type": "generalized", "coordinate": "theta", "value": "-3*theta if theta < 0 else -7*theta"}
    model = Model(
        name="two springs",
        gravity=[0, 0, 0],
        bodies=[{"name": "link", "rod": {"mass": 3, "length": 1}}],
        joints=[{"name": "theta", "type": "revolute", "parent": "ground", "child": "link"}],
        forces=[force],
    )
    system = pendula.compile_system(model)
    assert system.acceleration_jacobian("q", [x], [0.0])[0, 0] == pytest.approx(-3.0 if x < 0 else -7.0)
