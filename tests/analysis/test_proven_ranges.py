"""Verdicts proven over a parameter: nothing between the samples, windows about critical values, honest failures."""

from __future__ import annotations

import json

import pytest

import pendula
from pendula.errors import UsageError
from tests.analysis.test_windows import mass, verdicts

SECONDS = 60.0
"""more than any of these needs on a loaded machine; a result must not depend on it"""


def proven(model: pendula.Model, low: float, high: float, **options) -> pendula.results.StabilityRanges:
    return pendula.linear.stability_over(model, "p", low, high, prove=SECONDS, samples=12, **options)


def test_a_border_at_zero_is_zero():
    """A rod on a cart with a spring of stiffness k: unstable below zero, and free to drift at zero exactly."""
    rail = {"name": "x", "type": "prismatic", "axis": [1, 0], "parent": "ground", "child": "cart"}
    pin = {"name": "theta", "type": "revolute", "parent": "cart", "child": {"body": "rod", "at": "top"}}
    model = pendula.Model(
        name="trolley",
        gravity=[0, -9.81],
        parameters={"k": 30.0},
        bodies=[{"name": "cart", "mass": 2.0}, {"name": "rod", "rod": {"mass": 1.0, "length": 0.8}}],
        joints=[rail, pin],
        forces=[{"type": "spring", "joint": "x", "stiffness": "k"}],
    )
    found = pendula.linear.stability_over(model, "k", -50.0, 50.0, at={"theta": 0.0}, samples=50)
    assert [one.value for one in found.critical] == [0.0]


@pytest.mark.slow
def test_a_narrow_window_is_proven_with_its_ends() -> None:
    """K = (p - 1)(p - 1.01): unstable between 1 and 1.01, and nowhere else from 0 to 10."""
    found = proven(mass("-(p - 1)*(p - 1.01)*x"), 0, 10)
    assert (found.certainty, verdicts(found)) == ("proven", ["stable", "unstable", "stable"])
    assert len(found.windows) == 2
    for (low, high), true in zip(found.windows, (1.0, 1.01), strict=True):
        assert low <= true <= high
        assert high - low < 1e-7
    assert "proven: interval arithmetic" in " ".join(str(found).split())


def test_a_stiffness_that_touches_zero_is_undecided_there() -> None:
    found = proven(mass("-(p - 1)**2*x"), 0, 10)
    assert (found.certainty, verdicts(found)) == ("undecided", ["stable", "stable"])
    ((low, high),) = found.windows
    assert low <= 1.0 <= high
    assert high - low < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("least", "certainty"), [(1e-7, "proven"), (0.5, "proven")])
def test_a_stiffness_that_stays_positive_is_proven(least: float, certainty: str) -> None:
    found = proven(mass(f"-((p - 1)**2 + {least})*x"), 0, 10)
    assert (found.certainty, verdicts(found), found.windows) == (certainty, ["stable"], ())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("forces", "at", "span", "expected", "certainty"),
    [
        (("p*x - x**3 - x_dot",), {"x": 0.0}, (-1, 1), ["asymptotically stable", "unstable"], "proven"),
        # the outer branch sqrt(-p) is followed up to x = 0, which it meets and which is followed from there on
        (("-p*x - x**3 - x_dot",), {"x": 1.0}, (-1, 1), ["asymptotically stable"] * 2, "undecided"),
        (("-x - (p - 3)*x_dot",), {}, (1, 5), ["unstable", "asymptotically stable"], "proven"),
        (("1 - p*x - x_dot",), {"x": 1.0}, (1, 4), ["asymptotically stable"], "proven"),  # x = 1/p moves
        (("-x - 0.2*x_dot - p*y", "-y - 0.2*y_dot + p*x"), {}, (0, 1), ["asymptotically stable", "unstable"], "proven"),
    ],
)
def test_normal_forms(forces, at, span, expected, certainty) -> None:
    found = proven(mass(*forces, p=span[0]), *span, at=at)
    assert (found.certainty, verdicts(found)) == (certainty, expected)
    for edge in found.critical:
        assert any(low <= edge.value <= high for low, high in found.windows)


@pytest.mark.slow
def test_dependent_parameters_follow() -> None:
    """k = 4 - p^2 is a parameter of the model: the proof follows it, and finds k = 0 at p = 2."""
    force = {"type": "generalized", "coordinate": "x", "value": "-k*x - x_dot"}
    model = mass("-x").with_changes(parameters={"p": 0.0, "k": "4 - p**2"}, forces=[force])
    found = proven(model, 0, 3)
    assert (found.certainty, verdicts(found)) == ("proven", ["asymptotically stable", "unstable"])
    assert found.windows[0][0] <= 2.0 <= found.windows[0][1]


