"""Windows of stability between samples: narrow ones, folds next to them, touching roots, and what may be missed."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import special

import pendula
from pendula.numerics.solvers.dips import brackets, dip
from tests.helpers.choices import slow_too


def mass(*forces: str, p: float = 0.0) -> pendula.Model:
    """Unit masses on lines of their own, x and y, with forces of x, y, their rates and the parameter p."""
    names = "xy"[: len(forces)]
    line = {"type": "prismatic", "axis": [1, 0, 0], "parent": "ground"}
    return pendula.Model(
        name="masses on lines",
        gravity=[0, 0, 0],
        parameters={"p": p},
        bodies=[{"name": f"mass {k}", "mass": 1.0} for k in names],
        joints=[{"name": k, "child": f"mass {k}", **line} for k in names],
        forces=[{"type": "generalized", "coordinate": k, "value": f} for k, f in zip(names, forces, strict=True)],
    )


def verdicts(found: pendula.results.StabilityRanges) -> list[str]:
    return [part.verdict for part in found.ranges]


@pytest.mark.parametrize("damping", ["", " - 0.3*x_dot"])
@pytest.mark.parametrize("width", slow_too([1e-6], [0.3, 0.01, 1e-4]))
def test_a_window_of_negative_stiffness_is_found_however_narrow(width: float, damping: str) -> None:
    """x'' = -(p - 1)(p - 1 - width) x is unstable between its roots; 40 samples are 0.25 apart."""
    found = pendula.linear.stability_over(mass(f"-(p - 1)*(p - 1 - {width})*x{damping}"), "p", 0, 10, samples=40)
    outside = "asymptotically stable" if damping else "stable"
    assert verdicts(found) == [outside, "unstable", outside]
    np.testing.assert_allclose(found.values, [1.0, 1.0 + width], rtol=1e-9)
    assert not any(edge.meets for edge in found.critical)  # x = 0 is the only equilibrium


def test_a_stiffness_that_touches_zero_meets_no_other_equilibrium() -> None:
    """K = (p - 1)^2 vanishes at 1 only; x = 0 is the only equilibrium at all other values."""
    found = pendula.linear.stability_over(mass("-(p - 1)**2*x"), "p", 0, 10, samples=40)
    assert verdicts(found) == ["stable", "stable"]
    assert found.values == pytest.approx([1.0], abs=1e-9)
    assert not found.critical[0].meets
    assert str(found.critical[0]) == pendula.stability(mass("-(p - 1)**2*x", p=1.0), {}).verdict


@pytest.mark.parametrize("least", slow_too([1e-7], [1e-3]))
def test_a_stiffness_that_stays_positive_changes_nothing(least: float) -> None:
    found = pendula.linear.stability_over(mass(f"-((p - 1)**2 + {least})*x"), "p", 0, 10, samples=40)
    assert verdicts(found) == ["stable"]
    assert not found.critical


@pytest.mark.parametrize("hopf", slow_too([1.99999], [1.999, 1.5]))
def test_a_hopf_boundary_just_below_a_fold(hopf: float) -> None:
    """x = sqrt(2 - p), with damping hopf - p: stable, then unstable, and without an equilibrium above 2."""
    model = mass(f"(2 - p) - x**2 - ({hopf} - p)*x_dot")
    found = pendula.linear.stability_over(model, "p", 0, 4, at={"x": 2**0.5}, samples=40)
    assert verdicts(found) == ["asymptotically stable", "unstable", "no equilibrium nearby"]
    np.testing.assert_allclose(found.values, [hopf, 2.0], atol=1e-9)
    assert found.critical[1].stability is None
    assert "one side only" in str(found)


@pytest.mark.parametrize("half", slow_too([1e-4], [0.1, 1e-2]))
def test_a_window_of_negative_damping_is_found(half: float) -> None:
    """x'' = -x - ((p - 3)^2 - half^2) x' grows within 3 - half < p < 3 + half."""
    found = pendula.linear.stability_over(mass(f"-x - ((p - 3)**2 - {half}**2)*x_dot"), "p", 0, 10, samples=40)
    assert verdicts(found) == ["asymptotically stable", "unstable", "asymptotically stable"]
    np.testing.assert_allclose(found.values, [3 - half, 3 + half], rtol=1e-7)


