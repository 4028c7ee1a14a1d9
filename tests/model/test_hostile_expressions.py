"""Model files may come from strangers: no text may run code, touch the machine, or take long."""

from __future__ import annotations

import math
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError, check_label, check_name
from pendula.model.parameters import evaluate_parameters

TIME_LIMIT = 1.0
"""Seconds within which anything must be refused; usually it takes far below a millisecond."""

# --- Recorder of what the interpreter is asked to do ------------------------------------------------------
# An audit hook cannot be removed again, so one is installed once and only records while a test asks for it.

_events: list[tuple[str, tuple[Any, ...]]] = []
_recorded_thread: list[int] = []


def _record(event: str, arguments: tuple[Any, ...]) -> None:
    if _recorded_thread and _recorded_thread[0] == threading.get_ident():
        _events.append((event, arguments))


sys.addaudithook(_record)


@contextmanager
def recording() -> Iterator[list[tuple[str, tuple[Any, ...]]]]:
    """The audit events of the block: imports, files, processes, sockets, compiled and executed code."""
    _events.clear()
    _recorded_thread.append(threading.get_ident())
    try:
        yield _events
    finally:
        _recorded_thread.clear()


def forbidden(events: list[tuple[str, tuple[Any, ...]]]) -> list[tuple[str, tuple[Any, ...]]]:
    """Events other than the one of reading a syntax tree.

    ``ast.parse`` itself raises "compile", although it makes no code object. It is recognized by the made-up
    file name under which expressions are read. Running anything would need an "exec" event, which is never
    allowed, and nothing else is either.
    """
    return [
        (event, arguments) for event, arguments in events if not (event == "compile" and arguments[1] == "<expression>")
    ]


def test_recorder_sees_what_it_should() -> None:
    with recording() as events:
        compile("1 + 1", "<elsewhere>", "eval")
        eval("1")
        with pytest.raises(FileNotFoundError), open("/nonexistent/file"):
            pass
        parse("a + 7919")
    seen = {event for event, _ in events}
    assert {"compile", "exec", "open"} <= seen
    assert ("compile", "<elsewhere>") in [(event, arguments[1]) for event, arguments in forbidden(events)[:1]]
    assert len([1 for event, _ in events if event == "compile"]) > len(
        [1 for event, _ in forbidden(events) if event == "compile"]
    )


# --- Hostile texts ----------------------------------------------------------------------------------------


class LyingText(str):
    """Text that pretends to be harmless and would run code from its methods."""

    def _strike(self, *_: object, **__: object) -> Any:
        raise AssertionError("a method of the hostile text was called")

    __len__ = __iter__ = __contains__ = __getitem__ = __eq__ = __str__ = __format__ = _strike  # type: ignore[assignment]
    encode = strip = isascii = startswith = replace = split = _strike  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class LyingClass:
    """An object that pretends to be text."""

    @property
    def __class__(self) -> Any:
        return str

    def __str__(self) -> str:
        return "1"


class LyingNumber:
    """An object that pretends to be a number."""

    @property
    def __class__(self) -> Any:
        return float

    def __float__(self) -> float:
        return 1.0

    def __index__(self) -> int:
        return 1


RUNNING_CODE = [
    "__import__('os').system('true')",
    "__import__",
    "__builtins__",
    "import os",
    "from os import system",
    "eval('1')",
    "eval(x)",
    "exec(x)",
    "open(x)",
    "open('/etc/passwd')",
    "compile(x, y, z)",
    "getattr(x, y)",
    "globals()",
    "locals()",
    "vars()",
    "input()",
    "print(1)",
    "breakpoint()",
    "exit()",
    "type(x)",
    "().__class__",
    "().__class__.__bases__[0].__subclasses__()",
    "(1).__class__",
    "x.__class__.__mro__",
    "x.real",
    "1 .real",
    "1..real",
    "1.0.hex()",
    "sin.__globals__",
    "math.sin(1)",
    "os.system",
    "x[0]",
    "x[()]",
    "[1]",
    "[].append",
    "{}",
    "{1: 2}",
    "{1}",
    "[x for x in y]",
    "sum(x for x in range(9))",
    "[[[0 for a in b] for c in d] for e in f]",
    "(x for x in x)",
    "{x: y for x in z}",
    "max(x for y in z)",
    "(x := 5)",
    "x := 5",
    "max(x := 5, 1)",
    "lambda: 0",
    "lambda x: x",
    "(lambda: 0)()",
    "(sin)(x)(y)",
    "sin(x)(y)",
    "sin(cos)(x)",
    "sin(x=1)",
    "max(*x)",
    "max(**x)",
    "max(*(1, 2))",
    "*x",
    "**x",
    "yield x",
    "(yield)",
    "await x",
    "async",
    "x = 5",
    "del x",
    "assert x",
    "raise x",
    "return x",
    "pass",
    "global x",
    "while 1: pass",
    "def f(): pass",
    "class A: pass",
    "1; 2",
    "1;",
    "x # comment",
    "#",
    "@x",
    "x @ y",
    "x if y",
    "x in y",
    "x not in y",
    "x is y",
    "1 if x is y else 2",
    "1 if x in y else 2",
    "1 if x == y else 2",
    "1 if x != y else 2",
    "1 if x <> y else 2",
    "1 if x else 2",
    "1 if True else 2",
    "True",
    "None",
    "...",
    "Ellipsis()",
    "NotImplemented()",
]

