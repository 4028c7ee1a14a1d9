"""The expression language of model files: what it accepts, what it means, how it is written back."""

from __future__ import annotations

import copy
import math
import pickle
import random
from typing import Any

import pytest

from pendula.model.expressions.expression import Expression, parse
from pendula.model.expressions.functions import FUNCTIONS
from pendula.model.expressions.nodes import (
    CONSTANTS,
    MAX_NODES,
    Add,
    And,
    Call,
    Compare,
    Conditional,
    Multiply,
    Name,
    Node,
    Not,
    Number,
    Or,
)
from pendula.model.names import ExpressionError

# --- Values -------------------------------------------------------------------------------------------------

VALUES = {"a": 0.7, "b": -1.3, "c": 2.5, "m": 5.0, "l": 2.0, "w": 3.0, "t": 0.4, "x": 1.25, "theta_dot": 0.1}

# Each text is also legal Python: Python's own arithmetic is the reference.
TEXTS = [
    "0",
    "42",
    "1.5",
    ".5",
    "5.",
    "1e3",
    "1E-3",
    "2.5e+2",
    "1_000_000",
    "1_0.0_1",
    "5/32.2",
    "m*l**2/12",
    "a + b + c",
    "a - b - c",
    "a - (b - c)",
    "a/c/m",
    "a/(c/m)",
    "a*b/c*m",
    "-2**2",
    "(-2)**2",
    "2**-1",
    "2**-c",
    "2**3**2",
    "(2**3)**2",
    "-a**2",
    "-(a + b)*c",
    "--a",
    "---a",
    "+a",
    "-+-a",
    "a*-b",
    "a - -b",
    "a + +b",
    "a**-b**2",
    "2*-3",
    "10 - 2*3 + 4/2",
    "sin(a)",
    "cos(a)*sin(b) - tan(c)",
    "asin(a) + acos(a) + atan(b)",
    "atan2(b, a)",
    "atan2(-a, b)",
    "sinh(a) + cosh(b) + tanh(c)",
    "asinh(b) + acosh(c) + atanh(a)",
    "exp(-a)*log(c)",
    "sqrt(l**2 - x**2)",
    "abs(b)",
    "sign(b) + sign(0) + sign(a)",
    "min(a, b)",
    "max(a, b, c, m)",
    "floor(b) + ceil(b)",
    "hypot(a, b)",
    "log(exp(2))",
    "  a  +  b ",
    "( ( a ) )",
    "sin ( a )",
    "pi",
    "2*pi*a",
    "a*cos(w*t) if t < pi/w else -a",
    "a if b < c else m",
    "a if b > c else m",
    "a if l <= 2 else m",
    "a if l >= 2 else m",
    "a if l < 2 else m",
    "a if l > 2 else m",
    "1 if a < c < m else 2",
    "1 if a < c > b else 2",
    "1 if a < b < 1/c else 2",
    "1 if a < b and b < c else 2",
    "1 if a < b or b < c else 2",
    "1 if not a < b else 2",
    "1 if not a < b and not b > c or m < l else 2",
    "1 if a < b and (b < c or m < l) else 2",
    "1 if (a < b or b < c) and l < m else 2",
    "1 if not (a < b or b < c) else 2",
    "1 if a < b else 2 if b < a else 3",
    "(1 if a < b else 2) + 3",
    "1 if a < b else 2 + 3",
    "(1 if a < b else 2) if b < a else 3",
    "1 if (2 if a < b else 3) < 4 else 5",
    "sin(a if a < b else b)",
    "theta_dot**2",
    "1 if a<b else 2",
    "a if x<2 else b",
]


def reference(text: str) -> float:
    """Value of a trusted text by Python itself."""
    scope = {name: getattr(math, name, None) for name in FUNCTIONS}
    scope |= {"abs": abs, "min": min, "max": max, "sign": lambda x: (x > 0) - (x < 0), "pi": math.pi}
    return float(eval(text.strip(), {"__builtins__": {}}, scope | VALUES))


