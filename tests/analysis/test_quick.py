"""The quick way to linear models gives what the thorough way gives, and leaves to it what is not plain."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.analysis.equilibria.equilibrium import equilibrium_at
from pendula.analysis.linear import linearize as thorough
from pendula.analysis.linear.linearize_many import _multipliers
from pendula.analysis.linear.quadratic import solve_quadratic
from pendula.analysis.linear.quick.cut import CutMatrices, CutRoots
from pendula.analysis.linear.quick.linear_models import quick_model
from pendula.analysis.linear.terms import Terms
from pendula.bench import models as benchmark_models
from pendula.errors import PendulaError
from pendula.numerics.quick.independent import directions_of_many
from tests.helpers.choices import slow_too

ROUNDING = 1e-13
PLAIN = {
    "pendulum": {"theta": np.pi},
    "spherical-pendulum": None,
    "chain": None,
    "double-pendulum": {"theta1": 0.0},
}


def plain_system(name: str):
    model = library.spherical_pendulum(chart="xy") if name == "spherical-pendulum" else None
    model = library.chain(links=5) if name == "chain" else model
    return pendula.compile_system(model or library.mechanisms()[name].make(), engine="symbolic")


@pytest.mark.parametrize("name", PLAIN)
def test_models_and_spectra_are_the_same_by_both_ways(name: str, monkeypatch) -> None:
    system = plain_system(name)
    at = equilibrium_at(system, PLAIN[name] or {})
    quick = pendula.linearize(system, at)
    assert isinstance(quick.matrices, CutMatrices)
    found = pendula.linear.spectrum(quick)
    for way in ("quick_model", "quick_again"):
        monkeypatch.setattr(thorough, way, lambda system, at: None)
    slow = pendula.linearize(system, at)
    assert not isinstance(slow.matrices, CutMatrices)
    for part in "MCKFZN":
        np.testing.assert_array_equal(getattr(quick, part), getattr(slow, part))
    for part in ("coordinates", "speeds", "inputs", "method", "units", "rows", "chart", "undetermined", "error"):
        assert getattr(quick, part) == getattr(slow, part)
    assert quick.residual == pytest.approx(slow.residual, abs=1e-16)
    expected = pendula.linear.spectrum(slow)
    np.testing.assert_allclose(found.values, expected.values, rtol=ROUNDING, atol=0)
    assert found.labels == expected.labels
    np.testing.assert_array_equal(found.multiplicities, expected.multiplicities)
    np.testing.assert_array_equal(found.semisimple, expected.semisimple)
    assert found.roots.kind == expected.roots.kind
    assert len(found.eigenvalues) == len(expected.eigenvalues)
    assert str(found).splitlines()[:-1] == str(expected).splitlines()[:-1]
    assert found.backward_errors.max() < 1e-15
    assert found.residuals.max() < 1e-14


CONSTRAINED = {
    "four-bar": (library.four_bar, "lagrange"),
    "slider-crank": (library.slider_crank, "lagrange"),
    "chain by bodies": (lambda: library.chain(links=4), "maximal"),
    "pendulum in xyz": (benchmark_models.in_xyz, "lagrange"),
    "companion in xyz": (benchmark_models.companion_in_xyz, "kane"),
}


@pytest.mark.parametrize("name", slow_too([*CONSTRAINED][:-1], [*CONSTRAINED][-1:]))
def test_constrained_models_are_the_same_by_both_ways(name: str, monkeypatch) -> None:
    make, formulation = CONSTRAINED[name]
    system = pendula.compile_system(make(), formulation)
    at = pendula.equilibria.lowest_equilibrium(system)
    quick = pendula.linearize(system, at)
    assert isinstance(quick.matrices, CutMatrices)
    for way in ("quick_model", "quick_again"):
        monkeypatch.setattr(thorough, way, lambda system, at: None)
    slow = pendula.linearize(system, at)
    for part in ("coordinates", "speeds", "inputs", "units", "rows"):
        assert getattr(quick, part) == getattr(slow, part)
    for part in "MCKFZN":
        one, other = getattr(quick, part), getattr(slow, part)
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13 * max(1.0, np.abs(other).max(initial=0.0)))
    found, expected = pendula.linear.spectrum(quick), pendula.linear.spectrum(slow)
    scale = np.abs(expected.values).max()
    np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-12 * scale)
    assert found.labels == expected.labels
    assert found.others[0].label == expected.others[0].label
    assert found.others[0].multiplicity == 3 * quick.rows > 0
    G = system.constraint_jacobian(at.q, parameters=at.parameters)
    assert np.abs(G @ quick.Z).max() < 1e-13 * np.abs(G).max()


def test_batches_of_constrained_mechanisms_are_the_single_cases() -> None:
    """Multipliers, directions and roots of every case by compiled code, against one call for each."""
    for make, point, name in (
        (benchmark_models.in_xyz, {"x": 0.0, "y": 0.0}, "l"),
        (benchmark_models.companion_in_xyz, {"x1": 0.0, "y1": 0.0, "x2": 0.0, "y2": 0.0}, "m2"),
    ):
        system = pendula.compile_system(make())
        at = equilibrium_at(system, point)
        values = at.parameters[list(system.layout.parameters).index(name)] * np.ones(3)
        if name == "m2":
            values = np.array([0.3, 0.7, 2.0])
        many = pendula.linear.linearize_many(system, at, parameters={name: values})
        assert many.balanced.all()
        for k, value in enumerate(values):
            one = pendula.linearize(system, point, parameters={name: float(value)})
            for part in "MCK":
                expected = getattr(one, part)
                np.testing.assert_allclose(
                    getattr(many, part)[k], expected, atol=1e-13 * np.abs(expected).max() + 1e-15
                )
            np.testing.assert_allclose(many.values[k], pendula.linear.spectrum(one).values, rtol=1e-12)


def test_redundant_constraints_have_the_smallest_multipliers_in_a_batch() -> None:
    rng = np.random.default_rng(2)
    G = rng.normal(size=(4, 3, 5))
    G[1, 2] = G[1, 0] - 2 * G[1, 1]  # redundant in one case
    left = rng.normal(size=(4, 5))
    none = np.zeros((4, 5, 5))
    found = _multipliers(Terms(none, left, G, none, none, none, none))
    for k in range(4):
        np.testing.assert_allclose(found[k], np.linalg.lstsq(G[k].T, -left[k], rcond=None)[0], atol=1e-12)


def test_directions_that_are_nearly_lost_are_not_decided_here() -> None:
    """Two rows that are almost the same: whether one counts is left to the thorough way."""
    system = pendula.compile_system(library.four_bar())
    at = pendula.equilibria.lowest_equilibrium(system)
    G = system.constraint_jacobian(at.q, parameters=at.parameters)
    out, chosen = np.empty((1, 3, 1)), np.array([0])
    clear = np.ones(1, dtype=bool)
    directions_of_many(np.stack([np.stack([G[0], G[0] * (1 + 1e-9)])]), chosen, out, np.empty(100), clear)
    assert not clear[0]


def test_many_random_mechanisms_have_the_roots_of_the_thorough_way() -> None:
    rng = np.random.default_rng(8)
    count = 0
    for links in (1, 2, 3, 5, 8):
        system = pendula.compile_system(library.chain(links=links), engine="symbolic")
        names = system.layout.coordinates
        for _ in range(6):
            at = equilibrium_at(system, {name: float(rng.choice([0.0, np.pi])) for name in names})
            model = quick_model(system, at)
            assert model is not None
            roots = solve_quadratic(model.M, model.C, model.K)
            found = pendula.linear.spectrum(model)
            assert isinstance(found.found, CutRoots)
            np.testing.assert_allclose(found.values, roots.values, rtol=1e-12, atol=0)
            count += 1
    assert count == 30


@pytest.mark.parametrize(
    ("name", "point"),
    [("heavy-top", None), ("cart-pole", {"theta": 0.0}), ("spherical-pendulum", {"theta": 0.0})],
)
def test_what_is_not_plain_goes_the_thorough_way(name: str, point) -> None:
    """Cyclic coordinates, singular charts: labels come from there."""
    system = pendula.compile_system(library.mechanisms()[name].make(), engine="symbolic")
    at = equilibrium_at(system, point) if point is not None else pendula.find_equilibria(system)[0]
    assert not isinstance(pendula.linear.spectrum(pendula.linearize(system, at)).found, CutRoots)


def test_a_state_that_is_not_balanced_is_refused_whichever_way() -> None:
    system = plain_system("spherical-pendulum")
    at = equilibrium_at(system, {})
    with pytest.raises(PendulaError, match="not an equilibrium"):
        pendula.linearize(system, replace(at, q=np.array([0.1, 0.0])))


def test_changed_parameters_and_changed_arrays_are_seen() -> None:
    """Parameters are compared by value, so an array that was changed in place is not taken for the old one."""
    system = plain_system("spherical-pendulum")
    at = equilibrium_at(system, {}, parameters={"l": 4.0})
    assert pendula.linear.spectrum(pendula.linearize(system, at)).values[0] == pytest.approx(
        0.5j * np.sqrt(9.81), rel=1e-15
    )
    at.parameters[list(system.layout.parameters).index("l")] = 1.0
    assert pendula.linear.spectrum(pendula.linearize(system, at)).values[0] == pytest.approx(
        1j * np.sqrt(9.81), rel=1e-15
    )
    values = [pendula.linearize(system, {}, parameters={"l": x}).K[0, 0] for x in (1.0, 2.0, 1.0)]
    np.testing.assert_allclose(values, [9.81, 4.905, 9.81], rtol=1e-15)


def test_results_do_not_share_memory_and_can_be_copied() -> None:
    system = plain_system("spherical-pendulum")
    at = equilibrium_at(system, {})
    one, two = pendula.linearize(system, at), pendula.linearize(system, at)
    one.K[0, 0] = 5.0
    assert two.K[0, 0] == 9.81
    changed = two.with_matrices(K=2 * two.K)
    assert not isinstance(changed.matrices, CutMatrices)
    assert pendula.linear.spectrum(changed).values[0] == pytest.approx(1j * np.sqrt(2 * 9.81), rel=1e-15)
    assert copy.copy(two).K[0, 0] == 9.81
    with pytest.raises(AttributeError, match="nothing"):
        _ = two.nothing
    with pytest.raises(AttributeError, match="nothing"):
        _ = pendula.linear.spectrum(two).nothing


def test_a_stiffness_that_may_be_rounding_is_looked_at_closely() -> None:
    """Slower than 1e-3 of sqrt(g/l): not decided the quick way."""
    system = pendula.compile_system(library.pendulum(), engine="symbolic")
    at = equilibrium_at(system, {"theta": 0.0})
    assert isinstance(pendula.linear.spectrum(pendula.linearize(system, at)).found, CutRoots)
    slow = replace(at, parameters=at.parameters.copy())
    slow.parameters[list(system.layout.parameters).index("g")] = 1e-9
    model = pendula.linearize(system, slow)
    assert pendula.linear.spectrum(model).values[0] == pytest.approx(1j * np.sqrt(1.5e-9), rel=1e-12)
