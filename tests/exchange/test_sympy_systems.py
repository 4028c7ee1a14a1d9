"""Systems of sympy.physics.mechanics: compared with models, and run without one, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
import sympy.physics.mechanics as me
from scipy.integrate import solve_ivp

import pendula
from pendula import library
from pendula.errors import NotSupported, UsageError
from pendula.exchange import compile_sympy, from_sympy

m, l, g = sympy.symbols("m l g")


def double_pendulum_by_lagrange() -> Any:
    """Two equal rods, absolute angles from hanging down."""
    a, b = me.dynamicsymbols("theta1 theta2")
    da, db = a.diff(), b.diff()
    kinetic = m * l**2 * (da**2 * sympy.Rational(2, 3) + db**2 / 6 + da * db * sympy.cos(a - b) / 2)
    potential = -m * g * l * (sympy.Rational(3, 2) * sympy.cos(a) + sympy.cos(b) / 2)
    method = me.LagrangesMethod(kinetic - potential, [a, b])
    method.form_lagranges_equations()
    return method


def pendulum_by_kane(speed: Any) -> Any:
    """A rod on a pin; the generalized speed is ``speed`` times the rate of its angle."""
    theta, u = me.dynamicsymbols("theta u")
    frame, rod = me.ReferenceFrame("N"), me.ReferenceFrame("A")
    rod.orient_axis(frame, frame.z, theta)
    origin, center = me.Point("O"), me.Point("C")
    center.set_pos(origin, -l / 2 * rod.y)
    origin.set_vel(frame, 0)
    rod.set_ang_vel(frame, u / speed(theta) * frame.z)
    center.v2pt_theory(origin, frame, rod)
    body = me.RigidBody("rod", center, rod, m, (me.inertia(rod, 0, 0, m * l**2 / 12), center))
    kane = me.KanesMethod(frame, q_ind=[theta], u_ind=[u], kd_eqs=[theta.diff() * speed(theta) - u])
    kane.kanes_equations([body], [(center, -m * g * frame.y)])
    return kane


def test_lagranges_method_agrees_with_the_model() -> None:
    found = from_sympy(double_pendulum_by_lagrange())
    assert found.coordinates == ("theta1", "theta2")
    assert found.parameters == ("g", "l", "m")
    assert pendula.derivation.check_against(library.chain(links=2), found.given).passed


@pytest.mark.parametrize("speed", [lambda q: 1, lambda q: 2 + sympy.sin(q)], ids=["rates", "other speeds"])
def test_kanes_method_agrees_with_the_model(speed: Any) -> None:
    found = from_sympy(pendulum_by_kane(speed))
    assert pendula.derivation.check_against("pendulum", found.given).passed


def test_a_wrong_sign_is_found() -> None:
    method = double_pendulum_by_lagrange()
    given = from_sympy(method).given
    wrong = {**given, "equations": [given["equations"][0].replace("g*", "-g*"), *given["equations"][1:]]}
    assert not pendula.derivation.check_against(library.chain(links=2), wrong).passed


def test_other_names_of_coordinates_are_translated() -> None:
    phi = me.dynamicsymbols("phi")
    method = me.LagrangesMethod(m * l**2 * phi.diff() ** 2 / 6 - m * g * l * sympy.sin(phi) / 2, [phi])
    method.form_lagranges_equations()
    found = from_sympy(method, coordinates={"phi": "theta - pi/2"})
    assert pendula.derivation.check_against("pendulum", found.given).passed


def test_multipliers_are_unknowns() -> None:
    """A point mass on a rod, in Cartesian coordinates: its acceleration is that of a pendulum."""
    x, y = me.dynamicsymbols("x y")
    free = m * (x.diff() ** 2 + y.diff() ** 2) / 2 - m * g * y
    method = me.LagrangesMethod(free, [x, y], hol_coneqs=[x**2 + y**2 - l**2])
    method.form_lagranges_equations()
    found = from_sympy(method)
    assert found.coordinates == ("x", "y")
    (multiplier,) = found.unknowns
    angle, rate, length = 0.7, 1.3, 0.8
    state = {"x": length * np.sin(angle), "y": -length * np.cos(angle), "x_dot": length * rate * np.cos(angle),
             "y_dot": length * rate * np.sin(angle), "m": 2.0, "l": length, "g": 9.81}  # fmt: skip
    rows = [sympy.sympify(text.removesuffix(" = 0")).subs(state) for text in found.given["equations"]]
    solved = sympy.solve(rows, sympy.symbols(f"x_ddot y_ddot {multiplier}"))
    turn = -9.81 / length * np.sin(angle)
    expected = length * (turn * np.cos(angle) - rate**2 * np.sin(angle))
    assert float(solved[sympy.Symbol("x_ddot")]) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(NotSupported, match="multipliers"):
        compile_sympy(from_sympy(method, parameters={m: 1, l: 1, g: 9.81}))


def test_a_system_of_sympy_is_read() -> None:
    theta, u = me.dynamicsymbols("theta u")
    ground = me.RigidBody("ground")
    system = me.System.from_newtonian(ground)
    rod = me.RigidBody("rod", mass=m)
    rod.central_inertia = me.inertia(rod.frame, 0, 0, m * l**2 / 12)
    pin = me.PinJoint("pin", ground, rod, theta, u, child_point=l / 2 * rod.y, joint_axis=ground.z)
    system.add_joints(pin)
    system.apply_uniform_gravity(-g * system.frame.y)
    with pytest.raises(UsageError, match="form_eoms"):
        from_sympy(system)
    system.form_eoms()
    assert pendula.derivation.check_against("pendulum", from_sympy(system).given).passed


def test_equations_run_without_a_model_as_in_scipy() -> None:
    method = double_pendulum_by_lagrange()
    values = {m: 1.2, l: 0.8, g: 9.81}
    system = compile_sympy(from_sympy(method, parameters=values), initial_state={"theta1": 1.0, "theta2": 0.5})
    run = pendula.simulate(system, 2.0, tol=1e-10)
    assert run.energy_drift < 1e-8
    a, b = me.dynamicsymbols("theta1 theta2")
    symbols = [a, b, a.diff(), b.diff()]
    M = sympy.lambdify(symbols, method.mass_matrix.subs(values))
    f = sympy.lambdify(symbols, method.forcing.subs(values))
    right = lambda t, y: [y[2], y[3], *np.linalg.solve(M(*y), f(*y)).ravel()]  # noqa: E731
    expected = solve_ivp(right, (0, 2), [1.0, 0.5, 0, 0], rtol=1e-11, atol=1e-11, method="DOP853").y[:, -1]
    assert [run["theta1"][-1], run["theta2"][-1]] == pytest.approx(expected[:2], abs=1e-7)
    linear = pendula.linearize(system, {"theta1": 0.0, "theta2": 0.0})
    model = library.chain(links=2).with_parameters({"m": 1.2, "l": 0.8, "g": 9.81})
    reference = pendula.linearize(model, {"theta1": 0.0, "theta2": 0.0})
    assert np.sort_complex(np.linalg.eigvals(linear.A)) == pytest.approx(
        np.sort_complex(np.linalg.eigvals(reference.A))
    )


def test_bad_input_is_named() -> None:
    x = me.dynamicsymbols("x")
    method = me.LagrangesMethod(m * x.diff() ** 2 / 2, [x])
    with pytest.raises(UsageError, match="form_lagranges_equations"):
        from_sympy(method)
    with pytest.raises(UsageError, match="KanesMethod, LagrangesMethod or System"):
        from_sympy(sympy.Symbol("x"))
    method.form_lagranges_equations()
    with pytest.raises(UsageError, match="constants m have no values"):
        compile_sympy(from_sympy(method))
    with pytest.raises(UsageError, match='no constant "k"'):
        from_sympy(method, parameters={"k": 1.0})
