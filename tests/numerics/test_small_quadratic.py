"""Roots of small undamped problems by rotations: against LAPACK, against closed forms, and what is left to others."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.linalg import eigh

from pendula.analysis.linear.quadratic import NULL, REPEATED, SYMMETRIC, undamped_of_many
from pendula.numerics.quick.small_quadratic import LARGEST, output_size, undamped_roots

ROUNDING = 4e-15  # relative to the largest square: Jacobi and LAPACK are both backward stable


def packed(M, C, K):
    return np.concatenate([np.ravel(x) for x in (M, C, K)]).astype(float)


def roots(M, K, C=None, slow: float = 0.0, share: float = 0.0):
    """Whether it was solved, the roots, multiplicities, columns and eigenvectors."""
    n = len(M)
    out = np.full(output_size(n), np.nan)
    C = np.zeros((n, n)) if C is None else C
    solved = undamped_roots(
        packed(M, C, K), np.array([n, n * n, 2 * n * n]), np.array([SYMMETRIC, NULL, REPEATED, slow, share]), out
    )
    columns = out[8 * n : 10 * n].astype(int) if solved else None
    return solved, out[: 4 * n].view(complex), out[4 * n : 6 * n], columns, out[10 * n : 10 * n + n * n].reshape(n, n)


def random_pair(rng, n: int):
    A, B = rng.normal(size=(2, n, n))
    M, K = A @ A.T + 0.1 * np.eye(n), B + B.T
    return (M + M.T) / 2, (K + K.T) / 2


@pytest.mark.parametrize("n", range(1, LARGEST + 1))
def test_roots_and_eigenvectors_are_those_of_lapack(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        M, K = random_pair(rng, n)
        solved, values, _, columns, X = roots(M, K)
        assert solved
        squares = eigh(K, M, eigvals_only=True)
        size = np.abs(squares).max()
        np.testing.assert_allclose(np.sort(-(values[::2] ** 2).real), squares, atol=100 * ROUNDING * size)
        np.testing.assert_array_equal(values[1::2], -values[::2])
        assert np.all(np.diff(np.abs(values)) >= 0)
        for value, k in zip(values, columns, strict=True):
            left = K @ X[:, k] + value**2 * M @ X[:, k]
            scale = np.linalg.norm(K) + abs(value) ** 2 * np.linalg.norm(M)
            assert np.linalg.norm(left) <= ROUNDING * scale * np.linalg.norm(X[:, k])
        np.testing.assert_allclose(X.T @ M @ X, np.eye(n), atol=1e-12)


def test_small_squares_of_a_graded_matrix_keep_their_digits() -> None:
    """LAPACK has an error of 1e-16 times the largest; rotations keep digits of each, against 60 digits."""
    D = np.diag([1.0, 1e-4, 1e-8])
    K = D @ np.array([[2.0, 0.5, 0.25], [0.5, 2.0, 0.5], [0.25, 0.5, 2.0]]) @ D
    with mpmath.workdps(60):
        exact = sorted(float(x) for x in mpmath.eigsy(mpmath.matrix(K.tolist()), eigvals_only=True))
    out = np.zeros(output_size(3))
    assert undamped_roots(
        packed(np.eye(3), np.zeros((3, 3)), K),
        np.array([3, 9, 18]),
        np.array([SYMMETRIC, 0.0, REPEATED, 0.0, 0.0]),
        out,
    )
    np.testing.assert_allclose(np.sort(out[1:12:4] ** 2), exact, rtol=1e-14)


def test_multiplicities_of_repeated_squares() -> None:
    solved, values, multiplicity, _, _ = roots(np.eye(3), np.diag([4.0, 9.0, 4.0]))
    assert solved
    np.testing.assert_array_equal(values, [2j, -2j, 2j, -2j, 3j, -3j])
    np.testing.assert_array_equal(multiplicity, [2, 2, 2, 2, 1, 1])


def test_falling_directions_have_real_roots() -> None:
    solved, values, _, _, _ = roots(np.diag([1.0, 4.0]), np.diag([-9.0, 4.0]))
    assert solved
    np.testing.assert_array_equal(values, [1j, -1j, 3.0, -3.0])


@pytest.mark.parametrize(
    ("M", "C", "K", "slow"),
    [
        (np.eye(2), 1e-9 * np.eye(2), np.eye(2), 0.0),  # damped
        (np.eye(2), np.zeros((2, 2)), [[1.0, 1e-9], [0.0, 1.0]], 0.0),  # circulatory
        (np.diag([1.0, 0.0]), np.zeros((2, 2)), np.eye(2), 0.0),  # no mass
        (np.diag([1.0, -1.0]), np.zeros((2, 2)), np.eye(2), 0.0),
        (np.eye(2), np.zeros((2, 2)), np.diag([1.0, 0.0]), 0.0),  # a root at zero
        (np.eye(2), np.zeros((2, 2)), np.diag([1.0, 0.01]), 0.2),  # slower than is sure
        (np.eye(2), np.zeros((2, 2)), [[np.nan, 0.0], [0.0, 1.0]], 0.0),
    ],
)
def test_what_is_not_plain_is_left_to_others(M, C, K, slow: float) -> None:
    assert not roots(M, np.asarray(K), C, slow)[0]


@pytest.mark.parametrize("n", [2, 5, LARGEST + 1])
def test_many_at_once_give_zeros_and_tell_what_they_cannot(n: int) -> None:
    rng = np.random.default_rng(4)
    pairs = [random_pair(rng, n) for _ in range(5)]
    M, K = (np.array([pair[k] for pair in pairs]) for k in range(2))
    C = np.zeros_like(K)
    C[1] = np.eye(n)
    K[2], M[2] = np.diag([0.0, *range(1, n)]), np.eye(n)
    values, solved = undamped_of_many(M, C, K)
    np.testing.assert_array_equal(solved, [True, False, True, True, True])
    assert np.all(np.isnan(values[1]))
    np.testing.assert_allclose(np.sort(np.abs(values[2])), np.sqrt(np.repeat(np.arange(n), 2)), atol=1e-14)
    for k in (0, 3, 4):
        squares = eigh(K[k], M[k], eigvals_only=True)
        found = np.sort(-(values[k] ** 2).real)[::2]
        np.testing.assert_allclose(found, squares, atol=100 * ROUNDING * np.abs(squares).max())
        assert np.all(np.diff(np.abs(values[k])) >= 0)
    apart = np.concatenate([M, np.zeros_like(M)], axis=2)[:, :, :n]  # rows with gaps
    np.testing.assert_array_equal(undamped_of_many(apart, C, K)[0], values)
