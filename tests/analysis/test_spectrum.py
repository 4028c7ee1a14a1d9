"""Eigenvalues with labels: exact where they can be, right about zeros, infinities, repeated roots and singular charts."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import pendula
from pendula import Model, library
from pendula.analysis.linear.quadratic import backward_errors, solve_quadratic
from pendula.errors import UsageError
from pendula.system.loops.mobility import independent_rows
from tests.helpers.choices import slow_too
from tests.helpers.numbers import Array


def random_matrices(seed: int, n: int) -> tuple[Array, Array, Array, Array]:
    """A positive definite M and K, a positive semidefinite D, a skew G."""
    rng = np.random.default_rng(seed)
    M, K, D = (x @ x.T / n for x in rng.normal(size=(3, n, n)))
    G = rng.normal(size=(n, n))
    return M + 0.2 * np.eye(n), 30 * K + np.eye(n), D, 3 * (G - G.T)


def nearest(found: Array, expected: Array) -> float:
    """Largest distance of paired roots, relative to the largest root."""
    left, worst = list(expected), 0.0
    for value in found:
        k = int(np.argmin([abs(value - x) for x in left]))
        worst = max(worst, abs(value - left.pop(k)))
    return worst / max(np.abs(expected).max(), 1e-300)


def by_mpmath(M: Array, C: Array, K: Array) -> Array:
    """Roots by 40 digits from the companion matrix."""
    n = len(M)
    with mpmath.workdps(40):
        inverse = mpmath.matrix(M.tolist()) ** -1
        A = mpmath.zeros(2 * n)
        lower = [-(inverse * mpmath.matrix(X.tolist())) for X in (K, C)]
        for i in range(n):
            A[i, n + i] = 1
            for j in range(n):
                A[n + i, j], A[n + i, n + j] = lower[0][i, j], lower[1][i, j]
        found = mpmath.eig(A, left=False, right=False)
        return np.array([complex(x) for x in found])


@pytest.mark.parametrize("seed", slow_too(range(4), range(4, 12)))
def test_roots_agree_with_forty_digits(seed: int) -> None:
    n = 2 + seed % 4
    M, K, D, G = random_matrices(seed, n)
    for C, kind in ((0 * D, "undamped"), (G, "gyroscopic"), (D, "general"), (D + G, "general")):
        roots = solve_quadratic(M, C, K)
        assert roots.kind == kind
        assert nearest(roots.values, by_mpmath(M, C, K)) < 1e-11
        assert backward_errors(M, C, K, roots.values, roots.vectors).max() < 1e-13
        if kind != "general":
            assert np.all(roots.values.real == 0)  # on the axis, exactly
        assert np.all(roots.multiplicity == 1)


def test_paper_000_in_xy() -> None:
    """+-3.132091952673165i twice, semisimple; 2-norm of the error at most 1e-14."""
    found = pendula.linear.spectrum(pendula.compile_system(library.spherical_pendulum(chart="xy")), {})
    exact = np.array([1, 1, -1, -1]) * 3.132091952673165j
    assert np.linalg.norm(np.sort_complex(found.values) - np.sort_complex(exact)) <= 1e-14
    assert [(r.multiplicity, r.semisimple, r.label) for r in found.eigenvalues] == [(2, True, "physical")] * 2
    assert "physical" in str(found)


def test_conical_motion_has_a_double_zero_by_its_cyclic_coordinate() -> None:
    """Errata of paper 000: a cyclic coordinate gives a double zero, and +-i Om sqrt(1 + 3 cos^2)."""
    theta = 0.7
    rate = np.sqrt(9.81 / np.cos(theta))
    system = pendula.compile_system(library.spherical_pendulum())
    found = pendula.linear.spectrum(system, {"theta": theta, "phi_dot": rate})
    w = rate * np.sqrt(1 + 3 * np.cos(theta) ** 2)
    assert nearest(found.values, np.array([0, 0, 1j * w, -1j * w])) < 1e-14
    zero = found.eigenvalues[0]
    assert (zero.value, zero.multiplicity, zero.semisimple) == (0, 2, False)
    assert zero.label == "zero: cyclic coordinate phi"


def test_zeros_are_exact_and_named() -> None:
    system = pendula.compile_system(library.cart_pole())
    found = pendula.linear.spectrum(system, {"theta": 0})
    assert found.values[:2].tolist() == [0, 0]
    assert found.labels[:2] == ("zero: cyclic coordinate x",) * 2
    assert set(found.labels[2:]) == {"physical"}
    box = pendula.linear.spectrum(pendula.compile_system(library.free_body()), {})
    assert len(box.values) == 12
    assert np.all(box.values == 0)
    assert all(label.startswith("zero: cyclic coordinates box_x") for label in box.labels)


def train(damping: float = 0.0, ground: float = 0.0) -> pendula.results.System:
    """Two carts joined by a spring, free to run along the rail: a rigid-body freedom that no single coordinate is."""
    forces = [
        {"type": "generalized", "coordinate": "x", "value": f"-5*(x - y) - {damping}*(x_dot - y_dot) - {ground}*x_dot"},
        {"type": "generalized", "coordinate": "y", "value": f"-5*(y - x) - {damping}*(y_dot - x_dot) - {ground}*y_dot"},
    ]
    return pendula.compile_system(
        Model(
            name="train",
            gravity=[0, 0, 0],
            bodies=[{"name": n, "point": {"mass": m}} for n, m in (("a", 1.0), ("b", 2.0))],
            joints=[
                {"name": n, "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": b}
                for n, b in (("x", "a"), ("y", "b"))
            ],
            forces=forces,
        )
    )


def test_rigid_body_freedom_is_named_and_counted_with_and_without_damping() -> None:
    w = np.sqrt(5 * (1 + 1 / 2))
    free = pendula.linear.spectrum(train())
    assert nearest(free.values, np.array([0, 0, 1j * w, -1j * w])) < 1e-14
    assert free.labels[0] == "zero: rigid-body freedom of x, y"
    assert not free.semisimple[0]
    inner = pendula.linear.spectrum(train(damping=0.3))  # a damper between them lets the train run on
    assert [v == 0 for v in inner.values] == [True, True, False, False]
    assert not inner.semisimple[0]
    assert nearest(inner.values[2:], np.roots([1, 0.45, 7.5])) < 1e-13
    outer = pendula.linear.spectrum(train(ground=0.3))  # friction on the rail stops it: one zero, and a decay
    assert [v == 0 for v in outer.values] == [True, False, False, False]
    assert outer.semisimple[0]
    reference = by_mpmath(outer.model.M, outer.model.C, outer.model.K)
    assert nearest(outer.values, reference) < 1e-12


def test_infinite_roots_by_constraints_are_counted() -> None:
    system = pendula.compile_system(library.chain(links=3), "maximal")
    found = pendula.linear.spectrum(system, {})
    assert [(r.label.split(":")[0], r.multiplicity, r.value) for r in found.others] == [
        ("infinite", 18, complex(np.inf))
    ]
    full = pendula.linear.spectrum(pendula.linear.pencil(system, {}))
    assert len(full.values) == 6
    assert sum(r.multiplicity for r in full.others) == 18
    assert nearest(full.values, found.values) < 1e-6


def test_redundant_constraints_make_undetermined_roots_of_the_pencil() -> None:
    """A third crank of a parallelogram: its rows depend on the others, so multipliers are 0/0."""
    bodies: list[object] = [{"name": f"c{i}", "rod": {"mass": 1.0, "length": 1.0}} for i in range(3)]
    bodies.append({"name": "bar", "box": {"mass": 1.0, "size": [2, 0.1, 0.1]}})
    joints: list[object] = [
        {"name": f"a{i}", "type": "revolute", "parent": {"body": "ground", "position": [i, 0, 0]}, "child": f"c{i}"}
        for i in range(3)
    ]
    joints.append(
        {
            "name": "b",
            "type": "revolute",
            "parent": {"body": "c0", "at": "tip"},
            "child": {"body": "bar", "position": [-1, 0, 0]},
            "measured_from": "ground",
        }
    )
    joints += [
        {
            "name": f"t{i}",
            "type": "coincident",
            "parent": {"body": f"c{i}", "at": "tip"},
            "child": {"body": "bar", "position": [i - 1, 0, 0]},
        }
        for i in (1, 2)
    ]
    system = pendula.compile_system(Model(name="three cranks", gravity=[0, -9.81, 0], bodies=bodies, joints=joints))
    found = pendula.linear.spectrum(system, {})
    expected = np.sqrt(9.81 * (3 * 0.5 + 1) / (3 * (1 / 3) + 1))  # three rods and a bar that only shifts
    np.testing.assert_allclose(found.values, [1j * expected, -1j * expected], rtol=1e-12)
    full = pendula.linear.spectrum(pendula.linear.pencil(system, {}))
    kinds = [r.label.split(":")[0] for r in full.others]
    assert "undetermined" in kinds
    assert nearest(full.values, found.values) < 1e-6
    count = sum(r.multiplicity for r in full.others if r.label.startswith("undetermined"))
    assert count == system.loop_rows - independent_rows(system) > 0
    assert (
        len(full.values) + sum(r.multiplicity for r in full.others) == len(pendula.linear.pencil(system, {}).E) + count
    )


def test_singular_chart_in_the_pencil_is_undetermined_not_infinite() -> None:
    """Paper 000 calls these roots infinite; QZ gives 0/0."""
    full = pendula.linear.spectrum(
        pendula.linear.pencil(pendula.compile_system(library.spherical_pendulum()), {"theta": 0.0})
    )
    labels = [r.label for r in full.others]
    assert any(label.startswith("undetermined") for label in labels)
    assert not any(label.startswith("infinite") for label in labels)


def test_defective_root_on_the_axis_and_in_the_plane() -> None:
    """Critically damped: -1 twice with one eigenvector. Two equal oscillators: twice with two."""
    one = np.eye(1)
    roots = solve_quadratic(one, 2 * one, one)
    np.testing.assert_allclose(roots.values, [-1, -1], atol=1e-12)
    assert (roots.multiplicity.tolist(), roots.vectors_of.tolist()) == ([2, 2], [1, 1])
    two = np.eye(2)
    roots = solve_quadratic(two, 0.2 * two, 4 * two)
    assert roots.multiplicity.tolist() == [2] * 4
    assert roots.vectors_of.tolist() == [2] * 4
    # a circulatory system at its flutter point: K has one eigenvector, roots +-2i twice, defective
    K = np.array([[4.0, 1.0], [0.0, 4.0]])
    roots = solve_quadratic(two, 0 * two, K)
    np.testing.assert_allclose(np.sort_complex(roots.values), [-2j, -2j, 2j, 2j], atol=1e-7)
    assert roots.multiplicity.tolist() == [2] * 4
    assert roots.vectors_of.tolist() == [1] * 4


def test_near_roots_are_not_taken_for_repeated_ones() -> None:
    K = np.diag([4.0, 4.0 + 1e-5])
    roots = solve_quadratic(np.eye(2), 0.1 * np.eye(2), K)
    assert roots.multiplicity.tolist() == [1] * 4
    assert solve_quadratic(np.eye(2), 0 * K, K).multiplicity.tolist() == [1] * 4


def test_light_damping_is_seen() -> None:
    """Damping of 1e-9 of the critical one is far above rounding."""
    M, K, _, _ = random_matrices(3, 3)
    values = solve_quadratic(M, 1e-9 * M, K).values
    np.testing.assert_allclose(values.real, -5e-10, rtol=1e-5)


def test_stiff_and_soft_in_one_system_keep_their_digits() -> None:
    K = np.diag([1e-4, 1.0, 1e8])
    C = np.diag([1e-4, 1e-2, 10.0])
    values = solve_quadratic(np.eye(3), C, K).values
    expected = np.concatenate([np.roots([1, C[i, i], K[i, i]]) for i in range(3)])
    for value in expected:
        assert np.abs(values - value).min() < 1e-9 * abs(value) + 1e-11


def test_spectrum_refuses_what_does_not_belong() -> None:
    model = pendula.linearize(pendula.compile_system(library.pendulum()), {})
    with pytest.raises(UsageError, match="already has its equilibrium"):
        pendula.linear.spectrum(model, {"theta": 0})