@pytest.mark.slow
def test_what_cannot_be_proven_is_indicated_and_says_why() -> None:
    gyroscopic = proven(mass("x + p*y_dot", "y - p*x_dot"), 3, 4)
    assert gyroscopic.certainty == "indicated"
    assert "no strict inequality" in gyroscopic.grounds
    kinked = proven(mass("-p*x - 0.1*abs(x)*x_dot - x_dot"), 1, 2)
    assert kinked.certainty == "indicated"
    five = pendula.linear.stability_over(
        pendula.library.chain(links=5, friction=0.1), "g", 9, 10, at={}, samples=2, prove=1
    )
    assert five.certainty == "indicated"
    assert "4 speeds" in five.grounds
    with pytest.raises(UsageError, match="positive number of seconds"):
        pendula.linear.stability_over("pendulum", "g", 9, 10, at={}, samples=2, prove=-1)


@pytest.mark.slow
def test_energy_input_that_the_parameter_switches_on_is_not_called_stable() -> None:
    """The damping coefficient is the parameter: structure alone does not bound it from below."""
    friction = {"type": "friction", "joint": "x", "coefficient": "p"}
    model = mass("-x")
    found = proven(model.with_changes(forces=[*model.forces, friction]), -1, 1)
    assert verdicts(found) == ["unstable", "asymptotically stable"]
    assert found.certainty == "proven"  # by eigenvalues, on either side of zero


@pytest.mark.slow
# -- closed loops --------------------------------------------------------------------------------------------------


def four_bar_with(value: str, **parameters: object) -> pendula.Model:
    model = pendula.library.four_bar()
    force = {"type": "generalized", "coordinate": "crank", "value": value}
    return model.with_changes(parameters={**model.parameters, **parameters}, forces=[*model.forces, force])


def test_a_loop_loses_its_stability_where_its_potential_does() -> None:
    """A parallelogram that hangs, with a torque p crank: V = -(m_a/2 + m_b + m_c/2) a g cos(crank) - p crank^2/2."""
    a, d, g = 0.9, 1.5, 9.81
    masses = {"crank": 1.1, "coupler": 0.7, "rocker": 1.4}

    def pin(body: str, parent: object) -> dict[str, object]:
        return {"name": body, "type": "revolute", "parent": parent, "child": body, "measured_from": "ground"}

    close = {"parent": {"body": "coupler", "at": "tip"}, "child": {"body": "rocker", "at": "tip"}}
    model = pendula.Model(
        name="parallelogram",
        gravity=[0, -g, 0],
        parameters={"p": 0.0},
        bodies=[{"name": n, "rod": {"mass": m, "length": d if n == "coupler" else a}} for n, m in masses.items()],
        joints=[
            pin("crank", "ground"),
            pin("coupler", {"body": "crank", "at": "tip"}),
            pin("rocker", {"body": "ground", "position": [d, 0, 0]}),
            {"name": "close", "type": "coincident", **close},
        ],
        forces=[{"type": "generalized", "coordinate": "crank", "value": "p*crank"}],
        initial={"coupler": "90deg"},
    )
    critical = (masses["crank"] / 2 + masses["coupler"] + masses["rocker"] / 2) * a * g
    found = proven(model, -5, 40)
    assert (found.certainty, verdicts(found)) == ("proven", ["stable", "unstable"])
    ((low, high),) = found.windows
    assert low <= critical <= high
    assert high - low < 1e-5


def test_damping_of_a_loop_that_changes_its_sign_is_proven() -> None:
    found = proven(four_bar_with("-(p - 1)*crank_dot", p=0.0), 0, 3)
    assert (found.certainty, verdicts(found)) == ("proven", ["unstable", "asymptotically stable"])
    ((low, high),) = found.windows
    assert low <= 1.0 <= high
    assert high - low < 1e-7


def test_lengths_of_a_loop_are_proven_and_without_a_proof_the_width_is_named() -> None:
    model = pendula.library.four_bar()
    found = pendula.linear.stability_over(model, "a", 0.8, 1.2, prove=SECONDS, samples=12)
    assert (found.certainty, found.windows) == ("proven", ())
    without = pendula.linear.stability_over(model, "a", 0.8, 1.2, samples=12)
    assert without.certainty == "indicated"
    assert "no range wider than" in str(without)


def test_the_command_proves() -> None:
    from tests.app.conftest import run_command

    said = run_command("stability", "hoop-bead", "--over", "Omega=1:5", "--at", "theta=0", "--samples", "10", "--prove",
                       "60", "--json")  # fmt: skip
    data = json.loads(said.out)
    assert data["certainty"] == "proven"
    assert data["windows"][0][0] <= data["critical"][0]["value"] <= data["windows"][0][1]
    assert run_command("stability", "hoop-bead", "--prove", "5").code == 2
