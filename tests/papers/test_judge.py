"""Verdicts follow from the numbers: a changed digit changes the verdict."""

from __future__ import annotations

import pytest

from pendula.papers.judge import chosen, claim, number, numbers, rounds_to, same_equations
from pendula.papers.types import Line

WHY = {"reason": "because", "corrected": "so", "severity": "wrong"}


@pytest.mark.parametrize(
    ("found", "printed", "agrees"),
    [
        (21.4405363, "21.4405", True),
        (21.4405363, "21.4406", False),
        (94.9784365, "94.9786", False),
        (4146878.6, "4.14688e6", True),
        (4146870.0, "4.14688e6", False),
        (-0.91783354, "-0.917835", False),
        (22.5, "22.5", True),
        (300.4, "300", True),
        (300.6, "300", False),
    ],
)
def test_a_value_agrees_to_half_of_the_last_printed_place(found: float, printed: str, agrees: bool) -> None:
    assert rounds_to(found, printed) is agrees


def test_one_wrong_number_of_several_makes_the_line_corrected() -> None:
    line = numbers("table", {"a": ("1.0", 1.02), "b": ("2.0", 2.1)}, unit="m")
    assert line.verdict == "corrected"
    assert line.corrected == "b = 2.1 m"
    assert line.severity == "rounding"
    assert line.evidence["b, computed"] == 2.1
    assert number("table", "a", "1.0", 1.02).verdict == "reproduced"


def test_a_claim_is_what_the_computation_says() -> None:
    assert claim("x", "says", "found", True, evidence={"n": 1}, **WHY).verdict == "reproduced"
    assert claim("x", "says", "found", False, evidence={"n": 1}, **WHY).verdict == "corrected"
    assert chosen("x", "says", "found", data="ours", evidence={"n": 1}).verdict == "not determinable"


def test_lines_without_reason_or_evidence_are_refused() -> None:
    with pytest.raises(ValueError, match='needs "reason"'):
        claim("x", "says", "found", False, evidence={"n": 1})
    with pytest.raises(ValueError, match="numbers behind"):
        Line("x", "says", "found", "reproduced")
    with pytest.raises(ValueError, match="severity"):
        claim("x", "says", "found", False, evidence={"n": 1}, reason="r", corrected="c", severity="bad")


def test_printed_equations_show_a_counterexample() -> None:
    line = same_equations(
        "eq. 1", "a rod", "pendulum", {"equations": ["m*l**2*theta_ddot = -m*g*l/2*sin(theta)"]}, **WHY
    )
    assert line.verdict == "corrected"
    assert "θ'' is" in line.found
    assert "coefficient" not in line.found
    assert line.evidence["theta_ddot, ours"] == pytest.approx(3 * line.evidence["theta_ddot, as printed"])
