"""Floquet multipliers: Mathieu's equation, Hill's equation by SciPy, reciprocal pairs, growth of simulated motions."""

import json

import numpy as np
import pytest
from scipy import linalg, special
from scipy.integrate import solve_ivp

import pendula
from pendula import Model, library
from pendula.analysis.driven.floquet import floquet
from pendula.analysis.driven.periods import find_period
from pendula.analysis.driven.study import floquet_boundary, floquet_over, sums_of_pairs
from pendula.errors import ComputationError, UsageError
from tests.analysis.test_modes import ball_pendulum

G, L, A = 9.81, 1.0, 0.05
UP = {"theta1": np.pi}


def shaken(amplitude=A, rate=100.0, **more):
    """A point mass on a pivot that goes up and down as amplitude cos(rate t)."""
    more = {"direction": 0} | more
    return library.driven_chain(links=1, kind="point", amplitude=amplitude, rate=rate, **more)


@pytest.fixture(scope="module")
def point():
    return pendula.compile_system(shaken())


@pytest.fixture(scope="module")
def inverted():
    return pendula.compile_system(library.inverted_chain())


# --- Mathieu ------------------------------------------------------------------------------------------------
# Upright, delta'' = (g - a w^2 cos(w t))/l delta. With tau = w t/2 this is delta'' + (p - 2 q cos 2 tau) delta = 0,
# p = -4 g/(l w^2), |q| = 2 a/l (the sign of q shifts tau by a quarter period and leaves the limits as they are).


def test_kapitza_limit_is_the_mathieu_characteristic_value(point):
    found = floquet_boundary(point, "omega", 50.0, 100.0, at=UP)
    expected = np.sqrt(-4 * G / (L * special.mathieu_a(0, 2 * A / L)))
    assert found.value == pytest.approx(expected, abs=1e-8)
    assert (found.below, found.above) == ("unstable", "stable (linear)")
    assert "meet at 1" in found.how
    assert found.width < 1e-7
    # Kapitza's sqrt(2 g l)/a is the limit for small amplitudes only
    assert abs(found.value - np.sqrt(2 * G * L) / A) > 0.01


def test_upper_limit_of_the_upright_pendulum_is_the_next_characteristic_value(point):
    found = floquet_boundary(point, "alpha", 0.3, 0.6, at=UP, parameters={"omega": 200.0})
    assert special.mathieu_b(1, 2 * found.value / L) == pytest.approx(-4 * G / (L * 200.0**2), abs=1e-9)
    assert "-1" in found.how


def test_trace_is_that_of_mathieus_equation(point):
    w = 100.0
    p, q = -4 * G / (L * w**2), 2 * A / L

    def rates(tau, y):
        return [y[1], -(p + 2 * q * np.cos(2 * tau)) * y[0]]  # the pivot is at its top at tau = 0

    ends = [solve_ivp(rates, (0, np.pi), y, rtol=1e-12, atol=1e-14).y[:, -1] for y in ([1, 0], [0, 1])]
    found = floquet(point, at=UP)
    assert np.sum(found.multipliers).real == pytest.approx(ends[0][0] + ends[1][1], abs=1e-9)


def test_hanging_pendulum_has_tongues_at_twice_its_frequency(point):
    own = np.sqrt(G / L)
    over = floquet_over(point, "omega", 1.7 * own, 2.3 * own, samples=25, at={}, parameters={"alpha": 0.05})
    assert [v for _, _, v in over.ranges] == ["stable (linear)", "unstable", "stable (linear)"]
    # limits of the first tongue: p = 4 g/(l w^2) equal to a_1 and b_1 of q = 2 a/l
    for limit, characteristic in zip(over.boundaries, (special.mathieu_a, special.mathieu_b), strict=True):
        assert 4 * G / (L * limit.value**2) == pytest.approx(characteristic(1, 2 * 0.05), abs=1e-9)
        assert "meet at -1" in limit.how


# --- three links --------------------------------------------------------------------------------------------