@pytest.mark.parametrize(
    ("force", "at", "expected", "meets"),
    [
        ("p*x - x**3 - x_dot", 0.0, ["asymptotically stable", "unstable"], False),
        ("-p*x - x**3 - x_dot", 1.0, ["asymptotically stable", "asymptotically stable"], True),
        ("p*x - x**2 - x_dot", 0.0, ["asymptotically stable", "unstable"], False),
    ],
)
def test_bifurcations_of_normal_forms(force: str, at: float, expected: list[str], meets: bool) -> None:
    """Pitchfork and transcritical bifurcation from x = 0, and the outer branch x = sqrt(-p) that meets x = 0."""
    found = pendula.linear.stability_over(mass(force, p=-1.0), "p", -1, 1, at={"x": at}, samples=20)
    assert verdicts(found) == expected
    assert found.values == pytest.approx([0.0], abs=1e-9)
    assert found.critical[0].meets == meets


def test_a_narrow_window_of_flutter_between_gyroscopes_is_found() -> None:
    """x'' = x + c y', y'' = y - c x' is bounded for c > 2; c = 2 + (p - 3)^2 - 1e-4 is less within 0.01 of 3."""
    c = "(2 + (p - 3)**2 - 0.0001)"
    found = pendula.linear.stability_over(mass(f"x + {c}*y_dot", f"y - {c}*x_dot"), "p", 0, 10, samples=20)
    assert verdicts(found) == ["undecided", "unstable", "undecided"]
    np.testing.assert_allclose(found.values, [2.99, 3.01], atol=1e-9)
    assert [str(edge) for edge in found.critical] == ["undecided", "undecided"]


def test_a_narrow_window_of_flutter_without_a_potential_is_found() -> None:
    """K = [[4, b], [-b, 9]] flutters for b^2 > 25/4; b = 2.5 + 1e-4 - (p - 3)^2 is more within 0.01 of 3."""
    b = "(2.5001 - (p - 3)**2)"
    found = pendula.linear.stability_over(mass(f"-4*x - {b}*y", f"-9*y + {b}*x"), "p", 1, 5, samples=20)
    assert verdicts(found) == ["undecided", "unstable", "undecided"]
    np.testing.assert_allclose(found.values, [2.99, 3.01], atol=1e-8)


@pytest.mark.parametrize("width", slow_too([1e-5], [1.0, 0.01]))
def test_a_stable_window_between_two_kinds_of_instability_is_found(width: float) -> None:
    """x'' = -(p - 1) x - (1 + width - p) x': a saddle below 1, growing oscillations above 1 + width."""
    found = pendula.linear.stability_over(mass(f"-(p - 1)*x - (1 + {width} - p)*x_dot"), "p", 0, 10, samples=40)
    assert verdicts(found) == ["unstable", "asymptotically stable", "unstable"]
    np.testing.assert_allclose(found.values, [1.0, 1.0 + width], rtol=1e-9)


def spun_top() -> pendula.Model:
    """A top (m = 1 kg, centre at 0.5 m, I1 = 0.04, I3 = 0.08 kg m^2) in light gimbals, with the prescribed spin n."""
    light = {"mass": 1e-12, "inertia": [1e-12] * 3}
    return pendula.Model(
        name="spun top",
        gravity=[0, 0, -9.81],
        parameters={"n": 10.0},
        bodies=[
            {"name": "outer", **light},
            {"name": "inner", **light},
            {"name": "top", "mass": 1.0, "com": [0, 0, 0.5], "inertia": [0.04, 0.04, 0.08]},
        ],
        joints=[
            {"name": "a", "type": "revolute", "axis": [1, 0, 0], "parent": "ground", "child": "outer"},
            {"name": "b", "type": "revolute", "axis": [0, 1, 0], "parent": "outer", "child": "inner"},
            {"name": "c", "type": "revolute", "axis": [0, 0, 1], "parent": "inner", "child": "top", "motion": "n*t"},
        ],
    )


