"""The orthogonal complement against NumPy's singular values, on random systems with and without redundant rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pendula.numerics.solvers.complement import complement_work_shape, solve_complement
from pendula.numerics.solvers.linear import NOT_FINITE, SINGULAR, SOLVED, kkt_work_shape, solve_kkt

CLOSE = 1e-9  # random systems of up to 14 unknowns are conditioned no worse than 1e6 or so


def solve(M, G, f, c, *, most=None, least=0.0):
    n, m = len(f), len(c)
    a, lam = np.zeros(n), np.zeros(m)
    work = np.full(complement_work_shape(n, m), np.nan)
    status, rank = solve_complement(M, G, f, c, n, m, m if most is None else most, least, work, a, lam)
    return status, rank, a, lam


def definite_on_null_space(rng, G, rank):
    """A mass matrix with mass only where the constraints leave motion: the least that is well posed."""
    null = np.linalg.svd(G)[2][rank:].T if len(G) else np.eye(G.shape[1])
    root = rng.normal(size=(null.shape[1],) * 2)
    return null @ (root @ root.T + np.eye(null.shape[1])) @ null.T


def by_singular_values(M, G, f, c, rank):
    """a from the null space of G that the SVD gives; lam by least norm."""
    Z = np.linalg.svd(G)[2][rank:].T
    particular = np.linalg.pinv(G, rcond=1e-10) @ c
    a = particular + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (f - M @ particular))
    return a, np.linalg.pinv(G.T, rcond=1e-10) @ (M @ a - f)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 14), st.data())
def test_the_solution_is_that_of_the_singular_values(n, data):
    rank = data.draw(st.integers(0, n))
    m = data.draw(st.integers(rank, n + 4)) if rank else data.draw(st.sampled_from([0, 2]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    G = np.linalg.qr(rng.normal(size=(max(m, 1), max(m, 1))))[0][:m, :rank] @ rng.normal(size=(rank, n))
    M = definite_on_null_space(rng, G, rank)
    f, c = rng.normal(size=n), G @ rng.normal(size=n)
    status, found, a, lam = solve(M, G, f, c, least=1e-13)
    expected, _ = by_singular_values(M, G, f, c, rank) if m else (np.linalg.solve(M, f), None)
    size = 1 + np.abs(expected).max()
    conditioning = np.linalg.cond(G) if m == rank and m else 1.0
    assert (status, found) == (SOLVED, rank)
    np.testing.assert_allclose(a, expected, atol=CLOSE * size * max(1.0, 1e-3 * conditioning**2))
    np.testing.assert_allclose(M @ a - f - G.T @ lam, 0, atol=CLOSE * (1 + np.abs(M @ a).max()))


@pytest.mark.parametrize("seed", range(8))
def test_multipliers_are_the_shortest_in_scaled_rows(seed):
    """Rows already scaled to largest entry 1, rows and columns, so that the norm is the plain one."""
    rng = np.random.default_rng(seed)
    G = rng.choice([-1.0, 1.0], size=(2, 6))
    G = np.vstack([G, G[0], -G[1], G[1]])
    M = np.eye(6) + 0.1 * np.ones((6, 6))
    f, c = rng.normal(size=6), G @ rng.normal(size=6)
    rank = int(np.linalg.matrix_rank(G))
    status, found, a, lam = solve(M, G, f, c)
    expected, forces = by_singular_values(M, G, f, c, rank)
    assert (status, found) == (SOLVED, rank)
    np.testing.assert_allclose(a, expected, atol=1e-12)
    np.testing.assert_allclose(lam, forces, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_independent_rows_give_what_the_kkt_solver_gives(seed):
    rng = np.random.default_rng(seed)
    n, m = 9, 4
    G, f, c = rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m)
    root = rng.normal(size=(n, n))
    M = root @ root.T + np.eye(n)
    a, lam = np.zeros(n), np.zeros(m)
    assert solve_kkt(M, G, f, c, n, m, np.zeros(kkt_work_shape(n, m)), a, lam) == SOLVED
    status, rank, x, forces = solve(M, G, f, c)
    assert (status, rank) == (SOLVED, m)
    np.testing.assert_allclose(x, a, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(forces, lam, rtol=1e-8, atol=1e-8)


def test_rank_and_solution_do_not_depend_on_units():
    rng = np.random.default_rng(3)
    n, rank = 7, 3
    G = rng.normal(size=(5, rank)) @ rng.normal(size=(rank, n))
    M, f, c = np.eye(n), rng.normal(size=n), G @ rng.normal(size=n)
    _, _, a, _ = solve(M, G, f, c)
    rows, columns = 10.0 ** rng.uniform(-4, 4, size=5), 10.0 ** rng.uniform(-4, 4, size=n)
    scaled = rows[:, None] * G * columns
    status, found, b, _ = solve(columns[:, None] * M * columns, scaled, columns * f, rows * c)
    assert (status, found) == (SOLVED, rank)
    np.testing.assert_allclose(b * columns, a, rtol=1e-8, atol=1e-9)


def test_a_little_off_the_constraints_the_given_rank_is_kept_and_nothing_jumps():
    """Noise of 1e-6 between equal rows would, taken at its word, need accelerations of order one."""
    rng = np.random.default_rng(4)
    G = rng.normal(size=(2, 5))
    G = np.vstack([G, G])
    M, f, c = np.eye(5), rng.normal(size=5), np.tile(rng.normal(size=2), 2)
    exact, _ = by_singular_values(M, G, f, c, 2)
    noisy_G, noisy_c = G + 1e-6 * rng.normal(size=G.shape), c + 1e-6 * rng.normal(size=4)
    status, rank, a, _ = solve(M, noisy_G, f, noisy_c, most=2)
    assert (status, rank) == (SOLVED, 2)
    np.testing.assert_allclose(a, exact, atol=1e-4)
    # in another order of rows the choice of pivots differs, the solution does not
    order = [2, 3, 1, 0]
    _, _, b, _ = solve(M, noisy_G[order], f, noisy_c[order], most=2)
    np.testing.assert_allclose(b, a, atol=1e-11)
    assert np.abs(solve(M, noisy_G, f, noisy_c)[2] - exact).max() > 1e-2


def test_more_independent_rows_than_allowed_are_told():
    status, rank, a, _ = solve(np.eye(3), np.eye(3)[:2], np.ones(3), np.ones(2), most=1)
    assert (status, rank) == (SINGULAR, 2)
    assert np.all(np.isnan(a))


def test_rows_below_the_threshold_are_zero():
    G = np.array([[1.0, 2.0, 0.5], [1e-16, -1e-15, 1e-15]])
    status, rank, a, lam = solve(np.eye(3), G, np.zeros(3), np.array([1.0, 0.0]), least=1e-13)
    assert (status, rank) == (SOLVED, 1)
    np.testing.assert_allclose(a, np.array([1.0, 2.0, 0.5]) / 5.25, rtol=1e-14)
    assert lam[1] == 0.0


def test_a_motion_without_mass_is_refused():
    status, rank, a, lam = solve(np.diag([1.0, 0.0, 0.0]), np.array([[0.0, 1.0, 0.0]]), np.ones(3), np.ones(1))
    assert (status, rank) == (SINGULAR, 1)
    assert np.all(np.isnan(a))
    assert np.all(np.isnan(lam))


@pytest.mark.parametrize("where", ["M", "G", "f", "c"])
def test_what_is_not_finite_is_refused(where):
    blocks = {"M": np.eye(3), "G": np.ones((1, 3)), "f": np.ones(3), "c": np.ones(1)}
    blocks[where].flat[0] = np.nan
    assert solve(*blocks.values())[0] == NOT_FINITE


def test_inputs_are_not_changed():
    rng = np.random.default_rng(9)
    blocks = [np.eye(4), rng.normal(size=(2, 4)), rng.normal(size=4), rng.normal(size=2)]
    copies = [b.copy() for b in blocks]
    solve(*blocks)
    assert all(np.array_equal(b, copy) for b, copy in zip(blocks, copies, strict=True))


def test_a_column_of_rounding_does_not_spoil_the_rest():
    """A coordinate that the rows do not contain, but for noise: scaling it up would drown everything."""
    rng = np.random.default_rng(3)
    root, G = rng.normal(size=(6, 6)), rng.normal(size=(3, 6))
    G[:, 0] = 1e-17 * rng.normal(size=3)
    M, f, c = root @ root.T + np.eye(6), rng.normal(size=6), rng.normal(size=3)
    status, rank, a, lam = solve(M, G, f, c)
    exact = np.linalg.solve(np.block([[M, -G.T], [G, np.zeros((3, 3))]]), np.concatenate([f, c]))
    assert (status, rank) == (SOLVED, 3)
    np.testing.assert_allclose(np.concatenate([a, lam]), exact, rtol=1e-10)
