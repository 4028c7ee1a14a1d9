"""Names and labels of models: which are accepted, and what is proposed instead of others."""

from __future__ import annotations

import pytest

from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError, check_label, check_name

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
