"""Linearization in symbols: paper 001's example 2 term by term, loops and quaternions against numbers, conditions."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp

import pendula
from pendula import library
from pendula.equations.small_motion import build
from pendula.equations.small_motion.conditions import damping_sentence, hurwitz, positive, stability_conditions
from pendula.errors import NotSupported, UsageError
from pendula.system.loops.sampling import random_states
from tests.helpers.choices import slow_too
from tests.helpers.loops import spherical_four_bar

ROUNDING = 1e-9  # the equilibrium is found to 1e-10, and both sides are evaluated there
DIFFERENCES = 1e-6  # central differences with steps of 1e-4


def numbers(matrix, found, model):
    values = {**model.parameter_values, **found.constants}
    return np.array(matrix.subs({s: values[s.name] for s in matrix.free_symbols}).tolist(), dtype=float)


def test_example_2_of_paper_001_term_by_term():
    """Eq. 8: 1st term linear; 2nd becomes m l^2/2 theta2''; 3rd is dropped; 4th becomes 3/2 m g l theta1."""
    found = pendula.linear.linearize_symbolic(library.double_pendulum())
    first, second = found.equations
    told = {str(t.term): t for t in first.terms}
    inertia = told["l**2*m*theta2''*cos(theta1 - theta2)/2"]
    assert (inertia.kind, str(inertia.linear), inertia.order) == ("linearized", "l**2*m*theta2''/2", 3)
    spin = told["l**2*m*theta2_dot**2*sin(theta1 - theta2)/2"]
    assert (spin.kind, spin.linear, spin.order) == ("dropped", 0, 3)
    assert "theta2_dot**2 (order 2) and sin(theta1 - theta2) (order 1)" in spin.reason
    weight = told["3*g*l*m*sin(theta1)/2"]
    assert (weight.kind, str(weight.linear), str(weight.rest)) == (
        "linearized",
        "3*d_theta1*g*l*m/2",
        "-d_theta1**3*g*l*m/4",
    )
    assert {t.kind for name, t in told.items() if name.startswith(("4", "k", "-k", "-c", "theta1_dot"))} == {"kept"}
    names = sp.symbols("m l g k1 k2 c1 c2 d_theta1 d_theta2 d_theta1_dot d_theta2_dot theta1'' theta2''")
    m, l, g, k1, k2, c1, c2, x1, x2, v1, v2, a1, a2 = names
    eq11 = 4 * m * l**2 / 3 * a1 + m * l**2 / 2 * a2 + (c1 + c2) * v1 - c2 * v2
    eq11 += (k1 + k2 + sp.Rational(3, 2) * m * g * l) * x1 - k2 * x2
    eq12 = m * l**2 / 2 * a1 + m * l**2 / 3 * a2 - c2 * v1 + c2 * v2 - k2 * x1 + (k2 + m * g * l / 2) * x2
    for told_equation, expected in ((first, eq11), (second, eq12)):
        plain = told_equation.linear.subs({s: sp.Symbol(s.name) for s in told_equation.linear.free_symbols})
        assert sp.expand(plain - expected) == 0


@cache
def at_lowest(name):
    """A library mechanism by Kane's method, its lowest equilibrium, and its small motion in symbols."""
    system = pendula.compile_system(name, "kane")
    rest = pendula.equilibria.lowest_equilibrium(system)
    return system, rest, pendula.linear.linearize_symbolic(name, rest)


