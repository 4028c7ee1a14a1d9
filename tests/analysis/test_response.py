"""Free and harmonic response of linear models, and how far they hold."""

import numpy as np
import pytest
from scipy import linalg

import pendula
from pendula import library
from pendula.analysis.linear.linear_range import linear_range
from pendula.analysis.modes.forced import forced_response
from pendula.analysis.modes.harmonic import harmonic_response
from pendula.analysis.modes.modes import modes
from pendula.analysis.modes.response import free_response
from pendula.errors import UsageError
from tests.analysis.linear_models import from_matrices, linear_model
from tests.analysis.test_modes import ball_pendulum, double, four_bar_at_rest, sliding_bar

EXACT = 1e-11


def by_exponential(linear, e, v, t):
    return np.array([linalg.expm(linear.A * x) @ np.concatenate([e, v]) for x in t])


def random_model(seed, n=4):
    """Positive definite M, any C and K: damped, gyroscopic, circulatory."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    return from_matrices(root @ root.T + np.eye(n), 0.3 * rng.normal(size=(n, n)), rng.normal(size=(n, n)))


# --- free response --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_superposition_of_modes_is_the_matrix_exponential(seed):
    linear = random_model(seed)
    rng = np.random.default_rng(100 + seed)
    e, v, t = rng.normal(size=4), rng.normal(size=4), np.linspace(0, 3, 7)
    found = free_response(linear, e, v, t)
    expected = by_exponential(linear, e, v, t)
    assert found.method == "modes"
    size = np.abs(expected).max()
    assert np.abs(found.e - expected[:, :4]).max() < EXACT * size
    assert np.abs(found.v - expected[:, 4:]).max() < EXACT * size
    assert np.abs(found.parts.sum(axis=0) - found.e).max() < EXACT * size


def test_undamped_superposition_with_rigid_and_unstable_parts():
    system = pendula.compile_system(library.cart_pole())
    for theta in (0.0, np.pi):
        linear = linear_model(system, {"theta": theta})
        t = np.linspace(0, 1, 5)
        found = free_response(linear, {"theta": 0.01}, [0.2, -0.1], t)
        assert found.e == pytest.approx(by_exponential(linear, [0, 0.01], [0.2, -0.1], t)[:, :2], rel=1e-11, abs=1e-13)
        assert len(found.parts) == 2
        assert found["x"] == pytest.approx(found.e[:, 0])


def test_critically_damped_motion_goes_by_the_matrix_exponential():
    t = np.linspace(0, 5, 11)
    found = free_response(from_matrices([[1.0]], [[2.0]], [[1.0]]), [1.0], [0.0], t)
    assert found.method == "matrix exponential"
    assert found.e[:, 0] == pytest.approx((1 + t) * np.exp(-t), abs=1e-13)


def test_almost_critical_damping_keeps_its_digits():
    t = np.linspace(0, 5, 11)
    for c in (2.0 - 1e-13, 2.0 + 1e-10, 2.0 - 1e-7):
        found = free_response(from_matrices([[1.0]], [[c]], [[1.0]]), [1.0], [0.0], t)
        assert found.e[:, 0] == pytest.approx((1 + t) * np.exp(-t), abs=1e-6)


def test_gyroscopic_free_drift():
    # x'' = w y', y'' = -w x' from rest at speed (1, 0): a circle of radius 1/w
    w, t = 3.0, np.linspace(0, 2, 9)
    found = free_response(from_matrices(np.eye(2), [[0, -w], [w, 0]], np.zeros((2, 2))), [0.0, 0.0], [1.0, 0.0], t)
    assert found.e[:, 0] == pytest.approx(np.sin(w * t) / w, abs=1e-12)
    assert found.e[:, 1] == pytest.approx((np.cos(w * t) - 1) / w, abs=1e-12)


def test_free_response_is_the_nonlinear_motion_at_tiny_amplitude():
    system = double()
    size, t = 1e-6, np.linspace(0, 0.5, 26)
    found = free_response(linear_model(system), [size, -2 * size], [0.0, 5 * size], t)
    start = {"theta1": size, "theta2": -2 * size, "theta1_dot": 0.0, "theta2_dot": 5 * size}
    run = pendula.simulate(system, 0.5, initial_state=start, tol=1e-12, atol=1e-20, samples=t)
    assert found.e == pytest.approx(run.q, abs=1e-10 * size)


def test_free_response_refuses_what_it_cannot_read():
    linear = linear_model(double())
    with pytest.raises(UsageError, match='no "theta9"'):
        free_response(linear, {"theta9": 1.0})
    with pytest.raises(UsageError, match="2 finite numbers"):
        free_response(linear, [1.0])
    with pytest.raises(UsageError, match="finite times"):
        free_response(linear, [1.0, 0.0], t=[np.nan])


# --- harmonic response ----------------------------------------------------------------------------------------


def closed_form_8_2(w, c, force):
    """x and theta of exercise 8.2 under F sin(w t), by Cramer's rule; complex with damping."""
    g, l, k = 32.2, 2.0, 300.0
    m1, m2 = 10 / g, 5 / g
    a, b = k - (m1 + m2) * w**2 + 1j * c * w, -m2 * l / 2 * w**2
    d = m2 * g * l / 2 - m2 * l**2 / 3 * w**2
    return np.array([force * d, -force * b]) / (a * d - b * b)