@pytest.mark.parametrize("text", TEXTS)
def test_value_is_that_of_python(text: str) -> None:
    assert parse(text).evaluate(VALUES) == reference(text)


@pytest.mark.parametrize("text", TEXTS)
def test_canonical_text_means_the_same(text: str) -> None:
    expression = parse(text)
    again = parse(expression.to_text())
    assert again == expression
    assert again.to_text() == expression.to_text()
    assert again.evaluate(VALUES) == expression.evaluate(VALUES)
    assert str(expression) == text


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_agrees_with_math(name: str) -> None:
    arguments = (1.25, 0.5)[: FUNCTIONS[name].least] if name != "atanh" else (0.5,)
    arguments = (0.5,) if name in ("asin", "acos") else arguments
    text = f"{name}({', '.join(map(repr, arguments))})"
    assert parse(text).evaluate() == reference(text)


def test_function_table_names_the_functions_of_the_language() -> None:
    listed = "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log sqrt abs sign min max"
    assert set(FUNCTIONS) == {*listed.split(), "floor", "ceil", "hypot", "erf"}


@pytest.mark.parametrize(
    ("text", "degrees"),
    [
        ("90deg", 90),
        ("90 deg", 90),
        ("90*deg", 90),
        ("1.5e1 deg", 15),
        ("1.5e1deg", 15),
        (".5deg", 0.5),
        ("-90deg", -90),
        ("90deg + 30deg", 120),
        ("2*45deg", 90),
        ("180deg/2", 90),
        ("1_80deg", 180),
        ("(90deg)", 90),
        ("max(10deg, 20deg)", 20),
        ("10deg if 1deg < 1rad else 20deg", 10),
    ],
)
def test_degrees(text: str, degrees: float) -> None:
    assert parse(text).evaluate() == pytest.approx(math.radians(degrees), rel=1e-15)


def test_right_angle_is_exactly_half_pi() -> None:
    assert parse("90deg").evaluate() == math.pi / 2
    assert parse("180deg").evaluate() == math.pi
    assert parse("1.5 rad").evaluate() == 1.5


def test_angle_binds_like_one_number() -> None:
    assert parse("90deg**2").evaluate() == pytest.approx((math.pi / 2) ** 2, rel=1e-15)
    assert parse("90*deg**2").evaluate() == pytest.approx(90 * (math.pi / 180) ** 2, rel=1e-15)
    assert parse("-90deg**2").evaluate() == pytest.approx(-((math.pi / 2) ** 2), rel=1e-15)
    assert parse("1/2deg").evaluate() == pytest.approx(1 / math.radians(2), rel=1e-15)
    assert parse("2**180deg").evaluate() == pytest.approx(2**math.pi, rel=1e-15)
    assert parse("90deg").root == Multiply(Number(90), Name("deg"))
    assert parse("90deg**2").to_text() == "90deg**2"


def test_only_the_chosen_branch_needs_a_value() -> None:
    guarded = parse("x/y if y > 0 else 0")
    assert guarded.evaluate({"x": 1, "y": 0}) == 0.0
    assert guarded.evaluate({"x": 1, "y": 2}) == 0.5
    assert parse("1 if y > 0 and x/y > 1 else 2").evaluate({"x": 1, "y": 0}) == 2.0
    assert parse("1 if y <= 0 or x/y > 1 else 2").evaluate({"x": 1, "y": 0}) == 1.0
    with pytest.raises(ExpressionError, match="division by zero"):
        parse("1 if x/y > 1 and y > 0 else 2").evaluate({"x": 1, "y": 0})


def test_random_arithmetic_agrees_with_python() -> None:
    random_ = random.Random(7)

    def text(depth: int) -> str:
        if depth == 0:
            return random_.choice(["a", "b", "c", "2", "3.5", "(-1)", "-c", "pi"])
        left, right = text(depth - 1), text(random_.randrange(depth))
        shapes = ["{0} + {1}", "{0} - {1}", "{0}*{1}", "({0})*({1})", "-({0})", "({0} if {1} < a else {1})"]
        return random_.choice([*shapes, "sin({0})", "({0}) - ({1})", "max({0}, {1})"]).format(left, right)

    for _ in range(200):
        trial = text(5)
        assert parse(trial).evaluate(VALUES) == reference(trial)