@pytest.mark.parametrize("name", slow_too(["slider-crank"], ["four-bar"]))
def test_loops_agree_with_the_numeric_linear_model(name):
    """Constraint forces add geometric stiffness; eigenvalues do not depend on which coordinate is independent."""
    system, rest, found = at_lowest(name)
    M, K = (numbers(X, found, system.model) for X in (found.M, found.K))
    expected = pendula.linearize(system, rest)
    ours = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    assert ours == pytest.approx(np.sort(np.linalg.eigvals(np.linalg.solve(expected.M, expected.K)).real), rel=ROUNDING)
    multipliers = [found.constants.get(f"lam{r + 1}_e", 0.0) for r in range(system.loop_rows)]
    assert multipliers == pytest.approx(list(rest.multipliers), rel=ROUNDING, abs=ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize("which", range(4))
def test_a_spatial_loop_of_numbers_is_found_in_time_and_agrees_with_the_numeric_linear_model(which):
    """Its coefficients are long numbers of roots, which SymPy does not shorten."""
    system = pendula.compile_system(spherical_four_bar(), "kane")
    rest = pendula.find_equilibria(system)[which]
    found = pendula.linear.linearize_symbolic(system.model, rest, seconds=50.0)
    M, C, K = (numbers(X, found, system.model).item() for X in (found.M, found.C, found.K))
    expected = pendula.linearize(system, rest)
    ours = K / M
    assert ours == pytest.approx((expected.K / expected.M).item(), rel=ROUNDING)
    assert C == 0
    assert sp.count_ops(found.K) < 500


@pytest.mark.parametrize("factor", [1, sp.sqrt(5 + sp.sqrt(3))])
def test_long_numbers_that_are_zero_are_seen_to_be(factor):
    roots = [sp.sqrt(k + sp.sqrt(k + 1)) for k in range(2, 8)]
    zero = factor * (sp.Add(*roots) ** 2 - sp.Add(*(a * b for a in roots for b in roots)))
    assert build._zero_or(zero) == 0
    assert build._zero_or(zero + sp.Rational(1, 10**20)) != 0


def test_a_hanging_top_in_quaternions_has_its_closed_form():
    """A disc of radius r at distance l from the pivot: omega^2 = m g l/(m l^2 + m r^2/4), and the spin drifts."""
    found = pendula.linear.linearize_symbolic("heavy-top", {"pivot_q0": 0, "pivot_q1": 1})
    l, r, g = (next(s for s in found.M.free_symbols | found.K.free_symbols if s.name == n) for n in "lrg")
    assert found.coordinates == ("pivot_rx", "pivot_ry", "pivot_rz")
    for k in (0, 1):
        assert sp.simplify(found.K[k, k] / found.M[k, k] - g * l / (l**2 + r**2 / 4)) == 0
    assert found.stable_if.startswith("always all roots on the imaginary axis, apart from drift in 1 direction")
    gyroscopic = [t for t in found.equations[0].terms if t.kind == "dropped" and "pivot_wy" in str(t.term)]
    assert gyroscopic[0].order == 2


CASES = {
    "double-pendulum": {},
    "slider-crank": None,
    "heavy-top": {"pivot_q0": 0, "pivot_q1": 1},
    "hoop-bead": {"theta": "acos(g/(r*Omega**2))"},
    "piston-bar": {},
}


@cache
def case(name):
    """The small motion of a case in symbols."""
    return pendula.linear.linearize_symbolic(library.mechanisms()[name].make(), CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_told_terms_add_up_to_the_equations_and_their_linear_parts_to_the_derivative(name):
    """M v' - f - G^T lam of the compiled system at random states, and its central differences at the point."""
    model = library.mechanisms()[name].make()
    system = pendula.compile_system(model, "lagrange", engine="symbolic")
    found = at_lowest(name)[2] if CASES[name] is None else case(name)
    n = len(system.layout.speeds)
    a, lam = np.linspace(0.3, 0.7, n), np.linspace(-0.4, 0.9, system.loop_rows)
    t, q, v = random_states(system, 2, seed=5)
    u = [0.3] * len(system.layout.inputs)
    for k in range(len(t)):
        residual = system.mass_matrix(q[k], t[k]) @ a - system.forces(q[k], v[k], t[k], inputs=u)
        residual = residual - system.constraint_jacobian(q[k], t[k]).T @ lam
        values = dict(zip((*system.layout.coordinates, *system.layout.speeds), (*q[k], *v[k]), strict=True))
        values |= dict(zip(system.layout.inputs, u, strict=True)) | {f"lam{r + 1}": x for r, x in enumerate(lam)}
        values |= {"t": t[k]} | _accelerations(system, a) | model.parameter_values
        for i in range(n):
            total = sum(
                float(x.term.subs({s: values[s.name] for s in x.term.free_symbols})) for x in found.equations[i].terms
            )
            assert total == pytest.approx(residual[i], rel=1e-10, abs=1e-10)


def _accelerations(system, a):
    names = system.layout.speeds
    return {n.removesuffix("_dot") + "''" if n.endswith("_dot") else f"{n}'": x for n, x in zip(names, a, strict=True)}


def test_linear_parts_are_the_derivative_of_their_terms():
    """For every term of every case: central differences along random changes; quaternions stay on their sphere."""
    rng = np.random.default_rng(1)
    for name in ("double-pendulum", "hoop-bead", "piston-bar"):
        model = library.mechanisms()[name].make()
        found = case(name)
        base = {"theta": np.arccos(9.81 / 20)} if name == "hoop-bead" else {}
        for told in found.equations:
            for x in told.terms:
                names = {s.name for s in x.term.free_symbols} - set(model.parameters)
                change = {n: rng.uniform(-1, 1) for n in names}

                def at(step, x=x, change=change, model=model, base=base):
                    start = {n: float(sp.sympify(model.inputs[n]).subs(model.parameter_values)) for n in model.inputs}
                    values = model.parameter_values | {
                        n: base.get(n, start.get(n, 0.0)) + step * d for n, d in change.items()
                    }
                    return float(x.term.subs({s: values[s.name] for s in x.term.free_symbols}))

                slope = (at(1e-4) - at(-1e-4)) / 2e-4
                values = model.parameter_values | {f"d_{n}": d for n, d in change.items()} | change
                linear = float(x.linear.subs({s: values[s.name] for s in x.linear.free_symbols}))
                assert linear == pytest.approx(slope, rel=DIFFERENCES, abs=DIFFERENCES)


def test_points_that_cannot_be_used_are_refused():
    with pytest.raises(UsageError, match="does not satisfy the constraint pin"):
        pendula.linear.linearize_symbolic("four-bar", {})
    with pytest.raises(NotSupported, match="steady motion"):
        pendula.linear.linearize_symbolic("heavy-top", {"pivot_wz": 3})
    with pytest.raises(UsageError, match="not an equilibrium"):
        pendula.linear.linearize_symbolic("pendulum", {"theta": 0.123456789})


# -- conditions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damping", slow_too([0.3], [0.0]))
def test_conditions_of_three_freedoms_decide_as_eigenvalues_do(damping):
    """An upright chain on springs: stable if the springs are stiff enough."""
    model = library.chain(links=3, stiffness=4.0, damping=damping)
    model = model.with_changes(gravity=[0, "g", 0])  # upside down, so that the springs are at rest where it balances
    found = pendula.linear.linearize_symbolic(model)
    assert len(found.conditions) >= 1
    rng = np.random.default_rng(3)
    symbols = sorted(found.M.free_symbols | found.C.free_symbols | found.K.free_symbols, key=str)
    seen = set()
    matrices = sp.lambdify(symbols, [found.M, found.C, found.K])
    conditions = sp.lambdify(symbols, list(found.conditions))
    for _ in range(60):
        values = [rng.uniform(0.2, 2.0) * (30 if s.name.startswith("k") else 1) for s in symbols]
        M, C, K = matrices(*values)
        roots = np.linalg.eigvals(np.block([[np.zeros((3, 3)), np.eye(3)], [-np.linalg.solve(M, np.hstack([K, C]))]]))
        stable = roots.real.max() < (1e-9 if damping else 1e-6)
        assert all(conditions(*values)) == stable
        seen.add(bool(stable))
    assert seen == {True, False}


@pytest.mark.parametrize("degree", [4, 6])
def test_hurwitz_decides_as_roots_do(degree):
    rng = np.random.default_rng(degree)
    seen = set()
    for _ in range(80):
        roots = []
        for _ in range(degree // 2):
            re, im = rng.uniform(-1, 0.25), rng.uniform(0, 2)
            roots += [re + 1j * im, re - 1j * im]
        a = [sp.Rational(float(x).hex() and repr(float(x))) for x in np.poly(roots).real]
        stable = all(x > 0 for x in hurwitz(a))
        assert stable == (max(r.real for r in roots) < 0)
        seen.add(stable)
    assert seen == {True, False}


def test_masses_that_drift_are_told_apart_from_stiffness():
    """Two equal masses joined by a spring: one direction drifts, the other oscillates."""
    k, m, s = sp.Symbol("k", positive=True), sp.Symbol("m", positive=True), sp.Symbol("s")
    M, C, K = sp.diag(m, m), sp.zeros(2, 2), sp.Matrix([[k, -k], [-k, k]])
    polynomial = sp.Poly(sp.expand((s**2 * M + K).det()), s)
    assert stability_conditions(M, C, K, lambda: polynomial) == ()


def test_borders_of_damping():
    """m x'' + c x' + k x = 0: critical at c^2 = 4 m k."""
    m, c, k = (sp.Symbol(n, positive=True) for n in "mck")
    text = damping_sentence(sp.Matrix([m]), sp.Matrix([c]), sp.Matrix([k]))
    assert "underdamped if 4*k*m > c**2" in text
    assert "critically damped if 4*k*m = c**2" in text
    assert "overdamped if 4*k*m < c**2" in text
    assert damping_sentence(sp.Matrix([m]), sp.zeros(1, 1), sp.Matrix([k])) == ""
    assert positive(c**2 + m) is sp.true


def test_expressions_that_take_too_long_end_with_advice():
    with pytest.raises(NotSupported, match=r"not found within 0 s(.|\n)*linearize"):
        pendula.linear.linearize_symbolic("double-pendulum", seconds=0.0)
