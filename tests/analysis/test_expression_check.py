"""Expressions of a model against a second reader: it agrees with the first, and planted errors of that one are found."""

from __future__ import annotations

import json
import math

import pytest
import symengine as se

import pendula
from pendula.analysis.court.expressions import check_expressions
from pendula.analysis.court.second_reader import NoValue, evaluate_text
from pendula.equations import translate
from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError
from pendula.system.loops.sampling import random_states
from tests.analysis.test_true_sentences import masses
from tests.helpers.choices import slow_too
from tests.helpers.mechanisms import VARIANTS
from tests.helpers.random_mechanisms import random_mechanism


def checked(*forces: str) -> pendula.results.Certificate:
    return pendula.check(masses(*forces), formulations=["lagrange", "kane"], states=10)


TEXTS = [
    ("-2**2", -4.0),
    ("2**3**2", 512.0),
    ("90deg**2", (math.pi / 2) ** 2),
    ("-1.5e1 deg + 2 rad", -math.pi / 12 + 2),
    ("a if a < b and not b < 0 else -a", 2.0),
    ("1 if 1 < 2 < 3 or a > 5 else 0", 1.0),
    ("max(a, b, 4) - min(a, b)*atan2(1, -1)", 4 - 1.5 * math.pi),
    ("hypot(3, 4) + floor(-0.5) + ceil(0.5) + sign(-3)", 4.0),
    ("100*(b/3)**400", 100.0),
    ("pi/deg", 180.0),
]


@pytest.mark.parametrize(("text", "value"), TEXTS)
def test_the_second_reader_follows_the_rules_of_the_language(text: str, value: float) -> None:
    names = {"a": 2.0, "b": 3.0}
    assert float(evaluate_text(text, names).x) == pytest.approx(value, rel=1e-14)
    try:
        assert parse(text).evaluate(names) == pytest.approx(value, rel=1e-13)
    except ExpressionError:
        pytest.fail(f"the first reader refuses {text}")


@pytest.mark.parametrize("text", ["1/0", "sqrt(-1)", "log(0)", "acos(2)", "(-8)**(1/3)"])
def test_the_second_reader_knows_what_has_no_value(text: str) -> None:
    with pytest.raises(NoValue):
        evaluate_text(text, {})


def test_rounding_is_no_difference() -> None:
    """Cancellation, conditions next to their switch, and values that no double holds."""
    found = checked("(x0 + 1e8) - 1e8 - x0 + 1e-3*(1 if t < 1 else 2)", "exp(-700 - 50*x1**2) - x1")
    assert found.passed, str(found)
    assert found.expressions.count > 15


def test_a_high_power_that_would_underflow_in_pieces_is_right() -> None:
    assert checked("100*(t/10)**400 - x0").passed


def test_powers_expanded_by_the_reader_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error that five agreeing formulations shared: (t/10)**400 as t**400/10**400, which is 0."""
    monkeypatch.setattr(translate._Symbols, "power", staticmethod(lambda base, exponent: base**exponent))
    found = checked("100*(t/10)**400 - x0")
    assert all(pair.passed for pair in found.pairs)  # all formulations agree on it
    assert not found.passed
    (worst, *_) = found.expressions.differences
    assert worst.place.text == "100*(t/10)**400 - x0"
    assert (worst.place.element, worst.place.field) == ("force 1", "value")
    assert "t = " in worst.state
    assert "DISAGREE" in str(found.expressions)


WRONG = {"atan2": lambda y, x: se.atan2(x, y), "max": lambda *args: args[0], "tanh": se.sinh, "log": se.asinh}


@pytest.mark.parametrize("function", slow_too(["atan2"], ["max", "tanh", "log"]))
def test_wrong_functions_are_caught(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"atan2": "atan2(1 + x0**2, 2)", "max": "max(x0, 2 - x0)", "tanh": "tanh(1 + x0)", "log": "log(2 + x0**2)"}
    assert checked(f"{texts[function]} - 3*x0").passed
    monkeypatch.setitem(translate.SYMBOLIC._entries, function, WRONG[function])
    found = checked(f"{texts[function]} - 3*x0")
    assert all(pair.passed for pair in found.pairs)
    assert next(one.place.element for one in found.expressions.differences) == "force 1"


def test_wrong_parameters_and_motions_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pendula.library.driven_chain(links=1)
    assert pendula.check(model, formulations=["lagrange", "kane"], states=5).expressions.passed
    monkeypatch.setitem(translate.SYMBOLIC._entries, "cos", se.sin)
    found = pendula.check(model, formulations=["lagrange", "kane"], states=5).expressions
    assert found.differences
    assert any("motion" in one.place.field or "position" in one.place.field for one in found.differences), str(found)


@pytest.mark.parametrize("name", slow_too(["hoop-bead"], ["pendulum", "driven-linkage", "heavy-top"]))
def test_library_mechanisms_pass(name: str) -> None:
    found = pendula.check(VARIANTS[name](), formulations=["lagrange", "kane"], states=10).expressions
    assert found.passed, str(found)
    assert not found.skipped


@pytest.mark.parametrize("seed", slow_too([3], range(40)))
def test_random_mechanisms_pass(seed: int) -> None:
    joints = pendula.compile_system(random_mechanism(seed), "kane").in_joints.system
    found = check_expressions(joints, *random_states(joints, 8))
    assert found.passed, str(found)


def test_the_command_names_the_expression(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    from pendula.model.files import save
    from tests.app.conftest import run_command

    path = tmp_path / "mine.toml"
    save(masses("100*(t/10)**400 - x0"), path)
    assert run_command("check", str(path), "--states", "5").code == 0
    monkeypatch.setattr(translate._Symbols, "power", staticmethod(lambda base, exponent: base**exponent))
    said = run_command("check", str(path), "--states", "5", "--json")
    assert said.code == 1
    data = json.loads(said.out)["expressions"]
    assert not data["passed"]
    assert data["differences"][0]["text"] == "100*(t/10)**400 - x0"


def test_a_parameter_at_the_edge_of_a_function_is_left_out_and_named() -> None:
    """acos(min(1, a)) with a > 1: rounding decides whether it has a value, so there is nothing to compare."""
    model = pendula.library.pendulum()
    model = model.with_changes(parameters={**model.parameters, "edge": "acos(min(1, 2*l))", "twice": "2*edge"})
    found = pendula.check(model, states=3).expressions
    assert found.passed
    assert {place.element for place in found.skipped} == {'parameter "edge"', 'parameter "twice"'}
