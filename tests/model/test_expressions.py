"""The expression language of model files: what it accepts, what it means, how it is written back."""

from __future__ import annotations

import copy
import math
import pickle
import random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pendula.model.expressions.expression import Expression, parse
from pendula.model.expressions.functions import FUNCTIONS
from pendula.model.expressions.nodes import (
    CONSTANTS,
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
    Node,
    Not,
    Number,
    Or,
    Power,
    Subtract,
)
from pendula.model.names import ExpressionError, check_label, check_name
from pendula.model.parameters import ParameterError, evaluate_parameters

# --- Values -----------------------------------------------------------------------------------------------

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


# --- Numbers ----------------------------------------------------------------------------------------------


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


# --- The expression ---------------------------------------------------------------------------------------


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


# --- Round trip over random trees -------------------------------------------------------------------------

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


# --- Limits -----------------------------------------------------------------------------------------------


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


# --- Errors -----------------------------------------------------------------------------------------------


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


# --- Parameters -------------------------------------------------------------------------------------------


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


# --- Names ------------------------------------------------------------------------------------------------

GOOD_NAMES = (
    "m l g k1 theta1 x y0 y1 gamma alpha I E T L1 upper_arm link_10_mass c1 omega a rod_length Jzz K mass_2b "
    "tau dot theta_dots time radius degree pie sine"
)

BAD_NAMES = [
    "",
    " ",
    "1",
    "1a",
    "a b",
    "a-b",
    "a.b",
    "a+b",
    "_a",
    "a_",
    "_",
    "__",
    "a__b",
    "__class__",
    "__import__",
    "a" * 65,
    "a\n",
    "a\x00",
    "\ta",
    "θ",
    "é",
    "ａ",  # fullwidth
    "а",  # Cyrillic
    "a１",  # fullwidth digit
    "x²",
    "a\u200b",
    "a\u202e",
    "lambda",
    "if",
    "None",
    "True",
    "class",
    "import",
    "async",
    "double",
    "int",
    "float",
    "main",
    "void",
    "static",
    "restrict",
    "NULL",
    "size_t",
    "printf",
    "pow",
    "fabs",
    "eval",
    "exec",
    "open",
    "print",
    "np",
    "sin",
    "atan2",
    "sqrt",
    "max",
    "hypot",
    "pi",
    "deg",
    "rad",
    "t",
    "theta_dot",
    "a;b",
    "a'",
    'a"',
    "a\\",
    "a/*",
    "{a}",
    "$a",
    "a,b",
    "a(b)",
]


@pytest.mark.parametrize("name", GOOD_NAMES.split())
def test_good_names_are_accepted(name: str) -> None:
    check_name(name, "parameter")
    assert parse(name).names == {name}


@pytest.mark.parametrize("name", BAD_NAMES)
def test_bad_names_are_refused_with_a_name_to_try(name: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        check_name(name, "joint")
    message = str(caught.value)
    assert message.startswith("joint name ")
    assert message.isascii()
    assert message.isprintable()
    check_name(message.split('Try "')[1].removesuffix('".'), "joint")


@pytest.mark.parametrize(
    ("name", "proposal"),
    [
        ("k 1", "k_1"),
        ("θ1", "theta1"),
        ("Ω", "Omega"),
        ("länge", "lange"),
        ("ａ１", "a1"),
        ("2nd", "n2nd"),
        ("upper-arm", "upper_arm"),
        ("lambda", "lambda1"),
        ("theta_dot", "theta_rate"),
        ("_x_", "x"),
        ("???", "name1"),
    ],
)
def test_proposed_name_is_close(name: str, proposal: str) -> None:
    with pytest.raises(ExpressionError, match=f'Try "{proposal}"'):
        check_name(name, "parameter")


def test_names_of_speeds_are_accepted_on_request() -> None:
    check_name("theta_dot", "speed", allow_dot=True)
    check_name("a" * 64 + "_dot", "speed", allow_dot=True)
    assert parse("a" * 64 + "_dot").names == {"a" * 64 + "_dot"}
    with pytest.raises(ExpressionError):
        check_name("a" * 65 + "_dot", "speed", allow_dot=True)
    with pytest.raises(ExpressionError):
        check_name("lambda", "speed", allow_dot=True)


def test_name_must_be_text() -> None:
    class Text(str):
        pass

    for name in (None, 3, b"a", ["a"], Text("a")):
        with pytest.raises(ExpressionError, match="plain text"):
            check_name(name, "parameter")  # type: ignore[arg-type]
        with pytest.raises(ExpressionError, match="plain text"):
            check_label(name, "body")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "label", ["upper", "upper arm", "arm no. 2", "a-b_c.d", "2nd link", "lambda", "int", "x" * 64, "7", "a."]
)
def test_good_labels_are_accepted(label: str) -> None:
    check_label(label, "body")


@pytest.mark.parametrize(
    "label",
    [
        "",
        " ",
        " a",
        "a ",
        "-a",
        ".",
        "..",
        "../a",
        "a/b",
        "a\\b",
        "a\nb",
        "a\x1b[31m",
        "é",
        "ａ",
        "x" * 65,
        "a<b>",
        'a"',
    ]
    + ["a\x00", "a;b", "a\u202eb", "_", "{a}"],
)
def test_bad_labels_are_refused_with_a_label_to_try(label: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        check_label(label, "body")
    assert str(caught.value).isascii()
    assert str(caught.value).isprintable()
    check_label(str(caught.value).split('Try "')[1].removesuffix('".'), "body")


# --- The module -------------------------------------------------------------------------------------------


def test_constants_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        CONSTANTS["pi"] = 3.0  # type: ignore[index]
    with pytest.raises(TypeError):
        FUNCTIONS["sin"] = math.cos  # type: ignore[index]
