"""Matrices with bounds: products and solutions contain exact ones; what is called proven is true in 50 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from pendula.numerics.intervals.matrices import Ball, between_roots, is_positive_definite, roots_beyond, solved

Array = np.ndarray


def contains(ball: Ball, A: list[list[Fraction]]) -> bool:
    rows = range(len(A))
    return all(
        abs(A[i][j] - Fraction(float(ball.mid[i, j]))) <= Fraction(float(ball.rad[i, j]))
        for i in rows
        for j in range(len(A[0]))
    )


def within(ball: Ball, rng: np.random.Generator) -> list[list[Fraction]]:
    """A random matrix of a ball, with entries at the ends of their bounds and between."""
    shares = rng.choice([-1.0, 1.0, 0.3], size=ball.mid.shape)
    return [
        [Fraction(float(m)) + Fraction(float(r)) * Fraction(float(s)) for m, r, s in zip(*rows, strict=True)]
        for rows in zip(ball.mid, ball.rad, shares, strict=True)
    ]


def many_digits(A: list[list[Fraction]]) -> mp.matrix:
    return mp.matrix([[mp.mpf(x.numerator) / x.denominator for x in row] for row in A])


def random_ball(n: int, rng: np.random.Generator) -> Ball:
    mid = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-6, 6, size=(n, n))
    return Ball(mid, np.abs(mid) * 10.0 ** rng.uniform(-16, -3))


def test_sums_and_products_contain_the_exact_ones() -> None:
    rng = np.random.default_rng(2)
    for _ in range(60):
        n = int(rng.integers(1, 6))
        A, B = random_ball(n, rng), random_ball(n, rng)
        a, b = within(A, rng), within(B, rng)
        product = [[sum(a[i][k] * b[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
        assert contains(A @ B, product)
        assert contains(A + B, [[x + y for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)])
        assert contains(A - B, [[x - y for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)])


def test_solutions_contain_the_exact_ones() -> None:
    rng = np.random.default_rng(3)
    checked = 0
    with mp.workdps(50):
        for _ in range(40):
            n = int(rng.integers(1, 6))
            root = rng.normal(size=(n, n))
            M = Ball(root @ root.T + 0.1 * np.eye(n), np.full((n, n), 1e-12))
            B = random_ball(n, rng)
            found = solved(M, B)
            if found is None:
                continue
            checked += 1
            true = mp.inverse(many_digits(within(M, rng))) * many_digits(within(B, rng))
            for i in range(n):
                for j in range(n):
                    assert abs(true[i, j] - mp.mpf(float(found.mid[i, j]))) <= mp.mpf(float(found.rad[i, j]))
    assert checked > 30
    assert solved(Ball(np.ones((2, 2)), np.zeros((2, 2))), Ball.exact(np.eye(2))) is None


@pytest.mark.parametrize("margin", [1e-3, 1e-9, 1e-13, 1e-15, 0.0, -1e-15, -1e-12])
def test_definite_is_never_claimed_wrongly(margin: float) -> None:
    """Q diag(margin, ...) Q^T, rounded: 50 digits tell whether what was claimed is true."""
    rng = np.random.default_rng(4)
    claimed = 0
    with mp.workdps(50):
        for _ in range(10):
            n = int(rng.integers(2, 6))
            Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
            S = (Q * np.concatenate([[margin], rng.uniform(0.5, 2, n - 1)])) @ Q.T
            S = (S + S.T) / 2
            if is_positive_definite(Ball.exact(S)):
                claimed += 1
                assert min(mp.eigsy(mp.matrix(S.tolist()), eigvals_only=True)) > 0
    assert claimed == 10 if margin >= 1e-9 else claimed == 0 or margin > 0.0


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e-10, 1e-14])
def test_sides_of_the_axis_are_never_claimed_wrongly(size: float) -> None:
    """Eigenvalues with largest real part of either sign, down to rounding; damped, defective and stiff ones among them."""
    rng = np.random.default_rng(5)
    claimed = 0
    with mp.workdps(50):
        for k in range(12):
            n = int(rng.integers(1, 4))
            pairs = [np.array([[a, b], [-b, a]]) for a, b in rng.uniform(-1, 1, size=(n, 2)) - [[1.5, 0]]]
            pairs[0][[0, 1], [0, 1]] = size * float(rng.choice([-1, 1]))
            D = np.zeros((2 * n, 2 * n))
            for j, block in enumerate(pairs):
                D[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = block
            if k % 3 == 0 and n > 1:
                D[1, 2] = 1.0  # couplings
            T = rng.normal(size=(2 * n, 2 * n)) * 10.0 ** (rng.uniform(-3, 3, size=2 * n) * (k % 2))
            A = np.linalg.solve(T, D @ T)
            true = max(x.real for x in mp.eig(mp.matrix(A.tolist()), left=False, right=False))
            values = np.linalg.eigvals(A)
            shift = between_roots(values) if values.real.max() > 0 else 0.0
            found = roots_beyond(Ball(A, 1e-17 * np.abs(A)), shift)
            if found is not None:
                claimed += 1
                assert found == (true > shift)
    assert claimed >= (10 if size >= 1e-6 else 0)


def test_a_root_on_the_axis_is_left_open() -> None:
    assert roots_beyond(Ball.exact(np.array([[0.0, 1.0], [-1.0, 0.0]])), 0.0) is None
    assert roots_beyond(Ball(np.array([[-1e-9]]), np.array([[1e-8]])), 0.0) is None
    assert roots_beyond(Ball(np.array([[-1.0]]), np.array([[np.inf]])), 0.0) is None
