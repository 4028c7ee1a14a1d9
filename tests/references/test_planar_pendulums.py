"""Pendulums in the plane: elliptic integrals, Kamman's double pendulum (paper 001), Turner's chain (paper 003).

Paper 001: "Unit 8", eqs. 8-9 and 30, examples 3 and 5-7. Paper 003: n-link pendulum; eqs. 25 and 28-29 with the
sums corrected to j = i..n, eq. 5 and its correction, eqs. 62 and 64. Corrections are those of the errata.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.special import ellipk, jn_zeros

import pendula
from pendula import library
from pendula.results import System
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array, states

EXACT = 1e-12
"""Relative: the same equations written down by hand, at random states."""
TOL = 1e-12


def _eigenvalues(system: System, q: Array, parameters: dict[str, float] | None = None) -> Array:
    """Of z' = A z with z = (dq, dv) about a rest pose in independent coordinates."""
    zero = np.zeros(len(system.layout.speeds))
    K = system.acceleration_jacobian("q", q, zero, parameters=parameters)
    C = system.acceleration_jacobian("v", q, zero, parameters=parameters)
    n = len(zero)
    return np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [K, C]]))


def _frequencies(system: System, q: Array, parameters: dict[str, float] | None = None) -> Array:
    values = _eigenvalues(system, q, parameters)
    return np.sort(values.imag[values.imag > 0])


# --- one link -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "frequency"), [("pendulum", np.sqrt(1.5 * 9.81)), ("pendulum: point", np.sqrt(9.81))])
def test_small_swings_of_a_pendulum_have_the_closed_form_frequency(name: str, frequency: float) -> None:
    assert _frequencies(library_system(name), np.zeros(1)) == pytest.approx([frequency], rel=EXACT)


@pytest.mark.parametrize(("name", "frequency"), [("pendulum", np.sqrt(1.5 * 9.81)), ("pendulum: point", np.sqrt(9.81))])
@pytest.mark.parametrize("amplitude", [0.1, np.pi / 2, 3.0])
def test_period_of_a_pendulum_is_the_elliptic_integral(name: str, frequency: float, amplitude: float) -> None:
    """After 4 K(sin(A/2))/w it is back at rest where it started; after a quarter it hangs down."""
    period = 4 * ellipk(np.sin(amplitude / 2) ** 2) / frequency
    times = [period / 4, period / 2, period]
    run = pendula.simulate(library_system(name), period, initial_state={"theta": amplitude}, tol=TOL, samples=times)
    assert run["theta"] == pytest.approx([0.0, -amplitude, amplitude], abs=1e-8)
    fastest = 2 * frequency * np.sin(amplitude / 2)
    assert run["theta_dot"] == pytest.approx([-fastest, 0.0, 0.0], abs=1e-7)


def test_damped_pendulum_has_the_closed_form_roots() -> None:
    """s^2 + (c/J) s + 3 g/(2 l) = 0 with J = m l^2/3."""
    system = library_system("pendulum: friction")
    expected = np.roots([1.0, 0.3 * 3, 1.5 * 9.81])
    found = _eigenvalues(system, np.zeros(1))
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(expected), rtol=EXACT)


# --- paper 001: double pendulum -----------------------------------------------------------------------


def _kamman(q: Array, v: Array, p: dict[str, float]) -> tuple[Array, Array]:
    """M and right-hand side of eq. 26."""
    m, l, g, k1, k2, c1, c2 = (p[n] for n in ("m", "l", "g", "k1", "k2", "c1", "c2"))
    (t1, t2), (w1, w2) = q, v
    C, S = np.cos(t2 - t1), np.sin(t2 - t1)
    M = m * l**2 * np.array([[4 / 3, C / 2], [C / 2, 1 / 3]])
    first = m * l**2 / 2 * S * w2**2 - 1.5 * m * g * l * np.sin(t1)
    first += -(c1 + c2) * w1 + c2 * w2 - (k1 + k2) * t1 + k2 * t2
    second = -m * l**2 / 2 * S * w1**2 - 0.5 * m * g * l * np.sin(t2) - c2 * (w2 - w1) - k2 * (t2 - t1)
    return M, np.array([first, second])


