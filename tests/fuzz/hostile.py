"""Values that somebody may write by mistake or on purpose, by kind."""

from __future__ import annotations

import datetime

EXPRESSIONS = (
    "1/0", "0/0", "theta/0", "tan(90deg)", "1/cos(90deg)", "0**t", "(-1)**0.5", "sqrt(-1)", "log(0)", "asin(2)",
    "max(t, 1/0)", "atan2(0, 0)", "1e400", "1e308*10", "10**1000", "2**-1e9", "a", "a + b", "m*l**2/12", "g", "t", "t**2",
    "sin(w*t)", "0*t", "1/(t - t)", "sqrt(0*t - 1)", "abs(-t)", "sign(t)", "floor(t)", "t % 2", "t if t > 0 else -t",
    "1 if a < b < c else 0", "not a", "a and b", "t == 0", "90deg", "90 deg", "40dge", "5 cm", "3 kg", "2 N*m/rad", "7 parsec",
    "1.5 rad", "deg", "pi", "-pi/2", "1e-320", "-0.0", "+1", "--1", "1__0", "0x10", "1j", "1.", ".5", "1e", "", " ", "\t",
    "nan", "inf", "None", "True", "__import__('os').system('true')", "().__class__", "lambda: 1", "[x for x in a]",
    "f(x)", "sin()", "sin(1, 2)", "sin", "max()", "m.l", "m[0]", "a:=1", "a\nb", "#", "a;b", "a = 1", "'a'", "\"a\"",
    "(" * 60 + "1" + ")" * 60, "+".join(["a"] * 300), "a" * 5000, "-" * 200 + "1", "2**2**2**2**2", "9" * 400,
    "m" * 65, "\u00b5", "\u03b8", "\u0661", "\u200b", "\ufeff", "\x00", "\x7f", "\U0001f600", "e\u0301", "\u2212" + "1", "1\u00a0m",
)  # fmt: skip
"""texts in place of numbers"""

NAMES = (
    "", " ", "ground", "t", "pi", "deg", "sin", "g", "a", "theta", "theta_dot", "theta_ddot", "x.y", "a b", "1a", "a-b", "_",
    "__init__", "None", "if", "lambda", "e", "E", "I", "zoo", "oo", "nan", "S", "N", "Q", "\u03b8", "\u00e9t\u00e9", "\u202e" + "abc",
    "a\nb", "a\tb", "\x00", "a" * 64, "a" * 65, "a" * 5000, "<script>", "&amp;", "../../etc/passwd", "C:\\x", "-o", "--help",
    "%s", "{0}", "$HOME", "\\", "\"", "'", "lin\ue000", "\ud7ff", "\U0001f600", "q0", "j1", "j1_dot", "b1.tip", "self", "class",
)  # fmt: skip
"""texts in place of names"""

NUMBERS = (
    0, 1, -1, 2, 0.5, -0.0, 1e-300, 1e300, -1e300, 1e308, 5e-324, 10**18, 10**19, 2**63, -(2**63), 10**200, 1e16, 0.1, 3,
    float("inf"), float("-inf"), float("nan"), True, False, 90, 180, 360, 1e-9, 123456789,
)  # fmt: skip

OTHERS = (
    [], {}, [[]], [[[]]], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4], ["a", "b", "c"], [0, 0, 0], [1, 0, 0], [[1, 0, 0], [0, 1, 0]],
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [float("nan")] * 3, {"a": 1}, {"body": "ground"}, {"": ""}, {"x": {"y": {"z": 1}}},
    datetime.date(2000, 1, 1), datetime.datetime(2000, 1, 1), datetime.time(1, 2), [True], [{}, {}],
    {"axis": [0, 0, 0], "angle": 1}, {"sequence": "zyz", "angles": [1, 2, 3]}, {"sequence": "qqq", "angles": []},
)  # fmt: skip
"""lists, tables and dates"""

SIZES = (50, 300, 2000)
"""how often a part is repeated"""