def multipliers_by_scipy(w, alpha):
    """Hill's equation of the inverted chain of paper 003, written down by hand: M d'' + K(t) d = 0."""
    m, l, g, signs = np.array([10, 1, 0.1]), np.array([0.01, 0.1, 1.0]), 0.5, np.array([1, 1, -1])
    below = np.cumsum(m[::-1])[::-1]  # mass at and below each link
    M = np.array([[below[max(i, j)] * l[i] * l[j] * signs[i] * signs[j] for j in range(3)] for i in range(3)])
    inverse = np.linalg.inv(M)

    def rates(t, y):
        lift = g - alpha * w**2 * np.cos(w * t)
        return np.concatenate([y[3:], -inverse @ (below * l * lift * signs * y[:3])])

    columns = [
        solve_ivp(rates, (0, 2 * np.pi / w), e, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1] for e in np.eye(6)
    ]
    return np.linalg.eigvals(np.array(columns).T)


@pytest.mark.parametrize("w", [200.0, 400.0, 500.0])
def test_multipliers_of_the_inverted_chain_by_hand_written_equations(inverted, w):
    found = floquet(inverted, at={"theta3": np.pi}, parameters={"omega": w})
    expected = multipliers_by_scipy(w, 0.003)
    for mu in expected:
        assert np.abs(found.multipliers - mu).min() < 1e-8


def test_inverted_chain_of_paper_003_over_base_frequency(inverted):
    """With a base amplitude of 3 mm all multipliers lie on the unit circle from 331.93 rad/s on, and not below."""
    found = floquet_over(inverted, "omega", 40.0, 960.0, samples=24, at={"theta3": np.pi})
    assert [v for _, _, v in found.ranges] == ["unstable", "stable (linear)"]
    (limit,) = found.boundaries
    assert 1 / 0.003 - 5 < limit.value < 1 / 0.003  # a little below Kapitza's amplitude rate = sqrt(2 g l) = 1
    for off, stable in ((-1e-4, False), (1e-4, True)):
        sizes = np.abs(multipliers_by_scipy(limit.value + off, 0.003))
        assert bool(np.all(np.abs(sizes - 1) < 2e-6)) == stable
    # a larger amplitude shakes the first link loose, whatever the rate
    loose = floquet_over(
        inverted, "omega", 100.0, 2000.0, samples=[100.0, 500.0, 2000.0], at={"theta3": np.pi},
        parameters={"alpha": 0.005}, refine=False,
    )  # fmt: skip
    assert set(loose.verdicts) == {"unstable"}


def test_multipliers_of_undamped_mechanisms_are_reciprocal(inverted, point):
    for system, at in ((inverted, {"theta3": np.pi}), (inverted, {}), (point, {}), (point, UP)):
        found = floquet(system, at=at)
        assert found.conservative
        assert found.product_error < 1e-11
        assert found.pair_error < 1e-11
        w = sums_of_pairs(found.matrix)
        assert np.sort(w.real) == pytest.approx(
            np.sort((found.multipliers + 1 / found.multipliers).real)[::2], abs=1e-8
        )


# --- damping --------------------------------------------------------------------------------------------------


def test_damped_multipliers_follow_liouville_and_are_asymptotically_stable():
    system = pendula.compile_system(shaken(rate=15.0, friction=0.4))
    found = floquet(system)
    assert found.verdict == "asymptotically stable"
    assert not found.conservative
    # product = exp(-integral of the trace) = exp(-c T/(m l^2))
    assert np.prod(found.multipliers).real == pytest.approx(np.exp(-0.4 * found.period), rel=1e-11)


def test_damped_growth_is_that_of_a_simulated_motion():
    w, periods = 2 * np.sqrt(G / L), 40
    system = pendula.compile_system(shaken(amplitude=0.1, rate=w, friction=0.05))
    found = floquet(system)
    assert found.verdict == "unstable"
    t = np.arange(periods + 1) * found.period
    run = pendula.simulate(system, t[-1], initial_state={"theta1": 1e-9}, tol=1e-12, atol=1e-22, samples=t)
    growth = np.abs(run["theta1"][1:] / run["theta1"][:-1])
    assert growth[-1] == pytest.approx(found.radius, rel=1e-7)
    rate = float(found.exponents[0].real)
    assert rate == pytest.approx(np.log(growth[-1]) / found.period, rel=1e-6)


def test_limit_with_damping(point):
    w = 2 * np.sqrt(G / L)
    system = pendula.compile_system(shaken(amplitude=0.1, rate=w, friction=0.05))
    name = next(n for n in system.layout.parameters if system.model.parameters[n] in (0.05, "0.05"))
    found = floquet_boundary(system, name, 0.05, 2.0)
    assert found.above == "asymptotically stable"
    assert np.abs(found.at_boundary).max() == pytest.approx(1, abs=1e-10)