@pytest.mark.parametrize("formulation", ["lagrange", "kane"])
def test_double_pendulum_has_the_equations_8_and_9_of_paper_001(formulation: str) -> None:
    system = library_system("double-pendulum", formulation)
    p = system.model.parameter_values
    assert p["m"] == pytest.approx(5 / 32.2)
    _, q, v = states(system, 30)
    for x, y in zip(q, v, strict=True):
        M, right = _kamman(x, y, p)
        np.testing.assert_allclose(system.mass_matrix(x), M, rtol=EXACT)
        np.testing.assert_allclose(system.forces(x, y), right, rtol=EXACT, atol=1e-11 * np.abs(right).max())
        np.testing.assert_allclose(system.accelerations(x, y), np.linalg.solve(M, right), rtol=1e-11)


def test_double_pendulum_has_the_matrices_A1_and_A2_of_example_3() -> None:
    """Eq. 30."""
    system = library_system("double-pendulum")
    p = system.model.parameter_values
    m, l, g, k1, k2, c1, c2 = (p[n] for n in ("m", "l", "g", "k1", "k2", "c1", "c2"))
    J = 7 * m * l**2
    A1 = [
        [-(18 * g / (7 * l) + (12 * k1 + 30 * k2) / J), 9 * g / (7 * l) + 30 * k2 / J],
        [27 * g / (7 * l) + (18 * k1 + 66 * k2) / J, -(24 * g / (7 * l) + 66 * k2 / J)],
    ]
    A2 = np.array([[-(12 * c1 + 30 * c2), 30 * c2], [18 * c1 + 66 * c2, -66 * c2]]) / J
    rest = np.zeros(2)
    np.testing.assert_allclose(system.acceleration_jacobian("q", rest, rest), A1, rtol=EXACT)
    np.testing.assert_allclose(system.acceleration_jacobian("v", rest, rest), A2, rtol=EXACT)


def test_double_pendulum_has_the_eigenvalues_of_example_5() -> None:
    """As corrected in the errata: -0.917834 +- 21.43205j (the paper's last digit of 0.917835 is off)."""
    found = _eigenvalues(library_system("double-pendulum"), np.zeros(2))
    slow = found[np.argsort(np.abs(found))][:2]
    assert slow.real == pytest.approx([-0.917834] * 2, abs=5e-7)
    assert np.sort(slow.imag) == pytest.approx([-21.43205, 21.43205], abs=5e-6)


def test_double_pendulum_without_damping_has_the_frequencies_of_examples_6_and_7() -> None:
    """21.4405 and, as corrected in the errata, 94.97844 rad/s (example 6 prints 94.9786)."""
    found = _frequencies(library_system("double-pendulum"), np.zeros(2), {"c1": 0.0, "c2": 0.0})
    assert found == pytest.approx([21.4405, 94.97844], abs=5e-5)
    M, _ = _kamman(np.zeros(2), np.zeros(2), library_system("double-pendulum").model.parameter_values)
    p = library_system("double-pendulum").model.parameter_values
    K = [[p["k1"] + p["k2"] + 1.5 * p["m"] * 32.2 * 2, -p["k2"]], [-p["k2"], p["k2"] + 0.5 * p["m"] * 32.2 * 2]]
    np.testing.assert_allclose(found, np.sqrt(eigh(K, M, eigvals_only=True)), rtol=1e-11)


# --- paper 003: n links -------------------------------------------------------------------------------


class Links:
    """A chain of links with absolute angles, written down directly.

    Link i has length L, mass m, mass centre at d from its upper end and inertia J about it. With
    e_i = (cos, sin) of the angle, the mass centre of link i moves at d_i w_i e_i + sum over j < i of L_j w_j e_j.
    Then M_ij = B_ij cos(th_i - th_j) and M a = - B sin(th_i - th_j) w_j^2 - weights - friction.
    """

    def __init__(self, m: Array, L: Array, d: Array, J: Array, g: float = 9.81) -> None:
        self.m, self.L, self.d, self.J, self.g = (np.asarray(x, dtype=float) for x in (m, L, d, J, g))
        n = len(self.m)
        # arms[k, i]: how far the mass centre of link k moves per turn of link i
        self.arms = np.array(
            [[self.L[i] if i < k else self.d[i] if i == k else 0.0 for i in range(n)] for k in range(n)]
        )
        self.B = np.einsum("k,ki,kj->ij", self.m, self.arms, self.arms)

    def mass_matrix(self, q: Array) -> Array:
        return self.B * np.cos(q[:, None] - q) + np.diag(self.J)

    def weights(self, q: Array) -> Array:
        return self.g * (self.m @ self.arms) * np.sin(q)

    def com_friction(self, q: Array, v: Array, mu: float) -> Array:
        """Eq. 25 with the sum over j = i..n: every link below i pushes back at its own mass centre."""
        return -mu * np.einsum("ki,ki,k->i", self.arms, np.cos(q[:, None] - q), v)

    def accelerations(self, q: Array, v: Array, extra: Array | float = 0.0) -> Array:
        whirl = (self.B * np.sin(q[:, None] - q)) @ v**2
        return np.linalg.solve(self.mass_matrix(q), -whirl - self.weights(q) + extra)


