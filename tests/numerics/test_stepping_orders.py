"""Errors fall with the step as theory says: at the steps and between them, for every stepper."""

from __future__ import annotations

import numpy as np
import pytest
from ode_problems import METHODS, growing, oscillator
from scipy.interpolate import CubicHermiteSpline

from pendula.numerics.steppers.radau import coefficients
from pendula.numerics.steppers.stepping import Integration, integrate

SPAN = 8.0
WITHIN = 0.2
"""Allowed difference between the order found and that of theory."""

STEPS = {"dop853": (16, 32), "rk45": (100, 200), "rk4": (100, 200), "radau": (100, 200)}
"""Numbers of steps between which the order is measured: enough for the leading term, few enough for rounding."""

DENSE_ORDER = {name: method.dense_order for name, method in METHODS.items()}


def _exact(t: np.ndarray | float) -> np.ndarray:
    return np.array([np.cos(t) + 0.7 * np.sin(t), 0.7 * np.cos(t) - np.sin(t)]).T


def _equal_steps(method: str, h: float, t_end: float = SPAN, **settings: object) -> Integration:
    """The oscillator in steps of equal size: a tolerance that accepts all, and a largest step.

    It is linear, so that Newton's iteration is exact to rounding at any tolerance.
    """
    fixed = {"step": h} if METHODS[method].fixed else {"max_step": h, "first_step": h}
    return integrate(
        oscillator.bind(), [1.0, 0.7], (0.0, t_end), rtol=1.0, atol=1e3, method=method, **fixed, **settings
    )


@pytest.mark.parametrize("method", METHODS)
def test_global_error_falls_with_the_order_of_the_method(method):
    errors = []
    for steps in STEPS[method]:
        run = _equal_steps(method, SPAN / steps)
        assert run.accepted in (steps, steps + 1)  # rounding may leave a sliver at the end
        errors.append(np.abs(run.y[-1] - _exact(SPAN)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(METHODS[method].order, abs=WITHIN)


@pytest.mark.parametrize("method", METHODS)
def test_dense_output_error_of_one_step_falls_with_its_order(method):
    """Of a single step, where no error has piled up before: as step ** (order + 1)."""
    errors = []
    for steps in STEPS[method]:
        h = SPAN / steps
        times = np.linspace(0.0, h, 41)
        run = _equal_steps(method, h, t_end=h, sample_times=times)
        assert run.accepted == 1
        errors.append(np.abs(run.sample_y - _exact(times)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(DENSE_ORDER[method] + 1, abs=WITHIN)


@pytest.mark.parametrize("method", ["dop853", "rk45", "radau"])
def test_errors_fall_with_the_tolerance_on_a_nonlinear_problem(method):
    """Roughly in proportion to it, or faster: a factor 1000 gives at least 200."""
    errors = []
    for tolerance in (1e-5, 1e-8):
        run = integrate(growing.bind(), [1.0, 1.0], (0.0, 4.0), rtol=tolerance, atol=tolerance, method=method)
        errors.append(np.abs(run.y.T - [np.exp(np.sin(run.t)), 1.0 / (2.0 - np.cos(run.t))]).max())
    assert errors[0] < 1e-4
    assert errors[0] > 200 * errors[1]


def test_radau_coefficients_are_those_of_collocation():
    """Weights and nodes integrate powers up to 4 exactly (Radau quadrature of order 5), and the basis diagonalizes A^-1."""
    c = coefficients()
    points, powers = c["points"], c["powers"]
    weights = np.linalg.solve((points[:, None] ** np.arange(3)).T, 1.0 / np.arange(1, 4))
    for q in range(1, 6):
        assert weights @ points ** (q - 1) == pytest.approx(1.0 / q, abs=1e-14)
    # The polynomial of collocation: its derivative at the points is A^-1 Z / h.
    slopes = (np.arange(1, 4) * points[:, None] ** np.arange(3)) @ powers
    pair = complex(c["complex_real"], c["complex_imag"])
    block = np.array([[c["real_eigenvalue"], 0, 0], [0, pair.real, -pair.imag], [0, pair.imag, pair.real]])
    assert np.allclose(c["backward"] @ slopes @ c["forward"], block, atol=1e-12)


def test_a_fixed_step_does_not_drift_off_its_grid():
    run = _equal_steps("rk4", 0.1, t_end=1000.0)
    assert run.accepted == 10_000
    assert np.array_equal(run.t, np.arange(10_001) * 0.1)


def test_fixed_steps_end_on_breakpoints_and_count_on_from_there():
    run = integrate(
        growing.bind(), [1.0, 1.0], (0.0, 1.0), rtol=1e-8, atol=1e-8, method="rk4", step=0.3, breakpoints=[0.5]
    )
    assert run.t == pytest.approx([0.0, 0.3, 0.5, 0.8, 1.0], abs=1e-15)


def test_rk4_takes_the_steps_of_the_textbook():
    """Against the four stages written out, on a nonlinear problem that depends on time."""

    def f(t, y):
        return np.array([y[0] * np.cos(t), -(y[1] ** 2) * np.sin(t)])

    h, y = 0.25, np.array([1.0, 1.0])
    for t in np.arange(0.0, 4.0, h):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(t + h, y + h * k3))
    run = integrate(growing.bind(), [1.0, 1.0], (0.0, 4.0), rtol=1e-8, atol=1e-8, method="rk4", step=h)
    assert np.abs(run.y[-1] - y).max() < 1e-14
    assert run.rhs_evaluations == 4 * 16 + 1


def test_samples_of_rk4_are_the_cubic_through_the_ends_and_their_slopes():
    times = np.linspace(0.0, 2.0, 101)
    run = _equal_steps("rk4", 0.5, t_end=2.0, sample_times=times)
    slopes = np.column_stack([run.y[:, 1], -run.y[:, 0]])
    assert np.abs(run.sample_y - CubicHermiteSpline(run.t, run.y, slopes)(times)).max() < 1e-14
