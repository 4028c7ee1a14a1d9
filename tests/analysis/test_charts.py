"""Charts of stability over two parameters: borders against Mathieu's characteristic values and closed forms."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import special

import pendula
from pendula.analysis.charts.chart import Look, draw_chart
from pendula.driven import floquet_chart
from pendula.errors import UsageError
from pendula.linear import stability_chart
from pendula.model import Model

BORDER = 1e-8  # borders of tongues wider than 1e-3, against characteristic values of SciPy
WIDE = 1e-3


def mathieu(damping: float = 0.0) -> Model:
    """x'' + c x' + (a - 2 q cos 2t) x = 0."""
    return Model(
        name="Mathieu",
        gravity=[0, 0, 0],
        parameters={"a": 1.0, "q": 1.0, "c": damping},
        bodies=[{"name": "block", "point": {"mass": 1}}],
        joints=[{"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "block"}],
        forces=[{"type": "generalized", "coordinate": "x", "value": "-(a - 2*q*cos(2*t))*x - c*x_dot"}],
    )


def characteristic_values(q: float, count: int = 6) -> list[tuple[float, float]]:
    """Ends of the unstable ranges of a: b_n(q) and a_n(q), the first from minus infinity to a_0(q)."""
    tongues = [(-np.inf, float(special.mathieu_a(0, q)))]
    for n in range(1, count):
        tongues.append(tuple(sorted((float(special.mathieu_b(n, q)), float(special.mathieu_a(n, q))))))
    return tongues


@pytest.mark.slow
def test_ince_strutt_chart_has_the_characteristic_values_as_borders():
    chart = floquet_chart(mathieu(), ("a", -3.0, 12.0), ("q", 0.2, 6.0), samples=(26, 17))
    compared = 0
    for q in chart.y.tolist():
        found = np.array([border.x for border in chart.along("a", q)])
        expected = [end for tongue in characteristic_values(q) if tongue[1] - tongue[0] > WIDE for end in tongue]
        inside = [end for end in expected if -3.0 < end < 12.0]
        for end in inside:
            assert np.abs(found - end).min() < BORDER
        compared += len(inside)
        assert len(found) >= len(inside)
    for border in chart.borders:  # those found upward too, and those of narrow tongues
        ends = [end for tongue in characteristic_values(border.y, 8) for end in tongue]
        assert np.abs(np.array(ends) - border.x).min() < BORDER
    assert compared >= 80
    assert len(chart.borders) >= 100


def test_stability_and_borders_of_a_small_chart_are_those_of_the_characteristic_values():
    chart = floquet_chart(mathieu(), ("a", -1.0, 6.0), ("q", 0.5, 3.0), samples=(9, 3))
    for j, q in enumerate(chart.y.tolist()):
        for i, a in enumerate(chart.x.tolist()):
            unstable = any(low < a < high for low, high in characteristic_values(q))
            assert chart.stable[j, i] == (not unstable)
        ends = [end for tongue in characteristic_values(q) for end in tongue if -1.0 < end < 6.0]
        found = [border.x for border in chart.along("a", q)]
        assert found == pytest.approx(ends, abs=BORDER)


def test_damping_lifts_the_first_tongue_off_the_axis():
    """Near a = 1 the tongue of x'' + c x' + ... begins at q = c (first order, McLachlan 1947), by Floquet to second."""
    chart = floquet_chart(mathieu(0.1), ("q", 0.02, 0.3), ("a", 0.95, 1.05), samples=(5, 3))
    (border,) = chart.along("q", 1.0)
    assert border.x == pytest.approx(0.1, rel=0.01)
    assert border.stable_below


def test_chart_of_an_equilibrium_has_the_closed_form_as_its_border():
    """A bead on a turning hoop: the bottom is stable up to Omega^2 = g/r."""
    chart = stability_chart("hoop-bead", ("Omega", 1.0, 5.0), ("r", 0.5, 2.0), at={"theta": 0.0}, samples=5)
    assert len(chart.borders) >= 5
    for border in chart.borders:
        assert border.x**2 * border.y == pytest.approx(9.81, rel=1e-10)
        assert border.stable_below
    assert {border.along for border in chart.borders} == {"Omega", "r"}


def test_chart_of_a_follower_force_finds_flutter():
    """Two bars under a follower force P: a double pendulum after Ziegler (1952), undamped, unequal stiffness."""
    model = Model(
        name="Ziegler",
        gravity=[0, 0, 0],
        parameters={"P": 0.1, "k": 1.0, "s": 1.0},
        bodies=[{"name": "one", "point": {"mass": 2, "at": [1, 0, 0]}}, {"name": "two", "point": {"mass": 1, "at": [1, 0, 0]}}],
        joints=[
            {"name": "a", "type": "revolute", "parent": "ground", "child": "one"},
            {"name": "b", "type": "revolute", "parent": {"body": "one", "position": [1, 0, 0]}, "child": "two",
             "measured_from": "ground"},
        ],
        forces=[
            {"type": "generalized", "coordinate": "a", "value": "-k*a + s*(b - a) - P*sin(b - a)"},
            {"type": "generalized", "coordinate": "b", "value": "-s*(b - a)"},
        ],
    )  # fmt: skip
    chart = stability_chart(model, ("P", 0.1, 4.0), ("s", 0.5, 2.0), at={"a": 0, "b": 0}, samples=(8, 3))

    def flutter(P: float, s: float) -> float:
        """Discriminant of det(K - w M) = 0 with M = [[3, 1], [1, 1]] and K = [[1 + s - P, P - s], [-s, s]]."""
        a, b, c = 2.0, -((1 + s - P) + 3 * s - (P - s) + s), (1 + s - P) * s + s * (P - s)
        return b * b - 4 * a * c

    for border in chart.borders:
        assert abs(flutter(border.x, border.y)) < 1e-7
    assert len(chart.borders) >= 3


def test_wrong_axes_are_refused_and_results_are_data():
    for x, y, message in (
        (("nope", 0, 1), ("q", 0, 1), 'no parameter "nope"'),
        (("a", 1, 0), ("q", 0, 1), "smaller to a larger"),
        (("a", 0, 1), ("a", 0, 1), "different parameters"),
        ("a", ("q", 0, 1), "is \\(name, low, high\\)"),
    ):
        with pytest.raises(UsageError, match=message):
            floquet_chart(mathieu(), x, y)
    chart = floquet_chart(mathieu(), ("a", 0.0, 2.0), ("q", 0.1, 1.0), samples=3)
    data = json.loads(json.dumps(chart.as_dict()))
    assert data["parameters"] == ["a", "q"]
    assert len(data["borders"]) == len(chart.borders)
    assert "border point" in str(chart)
    assert pendula.plot(chart).axes[0].get_ylabel() == "q"


def test_a_picture_of_a_chart_names_the_mechanism_and_the_unit_of_growth():
    hoop = stability_chart("hoop-bead", ("Omega", 2, 5), ("g", 5, 15), at={"theta": 0}, samples=4)
    figure = pendula.plot(hoop)
    assert figure.get_suptitle() == "bead on a turning hoop: stability over Omega and g"
    assert figure.axes[1].get_ylabel() == "growth rate [1/s]"


def test_a_chart_of_a_motion_that_is_not_periodic_says_what_to_try():
    shaken = pendula.library.driven_chain(links=1, direction="90deg")  # across: the upright pose is no equilibrium
    with pytest.raises(UsageError, match=r"not periodic(.|\n)*Try: a state that is an equilibrium at all times"):
        floquet_chart(shaken, ("omega", 60, 120), ("alpha", 0.03, 0.06), at={"theta1": np.pi}, samples=2)


def test_a_change_of_stability_without_a_vanishing_margin_is_bisected():
    def look(a: float, b: float) -> Look:
        return Look(a < 0.3 + 0.1 * b, "", 0.0, (1.0,))

    axes = ("a", 0.0, 1.0), ("b", 0.0, 1.0)
    chart = draw_chart(look, *axes, (4, 3), how=("never",), what="size", missing="is nothing")
    along = {border.y: border for border in chart.borders if border.along == "a"}
    assert sorted(along) == [0.0, 0.5, 1.0]
    for value, border in along.items():
        assert border.x == pytest.approx(0.3 + 0.1 * value, abs=1e-11)
        assert border.how == "the verdict changes"
        assert border.stable_below


def test_where_a_margin_vanishes_and_stability_stays_nothing_is_refined():
    """Stability is decided by a alone: stable below a = 0.3."""
    seen = []

    def look(a: float, b: float) -> Look:
        seen.append((a, b))
        return Look(a < 0.3, "", a, (a**3 - 0.3**3, b**3 - 0.6**3))

    chart = draw_chart(look, ("a", 0, 1), ("b", 0, 1), (4, 5), how=("one", "two"), what="size", missing="is nothing")
    assert [(border.along, round(border.x, 12)) for border in chart.borders] == [("a", 0.3)] * 5
    assert {b for _, b in seen} == {*chart.y.tolist()}


def test_parameters_that_depend_on_an_axis_follow_it_also_with_other_parameters_changed():
    hoop = pendula.library.hoop_bead()
    hoop = hoop.with_changes(parameters={**hoop.parameters, "half": 1.5, "Omega": "2*half"})
    axes = ("half", 1.0, 2.0), ("g", 5.0, 15.0)
    charts = [stability_chart(hoop, *axes, at={"theta": 0}, samples=3, parameters=p) for p in (None, {"c": 0.1})]
    for chart in charts:
        assert [b.x for b in chart.along("half", 10.0)] == pytest.approx([10**0.5 / 2])  # Omega^2 = g/r
