"""Couplings of coordinates: all formulations against each other and against independent coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import pendula
from pendula import Model
from pendula.errors import ModelError, NotSupported

pytestmark = pytest.mark.usefixtures("quick_code")


def geared(value: str = "b - ratio*a**2 - 0.3*sin(a)", **more: object) -> Model:
    """Two arms in space on one shaft, whose angles a coupling ties."""
    return Model(
        name="geared arms",
        gravity=[0.4, -9.81, 1.0],
        parameters={"ratio": 0.7, "m": 1.3},
        bodies=[
            {"name": "one", "mass": "m", "com": [0.2, -0.5, 0.1], "inertia": [0.2, 0.3, 0.25]},
            {"name": "two", "mass": 2, "com": [0.1, 0.3, 0.2], "inertia": [0.15, 0.2, 0.25]},
            {"name": "three", "mass": 0.5, "com": [0.1, -0.3, 0.2], "inertia": [0.05, 0.06, 0.07]},
        ],
        joints=[
            {"name": "a", "type": "revolute", "axis": [0, 1, 1], "parent": "ground", "child": "one", "armature": 0.2},
            {"name": "b", "type": "revolute", "axis": [1, 0, 0], "parent": {"body": "one", "position": [0, -1, 0]},
             "child": "two"},
            {"name": "c", "type": "spherical", "parent": {"body": "two", "position": [0, -1, 0]}, "child": "three"},
            {"name": "gears", "type": "coupling", "value": value},
        ],
        **more,
    )  # fmt: skip


def test_formulations_agree_on_a_coupling() -> None:
    found = pendula.check(geared(), states=10)
    assert found.passed, str(found)


def test_a_coupling_equals_the_tree_in_independent_coordinates() -> None:
    """With b = g(a): (J^T M J) a'' = J^T (f - M J' v), J the derivative of all speeds by those that are free."""
    model = geared()
    tied = pendula.compile_system(model)
    tree = pendula.compile_system(model.with_changes(joints=model.tree))
    a, rate = 0.6, 1.1
    slope, bend = 1.4 * a + 0.3 * np.cos(a), 1.4 - 0.3 * np.sin(a)
    q = np.array([a, 0.7 * a**2 + 0.3 * np.sin(a), 0.5, 0.5, 0.5, 0.5])
    v = np.array([rate, slope * rate, 0.3, -0.2, 0.4])
    J = np.eye(5)[:, [0, 2, 3, 4]]
    J[1, 0] = slope
    bias = np.array([0, bend * rate**2, 0, 0, 0])
    M, f = tree.mass_matrix(q), tree.forces(q, v)
    free = np.linalg.solve(J.T @ M @ J, J.T @ (f - M @ bias))
    assert tied.accelerations(q, v) == pytest.approx(J @ free + bias, rel=1e-11)
    assert pendula.mobility(tied).by_rank == 4


def test_energy_is_kept_and_the_coupling_holds_in_a_run() -> None:
    run = pendula.simulate(geared(initial={"a": 0.5, "b": 0.32}), 2.0, tol=1e-9)
    assert run.energy_drift < 1e-7
    assert np.abs(run["b"] - 0.7 * run["a"] ** 2 - 0.3 * np.sin(run["a"])).max() < 1e-9


@pytest.mark.parametrize(("value", "words"), [("b - a_dot", "a_dot"), ("b - t", '"t"'), ("ratio", "no coordinate")])
def test_couplings_of_anything_but_coordinates_are_refused(value: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        pendula.compile_system(geared(value), engine="symbolic")


def test_the_recursive_engine_names_the_coupling() -> None:
    with pytest.raises(NotSupported, match='joint "gears"'):
        pendula.compile_system(geared(), engine="recursive")
