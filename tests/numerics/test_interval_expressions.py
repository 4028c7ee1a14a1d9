"""Bounds of expressions over intervals, and roots isolated by them."""

from __future__ import annotations

import numpy as np
import symengine as se

from pendula.analysis.equilibria.proofs.equations_at_rest import step_of
from pendula.numerics.intervals.solve import Roots, all_roots, slopes_over, values_over
from pendula.numerics.intervals.tape import Tape

X = se.Symbol("x")


def test_bounds_hold_for_values_and_slopes() -> None:
    texts = ["sin(x)*cos(3*x) - x**3/7", "sqrt(2 + sin(x))/(3 + x**2)", "exp(-x**2)*tan(x/9)", "abs(x - 0.3)*atan(5*x)"]
    texts += ["sinh(x) - cosh(x/2)", "erf(2*x) + asinh(x)", "asin(x/4)*acos(x/5) + atanh(x/6)", "acosh(7 + x)"]
    rng = np.random.default_rng(0)
    for text in texts:
        expression = se.sympify(text)
        tape = Tape(1)
        step = step_of(expression, tape, {X: 0})
        value = se.Lambdify([X], [expression])
        for lo in rng.uniform(-3, 3, size=200):
            hi = lo + 10.0 ** rng.uniform(-6, 0)
            box = np.array([[lo, hi]])
            bounds, slopes = values_over(tape, [step], box)[0], slopes_over(tape, [step], box)[0, 0]
            inside = rng.uniform(lo, hi, size=5)
            y, h = value(inside[:, None]).ravel(), 1e-5
            assert np.all((bounds[0] <= y) & (y <= bounds[1])), text
            slope = (value((inside + h)[:, None]).ravel() - value((inside - h)[:, None]).ravel()) / (2 * h)
            clear = np.abs(inside - 0.3) > 2 * h
            assert np.all((slopes[0] - 1e-6 <= slope) & (slope <= slopes[1] + 1e-6) | ~clear), text
            assert bounds[1] - bounds[0] < 100.0


def test_roots_are_isolated_or_left_undecided() -> None:
    def roots(expression: se.Expr, lo: float, hi: float) -> Roots:
        tape = Tape(1)
        return all_roots(tape, [step_of(expression, tape, {X: 0})], np.array([lo]), np.array([hi]))

    simple = roots(se.sin(5 * X), 0.1, 6.0)
    assert np.allclose(np.sort(simple.enclosures.mean(axis=2).ravel()), np.pi / 5 * np.arange(1, 10))
    assert simple.proven
    double = roots(1 - se.cos(X), -1.0, 1.1)
    assert any(lo <= 0.0 <= hi for ((lo, hi),) in double.undecided)
    none = roots(1.001 - se.cos(X), -1.0, 1.1)
    assert none.proven
    assert not len(none.enclosures)


def test_integers_that_no_double_holds_are_between_bounds() -> None:
    tape = Tape(1)
    lo, hi = values_over(tape, [step_of(se.Integer(2**60 + 1), tape, {X: 0})], np.zeros((1, 2)))[0]
    assert int(lo) < 2**60 + 1 < int(hi)