# --- Numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, 1, -5, 10**300, 2.5, -1e-300, 1e308, 0.1])
def test_numbers_pass_through(value: float) -> None:
    expression = parse(value)
    assert expression.is_number
    assert expression.is_constant
    assert expression.root == Number(value)
    assert type(expression.root.value) is type(value)  # type: ignore[union-attr]
    assert expression.evaluate() == float(value)
    assert parse(str(expression)) == expression


def test_integers_stay_exact() -> None:
    assert parse("123456789012345678901").root == Number(123456789012345678901)
    assert type(parse("3").root.value) is int  # type: ignore[union-attr]
    assert type(parse("3.0").root.value) is float  # type: ignore[union-attr]
    assert parse("-3").root == Number(-3)


@pytest.mark.parametrize("value", [True, False, math.nan, math.inf, -math.inf, 10**301, -(10**301), None, 1j, b"1"])
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(ExpressionError):
        parse(value)
    with pytest.raises(ExpressionError):
        parse([value])  # type: ignore[arg-type]


def test_huge_integer_is_refused_without_printing_it() -> None:
    with pytest.raises(ExpressionError, match="5001 digits"):
        parse(10**5000)


def test_subclasses_of_numbers_become_plain_numbers() -> None:
    class Loud(float):
        def __repr__(self) -> str:
            return "__import__('os')"

        def __float__(self) -> float:
            raise AssertionError

    expression = parse(Loud(2.5))
    assert type(expression.root.value) is float  # type: ignore[union-attr]
    assert str(expression) == "2.5"


# --- The expression -----------------------------------------------------------------------------------------


def test_names_are_the_free_names() -> None:
    assert parse("m*l**2*pi + sin(30deg) - 2 rad").names == {"m", "l"}
    assert parse("a if b < c and not d > e else f").names == set("abcdef")
    assert parse("5/2").names == frozenset()
    assert parse("5/2").is_constant
    assert not parse("5/2").is_number


def test_expressions_are_equal_when_their_trees_are() -> None:
    assert parse("a*b+c") == parse(" (a * b) + c ")
    assert hash(parse("a*b+c")) == hash(parse(" (a * b) + c "))
    assert parse("a*b") != parse("b*a")
    assert parse("a + (b + c)") != parse("a + b + c")
    assert parse("90deg") == parse("90*deg")
    assert parse("a") != "a"
    assert parse("min(a, b, c)") != parse("min(a, min(b, c))")


def test_expression_is_frozen() -> None:
    with pytest.raises(AttributeError):
        parse("a").text = "b"  # type: ignore[misc]


def test_parsing_an_expression_gives_it_back() -> None:
    expression = parse("a + 1")
    assert parse(expression) is expression  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["a + b", "-3", "90deg**2", "1 if a < b < c else 2", "+".join("x" * 190)])
def test_expression_survives_pickle_and_copy(text: str) -> None:
    expression = parse(text)
    for other in (pickle.loads(pickle.dumps(expression)), copy.deepcopy(expression)):
        assert other == expression
        assert other.text == text


def test_canonical_text_has_no_needless_brackets() -> None:
    for text, canonical in {
        "((a))": "a",
        "(a*b)+(c)": "a*b + c",
        "a+(b+c)": "a + (b + c)",
        "(a+b)+c": "a + b + c",
        "(a*b)*c": "a*b*c",
        "(a**b)**c": "(a**b)**c",
        "a**(b**c)": "a**b**c",
        "-(a*b)": "-(a*b)",
        "(-a)*b": "-a*b",
        "-(a**2)": "-a**2",
        "(-a)**2": "(-a)**2",
        "a**(-b)": "a**-b",
        "(-2)**2": "(-2)**2",
        "atan2( a,b )": "atan2(a, b)",
        "(1) if (a<b) else (2)": "1 if a < b else 2",
        "1 if a<b<c else 2": "1 if a < b and b < c else 2",
        "1 if (a<b and b<c) and c<d else 2": "1 if a < b and b < c and c < d else 2",
        "1 if not (a<b) else 2": "1 if not a < b else 2",
        "90*deg": "90deg",
        "(90*deg)**2": "90deg**2",
        "1e3": "1000.0",
    }.items():
        assert parse(text).to_text() == canonical


