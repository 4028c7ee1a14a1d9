"""Equations as objects of SymPy, CasADi and JAX, evaluated by these packages: our numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula.errors import NotSupported
from pendula.exchange.blocks import blocks_of
from tests.exchange.cases import MECHANISMS, case, close, pairs
from tests.exchange.test_programs import QUICK, TOLERANCE
from tests.helpers.leaning import leaning_four_bar

ALL = [pytest.param(*pair, id="-".join(pair)) for pair in pairs()]
SOME = [pytest.param(*pair, id="-".join(pair), marks=() if pair in QUICK else pytest.mark.slow) for pair in pairs()]


@pytest.mark.parametrize(("name", "formulation"), SOME)
def test_sympy_evaluates_to_our_terms(name: str, formulation: str) -> None:
    import sympy

    found = case(name, formulation, states=1)
    dynamic = name in ("plane", "loop")
    eq = pendula.exchange.to_sympy(found.equations, dynamic=dynamic)
    (t, y, wanted), k = found.states[0], len(found.equations.q)
    values: dict[Any, Any] = {eq.t: t, **eq.values}
    u = np.full(len(eq.u), 0.25)
    values |= dict(zip([*eq.q, *eq.v, *eq.u], [*y, *u], strict=True))
    names: dict[Any, Any] = dict(values)
    for symbol, e in eq.definitions:
        names[symbol] = e.xreplace(names).evalf(20)

    def number(matrix: Any) -> np.ndarray:
        return np.array(matrix.xreplace(names).evalf(20).tolist(), dtype=float).reshape(matrix.shape)

    q, v, system = y[:k], y[k:], found.system
    close(number(eq.M), system.mass_matrix(q, t), TOLERANCE)
    close(number(eq.f).ravel(), system.forces(q, v, t, inputs=u), TOLERANCE)
    close(number(eq.qdot).ravel(), wanted[:k], TOLERANCE)
    close(number(eq.G), system.constraint_jacobian(q, t), TOLERANCE)
    energies = system.energies(q, v, t)
    close([float(eq.kinetic.xreplace(names)), float(eq.potential.xreplace(names))], energies[:2], TOLERANCE)
    assert all(isinstance(s, sympy.Symbol) != dynamic for s in eq.q)


def test_sympy_symbols_are_those_that_dynamicsymbols_makes() -> None:
    from sympy.physics.mechanics import dynamicsymbols

    eq = pendula.exchange.to_sympy("double-pendulum", dynamic=True)
    assert tuple(eq.q) == tuple(dynamicsymbols("theta1 theta2"))


@pytest.mark.parametrize("angle", [0.0, 0.35])
def test_rows_that_are_left_to_rounding_are_not_among_the_independent_ones(angle: float) -> None:
    """Of the five rows of a hinge in a plane, three are zero, or rounding: the others hold at other poses, too."""
    model = leaning_four_bar(angle)
    rows = list(blocks_of(model, None, "test").rows)
    system = pendula.compile_system(model)
    for q in pendula.simulate(model, 1.0, samples=4).q:
        assert np.linalg.svd(system.constraint_jacobian(q, 0.0)[rows], compute_uv=False)[1] > 0.1


@pytest.mark.peer
@pytest.mark.parametrize(("name", "formulation"), ALL)
def test_casadi_gives_our_accelerations(name: str, formulation: str) -> None:
    ca = pytest.importorskip("casadi")
    found = case(name, formulation)
    functions = pendula.exchange.to_casadi(found.equations)
    p, k = list(functions.parameters.values()), len(functions.coordinates)
    for t, y, wanted in found.states:
        u = functions.inputs(t, p)
        close(np.array(functions.rhs(t, y, p, u)).ravel(), wanted, TOLERANCE)
        close(np.array(functions.M(t, y[:k], p)), found.system.mass_matrix(y[:k], t), TOLERANCE)
        if functions.rows:
            lam = np.array(functions.solve(t, y, p, u)[2]).ravel()
            if name != "redundant":  # whose multipliers are indeterminate
                close(lam, found.system.multipliers(y[:k], y[k:], t), 100 * TOLERANCE)
        energies = np.array(functions.energies(t, y[:k], y[k:], p)).ravel()
        close(energies, found.system.energies(y[:k], y[k:], t)[:2], TOLERANCE)
    assert isinstance(functions.rhs.jacobian(), ca.Function)


@pytest.mark.peer
@pytest.mark.parametrize(("name", "formulation"), ALL)
def test_jax_gives_our_accelerations(name: str, formulation: str) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    found = case(name, formulation)
    functions = pendula.exchange.to_jax(found.equations)
    k = len(functions.coordinates)
    rhs = jax.jit(functions.rhs) if name in ("plane", "piecewise") else functions.rhs
    for t, y, wanted in found.states:
        close(rhs(t, y), wanted, TOLERANCE)
        if functions.rows and name != "redundant":
            close(functions.solve(t, y)[2], found.system.multipliers(y[:k], y[k:], t), 100 * TOLERANCE)


@pytest.mark.peer
def test_jax_refuses_states_and_inputs_of_another_size() -> None:
    """JAX itself repeats the last entry of an array that is too short."""
    pytest.importorskip("jax")
    functions = pendula.exchange.to_jax("cart-pole")
    for y, u, what in ((functions.start[:-1], None, "speeds"), (functions.start, np.zeros(2), "inputs")):
        with pytest.raises(pendula.errors.UsageError, match=f"the {what} have the shape"):
            functions.rhs(0.0, y, None, u)


@pytest.mark.peer
def test_derivatives_of_casadi_and_jax_are_those_of_our_engine() -> None:
    ca = pytest.importorskip("casadi")
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    found = case("loop", "kane", states=1)
    (t, y, _) = found.states[0]
    by_jax = np.array(jax.jacobian(pendula.exchange.to_jax(found.equations).rhs, argnums=1)(t, y))
    functions = pendula.exchange.to_casadi(found.equations)
    state = ca.MX.sym("y", len(y))
    slope = ca.jacobian(functions.rhs(t, state, list(functions.parameters.values()), []), state)
    by_casadi = np.array(ca.Function("slope", [state], [slope])(y))
    close(by_jax, by_casadi, 1e-11)
    h = 1e-5  # central differences of our own accelerations, to five digits
    system, k = found.system, 3
    for j in range(k):
        d = np.eye(k)[j] * h
        ahead, behind = (system.accelerations(y[:k], y[k:] + s * d, t) for s in (1, -1))
        close(by_jax[k:, k + j], (ahead - behind) / (2 * h), 1e-5)


@pytest.mark.peer
def test_redundant_rows_are_left_out_of_the_linear_system() -> None:
    pytest.importorskip("casadi")
    found = pendula.exchange.to_casadi(MECHANISMS["redundant"]())
    assert len(found.rows) == pendula.mobility(pendula.compile_system(MECHANISMS["redundant"]())).rank == 3


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for package, function in (("casadi", "to_casadi"), ("jax", "to_jax")):
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.setitem(sys.modules, f"{package}.numpy", None)
        with pytest.raises(pendula.errors.NotSupported, match=f"{function} needs"):
            getattr(pendula.exchange, function)("pendulum")


def test_a_system_is_written_by_its_own_equations_unless_a_formulation_is_named(tmp_path: Path) -> None:
    model = pendula.library.pendulum()
    damped = {"equations": ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta) - 7*theta_dot"]}  # 7 N m s is not in the model
    given = pendula.derivation.compile_equations(model, damped)
    f = pendula.exchange.to_sympy(given, inline=True).f[0]
    assert f.diff("theta_dot") == -7
    assert blocks_of(given, None, "to_casadi").equations is given.equations
    assert "7" in pendula.print_equations(given).split("f =")[-1]
    assert "7" in pendula.exchange.export(given, tmp_path / "given.json").path.read_text()
    with pytest.raises(NotSupported, match="derived from the model pendulum"):
        pendula.exchange.export(given, tmp_path / "given.fmu")
    system = pendula.compile_system(model, "lagrange")
    assert pendula.derive(system) is system.equations
    assert pendula.exchange.to_sympy(system).formulation == "lagrange"
    assert pendula.exchange.export(system, tmp_path / "own.c").formulation == "lagrange"
    assert pendula.derive(system, "kane").formulation == "kane"
    assert pendula.exchange.to_sympy(system.equations, "kane").formulation == "kane"
