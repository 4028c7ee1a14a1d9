"""Interval arithmetic with slopes: bounds that hold for a function and its derivative over a whole interval.

Every bound is rounded outward, so what follows from it is proven for the numbers as the computer holds them.
Intervals are arrays: one evaluation serves many subintervals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pendula.equations.translate import function_name
from pendula.model.expressions.arrays import ARRAYS
from pendula.model.expressions.functions import FUNCTIONS, Column
from pendula.system.layout import Array

EPS = 4.5e-16
"""twice the relative rounding of a double: sine, cosine and square root are off by less"""
SLACK = 2e-15
"""relative error of other functions of the math library, with a margin: NumPy's are off by 4 units at most"""


class Undecidable(Exception):
    """An expression holds something there are no bounds for."""


@dataclass(frozen=True)
class Interval:
    """All numbers from ``lo`` to ``hi``."""

    lo: Array
    hi: Array

    @classmethod
    def at(cls, value: Any) -> Interval:
        """A single number."""
        x = np.asarray(value, dtype=float)
        return cls(x, x)

    def __add__(self, other: Interval) -> Interval:
        return _outward(self.lo + other.lo, self.hi + other.hi)

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __mul__(self, other: Interval) -> Interval:
        with np.errstate(invalid="ignore", over="ignore"):
            products = [x * y for x in (self.lo, self.hi) for y in (other.lo, other.hi)]
        return _outward(np.minimum.reduce(products), np.maximum.reduce(products))

    def inverse(self) -> Interval:
        """1 over it; everything, where it contains zero."""
        bad = (self.lo <= 0) & (self.hi >= 0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lo, hi = np.where(bad, -np.inf, 1.0 / self.hi), np.where(bad, np.inf, 1.0 / self.lo)
        return _outward(lo, hi)

    @property
    def excludes_zero(self) -> Array:
        """Where zero lies outside."""
        return (self.lo > 0) | (self.hi < 0)


def _outward(lo: Array, hi: Array) -> Interval:
    """Bounds moved apart by one rounding; everything, where a bound is not a number."""
    bad = np.isnan(lo) | np.isnan(hi)
    down, up = np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf)
    return Interval(np.where(bad, -np.inf, down), np.where(bad, np.inf, up))


def _monotone(function: Callable[[Array], Array], x: Interval) -> Interval:
    """Bounds of an increasing function."""
    with np.errstate(all="ignore"):
        lo, hi = np.asarray(function(x.lo)), np.asarray(function(x.hi))
        return _outward(lo - SLACK * np.abs(lo), hi + SLACK * np.abs(hi))


def cosine(x: Interval) -> Interval:
    """Bounds of the cosine: those of the ends, and +-1 where a maximum or minimum may lie between."""
    with np.errstate(invalid="ignore"):
        ends = np.cos(x.lo), np.cos(x.hi)
        slack = EPS * (2.0 + np.abs(x.lo) + np.abs(x.hi))  # ends count as inside when they are close
        top = np.floor((x.hi + slack) / (2 * np.pi)) >= np.ceil((x.lo - slack) / (2 * np.pi))
        low = np.floor((x.hi + slack - np.pi) / (2 * np.pi)) >= np.ceil((x.lo - slack - np.pi) / (2 * np.pi))
        lo = np.where(low, -1.0, np.minimum(*ends) - EPS)
        hi = np.where(top, 1.0, np.maximum(*ends) + EPS)
    unbounded = ~np.isfinite(x.lo) | ~np.isfinite(x.hi)
    return Interval(np.where(unbounded, -1.0, lo), np.where(unbounded, 1.0, hi))


def sine(x: Interval) -> Interval:
    """Bounds of the sine."""
    quarter = Interval(np.array(-np.pi / 2 - EPS), np.array(-np.pi / 2 + EPS))
    return cosine(x + quarter)


