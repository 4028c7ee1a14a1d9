"""Interval arithmetic for kernels: every result is widened by more than its rounding, so it holds for all numbers.

A pair (lo, hi) are bounds. Sums, products and quotients are rounded to nearest by the processor, at most half a unit
in the last place off; functions of the math library are off by at most one unit, for which more is allowed here.
"""

from __future__ import annotations

import math

from pendula.numerics.compiled.jit import compiled_part

UNIT = 2.3e-16
"""more than the distance of neighbouring doubles, relative to them"""
TINY = 1e-323
"""the same near zero, absolute"""
SLACK = 2e-15
"""relative error of functions of the math library, with a margin"""
TURN = 2.0 * math.pi


@compiled_part
def down(x):
    """A number below x and below every number that could have been rounded to x."""
    return x - (abs(x) * UNIT + TINY)


@compiled_part
def up(x):
    """A number above x and above every number that could have been rounded to x."""
    return x + (abs(x) * UNIT + TINY)


@compiled_part
def product(a, b, c, d):
    """Bounds of [a, b] [c, d]. Zero times infinity counts as zero: an infinite bound is a large number, not a value."""
    if not (a <= b and c <= d):  # a bound that is not a number
        return -math.inf, math.inf
    if (a == 0.0 and b == 0.0) or (c == 0.0 and d == 0.0):
        return 0.0, 0.0
    if a >= 0.0:
        lo = a * c if c >= 0.0 else b * c
        hi = b * d if d >= 0.0 else a * d
    elif b <= 0.0:
        lo = a * d if d >= 0.0 else b * d
        hi = b * c if c >= 0.0 else a * c
    elif c >= 0.0:
        lo, hi = a * d, b * d
    elif d <= 0.0:
        lo, hi = b * c, a * c
    else:
        lo, hi = min(a * d, b * c), max(a * c, b * d)
    if lo != lo or hi != hi:
        return -math.inf, math.inf
    return down(lo), up(hi)


@compiled_part
def inverse(a, b):
    """Bounds of 1 / [a, b]; everything, where that contains zero."""
    if not (a > 0.0 or b < 0.0):
        return -math.inf, math.inf
    return down(1.0 / b), up(1.0 / a)


@compiled_part
def cosine(a, b):
    """Bounds of the cosine: of its values at the ends, and of +-1 where a maximum or minimum may lie between."""
    if not (abs(a) < 1e9 and abs(b) < 1e9):
        return -1.0, 1.0
    slack = 4.0 * UNIT * (2.0 + abs(a) + abs(b))
    first, last = math.cos(a), math.cos(b)
    lo, hi = min(first, last) - 2.0 * UNIT, max(first, last) + 2.0 * UNIT
    if math.floor((b + slack) / TURN) >= math.ceil((a - slack) / TURN):
        hi = 1.0
    if math.floor((b + slack) / TURN - 0.5) >= math.ceil((a - slack) / TURN - 0.5):
        lo = -1.0
    return max(lo, -1.0), min(hi, 1.0)


@compiled_part
def sine(a, b):
    """Bounds of the sine."""
    if not (abs(a) < 1e9 and abs(b) < 1e9):
        return -1.0, 1.0
    slack = 4.0 * UNIT * (2.0 + abs(a) + abs(b))
    first, last = math.sin(a), math.sin(b)
    lo, hi = min(first, last) - 2.0 * UNIT, max(first, last) + 2.0 * UNIT
    if math.floor((b + slack) / TURN - 0.25) >= math.ceil((a - slack) / TURN - 0.25):
        hi = 1.0
    if math.floor((b + slack) / TURN + 0.25) >= math.ceil((a - slack) / TURN + 0.25):
        lo = -1.0
    return max(lo, -1.0), min(hi, 1.0)


@compiled_part
def whole_power(a, b, e):
    """Bounds of [a, b]^e for a whole exponent of at least 1; an even power is never negative."""
    if e % 2 == 0:
        small = 0.0 if a <= 0.0 <= b else min(abs(a), abs(b))
        return _down_power(small, e), _up_power(max(abs(a), abs(b)), e)
    lo = _down_power(a, e) if a >= 0.0 else -_up_power(-a, e)
    hi = _up_power(b, e) if b >= 0.0 else -_down_power(-b, e)
    return lo, hi


@compiled_part
def _up_power(x, e):
    y = x
    for _ in range(e - 1):
        y = up(y * x)
    return y


@compiled_part
def _down_power(x, e):
    y = x
    for _ in range(e - 1):
        y = down(y * x)
    return max(y, 0.0)
