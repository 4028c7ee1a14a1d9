"""Gauss-Newton projection onto constraints."""

from __future__ import annotations

import numpy as np
import pytest

from pendula.numerics.solvers.newton import solve_least_change


def circle(x):
    return np.array([x @ x - 1.0]), 2.0 * x[None, :]


def test_projection_onto_a_circle_is_radial():
    result = solve_least_change(circle, [3.0, -4.0], tol=1e-14)
    assert result.converged
    assert result.rank == 1
    assert result.residual_norm <= 1e-14
    assert np.allclose(result.x, [0.6, -0.8], atol=1e-14)


def test_a_point_on_the_constraint_stays():
    result = solve_least_change(circle, [0.0, 1.0], tol=1e-14)
    assert result.converged
    assert result.iterations == 0
    assert result.rank == 1
    assert np.array_equal(result.x, [0.0, 1.0])


def test_weights_decide_who_moves_and_infinity_holds_fixed():
    def line(x):
        return np.array([x[0] + x[1] - 2.0]), np.array([[1.0, 1.0]])

    assert np.allclose(solve_least_change(line, [0.0, 0.0], tol=1e-12).x, [1.0, 1.0])
    assert np.allclose(solve_least_change(line, [0.0, 0.0], tol=1e-12, weights=[3.0, 1.0]).x, [0.5, 1.5])
    assert np.allclose(solve_least_change(line, [0.0, 0.0], tol=1e-12, weights=[np.inf, 1.0]).x, [0.0, 2.0])


def test_redundant_constraints_are_solved_and_the_rank_tells():
    def twice(x):
        r, J = circle(x)
        return np.r_[r, 3.0 * r], np.vstack([J, 3.0 * J])

    result = solve_least_change(twice, [2.0, 0.5], tol=1e-13)
    assert result.converged
    assert result.rank == 1


def test_damping_reaches_roots_that_full_steps_overshoot():
    def arctangent(x):
        return np.arctan(x), np.diag(1.0 / (1.0 + x * x))

    result = solve_least_change(arctangent, [20.0], tol=1e-13)
    assert result.converged
    assert result.x[0] == pytest.approx(0.0, abs=1e-13)


def test_convergence_is_quadratic_near_the_root():
    result = solve_least_change(circle, [1.01, 0.0], tol=1e-14)
    assert result.converged
    assert result.iterations <= 4


@pytest.mark.parametrize(
    "impossible",
    [
        lambda x: (np.array([x @ x + 1.0]), 2.0 * x[None, :]),
        lambda x: (np.array([np.nan]), np.full((1, 2), np.nan)),
        lambda x: (np.array([1.0]), np.zeros((1, 2))),
        lambda x: (np.array([1.0]), np.full((1, 2), np.inf)),
    ],
)
def test_what_has_no_solution_is_returned_not_raised(impossible):
    result = solve_least_change(impossible, [1.0, 2.0], tol=1e-10, max_iterations=30)
    assert not result.converged
    assert result.residual_norm > 0.5
    assert np.all(np.isfinite(result.x))


def test_no_constraints_at_all_are_satisfied():
    result = solve_least_change(lambda x: (np.zeros(0), np.zeros((0, 2))), [1.0, 2.0], tol=1e-12)
    assert result.converged
    assert result.rank == 0
    assert np.array_equal(result.x, [1.0, 2.0])