@dataclass(frozen=True)
class Jet:
    """Bounds of a function and of its derivative."""

    value: Interval
    slope: Interval

    @classmethod
    def constant(cls, value: Any) -> Jet:
        """A number, given exactly."""
        return cls(Interval.at(value), Interval.at(0.0))

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other: Jet) -> Jet:
        return Jet(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def chain(self, value: Interval, derivative: Interval) -> Jet:
        """A function of it, by bounds of the function and of its derivative."""
        return Jet(value, derivative * self.slope)


def _power(x: Jet, exponent: Any) -> Jet:
    if not exponent.is_Number:
        raise Undecidable(f"the exponent {exponent}")
    e = float(exponent)
    if e == int(e) and abs(e) <= 64:
        return _whole_power(x, int(e))
    if 2 * e == int(2 * e) and abs(e) <= 32:
        root = _root(x)
        return _whole_power(root, int(2 * e))
    raise Undecidable(f"the exponent {exponent}")


def _whole_power(x: Jet, e: int) -> Jet:
    if e < 0:
        found = _whole_power(x, -e)
        over = found.value.inverse()
        return found.chain(over, -(over * over))
    if e == 0:
        return Jet.constant(1.0)
    value, last = x.value, Interval.at(1.0)
    for _ in range(e - 1):
        value, last = value * x.value, last * x.value
    if e % 2 == 0:  # an even power is never negative
        value = Interval(np.maximum(value.lo, 0.0), value.hi)
    return x.chain(value, Interval.at(float(e)) * last)


def _root(x: Jet) -> Jet:
    if np.any(x.value.lo < 0):
        below = x.value.lo < 0
        lo = np.where(below, 0.0, x.value.lo)
        value = _monotone(np.sqrt, Interval(lo, x.value.hi))
        value = Interval(np.where(below, -np.inf, value.lo), value.hi)  # may not even be a number there
    else:
        value = _monotone(np.sqrt, x.value)
    return x.chain(value, Interval.at(0.5) * value.inverse())


def _magnitude(v: Interval) -> Interval:
    """Bounds of the absolute value."""
    lo, hi = np.abs(v.lo), np.abs(v.hi)
    return Interval(np.where(v.excludes_zero, np.minimum(lo, hi), 0.0), np.maximum(lo, hi))


def _absolute(x: Jet) -> Jet:
    v = x.value
    sign = Interval(np.where(v.lo > 0, 1.0, -1.0), np.where(v.hi < 0, -1.0, 1.0))
    return x.chain(_magnitude(v), sign)


class _Bounds:
    """Interval arithmetic for the derivative rules of the table; a number times itself is a square, never negative."""

    constant = Interval.at

    def add(self, a: Interval, b: Interval) -> Interval:
        return a + b

    def subtract(self, a: Interval, b: Interval) -> Interval:
        return a + -b

    def negate(self, a: Interval) -> Interval:
        return -a

    def multiply(self, a: Interval, b: Interval) -> Interval:
        product = a * b
        return Interval(np.maximum(product.lo, 0.0), product.hi) if a is b else product

    def divide(self, a: Interval, b: Interval) -> Interval:
        return a * b.inverse()

    def call(self, name: str, *args: Interval) -> Interval:
        return _VALUES[name](*args)


_BOUNDS = _Bounds()
_VALUES: dict[str, Callable[[Interval], Interval]] = {
    "sin": sine,
    "cos": cosine,
    "tan": lambda x: sine(x) * cosine(x).inverse(),
    "asin": partial(_monotone, np.arcsin),
    "acos": lambda x: -_monotone(lambda v: -np.arccos(v), x),
    "atan": partial(_monotone, np.arctan),
    "sinh": partial(_monotone, np.sinh),
    "cosh": lambda x: _monotone(np.cosh, _magnitude(x)),
    "tanh": partial(_monotone, np.tanh),
    "asinh": partial(_monotone, np.arcsinh),
    "acosh": partial(_monotone, np.arccosh),
    "atanh": partial(_monotone, np.arctanh),
    "exp": partial(_monotone, np.exp),
    "log": partial(_monotone, np.log),
    "sqrt": lambda x: _root(Jet(x, x)).value,
    "erf": partial(_monotone, ARRAYS["erf"]),
}


def _of_table(name: str, x: Jet) -> Jet:
    """A smooth function of the table: its own bounds, and those of its derivative rule."""
    slope = FUNCTIONS[name].slope
    assert slope is not None
    value = _VALUES[name](x.value)
    return x.chain(value, slope(_BOUNDS, value, x.value))


JETS: Column[Callable[[Jet], Jet]] = Column(
    "bounds over intervals",
    {**{name: partial(_of_table, name) for name in _VALUES}, "sqrt": _root, "abs": _absolute},
    without=("sign", "floor", "ceil", "atan2", "hypot", "min", "max"),
)


def evaluate(expression: Any, known: Mapping[Any, Jet], seen: dict[Any, Jet] | None = None) -> Jet:
    """Bounds of an expression and of its derivative, by those of its symbols.

    Raises:
        Undecidable: it holds a function or a symbol there are no bounds for.
    """
    seen = {} if seen is None else seen
    if expression in known:
        return known[expression]
    if expression not in seen:
        seen[expression] = _evaluate(expression, known, seen)
    return seen[expression]


def _evaluate(e: Any, known: Mapping[Any, Jet], seen: dict[Any, Jet]) -> Jet:
    if e.is_Number or not (e.args or e.free_symbols):
        return _number(e)
    kind = type(e).__name__
    if kind == "Pow":
        base, exponent = e.args
        if str(base) == "E":
            return JETS["exp"](evaluate(exponent, known, seen))
        return _power(evaluate(base, known, seen), exponent)
    if kind in ("Add", "Mul"):
        terms = [evaluate(x, known, seen) for x in e.args]
        total = terms[0]
        for term in terms[1:]:
            total = total + term if kind == "Add" else total * term
        return total
    name = function_name(e)
    if name in JETS:
        return JETS[name](evaluate(e.args[0], known, seen))
    raise Undecidable(f"{kind} in the forces" if e.args else f"the symbol {e}")


def _number(e: Any) -> Jet:
    """A number; one that a double does not hold exactly gets its two neighbours as bounds."""
    value = float(e)
    if type(e).__name__ in ("Integer", "Zero", "One", "NegativeOne", "RealDouble"):
        return Jet.constant(value)
    x = Interval(np.nextafter(value, -np.inf), np.nextafter(value, np.inf))
    return Jet(_outward(x.lo, x.hi), Interval.at(0.0))
