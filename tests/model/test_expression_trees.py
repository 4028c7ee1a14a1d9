"""Expressions of any form: read back from their text, evaluated, and kept within limits."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pendula.model.expressions.expression import Expression, parse
from pendula.model.expressions.functions import FUNCTIONS
from pendula.model.expressions.nodes import (
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_NESTING,
    MAX_NODES,
    Add,
    And,
    Call,
    Compare,
    Conditional,
    Divide,
    Multiply,
    Name,
    Negate,
    Not,
    Number,
    Or,
    Power,
    Subtract,
)
from pendula.model.names import ExpressionError

# --- Round trip over random trees ---------------------------------------------------------------------------

_FREE = ("a", "b", "c", "m1", "theta_dot", "t", "I", "E")


def value_trees() -> st.SearchStrategy[Any]:
    numbers = st.one_of(
        st.integers(-(10**20), 10**20),
        st.integers(0, 12),
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(-10, 10),
    ).map(Number)
    leaves = st.one_of(numbers, st.sampled_from((*_FREE, "pi", "deg", "rad")).map(Name))

    def grow(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        compare = st.builds(Compare, st.sampled_from(("<", "<=", ">", ">=")), values, values)
        several = st.lists(compare | compare.map(Not), min_size=2, max_size=3).map(tuple)
        some = compare | several.map(And) | several.map(Or)
        condition = some | some.map(Not) | st.tuples(some, some).map(And) | st.tuples(some, some).map(Or)
        calls = [
            st.tuples(*[values] * function.least).map(lambda args, name=name: Call(name, args))  # type: ignore[misc]
            for name, function in FUNCTIONS.items()
        ]
        binary = [st.builds(kind, values, values) for kind in (Add, Subtract, Multiply, Divide, Power)]
        conditional = st.builds(Conditional, condition, values, values)
        angle = st.builds(Multiply, numbers, st.sampled_from((Name("deg"), Name("rad"))))
        return st.one_of(st.builds(Negate, values), *binary, *binary, conditional, angle, st.one_of(calls))

    return st.recursive(leaves, grow, max_leaves=25)


def types_of_numbers(expression: Expression) -> list[type]:
    found: list[type] = []
    expression.fold(lambda node, parts: found.append(type(node.value)) if isinstance(node, Number) else None)
    return found


@settings(max_examples=150, deadline=None)
@given(value_trees())
def test_any_tree_is_read_back_from_its_text(root: Any) -> None:
    try:
        expression = Expression.from_node(root)
    except ExpressionError:
        assume(False)  # a constant part without a value, such as 1/0
    again = parse(expression.to_text())
    assert again == expression
    assert again.root == expression.root
    assert again.text == expression.to_text() == again.to_text()
    assert types_of_numbers(again) == types_of_numbers(expression)
    assert again.names <= set(_FREE)


@settings(max_examples=100, deadline=None)
@given(value_trees(), st.lists(st.floats(-5, 5), min_size=len(_FREE), max_size=len(_FREE)))
def test_any_tree_has_a_finite_value_or_says_why_not(root: Any, numbers: list[float]) -> None:
    try:
        value = Expression.from_node(root).evaluate(dict(zip(_FREE, numbers, strict=True)))
    except ExpressionError:
        return
    assert type(value) is float
    assert math.isfinite(value)


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("ab1290.e+-*/()<>=, ifelsnotdrgp"), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    column = None
    try:
        expression = parse(text)
        assert parse(expression.to_text()) == expression
    except ExpressionError as error:
        column = error.column
    assert column is None or 1 <= column <= len(text)


# --- Limits -------------------------------------------------------------------------------------------------


def test_length_limit() -> None:
    assert parse("1".rjust(MAX_LENGTH)).evaluate() == 1.0
    with pytest.raises(ExpressionError, match="2001 characters"):
        parse("1".rjust(MAX_LENGTH + 1))


def test_nesting_limit() -> None:
    assert parse("(" * MAX_NESTING + "x" + ")" * MAX_NESTING) == parse("x")
    assert parse("sin(" * MAX_NESTING + "x" + ")" * MAX_NESTING).evaluate({"x": 0}) == 0.0
    assert parse("-" * MAX_NESTING + "x").evaluate({"x": 3}) == 3.0
    for deeper in ("(" * 61 + "x" + ")" * 61, "sin(" * 61 + "x" + ")" * 61, "-" * 61 + "x"):
        with pytest.raises(ExpressionError, match="60 levels"):
            parse(deeper)


def test_depth_limit_allows_long_sums() -> None:
    assert parse("+".join(["x"] * MAX_DEPTH)).evaluate({"x": 1}) == MAX_DEPTH
    with pytest.raises(ExpressionError, match="200 levels"):
        parse("+".join(["x"] * (MAX_DEPTH + 1)))
    deepest = parse("+".join(["x"] * MAX_DEPTH))
    assert deepest.root == parse(deepest.to_text()).root
    assert hash(deepest.root) == hash(parse(deepest.to_text()).root)
    assert len(repr(deepest.root)) > MAX_DEPTH


def test_node_limit_counts_repeated_parts() -> None:
    # A chained comparison holds its middle part twice: nested chains would double at every level.
    text = "x"
    for _ in range(20):
        text = f"(1 if 0<{text}<1 else 2)"
    with pytest.raises(ExpressionError, match=str(MAX_NODES)):
        parse(text)


@pytest.mark.parametrize("text", ["x**1000", "x**-1000", "2**1000", "2**-1000", "x**(10*10*10)", "x**x**x"])
def test_powers_within_the_limit(text: str) -> None:
    parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9**9**9", "exponent"),
        ("x**1001", "exponent"),
        ("x**-1001", "exponent"),
        ("x**(999 + 2)", "exponent"),
        ("10**400", "too large"),
        ("(10**300)**2", "too large"),
        ("(1 + 1/3**300)**1000", "stored exactly"),
        ("((9**-300)**1000)**1000", "stored exactly"),
        ("1e300*1e300", "too large"),
        ("1/0", "division by zero"),
        ("x + 1/(2 - 2)", "division by zero"),
        ("sqrt(-1)", "sqrt is not defined at -1.0"),
        ("(-8)**(1/3)", "negative number to a fractional power"),
        ("0**-1", "zero to a negative power"),
        ("log(0)", "log is not defined at 0.0"),
        ("exp(1000)", "too large"),
        ("1e400", "too large"),
        ("1e-400", "too small"),
        ("0.000e-999 + 1" + "0" * 301, "302 digits"),
    ],
)
def test_constants_must_be_finite_and_of_moderate_size(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        parse(text)


def test_long_dense_text_can_still_be_written_back() -> None:
    text = "max(" + ",".join(["a+b"] * 498) + ")"
    assert len(text) <= MAX_LENGTH
    expression = parse(text)
    assert parse(expression.to_text()) == expression