def test_fold_translates_from_the_leaves_up() -> None:
    def prefix(node: Node, parts: tuple[str, ...]) -> str:
        if isinstance(node, Number):
            return str(node.value)
        if isinstance(node, Name):
            return node.id
        head = node.function if isinstance(node, Call) else node.op if isinstance(node, Compare) else ""
        return f"({' '.join((head or type(node).__name__.lower(), *parts))})"

    text = parse("a*sin(b, ) - 2 if a < 1 or not b > 2 else -a**2").fold(prefix)
    assert text == "(conditional (or (< a 1) (not (> b 2))) (subtract (multiply a (sin b)) 2) (negate (power a 2)))"


def test_substitute_replaces_all_names_at_once() -> None:
    expression = parse("a*b + sin(a)").substitute({"a": parse("b + 1"), "b": parse("a"), "unused": parse(1)})
    assert expression == parse("(b + 1)*a + sin(b + 1)")
    assert str(expression) == "(b + 1)*a + sin(b + 1)"
    assert parse("-a").substitute({"a": parse(5)}) == parse("-5")
    assert parse("-a").substitute({"a": parse(-5)}) == parse("5")
    assert parse("a**2").substitute({"a": parse("-2")}).evaluate() == 4.0
    with pytest.raises(ExpressionError, match="constant"):
        parse("a").substitute({"pi": parse(3)})


def test_substitution_is_held_to_the_limits() -> None:
    doubled = parse("x + x")
    for _ in range(7):
        doubled = doubled.substitute({"x": parse("x + x")})
    with pytest.raises(ExpressionError, match=str(MAX_NODES)):
        doubled.substitute({"x": doubled})
    with pytest.raises(ExpressionError, match="too large"):
        parse("x**1000").substitute({"x": parse("10**300")})
    with pytest.raises(ExpressionError, match="division by zero"):
        parse("1/x").substitute({"x": parse(0)})


@pytest.mark.parametrize(
    "root",
    [
        Name("__import__"),
        Name("sin"),
        Name("a b"),
        Name("lambda"),
        Name(""),
        Name(3),  # type: ignore[arg-type]
        Number(math.nan),
        Number(True),
        Number("1"),  # type: ignore[arg-type]
        Number(10**301),
        Call("eval", (Number(1),)),
        Call("sin", ()),
        Compare("<", Name("a"), Name("b")),
        Add(Name("a"), Compare("<", Name("a"), Name("b"))),  # type: ignore[arg-type]
        Conditional(Name("a"), Name("a"), Name("b")),  # type: ignore[arg-type]
        Conditional(Compare("==", Name("a"), Name("b")), Name("a"), Name("b")),
        Conditional(And((Compare("<", Name("a"), Name("b")),)), Name("a"), Name("b")),
        Conditional(Or(()), Name("a"), Name("b")),
        Conditional(Not(Name("a")), Name("a"), Name("b")),  # type: ignore[arg-type]
        "a",
        None,
        Add("a", "b"),  # type: ignore[arg-type]
    ],
)
def test_trees_built_in_code_are_checked_too(root: Any) -> None:
    with pytest.raises(ExpressionError):
        Expression.from_node(root)


def test_text_of_an_expression_must_be_text() -> None:
    with pytest.raises(ExpressionError):
        Expression(5, Name("a"))  # type: ignore[arg-type]


# --- The module ---------------------------------------------------------------------------------------------


def test_constants_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        CONSTANTS["pi"] = 3.0  # type: ignore[index]
    with pytest.raises(TypeError):
        FUNCTIONS["sin"] = math.cos  # type: ignore[index]