TEXT_TRICKS = [
    "'a'",
    '"a"',
    "''",
    "b'a'",
    "r'a'",
    "u'a'",
    "f'a'",
    "f'{x}'",
    "f'{__import__(\"os\")}'",
    '"""a"""',
    "'a' * 1000000000",
    "'%s' % x",
    "'{0.__class__}'.format(x)",
    "`x`",
    "x\\\n+y",
    "x \\",
    "\\x41",
    "\\u0041",
    "x\ny",
    "x\n",
    "\nx",
    "x\r",
    "x\t",
    "\tx",
    "\fx",
    "\vx",
    "x\x00",
    "\x00",
    "x\x00+1",
    "x\x1b[31m",
    "x\x7f",
    "x\x85",
    "x\u2028y",
    "x\ufeff",
    "\ufeffx",
    "x\xa0+ y",
    "x\u200b",
    "\u202ex",
    "ｘ",  # fullwidth letter
    "１",  # fullwidth digit
    "1２",
    "x＋y",
    "（x）",
    "ｅｖａｌ(x)",
    "𝐱",  # mathematical bold
    "а + b",  # Cyrillic a
    "ѕin(x)",  # Cyrillic s
    "θ",
    "µ",
    "²",
    "x²",
    "½",
    "٣",  # Arabic digit
    "π",
    "∞",
    "x − y",  # minus sign
    "x × y",
    "é",
    "e\u0301",
    "ﬁ",
    "\ud800",
    "\U0001f600",
    "",
    " ",
    "    ",
    "$x",
    "x?",
    "x!",
    "!x",
    "x::y",
    "x->y",
    "%x",
    "&x",
    "x & y",
    "x | y",
    "x ^ y",
    "~x",
    "x << 2",
    "x >> 2",
    "x % y",
    "x // y",
    "x ** ",
    "x *** y",
    "x */ y",
    "x += 1",
    "x -= 1",
    "x *= 1",
    "x **= 1",
    "x <= = y",
    "()",
    "(())",
    "(,)",
    "(x,)",
    "x, y",
    "sin(,)",
    "sin(x,,y)",
    "max(x, y",
    "x)",
    ")x(",
    "(x))((y)",
    "_",
    "_x",
    "x__y",
    "__",
    "x" * 81,
]

NUMBER_TRICKS = [
    "1j",
    "1J",
    "1.5e3j",
    "1j*1j",
    "0x10",
    "0X10",
    "0o7",
    "0b1",
    "007",
    "1__0",
    "1_",
    "_1",
    "1e",
    "1e+",
    "1ee5",
    "1.2.3",
    "1..2",
    ".",
    "1e309",
    "1e999999999",
    "1e-999999999",
    "9" * 400,
    "9" * 2000,
    "-" + "9" * 1999,
    "9**9**9",
    "9**9**9**9**9",
    "9.0**9**9",
    "2**99999999999",
    "2**-99999999999",
    "(2**1000)**1000",
    "((2**1000)**1000)**1000",
    "10**300**300",
    "x**9**9**9",
    "x**(9**9)",
    "(((1 + 1/3**300)**1000)**1000)**1000",
    "*".join(["(9**300)"] * 200),
    "1/(1/3 - 1/3)",
    "exp(exp(exp(9)))",
    "inf()",
    "nan()",
    "1 deg deg",
    "90deg5",
    "90deg(2)",
    "2 3",
    "1 if 1 < 2else 3",
]

SIZE_TRICKS = [
    "(" * 100 + "1" + ")" * 100,
    "(" * 1000,
    ")" * 1000,
    "(" * 999 + "1" + ")" * 999,
    "[" * 1000,
    "{" * 1000,
    "-" * 1999 + "1",
    "+" * 1999 + "1",
    "- " * 999 + "1",
    "not " * 400 + "1",
    "~" * 1000 + "1",
    "sin(" * 300 + "x" + ")" * 300,
    "x**" * 600 + "x",
    "+".join("x" * 1000),
    "*".join("x" * 1000),
    "/".join("x" * 1000),
    "-".join("x" * 1000),
    "(x if x<1 else " * 120 + "x" + ")" * 120,
    "x if " * 300 + "x",
    "1 if " + "not " * 100 + "x<1 else 2",
    "1 if " + "x<" * 900 + "x",
    "lambda:" * 250 + "1",
    "x." * 900 + "x",
    "x" + "[0" * 500 + "]" * 500,
    "x" + "()" * 900,
    "x," * 900,
    "1" * 2001,
    "x" * 2001,
    " " * 2001,
    " " * 10_000_000,
    "(" * 1_000_000,
    "x+" * 1_000_000 + "x",
    "9" * 1_000_000,
    "'" * 1_000_000,
    "\x00" * 1_000_000,
    "x" * 1_000_000,
    "sin" * 600 + "(1)",
    "a_" * 900,
    "1_0" * 600,
    "e" * 1900 + "(1)",
]

