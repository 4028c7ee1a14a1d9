"""Multiple roots: Jordan blocks planted in random matrices come back as clusters with an accurate mean."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import pendula
from pendula.analysis.linear.clusters import find_clusters
from pendula.analysis.linear.quadratic import Roots, solve_quadratic
from tests.analysis.test_true_sentences import judged

ACCURATE = 1e-12
"""error of a mean, relative to the norm of the matrix and the condition of the cluster: thousands of roundings"""

Array = np.ndarray
Blocks = list[tuple[float, int]]


def planted(blocks: Blocks, rng: np.random.Generator) -> tuple[Array, Array]:
    """K and C of x'' + C x' + K x = 0 whose state matrix has these Jordan blocks (root, size), up to rounding.

    With any X of n rows for which (X, X J) is regular, (-K, -C) = X J^2 (X, X J)^-1.
    """
    size = sum(m for _, m in blocks)
    J, k = np.zeros((size, size)), 0
    for root, m in blocks:
        J[k : k + m, k : k + m] = root * np.eye(m) + np.eye(m, k=1)
        k += m
    while True:
        X = rng.normal(size=(size // 2, size))
        both = np.vstack([X, X @ J])
        if np.linalg.cond(both) < 300:
            break
    found = -X @ J @ J @ np.linalg.inv(both)
    return found[:, : size // 2], found[:, size // 2 :]


def state_matrix(K: Array, C: Array) -> Array:
    n = len(K)
    return np.block([[np.zeros((n, n)), np.eye(n)], [-K, -C]])


def solved(blocks: Blocks, seed: int) -> tuple[Roots, Array]:
    K, C = planted(blocks, np.random.default_rng(seed))
    return solve_quadratic(np.eye(len(K)), C, K), state_matrix(K, C)


CASES: list[Blocks] = [
    [(-1.0, 4)],
    [(-1.0, 3), (-3.0, 1)],
    [(-1.0, 2), (-2.0, 2)],
    [(-1.0, 5), (-4.0, 1)],
    [(-1.0, 6)],
    [(-0.5, 4), (-5.0, 2)],
    [(-1.0, 3), (-1.0, 1)],
    [(-1.0, 2), (-1.0, 2)],
]


@pytest.mark.parametrize("blocks", CASES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_planted_jordan_blocks_are_clusters(blocks: Blocks, seed: int) -> None:
    """The mean agrees with the planted root, and with the mean of the roots in 50 digits of the same doubles."""
    roots, A = solved(blocks, seed)
    with mp.workdps(50):
        exact = np.array([complex(x) for x in mp.eig(mp.matrix(A.tolist()), left=False, right=False)])
    for root in {root for root, _ in blocks}:
        times = sum(m for other, m in blocks if other == root)
        mine = np.abs(roots.values - root) < 0.05
        assert mine.sum() == times
        assert set(roots.multiplicity[mine]) == {times}
        assert set(roots.vectors_of[mine]) == {sum(1 for other, _ in blocks if other == root)}
        condition = roots.condition[mine].max()
        allowed = ACCURATE * np.linalg.norm(A, 2) * condition
        mean = roots.values[mine].mean()
        assert abs(mean - root) < allowed
        assert abs(mean - exact[np.abs(exact - root) < 0.05].mean()) < allowed
        if max(m for other, m in blocks if other == root) > 2:
            assert roots.scatter[mine].max() > 1e-8  # single roots are far less accurate


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("seed", range(3))
def test_distinct_roots_are_not_joined(gap: float, seed: int) -> None:
    """Single roots that differ by much more than rounding, in a matrix that is well conditioned."""
    rng = np.random.default_rng(seed)
    T, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    A = T @ np.diag([-1.0, -1.0 - gap, -2.0, -3.0]) @ T.T
    assert not find_clusters(A, np.linalg.eigvals(A))


def test_slow_roots_beside_fast_ones_are_not_joined() -> None:
    A = np.diag([-1e9, -2e9, -1.0, -1.3, -1.7, -2.1])
    assert not find_clusters(A, np.linalg.eigvals(A))
    oscillators = np.kron(np.eye(3), np.array([[0.0, 1.0], [-1.0, -0.1]])) * np.repeat([1e6, 1.0, 1.1], 2)[:, None]
    assert not find_clusters(oscillators, np.linalg.eigvals(oscillators))


def test_words_of_a_cluster() -> None:
    """(s + 1)^4 in two coordinates with one eigenvector: x0'' + 2 x0' + x0 = x1, x1'' + 2 x1' + x1 = 0."""
    found = judged("-2*x0_dot - x0 + x1", "-2*x1_dot - x1")
    assert (found.verdict, found.certainty) == ("asymptotically stable", "proven")
    (root,) = found.spectrum.eigenvalues
    assert root.multiplicity == 4
    assert root.defective
    assert root.value == pytest.approx(-1.0, abs=1e-14)
    assert root.scatter > 1e-6
    assert "defective" in str(found.spectrum)
    assert "-1" in str(found.spectrum).splitlines()[1]


@pytest.mark.parametrize("shift", [0.1, 1e-3, 1e-4, 1e-6])
def test_scatter_across_the_axis_is_not_called_unstable(shift: float) -> None:
    """Four roots -shift in one Jordan block, turned so that rounding spreads them by 1e-4; all true roots decay."""
    c, s = np.cos(0.6), np.sin(0.6)
    R = np.array([[c, -s], [s, c]])
    K = R @ np.array([[shift**2, -1.0], [0.0, shift**2]]) @ R.T
    rows = [f"-{2 * shift!r}*x{i}_dot - ({K[i, 0]:.17g})*x0 - ({K[i, 1]:.17g})*x1" for i in (0, 1)]
    found = judged(*rows)
    assert found.verdict != "unstable"
    if shift == 0.1:
        assert (found.verdict, found.certainty) == ("asymptotically stable", "proven")
        assert [root.multiplicity for root in found.spectrum.eigenvalues] == [4]


def test_repeated_roots_with_all_eigenvectors_are_not_defective() -> None:
    found = pendula.linear.spectrum(judged("-x0 - 0.1*x0_dot", "-x1 - 0.1*x1_dot").spectrum.model)
    assert all(root.multiplicity == 2 and not root.defective for root in found.eigenvalues)