# --- spatial, orbits, autonomous motions ---------------------------------------------------------------------------


def test_ball_joint_gives_every_planar_multiplier_twice_and_is_semisimple():
    model = ball_pendulum()
    joint = {"name": "ball", "type": "spherical", "child": "box"}
    joint["parent"] = {"body": "ground", "position": [0, 0, "a*cos(w*t)"]}
    spatial = pendula.compile_system(
        model.with_changes(parameters=dict(model.parameters) | {"a": 0.05, "w": 9.0}, joints=[joint])
    )
    found = floquet(spatial)
    length = (0.02 + 1.3 * 0.7**2) / (1.3 * 0.7)

    def rates(t, y):
        return [y[1], -(G - 0.05 * 81 * np.cos(9 * t)) / length * y[0]]

    ends = [solve_ivp(rates, (0, 2 * np.pi / 9), y, rtol=1e-12, atol=1e-14).y[:, -1] for y in ([1, 0], [0, 1])]
    planar = np.linalg.eigvals(np.array(ends).T)
    swinging = found.multipliers[np.abs(found.multipliers - 1) > 1e-3]
    assert len(swinging) == 4
    for mu in planar:
        assert np.sum(np.abs(swinging - mu) < 1e-8) == 2
    # the spin about the vertical is free: a double multiplier 1 with one direction
    assert found.verdict == "critical"


def test_two_equal_pendulums_on_one_shaken_base_are_stable_with_repeated_multipliers():
    rods = [{"name": f"rod{k}", "rod": {"mass": 1, "length": 1}} for k in (1, 2)]
    base = {"body": "ground", "position": [0, "0.02*cos(9*t)", 0]}
    joints = [{"name": f"a{k}", "type": "revolute", "parent": base, "child": f"rod{k}"} for k in (1, 2)]
    model = Model(name="two pendulums", gravity=[0, -9.81, 0], bodies=rods, joints=joints)
    found = floquet(pendula.compile_system(model))
    assert found.verdict == "stable (linear)"


def test_forced_orbit_is_found_and_is_the_one_a_damped_run_settles_on():
    system = pendula.compile_system(shaken(amplitude=0.05, rate=2.0, direction="90deg", friction=1.5))
    found = floquet(system, close=True)
    assert found.verdict == "asymptotically stable"
    assert found.closing_error < 1e-9
    settled = pendula.simulate(system, 20 * found.period, tol=1e-12).state()
    assert found.state.q == pytest.approx(settled.q, abs=1e-8)
    with pytest.raises(UsageError, match="is not periodic"):
        floquet(system)


def test_rest_of_a_mechanism_without_driving_has_exponentials_of_its_roots():
    system = pendula.compile_system(library.pendulum(kind="point"))
    found = floquet(system, 0.7, at={})
    expected = np.exp(1j * np.sqrt(G / L) * 0.7 * np.array([1, -1]))
    assert found.trivial == 0
    assert found.multipliers == pytest.approx(expected, abs=1e-11)


def test_combination_tongue_of_two_links_is_a_meeting_of_two_pairs():
    """Shaken at the sum of its frequencies a double pendulum with a spring in its elbow leaves in both modes at once.

    Without the spring modes stay apart: shaking then changes all stiffness in the same proportion.
    """
    model = library.driven_chain(links=2, kind="point", amplitude=0.1, rate=8.0, direction=0)
    spring = {"type": "torsion-spring", "joint": "theta2", "stiffness": 20}
    system = pendula.compile_system(model.with_changes(forces=[spring]))
    M, K = np.array([[2.0, 1], [1, 1]]), G * np.diag([2.0, 1]) + 20.0 * np.array([[1.0, -1], [-1, 1]])
    middle = np.sqrt(linalg.eigh(K, M)[0]).sum()
    assert floquet(system, parameters={"omega": middle}).verdict == "unstable"
    found = floquet_boundary(system, "omega", middle, middle + 1.5)
    assert "two pairs" in found.how
    assert (found.below, found.above) == ("unstable", "stable (linear)")
    near = [floquet(system, parameters={"omega": found.value + d}) for d in (-1e-6, 1e-6)]
    assert near[0].radius > 1 + 1e-5
    assert near[1].radius < 1 + 1e-6