@pytest.mark.parametrize("c", [0.0, 0.7])
def test_harmonic_response_of_exercise_8_2(c):
    linear = linear_model(pendula.compile_system(sliding_bar()), parameters={"c": c})
    omega = np.array([0.0, 1.0, 4.0, 10.0, 29.0, 60.0])
    found = harmonic_response(linear, "F", omega, amplitude=2.5)
    expected = np.array([closed_form_8_2(w, c, 2.5) for w in omega])
    assert found.response == pytest.approx(expected, rel=1e-11)
    assert found["theta"] == pytest.approx(expected[:, 1], rel=1e-11)


def test_undamped_resonance_is_infinite_and_said():
    linear = linear_model(pendula.compile_system(sliding_bar()))
    natural = modes(linear).frequencies
    found = harmonic_response(linear, "F", [1.0, natural[0], natural[1]])
    assert np.isfinite(found.response[0]).all()
    assert np.isinf(found.amplitudes[1:]).all()
    assert np.isnan(found.phases[1:]).all()
    assert [r.frequency for r in found.resonances] == pytest.approx(natural, rel=1e-12)
    assert all(r.infinite for r in found.resonances)
    assert str(found).count("unbounded") == 2


def test_damped_resonance_is_where_the_closed_form_peaks():
    # one mass: peak of |x| at w0 sqrt(1 - 2 zeta^2), height 1/(2 zeta k sqrt(1 - zeta^2))
    zeta, w0 = 0.1, 3.0
    found = harmonic_response(from_matrices([[1.0]], [[2 * zeta * w0]], [[w0**2]], [[1.0]]), "u1")
    (peak,) = found.resonances
    assert peak.frequency == pytest.approx(w0 * np.sqrt(1 - 2 * zeta**2), rel=1e-6)
    assert peak.amplitude == pytest.approx(1 / (2 * zeta * w0**2 * np.sqrt(1 - zeta**2)), rel=1e-9)
    assert not peak.infinite
    strongly = harmonic_response(from_matrices([[1.0]], [[2 * 0.8 * w0]], [[w0**2]], [[1.0]]), "u1")
    assert not strongly.resonances


def test_mode_that_the_input_does_not_reach_stays_finite():
    found = harmonic_response(from_matrices(np.eye(2), np.zeros((2, 2)), np.diag([1.0, 4.0])), [1.0, 0.0], [2.0])
    assert found.response[0] == pytest.approx([1 / (1 - 4), 0])
    assert [r.frequency for r in found.resonances] == pytest.approx([1.0])
    assert any("does not excite" in note for note in found.notes)


def test_static_push_on_a_free_cart_is_infinite():
    linear = linear_model(pendula.compile_system(library.cart_pole()), {"theta": 0.0})
    assert np.isinf(harmonic_response(linear, "F", [0.0]).amplitudes[0, 0])


def test_harmonic_response_is_the_steady_part_of_a_nonlinear_run():
    model = sliding_bar().with_parameters({"c": 3.0})
    force, w = 1e-3, 6.0
    linear = linear_model(pendula.compile_system(model))
    x, theta = harmonic_response(linear, "F", [w], amplitude=force).response[0]
    driven = pendula.compile_system(model.with_changes(inputs={"F": f"{force}*sin({w}*t)"}))
    t = np.linspace(60.0, 63.0, 40)
    slowest = max(m.eigenvalue.real for m in modes(linear, damped=True).modes)
    # start on the steady motion itself: the bar's own mode is hardly damped
    start = {"x": x.imag, "theta": theta.imag, "x_dot": w * x.real, "theta_dot": w * theta.real}
    run = pendula.simulate(driven, t_span=(0.0, 63.0), initial_state=start, tol=1e-12, samples=t)
    assert slowest < 0
    assert run["x"] == pytest.approx(np.imag(x * np.exp(1j * w * t)), abs=1e-4 * abs(x))
    assert run["theta"] == pytest.approx(np.imag(theta * np.exp(1j * w * t)), abs=1e-4 * abs(theta))


def test_harmonic_response_notes_and_refusals():
    system = pendula.compile_system(library.cart_pole())
    up = harmonic_response(linear_model(system, {"theta": np.pi}), "F", [1.0])
    assert any("unstable" in note for note in up.notes)
    linear = linear_model(system, {"theta": 0.0})
    with pytest.raises(UsageError, match='no input "G"'):
        harmonic_response(linear, "G", [1.0])
    with pytest.raises(UsageError, match="finite and not negative"):
        harmonic_response(linear, "F", [-1.0])
    with pytest.raises(UsageError, match="positive number"):
        harmonic_response(linear, "F", [1.0], amplitude=0.0)


