"""Bounds of functions over intervals, and roots isolated by them."""

from __future__ import annotations

import numpy as np
import symengine as se

from pendula.analysis.equilibria.intervals import Interval, Jet, evaluate
from pendula.analysis.equilibria.roots import isolate_roots


def test_bounds_hold_for_values_and_slopes():
    x = se.Symbol("x")
    texts = ["sin(x)*cos(3*x) - x**3/7", "sqrt(2 + sin(x))/(3 + x**2)", "exp(-x**2)*tan(x/9)", "abs(x - 0.3)*atan(5*x)"]
    rng = np.random.default_rng(0)
    for text in texts:
        expression = se.sympify(text)
        lo = rng.uniform(-3, 3, size=200)
        hi = lo + 10.0 ** rng.uniform(-6, 0, size=200)
        jet = evaluate(expression, {x: Jet(Interval(lo, hi), Interval.at(1.0))})
        value = se.Lambdify([x], [expression])
        for part in rng.uniform(size=5):
            inside = lo + part * (hi - lo)
            y = value(inside[:, None]).ravel()
            assert np.all((jet.value.lo <= y) & (y <= jet.value.hi)), text
            h = 1e-5
            slope = (value((inside + h)[:, None]).ravel() - value((inside - h)[:, None]).ravel()) / (2 * h)
            clear = np.abs(inside - 0.3) > 2 * h
            assert np.all((jet.slope.lo - 1e-6 <= slope) & (slope <= jet.slope.hi + 1e-6) | ~clear), text
        assert np.all(jet.value.hi - jet.value.lo < 100.0)


def test_roots_are_isolated_or_left_undecided():
    x = se.Symbol("x")

    def bounds(expression):
        return lambda cell: evaluate(expression, {x: Jet(cell, Interval.at(1.0))})

    simple = isolate_roots(bounds(se.sin(5 * x)), 0.1, 6.0)
    assert np.allclose(simple.found, np.pi / 5 * np.arange(1, 10))
    assert simple.undecided == ()
    double = isolate_roots(bounds(1 - se.cos(x)), -1.0, 1.1)
    assert double.undecided
    assert any(lo <= 0.0 <= hi for lo, hi in double.undecided)
    none = isolate_roots(bounds(1.001 - se.cos(x)), -1.0, 1.1)
    assert none.found == none.undecided == ()