def _rods(n: int) -> Links:
    return Links(np.ones(n), np.ones(n), np.full(n, 0.5), np.full(n, 1 / 12))


@pytest.mark.parametrize("formulation", ["lagrange", "kane"])
def test_chain_of_rods_has_the_equations_of_paper_003(formulation: str) -> None:
    system, expected = library_system("chain", formulation), _rods(10)
    _, q, v = states(system, 15)
    for x, y in zip(q, v, strict=True):
        np.testing.assert_allclose(system.mass_matrix(x), expected.mass_matrix(x), atol=1e-13)
        a = expected.accelerations(x, y)
        np.testing.assert_allclose(system.accelerations(x, y), a, atol=1e-10 * np.abs(a).max())


def test_chain_of_unequal_links_with_friction_has_the_direct_equations() -> None:
    system = library_system("chain: lists")
    m, L, b = np.array([1.0, 2.0, 0.5]), np.array([0.7, 1.1, 0.4]), np.array([0.1, 0.2, 0.3])
    expected = Links(m, L, L / 2, m * L**2 / 12)
    _, q, v = states(system, 15)
    for x, y in zip(q, v, strict=True):
        relative = np.diff(y, prepend=0.0)  # friction acts on the rate between neighbours
        torque = -b * relative
        torque[:-1] += (b * relative)[1:]
        np.testing.assert_allclose(system.accelerations(x, y), expected.accelerations(x, y, torque), rtol=1e-9)


@pytest.mark.parametrize("name", ["chain: com-friction", "chain: com-friction, relative"])
def test_friction_at_the_mass_centres_is_equation_25_summed_over_all_links_below(name: str) -> None:
    system, expected = library_system(name), _rods(3)
    _, q, v = states(system, 15)
    for x, y in zip(q, v, strict=True):
        relative = "relative" in name
        X, Y = (np.cumsum(x), np.cumsum(y)) if relative else (x, y)
        a = expected.accelerations(X, Y, expected.com_friction(X, Y, 0.4))
        found = system.accelerations(x, y)
        np.testing.assert_allclose(np.cumsum(found) if relative else found, a, atol=1e-11 * np.abs(a).max())


def test_point_chain_has_the_direct_equations() -> None:
    system = library_system("chain: point")
    expected = Links(np.ones(4), np.ones(4), np.ones(4), np.zeros(4))
    _, q, v = states(system, 15)
    for x, y in zip(q, v, strict=True):
        a = expected.accelerations(x, y)
        np.testing.assert_allclose(system.accelerations(x, y), a, atol=1e-9 * np.abs(a).max())


@pytest.mark.parametrize(
    ("name", "inertia"),
    [
        ("chain: com off centre", 0.3 * (1 - 0.3) / 3),  # errata to eqs. 2-5: m d (L - d)/3
        ("chain: com off centre, printed inertia", (1 - 2 * 0.3 + 2 * 0.3**2) / 6),  # eq. 5 as printed
    ],
)
def test_mass_centre_off_the_middle_has_the_inertia_of_its_rule(name: str, inertia: float) -> None:
    system = library_system(name)
    expected = Links(np.ones(3), np.ones(3), np.full(3, 0.3), np.full(3, inertia))
    _, q, v = states(system, 10)
    for x, y in zip(q, v, strict=True):
        np.testing.assert_allclose(system.mass_matrix(x), expected.mass_matrix(x), atol=1e-13)
        a = expected.accelerations(x, y)
        np.testing.assert_allclose(system.accelerations(x, y), a, atol=1e-10 * np.abs(a).max())


def test_both_inertia_rules_are_the_rods_own_at_the_middle() -> None:
    for rule in ("consistent", "printed"):
        system = pendula.compile_system(library.chain(links=2, com=0.5, inertia_rule=rule))
        np.testing.assert_allclose(
            system.mass_matrix([0.1, 0.7]), _rods(2).mass_matrix(np.array([0.1, 0.7])), rtol=1e-13
        )