# --- how far the linear model holds -----------------------------------------------------------------------------


def test_error_of_a_pendulum_is_the_phase_it_loses():
    system = pendula.compile_system(library.pendulum())
    found = linear_range(linear_model(system), amplitudes=[0.01, 0.02, 0.2])
    # the period grows by a^2/16; the motions part most at the last fast passage, at 2.75 periods
    assert found.errors[0] == pytest.approx(2.75 * 2 * np.pi * 0.01**2 / 16, rel=0.02)
    assert found.errors[1] / found.errors[0] == pytest.approx(4, rel=0.01)
    assert found.within[0.01] == pytest.approx(np.sqrt(0.01 * 16 / (2.75 * 2 * np.pi)), rel=0.02)
    assert found.within[0.1] == float("inf")
    assert "theta" in str(found)


def test_linear_range_of_a_damped_mode_with_phases():
    system = double()
    linear = linear_model(system)
    found = linear_range(linear, 2, amplitudes=[1e-4, 1e-3])
    assert found.errors[0] < 1e-6
    assert found.errors[1] / found.errors[0] == pytest.approx(100, rel=0.05)  # by the cube of the amplitude


def test_linear_range_on_a_closed_loop_and_with_a_quaternion():
    system = pendula.compile_system(library.four_bar())
    rest = four_bar_at_rest(system)
    found = linear_range(linear_model(system, rest), 1, amplitudes=[1e-4, 1e-3], duration=1.0)
    assert found.errors[0] < 1e-3
    assert found.errors[1] / found.errors[0] == pytest.approx(10, rel=0.1)  # loops are curved: by the square
    ball = pendula.compile_system(ball_pendulum())
    small = linear_range(linear_model(ball), 2, amplitudes=[1e-4], duration=2.0)
    assert small.errors[0] < 1e-6


def test_linear_range_says_when_it_never_holds():
    system = pendula.compile_system(library.pendulum())
    found = linear_range(linear_model(system), {"theta": 1.0}, amplitudes=[1.0, 2.0])
    assert found.within[0.01] is None
    assert "not even" in str(found)
    with pytest.raises(UsageError, match="give the duration"):
        linear_range(linear_model(system, {"theta": np.pi}))


# --- beside extreme scales -------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiff", [1e6, 1e12, 1e15])
def test_a_stiff_part_does_not_hide_a_soft_one(stiff):
    """1/(k - w^2) of an oscillator alone; two masses on a rigid link move as one of twice the mass: 1/(k - 2 w^2)."""
    beside = from_matrices(np.eye(2), np.zeros((2, 2)), np.diag([stiff, 1.0]))
    found = harmonic_response(beside, [0.0, 1.0], [0.5, 1.0])
    assert found.amplitudes[0] == pytest.approx([0.0, 1 / 0.75], rel=1e-12)
    assert np.isinf(found.amplitudes[1, 1])
    if stiff <= 1e12:  # K holds 1 beside it to four digits
        linked = from_matrices(np.eye(2), np.zeros((2, 2)), np.array([[1 + stiff, -stiff], [-stiff, stiff]]))
        assert harmonic_response(linked, [0.0, 1.0], [0.5]).response[0].real == pytest.approx([2, 2], rel=1e-3)


@pytest.mark.parametrize("damping", [0.0, 1e-14, 1e-11, 1e-6])
def test_motion_from_rest_at_the_natural_frequency_grows_with_time(damping):
    """x'' + d x' + x = cos t: (exp(-d t/2) - 1) sin(w t)/d to first order in d, that is t/2 sin t at first."""
    t = np.array([0.0, 1.0, 50.0, 300.0])
    found = forced_response(from_matrices([[1.0]], [[damping]], [[1.0]]), [1.0], 1.0, t)
    grown = t / 2 if damping == 0 else -np.expm1(-damping * t / 2) / damping
    assert found.e[:, 0] == pytest.approx(grown * np.sin(t), rel=1e-6, abs=10 * damping)
    assert found.e[2, 0] == pytest.approx(-6.55937, rel=1e-4)


@pytest.mark.parametrize("detuned", [1e-11, 1e-8, 1e-5, 1e-2])
def test_motion_from_rest_next_to_the_natural_frequency(detuned):
    """x'' + x = cos w t: 2/(w^2 - 1) sin((w - 1) t/2) sin((w + 1) t/2), without a difference of large numbers."""
    w, t = 1 + detuned, np.array([0.0, 0.3, 50.0, 300.0])
    found = forced_response(from_matrices([[1.0]], [[0.0]], [[1.0]]), [1.0], w, t)
    exact = t / (w + 1) * np.sinc((w - 1) * t / (2 * np.pi)) * np.sin((w + 1) * t / 2)
    assert found.e[:, 0] == pytest.approx(exact, rel=1e-9, abs=1e-12)