def test_swing_of_a_free_pendulum_has_trivial_multipliers_only():
    system = pendula.compile_system(library.pendulum(kind="point"))
    start = 1.0
    period = 4 * np.sqrt(1.0 / G) * special.ellipk(np.sin(start / 2) ** 2)
    found = floquet(system, period, at={"theta": start})
    assert found.trivial == 2
    assert np.abs(found.multipliers - 1).max() < 1e-4  # a double 1, so only to the root of the accuracy
    # the period depends on the amplitude: shear dtheta(T) = -theta'(T) dT, by the derivative of the elliptic integral
    h = 1e-6
    slope = [4 * np.sqrt(1.0 / G) * special.ellipk(np.sin((start + s) / 2) ** 2) for s in (h, -h)]
    acceleration = -G * np.sin(start)
    assert found.matrix[1, 0] == pytest.approx(-acceleration * (slope[0] - slope[1]) / (2 * h), rel=1e-5)


# --- periods ------------------------------------------------------------------------------------------------------


def driven_twice(first, second):
    """A pendulum whose pivot moves with two rates."""
    model = shaken()
    joint = {"name": "theta1", "type": "revolute", "child": "link 1"}
    joint["child"] = model.joints[0].child.body
    joint["parent"] = {"body": "ground", "position": [0, f"0.01*cos({first}*t) + 0.02*sin({second}*t)", 0]}
    return pendula.compile_system(model.with_changes(joints=[joint]))


def test_common_period_of_two_rates_is_found():
    system = driven_twice(6, 4)
    assert find_period(system, system.parameters) == pytest.approx(np.pi)
    odd = driven_twice(1, "sqrt(2)")
    with pytest.raises(UsageError, match="no common period"):
        floquet(odd)


def test_square_of_a_cosine_has_half_the_period():
    model = library.pendulum(kind="point").with_changes(
        forces=[{"type": "generalized", "coordinate": "theta", "value": "-0.1*cos(3*t)**2*theta"}]
    )
    system = pendula.compile_system(model)
    assert find_period(system, system.parameters) == pytest.approx(np.pi / 3)


def test_period_is_checked(point):
    assert floquet(point, "2*pi/omega").period == pytest.approx(2 * np.pi / 100)
    with pytest.raises(UsageError, match="not a period of the driving"):
        floquet(point, 0.05)
    with pytest.raises(UsageError, match="positive number"):
        floquet(point, -1.0)
    with pytest.raises(UsageError, match="does not depend on time"):
        floquet(pendula.compile_system(library.pendulum()))


def test_refusals(point):
    with pytest.raises(UsageError, match="is not periodic"):
        floquet(point, at={"theta1": 0.3})
    with pytest.raises(UsageError, match="no boundary is bracketed"):
        floquet_boundary(point, "omega", 95.0, 100.0, at=UP)
    with pytest.raises(UsageError, match='no parameter "speed"'):
        floquet_over(point, "speed", 1.0, 2.0)
    with pytest.raises(UsageError, match="from 1 to 2"):
        floquet_over(point, "omega", 1.0, 2.0, samples=[0.5, 1.5])
    with pytest.raises(UsageError, match="is not periodic"):
        floquet(pendula.compile_system(library.driven_linkage(bars=5)))
    with pytest.raises(ComputationError, match="10 steps were tried"):
        floquet(point, at=UP, max_steps=10)


def test_systems_by_recursion_are_followed_by_their_equations():
    model = library.driven_chain(links=3, amplitude=0.01, rate=7.0, direction=0)
    quick, plain = (pendula.compile_system(model, engine=e) for e in ("recursive", "symbolic"))
    assert floquet(quick).multipliers == pytest.approx(floquet(plain).multipliers, abs=1e-9)


def test_results_read_as_text_and_as_json(point):
    found = floquet(point, at=UP)
    text = str(found)
    assert "stable (linear)" in text
    assert "pairs mu, 1/mu" in text
    record = json.loads(json.dumps(found.as_dict()))
    assert record["verdict"] == "stable (linear)"
    over = floquet_over(point, "omega", 60.0, 100.0, samples=2, at=UP)
    assert "limit omega = 88.637" in str(over)