@pytest.mark.slow
def test_a_sleeping_top_at_its_boundary() -> None:
    """Roots meet at I3 n = 2 sqrt(I1 m g l). There eigenvalues do not decide, and constant stiffness costs nothing."""
    system = pendula.compile_system(spun_top())
    pendula.linear.stability_over(system, "n", 5, 60, at={}, samples=2)  # compiles
    start = time.process_time()
    found = pendula.linear.stability_over(system, "n", 5, 60, at={}, samples=200)
    assert time.process_time() - start < 15  # 50 s if every interval is searched
    assert found.values == pytest.approx([2 * np.sqrt(0.29 * 9.81 * 0.5) / 0.08], rel=1e-8)
    assert verdicts(found) == ["unstable", "undecided"]
    assert str(found.critical[0]) == "undecided"


def test_the_width_below_which_a_window_may_be_missed_is_stated() -> None:
    found = pendula.linear.stability_over(mass("-(p + 1)*x"), "p", 0, 10, samples=50)
    assert 0.2 <= found.missed_below < 0.21  # 50 values over 10
    assert "indicated, not proven: no range wider than" in " ".join(str(found).split())


def test_constant_rows_have_no_dips() -> None:
    x = np.linspace(0, 1, 30)
    assert not list(brackets(x, np.full(30, 3.0)))
    assert not list(brackets(x, 3.0 + 1e-13 * np.sin(100 * x)))


def test_a_dip_costs_few_evaluations_unless_it_leads_to_zero() -> None:
    x = np.linspace(0, 1, 21)
    count = 0

    def high(value: float) -> float:
        nonlocal count
        count += 1
        return (value - 0.512) ** 2 + 0.1

    (triple,) = brackets(x, np.array([high(v) for v in x]))
    count = 0
    dip(high, x, np.array([high(v) for v in x]), triple)
    assert count == len(x)  # no more than the samples themselves


# --- driven mechanisms --------------------------------------------------------------------------------------


def mathieu(damping: float = 0.0) -> pendula.Model:
    """x'' + c x' + (p - 2 q cos 2t) x = 0 with q = 0.2."""
    return mass(f"-(p - 0.4*cos(2*t))*x - {damping}*x_dot")


@pytest.mark.parametrize("samples", slow_too([31], [60]))
def test_narrow_tongues_of_mathieus_equation_are_found(samples: int) -> None:
    """Tongues 3.99667 to 4.01658 and 9.00238 to 9.00263, with samples 0.18 or 0.35 apart."""
    found = pendula.driven.floquet_over(mathieu(), "p", -0.5, 10, samples=samples, at={})
    expected = [special.mathieu_a(0, 0.2)]
    expected += [limit(n, 0.2) for n in (1, 2, 3) for limit in (special.mathieu_b, special.mathieu_a)]
    np.testing.assert_allclose([edge.value for edge in found.boundaries], expected, atol=1e-8)
    assert [part[2] for part in found.ranges] == ["unstable", "stable (linear)"] * 4
    assert found.missed_below == pytest.approx(10.5 / (samples - 1))
    assert "indicated, not proven: no range wider than" in " ".join(str(found).split())


def test_damping_closes_the_narrowest_tongue() -> None:
    """Growth in the third tongue is about 2.5e-4/(4 sqrt(9)) = 2.1e-5 1/s, and damping takes c/2 from it."""
    found = pendula.driven.floquet_over(mathieu(1e-3), "p", 1.5, 10, samples=49, at={})
    assert [part[2] for part in found.ranges] == ["asymptotically stable", "unstable", "asymptotically stable"]
    low, high = (limit(2, 0.2) for limit in (special.mathieu_b, special.mathieu_a))
    assert low < found.boundaries[0].value < found.boundaries[1].value < high
    slight = pendula.driven.floquet_over(mathieu(1e-6), "p", 8, 10, samples=12, at={})
    assert [part[2] for part in slight.ranges] == ["asymptotically stable", "unstable", "asymptotically stable"]


def test_without_refinement_nothing_is_added() -> None:
    found = pendula.driven.floquet_over(mathieu(), "p", 3, 5, samples=12, at={}, refine=False)
    assert len(found.values) == 12
    assert not found.boundaries
