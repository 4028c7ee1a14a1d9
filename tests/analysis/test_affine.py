"""Expressions at many states: the same values as one by one, linear parts told apart, nothing infinite."""

from __future__ import annotations

import numpy as np
import pytest

from pendula.analysis.court.affine import Affine, NotLinear, affine
from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError

VALUES = {"x": np.array([-1.5, -0.3, 0.0, 0.4, 1.0, 2.5]), "y": np.array([0.7, -2.0, 3.0, 0.0, -1.0, 1.0])}

TEXTS = [
    "x + y - 2*x*y/3",
    "-x**2 + x**3 - 2**x",
    "x/y",
    "1/x",
    "x**y",
    "0**x",
    "(1/x)**0",
    "sin(x) + cos(y) + tan(x*y)",
    "asin(x) + acos(y)",
    "atan(x) + atan2(y, x) + hypot(x, y)",
    "sinh(x) + cosh(y) + tanh(x) + asinh(y)",
    "acosh(x)",
    "atanh(x)",
    "exp(500*x)",
    "exp(500*x)*0",
    "1/exp(500*x)",
    "log(x)",
    "sqrt(y)",
    "abs(x) + sign(y) + floor(x) + ceil(y)",
    "min(x, y, 0.5) + max(x, -y)",
    "min(1/x, 0)",
    "1/x if x > 0 else y",
    "y if 1/x > 0 else 0",
    "x if x < 0 or 1/x > y else 2",
    "x if x > 0 and 1/x > y else 2",
    "x if not (x <= y) else pi",
    "90deg*x if x >= 0 else 1 rad",
]


@pytest.mark.parametrize("text", TEXTS)
def test_values_at_many_states_are_those_at_each_state(text):
    expression = parse(text)
    names = {name: Affine(x) for name, x in VALUES.items()}
    constant, coefficients = affine(expression, names).rows(6, 1)
    assert not coefficients.any()
    for k in range(6):
        try:
            expected = expression.evaluate({name: x[k] for name, x in VALUES.items()})
        except ExpressionError:
            expected = np.nan
        assert constant[k] == pytest.approx(expected, rel=1e-14, nan_ok=True), (text, k)


@pytest.mark.parametrize(
    "text",
    ["3*a - b/y", "(x + a)*(x + y) - b", "a if x > 0 else y*b + 1", "-(a - b)*sin(x)", "2 if x > 0 else a", "x*y"],
)
def test_linear_parts_are_those_of_differences(text):
    expression = parse(text)
    unit = np.eye(2)
    names = {name: Affine(x) for name, x in VALUES.items()}
    names |= {"a": Affine(np.array(0.0), unit[0]), "b": Affine(np.array(0.0), unit[1])}
    constant, coefficients = affine(expression, names).rows(6, 2)
    for k in range(6):
        if text == "3*a - b/y" and VALUES["y"][k] == 0:
            assert np.isnan(coefficients[k]).any()
            continue
        at = {name: x[k] for name, x in VALUES.items()}
        zero, one, two = (expression.evaluate(at | {"a": a, "b": b}) for a, b in ((0, 0), (1, 0), (0, 1)))
        assert constant[k] == pytest.approx(zero, abs=1e-14)
        assert coefficients[k] == pytest.approx([one - zero, two - zero], abs=1e-13)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x + a*(b + 1)", "a*(b + 1)"),
        ("x + (a + 1)**2", "(a + 1)**2"),
        ("2**a", "2**a"),
        ("x/(1 + a)", "x/(1 + a)"),
        ("sin(x*a)", "sin(x*a)"),
        ("x if a > 0 else y", "a condition"),
    ],
)
def test_what_is_not_linear_is_named(text, part):
    names = {name: Affine(x) for name, x in VALUES.items()}
    names |= {name: Affine(np.array(0.0), unit) for name, unit in zip("ab", np.eye(2), strict=True)}
    with pytest.raises(NotLinear) as caught:
        affine(parse(text), names)
    assert str(caught.value) == part
