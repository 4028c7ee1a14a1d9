"""Compiled dense solvers against NumPy on random matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pendula.numerics.solvers.linear import (
    NOT_FINITE,
    SINGULAR,
    SOLVED,
    cholesky_factor,
    cholesky_solve,
    kkt_work_shape,
    solve_kkt,
)

BACKWARD_ERROR = 1e-12  # residual relative to the sizes involved, for the well-scaled systems made here


def random_definite(rng, n, rank=None):
    root = rng.normal(size=(n, n if rank is None else rank))
    return root @ root.T + (np.eye(n) if rank is None else 0.0)


def run_kkt(M, G, f, c):
    n, m = len(f), len(c)
    a, lam = np.zeros(n), np.zeros(m)
    status = solve_kkt(M, G, f, c, n, m, np.zeros(kkt_work_shape(n, m)), a, lam)
    return status, a, lam


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 10, 11, 23, 50])
def test_cholesky_solves_what_numpy_solves(n):
    rng = np.random.default_rng(n)
    A, b = random_definite(rng, n), rng.normal(size=n)
    factor, x = np.triu(A), b.copy()  # nothing below the diagonal is needed
    assert cholesky_factor(factor, n)
    cholesky_solve(factor, n, x)
    assert np.max(np.abs(A @ x - b)) < BACKWARD_ERROR * np.linalg.norm(A) * np.linalg.norm(x)
    assert np.array_equal(np.tril(factor, -1), np.zeros((n, n)))


def test_cholesky_works_on_the_leading_block_of_a_larger_buffer():
    rng = np.random.default_rng(1)
    A = np.full((9, 12), np.nan)
    A[:5, :5] = block = random_definite(rng, 5)
    b = rng.normal(size=9)
    x = b.copy()
    assert cholesky_factor(A, 5)
    cholesky_solve(A, 5, x)
    assert np.allclose(block @ x[:5], b[:5])
    assert np.array_equal(x[5:], b[5:])


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_cholesky_refuses_what_is_not_positive_definite(n):
    rng = np.random.default_rng(n)
    good = random_definite(rng, n)
    assert not cholesky_factor(-good, n)
    assert not cholesky_factor(np.zeros((n, n)), n)
    assert not cholesky_factor(np.full((n, n), np.nan), n)
    assert not cholesky_factor(np.where(np.eye(n) > 0, np.inf, good), n)
    if n > 1:
        assert not cholesky_factor(random_definite(rng, n, rank=n - 1), n)


def test_the_verdict_of_cholesky_does_not_depend_on_units():
    rng = np.random.default_rng(5)
    scale = 10.0 ** rng.uniform(-9, 9, size=8)
    good, bad = random_definite(rng, 8), random_definite(rng, 8, rank=7)
    assert cholesky_factor(scale[:, None] * good * scale, 8)
    assert not cholesky_factor(scale[:, None] * bad * scale, 8)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 14), st.data())
def test_kkt_solution_satisfies_both_equations_even_if_mass_is_semidefinite(n, data):
    m = data.draw(st.integers(0, n))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    G = rng.normal(size=(m, n))
    # Mass only on the null space of G and a few directions more: the least that is well posed.
    null = np.linalg.svd(G)[2][m:].T if m else np.eye(n)
    M = null @ random_definite(rng, n - m) @ null.T if n > m else np.zeros((n, n))
    f, c = rng.normal(size=n), rng.normal(size=m)
    full = np.block([[M, -G.T], [G, np.zeros((m, m))]])
    if np.linalg.cond(full) > 1e7:
        return
    status, a, lam = run_kkt(M, G, f, c)
    assert status == SOLVED
    residual = full @ np.r_[a, lam] - np.r_[f, c]
    assert np.max(np.abs(residual)) < BACKWARD_ERROR * np.linalg.norm(full) * (1.0 + np.linalg.norm(np.r_[a, lam]))


def test_kkt_survives_wildly_different_units():
    rng = np.random.default_rng(3)
    n, m = 8, 3
    M, G, f, c = random_definite(rng, n), rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m)
    _, a, lam = run_kkt(M, G, f, c)
    s, r = 10.0 ** rng.uniform(-7, 7, size=n), 10.0 ** rng.uniform(-7, 7, size=m)
    status, a_scaled, lam_scaled = run_kkt(s[:, None] * M * s, r[:, None] * G * s, s * f, r * c)
    assert status == SOLVED
    assert np.allclose(s * a_scaled, a, rtol=1e-9)
    assert np.allclose(r * lam_scaled, lam, rtol=1e-9)


def test_kkt_leaves_its_inputs_alone():
    rng = np.random.default_rng(4)
    arrays = random_definite(rng, 4), rng.normal(size=(2, 4)), rng.normal(size=4), rng.normal(size=2)
    copies = [array.copy() for array in arrays]
    run_kkt(*arrays)
    assert all(np.array_equal(array, copy) for array, copy in zip(arrays, copies, strict=True))


def test_kkt_says_when_constraints_are_redundant_or_mass_is_missing():
    G = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]])
    status, a, lam = run_kkt(np.eye(3), G, np.ones(3), np.ones(2))
    assert status == SINGULAR
    assert np.all(np.isnan(a))
    assert np.all(np.isnan(lam))
    status, *_ = run_kkt(np.diag([1.0, 0.0, 0.0]), np.array([[0.0, 1.0, 0.0]]), np.ones(3), np.ones(1))
    assert status == SINGULAR
    status, *_ = run_kkt(np.diag([1.0, np.nan, 1.0]), np.zeros((0, 3)), np.ones(3), np.ones(0))
    assert status == NOT_FINITE
    status, *_ = run_kkt(np.eye(3), np.zeros((0, 3)), np.array([1.0, np.inf, 0.0]), np.ones(0))
    assert status == NOT_FINITE