def test_consistent_inertia_is_that_of_two_uniform_halves() -> None:
    """Masses m (L - d)/L above and m d/L below d, uniform on each side: integrate by hand."""
    m, L, d = 1.3, 0.9, 0.25
    above, below = m * (L - d) / L, m * d / L
    centre = above * d / 2 + below * (d + L) / 2
    assert centre / m == pytest.approx(d)
    inertia = above * d**2 / 3 + below * (L - d) ** 2 / 3
    model = library.chain(links=1, mass=m, length=L, com=d)
    system = pendula.compile_system(model)
    assert system.mass_matrix([0.0])[0, 0] == pytest.approx(inertia + m * d**2)


def test_relative_and_absolute_chains_move_alike() -> None:
    one, two = library_system("chain: relative"), pendula.compile_system(library.chain(links=4))
    _, q, v = states(one, 10)
    a = two.accelerations(np.cumsum(q, axis=1), np.cumsum(v, axis=1))
    np.testing.assert_allclose(np.cumsum(one.accelerations(q, v), axis=1), a, atol=1e-9 * np.abs(a).max())


def test_three_links_have_the_frequencies_of_equation_62() -> None:
    """Errata: the eigenvalues are omega^2, 4.757, 29.43 and 105.04, so the frequencies are 2.181, 5.425, 10.249."""
    system = pendula.compile_system(library.chain(links=3, kind="point"))
    found = _frequencies(system, np.zeros(3))
    direct = Links(np.ones(3), np.ones(3), np.ones(3), np.zeros(3))
    stiffness = np.diag(direct.g * (direct.m @ direct.arms))
    np.testing.assert_allclose(found, np.sqrt(eigh(stiffness, direct.B, eigvals_only=True)), rtol=1e-11)


def _hanging(links: int) -> Array:
    """Frequencies of a chain of total length 1 hanging down, from M and the slope of f."""
    system = pendula.compile_system(library.chain(links=links, length=1 / links, mass=1 / links))
    rest = np.zeros(links)
    stiffness, _ = system.residual_jacobian("q", rest, rest, rest)
    return np.sqrt(eigh(stiffness, system.mass_matrix(rest), eigvals_only=True))


def test_frequencies_of_a_hanging_chain_tend_to_the_zeros_of_bessels_function() -> None:
    """Eq. 64: j/2 sqrt(g/L). The excess of a chain of links falls as 1/n^2; the errata give it for 50 links:
    1.2e-5 in the first mode and 8.8e-3 in the fifth."""
    limit = jn_zeros(0, 5) / 2 * np.sqrt(9.81)
    middle, fine = (_hanging(n)[:5] / limit - 1 for n in (25, 50))
    assert fine[[0, 4]] == pytest.approx([1.2e-5, 8.8e-3], rel=0.05)
    assert np.log2(middle / fine)[:3] == pytest.approx([2.0] * 3, abs=0.15)


# --- cart and pole ------------------------------------------------------------------------------------


def test_cart_pole_has_the_closed_form_frequency_and_a_double_zero() -> None:
    system = library_system("cart-pole")
    M, m, l, g = 1.0, 0.2, 1.0, 9.81
    J = m * l**2 / 3
    expected = np.sqrt(m * g * (l / 2) * (M + m) / (J * (M + m) - (m * l / 2) ** 2))
    assert _frequencies(system, np.zeros(2)) == pytest.approx([expected], rel=EXACT)


def test_cart_pole_has_the_textbook_equations() -> None:
    """(M + m) x'' + m (l/2)(th'' cos th - th'^2 sin th) = F; J th'' + m (l/2)(x'' cos th + g sin th) = 0."""
    system = library_system("cart-pole")
    M, m, h, g, J = 1.0, 0.2, 0.5, 9.81, 0.2 / 3
    _, q, v = states(system, 20)
    for (_, th), (_, w) in zip(q, v, strict=True):
        mass = np.array([[M + m, m * h * np.cos(th)], [m * h * np.cos(th), J]])
        right = np.array([2.5 + m * h * w**2 * np.sin(th), -m * g * h * np.sin(th)])
        found = system.accelerations([0.3, th], [0.1, w], inputs={"F": 2.5})
        np.testing.assert_allclose(found, np.linalg.solve(mass, right), rtol=1e-11, atol=1e-12)
