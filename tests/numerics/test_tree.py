"""Trees of blocks solved leaf to root, against NumPy on the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pendula.numerics.block_tree import elimination as tr

BACKWARD_ERROR = 1e-13  # residual relative to the sizes involved, where blocks are well posed
ROUNDING = 1e-15  # times the condition of what is solved on the way: each block by itself, the tree without border
WELL_POSED = 1e6  # condition below which solutions are compared
FAR = 1e-8  # solutions of two methods, relative: rounding times condition, and some margin


class Tree:
    """Random blocks [[M, J^T], [J, 0]], each coupled to its parent by the rows of J, and a border."""

    def __init__(self, seed, sizes, border, masses="positive"):
        rng = np.random.default_rng(seed)
        self.border = border
        shapes = []
        for k, (body, rows) in enumerate(sizes):
            parent = int(rng.integers(-1, k)) if k else -1
            shapes.append((parent, body, body + rows, rows))
        self.nodes = np.zeros((len(shapes), tr.COLUMNS), dtype=np.int64)
        block = first = 0
        for k, (parent, body, n, rows) in enumerate(shapes):
            lead, width = tr.block_shape(n, shapes[parent][1] if parent >= 0 else 0, border)
            self.nodes[k] = parent, body, n, rows, block, lead, width, first
            block, first = block + n * width, first + n
        self.blocks, self.K = np.zeros(block), np.zeros((first, first))
        for k in range(len(shapes)):
            self._fill(rng, k, masses)
        self.L = rng.normal(size=(border, first))
        self.r, self.s = rng.normal(size=first), rng.normal(size=border)

    def _fill(self, rng, k, masses):
        parent, body, n, rows, block, lead, width, first = self.nodes[k]
        J = rng.normal(size=(rows, body))
        own = np.zeros((n, n))
        own[:body, :body] = self._mass(rng, body, rows, masses)
        own[body:, :body], own[:body, body:] = J, J.T
        view = self.blocks[block : block + n * width].reshape(n, width)
        view[:, :n] = own
        at = slice(first, first + n)
        self.K[at, at] = own
        if parent >= 0:
            above, top = self.nodes[parent, tr.BODY], self.nodes[parent, tr.FIRST]
            E = rng.normal(size=(rows, above)) * (rng.uniform(size=(rows, above)) < 0.8)
            view[body:, lead : lead + above] = E
            held, over = slice(first + body, first + n), slice(top, top + above)
            self.K[held, over], self.K[over, held] = E, E.T

    @staticmethod
    def _mass(rng, body, rows, masses):
        root = rng.normal(size=(body, body))
        M = root @ root.T + np.eye(body)
        if masses == "singular":  # directions without inertia, first in the order, that the rows hold
            massless = min(rows, body)
            M[:massless, :] = M[:, :massless] = 0.0
        return M

    def solve(self):
        """Status, unknowns of the blocks, unknowns of the border."""
        z = np.full((len(self.r), 1 + self.border), np.nan)
        rows = max(int(self.nodes[:, tr.SIZE].max()), self.border)
        small = np.full((self.border, tr.block_shape(self.border, 0, 0)[1]), np.nan)
        nu, work = np.zeros(self.border), np.full_like(self.blocks, np.nan)
        before = self.blocks.copy()
        rest = np.full(3 * (len(self.r) + self.border), np.nan)
        status = tr.solve_tree(
            self.nodes, self.blocks, self.L, self.r, self.s, z, work, np.zeros(rows), small, nu, rest
        )
        np.testing.assert_array_equal(self.blocks, before)  # a projection solves again with the same blocks
        return status, z[:, 0], nu

    def condition(self):
        """Largest condition number of a block, and of the tree without its border."""
        spans = [slice(first, first + n) for _, _, n, _, _, _, _, first in self.nodes]
        return max(np.linalg.cond(self.K), *(np.linalg.cond(self.K[at, at]) for at in spans))

    def whole(self):
        """The matrix of everything, and its right-hand side."""
        m = self.border
        return np.block([[self.K, self.L.T], [self.L, np.zeros((m, m))]]), np.concatenate([self.r, self.s])


def assert_solved(tree):
    A, right = tree.whole()
    status, y, nu = tree.solve()
    assert status == tr.SOLVED
    x = np.concatenate([y, nu])
    expected = np.linalg.solve(A, right)
    scale = np.linalg.norm(A) * max(np.linalg.norm(x), np.linalg.norm(expected))
    condition = tree.condition()
    assert np.max(np.abs(A @ x - right)) < (BACKWARD_ERROR + ROUNDING * condition) * scale
    if max(np.linalg.cond(A), condition) < WELL_POSED:
        assert np.max(np.abs(x - expected)) < FAR * np.max(np.abs(expected))


def block_sizes(most_rows=6):
    """Leading size and number of rows of each block, at most as many rows as held directions."""
    body = st.integers(1, 6)
    return st.lists(body.flatmap(lambda b: st.tuples(st.just(b), st.integers(0, min(b, most_rows)))), min_size=1)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), sizes=block_sizes(), border=st.integers(0, 3))
def test_random_trees_solve_as_numpy_solves_them(seed, sizes, border):
    border = min(border, sum(body - rows for body, rows in sizes))  # more rows than freedoms have no solution
    assert_solved(Tree(seed, sizes, border))


@pytest.mark.parametrize("border", [0, 1, 2, 3])
@pytest.mark.parametrize(("body", "rows"), [(3, 2), (3, 3), (6, 3), (6, 5), (4, 1)])
def test_masses_may_be_singular_where_rows_hold_the_motion(body, rows, border):
    for seed in range(5):
        tree = Tree(seed, [(body, rows)] * 8, border if rows < body else 0, "singular")
        assert np.linalg.matrix_rank(tree.K[:body, :body]) == body - rows
        assert_solved(tree)


@pytest.mark.parametrize("seed", range(5))
def test_a_border_that_holds_a_nearly_singular_tree_keeps_its_digits(seed):
    """One motion of the tree has almost no inertia and is held by the border: the tree alone would lose eight digits."""
    tree = Tree(seed, [(3, 2)] * 5, 1)
    tree.L[:] = 0.0
    parent, body, n, _, block, _, width, first = tree.nodes[4]
    free = np.linalg.svd(tree.K[first + body : first + n, first : first + body])[2][-1]
    M = 1e-8 * np.outer(free, free) + np.eye(3) - np.outer(free, free)
    tree.blocks[block : block + n * width].reshape(n, width)[:body, :body] = M
    tree.K[first : first + body, first : first + body] = M
    tree.L[0, first : first + body] = free
    assert parent >= 0
    A, right = tree.whole()
    assert np.linalg.cond(tree.K) > 1e3 * np.linalg.cond(A)
    status, y, nu = tree.solve()
    assert status == tr.SOLVED
    expected = np.linalg.solve(A, right)
    assert np.max(np.abs(np.concatenate([y, nu]) - expected)) < 1e-12 * np.max(np.abs(expected))


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_mass_do_not_matter(scale):
    """Rows of masses and rows of joints differ by many orders of magnitude; accelerations do not notice."""
    tree = Tree(3, [(3, 2)] * 10, 2)
    for _, body, n, _, _, _, _, first in tree.nodes:
        tree.L[:, first + body : first + n] = 0.0  # bodies alone, as where a loop is closed
    _, plain, _ = tree.solve()
    for _, body, n, _, block, _, width, first in tree.nodes:
        tree.blocks[block : block + n * width].reshape(n, width)[:body, :body] *= scale
        tree.r[first : first + body] *= scale
    status, scaled, _ = tree.solve()
    assert status == tr.SOLVED
    for _, body, _, _, _, _, _, first in tree.nodes:
        at = slice(first, first + body)
        np.testing.assert_allclose(scaled[at], plain[at], rtol=FAR, atol=FAR)


def test_long_chains_stay_accurate():
    tree = Tree(0, [(3, 2)] * 200, 0)
    tree.nodes[:, tr.PARENT] = np.arange(-1, 199)
    lead, width = tr.block_shape(5, 3, 0)
    sizes = tree.nodes[:, tr.SIZE]
    tree.nodes[:, tr.LEAD], tree.nodes[:, tr.WIDTH] = lead, width
    tree.nodes[:, tr.BLOCK] = width * (np.cumsum(sizes) - sizes)
    tree.blocks = np.zeros(width * sizes.sum())
    tree.K[:] = 0.0
    rng = np.random.default_rng(1)
    for k in range(200):
        tree._fill(rng, k, "positive")
    assert_solved(tree)


def test_a_row_of_zeros_is_singular():
    tree = Tree(0, [(3, 2), (3, 2)], 0)
    _, _, n, _, block, _, width, _ = tree.nodes[1]
    tree.blocks[block : block + n * width].reshape(n, width)[4, :] = 0.0
    assert tree.solve()[0] == tr.SINGULAR


def test_two_equal_rows_are_singular():
    tree = Tree(0, [(3, 2), (3, 2)], 0)
    _, _, n, _, block, _, width, _ = tree.nodes[1]
    view = tree.blocks[block : block + n * width].reshape(n, width)
    view[4], view[:3, 4] = view[3], view[:3, 3]
    assert tree.solve()[0] == tr.SINGULAR


def test_a_border_that_repeats_itself_is_singular():
    tree = Tree(0, [(3, 1)] * 4, 2)
    tree.L[1] = tree.L[0]
    assert tree.solve()[0] == tr.SINGULAR


def test_what_is_not_finite_is_never_called_solved():
    for entry in range(3):
        tree = Tree(0, [(3, 2), (3, 2)], 1)
        tree.blocks[entry] = np.nan
        assert tree.solve()[0] != tr.SOLVED
