"""Every question can fail: asked with the right oracle it passes, with one that is wrong by one per cent it does not."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy

import pytest

from tests.crossings import oracle, questions
from tests.crossings.carry import Carried, carried
from tests.crossings.case import Case, Unsuitable, Wrong
from tests.crossings.factors import FACTORS, PLAIN
from tests.crossings.net import ATTEMPTS
from tests.crossings.questions import Ask

ROWS: dict[str, dict[str, str]] = {
    "accelerations": {},
    "energy": {"closure": "loop"},
    "momentum": {},
    "integrals": {"drive": "one"},
    "reactions": {"closure": "loop"},
    "motor forces": {"drive": "several"},
    "trim": {"input": "number"},
    "equilibria": {"input": "number"},
    "linear model": {"input": "feedback"},
    "slopes": {"closure": "loop", "input": "feedback"},
    "sensitivities": {"load": "spring"},
    "events": {},
    "modes": {"input": "number"},
    "responses": {"input": "feedback"},
    "multipliers": {"load": "damper"},
    "python": {"input": "text of time"},
    "sympy": {"input": "cubic series"},
    "c": {"closure": "loop"},
    "fmu": {"input": "number"},
    "live page": {"drive": "one"},
}
"""question: where its row differs from the plainest one"""
MISSING = [question for _, question in questions.available()]


def test_every_question_is_tried() -> None:
    assert {*ROWS} == {*FACTORS["question"]} == {*questions.PLACES}


@pytest.mark.parametrize("question", ROWS)
def test_a_question_passes_and_can_fail(question: str) -> None:
    if question in MISSING:
        pytest.skip("this machine has not what the question needs")
    case, ask, found = _suitable({**PLAIN, **ROWS[question], "question": question})
    _falsify(case, question)
    with pytest.raises(Wrong):
        ask(case, found)


def _suitable(row: dict[str, str]) -> tuple[Case, Ask, Carried]:
    """A case that passes, by the first numbers that suit."""
    for k in range(ATTEMPTS):
        case = Case(row, (11, k))
        ask, found = questions.ask(row["question"]), carried(case)
        with suppress(Unsuitable):
            ask(case, found)
            return case, ask, found
    pytest.fail("no numbers suit")


def _falsify(case: Case, question: str) -> None:
    """Makes what a question compares with wrong by one per cent."""
    if question == "events":
        case.events = {text: (name, 1.01 * a, b, 1.01 * c) for text, (name, a, b, c) in case.events.items()}
    elif question == "fmu":
        case.parameters = {**case.parameters, "m": 1.01 * case.own.values.parameters["m"]}
    elif question == "momentum":  # masses are the oracle's on both sides
        data = deepcopy(case.drawn.data)
        data["bodies"][0]["com"] = [1.01 * x for x in data["bodies"][0]["com"]]
        case.own = oracle.Mechanism(data, case.parameters)
    else:
        wrong = {**case.parameters, "m": 1.01 * case.own.values.parameters["m"]}
        case.own = oracle.Mechanism(case.drawn.data, wrong)


def test_undetermined_forces_must_be_nan_and_others_must_not() -> None:
    case = Case({**PLAIN, "closure": "redundant loop", "question": "reactions"}, (11, 0))
    found: Carried = carried(case)
    questions.ask("reactions")(case, found)
    open_ones = case.own.undetermined(found.moments[found.inside(3)[0]])
    assert any(which.any() for which in open_ones.joints.values())
