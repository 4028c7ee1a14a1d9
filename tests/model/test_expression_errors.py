"""Errors in expressions and in parameters: where they are, and what to try."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

from pendula.model.expressions.expression import Expression, parse
from pendula.model.names import ExpressionError
from pendula.model.parameters import ParameterError, evaluate_parameters

# --- Errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("m*l^2", 4, "use ** for powers"),
        ("2x", 2, "operator such as * is missing"),
        ("2 (x)", 3, "operator such as * is missing"),
        ("(x)(y)", 4, "operator such as * is missing"),
        ("x y", 3, "operator such as * is missing"),
        ("x deg", 3, "write x*deg"),
        ("1 + sine(x)", 5, "nearest is sin;"),
        ("atan3(x, y)", 1, "nearest is atan"),
        ("ln(x)", 1, "write log(x)"),
        ("pow(x, 2)", 1, "write x**y"),
        ("arctan2(x, 2)", 1, "write atan2(y, x)"),
        ("log(x, 10)", 1, "log(x)/log(b)"),
        ("x + sin", 5, "write sin(...)"),
        ("pi(2)", 1, "constant, not a function"),
        ("a % b", 3, "floor"),
        ("a // b", 3, "floor(a/b)"),
        ("1 if a == b else 2", 8, "compare with"),
        ("a < b", 1, "a if condition else b"),
        ("a + (b < c)", 6, "a if condition else b"),
        ("1 if a else 2", 6, "must be a comparison"),
        ("1 if a < b and c else 2", 16, "must be a comparison"),
        ("1 if not c else 2", 10, "must be a comparison"),
        ("1 + 2j", 5, "complex"),
        ("0x1f", 1, "decimal"),
        ("007", 1, "write 7"),
        ("a, b", 2, "comma"),
        ("a.b", 2, "dot"),
        ("a[0]", 2, "round brackets"),
        ("(a", 1, 'without ")"'),
        ("a)", 2, 'without "("'),
        ("a +", 3, "invalid syntax"),
        ("   a +* b", 7, ""),
        ("1if a < b else 2", 1, "blank between"),
        ("sin()", 1, "1 argument, found 0"),
        ("atan2(1)", 1, "2 arguments, found 1"),
        ("min(1)", 1, "2 or more arguments, found 1"),
        ("x = 2", 3, "equals sign"),
    ],
)
def test_error_tells_place_and_remedy(text: str, column: int, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, where="joint elbow: stiffness")
    assert str(caught.value).startswith("joint elbow: stiffness: ")
    assert f"column {column}:" in str(caught.value)
    assert words in str(caught.value)
    assert caught.value.column == column
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_error_of_evaluation_names_part_and_values() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("k*sqrt(l**2 - x**2)").evaluate({"k": 1, "l": 1, "x": 2})
    assert '"sqrt(l**2 - x**2)"' in str(caught.value)
    assert "l = 1.0, x = 2.0" in str(caught.value)
    assert "k =" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1/x", {"x": 0}),
        ("x**-1", {"x": 0}),
        ("x**0.5", {"x": -1}),
        ("log(x)", {"x": 0}),
        ("acos(x)", {"x": 1.0000001}),
        ("atanh(x)", {"x": 1}),
        ("exp(x)", {"x": 710}),
        ("x*x", {"x": 1e200}),
        ("x + x", {"x": 1e308}),
        ("x**y", {"x": 9.0, "y": 9.0**9}),
        ("x", {"x": math.nan}),
        ("x", {"x": math.inf}),
        ("x", {"x": 10**400}),
        ("x", {"x": "1"}),
        ("x", {"x": True}),
        ("x", {"x": None}),
        ("x", {"x": 1j}),
        ("x", {"y": 1}),
        ("x", None),
    ],
)
def test_no_value_is_an_error(text: str, values: Any) -> None:
    with pytest.raises(ExpressionError):
        parse(text).evaluate(values)


def test_missing_name_is_named_with_the_nearest() -> None:
    with pytest.raises(
        ExpressionError, match='needs a value for "stiffness", which is missing; did you mean "stifness"'
    ):
        parse("2*stiffness").evaluate({"stifness": 1.0})


# --- Parameters ---------------------------------------------------------------------------------------------


def definitions(**texts: float | str) -> dict[str, Expression]:
    return {name: parse(text) for name, text in texts.items()}


def test_parameters_refer_to_each_other_in_any_order() -> None:
    values = evaluate_parameters(definitions(I="m*l**2/12", m="w/g", l="2*r", g=32.2, w=5, r=1))
    assert values == {"I": 5 / 32.2 * 4 / 12, "m": 5 / 32.2, "l": 2.0, "g": 32.2, "w": 5.0, "r": 1.0}
    assert list(values) == ["I", "m", "l", "g", "w", "r"]


def test_no_parameters() -> None:
    assert evaluate_parameters({}) == {}


def test_long_chain_of_parameters_needs_no_recursion() -> None:
    chain = {f"p{i}": parse(f"p{i + 1} + 1") for i in range(5000)}
    assert evaluate_parameters({**chain, "p5000": parse(0)})["p0"] == 5000.0


def test_all_problems_of_parameters_are_reported_together() -> None:
    with pytest.raises(ParameterError) as caught:
        evaluate_parameters(
            definitions(
                a="b + 1",
                b="c",
                c="a",
                d="d",
                mass=1,
                e="2*masss",
                f="1/(mass - 1)",
                g="f",
                h="sin(t)",
                sin=3,
            )
        )
    problems = dict(caught.value.problems)
    assert set(problems) == {"a", "d", "e", "f", "h", "sin"}
    assert len(caught.value.problems) == 6
    assert "a -> b -> c -> a" in problems["a"]
    assert "d -> d" in problems["d"]
    assert 'did you mean "mass"' in problems["e"]
    assert "division by zero" in problems["f"]
    assert "time" in problems["h"]
    assert "function" in problems["sin"]
    assert isinstance(caught.value, ExpressionError)
    assert all(f'parameter "{name}"' in str(caught.value) for name in problems)
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems


def test_separate_circles_are_both_found() -> None:
    with pytest.raises(ParameterError) as caught:
        evaluate_parameters(definitions(a="b", b="a", c="d", d="c + a", e="c"))
    assert [message.split(": ")[1] for _, message in caught.value.problems] == ["a -> b -> a", "c -> d -> c"]