TYPE_TRICKS: list[Any] = [
    LyingText("1"),
    LyingText("x"),
    LyingClass(),
    LyingNumber(),
    None,
    True,
    False,
    b"1",
    bytearray(b"1"),
    memoryview(b"1"),
    1j,
    [1],
    (1,),
    {"x": 1},
    object(),
    int,
    math.sin,
    lambda: 1,
    math.nan,
    math.inf,
    -math.inf,
    10**301,
    10**100_000,
    -(10**100_000),
]

HOSTILE = [*RUNNING_CODE, *TEXT_TRICKS, *NUMBER_TRICKS, *SIZE_TRICKS, *TYPE_TRICKS]


def test_collection_is_large_enough() -> None:
    assert len(HOSTILE) >= 200


@pytest.mark.parametrize("value", HOSTILE, ids=map(str, range(len(HOSTILE))))
def test_hostile_expression_is_refused_quickly_and_harmlessly(value: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the parser of Python must have nothing to warn about either
        started = time.perf_counter()
        with recording() as events:
            try:
                parse(value)
                problem = None
            except ExpressionError as error:
                problem = error
        seconds = time.perf_counter() - started
    assert problem is not None
    assert seconds < TIME_LIMIT
    assert forbidden(events) == []
    message = str(problem)
    assert len(message) < 500
    assert message.isascii()
    assert message.isprintable()


def test_refused_text_reaches_the_parser_only_after_the_scan() -> None:
    for text in ("(" * 1000, "x\x00", "'a'", "lambda: 0", "x.y", "[x for x in y]", "__import__", "1j"):
        with recording() as events, pytest.raises(ExpressionError):
            parse(text)
        assert [event for event, _ in events if event == "compile"] == []


@pytest.mark.parametrize(
    "text",
    [
        "m*l**2/12 + 104729",
        "a*cos(w*t) if t < pi/w else -a - 104729",
        "90deg**2 + 104729",
        "min(a, b, max(1, 2)) + 104729*x",
        "+".join(["x"] * 199),
    ],
)
def test_good_expression_is_read_evaluated_and_rewritten_without_side_effects(text: str) -> None:
    values = dict.fromkeys(("m", "l", "a", "w", "t", "b", "x"), 0.5)
    with recording() as events:
        expression = parse(text)
        expression.evaluate(values)
        expression.substitute({"x": parse("2*y")})
        parse(expression.to_text())
        evaluate_parameters({"p": parse("q + 104729"), "q": parse("104729")})
    assert forbidden(events) == []
    assert any(event == "compile" for event, _ in events)


def test_failing_evaluation_has_no_side_effects() -> None:
    expressions = [
        parse("1/x"),
        parse("log(x)"),
        parse("x**-1"),
        parse("sqrt(x - 1)"),
        parse("exp(1/(x + 1e-300))"),
    ]
    with recording() as events:
        for expression in expressions:
            with pytest.raises(ExpressionError):
                expression.evaluate({"x": 0.0})
    assert forbidden(events) == []


def test_powers_of_large_values_are_never_computed_exactly() -> None:
    tower = parse("x**x**x**x")
    started = time.perf_counter()
    with pytest.raises(ExpressionError, match="too large"):
        tower.evaluate({"x": 9})
    assert time.perf_counter() - started < TIME_LIMIT


def test_largest_legal_expressions_are_quick() -> None:
    started = time.perf_counter()
    for text in (
        "max(" + ",".join(["x"] * 998) + ")",
        "(" * 60 + "+".join(["x"] * 199) + ")" * 60,
        "+".join(["sin(cos(x))"] * 160),
        "x if x<1 else " * 130 + "x",
    ):
        expression = parse(text)
        expression.evaluate({"x": 0.5})
        assert parse(expression.to_text()) == expression
    assert time.perf_counter() - started < TIME_LIMIT


HOSTILE_NAMES: list[Any] = [
    "x" * 10_000_000,
    "_" * 1_000_000,
    "\x00" * 100_000,
    "θ" * 100_000,
    "x\n",
    "x; import os",
    "'; drop table",
    "${x}",
    "$(x)",
    "`x`",
    "{x.__class__}",
    "../../x",
    "C:\\x",
    "<script>",
    "x\u202e",
    "\ud800",
    "%s%n",
    "x\x1b]0;y\x07",
    LyingText("x"),
    LyingClass(),
    None,
    7,
]


@pytest.mark.parametrize("check", [check_name, check_label], ids=["name", "label"])
@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=map(str, range(len(HOSTILE_NAMES))))
def test_hostile_name_is_refused_quickly_and_harmlessly(check: Any, name: Any) -> None:
    started = time.perf_counter()
    with recording() as events, pytest.raises(ExpressionError) as caught:
        check(name, "body")
    assert time.perf_counter() - started < TIME_LIMIT
    assert forbidden(events) == []
    assert len(str(caught.value)) < 500
    assert str(caught.value).isascii()
    assert str(caught.value).isprintable()
